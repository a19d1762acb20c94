import type { Entry, MapNode, ScalarNode, Span, YamlNode } from './node';

/**
 * The view of a node through an alias. The children are made when they are first looked at, so that a chain of
 * aliases that expands to billions of nodes costs nothing until somebody walks it.
 */
export function borrow(node: YamlNode, span: Span): YamlNode {
  const { start, end } = span;
  if (node.kind === 'scalar') return { ...node, start, end, borrowed: true };
  if (node.kind === 'sequence') {
    let items: readonly YamlNode[] | undefined;
    return {
      kind: 'sequence',
      start,
      end,
      borrowed: true,
      get items() {
        return (items ??= node.items.map((item) => borrow(item, span)));
      },
      flow: node.flow,
      open: node.open,
    };
  }
  let entries: readonly Entry[] | undefined;
  return {
    kind: 'map',
    start,
    end,
    borrowed: true,
    get entries() {
      return (entries ??= node.entries.map(({ key, value }) => borrowEntry(key, value, span, span)));
    },
    flow: node.flow,
    open: node.open,
  };
}

function borrowEntry(key: ScalarNode, value: YamlNode, keySpan: Span, valueSpan: Span): Entry {
  return { key: borrow(key, keySpan) as ScalarNode, value: borrow(value, valueSpan) };
}

/** A map with merge keys, whose values are `merges`. Its own keys win, then those that are merged first. */
export function merging(map: MapNode, merges: readonly YamlNode[]): MapNode {
  const { start, end, borrowed, flow } = map;
  const sources = merges.flatMap((merge) => (merge.kind === 'sequence' ? merge.items : [merge]));
  let entries: readonly Entry[] | undefined;
  return {
    kind: 'map',
    start,
    end,
    borrowed,
    get entries() {
      return (entries ??= mergedEntries(map.entries, sources));
    },
    flow,
    // What is merged from something unknown may hold any key.
    open: map.open || sources.some((source) => (source.kind === 'map' ? source.open : isUnknown(source))),
  };
}

function isUnknown(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.unknown;
}

function mergedEntries(own: readonly Entry[], sources: readonly YamlNode[]): readonly Entry[] {
  const seen = new Set(own.map((entry) => entry.key.text));
  const all = [...own];
  for (const source of sources) {
    if (source.kind !== 'map') continue;
    for (const { key, value } of source.entries) {
      if (seen.has(key.text)) continue;
      seen.add(key.text);
      // A map written behind `<<:` itself keeps its places, but its entries are none of the map it is merged into.
      all.push(source.borrowed ? { key, value } : borrowEntry(key, value, key, value));
    }
  }
  return all;
}
