/**
 * The kinds that people write, by group: those of Kubernetes, beside those that exist in several groups, and those of the
 * operators whose definitions are known as well.
 */
const groups: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ConfigMap',
    'LimitRange',
    'Namespace',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  apps: ['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  autoscaling: ['HorizontalPodAutoscaler'],
  batch: ['CronJob', 'Job'],
  'networking.k8s.io': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'node.k8s.io': ['RuntimeClass'],
  policy: ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io': ['PriorityClass'],
  'storage.k8s.io': ['CSIDriver', 'StorageClass'],
  'karpenter.sh': ['NodeClaim', 'NodePool'],
  'karpenter.k8s.aws': ['EC2NodeClass'],
  'keda.sh': ['ClusterTriggerAuthentication', 'ScaledJob', 'ScaledObject', 'TriggerAuthentication'],
  'monitoring.coreos.com': ['PodMonitor', 'PrometheusRule', 'ServiceMonitor'],
};

const groupOf: ReadonlyMap<string, string> = new Map(
  Object.entries(groups).flatMap(([group, kinds]) => kinds.map((kind) => [kind, group] as const)),
);

export function isBuiltInKind(kind: string): boolean {
  return groupOf.has(kind);
}

/** Other kinds of these groups, which nobody means to write when another one is meant. */
const rest: Readonly<Record<string, readonly string[]>> = {
  '': ['Binding', 'ComponentStatus', 'Endpoints', 'Event', 'Node', 'Status'],
  apps: ['ControllerRevision'],
  autoscaling: ['Scale'],
  'networking.k8s.io': ['IPAddress', 'ServiceCIDR'],
  policy: ['Eviction', 'PodSecurityPolicy'],
  'storage.k8s.io': ['CSINode', 'CSIStorageCapacity', 'VolumeAttachment', 'VolumeAttributesClass'],
  'karpenter.sh': ['Machine', 'NodeOverlay', 'Provisioner'],
  'karpenter.k8s.aws': ['AWSNodeTemplate'],
  'monitoring.coreos.com': [
    'Alertmanager',
    'AlertmanagerConfig',
    'Probe',
    'Prometheus',
    'PrometheusAgent',
    'ScrapeConfig',
    'ThanosRuler',
  ],
};

/**
 * The kinds among which one of a group was probably meant; none where the group has this kind, or is not known.
 */
export function kindsInsteadOf(group: string, kind: string): readonly string[] {
  const own = groups[group] ?? [];
  return own.includes(kind) || rest[group]?.includes(kind) === true || kind.endsWith('List') ? [] : own;
}

/** `v1`, `apps/v1`: a version of a known group. */
export function isBuiltInVersion(apiVersion: string): boolean {
  const slash = apiVersion.indexOf('/');
  return (
    /^v\d+((alpha|beta)\d+)?$/.test(apiVersion.slice(slash + 1)) &&
    (slash < 0 ? apiVersion === 'v1' : groups[apiVersion.slice(0, slash)] !== undefined)
  );
}

/** Versions other than `v1`. */
const versionOf: Readonly<Record<string, string>> = { autoscaling: 'v2', 'keda.sh': 'v1alpha1' };

/** The version that every API server of today has the kind in: `apps/v1`. */
export function servedApiVersion(kind: string): string | undefined {
  const group = groupOf.get(kind);
  if (group === undefined) return undefined;
  const version = versionOf[group] ?? 'v1';
  return group === '' ? version : `${group}/${version}`;
}

/**
 * A known kind in a known group that has no such kind. Other groups with a dot in their name may have any kind; only those
 * of Kubernetes alone lack the dot.
 */
export function isMisplaced(group: string, kind: string): boolean {
  const own = groupOf.get(kind);
  if (own === undefined || own === group || group === 'extensions') return false;
  return !group.includes('.') || groups[group] !== undefined;
}

/** The Kubernetes release that no longer served a version: https://kubernetes.io/docs/reference/using-api/deprecation-guide/ */
const removedIn: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'extensions/v1beta1': {
    DaemonSet: '1.16',
    Deployment: '1.16',
    Ingress: '1.22',
    NetworkPolicy: '1.16',
    ReplicaSet: '1.16',
  },
  'apps/v1beta1': { Deployment: '1.16', StatefulSet: '1.16' },
  'apps/v1beta2': { DaemonSet: '1.16', Deployment: '1.16', ReplicaSet: '1.16', StatefulSet: '1.16' },
  'batch/v1beta1': { CronJob: '1.25' },
  'batch/v2alpha1': { CronJob: '1.21' },
  'networking.k8s.io/v1beta1': { Ingress: '1.22', IngressClass: '1.22' },
  'node.k8s.io/v1beta1': { RuntimeClass: '1.25' },
  'policy/v1beta1': { PodDisruptionBudget: '1.25' },
  'rbac.authorization.k8s.io/v1beta1': {
    ClusterRole: '1.22',
    ClusterRoleBinding: '1.22',
    Role: '1.22',
    RoleBinding: '1.22',
  },
  'scheduling.k8s.io/v1beta1': { PriorityClass: '1.22' },
  'storage.k8s.io/v1beta1': { CSIDriver: '1.22', StorageClass: '1.22' },
};

export function removedRelease(apiVersion: string, kind: string): string | undefined {
  return removedIn[apiVersion]?.[kind];
}
