import type { Container } from '../../kube/containers';
import { entryOf } from '../../yaml/node';
import type { Place } from '../rule';

/** Where a container is pointed at when something is missing from it: its name, else the first thing that it says. */
export function placeOf({ node, nameNode, image, template }: Container): Place {
  return nameNode ?? image ?? node.entries[0] ?? entryOf(template.spec, 'containers') ?? node;
}
