import { labelMeaning, wellKnownLabels } from '../../sizing/nodes/labels';

/** Keys that were renamed, and by what; those of `karpenter.sh` are gone, the others have an alias in Karpenter. */
export const renamedLabels: Readonly<Record<string, string>> = {
  'karpenter.sh/provisioner-name': 'karpenter.sh/nodepool',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};

/** Labels of Kubernetes, Karpenter and EKS that nodes may carry beside those that instance types decide. */
const alsoKnown: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'node.kubernetes.io/exclude-from-external-load-balancers',
  'node.kubernetes.io/windows-build',
  'karpenter.sh/registered',
  'karpenter.sh/initialized',
  'karpenter.sh/do-not-sync-taints',
  'karpenter.k8s.aws/ec2nodeclass',
  'karpenter.k8s.aws/instance-profile-name',
  'karpenter.k8s.aws/capacity-reservation-id',
  'karpenter.k8s.aws/capacity-reservation-type',
  'topology.k8s.aws/zone-id',
  'topology.k8s.aws/capacity-block-id',
  'topology.k8s.aws/network-node-layer-1',
  'topology.k8s.aws/network-node-layer-2',
  'topology.k8s.aws/network-node-layer-3',
  'topology.ebs.csi.aws.com/zone',
  'eks.amazonaws.com/nodegroup',
  'eks.amazonaws.com/nodegroup-image',
  'eks.amazonaws.com/capacityType',
  'eks.amazonaws.com/compute-type',
  'eks.amazonaws.com/nodeclass',
  'eks.amazonaws.com/sourceLaunchTemplateId',
  'eks.amazonaws.com/sourceLaunchTemplateVersion',
]);

const karpenterLabels: ReadonlySet<string> = new Set(wellKnownLabels('karpenter'));
const autoModeLabels: ReadonlySet<string> = new Set(wellKnownLabels('auto-mode'));

/**
 * What a label key of a pod's selector is, whatever the pools say:
 * - `known`: Kubernetes, Karpenter or EKS puts it on nodes;
 * - `renamed`: it has another name now;
 * - `not-karpenter`: in Karpenter's own domain, without being one of its labels, so that no pool can set it either;
 * - `look-alike`: named as if Kubernetes or EKS set it, which they do not;
 * - `discovered`: GPU or Node Feature Discovery sets it on nodes that are there already;
 * - `custom`: whoever wants can set it.
 */
export type LabelOrigin = 'known' | 'renamed' | 'not-karpenter' | 'look-alike' | 'discovered' | 'custom';

const karpenterDomain = /^karpenter\.(?:sh|k8s\.aws)\//;
const discovered =
  /^(?:nvidia\.com\/(?:gpu|cuda|mig|gfd|vgpu)[\w.-]*|feature\.node\.kubernetes\.io\/.+|amd\.com\/gpu[\w.-]+|aws\.amazon\.com\/neuron\.[\w.-]+)$/;

export function labelOrigin(key: string): LabelOrigin {
  if (key in renamedLabels) return 'renamed';
  if (karpenterLabels.has(key) || autoModeLabels.has(key) || alsoKnown.has(key)) return 'known';
  if (discovered.test(key)) return 'discovered';
  if (karpenterDomain.test(key)) return 'not-karpenter';
  return looksProvided(key) ? 'look-alike' : 'custom';
}

/** Names behind the slash that only an instance or a provider can decide. */
const providedNames: ReadonlySet<string> = new Set([
  ...[...karpenterLabels].map((key) => key.slice(key.indexOf('/') + 1)),
  'instance-pods',
  'instance-gpu-type',
  'instance-gpu',
  'gpu-name',
  'gpu-count',
  'gpu-memory',
  'gpu-type',
]);

/** Domains in which only Kubernetes and EKS name labels, and sub-domains in which anyone may. */
const providedDomains =
  /^(?:(?:beta|node|topology)\.)?kubernetes\.io$|^eks\.amazonaws\.com$|^karpenter\.aws$/;

function looksProvided(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return false;
  return providedDomains.test(key.slice(0, slash)) && providedNames.has(key.slice(slash + 1));
}

/** The labels that a misspelt one may be meant for, those of the same name behind the slash first. */
export function labelsLike(key: string, provider: 'karpenter' | 'auto-mode'): readonly string[] {
  const known = wellKnownLabels(provider);
  const name = key.slice(key.indexOf('/') + 1);
  return known.filter((label) => label.slice(label.indexOf('/') + 1) === name);
}

/** Whether a pool of the provider can set a label by itself. */
export function canBeSet(key: string, provider: 'karpenter' | 'auto-mode'): boolean {
  return labelMeaning(key, provider).kind === 'custom';
}
