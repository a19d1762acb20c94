import { defaultController } from './controller';
import type { ControllerOptions, Instant } from './controller';
import { decide, settleWithoutMetrics } from './decide';
import type { Decision } from './decide';
import { metricReplicas } from './metric-replicas';
import type { FailureReason, MetricOutcome, MetricValue, Working } from './metric-outcome';
import { minInt64, readMilli, toInt32 } from './milli';
import type { Milli } from './milli';
import { plainReader } from './plain-data';
import type { PlainReader } from './plain-data';
import { noScaleEvents } from './scale-events';
import type { HpaSpec, MetricSpec } from './spec';
import type { Condition, ConditionType } from './status';
import { isWithin, tolerancesOf } from './tolerance';

/** The status of an HPA in a cluster, as far as the algorithm can use it. */
export interface LiveStatus {
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly conditions: readonly (Condition & { readonly message: string })[];
  /** One for each metric of the spec, in its order; `undefined` where the status has no entry with content. */
  readonly values: readonly (MetricValue | undefined)[];
}

export type StatusReading =
  | { readonly ok: true; readonly status: LiveStatus }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads `status` of an HPA (autoscaling/v2) from plain data. */
export function readHpaStatus(value: unknown, spec: HpaSpec): StatusReading {
  const reader = plainReader();
  const status = reader.map(value, 'status');
  if (status === undefined) {
    return {
      ok: false,
      problems: reader.problems.length > 0 ? reader.problems : ['status: not written yet'],
    };
  }
  const conditions = (reader.list(status['conditions'], 'status.conditions') ?? []).flatMap((entry, index) =>
    readCondition(reader, entry, `status.conditions[${index}]`),
  );
  const entries = (reader.list(status['currentMetrics'], 'status.currentMetrics') ?? []).flatMap(
    (entry, index) => {
      const map = reader.map(entry, `status.currentMetrics[${index}]`);
      return map === undefined ? [] : [map];
    },
  );
  const currentReplicas = reader.integer(status['currentReplicas'], 'status.currentReplicas') ?? 0;
  const desiredReplicas = reader.integer(status['desiredReplicas'], 'status.desiredReplicas') ?? 0;
  if (reader.problems.length > 0) return { ok: false, problems: reader.problems };
  return {
    ok: true,
    status: {
      currentReplicas,
      desiredReplicas,
      conditions,
      values: spec.metrics.map((metric) => {
        const source = entries.map((entry) => sourceOf(entry, metric)).find((found) => found !== undefined);
        return source === undefined ? undefined : readValue(reader, source, metric);
      }),
    },
  };
}

const conditionTypes: readonly ConditionType[] = [
  'AbleToScale',
  'ScalingActive',
  'ScalingLimited',
  'ScaledToZero',
];

function readCondition(reader: PlainReader, value: unknown, path: string): LiveStatus['conditions'] {
  const condition = reader.map(value, path);
  const type = conditionTypes.find((one) => one === condition?.['type']);
  // A newer controller may write conditions that say nothing to this model.
  if (condition === undefined || type === undefined) return [];
  const status = condition['status'] === 'True' ? 'True' : 'False';
  return [
    { type, status, reason: String(condition['reason'] ?? ''), message: String(condition['message'] ?? '') },
  ];
}

type Plain = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The part of an entry of `currentMetrics` that belongs to a metric of the spec, by type and name. */
function sourceOf(entry: Plain, metric: MetricSpec): Plain | undefined {
  if (entry['type'] !== metric.type) return undefined;
  const source = entry[metric.type.charAt(0).toLowerCase() + metric.type.slice(1)];
  if (!isMap(source)) return undefined;
  if (metric.type === 'Resource') return source['name'] === metric.resource ? source : undefined;
  if (metric.type === 'ContainerResource') {
    return source['name'] === metric.resource && source['container'] === metric.container
      ? source
      : undefined;
  }
  const named = source['metric'];
  return isMap(named) && named['name'] === metric.metric ? source : undefined;
}

function readValue(reader: PlainReader, source: Plain, metric: MetricSpec): MetricValue | undefined {
  const current = source['current'];
  if (!isMap(current)) return undefined;
  const averageValue = readAmount(current['averageValue']);
  switch (metric.target.type) {
    case 'Utilization': {
      const percent = reader.integer(current['averageUtilization'], 'averageUtilization');
      return percent === undefined
        ? undefined
        : { kind: 'utilization', percent, averageValue: averageValue ?? 0n };
    }
    case 'AverageValue':
      return averageValue === undefined ? undefined : { kind: 'averageValue', averageValue };
    case 'Value': {
      const value = readAmount(current['value']);
      return value === undefined ? undefined : { kind: 'value', value };
    }
  }
}

function readAmount(value: unknown): Milli | undefined {
  return typeof value === 'string' || typeof value === 'number' ? readMilli(value) : undefined;
}

/**
 * What the numbers of a live status lead to, by the same formulas as in the controller.
 *
 * It is an estimate in two ways, both of which the caller has to say: the status tells nothing of single pods, so
 * every one of `readyPods` is taken to be ready and to have a sample; and the controller's memory (windows, rate
 * limits) cannot be seen from outside, so only the condition AbleToScale tells whether a window holds the count.
 */
export function assessLiveStatus(
  spec: HpaSpec,
  status: LiveStatus,
  options: {
    readonly readyPods?: number;
    readonly now?: Instant;
    readonly controller?: ControllerOptions;
  } = {},
): Decision {
  const { controller = defaultController, now = 0 } = options;
  const current = status.currentReplicas;
  const settled = settleWithoutMetrics(spec, current, status.conditions, now, controller);
  if (settled !== undefined) return settled;
  const active = status.conditions.find(({ type }) => type === 'ScalingActive');
  const outcomes = spec.metrics.map((metric, index) =>
    outcomeOf(metric, status.values[index], current, options.readyPods ?? current, active, spec, controller),
  );
  return decide(spec, outcomes, current, { recommendations: [], events: noScaleEvents }, now, controller);
}

function outcomeOf(
  metric: MetricSpec,
  value: MetricValue | undefined,
  current: number,
  readyPods: number,
  active: LiveStatus['conditions'][number] | undefined,
  spec: HpaSpec,
  controller: ControllerOptions,
): MetricOutcome {
  const tolerances = tolerancesOf(spec, controller);
  const failed = (message: string): MetricOutcome => ({
    kind: 'failed',
    metric,
    reason: `FailedGet${metric.type}Metric` satisfies FailureReason,
    message,
  });
  if (value === undefined || value.kind === 'none') {
    const told = active?.status === 'False' && active.message !== '' ? active.message : undefined;
    return failed(told ?? 'the status has no value for it');
  }
  if (metric.type === 'External' || metric.type === 'Object') {
    const shared = value.kind === 'averageValue' ? value.averageValue : undefined;
    if (shared === minInt64) return failed('it was shared out over 0 replicas, which leaves no value');
    const total = value.kind === 'value' ? value.value : (shared ?? 0n) * BigInt(current);
    const target = {
      specReplicas: current,
      statusReplicas: current,
      pods: readyOnes(readyPods),
    };
    return metricReplicas(metric, { kind: 'object', value: total }, target, tolerances, 0, controller);
  }
  const percent = metric.target.type === 'Utilization';
  const level =
    value.kind === 'utilization'
      ? BigInt(value.percent)
      : value.kind === 'averageValue'
        ? value.averageValue
        : 0n;
  const target =
    metric.target.type === 'Utilization'
      ? BigInt(metric.target.averageUtilization)
      : metric.target.averageValue;
  const ratio = Number(level) / Number(target);
  const within = isWithin(ratio, tolerances);
  const memory = metric.type !== 'Pods' && metric.resource === 'memory';
  const working: Working = {
    form: 'pods-times-ratio',
    unit: percent ? 'percent' : memory ? 'milli-bytes' : 'milli',
    level,
    target,
    pods: readyPods,
    ratio,
    tolerances,
    verdict: within ? 'within-tolerance' : 'scaled',
    assumed: undefined,
  };
  return {
    kind: 'proposed',
    metric,
    replicas: within ? current : toInt32(Math.ceil(ratio * readyPods)),
    working,
    value,
  };
}

function readyOnes(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: `pod-${index}`,
    phase: 'Running' as const,
    deleting: false,
    startTime: 0,
    ready: { status: 'True' as const, since: 0 },
    containers: [],
  }));
}
