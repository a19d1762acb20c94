import {
  entryOf,
  isScalar,
  type Entry,
  type MapNode,
  type ScalarNode,
  type SequenceNode,
  type Span,
  type YamlNode,
} from '../yaml/node';
import { contains } from '../engine/text';
import { listKeys } from '../kube/list-keys';

/** One step down a tree, in words that still hold in the text from which the tree was rendered. */
export type Step =
  | { readonly kind: 'key'; readonly key: string }
  | {
      readonly kind: 'item';
      readonly index: number;
      /** How many items the list has. */
      readonly of: number;
      /** What tells the item from its neighbours: `name=vllm`, or the text of a scalar. */
      readonly id: string | undefined;
    };

/** A place in a rendered object. */
export interface Target {
  readonly steps: readonly Step[];
  /** The last key itself, or what stands there. */
  readonly on: 'key' | 'value';
  /** The value where it is a scalar. */
  readonly scalar: ScalarNode | undefined;
  /** A part of the scalar's text, as offsets from its start. */
  readonly part: Span | undefined;
}

/** Where a target leads in another tree. */
export interface Landing {
  /** How many steps could be taken. */
  readonly depth: number;
  /** All steps, to a value that is the same or that a template fills in. */
  readonly exact: boolean;
  readonly at: Span;
  /** A template or variable fills in the value, or what is below it. */
  readonly hole: YamlNode | undefined;
}

function idOf(item: YamlNode): string | undefined {
  if (item.kind === 'scalar') return item.unknown ? undefined : item.text;
  for (const key of listKeys) {
    const value = entryOf(item, key)?.value;
    if (isScalar(value) && !value.unknown && value.value !== null) return `${key}=${value.text}`;
  }
  return undefined;
}

/** The way from the root of a rendered object to a place in it. */
export function targetOf(root: MapNode, at: Span): Target {
  const steps: Step[] = [];
  let node: YamlNode = root;
  for (;;) {
    if (node.kind === 'scalar') {
      const part = at.start > node.start || at.end < node.end;
      return {
        steps,
        on: 'value',
        scalar: node,
        part: part ? { start: at.start - node.start, end: at.end - node.start } : undefined,
      };
    }
    if (node.kind === 'sequence') {
      const { items }: SequenceNode = node;
      const index: number = items.findIndex((item) => contains(item, at));
      const item: YamlNode | undefined = items[index];
      if (item === undefined) return { steps, on: 'value', scalar: undefined, part: undefined };
      steps.push({ kind: 'item', index, of: items.length, id: idOf(item) });
      node = item;
      continue;
    }
    const entry: Entry | undefined = node.entries.find(({ key, value }) =>
      contains({ start: key.start, end: Math.max(key.end, value.end) }, at),
    );
    if (entry === undefined) return { steps, on: 'value', scalar: undefined, part: undefined };
    steps.push({ kind: 'key', key: entry.key.text });
    if (contains(entry.key, at)) {
      return {
        steps,
        on: 'key',
        scalar: isScalar(entry.value) ? entry.value : undefined,
        part: undefined,
      };
    }
    node = entry.value;
  }
}

/** Follows a target down another tree, as far as it goes. Of branches of a template the one that leads furthest counts. */
export function land(root: YamlNode, target: Target): Landing {
  return step(root, root, target, 0);
}

/** @param at what stands for the place if it goes no further: the key that led here, or the item. */
function step(node: YamlNode, at: Span, target: Target, depth: number): Landing {
  const wanted = target.steps[depth];
  if (wanted === undefined) return arrived(node, at, target, depth);
  const stuck: Landing = { depth, exact: false, at, hole: isHole(node) ? node : undefined };
  let best = stuck;
  const consider = (next: YamlNode, from: Span): void => {
    const landing = step(next, from, target, depth + 1);
    if (landing.depth > best.depth || (landing.exact && !best.exact)) best = landing;
  };
  if (wanted.kind === 'key') {
    if (node.kind !== 'map') return stuck;
    for (const { key, value } of node.entries) if (key.text === wanted.key) consider(value, key);
    return best;
  }
  // An item that a template starts (`- {{ include ... }}`) and the text goes on with reads as the map of what is written.
  if (node.kind === 'map' && node.open) consider(node, at);
  if (node.kind !== 'sequence') return best;
  const same = wanted.id === undefined ? [] : node.items.filter((item) => idOf(item) === wanted.id);
  for (const item of same) consider(item, item);
  // The value of an argument or of a name can be filled in, or overwritten: then the place in the list tells.
  const [byIndex] = node.items.slice(wanted.index, wanted.index + 1);
  if (same.length === 0 && byIndex !== undefined && node.items.length === wanted.of)
    consider(byIndex, byIndex);
  return best;
}

function arrived(node: YamlNode, at: Span, target: Target, depth: number): Landing {
  const hole = isHole(node) ? node : undefined;
  const { scalar, part, on } = target;
  const same = scalar === undefined || hole !== undefined || (isScalar(node) && sameValue(node, scalar));
  if (on === 'key') return { depth, exact: same, at, hole };
  const whole = shown(node, at);
  const inside = isScalar(node) && part !== undefined && scalar !== undefined && sameText(node, scalar);
  return {
    depth,
    exact: same,
    at: inside ? { start: node.start + part.start, end: node.start + part.end } : whole,
    hole,
  };
}

function sameText(a: ScalarNode, b: ScalarNode): boolean {
  return a.style === b.style && a.text === b.text && a.end - a.start === b.end - b.start;
}

/** kustomize and Helm write `"1"` and `1` in their own ways. */
function sameValue(a: ScalarNode, b: ScalarNode): boolean {
  return a.value === b.value || a.text === b.text;
}

function isHole(node: YamlNode): boolean {
  return node.kind === 'scalar' ? node.unknown : node.open;
}

/** Nothing of a file is marked by an empty span. */
function shown(node: YamlNode, at: Span): Span {
  return node.end > node.start && !node.borrowed
    ? { start: node.start, end: node.end }
    : { start: at.start, end: at.end };
}
