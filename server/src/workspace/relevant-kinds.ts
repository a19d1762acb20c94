import { podCarrierTypes } from '../kube/pod-carriers';
import type { YamlDocument } from '../yaml/document';
import type { MapNode } from '../yaml/node';

/**
 * Group and kind of every object that something reads: pod carriers, what scales, protects, places or exposes them, and
 * what configures the tools around. Documents that hold none of them are never parsed.
 */
const types: readonly (readonly [group: string, kinds: readonly string[]])[] = [
  [
    '',
    [
      'Service',
      'PersistentVolumeClaim',
      'PersistentVolume',
      'ResourceQuota',
      'LimitRange',
      'ServiceAccount',
      'ConfigMap',
      'List',
    ],
  ],
  ['autoscaling', ['HorizontalPodAutoscaler']],
  ['autoscaling.k8s.io', ['VerticalPodAutoscaler']],
  ['policy', ['PodDisruptionBudget']],
  ['storage.k8s.io', ['StorageClass']],
  ['resource.k8s.io', ['ResourceClaim', 'ResourceClaimTemplate', 'DeviceClass']],
  ['keda.sh', ['ScaledObject', 'ScaledJob', 'TriggerAuthentication', 'ClusterTriggerAuthentication']],
  ['karpenter.sh', ['NodePool', 'NodeClaim', 'NodeOverlay', 'Provisioner', 'Machine']],
  ['karpenter.k8s.aws', ['EC2NodeClass', 'AWSNodeTemplate']],
  ['eks.amazonaws.com', ['NodeClass']],
  ['eksctl.io', ['ClusterConfig']],
  ['nvidia.com', ['ClusterPolicy']],
  ['apps.nvidia.com', ['NIMCache']],
  ['monitoring.coreos.com', ['ServiceMonitor', 'PodMonitor', 'Prometheus', 'PrometheusRule']],
  ['opentelemetry.io', ['OpenTelemetryCollector', 'Instrumentation']],
  ['cloudwatch.aws.amazon.com', ['AmazonCloudWatchAgent', 'Instrumentation']],
  ['eks.services.k8s.aws', ['Addon']],
  ['eks.aws.upbound.io', ['Addon']],
  ['eks.aws.crossplane.io', ['Addon']],
  ['production-stack.vllm.ai', ['VLLMRuntime']],
  ['inference.networking.k8s.io', ['InferencePool']],
  ['inference.networking.x-k8s.io', ['InferencePool']],
  ['helm.toolkit.fluxcd.io', ['HelmRelease']],
  ['argoproj.io', ['Application', 'ApplicationSet']],
  // Nothing refers to these; that the API server takes them is checked.
  ['', ['Secret', 'Namespace', 'Endpoints', 'PodTemplate', 'ReplicationController']],
  ['rbac.authorization.k8s.io', ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']],
  ['networking.k8s.io', ['Ingress', 'IngressClass', 'NetworkPolicy']],
  ['scheduling.k8s.io', ['PriorityClass']],
  ['node.k8s.io', ['RuntimeClass']],
  ['coordination.k8s.io', ['Lease']],
  ['discovery.k8s.io', ['EndpointSlice']],
  ['storage.k8s.io', ['CSIDriver', 'VolumeAttributesClass']],
  ['resource.k8s.io', ['ResourceSlice']],
  ['apiregistration.k8s.io', ['APIService']],
  [
    'admissionregistration.k8s.io',
    [
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'ValidatingWebhookConfiguration',
      'MutatingWebhookConfiguration',
    ],
  ],
  ['flowcontrol.apiserver.k8s.io', ['FlowSchema', 'PriorityLevelConfiguration']],
  [
    'monitoring.coreos.com',
    ['Alertmanager', 'AlertmanagerConfig', 'Probe', 'ScrapeConfig', 'PrometheusAgent', 'ThanosRuler'],
  ],
  ['argoproj.io', ['AnalysisTemplate', 'ClusterAnalysisTemplate', 'AnalysisRun', 'Experiment']],
  ['eventing.keda.sh', ['CloudEventSource', 'ClusterCloudEventSource']],
  // Removed groups of today's kinds: the rules about removed versions want to see them.
  ['extensions', ['Deployment', 'DaemonSet', 'ReplicaSet']],
];

const groupsByKind = new Map<string, string[]>();
for (const [group, kinds] of [
  ...podCarrierTypes.map(({ group, kind }) => [group, [kind]] as const),
  ...types,
]) {
  for (const kind of kinds) groupsByKind.set(kind, [...(groupsByKind.get(kind) ?? []), group]);
}

const anyKind = /(?:^|[\s{,"'])kind["']?\s*:\s*(?:&\S+\s+)?["']?([A-Za-z][A-Za-z0-9]*)/g;

/**
 * The kind that stands for values of a chart in a file of their own (`values.yaml`). Only those of add-ons whose settings
 * some rule knows are read, told by keys that no other chart has.
 */
export const valuesKind = 'HelmValues';

const addOnKeys: readonly string[] = [
  'dcgmExporter',
  'cloudWatchLogs',
  'containerLogs',
  'devicePlugin',
  'migStrategy',
  'mig',
  'dcgm-exporter',
];

const addOnKey = new RegExp(`^["']?(?:${addOnKeys.join('|')})["']?[ \\t]*:`, 'm');

/** Whether a map is values of such a chart. */
export function holdsAddOnValues(root: MapNode): boolean {
  const keys = root.entries.map(({ key }) => key.text);
  return (
    !keys.includes('kind') && !keys.includes('apiVersion') && keys.some((key) => addOnKeys.includes(key))
  );
}

/** A `kind` that starts a line belongs to the document's own map, unless the document is in flow style. */
const rootKind = /^["']?kind["']?[ \t]*:[ \t]*(?:&\S+[ \t]+)?["']?([A-Za-z][A-Za-z0-9]*)/gm;
/** Each alternative ends where it must, so that no long comment is tried in many ways. */
const flowStyle = /^(?:[ \t\r\n\uFEFF]|#[^\n]*\n|---)*[{[]/;

/** Groups in which a kind matters; empty for kinds that nothing reads. */
export function relevantGroups(kind: string): readonly string[] {
  return groupsByKind.get(kind) ?? [];
}

export function isRelevantType(group: string, kind: string): boolean {
  return relevantGroups(kind).includes(group);
}

function isRelevantKind(kind: string): boolean {
  return groupsByKind.has(kind) || kind.endsWith('List');
}

/**
 * Whether the text can hold an object that matters. It looks at text alone and errs towards yes: where the document's
 * own kind does not stand plainly at the start of a line, a kind anywhere will do.
 */
export function mayMatter(document: YamlDocument): boolean {
  const { text } = document;
  const own = flowStyle.test(text) ? [] : [...text.matchAll(rootKind)];
  const kinds = own.length > 0 ? own : text.matchAll(anyKind);
  for (const match of kinds) if (isRelevantKind(match[1] ?? '')) return true;
  return own.length === 0 && addOnKey.test(text);
}
