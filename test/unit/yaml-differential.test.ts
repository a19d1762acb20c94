/**
 * The reader of the plain subset against the `yaml` package: wherever the first reads a document, it reads exactly
 * what the second does, spans and comments included.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSubset } from '../../server/src/yaml/block-reader';
import { readWithParser } from '../../server/src/yaml/parser';
import { splitDocuments } from '../../server/src/yaml/split';
import { plain } from './yaml-outline';

/** Returns whether the subset covers the text. */
function compare(text: string): boolean {
  const subset = readSubset(text);
  if (subset === undefined) return false;
  assert.deepStrictEqual(subset, readWithParser(text, false));
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

type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

const word = fc.constantFrom(
  'name',
  'a-b',
  'nvidia.com/gpu',
  'x',
  '1.5',
  'true',
  '~',
  'two words',
  'é',
  "it's",
  '0x1F',
);
const value = fc.letrec<{ value: Value; scalar: Value; list: Value[]; map: Record<string, Value> }>(
  (tie) => ({
    value: fc.oneof({ maxDepth: 4 }, tie('scalar'), tie('list'), tie('map')),
    scalar: fc.oneof(
      word,
      fc.integer({ min: -9, max: 9 }),
      fc.boolean(),
      fc.constant(null),
      fc.constant('one\n\ntwo\n'),
    ),
    list: fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
    map: fc.dictionary(word, tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  }),
);

/** Writes a value in one of the ways people do, as the choices decide. */
function write(at: Value, choose: (count: number) => number): string {
  const quoted = (text: string): string =>
    choose(2) === 0 ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`;
  const comment = (): string => (choose(4) === 0 ? ' # note' : '');
  const gap = (indent: string): string => ['', '', '', '\n', `${indent}# note\n`][choose(5)] ?? '';

  function flow(inner: Value): string {
    if (Array.isArray(inner)) return `[${inner.map(flow).join(choose(2) === 0 ? ', ' : ',')}]`;
    if (typeof inner === 'object' && inner !== null) {
      const parts = Object.entries(inner).map(([key, item]) => `${quoted(key)}: ${flow(item)}`);
      return choose(2) === 0 ? `{ ${parts.join(', ')} }` : `{${parts.join(', ')}}`;
    }
    return typeof inner === 'string' ? JSON.stringify(inner) : String(inner);
  }

  function scalar(inner: string | number | boolean | null, indent: string): string {
    if (inner === null) return choose(2) === 0 ? ` null${comment()}\n` : `${comment()}\n`;
    if (typeof inner !== 'string') return ` ${String(inner)}${comment()}\n`;
    if (inner.includes('\n') && choose(3) > 0) {
      const body = inner.trimEnd().replace(/^(?=.)/gm, `${indent}  `);
      return ` |${inner.endsWith('\n') ? '' : '-'}${comment()}\n${body}\n`;
    }
    return inner.includes('\n')
      ? ` ${JSON.stringify(inner)}${comment()}\n`
      : ` ${quoted(inner)}${comment()}\n`;
  }

  function block(inner: Value, indent: string): string {
    if (Array.isArray(inner)) {
      return inner.map((item) => `${gap(indent)}${indent}-${child(item, indent, true)}`).join('');
    }
    return Object.entries(inner as Record<string, Value>)
      .map(
        ([key, item]) =>
          `${gap(indent)}${indent}${/^[a-z][\w./-]*$/.test(key) && key !== 'true' ? key : quoted(key)}:${child(item, indent, false)}`,
      )
      .join('');
  }

  function child(inner: Value, indent: string, inList: boolean): string {
    if (inner === null || typeof inner !== 'object') return scalar(inner, indent);
    if (choose(5) === 0) return ` ${flow(inner)}${comment()}\n`;
    if (inList && choose(2) === 0)
      return ` ${block(inner, `${indent}  `)
        .replace(/^(?:\n|\s*# note\n)*/, '')
        .trimStart()}`;
    const deeper = !inList && Array.isArray(inner) && choose(2) === 0 ? indent : `${indent}  `;
    return `${comment()}\n${block(inner, deeper)}`;
  }

  return at === null || typeof at !== 'object' ? `root:${scalar(at, '')}` : block(at, '');
}

test('values written in many ways', () => {
  let read = 0;
  let total = 0;
  fc.assert(
    fc.property(value.value, fc.infiniteStream(fc.nat({ max: 59 })), (given, stream) => {
      const text = write(given, (count) => (stream.next().value as number) % count);
      total++;
      if (compare(text)) read++;
      const expected = given === null || typeof given !== 'object' ? { root: given } : given;
      assert.deepEqual(plain((readSubset(text) ?? readWithParser(text, false)).root), expected, text);
    }),
    { numRuns: 1500, seed: 3 },
  );
  assert.ok(read > total * 0.9, `${read} of ${total} texts are in the subset`);
});

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
