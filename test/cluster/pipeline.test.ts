import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { at, type Api } from './lab/api';
import type { Exporter } from './lab/exporter';
import { apply } from './lab/manifest';
import { conditionsText, podsIn, waitForRunning } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import { claimsOf, queueExporter, queuePipeline, removePool } from './queue-pipeline';

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
const longMs = 120_000;

before(async () => {
  lab = useLab();
  api = lab.admin;
  namespace = await lab.namespace('pipeline');
  exporter = await queueExporter(() => waiting);
  if (!lab.hasPodNetwork) {
    const target = { targets: [`127.0.0.1:${exporter.port}`], labels: { namespace, pod: 'all' } };
    writeFileSync(lab.state.prometheusTargets, JSON.stringify([target]));
  }
});

after(async () => {
  await lab.close();
  await removePool(api, pool);
  writeFileSync(lab.state.prometheusTargets, '[]');
  await exporter.close();
});

test('a queue of 40 at a threshold of 10 makes four pods on four new nodes, and an empty one takes them back', async () => {
  const objects = queuePipeline({
    namespace,
    app,
    pool,
    port: exporter.port,
    prometheus: lab.state.prometheus,
    capacityTypes: ['spot', 'on-demand'],
    leaveAtOnce: true,
  });
  for (const object of objects) await apply(api, JSON.stringify(object), namespace);

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
  await waitFor(
    'one node is left',
    async () => ((await claimsOf(api, pool)) === 1 ? true : undefined),
    longMs,
  );
});
