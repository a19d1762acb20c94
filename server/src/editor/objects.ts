import type { Resource } from '../kube/resource';
import type { FileObjects, Index } from '../workspace/indexes';
import { areRivals, belongTogether, readLayout, scopeOf, type Layout } from '../workspace/layout';
import { nameKeyOf, nameKeyOfResource, sameNamespace } from '../workspace/objects';
import { pathOf } from '../workspace/paths';
import { looseObject } from './loose-object';
import type { Workspace } from '../workspace/workspace';
import type { PlacedDocument } from '../yaml/document';
import { entryOf, isMap, mapIn, scalarIn, type ScalarNode } from '../yaml/node';

/**
 * Kinds that no rule reads, or reads in part only, and that others name. Of a Secret and a ConfigMap nothing but the name
 * is looked at.
 */
const looseKinds =
  /^["']?kind["']?[ \t]*:[ \t]*["']?(Secret|ConfigMap|PriorityClass|RuntimeClass|StorageClass|ServingRuntime|ClusterServingRuntime|Ingress|HTTPRoute|GRPCRoute|ServiceAccount|Gateway|SecretProviderClass|ResourceClaim|ResourceClaimTemplate|ExternalSecret|LocalQueue|ClusterQueue|ResourceFlavor)["']?[ \t]*(?:#.*)?\r?$/m;

/** Kinds without a namespace, which applications and clusters share. */
const clusterKinds: ReadonlySet<string> = new Set([
  'NodePool',
  'EC2NodeClass',
  'NodeClass',
  'StorageClass',
  'PriorityClass',
  'RuntimeClass',
  'PersistentVolume',
  'ClusterTriggerAuthentication',
  'ClusterServingRuntime',
  'ClusterQueue',
  'ResourceFlavor',
]);

export function isClusterKind(kind: string): boolean {
  return clusterKinds.has(kind);
}

/** An object that no rule reads, as far as its name. Its scope is not known here. */
function unreadObject(uri: string, { document, index }: PlacedDocument): Resource | undefined {
  if (!looseKinds.test(document.text)) return undefined;
  const { root } = document;
  return isMap(root) ? looseObject(uri, { document, index }, root, '') : undefined;
}

const objects = new WeakMap<FileObjects, readonly Resource[]>();

/** The objects of a file: those that rules read, and those of which only the name matters. */
export function objectsOfFile(from: FileObjects): readonly Resource[] {
  let known = objects.get(from);
  if (known === undefined) {
    const read = new Set(from.resources.map(({ placed }) => placed.index));
    const loose = from.file.documents
      .filter(({ index }) => !read.has(index))
      .flatMap((placed) => unreadObject(from.file.uri, placed) ?? []);
    known = loose.length === 0 ? from.resources : [...from.resources, ...loose];
    objects.set(from, known);
  }
  return known;
}

/** What the name of an object is compared by. */
export function keyOfName(object: Resource): string | undefined {
  return (
    nameKeyOfResource(object) ??
    nameKeyOf(object.placed.document, entryOf(mapIn(object.root, 'metadata'), 'name')?.value)
  );
}

const byName: Index<Resource> = {
  read: (from, add) => {
    for (const object of objectsOfFile(from)) {
      const name = keyOfName(object);
      if (name !== undefined) add(`${object.kind} ${name}`, object);
    }
  },
  uriOf: ({ uri }) => uri,
};

const byFile: Index<Resource> = {
  read: (from, add) => {
    for (const object of objectsOfFile(from)) add(object.uri, object);
  },
  uriOf: ({ uri }) => uri,
};

/** Every object of a file that has a name, in order of the text. */
export function namedObjectsOf(workspace: Workspace, uri: string): readonly Resource[] {
  return workspace.index(byFile).get(uri);
}

const layouts = new WeakMap<Workspace, Layout>();

function layoutOf(workspace: Workspace): Layout {
  let layout = layouts.get(workspace);
  if (layout === undefined) layouts.set(workspace, (layout = readLayout(workspace.files.values())));
  return layout;
}

function scope(workspace: Workspace, { scope: known, uri }: Resource): string {
  return known === '' ? scopeOf(layoutOf(workspace), pathOf(uri)) : known;
}

/** How near one object is to another: the smaller, the nearer; `undefined` for one that cannot be meant. */
function distance(workspace: Workspace, from: Resource, to: Resource): number | undefined {
  const isShared = isClusterKind(to.kind) || isClusterKind(from.kind);
  if (!isShared && !sameNamespace(from.namespace, to.namespace)) return undefined;
  const patch = to.role === 'kustomize-patch' ? 0.5 : 0;
  if (from.uri === to.uri) return patch;
  const [here, there] = [scope(workspace, from), scope(workspace, to)];
  const namespace = from.namespace === to.namespace ? 0 : 0.25;
  if (here === there) return 1 + namespace + patch;
  if (belongTogether(layoutOf(workspace), here, there)) return 2 + namespace + patch;
  return isShared && !areRivals(here, there) ? 3 + patch : undefined;
}

/**
 * The objects that a name can mean, seen from another object: the nearest, and where several are equally near, all of
 * them.
 */
export function objectsNamed(
  workspace: Workspace,
  from: Resource,
  kinds: readonly string[],
  name: string,
): readonly Resource[] {
  const groups = workspace.index(byName);
  const found = kinds
    .flatMap((kind) => groups.get(`${kind} ${name}`))
    .flatMap((object) => {
      const far = object === from ? undefined : distance(workspace, from, object);
      return far === undefined ? [] : [{ object, far }];
    });
  const nearest = Math.min(...found.map(({ far }) => far));
  return found.filter(({ far }) => far === nearest).map(({ object }) => object);
}

/** All names of a kind that an object can refer to, each once. */
export function namesOf(workspace: Workspace, from: Resource, kinds: readonly string[]): readonly string[] {
  const groups = workspace.index(byName);
  const names = new Set<string>();
  for (const key of groups.keys()) {
    const blank = key.indexOf(' ');
    if (!kinds.includes(key.slice(0, blank))) continue;
    for (const object of groups.get(key)) {
      if (object.name !== undefined && distance(workspace, from, object) !== undefined)
        names.add(object.name);
    }
  }
  return [...names].sort();
}

/** Where the name of an object stands. */
export function nameNodeOf({ root }: Resource): ScalarNode | undefined {
  return scalarIn(root, 'metadata', 'name');
}
