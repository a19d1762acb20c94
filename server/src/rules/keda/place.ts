import type { Resource } from '../../kube/resource';
import { scalarText } from '../../kube/scalar-text';
import type { Entry, ScalarNode, Span, YamlNode } from '../../yaml/node';
import type { Place } from '../rule';

/** A span down to the end of its first line: a finding is shown on one line. */
export function firstLine(resource: Resource, { start, end }: Span): Span {
  const text = resource.placed.document.text.slice(start, end);
  const line = /^[^\r\n]*/.exec(text)?.[0].trimEnd() ?? '';
  return { start, end: start + line.length };
}

/** The first line of a value's own text, behind the `|` of a block. */
export function valuePlace(resource: Resource, node: ScalarNode): Place {
  const { text } = resource.placed.document;
  if (node.borrowed || !/[\r\n]/.test(text.slice(node.start, node.end))) return node;
  if (node.style !== 'literal' && node.style !== 'folded') return firstLine(resource, node);
  const value = scalarText(text, node);
  const first = value.text.search(/\S/);
  return first < 0 ? firstLine(resource, node) : firstLine(resource, value.span(first, value.text.length));
}

/** As {@link valuePlace} for any place that a trigger has. */
export function linePlace(resource: Resource, place: YamlNode | Entry): Place {
  return 'key' in place || place.kind !== 'scalar' ? place : valuePlace(resource, place);
}
