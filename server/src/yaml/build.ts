/** Makes the nodes of the tree, so that all readers make them alike, with their properties in one order. */
import type { Entry, MapNode, ScalarNode, ScalarStyle, SequenceNode, YamlNode } from './node';

export function scalarNode(
  start: number,
  end: number,
  value: ScalarNode['value'],
  text: string,
  style: ScalarStyle,
  unknown: boolean,
): ScalarNode {
  return { kind: 'scalar', start, end, borrowed: false, value, text, style, unknown };
}

export function mapNode(
  start: number,
  end: number,
  entries: readonly Entry[],
  flow: boolean,
  open: boolean,
): MapNode {
  return { kind: 'map', start, end, borrowed: false, entries, flow, open };
}

export function sequenceNode(
  start: number,
  end: number,
  items: readonly YamlNode[],
  flow: boolean,
  open: boolean,
): SequenceNode {
  return { kind: 'sequence', start, end, borrowed: false, items, flow, open };
}
