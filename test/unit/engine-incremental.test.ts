import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { defaultConfig } from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import { Workspace } from '../../server/src/workspace/workspace';
import type { SourceFile } from '../../server/src/yaml/document';
import { parseFile } from '../../server/src/yaml/parse';

/**
 * After every edit, what is kept from before must give the same findings as a lint that starts from nothing. The
 * edits are those that matter to others: numbers, names, labels and whole lines of one document.
 */

const root = resolve(__dirname, '../..');
const config = defaultConfig({ defaults: { preset: 'strict' } });
const configFor = (): typeof config => config;

function filesBelow(folder: string): readonly SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.ya?ml$/.test(path) && statSync(path).isFile())
    .sort()
    .map((path) => parseFile(pathToFileURL(path).href, readFileSync(path, 'utf8')));
}

const edits: readonly (readonly [what: string, (text: string) => string])[] = [
  ['a number', (text) => text.replace(/\b(\d)\b/, (digit) => String((Number(digit) + 1) % 10))],
  ['a label', (text) => text.replace(/\bapp(?=: )/, 'application')],
  ['a name', (text) => text.replace(/(name: )(\w+)/, '$1other-$2')],
  ['a comment above', (text) => `# more\n${text}`],
  ['the kind', (text) => text.replace('kind: Deployment', 'kind: DaemonSet')],
  ['the resources', (text) => text.replace(/memory: \S+/, 'memory: 1Gi')],
  ['nothing left', () => ''],
];

function compare(folder: string): number {
  let workspace = Workspace.empty.withAll(filesBelow(folder));
  lint(workspace, configFor);
  let compared = 0;
  for (const file of [...workspace.files.values()]) {
    for (const [what, edit] of edits) {
      const text = edit(file.text);
      if (text === file.text) continue;
      workspace = workspace.with(parseFile(file.uri, text, workspace.files.get(file.uri)));
      const kept = lint(workspace, configFor);
      const fresh = lint(
        Workspace.empty.withAll(
          [...workspace.files.values()].map(({ uri, text: now }) => parseFile(uri, now)),
        ),
        configFor,
      );
      assert.deepEqual(kept, fresh, `${what} in ${file.uri}`);
      compared++;
      workspace = workspace.with(parseFile(file.uri, file.text, workspace.files.get(file.uri)));
    }
  }
  return compared;
}

for (const example of ['broken', 'healthy']) {
  test(`examples/${example}: edits give what a fresh start gives`, () => {
    assert.ok(compare(join(root, 'examples', example)) > 10);
  });
}

for (const rule of [
  'missing-pdb',
  'hpa-target-missing-request',
  'replicas-with-autoscaler',
  'gpu-taint-not-tolerated',
  'rolling-update-needs-spare-gpu',
  'no-instance-type-fits',
  'service-name-breaks-engine',
  'missing-topology-spread',
]) {
  test(`fixtures of ${rule}: edits give what a fresh start gives`, () => {
    assert.ok(compare(join(root, 'test/rules', rule)) > 0);
  });
}

const corpus = resolve(root, '../shared/corpus/kubernetes__examples');
test(
  'public manifests: edits give what a fresh start gives',
  { skip: !existsSync(corpus) && 'no corpus' },
  () => {
    assert.ok(compare(corpus) > 5);
  },
);
