import type { Container } from '../../kube/containers';
import { effectiveRequest } from '../../kube/containers';
import { toNumber } from '../../kube/quantity';
import { fit } from '../../sizing/nodes/fit';
import type { PodSpec } from '../../sizing/nodes/pod';
import { readPod } from '../../sizing/nodes/read-pod';
import type { Workspace } from '../../workspace/workspace';
import { ownSelection, possibleTypes } from './possible-types';
import { podOf } from './surroundings';

/**
 * Whether the nodes that a pod can get would still take it if one of its containers asked for more, so that a fix does
 * not lead to a pod that stays pending. False only where some type is known to take the pod as it is, and none then.
 *
 * @param amount what the container would ask for: cores of `cpu`, bytes of `memory`.
 * @param workspace where the pools are; without it only what the pod itself selects counts.
 */
export function hasRoomFor(
  container: Container,
  resource: 'cpu' | 'memory',
  amount: number,
  workspace?: Workspace,
): boolean {
  const { template } = container;
  const pod = workspace === undefined ? readPod(template) : podOf(workspace, template);
  // Of an amount for the whole pod, what one container asks for is a part.
  if (pod.resources.podLevel !== undefined) return true;
  const quantity = effectiveRequest(container, resource)?.quantity;
  const more = amount - (quantity === undefined ? 0 : toNumber(quantity));
  if (more <= 0) return true;
  const takes = (asked: PodSpec): boolean | undefined => {
    if (workspace !== undefined) {
      const possible = possibleTypes(workspace, template, asked);
      return possible && possible.types.length > 0;
    }
    const own = ownSelection(asked);
    return own && fit(own.context, own.pod).verdict !== 'none';
  };
  return takes(pod) !== true || takes(asking(pod, resource, more)) !== false;
}

/** The pod with more of a resource, as if its runtime took it. */
function asking(pod: PodSpec, resource: string, more: number): PodSpec {
  const { resources } = pod;
  const before = resources.overhead?.[resource];
  // Rare, and not worth adding up texts.
  if (before !== undefined) return pod;
  return {
    ...pod,
    resources: { ...resources, overhead: { ...resources.overhead, [resource]: String(Math.ceil(more)) } },
  };
}
