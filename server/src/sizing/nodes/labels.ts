import type { InstanceType } from './instances';

/** Who makes the nodes of a pool, which decides the labels that they carry. */
export type Provider = 'karpenter' | 'auto-mode' | 'node-group';

export const instanceTypeLabel = 'node.kubernetes.io/instance-type';
export const zoneLabel = 'topology.kubernetes.io/zone';
export const capacityTypeLabel = 'karpenter.sh/capacity-type';
export const archLabel = 'kubernetes.io/arch';
export const osLabel = 'kubernetes.io/os';
export const nodePoolLabel = 'karpenter.sh/nodepool';
export const hostnameLabel = 'kubernetes.io/hostname';
export const windowsBuildLabel = 'node.kubernetes.io/windows-build';

/** The prefix of the provider's own labels; the node groups of EKS have none about instances. */
const prefixes = { karpenter: 'karpenter.k8s.aws/', 'auto-mode': 'eks.amazonaws.com/' } as const;

/** Labels without a prefix that Karpenter understands whatever the cloud. */
const upstreamLabels: ReadonlySet<string> = new Set([
  nodePoolLabel,
  zoneLabel,
  'topology.kubernetes.io/region',
  instanceTypeLabel,
  archLabel,
  osLabel,
  capacityTypeLabel,
  windowsBuildLabel,
  'topology.k8s.aws/zone-id',
]);

/**
 * What `karpenter.k8s.aws/` and `eks.amazonaws.com/` put before these, the well-known labels of Karpenter's provider
 * for AWS (v1.14 and the release after it). EKS Auto Mode documents most of them; the rest are unknown there.
 */
export const instanceLabels: readonly string[] = [
  'instance-category',
  'instance-family',
  'instance-generation',
  'instance-size',
  'instance-cpu',
  'instance-cpu-manufacturer',
  'instance-cpu-sustained-clock-speed-mhz',
  'instance-memory',
  'instance-ebs-bandwidth',
  'instance-network-bandwidth',
  'instance-local-nvme',
  'instance-hypervisor',
  'instance-encryption-in-transit-supported',
  'instance-capability-flex',
  'instance-tenancy',
  'instance-nitro-enclaves-supported',
  'instance-gpu-name',
  'instance-gpu-manufacturer',
  'instance-gpu-count',
  'instance-gpu-memory',
  'instance-accelerator-name',
  'instance-accelerator-manufacturer',
  'instance-accelerator-count',
  'capacity-reservation-id',
  'capacity-reservation-type',
  'capacity-reservation-interruptible',
];

const instanceLabelSet: ReadonlySet<string> = new Set(instanceLabels);

/**
 * What a label key means to a pool's provider: a label of the instance (by its name without the provider's prefix),
 * a label that the provider sets otherwise, one in the provider's own domain that it does not set, one whose meaning
 * is not known here, or a label that only a pool or a user can define.
 */
export type LabelMeaning =
  | { readonly kind: 'instance'; readonly label: string }
  | { readonly kind: 'well-known' }
  | { readonly kind: 'reserved' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'custom' };

const instanceLabelsOfNodeGroups: ReadonlySet<string> = new Set([instanceTypeLabel, archLabel]);

/** The meaning of a (normalised) label key to a provider. */
export function labelMeaning(key: string, provider: Provider): LabelMeaning {
  if (key === hostnameLabel) return { kind: 'unknown' };
  if (provider === 'node-group') {
    if (instanceLabelsOfNodeGroups.has(key)) return { kind: 'instance', label: key };
    if (key.startsWith('karpenter.sh/') || key.startsWith('karpenter.k8s.aws/')) return { kind: 'reserved' };
    return { kind: 'custom' };
  }
  if (key === instanceTypeLabel || key === archLabel) return { kind: 'instance', label: key };
  if (upstreamLabels.has(key)) return { kind: 'well-known' };
  const prefix = prefixes[provider];
  if (key.startsWith(prefix)) {
    const label = key.slice(prefix.length);
    if (instanceLabelSet.has(label)) return { kind: 'instance', label };
    if (label === 'compute-type' || label === 'nodeclass') return { kind: 'custom' };
    // EKS adds labels of its own to the nodes of Auto Mode and does not publish the full list.
    return { kind: provider === 'auto-mode' ? 'unknown' : 'reserved' };
  }
  // Whether Auto Mode accepts a requirement on a label of the open source provider is not documented.
  if (provider === 'auto-mode' && key.startsWith(prefixes.karpenter)) return { kind: 'unknown' };
  return { kind: 'custom' };
}

/** The label keys that instance types carry under a provider, for completion and hovers. */
export function wellKnownLabels(provider: 'karpenter' | 'auto-mode'): readonly string[] {
  return [...upstreamLabels, ...instanceLabels.map((label) => prefixes[provider] + label)];
}

/** The value of a label on a node of some type: `null` when the node lacks the label, `undefined` when unknown. */
export type LabelValue = string | readonly string[] | null | undefined;

/** The value that a node of the type carries for a label of {@link instanceLabels}, instance type or architecture. */
export function instanceLabel(type: InstanceType, label: string): LabelValue {
  switch (label) {
    case instanceTypeLabel:
      return type.name;
    case archLabel:
      return type.arch;
    case 'instance-category':
      return type.category;
    case 'instance-family':
      return type.family;
    case 'instance-generation':
      return String(type.generation);
    case 'instance-size':
      return type.size;
    case 'instance-cpu':
      return String(type.vcpu);
    case 'instance-cpu-manufacturer':
      return type.cpuManufacturer;
    case 'instance-memory':
      return String(type.memoryMiB);
    case 'instance-ebs-bandwidth':
      return type.ebsMbps === undefined ? undefined : String(type.ebsMbps);
    case 'instance-network-bandwidth':
      return type.networkMbps === undefined ? null : String(type.networkMbps);
    case 'instance-local-nvme':
      return type.nvmeGB === undefined ? null : String(type.nvmeGB);
    case 'instance-hypervisor':
      return type.hypervisor;
    case 'instance-capability-flex':
      return String(type.family.includes('-flex'));
    case 'instance-tenancy':
      return ['default', 'dedicated'];
    case 'instance-gpu-name':
      return type.gpus?.name ?? null;
    case 'instance-gpu-manufacturer':
      return type.gpus?.manufacturer ?? null;
    case 'instance-gpu-count':
      return type.gpus === undefined ? null : String(type.gpus.count);
    case 'instance-gpu-memory':
      return type.gpus === undefined ? null : String(type.gpus.memoryMiBEach);
    case 'instance-accelerator-name':
      return type.accelerators?.name ?? null;
    case 'instance-accelerator-manufacturer':
      return type.accelerators?.manufacturer ?? null;
    case 'instance-accelerator-count':
      return type.accelerators === undefined ? null : String(type.accelerators.devices);
    default:
      return undefined;
  }
}

/** Labels whose values name things, so that a value that nothing carries may name a type that is newer than this. */
export const namingLabels: ReadonlySet<string> = new Set([
  instanceTypeLabel,
  'instance-category',
  'instance-family',
  'instance-size',
  'instance-gpu-name',
  'instance-gpu-manufacturer',
  'instance-accelerator-name',
  'instance-accelerator-manufacturer',
]);
