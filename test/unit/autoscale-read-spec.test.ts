import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defaultScaleDown, defaultScaleUp } from '../../server/src/autoscale/defaults';
import { readHpaSpec } from '../../server/src/autoscale/read-spec';
import type { HpaSpec } from '../../server/src/autoscale/spec';

function specOf(value: unknown): HpaSpec {
  const reading = readHpaSpec(value);
  assert.ok(reading.ok, reading.ok ? '' : reading.problems.join('; '));
  return reading.spec;
}

function problemsOf(value: unknown): readonly string[] {
  const reading = readHpaSpec(value);
  return reading.ok ? [] : reading.problems;
}

test('the defaults of the API server', () => {
  assert.deepEqual(specOf({ maxReplicas: 5, scaleTargetRef: { kind: 'Deployment' } }), {
    minReplicas: 1,
    maxReplicas: 5,
    metrics: [{ type: 'Resource', resource: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } }],
    behavior: undefined,
  });
  assert.deepEqual(specOf({ maxReplicas: 5, behavior: {} }).behavior, {
    scaleUp: defaultScaleUp,
    scaleDown: defaultScaleDown,
  });
});

test('a list of policies replaces the default list, other fields keep their defaults', () => {
  const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }];
  const { behavior } = specOf({
    maxReplicas: 5,
    behavior: { scaleUp: { policies, tolerance: '50m' }, scaleDown: { stabilizationWindowSeconds: 0 } },
  });
  assert.deepEqual(behavior?.scaleUp, { ...defaultScaleUp, policies, tolerance: 0.05 });
  assert.deepEqual(behavior?.scaleDown, { ...defaultScaleDown, stabilizationWindowSeconds: 0 });
});

test('every type of metric', () => {
  const { metrics } = specOf({
    maxReplicas: 5,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
      },
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'cpu',
          container: 'vllm',
          target: { type: 'Utilization', averageUtilization: 70 },
        },
      },
      {
        type: 'Pods',
        pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '500m' } },
      },
      {
        type: 'Object',
        object: {
          metric: { name: 'qps' },
          describedObject: { kind: 'Service', name: 'router' },
          target: { type: 'Value', value: 10 },
        },
      },
      {
        type: 'External',
        external: { metric: { name: 's0' }, target: { type: 'AverageValue', averageValue: '10' } },
      },
    ],
  });
  assert.deepEqual(metrics, [
    {
      type: 'Resource',
      resource: 'memory',
      target: { type: 'AverageValue', averageValue: 1_073_741_824_000n },
    },
    {
      type: 'ContainerResource',
      resource: 'cpu',
      container: 'vllm',
      target: { type: 'Utilization', averageUtilization: 70 },
    },
    { type: 'Pods', metric: 'qps', target: { type: 'AverageValue', averageValue: 500n } },
    { type: 'Object', metric: 'qps', object: 'Service/router', target: { type: 'Value', value: 10_000n } },
    { type: 'External', metric: 's0', target: { type: 'AverageValue', averageValue: 10_000n } },
  ]);
});

const external = (target: unknown) => ({
  maxReplicas: 5,
  metrics: [{ type: 'External', external: { metric: { name: 'q' }, target } }],
});
const at = 'spec.metrics[0]';

const refused: readonly (readonly [what: string, spec: unknown, problem: string])[] = [
  ['nothing', undefined, 'spec: missing'],
  ['text', 'hpa', 'spec: expected a map, found "hpa"'],
  ['no maximum', {}, 'spec.maxReplicas: missing'],
  ['a maximum that is text', { maxReplicas: '5' }, 'spec.maxReplicas: expected a whole number, found "5"'],
  [
    'a minimum above the maximum',
    { minReplicas: 9, maxReplicas: 5 },
    'spec.maxReplicas: must not be below minReplicas (9), found 5',
  ],
  ['metrics that are a map', { maxReplicas: 5, metrics: {} }, 'spec.metrics: expected a list, found {}'],
  [
    'an unknown type',
    { maxReplicas: 5, metrics: [{ type: 'Custom' }] },
    `${at}.type: expected one of Resource, ContainerResource, Pods, Object, External, found "Custom"`,
  ],
  [
    'a type without its block',
    { maxReplicas: 5, metrics: [{ type: 'Pods' }] },
    `${at}.pods: missing, although the type is Pods`,
  ],
  [
    'a target that does not go with the type',
    external({ type: 'Utilization', averageUtilization: 50 }),
    `${at}.external.target: expected value or averageValue`,
  ],
  [
    'two targets',
    external({ type: 'Value', value: 1, averageValue: 1 }),
    `${at}.external.target: needs exactly one of averageUtilization, averageValue and value, found 2`,
  ],
  [
    'a type against its value',
    external({ type: 'Value', averageValue: 1 }),
    `${at}.external.target.type: Value does not go with averageValue`,
  ],
  [
    'a target of 0',
    external({ type: 'Value', value: '0' }),
    `${at}.external.target.value: must be greater than 0`,
  ],
  [
    'a target that is no quantity',
    external({ type: 'Value', value: 'ten' }),
    `${at}.external.target.value: "ten" is no quantity`,
  ],
  [
    'no policies',
    { maxReplicas: 5, behavior: { scaleUp: { policies: [] } } },
    'spec.behavior.scaleUp.policies: needs at least one policy',
  ],
  [
    'a policy without a period',
    { maxReplicas: 5, behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1 }] } } },
    'spec.behavior.scaleUp.policies[0].periodSeconds: missing',
  ],
  [
    'a window of two hours',
    { maxReplicas: 5, behavior: { scaleDown: { stabilizationWindowSeconds: 7200 } } },
    'spec.behavior.scaleDown.stabilizationWindowSeconds: must be at most 3600, found 7200',
  ],
  [
    'a negative tolerance',
    { maxReplicas: 5, behavior: { scaleUp: { tolerance: '-0.1' } } },
    'spec.behavior.scaleUp.tolerance: must not be negative',
  ],
];

for (const [what, spec, problem] of refused) {
  test(`refused: ${what}`, () => assert.deepEqual(problemsOf(spec), [problem]));
}
