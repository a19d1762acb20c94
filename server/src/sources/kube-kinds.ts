import { textAt, textsAt } from './json';
import type { KubeResource } from './kube-client';

const kind = (
  group: string,
  version: string,
  plural: string,
  name: string,
  namespaced = true,
): KubeResource => ({
  group,
  version,
  plural,
  kind: name,
  namespaced,
});

/** Kinds that are read whatever the workload is. */
export const pods = kind('', 'v1', 'pods', 'Pod');
export const events = kind('', 'v1', 'events', 'Event');
export const nodes = kind('', 'v1', 'nodes', 'Node', false);
export const services = kind('', 'v1', 'services', 'Service');
export const replicaSets = kind('apps', 'v1', 'replicasets', 'ReplicaSet');
export const hpas = kind('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler');
export const pdbs = kind('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
export const scaledObjects = kind('keda.sh', 'v1alpha1', 'scaledobjects', 'ScaledObject');
export const nodePools = kind('karpenter.sh', 'v1', 'nodepools', 'NodePool', false);
export const nodeClaims = kind('karpenter.sh', 'v1', 'nodeclaims', 'NodeClaim', false);
export const podMetrics = kind('metrics.k8s.io', 'v1beta1', 'pods', 'PodMetrics');

/** Labels and the values of which each pod has one. */
export type PodLabels = Readonly<Record<string, readonly string[]>>;

/** Workloads, and where their pods are told from those of others. */
export interface WorkloadKind extends KubeResource {
  /** Labels of its pods, as its own controller sets them; `undefined`: what its `spec.selector` says. */
  readonly podLabels?: (name: string, object: unknown) => PodLabels;
}

const workload = (
  group: string,
  version: string,
  plural: string,
  name: string,
  podLabels?: WorkloadKind['podLabels'],
): WorkloadKind => ({
  ...kind(group, version, plural, name),
  ...(podLabels === undefined ? {} : { podLabels }),
});

const labelled =
  (label: string): NonNullable<WorkloadKind['podLabels']> =>
  (name) => ({ [label]: [name] });

/** The RayClusters that a RayService or a RayJob has made now; while it upgrades there are two. */
const rayClusters: NonNullable<WorkloadKind['podLabels']> = (_, object) => ({
  'ray.io/cluster': [
    ['status', 'activeServiceStatus', 'rayClusterName'],
    ['status', 'pendingServiceStatus', 'rayClusterName'],
    ['status', 'rayClusterName'],
  ].flatMap((path) => textAt(object, ...path) ?? []),
});

/**
 * Labels as set by Kubernetes' Job controller, LeaderWorkerSet (`leaderworkerset.sigs.k8s.io/name`), KubeRay
 * (`ray.io/cluster`), KServe (`serving.kserve.io/inferenceservice`), the Kubeflow training operator, JobSet, and the NIM
 * operator, KubeAI and KAITO, which call their Deployments after the object.
 */
export const workloadKinds: readonly WorkloadKind[] = [
  workload('apps', 'v1', 'deployments', 'Deployment'),
  workload('apps', 'v1', 'statefulsets', 'StatefulSet'),
  workload('apps', 'v1', 'daemonsets', 'DaemonSet'),
  workload('apps', 'v1', 'replicasets', 'ReplicaSet'),
  workload('', 'v1', 'replicationcontrollers', 'ReplicationController', (_, object) =>
    Object.fromEntries(
      Object.entries(textsAt(object, 'spec', 'selector')).map(([key, value]) => [key, [value]]),
    ),
  ),
  workload('batch', 'v1', 'jobs', 'Job', labelled('batch.kubernetes.io/job-name')),
  workload('batch', 'v1', 'cronjobs', 'CronJob'),
  workload('argoproj.io', 'v1alpha1', 'rollouts', 'Rollout'),
  workload(
    'leaderworkerset.x-k8s.io',
    'v1',
    'leaderworkersets',
    'LeaderWorkerSet',
    labelled('leaderworkerset.sigs.k8s.io/name'),
  ),
  workload('ray.io', 'v1', 'rayservices', 'RayService', rayClusters),
  workload('ray.io', 'v1', 'rayclusters', 'RayCluster', labelled('ray.io/cluster')),
  workload('ray.io', 'v1', 'rayjobs', 'RayJob', rayClusters),
  workload(
    'serving.kserve.io',
    'v1beta1',
    'inferenceservices',
    'InferenceService',
    labelled('serving.kserve.io/inferenceservice'),
  ),
  workload('kubeflow.org', 'v1', 'pytorchjobs', 'PyTorchJob', labelled('training.kubeflow.org/job-name')),
  workload('kubeflow.org', 'v2beta1', 'mpijobs', 'MPIJob', labelled('training.kubeflow.org/job-name')),
  workload('jobset.x-k8s.io', 'v1alpha2', 'jobsets', 'JobSet', labelled('jobset.sigs.k8s.io/jobset-name')),
  workload('apps.nvidia.com', 'v1alpha1', 'nimservices', 'NIMService', labelled('app.kubernetes.io/name')),
  workload('kubeai.org', 'v1', 'models', 'Model', labelled('model')),
  workload('kaito.sh', 'v1beta1', 'workspaces', 'Workspace', labelled('kaito.sh/workspace')),
];

/** By API group and kind; a version that we do not know is asked for as it is written. */
export function workloadKind(apiVersion: string, name: string): WorkloadKind | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  const version = slash === -1 ? apiVersion : apiVersion.slice(slash + 1);
  const same = workloadKinds.filter((each) => each.kind === name && each.group === group);
  const found = same.find((each) => each.version === version) ?? same[0];
  return found === undefined ? undefined : { ...found, version };
}
