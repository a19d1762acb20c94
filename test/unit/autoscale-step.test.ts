import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defaultController } from '../../server/src/autoscale/controller';
import type { ControllerOptions } from '../../server/src/autoscale/controller';
import { fillBehavior } from '../../server/src/autoscale/defaults';
import { explain } from '../../server/src/autoscale/explain';
import type { Pod } from '../../server/src/autoscale/pods';
import type { MetricReading } from '../../server/src/autoscale/reading';
import type { HpaSpec, MetricSpec } from '../../server/src/autoscale/spec';
import { initialState, step } from '../../server/src/autoscale/step';
import type { HpaState, Step } from '../../server/src/autoscale/step';

const queue: MetricSpec = {
  type: 'External',
  metric: 's0-prometheus',
  target: { type: 'AverageValue', averageValue: 10_000n },
};
const latency: MetricSpec = { type: 'External', metric: 'latency', target: { type: 'Value', value: 2_000n } };

const spec = (other: Partial<HpaSpec> = {}): HpaSpec => ({
  minReplicas: 1,
  maxReplicas: 20,
  metrics: [queue],
  behavior: undefined,
  ...other,
});

const length = (value: number): MetricReading => ({ kind: 'series', values: [BigInt(value * 1000)] });
const down: MetricReading = { kind: 'error', message: 'no answer' };

function podsOf(count: number): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `pod-${index}`,
    phase: 'Running',
    deleting: false,
    startTime: 0,
    ready: { status: 'True', since: 0 },
    containers: [],
  }));
}

/** Syncs 15 s apart, each with its readings; the pods follow at once. */
function play(
  given: HpaSpec,
  start: number,
  readings: readonly (MetricReading | readonly MetricReading[])[],
  options: ControllerOptions = defaultController,
): { readonly steps: readonly Step[]; readonly replicas: readonly number[]; readonly state: HpaState } {
  let replicas = start;
  let state = initialState;
  const steps = readings.map((reading, index) => {
    const result = step(
      state,
      {
        spec: given,
        target: { specReplicas: replicas, statusReplicas: replicas, pods: podsOf(replicas) },
        readings: 'kind' in reading ? [reading] : reading,
      },
      index * 15_000,
      options,
    );
    state = result.state;
    replicas = result.decision.to;
    return result;
  });
  return { steps, replicas: steps.map(({ decision }) => decision.to), state };
}

const conditionsOf = ({ status }: HpaState): readonly string[] =>
  status.conditions.map(({ type, status: value, reason }) => `${type}:${value}:${reason}`);

test('a queue of 40 against 10 makes 4 of 1 at once', () => {
  const { steps, state } = play(spec(), 1, [length(40)]);
  assert.equal(steps[0]?.decision.to, 4);
  assert.deepEqual(conditionsOf(state), [
    'AbleToScale:True:SucceededRescale',
    'ScalingActive:True:ValidMetricFound',
    'ScalingLimited:False:DesiredWithinRange',
  ]);
  assert.deepEqual(state.status.currentMetrics, [
    { metric: queue, value: { kind: 'averageValue', averageValue: 40_000n } },
  ]);
  assert.equal(explain(steps[0]!.decision, spec()).summary, '1 -> 4: ceil(40 / 10) = 4');
});

test('without behavior the limit holds per sync, with the defaults per 15 s', () => {
  const load = Array.from({ length: 4 }, () => length(1000));
  assert.deepEqual(play(spec(), 1, load).replicas, [4, 8, 16, 20]);
  assert.deepEqual(
    play(spec({ behavior: fillBehavior(undefined, undefined) }), 1, load).replicas,
    [5, 10, 20, 20],
  );
});

test('the count that was found holds against a scale-down for the window', () => {
  const { replicas, steps } = play(
    spec(),
    8,
    Array.from({ length: 22 }, () => length(20)),
  );
  assert.deepEqual(
    replicas.slice(0, 21),
    Array.from({ length: 21 }, () => 8),
  );
  assert.equal(replicas[21], 2);
  assert.deepEqual(conditionsOf(steps[2]!.state), [
    'AbleToScale:True:ScaleDownStabilized',
    'ScalingActive:True:ValidMetricFound',
    'ScalingLimited:False:DesiredWithinRange',
  ]);
  assert.match(
    explain(steps[2]!.decision, spec()).summary,
    /stabilization holds 8 instead of 2: 30 s ago 8 was recommended, and the scale-down window is 5 min \(4 min 30 s left\)/,
  );
});

test('without behavior the window is named scale-down even where it scales up', () => {
  const remembered = { ...initialState, recommendations: [{ at: 0, replicas: 8 }] };
  const sync = (behavior: HpaSpec['behavior']) =>
    step(
      remembered,
      {
        spec: spec({ behavior }),
        target: { specReplicas: 4, statusReplicas: 4, pods: podsOf(4) },
        readings: [length(50)],
      },
      15_000,
    );
  const without = sync(undefined);
  assert.equal(without.decision.to, 8);
  assert.deepEqual(without.state.events, { up: [], down: [] });
  const held = { ...without.state, recommendations: [{ at: 0, replicas: 8 }] };
  const next = step(
    held,
    { spec: spec(), target: { specReplicas: 8, statusReplicas: 4, pods: podsOf(4) }, readings: [length(50)] },
    30_000,
  );
  assert.equal(conditionsOf(next.state)[0], 'AbleToScale:True:ScaleDownStabilized');
  const low = { ...initialState, recommendations: [{ at: 0, replicas: 2 }] };
  const up = step(
    low,
    {
      spec: spec({ behavior: fillBehavior({ stabilizationWindowSeconds: 60 }, undefined) }),
      target: { specReplicas: 4, statusReplicas: 4, pods: podsOf(4) },
      readings: [length(90)],
    },
    15_000,
  );
  assert.equal(conditionsOf(up.state)[0], 'AbleToScale:True:ScaleUpStabilized');
  const edited = step(
    remembered,
    {
      spec: spec({ maxReplicas: 4 }),
      target: { specReplicas: 4, statusReplicas: 4, pods: podsOf(4) },
      readings: [length(50)],
    },
    15_000,
  );
  assert.deepEqual(conditionsOf(edited.state), [
    'AbleToScale:True:ScaleDownStabilized',
    'ScalingActive:True:ValidMetricFound',
    'ScalingLimited:True:TooManyReplicas',
  ]);
});

test('a target set to 0 by hand is left alone', () => {
  const { steps, state } = play(spec(), 0, [length(40)]);
  assert.equal(steps[0]?.decision.kind, 'disabled');
  assert.deepEqual(conditionsOf(state), [
    'AbleToScale:True:SucceededGetScale',
    'ScalingActive:False:ScalingDisabled',
  ]);
  assert.deepEqual(state.status.currentMetrics, []);
});

test('outside the bounds the count is moved without reading a metric, and it counts as an event', () => {
  const behavior = fillBehavior({ policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] }, undefined);
  const given = spec({ minReplicas: 3, behavior });
  const { replicas, steps, state } = play(given, 1, [down, length(500)]);
  assert.deepEqual(replicas, [3, 3]);
  assert.equal(steps[0]?.decision.kind, 'clamped');
  assert.deepEqual(state.events.up, [{ at: 0, change: 2 }]);
  assert.equal(
    explain(steps[1]!.decision, given).summary,
    'stays at 3: ceil(500 / 10) = 50; scaleUp policy Pods 1 per 1 min lets it go to (3 - 2 added) + 1 = 2; 3 stays until earlier changes are older than that',
  );
  assert.deepEqual(play(spec({ maxReplicas: 4 }), 9, [down]).replicas, [4]);
});

test('while a metric fails the others may scale up but not down', () => {
  const given = spec({ metrics: [queue, latency] });
  const up = play(given, 2, [[length(50), down]]);
  assert.equal(up.replicas[0], 4);
  assert.ok(conditionsOf(up.state).includes('ScalingActive:True:ValidMetricFound'));
  const before = play(given, 8, [
    [length(80), length(2)],
    [length(10), down],
  ]);
  assert.deepEqual(before.replicas, [8, 8]);
  assert.equal(before.steps[1]?.decision.kind, 'failed');
  assert.equal(before.state.status.desiredReplicas, 8);
  assert.ok(conditionsOf(before.state).includes('ScalingActive:False:FailedGetExternalMetric'));
  // Neither a recommendation nor the other conditions are touched.
  assert.equal(before.state.recommendations.length, before.steps[0]?.state.recommendations.length);
  assert.equal(
    explain(before.steps[1]!.decision, given).summary,
    'stays at 8: latency failed, and the other metrics ask for 1: nothing is scaled down while a metric fails',
  );
});

test('a metric without a reading is a failed one', () => {
  assert.equal(play(spec(), 2, [[]]).steps[0]?.decision.kind, 'failed');
});

test('tolerances of the spec count where the gate is on', () => {
  const behavior = fillBehavior({ tolerance: 0.5 }, undefined);
  assert.equal(play(spec({ behavior }), 4, [length(56)]).replicas[0], 4);
  const off = { ...defaultController, configurableTolerance: false };
  assert.equal(play(spec({ behavior }), 4, [length(56)], off).replicas[0], 6);
});

test('with the gate HPAScaleToZero the HPA sleeps and wakes by itself, but not from a zero set by hand', () => {
  const gate = { ...defaultController, scaleToZero: true, downscaleStabilization: 0 };
  const given = spec({ minReplicas: 0 });
  const slept = play(given, 2, [length(0), length(0), length(25)], gate);
  assert.deepEqual(slept.replicas, [2, 0, 3]);
  assert.ok(conditionsOf(slept.steps[1]!.state).includes('ScaledToZero:True:ScaledToZero'));
  assert.ok(conditionsOf(slept.state).includes('ScaledToZero:False:NotScaledToZero'));
  assert.equal(play(given, 0, [length(25)], gate).steps[0]?.decision.kind, 'disabled');
  // Somebody raised the minimum meanwhile: it holds against the rate limit too.
  const raised = spec({
    minReplicas: 6,
    behavior: fillBehavior({ policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] }, undefined),
  });
  const asleep = slept.steps[1]!.state;
  const inputs = {
    spec: raised,
    target: { specReplicas: 0, statusReplicas: 0, pods: [] },
    readings: [length(25)],
  };
  assert.equal(step(asleep, inputs, 60_000, gate).decision.to, 6);
});

test('a state is never changed in place', () => {
  const frozen: HpaState = Object.freeze({
    ...initialState,
    recommendations: Object.freeze([{ at: 0, replicas: 4 }]),
    events: Object.freeze({ up: Object.freeze([]), down: Object.freeze([]) }),
  });
  const inputs = {
    spec: spec({ behavior: fillBehavior(undefined, { stabilizationWindowSeconds: 0 }) }),
    target: { specReplicas: 4, statusReplicas: 4, pods: podsOf(4) },
    readings: [length(400)],
  };
  assert.deepEqual(step(frozen, inputs, 15_000), step(frozen, inputs, 15_000));
  assert.equal(step(frozen, inputs, 15_000).decision.to, 8);
});
