import { isPodCarrier, podTemplates } from '../kube/pod-carriers';
import type { DocumentRole, Resource } from '../kube/resource';
import type { PlacedDocument, SourceFile, YamlDocument } from '../yaml/document';
import { belongTogether, isLayoutFile, readLayout, scopeOf, type Layout } from './layout';
import { nameKeyOfResource, objectsOf, rememberNameKey, sameNamespace } from './objects';
import { directoryOf, pathOf } from './paths';
import { referencesOf, type References } from './references';
import { documentRole, objectRole } from './roles';

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

const fileResources = new WeakMap<
  SourceFile,
  { readonly layout: Layout; readonly resources: readonly Resource[] }
>();

function resourcesOfFile(layout: Layout, file: SourceFile): readonly Resource[] {
  const before = fileResources.get(file);
  if (before?.layout === layout) return before.resources;
  const resources = file.documents.flatMap((placed) => resourcesIn(layout, file.uri, placed));
  fileResources.set(file, { layout, resources });
  return resources;
}

function grouped<T>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
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

/** What {@link Workspace.surroundings} stands for, part by part. */
interface Surroundings {
  readonly layout: Layout;
  readonly parts: readonly (Resource | string)[];
}

/** A workload of which others see the outline only. */
export function isSeenInOutline(resource: Resource): boolean {
  return (
    isPodCarrier(resource) &&
    resource.kind !== 'DaemonSet' &&
    (resource.role === 'resource' || resource.role === 'helm-template')
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

function sameSurroundings(a: Surroundings, b: Surroundings): boolean {
  return (
    a.layout === b.layout &&
    a.parts.length === b.parts.length &&
    a.parts.every((part, index) => part === b.parts[index])
  );
}

function create(
  files: ReadonlyMap<string, SourceFile>,
  known: Layout | undefined,
  before?: Surroundings,
): Workspace {
  const layout = known ?? readLayout(files.values());
  const all = lazy(() => [...files.values()].flatMap((file) => resourcesOfFile(layout, file)));
  const kinds = lazy(() => grouped(all(), (resource) => resource.kind));
  const names = lazy(() =>
    grouped(all(), (resource) => {
      const name = nameKeyOfResource(resource);
      return name === undefined ? undefined : `${resource.kind}/${name}`;
    }),
  );
  const places = lazy(() => grouped(all(), (resource) => `${resource.kind}/${resource.scope}`));
  const scopes = lazy(() => new Set(all().map((resource) => resource.scope)));
  const children = lazy(() => grouped([...scopes()], directoryOf));
  const neighbours = new Map<string, readonly string[]>();
  const references = new Map<Resource, References>();
  let surroundings: Surroundings | undefined;

  /** The scope itself first, then those that belong to it. */
  function neighboursOf(scope: string): readonly string[] {
    let found = neighbours.get(scope);
    if (found === undefined) {
      const candidates = new Set([
        ...(layout.builtWith.get(scope) ?? []),
        directoryOf(scope),
        ...(children().get(scope) ?? []),
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
      const next = new Map(files);
      let sameLayout = true;
      for (const file of added) {
        next.set(file.uri, file);
        sameLayout &&= !isLayoutFile(file.uri);
      }
      return create(next, sameLayout ? layout : undefined, surroundings ?? before);
    },
    without: (uri) => {
      if (!files.has(uri)) return workspace;
      const next = new Map(files);
      next.delete(uri);
      return create(next, isLayoutFile(uri) ? undefined : layout, surroundings ?? before);
    },
    get resources() {
      return all();
    },
    resourcesOf: (uri) => {
      const file = files.get(uri);
      return file === undefined ? [] : resourcesOfFile(layout, file);
    },
    byKind: (kind, group) => {
      const found = kinds().get(kind) ?? [];
      return group === undefined ? found : found.filter((resource) => resource.group === group);
    },
    find: (kind, namespace, name, scope) => {
      const found = workspace.lookup(kind, namespace, name, scope);
      return found.state === 'found' ? found.resource : undefined;
    },
    lookup: (kind, namespace, nameKey, scope, uri) => {
      const candidates = (names().get(`${kind}/${nameKey}`) ?? []).filter(
        (resource) => clusterScoped.includes(kind) || sameNamespace(resource.namespace, namespace),
      );
      let partial = false;
      const around = neighboursOf(scope);
      for (const near of [[scope], around.slice(1)]) {
        const here = candidates.filter((resource) => near.includes(resource.scope));
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
        (places().get(`${kind}/${scope}`) ?? []).filter(
          (resource) =>
            resource.role !== 'kustomize-patch' &&
            (group === undefined || resource.group === group) &&
            (clusterScoped.includes(kind) ||
              clusterScoped.includes(from.kind) ||
              sameNamespace(resource.namespace, from.namespace)),
        ),
      ),
    get surroundings() {
      if (surroundings === undefined) {
        const parts = all().map((resource) => (isSeenInOutline(resource) ? outlineOf(resource) : resource));
        const now: Surroundings = { layout, parts };
        surroundings = before !== undefined && sameSurroundings(before, now) ? before : now;
      }
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
      return object === undefined
        ? documentRole(layout, path, placed.document)
        : objectRole(layout, path, placed.document, object);
    },
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

export const Workspace: { readonly empty: Workspace } = { empty: create(new Map(), undefined) };
