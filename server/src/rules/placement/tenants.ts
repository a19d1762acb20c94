import { autoscalerOf } from '../../kube/autoscalers';
import { otherCloud } from '../../kube/clouds';
import { podCarrierTypes, podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { fit } from '../../sizing/nodes/fit';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, isNull, type ScalarNode } from '../../yaml/node';
import { namesPool } from './meant-pools';
import { podOf, surroundingsOf, type Surroundings } from './surroundings';

/** Pods that run in a pool, or may. */
export interface Tenant {
  readonly template: PodTemplate;
  readonly pod: PodSpec;
  /** Of the pools that the workspace has for the pod, no other can run it. */
  readonly sole: boolean;
  readonly named: boolean;
  readonly surroundings: Surroundings;
}

const templates = new WeakMap<Workspace, Map<string, readonly PodTemplate[]>>();

/** Pods other than those of DaemonSets that belong together with an object. */
export function templatesNear(workspace: Workspace, from: Resource): readonly PodTemplate[] {
  let byScope = templates.get(workspace);
  if (byScope === undefined) templates.set(workspace, (byScope = new Map<string, readonly PodTemplate[]>()));
  let near = byScope.get(from.scope);
  if (near === undefined) {
    near = podCarrierTypes
      .filter(({ kind }) => kind !== 'DaemonSet')
      .flatMap(({ kind, group }) => workspace.near(from, kind, group))
      .flatMap(podTemplates)
      .filter(
        (template) => otherCloud(template) === undefined && isNull(entryOf(template.spec, 'nodeName')?.value),
      );
    byScope.set(from.scope, near);
  }
  return near;
}

const tenants = new WeakMap<Workspace, Map<Resource, readonly Tenant[]>>();

/** The pods beside a NodePool that can run in it. */
export function tenantsOf(workspace: Workspace, pool: Resource): readonly Tenant[] {
  let byPool = tenants.get(workspace);
  if (byPool === undefined) tenants.set(workspace, (byPool = new Map<Resource, readonly Tenant[]>()));
  let found = byPool.get(pool);
  if (found === undefined) {
    found = templatesNear(workspace, pool).flatMap((template): Tenant[] => {
      const surroundings = surroundingsOf(workspace, template);
      const pod = podOf(workspace, template);
      const possible = fit(surroundings.unlimited, pod)
        .pools.filter(({ verdict }) => verdict !== 'none')
        .map((answer) => surroundings.poolOf(answer.pool));
      const own = possible.find((candidate) => candidate?.resource === pool);
      if (own === undefined) return [];
      const { spec } = own;
      return [{ template, pod, sole: possible.length === 1, named: namesPool(pod, spec), surroundings }];
    });
    byPool.set(pool, found);
  }
  return found;
}

/** The most pods that a template is scaled to. */
export interface MostPods {
  readonly value: number;
  /** The autoscaler whose maximum it is; `undefined` for the replicas of the workload. */
  readonly autoscaler: Resource | undefined;
  readonly node: ScalarNode | undefined;
}

/** The autoscaler's maximum where the workload has one, else its replicas; `undefined` when that is not known. */
export function mostPods(workspace: Workspace, template: PodTemplate): MostPods | undefined {
  const { resource, replicas, pods } = template;
  const matches = workspace.references(resource).autoscalers;
  if (matches.length === 0) {
    return pods.known ? { value: pods.value, autoscaler: undefined, node: replicas.node } : undefined;
  }
  let most: MostPods | undefined;
  for (const match of matches) {
    const maximum = autoscalerOf(match.resource)?.maxReplicas;
    if (match.match !== 'yes' || maximum?.known !== true || !template.groupSize.known) return undefined;
    const each = replicas.known && pods.known && replicas.value > 0 ? pods.value / replicas.value : 1;
    const value = maximum.value * each;
    if (most === undefined || value > most.value)
      most = { value, autoscaler: match.resource, node: maximum.node };
  }
  return most;
}
