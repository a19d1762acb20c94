/** Milliseconds since the Unix epoch. The layers that are pure are always given it, they never ask a clock. */
export type Instant = number;

/** Milliseconds. */
export type Duration = number;

/** Units of values as they are kept; how they are written for people is the panel's concern. */
export type Unit =
  /** 0 to 1; a percentage is this times 100. */
  | 'ratio'
  | 'bytes'
  | 'bytes-per-second'
  | 'seconds'
  | 'count'
  | 'per-second'
  | 'tokens-per-second'
  | 'celsius'
  | 'watts'
  | 'hertz'
  /** CPU cores; 0.5 is 500m. */
  | 'cores'
  | 'dollars'
  | 'dollars-per-hour';

export const sourceIds = ['kubernetes', 'engine-metrics', 'prometheus', 'cloudwatch', 'demo'] as const;

export type SourceId = (typeof sourceIds)[number];

/** Where a number is from: the source, and the name that it has there (a metric, a query, a field). */
export interface Provenance {
  readonly source: SourceId;
  /** `vllm:kv_cache_usage_perc`, `histogram_quantile(0.95, ...)`, `container_gpu_utilization`, `status.readyReplicas`. */
  readonly from: string;
}

/** A number that a source said. */
export interface Reading {
  readonly kind: 'reading';
  /** Finite. In `unit`. */
  readonly value: number;
  readonly unit: Unit;
  /** When it was so, at the end of its window; not when it was fetched. */
  readonly at: Instant;
  /** What it was measured over; 0 for the value of a moment. */
  readonly window: Duration;
  /** The value is a lower bound: a percentile in the last bucket of a histogram, which has no upper end. */
  readonly atLeast?: true;
  readonly source: Provenance;
}

/** Why there is no number. None of these is zero, and none is a pass. */
export type AbsentReason =
  /** No source that could say it is set up. */
  | 'not-configured'
  /** A source refused: RBAC, IAM, 401 or 403. */
  | 'denied'
  /** The source answered and has nothing: the metric does not exist there, or nothing was measured. */
  | 'no-data'
  /** A rate or a percentile needs more than there is yet, such as a second scrape. */
  | 'too-few-points'
  /** The last value is older than two refreshes. */
  | 'stale'
  /** Error, time-out, or an answer that makes no sense. */
  | 'failed';

export interface Absent {
  readonly kind: 'absent';
  readonly why: AbsentReason;
  /** One statement for people, without a full stop: `the node exporter answered 403 Forbidden`. */
  readonly message: string;
  /** An imperative, if something can be done: `Grant get on pods/proxy in namespace llm`. */
  readonly remedy?: string;
  readonly source?: SourceId;
}

export type Observed = Reading | Absent;

/** A part of an answer that is there as a whole or not at all, such as the list of events. */
export type Part<T> = { readonly kind: 'known'; readonly value: T; readonly at: Instant } | Absent;

export function absent(why: AbsentReason, message: string, more: Partial<Absent> = {}): Absent {
  return { kind: 'absent', why, message, ...more };
}
