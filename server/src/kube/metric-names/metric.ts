/** What a number of a metric means. A `ratio` is 0 to 1, a `percent` 0 to 100. */
export type MetricUnit =
  'ratio' | 'percent' | 'bytes' | 'MiB' | 'seconds' | 'milliseconds' | 'microseconds' | 'celsius' | 'watts';

export type MetricType = 'gauge' | 'counter' | 'histogram' | 'summary';

/** A metric as its program reports it today. */
export interface Metric {
  /** As Prometheus has it: counters with `_total`, histograms without `_bucket`. */
  readonly name: string;
  readonly type: MetricType;
  readonly unit?: MetricUnit;
  /** The first release that has it, where it was not always there. */
  readonly since?: string;
}

/** A metric of earlier releases. */
export interface OldMetric {
  readonly name: string;
  readonly type: MetricType;
  readonly unit?: MetricUnit;
  readonly deprecated?: string;
  /** The first release without it; left out where it is long gone. */
  readonly removed?: string;
  /** What says the same now. */
  readonly use?: {
    readonly name: string;
    /** Same unit, same labels, one for one: writing the new name changes nothing else. */
    readonly same: boolean;
  };
  /** Beside or instead of a new name: a clause. */
  readonly note?: string;
}

/** The metrics of one program. */
export interface MetricFamily {
  /** As people call it: `vLLM`. */
  readonly title: string;
  readonly prefix: RegExp;
  /**
   * - `closed`: every name with the prefix is listed
   * - `grows`: each release adds some, so that a name that is like no other may be newer than this list
   * - `open`: many more names than are listed
   */
  readonly completeness: 'closed' | 'grows' | 'open';
  readonly metrics: readonly Metric[];
  readonly old: readonly OldMetric[];
  /** Names with the prefix that other programs report. */
  readonly foreign?: RegExp;
  /** The release that the list was made from. */
  readonly release?: string;
}

/** Names of one type and unit, separated by white space. */
export function metrics(type: MetricType, names: string, unit?: MetricUnit): readonly Metric[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => (unit === undefined ? { name, type } : { name, type, unit }));
}
