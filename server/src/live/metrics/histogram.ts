/** A bucket of a Prometheus histogram: how many observations were at most `le`. */
export interface Bucket {
  /** The upper bound, inclusive; `Infinity` for the last. */
  readonly le: number;
  /** Cumulative. A difference of two scrapes, or a rate: fractions are fine. */
  readonly count: number;
}

/** Observations over some time. */
export interface Distribution {
  /** Ascending by `le`. */
  readonly buckets: readonly Bucket[];
  readonly sum: number;
  readonly count: number;
}

export interface Quantile {
  readonly value: number;
  /** It lies above the last finite bound, which is what `value` is. */
  readonly atLeast: boolean;
}

/**
 * What `histogram_quantile` of Prometheus gives for a classic histogram: the observations of a bucket are taken to lie
 * evenly in it, the first one begins at 0, and beyond the last finite bound that bound is the answer. `undefined` where
 * Prometheus gives NaN: nothing observed, or no `+Inf` bucket.
 *
 * @param q from 0 to 1
 */
export function quantile(q: number, { buckets }: Distribution): Quantile | undefined {
  const last = buckets.at(-1);
  if (last === undefined || last.le !== Infinity || buckets.length < 2) return undefined;
  const monotonic = withoutDips(buckets);
  const total = monotonic.at(-1)?.count ?? 0;
  if (!(total > 0)) return undefined;
  const rank = q * total;
  const index = monotonic.slice(0, -1).findIndex(({ count }) => count >= rank);
  const found = monotonic[index];
  if (found === undefined) {
    const bound = monotonic.at(-2)?.le;
    return bound === undefined ? undefined : { value: bound, atLeast: true };
  }
  const before = monotonic[index - 1];
  if (before === undefined && found.le <= 0) return { value: found.le, atLeast: false };
  const start = before?.le ?? 0;
  const below = before?.count ?? 0;
  const inside = found.count - below;
  if (inside <= 0) return { value: start, atLeast: false };
  return { value: start + (found.le - start) * ((rank - below) / inside), atLeast: false };
}

/** Counts that go down from one bucket to the next come from scrapes that were not made at one moment. */
function withoutDips(buckets: readonly Bucket[]): readonly Bucket[] {
  let highest = 0;
  return buckets.map((bucket) => {
    highest = Math.max(highest, bucket.count);
    return bucket.count === highest ? bucket : { le: bucket.le, count: highest };
  });
}

export function mean({ sum, count }: Distribution): number | undefined {
  return count > 0 ? sum / count : undefined;
}

/**
 * The distributions of several pods or label sets as one. Cumulative counts can be added where a bound is in all of
 * them, so only common bounds stay: pods of two versions with different buckets still have one exact distribution, a
 * coarser one. Those without any observation say nothing about bounds.
 */
export function merge(distributions: readonly Distribution[]): Distribution {
  const withData = distributions.filter(({ count }) => count > 0);
  const [first, ...others] = withData.length > 0 ? withData : distributions;
  if (first === undefined) return { buckets: [], sum: 0, count: 0 };
  if (others.length === 0) return first;
  const tables = others.map(({ buckets }) => new Map(buckets.map(({ le, count }) => [le, count])));
  const buckets: Bucket[] = [];
  for (const { le, count } of first.buckets) {
    let sum: number | undefined = count;
    for (const table of tables) {
      const other = table.get(le);
      if (other === undefined) {
        sum = undefined;
        break;
      }
      sum += other;
    }
    if (sum !== undefined) buckets.push({ le, count: sum });
  }
  return {
    buckets,
    sum: withData.reduce((total, { sum }) => total + sum, 0),
    count: withData.reduce((total, { count }) => total + count, 0),
  };
}
