import type { Schema } from 'ts-json-schema-generator';
import {
  allowedValues,
  alsoRequired,
  constraints,
  defaulted,
  limits,
  emptyIsRefused,
  instead,
  karpenterTaint,
  notRequired,
  rolloutPods,
} from './corrections';
import type { Described } from './descriptions';
import type { Kind } from './packages';
import type { JsonSchema } from './validators';

/** A schema as it is written: what the server checks, and for people descriptions. */
export interface KindSchema extends JsonSchema {
  readonly $schema: string;
  readonly 'x-decoding': 'typed' | 'custom';
  readonly definitions: Readonly<Record<string, JsonSchema & { readonly 'x-empty-is-default'?: boolean }>>;
}

export type Validators = ReadonlyMap<string, JsonSchema>;

const builtIn = 'kubernetes-models';

export function isBuiltIn(kind: Kind): boolean {
  return kind.package === builtIn;
}

/**
 * The schema of a kind with all that it refers to: constraints from the validators, descriptions from the declarations,
 * which must have the same fields.
 *
 * @throws when they have not.
 */
export function schemaOf(kind: Kind, validators: Validators, described: Described): KindSchema {
  const typed = isBuiltIn(kind);
  const definitions: Record<string, JsonSchema> = {};
  const add = (name: string): void => {
    if (definitions[name] !== undefined) return;
    const validator = validators.get(name);
    if (validator === undefined) throw new Error(`${kind.kind}: there is no validator of ${name}`);
    const corrected =
      typed || isMetadata(name) ? typedSchema(name, validator) : customSchema(name, validator);
    const withConstraints = ofPackage(kind.package, name, corrected);
    definitions[name] = {};
    definitions[name] = describeSchema(name, withConstraints, described.get(name));
    for (const used of refsOf(withConstraints)) add(used);
  };
  add(kind.definition);
  const { [kind.definition]: root = {}, ...others } = definitions;
  const isReferred = Object.values(definitions).some((each) => refsOf(each).includes(kind.definition));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    'x-decoding': typed ? 'typed' : 'custom',
    ...pointing(root),
    definitions: mapValues(isReferred ? definitions : others, pointing),
  };
}

/** As Go decodes and validates it. */
function typedSchema(name: string, schema: JsonSchema): JsonSchema {
  const values = allowedValues[name] ?? {};
  const refused = emptyIsRefused[name] ?? [];
  const required = [...new Set([...(schema.required ?? []), ...(alsoRequired[name] ?? [])])].filter(
    (field) => notRequired[name]?.includes(field) !== true,
  );
  const { required: _, ...rest } = schema;
  return {
    ...rest,
    ...(required.length > 0 && { required }),
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([field, part]) => {
          const other = instead[name]?.[field];
          if (other !== undefined) return [field, other];
          const allowed = values[field] ?? part.enum;
          if (allowed === undefined) return [field, { ...part, ...limits[name]?.[field] }];
          const isDefault = !required.includes(field) && !refused.includes(field);
          return [field, { ...part, enum: allowed, ...(isDefault && { 'x-empty-is-default': true }) }];
        }),
      ),
    }),
  };
}

/** In a custom resource, types of Kubernetes stand without the lists of their values. */
function customSchema(name: string, schema: JsonSchema): JsonSchema {
  const added = constraints[name] ?? {};
  const isForeign = /^IoK8sApi(?!machinery)/.test(name);
  const visit = (part: JsonSchema): JsonSchema => {
    const { enum: values, $ref, ...rest } = part;
    // A list of values stands beside the name of its type, which has none.
    const isListed = values !== undefined && !isForeign;
    return {
      ...rest,
      ...($ref !== undefined && !isListed && { $ref }),
      ...(isListed && { enum: values }),
      ...(part.items !== undefined && { items: visit(part.items) }),
      ...(part.properties !== undefined && { properties: mapValues(part.properties, visit) }),
    };
  };
  const { required: needed = [], ...read } = visit(schema);
  const required = needed.filter((field) => defaulted[name]?.includes(field) !== true);
  const own = { ...read, ...(required.length > 0 && { required }) };
  if (read.properties === undefined) return own;
  return {
    ...own,
    properties: Object.fromEntries(
      Object.entries({ ...newFields(read.properties, added), ...read.properties }).map(([field, part]) => {
        const { $ref, ...rest } = part;
        const more = added[field];
        // A type of its own takes the place of the one that is referred to.
        const isOther = $ref === undefined || more?.type !== undefined;
        return [field, { ...rest, ...(!isOther && { $ref }), ...more }];
      }),
    ),
  };
}

/** Fields that are only in the corrections, still empty. */
function newFields(
  known: Readonly<Record<string, JsonSchema>>,
  added: Readonly<Record<string, Partial<JsonSchema>>>,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.keys(added).flatMap((field) => (known[field] === undefined ? [[field, {}]] : [])),
  );
}

/** The metadata of every object has the same Go type, and so have the types in it. */
function isMetadata(name: string): boolean {
  return /ApimachineryPkgApisMetaV1(ObjectMeta|OwnerReference|ManagedFieldsEntry|FieldsV1|Time)$/.test(name);
}

/** What one operator says differently about types that it shares with others. */
function ofPackage(from: string, name: string, schema: JsonSchema): JsonSchema {
  if (from.endsWith('/karpenter')) return karpenterSchema(name, schema);
  if (from.endsWith('/argo-rollouts')) return { ...schema, ...rolloutPods[name] };
  return schema;
}

function karpenterSchema(name: string, schema: JsonSchema): JsonSchema {
  if (name !== 'IoK8sApiCoreV1Taint' || schema.properties === undefined) return schema;
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([field, part]) => [
        field,
        { ...part, ...karpenterTaint[field] },
      ]),
    ),
  };
}

/**
 * Adds descriptions. Both sides are made from one definition. Validators have lost the fields that are named
 * `description`, so those are taken from the declaration.
 */
function describeSchema(name: string, schema: JsonSchema, described: Schema | undefined): JsonSchema {
  const text = descriptionOf(described);
  const declared = described?.properties ?? {};
  const properties = { ...schema.properties };
  // A type without any field is free JSON, whose declaration has a form of its own.
  if (schema.properties !== undefined && described?.properties !== undefined) {
    for (const field of Object.keys(declared)) {
      if (properties[field] !== undefined) continue;
      if (field !== 'description') throw new Error(`${name}: the validator knows no field ${field}`);
      properties[field] = { type: 'string' };
    }
    const undeclared = Object.keys(properties).filter(
      (field) => declared[field] === undefined && constraints[name]?.[field] === undefined,
    );
    if (undeclared.length > 0)
      throw new Error(`${name}: the declaration has no field ${undeclared.join(', ')}`);
  }
  return {
    ...(text !== undefined && { description: text }),
    ...schema,
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([field, part]) => {
          const property = declared[field];
          return [
            field,
            describeSchema(`${name}.${field}`, part, typeof property === 'object' ? property : undefined),
          ];
        }),
      ),
    }),
  };
}

function descriptionOf(schema: Schema | undefined): string | undefined {
  const text = schema?.description?.trim();
  return text === undefined || text === '' ? undefined : text;
}

function refsOf(schema: JsonSchema): readonly string[] {
  return [
    ...(schema.$ref === undefined ? [] : [schema.$ref.replace('#/definitions/', '')]),
    ...(schema.items === undefined ? [] : refsOf(schema.items)),
    ...(typeof schema.additionalProperties === 'object' ? refsOf(schema.additionalProperties) : []),
    ...Object.values(schema.properties ?? {}).flatMap(refsOf),
  ];
}

/** Names of definitions as references of JSON Schema. */
function pointing(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    ...(schema.$ref !== undefined && { $ref: `#/definitions/${schema.$ref}` }),
    ...(schema.items !== undefined && { items: pointing(schema.items) }),
    ...(typeof schema.additionalProperties === 'object' && {
      additionalProperties: pointing(schema.additionalProperties),
    }),
    ...(schema.properties !== undefined && { properties: mapValues(schema.properties, pointing) }),
  };
}

/** Without what only people read. */
export function withoutDescriptions(schema: KindSchema): KindSchema {
  const strip = (part: JsonSchema): JsonSchema => {
    const { description: _, ...rest } = part;
    return {
      ...rest,
      ...(part.items !== undefined && { items: strip(part.items) }),
      ...(typeof part.additionalProperties === 'object' && {
        additionalProperties: strip(part.additionalProperties),
      }),
      ...(part.properties !== undefined && { properties: mapValues(part.properties, strip) }),
    };
  };
  const { definitions } = schema;
  return {
    $schema: schema.$schema,
    'x-decoding': schema['x-decoding'],
    ...strip(schema),
    definitions: mapValues(definitions, strip),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
