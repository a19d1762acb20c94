import { customSchema, isObject } from './definitions';
import type { RootSchema, StructuralSchema } from './from-schema';

/** A kind with its schema, as an API server publishes it. */
export interface PublishedKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: RootSchema;
}

/** A schema in OpenAPI v3, as far as API servers write it. */
interface OpenApiSchema extends Omit<StructuralSchema, 'properties' | 'items' | 'additionalProperties'> {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly allOf?: readonly OpenApiSchema[];
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

const prefix = '#/components/schemas/';
/** What is compiled into the API server; everything else is of a CustomResourceDefinition or another server. */
const builtIn = /^io\.k8s\.(api|kube-aggregator|apiextensions-apiserver|apimachinery)\./;
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const intOrString = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

/**
 * The kinds of one document of `/openapi/v3`, which is about one version of one group.
 *
 * @param shipped what is known of a kind beside its OpenAPI, which leaves out much of what a built-in field may hold: of
 * the fields that this API server has, it says more.
 */
export function kindsOfOpenApi(
  document: unknown,
  shipped: (group: string, version: string, kind: string) => RootSchema | undefined,
): readonly PublishedKind[] {
  const components = componentsOf(document);
  return Object.entries(components).flatMap(([name, schema]): readonly PublishedKind[] => {
    const types = schema['x-kubernetes-group-version-kind'] ?? [];
    const [type] = types;
    const { properties } = schema;
    // Lists and what only requests hold have no metadata of an object, or belong to many groups.
    if (type === undefined || types.length !== 1 || properties?.['kind'] === undefined) return [];
    if (properties['metadata'] === undefined || type.kind.endsWith('List')) return [];
    const { group, version, kind } = type;
    const known = builtIn.test(name) ? shipped(group, version, kind) : undefined;
    const made = builtIn.test(name)
      ? builtInSchema(name, components, known)
      : customSchema(withoutRefs(schema) as StructuralSchema);
    return [{ group, version, kind, schema: made }];
  });
}

function componentsOf(document: unknown): Readonly<Record<string, OpenApiSchema>> {
  const components = isObject(document) ? document['components'] : undefined;
  const schemas = isObject(components) ? components['schemas'] : undefined;
  if (!isObject(schemas)) return {};
  return Object.fromEntries(
    Object.entries(schemas).filter((entry): entry is [string, OpenApiSchema] => isObject(entry[1])),
  );
}

/** `io.k8s.api.apps.v1.DeploymentSpec` as the shipped schemas call it. */
function definitionName(component: string): string {
  return component
    .split(/[.-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function refOf(part: OpenApiSchema): string | undefined {
  const [only, another] = part.allOf ?? [];
  const ref = part.$ref ?? (another === undefined ? only?.$ref : undefined);
  return ref?.startsWith(prefix) === true ? ref.slice(prefix.length) : undefined;
}

function builtInSchema(
  root: string,
  components: Readonly<Record<string, OpenApiSchema>>,
  shipped: RootSchema | undefined,
): RootSchema {
  const definitions: Record<string, StructuralSchema> = {};

  const part = (schema: OpenApiSchema): StructuralSchema => {
    const about = schema.description === undefined ? {} : { description: schema.description };
    const ref = refOf(schema);
    if (ref === quantity) return { ...about, format: 'quantity', 'x-kubernetes-int-or-string': true };
    if (ref === intOrString) return { ...about, 'x-kubernetes-int-or-string': true };
    if (ref !== undefined) {
      add(ref);
      return { ...about, $ref: `#/definitions/${definitionName(ref)}` };
    }
    return { ...about, ...object(schema, undefined) };
  };

  /** Of the fields that there are, what is known already says more; new fields are as they are published. */
  const object = (schema: OpenApiSchema, known: StructuralSchema | undefined): StructuralSchema => {
    // Values are filled in for the fields of Go's types too; nothing becomes optional by it.
    const { properties, items, additionalProperties, allOf: _, default: __, required, ...rest } = schema;
    const names = Object.keys(properties ?? {});
    return {
      ...rest,
      ...partsOf({ properties, items, additionalProperties }, part, (value, name) => {
        const made = part(value);
        const more = known?.properties?.[name];
        return more === undefined ? made : { ...made, ...withoutRef(more, made) };
      }),
      ...requiredOf(known === undefined ? required : known.required?.filter((name) => names.includes(name))),
    };
  };

  const add = (component: string): void => {
    const name = definitionName(component);
    if (definitions[name] !== undefined) return;
    definitions[name] = {};
    const schema = components[component];
    if (schema !== undefined) definitions[name] = object(schema, shipped?.definitions?.[name]);
  };

  const schema = components[root] ?? {};
  const made = object(schema, shipped);
  return { ...made, definitions, 'x-decoding': 'typed' };
}

/** A correction of a field, unless it only names a type, which is the one of this API server. */
function withoutRef(known: StructuralSchema, made: StructuralSchema): StructuralSchema {
  const { $ref, items, properties: _, additionalProperties: __, ...rest } = known;
  if ($ref !== undefined || made.$ref !== undefined) return {};
  return { ...rest, ...(items?.enum === undefined ? {} : { items }) };
}

function requiredOf(required: readonly string[] | undefined): Pick<StructuralSchema, 'required'> {
  return required === undefined || required.length === 0 ? {} : { required };
}

/** Definitions of custom kinds hold everything in themselves but for metadata, which is known. */
function withoutRefs(schema: OpenApiSchema): OpenApiSchema {
  const { properties, items, additionalProperties, ...rest } = schema;
  if (refOf(schema) !== undefined) return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return { ...rest, ...partsOf({ properties, items, additionalProperties }, withoutRefs) };
}

type Parts = {
  readonly [K in 'properties' | 'items' | 'additionalProperties']: OpenApiSchema[K] | undefined;
};

/** The schemas in a schema, each as `make` has it; `field` makes those of fields, by name. */
function partsOf<T>(
  { properties, items, additionalProperties }: Parts,
  make: (part: OpenApiSchema) => T,
  field: (part: OpenApiSchema, name: string) => T = make,
) {
  return {
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, value]) => [name, field(value, name)] as const),
          ),
        }),
    ...(items === undefined ? {} : { items: make(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object' ? make(additionalProperties) : additionalProperties,
        }),
  };
}

/** A schema without what is only for reading. */
export function structureOnly<T>(schema: T): T {
  const visit = (value: unknown, inProperties: boolean): unknown => {
    if (Array.isArray(value)) return value.map((each) => visit(each, false));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        // A field can be called so.
        .filter(([key, each]) => inProperties || key !== 'description' || typeof each !== 'string')
        .map(([key, each]) => [
          key,
          key === 'default' || key === 'enum' ? each : visit(each, !inProperties && isNames(key)),
        ]),
    );
  };
  return visit(schema, false) as T;
}

function isNames(key: string): boolean {
  return key === 'properties' || key === 'definitions';
}
