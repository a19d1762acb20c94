import type { SourceFile, YamlDocument } from '../yaml/document';
import { plainOf } from '../yaml/plain';
import { itemsIn, mapIn, textIn, type YamlNode } from '../yaml/node';
import { structureOf, type RootSchema, type StructuralSchema } from './from-schema';
import type { Schemas } from './schemas';
import type { Structure } from './shape';

/** One version of a kind, as a CustomResourceDefinition describes it. */
export interface Definition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** What it was read from: two definitions of one kind may differ. */
  readonly text: string;
  readonly structure: Structure;
}

/** Every object has these, and definitions say no more about them than that there is a map. */
const metadata: StructuralSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    generateName: { type: 'string' },
    namespace: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: { type: 'array', items: { type: 'string' } },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          name: { type: 'string' },
          uid: { type: 'string' },
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    generation: { type: 'integer', format: 'int64' },
    managedFields: { type: 'array', items: { type: 'object' } },
    resourceVersion: { type: 'string' },
    selfLink: { type: 'string' },
    uid: { type: 'string' },
  },
};

/** The schema of a custom kind, with what every object has. */
export function customSchema(own: StructuralSchema): RootSchema {
  return {
    ...own,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      ...own.properties,
      metadata,
    },
    'x-decoding': 'custom',
  };
}

const inDocument = new WeakMap<YamlDocument, readonly Definition[]>();
const inFile = new WeakMap<SourceFile, readonly Definition[]>();

/** The kinds that a file defines; none of templates, whose text is only known later. */
export function definitionsIn(file: SourceFile): readonly Definition[] {
  let known = inFile.get(file);
  if (known === undefined) {
    known = file.text.includes('CustomResourceDefinition')
      ? file.documents.flatMap(({ document }) => definitionsOf(document))
      : [];
    inFile.set(file, known);
  }
  return known;
}

function definitionsOf(document: YamlDocument): readonly Definition[] {
  let known = inDocument.get(document);
  if (known === undefined) {
    known =
      document.text.includes('CustomResourceDefinition') &&
      document.problems.length === 0 &&
      !document.templated
        ? readDefinitions(document.root)
        : [];
    inDocument.set(document, known);
  }
  return known;
}

function readDefinitions(root: YamlNode | undefined): readonly Definition[] {
  if (textIn(root, 'kind') === 'List') return itemsIn(root, 'items').flatMap(readDefinitions);
  const isDefinition =
    textIn(root, 'kind') === 'CustomResourceDefinition' &&
    textIn(root, 'apiVersion') === 'apiextensions.k8s.io/v1';
  const group = textIn(root, 'spec', 'group');
  const kind = textIn(root, 'spec', 'names', 'kind');
  if (!isDefinition || group === undefined || kind === undefined) return [];
  return itemsIn(root, 'spec', 'versions').flatMap((item) => {
    const version = textIn(item, 'name');
    const schema = plainOf(mapIn(item, 'schema', 'openAPIV3Schema'));
    if (version === undefined || !isObject(schema)) return [];
    const own = schema as StructuralSchema;
    const structure = structureOf(customSchema(own));
    return [{ group, version, kind, text: JSON.stringify(schema), structure }];
  });
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Schemas with those that some files define. */
export interface DefinedSchemas extends Schemas {
  /** Kinds that the files define. */
  readonly kinds: ReadonlySet<string>;
}

/**
 * What files define holds over what is known of a kind; where they contradict each other (as copies of several releases
 * do), none of it holds.
 */
export function withDefinitions(base: Schemas, files: Iterable<SourceFile>): DefinedSchemas {
  const byType = new Map<string, Definition | 'several'>();
  const kinds = new Set<string>(base.kinds ?? []);
  for (const file of files) {
    for (const definition of definitionsIn(file)) {
      const key = `${definition.group}/${definition.version}/${definition.kind}`;
      const other = byType.get(key);
      if (other === undefined) byType.set(key, definition);
      else if (other !== 'several' && other.text !== definition.text) byType.set(key, 'several');
      kinds.add(definition.kind);
    }
  }
  return {
    kinds,
    of(group, version, kind) {
      const defined = byType.get(`${group}/${version}/${kind}`);
      return defined === undefined || defined === 'several'
        ? base.of(group, version, kind)
        : defined.structure;
    },
  };
}
