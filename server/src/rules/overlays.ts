import type { Resource } from '../kube/resource';
import type { Index } from '../workspace/indexes';
import { nameKeyOfResource } from '../workspace/objects';
import { overlayFiles } from '../workspace/overlay-files';
import { directoryOf, pathOf } from '../workspace/paths';
import type { Workspace } from '../workspace/workspace';

/** Of an overlay's file: its text, and the directory tree that it can change objects of. */
interface Changes {
  readonly directory: string;
  readonly text: string;
}

/** What the overlays of a workspace are made of, found once. */
interface Overlays {
  readonly changes: readonly Changes[];
  /** The changes that may reach objects of a scope; filled as scopes are asked for. */
  readonly byScope: Map<string, readonly Changes[]>;
}

/** By kind and name of the object that is patched. */
const patches: Index<Resource> = {
  read: ({ resources }, add) => {
    for (const resource of resources) {
      if (resource.role === 'kustomize-patch') add(keyOf(resource), resource);
    }
  },
  uriOf: ({ uri }) => uri,
};

const memo = new WeakMap<Workspace, Overlays>();

function overlaysOf(workspace: Workspace): Overlays {
  const known = memo.get(workspace);
  if (known !== undefined) return known;
  const changes = workspace
    .index(overlayFiles)
    .get('')
    .map(({ uri, text }) => ({ directory: directoryOf(pathOf(uri)), text }));
  const overlays: Overlays = { changes, byScope: new Map() };
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
  return workspace
    .index(patches)
    .get(keyOf(resource))
    .some(
      (patch) =>
        patch !== resource &&
        workspace.together(patch, resource) &&
        patch.placed.document.text.includes(word),
    );
}

/** Whether there is any kustomization or JSON patch around an object. */
export function hasOverlay(workspace: Workspace, resource: Resource): boolean {
  return changesAround(workspace, resource).length > 0;
}
