import type { Container, ResourceAmount } from '../../kube/containers';
import type { Resource } from '../../kube/resource';
import { replaceScalar } from '../../yaml/edit';
import { scalarLike, soleAmount } from '../resources/wording';
import type { Fix } from '../rule';

/** What a container may use of memory, where that is one known amount. */
export function memoryLimit(container: Container): ResourceAmount | undefined {
  const limit = soleAmount(container.limits, 'memory');
  return limit?.quantity === undefined ? undefined : limit;
}

/** Writes other amounts of memory; those that are not written stay so. */
export function setMemory(
  resource: Resource,
  container: Container,
  places: readonly ('limits' | 'requests')[],
  wanted: string,
  title: string,
): Fix | undefined {
  const written = places.flatMap((place) => soleAmount(container[place], 'memory') ?? []);
  const edits = written
    .filter(({ quantity }) => quantity !== undefined)
    .map(({ entry: { value } }) =>
      value.kind !== 'scalar'
        ? undefined
        : value.text === wanted
          ? []
          : replaceScalar(resource.placed.document, value, scalarLike(value, wanted)),
    );
  if (edits.length === 0 || edits.includes(undefined)) return undefined;
  return { title, safe: false, edits: edits.flatMap((edit) => edit ?? []) };
}
