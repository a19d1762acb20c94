import type { Instant } from './reading';

/**
 * One line of a Prometheus text exposition. Its name is as written, with `_total`, `_bucket`, `_sum`, `_count` and
 * `_created`.
 */
export interface Sample {
  readonly name: string;
  /** Unescaped. `le` and `quantile` are labels like others. */
  readonly labels: Readonly<Record<string, string>>;
  /** May be NaN or infinite, as written. */
  readonly value: number;
}

/** What one endpoint printed at one time. */
export interface Scrape {
  readonly at: Instant;
  readonly samples: readonly Sample[];
}
