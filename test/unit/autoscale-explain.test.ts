import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defaultController } from '../../server/src/autoscale/controller';
import { decide } from '../../server/src/autoscale/decide';
import type { Memory } from '../../server/src/autoscale/decide';
import { fillBehavior } from '../../server/src/autoscale/defaults';
import { explain } from '../../server/src/autoscale/explain';
import { metricReplicas } from '../../server/src/autoscale/metric-replicas';
import { durationText } from '../../server/src/autoscale/number-text';
import type { Pod } from '../../server/src/autoscale/pods';
import type { MetricReading } from '../../server/src/autoscale/reading';
import { noScaleEvents } from '../../server/src/autoscale/scale-events';
import type { HpaSpec, MetricSpec } from '../../server/src/autoscale/spec';

const now = 1_000_000;
const forgetful: Memory = { recommendations: [], events: noScaleEvents };

const pods: readonly Pod[] = Array.from({ length: 3 }, (_, index) => ({
  name: `pod-${index}`,
  phase: 'Running',
  deleting: false,
  startTime: 0,
  ready: { status: 'True', since: 0 },
  containers: [{ name: 'main', requests: { cpu: 1000n, memory: 1_073_741_824_000n } }],
}));

const usage = (...values: readonly number[]): MetricReading => ({
  kind: 'pods',
  samples: new Map(
    values.map((value, index) => [`pod-${index}`, { value: BigInt(value), at: now, window: 0 }]),
  ),
});

const cpu: MetricSpec = {
  type: 'Resource',
  resource: 'cpu',
  target: { type: 'Utilization', averageUtilization: 60 },
};
const memory: MetricSpec = {
  type: 'Resource',
  resource: 'memory',
  target: { type: 'AverageValue', averageValue: 1_073_741_824_000n },
};
const queue: MetricSpec = {
  type: 'External',
  metric: 'queue',
  target: { type: 'AverageValue', averageValue: 10_000n },
};
const total: MetricSpec = {
  type: 'Object',
  metric: 'qps',
  object: 'Service/router',
  target: { type: 'Value', value: 15_000n },
};

function explained(
  readings: readonly (readonly [MetricSpec, MetricReading])[],
  other: Partial<HpaSpec> = {},
  memoryOfSyncs: Memory = forgetful,
) {
  const spec: HpaSpec = {
    minReplicas: 1,
    maxReplicas: 20,
    metrics: readings.map(([metric]) => metric),
    behavior: fillBehavior(undefined, { stabilizationWindowSeconds: 0 }),
    ...other,
  };
  const target = { specReplicas: 3, statusReplicas: 3, pods };
  const outcomes = readings.map(([metric, reading]) =>
    metricReplicas(metric, reading, target, { up: 0.1, down: 0.1 }, now, defaultController),
  );
  const { summary, lines } = explain(decide(spec, outcomes, 3, memoryOfSyncs, now, defaultController), spec);
  return { summary, lines: lines.map(({ text }) => text), holds: lines.filter(({ holds }) => holds).length };
}

test('the formula with its numbers', () => {
  assert.deepEqual(explained([[cpu, usage(900, 900, 900)]]), {
    summary: '3 -> 5: ceil(3 x 90 / 60) = 5',
    lines: ['cpu is at 90 % of the request, target 60 %: ceil(3 x 90 / 60) = 5', '3 -> 5'],
    holds: 0,
  });
});

test('within the tolerance', () => {
  assert.equal(
    explained([[cpu, usage(630, 630, 630)]]).summary,
    'stays at 3: 63 / 60 = 1.05 is within 0.9 to 1.1, so 3 stays',
  );
  assert.equal(
    explained([[queue, { kind: 'series', values: [31_000n] }]]).lines[0],
    'queue is 31 in all, target 10 a pod: 31 / (10 x 3) = 1.033 is within 0.9 to 1.1, so 3 stays',
  );
});

test('each kind of metric, and the largest proposal', () => {
  const { summary, lines } = explained([
    [memory, usage(1_610_612_736_000, 1_610_612_736_000, 1_610_612_736_000)],
    [total, { kind: 'object', value: 20_000n }],
    [queue, { kind: 'series', values: [60_500n] }],
  ]);
  assert.deepEqual(lines, [
    'memory is 1.5 GiB a pod, target 1 GiB: ceil(3 x 1.5 GiB / 1 GiB) = 5',
    'qps of Service/router is 20, target 15: ceil(3 x 20 / 15) = 4',
    'queue is 60.5 in all, target 10 a pod: ceil(60.5 / 10) = 7',
    'the largest proposal counts: 7 of queue',
    '3 -> 7',
  ]);
  assert.equal(summary, '3 -> 7: ceil(60.5 / 10) = 7');
});

test('pods without a sample', () => {
  assert.deepEqual(
    explained([[cpu, usage(300, 300)]]).lines[0],
    'cpu is at 53 % of the request, target 60 %: ceil(3 x 53 / 60) = 3 (1 pod without a sample counted as using the whole request)',
  );
  assert.match(
    explained([[cpu, usage(700, 700)]]).lines[0] ?? '',
    /the ratio would turn from 1\.167 to 0\.7667, so 3 stays/,
  );
});

test('what held the count, in the order of the algorithm', () => {
  const { summary, lines, holds } = explained(
    [[queue, { kind: 'series', values: [200_000n] }]],
    {
      maxReplicas: 8,
      behavior: fillBehavior({ stabilizationWindowSeconds: 60 }, undefined),
    },
    { recommendations: [{ at: now - 20_000, replicas: 12 }], events: noScaleEvents },
  );
  const held =
    'stabilization holds 12 instead of 20: 20 s ago 12 was recommended, and the scale-up window is 1 min (40 s left)';
  const limit = 'scaleUp policy Pods 4 per 15 s lets it go to 3 + 4 = 7, chosen of 2 policies';
  assert.deepEqual(lines, [
    'queue is 200 in all, target 10 a pod: ceil(200 / 10) = 20',
    held,
    limit,
    '3 -> 7',
  ]);
  assert.equal(summary, `3 -> 7: ceil(200 / 10) = 20; ${held}; ${limit}`);
  assert.equal(holds, 2);
});

test('each limit says its name', () => {
  const load: readonly (readonly [MetricSpec, MetricReading])[] = [
    [queue, { kind: 'series', values: [200_000n] }],
  ];
  const last = (other: Partial<HpaSpec>) => explained(load, other).lines.at(-2);
  assert.equal(last({ maxReplicas: 5 }), 'maxReplicas is 5');
  assert.equal(
    last({ behavior: undefined }),
    'without behavior one sync scales up to at most max(2 x 3, 4) = 6',
  );
  assert.equal(
    last({ behavior: fillBehavior({ selectPolicy: 'Disabled' }, undefined) }),
    'scaleUp.selectPolicy is Disabled, so 3 stays',
  );
  assert.equal(
    last({
      behavior: fillBehavior({ policies: [{ type: 'Percent', value: 50, periodSeconds: 90 }] }, undefined),
    }),
    'scaleUp policy Percent 50 per 1 min 30 s lets it go to 3 + 50 % = 5',
  );
  const idle = explained([[queue, { kind: 'series', values: [0n] }]]);
  assert.equal(idle.lines.at(-2), 'minReplicas is 1');
});

test('durations as people say them', () => {
  assert.deepEqual([0, 400, 45_000, 130_000, 300_000, 3_900_000, 3_605_000].map(durationText), [
    '0 s',
    '0 s',
    '45 s',
    '2 min 10 s',
    '5 min',
    '1 h 5 min',
    '1 h 5 s',
  ]);
});
