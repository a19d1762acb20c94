import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explain } from '../../server/src/autoscale/explain';
import { assessLiveStatus, readHpaStatus } from '../../server/src/autoscale/live-status';
import type { LiveStatus } from '../../server/src/autoscale/live-status';
import type { HpaSpec } from '../../server/src/autoscale/spec';

const spec: HpaSpec = {
  minReplicas: 1,
  maxReplicas: 10,
  metrics: [
    { type: 'Resource', resource: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
    { type: 'External', metric: 's1-prometheus', target: { type: 'AverageValue', averageValue: 10_000n } },
  ],
  behavior: undefined,
};

const written = {
  currentReplicas: 3,
  desiredReplicas: 5,
  conditions: [
    { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message: 'rescaled to 5' },
    { type: 'SomethingNewer', status: 'True' },
  ],
  currentMetrics: [
    {
      type: 'External',
      external: { metric: { name: 's1-prometheus' }, current: { averageValue: '13334m' } },
    },
    {
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '900m' } },
    },
  ],
};

function statusOf(value: unknown, of = spec): LiveStatus {
  const reading = readHpaStatus(value, of);
  assert.ok(reading.ok, reading.ok ? '' : reading.problems.join('; '));
  return reading.status;
}

test('values are put to the metrics of the spec, whatever their order', () => {
  assert.deepEqual(statusOf(written), {
    currentReplicas: 3,
    desiredReplicas: 5,
    conditions: [
      { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message: 'rescaled to 5' },
    ],
    values: [
      { kind: 'utilization', percent: 90, averageValue: 900n },
      { kind: 'averageValue', averageValue: 13_334n },
    ],
  });
});

test('the formulas of a live status', () => {
  const decision = assessLiveStatus(spec, statusOf(written));
  assert.equal(decision.to, 5);
  const { summary, lines } = explain(decision, spec);
  assert.equal(summary, '3 -> 5: ceil(3 x 90 / 60) = 5');
  assert.equal(lines[1]?.text, 's1-prometheus is 40.002 in all, target 10 a pod: ceil(40.002 / 10) = 5');
  assert.equal(assessLiveStatus(spec, statusOf(written), { readyPods: 1 }).to, 5);
});

test('a metric without a value is a failed one, with the words of the condition', () => {
  const status = statusOf({
    ...written,
    conditions: [
      { type: 'ScalingActive', status: 'False', reason: 'FailedGetExternalMetric', message: 'no such host' },
    ],
    currentMetrics: [{ type: '' }, written.currentMetrics[1]],
  });
  assert.equal(status.values[1], undefined);
  const { lines } = explain(assessLiveStatus(spec, status), spec);
  assert.equal(lines[1]?.text, 's1-prometheus failed: no such host');
});

test('an average over no pods leaves no value', () => {
  const queueOnly: HpaSpec = { ...spec, metrics: spec.metrics.slice(1) };
  const status = statusOf(
    {
      ...written,
      currentMetrics: [
        {
          type: 'External',
          external: { metric: { name: 's1-prometheus' }, current: { averageValue: '-9223372036854775808m' } },
        },
      ],
    },
    queueOnly,
  );
  assert.equal(assessLiveStatus(queueOnly, status).kind, 'failed');
});

test('at zero and outside the bounds', () => {
  assert.equal(assessLiveStatus(spec, statusOf({ currentReplicas: 0 })).kind, 'disabled');
  assert.equal(assessLiveStatus(spec, statusOf({ currentReplicas: 12 })).to, 10);
});

test('what cannot be read says which field', () => {
  const missing = readHpaStatus(undefined, spec);
  assert.deepEqual(!missing.ok && missing.problems, ['status: not written yet']);
  const wrong = readHpaStatus({ currentReplicas: 'three', conditions: {} }, spec);
  assert.deepEqual(!wrong.ok && wrong.problems, [
    'status.conditions: expected a list, found {}',
    'status.currentReplicas: expected a whole number, found "three"',
  ]);
});
