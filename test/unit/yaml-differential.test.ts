/**
 * The reader of the plain subset against the `yaml` package: wherever the first reads a document, it reads exactly
 * what the second does, spans and comments included.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSubset } from '../../server/src/yaml/subset-reader';
import { readWithParser } from '../../server/src/yaml/parser';
import { splitDocuments } from '../../server/src/yaml/split';
import { anyValue, anyChoices, choices, isRoot, write } from './yaml-generate';
import { plain, snapshot } from './yaml-outline';

/** Returns whether the subset covers the text. */
function compare(text: string): boolean {
  const subset = readSubset(text);
  if (subset === undefined) return false;
  const parsed = readWithParser(text, false);
  assert.deepStrictEqual(snapshot(subset.root), snapshot(parsed.root));
  assert.deepStrictEqual(subset.comments, parsed.comments);
  assert.deepStrictEqual(subset.problems, parsed.problems);
  assert.equal(subset.templated, parsed.templated);
  return true;
}

const FRAGMENTS = [
  ...[
    'a: 1',
    'b:',
    'c: text # note',
    'd: yes',
    '"q": "x"',
    "'s': 'it''s'",
    'e: "a\\nb"',
    'f: "a\\tb"',
    'long key: v',
  ],
  ...['- x', '-', '- a: 1', '- b:', '- - y', '-  c: 2', '- # note', '- |', '- "q"', '- "q": r', '- [a, b]'],
  ...[
    'g: |',
    'h: |-',
    'i: >',
    'j: >-',
    'k: |+',
    'l: |2',
    'm: | # note',
    'n: [1, "b", c]',
    'o: {a: 1, "b": c}',
  ],
  ...[
    'p: []',
    'q: {}',
    'r: [',
    's: {',
    ']',
    '}',
    '],',
    '1, # note',
    '"x",',
    't: u,',
    '{',
    '}, {',
    'v: [{',
    '}]',
  ],
  ...[
    '# note',
    '#note',
    '',
    ' ',
    '    ',
    'text',
    'more: text: x',
    'url: http://x:80/#y',
    'w:',
    'x : y',
    '? z',
    ': z',
  ],
  ...[
    'a: &x 1',
    'b: *x',
    '<<: *x',
    'c: !!str 1',
    "d: 'open",
    'e: "open',
    'f: a\tb',
    '\tg: 1',
    'h: ${V}',
    'i: $(V)',
  ],
  ...[
    'j: -',
    'k: - x',
    'l: -1',
    'm: --x',
    'n: ?x',
    'o: :x',
    'p: @x',
    'q: %x',
    'r: =',
    '...',
    '--- x',
    's: "${V}"',
  ],
  ...[
    't: [a: b]',
    'u: [ a,b ,c ]',
    'v: [${V}]',
    'w: {a}',
    'x: {a: }',
    'y: [a,]',
    'z: "a" b',
    'k: [a] # c',
    'é: ü',
  ],
  ...[
    'a: {b: {c: [d, {e: f}]}}',
    'b: [-1, --x, -y]',
    'c: [x:y, http://z]',
    'd: {"a":1}',
    'e: [a#b, c #d',
    'f: >2',
  ],
];

const line = fc.record({ indent: fc.integer({ min: 0, max: 6 }), fragment: fc.constantFrom(...FRAGMENTS) });
const soup = fc
  .tuple(fc.array(line, { maxLength: 9 }), fc.boolean())
  .map(
    ([lines, end]) => lines.map((at) => ' '.repeat(at.indent) + at.fragment).join('\n') + (end ? '\n' : ''),
  );

test('lines at random', () => {
  let read = 0;
  fc.assert(
    fc.property(soup, (text) => {
      if (compare(text)) read++;
    }),
    { numRuns: 12_000, seed: 20 },
  );
  assert.ok(read > 500, `only ${read} texts are in the subset`);
});

for (const ways of [{}, { kyaml: true }, { kyaml: true, anchors: true }]) {
  test(`values written in many ways: ${JSON.stringify(ways)}`, () => {
    let read = 0;
    let total = 0;
    fc.assert(
      fc.property(anyValue, anyChoices, (given, stream) => {
        const text = write(given, choices(stream), ways);
        total++;
        if (compare(text)) read++;
        const { root, problems } = readSubset(text) ?? readWithParser(text, false);
        assert.deepEqual(problems, [], text);
        assert.deepEqual(plain(root), isRoot(given) ? given : { root: given }, text);
      }),
      { numRuns: 800, seed: 3 },
    );
    assert.ok('anchors' in ways || read > total * 0.75, `${read} of ${total} texts are in the subset`);
  });
}

function yamlFilesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

function compareFiles(files: readonly string[]): { documents: number; read: number } {
  let documents = 0;
  let read = 0;
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const { start, end, inline } of splitDocuments(text)) {
      documents++;
      if (!inline && compare(text.slice(start, end))) read++;
    }
  }
  return { documents, read };
}

test('fixtures and examples', () => {
  const root = resolve(__dirname, '../..');
  const { documents } = compareFiles(
    ['test/rules', 'examples'].flatMap((folder) => yamlFilesBelow(join(root, folder))),
  );
  assert.ok(documents > 10);
});

test('public manifests', (context) => {
  const corpus = resolve(__dirname, '../../../shared/corpus');
  let files: string[];
  try {
    files = yamlFilesBelow(corpus);
  } catch {
    context.skip('no corpus beside the project');
    return;
  }
  const { documents, read } = compareFiles(files);
  assert.ok(read > documents * 0.9, `${read} of ${documents} documents are in the subset`);
});
