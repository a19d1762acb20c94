/** Keys by which Kubernetes, and Prometheus' rules, tell the items of a list apart, the most telling first. */
export const listKeys: readonly string[] = [
  'name',
  'key',
  'mountPath',
  'containerPort',
  'port',
  'topologyKey',
  'alert',
  'record',
  'alias',
  'type',
  'reason',
];
