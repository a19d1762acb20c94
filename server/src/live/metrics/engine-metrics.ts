import { absent } from '../reading';
import type { Absent, Observed, Provenance, Reading } from '../reading';
import type { Measurement, PodName, Subject } from '../measurement';
import type { Sample, Scrape } from '../scrape';
import { unitOf } from '../vocabulary';
import type { MetricId } from '../vocabulary';
import type { EngineName } from '../want';
import { enginePrefixes, engineTables, httpTable } from './engine-tables';
import type { Extraction, LatencyId } from './engine-tables';
import { familiesOf, hasHistogram, hasSumAndCount, increases, observed, samplesOf } from './families';
import type { Families, Increase } from './families';
import { mean, merge, quantile } from './histogram';
import type { Distribution } from './histogram';

/** What the server of one pod printed last, and before that. */
export interface PodScrape {
  readonly pod: PodName;
  readonly container?: string;
  /** Absent on the first read: rates and percentiles need two. */
  readonly previous?: Scrape;
  readonly current: Scrape;
}

/** The engine that a page of metrics is from, told by the prefixes of its names; several for Triton with vLLM. */
export function enginesOf(scrape: Scrape): readonly (keyof typeof engineTables)[] {
  const names = [...familiesOf(scrape).byName.keys()];
  const found = enginePrefixes.filter(({ prefix }) => names.some((name) => prefix.test(name)));
  const own = found.filter(({ engine }) => engine !== 'nim');
  return (own.length > 0 ? own : found).map(({ engine }) => engine);
}

/**
 * The metrics of the engines of a workload: for each pod, and for the workload where pods can be added up. Percentiles
 * of the workload come from the buckets of all pods together.
 *
 * @param engine what the manifest says; the pages themselves say it better
 */
export function engineMeasurements(
  scrapes: readonly PodScrape[],
  engine: EngineName = 'unknown',
): readonly Measurement[] {
  const result: Measurement[] = [];
  const whole = new Map<string, Contribution[]>();
  for (const scrape of scrapes) {
    const subject: Subject = {
      kind: 'pod',
      pod: scrape.pod,
      ...(scrape.container === undefined ? {} : { container: scrape.container }),
    };
    for (const extraction of extractionsOf(scrape.current, engine)) {
      for (const contribution of extract(extraction, scrape)) {
        result.push(...measurementsOf([contribution], subject));
        const key = `${contribution.metric}|${contribution.labels?.['reason'] ?? ''}`;
        const list = whole.get(key);
        if (list === undefined) whole.set(key, [contribution]);
        else list.push(contribution);
      }
    }
  }
  for (const contributions of whole.values()) {
    result.push(...measurementsOf(contributions, { kind: 'workload' }));
  }
  return result;
}

/** Those of the engines that are there, and for each metric only the first that has names there. */
function extractionsOf(scrape: Scrape, engine: EngineName): readonly Extraction[] {
  const families = familiesOf(scrape);
  const found = enginesOf(scrape);
  const assumed = engine === 'unknown' || engine === 'ollama' ? [] : [engine];
  const engines = found.length > 0 ? found : assumed;
  const taken = new Set<string>();
  const result: Extraction[] = [];
  for (const extraction of [...engines.flatMap((name) => engineTables[name]), ...httpTable]) {
    const target = extraction.kind === 'histogram' ? extraction.latency : extraction.metric;
    if (taken.has(target) || !isExported(families, extraction)) continue;
    taken.add(target);
    result.push(extraction);
  }
  return result;
}

function isExported(families: Families, extraction: Extraction): boolean {
  switch (extraction.kind) {
    case 'gauge':
      return extraction.names.some((name) => matching(families, name, extraction.where).length > 0);
    case 'rate':
      return extraction.names.some((name) => samplesOf(families, name).length > 0);
    case 'histogram':
      return extraction.names.some((name) => hasHistogram(families, name) || hasSumAndCount(families, name));
    case 'mean':
      return [extraction.total, extraction.count].every((names) => exported(families, names) !== undefined);
    case 'share':
      return [extraction.part, extraction.whole].every((names) => exported(families, names) !== undefined);
  }
}

function exported(families: Families, names: readonly string[]): string | undefined {
  return names.find((name) => samplesOf(families, name).length > 0);
}

function matching(
  families: Families,
  name: string,
  where: Readonly<Record<string, string>> | undefined,
): readonly Sample[] {
  const samples = samplesOf(families, name);
  if (where === undefined) return samples;
  return samples.filter(({ labels }) => Object.entries(where).every(([key, value]) => labels[key] === value));
}

/** What one pod gives to a metric, in a form that can be put together with that of others. */
type Contribution = {
  readonly metric: MetricId;
  readonly labels?: Readonly<Record<string, string>>;
  readonly at: number;
  readonly window: number;
  readonly from: string;
} & (
  | { readonly kind: 'value'; readonly value: number; readonly over: 'sum' | 'max' | 'mean' }
  | { readonly kind: 'fraction'; readonly part: number; readonly whole: number }
  | {
      readonly kind: 'distribution';
      readonly distribution: Distribution;
      readonly q: number | 'mean';
      readonly factor: number;
    }
  | { readonly kind: 'none'; readonly absent: Absent }
);

const needsTwo = 'a rate needs two readings of the counters; the second one comes with the next refresh';

function extract(extraction: Extraction, { previous, current }: PodScrape): readonly Contribution[] {
  const now = familiesOf(current);
  const before = previous === undefined ? undefined : familiesOf(previous);
  const window = previous === undefined ? 0 : current.at - previous.at;
  const base = { at: current.at, window };
  const none = (metric: MetricId, from: string, why: Absent['why'], message: string): Contribution => ({
    ...base,
    metric,
    from,
    kind: 'none',
    absent: absent(why, message, { source: 'engine-metrics' }),
  });
  switch (extraction.kind) {
    case 'gauge': {
      const { metric, over, factor = 1, where } = extraction;
      const name = extraction.names.find((one) => matching(now, one, where).length > 0);
      if (name === undefined) return [];
      const samples = matching(now, name, where);
      const values = samples.map(({ value }) => value * factor).filter(Number.isFinite);
      const from = samples[0]?.name ?? name;
      if (values.length === 0) return [none(metric, from, 'no-data', `${from} has no number as its value`)];
      return [{ ...base, window: 0, metric, from, kind: 'value', value: combined(values, over), over }];
    }
    case 'rate': {
      const { metric, factor = 1, split, where } = extraction;
      const name = exported(now, extraction.names);
      if (name === undefined) return [];
      const from = `rate(${samplesOf(now, name)[0]?.name ?? name})`;
      if (before === undefined || window <= 0) return [none(metric, from, 'too-few-points', needsTwo)];
      const all = increases(before, now, name);
      const rate = (list: readonly Increase[]): number =>
        (list.reduce((sum, { value }) => sum + value, 0) * factor) / (window / 1000);
      if (split !== undefined) {
        const values = [...new Set(all.map(({ labels }) => labels[split] ?? ''))];
        return values.map((reason) => ({
          ...base,
          metric,
          from,
          labels: { reason },
          kind: 'value',
          value: rate(all.filter(({ labels }) => (labels[split] ?? '') === reason)),
          over: 'sum',
        }));
      }
      if (where === undefined) {
        return [{ ...base, metric, from, kind: 'value', value: rate(all), over: 'sum' }];
      }
      const valueIn = (labels: Increase['labels']): string =>
        where.labels.map((label) => labels[label]).find((value) => value !== undefined) ?? '';
      const kept = all.filter(({ labels }) => where.matches.test(valueIn(labels)));
      const { complete } = where;
      if (
        kept.length === 0 &&
        !(complete !== undefined && all.some(({ labels }) => complete.test(valueIn(labels))))
      ) {
        return [none(metric, from, 'no-data', `${name} does not tell them apart`)];
      }
      return [{ ...base, metric, from, kind: 'value', value: rate(kept), over: 'sum' }];
    }
    case 'histogram':
      return latencies(extraction.latency, extraction, now, before, base);
    case 'mean':
    case 'share': {
      const { metric } = extraction;
      const [parts, wholes, factor] =
        extraction.kind === 'mean'
          ? [extraction.total, extraction.count, extraction.factor ?? 1]
          : [extraction.part, extraction.whole, 1];
      const part = exported(now, parts);
      const whole = exported(now, wholes);
      if (part === undefined || whole === undefined) return [];
      const from = `rate(${part}) / rate(${whole})`;
      if (before === undefined || window <= 0) return [none(metric, from, 'too-few-points', needsTwo)];
      const sum = (name: string): number =>
        increases(before, now, name).reduce((total, { value }) => total + value, 0);
      const denominator = sum(whole);
      if (denominator <= 0) {
        return [none(metric, from, 'no-data', `nothing was counted in ${whole} since the reading before`)];
      }
      return [{ ...base, metric, from, kind: 'fraction', part: sum(part) * factor, whole: denominator }];
    }
  }
}

const percentiles = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
  ['mean', 'mean'],
] as const;

function latencies(
  latency: LatencyId,
  { names, factor = 1 }: { readonly names: readonly string[]; readonly factor?: number },
  now: Families,
  before: Families | undefined,
  base: { readonly at: number; readonly window: number },
): readonly Contribution[] {
  const name = names.find((one) => hasHistogram(now, one) || hasSumAndCount(now, one));
  if (name === undefined) return [];
  if (before === undefined || base.window <= 0) {
    const message =
      'a percentile needs two readings of the histogram; the second one comes with the next refresh';
    return percentiles.map(([suffix]) => ({
      ...base,
      metric: `${latency}.${suffix}`,
      from: name,
      kind: 'none',
      absent: absent('too-few-points', message, { source: 'engine-metrics' }),
    }));
  }
  const distribution = merge(observed(before, now, name).map((entry) => entry.distribution));
  return percentiles.map(([suffix, q]) => ({
    ...base,
    metric: `${latency}.${suffix}`,
    from: q === 'mean' ? `${name}_sum / ${name}_count` : `histogram_quantile(${q}, ${name}_bucket)`,
    kind: 'distribution',
    distribution,
    q,
    factor,
  }));
}

function combined(values: readonly number[], over: 'sum' | 'max' | 'mean'): number {
  if (over === 'max') return Math.max(...values);
  const sum = values.reduce((total, value) => total + value, 0);
  return over === 'sum' ? sum : sum / values.length;
}

/** One measurement of contributions to the same metric. */
function measurementsOf(contributions: readonly Contribution[], subject: Subject): readonly Measurement[] {
  const [first] = contributions;
  if (first === undefined) return [];
  const labels = first.labels === undefined ? {} : { labels: first.labels };
  return [{ metric: first.metric, subject, ...labels, observed: together(contributions, first) }];
}

function together(contributions: readonly Contribution[], first: Contribution): Observed {
  const known = contributions.filter((one) => one.kind !== 'none');
  const [sample] = known;
  if (sample === undefined) {
    return first.kind === 'none' ? first.absent : absent('no-data', 'nothing was measured');
  }
  // The oldest of them: what is put together is not newer than its parts.
  const at = Math.min(...known.map((one) => one.at));
  const window = Math.max(...known.map((one) => one.window));
  const source: Provenance = { source: 'engine-metrics', from: sample.from };
  const reading = (value: number, atLeast = false): Reading => ({
    kind: 'reading',
    value,
    unit: unitOf(sample.metric),
    at,
    window,
    source,
    ...(atLeast ? { atLeast: true } : {}),
  });
  switch (sample.kind) {
    case 'value': {
      const values = known.flatMap((one) => (one.kind === 'value' ? [one.value] : []));
      return reading(combined(values, sample.over));
    }
    case 'fraction': {
      const fractions = known.flatMap((one) => (one.kind === 'fraction' ? [one] : []));
      const whole = fractions.reduce((sum, one) => sum + one.whole, 0);
      return reading(fractions.reduce((sum, one) => sum + one.part, 0) / whole);
    }
    case 'distribution': {
      const all = merge(known.flatMap((one) => (one.kind === 'distribution' ? [one.distribution] : [])));
      if (sample.q === 'mean') {
        const value = mean(all);
        return value === undefined ? nothingObserved(window) : reading(value * sample.factor);
      }
      const found = quantile(sample.q, all);
      if (found !== undefined) return reading(found.value * sample.factor, found.atLeast);
      return all.count > 0
        ? absent('no-data', 'the histogram has no buckets to tell percentiles from', {
            source: 'engine-metrics',
          })
        : nothingObserved(window);
    }
  }
}

function nothingObserved(window: number): Absent {
  return absent('no-data', `no request was finished in the last ${Math.round(window / 1000)} s`, {
    source: 'engine-metrics',
  });
}
