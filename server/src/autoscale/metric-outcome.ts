import type { Milli } from './milli';
import type { MetricSpec } from './spec';
import type { Tolerances } from './tolerance';

/**
 * The arithmetic behind one metric's proposal, complete enough to be written out as
 * `ceil(3 x 90 / 60) = 5` (see explain.ts).
 */
export interface Working {
  /**
   * - `pods-times-ratio`: `ceil(pods x level / target)`
   * - `total-over-target`: `ceil(level / target)`; `pods` is `status.replicas`, used for the tolerance only
   * - `ratio`: `ceil(level / target)`, from zero replicas
   */
  readonly form: 'pods-times-ratio' | 'total-over-target' | 'ratio';
  /** What `level` and `target` are: whole percent, or thousandths (of bytes for memory). */
  readonly unit: 'percent' | 'milli' | 'milli-bytes';
  readonly level: bigint;
  readonly target: bigint;
  readonly pods: number;
  /** What is compared with the tolerance. Not finite for a total over no pods. */
  readonly ratio: number;
  readonly tolerances: Tolerances;
  readonly verdict: WorkingVerdict;
  /** Present when pods without a usable sample were filled in and the level computed again. */
  readonly assumed: AssumedSamples | undefined;
}

/**
 * Why the number came out as it did: `scaled` is the formula's own result, each other one leaves the count as it is.
 *
 * - `within-tolerance`: too near to the target
 * - `direction-would-flip`: with the filled-in pods the ratio is on the other side of 1
 * - `against-direction`: the ratio says up and the result is lower, or the other way round
 */
export type WorkingVerdict = 'scaled' | 'within-tolerance' | 'direction-would-flip' | 'against-direction';

export interface AssumedSamples {
  /** Pods without a sample. */
  readonly missing: number;
  /** Scaling down they are taken to use much (the request or the target), scaling up nothing. */
  readonly missingAs: 'nothing' | 'the whole request' | 'the target' | undefined;
  /** Pods not ready, counted as using nothing; 0 unless scaling up. */
  readonly unready: number;
  /** The level over the ready pods alone. */
  readonly levelBefore: bigint;
}

/** An entry of `status.currentMetrics`, without the name. */
export type MetricValue =
  | { readonly kind: 'utilization'; readonly percent: number; readonly averageValue: Milli }
  | { readonly kind: 'averageValue'; readonly averageValue: Milli }
  | { readonly kind: 'value'; readonly value: Milli }
  /** The metric failed: the API shows an entry without content. */
  | { readonly kind: 'none' };

/** What one metric proposes, before it is known of the others. */
export type Calculation =
  | { readonly ok: true; readonly replicas: number; readonly working: Working; readonly value: MetricValue }
  | { readonly ok: false; readonly message: string };

/** Reasons of the condition ScalingActive=False, one for each type of metric. */
export type FailureReason =
  | 'FailedGetResourceMetric'
  | 'FailedGetContainerResourceMetric'
  | 'FailedGetPodsMetric'
  | 'FailedGetObjectMetric'
  | 'FailedGetExternalMetric';

export type MetricOutcome =
  | {
      readonly kind: 'proposed';
      readonly metric: MetricSpec;
      readonly replicas: number;
      readonly working: Working;
      readonly value: MetricValue;
    }
  | {
      readonly kind: 'failed';
      readonly metric: MetricSpec;
      readonly reason: FailureReason;
      readonly message: string;
    };
