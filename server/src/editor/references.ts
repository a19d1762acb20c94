import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import { nodePoolLabel } from '../sizing/nodes/labels';
import { poolLabels } from '../workspace/references';
import type { Workspace } from '../workspace/workspace';
import { entryOf, mapIn, type Span } from '../yaml/node';
import { keyOfName, nameNodeOf, namedObjectsOf, objectsNamed } from './objects';
import { documentAt, holds, inFile } from './place';
import { sitesByTarget, sitesOf } from './reference-sites';

/** A place of some file. */
export interface Location {
  readonly uri: string;
  /** Of the file. */
  readonly at: Span;
}

export interface Definition {
  /** The text that refers, of the file that was asked about. */
  readonly origin: Span;
  /** Never empty. */
  readonly targets: readonly (Location & { readonly whole: Span })[];
}

function locate(workspace: Workspace, object: Resource, at: Span): Location {
  return { uri: object.uri, at: inFile(at, workspace.placeOf(object)) };
}

/** Where an object is defined: its name, else its first line. */
function definitionOf(workspace: Workspace, object: Resource): Location & { readonly whole: Span } {
  const name = nameNodeOf(object);
  const { root } = object;
  const at = name === undefined || name.borrowed ? { start: root.start, end: root.start } : name;
  return { ...locate(workspace, object, at), whole: inFile(root, workspace.placeOf(object)) };
}

interface Pointed {
  readonly origin: Span;
  readonly objects: readonly Resource[];
}

/** The object that a place is in, and the place in its document. */
function objectAt(
  workspace: Workspace,
  uri: string,
  offset: number,
): { readonly object: Resource; readonly local: number } | undefined {
  const placed = documentAt(workspace, uri, offset);
  if (placed === undefined) return undefined;
  const local = offset - placed.offset;
  const object = namedObjectsOf(workspace, uri).find(
    (each) => each.placed.index === placed.index && holds(each.root, local),
  );
  return object === undefined ? undefined : { object, local };
}

/** What the text at a place refers to. */
function pointedAt(workspace: Workspace, object: Resource, local: number): Pointed | undefined {
  const site = sitesOf(object).find(({ node }) => holds(node, local));
  if (site !== undefined) {
    return { origin: site.node, objects: objectsNamed(workspace, object, site.kinds, site.name) };
  }
  return selectedAt(workspace, object, local) ?? poolsAt(workspace, object, local);
}

/** The workloads that a selector selects. */
function selectedAt(workspace: Workspace, object: Resource, local: number): Pointed | undefined {
  if (object.kind !== 'Service' && object.kind !== 'PodDisruptionBudget') return undefined;
  const entry = entryOf(mapIn(object.root, 'spec'), 'selector');
  if (entry === undefined || entry.key.borrowed) return undefined;
  const at = { start: entry.key.start, end: Math.max(entry.key.end, entry.value.end) };
  if (!holds(at, local)) return undefined;
  const objects = new Set(workspace.references(object).templates.map(({ template }) => template.resource));
  return { origin: at, objects: [...objects] };
}

/** The pools whose nodes have the label that a pod selects nodes by. */
function poolsAt(workspace: Workspace, object: Resource, local: number): Pointed | undefined {
  for (const template of podTemplates(object)) {
    const entries = mapIn(template.spec, 'nodeSelector')?.entries ?? [];
    const entry = entries.find(
      ({ key, value }) =>
        !key.borrowed && holds({ start: key.start, end: Math.max(key.end, value.end) }, local),
    );
    if (entry === undefined) continue;
    const pools = poolsWith(workspace, template, entry.key.text);
    return {
      origin: { start: entry.key.start, end: Math.max(entry.key.end, entry.value.end) },
      objects: pools,
    };
  }
  return undefined;
}

function poolsWith(workspace: Workspace, template: PodTemplate, key: string): readonly Resource[] {
  return workspace
    .references(template.resource)
    .nodePools(template)
    .map(({ resource }) => resource)
    .filter((pool) => poolLabels(pool).sets.has(key));
}

/** Where what a place refers to is defined. */
export function definitionAt(workspace: Workspace, uri: string, offset: number): Definition | undefined {
  const found = objectAt(workspace, uri, offset);
  if (found === undefined) return undefined;
  const { object, local } = found;
  const pointed = pointedAt(workspace, object, local);
  if (pointed !== undefined) {
    if (pointed.objects.length === 0) return undefined;
    return {
      origin: inFile(pointed.origin, workspace.placeOf(object)),
      targets: pointed.objects.map((target) => definitionOf(workspace, target)),
    };
  }
  const name = nameNodeOf(object);
  if (name === undefined || name.borrowed || !holds(name, local)) return undefined;
  // Its own name is its definition: editors then offer the references instead.
  return { origin: inFile(name, workspace.placeOf(object)), targets: [definitionOf(workspace, object)] };
}

/** Every place that refers to the object whose name a place is, or to which it refers. */
export function referencesAt(
  workspace: Workspace,
  uri: string,
  offset: number,
  withDefinition: boolean,
): readonly Location[] {
  const found = objectAt(workspace, uri, offset);
  if (found === undefined) return [];
  const { object, local } = found;
  const name = nameNodeOf(object);
  const isOwnName = name !== undefined && !name.borrowed && holds(name, local);
  const objects = isOwnName ? [object] : (pointedAt(workspace, object, local)?.objects ?? []);
  const all = objects.flatMap((target) => [
    ...(withDefinition ? [definitionOf(workspace, target)] : []),
    ...referencesTo(workspace, target),
  ]);
  const seen = new Set<string>();
  return all
    .map(({ uri: where, at }) => ({ uri: where, at }))
    .filter(({ uri: where, at }) => {
      const key = `${where} ${at.start}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}

function referencesTo(workspace: Workspace, target: Resource): readonly Location[] {
  const key = keyOfName(target);
  const named =
    key === undefined
      ? []
      : workspace
          .index(sitesByTarget)
          .get(`${target.kind} ${key}`)
          .filter(({ from, kinds, name }) => objectsNamed(workspace, from, kinds, name).includes(target))
          .map(({ from, node }) => locate(workspace, from, node));
  return [
    ...named,
    ...selectorsOf(workspace, target),
    ...selectedBy(workspace, target),
    ...podsOn(workspace, target),
  ];
}

/** Selectors of Services and budgets that select the pods of a workload. */
function selectorsOf(workspace: Workspace, target: Resource): readonly Location[] {
  if (podTemplates(target).length === 0) return [];
  const { services, disruptionBudgets } = workspace.references(target);
  return [...services, ...disruptionBudgets].flatMap(({ resource }) => {
    const entry = entryOf(mapIn(resource.root, 'spec'), 'selector');
    return entry === undefined ? [] : [locate(workspace, resource, entry.key)];
  });
}

/** Workloads whose pods a Service or budget selects. */
function selectedBy(workspace: Workspace, target: Resource): readonly Location[] {
  if (target.kind !== 'Service' && target.kind !== 'PodDisruptionBudget') return [];
  const workloads = new Set(workspace.references(target).templates.map(({ template }) => template.resource));
  return [...workloads].map((workload) => definitionOf(workspace, workload));
}

/** Pods that name a pool, or a label that only its nodes have. */
function podsOn(workspace: Workspace, target: Resource): readonly Location[] {
  if (target.kind !== 'NodePool') return [];
  const labels = poolLabels(target).sets;
  return workspace.resources.flatMap((resource) => {
    if (resource.role === 'kustomize-patch') return [];
    return podTemplates(resource).flatMap((template) => {
      const entries = mapIn(template.spec, 'nodeSelector')?.entries ?? [];
      // The label of the pool's name is a reference by name already.
      const own = entries.filter(
        ({ key }) => !key.borrowed && key.text !== nodePoolLabel && labels.has(key.text),
      );
      if (own.length === 0) return [];
      const isMeant = workspace
        .references(resource)
        .nodePools(template)
        .some((match) => match.resource === target && match.named);
      return isMeant ? own.map(({ key }) => locate(workspace, resource, key)) : [];
    });
  });
}
