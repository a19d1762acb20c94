import type { Resource } from '../kube/resource';
import { isBuiltInKind, isMisplaced } from '../kube/built-in-kinds';
import { withDefinitions, type DefinedSchemas } from '../structure/definitions';
import type { Schemas } from '../structure/schemas';
import type { Workspace } from '../workspace/workspace';
import type { PlacedDocument, YamlDocument } from '../yaml/document';
import { isMap, mapIn, textIn } from '../yaml/node';

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

const objects = new WeakMap<YamlDocument, Resource>();

/**
 * The object of a document that no rule reads, of a kind that the workspace defines, or of a kind of Kubernetes under a
 * version that has no such kind: its form is all that is looked at.
 */
export function otherObject(
  workspace: Workspace,
  schemas: DefinedSchemas,
  uri: string,
  placed: PlacedDocument,
): Resource | undefined {
  const { document } = placed;
  const kind = rootKind.exec(document.text)?.[1];
  if (kind === undefined || !(schemas.kinds.has(kind) || isBuiltInKind(kind))) return undefined;
  const { root } = document;
  const apiVersion = textIn(root, 'apiVersion');
  if (!isMap(root) || apiVersion === undefined || textIn(root, 'kind') !== kind) return undefined;
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  if (!isMisplaced(group, kind) && schemas.of(group, version, kind) === undefined) return undefined;
  const role = workspace.roleOf(uri, placed);
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
