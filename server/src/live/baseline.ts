import { changeText, quantityText } from './format';
import type { Duration, Instant, Observed } from './reading';
import { lastValues, medianOf } from './readings';
import type { Readings } from './readings';
import type { Thresholds } from './thresholds';
import { ranges } from './want';
import { unitOf } from './vocabulary';
import type { MetricId } from './vocabulary';

/** The window of a workload that was saved as what is normal. Stored by the client in its workspace state. */
export interface Baseline {
  readonly savedAt: Instant;
  readonly window: Duration;
  /** Median of the window; ids without a value were not known. */
  readonly values: Readonly<Partial<Record<MetricId, number>>>;
}

interface Compared {
  readonly metric: MetricId;
  readonly title: string;
  /** Which way is worse; `load` is neither, and decides whether the others can be compared. */
  readonly worse: 'higher' | 'lower' | 'load';
}

/** What a baseline holds. */
const comparedMetrics: readonly Compared[] = [
  { metric: 'requests.rate', title: 'Requests', worse: 'load' },
  { metric: 'tokens.generation.rate', title: 'Tokens out', worse: 'load' },
  { metric: 'tokens.prompt.rate', title: 'Tokens in', worse: 'load' },
  { metric: 'ttft.p50', title: 'TTFT p50', worse: 'higher' },
  { metric: 'ttft.p95', title: 'TTFT p95', worse: 'higher' },
  { metric: 'inter-token.p95', title: 'Inter-token p95', worse: 'higher' },
  { metric: 'e2e.p95', title: 'End-to-end p95', worse: 'higher' },
  { metric: 'e2e.mean', title: 'End-to-end mean', worse: 'higher' },
  { metric: 'queue-time.p95', title: 'Queue time p95', worse: 'higher' },
  { metric: 'queue.running', title: 'Running requests', worse: 'load' },
  { metric: 'queue.waiting', title: 'Waiting requests', worse: 'higher' },
  { metric: 'kv-cache.usage', title: 'KV cache', worse: 'higher' },
  { metric: 'prefix-cache.hit-ratio', title: 'Prefix-cache hits', worse: 'lower' },
  { metric: 'gpu.utilization', title: 'GPU', worse: 'load' },
  { metric: 'gpu.memory.usage', title: 'VRAM', worse: 'higher' },
  { metric: 'gpu.clock.sm', title: 'SM clock', worse: 'lower' },
  { metric: 'gpu.temperature', title: 'GPU temperature', worse: 'higher' },
  { metric: 'errors.5xx.rate', title: '5xx', worse: 'higher' },
  { metric: 'replicas.ready', title: 'Replicas ready', worse: 'load' },
];

/** The present range as a baseline; `undefined` with nothing known that could be compared. */
export function baselineOf(readings: Readings, now: Instant): Baseline | undefined {
  const window = ranges[readings.snapshot.want.range].duration;
  const values: Partial<Record<MetricId, number>> = {};
  let longest = 0;
  for (const { metric } of comparedMetrics) {
    const points = lastValues(readings.history(metric), now, window);
    const current = readings.fresh(metric);
    const value = medianOf(points) ?? (current.kind === 'reading' ? current.value : undefined);
    if (value === undefined) continue;
    values[metric] = value;
    const covered = points.length * (readings.history(metric)?.step ?? 0);
    longest = Math.max(
      longest,
      points.length > 0 ? covered : current.kind === 'reading' ? current.window : 0,
    );
  }
  if (Object.keys(values).length === 0) return undefined;
  return { savedAt: now, window: Math.min(longest, window), values };
}

export interface Comparison {
  readonly metric: MetricId;
  readonly title: string;
  readonly before: number;
  readonly now: Observed;
  /** `worse` only at a load that is the same, or known not to be what differs. */
  readonly verdict: 'worse' | 'better' | 'same' | 'unknown' | 'load';
  /** `+18 %`. */
  readonly change: string;
}

export interface BaselineComparison {
  readonly rows: readonly Comparison[];
  /** How the load differs: same, up, down, or not known. */
  readonly load: 'same' | 'up' | 'down' | 'unknown';
  /** `TTFT p95 is 38 % higher (640 ms, was 464 ms) at the same load`. */
  readonly regressions: readonly string[];
}

export function compareWithBaseline(
  baseline: Baseline,
  readings: Readings,
  now: Instant,
  limits: Thresholds,
): BaselineComparison {
  const present = (metric: MetricId): Observed => {
    const current = readings.fresh(metric);
    const median = medianOf(lastValues(readings.history(metric), now, 5 * 60_000));
    return current.kind === 'reading' && median !== undefined ? { ...current, value: median } : current;
  };
  const load = loadOf(baseline, present, limits);
  const rows = comparedMetrics.flatMap(({ metric, title, worse }): readonly Comparison[] => {
    const before = baseline.values[metric];
    if (before === undefined) return [];
    const observed = present(metric);
    if (observed.kind === 'absent') {
      return [{ metric, title, before, now: observed, verdict: 'unknown', change: 'not known' }];
    }
    const change = changeText(before, observed.value);
    const row = { metric, title, before, now: observed, change };
    if (worse === 'load') return [{ ...row, verdict: 'load' }];
    // Small amounts double by chance: what is far from mattering is the same.
    const smallest = Math.max(before, noise[unitOf(metric)] ?? 0);
    const ratio = before <= 0 && observed.value <= smallest ? 1 : observed.value / Math.max(before, smallest);
    const factor = limits.latencyWorse;
    const isWorse = worse === 'higher' ? ratio > factor : ratio < 1 / factor;
    const isBetter = worse === 'higher' ? ratio < 1 / factor : ratio > factor;
    return [{ ...row, verdict: isWorse ? 'worse' : isBetter ? 'better' : 'same' }];
  });
  const at = {
    same: 'at the same load',
    up: 'at a higher load',
    down: 'although the load is lower',
    unknown: 'at a load that is not known',
  }[load];
  const regressions = rows.flatMap(({ verdict, title, now: observed, before, metric, change }) =>
    verdict === 'worse' && observed.kind === 'reading'
      ? [
          `${title} ${change} (${quantityText(observed.value, unitOf(metric))}, was ${quantityText(before, unitOf(metric))}) ${at}`,
        ]
      : [],
  );
  return { rows, load, regressions };
}

/** Under these, by unit, a difference says nothing. */
const noise: Readonly<Record<string, number>> = {
  ratio: 0.02,
  seconds: 0.005,
  count: 1,
  'per-second': 0.01,
};

function loadOf(
  baseline: Baseline,
  present: (metric: MetricId) => Observed,
  limits: Thresholds,
): BaselineComparison['load'] {
  for (const metric of ['requests.rate', 'tokens.generation.rate', 'queue.running'] as const) {
    const before = baseline.values[metric];
    const observed = present(metric);
    if (before === undefined || before <= 0 || observed.kind === 'absent') continue;
    const change = observed.value / before - 1;
    if (Math.abs(change) <= limits.loadSame) return 'same';
    return change > 0 ? 'up' : 'down';
  }
  return 'unknown';
}
