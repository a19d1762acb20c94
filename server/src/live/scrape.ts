import type { Instant } from './reading';

/** `unknown` where the text has no TYPE line. */
export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'unknown';

/** One line of a Prometheus text exposition. Its name is as written, with `_total`, `_bucket`, `_sum`, `_count`, `_created`. */
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
  /** By the name of the family, as in the TYPE line. */
  readonly types: Readonly<Record<string, MetricType>>;
  /** Lines that could not be read; the others count nevertheless. */
  readonly problems: readonly string[];
}
