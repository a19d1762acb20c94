import { apiServer, karpenter, keda, kubeStateAutoscalers, kubeStateResources } from './cluster';
import { dcgm, neuron } from './devices';
import { rayServe, sglang, tgi, triton, vllm } from './engines';
import type { Metric, MetricFamily, MetricUnit, OldMetric } from './metric';

export const metricFamilies: readonly MetricFamily[] = [
  vllm,
  sglang,
  tgi,
  triton,
  rayServe,
  dcgm,
  neuron,
  kubeStateAutoscalers,
  kubeStateResources,
  karpenter,
  keda,
  apiServer,
];

/** What a name of a series is, as far as the families know. */
export type MetricLookup =
  | {
      readonly state: 'current';
      readonly family: MetricFamily;
      readonly metric: Metric;
      /** `_bucket`, `_sum`, `_count`, `_created` or nothing. */
      readonly suffix: string;
    }
  | {
      readonly state: 'old';
      readonly family: MetricFamily;
      readonly metric: OldMetric;
      readonly suffix: string;
    }
  /** There is such a metric, but its series have other names: a histogram without a suffix, a counter without `_total`. */
  | {
      readonly state: 'misspelt';
      readonly family: MetricFamily;
      readonly metric: Metric;
      readonly series: readonly string[];
    }
  /** A name with the prefix of a family that is not listed there. */
  | { readonly state: 'unknown'; readonly family: MetricFamily };

interface Known {
  readonly family: MetricFamily;
  readonly metric: Metric | OldMetric;
  readonly isOld: boolean;
}

function nameTable(key: (name: string) => string): ReadonlyMap<string, Known> {
  const table = new Map<string, Known>();
  for (const family of metricFamilies) {
    for (const metric of family.old) table.set(key(metric.name), { family, metric, isOld: true });
    for (const metric of family.metrics) table.set(key(metric.name), { family, metric, isOld: false });
  }
  return table;
}

const byName = nameTable((name) => name);

/** Adapters, Ray and OpenTelemetry write `:` as `_`. */
const byFlatName = nameTable((name) => name.replaceAll(':', '_'));

const suffixes: readonly string[] = ['_bucket', '_sum', '_count', '_created'];

function split(name: string): { readonly base: string; readonly suffix: string } {
  const suffix = suffixes.find((each) => name.endsWith(each)) ?? '';
  return { base: name.slice(0, name.length - suffix.length), suffix };
}

function answer({ family, metric, isOld }: Known, suffix: string): MetricLookup {
  return isOld ? { state: 'old', family, metric, suffix } : { state: 'current', family, metric, suffix };
}

/**
 * Looks a name up as Prometheus has it. `undefined` for names of nobody that is known here.
 *
 * @param flat whether `:` may be written as `_`, as behind an adapter, where unknown names are somebody's own.
 */
export function lookupMetric(name: string, flat = false): MetricLookup | undefined {
  const table = flat ? byFlatName : byName;
  const key = flat ? name.replaceAll(':', '_').replace(/^ray_(?=vllm_|sglang_)/, '') : name;
  const exact = table.get(key);
  const { base, suffix } = split(key);
  const found = table.get(base) ?? (suffix === '_created' ? table.get(`${base}_total`) : undefined);
  const isSeries = (type: Metric['type']): boolean => type === 'histogram' || type === 'summary';
  if (exact !== undefined) {
    const { family, metric, isOld } = exact;
    if (flat || isOld || metric.type !== 'histogram') return answer(exact, '');
    return {
      state: 'misspelt',
      family,
      metric,
      series: ['_bucket', '_sum', '_count'].map((each) => metric.name + each),
    };
  }
  if (suffix !== '' && found !== undefined) {
    if (isSeries(found.metric.type) || suffix === '_created') return answer(found, suffix);
  }
  const counter = table.get(`${key}_total`);
  if (counter !== undefined && counter.metric.type === 'counter') {
    if (flat || counter.isOld) return answer(counter, '');
    return {
      state: 'misspelt',
      family: counter.family,
      metric: counter.metric,
      series: [counter.metric.name],
    };
  }
  if (flat) return undefined;
  const family = metricFamilies.find(
    ({ prefix, foreign }) => prefix.test(name) && foreign?.test(name) !== true,
  );
  if (family === undefined) return undefined;
  return { state: 'unknown', family };
}

/** The unit of the numbers of a series: that of its metric, but counts are counts. */
export function unitOfSeries(name: string): MetricUnit | undefined {
  const found = lookupMetric(name, /^(?:ray_)?(?:vllm|sglang)_/.test(name));
  if (found?.state !== 'current' && found?.state !== 'old') return undefined;
  return found.suffix === '' || found.suffix === '_sum' || found.suffix === '_bucket'
    ? found.metric.unit
    : undefined;
}
