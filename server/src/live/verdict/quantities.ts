import { isActive, isReady, isUnscheduled, presentFailures } from '../pods';
import type { PodView } from '../cluster';
import { durationText, percentText, quantityText } from '../format';
import { absent } from '../reading';
import type { Absent, Observed, Reading, Unit } from '../reading';
import { freshOf, heldSince, lastValues, meanOf, medianOf } from '../readings';
import type { History } from '../readings';
import type { MetricId } from '../vocabulary';
import { unitOf } from '../vocabulary';
import type { JudgeContext } from './context';

const minute = 60_000;

/** A number that verdicts compare with a threshold, made of readings. */
export interface Quantity {
  readonly unit: Unit;
  /** In evidence: `KV cache`. */
  readonly label: string;
  /** Chart or section that shows it. */
  readonly target: string;
  /** The metric whose history tells since when it is so. */
  readonly metric?: MetricId;
  readonly read: (context: JudgeContext) => Observed;
  /** How the value is written, where the unit does not do. */
  readonly text?: (value: number, context: JudgeContext) => string;
}

export const quantities = {
  'queue.waiting': {
    unit: 'count',
    label: 'waiting requests',
    target: 'chart-queue',
    metric: 'queue.waiting',
    read: ({ readings }) => readings.fresh('queue.waiting'),
  },
  'queue.per-pod': {
    unit: 'count',
    label: 'waiting requests for each ready pod',
    target: 'chart-queue',
    metric: 'queue.waiting',
    read: ({ readings }) => {
      const waiting = readings.fresh('queue.waiting');
      if (waiting.kind === 'absent') return waiting;
      const ready = readings.pods?.filter((pod) => isActive(pod) && isReady(pod)).length;
      return ready === undefined ? waiting : { ...waiting, value: waiting.value / Math.max(1, ready) };
    },
  },
  'queue.growth': {
    unit: 'ratio',
    label: 'growth of the queue in 10 min',
    target: 'chart-queue',
    read: (context) => growth(context, 'queue.waiting', 5 * minute),
    text: (value) => `${quantityText(value, 'count')} times`,
  },
  'kv-cache.usage': {
    unit: 'ratio',
    label: 'KV cache',
    target: 'chart-kv-cache',
    metric: 'kv-cache.usage',
    read: ({ readings }) => readings.fresh('kv-cache.usage'),
  },
  'kv-cache.preemptions': {
    unit: 'per-second',
    label: 'preemptions',
    target: 'chart-preemptions',
    metric: 'kv-cache.preemptions.rate',
    read: (context) => recentMean(context, 'kv-cache.preemptions.rate', 5 * minute),
  },
  'gpu.utilization': {
    unit: 'ratio',
    label: 'GPU',
    target: 'chart-gpu-utilization',
    metric: 'gpu.utilization',
    read: (context) => recentMean(context, acceleratorMetric(context), 5 * minute),
  },
  'gpu.utilization.sustained': {
    unit: 'ratio',
    label: 'GPU over 30 min',
    target: 'chart-gpu-utilization',
    metric: 'gpu.utilization',
    read: (context) => sustained(context, acceleratorMetric(context), 30 * minute),
  },
  'gpu.memory.usage': {
    unit: 'ratio',
    label: 'VRAM',
    target: 'chart-gpu-memory',
    metric: 'gpu.memory.usage',
    read: ({ readings }) => readings.fresh('gpu.memory.usage'),
  },
  'gpu.temperature': {
    unit: 'celsius',
    label: 'GPU temperature',
    target: 'chart-gpu-temperature',
    metric: 'gpu.temperature',
    read: ({ readings }) => readings.fresh('gpu.temperature'),
  },
  'gpu.throttle': {
    unit: 'ratio',
    label: 'clock lowered for heat',
    target: 'chart-gpu-clock',
    metric: 'gpu.throttle.thermal',
    read: ({ readings }) => readings.fresh('gpu.throttle.thermal'),
  },
  'gpu.clock': {
    unit: 'ratio',
    label: 'SM clock of a busy GPU, of its highest in the range',
    target: 'chart-gpu-clock',
    metric: 'gpu.clock.sm',
    read: busyClock,
  },
  'scaling.above-maximum': {
    unit: 'count',
    label: 'replicas wanted above the maximum',
    target: 'scaling',
    read: ({ scaling, now }) => {
      if (scaling.kind === 'none') return told(0, 'count', now, 'no autoscaler');
      if (scaling.kind === 'unknown') return absent('no-data', scaling.why);
      if (scaling.current < scaling.maximum) return told(0, 'count', now, scaling.scaler);
      if (scaling.wanted === undefined) {
        return absent('no-data', scaling.failures[0] ?? 'no metric of the autoscaler could be read');
      }
      return told(Math.max(0, scaling.wanted - scaling.maximum), 'count', now, scaling.scaler);
    },
  },
  'scaling.failures': {
    unit: 'count',
    label: 'metrics that the autoscaler cannot read',
    target: 'scaling',
    read: ({ scaling, now }) => {
      if (scaling.kind === 'unknown') return absent('no-data', scaling.why);
      return told(
        scaling.kind === 'none' ? 0 : scaling.failures.length,
        'count',
        now,
        'status of the autoscaler',
      );
    },
  },
  'pods.pending': {
    unit: 'count',
    label: 'pods without a node',
    target: 'scaling',
    read: (context) => fromPods(context, 'phase, spec.nodeName', (pods) => pods.filter(isUnscheduled).length),
  },
  'pods.pending-for': {
    unit: 'seconds',
    label: 'longest wait for a node',
    target: 'scaling',
    read: (context) => {
      const waits = (context.readings.pods ?? [])
        .filter(isUnscheduled)
        .map(({ createdAt }) => (context.now - createdAt) / 1000);
      return fromPods(context, 'metadata.creationTimestamp', () => Math.max(0, ...waits), 'seconds');
    },
  },
  'pods.failing': {
    unit: 'count',
    label: 'containers that were killed or crash',
    target: 'triage',
    read: (context) =>
      fromPods(context, 'status.containerStatuses', (pods) => presentFailures(pods, context.now).length),
  },
  'pods.oom': {
    unit: 'count',
    label: 'OOMKilled',
    target: 'triage',
    read: (context) =>
      fromPods(
        context,
        'lastState.terminated.reason',
        (pods) => presentFailures(pods, context.now).filter(({ kind }) => kind === 'oom').length,
      ),
  },
  'restarts.recent': {
    unit: 'count',
    label: 'restarts in 5 min',
    target: 'pods',
    metric: 'restarts.total',
    read: (context) => recentRestarts(context, 5 * minute),
  },
  'replicas.missing': {
    unit: 'count',
    label: 'replicas that are not ready',
    target: 'pods',
    read: missingReplicas,
  },
  'latency.against-baseline': {
    unit: 'ratio',
    label: 'latency of that of the baseline',
    target: 'baseline',
    read: (context) => againstBaseline(context, latencyMetrics),
    text: timesText,
  },
  'load.against-baseline': {
    unit: 'ratio',
    label: 'load of that of the baseline',
    target: 'baseline',
    read: (context) => againstBaseline(context, loadMetrics),
    text: timesText,
  },
  'load.against-baseline.off': {
    unit: 'ratio',
    label: 'change of the load since the baseline',
    target: 'baseline',
    read: (context) => distance(againstBaseline(context, loadMetrics)),
    text: (value) => percentText(value),
  },
  'latency.against-before': {
    unit: 'ratio',
    label: 'latency of that before',
    target: 'chart-ttft',
    read: (context) => againstBefore(context, latencyMetrics),
    text: timesText,
  },
  'load.against-before': {
    unit: 'ratio',
    label: 'load of that before',
    target: 'chart-requests',
    read: (context) => againstBefore(context, loadMetrics),
    text: timesText,
  },
  'load.against-before.off': {
    unit: 'ratio',
    label: 'change of the load',
    target: 'chart-requests',
    read: (context) => distance(againstBefore(context, loadMetrics)),
    text: (value) => percentText(value),
  },
  'ttft.p95': {
    unit: 'seconds',
    label: 'TTFT p95',
    target: 'chart-ttft',
    metric: 'ttft.p95',
    read: ({ readings }) => readings.fresh('ttft.p95'),
  },
  'e2e.p95': {
    unit: 'seconds',
    label: 'end-to-end p95',
    target: 'chart-e2e',
    metric: 'e2e.p95',
    read: ({ readings }) => readings.fresh('e2e.p95'),
  },
} as const satisfies Readonly<Record<string, Quantity>>;

export type QuantityId = keyof typeof quantities;

/** A quantity, without what is known of the single ones. */
export function quantityOf(id: QuantityId): Quantity {
  return quantities[id];
}

/** GPUs, or NeuronCores where those are what it runs on. */
function acceleratorMetric({ readings }: JudgeContext): MetricId {
  const noGpu = readings.now('gpu.utilization').observed.kind === 'absent';
  return noGpu && readings.now('neuron.core.utilization').observed.kind === 'reading'
    ? 'neuron.core.utilization'
    : 'gpu.utilization';
}

/** What users feel first; whichever is known. */
const latencyMetrics: readonly MetricId[] = ['ttft.p95', 'e2e.p95', 'inter-token.p95', 'e2e.mean'];
const loadMetrics: readonly MetricId[] = ['requests.rate', 'tokens.generation.rate', 'queue.running'];

function timesText(value: number): string {
  return `${quantityText(value, 'count')} times`;
}

function told(value: number, unit: Unit, at: number, from: string): Reading {
  return { kind: 'reading', value, unit, at, window: 0, source: { source: 'kubernetes', from } };
}

function fromPods(
  { readings }: JudgeContext,
  from: string,
  value: (pods: readonly PodView[]) => number,
  unit: Unit = 'count',
): Observed {
  const part = readings.snapshot.cluster.pods;
  if (part.kind === 'absent') return part;
  return freshOf(told(value(part.value), unit, part.at, from), readings.snapshot);
}

/** Mean of the last minutes where there is a history, else what is now. */
function recentMean(context: JudgeContext, metric: MetricId, over: number): Observed {
  const { readings, now } = context;
  const current = readings.fresh(metric);
  const values = lastValues(readings.history(metric), now, over);
  const mean = meanOf(values);
  if (mean === undefined || values.length < 2) return current;
  if (current.kind === 'absent' && current.why !== 'stale') return current;
  return derived(context, metric, mean, over);
}

function derived(context: JudgeContext, metric: MetricId, value: number, window: number): Reading {
  const history = context.readings.history(metric);
  const current = context.readings.now(metric).observed;
  const source =
    current.kind === 'reading'
      ? current.source
      : { source: 'prometheus' as const, from: history?.sources[0] ?? metric };
  return { kind: 'reading', value, unit: unitOf(metric), at: context.now, window, source };
}

function asUnit(reading: Reading, unit: Unit): Reading {
  return { ...reading, unit };
}

/** Mean over a long time, only when most of that time is covered: a pod that has just begun is not idle. */
function sustained(context: JudgeContext, metric: MetricId, over: number): Observed {
  const history = context.readings.history(metric);
  if (history === undefined) {
    const current = context.readings.now(metric).observed;
    if (current.kind === 'absent') return current;
    return absent('too-few-points', `it needs ${durationText(over)} of history, and no source has one`);
  }
  const values = lastValues(history, context.now, over);
  const covered = values.length * history.step;
  if (covered < over * 0.8) {
    return absent(
      'too-few-points',
      `it needs ${durationText(over)} of history, and there are ${durationText(covered)}`,
    );
  }
  return derived(context, metric, meanOf(values) ?? 0, over);
}

/**
 * What a metric is now, of what it was the same time before. One is added to both, so that a queue of one that was
 * empty has not grown without bound.
 */
function growth(context: JudgeContext, metric: MetricId, half: number): Observed {
  const { readings, now } = context;
  const current = readings.now(metric).observed;
  if (current.kind === 'absent') return current;
  const history = readings.history(metric);
  const before = meanOf(lastValues(history, now, 2 * half, half));
  const after = meanOf(lastValues(history, now, half));
  if (before === undefined || after === undefined) {
    return absent('too-few-points', `growth needs ${durationText(2 * half)} of history`);
  }
  return asUnit(derived(context, metric, (after + 1) / (before + 1), 2 * half), 'ratio');
}

/** Lowest clock of the busy GPUs of the workload, of the highest that each had in the range. */
function busyClock({ readings }: JudgeContext): Observed {
  const devices = readings.devices('gpu').filter(({ use }) => use === 'workload');
  const series = readings.series('gpu.clock.sm');
  let lowest: Reading | undefined;
  let why: Absent = absent('no-data', 'no source tells the SM clock of the GPUs');
  for (const { device, of } of devices) {
    const clock = of('gpu.clock.sm');
    const utilization = of('gpu.utilization');
    if (clock.kind === 'absent') {
      why = clock;
      continue;
    }
    if (utilization.kind === 'absent' || utilization.value < 0.5) {
      why = absent('no-data', 'no GPU is busy, and the clock of idle ones is lowered by design');
      continue;
    }
    const own = series.find(
      ({ subject }) => subject.kind === 'device' && subject.id === device.id && subject.node === device.node,
    );
    const highest = Math.max(0, ...(own?.values ?? []).map((value) => value ?? 0));
    if (highest <= 0) {
      why = absent('too-few-points', 'the clock has no history to compare with');
      continue;
    }
    const value = clock.value / highest;
    if (lowest === undefined || value < lowest.value) lowest = asUnit({ ...clock, value }, 'ratio');
  }
  return lowest === undefined ? why : freshOf(lowest, readings.snapshot);
}

/** From the counter's history, else from the ends of containers: then it is at least so many. */
function recentRestarts(context: JudgeContext, window: number): Observed {
  const { readings, now } = context;
  const history = readings.history('restarts.total');
  const values = lastValues(history, now, window + (history?.step ?? 0));
  const first = values[0];
  if (first !== undefined && values.length >= 2) {
    let increase = 0;
    // A pod that went away takes its count with it.
    for (let index = 1; index < values.length; index++) {
      increase += Math.max(0, (values[index] ?? 0) - (values[index - 1] ?? 0));
    }
    return derived(context, 'restarts.total', increase, window);
  }
  return fromPods(
    context,
    'lastState.terminated.finishedAt',
    (pods) =>
      pods
        .flatMap(({ containers }) => containers)
        .filter(({ lastTermination, restarts }) => {
          const end = lastTermination?.finishedAt;
          return restarts > 0 && end !== undefined && now - end <= window;
        }).length,
  );
}

function missingReplicas({ readings }: JudgeContext): Observed {
  const { workload, pods } = readings.snapshot.cluster;
  if (workload.kind === 'known') {
    const { desired, ready } = workload.value.replicas;
    if (desired !== undefined) {
      const value = Math.max(0, desired - (ready ?? 0));
      return freshOf(
        told(value, 'count', workload.at, 'spec.replicas, status.readyReplicas'),
        readings.snapshot,
      );
    }
  }
  if (pods.kind === 'absent') return workload.kind === 'absent' ? workload : pods;
  const active = pods.value.filter(isActive);
  const missing = active.filter((pod) => !isReady(pod)).length;
  return freshOf(told(missing, 'count', pods.at, 'condition Ready'), readings.snapshot);
}

function againstBaseline(context: JudgeContext, metrics: readonly MetricId[]): Observed {
  const { baseline } = context;
  if (baseline === undefined) {
    return absent('not-configured', 'no baseline is saved', {
      remedy: 'Save the present window as the baseline',
    });
  }
  let why: Absent = absent('no-data', 'the baseline has no value for it');
  for (const metric of metrics) {
    const before = baseline.values[metric];
    if (before === undefined || before <= 0) continue;
    const now = recentMean(context, metric, 5 * minute);
    if (now.kind === 'absent') why = now;
    else return asUnit({ ...now, value: now.value / before }, 'ratio');
  }
  return why;
}

/** The last five minutes of the median of the range before them. */
function againstBefore(context: JudgeContext, metrics: readonly MetricId[]): Observed {
  const { readings, now } = context;
  let why: Absent = absent('too-few-points', 'it needs a history of at least 15 min');
  for (const metric of metrics) {
    const history = readings.history(metric);
    const current = readings.now(metric).observed;
    const after = meanOf(lastValues(history, now, 5 * minute));
    const earlier = lastValues(history, now, Infinity, 5 * minute);
    const before = medianOf(earlier);
    if (history === undefined || after === undefined || before === undefined || before <= 0) {
      if (current.kind === 'absent') why = current;
      continue;
    }
    if (earlier.length * history.step < 9 * minute) continue;
    return asUnit(derived(context, metric, after / before, 5 * minute), 'ratio');
  }
  return why;
}

function distance(ratio: Observed): Observed {
  return ratio.kind === 'absent' ? ratio : { ...ratio, value: Math.abs(ratio.value - 1) };
}

/** Since when a quantity has been beyond a value, for quantities with a history. */
export function beyondSince(
  { readings, now }: JudgeContext,
  metric: MetricId | undefined,
  holds: (value: number) => boolean,
): ReturnType<typeof heldSince> {
  const history: History | undefined = metric === undefined ? undefined : readings.history(metric);
  return heldSince(history, now, holds);
}
