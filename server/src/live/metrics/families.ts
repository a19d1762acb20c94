import type { Sample, Scrape } from '../scrape';
import type { Bucket, Distribution } from './histogram';

/** Labels that tell the series of a family apart; `le` and `quantile` are not among them. */
export type Labels = Readonly<Record<string, string>>;

/** The counter of one label set. */
export interface Counter {
  readonly labels: Labels;
  readonly value: number;
  /** `_created`, in milliseconds since the epoch. */
  readonly created: number | undefined;
}

interface HistogramSet {
  readonly labels: Labels;
  readonly buckets: Bucket[];
  sum: number;
  count: number;
  created: number | undefined;
}

/** A scrape, indexed by name. */
export interface Families {
  readonly at: number;
  /** Samples by their name in the normal form ({@link normalName}). */
  readonly byName: ReadonlyMap<string, readonly Sample[]>;
}

/**
 * One spelling for the names that differ in nothing else: adapters and Ray write `:` as `_`, and Ray puts `ray_` in
 * front of what it exports for others.
 */
export function normalName(name: string): string {
  const flat = name.replaceAll(':', '_');
  return /^ray_(vllm|sglang|serve)_/.test(flat) ? flat.slice('ray_'.length) : flat;
}

const indexed = new WeakMap<Scrape, Families>();

export function familiesOf(scrape: Scrape): Families {
  const known = indexed.get(scrape);
  if (known !== undefined) return known;
  const byName = new Map<string, Sample[]>();
  for (const sample of scrape.samples) {
    const name = normalName(sample.name);
    const list = byName.get(name);
    if (list === undefined) byName.set(name, [sample]);
    else list.push(sample);
  }
  const families = { at: scrape.at, byName };
  indexed.set(scrape, families);
  return families;
}

/** The samples of a gauge or counter, whichever of `name` and `name_total` it is exported as. */
export function samplesOf(families: Families, name: string): readonly Sample[] {
  const normal = normalName(name);
  return (
    families.byName.get(normal) ??
    families.byName.get(normal.endsWith('_total') ? normal.slice(0, -'_total'.length) : `${normal}_total`) ??
    []
  );
}

export function hasHistogram(families: Families, name: string): boolean {
  return families.byName.has(`${normalName(name)}_bucket`);
}

export function hasSumAndCount(families: Families, name: string): boolean {
  const normal = normalName(name);
  return families.byName.has(`${normal}_sum`) && families.byName.has(`${normal}_count`);
}

function keyOf(labels: Labels): string {
  const keys = Object.keys(labels).filter((key) => key !== 'le' && key !== 'quantile');
  return keys
    .sort()
    .map((key) => `${key}\u0000${labels[key] ?? ''}`)
    .join('\u0001');
}

function createdOf(families: Families, base: string): ReadonlyMap<string, number> {
  const samples = families.byName.get(`${base}_created`) ?? [];
  return new Map(samples.map(({ labels, value }) => [keyOf(labels), value * 1000]));
}

/** The counters of a family by label set. */
function countersOf(families: Families, name: string): ReadonlyMap<string, Counter> {
  const normal = normalName(name);
  const base = normal.replace(/_(total|sum|count)$/, '');
  const created = createdOf(families, base);
  const result = new Map<string, Counter>();
  for (const { labels, value } of samplesOf(families, name)) {
    const key = keyOf(labels);
    if (Number.isFinite(value)) result.set(key, { labels, value, created: created.get(key) });
  }
  return result;
}

function histogramsOf(families: Families, name: string): ReadonlyMap<string, HistogramSet> {
  const normal = normalName(name);
  const sets = new Map<string, HistogramSet>();
  const setOf = (labels: Labels): HistogramSet => {
    const key = keyOf(labels);
    const known = sets.get(key);
    if (known !== undefined) return known;
    const fresh: HistogramSet = { labels, buckets: [], sum: 0, count: 0, created: undefined };
    sets.set(key, fresh);
    return fresh;
  };
  for (const { labels, value } of families.byName.get(`${normal}_bucket`) ?? []) {
    const le = labels['le'] === '+Inf' ? Infinity : Number(labels['le'] ?? Number.NaN);
    if (!Number.isNaN(le) && Number.isFinite(value)) setOf(labels).buckets.push({ le, count: value });
  }
  for (const { labels, value } of families.byName.get(`${normal}_sum`) ?? []) setOf(labels).sum = value;
  for (const { labels, value } of families.byName.get(`${normal}_count`) ?? []) setOf(labels).count = value;
  const created = createdOf(families, normal);
  for (const [key, set] of sets) {
    set.created = created.get(key);
    set.buckets.sort((a, b) => a.le - b.le);
  }
  return sets;
}

/**
 * Whether a counter began anew between two scrapes: it says so (`_created`), or it is lower than it was. A restarted
 * process can be above its old value again, which only `_created` shows.
 */
function wasReset(
  before: { readonly value: number; readonly created: number | undefined },
  now: { readonly value: number; readonly created: number | undefined },
): boolean {
  if (now.value < before.value) return true;
  return now.created !== undefined && before.created !== undefined && now.created > before.created;
}

export interface Increase {
  readonly labels: Labels;
  /** Not negative. */
  readonly value: number;
}

/**
 * How much each counter of a family grew between two scrapes of one endpoint. After a reset it is what was counted
 * since; a label set that is new counted from zero, because a process makes them when it needs them first.
 */
export function increases(before: Families, now: Families, name: string): readonly Increase[] {
  const earlier = countersOf(before, name);
  return [...countersOf(now, name)].map(([key, counter]) => {
    const old = earlier.get(key);
    const value = old === undefined || wasReset(old, counter) ? counter.value : counter.value - old.value;
    return { labels: counter.labels, value: Math.max(0, value) };
  });
}

/** What a histogram observed between two scrapes, by label set; resets as in {@link increases}. */
export function observed(
  before: Families,
  now: Families,
  name: string,
): readonly { readonly labels: Labels; readonly distribution: Distribution }[] {
  const earlier = histogramsOf(before, name);
  return [...histogramsOf(now, name)].map(([key, set]) => {
    const old = earlier.get(key);
    const fresh =
      old === undefined ||
      wasReset({ value: old.count, created: old.created }, { value: set.count, created: set.created });
    if (fresh) {
      return { labels: set.labels, distribution: { buckets: set.buckets, sum: set.sum, count: set.count } };
    }
    const counts = new Map(old.buckets.map(({ le, count }) => [le, count]));
    return {
      labels: set.labels,
      distribution: {
        buckets: set.buckets.map(({ le, count }) => ({
          le,
          count: Math.max(0, count - (counts.get(le) ?? 0)),
        })),
        sum: set.sum - old.sum,
        count: set.count - old.count,
      },
    };
  });
}
