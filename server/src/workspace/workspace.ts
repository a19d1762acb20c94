import { isPodCarrier, podTemplates } from '../kube/pod-carriers';
import type { DocumentRole, Resource } from '../kube/resource';
import type { PlacedDocument, SourceFile, YamlDocument } from '../yaml/document';
import type { SeenEverywhere } from './cells';
import {
  buildIndex,
  updateIndex,
  type FileChange,
  type FileObjects,
  type Groups,
  type Index,
} from './indexes';
import { belongTogether, isLayoutFile, readLayout, sameLayout, scopeOf, type Layout } from './layout';
import { nameKeyOfResource, objectsOf, rememberNameKey, sameNamespace } from './objects';
import { isOverlayFile } from './overlay-files';
import { directoryOf, pathOf } from './paths';
import { referencesOf, type References } from './references';
import { documentRole, objectRole, isValuesOfChart } from './roles';

/** What a name leads to. `unknown`: several would do, only a part of it is there, or the name is only known later. */
export type Reference =
  | { readonly state: 'found'; readonly resource: Resource }
  | { readonly state: 'missing' }
  | { readonly state: 'unknown' };

/**
 * All files that are looked at together. Immutable: a change makes a new one, which shares everything that the change
 * does not touch, and indexes are made when they are first asked for.
 */
export interface Workspace {
  /** By uri, in the order in which they came. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** A new workspace with the file added or replaced. */
  with(file: SourceFile): Workspace;
  /** As {@link with}, for many at once. */
  withAll(files: Iterable<SourceFile>): Workspace;
  without(uri: string): Workspace;
  /** Every object that some rule can speak about, patches and templates included. */
  readonly resources: readonly Resource[];
  /** In order of the text; empty for an unknown file. */
  resourcesOf(uri: string): readonly Resource[];
  byKind(kind: string, group?: string): readonly Resource[];
  /**
   * As {@link byKind}, of the kinds that are looked for in all directories. Rules use this one: of other kinds a
   * workspace that is a cell of a larger one does not have all.
   */
  everywhere(kind: SeenEverywhere, group: string): readonly Resource[];
  /**
   * The object of a name, seen from a scope: in that scope, else in the scopes that belong to it. A namespace that is
   * absent on either side matches. Nothing where several would do.
   */
  find(kind: string, namespace: string | undefined, name: string, scope: string): Resource | undefined;
  /**
   * As {@link find}, telling a name that leads nowhere from one that cannot be decided.
   *
   * @param uri the file that refers to the object: of several in one directory, as in a folder of examples that each
   * stand alone, the one of the same file is meant.
   */
  lookup(
    kind: string,
    namespace: string | undefined,
    nameKey: string,
    scope: string,
    uri?: string,
  ): Reference;
  /** Whether two objects can be in one cluster at one time, as far as directories tell. */
  together(a: Resource, b: Resource): boolean;
  /**
   * Whether the files say that both are applied: they are in one file, or kustomizations that are built together list
   * both. The files of a plain folder may be alternatives.
   */
  appliedTogether(a: Resource, b: Resource): boolean;
  /** The scope of an object and those that belong to it, its own first. */
  around(from: Resource): readonly string[];
  /** Whole objects of a kind that belong together with one, of its namespace or of none. */
  near(from: Resource, kind: string, group?: string): readonly Resource[];
  /** What a document is for, whether or not it holds an object. */
  roleOf(uri: string, placed: PlacedDocument): DocumentRole;
  references(resource: Resource): References;
  /** What an index holds of these files. After an edit only the groups that the file is in are made again. */
  index<T>(index: Index<T>): Groups<T>;
  /**
   * Stands for everything that a rule about a workload can see beside the workload itself: the same value as long as
   * nothing of that has changed. Of other workloads that is their outline only (name, labels, place), but for
   * DaemonSets, which take room on every node, and patches.
   */
  readonly surroundings: object;
  /** Where the document of an object stands in this version of its file. */
  placeOf(resource: Resource): PlacedDocument;
}

const placedResources = new WeakMap<YamlDocument, readonly Resource[]>();
/** Makes the resources of one document, or gives those of before when nothing about them changed. */
function resourcesIn(layout: Layout, uri: string, placed: PlacedDocument): readonly Resource[] {
  const { document } = placed;
  const objects = objectsOf(document);
  if (objects.length === 0) return [];
  const path = pathOf(uri);
  if (isValuesOfChart(layout, path)) return [];
  const scope = scopeOf(layout, path);
  const roles = objects.map((object) => objectRole(layout, path, document, object));
  const before = placedResources.get(document);
  if (
    before !== undefined &&
    before.every(
      (resource, index) =>
        resource.uri === uri &&
        resource.placed.index === placed.index &&
        resource.scope === scope &&
        resource.role === roles[index],
    )
  ) {
    return before;
  }
  const resources = objects.map(({ nameKey, ...object }, index): Resource => {
    const place = { document, index: placed.index };
    const resource: Resource = { uri, placed: place, ...object, role: roles[index] ?? 'resource', scope };
    rememberNameKey(resource, nameKey);
    return resource;
  });
  placedResources.set(document, resources);
  return resources;
}

/** By layout first: what was made under one layout is the same objects for as long as that layout is in use. */
const fileObjects = new WeakMap<Layout, WeakMap<SourceFile, FileObjects>>();

function objectsOfFile(layout: Layout, file: SourceFile): FileObjects {
  let known = fileObjects.get(layout);
  if (known === undefined) fileObjects.set(layout, (known = new WeakMap<SourceFile, FileObjects>()));
  let objects = known.get(file);
  if (objects === undefined) {
    const resources = file.documents.flatMap((placed) => resourcesIn(layout, file.uri, placed));
    known.set(file, (objects = { file, resources }));
  }
  return objects;
}

function resourceIndex(keyOf: (resource: Resource) => string | undefined): Index<Resource> {
  return {
    read: ({ resources }, add) => {
      for (const resource of resources) {
        const key = keyOf(resource);
        if (key !== undefined) add(key, resource);
      }
    },
    uriOf: ({ uri }) => uri,
  };
}

const byKind = resourceIndex(({ kind }) => kind);
const byPlace = resourceIndex(({ kind, scope }) => `${kind} ${scope}`);
const byName = resourceIndex((resource) => {
  const name = nameKeyOfResource(resource);
  return name === undefined ? undefined : `${resource.kind} ${name} ${resource.scope}`;
});
const scopeIndex: Index<SourceFile> = {
  read: ({ file, resources }, add) => {
    for (const scope of new Set(resources.map((resource) => resource.scope))) add(scope, file);
  },
  uriOf: ({ uri }) => uri,
};

/** Scopes by the directory right above them. */
function childrenOf(scopes: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  for (const scope of scopes) {
    const parent = directoryOf(scope);
    const others = children.get(parent);
    if (others === undefined) children.set(parent, [scope]);
    else others.push(scope);
  }
  return children;
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Kinds that belong to no namespace. */
const clusterScoped: readonly string[] = [
  'NodePool',
  'NodeClaim',
  'EC2NodeClass',
  'NodeClass',
  'ClusterConfig',
  'NodeOverlay',
  'Provisioner',
  'AWSNodeTemplate',
  'ClusterServingRuntime',
  'StorageClass',
  'PersistentVolume',
  'ClusterPolicy',
  'DeviceClass',
];

/** Directories of the kustomizations that list a file. */
function listedIn(layout: Layout, path: string): readonly string[] {
  return [...layout.kustomizations.values()]
    .filter(({ resources }) => resources.has(path))
    .map(({ directory }) => directory);
}

/** A workload of which others see the outline only. */
export function isSeenInOutline(resource: Resource): boolean {
  return (
    isPodCarrier(resource) &&
    resource.kind !== 'DaemonSet' &&
    ['resource', 'kustomize-base', 'helm-template'].includes(resource.role)
  );
}

const outlines = new WeakMap<Resource, string>();

/** What others see of a workload: how it is found, and by which labels its pods are selected. */
function outlineOf(resource: Resource): string {
  let outline = outlines.get(resource);
  if (outline === undefined) {
    const { uri, placed, group, kind, namespace, scope, role } = resource;
    const labels = podTemplates(resource).map(({ part, labels: { values, open } }) => [
      part,
      open,
      ...values,
    ]);
    const name = nameKeyOfResource(resource);
    outline = JSON.stringify([uri, placed.index, group, kind, namespace, name, scope, role, labels]);
    outlines.set(resource, outline);
  }
  return outline;
}

/** What others see of a file, part by part. */
function seenOf({ file, resources }: FileObjects): readonly (Resource | string)[] {
  const parts = resources.map((resource) => (isSeenInOutline(resource) ? outlineOf(resource) : resource));
  return isOverlayFile(file) ? [...parts, file.text] : parts;
}

function looksTheSame({ before, after, moved }: FileChange): boolean {
  const was = before === undefined ? [] : seenOf(before);
  const is = after === undefined ? [] : seenOf(after);
  if (moved && is.length > 0) return false;
  return was.length === is.length && was.every((part, index) => part === is[index]);
}

/** What has been worked out about some files; those who come after it take over what still holds. */
interface Known {
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly indexes: ReadonlyMap<Index<unknown>, Groups<unknown>>;
  readonly neighbours: Map<string, readonly string[]>;
  readonly children: ReadonlyMap<string, readonly string[]> | undefined;
  readonly surroundings: object | undefined;
}

/** What changed since something was {@link Known}, under the same layout: uris, and whether their place did too. */
interface Past {
  readonly known: Known;
  readonly changed: ReadonlyMap<string, { readonly moved: boolean }>;
}

/** With more changes than this share of all files, starting anew is cheaper. */
const MAX_SHARE_CHANGED = 1 / 4;

function create(files: ReadonlyMap<string, SourceFile>, layout: Layout, past?: Past): Workspace {
  const all = lazy(() => [...files.values()].flatMap((file) => objectsOfFile(layout, file).resources));
  const references = new Map<Resource, References>();
  const indexes = new Map<Index<unknown>, Groups<unknown>>();
  let neighbours = new Map<string, readonly string[]>();
  let children: Known['children'];
  let surroundings: object | undefined;
  let rest = past;

  /** Takes over what was known of the files before, brought up to date. Makes sure that nothing older is held. */
  function catchUp(): void {
    if (rest === undefined) return;
    const { known, changed } = rest;
    rest = undefined;
    const objects = (file: SourceFile | undefined): FileObjects | undefined =>
      file === undefined ? undefined : objectsOfFile(layout, file);
    const changes = [...changed].map(([uri, { moved }]): FileChange => {
      const [before, after] = [objects(known.files.get(uri)), objects(files.get(uri))];
      return { uri, before, after, moved: moved && before !== undefined };
    });
    const order = lazy(() => new Map([...files.keys()].map((uri, index) => [uri, index])));
    for (const [index, groups] of known.indexes) {
      indexes.set(
        index,
        updateIndex(index, groups, changes, (uri) => order().get(uri) ?? files.size),
      );
    }
    const scopesNow = indexes.get(scopeIndex as Index<unknown>);
    const scopesBefore = known.indexes.get(scopeIndex as Index<unknown>);
    const touched = new Set(
      changes.flatMap(({ before, after }) =>
        [...(before?.resources ?? []), ...(after?.resources ?? [])].map(({ scope }) => scope),
      ),
    );
    const isSameScope = (scope: string): boolean =>
      (scopesNow?.get(scope).length ?? 0) > 0 === (scopesBefore?.get(scope).length ?? 0) > 0;
    if (scopesNow !== undefined && [...touched].every(isSameScope)) ({ neighbours, children } = known);
    if (changes.every(looksTheSame)) ({ surroundings } = known);
  }

  function indexed<T>(index: Index<T>): Groups<T> {
    catchUp();
    // The key of an entry says what type its items have.
    const key = index as Index<unknown>;
    let groups = indexes.get(key) as Groups<T> | undefined;
    if (groups === undefined) {
      groups = buildIndex(
        index,
        [...files.values()].map((file) => objectsOfFile(layout, file)),
      );
      indexes.set(key, groups as Groups<unknown>);
    }
    return groups;
  }

  /** What those who come next start from. */
  function pastOf(changed: Past['changed']): Past | undefined {
    if (rest !== undefined) {
      const both = new Map(rest.changed);
      for (const [uri, { moved }] of changed) {
        both.set(uri, { moved: moved || (both.get(uri)?.moved ?? false) });
      }
      return both.size > files.size * MAX_SHARE_CHANGED + 1
        ? undefined
        : { known: rest.known, changed: both };
    }
    if (indexes.size === 0 || changed.size > files.size * MAX_SHARE_CHANGED + 1) return undefined;
    return { known: { files, indexes, neighbours, children, surroundings }, changed };
  }

  function next(
    nextFiles: ReadonlyMap<string, SourceFile>,
    changed: Past['changed'],
    layoutChanged: boolean,
  ): Workspace {
    if (!layoutChanged) return create(nextFiles, layout, pastOf(changed));
    const read = readLayout(nextFiles.values());
    return sameLayout(layout, read) ? create(nextFiles, layout, pastOf(changed)) : create(nextFiles, read);
  }

  /** The scope itself first, then those that belong to it. */
  function neighboursOf(scope: string): readonly string[] {
    const scopes = indexed(scopeIndex);
    let found = neighbours.get(scope);
    if (found === undefined) {
      children ??= childrenOf(scopes.keys());
      const parent = directoryOf(scope);
      const candidates = new Set([
        ...(layout.builtWith.get(scope) ?? []),
        // A directory without objects is no scope: what lies below it has nothing else in common.
        ...(scopes.get(parent).length > 0 ? [parent] : []),
        ...(children.get(scope) ?? []),
      ]);
      candidates.delete(scope);
      found = [scope, ...[...candidates].filter((other) => belongTogether(layout, scope, other))];
      neighbours.set(scope, found);
    }
    return found;
  }

  const workspace: Workspace = {
    files,
    with: (file) => workspace.withAll([file]),
    withAll: (added) => {
      const nextFiles = new Map(files);
      const changed = new Map<string, { readonly moved: boolean }>();
      let layoutChanged = false;
      for (const file of added) {
        // One that comes back after it was taken away stands at the end.
        changed.set(file.uri, { moved: !nextFiles.has(file.uri) });
        nextFiles.set(file.uri, file);
        layoutChanged ||= isLayoutFile(file.uri);
      }
      return next(nextFiles, changed, layoutChanged);
    },
    without: (uri) => {
      if (!files.has(uri)) return workspace;
      const nextFiles = new Map(files);
      nextFiles.delete(uri);
      return next(nextFiles, new Map([[uri, { moved: true }]]), isLayoutFile(uri));
    },
    get resources() {
      return all();
    },
    resourcesOf: (uri) => {
      const file = files.get(uri);
      return file === undefined ? [] : objectsOfFile(layout, file).resources;
    },
    byKind: (kind, group) => {
      const found = indexed(byKind).get(kind);
      return group === undefined ? found : found.filter((resource) => resource.group === group);
    },
    everywhere: (kind, group) => workspace.byKind(kind, group),
    find: (kind, namespace, name, scope) => {
      const found = workspace.lookup(kind, namespace, name, scope);
      return found.state === 'found' ? found.resource : undefined;
    },
    lookup: (kind, namespace, nameKey, scope, uri) => {
      const names = indexed(byName);
      let partial = false;
      const around = neighboursOf(scope);
      for (const near of [[scope], around.slice(1)]) {
        const here = near
          .flatMap((each) => names.get(`${kind} ${nameKey} ${each}`))
          .filter((resource) => clusterScoped.includes(kind) || sameNamespace(resource.namespace, namespace));
        const whole = here.filter((resource) => resource.role !== 'kustomize-patch');
        // An exact namespace beats one that is left to the context.
        const exact = whole.filter((resource) => resource.namespace === namespace);
        const named = exact.length > 0 ? exact : whole;
        const beside = named.filter((resource) => resource.uri === uri);
        const [first, second] = beside.length > 0 ? beside : named;
        if (first !== undefined) {
          return second === undefined ? { state: 'found', resource: first } : { state: 'unknown' };
        }
        partial ||= here.length > 0;
      }
      return { state: partial ? 'unknown' : 'missing' };
    },
    together: (a, b) => belongTogether(layout, a.scope, b.scope),
    appliedTogether: (a, b) => {
      if (a.uri === b.uri) return true;
      const first = listedIn(layout, pathOf(a.uri));
      const second = listedIn(layout, pathOf(b.uri));
      return first.some((one) =>
        second.some((other) => one === other || layout.builtWith.get(one)?.has(other) === true),
      );
    },
    around: (from) => neighboursOf(from.scope),
    near: (from, kind, group) =>
      neighboursOf(from.scope).flatMap((scope) =>
        indexed(byPlace)
          .get(`${kind} ${scope}`)
          .filter(
            (resource) =>
              resource.role !== 'kustomize-patch' &&
              (group === undefined || resource.group === group) &&
              (clusterScoped.includes(kind) ||
                clusterScoped.includes(from.kind) ||
                sameNamespace(resource.namespace, from.namespace)),
          ),
      ),
    get surroundings() {
      catchUp();
      surroundings ??= {};
      return surroundings;
    },
    placeOf: ({ uri, placed }) => {
      const now = files.get(uri)?.documents[placed.index];
      // An object of another version of the file, or of a file that is gone, is only ever compared.
      return now?.document === placed.document ? now : { ...placed, offset: 0 };
    },
    roleOf: (uri, placed) => {
      const path = pathOf(uri);
      const [object] = objectsOf(placed.document);
      return object === undefined || isValuesOfChart(layout, path)
        ? documentRole(layout, path, placed.document)
        : objectRole(layout, path, placed.document, object);
    },
    index: indexed,
    references: (resource) => {
      let found = references.get(resource);
      if (found === undefined) {
        found = referencesOf(workspace, resource);
        references.set(resource, found);
      }
      return found;
    },
  };
  return workspace;
}

export const Workspace: {
  readonly empty: Workspace;
  /** A cell of a larger workspace, under the layout of all of it. */
  cell(files: Iterable<SourceFile>, layout: Layout): Workspace;
} = {
  empty: create(new Map(), readLayout([])),
  cell: (files, layout) => create(new Map([...files].map((file) => [file.uri, file])), layout),
};
