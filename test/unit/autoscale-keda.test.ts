import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hpaOfScaledObject } from '../../server/src/autoscale/keda';
import type { KedaMapping } from '../../server/src/autoscale/keda';

const prometheus = {
  type: 'prometheus',
  metadata: {
    serverAddress: 'http://prometheus:9090',
    query: 'sum(vllm:num_requests_waiting)',
    threshold: '10',
  },
};

function map(spec: Record<string, unknown>, annotations: Record<string, string> = {}): KedaMapping {
  return hpaOfScaledObject({
    metadata: { name: 'chat', annotations },
    spec: { scaleTargetRef: { name: 'chat' }, triggers: [prometheus], ...spec },
  });
}

function hpaOf(spec: Record<string, unknown>, annotations?: Record<string, string>) {
  const mapping = map(spec, annotations);
  assert.equal(mapping.kind, 'hpa', mapping.kind === 'unknown' ? mapping.problems.join('; ') : mapping.kind);
  return mapping as KedaMapping & { kind: 'hpa' };
}

function problemsOf(spec: Record<string, unknown>): readonly string[] {
  const mapping = map(spec);
  return mapping.kind === 'unknown' ? mapping.problems : [];
}

test('the HPA of a Prometheus trigger', () => {
  assert.deepEqual(map({}), {
    kind: 'hpa',
    name: 'keda-hpa-chat',
    spec: {
      minReplicas: 1,
      maxReplicas: 100,
      metrics: [
        {
          type: 'External',
          metric: 's0-prometheus',
          target: { type: 'AverageValue', averageValue: 10_000n },
        },
      ],
      behavior: undefined,
    },
    triggers: [
      {
        index: 0,
        type: 'prometheus',
        nameIsExact: true,
        metric: {
          type: 'External',
          metric: 's0-prometheus',
          target: { type: 'AverageValue', averageValue: 10_000n },
        },
      },
    ],
    activation: {
      scalesToZero: true,
      idleReplicaCount: undefined,
      firstReplicas: 1,
      cooldownPeriod: 300,
      pollingInterval: 30,
    },
  });
});

test('bounds: a minimum of 0 is 1 for the HPA', () => {
  const zero = hpaOf({ minReplicaCount: 0, maxReplicaCount: 4 });
  assert.deepEqual(
    [zero.spec.minReplicas, zero.spec.maxReplicas, zero.activation.scalesToZero],
    [1, 4, true],
  );
  const two = hpaOf({ minReplicaCount: 2, idleReplicaCount: 0, cooldownPeriod: 60, pollingInterval: 5 });
  assert.deepEqual(two.activation, {
    scalesToZero: false,
    idleReplicaCount: 0,
    firstReplicas: 2,
    cooldownPeriod: 60,
    pollingInterval: 5,
  });
});

test('name and behavior of horizontalPodAutoscalerConfig', () => {
  const { name, spec } = hpaOf({
    advanced: {
      horizontalPodAutoscalerConfig: {
        name: 'chat-hpa',
        behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
      },
    },
  });
  assert.equal(name, 'chat-hpa');
  assert.equal(spec.behavior?.scaleDown.stabilizationWindowSeconds, 600);
  assert.equal(spec.behavior?.scaleUp.policies.length, 2);
  assert.deepEqual(
    problemsOf({ advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleUp: { policies: [] } } } } }),
    ['spec.advanced.horizontalPodAutoscalerConfig: behavior.scaleUp.policies: needs at least one policy'],
  );
});

test('triggers keep their index, metrics are sorted by type', () => {
  const { spec, triggers } = hpaOf({
    triggers: [
      { type: 'cpu', metricType: 'Utilization', metadata: { value: '70' } },
      { ...prometheus, metricType: 'Value' },
      { type: 'memory', metricType: 'AverageValue', metadata: { value: '2Gi', containerName: 'vllm' } },
      { type: 'aws-sqs-queue', metadata: { queueURL: 'https://sqs.eu-west-1.amazonaws.com/1/jobs.fifo' } },
    ],
  });
  assert.deepEqual(spec.metrics, [
    {
      type: 'ContainerResource',
      resource: 'memory',
      container: 'vllm',
      target: { type: 'AverageValue', averageValue: 2_147_483_648_000n },
    },
    { type: 'External', metric: 's1-prometheus', target: { type: 'Value', value: 10_000n } },
    {
      type: 'External',
      metric: 's3-aws-sqs-jobs-fifo',
      target: { type: 'AverageValue', averageValue: 5_000n },
    },
    { type: 'Resource', resource: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
  ]);
  assert.deepEqual(
    triggers.map(({ index }) => index),
    [2, 1, 3, 0],
  );
});

const targets: readonly (readonly [type: string, metadata: Record<string, string>, milli: bigint])[] = [
  ['prometheus', { threshold: ' 0.0015 ' }, 1n],
  ['kafka', { topic: 'jobs' }, 10_000n],
  ['kafka', { lagThreshold: '50', consumerGroup: 'g' }, 50_000n],
  ['cron', { desiredReplicas: '7' }, 1_000n],
  ['rabbitmq', {}, 20_000n],
  ['rabbitmq', { mode: 'MessageRate', value: '2.5' }, 2_500n],
  ['redis-streams', {}, 5_000n],
  ['redis-streams', { consumerGroup: 'g', lagCount: '8', streamLength: '3' }, 8_000n],
  ['redis-streams', { consumerGroup: 'g', lagCount: '0' }, 5_000n],
  ['datadog', { targetValue: '4' }, 4_000n],
  ['graphite', { threshold: '' }, 100_000n],
];

for (const [type, metadata, milli] of targets) {
  test(`target of ${type} ${JSON.stringify(metadata)}`, () => {
    const { spec } = hpaOf({ triggers: [{ type, metadata }] });
    assert.deepEqual(spec.metrics[0]?.target, { type: 'AverageValue', averageValue: milli });
  });
}

test('scalingModifiers make one metric of all triggers but cpu and memory', () => {
  const { spec } = hpaOf({
    triggers: [
      { ...prometheus, name: 'queue' },
      { type: 'cpu', metricType: 'Utilization', metadata: { value: '70' } },
    ],
    advanced: { scalingModifiers: { formula: 'queue / 2', target: '1.5', metricType: 'Value' } },
  });
  assert.deepEqual(spec.metrics, [
    { type: 'External', metric: 'composite-metric', target: { type: 'Value', value: 1_500n } },
    { type: 'Resource', resource: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
  ]);
});

test('annotations that pause', () => {
  assert.deepEqual(map({}, { 'autoscaling.keda.sh/paused-replicas': '0' }), {
    kind: 'paused',
    name: 'keda-hpa-chat',
    replicas: 0,
  });
  assert.deepEqual(map({}, { 'autoscaling.keda.sh/paused': 'true' }), {
    kind: 'paused',
    name: 'keda-hpa-chat',
    replicas: undefined,
  });
  assert.equal(map({}, { 'autoscaling.keda.sh/paused': 'false' }).kind, 'hpa');
  const frozen = hpaOf({}, { 'autoscaling.keda.sh/paused-scale-in': 'true' }).spec.behavior;
  assert.deepEqual([frozen?.scaleUp.selectPolicy, frozen?.scaleDown.selectPolicy], ['Max', 'Disabled']);
});

const unknown: readonly (readonly [what: string, spec: Record<string, unknown>, problem: RegExp])[] = [
  ['no triggers', { triggers: [] }, /^spec\.triggers: needs at least one trigger$/],
  [
    'a type whose target is not known',
    { triggers: [{ type: 'external', metadata: {} }] },
    /^spec\.triggers\[0\]: the target of a trigger of type external is not known$/,
  ],
  [
    'no threshold',
    { triggers: [{ type: 'prometheus', metadata: { query: 'up' } }] },
    /prometheus has no threshold in its metadata$/,
  ],
  [
    'a threshold that is no number',
    { triggers: [{ type: 'prometheus', metadata: { threshold: '100m' } }] },
    /"100m" is no number that KEDA reads$/,
  ],
  [
    'a threshold of 0',
    { triggers: [{ type: 'prometheus', metadata: { threshold: '0' } }] },
    /a target of 0 is not above 0/,
  ],
  [
    'an unquoted threshold',
    { triggers: [{ type: 'prometheus', metadata: { threshold: 10 } }] },
    /metadata\.threshold: expected text, found 10$/,
  ],
  [
    'cpu without metricType',
    { triggers: [{ type: 'cpu', metadata: { value: '70' } }] },
    /metricType: missing, cpu needs it$/,
  ],
  [
    'cpu with a percent sign',
    { triggers: [{ type: 'cpu', metricType: 'Utilization', metadata: { value: '70%' } }] },
    /expected a whole percentage above 0, without %, found "70%"$/,
  ],
  [
    'Utilization elsewhere',
    { triggers: [{ ...prometheus, metricType: 'Utilization' }] },
    /metricType: expected one of AverageValue, Value/,
  ],
  [
    'a maximum below the minimum',
    { minReplicaCount: 5, maxReplicaCount: 2 },
    /^spec\.maxReplicaCount: must not be below minReplicaCount \(5\), found 2$/,
  ],
];

for (const [what, spec, problem] of unknown) {
  test(`not known: ${what}`, () => assert.match(problemsOf(spec)[0] ?? '', problem));
}

test('what is no ScaledObject', () => {
  assert.deepEqual(hpaOfScaledObject(null), {
    kind: 'unknown',
    name: undefined,
    problems: ['spec: missing'],
  });
  assert.deepEqual(hpaOfScaledObject({ spec: {} }), {
    kind: 'unknown',
    name: undefined,
    problems: ['metadata.name: missing'],
  });
  assert.deepEqual(hpaOfScaledObject([]), {
    kind: 'unknown',
    name: undefined,
    problems: ['ScaledObject: expected a map, found []'],
  });
});
