/**
 * The live panel of 1,000 pods on 100 nodes with eight GPUs each: how long until the first model after the lists have
 * answered, how long from a change in the cluster to a new model, and what memory does over an hour of changes.
 *
 * `npm run bench -- live`, with `--expose-gc` set by itself.
 */
import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { metricIds } from '../server/src/live/vocabulary';
import type { Want } from '../server/src/live/want';
import { buildPanelModel } from '../server/src/panel/build';
import type { PanelModel } from '../server/src/panel/model';
import { connectCluster } from '../server/src/sources/cluster';
import { createCollector, type Collector } from '../server/src/sources/collect';
import { Workspace } from '../server/src/workspace/workspace';

/** Changes of an hour in which every second ten pods change. */
const hourOfChanges = 36_000;
const batch = 600;

function milliseconds(from: number): string {
  return `${Math.round(performance.now() - from)} ms`;
}

async function told(child: ChildProcess): Promise<{ readonly kind: string; readonly kubeconfig?: string }> {
  return new Promise((resolve) =>
    child.once('message', (message) => resolve(message as { kind: string; kubeconfig?: string })),
  );
}

/** Reads, and makes the model. */
async function panel(collector: Collector, signal: AbortSignal): Promise<PanelModel> {
  const snapshot = await collector.read(wantNow(), signal);
  return buildPanelModel(Workspace.empty, [], snapshot, snapshot.at);
}

function megabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function say(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(72)} ${value.padStart(12)}\n`);
}

const wantNow = (): Want => ({
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'chat', name: 'vllm' },
  engine: 'vllm',
  range: '1h',
  now: Date.now(),
  metrics: metricIds,
  allocationLabels: [],
  history: true,
});

async function main(): Promise<void> {
  const child = fork(join(__dirname, 'live-server.ts'), { execArgv: ['--import', 'tsx'] });
  const { kubeconfig = '' } = await told(child);
  const cluster = connectCluster({ kubeconfig, env: {} });
  const never = new AbortController().signal;
  // The library that reads a kubeconfig is loaded once for each process, and is not what is measured.
  await cluster.world.client();

  const kubernetes = createCollector({ sources: [cluster.kubernetes], refresh: 15_000 });
  let from = performance.now();
  const snapshot = await kubernetes.read(wantNow(), never);
  say('first reading: lists of 1,000 pods and 100 nodes, from the request', milliseconds(from));
  from = performance.now();
  const model = buildPanelModel(Workspace.empty, [], snapshot, snapshot.at);
  say('  the model of it', milliseconds(from));
  if (model.pods.kind !== 'shown' || model.pods.value.rows.length !== 1_000)
    throw new Error('pods are missing');
  from = performance.now();
  await panel(kubernetes, never);
  say('reading and model once the lists are known', milliseconds(from));

  const all = createCollector({ sources: [cluster.kubernetes, cluster.engineMetrics], refresh: 15_000 });
  from = performance.now();
  const full = await all.read(wantNow(), never);
  say('with the metrics of 250 pods and 100 exporters, from the request', milliseconds(from));
  from = performance.now();
  buildPanelModel(Workspace.empty, [], full, full.at);
  say(`  the model of it, of ${full.measurements.length} measurements`, milliseconds(from));

  const updates: number[] = [];
  const stop = new AbortController();
  let heard: () => void = () => undefined;
  cluster.kubernetes.watch?.(wantNow(), () => heard(), stop.signal);
  for (let index = 0; index < 20; index++) {
    const change = new Promise<void>((resolve) => (heard = resolve));
    const done = told(child);
    child.send({ kind: 'churn', count: 1 });
    await change;
    const at = performance.now();
    await panel(kubernetes, never);
    updates.push(performance.now() - at);
    await done;
  }
  heard = () => undefined;
  updates.sort((a, b) => a - b);
  say('from a change that is heard of to the new model, median of 20', `${Math.round(updates[10] ?? 0)} ms`);
  say('  the fastest', `${Math.round(updates[0] ?? 0)} ms`);

  from = performance.now();
  const heap: number[] = [megabytes()];
  for (let sent = batch; sent <= hourOfChanges; sent += batch) {
    const done = told(child);
    child.send({ kind: 'churn', count: batch });
    await done;
    // A reading each minute of the hour, of everything.
    await panel(all, never);
    if ((sent * 6) % hourOfChanges === 0) heap.push(megabytes());
  }
  const minutes = heap.map((each) => Math.round(each)).join(', ');
  say(`MiB of heap, every ten minutes of an hour with ${hourOfChanges} changes`, minutes);
  say('  it took', milliseconds(from));

  stop.abort();
  await all.dispose();
  await cluster.dispose();
  child.send({ kind: 'end' });
}

if (globalThis.gc === undefined) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', __filename], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else {
  void main();
}
