import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { CloudWatchClient, GetMetricDataCommand, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { at, type Api, type JsonObject } from './lab/api';
import { engineExposition, gpuExposition, startExporter } from './lab/exporter';
import { apply } from './lab/manifest';
import { feedMetrics } from './lab/metrics-feed';
import { addNode, grant, podPath, podsIn, removeNode, trouble, waitForRunning } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';

/** That the lab does what tests and people at the panel rely on. */

let lab: Lab;
let api: Api;
const node = 'lab-1';

before(async () => {
  lab = useLab();
  api = lab.admin;
  await addNode(api, node, { cpu: '64', memory: '256Gi', 'nvidia.com/gpu': '4' });
});
after(async () => {
  await lab.close();
  await removeNode(api, node);
});

interface WorkloadOptions {
  readonly replicas: number;
  readonly port?: number;
}

async function runDeployment(
  namespace: string,
  name: string,
  { replicas, port }: WorkloadOptions,
): Promise<void> {
  const labels = { app: name };
  await apply(
    api,
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: {
            labels,
            annotations:
              port === undefined
                ? {}
                : { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(port) },
          },
          spec: { containers: [{ name: 'vllm', image: 'vllm/vllm-openai:v0.11.0' }] },
        },
      },
    }),
    namespace,
  );
  await waitForRunning(api, namespace, `app=${name}`, replicas);
}

test('kubectl works with the kubeconfig', () => {
  const { kubectl, kubeconfigs } = lab.state;
  const result = spawnSync(kubectl, [`--kubeconfig=${kubeconfigs.admin}`, 'get', 'nodes', '--output=name'], {
    encoding: 'utf8',
  });
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stdout, /^node\/lab-1$/m);
});

describe('users', () => {
  test('a stranger may do nothing, a viewer may look, but not at Secrets', async () => {
    const namespace = await lab.namespace('users');
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const strange = await lab.as('stranger').call('GET', pods);
    assert.equal(strange.status, 403);
    assert.match(String(at(strange.body, 'message')), /User "stranger" cannot list resource "pods"/);
    assert.equal((await lab.as('viewer').call('GET', pods)).status, 200);
    assert.equal((await lab.as('viewer').call('GET', `/api/v1/namespaces/${namespace}/secrets`)).status, 403);
    assert.equal((await lab.as('viewer').call('GET', '/api/v1/nodes')).status, 403);
  });

  test('rights can be given in one namespace', async () => {
    const [own, other] = [await lab.namespace('own'), await lab.namespace('other')];
    await grant(api, own, 'stranger', [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]);
    await waitFor(
      'the API server has seen the grant',
      async () =>
        (await lab.as('stranger').call('GET', `/api/v1/namespaces/${own}/pods`)).status === 200
          ? true
          : undefined,
      10_000,
    );
    assert.equal((await lab.as('stranger').call('GET', `/api/v1/namespaces/${other}/pods`)).status, 403);
  });
});

describe('pods', () => {
  test('are killed for their memory, and crash again and again', async () => {
    const namespace = await lab.namespace('trouble');
    await runDeployment(namespace, 'chat', { replicas: 2 });
    const [killed, crashing] = (await podsIn(api, namespace)).map(({ metadata }) => metadata.name);
    await trouble(api, namespace, killed ?? '', 'vllm', { kind: 'OOMKilled', restarts: 3 });
    await trouble(api, namespace, crashing ?? '', 'vllm', {
      kind: 'CrashLoopBackOff',
      restarts: 7,
      exitCode: 1,
    });

    const statusOf = async (name: string | undefined): Promise<JsonObject> =>
      at(await api.get(podPath(namespace, name ?? '')), 'status', 'containerStatuses', 0) as JsonObject;
    const first = await statusOf(killed);
    assert.equal(at(first, 'lastState', 'terminated', 'reason'), 'OOMKilled');
    assert.equal(at(first, 'lastState', 'terminated', 'exitCode'), 137);
    assert.equal(first['restartCount'], 3);
    const second = await statusOf(crashing);
    assert.equal(at(second, 'state', 'waiting', 'reason'), 'CrashLoopBackOff');
    assert.equal(at(second, 'lastState', 'terminated', 'exitCode'), 1);
    const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/chat`;
    await waitFor(
      'the Deployment counts one of two',
      async () => (at(await api.get(deployment), 'status', 'readyReplicas') === 1 ? true : undefined),
      30_000,
    );
  });

  test('go with their node', async () => {
    const namespace = await lab.namespace('node-gone');
    await addNode(api, 'lab-2', { cpu: '8', memory: '32Gi' }, { labels: { goes: 'away' } });
    await apply(
      api,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'lost', labels: { app: 'lost' } },
        spec: { nodeSelector: { goes: 'away' }, containers: [{ name: 'a', image: 'busybox:1.37' }] },
      }),
      namespace,
    );
    await waitForRunning(api, namespace, 'app=lost', 1);
    await removeNode(api, 'lab-2');
    assert.equal(await api.find('/api/v1/nodes/lab-2'), undefined);
    assert.equal(await api.find(podPath(namespace, 'lost')), undefined);
  });

  test('answer the pod proxy, each for itself', async (t) => {
    if (!lab.hasPodNetwork)
      return t.skip('the lab has no network of its own: it takes root, and the API server refuses loopback');
    const namespace = await lab.namespace('proxy');
    const exporter = await startExporter(0, (address) =>
      engineExposition({
        model: address,
        running: 1,
        waiting: 2,
        kvCacheUsage: 0.5,
        finished: 3,
        timesToFirstToken: [0.3],
      }),
    );
    try {
      await runDeployment(namespace, 'chat', { replicas: 2 });
      for (const pod of await podsIn(api, namespace)) {
        const address = String(at(pod, 'status', 'podIP'));
        const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}:${exporter.port}/proxy/metrics`;
        const answer = await api.call('GET', path);
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        assert.match(
          String(answer.body),
          new RegExp(`^vllm:num_requests_waiting\\{.*model_name="${address}"\\} 2$`, 'm'),
        );
        assert.equal((await lab.as('viewer').call('GET', path)).status, 403, 'looking is not enough');
      }
    } finally {
      await exporter.close();
    }
  });
});

/** The number that a query of Prometheus answers. */
async function query(text: string): Promise<number | undefined> {
  const response = await fetch(`${lab.state.prometheus}/api/v1/query?query=${encodeURIComponent(text)}`);
  const body = (await response.json()) as JsonObject;
  const value = at(body, 'data', 'result', 0, 'value', 1);
  return typeof value === 'string' ? Number(value) : undefined;
}

describe('metrics', () => {
  test('Prometheus scrapes engines and GPUs of pods', async (t) => {
    if (!lab.hasPodNetwork) return t.skip('the lab has no network of its own, for which it takes root');
    const namespace = await lab.namespace('scrape');
    const gpu = {
      gpu: 0,
      uuid: 'GPU-00000000-0000-0000-0000-000000000001',
      model: 'NVIDIA A10G',
      utilization: 97,
      memoryUsedMiB: 21000,
      memoryFreeMiB: 1500,
      powerWatts: 250,
      temperatureCelsius: 60,
      xid: 0,
      pod: { namespace, name: 'chat', container: 'vllm' },
    };
    const exporter = await startExporter(0, () =>
      [
        engineExposition({
          model: 'm',
          running: 4,
          waiting: 7,
          kvCacheUsage: 0.25,
          finished: 2,
          timesToFirstToken: [0.03, 1.5],
        }),
        gpuExposition(node, [gpu]),
      ].join(''),
    );
    try {
      await runDeployment(namespace, 'chat', { replicas: 1, port: exporter.port });
      const own = `{namespace="${namespace}"}`;
      assert.equal(await waitFor('the queue', () => query(`vllm:num_requests_waiting${own}`), 30_000), 7);
      assert.equal(await query(`vllm:kv_cache_usage_perc${own}`), 0.25);
      // Prometheus calls what the exporter says of a pod by another name than what it knows itself.
      assert.equal(await query(`DCGM_FI_DEV_GPU_UTIL{exported_namespace="${namespace}"}`), 97);
      assert.equal(
        await query(`vllm:time_to_first_token_seconds_bucket{namespace="${namespace}",le="0.1"}`),
        1,
      );
      const p95 = await query(
        `histogram_quantile(0.95, sum by (le) (vllm:time_to_first_token_seconds_bucket${own}))`,
      );
      assert.ok(p95 !== undefined && p95 > 1 && p95 <= 2.5, String(p95));
    } finally {
      await exporter.close();
    }
  });

  test('chosen numbers reach the HPA as metrics of objects and from outside; then KEDA serves those again', async () => {
    const namespace = await lab.namespace('feed');
    await runDeployment(namespace, 'chat', { replicas: 1 });
    const numbers = { object: '30', external: '10' };
    const feed = await feedMetrics(lab, {
      ofObject: (metric, resource, name) =>
        metric === 'requests-per-second' && `${resource}/${name}` === 'services/chat'
          ? numbers.object
          : undefined,
      external: (metric, selector) =>
        metric === 'queue' && selector === 'team=search' ? numbers.external : undefined,
    });
    try {
      const hpa = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'chat' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'chat' },
          maxReplicas: 10,
          metrics: [
            {
              type: 'Object',
              object: {
                describedObject: { apiVersion: 'v1', kind: 'Service', name: 'chat' },
                metric: { name: 'requests-per-second' },
                target: { type: 'AverageValue', averageValue: '10' },
              },
            },
            {
              type: 'External',
              external: {
                metric: { name: 'queue', selector: { matchLabels: { team: 'search' } } },
                target: { type: 'AverageValue', averageValue: '2' },
              },
            },
          ],
        },
      };
      await apply(api, JSON.stringify(hpa), namespace);
      // 30 per second at 10 are 3 pods; 10 in the queue at 2 for each are 5, and the larger number holds.
      await waitForRunning(api, namespace, 'app=chat', 5);
      numbers.external = '14';
      await waitForRunning(api, namespace, 'app=chat', 7);
    } finally {
      await feed.close();
    }
    const service = await api.get(
      '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.external.metrics.k8s.io',
    );
    assert.equal(at(service, 'spec', 'service', 'port'), lab.state.kedaAdapterPort);
  });

  test('CloudWatch keeps what is put into it', async () => {
    const client = new CloudWatchClient({
      endpoint: lab.state.cloudWatch,
      region: 'us-east-1',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    });
    try {
      const Namespace = `lab-${Date.now()}`;
      const Timestamp = new Date();
      const MetricData = [12, 18].map((Value) => ({ MetricName: 'queue', Value, Timestamp }));
      await client.send(new PutMetricDataCommand({ Namespace, MetricData }));
      const answer = await client.send(
        new GetMetricDataCommand({
          StartTime: new Date(Timestamp.getTime() - 600_000),
          EndTime: new Date(Timestamp.getTime() + 600_000),
          MetricDataQueries: [
            {
              Id: 'queue',
              MetricStat: { Metric: { Namespace, MetricName: 'queue' }, Period: 60, Stat: 'Average' },
            },
          ],
        }),
      );
      assert.deepEqual(answer.MetricDataResults?.[0]?.Values, [15]);
    } finally {
      client.destroy();
    }
  });
});
