import { scalarNode } from './build';
import type { Hole } from './mask';
import type { MapNode, ScalarNode, SequenceNode, YamlNode } from './node';

type Mutable<Node> = { -readonly [Key in keyof Node]: Node[Key] };

/**
 * Opens the maps and lists that a template writes into, and makes unknown the values that it writes. The tree is
 * changed in place, which only its maker may do; spans grow to hold the expression, so that nothing is inserted
 * between a key and the expression that is its value.
 */
export function applyHoles(text: string, root: YamlNode, holes: readonly Hole[]): YamlNode {
  let result = root;
  for (const hole of holes) result = applyHole(text, result, hole);
  return result;
}

/** Returns the node to stand in the place of the given one, of which the hole is known to be a part. */
function applyHole(text: string, node: YamlNode, hole: Hole): YamlNode {
  if (node.borrowed) return node;
  if (node.kind === 'scalar') return fill(text, node, hole);
  if (hole.end > node.end && !node.flow) (node as Mutable<MapNode | SequenceNode>).end = hole.end;
  if (node.flow) {
    // What is written behind a list in brackets is not written into it.
    if (hole.start < node.end) openUp(node);
    return node;
  }
  const column = columnOf(text, node.start);
  if (node.kind === 'map') {
    const entry = node.entries.findLast(({ key }) => !key.borrowed && key.start <= hole.start);
    if (entry === undefined || hole.column < column) {
      if (hole.writes !== 'items') openUp(node);
      return node;
    }
    const goesOn = leadsInto(text, entry.value, hole, column);
    if (goesOn) (entry as Mutable<typeof entry>).value = applyHole(text, entry.value, hole);
    // At the column of the keys it may write keys, or the items of a list under the last one.
    if (hole.writes === 'content' ? !goesOn || hole.column === column : hole.writes === 'keys' && !goesOn) {
      if (!isInside(entry.value, hole)) openUp(node);
    }
    return node;
  }
  const index = node.items.findLastIndex((item) => item.start <= hole.start);
  const item = node.items[index];
  if (item !== undefined && hole.column > column && leadsInto(text, item, hole, column)) {
    (node.items as YamlNode[])[index] = applyHole(text, item, hole);
  } else if (hole.writes !== 'keys') {
    openUp(node);
  }
  return node;
}

/** Whether what the hole writes belongs to this value of a key or item at a column. */
function leadsInto(text: string, value: YamlNode, hole: Hole, column: number): boolean {
  if (value.borrowed) return false;
  if (value.kind === 'scalar') {
    if (hole.writes !== 'content') return false;
    if (value.start === value.end) return hole.column >= column;
    if (hole.column <= column || isInside(value, hole)) return false;
    return (
      value.style === 'literal' || value.style === 'folded' || (value.style === 'plain' && value.unknown)
    );
  }
  if (value.flow) return isInside(value, hole);
  return columnOf(text, value.start) <= hole.column;
}

function isInside(value: YamlNode, hole: Hole): boolean {
  return !value.borrowed && value.start <= hole.start && hole.end <= value.end && value.start < value.end;
}

/** A value that the hole writes, or writes more of. */
function fill(text: string, value: ScalarNode, hole: Hole): ScalarNode {
  const end = Math.max(value.end, hole.end);
  if (value.style !== 'plain') return scalarNode(value.start, end, value.text, value.text, value.style, true);
  const start = value.start === value.end ? hole.start : value.start;
  const expression = text.slice(start, end);
  return scalarNode(start, end, expression, expression, 'plain', true);
}

function openUp(node: MapNode | SequenceNode): void {
  (node as Mutable<MapNode | SequenceNode>).open = true;
}

function columnOf(text: string, at: number): number {
  let start = at;
  while (start > 0 && text.charCodeAt(start - 1) !== 10 && text.charCodeAt(start - 1) !== 13) start--;
  return at - start;
}
