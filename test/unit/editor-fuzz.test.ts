import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { cardMarkdown, cardText } from '../../server/src/editor/card';
import { complete } from '../../server/src/editor/completion/complete';
import { hintsFor } from '../../server/src/editor/hints';
import { hoverFor } from '../../server/src/editor/hover';
import { linksFor } from '../../server/src/editor/links';
import { definitionAt, referencesAt } from '../../server/src/editor/references';
import { sizingDocument } from '../../server/src/editor/sizing-report';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

/** Half-typed files: nothing throws, and every place that is named is in the file. */

const examples = resolve(__dirname, '..', '..', 'examples');
const kinds = { models: true, nodePools: true, workloads: true };

function filesOf(folder: string): ReadonlyMap<string, string> {
  const path = join(examples, folder);
  return new Map(
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.ya?ml$/.test(name))
      .map((name) => [`file:///ws/${name}`, readFileSync(join(path, name), 'utf8')]),
  );
}

/** Everything that the editor can ask at one place. */
function askAll(workspace: Workspace, uri: string, offset: number): void {
  const { length } = workspace.files.get(uri)?.text ?? '';
  const inside = ({ start, end }: { start: number; end: number }): void =>
    assert.ok(start >= 0 && start <= end && end <= length, `${start} to ${end} of ${length}`);
  const hover = hoverFor(workspace, uri, offset, []);
  if (hover !== undefined) {
    inside(hover.at);
    for (const card of hover.cards) assert.ok(cardMarkdown(card) !== '' && cardText(card) !== '');
  }
  const answer = complete(workspace, uri, offset);
  if (answer !== undefined) {
    inside(answer.replace);
    assert.ok(answer.replace.start <= offset && offset <= answer.replace.end);
  }
  const definition = definitionAt(workspace, uri, offset);
  if (definition !== undefined) inside(definition.origin);
  referencesAt(workspace, uri, offset, true);
}

// The pitfalls are smaller cuts of the same objects.
for (const folder of ['broken', 'healthy']) {
  describe(`examples/${folder}`, () => {
    const files = filesOf(folder);
    const whole = Workspace.empty.withAll([...files].map(([uri, text]) => parseFile(uri, text)));
    for (const [uri, text] of files) {
      test(uri.slice('file:///ws/'.length), () => {
        for (let length = 3; length <= text.length; length += 13) {
          const workspace = whole.with(parseFile(uri, text.slice(0, length)));
          askAll(workspace, uri, length);
          if (length % 5 !== 0) continue;
          for (const offset of [0, length >> 1, length - 2]) askAll(workspace, uri, offset);
          for (const hint of hintsFor(workspace, uri, { start: 0, end: length }, kinds, [])) {
            assert.ok(hint.at >= 0 && hint.at <= length && hint.text !== '');
          }
          for (const { at } of linksFor(workspace, uri)) assert.ok(at.start < at.end && at.end <= length);
          sizingDocument(workspace, uri, length, []);
        }
        // Every place of the finished file.
        for (let offset = 0; offset <= text.length; offset += 7) askAll(whole, uri, offset);
      });
    }
  });
}

test('text that is no manifest at all', () => {
  for (const text of [
    '',
    '---',
    '[',
    '{{',
    '- - -',
    'kind: Pod\nspec: 3',
    'a: &a [*a]',
    '\uFEFF# x\n---\n',
    'kind: List\napiVersion: v1\nitems: [{}, 3]',
  ]) {
    const workspace = Workspace.empty.with(parseFile('file:///ws/a.yaml', text));
    for (let offset = 0; offset <= text.length; offset += 1) askAll(workspace, 'file:///ws/a.yaml', offset);
    hintsFor(workspace, 'file:///ws/a.yaml', { start: 0, end: text.length }, kinds, []);
    linksFor(workspace, 'file:///ws/a.yaml');
    assert.equal(sizingDocument(workspace, 'file:///ws/a.yaml', undefined, []), undefined);
  }
});
