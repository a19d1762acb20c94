import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { SourceAnswer } from '../../server/src/live/snapshot';
import type { Part } from '../../server/src/live/reading';
import { connectCluster, type Cluster } from '../../server/src/sources/cluster';
import { systemClock, type Clock } from '../../server/src/sources/runtime';
import {
  forbid,
  startFakeApiServer,
  token,
  type FakeApiServer,
  type FakeObject,
} from './support/kube-server';
import { sendJson } from './support/loopback';
import { until } from './support/until';
import { wantOf } from './support/want';

let server: FakeApiServer;
let cluster: Cluster;
const never = new AbortController().signal;

const paths = {
  pods: '/api/v1/pods',
  nodes: '/api/v1/nodes',
  events: '/api/v1/events',
  deployments: '/apis/apps/v1/deployments',
  statefulSets: '/apis/apps/v1/statefulsets',
  replicaSets: '/apis/apps/v1/replicasets',
  hpas: '/apis/autoscaling/v2/horizontalpodautoscalers',
  pdbs: '/apis/policy/v1/poddisruptionbudgets',
  scaledObjects: '/apis/keda.sh/v1alpha1/scaledobjects',
  nodePools: '/apis/karpenter.sh/v1/nodepools',
  nodeClaims: '/apis/karpenter.sh/v1/nodeclaims',
  podMetrics: '/apis/metrics.k8s.io/v1beta1/pods',
} as const;

const meta = (name: string, more: Record<string, unknown> = {}): FakeObject['metadata'] => ({
  name,
  namespace: 'chat',
  uid: `uid-${name}`,
  creationTimestamp: '2026-11-29T10:00:00Z',
  ...more,
});
const ownedBy = (kind: string, name: string): Record<string, unknown> => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }],
});

function deployment(name: string): void {
  server.put(paths.deployments, {
    metadata: meta(name, {
      managedFields: [{ manager: 'kubectl' }],
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': '{"secret":"planted-in-annotation"}',
      },
    }),
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'shared' } },
      template: {
        spec: {
          containers: [
            {
              name: 'vllm',
              args: [
                '--model',
                'x',
                '--api-key',
                'planted-api-key',
                '--api-key=planted-too',
                '--max-num-batched-tokens',
                '8192',
              ],
              env: [{ name: 'HF_TOKEN', value: 'planted-env' }],
            },
          ],
        },
      },
    },
    status: { replicas: 2, readyReplicas: 1, conditions: [{ type: 'Available', status: 'True' }] },
  });
  server.put(paths.replicaSets, {
    metadata: meta(`${name}-rs`, {
      ...ownedBy('Deployment', name),
      annotations: { 'deployment.kubernetes.io/revision': '3' },
    }),
    spec: { replicas: 2, template: { spec: { containers: [{ image: 'vllm/vllm-openai:v0.11.0' }] } } },
    status: { readyReplicas: 1 },
  });
}

function pod(name: string, owner: string, more: Record<string, unknown> = {}): void {
  server.put(paths.pods, {
    metadata: meta(name, { ...ownedBy('ReplicaSet', owner), labels: { app: 'shared' } }),
    spec: {
      nodeName: 'node-1',
      containers: [
        {
          name: 'vllm',
          image: 'vllm/vllm-openai:v0.11.0',
          env: [{ name: 'HF_TOKEN', value: 'planted-env' }],
          ports: [{ name: 'http', containerPort: 8000 }],
          resources: { requests: { cpu: '500m', memory: '8Gi' }, limits: { 'nvidia.com/gpu': '1' } },
        },
      ],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...more },
  });
}

/** Every list is there, so that an API that is not installed is one that a test took away. */
function install(...without: readonly (keyof typeof paths)[]): void {
  for (const [name, path] of Object.entries(paths)) {
    if (without.includes(name as keyof typeof paths)) continue;
    const placeholder = { metadata: { name: 'placeholder', namespace: 'elsewhere' } };
    server.put(path, placeholder);
    server.remove(path, placeholder);
  }
}

const known = <T>(part: Part<T> | undefined): T => {
  assert.equal(part?.kind, 'known', part?.kind === 'absent' ? `${part.why}: ${part.message}` : '');
  return (part as Extract<Part<T>, { kind: 'known' }>).value;
};

const textOf = (answer: SourceAnswer): string => JSON.stringify(answer);

beforeEach(async () => {
  server = await startFakeApiServer();
  cluster = connectCluster({ kubeconfig: server.kubeconfig(), env: {} });
});

afterEach(async () => {
  await cluster.dispose();
  await server.close();
});

test('nothing is contacted before the first question', async () => {
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(server.received.length, 0);
  assert.equal(cluster.world.watching, 0);
});

describe('a Deployment', () => {
  test('has its own pods and not those of another with the same labels', async () => {
    install();
    deployment('vllm');
    deployment('other');
    pod('vllm-1', 'vllm-rs');
    pod('other-1', 'other-rs');
    server.put(paths.nodes, {
      metadata: {
        name: 'node-1',
        labels: {
          'node.kubernetes.io/instance-type': 'g5.xlarge',
          'karpenter.sh/capacity-type': 'spot',
          'karpenter.sh/nodepool': 'gpu',
        },
      },
      status: {
        allocatable: { 'nvidia.com/gpu': '1', cpu: '3920m' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    assert.deepEqual(answer.status.problems, []);
    assert.equal(answer.status.state, 'ok');
    assert.deepEqual(
      known(answer.cluster?.pods).map(({ pod: { name } }) => name),
      ['vllm-1'],
    );
    const workload = known(answer.cluster?.workload);
    assert.deepEqual(workload.replicas, { desired: 2, current: 2, ready: 1, available: 0, updated: 0 });
    assert.equal(known(answer.cluster?.replicaSets)[0]?.revision, 3);
    const [node] = known(answer.cluster?.nodes);
    assert.equal(node?.capacityType, 'spot');
    assert.deepEqual(node?.allocatable, { 'nvidia.com/gpu': 1, cpu: 3.92 });
    assert.deepEqual(known(answer.cluster?.nodeUse), [
      {
        node: 'node-1',
        requested: { 'nvidia.com/gpu': 2, cpu: 1, memory: 2 * 8 * 2 ** 30 },
        parts: [
          {
            namespace: 'chat',
            labels: {},
            pods: 2,
            requested: { 'nvidia.com/gpu': 2, cpu: 1, memory: 2 * 8 * 2 ** 30 },
          },
        ],
      },
    ]);
    assert.equal(answer.context?.serverVersion, 'v1.36.1');
    const ready = answer.measurements?.find(({ metric }) => metric === 'replicas.ready');
    assert.equal(ready?.observed.kind === 'reading' && ready.observed.value, 1);
  });

  test('nothing that is secret is in the answer', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    const text = textOf(await cluster.kubernetes.read(wantOf({}), never));
    for (const planted of ['planted-env', 'planted-api-key', 'planted-too', 'planted-in-annotation', token])
      assert.ok(!text.includes(planted), planted);
    assert.ok(text.includes('8192'));
    assert.ok(!text.includes('managedFields'));
  });

  test('an OOM kill arrives by the watch, with the log of the run before, once', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    let logs = 0;
    server.fault = ({ path, query }, response) => {
      if (!path.endsWith('/log')) return false;
      logs++;
      assert.equal(query.get('previous'), 'true');
      response.end(`torch.OutOfMemoryError: CUDA out of memory\nAuthorization: Bearer planted-log-token\n`);
      return true;
    };
    await cluster.kubernetes.read(wantOf({}), never);
    let changes = 0;
    const stop = new AbortController();
    cluster.kubernetes.watch?.(wantOf({}), () => changes++, stop.signal);
    await until('the pods are watched', () =>
      server.received.some(({ path, query }) => path.endsWith('/chat/pods') && query.get('watch') === 'true'),
    );
    pod('vllm-1', 'vllm-rs', {
      containerStatuses: [
        {
          name: 'vllm',
          restartCount: 1,
          state: { running: { startedAt: '2026-11-29T10:05:01Z' } },
          lastState: {
            terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: '2026-11-29T10:05:00Z' },
          },
        },
      ],
    });
    await until('the change is told', () => changes > 0);
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    await cluster.kubernetes.read(wantOf({}), never);
    stop.abort();
    const [view] = known(answer.cluster?.pods);
    assert.deepEqual(view?.containers[0]?.lastTermination, {
      reason: 'OOMKilled',
      exitCode: 137,
      finishedAt: Date.parse('2026-11-29T10:05:00Z'),
    });
    const [log] = known(answer.cluster?.logs);
    assert.equal(log?.lines[0], 'torch.OutOfMemoryError: CUDA out of memory');
    assert.ok(!textOf(answer).includes('planted-log-token'));
    assert.equal(logs, 1);
  });

  test('metrics.k8s.io gives CPU and memory of its containers', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    server.put(paths.podMetrics, {
      metadata: meta('vllm-1'),
      timestamp: '2026-11-29T10:05:00Z',
      window: '14.996s',
      containers: [{ name: 'vllm', usage: { cpu: '1250m', memory: '4Gi' } }],
    });
    const { measurements = [] } = await cluster.kubernetes.read(wantOf({}), never);
    const cpu = measurements.find(({ metric }) => metric === 'cpu.usage');
    assert.deepEqual(cpu?.subject, {
      kind: 'pod',
      pod: { namespace: 'chat', name: 'vllm-1' },
      container: 'vllm',
    });
    assert.ok(
      cpu.observed.kind === 'reading' && cpu.observed.value === 1.25 && cpu.observed.window === 14_996,
    );
  });
});

describe('what hangs on other objects', () => {
  test('an HPA leads to its target, and so does a ScaledObject', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'vllm' };
    server.put(paths.hpas, {
      metadata: meta('keda-hpa-scaler'),
      spec: { scaleTargetRef, maxReplicas: 4 },
      status: { currentReplicas: 2 },
    });
    server.put(paths.scaledObjects, {
      metadata: meta('scaler'),
      spec: { scaleTargetRef: { name: 'vllm' } },
      status: {
        hpaName: 'keda-hpa-scaler',
        health: { 's0-prometheus': { numberOfFailures: 2, status: 'Failing' } },
      },
    });
    const objects = [
      { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'keda-hpa-scaler' },
      { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'scaler' },
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'vllm' },
    ];
    for (const object of objects) {
      const answer = await cluster.kubernetes.read(wantOf(object), never);
      assert.equal(known(answer.cluster?.workload).ref.name, 'vllm', object.kind);
      assert.equal(known(answer.cluster?.pods).length, 1, object.kind);
      assert.equal(known(answer.cluster?.hpa).ref.name, 'keda-hpa-scaler', object.kind);
      assert.equal(known(answer.cluster?.scaledObject).health['s0-prometheus']?.failures, 2, object.kind);
    }
  });

  test('a NodePool leads to the pods on its nodes, of all namespaces', async () => {
    install();
    server.put(paths.nodePools, {
      metadata: { name: 'gpu' },
      spec: { limits: { 'nvidia.com/gpu': '8' } },
      status: { resources: { 'nvidia.com/gpu': '2' } },
    });
    server.put(paths.nodes, {
      metadata: { name: 'node-1', labels: { 'karpenter.sh/nodepool': 'gpu' } },
      status: {},
    });
    server.put(paths.nodes, { metadata: { name: 'node-2' }, status: {} });
    server.put(paths.pods, {
      metadata: { name: 'a', namespace: 'one', uid: 'a' },
      spec: { nodeName: 'node-1', containers: [] },
      status: { phase: 'Running' },
    });
    server.put(paths.pods, {
      metadata: { name: 'b', namespace: 'two', uid: 'b' },
      spec: { nodeName: 'node-2', containers: [] },
      status: { phase: 'Running' },
    });
    const answer = await cluster.kubernetes.read(
      wantOf({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', namespace: '', name: 'gpu' }),
      never,
    );
    assert.deepEqual(
      known(answer.cluster?.pods).map(({ pod: { name } }) => name),
      ['a'],
    );
    assert.equal(known(answer.cluster?.nodePools)[0]?.limits['nvidia.com/gpu'], 8);
  });

  test('events are those of the workload and its pods, and of Karpenter', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    const event = (name: string, namespace: string, about: Record<string, string>, at: string): void =>
      server.put(paths.events, {
        metadata: { name, namespace },
        involvedObject: about,
        type: 'Warning',
        reason: 'R',
        message: name,
        lastTimestamp: at,
      });
    event('mine', 'chat', { kind: 'Pod', namespace: 'chat', name: 'vllm-1' }, '2026-11-29T10:05:00Z');
    event('others', 'chat', { kind: 'Pod', namespace: 'chat', name: 'other-1' }, '2026-11-29T10:05:00Z');
    event('pool', 'default', { kind: 'NodePool', name: 'gpu' }, '2026-11-29T10:04:00Z');
    event(
      'unrelated',
      'default',
      { kind: 'Pod', namespace: 'default', name: 'vllm-1' },
      '2026-11-29T10:04:00Z',
    );
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    assert.deepEqual(
      known(answer.cluster?.events).map(({ message }) => message),
      ['pool', 'mine'],
    );
  });
});

describe('what may not be read', () => {
  test('cluster-wide lists: what a namespace says is there, and each missing right is named', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    server.put(paths.nodes, { metadata: { name: 'node-1' }, status: { allocatable: { cpu: '4' } } });
    server.fault = ({ path }, response) =>
      /^\/api(s\/[^/]+)?\/[^/]+\/(?!namespaces\/chat\/)/.test(path) &&
      path !== '/version' &&
      !path.startsWith('/api/v1/nodes/') &&
      forbid(response);
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    assert.equal(answer.status.state, 'partial');
    assert.equal(known(answer.cluster?.pods).length, 1);
    assert.equal(answer.cluster?.nodeUse?.kind === 'absent' && answer.cluster.nodeUse.why, 'denied');
    assert.deepEqual(
      known(answer.cluster?.nodes).map(({ name }) => name),
      ['node-1'],
      'the node of the pod, by its name',
    );
    const missing = answer.status.problems.map((problem) => problem.missing);
    assert.ok(
      missing.some(
        (each) => each?.kind === 'rbac' && each.resources[0] === 'nodes' && each.namespace === undefined,
      ),
    );
    assert.ok(answer.status.problems.every(({ remedy }) => remedy?.startsWith('Grant ')));
  });

  test('lists of the namespace as well: named objects', async () => {
    install();
    server.put(paths.statefulSets, {
      metadata: meta('db'),
      spec: { replicas: 2, selector: { matchLabels: { app: 'db' } } },
      status: {},
    });
    for (const name of ['db-0', 'db-1'])
      server.put(paths.pods, {
        metadata: meta(name, { ...ownedBy('StatefulSet', 'db'), labels: { app: 'db' } }),
        spec: { containers: [] },
        status: { phase: 'Running' },
      });
    server.fault = ({ path }, response) =>
      !/\/(statefulsets\/db|pods\/db-\d)$/.test(path) && forbid(response);
    const answer = await cluster.kubernetes.read(wantOf({ kind: 'StatefulSet', name: 'db' }), never);
    assert.equal(known(answer.cluster?.workload).ref.name, 'db');
    assert.deepEqual(
      known(answer.cluster?.pods).map(({ pod: { name } }) => name),
      ['db-0', 'db-1'],
    );
    assert.equal(answer.cluster?.hpa?.kind === 'absent' && answer.cluster.hpa.why, 'denied');
  });

  test('nothing at all: denied, and why', async () => {
    install();
    server.fault = (_, response) => forbid(response);
    const { status } = await cluster.kubernetes.read(wantOf({}), never);
    assert.equal(status.state, 'denied');
    assert.ok(
      status.problems.some(({ message }) => message === '403 Forbidden: cannot list pods in namespace chat'),
    );
  });

  test('credentials that are not accepted are told once', async () => {
    server.fault = (_, response) => {
      sendJson(response, 401, { kind: 'Status', message: 'Unauthorized' });
      return true;
    };
    const { status } = await cluster.kubernetes.read(wantOf({}), never);
    assert.equal(status.state, 'denied');
    assert.equal(status.problems.length, 1, JSON.stringify(status.problems, null, 1));
    assert.match(status.problems[0]?.message ?? '', /does not accept the credentials of context test/);
  });
});

describe('what goes wrong', () => {
  test('KEDA and Karpenter that are not installed are no problem', async () => {
    install('scaledObjects', 'nodePools', 'nodeClaims', 'podMetrics');
    deployment('vllm');
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    assert.deepEqual(answer.status.problems, []);
    const part = answer.cluster?.nodePools;
    assert.ok(
      part?.kind === 'absent' &&
        part.why === 'no-data' &&
        part.message === 'Karpenter is not installed in this cluster',
    );
  });

  test('a workload that is not in the cluster is no-data', async () => {
    install();
    const { cluster: view } = await cluster.kubernetes.read(wantOf({}), never);
    assert.ok(view?.workload?.kind === 'absent' && view.workload.why === 'no-data');
    assert.equal(view.workload.message, 'there is no Deployment vllm in namespace chat');
  });

  test('one list that answers nonsense leaves the others', async () => {
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    server.fault = ({ path }, response) => {
      if (path.endsWith('/horizontalpodautoscalers')) response.end('<html>Sign in</html>');
      else if (path.endsWith('/poddisruptionbudgets')) response.end('{"items": [{"met');
      else if (path.endsWith('/scaledobjects')) sendJson(response, 200, ['surprise']);
      else if (path.endsWith('/nodeclaims')) response.destroy();
      else return false;
      return true;
    };
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    assert.equal(answer.status.state, 'partial');
    assert.equal(known(answer.cluster?.pods).length, 1);
    const messages = answer.status.problems.map(({ why, message }) => `${why}: ${message}`).join('\n');
    assert.match(messages, /nonsense: list horizontalpodautoscalers.*web page/);
    assert.match(messages, /nonsense: list poddisruptionbudgets.*not whole JSON/);
    assert.match(messages, /nonsense: list scaledobjects.*not a list/);
    assert.match(messages, /failed: list nodeclaims.*connection was reset/);
  });

  test('a list that does not answer is waited for so long, and the rest is there', async () => {
    await cluster.dispose();
    const quick: Clock = { now: () => Date.now(), wait: (ms, signal) => systemClock.wait(ms / 20, signal) };
    cluster = connectCluster({ kubeconfig: server.kubeconfig(), env: {}, clock: quick });
    install();
    deployment('vllm');
    pod('vllm-1', 'vllm-rs');
    server.fault = ({ path }) => path.endsWith('/events');
    const answer = await cluster.kubernetes.read(wantOf({}), never);
    assert.equal(known(answer.cluster?.pods).length, 1);
    assert.ok(
      answer.status.problems.some(
        ({ why, what }) => why === 'slow' && what === 'list events in namespace chat',
      ),
    );
  });

  test('reading can be cancelled', async () => {
    server.fault = () => true;
    const stop = new AbortController();
    const reading = cluster.kubernetes.read(wantOf({}), stop.signal);
    await until('it asks', () => server.received.length > 0);
    stop.abort(new Error('hidden'));
    await assert.rejects(reading, /hidden/);
  });

  test('a kubeconfig that is not there, has no such context, or is broken', async () => {
    for (const [options, expected] of [
      [{ kubeconfig: '/nowhere/config' }, /no kubeconfig at \/nowhere\/config/],
      [{ kubeconfig: server.kubeconfig(), context: 'prod' }, /no context "prod"; it has test/],
    ] as const) {
      const other = connectCluster({ ...options, env: {} });
      const { status } = await other.kubernetes.read(wantOf({}), never);
      assert.equal(status.state, 'failed');
      assert.match(status.problems[0]?.message ?? '', expected);
      await other.dispose();
    }
  });
});

test('watches end when nobody reads any more', async () => {
  await cluster.dispose();
  let now = 1_796_000_000_000;
  const quick: Clock = {
    now: () => now,
    wait: async (ms, signal) => {
      await systemClock.wait(ms === 15_000 ? 20 : ms, signal);
      if (ms === 15_000) now += ms;
    },
  };
  cluster = connectCluster({ kubeconfig: server.kubeconfig(), env: {}, clock: quick });
  install();
  deployment('vllm');
  await cluster.kubernetes.read(wantOf({}), never);
  assert.ok(cluster.world.watching > 5);
  await until('no list is watched', () => cluster.world.watching === 0);
  await until('no connection is left', () => server.watches === 0);
});

test('an exec plugin is asked for its token, once while it holds, and again after a 401', async () => {
  await cluster.dispose();
  install();
  let runs = 0;
  const kubeconfig = server.kubeconfig({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: 'aws',
      args: ['eks', 'get-token', '--cluster-name', 'prod', '--region', 'eu-west-1'],
    },
  });
  cluster = connectCluster({
    kubeconfig,
    env: { HOME: '/nowhere' },
    run: (command, args, env) => {
      runs++;
      assert.equal(command, 'aws');
      assert.equal(args[1], 'get-token');
      assert.match(env['KUBERNETES_EXEC_INFO'] ?? '', /ExecCredential/);
      return Promise.resolve({
        code: 0,
        stderr: '',
        stdout: JSON.stringify({
          status: {
            token: `exec-token-${runs}`,
            expirationTimestamp: new Date(Date.now() + 900_000).toISOString(),
          },
        }),
      });
    },
  });
  const answer = await cluster.kubernetes.read(wantOf({}), never);
  assert.equal(runs, 1);
  assert.ok(server.received.every(({ headers }) => headers['authorization'] === 'Bearer exec-token-1'));
  assert.equal(answer.context?.region, 'eu-west-1');
  assert.equal(answer.context.cluster, 'prod');
  server.fault = ({ headers }, response) => {
    if (headers['authorization'] !== 'Bearer exec-token-1') return false;
    sendJson(response, 401, {});
    return true;
  };
  await cluster
    .object({ apiVersion: 'v1', kind: 'Node', namespace: '', name: 'none' }, never)
    .catch(() => undefined);
  assert.equal(runs, 2);
});

test('a plugin that is missing, fails or talks nonsense is named, without what it printed to its output', async () => {
  await cluster.dispose();
  const kubeconfig = server.kubeconfig({ exec: { command: 'aws', args: [] } });
  const cases = [
    [
      () => Promise.reject(Object.assign(new Error('spawn aws ENOENT'), { code: 'ENOENT' })),
      /"aws" of the kubeconfig is not on the PATH/,
    ],
    [
      () =>
        Promise.resolve({
          code: 255,
          stdout: 'planted-output',
          stderr: 'The SSO session has expired, token=planted-stderr\nmore',
        }),
      /ended with code 255: The SSO session has expired/,
    ],
    [() => Promise.resolve({ code: 0, stdout: 'planted-output', stderr: '' }), /answered no JSON/],
    [
      () => Promise.resolve({ code: 0, stdout: '{"status":{}}', stderr: '' }),
      /neither a token nor a certificate/,
    ],
  ] as const;
  for (const [run, expected] of cases) {
    const one = connectCluster({ kubeconfig, env: {}, run });
    const answer = await one.kubernetes.read(wantOf({}), never);
    assert.equal(answer.status.state, 'denied');
    assert.match(answer.status.problems.map(({ message }) => message).join('\n'), expected);
    assert.ok(!textOf(answer).includes('planted'), textOf(answer));
    await one.dispose();
  }
});
