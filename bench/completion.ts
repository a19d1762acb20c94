import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver-protocol/node';
import { getLanguageService } from 'yaml-language-server';
import { readSchema } from '../server/src/schema/disk-schemas';
import { schemaFolder } from '../schemas/build/made';
import { connect, uriOf } from '../test/protocol/support/client';

/**
 * Completion of a key in a file of 1,000 lines: the first answer of a server that has just been started, and those that
 * follow, for each kind; beside yaml-language-server with the schema of a Deployment for the whole file.
 *
 * `npx tsx bench/completion.ts`, with `dist/server.js` built.
 */

const server = join(__dirname, '..', 'dist', 'server.js');
const rounds = 20;

/** Kinds, each with an object that breaks off where a key is wanted. */
const objects: Readonly<Record<string, string>> = {
  Deployment: 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  ',
  StatefulSet: 'apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: a\nspec:\n  ',
  Job: 'apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  ',
  Service: 'apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  ',
  HorizontalPodAutoscaler:
    'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: a\nspec:\n  ',
  PodDisruptionBudget: 'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: a\nspec:\n  ',
  PersistentVolumeClaim: 'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: a\nspec:\n  ',
  ResourceQuota: 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: a\nspec:\n  ',
  NodePool: 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: a\nspec:\n  ',
  EC2NodeClass: 'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: a\nspec:\n  ',
  ScaledObject: 'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata:\n  name: a\nspec:\n  ',
  ServiceMonitor:
    'apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: a\nspec:\n  ',
  PrometheusRule:
    'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: a\nspec:\n  ',
};

function padded(object: string): string {
  const one = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: b\n---\n';
  const lines = object.split('\n').length;
  return `${one.repeat(Math.ceil((1000 - lines) / 7))}${object}`;
}

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;

async function measure(
  object: string,
): Promise<{ readonly cold: number; readonly warm: number; readonly items: number }> {
  const child = spawn(process.execPath, [server, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const client = await connect(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin), {
    folders: [],
  });
  const uri = uriOf('/ws/all.yaml');
  const text = padded(object);
  const document = TextDocument.create(uri, 'yaml', 1, text);
  await client.open(uri, text);
  const ask = async (): Promise<number> => {
    const position = document.positionAt(text.length);
    const answer = await client.connection.sendRequest<{ readonly items?: readonly unknown[] } | null>(
      'textDocument/completion',
      { textDocument: { uri }, position },
    );
    return answer?.items?.length ?? 0;
  };
  const timed = async (): Promise<{ readonly time: number; readonly items: number }> => {
    const start = performance.now();
    const items = await ask();
    return { time: performance.now() - start, items };
  };
  const first = await timed();
  const later: number[] = [];
  for (let round = 0; round < rounds; round += 1) later.push((await timed()).time);
  await client.stop();
  child.kill();
  return { cold: first.time, warm: median(later), items: first.items };
}

async function peer(): Promise<number> {
  const service = getLanguageService({
    schemaRequestService: () => Promise.reject(new Error('no network')),
    workspaceContext: { resolveRelativePath: (path) => path },
  });
  const schema = readSchema(schemaFolder, 'apps', 'v1', 'Deployment', 'full');
  service.configure({
    completion: true,
    validate: false,
    schemas: [{ uri: 'file:///deployment.json', fileMatch: ['*.yaml'], schema: schema as object }],
  });
  const text = padded(objects['Deployment'] ?? '');
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const document = TextDocument.create('file:///ws/all.yaml', 'yaml', round, text);
    const start = performance.now();
    await service.doComplete(document, document.positionAt(text.length), false);
    times.push(performance.now() - start);
  }
  return median(times);
}

async function main(): Promise<number> {
  if (!existsSync(server)) {
    process.stderr.write('dist/server.js is not there; npm run build makes it\n');
    return 2;
  }
  const warm: number[] = [];
  for (const [kind, object] of Object.entries(objects)) {
    const { cold, warm: later, items } = await measure(object);
    warm.push(later);
    process.stdout.write(
      `${kind.padEnd(26)} first ${cold.toFixed(0).padStart(4)} ms, then ${later.toFixed(1).padStart(5)} ms, ${items} items\n`,
    );
  }
  const other = await peer();
  process.stdout.write(
    `\nyaml-language-server alone, one schema for the file: ${other.toFixed(1)} ms; Plimsoll takes ${(median(warm) / other).toFixed(2)} of that\n`,
  );
  return 0;
}

void main().then((code) => (process.exitCode = code));
