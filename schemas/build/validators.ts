import { readFileSync } from 'node:fs';

/** The part of JSON Schema that describes Kubernetes objects. */
export interface JsonSchema {
  readonly $ref?: string;
  /** Names of types whose fields it has beside its own. */
  readonly allOf?: readonly string[];
  readonly description?: string;
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array';
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
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
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Types whose validator says it in a form of its own (two alternatives). */
const special: Readonly<Record<string, JsonSchema>> = {
  IoK8sApimachineryPkgApiResourceQuantity: { format: 'quantity', 'x-kubernetes-int-or-string': true },
  IoK8sApimachineryPkgUtilIntstrIntOrString: { 'x-kubernetes-int-or-string': true },
};

/**
 * Reads back the schema that a validator was compiled from. ajv makes one function for each subschema, and each check
 * names its keyword and its limit in the error that it reports.
 *
 * @throws on a validator that is built differently: a new version of a package needs a look.
 */
export function readValidator(name: string, path: string): JsonSchema {
  const known = special[name];
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  const imports = new Map(
    [...text.matchAll(/import\{validate as (validate\d+)\}from"([^"]+)"/g)].map((match) => [
      match[1] ?? '',
      nameOfFile(match[2] ?? ''),
    ]),
  );
  const lists = new Map(
    [...text.matchAll(/\b(schema\d+_enum)=(\[[^\]]*\])/g)].map((match) => [
      match[1] ?? '',
      JSON.parse(match[2] ?? '[]') as readonly unknown[],
    ]),
  );
  const functions = new Map<string, string>();
  for (const match of text.matchAll(/function (validate\d+)\(data,/g)) {
    const id = match[1] ?? '';
    const end = text.indexOf(`${id}.errors=vErrors,0===errors}`, match.index);
    functions.set(id, text.slice(match.index, end < 0 ? undefined : end));
  }
  const start = /export const validate=(validate\d+);/.exec(text)?.[1];
  if (start === undefined) throw new Error(`${path}: no validator is exported`);

  const read = (id: string): JsonSchema => {
    const imported = imports.get(id);
    if (imported !== undefined) return { $ref: imported };
    const body = functions.get(id);
    if (body === undefined) throw new Error(`${path}: there is no function ${id}`);
    // A type with properties inside of properties, which only schemas of schemas are: anything may be in them.
    if (body.includes('schemaPath:"#/properties/')) return { 'x-kubernetes-preserve-unknown-fields': true };
    const schema: Writable<JsonSchema> = {};
    const required: string[] = [];
    const errors = body.matchAll(/schemaPath:"#\/(\w+)",keyword:"(\w+)",params:\{(?:\w+:[^{}]*?,)?(\w+):/g);
    for (const match of errors) {
      const rest = body.slice(match.index + match[0].length);
      const [, keyword] = match;
      switch (keyword) {
        case 'type':
          schema.type = JSON.parse(/^"\w+"/.exec(rest)?.[0] ?? 'null') as NonNullable<JsonSchema['type']>;
          break;
        case 'required':
          required.push(JSON.parse(/^"[^"]+"/.exec(rest)?.[0] ?? 'null') as string);
          break;
        case 'enum':
          schema.enum = lists.get(/^\w+/.exec(rest)?.[0] ?? '') ?? [];
          break;
        case 'pattern':
        case 'format':
          schema[keyword] = JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(rest)?.[0] ?? 'null') as string;
          break;
        case 'minimum':
        case 'maximum':
        case 'minLength':
        case 'maxLength':
        case 'minItems':
        case 'maxItems':
        case 'minProperties':
        case 'maxProperties':
          schema[keyword] = Number(/^[-\w.+]+/.exec(rest)?.[0]);
          break;
        default:
          throw new Error(`${path}: the keyword ${keyword ?? ''} is new`);
      }
    }
    if (required.length > 0) schema.required = required;
    const properties: Record<string, JsonSchema> = {};
    const whole: string[] = [];
    for (const call of body.matchAll(
      /\b(validate\d+)\(data(?:\.([\w$]+)|\["([^"]+)"\]|\[(i|key)\d+\])?,\{/g,
    )) {
      const [, target = '', plain, quoted, index] = call;
      if (target === id) continue;
      const key = plain ?? quoted;
      if (key !== undefined) properties[key] = read(target);
      else if (index === 'i') schema.items = read(target);
      else if (index === 'key') schema.additionalProperties = read(target);
      else whole.push(refOf(read(target), path));
    }
    const [only, ...others] = whole;
    if (schema.type === 'object' && only !== undefined) schema.allOf = whole;
    else if (others.length > 0) throw new Error(`${path}: alternatives are new`);
    else if (only !== undefined) schema.$ref = only;
    if (Object.keys(properties).length > 0) schema.properties = properties;
    return schema;
  };
  return read(start);
}

function refOf(schema: JsonSchema, path: string): string {
  if (schema.$ref === undefined) throw new Error(`${path}: alternatives are new`);
  return schema.$ref;
}

function nameOfFile(path: string): string {
  return /([^/]+?)(?:\.js)?$/.exec(path)?.[1] ?? path;
}

/** Gives types the fields of those that they embed. */
export function withEmbedded(schemas: ReadonlyMap<string, JsonSchema>): ReadonlyMap<string, JsonSchema> {
  const flat = (name: string): JsonSchema => {
    const schema = schemas.get(name);
    if (schema === undefined) throw new Error(`there is no validator of ${name}`);
    if (schema.$ref !== undefined && schema.type === undefined) return flat(schema.$ref);
    if (schema.allOf === undefined) return schema;
    const { allOf, ...own } = schema;
    const parts = [...allOf.map(flat), own];
    const required = parts.flatMap((part) => part.required ?? []);
    return {
      ...own,
      properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})) as Record<
        string,
        JsonSchema
      >,
      ...(required.length > 0 && { required: [...new Set(required)] }),
    };
  };
  return new Map([...schemas.keys()].map((name) => [name, flat(name)]));
}
