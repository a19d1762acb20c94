import { parseQuantity, quantityText } from '../kube/quantity';
import type { Entry, MapNode, ScalarNode, SequenceNode, YamlNode } from '../yaml/node';
import { entryOf, isMap, isNull } from '../yaml/node';
import { checkRules } from './rules';
import type { ListShape, MapShape, NumberShape, ObjectShape, Shape, StringShape, Structure } from './shape';

/** Something that the API server refuses for its form, on the key or value at fault. */
export type Fault =
  | {
      readonly code: 'unknown-field';
      readonly entry: Entry;
      readonly map: MapNode;
      readonly shape: ObjectShape;
      /** The objects around, from the outside in, with their shapes: the field may belong to one of them. */
      readonly around: readonly Place[];
      readonly path: FaultPath;
    }
  | {
      readonly code: 'wrong-type';
      readonly entry: Entry | undefined;
      readonly node: YamlNode;
      readonly shape: Shape;
      readonly path: FaultPath;
    }
  | {
      readonly code: 'missing-field';
      readonly field: string;
      /** What should hold the field: its key, the item, or, when the field is there but empty, the field. */
      readonly at: Entry | YamlNode;
      readonly map: MapNode | undefined;
      /** There, but null or empty. */
      readonly empty: boolean;
      readonly shape: Shape | undefined;
      readonly path: FaultPath;
    }
  | {
      readonly code: 'value-not-allowed';
      readonly node: ScalarNode;
      readonly entry: Entry | undefined;
      readonly allowed: readonly string[];
      readonly path: FaultPath;
    }
  | {
      readonly code: 'value-out-of-range';
      readonly node: YamlNode;
      readonly entry: Entry | undefined;
      readonly limit: Limit;
      readonly path: FaultPath;
    }
  | {
      readonly code: 'rule-failed';
      /** The value that the rule is on, or the field below it that the rule names. */
      readonly node: YamlNode;
      readonly entry: Entry | undefined;
      readonly message: string;
      readonly path: FaultPath;
    }
  | {
      readonly code: 'value-malformed';
      readonly node: ScalarNode;
      readonly entry: Entry | undefined;
      readonly form: Form;
      readonly path: FaultPath;
    };

export type Limit =
  | { readonly kind: 'minimum' | 'maximum'; readonly value: number }
  | { readonly kind: 'bits'; readonly value: 32 | 64 }
  | { readonly kind: 'min-length' | 'max-length'; readonly value: number; readonly length: number }
  | { readonly kind: 'min-items' | 'max-items'; readonly value: number; readonly length: number }
  | { readonly kind: 'min-keys' | 'max-keys'; readonly value: number; readonly length: number };

export type Form =
  | { readonly kind: 'quantity' }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'base64' }
  | { readonly kind: 'date-time' };

/** Keys and indexes from the root of the object to the place of the fault. */
export type FaultPath = readonly (string | number)[];

/** An object on the way to a place. */
export interface Place {
  readonly path: FaultPath;
  readonly shape: ObjectShape;
  readonly map: MapNode;
}

export interface ValidateOptions {
  /** Objects of the kind get a name when they have none. */
  readonly nameless?: boolean;
  /** The object is whole: what is not there is missing. */
  readonly complete: boolean;
}

/**
 * Compares an object with the structure of its kind. Silent on what a template fills in, and about what is missing where
 * it may add keys.
 */
export function validate(root: MapNode, structure: Structure, options: ValidateOptions): readonly Fault[] {
  const walk: Walk = {
    typed: structure.decoding === 'typed',
    complete: options.complete,
    faults: [],
    path: [],
    around: [],
    silent: false,
  };
  checkObject(walk, root, undefined, structure.root);
  if (options.complete && !root.open && options.nameless !== true) checkName(walk, root);
  // The API server asks the rules only about what is well-formed.
  if (options.complete && structure.ruled && walk.faults.length === 0)
    checkRules(root, structure, walk.faults);
  return walk.faults;
}

/** Every object has a name, or a beginning of one that the server completes. */
function checkName(walk: Walk, root: MapNode): void {
  const metadata = entryOf(root, 'metadata');
  if (metadata === undefined) {
    missing(walk, 'metadata', root, root, false, undefined);
  } else if (isNull(metadata.value)) {
    missing(walk, 'metadata', metadata, root, true, undefined);
  } else if (isMap(metadata.value) && !metadata.value.open) {
    const names = ['name', 'generateName'].map((key) => entryOf(metadata.value, key));
    if (names.some((name) => name !== undefined && !isNull(name.value) && !isZero(name.value))) return;
    const [name] = names;
    walk.path.push('metadata');
    missing(walk, 'name', name ?? metadata, metadata.value, name !== undefined, undefined);
    walk.path.pop();
  }
}

interface Walk {
  /** Whether the part that is looked at is decoded into Go types. */
  typed: boolean;
  readonly complete: boolean;
  readonly faults: Fault[];
  readonly path: (string | number)[];
  readonly around: Place[];
  /** Within `status`, which the API server drops after it has read it. */
  silent: boolean;
}

function check(walk: Walk, node: YamlNode, entry: Entry | undefined, shape: Shape): void {
  if (shape.type === 'any') return;
  if (node.kind === 'scalar') {
    if (node.unknown) return;
    if (node.value === null) {
      // As the value of a key it is as good as absent, which is for the object to judge.
      if (entry === undefined) checkNullItem(walk, node, shape);
      return;
    }
  }
  switch (shape.type) {
    case 'object':
      if (node.kind === 'map') checkObject(walk, node, entry, shape);
      else wrongType(walk, node, entry, shape);
      return;
    case 'map':
      if (node.kind === 'map') checkMap(walk, node, entry, shape);
      else wrongType(walk, node, entry, shape);
      return;
    case 'list':
      if (node.kind === 'sequence') checkList(walk, node, entry, shape);
      else wrongType(walk, node, entry, shape);
      return;
    case 'string':
      if (node.kind === 'scalar' && typeof node.value === 'string') checkString(walk, node, entry, shape);
      else wrongType(walk, node, entry, shape);
      return;
    case 'integer':
    case 'number':
      if (node.kind === 'scalar' && typeof node.value === 'number') checkNumber(walk, node, entry, shape);
      else wrongType(walk, node, entry, shape);
      return;
    case 'boolean':
      if (node.kind !== 'scalar' || typeof node.value !== 'boolean') wrongType(walk, node, entry, shape);
      return;
    case 'int-or-string':
      if (node.kind !== 'scalar' || typeof node.value === 'boolean') wrongType(walk, node, entry, shape);
      else if (typeof node.value === 'number') {
        if (!Number.isInteger(node.value)) wrongType(walk, node, entry, shape);
      } else if (shape.pattern?.test(node.text) === false) {
        malformed(walk, node, entry, { kind: 'pattern', source: shape.pattern.source });
      }
      return;
    case 'quantity':
      if (node.kind !== 'scalar' || typeof node.value === 'boolean') wrongType(walk, node, entry, shape);
      else if (!walk.typed && typeof node.value === 'number' && !Number.isInteger(node.value)) {
        wrongType(walk, node, entry, { type: 'int-or-string', pattern: undefined, nullable: shape.nullable });
      } else if (!isQuantity(node, walk.typed)) malformed(walk, node, entry, { kind: 'quantity' });
      return;
  }
}

/** What definitions of custom resources demand of a text that is an amount. */
const customQuantity =
  /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][-+]?(?:\d+(?:\.\d*)?|\.\d+))?$/;

function isQuantity(node: ScalarNode, typed: boolean): boolean {
  if (!typed && typeof node.value === 'string') return customQuantity.test(node.text);
  return parseQuantity(quantityText(node)) !== undefined;
}

function checkNullItem(walk: Walk, node: ScalarNode, shape: Exclude<Shape, { type: 'any' }>): void {
  if (shape.nullable) return;
  if (!walk.typed) {
    wrongType(walk, node, undefined, shape);
  } else if (shape.type === 'object' && walk.complete) {
    for (const field of shape.required) missing(walk, field, node, undefined, false, shape.fields.get(field));
  } else if (shape.type === 'string' && shape.enum !== undefined && !shape.emptyIsDefault) {
    report(walk, {
      code: 'value-not-allowed',
      node,
      entry: undefined,
      allowed: shape.enum,
      path: [...walk.path],
    });
  }
}

function checkObject(walk: Walk, node: MapNode, entry: Entry | undefined, shape: ObjectShape): void {
  walk.around.push({ path: [...walk.path], shape, map: node });
  for (const child of node.entries) {
    const { key, value } = child;
    // A template chooses the key, or it is a directive of a strategic merge patch.
    if (key.unknown || key.text.startsWith('$')) continue;
    walk.path.push(key.text);
    const expected = shape.fields.get(key.text);
    if (expected === undefined) {
      if (!shape.open) {
        report(walk, {
          code: 'unknown-field',
          entry: child,
          map: node,
          shape,
          around: [...walk.around],
          path: [...walk.path],
        });
      }
    } else {
      const { typed, silent } = walk;
      if (walk.path.length === 1) {
        // Metadata has a Go type, also that of custom resources.
        if (key.text === 'metadata') walk.typed = true;
        if (key.text === 'status') walk.silent = true;
      }
      check(walk, value, child, expected);
      walk.typed = typed;
      walk.silent = silent;
    }
    walk.path.pop();
  }
  if (walk.complete && !node.open) {
    for (const field of shape.required) {
      const child = node.entries.find(({ key }) => key.text === field);
      if (child === undefined) {
        if (node.entries.some(({ key }) => key.unknown)) continue;
        missing(walk, field, entry ?? node, node, false, shape.fields.get(field));
      } else if (isNull(child.value)) {
        missing(walk, field, child, node, true, shape.fields.get(field));
      } else if (walk.typed && isZero(child.value)) {
        missing(walk, field, child.value, node, true, shape.fields.get(field));
      }
    }
    countKeys(walk, node, entry, shape);
  }
  walk.around.pop();
}

/** Go's zero value of a text or a list, which is refused where a value is required. */
function isZero(node: YamlNode): boolean {
  switch (node.kind) {
    case 'scalar':
      return node.value === '' && !node.unknown;
    case 'sequence':
      return node.items.length === 0 && !node.open;
    case 'map':
      return false;
  }
}

function checkMap(walk: Walk, node: MapNode, entry: Entry | undefined, shape: MapShape): void {
  for (const child of node.entries) {
    if (child.key.unknown || child.key.text.startsWith('$')) continue;
    walk.path.push(child.key.text);
    check(walk, child.value, child, shape.values);
    walk.path.pop();
  }
  if (walk.complete && !node.open) countKeys(walk, node, entry, shape);
}

function countKeys(
  walk: Walk,
  node: MapNode,
  entry: Entry | undefined,
  { minProperties, maxProperties }: ObjectShape | MapShape,
): void {
  const { length } = node.entries;
  if (minProperties !== undefined && length < minProperties) {
    outOfRange(walk, node, entry, { kind: 'min-keys', value: minProperties, length });
  } else if (maxProperties !== undefined && length > maxProperties) {
    outOfRange(walk, node, entry, { kind: 'max-keys', value: maxProperties, length });
  }
}

function checkList(walk: Walk, node: SequenceNode, entry: Entry | undefined, shape: ListShape): void {
  const { items, minItems, maxItems } = shape;
  node.items.forEach((item, index) => {
    walk.path.push(index);
    check(walk, item, undefined, items);
    walk.path.pop();
  });
  if (node.open || !walk.complete) return;
  const { length } = node.items;
  if (minItems !== undefined && length < minItems) {
    outOfRange(walk, node, entry, { kind: 'min-items', value: minItems, length });
  } else if (maxItems !== undefined && length > maxItems) {
    outOfRange(walk, node, entry, { kind: 'max-items', value: maxItems, length });
  }
}

function checkString(walk: Walk, node: ScalarNode, entry: Entry | undefined, shape: StringShape): void {
  const { text } = node;
  const path = [...walk.path];
  if (shape.enum !== undefined && !shape.enum.includes(text) && !(text === '' && shape.emptyIsDefault)) {
    // An empty text where one is required is reported as missing.
    if (text === '' && walk.typed && isRequired(walk, entry)) return;
    report(walk, { code: 'value-not-allowed', node, entry, allowed: shape.enum, path });
    return;
  }
  const length = [...text].length;
  if (shape.minLength !== undefined && length < shape.minLength) {
    outOfRange(walk, node, entry, { kind: 'min-length', value: shape.minLength, length });
  } else if (shape.maxLength !== undefined && length > shape.maxLength) {
    outOfRange(walk, node, entry, { kind: 'max-length', value: shape.maxLength, length });
  } else if (shape.pattern?.test(text) === false) {
    malformed(walk, node, entry, { kind: 'pattern', source: shape.pattern.source });
  } else if (walk.typed && shape.format === 'date-time' && !isDateTime(text)) {
    malformed(walk, node, entry, { kind: 'date-time' });
  } else if (walk.typed && shape.format === 'byte' && !isBase64(text)) {
    malformed(walk, node, entry, { kind: 'base64' });
  }
}

function isRequired(walk: Walk, entry: Entry | undefined): boolean {
  return entry !== undefined && walk.around.at(-1)?.shape.required.includes(entry.key.text) === true;
}

const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:\d\d)$/;

function isDateTime(text: string): boolean {
  return dateTime.test(text) && !Number.isNaN(Date.parse(text));
}

/** As Go's decoder takes it: padded, line breaks ignored. */
function isBase64(text: string): boolean {
  const plain = text.replace(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

function checkNumber(walk: Walk, node: ScalarNode, entry: Entry | undefined, shape: NumberShape): void {
  const value = Number(node.value);
  if (shape.type === 'integer') {
    if (!Number.isInteger(value)) {
      wrongType(walk, node, entry, shape);
      return;
    }
    if (shape.bits !== undefined) {
      const limit = 2 ** (shape.bits - 1);
      if (value >= limit || value < -limit) {
        outOfRange(walk, node, entry, { kind: 'bits', value: shape.bits });
        return;
      }
    }
  }
  if (shape.minimum !== undefined && value < shape.minimum) {
    outOfRange(walk, node, entry, { kind: 'minimum', value: shape.minimum });
  } else if (shape.maximum !== undefined && value > shape.maximum) {
    outOfRange(walk, node, entry, { kind: 'maximum', value: shape.maximum });
  }
}

function wrongType(walk: Walk, node: YamlNode, entry: Entry | undefined, shape: Shape): void {
  report(walk, { code: 'wrong-type', entry, node, shape, path: [...walk.path] });
}

function malformed(walk: Walk, node: ScalarNode, entry: Entry | undefined, form: Form): void {
  report(walk, { code: 'value-malformed', node, entry, form, path: [...walk.path] });
}

function outOfRange(walk: Walk, node: YamlNode, entry: Entry | undefined, limit: Limit): void {
  report(walk, { code: 'value-out-of-range', node, entry, limit, path: [...walk.path] });
}

function missing(
  walk: Walk,
  field: string,
  at: Entry | YamlNode,
  map: MapNode | undefined,
  empty: boolean,
  shape: Shape | undefined,
): void {
  report(walk, { code: 'missing-field', field, at, map, empty, shape, path: [...walk.path, field] });
}

function report(walk: Walk, fault: Fault): void {
  if (!walk.silent || fault.code === 'unknown-field' || fault.code === 'wrong-type') walk.faults.push(fault);
}
