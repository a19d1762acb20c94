import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entryOf, getIn, isMap, isScalar, mapIn, scalarIn } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';
import type { YamlNode } from '../../server/src/yaml/node';
import { nodesOf, onlyDocument, plain, spanned } from './yaml-outline';
import { assertGrowsLinearly } from '../support/growth';

const read = (text: string): unknown => plain(onlyDocument(text).root);
const messages = (text: string): string[] => onlyDocument(text).problems.map(({ message }) => message);

describe('documents of a file', () => {
  const texts = (text: string): string[] =>
    parseFile('file:///a.yaml', text).documents.map(({ document }) => document.text);

  test('markers split, blank documents are not counted', () => {
    assert.deepEqual(texts('a: 1\n---\nb: 2\n---\n\n---\nc: 3'), ['a: 1\n', 'b: 2\n', 'c: 3']);
    assert.deepEqual(texts('a: 1\n...\nb: 2\n'), ['a: 1\n', 'b: 2\n']);
    assert.deepEqual(texts(''), []);
    assert.deepEqual(texts('---\n---\n'), []);
  });

  test('places are offsets in the file', () => {
    const text = '# head\n---\na: 1\n--- # second\nb: 2\n';
    for (const { document, offset } of parseFile('file:///a.yaml', text).documents) {
      assert.equal(text.slice(offset, offset + document.text.length), document.text);
    }
    assert.deepEqual(
      parseFile('file:///a.yaml', text).documents.map(({ index }) => index),
      [0, 1],
    );
  });

  test('comments above the first marker belong to the first document', () => {
    const { documents } = parseFile('file:///a.yaml', '# head\n\n---\na: 1\n---\n# own\n---\nb: 2\n');
    assert.deepEqual(
      documents.map(({ document }) => document.comments.map(({ text }) => text)),
      [['head'], ['own'], []],
    );
    assert.deepEqual(plain(documents[0]?.document.root), { a: 1 });
    assert.equal(documents[1]?.document.root, undefined);
  });

  test('what looks like a marker splits in a block scalar too, and not within a line or word', () => {
    assert.deepEqual(texts('a: |\n  x\n---\nb: 1\n'), ['a: |\n  x\n', 'b: 1\n']);
    assert.deepEqual(texts('a: |\n  ---\n  x\n'), ['a: |\n  ---\n  x\n']);
    assert.deepEqual(texts('a: 1\n---x: 1\n'), ['a: 1\n---x: 1\n']);
  });

  test('a marker in a template comment splits nothing', () => {
    assert.equal(texts('{{- /*\n---\n*/ -}}\na: 1\n').length, 1);
  });

  test('content on the line of the marker', () => {
    assert.deepEqual(
      parseFile('file:///a.yaml', '--- {a: 1}\n--- |\n  text\n').documents.map(({ document }) =>
        plain(document.root),
      ),
      [{ a: 1 }, 'text\n'],
    );
    assert.equal(onlyDocument('--- key: v\n').problems.length, 1);
    const document = onlyDocument('--- {a: b}\n');
    assert.equal(spanned(document, getIn(document.root, 'a')), 'b');
  });

  test('a byte order mark belongs to no document', () => {
    const [first, second] = parseFile('file:///a.yaml', '\ufeffa: 1\n---\n\ufeffb: 2\n').documents;
    assert.deepEqual(plain(first?.document.root), { a: 1 });
    assert.deepEqual(plain(second?.document.root), { b: 2 });
    assert.equal(first?.offset, 1);
    assert.deepEqual(plain(onlyDocument('\ufeff---\na: 1\n').root), { a: 1 });
  });

  test('line breaks of all three kinds', () => {
    for (const newline of ['\n', '\r\n', '\r']) {
      const text = ['a:', '  - b # c', '  - |', '    x', '    y', '---', 'd: 1', ''].join(newline);
      const [first, second] = parseFile('file:///a.yaml', text).documents;
      assert.deepEqual(plain(first?.document.root), { a: ['b', 'x\ny\n'] });
      assert.deepEqual(first?.document.problems, []);
      assert.deepEqual(
        first?.document.comments.map((comment) => comment.text),
        ['c'],
      );
      assert.deepEqual(plain(second?.document.root), { d: 1 });
    }
  });

  test('a broken document leaves the others alone, and shows what could be read of it', () => {
    const [first, broken, last] = parseFile(
      'file:///a.yaml',
      'a: 1\n---\nb: 2\nc: [1\nd: 3\n---\ne: 4\n',
    ).documents;
    assert.deepEqual(first?.document.problems, []);
    assert.deepEqual(last?.document.problems, []);
    assert.deepEqual(plain(last?.document.root), { e: 4 });
    assert.equal(broken?.document.problems[0]?.code, 'syntax');
    assert.equal(scalarIn(broken?.document.root, 'b')?.value, 2);
  });

  test('a document of the same text is the same object, wherever it moved', () => {
    const before = parseFile('file:///a.yaml', 'a: 1\n---\nb: 2\n---\nc: 3\n');
    const after = parseFile('file:///a.yaml', 'x: longer\n---\nb: 2\n---\nc: 3\n', before);
    assert.notEqual(after.documents[0]?.document, before.documents[0]?.document);
    assert.equal(after.documents[1]?.document, before.documents[1]?.document);
    assert.equal(after.documents[2]?.document, before.documents[2]?.document);
    assert.notEqual(after.documents[1]?.offset, before.documents[1]?.offset);
    const inline = parseFile('file:///a.yaml', '--- a: 1\n');
    const own = parseFile('file:///a.yaml', ' a: 1\n', inline);
    assert.deepEqual(own.documents[0]?.document.problems, []);
  });

  test('a document is read once, when it is looked at', () => {
    const document = onlyDocument('a: 1\n');
    assert.equal(document.root, document.root);
    assert.equal(document.comments, document.comments);
  });
});

describe('values and spans', () => {
  test('every kind of value', () => {
    const text = [
      'plain: text',
      "single: 'it''s'",
      'double: "a\\tb\\x41\\u00e9"',
      'literal: |',
      '  one',
      '',
      '    two',
      'stripped: |-',
      '  one',
      'kept: |+',
      '  one',
      '',
      'folded: >',
      '  one',
      '  two',
      '',
      '  three',
      'lines: one',
      '  two',
      'number: 1.0',
      'yes: no',
      'nothing:',
      'list: [1, {a: b}]',
      'items:',
      '- x',
      '-',
      '- - z',
      '',
    ].join('\n');
    assert.deepEqual(read(text), {
      plain: 'text',
      single: "it's",
      double: 'a\tbAé',
      literal: 'one\n\n  two\n',
      stripped: 'one',
      kept: 'one\n\n',
      folded: 'one two\nthree\n',
      lines: 'one two',
      number: 1,
      yes: false,
      nothing: null,
      list: [1, { a: 'b' }],
      items: ['x', null, ['z']],
    });
    assert.equal(scalarIn(onlyDocument(text).root, 'number')?.text, '1.0');
  });

  test('spans are the tokens, of collections from the first to the end of the last', () => {
    const document = onlyDocument(
      'a: "q" # c\nb:\n  c: |\n    text\n\n  d: [1, 2] # e\n\n# f\ng:\n- h\n- i: j\nk:\n',
    );
    const { root } = document;
    assert.equal(spanned(document, getIn(root, 'a')), '"q"');
    assert.equal(spanned(document, entryOf(root, 'b')?.key), 'b');
    assert.equal(spanned(document, getIn(root, 'b')), 'c: |\n    text\n\n  d: [1, 2]');
    assert.equal(spanned(document, getIn(root, 'b', 'c')), '|\n    text');
    assert.equal(spanned(document, getIn(root, 'b', 'd')), '[1, 2]');
    assert.equal(spanned(document, getIn(root, 'g')), '- h\n- i: j');
    assert.equal(spanned(document, getIn(root, 'g', 1)), 'i: j');
    const nothing = getIn(root, 'k');
    assert.equal(nothing?.start, nothing?.end);
    assert.ok(document.text.slice(0, nothing?.start).endsWith('k:'));
    assert.equal(spanned(document, root), document.text.trimEnd());
  });

  test('a missing value stands behind its colon or dash, whatever follows', () => {
    for (const text of [
      'a:   # c\nb: 1\n',
      'a:\n\nb: 1\n',
      'a:\n# c\nb: 1\n',
      'a:',
      '{a: , b: 1}',
      '{a: }',
    ]) {
      const document = onlyDocument(text);
      const value = getIn(document.root, 'a');
      assert.ok(value?.start === value?.end && document.text.slice(0, value?.start).endsWith('a:'), text);
    }
    const list = onlyDocument('-  \n- b\n');
    assert.equal(getIn(list.root, 0)?.start, 1);
  });

  test('KYAML, as kubectl prints it', () => {
    const document = onlyDocument(
      '---\n{\n  apiVersion: "v1",\n  kind: "Pod", # what\n  spec: {\n    containers: [{\n      name: "a",\n    }, {\n      name: "b",\n    }],\n  },\n}\n',
    );
    assert.deepEqual(plain(document.root), {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: { containers: [{ name: 'a' }, { name: 'b' }] },
    });
    assert.deepEqual(document.problems, []);
    assert.deepEqual(
      document.comments.map(({ text }) => text),
      ['what'],
    );
  });

  test('JSON indented with tabs, which kubectl takes', () => {
    assert.deepEqual(read('{\n\t"a": [\n\t\t1\n\t]\n}\n'), { a: [1] });
    const nested = onlyDocument('a: {\n\tb: "x\n\ty",\n\t}\nc: |\n  if\n  \tthen\n');
    assert.deepEqual(nested.problems, []);
    assert.deepEqual(plain(nested.root), { a: { b: 'x y' }, c: 'if\n\tthen\n' });
  });

  test('brackets and quotes indented as little as kubectl allows', () => {
    const document = onlyDocument('a: [\nb, # note\n"c\nd"\n]\ne: 1 # other\n');
    assert.deepEqual(plain(document.root), { a: ['b', 'c d'], e: 1 });
    assert.deepEqual(
      document.comments.map((comment) => spanned(document, comment)),
      ['# note', '# other'],
    );
  });

  test('a complex key is a problem, not a crash', () => {
    assert.deepEqual(messages('? [a]\n: b\n'), ['A key of a Kubernetes manifest is text, not a map or list']);
    assert.deepEqual(read('? a\n: b\n'), { a: 'b' });
  });

  test('comments', () => {
    const document = onlyDocument('#a\nb: 1 #  c  \n  # d\ne: "#no" \n');
    assert.deepEqual(
      document.comments.map((comment) => [comment.text, spanned(document, comment)]),
      [
        ['a', '#a'],
        ['c', '#  c'],
        ['d', '# d'],
      ],
    );
  });
});

describe('anchors, aliases and merge keys', () => {
  test('an alias reads like its anchor and stands at its own place', () => {
    const document = onlyDocument('a: &x\n  b: [1]\nc: *x\n');
    assert.deepEqual(plain(document.root), { a: { b: [1] }, c: { b: [1] } });
    assert.equal(getIn(document.root, 'a')?.borrowed, false);
    for (const path of [['c'], ['c', 'b'], ['c', 'b', 0]]) {
      const node = getIn(document.root, ...path);
      assert.equal(node?.borrowed, true);
      assert.equal(spanned(document, node), '*x');
    }
    assert.deepEqual(read('a: &x 1\nb: &x 2\nc: *x\n'), { a: 1, b: 2, c: 2 });
  });

  test('merged entries come last and are borrowed; own keys win, then the first merged', () => {
    const document = onlyDocument('x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  <<: [*x, *y]\n  a: 5\n');
    const z = mapIn(document.root, 'z');
    assert.deepEqual(plain(z), { a: 5, b: 2, c: 4 });
    assert.deepEqual(
      z?.entries.map(({ key, value }) => [key.text, key.borrowed, value.borrowed, spanned(document, value)]),
      [
        ['a', false, false, '5'],
        ['b', true, true, '*x'],
        ['c', true, true, '*y'],
      ],
    );
    assert.deepEqual(read('a:\n  <<: {b: 1}\n  c: 2\n'), { a: { c: 2, b: 1 } });
    assert.deepEqual(read('a: {"<<": {b: 1}}\n'), { a: { '<<': { b: 1 } } });
  });

  test('an alias without an anchor, and one inside its own', () => {
    for (const text of ['a: *x\n', 'a: &x [*x]\n', 'a: &x {b: {c: *x}}\n']) {
      const { problems, root } = onlyDocument(text);
      assert.deepEqual(
        problems.map(({ code }) => code),
        ['alias'],
      );
      assert.ok([...nodesOf(root)].some((node) => isScalar(node) && node.unknown && node.text === '*x'));
    }
  });

  test('an alias bomb is read at once, and reported', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 20; level++) {
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    }
    let count = 0;
    const walk = (node: YamlNode): void => {
      count++;
      if (node.kind === 'sequence') node.items.forEach(walk);
    };
    const document = onlyDocument(lines.join('\n'));
    assert.ok(document.problems.some(({ code }) => code === 'limit'));
    assert.ok(isMap(document.root));
    for (const { value } of document.root.entries) walk(value);
    assert.ok(count < 3_000_000, `${count} nodes`);
  });
});

describe('problems', () => {
  test('a duplicate key is reported where it comes again, and the last one counts', () => {
    const document = onlyDocument('a: 1\nb: 2\na: 3\n');
    assert.deepEqual(
      document.problems.map((problem) => [problem.code, problem.start, spanned(document, problem)]),
      [['duplicate-key', 10, 'a']],
    );
    assert.deepEqual(plain(document.root), { b: 2, a: 3 });
    assert.equal(onlyDocument('{a: 1, a: 2}').problems.length, 1);
  });

  test('many keys take linear time', () => {
    assertGrowsLinearly('keys', 2_000, (count) => {
      const text = Array.from({ length: count }, (_, index) => `key${index}: {x: &a${index} 1}`).join('\n');
      assert.deepEqual(onlyDocument(text).problems, []);
    });
  });

  test('nesting beyond the limit is a problem, however deep', () => {
    for (const text of [
      '['.repeat(20_000),
      '{a: '.repeat(2000),
      '- '.repeat(3000),
      `a: ${'['.repeat(600)}${']'.repeat(600)}`,
    ]) {
      const { problems, root } = onlyDocument(text);
      assert.ok(
        problems.some(({ code }) => code === 'limit'),
        text.slice(0, 10),
      );
      assert.equal(root, undefined);
    }
    const deep = onlyDocument(`${'['.repeat(400)}${']'.repeat(400)}`);
    assert.deepEqual(deep.problems, []);
  });

  // Beside each, what kubectl 1.32 says of such a document (see yaml-resolve.test.ts for how it was asked).
  const WRONG: readonly (readonly [string, string, string])[] = [
    ['a:\n\tb: 1\n', '\t', 'A tab indents this line; YAML allows only spaces there'],
    ["a: 'x'\n\t\nb: 2\n", '\t', 'A tab indents this line; YAML allows only spaces there'],
    ['a: |\n  x\n\t# c\nb: 1\n', '\t', 'A tab indents this line; YAML allows only spaces there'],
    ['a:\n  -\tb\n', '\t', 'A tab stands between "-" and its item; YAML allows only spaces there'],
    ['a: "x\nb: 1\n', '"x', 'The quote " that opens here is never closed'],
    ["a: 'x\nb: 1\n", "'x", "The quote ' that opens here is never closed"],
    ['a: b: c\n', 'b', 'A value cannot hold another ": "; put it in quotes'],
    ['a:\n  b: 1\n c: 2\n', 'c', 'This key is indented differently from the keys before it'],
    ['a:1\nb: 2\n', 'a:1', 'This line is neither "key: value" nor an item of a list'],
    ['- a\nb: 1\n', 'b', 'This does not belong to what stands before it; check its indentation'],
    ['- a\n b\nc\n', 'c', 'This does not belong to what stands before it; check its indentation'],
    ['a: 1\nb\n', 'b', 'This line of a map has no ": " and so no value'],
    ['a: }\n', '}', 'The } here closes nothing'],
    ['a:\n  b: 1\n  - c\n', '-', 'This item of a list stands among the keys of a map; check its indentation'],
    ['a: \x01b\n', '\x01', 'The control character U+0001 is not allowed in YAML'],
    [
      'a: {b: 1\nc: 2\n',
      'c',
      'The map in { } is not closed before this, or its lines are not indented under its key',
    ],
  ];
  for (const [text, at, message] of WRONG) {
    test(message, () => {
      const document = onlyDocument(text);
      const [problem] = document.problems;
      assert.equal(problem?.message, message);
      assert.equal(problem && spanned(document, problem), at);
    });
  }

  // kubectl takes all of these.
  for (const text of [
    'a: [\n  b\n]\n',
    'a: [\nb,\nc\n]\n',
    'a: {b: 1, c}\n',
    'a: 1\n  \t\nb: 2\n',
    'a:\n  - b: \tx\n    c:\t\td\n',
    'a:\t# c\n  b: 1\n',
    'a: "x\ny"\n',
    'a: !foo {b: c}\n',
    'a: b\n  c\n  \td\nb: 2\n',
  ]) {
    test(`${JSON.stringify(text)} is well-formed`, () => assert.deepEqual(messages(text), []));
  }

  test('no text makes it throw', () => {
    for (const text of [
      '\0',
      '%',
      '%YAML',
      '&',
      '*',
      '!',
      '|',
      '>',
      '"',
      "'",
      '{',
      ']',
      '? ?',
      ': :',
      '- -',
      '\ufeff',
      '{{',
      '{%',
      '${',
      '\ud800',
      '&a *a',
      '!<',
      '- |\n-',
      '{a: *}',
      '*a : b',
      '<<: 1',
      '<<: [1, *x]',
      '? \n? ',
    ]) {
      for (const whole of [text, `a: ${text}`, `- ${text}\n`, `a:\n  ${text}\nb: 1\n`, `{a: ${text}}`]) {
        for (const { document } of parseFile('file:///a.yaml', whole).documents) {
          for (const node of nodesOf(document.root)) assert.ok(node.start <= node.end, JSON.stringify(whole));
        }
      }
    }
  });
});

test('aliases that expand without end are one problem, at the first that is too much', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level++) {
    lines.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  }
  const [placed] = parseFile('file:///bomb.yaml', `${lines.join('\n')}\n`).documents;
  assert.deepEqual(
    placed?.document.problems.map(({ code }) => code),
    ['limit'],
  );
});
