import type { Duration, Instant } from '../live/reading';
import type { MetricId } from '../live/vocabulary';

/** The window of a workload that was saved as what is normal. Stored by the client in its workspace state. */
export interface Baseline {
  readonly savedAt: Instant;
  readonly window: Duration;
  /** Mean over the window for shares, rates and counts; for percentiles the median of the window's values. */
  readonly values: Readonly<Partial<Record<MetricId, number>>>;
}
