import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { YamlDocument } from '../../server/src/yaml/document';
import type { Edit, Edits, InsertOptions, PlainValue } from '../../server/src/yaml/edit';
import {
  appendDocument,
  appendItem,
  applyEdits,
  commentBehind,
  insertKey,
  insertPath,
  removeEntry,
  removeItem,
  renameKey,
  replaceScalar,
} from '../../server/src/yaml/edit';
import type { MapNode, SequenceNode, YamlNode } from '../../server/src/yaml/node';
import { entryOf, getIn, isMap, isSequence, mapIn, scalarIn } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';
import { anyMap, anyValue, anyChoices, choices, write } from './yaml-generate';
import type { Value } from './yaml-generate';
import { nodesOf, onlyDocument, plain } from './yaml-outline';

type Path = readonly (string | number)[];
type Change = (document: YamlDocument) => Edits;

function edited(text: string, change: Change): string | undefined {
  const document = onlyDocument(text);
  const edits = change(document);
  return edits === undefined ? undefined : applyEdits(document.text, edits);
}

function map(document: YamlDocument, ...path: Path): MapNode {
  const node = mapIn(document.root, ...path);
  assert.ok(node, `no map at ${path.join('.')}`);
  return node;
}

function list(document: YamlDocument, ...path: Path): SequenceNode {
  const node = getIn(document.root, ...path);
  assert.ok(isSequence(node), `no list at ${path.join('.')}`);
  return node;
}

/** The same in all line endings and without the last one. */
function check(text: string, change: Change, expected: string | undefined): void {
  for (const newline of ['\n', '\r\n', '\r']) {
    const withNewline = (lines: string): string => lines.replaceAll('\n', newline);
    assert.equal(edited(withNewline(text), change), expected && withNewline(expected));
  }
  if (text.endsWith('\n') && !text.endsWith('\n\n') && expected !== undefined) {
    const [bare, result] = [text.slice(0, -1), expected.slice(0, -1)];
    // A change may add a line break of its own where there was none at all.
    if (bare.includes('\n')) assert.equal(edited(bare, change), result);
  }
}

describe('insertKey', () => {
  const into =
    (path: Path, key: string, value: PlainValue, options = {}): Change =>
    (document) =>
      insertKey(document, map(document, ...path), key, value, options);

  test('behind the last value, whatever it is', () => {
    check('a:\n  b: 1\nc: 2\n', into(['a'], 'x', 1), 'a:\n  b: 1\n  x: 1\nc: 2\n');
    check(
      'a:\n  b: 1 # note\n# other\nc: 2\n',
      into(['a'], 'x', 1),
      'a:\n  b: 1 # note\n  x: 1\n# other\nc: 2\n',
    );
    check('a:\n  b:\n    c: 1\n\nd: 2\n', into(['a'], 'x', 1), 'a:\n  b:\n    c: 1\n  x: 1\n\nd: 2\n');
    // A comment stays with the block that it is indented with.
    check(
      'a:\n  b:\n    c: 1\n    # c: 2\n\n    # more\nd: 2\n',
      into(['a'], 'x', 1),
      'a:\n  b:\n    c: 1\n    # c: 2\n  x: 1\n\n    # more\nd: 2\n',
    );
    check('a:\n  b:\n    c: 1\n    # end', into(['a'], 'x', 1), 'a:\n  b:\n    c: 1\n    # end\n  x: 1');
    check(
      'a:\n  b: 1\n  # of c\n  c: 2\n',
      into(['a'], 'x', 1, { before: 'c' }),
      'a:\n  b: 1\n  x: 1\n  # of c\n  c: 2\n',
    );
    check('a:\n  b: |\n    t\n\nd: 2\n', into(['a'], 'x', 1), 'a:\n  b: |\n    t\n  x: 1\n\nd: 2\n');
    check('a:\n  b: |+\n    t\n\nd: 2\n', into(['a'], 'x', 1), 'a:\n  b: |+\n    t\n\n  x: 1\nd: 2\n');
    check('a:\n  b: # note\nd: 2\n', into(['a'], 'x', 1), 'a:\n  b: # note\n  x: 1\nd: 2\n');
    check('a:\n  b: &n\nd: 2\n', into(['a'], 'x', 1), 'a:\n  b: &n\n  x: 1\nd: 2\n');
    check('a:\n  b: {c: 1}\n', into(['a'], 'x', 1), 'a:\n  b: {c: 1}\n  x: 1\n');
    check('a:\n  b:\n  - c\n  - d\n', into(['a'], 'x', 1), 'a:\n  b:\n  - c\n  - d\n  x: 1\n');
    check('a: 1\n', into([], 'x', 1), 'a: 1\nx: 1\n');
  });

  test('in an item of a list, before or behind a key', () => {
    const text = 'a:\n- name: n # note\n  b: 1\n-   name: m\n    c: 2\n';
    check(text, into(['a', 0], 'x', 1), 'a:\n- name: n # note\n  b: 1\n  x: 1\n-   name: m\n    c: 2\n');
    check(text, into(['a', 1], 'x', 1), `${text}    x: 1\n`);
    check(
      text,
      into(['a', 0], 'x', 1, { before: 'name' }),
      'a:\n- x: 1\n  name: n # note\n  b: 1\n-   name: m\n    c: 2\n',
    );
    check(
      text,
      into(['a', 0], 'x', 1, { after: 'name' }),
      'a:\n- name: n # note\n  x: 1\n  b: 1\n-   name: m\n    c: 2\n',
    );
    check('a: 1\n# of b\nb: 2\n', into([], 'x', 1, { before: 'b' }), 'a: 1\nx: 1\n# of b\nb: 2\n');
  });

  test('values in the author’s style', () => {
    const value = {
      limits: { 'nvidia.com/gpu': 1 },
      list: ['a', { b: 'yes' }],
      none: {},
      text: 'one\ntwo\n',
    };
    check(
      'a:\n    b:\n    -   c\n',
      into([], 'x', value),
      'a:\n    b:\n    -   c\nx:\n    limits:\n        nvidia.com/gpu: 1\n    list:\n    - a\n    - b: "yes"\n    none: {}\n    text: |\n        one\n        two\n',
    );
    check('a:\n  b:\n    - c\n', into([], 'x', ['d']), 'a:\n  b:\n    - c\nx:\n  - d\n');
  });

  test('strings are quoted where YAML would read something else', () => {
    const quoted = [
      'yes',
      '1',
      '0x1F',
      '1_000',
      '',
      ' a',
      'a: b',
      'a #b',
      '- a',
      '[a',
      '~',
      '2020-01-01',
      '1:20',
      'a:',
      '#',
    ];
    for (const value of [
      ...quoted,
      '*a',
      '&a',
      '!a',
      '%a',
      '@a',
      '`a',
      '{{ a }}',
      'tab\t',
      '\u0001',
      '\ufeff',
      '\u2028',
    ]) {
      const result = edited('a: 1\n', into([], 'x', value)) ?? '';
      assert.equal(scalarIn(onlyDocument(result.replace('{{', '{ {')).root, 'x')?.style, 'double', value);
      if (!value.includes('{{')) assert.equal(scalarIn(onlyDocument(result).root, 'x')?.value, value);
    }
    for (const value of [
      'a',
      'a-b',
      'a:b',
      'a#b',
      'nvidia.com/gpu',
      '-a',
      '--flag=a,b',
      '1.2.3',
      'a b',
      'é',
      '8Gi',
      '500m',
    ]) {
      assert.equal(edited('a: 1\n', into([], 'x', value)), `a: 1\nx: ${value}\n`);
    }
  });

  test('in brackets', () => {
    check('a: {b: 1} # note\n', into(['a'], 'x', 'v,w'), 'a: {b: 1, x: "v,w"} # note\n');
    check('a: {b: 1,}\n', into(['a'], 'x', 1), 'a: {b: 1, x: 1,}\n');
    check('a: { b: 1, c: {d: 2} }\n', into(['a'], 'x', { w: [1] }), 'a: { b: 1, c: {d: 2}, x: {w: [1]} }\n');
    check('a: {b: 1, c: 2}\n', into(['a'], 'x', 1, { after: 'b' }), 'a: {b: 1, x: 1, c: 2}\n');
    check('a: {b: 1, c: 2}\n', into(['a'], 'x', 1, { before: 'b' }), 'a: {x: 1, b: 1, c: 2}\n');
    check('a: {b: "1"}\n', into(['a'], 'x', 'v'), 'a: {b: "1", x: "v"}\n');
    check('a: {"b":1}\n', into(['a'], 'x', 1), 'a: {"b":1, x: 1}\n');
  });

  test('in KYAML', () => {
    const text = '{\n  kind: "Pod", # note\n  spec: {\n    list: [{\n      name: "a",\n    }],\n  },\n}\n';
    check(
      text,
      into([], 'x', { y: { z: 'v' }, e: [] }),
      text.replace(/\}\n$/, '  x: {\n    "y": {\n      z: "v",\n    },\n    e: [],\n  },\n}\n'),
    );
    check(
      text,
      into(['spec', 'list', 0], 'x', ['v', { w: 1 }]),
      text.replace(
        '"a",\n',
        '"a",\n      x: [\n        "v",\n        {\n          w: 1,\n        },\n      ],\n',
      ),
    );
    check(text, into([], 'x', 1, { before: 'kind' }), text.replace('{\n', '{\n  x: 1,\n'));
    check(text, into([], 'x', 1, { after: 'kind' }), text.replace('# note\n', '# note\n  x: 1,\n'));
    check('{\n  a: 1 # note\n}\n', into([], 'x', 2), '{\n  a: 1, # note\n  x: 2\n}\n');
  });

  test('a null gets the value, anything else is left alone', () => {
    check('a:\nb: 1\n', into([], 'a', 2), 'a: 2\nb: 1\n');
    check('a: ~ # note\nb: 1\n', into([], 'a', 2), 'a: 2 # note\nb: 1\n');
    check('a: # note\nb: 1\n', into([], 'a', { c: 2 }), 'a: # note\n  c: 2\nb: 1\n');
    check('a: null # note\nb: 1\n', into([], 'a', { c: 2 }), 'a: # note\n  c: 2\nb: 1\n');
    check('a: &n\nb: 1\n', into([], 'a', { c: 2 }), 'a: &n\n  c: 2\nb: 1\n');
    check('a: &n\nb: 1\n', into([], 'a', 2), undefined);
    check('a: 1\n', into([], 'a', 2), undefined);
    check('{a: , b: 1}\n', into([], 'a', 2), '{a: 2 , b: 1}\n');
    check('{a, b: 1}\n', into([], 'a', { c: 2 }), '{a: {c: 2}, b: 1}\n');
  });

  test('not into what serves others, nor where a template decides', () => {
    check('a: &x {b: 1}\nc: *x\n', into(['c'], 'x', 1), undefined);
    check('a: &x {b: 1}\nc:\n  <<: *x\n', into(['c'], 'b', 1), undefined);
    check('a: &x {b: 1}\nc:\n  <<: *x\n', into(['c'], 'x', 1), 'a: &x {b: 1}\nc:\n  <<: *x\n  x: 1\n');
    check('a:\n  b: 1\n  {{- toYaml .x | nindent 2 }}\n', into(['a'], 'x', 1), undefined);
    check('a:\n  {{- if .y }}\n  b: 1\n  {{- end }}\nc: 1\n', into(['a'], 'x', 1), undefined);
    check(
      'a:\n  {{- if .y }}\n  b: 1\n  {{- end }}\n  c: 1\n',
      into(['a'], 'x', 1),
      'a:\n  {{- if .y }}\n  b: 1\n  {{- end }}\n  c: 1\n  x: 1\n',
    );
    check(
      'a:\n  b:\n    {{- toYaml .x | nindent 4 }}\nc: 1\n',
      into(['a'], 'x', 1),
      'a:\n  b:\n    {{- toYaml .x | nindent 4 }}\n  x: 1\nc: 1\n',
    );
    check('? a\n: b: 1\n', into(['a'], 'x', 1), undefined);
  });
});

describe('insertPath', () => {
  const at =
    (path: readonly string[], value: PlainValue): Change =>
    (document) =>
      insertPath(document, map(document), path, value);

  test('creates what is missing', () => {
    check('a: 1\n', at(['b', 'c', 'd'], 2), 'a: 1\nb:\n  c:\n    d: 2\n');
    check('a:\n  b: 1\n', at(['a', 'c', 'd'], 2), 'a:\n  b: 1\n  c:\n    d: 2\n');
    check('a: {} # note\nb: 1\n', at(['a', 'c', 'd'], 2), 'a: # note\n  c:\n    d: 2\nb: 1\n');
    check('a: {}\nb: 1\n', at(['a', 'c'], 2), 'a:\n  c: 2\nb: 1\n');
    check('a: &n {}\nb: 1\n', at(['a', 'c'], 2), 'a: &n\n  c: 2\nb: 1\n');
    check('a:\nb: 1\n', at(['a', 'c', 'd'], 2), 'a:\n  c:\n    d: 2\nb: 1\n');
    check('a: {b: {}}\n', at(['a', 'b', 'c'], 2), 'a: {b: {c: 2}}\n');
  });

  test('replaces a scalar, leaves maps and lists alone', () => {
    check('a:\n  b: 1 # note\n', at(['a', 'b'], 2), 'a:\n  b: 2 # note\n');
    check('a:\n  b: 1\n', at(['a'], 2), undefined);
    check('a: 1\n', at(['a', 'b'], 2), undefined);
  });
});

describe('replaceScalar', () => {
  const at =
    (path: Path, value: string | number | boolean | null): Change =>
    (document) => {
      const scalar = scalarIn(document.root, ...path);
      assert.ok(scalar);
      return replaceScalar(document, scalar, value);
    };

  test('keeps quotes, comments and anchors', () => {
    check('a: 1 # note\n', at(['a'], 2), 'a: 2 # note\n');
    check("a: 'x'\n", at(['a'], "it's"), "a: 'it''s'\n");
    check('a: "x"\n', at(['a'], 'b'), 'a: "b"\n');
    check('a: "2"\n', at(['a'], 3), 'a: 3\n');
    check('a: x\n', at(['a'], 'yes'), 'a: "yes"\n');
    check('a: &n x\nb: 1\n', at(['a'], 'y'), 'a: &n "y"\nb: 1\n');
    check('- x\n-\n', at([1], 'b'), '- x\n- b\n');
    check('[a, b]\n', at([0], 'c,d'), '["c,d", b]\n');
    check('a: one\n  two\nb: 1\n', at(['a'], 'c'), 'a: c\nb: 1\n');
    check('a: |\n  one\nb: 1\n', at(['a'], 'c'), 'a: c\nb: 1\n');
    check('a: |\n    one\n\nb: 1\n', at(['a'], 'c\nd\n'), 'a: |\n    c\n    d\n\nb: 1\n');
  });

  test('nothing to change, or not to be changed', () => {
    check('a: 1\n', at(['a'], 1), undefined);
    check('a: &x 1\nb: *x\n', at(['b'], 2), undefined);
    // What the alias stands for would change as well.
    check('a: &x 1\nb: *x\n', at(['a'], 2), undefined);
    check('a: &x { c: 1 }\nb: { <<: *x }\n', at(['a', 'c'], 2), undefined);
    check(
      'a: &x { c: 1 }\nb: { <<: *x, d: 1 }\n',
      at(['b', 'd'], 2),
      'a: &x { c: 1 }\nb: { <<: *x, d: 2 }\n',
    );
    check('a: {{ .x }}\n', at(['a'], 2), undefined);
    check('a: ${X}\n', at(['a'], 2), undefined);
    check('a: !!int 1\n', at(['a'], '1'), undefined);
    check('{a: !!int &n 1}\n', at(['a'], '1'), undefined);
    check('a: b! 1\nc: 1\n', at(['c'], '1'), 'a: b! 1\nc: "1"\n');
  });
});

describe('removeEntry and removeItem', () => {
  const entry =
    (path: Path, key: string): Change =>
    (document) =>
      removeEntry(document, map(document, ...path), key);
  const item =
    (path: Path, index: number): Change =>
    (document) =>
      removeItem(document, list(document, ...path), index);

  test('whole lines with the comment behind', () => {
    check('a:\n  b: 1 # note\n  c: 2\n', entry(['a'], 'b'), 'a:\n  c: 2\n');
    check('a: 1\nb:\n  c:\n  - d\n  - e: |\n      f\n\ng: 1\n', entry([], 'b'), 'a: 1\n\ng: 1\n');
    check('a: 1\nb: |+\n  c\n\nd: 1\n', entry([], 'b'), 'a: 1\nd: 1\n');
    check('a: 1\n# of b\nb: 2\n', entry([], 'b'), 'a: 1\n# of b\n');
    check('- name: n # note\n  # of b\n  b: 1\n', entry([0], 'name'), '- # of b\n  b: 1\n');
    check('- name: n\n  b: 1\n', entry([0], 'name'), '- b: 1\n');
    check('- a\n- b: 1\n  c: 2 # note\n- d\n', item([], 1), '- a\n- d\n');
    check('a:\n-\n  b: 1\n- c\n', item(['a'], 0), 'a:\n- c\n');
    check('- - a\n  - b\n', item([0], 0), '- - b\n');
  });

  test('the last one leaves empty brackets', () => {
    check('a: # note\n  b: 1\nc: 1\n', entry(['a'], 'b'), 'a: {} # note\nc: 1\n');
    check('a: &n\n  b: 1\nc: 1\n', entry(['a'], 'b'), 'a: &n {}\nc: 1\n');
    check('a:\n- b: 1 # note\n', entry(['a', 0], 'b'), 'a:\n- {} # note\n');
    check('a:\n- b\nc: 1\n', item(['a'], 0), 'a: []\nc: 1\n');
    check('a: 1\n', entry([], 'a'), '{}\n');
  });

  test('in brackets', () => {
    check('a: {b: 1, c: 2} # note\n', entry(['a'], 'c'), 'a: {b: 1} # note\n');
    check('a: {b: 1, c: 2}\n', entry(['a'], 'b'), 'a: {c: 2}\n');
    check('a: {b: 1}\n', entry(['a'], 'b'), 'a: {}\n');
    check('a: {b: 1, c: 2,}\n', entry(['a'], 'c'), 'a: {b: 1, }\n');
    check('[a, b, c]\n', item([], 1), '[a, c]\n');
    check(
      '{\n  a: 1, # note\n  b: [{\n    c: 1,\n  }],\n}\n',
      entry([], 'a'),
      '{\n  b: [{\n    c: 1,\n  }],\n}\n',
    );
    check('{\n  a: 1,\n  b: [{\n    c: 1,\n  }],\n}\n', entry([], 'b'), '{\n  a: 1,\n}\n');
  });

  test('not what an alias or a merge key brings, nor half of a template’s block', () => {
    check('a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n', entry(['c'], 'b'), undefined);
    check('a: 1\n', entry([], 'b'), undefined);
    check('a: 1\n{{- if .x }}\nb: 1\n{{- end }}\n', entry([], 'b'), 'a: 1\n{{- if .x }}\n{{- end }}\n');
  });
});

describe('appendItem', () => {
  const to =
    (path: Path, value: PlainValue): Change =>
    (document) =>
      appendItem(document, list(document, ...path), value);

  test('in the column of the dashes', () => {
    check(
      'a:\n- b # note\nc: 1\n',
      to(['a'], { d: 1, e: [2] }),
      'a:\n- b # note\n- d: 1\n  e:\n  - 2\nc: 1\n',
    );
    check('a:\n  - b:\n      c: 1\n', to(['a'], 'd'), 'a:\n  - b:\n      c: 1\n  - d\n');
    check('- - a\n- b\n', to([0], 'c'), '- - a\n  - c\n- b\n');
    check('a: [] # note\nb: 1\n', to(['a'], { c: 1 }), 'a: # note\n  - c: 1\nb: 1\n');
    check('x:\n- z\na: []\n', to(['a'], 'c'), 'x:\n- z\na:\n- c\n');
  });

  test('in brackets', () => {
    check('a: [b, c] # note\n', to(['a'], 'd'), 'a: [b, c, d] # note\n');
    check('a: ["b"]\n', to(['a'], 'd'), 'a: ["b", "d"]\n');
    check('a: [\n  "b",\n]\n', to(['a'], 'd'), 'a: [\n  "b",\n  "d",\n]\n');
    check(
      '{\n  a: [{\n    b: "c",\n  }],\n}\n',
      to(['a'], { d: 'e' }),
      '{\n  a: [{\n    b: "c",\n  }, {d: "e"}],\n}\n',
    );
    check('{a: []}\n', to(['a'], 'd'), '{a: [d]}\n');
  });

  test('not where a template writes items', () => {
    check('a:\n- b\n{{- toYaml .x | nindent 0 }}\n', to(['a'], 'd'), undefined);
  });
});

test('renameKey keeps the quotes', () => {
  const rename =
    (key: string, to: string): Change =>
    (document) => {
      const entry = entryOf(document.root, key);
      assert.ok(entry);
      return renameKey(document, entry, to);
    };
  check('a: 1 # note\nb: 2\n', rename('a', 'c'), 'c: 1 # note\nb: 2\n');
  check('"a": 1\n', rename('a', 'c'), '"c": 1\n');
  check('{a: 1}\n', rename('a', 'on'), '{"on": 1}\n');
  check('a: 1\n', rename('a', 'a'), undefined);
});

test('appendDocument', () => {
  const append: Change = (document) => appendDocument(document, 'b: 2\n');
  assert.equal(edited('a: 1\n', append), 'a: 1\n---\nb: 2\n');
  assert.equal(edited('a: 1', append), 'a: 1\n---\nb: 2\n');
  assert.equal(edited('a: 1\r\n', append), 'a: 1\r\n---\r\nb: 2\r\n');
  const text = 'a: 1\n---\nc: 3\n';
  const [first] = parseFile('file:///a.yaml', text).documents;
  assert.ok(first);
  const edits = appendDocument(first.document, 'b: 2') ?? [];
  assert.equal(applyEdits(text, edits), 'a: 1\n---\nb: 2\n---\nc: 3\n');
});

test('applyEdits refuses what overlaps or lies outside, and keeps the order of insertions', () => {
  const edit = (start: number, end: number, newText: string): Edit => ({ start, end, newText });
  assert.equal(applyEdits('abc', [edit(2, 3, 'z'), edit(0, 1, 'x')]), 'xbz');
  assert.equal(applyEdits('abc', [edit(1, 1, 'x'), edit(1, 1, 'y'), edit(1, 2, 'z')]), 'axyzc');
  assert.equal(applyEdits('abc', [edit(0, 2, 'x'), edit(1, 3, 'y')]), undefined);
  assert.equal(applyEdits('abc', [edit(2, 4, 'x')]), undefined);
  assert.equal(applyEdits('abc', []), 'abc');
});

describe('on generated documents', () => {
  interface Shape {
    readonly text: string;
    readonly document: YamlDocument;
    /** What stands around the document in its file. */
    readonly file: (text: string) => string;
  }

  const shapes = fc
    .record({
      value: anyMap.filter((value) => Object.keys(value as object).length > 0),
      stream: anyChoices,
      newline: fc.constantFrom('\n', '\r\n'),
      end: fc.constantFrom('newline', 'none', 'marker'),
      ways: fc.constantFrom({}, { kyaml: true }, { anchors: true, kyaml: true }),
    })
    .map(({ value, stream, newline, end, ways }): Shape => {
      let text = write(value, choices(stream), ways);
      if (end === 'none') text = text.replace(/\n$/, '');
      text = text.replaceAll('\n', newline);
      const tail = end === 'marker' ? `---${newline}other: 1${newline}` : '';
      const [placed] = parseFile('file:///a.yaml', text + tail).documents;
      assert.ok(placed);
      assert.deepEqual(placed.document.problems, [], text);
      return { text, document: placed.document, file: (edit) => edit + tail };
    });

  /** Reads the edited text and checks everything that no edit may change. */
  function reread(shape: Shape, edits: readonly Edit[]): YamlDocument {
    const text = applyEdits(shape.document.text, edits);
    assert.ok(text !== undefined, 'edits overlap');
    const { documents } = parseFile('file:///a.yaml', shape.file(text));
    const original = parseFile('file:///a.yaml', shape.file(shape.document.text)).documents;
    assert.equal(documents.length, original.length, text);
    const document = documents[0]?.document;
    assert.ok(document);
    assert.deepEqual(document.problems, [], `${shape.text}\n→\n${text}`);
    if (shape.text.includes('\r\n')) assert.ok(!/(?<!\r)\n/.test(text), 'a line break of another kind');
    return document;
  }

  function pathOf(root: YamlNode | undefined, target: YamlNode): Path | undefined {
    if (root === target) return [];
    if (root === undefined || root.kind === 'scalar') return undefined;
    if (root.kind === 'sequence') {
      for (const [index, item] of root.items.entries()) {
        const rest = pathOf(item, target);
        if (rest !== undefined) return [index, ...rest];
      }
      return undefined;
    }
    for (const { key, value } of root.entries) {
      const rest = pathOf(value, target);
      if (rest !== undefined) return [key.text, ...rest];
    }
    return undefined;
  }

  /** The value with another one at a path, or without what is there. */
  function withValue(at: unknown, path: Path, change: (before: unknown) => unknown): unknown {
    const [step, ...rest] = path;
    if (step === undefined) return change(at);
    if (Array.isArray(at))
      return at.map((item, index) => (index === step ? withValue(item, rest, change) : item));
    return Object.fromEntries(
      Object.entries(at as object).map(([key, item]) => [
        key,
        key === step ? withValue(item, rest, change) : item,
      ]),
    );
  }

  const commentsOf = (document: YamlDocument): string[] => document.comments.map(({ text }) => text);

  /** That all lines of the text are still there and in order. */
  function assertOnlyAdded(before: string, after: string): void {
    const lines = after.split(/\r?\n/);
    let at = 0;
    for (const line of before.split(/\r?\n/)) {
      const found = lines.indexOf(line, at);
      assert.ok(found >= 0, `the line ${JSON.stringify(line)} is gone:\n${before}\n→\n${after}`);
      at = found + 1;
    }
  }

  function pick<Node extends YamlNode>(
    shape: Shape,
    choice: number,
    is: (node: YamlNode) => node is Node,
  ): Node | undefined {
    const found = [...nodesOf(shape.document.root)]
      .filter(is)
      .filter((node) => pathOf(shape.document.root, node));
    return found[choice % Math.max(found.length, 1)];
  }

  const run = (
    property: (shape: Shape, choice: number, value: Value) => 'done' | 'refused' | 'nothing',
  ): void => {
    const counts = { done: 0, refused: 0, nothing: 0 };
    fc.assert(
      fc.property(shapes, fc.nat({ max: 999 }), anyValue, (shape, choice, value) => {
        counts[property(shape, choice, value)]++;
      }),
      { numRuns: 700, seed: 11 },
    );
    assert.ok(counts.done > 180, JSON.stringify(counts));
    assert.ok(counts.refused < counts.done / 20, JSON.stringify(counts));
  };

  test('insertKey', () => {
    run((shape, choice, value) => {
      const target = pick(shape, choice, isMap);
      if (target === undefined) return 'nothing';
      const path = pathOf(shape.document.root, target) ?? [];
      const options: InsertOptions = [{}, { before: 'name' }, { after: 'name' }][choice % 3] ?? {};
      const edits = insertKey(shape.document, target, 'brand-new', value, options);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(shape.document.root), path, (before) => ({
          ...(before as object),
          'brand-new': value,
        })),
      );
      assert.deepEqual(commentsOf(after), commentsOf(shape.document));
      if (!target.flow && options.before === undefined) assertOnlyAdded(shape.document.text, after.text);
      const again = mapIn(after.root, ...path);
      assert.ok(again);
      if (value !== null) assert.equal(insertKey(after, again, 'brand-new', value), undefined);
      return 'done';
    });
  });

  test('insertPath into maps, empty maps and nulls', () => {
    run((shape, choice, value) => {
      const root = shape.document.root;
      if (!isMap(root)) return 'nothing';
      const nulls = [...nodesOf(root)].filter(
        (node) =>
          (node.kind === 'scalar' && node.value === null) || (isMap(node) && node.entries.length === 0),
      );
      const target = nulls[choice % Math.max(nulls.length, 1)];
      const full = target === undefined ? [] : (pathOf(root, target) ?? []);
      if (full.length === 0 || full.some((step) => typeof step === 'number')) return 'nothing';
      const path = [...(full as string[]), 'new', 'path'];
      const edits = insertPath(shape.document, root, path, value);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(root), full, () => ({ new: { path: value } })),
      );
      assert.deepEqual(commentsOf(after), commentsOf(shape.document));
      return 'done';
    });
  });

  test('replaceScalar', () => {
    run((shape, choice, value) => {
      if (typeof value === 'object' && value !== null) return 'nothing';
      const target = pick(shape, choice, (node) => node.kind === 'scalar');
      if (target === undefined || Object.is(target.value, value)) return 'nothing';
      const path = pathOf(shape.document.root, target) ?? [];
      const edits = replaceScalar(shape.document, target, value);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(shape.document.root), path, () => value),
      );
      if (target.style !== 'literal') assert.deepEqual(commentsOf(after), commentsOf(shape.document));
      const again = scalarIn(after.root, ...path);
      assert.ok(again);
      assert.equal(replaceScalar(after, again, value), undefined);
      return 'done';
    });
  });

  test('removeEntry', () => {
    run((shape, choice) => {
      const target = pick(shape, choice, (node): node is MapNode => isMap(node) && node.entries.length > 0);
      const key = target?.entries[choice % target.entries.length]?.key.text;
      if (target === undefined || key === undefined) return 'nothing';
      const path = pathOf(shape.document.root, target) ?? [];
      const edits = removeEntry(shape.document, target, key);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(shape.document.root), path, (before) =>
          Object.fromEntries(Object.entries(before as object).filter(([name]) => name !== key)),
        ),
      );
      return 'done';
    });
  });

  test('removeItem', () => {
    run((shape, choice) => {
      const target = pick(
        shape,
        choice,
        (node): node is SequenceNode => isSequence(node) && node.items.length > 0,
      );
      if (target === undefined) return 'nothing';
      const index = choice % target.items.length;
      const path = pathOf(shape.document.root, target) ?? [];
      const edits = removeItem(shape.document, target, index);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(shape.document.root), path, (before) =>
          (before as unknown[]).filter((_, at) => at !== index),
        ),
      );
      return 'done';
    });
  });

  test('appendItem', () => {
    run((shape, choice, value) => {
      const target = pick(shape, choice, isSequence);
      if (target === undefined) return 'nothing';
      const path = pathOf(shape.document.root, target) ?? [];
      const edits = appendItem(shape.document, target, value);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(shape.document.root), path, (before) => [...(before as unknown[]), value]),
      );
      assert.deepEqual(commentsOf(after), commentsOf(shape.document));
      if (!target.flow) assertOnlyAdded(shape.document.text, after.text);
      return 'done';
    });
  });

  test('renameKey', () => {
    run((shape, choice) => {
      const target = pick(shape, choice, (node): node is MapNode => isMap(node) && node.entries.length > 0);
      const entry = target?.entries[choice % target.entries.length];
      if (target === undefined || entry === undefined) return 'nothing';
      const path = pathOf(shape.document.root, target) ?? [];
      const name = ['brand-new', 'yes', "it's: new"][choice % 3] ?? '';
      const edits = renameKey(shape.document, entry, name);
      if (edits === undefined) return 'refused';
      const after = reread(shape, edits);
      assert.deepEqual(
        plain(after.root),
        withValue(plain(shape.document.root), path, (before) =>
          Object.fromEntries(
            Object.entries(before as object).map(([key, item]) => [
              key === entry.key.text ? name : key,
              item as unknown,
            ]),
          ),
        ),
      );
      return 'done';
    });
  });
});

test('a map that is written into JSON of several lines is JSON', () => {
  for (const text of [
    '{\n  "spec": {\n    "name": "x"\n  }\n}\n',
    '{\n  "spec": {\n    "name": "x",\n    "z": 1\n  }\n}\n',
  ]) {
    const json = onlyDocument(text);
    const spec = mapIn(json.root, 'spec');
    assert.ok(spec !== undefined);
    for (const options of [{}, { before: 'name' }, { after: 'name' }]) {
      const grown = applyEdits(
        text,
        insertKey(json, spec, 'limits', { a: { b: [1, 2], c: 'x' } }, options) ?? [],
      );
      const read = JSON.parse(grown ?? '') as { readonly spec: { readonly limits: unknown } };
      assert.deepEqual(read.spec.limits, { a: { b: [1, 2], c: 'x' } }, grown);
    }
  }
});

test('what is written into JSON is JSON, and into KYAML is KYAML', () => {
  const json = onlyDocument('{"spec": {"name": "x", "ports": [{"name": "a"}]}}\n');
  const spec = mapIn(json.root, 'spec');
  const ports = getIn(json.root, 'spec', 'ports');
  assert.ok(spec !== undefined && isSequence(ports));
  const grown = applyEdits(json.text, [
    ...(insertKey(json, spec, 'limits', { 'nvidia.com/gpu': 1, mode: 'on' }) ?? []),
    ...(appendItem(json, ports, { name: 'b' }) ?? []),
  ]);
  assert.deepEqual(JSON.parse(grown ?? ''), {
    spec: { name: 'x', ports: [{ name: 'a' }, { name: 'b' }], limits: { 'nvidia.com/gpu': 1, mode: 'on' } },
  });
  const kyaml = onlyDocument('{\n  kind: "Pod",\n  spec: {\n    containers: [],\n  },\n}\n');
  const inner = mapIn(kyaml.root, 'spec');
  assert.ok(inner !== undefined);
  assert.equal(
    applyEdits(kyaml.text, insertKey(kyaml, inner, 'priority', 'high') ?? []),
    '{\n  kind: "Pod",\n  spec: {\n    containers: [],\n    priority: "high",\n  },\n}\n',
  );
});

describe('a comment that is taken along', () => {
  const text = 'a:\n  one: 1 # why\n  two: "2"\nb: { x: 1 }\n';
  const commentOf = (...path: Path): string | undefined => {
    const document = onlyDocument(text);
    const entry = entryOf(map(document, ...path.slice(0, -1)), String(path.at(-1)));
    assert.ok(entry !== undefined, 'the entry');
    return commentBehind(document, entry);
  };

  test('is what stands behind the value on its line', () => {
    assert.equal(commentOf('a', 'one'), '# why');
    assert.equal(commentOf('a', 'two'), undefined);
    assert.equal(commentOf('b', 'x'), undefined);
  });

  test('stands behind the new value, also below new maps', () => {
    assert.equal(
      edited('a: 1\n', (document) =>
        insertPath(document, map(document), ['b', 'c', 'd'], 'x', { comment: '# why' }),
      ),
      'a: 1\nb:\n  c:\n    d: x # why\n',
    );
  });

  test('is left out where it would become part of something else', () => {
    assert.equal(
      edited('a: { b: 1 }\n', (document) =>
        insertKey(document, map(document, 'a'), 'c', 2, { comment: '# why' }),
      ),
      'a: { b: 1, c: 2 }\n',
    );
    assert.equal(
      edited('a: 1\n', (document) => insertKey(document, map(document), 'b', [1], { comment: '# why' })),
      'a: 1\nb:\n  - 1\n',
    );
    assert.equal(
      edited('a: 1\n', (document) =>
        insertKey(document, map(document), 'b', 'x\ny\n', { comment: '# why' }),
      )?.includes('# why'),
      false,
    );
  });
});
