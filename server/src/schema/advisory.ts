import { apiVersionOf, type KindName, type SchemaTexts } from './kinds';

/** Keywords that make a value wrong. What is wrong is said by our rules, in words for people. */
const judging: readonly string[] = [
  'type',
  'enum',
  'const',
  'required',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'multipleOf',
  'additionalProperties',
];

/** Keywords whose value is a schema for each name. */
const named: readonly string[] = ['properties', 'definitions', '$defs', 'patternProperties'];

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A schema that completes and describes, and finds nothing wrong: for another extension that would otherwise say once
 * more what our rules say. Values that are allowed become examples.
 */
function advise(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => advise(item));
  if (!isObject(schema)) return schema;
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && isObject(value)) {
      out[key] = advise(value);
    } else if (judging.includes(key)) {
      continue;
    } else if (named.includes(key) && isObject(value)) {
      out[key] = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, advise(part)]));
    } else {
      out[key] = typeof value === 'object' ? advise(value) : value;
    }
  }
  const examples = Array.isArray(schema['enum'])
    ? schema['enum']
    : schema['type'] === 'boolean'
      ? [true, false]
      : undefined;
  if (examples !== undefined) out['examples'] = examples;
  return out;
}

/**
 * One schema for a file with documents of these kinds, as JSON text: each document is described by that of its own
 * kind. `undefined` when none of them has one.
 */
export function advisorySchema(texts: SchemaTexts, kinds: readonly KindName[]): string | undefined {
  const parts = kinds.flatMap((name) => {
    const text = texts.of(name);
    return text === undefined ? [] : [{ name, schema: advise(JSON.parse(text) as Json) }];
  });
  const [only] = parts;
  if (only === undefined) return undefined;
  if (parts.length === 1 && kinds.length === 1) return JSON.stringify(only.schema);
  // References within a schema lead to its own definitions, which move below a name of their own.
  return JSON.stringify({
    definitions: Object.fromEntries(
      parts.map(({ schema }, index) => [`kind${index}`, rebase(schema, index)]),
    ),
    allOf: parts.map(({ name }, index) => ({
      if: {
        properties: { apiVersion: { const: apiVersionOf(name) }, kind: { const: name.kind } },
        required: ['apiVersion', 'kind'],
      },
      then: { $ref: `#/definitions/kind${index}` },
    })),
  });
}

function rebase(schema: Json, index: number): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => rebase(item, index));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && value.startsWith('#')
        ? `#/definitions/kind${index}${value.slice(1)}`
        : rebase(value, index),
    ]),
  );
}
