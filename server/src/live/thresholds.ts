import type { Unit } from './reading';

export interface ThresholdMeta {
  readonly default: number;
  readonly unit: Unit;
  /** What lies beyond it, for settings and tooltips. */
  readonly meaning: string;
  /** Why the default is what it is. */
  readonly basis: string;
}

const meta = (unit: Unit, value: number, meaning: string, basis: string): ThresholdMeta => ({
  default: value,
  unit,
  meaning,
  basis,
});

/** Every limit that a verdict, an alarm or a chart compares with. Each is a setting. */
export const thresholds = {
  // Verdicts
  gpuBusy: meta(
    'ratio',
    0.9,
    'GPU utilisation above which the GPU is what limits',
    'convention: room for bursts is gone',
  ),
  gpuIdle: meta(
    'ratio',
    0.5,
    'GPU utilisation under which GPUs count as idle',
    'convention: half of what is paid for is not used',
  ),
  vramRisk: meta(
    'ratio',
    0.92,
    'GPU memory in use above which the next allocation may fail',
    'above what engines reserve by default, so it was not planned for',
  ),
  kvHigh: meta(
    'ratio',
    0.9,
    'KV cache in use above which requests are preempted',
    'a request of average length no longer fits in what is left',
  ),
  kvLow: meta('ratio', 0.7, 'KV cache in use under which memory is not what limits', 'convention'),
  temperature: meta(
    'celsius',
    85,
    'GPU temperature above which the clock is lowered',
    'NVIDIA data centre GPUs slow down from about 85 C on',
  ),
  clockLow: meta(
    'ratio',
    0.8,
    'SM clock of the highest in the range, under which a busy GPU counts as throttled',
    'convention: boost clocks vary by less',
  ),
  queueDeep: meta(
    'count',
    10,
    'Requests that wait for each ready pod, above which the queue counts as deep',
    'the usual target of scaling by queue',
  ),
  queueGrowth: meta(
    'ratio',
    1.5,
    'Growth of the queue within ten minutes above which it counts as growing',
    'convention',
  ),
  pendingFor: meta(
    'seconds',
    120,
    'How long a pod may be pending before scaling counts as blocked',
    'an instance of EC2 is there in one to two minutes',
  ),
  latencyWorse: meta(
    'ratio',
    1.3,
    'Latency of that of the baseline, above which it counts as degraded',
    'convention: more than percentiles vary by themselves',
  ),
  loadSame: meta('ratio', 0.2, 'Change of the load up to which it counts as the same', 'convention'),
  loadUp: meta('ratio', 1.5, 'Load of that before, above which demand has risen', 'convention'),
  // Latency, drawn in charts
  ttftChat: meta('seconds', 0.5, 'Time to first token of a chat', 'people notice half a second'),
  ttftBatch: meta('seconds', 2, 'Time to first token of batch work', 'convention'),
  interToken: meta(
    'seconds',
    0.1,
    'Time between two tokens',
    'slower than 10 tokens/s is slower than reading',
  ),
  queueTime: meta(
    'seconds',
    1,
    'Time in the queue',
    'convention: above it waiting dominates the time to first token',
  ),
  // Alarms
  warnVram: meta('ratio', 0.85, 'Warning: GPU memory in use for 15 minutes', 'tier 1'),
  warnLatency: meta('seconds', 1.5, 'Warning: p95 of whole requests for 10 minutes', 'tier 1'),
  warnTokenBudget: meta('ratio', 0.8, 'Warning: share of the token budget', 'tier 1'),
  criticalRestarts: meta('count', 2, 'Critical: restarts within 5 minutes', 'tier 2'),
  criticalErrors: meta('ratio', 0.02, 'Critical: share of 5xx for 3 minutes', 'tier 2'),
  criticalNodes: meta('count', 0, 'Critical: nodes that are not ready', 'tier 2'),
  compositeQueue: meta('count', 10, 'Composite: requests that wait, together with high latency', 'tier 3'),
  // Requests far from use
  requestOver: meta(
    'ratio',
    2,
    'Request of the p95 of what is used, above which it is too large',
    'convention',
  ),
  requestUnder: meta(
    'ratio',
    1,
    'Request of the p95 of what is used, under which it is too small',
    'the scheduler counts on what is not there',
  ),
  cpuThrottled: meta(
    'ratio',
    0.25,
    'Share of CFS periods with throttling',
    'alert CPUThrottlingHigh of kubernetes-mixin',
  ),
} as const satisfies Readonly<Record<string, ThresholdMeta>>;

export type ThresholdId = keyof typeof thresholds;

export type Thresholds = Readonly<Record<ThresholdId, number>>;

const thresholdIds = Object.keys(thresholds) as readonly ThresholdId[];

export const defaultThresholds: Thresholds = Object.fromEntries(
  thresholdIds.map((id) => [id, thresholds[id].default]),
) as Record<ThresholdId, number>;

/**
 * The thresholds with what the user has set. Values that are no finite number, and names that do not exist, are left
 * out and told, so that a slip does not turn an alarm off.
 */
export function thresholdsWith(settings: Readonly<Record<string, unknown>>): {
  readonly thresholds: Thresholds;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const result: Record<ThresholdId, number> = { ...defaultThresholds };
  for (const [name, value] of Object.entries(settings)) {
    const id = thresholdIds.find((one) => one === name);
    if (id === undefined)
      problems.push(`There is no threshold "${name}"; there are ${thresholdIds.join(', ')}`);
    else if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      problems.push(`Threshold "${name}" is not a number of at least 0: ${JSON.stringify(value)}`);
    } else result[id] = value;
  }
  return { thresholds: result, problems };
}

/** Who says so, for hover: `default, because ...` or the setting. */
export function thresholdSource(id: ThresholdId, current: Thresholds): string {
  return current[id] === thresholds[id].default
    ? `default: ${thresholds[id].basis}`
    : `setting plimsoll.live.thresholds.${id}`;
}
