import { entryOf, type Entry, type MapNode, type YamlNode } from '../yaml/node';
import { evaluate, noSuchKey, type CelValue } from './cel';
import type { ObjectShape, Shape, Structure, ValidationRule } from './shape';
import type { Fault, FaultPath } from './validate';

/**
 * Asks the rules of a definition about an object that is well-formed. What a template or a variable fills in is not
 * known, and so is everything around it; rules about changes have nothing to compare with.
 */
export function checkRules(root: MapNode, structure: Structure, faults: Fault[]): void {
  const visit = (node: YamlNode, entry: Entry | undefined, shape: Shape, path: FaultPath): void => {
    if (shape.type === 'any' || (node.kind === 'scalar' && node.value === null)) return;
    const rules = (shape.rules ?? []).filter(({ rule }) => !/\boldSelf\b/.test(rule));
    if (rules.length > 0) {
      const self = path.length === 0 ? rootValue(root, structure.root) : valueOf(node, shape);
      if (self === undefined) return;
      for (const rule of rules) {
        const result = evaluate(rule.rule, self);
        if (result === false || result === noSuchKey) faults.push(failed(rule, self, node, entry, path));
      }
    }
    if (shape.type === 'object' && node.kind === 'map') {
      for (const child of node.entries) {
        const field = shape.fields.get(child.key.text);
        if (field !== undefined) visit(child.value, child, field, [...path, child.key.text]);
      }
    } else if (shape.type === 'map' && node.kind === 'map') {
      for (const child of node.entries) visit(child.value, child, shape.values, [...path, child.key.text]);
    } else if (shape.type === 'list' && node.kind === 'sequence') {
      node.items.forEach((item, index) => visit(item, undefined, shape.items, [...path, index]));
    }
  };
  visit(root, undefined, structure.root, []);
}

function failed(
  { rule, message, messageExpression, fieldPath }: ValidationRule,
  self: CelValue,
  node: YamlNode,
  entry: Entry | undefined,
  path: FaultPath,
): Fault {
  const made = messageExpression === undefined ? undefined : evaluate(messageExpression, self);
  const text =
    typeof made === 'string' && made.trim() !== '' ? made : (message ?? `this has to hold: ${rule}`);
  let place: { node: YamlNode; entry: Entry | undefined; path: FaultPath } = { node, entry, path };
  for (const step of fieldPath?.match(/[^.[\]'"]+/g) ?? []) {
    const next = entryOf(place.node, step);
    if (next === undefined) break;
    place = { node: next.value, entry: next, path: [...place.path, step] };
  }
  return { code: 'rule-failed', message: text.replace(/\s+/g, ' ').trim().replace(/\.$/, ''), ...place };
}

/** Of the metadata, rules see the name alone. */
function rootValue(root: MapNode, shape: ObjectShape): CelValue | undefined {
  const value = valueOf(root, shape);
  if (value === undefined) return undefined;
  const { metadata, ...rest } = value as Record<string, CelValue>;
  const { name, generateName } = (metadata ?? {}) as Record<string, CelValue>;
  return {
    ...rest,
    metadata: { ...(name !== undefined && { name }), ...(generateName !== undefined && { generateName }) },
  };
}

/** A value with its defaults filled in; `undefined` when some of it is not known. */
function valueOf(node: YamlNode, shape: Shape): CelValue | undefined {
  switch (node.kind) {
    case 'scalar': {
      if (node.unknown) return undefined;
      const { value } = node;
      // A number is whole by its type, not by how it is written.
      return typeof value === 'number' && shape.type !== 'number' && Number.isInteger(value)
        ? BigInt(value)
        : value;
    }
    case 'sequence': {
      if (node.open) return undefined;
      const inner: Shape = shape.type === 'list' ? shape.items : { type: 'any' };
      const items = node.items.map((item) => valueOf(item, inner));
      return items.includes(undefined) ? undefined : (items as CelValue[]);
    }
    case 'map': {
      if (node.open) return undefined;
      const result = Object.create(null) as Record<string, CelValue>;
      for (const { key, value } of node.entries) {
        if (key.unknown) return undefined;
        const inner: Shape =
          shape.type === 'map'
            ? shape.values
            : ((shape.type === 'object' ? shape.fields.get(key.text) : undefined) ?? { type: 'any' });
        const own = valueOf(value, inner);
        if (own === undefined) return undefined;
        // Null is as good as absent.
        if (own !== null) result[shape.type === 'object' ? fieldName(key.text) : key.text] = own;
      }
      if (shape.type === 'object') fillDefaults(result, shape);
      return result;
    }
  }
}

function fillDefaults(result: Record<string, CelValue>, shape: ObjectShape): void {
  for (const name of shape.fields.names) {
    const value = shape.fields.defaultOf(name);
    const field = fieldName(name);
    if (value !== undefined && value !== null && result[field] === undefined) {
      result[field] = plainValue(value, shape.fields.get(name) ?? { type: 'any' });
    }
  }
}

function plainValue(value: unknown, shape: Shape): CelValue {
  if (Array.isArray(value)) {
    const inner: Shape = shape.type === 'list' ? shape.items : { type: 'any' };
    return value.map((item) => plainValue(item, inner));
  }
  if (typeof value === 'object' && value !== null) {
    const result = Object.create(null) as Record<string, CelValue>;
    for (const [key, own] of Object.entries(value)) {
      const inner: Shape =
        shape.type === 'map'
          ? shape.values
          : ((shape.type === 'object' ? shape.fields.get(key) : undefined) ?? { type: 'any' });
      result[shape.type === 'object' ? fieldName(key) : key] = plainValue(own, inner);
    }
    if (shape.type === 'object') fillDefaults(result, shape);
    return result;
  }
  if (typeof value === 'number') {
    return shape.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  }
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** Words of the language, which fields are called by with underscores around. */
const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var void ' +
    'while'
  ).split(' '),
);

/** A field by the name that rules call it: what no identifier may hold is spelt out. */
function fieldName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.includes('__')) return name;
  return name
    .replace(/__/g, '__underscores__')
    .replace(/\./g, '__dot__')
    .replace(/-/g, '__dash__')
    .replace(/\//g, '__slash__');
}
