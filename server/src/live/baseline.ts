import type { Duration, Instant } from './reading';
import type { MetricId } from './vocabulary';

/** The window of a workload that was saved as what is normal. Stored by the client in its workspace state. */
export interface Baseline {
  readonly savedAt: Instant;
  readonly window: Duration;
  /** Median of the window; ids without a value were not known. */
  readonly values: Readonly<Partial<Record<MetricId, number>>>;
}
