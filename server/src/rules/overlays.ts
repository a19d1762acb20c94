import type { Resource } from '../kube/resource';
import { isKustomizationFile } from '../workspace/layout';
import { nameKeyOfResource } from '../workspace/objects';
import { directoryOf, pathOf } from '../workspace/paths';
import type { Workspace } from '../workspace/workspace';

/** A kustomization, or a file of JSON patches: text that can change objects of its directory tree. */
interface Changes {
  readonly directory: string;
  readonly text: string;
}

/** What the overlays of a workspace are made of, found once. */
interface Overlays {
  readonly changes: readonly Changes[];
  /** By kind and name of the object that is patched. */
  readonly patches: ReadonlyMap<string, readonly Resource[]>;
  /** The changes that may reach objects of a scope; filled as scopes are asked for. */
  readonly byScope: Map<string, readonly Changes[]>;
}

const memo = new WeakMap<Workspace, Overlays>();

/** A list of operations is no object, so that nothing else finds it. */
const jsonPatch = /^\s*(?:-\s|\[)/;
const operation = /(?:^|[\s{,"'-])op["']?\s*:/;

function overlaysOf(workspace: Workspace): Overlays {
  const known = memo.get(workspace);
  if (known !== undefined) return known;
  const changes: Changes[] = [];
  for (const { uri, text } of workspace.files.values()) {
    const path = pathOf(uri);
    if (isKustomizationFile(path) || (jsonPatch.test(text) && operation.test(text)))
      changes.push({ directory: directoryOf(path), text });
  }
  const patches = new Map<string, Resource[]>();
  for (const resource of workspace.resources) {
    if (resource.role !== 'kustomize-patch') continue;
    const key = keyOf(resource);
    const others = patches.get(key);
    if (others === undefined) patches.set(key, [resource]);
    else others.push(resource);
  }
  const overlays: Overlays = { changes, patches, byScope: new Map() };
  memo.set(workspace, overlays);
  return overlays;
}

function keyOf(resource: Resource): string {
  return `${resource.group}/${resource.kind}/${nameKeyOfResource(resource) ?? ''}`;
}

function changesAround(workspace: Workspace, resource: Resource): readonly Changes[] {
  const { changes, byScope } = overlaysOf(workspace);
  if (changes.length === 0) return [];
  let found = byScope.get(resource.scope);
  if (found === undefined) {
    const around = workspace.around(resource);
    found = changes.filter(({ directory }) =>
      around.some((scope) => directory === scope || directory.startsWith(`${scope}/`)),
    );
    byScope.set(resource.scope, found);
  }
  return found;
}

/** Whether a kustomization or a JSON patch around an object names something: a field, or a label that it adds. */
export function isNamedByOverlay(workspace: Workspace, resource: Resource, word: string): boolean {
  return changesAround(workspace, resource).some(({ text }) => text.includes(word));
}

/**
 * Whether an overlay may write a field of an object: a patch of that object, a kustomization or a JSON patch around it
 * that names the field. What the base says, or leaves out, is then not what reaches the cluster.
 *
 * @param word the field as it stands in patches: `tolerations`, `replicas`.
 */
export function mayBePatched(workspace: Workspace, resource: Resource, word: string): boolean {
  if (isNamedByOverlay(workspace, resource, word)) return true;
  return (overlaysOf(workspace).patches.get(keyOf(resource)) ?? []).some(
    (patch) =>
      patch !== resource && workspace.together(patch, resource) && patch.placed.document.text.includes(word),
  );
}

/** Whether there is any kustomization or JSON patch around an object. */
export function hasOverlay(workspace: Workspace, resource: Resource): boolean {
  return changesAround(workspace, resource).length > 0;
}
