import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  CloudWatchClient,
  PutMetricAlarmCommand,
  PutMetricDataCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { parse } from 'yaml';
import type { Measurement } from '../../server/src/live/measurement';
import type { Part } from '../../server/src/live/reading';
import { metricIds, type MetricId } from '../../server/src/live/vocabulary';
import type { Want } from '../../server/src/live/want';
import { buildPanelModel } from '../../server/src/panel/build';
import { cloudWatchSource } from '../../server/src/sources/cloudwatch';
import { connectCluster, type Cluster } from '../../server/src/sources/cluster';
import { createCollector } from '../../server/src/sources/collect';
import { prometheusSource } from '../../server/src/sources/prometheus';
import { Workspace } from '../../server/src/workspace/workspace';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { engineExposition, gpuExposition, startExporter, type Exporter } from './lab/exporter';
import { apply } from './lab/manifest';
import { addNode, deadlineMs, removeNode, trouble, waitForRunning } from './lab/nodes-and-pods';
import type { User } from './lab/state';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';

/** The sources, asked about a real cluster, a real Prometheus, and what stands in for CloudWatch. */

let lab: Lab;
let api: Api;
let engine: Exporter;
let gpus: Exporter | undefined;
let namespace: string;
const node = 'sources-1';
const app = 'chat';
const never = new AbortController().signal;
const opened: Cluster[] = [];
/** Requests that wait, in the pod that is asked first. */
const waiting = 12;
let finished = 100;

before(async () => {
  lab = useLab();
  api = lab.admin;
  namespace = await lab.namespace('sources');
  await addNode(
    api,
    node,
    { cpu: '64', memory: '256Gi', 'nvidia.com/gpu': '4' },
    { labels: { 'node.kubernetes.io/instance-type': 'g6.12xlarge', 'karpenter.sh/capacity-type': 'spot' } },
  );
  let first: string | undefined;
  engine = await startExporter(0, (address) => {
    first ??= address;
    finished += 5;
    return engineExposition({
      model: 'Qwen/Qwen2.5-7B-Instruct',
      running: 8,
      waiting: address === first ? waiting : 0,
      kvCacheUsage: 0.9,
      finished,
      timesToFirstToken: Array.from({ length: finished }, (_, index) => 0.05 + (index % 10) / 20),
    });
  });
  await deploy(2);
});

after(async () => {
  for (const cluster of opened) await cluster.dispose();
  await lab.close();
  await removeNode(api, node);
  await engine.close();
  await gpus?.close();
});

async function deploy(replicas: number): Promise<void> {
  const labels = { app };
  await apply(
    api,
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: app },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: {
            labels,
            annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(engine.port) },
          },
          spec: {
            nodeSelector: { 'kubernetes.io/hostname': node },
            containers: [
              {
                name: 'vllm',
                image: 'vllm/vllm-openai:v0.11.0',
                env: [{ name: 'HF_TOKEN', value: 'planted-in-env' }],
                resources: {
                  requests: { cpu: '1', memory: '4Gi' },
                  limits: { memory: '8Gi', 'nvidia.com/gpu': '1' },
                },
              },
            ],
          },
        },
      },
    }),
    namespace,
  );
  await waitForRunning(api, namespace, `app=${app}`, replicas);
}

function connect(user: User): Cluster {
  const cluster = connectCluster({ kubeconfig: lab.state.kubeconfigs[user], env: {} });
  opened.push(cluster);
  return cluster;
}

function wantOf(more: Partial<Want> = {}): Want {
  return {
    object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: app },
    engine: 'vllm',
    range: '15m',
    now: Date.now(),
    metrics: metricIds,
    allocationLabels: [],
    history: true,
    ...more,
  };
}

const known = <T>(part: Part<T> | undefined): T => {
  assert.equal(part?.kind, 'known', part?.kind === 'absent' ? `${part.why}: ${part.message}` : 'not there');
  return (part as Extract<Part<T>, { kind: 'known' }>).value;
};

function workloadValue(
  measurements: readonly Measurement[] | undefined,
  metric: MetricId,
): number | undefined {
  const found = measurements?.find((each) => each.metric === metric && each.subject.kind === 'workload');
  return found?.observed.kind === 'reading' ? found.observed.value : undefined;
}

describe('the Kubernetes API', () => {
  test('the workload, its pods, its node, and no value of an environment variable', async () => {
    const cluster = connect('admin');
    const answer = await cluster.kubernetes.read(wantOf(), never);
    assert.deepEqual(answer.status.problems, []);
    assert.equal(known(answer.cluster?.workload).replicas.ready, 2);
    assert.equal(known(answer.cluster?.pods).length, 2);
    const own = known(answer.cluster?.nodes).find(({ name }) => name === node);
    assert.equal(own?.instanceType, 'g6.12xlarge');
    assert.equal(own.capacityType, 'spot');
    const use = known(answer.cluster?.nodeUse).find((each) => each.node === node);
    assert.equal(use?.requested['nvidia.com/gpu'], 2);
    assert.match(answer.context?.serverVersion ?? '', /^v1\./);
    assert.ok(!JSON.stringify(answer).includes('planted-in-env'), 'a planted value');
    assert.ok(!JSON.stringify(answer).includes(lab.state.tokens.admin), 'the token');
  });

  test('an OOM kill is heard of within five seconds', async () => {
    const cluster = connect('admin');
    const [{ pod } = { pod: { name: '' } }] = known(
      (await cluster.kubernetes.read(wantOf(), never)).cluster?.pods,
    );
    const stop = new AbortController();
    const heard = new Promise<void>((resolve) => cluster.kubernetes.watch?.(wantOf(), resolve, stop.signal));
    const killedAt = Date.now();
    await trouble(api, namespace, pod.name, 'vllm', { kind: 'OOMKilled', restarts: 1 });
    await heard;
    const answer = await cluster.kubernetes.read(wantOf(), never);
    const took = Date.now() - killedAt;
    stop.abort();
    const view = known(answer.cluster?.pods).find((each) => each.pod.name === pod.name);
    assert.equal(view?.containers[0]?.lastTermination?.reason, 'OOMKilled');
    assert.equal(view.containers[0].lastTermination.exitCode, 137);
    assert.ok(took < 5_000, `${took} ms`);
  });

  test('a list that was compacted away is listed anew', async () => {
    // What the API server itself says of a version that it no longer has.
    const gone = await api.call(
      'GET',
      `/api/v1/namespaces/${namespace}/pods?watch=true&resourceVersion=1&timeoutSeconds=1`,
    );
    assert.ok(gone.status === 200 || gone.status === 410, String(gone.status));
    const cluster = connect('admin');
    await cluster.kubernetes.read(wantOf(), never);
    await deploy(3);
    await waitFor(
      'the third pod is known',
      async () => {
        const answer = await cluster.kubernetes.read(wantOf(), never);
        return known(answer.cluster?.pods).length === 3 ? true : undefined;
      },
      deadlineMs,
    );
    await deploy(2);
  });
});

describe('rights', () => {
  const rbac = 'rbac.authorization.k8s.io/v1';
  const page = readFileSync(join(__dirname, '../../docs/permissions.md'), 'utf8');
  const role = parse(/```yaml\n([^]*?)\n```/.exec(page)?.[1] ?? '') as KubeObject & {
    readonly rules: readonly JsonObject[];
  };

  test('without any: what is missing, rule by rule', async () => {
    const { status } = await connect('stranger').kubernetes.read(wantOf(), never);
    assert.equal(status.state, 'denied');
    const missing = status.problems.flatMap((problem) =>
      problem.missing?.kind === 'rbac' ? problem.missing.resources : [],
    );
    for (const resource of [
      'pods',
      'nodes',
      'events',
      'deployments',
      'horizontalpodautoscalers',
      'nodepools',
    ])
      assert.ok(missing.includes(resource), resource);
  });

  test('with those of one namespace: what the namespace says', async () => {
    const name = 'sources-namespaced';
    const rules = role.rules.map((rule) => ({
      ...rule,
      resources: (rule['resources'] as readonly string[]).filter(
        (each) => !/^(nodes|namespaces)$/.test(each),
      ),
    }));
    await apply(
      api,
      [
        { apiVersion: rbac, kind: 'Role', metadata: { name }, rules },
        {
          apiVersion: rbac,
          kind: 'RoleBinding',
          metadata: { name },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'stranger' }],
        },
      ]
        .map((object) => JSON.stringify(object))
        .join('\n---\n'),
      namespace,
    );
    const own = `/api/v1/namespaces/${namespace}/pods`;
    await waitFor(
      'the rights are in force',
      async () => ((await lab.as('stranger').call('GET', own)).status === 200 ? true : undefined),
      deadlineMs,
    );
    const cluster = connect('stranger');
    const answer = await cluster.kubernetes.read(wantOf(), never);
    assert.equal(answer.status.state, 'partial');
    assert.equal(known(answer.cluster?.pods).length, 2);
    assert.ok(answer.cluster?.nodes?.kind === 'absent' && answer.cluster.nodes.why === 'denied', 'nodes');
    assert.ok(
      answer.status.problems.every(
        ({ missing }) => missing?.kind === 'rbac' && missing.namespace !== namespace,
      ),
      JSON.stringify(answer.status.problems),
    );
    await api.delete(`/apis/${rbac}/namespaces/${namespace}/rolebindings/${name}`);
  });

  test('with the ClusterRole of the documentation: everything, and nothing that is secret', async () => {
    const { name } = role.metadata;
    const path = '/apis/rbac.authorization.k8s.io/v1';
    await api.delete(`${path}/clusterrolebindings/${name}`);
    await api.delete(`${path}/clusterroles/${name}`);
    await api.send('POST', `${path}/clusterroles`, { body: role });
    await api.send('POST', `${path}/clusterrolebindings`, {
      body: {
        apiVersion: rbac,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'stranger' }],
      },
    });
    try {
      await waitFor(
        'the rights are in force',
        async () =>
          (await lab.as('stranger').call('GET', '/api/v1/nodes')).status === 200 ? true : undefined,
        deadlineMs,
      );
      const cluster = connect('stranger');
      const answer = await cluster.kubernetes.read(wantOf(), never);
      assert.deepEqual(answer.status.problems, []);
      assert.equal(answer.status.state, 'ok');
      assert.equal(
        (await lab.as('stranger').call('GET', `/api/v1/namespaces/${namespace}/secrets`)).status,
        403,
      );
      if (lab.hasPodNetwork) {
        const metrics = await cluster.engineMetrics.read(wantOf(), never);
        assert.deepEqual(metrics.status.problems, []);
        assert.equal(workloadValue(metrics.measurements, 'queue.waiting'), waiting);
      }
      assert.equal((await cluster.workloads(namespace, never)).length, 1);
      assert.equal((await cluster.find(namespace, 'deploy', app, never))?.name, app);
    } finally {
      await api.delete(`${path}/clusterrolebindings/${name}`);
      await api.delete(`${path}/clusterroles/${name}`);
    }
  });
});

test('engines and GPUs through the pod proxy, without any Prometheus', async (context) => {
  if (!lab.hasPodNetwork) {
    context.skip('without a network of its own nobody answers for pods');
    return;
  }
  const cluster = connect('admin');
  const [pod] = known((await cluster.kubernetes.read(wantOf(), never)).cluster?.pods);
  gpus = await startExporter(0, () =>
    gpuExposition(node, [
      {
        gpu: 0,
        uuid: 'GPU-1',
        model: 'NVIDIA L4',
        utilization: 87,
        memoryUsedMiB: 20_000,
        memoryFreeMiB: 3_000,
        powerWatts: 60,
        temperatureCelsius: 64,
        xid: 0,
        pod: { namespace, name: pod?.pod.name ?? '', container: 'vllm' },
      },
    ]),
  );
  const labels = { 'app.kubernetes.io/name': 'dcgm-exporter' };
  await apply(
    api,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'dcgm', labels },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': node },
        containers: [
          {
            name: 'dcgm',
            image: 'nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0',
            ports: [{ containerPort: gpus.port }],
          },
        ],
      },
    }),
    namespace,
  );
  await waitForRunning(api, namespace, 'app.kubernetes.io/name=dcgm-exporter', 1);
  const other = connect('admin');
  const first = await other.engineMetrics.read(wantOf(), never);
  assert.deepEqual(first.status.problems, []);
  assert.equal(workloadValue(first.measurements, 'queue.waiting'), waiting);
  assert.equal(workloadValue(first.measurements, 'queue.running'), 16);
  const gpu = first.measurements?.find(({ metric }) => metric === 'gpu.utilization');
  assert.ok(gpu?.observed.kind === 'reading' && gpu.observed.value === 0.87, JSON.stringify(gpu));
  assert.ok(
    gpu.subject.kind === 'device' && gpu.subject.pod?.name === pod?.pod.name && gpu.subject.node === node,
    JSON.stringify(gpu.subject),
  );
  const percentile = await waitFor(
    'a second reading',
    async () => {
      const answer = await other.engineMetrics.read(wantOf(), never);
      return workloadValue(answer.measurements, 'ttft.p95');
    },
    30_000,
  );
  assert.ok(percentile > 0.05 && percentile <= 1, String(percentile));
  await api.delete(`/api/v1/namespaces/${namespace}/pods/dcgm`);
});

describe('Prometheus', () => {
  test('takes every query, for every engine and range', async () => {
    const problems: string[] = [];
    for (const engineName of [
      'vllm',
      'sglang',
      'tgi',
      'triton',
      'ray-serve',
      'tensorrt-llm',
      'nim',
      'llama-cpp',
      'unknown',
    ] as const) {
      const source = prometheusSource({
        place: { kind: 'url', url: lab.state.prometheus },
        hint: () => Promise.resolve({ nodes: [node, 'b.c'], hpa: 'chat' }),
      });
      const { status } = await source.read(
        wantOf({ engine: engineName, range: engineName === 'vllm' ? '7d' : '1h' }),
        never,
      );
      problems.push(...status.problems.map(({ what, message }) => `${engineName}: ${what}: ${message}`));
      await source.dispose();
    }
    assert.deepEqual(problems, []);
  });

  test('says what the engines printed', async (context) => {
    if (!lab.hasPodNetwork) {
      context.skip('without a network of its own Prometheus reads no pods');
      return;
    }
    const source = prometheusSource({ place: { kind: 'url', url: lab.state.prometheus } });
    const answer = await waitFor(
      'Prometheus has read the pods for a while',
      async () => {
        const read = await source.read(wantOf({ history: false }), never);
        return workloadValue(read.measurements, 'queue.waiting') !== undefined &&
          workloadValue(read.measurements, 'ttft.p95') !== undefined &&
          (workloadValue(read.measurements, 'requests.rate') ?? 0) > 0
          ? read
          : undefined;
      },
      60_000,
    );
    assert.equal(workloadValue(answer.measurements, 'queue.waiting'), waiting);
    assert.equal(workloadValue(answer.measurements, 'queue.running'), 16);
    assert.equal(workloadValue(answer.measurements, 'kv-cache.usage'), 0.9);
    // A step of the range passes before the first point is drawn.
    await waitFor(
      'the queue is drawn',
      async () => {
        const history = await source.read(wantOf(), never);
        const drawn = history.series?.find(({ metric }) => metric === 'queue.waiting');
        return drawn?.values.some((value) => value === waiting) === true ? drawn : undefined;
      },
      120_000,
    );
    await source.dispose();
  });
});

describe('CloudWatch', () => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const region = 'us-east-1';

  test('metrics and alarms; the percentile that is not answered takes nothing else away', async () => {
    const client = new CloudWatchClient({ endpoint: lab.state.cloudWatch, region, credentials });
    const dimensions = [
      { Name: 'ClusterName', Value: 'lab' },
      { Name: 'Namespace', Value: namespace },
      { Name: 'PodName', Value: app },
    ];
    const when = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 120_000);
    await client.send(
      new PutMetricDataCommand({
        Namespace: 'ContainerInsights',
        MetricData: [
          { MetricName: 'pod_gpu_memory_utilization', Dimensions: dimensions, Timestamp: when, Value: 91 },
          { MetricName: 'replicas_ready', Dimensions: dimensions, Timestamp: when, Value: 2 },
          {
            MetricName: 'cluster_failed_node_count',
            Dimensions: dimensions.slice(0, 1),
            Timestamp: when,
            Value: 1,
          },
        ],
      }),
    );
    await client.send(
      new PutMetricAlarmCommand({
        AlarmName: `vram-${namespace}`,
        Namespace: 'ContainerInsights',
        MetricName: 'pod_gpu_memory_utilization',
        Dimensions: dimensions,
        Statistic: 'Maximum',
        Period: 60,
        EvaluationPeriods: 15,
        Threshold: 85,
        ComparisonOperator: 'GreaterThanThreshold',
      }),
    );
    await client.send(
      new SetAlarmStateCommand({
        AlarmName: `vram-${namespace}`,
        StateValue: 'ALARM',
        StateReason: 'of a test',
      }),
    );
    client.destroy();

    const source = cloudWatchSource({
      access: { region, endpoint: lab.state.cloudWatch, credentials: () => Promise.resolve(credentials) },
      cluster: 'lab',
    });
    const answer = await source.read(wantOf({ metrics: metricIds }), never);
    assert.equal(workloadValue(answer.measurements, 'gpu.memory.usage'), 0.91);
    assert.equal(workloadValue(answer.measurements, 'replicas.ready'), 2);
    const failed = answer.measurements?.find(({ metric }) => metric === 'cluster.nodes.failed');
    assert.ok(failed?.observed.kind === 'reading' && failed.observed.value === 1, JSON.stringify(failed));
    const [alarm] = known(answer.alarms).filter(({ name }) => name === `vram-${namespace}`);
    assert.equal(alarm?.state, 'ALARM');
    assert.equal(alarm.rule, 'ContainerInsights pod_gpu_memory_utilization (Maximum) > 85 for 15 min');
    assert.ok((answer.status.cost?.calls ?? 0) >= 1, 'calls');
    await source.dispose();
  });
});

const bundle = join(__dirname, '../../dist/cli.js');

test(
  'the built command line reads it',
  { skip: existsSync(bundle) ? false : 'npm run build makes it' },
  () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        bundle,
        'status',
        `deploy/${app}`,
        '--namespace',
        namespace,
        '--format',
        'json',
        '--prometheus',
        lab.state.prometheus,
      ],
      { encoding: 'utf8', env: { ...process.env, KUBECONFIG: lab.state.kubeconfigs.admin } },
    );
    assert.equal(stderr, '');
    // A pod was killed above.
    assert.equal(status, 1, stdout);
    const { workloads } = JSON.parse(stdout) as {
      workloads: readonly { verdict: { name: string }; pods: readonly unknown[] }[];
    };
    assert.equal(workloads[0]?.verdict.name, 'crash-looping');
    assert.equal(workloads[0].pods.length, 2);
    assert.ok(!stdout.includes(lab.state.tokens.admin), 'the token');
  },
);

test('all of it together makes a panel', async () => {
  const cluster = connect('admin');
  const collector = createCollector({
    sources: [
      cluster.kubernetes,
      cluster.engineMetrics,
      prometheusSource({
        place: { kind: 'url', url: lab.state.prometheus },
        hint: (want, signal) => cluster.hint(want, signal),
      }),
    ],
    refresh: 15_000,
  });
  const snapshot = await collector.read(wantOf(), never);
  assert.equal(snapshot.sources.find(({ source }) => source === 'cloudwatch')?.state, 'not-configured');
  const model = buildPanelModel(Workspace.empty, [], snapshot, snapshot.at);
  assert.equal(model.pods.kind, 'shown');
  assert.ok(at(model as unknown as JsonObject, 'verdict', 'sentence') !== '', 'a sentence');
  await collector.dispose();
});
