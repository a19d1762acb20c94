import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defaultController } from '../../server/src/autoscale/controller';
import type { MetricOutcome } from '../../server/src/autoscale/metric-outcome';
import { metricReplicas } from '../../server/src/autoscale/metric-replicas';
import {
  maxInt32,
  maxInt64,
  minInt64,
  readMilli,
  toDecimalText,
  toQuantityText,
} from '../../server/src/autoscale/milli';
import type { Pod, Sample } from '../../server/src/autoscale/pods';
import { requestsOf } from '../../server/src/autoscale/pods';
import { combineProposals } from '../../server/src/autoscale/proposal';
import type { MetricReading } from '../../server/src/autoscale/reading';
import type { MetricSpec } from '../../server/src/autoscale/spec';

const now = 1_000_000_000;
const long = now - 3_600_000;
const tolerances = { up: 0.1, down: 0.1 };

/** A pod that has been ready for an hour and requests 1 cpu, unless something else is said. */
function pod(index: number, other: Partial<Pod> = {}): Pod {
  return {
    name: `pod-${index}`,
    phase: 'Running',
    deleting: false,
    startTime: long,
    ready: { status: 'True', since: long },
    containers: [{ name: 'main', requests: { cpu: 1000n, memory: 1_000_000n } }],
    ...other,
  };
}

/** Pods with their usage in milli-units; null: no sample. */
type Row = readonly [usage: number | null, other?: Partial<Pod>];

function outcomeOf(
  metric: MetricSpec,
  rows: readonly Row[],
  {
    current = rows.length,
    status = current,
    reading,
  }: { current?: number; status?: number; reading?: MetricReading } = {},
): MetricOutcome {
  const samples = new Map<string, Sample>();
  rows.forEach(([usage], index) => {
    if (usage !== null)
      samples.set(`pod-${index}`, { value: BigInt(usage), at: now - 10_000, window: 15_000 });
  });
  return metricReplicas(
    metric,
    reading ?? { kind: 'pods', samples },
    {
      specReplicas: current,
      statusReplicas: status,
      pods: rows.map(([, other], index) => pod(index, other)),
    },
    tolerances,
    now,
    defaultController,
  );
}

function replicasOf(outcome: MetricOutcome): number | string {
  return outcome.kind === 'proposed' ? outcome.replicas : outcome.message;
}

const cpu = (percent: number): MetricSpec => ({
  type: 'Resource',
  resource: 'cpu',
  target: { type: 'Utilization', averageUtilization: percent },
});
const memory = (percent: number): MetricSpec => ({
  type: 'Resource',
  resource: 'memory',
  target: { type: 'Utilization', averageUtilization: percent },
});
const pods = (target: number): MetricSpec => ({
  type: 'Pods',
  metric: 'qps',
  target: { type: 'AverageValue', averageValue: BigInt(target) },
});
const external = (type: 'Value' | 'AverageValue', target: number): MetricSpec => ({
  type: 'External',
  metric: 'queue',
  target: type === 'Value' ? { type, value: BigInt(target) } : { type, averageValue: BigInt(target) },
});
const series = (...values: readonly number[]): MetricReading => ({
  kind: 'series',
  values: values.map(BigInt),
});

const justStarted: Partial<Pod> = { startTime: now - 20_000, ready: { status: 'True', since: now - 5_000 } };
const unready: Partial<Pod> = { startTime: now - 20_000, ready: { status: 'False', since: now - 20_000 } };
const pending: Partial<Pod> = { phase: 'Pending', startTime: undefined, ready: undefined };

const perPod: readonly (readonly [
  what: string,
  metric: MetricSpec,
  rows: readonly Row[],
  expected: number | string,
])[] = [
  ['90 % against 60 %', cpu(60), [[900], [900], [900]], 5],
  ['within the tolerance above', cpu(60), [[660], [660], [660]], 3],
  ['just outside the tolerance above', cpu(60), [[670], [670], [670]], 4],
  ['within the tolerance below, at its edge', cpu(60), [[540], [540], [540]], 3],
  ['the percentage is cut before it is divided', cpu(100), [[1109], [1109], [1109]], 3],
  ['a pod without a sample holds a scale-down', cpu(60), [[300], [300], [null]], 3],
  ['a pod without a sample holds a scale-up', cpu(60), [[900], [900], [null]], 3],
  ['one without a sample cannot stop a strong scale-up', cpu(60), [[1800], [1800], [null]], 6],
  ['a target above 100 % is what a missing pod is taken to use', cpu(150), [[900], [900], [null]], 3],
  ['an unready pod counts as idle when scaling up', cpu(60), [[900], [900], [900, unready]], 3],
  ['an unready pod does not count when scaling down', cpu(60), [[200], [200], [900, unready]], 1],
  [
    'a sample that began before the pod was ready does not count',
    cpu(60),
    [[900], [900], [900, justStarted]],
    3,
  ],
  [
    'pending pods count as idle when scaling up',
    cpu(60),
    [[900], [900], [null, pending], [null, pending]],
    4,
  ],
  ['memory knows no readiness', memory(60), [[900_000], [900_000], [900_000, unready]], 5],
  [
    'failed and leaving pods do not count',
    cpu(60),
    [[900], [900, { phase: 'Failed' }], [900, { deleting: true }]],
    2,
  ],
  [
    'a pod that was ready once counts after its first five minutes',
    cpu(60),
    [[900], [900, { ready: { status: 'False', since: now - 60_000 } }]],
    3,
  ],
  [
    'one that never was does not',
    cpu(60),
    [[900], [900, { ready: { status: 'False', since: long + 29_000 } }]],
    2,
  ],
  ['Pods metrics know no readiness', pods(15_000), [[50_000], [10_000], [30_000, unready]], 6],
  ['Pods: a missing pod is at the target when scaling down', pods(20_000), [[8_000], [8_000], [null]], 2],
  ['Pods: exactly at the target with a missing pod', pods(20_000), [[20_000], [20_000], [null]], 3],
  [
    'no sample at all',
    cpu(60),
    [[null], [null]],
    'unable to get metrics for resource cpu: no metrics returned from resource metrics API',
  ],
  [
    'only unready pods',
    cpu(60),
    [[900, unready]],
    'did not receive metrics for targeted pods (pods might be unready)',
  ],
  [
    'no request',
    cpu(60),
    [
      [
        900,
        {
          containers: [
            { name: 'a', requests: { cpu: 1n } },
            { name: 'b', requests: {} },
          ],
        },
      ],
    ],
    'missing request for cpu in container b of Pod pod-0',
  ],
];

for (const [what, metric, rows, expected] of perPod) {
  test(`per pod: ${what}`, () => assert.equal(replicasOf(outcomeOf(metric, rows)), expected));
}

test('more matching pods than replicas scale up at a ratio below 1', () => {
  const rows = Array.from({ length: 11 }, (): Row => [700]);
  assert.equal(replicasOf(outcomeOf(cpu(100), rows, { current: 7 })), 8);
});

test('with a missing pod the same is held, since the direction would turn', () => {
  const rows: readonly Row[] = [...Array.from({ length: 10 }, (): Row => [700]), [null]];
  const outcome = outcomeOf(cpu(100), rows, { current: 7 });
  assert.equal(replicasOf(outcome), 7);
  assert.equal(outcome.kind === 'proposed' && outcome.working.verdict, 'against-direction');
});

test('samples of unknown pods leave the count to the known ones', () => {
  const samples = new Map(
    Array.from({ length: 6 }, (_, index) => [`pod-${index}`, { value: 5870n, at: now, window: 0 }] as const),
  );
  const rows = Array.from({ length: 4 }, (): Row => [null]);
  assert.equal(replicasOf(outcomeOf(cpu(100), rows, { reading: { kind: 'pods', samples } })), 24);
});

test('exactly at the target an unready pod changes nothing', () => {
  assert.equal(replicasOf(outcomeOf(cpu(60), [[600], [600], [600], [900, unready]])), 4);
});

/** One ready pod at the target and one that is looked at: 2 when its sample counts, since both are then at it. */
const cpuOf = (other: Partial<Pod>, at: number): number | string => {
  const samples = new Map([
    ['pod-0', { value: 900n, at: now, window: 15_000 }],
    ['pod-1', { value: 900n, at, window: 15_000 }],
  ]);
  return replicasOf(outcomeOf(cpu(60), [[900], [900, other]], { reading: { kind: 'pods', samples } }));
};

test('the edges of readiness', () => {
  const since = now - 40_000;
  const started: Partial<Pod> = { startTime: now - 60_000, ready: { status: 'True', since } };
  assert.equal(cpuOf(started, since + 15_000), 3);
  assert.equal(cpuOf(started, since + 14_999), 2);
  // Five minutes after its start a pod is judged by whether it ever was ready.
  const late = (age: number): Partial<Pod> => ({
    startTime: now - age,
    ready: { status: 'False', since: now - 1_000 },
  });
  assert.equal(cpuOf(late(300_000), now), 3);
  assert.equal(cpuOf(late(299_999), now), 2);
  const never = (after: number): Partial<Pod> => ({
    startTime: long,
    ready: { status: 'False', since: long + after },
  });
  assert.equal(cpuOf(never(30_000), now), 3);
  assert.equal(cpuOf(never(29_999), now), 2);
});

test('a ContainerResource looks at one container only', () => {
  const metric: MetricSpec = {
    type: 'ContainerResource',
    resource: 'cpu',
    container: 'vllm',
    target: { type: 'Utilization', averageUtilization: 50 },
  };
  const containers = [
    { name: 'vllm', requests: { cpu: 500n } },
    { name: 'sidecar', requests: {} },
  ];
  assert.equal(replicasOf(outcomeOf(metric, [[500, { containers }]])), 2);
  const other = { ...metric, container: 'main2' };
  assert.equal(
    replicasOf(outcomeOf(other, [[500, { containers }]])),
    'container main2 not found in Pod pod-0',
  );
});

test('requests of the pod itself stand in for those of its containers', () => {
  const containers = [{ name: 'a', requests: { memory: 7n } }];
  const requests = requestsOf([pod(0, { containers, podRequests: { cpu: 3n } })], 'cpu', undefined);
  assert.deepEqual(requests.ok && [...requests.byPod], [['pod-0', 3n]]);
  const memoryOnly = requestsOf([pod(0, { containers, podRequests: { cpu: 3n } })], 'memory', undefined);
  assert.deepEqual(memoryOnly.ok && [...memoryOnly.byPod], [['pod-0', 7n]]);
  const neither = requestsOf([pod(0, { containers, podRequests: { memory: 3n } })], 'cpu', undefined);
  assert.equal(!neither.ok && neither.message, 'missing pod-level request for cpu in Pod pod-0');
});

test('samples of pods that nobody knows match no request', () => {
  const reading: MetricReading = {
    kind: 'pods',
    samples: new Map([['old', { value: 1n, at: now, window: 0 }]]),
  };
  assert.equal(
    replicasOf(outcomeOf(cpu(60), [[null]], { reading })),
    'no metrics returned matched known pods',
  );
});

const ready = (count: number): readonly Row[] => Array.from({ length: count }, (): Row => [null]);

test('a total value is multiplied with the ready pods, not with the replicas', () => {
  const rows: readonly Row[] = [[null], [null, unready], [null, unready]];
  assert.equal(replicasOf(outcomeOf(external('Value', 10_000), rows, { reading: series(50_000) })), 5);
  assert.equal(replicasOf(outcomeOf(external('Value', 10_000), ready(3), { reading: series(50_000) })), 15);
  const done: readonly Row[] = [[null], [null, { phase: 'Succeeded' }], [null, { deleting: true }]];
  assert.equal(replicasOf(outcomeOf(external('Value', 10_000), done, { reading: series(50_000) })), 10);
  assert.equal(replicasOf(outcomeOf(external('Value', 10_000), ready(3), { reading: series(11_000) })), 3);
});

test('a total value over no pods fails only outside the tolerance', () => {
  const value = external('Value', 10_000);
  assert.match(
    String(replicasOf(outcomeOf(value, [], { current: 3, reading: series(50_000) }))),
    /unable to calculate ready pods/,
  );
  assert.equal(replicasOf(outcomeOf(value, [], { current: 3, reading: series(10_500) })), 3);
  assert.equal(replicasOf(outcomeOf(value, [], { current: 0, reading: series(45_000) })), 5);
});

test('a total shared out over the pods', () => {
  const average = external('AverageValue', 10_000);
  assert.equal(replicasOf(outcomeOf(average, ready(1), { reading: series(40_000) })), 4);
  assert.equal(replicasOf(outcomeOf(average, ready(1), { reading: series(30_000, 0, 10_000) })), 4);
  // Within the tolerance of the pods that exist it is these that are proposed, not those that are asked for.
  assert.equal(
    replicasOf(outcomeOf(average, ready(3), { current: 4, status: 3, reading: series(31_000) })),
    3,
  );
  const without = outcomeOf(average, [], { current: 4, status: 0, reading: series(31_000) });
  assert.equal(replicasOf(without), 4);
  assert.deepEqual(without.kind === 'proposed' && without.value, {
    kind: 'averageValue',
    averageValue: minInt64,
  });
});

test('no series is an error and not 0', () => {
  const outcome = outcomeOf(external('AverageValue', 10_000), ready(1), { reading: series() });
  assert.equal(outcome.kind === 'failed' && outcome.reason, 'FailedGetExternalMetric');
  assert.match(String(replicasOf(outcome)), /no metrics returned from external metrics API/);
});

test('sums and counts stop at their bounds', () => {
  const huge: MetricReading = { kind: 'series', values: [maxInt64, 5n] };
  assert.equal(replicasOf(outcomeOf(external('AverageValue', 1), ready(1), { reading: huge })), maxInt32);
  assert.equal(replicasOf(outcomeOf(external('Value', 1), ready(1), { reading: huge })), maxInt32);
  assert.equal(
    replicasOf(outcomeOf(external('AverageValue', 1_000), ready(1), { reading: series(-5) })),
    maxInt32,
  );
  assert.equal(replicasOf(outcomeOf(external('Value', 1_000), ready(1), { reading: series(-500) })), 0);
});

test('a metric below 0 asks for 0, and displaces another that asks for 0', () => {
  const value = external('Value', 1_000);
  const outcomes = [0, -3_000].map((total) => outcomeOf(value, ready(1), { reading: series(total) }));
  assert.deepEqual(outcomes.map(replicasOf), [0, -3]);
  const proposal = combineProposals(outcomes, 1);
  assert.deepEqual(proposal.ok && [proposal.replicas, proposal.by.replicas], [0, -3]);
});

test('quantities in thousandths', () => {
  assert.equal(readMilli('1500m'), 1500n);
  assert.equal(readMilli('0.0001'), 1n);
  assert.equal(readMilli('80Gi'), 85_899_345_920_000n);
  assert.equal(readMilli('many'), undefined);
  assert.deepEqual([33_000n, 36_135n, 2_000_000n, 0n, -1_500n].map(toQuantityText), [
    '33',
    '36135m',
    '2k',
    '0',
    '-1500m',
  ]);
  assert.deepEqual([33_000n, 36_135n, 2_000_000n, 50n, -1_500n].map(toDecimalText), [
    '33',
    '36.135',
    '2000',
    '0.05',
    '-1.5',
  ]);
});
