import { isMap, isSequence, type YamlNode } from './node';

/** A tree as plain data; `undefined` for what a template or a variable fills in. */
export function plainOf(node: YamlNode | undefined): unknown {
  if (isMap(node)) {
    return Object.fromEntries(node.entries.map(({ key, value }) => [key.text, plainOf(value)] as const));
  }
  if (isSequence(node)) return node.items.map(plainOf);
  return node === undefined || node.unknown ? undefined : node.value;
}

/** Whether nothing in a tree is filled in by a template or a variable. */
export function isWhole(node: YamlNode): boolean {
  switch (node.kind) {
    case 'scalar':
      return !node.unknown;
    case 'sequence':
      return !node.open && node.items.every(isWhole);
    case 'map':
      return !node.open && node.entries.every(({ key, value }) => !key.unknown && isWhole(value));
  }
}
