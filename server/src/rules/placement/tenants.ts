import { autoscalerOf } from '../../kube/autoscalers';
import { otherCloud } from '../../kube/clouds';
import { podCarrierTypes, podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { fit } from '../../sizing/nodes/fit';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, isNull, type ScalarNode } from '../../yaml/node';
import { namesPool } from './meant-pools';
import { podOf, surroundingsOf, type Pool, type Surroundings } from './surroundings';

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

/** Where the pods of one template can run, as far as the pools of the workspace go. */
interface Home {
  readonly pod: PodSpec;
  readonly surroundings: Surroundings;
  /** The pools that can run the pods, or may. */
  readonly possible: readonly (Pool | undefined)[];
}

const homes = new WeakMap<Workspace, Map<PodTemplate, Home>>();

function homeOf(workspace: Workspace, template: PodTemplate): Home {
  let byTemplate = homes.get(workspace);
  if (byTemplate === undefined) homes.set(workspace, (byTemplate = new Map<PodTemplate, Home>()));
  let home = byTemplate.get(template);
  if (home === undefined) {
    const surroundings = surroundingsOf(workspace, template);
    const pod = podOf(workspace, template);
    const answers = surroundings.pools.length === 0 ? [] : fit(surroundings.unlimited, pod).pools;
    const possible = answers
      .filter(({ verdict }) => verdict !== 'none')
      .map(({ pool }) => surroundings.poolOf(pool));
    home = { pod, surroundings, possible };
    byTemplate.set(template, home);
  }
  return home;
}

/** The pods beside a NodePool that can run in it. */
export function tenantsOf(workspace: Workspace, pool: Resource): readonly Tenant[] {
  return templatesNear(workspace, pool).flatMap((template): Tenant[] => {
    const { pod, surroundings, possible } = homeOf(workspace, template);
    const found = possible.find((candidate) => candidate?.resource === pool);
    if (found === undefined) return [];
    return [{ template, pod, sole: possible.length === 1, named: namesPool(pod, found.spec), surroundings }];
  });
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
