import type { Count } from '../../kube/count';
import { isAbsent, type Resource } from '../../kube/resource';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, mapIn, textIn, type Entry, type ScalarNode } from '../../yaml/node';
import type { Fix } from '../rule';

/** The kind of the target, `Deployment` where none is written; `undefined` when it is only known later. */
export function targetKind(resource: Resource): string | undefined {
  const reference = mapIn(resource.root, 'spec', 'scaleTargetRef');
  if (reference === undefined) return undefined;
  if (isAbsent(resource, reference, 'kind')) return 'Deployment';
  return textIn(reference, 'kind');
}

/** Seconds between two looks at the triggers; KEDA's default is 30. `undefined` when it is only known later. */
export function pollingInterval(resource: Resource): number | undefined {
  const spec = mapIn(resource.root, 'spec');
  if (spec === undefined) return undefined;
  if (isAbsent(resource, spec, 'pollingInterval')) return 30;
  const text = textIn(spec, 'pollingInterval');
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** `0`, or `0 (the default)`. */
export function shownCount(count: Count & { readonly known: true }): string {
  return count.node === undefined ? `${count.value} (the default)` : String(count.value);
}

/** Writes a minimum of one replica, in place of a written zero or as a new key. */
export function keepOneReplica(resource: Resource, written: ScalarNode | undefined): Fix | undefined {
  const spec = mapIn(resource.root, 'spec');
  const { document } = resource.placed;
  const edits =
    written !== undefined
      ? replaceScalar(document, written, 1)
      : spec === undefined
        ? undefined
        : insertKey(document, spec, 'minReplicaCount', 1, { before: 'maxReplicaCount' });
  if (edits === undefined) return undefined;
  return { title: 'Keep at least 1 replica', safe: false, edits };
}

/** The key of the triggers, for what is said of all of them. */
export function triggersKey(resource: Resource): Entry | undefined {
  return entryOf(mapIn(resource.root, 'spec'), 'triggers');
}
