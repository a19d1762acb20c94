import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { defaultConfig } from '../server/src/engine/config';
import { lint } from '../server/src/engine/run';
import { Workspace } from '../server/src/workspace/workspace';
import { parseFile } from '../server/src/yaml/parse';

/** Public manifests beside the checkout, where there are any; the project does not depend on them. */
const corpus = resolve(__dirname, '../../shared/corpus');
const skip = existsSync(corpus) ? false : 'no corpus beside the checkout';

function manifestsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.(ya?ml|tpl)$/.test(path) && statSync(path).isFile());
}

test('public manifests: no rule crashes, and every finding is on text of its file', { skip }, () => {
  const config = defaultConfig({ defaults: { preset: 'strict' } });
  let checked = 0;
  for (const repository of readdirSync(corpus)) {
    const folder = join(corpus, repository);
    if (!statSync(folder).isDirectory()) continue;
    const files = manifestsBelow(folder).map((path) =>
      parseFile(pathToFileURL(path).href, readFileSync(path, 'utf8')),
    );
    const workspace = Workspace.empty.withAll(files);
    const result = lint(workspace, () => config);
    assert.deepEqual(result.internalErrors, [], repository);
    for (const { uri, findings } of result.files) {
      checked++;
      const text = workspace.files.get(uri)?.text ?? '';
      for (const { rule, at, fixes } of findings) {
        assert.ok(at.start >= 0 && at.end > at.start && at.end <= text.length, `${rule} in ${uri}`);
        assert.ok(!text.slice(at.start, at.end).includes('\n'), `${rule} spans lines in ${uri}`);
        for (const { title, edits } of fixes) {
          for (const edit of edits) assert.ok(edit.end <= text.length, `${title} of ${rule} in ${uri}`);
        }
      }
    }
  }
  assert.ok(checked > 300, `only ${checked} files were checked`);
});

test('public manifests: nothing is called missing in a template or a patch', { skip }, () => {
  const config = defaultConfig({ defaults: { preset: 'strict' } });
  const files = manifestsBelow(corpus).map((path) =>
    parseFile(pathToFileURL(path).href, readFileSync(path, 'utf8')),
  );
  const workspace = Workspace.empty.withAll(files);
  const incomplete = new Set([
    'kustomize-patch',
    'helm-template',
    'helm-values',
    'kustomization',
    'not-kubernetes',
  ]);
  for (const { uri, findings } of lint(workspace, () => config).files) {
    const file = workspace.files.get(uri);
    for (const { rule, at } of findings) {
      if (!/missing|absent|without|unbounded/.test(rule)) continue;
      const placed = file?.documents.findLast(({ offset }) => offset <= at.start);
      assert.ok(placed !== undefined);
      assert.ok(!incomplete.has(workspace.roleOf(uri, placed)), `${rule} in ${uri}`);
    }
  }
});

test('public manifests: no rule crashes on a file that stands alone', { skip }, () => {
  const config = defaultConfig();
  for (const path of manifestsBelow(corpus)) {
    const file = parseFile(pathToFileURL(path).href, readFileSync(path, 'utf8'));
    assert.deepEqual(lint(Workspace.empty.with(file), () => config).internalErrors, [], path);
  }
});
