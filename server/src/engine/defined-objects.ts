import type { Resource } from '../kube/resource';
import { isBuiltInKind, isBuiltInVersion, isMisplaced, removedRelease } from '../kube/built-in-kinds';
import { misspeltKind } from '../rules/structure/misspelt';
import { withDefinitions, type DefinedSchemas } from '../structure/definitions';
import type { Schemas } from '../structure/schemas';
import { pathOf } from '../workspace/paths';
import { isCalledPatch } from '../workspace/roles';
import type { Workspace } from '../workspace/workspace';
import type { PlacedDocument, YamlDocument } from '../yaml/document';
import { entryOf, isMap, isNull, mapIn, textIn, type MapNode } from '../yaml/node';

interface Known {
  readonly base: Schemas;
  readonly schemas: DefinedSchemas;
}

const byWorkspace = new WeakMap<Workspace, Known>();

/** Schemas with those of the definitions in the workspace. */
export function schemasOf(workspace: Workspace, base: Schemas): DefinedSchemas {
  let known = byWorkspace.get(workspace);
  if (known?.base !== base) {
    known = { base, schemas: withDefinitions(base, workspace.files.values()) };
    byWorkspace.set(workspace, known);
  }
  return known.schemas;
}

const rootKind = /^["']?kind["']?[ \t]*:[ \t]*["']?([A-Za-z][A-Za-z0-9]*)/m;
const rootVersion = /^["']?apiVersion["']?[ \t]*:[ \t]*["']?([A-Za-z][A-Za-z0-9./]*)/m;

const objects = new WeakMap<YamlDocument, Resource>();

/**
 * The object of a document that no rule reads, of a kind that the workspace defines, or of a kind of Kubernetes under a
 * version that has no such kind, or misspelt: its form is all that is looked at. One without a kind or a version has an
 * empty text for it.
 */
export function otherObject(
  workspace: Workspace,
  schemas: DefinedSchemas,
  uri: string,
  placed: PlacedDocument,
): Resource | undefined {
  const { document } = placed;
  const kind = rootKind.exec(document.text)?.[1] ?? '';
  const apiVersion = rootVersion.exec(document.text)?.[1] ?? '';
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const forgotten =
    kind === '' && isBuiltInVersion(apiVersion)
      ? 'kind'
      : apiVersion === '' && isBuiltInKind(kind)
        ? 'apiVersion'
        : undefined;
  const isMisspelt = misspeltKind(group, kind) !== undefined;
  if (forgotten === undefined && !isMisspelt && !schemas.kinds.has(kind) && !isBuiltInKind(kind))
    return undefined;
  const { root } = document;
  if (!isMap(root) || (textIn(root, 'kind') ?? '') !== kind) return undefined;
  if ((textIn(root, 'apiVersion') ?? '') !== apiVersion) return undefined;
  const role = workspace.roleOf(uri, placed);
  if (role === 'helm-values') return undefined;
  if (forgotten !== undefined) {
    if (!isForgotten(uri, root, forgotten, document)) return undefined;
    if (role !== 'resource' && role !== 'not-kubernetes') return undefined;
  } else if (
    !isMisspelt &&
    !isMisplaced(group, kind) &&
    removedRelease(apiVersion, kind) === undefined &&
    schemas.of(group, version, kind) === undefined
  ) {
    return undefined;
  }
  const known = objects.get(document);
  if (known?.uri === uri && known.role === role && known.placed.index === placed.index) return known;
  const metadata = mapIn(root, 'metadata');
  const object: Resource = {
    uri,
    placed: { document, index: placed.index },
    root,
    role,
    apiVersion,
    group,
    version,
    kind,
    name: textIn(metadata, 'name'),
    namespace: textIn(metadata, 'namespace'),
    scope: '',
  };
  objects.set(document, object);
  return object;
}

/**
 * A key without which nothing is an object was forgotten, and not left to a template or a patch's target: what has a
 * name and something to say is meant to be one.
 */
function isForgotten(
  uri: string,
  root: MapNode,
  key: 'kind' | 'apiVersion',
  document: YamlDocument,
): boolean {
  if (document.templated || root.open || !isNull(entryOf(root, key)?.value)) return false;
  if (textIn(root, 'metadata', 'name') === undefined || isCalledPatch(pathOf(uri))) return false;
  return ['spec', 'data'].some((part) => mapIn(root, part) !== undefined);
}
