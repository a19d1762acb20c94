import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { scalarText } from '../../server/src/kube/scalar-text';
import { entryOf, isScalar, type ScalarNode } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';

function scalarOf(text: string): { node: ScalarNode; source: string } {
  const [placed] = parseFile('', text).documents;
  const node = entryOf(placed?.document.root, 'a')?.value;
  assert.ok(isScalar(node) && placed !== undefined);
  return { node, source: placed.document.text };
}

const shapes: readonly string[] = [
  'a: plain words',
  'a: plain\n  that goes on\n\n  and on\nb: 1',
  "a: 'it''s'",
  "a: 'two\n  lines'",
  'a: "tab\\t quote \\" back\\\\slash \\u0041"',
  'a: "first \\\n   second\n\n   third"',
  'a: |\n  one\n    two\n\n  three\nb: 1',
  'a: |-\n  one\n  two',
  'a: |2\n   one\n  two\n',
  'a: >\n  one\n  two\n\n  three\n    more\n    most\n  back\n',
  'a: >-\n  one\n  two',
  'a: |\r\n  one\r\n  two\r\nb: 1',
  'a: &x text\nb: *x',
];

test('decodes as the YAML reader does, in every style', () => {
  for (const shape of shapes) {
    const { node, source } = scalarOf(shape);
    assert.equal(scalarText(source, node).text.trimEnd(), node.text.trimEnd(), shape);
  }
});

test('decodes whatever a YAML writer writes', () => {
  const value = fc
    .array(fc.constantFrom('a', 'bc', ' ', '\n', '\n\n', '"', "'", '\\', '\t', ': ', '# ', 'é', '  x'), {
      maxLength: 30,
    })
    .map((parts) => parts.join(''));
  const style = fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED');
  fc.assert(
    fc.property(value, style, (text, defaultStringType) => {
      const written = stringify({ a: text, b: 1 }, { defaultStringType, lineWidth: 20 });
      const { node, source } = scalarOf(written);
      assert.equal(scalarText(source, node).text.trimEnd(), node.text.trimEnd(), written);
    }),
    { numRuns: 500 },
  );
});

test('a word of the text spans that word in the document', () => {
  for (const [shape, word] of [
    ['a: |\n  vllm serve \\\n    --tp 8\n', '--tp 8'],
    ['a: >-\n  vllm serve\n  --tp 8', '--tp 8'],
    ['a: "x\\ny --tp 8"', '--tp 8'],
    ["a: 'it''s --tp 8'", '--tp 8'],
    ['a: run\n  --tp 8', '--tp 8'],
  ] as const) {
    const { node, source } = scalarOf(shape);
    const text = scalarText(source, node);
    const at = text.text.indexOf(word);
    const span = text.span(at, at + word.length);
    assert.equal(source.slice(span.start, span.end), word, shape);
  }
});
