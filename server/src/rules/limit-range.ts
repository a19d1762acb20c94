import type { Resource } from '../kube/resource';
import type { Workspace } from '../workspace/workspace';
import { getIn } from '../yaml/node';

/** Whether a LimitRange of the namespace gives containers a request or limit that they do not write themselves. */
export function hasDefaultResources(workspace: Workspace, target: Resource): boolean {
  return workspace
    .near(target, 'LimitRange')
    .some(
      (range) =>
        range.namespace === target.namespace &&
        getIn(range.root, 'spec', 'limits')?.kind === 'sequence' &&
        /\bdefault(?:Request)?\b/.test(range.placed.document.text),
    );
}
