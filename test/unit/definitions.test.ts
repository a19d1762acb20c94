import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionsIn, withDefinitions } from '../../server/src/structure/definitions';
import { noSchemas } from '../../server/src/structure/schemas';
import { structureOf } from '../../server/src/structure/from-schema';
import { parseFile } from '../../server/src/yaml/parse';

function definition(kind: string, field: string, version = 'v1'): string {
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: x}
spec:
  group: example.com
  names: {kind: ${kind}}
  versions:
    - name: ${version}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {${field}: {type: string}}}
`;
}

const file = (uri: string, text: string) => parseFile(`file:///${uri}`, text);

function specFields(structure: ReturnType<typeof structureOf> | undefined): readonly string[] | undefined {
  const spec = structure?.root.fields.get('spec');
  return spec?.type === 'object' ? spec.fields.names : undefined;
}

test('definitions of files become schemas, of all their versions', () => {
  const files = [file('a.yaml', `${definition('A', 'one')}---\n${definition('B', 'two', 'v2')}`)];
  const schemas = withDefinitions(noSchemas, files);
  assert.deepEqual(specFields(schemas.of('example.com', 'v1', 'A')), ['one']);
  assert.deepEqual(specFields(schemas.of('example.com', 'v2', 'B')), ['two']);
  assert.equal(schemas.of('example.com', 'v2', 'A'), undefined);
  assert.equal(schemas.of('other.com', 'v1', 'A'), undefined);
  assert.deepEqual([...schemas.kinds], ['A', 'B']);
});

test('they hold over what is built in, and the same definition is the same object', () => {
  const builtIn = structureOf({ type: 'object', properties: { spec: { type: 'object', properties: {} } } });
  const base = { of: () => builtIn };
  const one = file('a.yaml', definition('A', 'one'));
  const before = withDefinitions(base, [one]);
  const after = withDefinitions(base, [one, file('b.yaml', 'a: b\n')]);
  assert.deepEqual(specFields(before.of('example.com', 'v1', 'A')), ['one']);
  assert.equal(before.of('example.com', 'v1', 'A'), after.of('example.com', 'v1', 'A'));
  assert.equal(before.of('example.com', 'v1', 'B'), builtIn);
});

test('copies agree, and contradictions say nothing', () => {
  const copies = [file('a.yaml', definition('A', 'one')), file('b.yaml', definition('A', 'one'))];
  assert.deepEqual(specFields(withDefinitions(noSchemas, copies).of('example.com', 'v1', 'A')), ['one']);
  const releases = [...copies, file('c.yaml', definition('A', 'two'))];
  assert.equal(withDefinitions(noSchemas, releases).of('example.com', 'v1', 'A'), undefined);
});

test('what is no definition, or only will be one, defines nothing', () => {
  for (const text of [
    definition('A', 'one').replace('apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'),
    definition('A', 'one').replace('kind: A', 'kind: {{ .Values.kind }}'),
    definition('A', 'one').replace('      schema:', '      {{- if .Values.x }}\n      schema:'),
    definition('A', 'one').replace('versions:', 'versions: ['),
    'kind: CustomResourceDefinition\n',
    '# CustomResourceDefinition\n',
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {group: [x], names: 3, versions: {a: b}}\n',
  ]) {
    assert.deepEqual(definitionsIn(file('a.yaml', text)), [], text);
  }
});
