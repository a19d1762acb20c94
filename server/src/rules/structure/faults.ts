import type { Resource } from '../../kube/resource';
import type { Structure } from '../../structure/shape';
import { validate, type Fault } from '../../structure/validate';

interface Known {
  readonly structure: Structure;
  readonly faults: readonly Fault[];
}

const cache = new WeakMap<Resource, Known>();

/**
 * What is wrong with the form of an object, for all rules about it at once. Patches and templates are only a part of an
 * object, so nothing is missing in them.
 */
export function faultsOf<Code extends Fault['code']>(
  resource: Resource,
  structure: Structure | undefined,
  code: Code,
): readonly Extract<Fault, { readonly code: Code }>[] {
  if (structure === undefined) return [];
  let known = cache.get(resource);
  if (known?.structure !== structure) {
    const faults = validate(resource.root, structure, {
      complete: resource.role === 'resource',
      // The API server invents a name for these.
      nameless: resource.kind === 'LimitRange' && resource.group === '',
    });
    known = { structure, faults };
    cache.set(resource, known);
  }
  return known.faults.filter(
    (fault): fault is Extract<Fault, { readonly code: Code }> => fault.code === code,
  );
}
