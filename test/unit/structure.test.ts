import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluate, noSuchKey } from '../../server/src/structure/cel';
import { structureOf, type RootSchema } from '../../server/src/structure/from-schema';
import { validate, type Fault } from '../../server/src/structure/validate';
import { isMap } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';

const person: RootSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        generateName: { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        creationTimestamp: { type: 'string', format: 'date-time' },
      },
    },
    spec: { $ref: '#/definitions/Spec' },
    status: { type: 'object', required: ['phase'], properties: { phase: { type: 'string', enum: ['Up'] } } },
  },
  definitions: {
    Spec: {
      type: 'object',
      required: ['title'],
      properties: {
        title: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
        mode: { type: 'string', enum: ['A', 'B'], 'x-empty-is-default': true },
        count: { type: 'integer', format: 'int32', minimum: 1, maximum: 9 },
        ratio: { type: 'number' },
        port: { 'x-kubernetes-int-or-string': true },
        amount: { format: 'quantity', 'x-kubernetes-int-or-string': true },
        data: { type: 'string', format: 'byte' },
        on: { type: 'boolean' },
        items: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
        parts: { type: 'array', items: { $ref: '#/definitions/Spec' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        anything: {},
        nothing: { type: 'object', nullable: true, properties: {} },
      },
    },
  },
};

/** Faults as `code path`, of a spec within a whole object. */
function faults(
  spec: string,
  { decoding = 'custom', complete = true }: { decoding?: 'typed' | 'custom'; complete?: boolean } = {},
): readonly string[] {
  const text = `apiVersion: v1\nkind: Person\nmetadata: {name: x}\nspec: ${spec}\n`;
  return faultsOfText(text, decoding, complete).map(({ code, path }) => `${code} ${path.join('.')}`);
}

function faultsOfText(text: string, decoding: 'typed' | 'custom', complete: boolean): readonly Fault[] {
  const root = parseFile('', text).documents[0]?.document.root;
  assert.ok(isMap(root));
  return validate(root, structureOf({ ...person, 'x-decoding': decoding }), { complete });
}

describe('what is compared with a structure', () => {
  test('keys, types, values and limits', () => {
    assert.deepEqual(faults('{title: abc, count: 3, port: 80, amount: 1Gi, on: true, items: [a]}'), []);
    assert.deepEqual(faults('{title: abc, tilte: x}'), ['unknown-field spec.tilte']);
    assert.deepEqual(faults('{title: 7}'), ['wrong-type spec.title']);
    assert.deepEqual(faults('{}'), ['missing-field spec.title']);
    assert.deepEqual(faults('[]'), ['wrong-type spec']);
    assert.deepEqual(faults('{title: abc, mode: a}'), ['value-not-allowed spec.mode']);
    assert.deepEqual(faults('{title: a}'), ['value-out-of-range spec.title']);
    assert.deepEqual(faults('{title: abcdef}'), ['value-out-of-range spec.title']);
    assert.deepEqual(faults('{title: ABC}'), ['value-malformed spec.title']);
    assert.deepEqual(faults('{title: abc, count: 0}'), ['value-out-of-range spec.count']);
    assert.deepEqual(faults('{title: abc, count: 1.5}'), ['wrong-type spec.count']);
    assert.deepEqual(faults('{title: abc, count: 3000000000}'), ['value-out-of-range spec.count']);
    assert.deepEqual(faults('{title: abc, count: 2.0, ratio: 2.5}'), []);
    assert.deepEqual(faults('{title: abc, port: 8.5}'), ['wrong-type spec.port']);
    assert.deepEqual(faults('{title: abc, amount: 1GB}'), ['value-malformed spec.amount']);
    assert.deepEqual(faults('{title: abc, on: "true"}'), ['wrong-type spec.on']);
    assert.deepEqual(faults('{title: abc, items: []}'), ['value-out-of-range spec.items']);
    assert.deepEqual(faults('{title: abc, items: [a, b, c]}'), ['value-out-of-range spec.items']);
    assert.deepEqual(faults('{title: abc, parts: [{title: abc}, {}]}'), ['missing-field spec.parts.1.title']);
    assert.deepEqual(faults('{title: abc, free: {a: [1]}, anything: [1]}'), []);
  });

  test('YAML 1.1 booleans are booleans', () => {
    assert.deepEqual(faults('{title: abc, on: yes}'), []);
    assert.deepEqual(faults('{title: no}'), ['wrong-type spec.title']);
  });

  test('names that every object in JavaScript has are no fields', () => {
    assert.deepEqual(faults('{title: abc, constructor: x, __proto__: y}'), [
      'unknown-field spec.constructor',
      'unknown-field spec.__proto__',
    ]);
  });
});

describe('null and empty', () => {
  test('in a custom resource null is as good as absent, but for items of lists', () => {
    assert.deepEqual(faults('{title: abc, mode: null, items: ~}'), []);
    assert.deepEqual(faults('{title: }'), ['missing-field spec.title']);
    assert.deepEqual(faults('{title: abc, items: [null]}'), ['wrong-type spec.items.0']);
    assert.deepEqual(faults('{title: abc, parts: [null]}'), ['wrong-type spec.parts.0']);
    assert.deepEqual(faults('{title: ""}'), ['value-out-of-range spec.title']);
  });

  test('in a Go type null is the zero value, and what is required is required not to be zero', () => {
    assert.deepEqual(faults('{title: abc, items: [null]}', { decoding: 'typed' }), []);
    assert.deepEqual(faults('{title: abc, parts: [null]}', { decoding: 'typed' }), [
      'missing-field spec.parts.0.title',
    ]);
    assert.deepEqual(faults('{title: ""}', { decoding: 'typed' }), [
      'value-out-of-range spec.title',
      'missing-field spec.title',
    ]);
    assert.deepEqual(faults('{title: abc, mode: ""}', { decoding: 'typed' }), []);
  });

  test('metadata has a Go type everywhere', () => {
    const of = (metadata: string): readonly string[] =>
      faultsOfText(
        `apiVersion: v1\nkind: Person\nmetadata: ${metadata}\nspec: {title: abc}\n`,
        'custom',
        true,
      ).map(({ code, path }) => `${code} ${path.join('.')}`);
    assert.deepEqual(of('{name: x, creationTimestamp: null, labels: {a: null}}'), []);
    assert.deepEqual(of('{generateName: x-}'), []);
    assert.deepEqual(of('{}'), ['missing-field metadata.name']);
    assert.deepEqual(of('{name: ""}'), ['missing-field metadata.name']);
    assert.deepEqual(of(''), ['missing-field metadata']);
    assert.deepEqual(of('{name: x, labels: {a: 1}}'), ['wrong-type metadata.labels.a']);
    assert.deepEqual(of('{name: x, creationTimestamp: yesterday}'), [
      'value-malformed metadata.creationTimestamp',
    ]);
  });

  test('base64 and quantities of Go types', () => {
    assert.deepEqual(faults('{title: abc, data: aGk=}', { decoding: 'typed' }), []);
    assert.deepEqual(faults('{title: abc, data: a}', { decoding: 'typed' }), ['value-malformed spec.data']);
    assert.deepEqual(faults('{title: abc, amount: 0.5}', { decoding: 'typed' }), []);
    assert.deepEqual(faults('{title: abc, amount: 0.5}'), ['wrong-type spec.amount']);
  });
});

describe('parts of an object', () => {
  test('nothing is missing in a patch, and what is there is compared', () => {
    assert.deepEqual(faults('{count: x, items: []}', { complete: false }), ['wrong-type spec.count']);
    assert.deepEqual(faults('{$patch: delete}', { complete: false }), []);
  });

  test('what a template fills in is not known', () => {
    const text = [
      'apiVersion: v1',
      'kind: Person',
      'metadata:',
      '  name: {{ .Values.name }}',
      'spec:',
      '  count: {{ .Values.count }}',
      '  mode: {{ .Values.mode | quote }}',
      '  {{- toYaml .Values.more | nindent 2 }}',
      '  colour: red',
      '',
    ].join('\n');
    assert.deepEqual(
      faultsOfText(text, 'custom', true).map(({ code, path }) => `${code} ${path.join('.')}`),
      ['unknown-field spec.colour'],
    );
  });

  test('of a status only its form is compared', () => {
    const text =
      'apiVersion: v1\nkind: Person\nmetadata: {name: x}\nspec: {title: abc}\nstatus: {phase: Down}\n';
    assert.deepEqual(faultsOfText(text, 'custom', true), []);
    assert.deepEqual(
      faultsOfText(text.replace('phase: Down', 'phas: Up'), 'custom', true).map(({ code }) => code),
      ['unknown-field'],
    );
  });
});

test('a structure that refers to itself is read as far as it is used', () => {
  const deep = '{title: abc, parts: [{title: abc, parts: [{title: abc, parts: [{title: 1}]}]}]}';
  assert.deepEqual(faults(deep), ['wrong-type spec.parts.0.parts.0.parts.0.title']);
});

test('a pattern that JavaScript cannot express says nothing', () => {
  const schema: RootSchema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '(?i)^x$' } },
    'x-decoding': 'custom',
  };
  const root = parseFile('', 'a: q\nmetadata: {name: x}\n').documents[0]?.document.root;
  assert.ok(isMap(root));
  const found = validate(root, structureOf(schema), { complete: false });
  assert.deepEqual(
    found.map(({ code }) => code),
    ['unknown-field'],
    'metadata alone, which this schema does not list',
  );
});

test('expressions that cannot be told say nothing', () => {
  assert.equal(evaluate('self.a > 1', { a: 2n }), true);
  assert.equal(evaluate('self.unheardOf()', { a: 2n }), undefined);
  assert.equal(evaluate('self.a >', { a: 2n }), undefined);
  assert.equal(evaluate('int(self.a) > 1', { a: 'x' }), undefined);
  assert.equal(evaluate('self.b > 1', { a: 2n }), noSuchKey);
  assert.equal(evaluate('!has(self.b) || self.b > 1', { a: 2n }), true);
  assert.equal(evaluate("self.a.find('[0-9]+') == '12'", { a: 'x12' }), true);
  assert.equal(evaluate("quantity(self.a).isLessThan(quantity('1Gi'))", { a: '1Mi' }), true);
});
