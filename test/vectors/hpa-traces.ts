import { defaultController } from '../../server/src/autoscale/controller';
import type { ControllerOptions } from '../../server/src/autoscale/controller';
import type { MetricValue } from '../../server/src/autoscale/metric-outcome';
import { readMilli } from '../../server/src/autoscale/milli';
import type { Milli } from '../../server/src/autoscale/milli';
import type { Pod, PodPhase, Sample } from '../../server/src/autoscale/pods';
import { readHpaSpec } from '../../server/src/autoscale/read-spec';
import type { MetricReading } from '../../server/src/autoscale/reading';
import type { HpaSpec, MetricSpec } from '../../server/src/autoscale/spec';
import type { HpaStatus } from '../../server/src/autoscale/status';
import { initialState, step } from '../../server/src/autoscale/step';
import type { HpaState } from '../../server/src/autoscale/step';
import type { VectorRunner } from './index';

/*
 * Recordings of the real controller, replayed sync by sync. Each sync is given the target, the pods and the metric
 * values that the recorded one saw; compared are the changes of spec.replicas with their times, the controller's
 * own proposals, and the sequence of statuses (desiredReplicas, conditions, current metrics) that it wrote.
 */

/** Usage (null: no sample), phase, Ready (1, 0, null), start, last change of Ready, time of the sample; seconds. */
type PodRow = readonly [
  usage: number | null,
  phase: string,
  ready: number | null,
  start: number | null,
  since: number | null,
  at: number | null,
];

type MetricData = 'error' | null | readonly number[] | readonly PodRow[];

interface TargetData {
  readonly spec: number;
  readonly status: number;
  readonly ready: number;
  readonly pods: number;
  readonly proposal?: number | null;
}

type SyncRow = readonly [t: number, metrics: Readonly<Record<string, MetricData>>, target: TargetData];

type ObservedRow = readonly [
  t: number,
  replicas: number,
  desired: number,
  conditions: readonly string[],
  metrics: readonly (string | null)[],
];

interface Trace {
  readonly id: number | string;
  readonly hpa: unknown;
  /** Requests of each container in milli-cpu or Mi; null: none given. */
  readonly requests?: readonly (number | null)[];
  /** Window of each sample, seconds. */
  readonly window?: number;
  readonly inputs: readonly SyncRow[];
  readonly observed?: readonly ObservedRow[];
  readonly replicas: readonly (readonly [t: number, n: number])[];
}

interface TraceFile {
  readonly meta?: { readonly flags?: Readonly<Record<string, string>> };
  readonly cases?: readonly Trace[];
}

export const run: VectorRunner = (data) => {
  const file = data as TraceFile;
  const controller = controllerOf(file.meta?.flags ?? {});
  const differences: string[] = [];
  let equal = 0;
  const cases = file.cases ?? [];
  for (const trace of cases) {
    const found = replay(trace, controller);
    if (found.length === 0) equal += 1;
    differences.push(...found.map((difference) => `trace ${trace.id}: ${difference}`));
  }
  const total = cases.length;
  return { differences, summary: `${equal} of ${total}`, ok: equal === total && total > 0 };
};

const milliseconds = (seconds: number): number => Math.round(seconds * 1000);

/** The flags with which the recorded controller ran; those not named have their defaults. */
function controllerOf(flags: Readonly<Record<string, string>>): ControllerOptions {
  const number = (flag: string): number | undefined => {
    const value = Number.parseFloat(flags[`horizontal-pod-autoscaler-${flag}`] ?? '');
    return Number.isNaN(value) ? undefined : value;
  };
  const period = (flag: string, otherwise: number): number => {
    const seconds = number(flag);
    return seconds === undefined ? otherwise : milliseconds(seconds);
  };
  return {
    ...defaultController,
    syncPeriod: period('sync-period', defaultController.syncPeriod),
    tolerance: number('tolerance') ?? defaultController.tolerance,
    downscaleStabilization: period('downscale-stabilization', defaultController.downscaleStabilization),
    cpuInitializationPeriod: period('cpu-initialization-period', defaultController.cpuInitializationPeriod),
    initialReadinessDelay: period('initial-readiness-delay', defaultController.initialReadinessDelay),
  };
}

/** The first difference of each kind. */
function replay(trace: Trace, controller: ControllerOptions): readonly string[] {
  const reading = readHpaSpec(trace.hpa);
  if (!reading.ok) return reading.problems;
  const { spec } = reading;
  const differences: string[] = [];
  const changes: { readonly from: number; readonly until: number; readonly replicas: number }[] = [];
  const statuses: string[] = [statusText(initialState.status)];
  let proposal: string | undefined;
  let state: HpaState = initialState;
  trace.inputs.forEach(([t, metrics, target], index) => {
    const pods = podsOf(trace, spec, metrics, target);
    const result = step(
      state,
      {
        spec,
        target: { specReplicas: target.spec, statusReplicas: target.status, pods },
        readings: spec.metrics.map((metric) => readingOf(metric, metrics[keyOf(metric)], trace)),
      },
      milliseconds(t),
      controller,
    );
    state = result.state;
    const { decision } = result;
    const proposed = decision.kind === 'computed' ? decision.proposal.replicas : null;
    if (target.proposal !== undefined && proposed !== target.proposal) {
      proposal ??= `at ${t} s expected the proposal ${target.proposal}, got ${proposed}`;
    }
    if (decision.to !== decision.from) {
      const until = trace.inputs[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
      changes.push({ from: t, until, replicas: decision.to });
    }
    statuses.push(statusText(state.status));
  });
  const replicas = compareChanges(trace.replicas, changes);
  if (replicas !== undefined) differences.push(replicas);
  if (proposal !== undefined) differences.push(proposal);
  const status = compareStatuses(trace.observed ?? [], withoutRepeats(statuses));
  if (status !== undefined) differences.push(status);
  return differences;
}

function compareChanges(
  expected: Trace['replicas'],
  got: readonly { readonly from: number; readonly until: number; readonly replicas: number }[],
): string | undefined {
  const matches =
    expected.length === got.length &&
    got.every(({ from, until, replicas }, index) => {
      const [t, n] = expected[index] ?? [Number.NaN, 0];
      return n === replicas && t >= from && t < until;
    });
  if (matches) return undefined;
  const left = expected.map(([t, n]) => `${n} at ${t}`).join(', ');
  return `expected the replicas [${left}], got [${got.map(({ from, replicas }) => `${replicas} at ${from}`).join(', ')}]`;
}

/** The recorder also notes changes of the target, so a status may stand there several times in a row. */
function compareStatuses(observed: readonly ObservedRow[], got: readonly string[]): string | undefined {
  if (observed.length === 0) return undefined;
  const expected = withoutRepeats(
    observed.map(
      ([, , desired, conditions, metrics]) =>
        `${desired} [${conditions.join(' ')}] [${metrics.map(recordedValueText).join(', ')}]`,
    ),
  );
  const length = Math.max(expected.length, got.length);
  for (let index = 0; index < length; index += 1) {
    if (expected[index] !== got[index]) {
      return `expected the status ${expected[index] ?? 'none'}, got ${got[index] ?? 'none'} (number ${index + 1})`;
    }
  }
  return undefined;
}

function withoutRepeats(texts: readonly string[]): readonly string[] {
  return texts.filter((text, index) => index === 0 || text !== texts[index - 1]);
}

function statusText({ desiredReplicas, conditions, currentMetrics }: HpaStatus): string {
  const states = conditions.map(({ type, status, reason }) => `${type}:${status}:${reason}`).join(' ');
  const values = currentMetrics.map(({ value }) => valueText(value)).join(', ');
  return `${desiredReplicas} [${states}] [${values}]`;
}

/** Percent and amount in thousandths, whatever suffix a quantity is printed with; empty for a metric that failed. */
function valueText(value: MetricValue): string {
  switch (value.kind) {
    case 'utilization':
      return `${value.percent}% ${value.averageValue}`;
    case 'averageValue':
      return `${value.averageValue}`;
    case 'value':
      return `${value.value}`;
    case 'none':
      return '';
  }
}

/** The same of a recorded text: `14% 70m`, `75% 194048Ki`, `36135m`; null for a metric that failed. */
function recordedValueText(text: string | null): string {
  return (text ?? '')
    .split(' ')
    .map((part) => (part.endsWith('%') ? part : `${(part === '' ? undefined : readMilli(part)) ?? part}`))
    .join(' ');
}

const milliPerMi = 1000n << 20n;

function isMemory(metric: MetricSpec): boolean {
  return (metric.type === 'Resource' || metric.type === 'ContainerResource') && metric.resource === 'memory';
}

function keyOf(metric: MetricSpec): string {
  return metric.type === 'Resource' || metric.type === 'ContainerResource' ? metric.resource : metric.metric;
}

/** A number of the recording in thousandths: cpu is in milli-cpu, memory in Mi, anything else in its unit. */
function amountOf(metric: MetricSpec, value: number): Milli {
  if (isMemory(metric)) return BigInt(Math.round(value)) * milliPerMi;
  if (metric.type === 'Resource' || metric.type === 'ContainerResource') return BigInt(Math.round(value));
  return readMilli(value) ?? 0n;
}

function isPodRows(data: MetricData | undefined): data is readonly PodRow[] {
  return Array.isArray(data) && Array.isArray(data[0]);
}

function readingOf(metric: MetricSpec, data: MetricData | undefined, trace: Trace): MetricReading {
  if (data === undefined) return { kind: 'error', message: 'not read in the recording' };
  if (data === 'error') return { kind: 'error', message: 'the metrics API answered 500' };
  if (metric.type === 'External' || metric.type === 'Object') {
    const values = ((data ?? []) as readonly number[]).map((value) => amountOf(metric, value));
    const first = values[0];
    if (metric.type === 'External') return { kind: 'series', values };
    return first === undefined ? { kind: 'error', message: 'no value' } : { kind: 'object', value: first };
  }
  const samples = new Map<string, Sample>();
  if (isPodRows(data)) {
    data.forEach(([usage, , , , , at], index) => {
      if (usage === null) return;
      samples.set(`pod-${index}`, {
        value: amountOf(metric, usage),
        at: milliseconds(at ?? 0),
        window: milliseconds(trace.window ?? 0),
      });
    });
  }
  return { kind: 'pods', samples };
}

/** The pods as listed with a resource metric; for other metrics so many of them as were ready and matched. */
function podsOf(
  trace: Trace,
  spec: HpaSpec,
  metrics: SyncRow[1],
  { ready, pods }: TargetData,
): readonly Pod[] {
  for (const metric of spec.metrics) {
    const rows = metrics[keyOf(metric)];
    if (isPodRows(rows)) return podsOfRows(rows, ready, containersOf(trace, spec));
  }
  return Array.from({ length: pods }, (_, index) => ({
    name: `pod-${index}`,
    phase: 'Running',
    deleting: false,
    startTime: 0,
    ready: { status: index < ready ? 'True' : 'False', since: 0 },
    containers: [],
  }));
}

function containersOf({ requests = [] }: Trace, { metrics }: HpaSpec): Pod['containers'] {
  const resources = metrics.filter(({ type }) => type === 'Resource' || type === 'ContainerResource');
  return requests.map((request, index) => ({
    name: `container-${index}`,
    requests: Object.fromEntries(
      request === null ? [] : resources.map((metric) => [keyOf(metric), amountOf(metric, request)]),
    ),
  }));
}

/**
 * The phase `Gone` hides whether the pod still ran; the number of ready pods tells, since pods being deleted belong
 * to it for as long as they are Running and Ready.
 */
function podsOfRows(rows: readonly PodRow[], ready: number, containers: Pod['containers']): readonly Pod[] {
  let readyLeft = ready - rows.filter(([, phase, isReady]) => phase === 'Running' && isReady === 1).length;
  return rows.map(([, phase, isReady, start, since], index): Pod => {
    const gone = phase === 'Gone';
    const running = !gone || (isReady === 1 && readyLeft > 0);
    if (gone && running) readyLeft -= 1;
    return {
      name: `pod-${index}`,
      phase: gone ? (running ? 'Running' : 'Unknown') : (phase as PodPhase),
      deleting: gone,
      startTime: start === null ? undefined : milliseconds(start),
      ready:
        isReady === null
          ? undefined
          : { status: isReady === 1 ? 'True' : 'False', since: milliseconds(since ?? 0) },
      containers,
    };
  });
}
