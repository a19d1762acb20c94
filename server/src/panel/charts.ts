import type { Baseline } from '../live/baseline';
import { durationText, sourceTitles } from '../live/format';
import type { Series } from '../live/measurement';
import type { Duration, Instant, Unit } from '../live/reading';
import { onGrid } from '../live/readings';
import type { Readings } from '../live/readings';
import type { ThresholdId, Thresholds } from '../live/thresholds';
import { thresholds as meta, thresholdSource } from '../live/thresholds';
import { unitOf } from '../live/vocabulary';
import type { MetricId } from '../live/vocabulary';
import { ranges } from '../live/want';
import type {
  AxisScale,
  Chart,
  ChartContent,
  ChartGroup,
  ChartLine,
  Section,
  State,
  Threshold,
} from './model';
import { emptyOf, section } from './shown';

interface LineSpec {
  readonly metric: MetricId;
  /** For lines of the workload as a whole. */
  readonly label: string;
  readonly emphasis?: ChartLine['emphasis'];
  readonly dashed?: boolean;
}

interface ChartSpec {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly LineSpec[];
  /** One line for each device, pod or reason, beside or instead of the lines of the workload. */
  readonly each?: 'device' | 'pod' | 'reason';
  readonly thresholds?: readonly {
    readonly id: ThresholdId;
    readonly label: string;
    readonly state: State;
  }[];
  readonly logarithmic?: boolean;
  readonly optional?: boolean;
}

/** A chart is drawn when something is known for it; an optional one is left out altogether when nothing is. */
const groups: readonly {
  readonly id: ChartGroup['id'];
  readonly title: string;
  readonly charts: readonly ChartSpec[];
}[] = [
  {
    id: 'latency',
    title: 'Latency',
    charts: [
      {
        id: 'chart-ttft',
        title: 'Time to first token',
        logarithmic: true,
        lines: [
          { metric: 'ttft.p95', label: 'p95' },
          { metric: 'ttft.p50', label: 'p50', emphasis: 'secondary' },
          { metric: 'ttft.p99', label: 'p99', emphasis: 'secondary', dashed: true },
        ],
        thresholds: [
          { id: 'ttftChat', label: 'chat', state: 'warning' },
          { id: 'ttftBatch', label: 'batch', state: 'critical' },
        ],
      },
      {
        id: 'chart-inter-token',
        title: 'Time between tokens',
        logarithmic: true,
        lines: [
          { metric: 'inter-token.p95', label: 'p95' },
          { metric: 'inter-token.p50', label: 'p50', emphasis: 'secondary' },
          { metric: 'inter-token.p99', label: 'p99', emphasis: 'secondary', dashed: true },
        ],
        thresholds: [{ id: 'interToken', label: 'reading speed', state: 'warning' }],
      },
      {
        id: 'chart-e2e',
        title: 'Whole requests',
        logarithmic: true,
        lines: [
          { metric: 'e2e.p95', label: 'p95' },
          { metric: 'e2e.p50', label: 'p50', emphasis: 'secondary' },
          { metric: 'e2e.p99', label: 'p99', emphasis: 'secondary', dashed: true },
          { metric: 'e2e.mean', label: 'mean', emphasis: 'faint' },
        ],
        thresholds: [{ id: 'warnLatency', label: 'warning', state: 'warning' }],
      },
      {
        id: 'chart-queue-time',
        title: 'Time in the queue',
        logarithmic: true,
        lines: [
          { metric: 'queue-time.p95', label: 'p95' },
          { metric: 'queue-time.p50', label: 'p50', emphasis: 'secondary' },
          { metric: 'queue-time.p99', label: 'p99', emphasis: 'secondary', dashed: true },
          { metric: 'queue-time.mean', label: 'mean', emphasis: 'faint' },
        ],
        thresholds: [{ id: 'queueTime', label: 'limit', state: 'warning' }],
      },
    ],
  },
  {
    id: 'queue',
    title: 'Queue and KV cache',
    charts: [
      {
        id: 'chart-queue',
        title: 'Requests running and waiting',
        lines: [
          { metric: 'queue.waiting', label: 'waiting' },
          { metric: 'queue.running', label: 'running', emphasis: 'secondary' },
        ],
      },
      {
        id: 'chart-kv-cache',
        title: 'KV cache',
        lines: [{ metric: 'kv-cache.usage', label: 'fullest pod' }],
        each: 'pod',
        thresholds: [{ id: 'kvHigh', label: 'preemption', state: 'warning' }],
      },
      {
        id: 'chart-preemptions',
        title: 'Preemptions',
        lines: [{ metric: 'kv-cache.preemptions.rate', label: 'preemptions' }],
      },
      {
        id: 'chart-prefix-cache',
        title: 'Prefix-cache hits',
        lines: [{ metric: 'prefix-cache.hit-ratio', label: 'hits' }],
        optional: true,
      },
    ],
  },
  {
    id: 'gpu',
    title: 'GPU',
    charts: [
      {
        id: 'chart-gpu-utilization',
        title: 'GPU utilisation',
        lines: [{ metric: 'gpu.utilization', label: 'mean' }],
        each: 'device',
        thresholds: [
          { id: 'gpuBusy', label: 'busy', state: 'warning' },
          { id: 'gpuIdle', label: 'idle', state: 'info' },
        ],
      },
      {
        id: 'chart-gpu-memory',
        title: 'VRAM',
        lines: [{ metric: 'gpu.memory.usage', label: 'fullest GPU' }],
        each: 'device',
        thresholds: [{ id: 'vramRisk', label: 'at risk', state: 'critical' }],
      },
      {
        id: 'chart-gpu-tensor',
        title: 'Tensor-core activity',
        lines: [{ metric: 'gpu.tensor-activity', label: 'mean' }],
        each: 'device',
        optional: true,
      },
      {
        id: 'chart-gpu-temperature',
        title: 'Temperature',
        lines: [{ metric: 'gpu.temperature', label: 'hottest GPU' }],
        each: 'device',
        thresholds: [{ id: 'temperature', label: 'throttling', state: 'critical' }],
      },
      {
        id: 'chart-gpu-power',
        title: 'Power',
        lines: [{ metric: 'gpu.power', label: 'sum' }],
        each: 'device',
        optional: true,
      },
      {
        id: 'chart-gpu-clock',
        title: 'SM clock',
        lines: [{ metric: 'gpu.clock.sm', label: 'slowest GPU' }],
        each: 'device',
        optional: true,
      },
    ],
  },
  {
    id: 'traffic',
    title: 'Traffic and errors',
    charts: [
      { id: 'chart-requests', title: 'Requests', lines: [{ metric: 'requests.rate', label: 'finished' }] },
      {
        id: 'chart-errors',
        title: 'Errors',
        lines: [
          { metric: 'errors.429.rate', label: '429', emphasis: 'secondary' },
          { metric: 'errors.5xx.rate', label: 'all 5xx' },
          { metric: 'errors.502-503.rate', label: '502 and 503 (worker died)', emphasis: 'secondary' },
          { metric: 'errors.504.rate', label: '504 (time-out)', emphasis: 'secondary', dashed: true },
          { metric: 'errors.rate', label: 'failed in the engine', emphasis: 'secondary' },
        ],
      },
      {
        id: 'chart-tokens',
        title: 'Tokens',
        lines: [
          { metric: 'tokens.generation.rate', label: 'out' },
          { metric: 'tokens.prompt.rate', label: 'in', emphasis: 'secondary' },
        ],
      },
      {
        id: 'chart-finish-reasons',
        title: 'Finish reasons',
        lines: [{ metric: 'requests.finished.rate', label: 'finished' }],
        each: 'reason',
        optional: true,
      },
    ],
  },
  {
    id: 'scaling',
    title: 'Scaling',
    charts: [
      {
        id: 'chart-replicas',
        title: 'Replicas',
        lines: [
          { metric: 'replicas.ready', label: 'ready' },
          { metric: 'replicas.desired', label: 'desired', emphasis: 'secondary', dashed: true },
          { metric: 'replicas.current', label: 'there', emphasis: 'faint' },
        ],
      },
    ],
  },
  {
    id: 'devices',
    title: 'Neuron and EFA',
    charts: [
      {
        id: 'chart-neuron-utilization',
        title: 'NeuronCore utilisation',
        lines: [{ metric: 'neuron.core.utilization', label: 'mean' }],
        each: 'device',
        optional: true,
      },
      {
        id: 'chart-neuron-memory',
        title: 'Neuron memory',
        lines: [{ metric: 'neuron.memory.used', label: 'in use' }],
        each: 'device',
        optional: true,
      },
      {
        id: 'chart-efa',
        title: 'EFA',
        lines: [
          { metric: 'efa.receive.rate', label: 'received' },
          { metric: 'efa.transmit.rate', label: 'sent', emphasis: 'secondary' },
        ],
        optional: true,
      },
    ],
  },
];

/** How many single pods or devices one chart draws; the rest is in the line of all. */
const mostLines = 16;

export interface ChartOptions {
  readonly thresholds: Thresholds;
  /** VRAM above which it is at risk: more than the engine reserves. */
  readonly vramLimit: { readonly value: number; readonly source: string };
  readonly baseline: Baseline | undefined;
  /** Targets of the autoscaler for metrics that charts show. */
  readonly targets: readonly { readonly metric: MetricId; readonly value: number; readonly label: string }[];
}

export function chartGroups(readings: Readings, now: Instant, options: ChartOptions): readonly ChartGroup[] {
  const { range } = readings.snapshot.want;
  const axis = timeAxis(now, ranges[range].duration, axisStep(readings, range));
  return groups.flatMap(({ id, title, charts }) => {
    const drawn = charts.flatMap((spec): readonly Chart[] => {
      const chart = chartOf(spec, readings, now, axis, options);
      return chart.content.kind === 'empty' && spec.optional === true ? [] : [chart];
    });
    return drawn.length === 0 ? [] : [{ id, title, charts: drawn }];
  });
}

/** The step of the range; finer where the sources are, up to four hundred points. */
function axisStep(readings: Readings, range: keyof typeof ranges): Duration {
  const { step, duration } = ranges[range];
  const finest = readings.snapshot.series.reduce<Duration>(
    (least, series) => Math.min(least, series.step),
    step,
  );
  return Math.max(finest, Math.ceil(duration / 400 / 1000) * 1000);
}

interface Axis {
  readonly at: readonly Instant[];
  readonly step: Duration;
}

/** Ends now, so that data which ends earlier shows its age. */
function timeAxis(now: Instant, duration: Duration, step: Duration): Axis {
  const count = Math.floor(duration / step);
  return { at: Array.from({ length: count + 1 }, (_, index) => now - (count - index) * step), step };
}

function chartOf(
  spec: ChartSpec,
  readings: Readings,
  now: Instant,
  axis: Axis,
  options: ChartOptions,
): Chart {
  const lines = linesOf(spec, readings, axis, options.baseline);
  const known = lines.filter(({ values }) => values.some((value) => value !== null));
  const unit = unitOf(spec.lines[0]?.metric ?? 'queue.waiting');
  const thresholds = thresholdsOf(spec, options);
  const highest = known
    .flatMap(({ values }) => values)
    .reduce<number>((most, value) => (value !== null && value > most ? value : most), 0);
  const largest = Math.max(highest, ...thresholds.map(({ value }) => value));
  return {
    id: spec.id,
    title: spec.title,
    scale: scaleOf(unit, spec.logarithmic === true ? highest : largest),
    ...(spec.logarithmic === true ? {} : { min: 0 }),
    ...(unit === 'ratio' ? { max: 1 } : {}),
    logarithmic: spec.logarithmic === true,
    content: contentOf(spec, known, thresholds, readings, now, axis),
  };
}

function contentOf(
  spec: ChartSpec,
  lines: readonly ChartLine[],
  thresholds: readonly Threshold[],
  readings: Readings,
  now: Instant,
  axis: Axis,
): Section<ChartContent> {
  if (lines.length === 0) {
    const observed = readings.now(spec.lines[0]?.metric ?? 'queue.waiting').observed;
    if (observed.kind === 'absent') return emptyOf(observed);
    return {
      kind: 'empty',
      why: 'There is a present value and no history yet',
      whatToDo: 'It grows with each refresh; Prometheus or CloudWatch would have the past',
      actions: [],
      state: 'unknown',
    };
  }
  const last = Math.max(
    ...lines.map(({ values }) => axis.at[values.findLastIndex((value) => value !== null)] ?? 0),
  );
  const allowed = Math.max(2 * readings.snapshot.refresh, 2 * axis.step) + 60_000;
  const stale = now - last > allowed ? { stale: `data ends ${durationText(now - last)} ago` } : {};
  return section({ at: axis.at, lines, thresholds, ...stale });
}

function linesOf(
  spec: ChartSpec,
  readings: Readings,
  axis: Axis,
  baseline: Baseline | undefined,
): readonly ChartLine[] {
  const result: ChartLine[] = [];
  if (spec.each !== 'reason') {
    for (const { metric, label, emphasis = 'main', dashed = false } of spec.lines) {
      const history = readings.history(metric);
      if (history === undefined) continue;
      result.push({
        id: metric,
        label,
        values: onGrid(history, axis.at, axis.step),
        source: history.sources.join(', '),
        emphasis,
        dashed,
      });
    }
  }
  const metric = spec.lines[0]?.metric;
  if (spec.each !== undefined && metric !== undefined) {
    const single = readings.series(metric).filter((series) => isEach(series, spec.each));
    const chosen = single.length > mostLines ? single.slice(0, mostLines) : single;
    // One device is the mean of one device: it is drawn once, under its own name.
    if (single.length === 1 && result.length === 1) result.pop();
    for (const series of chosen) {
      result.push({
        id: `${metric}-${lineLabel(series)}`,
        label: lineLabel(series),
        values: onGrid(series, axis.at, axis.step),
        source: `${sourceTitles[series.source.source]}: ${series.source.from}`,
        emphasis: spec.each === 'reason' || single.length === 1 ? 'main' : 'faint',
        dashed: series.subject.kind === 'device' && series.subject.pod === undefined,
      });
    }
  }
  const normal = metric === undefined ? undefined : baseline?.values[metric];
  const first = result[0];
  if (normal !== undefined && first !== undefined && metric !== undefined) {
    result.push({
      id: `${metric}-baseline`,
      label: 'baseline',
      values: axis.at.map(() => normal),
      source: 'the baseline that was saved',
      emphasis: 'faint',
      dashed: true,
    });
  }
  return result;
}

function isEach({ subject, labels }: Series, each: ChartSpec['each']): boolean {
  if (each === 'reason') return subject.kind === 'workload' && labels?.['reason'] !== undefined;
  return subject.kind === each;
}

function lineLabel({ subject, labels }: Series): string {
  switch (subject.kind) {
    case 'device': {
      const name = `${subject.device === 'gpu' ? 'GPU' : 'core'} ${subject.index ?? subject.id}`;
      return subject.pod === undefined
        ? `unattributed ${name} on ${subject.node}`
        : `${name} of ${subject.pod.name}`;
    }
    case 'pod':
      return subject.pod.name;
    case 'workload':
      return labels?.['reason'] ?? 'workload';
    case 'node':
      return subject.node;
    case 'namespace':
      return subject.namespace;
    case 'cluster':
      return 'cluster';
  }
}

function thresholdsOf(
  spec: ChartSpec,
  { thresholds, vramLimit, targets }: ChartOptions,
): readonly Threshold[] {
  const own = (spec.thresholds ?? []).map(({ id, label, state }): Threshold => {
    if (id === 'vramRisk') return { value: vramLimit.value, label, state, source: vramLimit.source };
    return {
      value: thresholds[id],
      label,
      state,
      source: `${meta[id].meaning}; ${thresholdSource(id, thresholds)}`,
    };
  });
  const aims = targets
    .filter(({ metric }) => spec.lines.some((line) => line.metric === metric))
    .map(({ value, label }): Threshold => ({
      value,
      label,
      state: 'info',
      source: 'target of the autoscaler',
    }));
  return [...own, ...aims];
}

/** One suffix for the whole axis, chosen for its largest value. */
function scaleOf(unit: Unit, largest: number): AxisScale {
  switch (unit) {
    case 'ratio':
      return { suffix: '%', factor: 100 };
    case 'bytes':
    case 'bytes-per-second': {
      const per = unit === 'bytes' ? '' : '/s';
      if (largest >= 1024 ** 3) return { suffix: `GiB${per}`, factor: 1 / 1024 ** 3 };
      return largest >= 1024 ** 2
        ? { suffix: `MiB${per}`, factor: 1 / 1024 ** 2 }
        : { suffix: `KiB${per}`, factor: 1 / 1024 };
    }
    case 'seconds':
      if (largest < 1) return { suffix: 'ms', factor: 1000 };
      return largest < 300 ? { suffix: 's', factor: 1 } : { suffix: 'min', factor: 1 / 60 };
    case 'count':
      return { suffix: '', factor: 1 };
    case 'per-second':
      return { suffix: '/s', factor: 1 };
    case 'tokens-per-second':
      return { suffix: 'tokens/s', factor: 1 };
    case 'celsius':
      return { suffix: 'C', factor: 1 };
    case 'watts':
      return { suffix: 'W', factor: 1 };
    case 'hertz':
      return largest >= 1e9 ? { suffix: 'GHz', factor: 1e-9 } : { suffix: 'MHz', factor: 1e-6 };
    case 'cores':
      return { suffix: 'cores', factor: 1 };
    case 'dollars':
      return { suffix: '$', factor: 1 };
    case 'dollars-per-hour':
      return { suffix: '$/h', factor: 1 };
  }
}
