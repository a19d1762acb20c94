import { boundWithBehavior, boundWithoutBehavior } from './bounds';
import type { Bounded } from './bounds';
import type { ControllerOptions, Instant } from './controller';
import type { MetricOutcome } from './metric-outcome';
import { combineProposals } from './proposal';
import type { Proposal } from './proposal';
import type { ScaleEvents } from './scale-events';
import type { HpaSpec } from './spec';
import { stabilizeBothWays, stabilizeDown } from './stabilization';
import type { Recommendation, Stabilization } from './stabilization';
import type { Condition } from './status';

/**
 * What one sync decided. `from` is the target's `spec.replicas` before it, `to` after it.
 *
 * - `disabled`: somebody set the target to 0; the HPA waits
 * - `clamped`: the target was outside the bounds and is moved to the nearer one; no metric was read
 * - `failed`: too many metrics failed; nothing changes
 * - `computed`: the metrics decided, then stabilisation, then the limits
 */
export type Decision = SettledDecision | FailedDecision | ComputedDecision;

/** Decided by the number of replicas alone. */
export type SettledDecision =
  | { readonly kind: 'disabled'; readonly at: Instant; readonly from: 0; readonly to: 0 }
  | {
      readonly kind: 'clamped';
      readonly at: Instant;
      readonly from: number;
      readonly to: number;
      readonly bound: 'minReplicas' | 'maxReplicas';
    };

export interface FailedDecision {
  readonly kind: 'failed';
  readonly at: Instant;
  readonly from: number;
  readonly to: number;
  readonly outcomes: readonly MetricOutcome[];
  readonly proposal: Proposal & { readonly ok: false };
}

export interface ComputedDecision {
  readonly kind: 'computed';
  readonly at: Instant;
  readonly from: number;
  readonly to: number;
  readonly outcomes: readonly MetricOutcome[];
  readonly proposal: Proposal & { readonly ok: true };
  readonly stabilization: Stabilization;
  readonly bounded: Bounded;
}

/** What the controller remembers of earlier syncs. */
export interface Memory {
  readonly recommendations: readonly Recommendation[];
  readonly events: ScaleEvents;
}

/** The decisions that need no metric; `undefined` when the metrics have to be read. */
export function settleWithoutMetrics(
  spec: HpaSpec,
  current: number,
  conditions: readonly Condition[],
  at: Instant,
  controller: ControllerOptions,
): SettledDecision | undefined {
  if (current === 0) {
    return wakesFromZero(spec, conditions, controller) ? undefined : { kind: 'disabled', at, from: 0, to: 0 };
  }
  if (current > spec.maxReplicas) {
    return { kind: 'clamped', at, from: current, to: spec.maxReplicas, bound: 'maxReplicas' };
  }
  if (current < spec.minReplicas) {
    return { kind: 'clamped', at, from: current, to: spec.minReplicas, bound: 'minReplicas' };
  }
  return undefined;
}

/**
 * Whether a sync at zero replicas reads metrics. With the gate of 1.36 and later: when the HPA itself scaled to
 * zero. Without it only a minimum of 0 counts, which the API server then does not admit.
 */
function wakesFromZero(
  spec: HpaSpec,
  conditions: readonly Condition[],
  controller: ControllerOptions,
): boolean {
  if (!controller.scaleToZero) return spec.minReplicas === 0;
  const slept = conditions.some(({ type, status }) => type === 'ScaledToZero' && status === 'True');
  return slept && (spec.minReplicas !== 0 || hasTotalMetric(spec));
}

/** Only metrics that exist without pods can say that a target at zero is needed again. */
export function hasTotalMetric(spec: HpaSpec): boolean {
  return spec.metrics.some(({ type }) => type === 'Object' || type === 'External');
}

/** From what each metric proposes to the number of replicas: maximum, stabilisation, limits. */
export function decide(
  spec: HpaSpec,
  outcomes: readonly MetricOutcome[],
  current: number,
  memory: Memory,
  at: Instant,
  controller: ControllerOptions,
): FailedDecision | ComputedDecision {
  const proposal = combineProposals(outcomes, current);
  if (!proposal.ok) return { kind: 'failed', at, from: current, to: current, outcomes, proposal };
  const stabilization = stabilize(spec, memory.recommendations, current, proposal.replicas, at, controller);
  const bounds = {
    current,
    desired: stabilization.replicas,
    minReplicas: spec.minReplicas,
    maxReplicas: spec.maxReplicas,
  };
  const bounded =
    spec.behavior === undefined
      ? boundWithoutBehavior(bounds)
      : boundWithBehavior(bounds, spec.behavior, memory.events, at);
  // Woken from zero after somebody raised the minimum: the minimum holds whatever the rate limit says.
  const to = current === 0 ? Math.max(bounded.replicas, spec.minReplicas) : bounded.replicas;
  return { kind: 'computed', at, from: current, to, outcomes, proposal, stabilization, bounded };
}

function stabilize(
  spec: HpaSpec,
  recommendations: readonly Recommendation[],
  current: number,
  proposal: number,
  now: Instant,
  controller: ControllerOptions,
): Stabilization {
  const { behavior } = spec;
  if (behavior === undefined) {
    return stabilizeDown(recommendations, proposal, controller.downscaleStabilization, now);
  }
  const down = behavior.scaleDown.stabilizationWindowSeconds;
  const windows = {
    up: (behavior.scaleUp.stabilizationWindowSeconds ?? 0) * 1000,
    down: down === undefined ? controller.downscaleStabilization : down * 1000,
  };
  return stabilizeBothWays(recommendations, current, proposal, windows, now);
}
