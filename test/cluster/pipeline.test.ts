import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { engineExposition, startExporter, type Exporter } from './lab/exporter';
import { apply } from './lab/manifest';
import { conditionsText, podsIn, waitForRunning } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';

/**
 * The whole way of a load: requests wait in an engine, Prometheus reads it, KEDA tells the HPA, the HPA adds replicas,
 * nothing has room for them, Karpenter launches nodes, and they run. And back, when the queue is empty.
 */

let lab: Lab;
let api: Api;
let exporter: Exporter;
let namespace: string;
/** Requests that wait, in all pods together. */
let waiting = 40;

const app = 'chat';
const pool = 'pipeline';
const nodePools = '/apis/karpenter.sh/v1/nodepools';
const nodeClaims = '/apis/karpenter.sh/v1/nodeclaims';
const longMs = 120_000;

before(async () => {
  lab = useLab();
  api = lab.admin;
  namespace = await lab.namespace('pipeline');
  // All of them in whoever is asked first: the query adds the pods up.
  let first: string | undefined;
  exporter = await startExporter(0, (address) => {
    first ??= address;
    return engineExposition({
      model: 'Qwen/Qwen2.5-7B-Instruct',
      running: 8,
      waiting: address === first ? waiting : 0,
      kvCacheUsage: 0.9,
      finished: 100,
      timesToFirstToken: [0.2, 0.4],
    });
  });
  if (!lab.hasPodNetwork) {
    const target = { targets: [`127.0.0.1:${exporter.port}`], labels: { namespace, pod: 'all' } };
    writeFileSync(lab.state.prometheusTargets, JSON.stringify([target]));
  }
});

after(async () => {
  await lab.close();
  await api.delete(`${nodePools}/${pool}`);
  await waitFor(
    'Karpenter takes its nodes away',
    async () => ((await claims()).length === 0 ? true : undefined),
    longMs,
  );
  writeFileSync(lab.state.prometheusTargets, '[]');
  await exporter.close();
});

async function claims(): Promise<readonly KubeObject[]> {
  return api.list(`${nodeClaims}?labelSelector=${encodeURIComponent(`karpenter.sh/nodepool=${pool}`)}`);
}

function manifests(): readonly JsonObject[] {
  const labels = { app };
  return [
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: pool },
      spec: {
        limits: { 'nvidia.com/gpu': '8' },
        disruption: {
          consolidationPolicy: 'WhenEmpty',
          consolidateAfter: '1s',
          budgets: [{ nodes: '100%' }],
        },
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
            taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }],
            requirements: [
              { key: 'karpenter.k8s.aws/instance-gpu-name', operator: 'In', values: ['a10g', 'l4'] },
              { key: 'karpenter.k8s.aws/instance-gpu-count', operator: 'In', values: ['1'] },
              { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: app, namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: {
            labels,
            annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(exporter.port) },
          },
          spec: {
            terminationGracePeriodSeconds: 0,
            containers: [
              {
                name: 'vllm',
                image: 'vllm/vllm-openai:v0.11.0',
                resources: {
                  requests: { cpu: '2', memory: '8Gi' },
                  limits: { memory: '8Gi', 'nvidia.com/gpu': '1' },
                },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name: app, namespace },
      spec: {
        scaleTargetRef: { name: app },
        pollingInterval: 1,
        minReplicaCount: 1,
        maxReplicaCount: 4,
        advanced: {
          horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
        },
        triggers: [
          {
            type: 'prometheus',
            metadata: {
              serverAddress: lab.state.prometheus,
              query: `sum(vllm:num_requests_waiting{namespace="${namespace}"})`,
              threshold: '10',
              ignoreNullValues: 'false',
            },
          },
        ],
      },
    },
  ];
}

test('a queue of 40 at a threshold of 10 makes four pods on four new nodes, and an empty one takes them back', async () => {
  for (const object of manifests()) await apply(api, JSON.stringify(object), namespace);

  const pods = await waitForRunning(api, namespace, `app=${app}`, 4, longMs);
  const nodes = new Set(pods.map((pod) => String(at(pod, 'spec', 'nodeName'))));
  assert.equal(nodes.size, 4, 'each pod has a node of its own');
  for (const name of nodes) {
    const node = await api.get(`/api/v1/nodes/${name}`);
    assert.equal(at(node, 'metadata', 'labels', 'karpenter.sh/nodepool'), pool);
    assert.equal(at(node, 'metadata', 'labels', 'karpenter.k8s.aws/instance-gpu-count'), '1');
  }
  const hpa = await api.get(
    `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/keda-hpa-${app}`,
  );
  assert.equal(at(hpa, 'status', 'desiredReplicas'), 4, conditionsText(hpa));
  if (lab.hasPodNetwork) assert.ok(exporter.asked.size >= 1, 'Prometheus asked at the address of a pod');

  waiting = 0;
  await waitFor(
    'one pod is left',
    async () => ((await podsIn(api, namespace, `app=${app}`)).length === 1 ? true : undefined),
    longMs,
    () => `HPA: ${conditionsText(hpa)}`,
  );
  await waitFor('one node is left', async () => ((await claims()).length === 1 ? true : undefined), longMs);
});
