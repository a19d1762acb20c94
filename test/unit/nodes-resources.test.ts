import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isExtendedResource } from '../../server/src/kube/accelerators';
import { amount, podRequests } from '../../server/src/sizing/nodes/resources';
import {
  extendedResourceTolerations,
  tolerated,
  tolerates,
  tolerationFields,
} from '../../server/src/sizing/nodes/taints';

const GiB = 2 ** 30;

describe('amounts', () => {
  test('are millicores, bytes and pieces, rounded up', () => {
    assert.equal(amount('cpu', '500m'), 500);
    assert.equal(amount('cpu', 2), 2000);
    assert.equal(amount('cpu', '0.1'), 100);
    assert.equal(amount('cpu', '1500u'), 2);
    assert.equal(amount('memory', '1.5Gi'), 1.5 * GiB);
    assert.equal(amount('memory', '64Gi'), 64 * GiB);
    assert.equal(amount('memory', '100m'), 1);
    assert.equal(amount('memory', '10G'), 10e9);
    assert.equal(amount('nvidia.com/gpu', '8'), 8);
  });

  test('what cannot be read is no amount', () => {
    for (const value of ['', 'lots', '{{ .Values.cpu }}', null, undefined, true, ['1']]) {
      assert.equal(amount('cpu', value), undefined, String(value));
    }
  });
});

describe('requests of a pod', () => {
  const requests = (pod: Parameters<typeof podRequests>[0]): Readonly<Record<string, number>> =>
    podRequests(pod).amounts;

  test('main containers add up; limits stand in for absent requests', () => {
    assert.deepEqual(
      requests({
        containers: [
          { requests: { cpu: '1' }, limits: { cpu: '2', memory: '4Gi', 'nvidia.com/gpu': 1 } },
          { requests: { cpu: '500m', memory: '1Gi' } },
        ],
      }),
      { cpu: 1500, memory: 5 * GiB, 'nvidia.com/gpu': 1 },
    );
  });

  test('an init container counts where it asks for more than everything that runs later', () => {
    assert.deepEqual(
      requests({
        containers: [{ requests: { cpu: '3', memory: '1Gi' } }],
        initContainers: [{ requests: { cpu: '1', memory: '8Gi' } }, { requests: { cpu: '2' } }],
      }),
      { cpu: 3000, memory: 8 * GiB },
    );
  });

  test('sidecars run beside the main containers and beside later init containers', () => {
    const sidecar = { requests: { cpu: '2' }, restartPolicy: 'Always' };
    assert.deepEqual(requests({ containers: [{ requests: { cpu: '3' } }], initContainers: [sidecar] }), {
      cpu: 5000,
    });
    const heavy = { requests: { cpu: '10' } };
    // Started after the sidecar, the init container shares the node with it; started before, it does not.
    assert.deepEqual(
      requests({ containers: [{ requests: { cpu: '3' } }], initContainers: [sidecar, heavy] }),
      {
        cpu: 12000,
      },
    );
    assert.deepEqual(
      requests({ containers: [{ requests: { cpu: '3' } }], initContainers: [heavy, sidecar] }),
      {
        cpu: 10000,
      },
    );
  });

  test('overhead is added, pod-level requests replace the sum', () => {
    assert.deepEqual(
      requests({ containers: [{ requests: { cpu: '1', memory: '1Gi' } }], overhead: { cpu: '250m' } }),
      { cpu: 1250, memory: GiB },
    );
    assert.deepEqual(
      requests({
        containers: [{ requests: { cpu: '1', 'nvidia.com/gpu': 1 } }],
        podLevel: { requests: { cpu: '4', 'nvidia.com/gpu': 9 }, limits: { memory: '8Gi' } },
      }),
      { cpu: 4000, memory: 8 * GiB, 'nvidia.com/gpu': 1 },
    );
  });

  test('quantities that cannot be read are named', () => {
    const { amounts, unknown } = podRequests({
      containers: [{ requests: { cpu: '${CPU}', memory: '1Gi' } }],
      initContainers: [{ limits: { 'nvidia.com/gpu': '{{ .Values.gpus }}' } }],
    });
    assert.deepEqual(amounts, { memory: GiB });
    assert.deepEqual([...unknown].sort(), ['cpu', 'nvidia.com/gpu']);
  });

  test('extended resources have a domain that is not of Kubernetes', () => {
    assert.deepEqual(
      [
        'cpu',
        'hugepages-2Mi',
        'nvidia.com/gpu',
        'kubernetes.io/batch',
        'x.kubernetes.io/y',
        'notkubernetes.io/z',
      ].filter(isExtendedResource),
      ['nvidia.com/gpu', 'notkubernetes.io/z'],
    );
  });
});

describe('tolerations', () => {
  const gpu = { key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' };

  test('match by key, operator, value and effect', () => {
    assert.equal(tolerates({ operator: 'Exists' }, gpu), 'yes');
    assert.equal(tolerates({ key: 'nvidia.com/gpu', operator: 'Exists' }, gpu), 'yes');
    assert.equal(tolerates({ key: 'nvidia.com/gpu', operator: 'Equal', value: 'true' }, gpu), 'yes');
    assert.equal(tolerates({ key: 'nvidia.com/gpu', value: 'true' }, gpu), 'yes');
    assert.equal(tolerates({ key: 'nvidia.com/gpu', value: 'present' }, gpu), 'no');
    assert.equal(tolerates({ key: 'nvidia.com/gpu' }, gpu), 'no');
    assert.equal(
      tolerates({ key: 'nvidia.com/gpu' }, { key: 'nvidia.com/gpu', effect: 'NoSchedule' }),
      'yes',
    );
    assert.equal(tolerates({ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoExecute' }, gpu), 'no');
    assert.equal(tolerates({ key: 'other', operator: 'Exists' }, gpu), 'no');
  });

  test('an operator that is not known makes the answer unknown, unless another toleration matches', () => {
    const numeric = { key: 'nvidia.com/gpu', operator: 'Gt', value: '3' };
    assert.equal(tolerated([tolerationFields(numeric)], gpu), 'unknown');
    assert.equal(tolerated([numeric, { operator: 'Exists' }].map(tolerationFields), gpu), 'yes');
    assert.equal(tolerated([], gpu), 'no');
  });

  test('admission adds one for each extended resource', () => {
    assert.deepEqual(extendedResourceTolerations(['cpu', 'nvidia.com/gpu', 'nvidia.com/gpu']), [
      { key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
    ]);
  });
});
