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

const memo = new WeakMap<Workspace, readonly Changes[]>();

/** A list of operations is no object, so that nothing else finds it. */
const jsonPatch = /^\s*(?:-\s|\[)/;
const operation = /(?:^|[\s{,"'-])op["']?\s*:/;

function changesIn(workspace: Workspace): readonly Changes[] {
  const known = memo.get(workspace);
  if (known !== undefined) return known;
  const found: Changes[] = [];
  for (const { uri, text } of workspace.files.values()) {
    const path = pathOf(uri);
    if (isKustomizationFile(path) || (jsonPatch.test(text) && operation.test(text)))
      found.push({ directory: directoryOf(path), text });
  }
  memo.set(workspace, found);
  return found;
}

/**
 * Whether an overlay may write a field of an object: a patch of that object, a kustomization or a JSON patch around it
 * that names the field. What the base says, or leaves out, is then not what reaches the cluster.
 *
 * @param word the field as it stands in patches: `tolerations`, `replicas`.
 */
export function mayBePatched(workspace: Workspace, resource: Resource, word: string): boolean {
  const around = workspace.around(resource);
  const isAround = (directory: string): boolean =>
    around.some((scope) => directory === scope || directory.startsWith(`${scope}/`));
  if (changesIn(workspace).some(({ directory, text }) => text.includes(word) && isAround(directory)))
    return true;
  const name = nameKeyOfResource(resource);
  return workspace
    .byKind(resource.kind, resource.group)
    .some(
      (other) =>
        other.role === 'kustomize-patch' &&
        other !== resource &&
        nameKeyOfResource(other) === name &&
        workspace.together(other, resource) &&
        other.placed.document.text.includes(word),
    );
}
