import { entryOf, isNull, type MapNode, type ScalarNode, type YamlNode } from '../yaml/node';
import { isAbsent, type Resource } from './resource';

/**
 * A number of something, as far as the document tells. `node` is where it is written; a default of the API has none.
 */
export type Count =
  | { readonly known: true; readonly value: number; readonly node: ScalarNode | undefined }
  | { readonly known: false; readonly value: undefined; readonly node: ScalarNode | undefined };

export const unknownCount: Count = { known: false, value: undefined, node: undefined };

export function knownCount(value: number, node?: ScalarNode): Count {
  return { known: true, value, node };
}

/** Reads a number that is there; anything but a known number is unknown. */
export function countOf(node: YamlNode | undefined): Count {
  if (node?.kind !== 'scalar') return unknownCount;
  return !node.unknown && typeof node.value === 'number'
    ? { known: true, value: node.value, node }
    : { known: false, value: undefined, node };
}

/** The number under a key; `absent` (the API's default) only where the key is certainly not there. */
export function countAt(
  resource: Resource,
  map: MapNode | undefined,
  key: string,
  absent: number | undefined,
): Count {
  if (map === undefined) return unknownCount;
  const entry = entryOf(map, key);
  if (entry !== undefined && !isNull(entry.value)) return countOf(entry.value);
  return absent !== undefined && isAbsent(resource, map, key) ? knownCount(absent) : unknownCount;
}

export function product(a: Count, b: Count): Count {
  return a.known && b.known ? knownCount(a.value * b.value, a.node ?? b.node) : unknownCount;
}
