import type { Baseline } from '../live/baseline';
import type { WorkloadCost } from '../live/cost';
import {
  bytesText,
  changeText,
  counted,
  countText,
  percentText,
  quantityText,
  secondsText,
} from '../live/format';
import { isActive, isReady } from '../live/pods';
import { absent } from '../live/reading';
import type { Instant, Observed, Reading } from '../live/reading';
import { lastValues, medianOf } from '../live/readings';
import type { Combined, History, Readings } from '../live/readings';
import type { Thresholds } from '../live/thresholds';
import type { MetricId } from '../live/vocabulary';
import { ranges } from '../live/want';
import { errorShare } from '../live/alarms';
import type { Tile, State } from './model';
import type { Scaling } from '../rules/live/scaling-facts';
import { pricesText } from './prices';
import { shownMoney, shownOf } from './shown';

export interface TileContext {
  readonly readings: Readings;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  /** VRAM above which it is at risk; what the engine reserves by its arguments is not. */
  readonly vramLimit: number;
  readonly baseline: Baseline | undefined;
  readonly scaling: Scaling;
  readonly cost: WorkloadCost;
}

/** The row of tiles, in the order in which people ask. */
export function tilesOf(context: TileContext): readonly Tile[] {
  return [gpu(context), vram(context), ttft(context), queue(context), replicas(context), cost(context)];
}

interface Level {
  readonly state: State;
  readonly word: string;
}

const unknown: Level = { state: 'unknown', word: 'unknown' };

function level(observed: Observed, judge: (value: number) => Level): Level {
  return observed.kind === 'absent' ? unknown : judge(observed.value);
}

/** As many points as a sparkline has room for. */
const sparklinePoints = 60;

function sparkline(history: History | undefined, now: Instant, duration: number): Pick<Tile, 'sparkline'> {
  if (history === undefined) return {};
  const cell = duration / sparklinePoints;
  const sums = Array.from({ length: sparklinePoints }, () => ({ sum: 0, count: 0 }));
  history.at.forEach((at, index) => {
    const value = history.values[index];
    const bucket = sums[Math.min(sparklinePoints - 1, Math.floor((at - (now - duration)) / cell))];
    if (bucket === undefined || at > now || value === null || value === undefined) return;
    bucket.sum += value;
    bucket.count++;
  });
  const values = sums.map(({ sum, count }) => (count === 0 ? null : sum / count));
  return values.some((value) => value !== null) ? { sparkline: values } : {};
}

function common(
  { readings, now, baseline }: TileContext,
  metric: MetricId,
  observed: Observed,
  worse: 'higher' | 'lower' | 'neither',
): Pick<Tile, 'shown' | 'sparkline' | 'change'> {
  const { snapshot } = readings;
  const before = baseline?.values[metric];
  const change =
    before === undefined || observed.kind === 'absent'
      ? {}
      : {
          change: {
            text: `${changeText(before, observed.value)} against the baseline`,
            state: changeState(before, observed.value, worse),
          },
        };
  return {
    shown: shownOf(observed, snapshot, now),
    ...sparkline(readings.history(metric), now, ranges[snapshot.want.range].duration),
    ...change,
  };
}

function changeState(before: number, now: number, worse: 'higher' | 'lower' | 'neither'): State {
  if (worse === 'neither' || before === 0) return 'info';
  const change = now / before - 1;
  if (Math.abs(change) < 0.1) return 'good';
  return change > 0 === (worse === 'higher') ? 'warning' : 'good';
}

/** `mean of 4 GPUs`, and how many of them are known when not all are. */
function coverage({ known, total }: Combined, one: string, how: string): string {
  if (total <= 1) return '';
  return known === total
    ? `${how} of ${counted(total, one)}`
    : `${how} of ${known} of ${counted(total, one)}`;
}

function gpu(context: TileContext): Tile {
  const { readings, thresholds } = context;
  const gpus = readings.now('gpu.utilization');
  const neuron = readings.now('neuron.core.utilization');
  const isNeuron = gpus.observed.kind === 'absent' && neuron.observed.kind === 'reading';
  const chosen = isNeuron ? neuron : gpus;
  const { observed } = chosen;
  const strangers = readings.devices('gpu').filter(({ use }) => use === 'unattributed').length;
  return {
    id: 'gpu',
    title: isNeuron ? 'NeuronCores' : 'GPU',
    ...common(context, isNeuron ? 'neuron.core.utilization' : 'gpu.utilization', observed, 'neither'),
    caption: [
      coverage(chosen, isNeuron ? 'core' : 'GPU', 'mean'),
      strangers > 0 ? `${counted(strangers, 'GPU')} unattributed` : '',
    ]
      .filter((part) => part !== '')
      .join(', '),
    ...level(observed, (value) =>
      value > thresholds.gpuBusy
        ? { state: 'warning', word: 'busy' }
        : value < thresholds.gpuIdle
          ? { state: 'info', word: 'idle' }
          : { state: 'good', word: 'normal' },
    ),
    target: isNeuron ? 'chart-neuron-utilization' : 'chart-gpu-utilization',
  };
}

function vram(context: TileContext): Tile {
  const { readings, thresholds, vramLimit } = context;
  const usage = readings.now('gpu.memory.usage');
  const used = readings.now('gpu.memory.used').observed;
  const total = readings.now('gpu.memory.total').observed;
  const { observed } = usage;
  const amounts =
    used.kind === 'reading' && total.kind === 'reading'
      ? `${bytesText(used.value)} of ${bytesText(total.value)}`
      : '';
  return {
    id: 'vram',
    title: 'VRAM',
    ...common(context, 'gpu.memory.usage', observed, 'neither'),
    caption: [
      usage.total > 1 ? 'fullest GPU' : '',
      amounts === '' || usage.total <= 1 ? amounts : `${amounts} in all`,
    ]
      .filter((part) => part !== '')
      .join(', '),
    ...level(observed, (value) =>
      value > vramLimit
        ? { state: 'critical', word: 'at risk' }
        : value > Math.max(thresholds.warnVram, vramLimit - 0.07)
          ? { state: 'warning', word: 'high' }
          : { state: 'good', word: 'normal' },
    ),
    target: 'chart-gpu-memory',
  };
}

function ttft(context: TileContext): Tile {
  const { readings, thresholds } = context;
  const p95 = readings.now('ttft.p95').observed;
  // Engines that do not stream have no first token; the whole request is what users wait for.
  const e2e = readings.now('e2e.p95').observed;
  const useE2e = p95.kind === 'absent' && p95.why !== 'too-few-points' && e2e.kind === 'reading';
  const observed = useE2e ? e2e : p95;
  const p50 = readings.now(useE2e ? 'e2e.p50' : 'ttft.p50').observed;
  return {
    id: 'ttft',
    title: useE2e ? 'End-to-end p95' : 'TTFT p95',
    ...common(context, useE2e ? 'e2e.p95' : 'ttft.p95', observed, 'higher'),
    caption: p50.kind === 'reading' ? `p50 ${secondsText(p50.value)}` : '',
    ...level(observed, (value) =>
      useE2e
        ? value > thresholds.warnLatency
          ? { state: 'warning', word: 'slow' }
          : { state: 'good', word: 'normal' }
        : value > thresholds.ttftBatch
          ? { state: 'critical', word: 'very slow' }
          : value > thresholds.ttftChat
            ? { state: 'warning', word: 'slow for chat' }
            : { state: 'good', word: 'normal' },
    ),
    target: useE2e ? 'chart-e2e' : 'chart-ttft',
  };
}

function queue(context: TileContext): Tile {
  const { readings, thresholds } = context;
  const waiting = readings.now('queue.waiting');
  const { observed } = waiting;
  const running = readings.now('queue.running').observed;
  const ready = readings.pods?.filter((pod) => isActive(pod) && isReady(pod)).length;
  return {
    id: 'queue',
    title: 'Queue',
    ...common(context, 'queue.waiting', observed, 'higher'),
    caption: [
      running.kind === 'reading' ? `${countText(running.value)} running` : '',
      waiting.known < waiting.total ? `of ${waiting.known} of ${counted(waiting.total, 'pod')}` : '',
    ]
      .filter((part) => part !== '')
      .join(', '),
    ...level(observed, (value) => {
      const each = value / Math.max(1, ready ?? 1);
      if (each > thresholds.queueDeep) return { state: 'critical', word: 'deep' };
      return value > 0 ? { state: 'info', word: 'waiting' } : { state: 'good', word: 'empty' };
    }),
    target: 'chart-queue',
  };
}

/** Ready replicas: of the workload's status, else counted from its pods. */
export function readyReplicas({ readings, now }: Pick<TileContext, 'readings' | 'now'>): {
  readonly ready: Observed;
  readonly desired: number | undefined;
} {
  const { workload, pods } = readings.snapshot.cluster;
  const told = (value: number, at: Instant, from: string): Reading => ({
    kind: 'reading',
    value,
    unit: 'count',
    at: Math.min(at, now),
    window: 0,
    source: { source: readings.snapshot.context.demo ? 'demo' : 'kubernetes', from },
  });
  const desired = workload.kind === 'known' ? workload.value.replicas.desired : undefined;
  if (workload.kind === 'known' && desired !== undefined) {
    return { ready: told(workload.value.replicas.ready ?? 0, workload.at, 'status.readyReplicas'), desired };
  }
  if (pods.kind === 'known') {
    const active = pods.value.filter(isActive);
    return {
      ready: told(active.filter(isReady).length, pods.at, 'condition Ready of its pods'),
      desired: active.length,
    };
  }
  return { ready: workload.kind === 'absent' ? workload : pods, desired };
}

function replicas(context: TileContext): Tile {
  const { scaling } = context;
  const { ready, desired } = readyReplicas(context);
  const bounds = scaling.kind === 'known' ? `${scaling.minimum} to ${countText(scaling.maximum)}` : '';
  const arrow =
    scaling.kind === 'known' && scaling.status.desiredReplicas !== scaling.status.currentReplicas
      ? `HPA ${scaling.status.currentReplicas} -> ${scaling.status.desiredReplicas}`
      : '';
  return {
    id: 'replicas',
    title: 'Replicas',
    ...common(context, 'replicas.ready', ready, 'neither'),
    caption: [desired === undefined ? '' : `of ${countText(desired)} ready`, arrow, bounds]
      .filter((part) => part !== '')
      .join(', '),
    ...level(ready, (value) => {
      if (desired === 0) return { state: 'info', word: 'at zero' };
      if (desired !== undefined && value === 0) return { state: 'critical', word: 'none ready' };
      return desired !== undefined && value < desired
        ? { state: 'warning', word: 'not all ready' }
        : { state: 'good', word: 'all ready' };
    }),
    target: 'scaling',
  };
}

function cost({ cost: { perHour, idleShare, perMillionTokens } }: TileContext): Tile {
  const perTokens =
    perMillionTokens.kind === 'money'
      ? `${quantityText(perMillionTokens.value, 'dollars')} per million tokens`
      : '';
  const idle = idleShare.kind === 'reading' ? `${percentText(idleShare.value)} idle` : '';
  return {
    id: 'cost',
    title: 'Cost',
    shown: shownMoney(perHour, '/h', pricesText()),
    caption: [perTokens, idle].filter((part) => part !== '').join(', '),
    state: perHour.kind === 'absent' ? 'unknown' : 'good',
    word: perHour.kind === 'absent' ? 'unknown' : perHour.bound === 'exact' ? 'list price' : 'estimate',
    target: 'cost',
  };
}

/** Availability, volume and throughput, for those who answer for it. */
export function overviewTiles(context: TileContext): readonly Tile[] {
  return [availability(context), volume(context), throughput(context), cost(context)];
}

function availability(context: TileContext): Tile {
  const { readings, now, thresholds } = context;
  const failed = errorShare({ readings });
  const duration = ranges[readings.snapshot.want.range].duration;
  const history = readings.history('errors.5xx.ratio');
  const median = medianOf(lastValues(history, now, duration));
  const observed: Observed =
    failed.kind === 'reading'
      ? { ...failed, value: 1 - (median ?? failed.value) }
      : absent(failed.why, failed.message, failed.remedy === undefined ? {} : { remedy: failed.remedy });
  const { ready, desired } = readyReplicas(context);
  return {
    id: 'availability',
    title: 'Answered without error',
    shown: shownOf(observed, readings.snapshot, now),
    caption:
      ready.kind === 'reading' && desired !== undefined
        ? `${countText(ready.value)} of ${countText(desired)} replicas ready`
        : '',
    ...level(observed, (value) =>
      1 - value > thresholds.criticalErrors
        ? { state: 'critical', word: 'failing' }
        : { state: 'good', word: 'normal' },
    ),
    target: 'chart-errors',
  };
}

function volume(context: TileContext): Tile {
  const { observed } = context.readings.now('requests.rate');
  return {
    id: 'volume',
    title: 'Requests',
    ...common(context, 'requests.rate', observed, 'neither'),
    caption:
      observed.kind === 'reading'
        ? `${countText(Math.round(observed.value * 3600))} an hour at this rate`
        : '',
    ...level(observed, (value) =>
      value > 0 ? { state: 'good', word: 'served' } : { state: 'info', word: 'none' },
    ),
    target: 'chart-requests',
  };
}

function throughput(context: TileContext): Tile {
  const { observed } = context.readings.now('tokens.generation.rate');
  const prompt = context.readings.now('tokens.prompt.rate').observed;
  return {
    id: 'tokens',
    title: 'Tokens out',
    ...common(context, 'tokens.generation.rate', observed, 'neither'),
    caption: prompt.kind === 'reading' ? `${quantityText(prompt.value, 'tokens-per-second')} in` : '',
    ...level(observed, (value) =>
      value > 0 ? { state: 'good', word: 'served' } : { state: 'info', word: 'none' },
    ),
    target: 'chart-tokens',
  };
}
