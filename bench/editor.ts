import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { complete } from '../server/src/editor/completion/complete';
import { hintsFor } from '../server/src/editor/hints';
import { hoverFor } from '../server/src/editor/hover';
import { linksFor } from '../server/src/editor/links';
import { definitionAt, referencesAt } from '../server/src/editor/references';
import { Workspace } from '../server/src/workspace/workspace';
import { parseFile } from '../server/src/yaml/parse';

/**
 * What the editor asks on demand, in files of 5,000 lines: many documents, and one document with a long list. Before each
 * question the text has changed near the place that is asked about, so that nothing is answered from memory.
 */

const rounds = 25;
const examples = join(__dirname, '..', 'examples', 'healthy');
const chat = readFileSync(join(examples, 'chat.yaml'), 'utf8');
const nodes = readFileSync(join(examples, 'nodes.yaml'), 'utf8');
const uri = 'file:///ws/all.yaml';

function manyDocuments(): string {
  const lines = chat.split('\n').length + 1;
  return Array.from({ length: Math.ceil(5000 / lines) }, (_, index) =>
    chat.replaceAll('chat', `chat${index}`),
  ).join('\n---\n');
}

function oneDocument(): string {
  const variables = Array.from(
    { length: 2450 },
    (_, index) => `            - name: V${index}\n              value: "${index}"`,
  ).join('\n');
  const [first = ''] = chat.split('\n---');
  return first.replace('          ports:', `          env:\n${variables}\n          ports:`);
}

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;

for (const [title, text] of [
  ['many documents', manyDocuments()],
  ['one document', oneDocument()],
] as const) {
  let workspace = Workspace.empty.withAll([parseFile(uri, text), parseFile('file:///ws/nodes.yaml', nodes)]);
  process.stdout.write(`${title}, ${text.split('\n').length} lines\n`);
  const model = text.lastIndexOf('Qwen/');
  const name = text.lastIndexOf('name: chat') + 7;
  const selector = text.lastIndexOf('nodeSelector:');
  const key = text.indexOf('\n', selector) + 1 + 8;
  const questions: Readonly<Record<string, () => unknown>> = {
    'hover on a model': () => hoverFor(workspace, uri, model + 2, []),
    'hover on a selector': () => hoverFor(workspace, uri, selector + 2, []),
    'inlay hints of a page': () =>
      hintsFor(
        workspace,
        uri,
        { start: model - 2000, end: model + 2000 },
        { models: true, nodePools: true, workloads: true },
        [],
      ),
    'completion of a key': () => complete(workspace, uri, key),
    'completion where nothing is known': () => complete(workspace, uri, text.length - 1),
    'definition of a name': () => definitionAt(workspace, uri, name),
    'references to a name': () => referencesAt(workspace, uri, name, true),
    'document links': () => linksFor(workspace, uri),
  };
  for (const [question, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const edited = `${text.slice(0, model + 30)}${'#'.repeat(round % 2)}${text.slice(model + 30)}`;
      workspace = workspace.with(parseFile(uri, edited, workspace.files.get(uri)));
      // The tree of the document that was typed in is there already: its findings were asked for.
      workspace.resourcesOf(uri);
      const started = performance.now();
      ask();
      times.push(performance.now() - started);
    }
    process.stdout.write(`  ${question.padEnd(36)} ${median(times).toFixed(1).padStart(6)} ms\n`);
  }
}
