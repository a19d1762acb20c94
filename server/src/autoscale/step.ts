import { defaultController } from './controller';
import type { ControllerOptions, Instant } from './controller';
import { decide, hasTotalMetric, settleWithoutMetrics } from './decide';
import type { ComputedDecision, Decision, Memory } from './decide';
import { metricReplicas } from './metric-replicas';
import type { ObservedTarget } from './metric-replicas';
import type { MetricOutcome } from './metric-outcome';
import type { MetricReading } from './reading';
import { noScaleEvents, storeScaleEvent } from './scale-events';
import type { ScaleEvents } from './scale-events';
import type { HpaSpec } from './spec';
import { emptyStatus, withCondition } from './status';
import type { Condition, CurrentMetric, HpaStatus } from './status';
import { tolerancesOf } from './tolerance';

/** What the controller remembers of one HPA, and the status it has written. A restart forgets all but the status. */
export interface HpaState extends Memory {
  readonly status: HpaStatus;
}

/** An HPA that no sync has seen yet. */
export const initialState: HpaState = { recommendations: [], events: noScaleEvents, status: emptyStatus };

/** What one sync sees. */
export interface SyncInputs {
  readonly spec: HpaSpec;
  readonly target: ObservedTarget;
  /** One for each metric of the spec, in its order. Not looked at when the sync reads no metrics. */
  readonly readings: readonly MetricReading[];
}

export interface Step {
  readonly state: HpaState;
  readonly decision: Decision;
}

/**
 * One sync of the HPA controller (`reconcileAutoscaler` of kubernetes/kubernetes
 * pkg/controller/podautoscaler/horizontal.go, release 1.36).
 *
 * `now` must not lie before an earlier call's. The caller applies `decision.to` to the target. Rescaling is taken
 * to succeed; that the scale subresource cannot be read or written is not part of this model.
 */
export function step(
  state: HpaState,
  inputs: SyncInputs,
  now: Instant,
  controller: ControllerOptions = defaultController,
): Step {
  const { spec, target } = inputs;
  const current = target.specReplicas;
  // The count that the HPA found is its first recommendation, so that a window holds from the start.
  const recommendations =
    state.recommendations.length > 0 ? state.recommendations : [{ at: now, replicas: current }];
  const begun: HpaState = { ...state, recommendations };
  const conditions = withCondition(state.status.conditions, 'AbleToScale', true, 'SucceededGetScale');

  const settled = settleWithoutMetrics(spec, current, conditions, now, controller);
  if (settled !== undefined) {
    const found =
      settled.kind === 'disabled'
        ? withCondition(conditions, 'ScalingActive', false, 'ScalingDisabled')
        : conditions;
    return { state: conclude(begun, spec, settled, found, [], controller), decision: settled };
  }

  const tolerances = tolerancesOf(spec, controller);
  const outcomes = spec.metrics.map((metric, index) => {
    const reading = inputs.readings[index] ?? { kind: 'error' as const, message: 'no reading' };
    return metricReplicas(metric, reading, target, tolerances, now, controller);
  });
  const decision = decide(spec, outcomes, current, begun, now, controller);
  const metrics = outcomes.map(currentMetricOf);
  if (decision.kind === 'failed') {
    const reason = decision.proposal.failures[0]?.reason ?? 'InvalidMetricSourceType';
    return {
      state: {
        ...begun,
        status: {
          ...state.status,
          currentReplicas: current,
          conditions: withCondition(conditions, 'ScalingActive', false, reason),
          currentMetrics: metrics,
        },
      },
      decision,
    };
  }
  const remembering = { ...begun, recommendations: decision.stabilization.recommendations };
  const found = conditionsOf(
    decision,
    spec,
    withCondition(conditions, 'ScalingActive', true, 'ValidMetricFound'),
  );
  return { state: conclude(remembering, spec, decision, found, metrics, controller), decision };
}

function currentMetricOf(outcome: MetricOutcome): CurrentMetric {
  return { metric: outcome.metric, value: outcome.kind === 'proposed' ? outcome.value : { kind: 'none' } };
}

function conditionsOf(
  { proposal, stabilization, bounded, from }: ComputedDecision,
  spec: HpaSpec,
  conditions: readonly Condition[],
): readonly Condition[] {
  const held = stabilization.replicas !== proposal.replicas;
  const upwards = spec.behavior !== undefined && proposal.replicas >= from;
  const able = !held ? 'ReadyForNewScale' : upwards ? 'ScaleUpStabilized' : 'ScaleDownStabilized';
  const limited = bounded.replicas !== stabilization.replicas;
  return withCondition(
    withCondition(conditions, 'AbleToScale', true, able),
    'ScalingLimited',
    limited,
    bounded.reason,
  );
}

/** Applies the decision: events, conditions and the status, as they are after a sync without an error. */
function conclude(
  state: HpaState,
  spec: HpaSpec,
  decision: Decision,
  conditions: readonly Condition[],
  currentMetrics: readonly CurrentMetric[],
  controller: ControllerOptions,
): HpaState {
  const { from, to, at } = decision;
  const status = { ...state.status, currentReplicas: from, desiredReplicas: to, conditions, currentMetrics };
  if (from === to) return { ...state, status };
  let rescaled = withCondition(conditions, 'AbleToScale', true, 'SucceededRescale');
  if (controller.scaleToZero) {
    const slept = to === 0 && spec.minReplicas === 0 && hasTotalMetric(spec);
    rescaled = withCondition(rescaled, 'ScaledToZero', slept, slept ? 'ScaledToZero' : 'NotScaledToZero');
  }
  return {
    ...state,
    events: withEvent(state.events, spec, from, to, at),
    status: { ...status, conditions: rescaled, lastScaleTime: at },
  };
}

/** Without `behavior` no event is kept: nothing would read it. */
function withEvent(events: ScaleEvents, spec: HpaSpec, from: number, to: number, at: Instant): ScaleEvents {
  const { behavior } = spec;
  if (behavior === undefined) return events;
  return to > from
    ? { ...events, up: storeScaleEvent(events.up, behavior.scaleUp.policies, { at, change: to - from }) }
    : {
        ...events,
        down: storeScaleEvent(events.down, behavior.scaleDown.policies, { at, change: from - to }),
      };
}
