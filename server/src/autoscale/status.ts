import type { Instant } from './controller';
import type { MetricValue } from './metric-outcome';
import type { MetricSpec } from './spec';

export type ConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero';

/** A condition of the HPA's status, without its text and times. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False';
  readonly reason: string;
}

export interface CurrentMetric {
  readonly metric: MetricSpec;
  readonly value: MetricValue;
}

/** The status that the controller writes. */
export interface HpaStatus {
  /** `spec.replicas` of the target when the sync began. */
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  /** In the order in which they were first set, as the API shows them. */
  readonly conditions: readonly Condition[];
  /** One for each metric of the spec, or none when the sync read no metrics. */
  readonly currentMetrics: readonly CurrentMetric[];
  readonly lastScaleTime: Instant | undefined;
}

export const emptyStatus: HpaStatus = {
  currentReplicas: 0,
  desiredReplicas: 0,
  conditions: [],
  currentMetrics: [],
  lastScaleTime: undefined,
};

/** Each type stands once, where it was first set. */
export function withCondition(
  conditions: readonly Condition[],
  type: ConditionType,
  status: boolean,
  reason: string,
): readonly Condition[] {
  const condition: Condition = { type, status: status ? 'True' : 'False', reason };
  const index = conditions.findIndex((one) => one.type === type);
  return index < 0 ? [...conditions, condition] : conditions.with(index, condition);
}
