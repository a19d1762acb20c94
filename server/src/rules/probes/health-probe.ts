import { acceleratorsOf } from '../../kube/accelerators';
import { portsOf, runningContainers, type Container } from '../../kube/containers';
import { modelServers, servingPort, type ModelServer } from '../../kube/model-server';
import type { PodTemplate } from '../../kube/pod-carriers';
import { valueOf } from '../../kube/settings';
import { insertKey } from '../../yaml/edit';
import type { Fix } from '../rule';

/** The model servers of a pod; where none is recognised, the containers with an accelerator and a port. */
export function probedContainers(template: PodTemplate): readonly Container[] {
  const known = modelServers(template);
  if (known.length > 0)
    return known.filter((server) => !isFollower(server)).map(({ container }) => container);
  return runningContainers(template).filter(
    (container) => acceleratorsOf(container).length > 0 && portsOf(container).length > 0,
  );
}

/** One of several pods that hold one model, and not the first, which alone answers requests. */
function isFollower({ arguments: { get } }: ModelServer): boolean {
  if (get('headless').state === 'known') return true;
  const nodes = get('nnodes');
  const rank = get('node-rank');
  if (nodes.state === 'absent' || (nodes.state === 'unknown' && nodes.at === undefined)) return false;
  return valueOf(nodes) !== '1' && valueOf(rank) !== '0';
}

/** One template for all pods of a group: what only the first can answer would fail on the others. */
export function isOfWholeGroup({ part, groupSize }: PodTemplate): boolean {
  return part === 'worker' && groupSize.value !== 1;
}

/** A probe of the engine's own health path, as a fix. */
export function healthProbeFix(
  server: ModelServer,
  key: 'readinessProbe' | 'livenessProbe',
  timing: { readonly periodSeconds: number; readonly failureThreshold?: number },
): Fix | undefined {
  const { container, healthPath } = server;
  const port = healthPort(server);
  if (healthPath === undefined || port === undefined || isLocal(server)) return undefined;
  const scheme = isEncrypted(server) ? { scheme: 'HTTPS' } : {};
  const edits = insertKey(
    container.template.resource.placed.document,
    container.node,
    key,
    { httpGet: { path: healthPath, port, ...scheme }, ...timing },
    key === 'readinessProbe' ? { before: 'livenessProbe' } : { after: 'readinessProbe' },
  );
  const where = typeof port === 'number' ? `port ${port}` : `port "${port}"`;
  return edits === undefined
    ? undefined
    : { title: `Probe ${healthPath} on ${where} every ${timing.periodSeconds} s`, safe: false, edits };
}

/** The port of requests: by its name where it is declared, else the number that the server listens on. */
function healthPort(server: ModelServer): string | number | undefined {
  const ports = portsOf(server.container).filter(({ number }) => number.known);
  const wanted = server.port.state === 'unknown' ? undefined : servingPort(server);
  const declared = ports.find(({ number }) => number.value === wanted);
  if (declared !== undefined) return declared.name ?? declared.number.value;
  if (server.port.state === 'known') return wanted;
  // Without a setting that can be seen, a port that the author declares says more than the engine's default.
  const [first, ...others] = ports;
  const http = others.length === 0 ? first : ports.find(({ name }) => name?.startsWith('http'));
  return http === undefined ? wanted : (http.name ?? http.number.value);
}

/** Behind a proxy in the same pod; the kubelet cannot reach it. */
function isLocal(server: ModelServer): boolean {
  const host = server.arguments.get('host', ['hostname']);
  return host.state === 'known' && /^(127\.|localhost$|::1$)/.test(host.value);
}

function isEncrypted(server: ModelServer): boolean {
  return server.arguments.get('ssl-keyfile', ['ssl-certfile', 'ssl-key-file']).state === 'known';
}
