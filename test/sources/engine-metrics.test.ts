import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Measurement } from '../../server/src/live/measurement';
import type { SourceAnswer } from '../../server/src/live/snapshot';
import { connectCluster, type Cluster } from '../../server/src/sources/cluster';
import { systemClock, type Clock } from '../../server/src/sources/runtime';
import { forbid, startFakeApiServer, token, type FakeApiServer } from './support/kube-server';
import { sendJson, type Received } from './support/loopback';
import { wantOf } from './support/want';

const never = new AbortController().signal;
let server: FakeApiServer;
let cluster: Cluster;
let time: number;

/** Stands still between reads, so that windows are exact; time-outs are real, and short. */
const clock: Clock = {
  now: () => time,
  wait: (ms, signal) => systemClock.wait(ms >= 15_000 ? ms : ms / 20, signal),
};

const lists = [
  '/api/v1/pods',
  '/api/v1/nodes',
  '/api/v1/events',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/replicasets',
  '/apis/autoscaling/v2/horizontalpodautoscalers',
  '/apis/policy/v1/poddisruptionbudgets',
];

beforeEach(async () => {
  time = 1_796_000_000_000;
  server = await startFakeApiServer();
  cluster = connectCluster({ kubeconfig: server.kubeconfig(), env: {}, clock });
  for (const list of lists) {
    const placeholder = { metadata: { name: 'placeholder', namespace: 'elsewhere' } };
    server.put(list, placeholder);
    server.remove(list, placeholder);
  }
  server.put('/apis/apps/v1/deployments', {
    metadata: { name: 'vllm', namespace: 'chat', uid: 'd' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'vllm' } } },
    status: {},
  });
  server.put('/apis/apps/v1/replicasets', {
    metadata: {
      name: 'vllm-rs',
      namespace: 'chat',
      uid: 'rs',
      ownerReferences: [{ kind: 'Deployment', name: 'vllm', uid: 'd', controller: true }],
    },
    spec: {},
    status: {},
  });
});

afterEach(async () => {
  await cluster.dispose();
  await server.close();
});

interface PodOptions {
  readonly ports?: readonly Record<string, unknown>[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly isReady?: boolean;
  readonly phase?: string;
}

function pod(
  name: string,
  {
    ports = [{ containerPort: 8000 }],
    annotations = {},
    node = 'node-1',
    isReady = true,
    phase = 'Running',
  }: PodOptions = {},
): void {
  server.put('/api/v1/pods', {
    metadata: {
      name,
      namespace: 'chat',
      uid: name,
      labels: { app: 'vllm' },
      annotations,
      ownerReferences: [{ kind: 'ReplicaSet', name: 'vllm-rs', uid: 'rs', controller: true }],
    },
    spec: { nodeName: node, containers: [{ name: 'vllm', image: 'vllm/vllm-openai:v0.11.0', ports }] },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
}

function exporter(
  name: string,
  node: string,
  labels: Record<string, string>,
  more: Record<string, unknown> = {},
): void {
  server.put('/api/v1/pods', {
    metadata: { name, namespace: 'gpu-operator', uid: name, labels },
    spec: {
      nodeName: node,
      containers: [{ name, image: 'nvcr.io/nvidia/k8s/dcgm-exporter:4.2', ports: [{ containerPort: 9400 }] }],
    },
    status: { phase: 'Running' },
    ...more,
  });
}

/** Answers of pods, by name and port. */
function pages(
  answer: (
    pod: string,
    port: number,
    path: string,
    scheme: string,
    response: ServerResponse,
  ) => string | undefined,
): Received[] {
  const asked: Received[] = [];
  server.fault = (request, response) => {
    const selector = request.query.get('labelSelector');
    // The fake server knows no label selectors: what runs on nodes is in a namespace of its own.
    if (selector !== null && request.path === '/api/v1/pods') {
      const term = /^(\S+) in \(([^)]+)\)$/.exec(selector);
      const all = exporterPods.filter(
        ({ labels }) => term !== null && (term[2] ?? '').split(',').includes(labels[term[1] ?? ''] ?? ''),
      );
      sendJson(response, 200, { metadata: { resourceVersion: '1' }, items: all.map(({ object }) => object) });
      return true;
    }
    const match = /^\/api\/v1\/namespaces\/[^/]+\/pods\/(https:)?([^:/]+):(\d+)\/proxy(\/.*)$/.exec(
      request.path,
    );
    if (match === null) return false;
    asked.push(request);
    const text = answer(match[2] ?? '', Number(match[3]), match[4] ?? '', match[1] ?? 'http:', response);
    if (text !== undefined) response.end(text);
    return true;
  };
  return asked;
}

let exporterPods: { labels: Record<string, string>; object: unknown }[] = [];
beforeEach(() => (exporterPods = []));
function deviceExporter(name: string, node: string, labels: Record<string, string>): void {
  exporter(name, node, labels);
  exporterPods.push({
    labels,
    object: {
      metadata: { name, namespace: 'gpu-operator', uid: name, labels },
      spec: { nodeName: node, containers: [{ name, image: name, ports: [{ containerPort: 9400 }] }] },
      status: { phase: 'Running' },
    },
  });
}

const read = (): Promise<SourceAnswer> => cluster.engineMetrics.read(wantOf({}, { now: time }), never);

function value(
  { measurements = [] }: SourceAnswer,
  metric: Measurement['metric'],
  podName?: string,
): number | string | undefined {
  const found = measurements.find(
    (each) =>
      each.metric === metric &&
      (podName === undefined
        ? each.subject.kind === 'workload'
        : each.subject.kind === 'pod' && each.subject.pod.name === podName),
  );
  return found?.observed.kind === 'reading' ? found.observed.value : found?.observed.why;
}

const vllm = (waiting: number, finished: number): string =>
  `# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{engine="0"} ${waiting}\nvllm:num_requests_running{engine="0"} 4\nvllm:kv_cache_usage_perc{engine="0"} 0.5\nvllm:request_success_total{engine="0",finished_reason="stop"} ${finished}\n`;

test('values at once, rates and percentiles with the second reading', async () => {
  pod('vllm-a');
  pod('vllm-b');
  let finished = 100;
  pages(
    (name) =>
      `${vllm(name === 'vllm-a' ? 3 : 5, finished)}vllm:time_to_first_token_seconds_bucket{le="0.1"} ${finished}\nvllm:time_to_first_token_seconds_bucket{le="0.2"} ${finished * 2}\nvllm:time_to_first_token_seconds_bucket{le="+Inf"} ${finished * 2}\nvllm:time_to_first_token_seconds_sum 1\nvllm:time_to_first_token_seconds_count ${finished * 2}\n`,
  );
  const first = await read();
  assert.equal(first.status.state, 'ok');
  assert.equal(value(first, 'queue.waiting'), 8);
  assert.equal(value(first, 'queue.waiting', 'vllm-a'), 3);
  assert.equal(value(first, 'requests.rate'), 'too-few-points');
  time += 10_000;
  finished = 150;
  const second = await read();
  assert.equal(value(second, 'requests.rate'), 10);
  assert.ok(Math.abs(Number(value(second, 'ttft.p50')) - 0.1) < 1e-9);
  assert.ok(
    second.exportedNames?.kind === 'known' &&
      second.exportedNames.value.includes('vllm:time_to_first_token_seconds_bucket'),
  );
});

test('rates are of the last minute, as soon as there is one', async () => {
  pod('vllm-a');
  let finished = 0;
  pages(() => vllm(0, finished));
  let answer = await read();
  for (let step = 1; step <= 12; step++) {
    time += 10_000;
    // 1 a second for a minute, then 5 a second.
    finished += step <= 6 ? 10 : 50;
    answer = await read();
  }
  assert.equal(value(answer, 'requests.rate'), 5);
});

test('a process that began anew is no negative rate', async () => {
  pod('vllm-a');
  let finished = 1_000;
  pages(() => vllm(0, finished));
  await read();
  time += 10_000;
  finished = 20;
  assert.equal(value(await read(), 'requests.rate'), 2);
});

test(
  'what a real vLLM printed',
  {
    skip: existsSync(join(__dirname, '../../../shared/facts/exposition/vllm-0.32.0-cpu.txt'))
      ? false
      : 'the recording is not here',
  },
  async () => {
    const text = readFileSync(
      join(__dirname, '../../../shared/facts/exposition/vllm-0.32.0-cpu.txt'),
      'utf8',
    );
    pod('vllm-a');
    pages(() => text);
    const answer = await read();
    assert.equal(value(answer, 'queue.running'), 0);
    assert.equal(value(answer, 'kv-cache.usage'), 0);
    assert.ok(answer.exportedNames?.kind === 'known');
    const named = new Set(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => /^[^{ ]+/.exec(line)?.[0]),
    );
    assert.deepEqual(answer.exportedNames.value, [...named].sort());
  },
);

describe('where the metrics are', () => {
  test('an annotation, a port by its name, and what the engine has by itself, in this order; found once for all alike', async () => {
    for (const name of ['vllm-a', 'vllm-b', 'vllm-c'])
      pod(name, {
        ports: [
          { name: 'grpc', containerPort: 9000 },
          { name: 'metrics', containerPort: 9001 },
        ],
        annotations: { 'prometheus.io/port': '9002', 'prometheus.io/path': '/stats' },
      });
    const asked = pages((_, port, path, __, response) => {
      if (port === 9001 && path === '/stats') return vllm(1, 1);
      response.writeHead(404).end();
      return undefined;
    });
    assert.equal(value(await read(), 'queue.waiting'), 3);
    const first = asked.map(({ path }) => /:(\d+)\/proxy(.*)$/.exec(path)?.slice(1).join('')).slice(0, 2);
    assert.ok(first.includes('9002/stats'));
    asked.length = 0;
    time += 10_000;
    await read();
    assert.equal(asked.length, 3, 'each pod is asked at the place that is known');
  });

  test('a server that speaks TLS', async () => {
    pod('vllm-a');
    pages((_, __, ___, scheme, response) => {
      if (scheme === 'https:') return vllm(2, 1);
      sendJson(response, 400, { message: 'Client sent an HTTP request to an HTTPS server.' });
      return undefined;
    });
    assert.equal(value(await read(), 'queue.waiting'), 2);
  });
});

describe('devices', () => {
  const dcgm = (node: string, podName: string): string =>
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-${node}",modelName="NVIDIA L4",Hostname="${node}",namespace="chat",pod="${podName}",container="vllm"} 87\nDCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-${node}",Hostname="${node}",namespace="chat",pod="${podName}"} 20000\nDCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-${node}",Hostname="${node}",namespace="chat",pod="${podName}"} 3000\n`;

  test("exporters of the workload's nodes are asked, whatever chart they are of, and no others", async () => {
    pod('vllm-a', { node: 'node-1' });
    pod('vllm-b', { node: 'node-2' });
    deviceExporter('exp-1', 'node-1', { 'app.kubernetes.io/name': 'dcgm-exporter' });
    deviceExporter('exp-2', 'node-2', { app: 'nvidia-dcgm-exporter' });
    deviceExporter('exp-3', 'node-3', { app: 'nvidia-dcgm-exporter' });
    const asked = pages((name) =>
      name.startsWith('exp')
        ? dcgm(`node-${name.slice(4)}`, name === 'exp-1' ? 'vllm-a' : 'vllm-b')
        : vllm(0, 1),
    );
    const answer = await read();
    const gpus = answer.measurements?.filter(({ metric }) => metric === 'gpu.utilization') ?? [];
    assert.deepEqual(
      gpus.map(({ subject }) => (subject.kind === 'device' ? [subject.node, subject.pod?.name] : [])).sort(),
      [
        ['node-1', 'vllm-a'],
        ['node-2', 'vllm-b'],
      ],
    );
    const total = answer.measurements?.find(({ metric }) => metric === 'gpu.memory.total');
    assert.ok(total?.observed.kind === 'reading' && total.observed.value === 23_000 * 2 ** 20);
    assert.ok(!asked.some(({ path }) => path.includes('exp-3')));
  });

  test('one exporter that fails leaves the others and the engines', async () => {
    pod('vllm-a', { node: 'node-1' });
    pod('vllm-b', { node: 'node-2' });
    deviceExporter('exp-1', 'node-1', { app: 'dcgm-exporter' });
    deviceExporter('exp-2', 'node-2', { app: 'dcgm-exporter' });
    pages((name, _, __, ___, response) => {
      if (name === 'exp-1') {
        response.writeHead(503).end('no endpoints');
        return undefined;
      }
      return name === 'exp-2' ? dcgm('node-2', 'vllm-b') : vllm(1, 1);
    });
    const answer = await read();
    assert.equal(answer.status.state, 'partial');
    assert.equal(answer.measurements?.filter(({ metric }) => metric === 'gpu.utilization').length, 1);
    assert.equal(value(answer, 'queue.waiting'), 2);
    assert.match(answer.status.problems[0]?.what ?? '', /\/metrics of pod gpu-operator\/exp-1/);
  });

  test('GPUs that no label explains have no pod', async () => {
    pod('vllm-a');
    deviceExporter('exp-1', 'node-1', { app: 'dcgm-exporter' });
    pages((name) => (name === 'exp-1' ? 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-x"} 10\n' : vllm(0, 1)));
    const gpu = (await read()).measurements?.find(({ metric }) => metric === 'gpu.utilization');
    assert.ok(
      gpu?.subject.kind === 'device' && gpu.subject.pod === undefined && gpu.subject.node === 'node-1',
    );
  });
});

describe('what goes wrong', () => {
  test('one pod of many that resets, is slow, or answers nonsense leaves the others', async () => {
    for (const name of ['vllm-a', 'vllm-b', 'vllm-c', 'vllm-d', 'vllm-e']) pod(name);
    pages((name, _, __, ___, response) => {
      switch (name) {
        case 'vllm-a':
          response.destroy();
          return undefined;
        case 'vllm-b':
          return undefined;
        case 'vllm-c':
          return '<html>no metrics here</html>';
        case 'vllm-d':
          response.writeHead(200, { 'content-length': '1000' });
          response.write('vllm:num_requests_waiting 4');
          setImmediate(() => response.destroy());
          return undefined;
        default:
          return vllm(7, 1);
      }
    });
    const answer = await read();
    assert.equal(answer.status.state, 'partial');
    assert.equal(value(answer, 'queue.waiting'), 7);
    const told = answer.status.problems.map(({ what, why }) => `${why} ${what}`).sort();
    assert.deepEqual(told, [
      'failed /metrics of 2 pods (chat/vllm-a, chat/vllm-d)',
      'nonsense /metrics of pod chat/vllm-c',
      'slow /metrics of pod chat/vllm-b',
    ]);
  });

  test('the right that is missing is told once, not for each pod and port', async () => {
    for (const name of ['vllm-a', 'vllm-b', 'vllm-c']) pod(name);
    const asked = pages((_, __, ___, ____, response) => {
      forbid(response, `User cannot get pods/proxy; token ${token}`);
      return undefined;
    });
    const answer = await read();
    assert.equal(answer.status.state, 'denied');
    assert.equal(asked.length, 3);
    assert.deepEqual(
      answer.status.problems.map(({ missing }) => missing),
      [{ kind: 'rbac', apiGroups: [''], resources: ['pods/proxy'], verbs: ['get'], namespace: 'chat' }],
    );
    assert.ok(answer.exportedNames?.kind === 'absent' && answer.exportedNames.why === 'denied');
    assert.ok(!JSON.stringify(answer).includes(token));
  });

  test('a pod that is being started is no problem, and is asked again', async () => {
    pod('vllm-a', { isReady: false });
    let isUp = false;
    pages((_, __, ___, ____, response) => {
      if (isUp) return vllm(1, 1);
      response.writeHead(502).end('dial tcp: connection refused');
      return undefined;
    });
    assert.deepEqual((await read()).status.problems, []);
    isUp = true;
    time += 10_000;
    assert.equal(value(await read(), 'queue.waiting'), 1);
  });

  test('a workload that prints no metrics is not tried at every refresh', async () => {
    pod('vllm-a');
    const asked = pages((_, __, ___, ____, response) => {
      response.writeHead(404).end();
      return undefined;
    });
    const answer = await read();
    assert.equal(answer.status.state, 'failed');
    const once = asked.length;
    time += 15_000;
    await read();
    assert.equal(asked.length, once);
    time += 60_000;
    await read();
    assert.ok(asked.length > once);
  });

  test('reading can be cancelled', async () => {
    pod('vllm-a');
    const stop = new AbortController();
    pages(() => {
      stop.abort(new Error('hidden'));
      return undefined;
    });
    await assert.rejects(cluster.engineMetrics.read(wantOf({}, { now: time }), stop.signal), /hidden/);
  });
});
