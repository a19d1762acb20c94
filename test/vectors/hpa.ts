import { boundWithBehavior } from '../../server/src/autoscale/bounds';
import { defaultController } from '../../server/src/autoscale/controller';
import type { ControllerOptions, Instant } from '../../server/src/autoscale/controller';
import { fillBehavior } from '../../server/src/autoscale/defaults';
import type { PartialRules } from '../../server/src/autoscale/defaults';
import type { MetricValue } from '../../server/src/autoscale/metric-outcome';
import { metricReplicas } from '../../server/src/autoscale/metric-replicas';
import { readMilli } from '../../server/src/autoscale/milli';
import type { Milli } from '../../server/src/autoscale/milli';
import type { Pod, PodPhase, Sample } from '../../server/src/autoscale/pods';
import { scaleDownLimit, scaleUpLimit } from '../../server/src/autoscale/rate-limit';
import type { MetricReading } from '../../server/src/autoscale/reading';
import { noScaleEvents } from '../../server/src/autoscale/scale-events';
import type { ScaleEvent } from '../../server/src/autoscale/scale-events';
import type { MetricSpec, ScalingPolicy } from '../../server/src/autoscale/spec';
import { stabilizeBothWays, stabilizeDown } from '../../server/src/autoscale/stabilization';
import type { Recommendation } from '../../server/src/autoscale/stabilization';
import type { Tolerances } from '../../server/src/autoscale/tolerance';
import type { VectorRunner } from './index';

/*
 * Rows of the controller's own unit tests (replica_calculator_test.go, horizontal_test.go), one list for each
 * function that they test. Times are relative to "now"; pods, samples and events are built as those tests build them.
 */

/** The settings of those tests: cpu initialisation 2 minutes, initial readiness delay 10 seconds. */
const controller: ControllerOptions = {
  ...defaultController,
  cpuInitializationPeriod: 120_000,
  initialReadinessDelay: 10_000,
};

/** Any instant far enough from 0, which stands for Go's zero time. */
const now: Instant = 1_000_000_000;

interface ReplicaCase {
  readonly id: string;
  readonly currentReplicas: number;
  readonly kind: string;
  readonly target: number;
  readonly levels: readonly (number | null)[];
  readonly expected: number | null;
  readonly expectedUtilization?: number | null;
  readonly tolerance?: number;
  readonly resource?: string;
  readonly requests?: readonly (number | string | null)[];
  readonly ready?: readonly (boolean | null)[];
  readonly start?: readonly string[];
  readonly deleted?: readonly boolean[];
  /** The phase of each pod, `Running` where not given. */
  readonly phase?: readonly (string | null)[];
  readonly phases?: readonly (string | null)[];
  readonly podPhase?: readonly (string | null)[];
  readonly failed?: readonly boolean[];
  readonly pending?: readonly boolean[];
  /** Names of the pods that the samples belong to, where they are not the first ones in order. */
  readonly podNames?: readonly string[];
  readonly error?: string;
}

interface RulesData {
  readonly selectPolicy?: 'Max' | 'Min' | 'Disabled';
  readonly policies?: readonly ScalingPolicy[];
  readonly stabilizationWindowSeconds?: number;
}

interface EventsData {
  readonly changes: readonly number[];
  readonly uniformOverSeconds: number;
}

interface BehaviorCase {
  readonly id: string;
  readonly min: number;
  readonly max: number;
  readonly current: number;
  readonly desired: number;
  readonly expected: number;
  readonly condition?: string;
  readonly scaleUp?: RulesData | null;
  readonly scaleDown?: RulesData | null;
  readonly scaleUpEvents?: EventsData | null;
  readonly scaleDownEvents?: EventsData | null;
}

interface RecommendationData {
  readonly value: number;
  readonly ageSeconds: number;
}

interface StabilizationCase {
  readonly id: string;
  readonly recommendations: readonly RecommendationData[];
  readonly current?: number;
  readonly desired: number;
  readonly expected: number;
  readonly scaleUpWindow?: number;
  readonly scaleDownWindow?: number;
}

interface LimitCase extends RulesData {
  readonly id: string;
  readonly fn?: string;
  readonly direction?: string;
  readonly current: number;
  readonly expected: number;
}

/** What came, or the difference to what was expected as one line; `undefined` when all is equal. */
type Check = string | undefined;

const sections: Readonly<Record<string, (one: never) => Check>> = {
  replicaCalculator: checkReplicas,
  behavior: checkBehavior,
  stabilizationWithBehavior: checkStabilizationWithBehavior,
  stabilizationNoBehavior: checkStabilizationWithoutBehavior,
  limits: checkLimit,
};

export const run: VectorRunner = (cases) => {
  const differences: string[] = [];
  let total = 0;
  let equal = 0;
  for (const [section, list] of Object.entries(cases as Record<string, unknown>)) {
    if (!Array.isArray(list)) continue;
    const check = sections[section] as ((one: unknown) => Check) | undefined;
    for (const one of list as readonly { readonly id?: unknown }[]) {
      total += 1;
      const difference = check === undefined ? 'a section of an unknown kind' : check(one);
      if (difference === undefined) equal += 1;
      else differences.push(`${section}: ${String(one.id)}: ${difference}`);
    }
  }
  return { differences, summary: `${equal} of ${total}`, ok: equal === total && total > 0 };
};

function checkReplicas(one: ReplicaCase): Check {
  const metric = metricOf(one);
  if (metric === undefined) return `unknown kind ${one.kind}`;
  const pods = podsOf(one);
  const target = { specReplicas: one.currentReplicas, statusReplicas: one.currentReplicas, pods };
  const tolerance = one.tolerance ?? defaultController.tolerance;
  const tolerances: Tolerances = { up: tolerance, down: tolerance };
  const outcome = metricReplicas(metric, readingOf(one, metric), target, tolerances, now, controller);
  if (outcome.kind === 'failed') {
    if (one.expected === null && (one.error === undefined || outcome.message.includes(one.error)))
      return undefined;
    return `expected ${one.error ?? one.expected}, failed: ${outcome.message}`;
  }
  if (one.expected === null) return `expected the error ${one.error ?? ''}, got ${outcome.replicas}`;
  if (outcome.replicas !== one.expected) return `expected ${one.expected}, got ${outcome.replicas}`;
  const level = levelOf(outcome.value);
  if (one.expectedUtilization === undefined || one.expectedUtilization === null) return undefined;
  return level === BigInt(one.expectedUtilization)
    ? undefined
    : `expected a level of ${one.expectedUtilization}, got ${level}`;
}

function metricOf({ kind, target, resource = 'cpu' }: ReplicaCase): MetricSpec | undefined {
  const amount = BigInt(target);
  switch (kind) {
    case 'Resource.Utilization':
      return { type: 'Resource', resource, target: { type: 'Utilization', averageUtilization: target } };
    case 'Resource.AverageValue':
      return { type: 'Resource', resource, target: { type: 'AverageValue', averageValue: amount } };
    case 'ContainerResource.Utilization':
      return {
        type: 'ContainerResource',
        resource,
        container: 'main',
        target: { type: 'Utilization', averageUtilization: target },
      };
    case 'Pods.AverageValue':
      return { type: 'Pods', metric: 'qps', target: { type: 'AverageValue', averageValue: amount } };
    case 'Object.Value':
      return {
        type: 'Object',
        metric: 'qps',
        object: 'Deployment/some',
        target: { type: 'Value', value: amount },
      };
    case 'Object.AverageValue':
      return {
        type: 'Object',
        metric: 'qps',
        object: 'Deployment/some',
        target: { type: 'AverageValue', averageValue: amount },
      };
    case 'External.Value':
      return { type: 'External', metric: 'qps', target: { type: 'Value', value: amount } };
    case 'External.AverageValue':
      return { type: 'External', metric: 'qps', target: { type: 'AverageValue', averageValue: amount } };
    default:
      return undefined;
  }
}

function readingOf({ levels, podNames = [] }: ReplicaCase, metric: MetricSpec): MetricReading {
  const values = levels.map((level) => (level === null ? undefined : BigInt(level)));
  if (metric.type === 'External')
    return { kind: 'series', values: values.filter((value) => value !== undefined) };
  if (metric.type === 'Object') {
    const value = values[0];
    return value === undefined ? { kind: 'error', message: 'no level' } : { kind: 'object', value };
  }
  const samples = new Map<string, Sample>();
  values.forEach((value, index) => {
    if (value !== undefined) samples.set(podNames[index] ?? `pod-${index}`, { value, at: 0, window: 60_000 });
  });
  return { kind: 'pods', samples };
}

/** Pods beyond the current replicas exist only where phases or deletions are listed, as in the original tests. */
function podsOf(one: ReplicaCase): readonly Pod[] {
  const phase = one.phase ?? one.phases ?? one.podPhase;
  const listed = [phase, one.deleted, one.failed, one.pending].map((list) => list?.length ?? 0);
  const count = Math.max(one.currentReplicas, ...listed);
  const resource = one.resource ?? 'cpu';
  return Array.from({ length: count }, (_, index): Pod => {
    const request = one.requests?.[index];
    const milli: Milli | undefined =
      request === undefined || request === null ? undefined : readMilli(request);
    const start = one.start?.[index];
    const ready = one.ready?.[index];
    return {
      name: `pod-${index}`,
      phase: one.failed?.[index] ? 'Failed' : one.pending?.[index] ? 'Pending' : phaseOf(phase?.[index]),
      deleting: one.deleted?.[index] ?? false,
      startTime: start === 'hot' ? now : start === 'cool' ? now - 180_000 : 0,
      ready: ready === null ? undefined : { status: ready === false ? 'False' : 'True', since: 0 },
      containers: [{ name: 'main', requests: milli === undefined ? {} : { [resource]: milli } }],
    };
  });
}

function phaseOf(text: string | null | undefined): PodPhase {
  return phases.find((phase) => phase.toLowerCase() === text?.toLowerCase()) ?? 'Running';
}

const phases: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function levelOf(value: MetricValue): bigint | undefined {
  switch (value.kind) {
    case 'utilization':
      return BigInt(value.percent);
    case 'averageValue':
      return value.averageValue;
    case 'value':
      return value.value;
    case 'none':
      return undefined;
  }
}

function checkBehavior(one: BehaviorCase): Check {
  const bounded = boundWithBehavior(
    { current: one.current, desired: one.desired, minReplicas: one.min, maxReplicas: one.max },
    fillBehavior(rulesOf(one.scaleUp), rulesOf(one.scaleDown)),
    { up: eventsOf(one.scaleUpEvents), down: eventsOf(one.scaleDownEvents) },
    now,
  );
  const condition = one.condition ?? bounded.reason;
  return bounded.replicas === one.expected && bounded.reason === condition
    ? undefined
    : `expected ${one.expected} (${condition}), got ${bounded.replicas} (${bounded.reason})`;
}

function rulesOf(data: RulesData | null | undefined): PartialRules | undefined {
  return data ?? undefined;
}

/** Spread evenly inside the period, none on its edge. */
function eventsOf(data: EventsData | null | undefined): readonly ScaleEvent[] {
  if (data === undefined || data === null) return [];
  const gap = (data.uniformOverSeconds * 1000) / (data.changes.length + 1);
  return data.changes.map((change, index) => ({ at: now - gap * (index + 1), change }));
}

function checkStabilizationWithBehavior(one: StabilizationCase): Check {
  const windows = { up: (one.scaleUpWindow ?? 0) * 1000, down: (one.scaleDownWindow ?? 300) * 1000 };
  const { replicas } = stabilizeBothWays(recommendationsOf(one), one.current ?? 0, one.desired, windows, now);
  return replicas === one.expected ? undefined : `expected ${one.expected}, got ${replicas}`;
}

function checkStabilizationWithoutBehavior(one: StabilizationCase): Check {
  const { replicas } = stabilizeDown(
    recommendationsOf(one),
    one.desired,
    controller.downscaleStabilization,
    now,
  );
  return replicas === one.expected ? undefined : `expected ${one.expected}, got ${replicas}`;
}

function recommendationsOf({ recommendations }: StabilizationCase): readonly Recommendation[] {
  return recommendations.map(({ value, ageSeconds }) => ({ at: now - ageSeconds * 1000, replicas: value }));
}

function checkLimit(one: LimitCase): Check {
  const down = /down/i.test(`${one.direction ?? ''}${one.fn ?? ''}${one.id}`);
  const behavior = fillBehavior(rulesOf(one), rulesOf(one));
  const { limit } = down
    ? scaleDownLimit(one.current, behavior.scaleDown, noScaleEvents, now)
    : scaleUpLimit(one.current, behavior.scaleUp, noScaleEvents, now);
  return limit === one.expected ? undefined : `expected ${one.expected}, got ${limit}`;
}
