import type { ObjectRef } from '../live/cluster';
import {
  appliedTo,
  changesBetween,
  mergePatch,
  withoutServersPart,
  type Comparison,
  type FieldChange,
} from '../live/comparison';
import { problemOf, RefusedError, SourceError } from './failure';
import { at, isRecord, listAt, textAt } from './json';
import { pathOfVersion } from './kube-client';
import type { DryRunPatch, KubeClient, KubeObject, KubeResource } from './kube-client';
import { withoutSecrets } from './kube-views';

/** An object of a file, as plain data. */
export interface FileObject {
  readonly ref: ObjectRef;
  readonly object: unknown;
}

/** The field manager of objects that are not there yet: kubectl's own. */
const usualManager = 'kubectl';

/** Asks a cluster about objects of files. Nothing is changed: what would change is found by dry runs. */
export interface Comparer {
  /** Throws a {@link SourceError} when the API server cannot be asked at all: then no object needs to be tried. */
  reach(signal: AbortSignal): Promise<void>;
  /** Never rejects but for mistakes of ours and when the signal says so: what cannot be told is said. */
  compare(file: FileObject, signal: AbortSignal): Promise<Comparison>;
}

export function createComparer(client: KubeClient): Comparer {
  const served = new Map<string, Promise<readonly KubeResource[]>>();

  /** The kinds of a version of a group, asked for once. */
  function kindsOf(apiVersion: string, signal: AbortSignal): Promise<readonly KubeResource[]> {
    let known = served.get(apiVersion);
    if (known === undefined) {
      known = readKinds(client, apiVersion, signal);
      served.set(apiVersion, known);
      known.catch(() => served.delete(apiVersion));
    }
    return known;
  }

  return {
    async reach(signal) {
      try {
        await kindsOf('v1', signal);
      } catch (error) {
        // Who may not see the kinds of one version may still see others.
        if (!(error instanceof SourceError) || error.kind !== 'denied') throw error;
      }
    },
    async compare({ ref, object }, signal) {
      const what = `${ref.kind} ${ref.name}`;
      try {
        const kinds = await kindsOf(ref.apiVersion, signal);
        const resource = kinds.find(({ kind }) => kind === ref.kind);
        if (resource === undefined) {
          const message = `the cluster does not serve ${ref.kind} of ${ref.apiVersion}`;
          return { state: 'rejected', ref, rejections: [{ field: 'apiVersion', message }] };
        }
        const { namespace } = ref;
        const scope = { name: ref.name, ...(resource.namespaced ? { namespace } : {}) };
        const here: ObjectRef = { ...ref, namespace: resource.namespaced ? namespace : '' };
        return await compareObject(client, resource, scope, { ref: here, object }, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof SourceError)) throw error;
        return { state: 'unknown', ref, problem: problemOf(error, `compare ${what}`) };
      }
    },
  };
}

async function compareObject(
  client: KubeClient,
  resource: KubeResource,
  scope: { readonly name: string; readonly namespace?: string },
  { ref, object }: FileObject,
  signal: AbortSignal,
): Promise<Comparison> {
  const live = await present(client, resource, scope, signal);
  const named = withNamespace(object, scope.namespace);
  const patch = patchFor(live, named);
  let applied: unknown = live;
  if (patch !== undefined) {
    try {
      applied = await client.dryRun(resource, scope, patch, signal);
    } catch (error) {
      if (error instanceof RefusedError) {
        return { state: 'rejected', ref, ...shown(live), rejections: error.rejections };
      }
      // The object itself need not be there: it is the namespace that is not.
      if (error instanceof SourceError && error.kind === 'not-found') {
        const message = error.message.replace(/^patch [^:]*: /, '');
        const rejections = [{ field: 'metadata.namespace', message }];
        return { state: 'rejected', ref, ...shown(live), rejections };
      }
      throw error;
    }
  }
  if (live === undefined) return { state: 'new', ref, applied: cleaned(applied) };
  const [before, after] = [withoutServersPart(live), withoutServersPart(applied)];
  const changes = changesBetween(before, after);
  const [shownBefore, shownAfter] = [withoutSecrets(before), withoutSecrets(after)];
  if (changes.length === 0) return { state: 'same', ref, object: shownBefore };
  return {
    state: 'different',
    ref,
    object: shownBefore,
    applied: shownAfter,
    changes: shownChanges(changes, changesBetween(shownBefore, shownAfter)),
  };
}

/**
 * What applying a file sends. An object that is applied on the server's side is applied in the name of who did so last;
 * for others, what `kubectl apply` would make of it. Nothing where there is nothing to send.
 */
function patchFor(live: KubeObject | undefined, file: unknown): DryRunPatch | undefined {
  const manager = live === undefined ? usualManager : serverSideManager(live);
  if (live === undefined || manager !== undefined)
    return { kind: 'apply', object: file, manager: manager ?? usualManager };
  const fields = mergePatch(live, appliedTo(live, file, lastApplied(live)));
  return fields === undefined ? undefined : { kind: 'merge', fields };
}

/** What changes, with the values as they may be shown: where both are left out, only that they differ is told. */
function shownChanges(
  changes: readonly FieldChange[],
  visible: readonly FieldChange[],
): readonly FieldChange[] {
  const byField = new Map(visible.map((change) => [change.field, change]));
  return changes.map((change) => byField.get(change.field) ?? hidden(change));
}

function hidden({ path, field, before, after }: FieldChange): FieldChange {
  const text = '(not shown)';
  return {
    path,
    field,
    ...(before === undefined ? {} : { before: text }),
    ...(after === undefined ? {} : { after: text }),
  };
}

function cleaned(object: unknown): unknown {
  return withoutSecrets(withoutServersPart(object));
}

function shown(live: KubeObject | undefined): { readonly object?: unknown } {
  return live === undefined ? {} : { object: withoutSecrets(live) };
}

async function present(
  client: KubeClient,
  resource: KubeResource,
  scope: { readonly name: string; readonly namespace?: string },
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, scope, signal);
  } catch (error) {
    if (error instanceof SourceError && error.kind === 'not-found') return undefined;
    throw error;
  }
}

async function readKinds(
  client: KubeClient,
  apiVersion: string,
  signal: AbortSignal,
): Promise<readonly KubeResource[]> {
  const slash = apiVersion.indexOf('/');
  const [group, version] =
    slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const rule = {
    apiGroup: '',
    resource: `the kinds of ${apiVersion}`,
    verb: 'get',
    namespace: undefined,
  } as const;
  try {
    return listAt(await client.json(pathOfVersion(group, version), rule, signal), 'resources').flatMap(
      (each): KubeResource[] => {
        const [plural, kind] = [textAt(each, 'name'), textAt(each, 'kind')];
        if (plural === undefined || kind === undefined || plural.includes('/')) return [];
        return [{ group, version, plural, kind, namespaced: at(each, 'namespaced') === true }];
      },
    );
  } catch (error) {
    if (error instanceof SourceError && error.kind === 'not-found') return [];
    throw error;
  }
}

/** Who applied an object on the server's side last; as them, fields that the file gives up go away. */
function serverSideManager(object: KubeObject): string | undefined {
  const entries = listAt(object, 'metadata', 'managedFields').filter(
    (entry) => textAt(entry, 'operation') === 'Apply' && textAt(entry, 'subresource') === undefined,
  );
  const newest = entries.toSorted((a, b) =>
    (textAt(b, 'time') ?? '').localeCompare(textAt(a, 'time') ?? ''),
  )[0];
  return textAt(newest, 'manager');
}

/** The file that was applied last, where the client notes it. */
function lastApplied(object: KubeObject): unknown {
  const text = textAt(object, 'metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration');
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isRecord(parsed)) return undefined;
    // Metadata is compared by labels and annotations; names are the same.
    const { metadata, ...rest } = parsed;
    return {
      ...rest,
      metadata: { labels: at(metadata, 'labels') ?? {}, annotations: at(metadata, 'annotations') ?? {} },
    };
  } catch {
    return undefined;
  }
}

function withNamespace(object: unknown, namespace: string | undefined): unknown {
  if (!isRecord(object) || !isRecord(object['metadata']) || namespace === undefined) return object;
  return { ...object, metadata: { ...object['metadata'], namespace } };
}
