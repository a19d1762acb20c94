import type { ResourceRef } from '../finding';
import type { Span } from '../../yaml/node';

/**
 * - `unknown`: what decides it stands in no file that was read, or is only known later. It is no pass.
 * - `not-applicable`: the workload has no such thing, or its author has accepted that it is so.
 */
export type ReadinessState = 'pass' | 'fail' | 'not-applicable' | 'unknown';

export const readinessStates: readonly ReadinessState[] = ['pass', 'fail', 'not-applicable', 'unknown'];

export type ReadinessGroup = 'pod' | 'scaling' | 'nodes' | 'resilience';

export type ReadinessItemId =
  | 'requests-and-limits'
  | 'memory-request-above-model'
  | 'memory-limit-headroom'
  | 'termination-grace-period'
  | 'probes-configured'
  | 'probes-decoupled'
  | 'scaling-bounds'
  | 'scaling-target'
  | 'scale-down-window'
  | 'custom-metrics'
  | 'instance-types'
  | 'spot-and-on-demand'
  | 'gpu-placement'
  | 'consolidation-and-expiry'
  | 'topology-spread'
  | 'disruption-budget'
  | 'alarm-scaling'
  | 'alarm-node-launch'
  | 'alarm-at-maximum';

/** A place in a file; offsets are UTF-16 in its text. */
export interface ReadinessPlace {
  readonly uri: string;
  readonly at: Span;
}

/** One item of the checklist with what decided it. Plain data. */
export interface ReadinessResult {
  readonly id: ReadinessItemId;
  readonly group: ReadinessGroup;
  /** A statement that holds when it passes: `Requests and limits for CPU and memory`. */
  readonly title: string;
  readonly state: ReadinessState;
  /** The finding's message or the fact that decided it; never empty, without a full stop. */
  readonly fact: string;
  /** Where that stands; absent where nothing is written. */
  readonly place: ReadinessPlace | undefined;
  /** The rule whose finding decided it. */
  readonly rule: string | undefined;
}

export interface WorkloadReadiness {
  readonly resource: ResourceRef;
  /** `Deployment "chat"`. */
  readonly title: string;
  /** Where its name stands. */
  readonly place: ReadinessPlace;
  /** All nineteen, in the order of the checklist. */
  readonly items: readonly ReadinessResult[];
  readonly counts: Readonly<Record<ReadinessState, number>>;
}
