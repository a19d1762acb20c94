import type { PodName } from './measurement';
import type { Instant, Part } from './reading';

/**
 * Objects of a cluster as far as the panel needs them. Everything is plain data. Amounts of resources are in base
 * units (cores, bytes, counts) by the name of the resource: `{ cpu: 4, memory: 34359738368, 'nvidia.com/gpu': 1 }`.
 */
export type Resources = Readonly<Record<string, number>>;

export interface ObjectRef {
  /** `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** `lastTransitionTime`. */
  readonly since?: Instant;
}

/** Deployment, StatefulSet, LeaderWorkerSet, RayService, InferenceService, Rollout, ... */
export interface WorkloadView {
  readonly ref: ObjectRef;
  readonly createdAt: Instant;
  readonly generation?: number;
  readonly observedGeneration?: number;
  /** A count is absent where the kind does not have it. */
  readonly replicas: {
    readonly desired?: number;
    readonly current?: number;
    readonly ready?: number;
    readonly available?: number;
    readonly updated?: number;
  };
  readonly conditions: readonly Condition[];
  /** The object as the API server gives it, without managedFields; literal values of environment variables removed. */
  readonly object: unknown;
}

export interface ReplicaSetView {
  readonly ref: ObjectRef;
  readonly createdAt: Instant;
  /** Annotation `deployment.kubernetes.io/revision`. */
  readonly revision?: number;
  readonly desired: number;
  readonly ready: number;
  readonly images: readonly string[];
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface Termination {
  /** `OOMKilled`, `Error`, `Completed`, ... */
  readonly reason: string;
  readonly exitCode: number;
  readonly signal?: number;
  /** The container's own termination message, cut to 4 KiB. */
  readonly message?: string;
  readonly startedAt?: Instant;
  readonly finishedAt?: Instant;
}

export type ContainerState =
  /** `CrashLoopBackOff`, `ImagePullBackOff`, `ContainerCreating`, ... */
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'running'; readonly since?: Instant }
  | ({ readonly kind: 'terminated' } & Termination)
  /** The kubelet has not said anything yet. */
  | { readonly kind: 'unknown' };

export interface ContainerView {
  readonly name: string;
  readonly image: string;
  readonly role: 'init' | 'sidecar' | 'main';
  readonly ready: boolean;
  readonly restarts: number;
  readonly state: ContainerState;
  readonly lastTermination?: Termination;
  readonly requests: Resources;
  readonly limits: Resources;
  /** Container ports, by declaration. */
  readonly ports: readonly { readonly name?: string; readonly port: number }[];
}

export interface PodView {
  readonly pod: PodName;
  readonly uid: string;
  readonly createdAt: Instant;
  /** `status.startTime`: the kubelet has taken it. */
  readonly startedAt?: Instant;
  /** Has a deletionTimestamp. */
  readonly deletingSince?: Instant;
  readonly phase: PodPhase;
  /** `status.reason`, such as `Evicted`. */
  readonly reason?: string;
  readonly message?: string;
  /** Absent while it is not scheduled. */
  readonly node?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The controlling owner. */
  readonly owner?: { readonly kind: string; readonly name: string };
  readonly priorityClass?: string;
  /** PodScheduled, Initialized, ContainersReady, Ready, ... */
  readonly conditions: readonly Condition[];
  readonly containers: readonly ContainerView[];
}

export interface EventView {
  readonly about: ObjectRef;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  /** `karpenter`, `kubelet`, `horizontal-pod-autoscaler`. */
  readonly reporter: string;
}

export interface HpaView {
  readonly ref: ObjectRef;
  readonly createdAt: Instant;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  /** `spec` and `status` of autoscaling/v2 as the API server gives them; `autoscale/` reads them. */
  readonly spec: unknown;
  readonly status: unknown;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owner?: { readonly kind: string; readonly name: string };
}

export interface ScaledObjectView {
  readonly ref: ObjectRef;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly spec: unknown;
  readonly conditions: readonly Condition[];
  /** `status.hpaName`. */
  readonly hpaName?: string;
  /** `status.health`: failures in a row and whether the fallback is on, by the name of the metric. */
  readonly health: Readonly<Record<string, { readonly failures: number; readonly status: string }>>;
  /** `status.lastActiveTime`. */
  readonly lastActiveAt?: Instant;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PdbView {
  readonly ref: ObjectRef;
  /** As written: `2` or `50%`. */
  readonly minAvailable?: string;
  readonly maxUnavailable?: string;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly disruptionsAllowed: number;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeView {
  readonly name: string;
  readonly createdAt: Instant;
  readonly labels: Readonly<Record<string, string>>;
  /** Label `node.kubernetes.io/instance-type`. */
  readonly instanceType?: string;
  readonly zone?: string;
  /** Labels of Karpenter and of EKS, as one: what the price depends on. */
  readonly capacityType?: 'on-demand' | 'spot' | 'reserved' | 'capacity-block';
  /** Label `karpenter.sh/nodepool` or `eks.amazonaws.com/nodegroup`. */
  readonly pool?: string;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly conditions: readonly Condition[];
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  readonly deletingSince?: Instant;
}

/**
 * What the scheduler has given away on a node, by all pods of the cluster. It is apart from the pods because most
 * users may list pods of their namespace only; then it is unknown.
 */
export interface NodeUse {
  readonly node: string;
  /** Requests of the pods that are bound to it and not finished. */
  readonly requested: Resources;
  /** By namespace and, for cost by label, by the value of the allocation label (`''` = without). */
  readonly parts: readonly NodeUsePart[];
}

export interface NodeUsePart {
  readonly namespace: string;
  /** Values of the labels that {@link Want.allocationLabels} names. */
  readonly labels: Readonly<Record<string, string>>;
  readonly pods: number;
  readonly requested: Resources;
}

export interface NodePoolView {
  readonly ref: ObjectRef;
  readonly weight?: number;
  readonly limits: Resources;
  /** `status.resources`: what its nodes have now. */
  readonly resources: Resources;
  readonly conditions: readonly Condition[];
  /** The object, for the scheduler's model in `sizing/`. */
  readonly object: unknown;
}

export interface NodeClaimView {
  readonly name: string;
  readonly pool?: string;
  readonly createdAt: Instant;
  readonly deletingSince?: Instant;
  /** Launched, Registered, Initialized, Ready; each with its time. */
  readonly conditions: readonly Condition[];
  readonly instanceType?: string;
  readonly capacityType?: NodeView['capacityType'];
  readonly zone?: string;
  /** `status.nodeName`; absent until it has registered. */
  readonly node?: string;
}

/** Lines of a container's log, as far as the triage reads them. */
export interface LogExcerpt {
  readonly pod: PodName;
  readonly container: string;
  /** The run before the last restart (`--previous`). */
  readonly previous: boolean;
  /** The newest last; secrets already removed. */
  readonly lines: readonly string[];
  readonly at: Instant;
}

/**
 * What the API server says. Each part stands for itself: a list that was denied is absent with its reason, and the
 * others are there. Lists are of the workload of the want, but for nodes, pools and claims.
 */
export interface ClusterView {
  /** What hangs on the object under the cursor; absent with `no-data` when it is not in the cluster. */
  readonly workload: Part<WorkloadView>;
  readonly replicaSets: Part<readonly ReplicaSetView[]>;
  readonly pods: Part<readonly PodView[]>;
  /** Of the workload, its pods, scalers, and claims; newest last. */
  readonly events: Part<readonly EventView[]>;
  readonly hpa: Part<HpaView>;
  readonly scaledObject: Part<ScaledObjectView>;
  readonly pdbs: Part<readonly PdbView[]>;
  readonly nodes: Part<readonly NodeView[]>;
  readonly nodeUse: Part<readonly NodeUse[]>;
  readonly nodePools: Part<readonly NodePoolView[]>;
  readonly nodeClaims: Part<readonly NodeClaimView[]>;
  /** Excerpts for pods that were killed or crash. */
  readonly logs: Part<readonly LogExcerpt[]>;
  /** Pods of the whole cluster that are pending; for the control plane. */
  readonly pendingInCluster: Part<number>;
}

export type ClusterPart = keyof ClusterView;
