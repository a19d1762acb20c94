import type { AmiFamily, NodeClassSpec } from './allocatable';
import type { RequirementSpec } from '../../kube/value-set';
import type { QuantityList } from './resources';
import type { Taint } from './taints';

/** The part of an EKS Auto Mode NodeClass that decides what its nodes offer. */
export interface AutoNodeClassSpec {
  /** `spec.ephemeralStorage.size` as written; 80Gi when absent. */
  readonly ephemeralStorage?: unknown;
}

/** Where a NodePool gets its machines from. */
export type NodeClass =
  | { readonly kind: 'EC2NodeClass'; readonly spec: NodeClassSpec; readonly reservations: boolean }
  | { readonly kind: 'NodeClass'; readonly spec: AutoNodeClassSpec; readonly reservations: boolean }
  /** Referenced, but its object is not at hand. */
  | { readonly kind: 'unknown' };

/** A Karpenter NodePool (open source or of EKS Auto Mode) as plain data. */
export interface NodePoolSpec {
  readonly kind: 'node-pool';
  readonly name: string;
  /** `auto-mode` when `nodeClassRef.group` is `eks.amazonaws.com`. */
  readonly provider: 'karpenter' | 'auto-mode';
  readonly requirements: readonly RequirementSpec[];
  /** `spec.template.metadata.labels`. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Not waited for: something removes them after the node has started. */
  readonly startupTaints?: readonly Taint[];
  readonly limits?: QuantityList;
  readonly weight?: number;
  /** Given, the pool is static: it keeps that many nodes whatever pods ask. */
  readonly replicas?: number;
  readonly nodeClassRef?: { readonly group?: string; readonly kind?: string; readonly name?: string };
  /** Absent is the same as `{ kind: 'unknown' }`. */
  readonly nodeClass?: NodeClass;
  /** Requirement and label keys that are there but whose values cannot be read (templates, variables). */
  readonly unknownKeys?: readonly string[];
  /** True when more may be required or tainted than can be read. */
  readonly incomplete?: boolean;
}

/** A managed (or self-managed) node group of an eksctl `ClusterConfig` as plain data. */
export interface NodeGroupSpec {
  readonly kind: 'node-group';
  readonly name: string;
  /** `instanceType` or `instanceTypes`. Empty when they are chosen otherwise (`instanceSelector`, a launch template). */
  readonly instanceTypes: readonly string[];
  readonly amiFamily?: AmiFamily;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly zones?: readonly string[];
  readonly spot?: boolean;
  /** `volumeSize` in GiB; eksctl's default is 80. */
  readonly volumeSizeGiB?: number;
  readonly maxPodsPerNode?: number;
  readonly clusterName?: string;
  readonly unknownKeys?: readonly string[];
  readonly incomplete?: boolean;
}

export type PoolSpec = NodePoolSpec | NodeGroupSpec;

/** The pools in the order in which Karpenter tries them: by weight, then from the end of the alphabet. */
export function inLaunchOrder<Pool extends PoolSpec>(pools: readonly Pool[]): readonly Pool[] {
  const weight = (pool: PoolSpec): number => (pool.kind === 'node-pool' ? (pool.weight ?? 0) : 0);
  return pools.toSorted((a, b) => weight(b) - weight(a) || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0));
}

/**
 * The labels that nodes of a pool carry whatever their type: those of the template, and those that the provider
 * derives from the pool's name.
 */
export function poolLabels(pool: PoolSpec): Readonly<Record<string, string>> {
  if (pool.kind === 'node-group') {
    return {
      'eks.amazonaws.com/nodegroup': pool.name,
      'alpha.eksctl.io/nodegroup-name': pool.name,
      'eks.amazonaws.com/capacityType': pool.spot === true ? 'SPOT' : 'ON_DEMAND',
      ...(pool.clusterName !== undefined && { 'alpha.eksctl.io/cluster-name': pool.clusterName }),
      ...pool.labels,
    };
  }
  const ref = pool.nodeClassRef;
  const auto = pool.provider === 'auto-mode';
  const group = ref?.group ?? (auto ? 'eks.amazonaws.com' : 'karpenter.k8s.aws');
  const kind = ref?.kind ?? (auto ? 'NodeClass' : 'EC2NodeClass');
  return {
    ...pool.labels,
    ...(pool.name !== '' && { 'karpenter.sh/nodepool': pool.name }),
    ...(ref?.name !== undefined && { [`${group}/${kind.toLowerCase()}`]: ref.name }),
    ...(auto && { 'eks.amazonaws.com/compute-type': 'auto' }),
  };
}
