import type { Baseline } from '../baseline';
import type { Instant } from '../reading';
import type { Readings } from '../readings';
import type { Thresholds } from '../thresholds';

/** What the autoscaler's numbers lead to; worked out by `autoscale/`, handed in by whoever judges. */
export type ScalingFacts =
  | {
      readonly kind: 'known';
      /** `HPA vllm`. */
      readonly scaler: string;
      readonly current: number;
      readonly maximum: number;
      /** What the metrics ask for before any limit; absent when none could be read. */
      readonly wanted?: number;
      /** Metrics that failed, with why. */
      readonly failures: readonly string[];
    }
  /** No autoscaler belongs to the workload. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly why: string };

/** Everything that verdicts and alarms are judged by. */
export interface JudgeContext {
  readonly readings: Readings;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  readonly baseline: Baseline | undefined;
  readonly scaling: ScalingFacts;
  /** Share of GPU memory that the engine reserves by its arguments; memory up to it is in use by intent. */
  readonly reservedVram: number | undefined;
}
