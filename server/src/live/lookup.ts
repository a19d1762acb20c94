import type { ObjectRef } from './cluster';
import { partValue } from './readings';
import type { LiveSnapshot } from './snapshot';

/** Which object of a file is meant; a namespace that is not written is that of the connection. */
export interface NamedObject {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** What clusters said, by object. Handed to the engine for rules that need it. */
export interface LiveLookup {
  /** The snapshot that is about an object: itself, or a workload that it scales. */
  find(object: NamedObject): LiveSnapshot | undefined;
  /** The object as the API server gives it; `undefined` where it is not known. */
  applied(object: NamedObject): unknown;
}

/** An object that was asked for by itself. */
export interface AppliedObject {
  readonly ref: ObjectRef;
  readonly object: unknown;
}

/** Snapshots as a lookup. Of several about one object, the newest counts. */
export function liveLookup(
  snapshots: readonly LiveSnapshot[],
  objects: readonly AppliedObject[] = [],
): LiveLookup {
  const byObject = new Map<string, LiveSnapshot>();
  for (const snapshot of [...snapshots].sort((a, b) => a.at - b.at)) {
    for (const ref of objectsOf(snapshot)) byObject.set(keyOf(ref.kind, ref.namespace, ref.name), snapshot);
  }
  const namespaces = [...new Set(snapshots.map(({ context }) => context.namespace))];
  const unnamed = [...namespaces, ...objects.map(({ ref }) => ref.namespace), ''];
  const whole = new Map<string, unknown>();
  const workloads = snapshots.flatMap(({ cluster }) => partValue(cluster.workload) ?? []);
  for (const { ref, object } of [...workloads, ...objects]) {
    whole.set(keyOf(ref.kind, ref.namespace, ref.name), object);
  }
  return {
    applied({ kind, namespace, name }) {
      if (name === undefined) return undefined;
      const candidates = namespace === undefined ? unnamed : [namespace, ''];
      return candidates
        .map((one) => whole.get(keyOf(kind, one, name)))
        .find((object) => object !== undefined);
    },
    find({ kind, namespace, name }) {
      if (name === undefined) return undefined;
      const candidates = namespace === undefined ? namespaces : [namespace];
      return candidates
        .map((one) => byObject.get(keyOf(kind, one, name)))
        .find((snapshot) => snapshot !== undefined);
    },
  };
}

function keyOf(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

function objectsOf({ want, cluster }: LiveSnapshot): readonly ObjectRef[] {
  const refs = [
    want.object,
    want.workload,
    partValue(cluster.workload)?.ref,
    partValue(cluster.hpa)?.ref,
    partValue(cluster.scaledObject)?.ref,
  ];
  return refs.filter((ref) => ref !== undefined);
}
