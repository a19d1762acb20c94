import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metricIds } from '../../server/src/live/vocabulary';
import type { Want } from '../../server/src/live/want';
import { buildPanelModel } from '../../server/src/panel/build';
import type { PanelModel } from '../../server/src/panel/model';
import { connectCluster, type Cluster } from '../../server/src/sources/cluster';
import { createCollector, type Collector } from '../../server/src/sources/collect';
import { prometheusSource } from '../../server/src/sources/prometheus';
import { Workspace } from '../../server/src/workspace/workspace';
import type { Api, KubeObject } from './lab/api';
import type { Exporter } from './lab/exporter';
import { apply } from './lab/manifest';
import { trouble } from './lab/nodes-and-pods';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import { queueExporter, queuePipeline, removePool } from './queue-pipeline';

/**
 * What the panel says while a queue of 40 makes four pods on four new nodes: the numbers, the formula, why pods wait, what
 * Karpenter is doing, how long it took; then a container that is killed.
 */

let lab: Lab;
let api: Api;
let exporter: Exporter;
let cluster: Cluster;
let collector: Collector;
let namespace: string;
const app = 'chat';
const pool = 'panel';
const longMs = 120_000;
const never = new AbortController().signal;

before(async () => {
  lab = useLab();
  api = lab.admin;
  namespace = await lab.namespace('panel');
  exporter = await queueExporter(() => 40);
  cluster = connectCluster({ kubeconfig: lab.state.kubeconfigs.admin, env: {} });
  collector = createCollector({
    sources: [
      cluster.kubernetes,
      cluster.engineMetrics,
      prometheusSource({
        place: { kind: 'url', url: lab.state.prometheus },
        hint: (want, signal) => cluster.hint(want, signal),
      }),
    ],
    refresh: 5_000,
  });
});

after(async () => {
  await collector.dispose();
  await cluster.dispose();
  await lab.close();
  await removePool(api, pool);
  await exporter.close();
});

async function panel(): Promise<PanelModel> {
  const want: Want = {
    object: { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', namespace, name: app },
    engine: 'vllm',
    range: '15m',
    now: Date.now(),
    metrics: metricIds,
    allocationLabels: [],
    history: true,
  };
  const snapshot = await collector.read(want, never);
  return buildPanelModel(Workspace.empty, [], snapshot, snapshot.at);
}

const textOf = (value: unknown): string => JSON.stringify(value);

test('the panel of the ScaledObject, from the queue to four ready pods, and an OOM kill', async (context) => {
  if (!lab.hasPodNetwork) {
    context.skip('without a network of its own nobody answers for pods');
    return;
  }
  const objects = queuePipeline({
    namespace,
    app,
    pool,
    port: exporter.port,
    prometheus: lab.state.prometheus,
    capacityTypes: ['on-demand'],
    leaveAtOnce: false,
  });
  for (const object of objects) await apply(api, JSON.stringify(object), namespace);
  const seen = { formula: '', pending: '', claims: '', queue: '' };
  const done = await waitFor(
    'four pods are ready, and everything on the way was to be seen',
    async () => {
      const model = await panel();
      const { scaling } = model;
      if (scaling.kind !== 'shown') return undefined;
      const { value } = scaling;
      const formula = /ceil\(40 \/ 10\) = 4/.exec(textOf(value))?.[0];
      if (formula !== undefined) seen.formula = formula;
      if (value.pending.kind === 'shown') {
        const reason = /\d+\/\d+ nodes are available[^"]*/.exec(textOf(value.pending.value))?.[0];
        if (reason !== undefined) seen.pending = reason;
      }
      if (value.nodeClaims.kind === 'shown' && value.nodeClaims.value.rows.length > 0)
        seen.claims = textOf(value.nodeClaims.value.rows[0]);
      const queue = model.tiles.find(({ id }) => id === 'queue');
      if (queue?.shown.kind === 'value' && queue.shown.value === 40) seen.queue = queue.shown.text;
      const ready = model.tiles.find(({ id }) => id === 'replicas');
      const isReady = ready?.shown.kind === 'value' && ready.shown.value === 4;
      return isReady && seen.formula !== '' && seen.queue !== '' ? model : undefined;
    },
    longMs,
    () => textOf(seen),
  );
  assert.match(seen.pending, /nvidia\.com\/gpu/, 'the scheduler says why');
  assert.notEqual(seen.claims, '', 'NodeClaims under way were shown');
  assert.ok(done.scaling.kind === 'shown');
  assert.ok(done.scaling.value.coldStart.kind === 'shown', textOf(done.scaling.value.coldStart));
  assert.ok(done.scaling.value.coldStart.value.phases.length > 0);

  const [pod] = await api.list(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(`app=${app}`)}`,
  );
  const { name } = (pod as KubeObject).metadata;
  const killedAt = Date.now();
  await trouble(api, namespace, name, 'vllm', { kind: 'OOMKilled', restarts: 1 });
  const killed = await waitFor(
    'the triage is filled in',
    async () => {
      const model = await panel();
      return model.triage.kind === 'shown' && model.triage.value.some((each) => each.pod.name === name)
        ? model
        : undefined;
    },
    longMs,
  );
  assert.ok(Date.now() - killedAt < 5_000, `${Date.now() - killedAt} ms`);
  assert.match(textOf(killed.triage), /OOMKilled/);
  assert.match(textOf(killed.triage), /8 GiB/);
  assert.equal(killed.verdict.name, 'crash-looping');
});
