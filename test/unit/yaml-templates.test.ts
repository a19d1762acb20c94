import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getIn, mapIn, scalarIn } from '../../server/src/yaml/node';
import { maskTemplates } from '../../server/src/yaml/mask';
import { parseFile } from '../../server/src/yaml/parse';
import { nodesOf, onlyDocument, plain, spanned } from './yaml-outline';
import { assertGrowsLinearly } from '../support/growth';

const read = (text: string): unknown => plain(onlyDocument(text).root);

/** The paths of the maps and lists that a template can add to. */
function openPaths(text: string): string[] {
  const { root } = onlyDocument(text);
  const found: string[] = [];
  const walk = (node: typeof root, path: string): void => {
    if (node === undefined || node.kind === 'scalar') return;
    if (node.open) found.push(path);
    if (node.kind === 'map') for (const { key, value } of node.entries) walk(value, `${path}/${key.text}`);
    else for (const [index, item] of node.items.entries()) walk(item, `${path}/${index}`);
  };
  walk(root, '');
  return found;
}

describe('Helm templates', () => {
  test('expressions as values, items and keys are unknown and keep their text', () => {
    const document = onlyDocument(
      [
        'name: {{ .Release.Name }}-x # c',
        'image: "{{ .Values.image }}:{{ .Values.tag | default "v1" }}"',
        'args: [{{ .Values.a }}, "--n={{ .Values.n }}", plain]',
        'list:',
        '- {{ include "item" . }}',
        '{{ .Values.key }}: v',
        'long: {{ include "x" (dict',
        '  "a" .Values.a) }}',
        '',
      ].join('\n'),
    );
    assert.deepEqual(plain(document.root), {
      name: { unknown: '{{ .Release.Name }}-x' },
      image: { unknown: '{{ .Values.image }}:{{ .Values.tag | default "v1" }}' },
      args: [{ unknown: '{{ .Values.a }}' }, { unknown: '--n={{ .Values.n }}' }, 'plain'],
      list: [{ unknown: '{{ include "item" . }}' }],
      '{{ .Values.key }}': 'v',
      long: { unknown: '{{ include "x" (dict\n  "a" .Values.a) }}' },
    });
    assert.equal(document.templated, true);
    assert.deepEqual(document.problems, []);
    assert.equal(mapIn(document.root)?.open, true, 'a key that a template makes may be any key');
    assert.equal(spanned(document, getIn(document.root, 'name')), '{{ .Release.Name }}-x');
    assert.deepEqual(
      document.comments.map(({ text }) => text),
      ['c'],
    );
  });

  test('control lines are no content; both branches are read and are no duplicates', () => {
    const text = '{{- if .Values.a }}\na: 1\n{{- else }}\na: 2\n{{- end }}\nb: 3\n';
    const document = onlyDocument(text);
    assert.deepEqual(document.problems, []);
    assert.deepEqual(
      mapIn(document.root)?.entries.map(({ key, value }) => [key.text, plain(value)]),
      [
        ['a', 1],
        ['a', 2],
        ['b', 3],
      ],
    );
    assert.deepEqual(openPaths(text), []);
  });

  test('lines that a template writes open the map they come out in', () => {
    const text = [
      'metadata:',
      '  labels:',
      '    a: b',
      '    {{- include "labels" . | nindent 4 }}',
      '  annotations:',
      '    {{- toYaml .Values.annotations | nindent 4 }}',
      '    c: d',
      'spec:',
      '  e: f',
      '{{ toYaml .Values.spec | indent 2 }}',
      '',
    ].join('\n');
    assert.deepEqual(openPaths(text), ['/metadata/labels', '/metadata/annotations', '/spec']);
  });

  test('the only content of a key makes its value unknown, and stands in its span', () => {
    const document = onlyDocument(
      [
        'metadata:',
        '  labels:',
        '    {{- include "labels" . | nindent 4 }}',
        '  name: x',
        'resources:',
        '  {{- with .Values.resources }}',
        '  {{- toYaml . | nindent 2 }}',
        '  {{- end }}',
        'same: {{- toYaml .Values.same | nindent 2 }}',
        'config: |',
        '{{ toYaml .Values.config | indent 2 }}',
        'last: 1',
        '',
      ].join('\n'),
    );
    const { root } = document;
    for (const path of [['metadata', 'labels'], ['resources'], ['same'], ['config']]) {
      assert.equal(scalarIn(root, ...path)?.unknown, true, path.join('.'));
    }
    assert.equal(
      spanned(document, getIn(root, 'metadata', 'labels')),
      '{{- include "labels" . | nindent 4 }}',
    );
    assert.equal(spanned(document, getIn(root, 'config')), '|\n{{ toYaml .Values.config | indent 2 }}');
    assert.equal(getIn(root, 'last')?.kind, 'scalar');
  });

  test('a list may get more items from an expression, and from a loop over its items', () => {
    const text = [
      'args:',
      '- a',
      '{{- range .Values.args }}',
      '- {{ . }}',
      '{{- end }}',
      'env:',
      '  - name: x',
      '    value: y',
      '  {{- toYaml .Values.env | nindent 2 }}',
      'fixed:',
      '- b',
      'data:',
      '  {{- range $key, $value := .Values.data }}',
      '  {{ $key }}: {{ $value }}',
      '  {{- end }}',
      '',
    ].join('\n');
    assert.deepEqual(openPaths(text), ['/args', '/env', '/data']);
  });

  test('text of block scalars stays readable', () => {
    const document = onlyDocument(
      'a: |\n  one {{ .Values.x }}\n{{- if .Values.y }}\n  two\n{{- end }}\n    three\nb: >-\n  x\n  {{ .y }}\n',
    );
    assert.equal(
      scalarIn(document.root, 'a')?.text,
      'one {{ .Values.x }}\n{{- if .Values.y }}\ntwo\n{{- end }}\n  three\n',
    );
    assert.equal(scalarIn(document.root, 'a')?.unknown, true);
    assert.equal(scalarIn(document.root, 'b')?.unknown, true);
  });

  test('only expressions that may change the structure, or Helm’s own, make a template', () => {
    for (const text of [
      '# {{ .Values.x }}\na: 1 # {{ y }}\n',
      'a: "{{ $labels.pod }} is {{ $value }}"\n',
      'template: |\n  {% for message in messages %}\n  {{ message }}\n  {% endfor %}\n',
    ]) {
      assert.equal(onlyDocument(text).templated, false, text);
      assert.deepEqual(openPaths(text), []);
    }
    for (const text of [
      'a: {{ x }}\n',
      '{{- if x }}\na: 1\n{{- end }}\n',
      'a: |\n  b\nc: {{ x }}\nd: "{{ y }}"\n',
      'name: "{{ .Release.Name }}"\n',
      'a: |\n  {{ tpl .conf $ }}\n',
    ]) {
      assert.equal(onlyDocument(text).templated, true, text);
    }
  });

  test('errors and duplicates are told where they cannot be the template’s', () => {
    const quoted = onlyDocument('a: "{{ $labels.pod }}"\na: 1\nb: [1\n');
    assert.deepEqual(
      quoted.problems.map(({ code }) => code),
      ['duplicate-key', 'syntax'],
    );
    assert.deepEqual(onlyDocument('a: {{ .x }}\nb: {{ .y }}: [\n').problems, []);
  });

  test('braces that are no template are read as YAML', () => {
    const document = onlyDocument('a: "{{"\nb: {c: {d: 1}}\n');
    assert.deepEqual(plain(document.root), { a: '{{', b: { c: { d: 1 } } });
    assert.equal(document.templated, false);
  });

  test('strings and comments of the template language may hold its braces', () => {
    assert.deepEqual(read('a: {{ "}}" }}x\nb: {{/* }} */}}y\n'), {
      a: { unknown: '{{ "}}" }}x' },
      b: { unknown: '{{/* }} */}}y' },
    });
  });
});

test('Jinja statements, expressions and comments', () => {
  const text =
    'a: {{ x | default("y") }}\n{% if b %}\nb: 1\n{% endif %}\n{# note: [ #}\nc: {% if d %}1{% else %}2{% endif %}\nl:\n{% for i in n %}\n- {{ i }}\n{% endfor %}\n';
  assert.deepEqual(read(text), {
    a: { unknown: '{{ x | default("y") }}' },
    b: 1,
    c: { unknown: '{% if d %}1{% else %}2{% endif %}' },
    l: [{ unknown: '{{ i }}' }],
  });
  assert.deepEqual(openPaths(text), ['/l']);
});

describe('variables', () => {
  test('are unknown wherever they stand, and make no template', () => {
    const document = onlyDocument(
      'a: ${A}\nb: "x-${B:-d}"\nc: [${C}, d]\ne: |\n  run ${E}\nf: ${F:-${G}}\n${K}: v\n',
    );
    assert.deepEqual(plain(document.root), {
      a: { unknown: '${A}' },
      b: { unknown: 'x-${B:-d}' },
      c: [{ unknown: '${C}' }, 'd'],
      e: { unknown: 'run ${E}\n' },
      f: { unknown: '${F:-${G}}' },
      '${K}': 'v',
    });
    assert.equal(document.templated, false);
    assert.equal(mapIn(document.root)?.open, true);
  });

  test('without braces are unknown as values of keys, and text for a shell', () => {
    const text =
      'a: $A\nb: "x-$B" # $C\n"c": reg.io/$D/x:$E\nd: {e: $E, f: \'$F\'}\ng: [$G]\nh:\n- i: $I\n- echo $H\n- echo i: $I\n';
    assert.deepEqual(read(text), {
      a: { unknown: '$A' },
      b: { unknown: 'x-$B' },
      c: { unknown: 'reg.io/$D/x:$E' },
      d: { e: { unknown: '$E' }, f: { unknown: '$F' } },
      g: ['$G'],
      h: [{ i: { unknown: '$I' } }, 'echo $H', { 'echo i': '$I' }],
    });
    assert.deepEqual(read('kind: Secret\ndata: {a: $A}\n'), { kind: 'Secret', data: { a: '$A' } });
  });

  test('Kubernetes’ own, a lone dollar and an escaped one are text', () => {
    for (const text of ['$(POD_NAME)', '$home', '$1', '$${ESCAPED}', '100$', 'sh $HOME']) {
      assert.deepEqual(read(`a: ${text}\n`), { a: text });
      assert.deepEqual(read(`a: ["${text}"]\n`), { a: [text] });
    }
  });
});

test('masking keeps every offset and every line', () => {
  for (const text of ['a: {{ x }}\r\n{{- if y }}\r\nb: ${C}\r\n', '{{/* a\n b */}}\n', 'é: {{ "é" }}\n']) {
    const mask = maskTemplates(text);
    assert.equal(mask?.text.length, text.length);
    for (const { start, end } of mask?.expressions ?? [])
      assert.match(text.slice(start, end), /^(\{\{|\$\{)[^]*\}$/);
  }
  assert.equal(maskTemplates('a: {b: c}\n'), undefined);
});

test('hostile openings take linear time', () => {
  const pieces = [
    '{{ ',
    '{{/* ',
    '{% ',
    '${',
    '{{ "',
    '{{ `',
    '{# {% ',
    '${${a}',
    '{{a}} ',
    '{{a}}\n',
    '{{range}}\n',
  ];
  for (const piece of pieces) {
    assertGrowsLinearly(JSON.stringify(piece), 1_500, (count) => {
      const document = onlyDocument(`a: ${piece.repeat(count)}\n`);
      assert.ok([...nodesOf(document.root)].length < 100);
    });
  }
});

test('template lines at the start of a block scalar are its text, not blank lines that are indented too far', () => {
  const [placed] = parseFile(
    'file:///template.yaml',
    `a:\n  - content: |-\n      {% for message in messages %}\n      {% if message %}\n\n      {{ message }}\n      {% endif %}{% endfor %}\n    path: /x\n`,
  ).documents;
  assert.deepEqual(placed?.document.problems, []);
});
