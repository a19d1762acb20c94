import {
  patternOf,
  type Fields,
  type ObjectShape,
  type ValidationRule,
  type Shape,
  type Structure,
} from './shape';

/**
 * The part of a JSON Schema that says what the API server checks. Definitions are referred to as
 * `#/definitions/NAME`; `quantity` is a format of ours.
 */
export interface StructuralSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  /** Filled in before anything is found missing. */
  readonly default?: unknown;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  /** Of ours: an empty text stands for the default. */
  readonly 'x-empty-is-default'?: boolean;
}

export interface RootSchema extends StructuralSchema {
  readonly definitions?: Readonly<Record<string, StructuralSchema>>;
  readonly 'x-decoding'?: Structure['decoding'];
}

const any: Shape = { type: 'any' };

/**
 * Makes the structure of a kind. Parts of the schema are read when they are first looked at, so a kind of which a
 * document uses little costs little.
 */
export function structureOf(schema: RootSchema): Structure {
  const named = new Map<string, Shape>();

  const resolve = (name: string): Shape => {
    const known = named.get(name);
    if (known !== undefined) return known;
    const found = schema.definitions?.[name];
    const shape = found === undefined ? any : read(found);
    named.set(name, shape);
    return shape;
  };

  const object = (part: StructuralSchema): ObjectShape => ({
    type: 'object',
    fields: fieldsOf(part.properties ?? {}, read),
    required: (part.required ?? []).filter((field) => part.properties?.[field]?.default === undefined),
    open:
      part['x-kubernetes-preserve-unknown-fields'] === true ||
      part['x-kubernetes-embedded-resource'] === true ||
      part.additionalProperties === true,
    nullable: part.nullable === true,
    minProperties: part.minProperties,
    maxProperties: part.maxProperties,
  });

  const read = (part: StructuralSchema): Shape => {
    const shape = unruled(part);
    const rules = part['x-kubernetes-validations'];
    return rules === undefined || shape.type === 'any' ? shape : { ...shape, rules };
  };

  const unruled = (part: StructuralSchema): Shape => {
    if (part.$ref !== undefined) {
      const shape = resolve(part.$ref.replace('#/definitions/', ''));
      return part.nullable === true && shape.type !== 'any' ? { ...shape, nullable: true } : shape;
    }
    const nullable = part.nullable === true;
    if (part.format === 'quantity') return { type: 'quantity', nullable };
    if (part['x-kubernetes-int-or-string'] === true || part.format === 'int-or-string') {
      return { type: 'int-or-string', pattern: pattern(part), nullable };
    }
    switch (part.type) {
      case 'object': {
        const { properties, additionalProperties } = part;
        if (properties !== undefined) return object(part);
        // Without properties: the schema says no more than that it is a map.
        if (typeof additionalProperties !== 'object') return { ...object(part), open: true };
        const values = lazy(() => read(additionalProperties));
        const { minProperties, maxProperties } = part;
        return {
          type: 'map',
          get values() {
            return values();
          },
          nullable,
          minProperties,
          maxProperties,
        };
      }
      case 'array': {
        const { minItems, maxItems } = part;
        const items = lazy(() => (part.items === undefined ? any : read(part.items)));
        return {
          type: 'list',
          get items() {
            return items();
          },
          nullable,
          minItems,
          maxItems,
        };
      }
      case 'string': {
        const values = part.enum?.filter((value) => typeof value === 'string');
        return {
          type: 'string',
          enum: values,
          emptyIsDefault: part['x-empty-is-default'] === true,
          pattern: pattern(part),
          minLength: part.minLength,
          maxLength: part.maxLength,
          format: part.format,
          nullable,
        };
      }
      case 'integer':
      case 'number': {
        const bits = part.format === 'int32' ? 32 : part.format === 'int64' ? 64 : undefined;
        return { type: part.type, bits, minimum: part.minimum, maximum: part.maximum, nullable };
      }
      case 'boolean':
        return { type: 'boolean', nullable };
      default:
        return any;
    }
  };

  const root = schema.$ref === undefined ? read(schema) : resolve(schema.$ref.replace('#/definitions/', ''));
  return {
    decoding: schema['x-decoding'] ?? 'custom',
    root: root.type === 'object' ? root : object({}),
    ruled: hasRules(schema),
  };
}

function pattern({ pattern: source }: StructuralSchema): ReturnType<typeof patternOf> | undefined {
  return source === undefined ? undefined : patternOf(source);
}

function hasRules(schema: RootSchema): boolean {
  const inside = (part: StructuralSchema | boolean | undefined): boolean =>
    typeof part === 'object' &&
    (part['x-kubernetes-validations'] !== undefined ||
      inside(part.items) ||
      inside(part.additionalProperties) ||
      Object.values(part.properties ?? {}).some(inside));
  return inside(schema) || Object.values(schema.definitions ?? {}).some(inside);
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function fieldsOf(
  properties: Readonly<Record<string, StructuralSchema>>,
  read: (part: StructuralSchema) => Shape,
): Fields {
  const names = Object.keys(properties);
  const parts = new Map(Object.entries(properties));
  const made = new Map<string, Shape>();
  return {
    names,
    has: (name) => parts.has(name),
    defaultOf: (name) => parts.get(name)?.default,
    get: (name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      const part = parts.get(name);
      if (part === undefined) return undefined;
      const shape = read(part);
      made.set(name, shape);
      return shape;
    },
  };
}
