import { autoscalerOf } from '../../kube/autoscalers';
import type { PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, mapIn } from '../../yaml/node';
import { titleOf } from '../naming';
import type { Related } from '../rule';

/** The fewest replicas that a workload runs with, and who says so. */
export interface LeastReplicas {
  readonly value: number;
  /** The autoscaler that decides; without one it is the workload itself. */
  readonly autoscaler: Resource | undefined;
}

/**
 * The autoscaler's minimum where the workload has one, else its replicas; `undefined` when that is not known.
 */
export function leastReplicas(workspace: Workspace, template: PodTemplate): LeastReplicas | undefined {
  const matches = workspace.references(template.resource).autoscalers;
  if (matches.length === 0) {
    const { replicas } = template;
    return replicas.known ? { value: replicas.value, autoscaler: undefined } : undefined;
  }
  let least: LeastReplicas | undefined;
  for (const { resource, match } of matches) {
    const minimum = autoscalerOf(resource)?.minReplicas;
    if (match !== 'yes' || minimum?.known !== true) return undefined;
    if (least === undefined || minimum.value < least.value)
      least = { value: minimum.value, autoscaler: resource };
  }
  return least;
}

/** Where the number is written, for pointing at it from elsewhere. */
export function relatedTo(template: PodTemplate, { value, autoscaler }: LeastReplicas): Related {
  if (autoscaler === undefined) {
    const { resource, replicas } = template;
    const at = replicas.node ?? entryOf(mapIn(resource.root, 'metadata'), 'name') ?? resource.root;
    return { resource, at, message: `${titleOf(resource)} has ${count(value)}` };
  }
  const at =
    autoscalerOf(autoscaler)?.minReplicas.node ?? entryOf(autoscaler.root, 'spec') ?? autoscaler.root;
  return {
    resource: autoscaler,
    at,
    message: `${titleOf(autoscaler)} goes down to ${count(value)}`,
  };
}

function count(replicas: number): string {
  return `${replicas} replica${replicas === 1 ? '' : 's'}`;
}
