import assert from 'node:assert/strict';
import { test } from 'node:test';

import { boundWithBehavior, boundWithoutBehavior } from '../../server/src/autoscale/bounds';
import type { Bounds } from '../../server/src/autoscale/bounds';
import { fillBehavior } from '../../server/src/autoscale/defaults';
import type { PartialRules } from '../../server/src/autoscale/defaults';
import { scaleDownLimit, scaleUpLimit } from '../../server/src/autoscale/rate-limit';
import { noScaleEvents, storeScaleEvent } from '../../server/src/autoscale/scale-events';
import type { ScaleEvent } from '../../server/src/autoscale/scale-events';
import type { ScalingPolicy, SelectPolicy } from '../../server/src/autoscale/spec';
import { stabilizeBothWays, stabilizeDown } from '../../server/src/autoscale/stabilization';

const now = 1_000_000;

const percent = (value: number, periodSeconds = 60): ScalingPolicy => ({
  type: 'Percent',
  value,
  periodSeconds,
});
const pieces = (value: number, periodSeconds = 60): ScalingPolicy => ({ type: 'Pods', value, periodSeconds });

const rules = (policies: readonly ScalingPolicy[], selectPolicy: SelectPolicy = 'Max') =>
  fillBehavior({ policies, selectPolicy }, undefined).scaleUp;

test('percent limits are plain double arithmetic', () => {
  assert.equal(scaleUpLimit(25, rules([percent(120)]), noScaleEvents, now).limit, 56);
  assert.equal(scaleDownLimit(60, rules([percent(80)]), noScaleEvents, now).limit, 11);
  assert.equal(scaleDownLimit(10, rules([percent(90)]), noScaleEvents, now).limit, 0);
});

test('Max and Min are about the size of the change', () => {
  const both = [pieces(2), percent(50)];
  assert.equal(scaleUpLimit(10, rules(both, 'Max'), noScaleEvents, now).limit, 15);
  assert.equal(scaleUpLimit(10, rules(both, 'Min'), noScaleEvents, now).limit, 12);
  assert.equal(scaleDownLimit(10, rules(both, 'Max'), noScaleEvents, now).limit, 5);
  assert.equal(scaleDownLimit(10, rules(both, 'Min'), noScaleEvents, now).limit, 8);
  assert.deepEqual(scaleUpLimit(10, rules(both, 'Min'), noScaleEvents, now).decisive?.policy, pieces(2));
});

test('Disabled freezes a direction at the current count', () => {
  const limit = scaleUpLimit(10, rules([pieces(2)], 'Disabled'), noScaleEvents, now);
  assert.deepEqual([limit.limit, limit.disabled], [10, true]);
});

test('earlier changes of both directions count against the period, strictly younger than it', () => {
  const events = {
    up: [
      { at: now - 60_000, change: 100 },
      { at: now - 59_999, change: 5 },
    ],
    down: [{ at: now - 1_000, change: 2 }],
  };
  assert.equal(scaleUpLimit(20, rules([pieces(4)]), events, now).limit, 20 - 5 + 2 + 4);
  assert.equal(scaleDownLimit(20, rules([pieces(4)]), events, now).limit, 20 + 2 - 5 - 4);
});

test('a new event displaces the last one older than the longest period of its direction', () => {
  const event: ScaleEvent = { at: now, change: 5 };
  const old = (age: number, change: number): ScaleEvent => ({ at: now - age * 1000, change });
  const policies = [pieces(10, 60), percent(100, 30)];
  assert.deepEqual(storeScaleEvent([], policies, event), [event]);
  assert.deepEqual(storeScaleEvent([old(60, 7)], policies, event), [old(60, 7), event]);
  assert.deepEqual(storeScaleEvent([old(61, 7), old(59, 6)], policies, event), [event, old(59, 6)]);
  assert.deepEqual(storeScaleEvent([old(29, 8), old(61, 7), old(62, 9)], policies, event), [
    old(29, 8),
    old(61, 7),
    event,
  ]);
});

const bounds = (current: number, desired: number, minReplicas = 1, maxReplicas = 1000): Bounds => ({
  current,
  desired,
  minReplicas,
  maxReplicas,
});

test('without behavior a sync at most doubles, but up to 4 at least', () => {
  const ask = (current: number, max = 1000) => boundWithoutBehavior(bounds(current, 500, 1, max));
  assert.deepEqual(
    [1, 2, 4, 8].map((current) => ask(current).replicas),
    [4, 4, 8, 16],
  );
  assert.equal(ask(8).reason, 'ScaleUpLimit');
  assert.equal(ask(8, 17).reason, 'ScaleUpLimit');
  assert.equal(ask(8, 16).reason, 'TooManyReplicas');
  assert.deepEqual(boundWithoutBehavior(bounds(10, 0, 3)).replicas, 3);
  assert.equal(boundWithoutBehavior(bounds(10, 7)).reason, 'DesiredWithinRange');
});

function bounded(given: Bounds, scaleUp?: PartialRules, scaleDown?: PartialRules, events = noScaleEvents) {
  const { replicas, reason } = boundWithBehavior(given, fillBehavior(scaleUp, scaleDown), events, now);
  return [replicas, reason];
}

test('with behavior', () => {
  // An empty behavior is not the same as none: 1 -> 5, not 1 -> 4.
  assert.deepEqual(bounded(bounds(1, 500)), [5, 'ScaleUpLimit']);
  assert.deepEqual(bounded(bounds(100, 1000, 100, 150)), [150, 'TooManyReplicas']);
  assert.deepEqual(bounded(bounds(100, 1000, 1, 200)), [200, 'TooManyReplicas']);
  assert.deepEqual(bounded(bounds(5, 7)), [7, 'DesiredWithinRange']);
  assert.deepEqual(bounded(bounds(1000, 3, 3), undefined, { policies: [pieces(20)] }), [
    980,
    'ScaleDownLimit',
  ]);
  assert.deepEqual(bounded(bounds(10, 2, 5), undefined, { policies: [percent(100)] }), [5, 'TooFewReplicas']);
  // Where both limits are the same, the bound is the one that is named.
  const half = { policies: [percent(50)] };
  assert.deepEqual(bounded(bounds(10, 2, 5), undefined, half), [5, 'TooFewReplicas']);
});

test('a spent limit keeps the count and never turns the direction round', () => {
  const up = { up: [{ at: now - 1_000, change: 15 }], down: [] };
  assert.deepEqual(bounded(bounds(100, 500), { policies: [pieces(5)] }, undefined, up), [
    100,
    'ScaleUpLimit',
  ]);
  const down = { up: [], down: [{ at: now - 1_000, change: 30 }] };
  assert.deepEqual(bounded(bounds(100, 2), undefined, { policies: [percent(10)] }, down), [
    100,
    'ScaleDownLimit',
  ]);
});

test('without behavior the highest recommendation of the window holds, its edge included', () => {
  const given = [
    { at: now - 300_001, replicas: 10 },
    { at: now - 300_000, replicas: 8 },
    { at: now - 60_000, replicas: 4 },
  ];
  const result = stabilizeDown(given, 3, 300_000, now);
  assert.equal(result.replicas, 8);
  assert.deepEqual(result.heldBy, given[1]);
  // The outdated one made room.
  assert.deepEqual(result.recommendations, [{ at: now, replicas: 3 }, given[1], given[2]]);
  assert.equal(stabilizeDown(given, 9, 300_000, now).heldBy, undefined);
});

test('with behavior both windows hold, their edges excluded', () => {
  const given = [
    { at: now - 300_000, replicas: 1 },
    { at: now - 120_000, replicas: 4 },
    { at: now - 60_000, replicas: 5 },
  ];
  const up = stabilizeBothWays(given, 1, 7, { up: 300_000, down: 0 }, now);
  assert.deepEqual([up.replicas, up.heldBy, up.window], [4, given[1], 300_000]);
  const down = stabilizeBothWays(given, 9, 3, { up: 0, down: 300_000 }, now);
  assert.deepEqual([down.replicas, down.heldBy, down.window], [5, given[2], 300_000]);
  assert.equal(stabilizeBothWays(given, 1, 3, { up: 0, down: 300_000 }, now).replicas, 3);
  // Held from both sides the count stays where it is.
  assert.equal(stabilizeBothWays(given, 2, 7, { up: 301_000, down: 0 }, now).replicas, 2);
});
