import type { Resource } from '../kube/resource';
import type { YamlDocument } from '../yaml/document';
import {
  entryOf,
  isMap,
  isScalar,
  isSequence,
  mapIn,
  scalarIn,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from '../yaml/node';
import { holdsAddOnValues, isRelevantType, mayMatter, relevantGroups, valuesKind } from './relevant-kinds';

/** An object as its document tells it, without what depends on other files. */
export interface RawObject {
  readonly root: MapNode;
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /** Names that are rendered from the same template text are the same name. */
  readonly nameKey: string | undefined;
}

function known(node: ScalarNode | undefined): string | undefined {
  return node === undefined || node.unknown || node.value === null ? undefined : node.text;
}

/**
 * What a name is compared by: its text, or, when it is only known later, the expression that makes it, so that a
 * chart's HorizontalPodAutoscaler finds the Deployment of the same `include`. Undefined without a name.
 */
export function nameKeyOf(document: YamlDocument, node: YamlNode | undefined): string | undefined {
  if (!isScalar(node)) return undefined;
  if (!node.unknown) return node.value === null ? undefined : node.text;
  const raw = document.text.slice(node.start, node.end).replace(/^["']|["']$/g, '');
  return raw.replace(/\s+/g, ' ').replace(/\{\{-? ?| ?-?\}\}/g, '\u0000');
}

function read(document: YamlDocument, root: MapNode): RawObject[] {
  const kind = known(scalarIn(root, 'kind'));
  if (kind === undefined) return holdsAddOnValues(root) ? [valuesOf(root)] : [];
  const items = entryOf(root, 'items')?.value;
  const written = scalarIn(root, 'apiVersion');
  const groups = relevantGroups(kind);
  if (kind.endsWith('List') && isSequence(items) && (groups.length === 0 || kind === 'List')) {
    return items.items.filter(isMap).flatMap((item) => read(document, item));
  }
  if (written === undefined || written.value === null) return [];
  // A version that a template chooses changes nothing about the kind.
  const apiVersion = known(written) ?? '';
  const slash = apiVersion.indexOf('/');
  const group = written.unknown ? (groups[0] ?? '') : slash < 0 ? '' : apiVersion.slice(0, slash);
  if (!isRelevantType(group, kind)) return [];
  const metadata = mapIn(root, 'metadata');
  return [
    {
      root,
      apiVersion,
      // Deployments of the removed group are read as those of today.
      group: group === 'extensions' ? 'apps' : group,
      version: apiVersion.slice(slash + 1),
      kind,
      name: known(scalarIn(metadata, 'name')),
      namespace: known(scalarIn(metadata, 'namespace')),
      nameKey: nameKeyOf(document, entryOf(metadata, 'name')?.value),
    },
  ];
}

/** The values of a chart, as if they were an object: of no group and without a name. */
function valuesOf(root: MapNode): RawObject {
  return {
    root,
    apiVersion: '',
    group: '',
    version: '',
    kind: valuesKind,
    name: undefined,
    namespace: undefined,
    nameKey: undefined,
  };
}

const memo = new WeakMap<YamlDocument, readonly RawObject[]>();

/** The objects of a document that something reads; its tree is built only when its text may hold one. */
export function objectsOf(document: YamlDocument): readonly RawObject[] {
  const cached = memo.get(document);
  if (cached !== undefined) return cached;
  const root = mayMatter(document) ? document.root : undefined;
  const objects = isMap(root) ? read(document, root) : [];
  memo.set(document, objects);
  return objects;
}

const nameKeys = new WeakMap<Resource, string>();

/** Keeps what the name of an object is compared by, when that is not simply its name. */
export function rememberNameKey(resource: Resource, nameKey: string | undefined): void {
  if (nameKey !== undefined && nameKey !== resource.name) nameKeys.set(resource, nameKey);
}

/** What the name of an object is compared by; also defined for a name that a template makes. */
export function nameKeyOfResource(resource: Resource): string | undefined {
  return nameKeys.get(resource) ?? resource.name;
}

/** A namespace that is not written is whatever the object is applied to. */
export function sameNamespace(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}
