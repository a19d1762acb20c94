import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RootSchema } from '../../server/src/structure/from-schema';
import { kindsOfOpenApi, structureOnly } from '../../server/src/structure/open-api';

const type = (group: string, kind: string) => [{ group, version: 'v1', kind }];
const named = (ref: string) => ({ allOf: [{ $ref: `#/components/schemas/${ref}` }], default: {} });
const object = { apiVersion: { type: 'string' }, kind: { type: 'string' } };

const document = {
  components: {
    schemas: {
      'io.k8s.api.apps.v1.Thing': {
        type: 'object',
        properties: {
          ...object,
          metadata: named('io.k8s.Meta'),
          spec: named('io.k8s.api.apps.v1.ThingSpec'),
        },
        'x-kubernetes-group-version-kind': type('apps', 'Thing'),
      },
      'io.k8s.api.apps.v1.ThingSpec': {
        description: 'What a thing is.',
        type: 'object',
        required: ['port', 'newer'],
        properties: {
          port: { type: 'integer', default: 0 },
          newer: { type: 'string', description: 'Since this version.' },
          mode: { type: 'string', enum: ['A', 'B', 'C'] },
          memory: named('io.k8s.apimachinery.pkg.api.resource.Quantity'),
          description: { type: 'string', description: 'Called so.' },
        },
      },
      'io.k8s.api.apps.v1.ThingList': {
        type: 'object',
        properties: { ...object, metadata: {}, items: {} },
        'x-kubernetes-group-version-kind': type('apps', 'ThingList'),
      },
      'com.example.v1.Widget': {
        type: 'object',
        properties: {
          ...object,
          metadata: named('io.k8s.Meta'),
          spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }], properties: {} },
        },
        'x-kubernetes-group-version-kind': type('example.com', 'Widget'),
      },
    },
  },
};

const shipped: RootSchema = {
  type: 'object',
  definitions: {
    IoK8sApiAppsV1ThingSpec: {
      type: 'object',
      required: ['mode', 'gone'],
      properties: {
        mode: { type: 'string', enum: ['A', 'B'], 'x-empty-is-default': true },
        gone: { type: 'string' },
      },
    },
  },
};

describe('kinds of an OpenAPI document', () => {
  test('are its objects, without lists', () => {
    assert.deepEqual(
      kindsOfOpenApi(document, () => undefined).map(({ group, kind }) => `${group} ${kind}`),
      ['apps Thing', 'example.com Widget'],
    );
  });

  test('built-in ones have the fields of this server, with what is known of them beside', () => {
    const [thing] = kindsOfOpenApi(document, (_group, _version, kind) =>
      kind === 'Thing' ? shipped : undefined,
    );
    assert.equal(thing?.schema['x-decoding'], 'typed');
    const spec = thing.schema.definitions?.['IoK8sApiAppsV1ThingSpec'];
    assert.deepEqual(Object.keys(spec?.properties ?? {}), ['port', 'newer', 'mode', 'memory', 'description']);
    assert.deepEqual(spec?.required, ['mode'], 'what is known to be required, of the fields that there are');
    assert.equal(spec.properties?.['mode']?.['x-empty-is-default'], true);
    assert.equal(spec.properties['memory']?.format, 'quantity');
    assert.equal(
      spec.properties['port']?.default,
      undefined,
      'a default of the Go type makes nothing optional',
    );
  });

  test('without anything known beside, required is what the server publishes', () => {
    const [thing] = kindsOfOpenApi(document, () => undefined);
    assert.deepEqual(thing?.schema.definitions?.['IoK8sApiAppsV1ThingSpec']?.required, ['port', 'newer']);
  });

  test('custom ones keep their validation rules, and have the metadata of every object', () => {
    const widget = kindsOfOpenApi(document, () => shipped)[1];
    assert.equal(widget?.schema['x-decoding'], 'custom');
    assert.deepEqual(widget.schema.properties?.['spec']?.['x-kubernetes-validations'], [{ rule: 'true' }]);
    assert.ok(widget.schema.properties['metadata']?.properties?.['labels'] !== undefined, 'labels');
  });

  test('nonsense has none', () => {
    for (const each of [
      undefined,
      null,
      1,
      'a',
      [],
      {},
      { components: [] },
      { components: { schemas: { a: 1 } } },
    ])
      assert.deepEqual(
        kindsOfOpenApi(each, () => undefined),
        [],
      );
  });
});

test('descriptions are left out of what is checked, fields of that name are not', () => {
  const spec = structureOnly(kindsOfOpenApi(document, () => undefined)[0]?.schema)?.definitions?.[
    'IoK8sApiAppsV1ThingSpec'
  ] as { readonly description?: string; readonly properties?: Readonly<Record<string, object>> } | undefined;
  assert.equal(spec?.description, undefined);
  assert.deepEqual(spec?.properties?.['description'], { type: 'string' });
});
