import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  isSequence,
  type Entry,
  type MapNode,
  type ScalarNode,
  type SequenceNode,
  type Span,
  type YamlNode,
} from '../yaml/node';

/**
 * One map of a manifest that is checked key by key, with the place that stands for it: the key that holds it, or the
 * first key of an item of a list.
 */
export interface Part {
  readonly map: MapNode;
  readonly place: Entry | YamlNode | Span;
}

export interface Text {
  readonly node: ScalarNode;
  readonly text: string;
}

export interface Whole {
  readonly node: ScalarNode;
  readonly value: number;
}

/** The entry of a key that has a value, known or not. An explicit null is no value. */
export function given(part: Part | undefined, key: string): Entry | undefined {
  const entry = entryOf(part?.map, key);
  return entry === undefined || isNull(entry.value) ? undefined : entry;
}

/** The map under a key. */
export function partIn(part: Part | undefined, ...path: readonly string[]): Part | undefined {
  let at = part;
  for (const key of path) {
    const entry = given(at, key);
    if (entry === undefined || !isMap(entry.value)) return undefined;
    at = { map: entry.value, place: entry };
  }
  return at;
}

/** The maps of the list under a key, with their index. */
export function partsIn(part: Part | undefined, key: string): readonly (Part & { readonly index: number })[] {
  const entry = given(part, key);
  if (entry === undefined || !isSequence(entry.value)) return [];
  return entry.value.items.flatMap((item, index) =>
    isMap(item) ? [{ map: item, place: placeOfItem(item, entry), index }] : [],
  );
}

function placeOfItem(item: MapNode, list: Entry): Part['place'] {
  if (item.borrowed) return { start: item.start, end: item.end };
  const name = entryOf(item, 'name');
  if (name !== undefined && isScalar(name.value) && name.value.end > name.value.start) return name.value;
  return item.entries[0] ?? list;
}

export function listIn(part: Part | undefined, key: string): SequenceNode | undefined {
  const value = given(part, key)?.value;
  return isSequence(value) ? value : undefined;
}

/** Whether every item of a list is known and no template can add others. */
export function isClosed(list: SequenceNode | undefined): list is SequenceNode {
  return (
    list !== undefined &&
    !list.open &&
    list.items.every((item) => (isScalar(item) ? !item.unknown : !item.open))
  );
}

/** A known text. Numbers and booleans are no text: the API server refuses them where it wants one. */
export function textOf(node: YamlNode | undefined): Text | undefined {
  return isScalar(node) && !node.unknown && typeof node.value === 'string'
    ? { node, text: node.value }
    : undefined;
}

export function textAt(part: Part | undefined, key: string): Text | undefined {
  return textOf(entryOf(part?.map, key)?.value);
}

/** The text under a key; empty where the key is certainly without a value. */
export function textOrEmpty(part: Part, key: string): string | undefined {
  const entry = entryOf(part.map, key);
  if (entry === undefined || isNull(entry.value)) return part.map.open ? undefined : '';
  return textOf(entry.value)?.text;
}

/** A known whole number. */
export function wholeOf(node: YamlNode | undefined): Whole | undefined {
  return isScalar(node) && !node.unknown && typeof node.value === 'number' && Number.isInteger(node.value)
    ? { node, value: node.value }
    : undefined;
}

export function wholeAt(part: Part | undefined, key: string): Whole | undefined {
  return wholeOf(entryOf(part?.map, key)?.value);
}

/** Whether a key is known to be true. */
export function isTrue(part: Part | undefined, key: string): boolean {
  const value = entryOf(part?.map, key)?.value;
  return isScalar(value) && !value.unknown && value.value === true;
}
