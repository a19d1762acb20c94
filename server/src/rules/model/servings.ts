import { modelServers, type ModelServer } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { podTolerates, readTaints } from '../../kube/tolerations';
import { servingOf, type Serving } from '../../sizing/from-manifest';
import type { GpuChoice } from '../../sizing/gpu-choices';
import { noUserModels, type UserModel } from '../../sizing/models/types';
import type { Workspace } from '../../workspace/workspace';
import { getIn } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { withConfiguredModel } from './configured-model';

/** The NodePools that would take a pod: by labels and taints, as far as both are known. */
export function poolsFor(workspace: Workspace, template: PodTemplate): readonly Resource[] {
  return workspace
    .references(template.resource)
    .nodePools(template)
    .map(({ resource }) => resource)
    .filter((pool) =>
      readTaints(getIn(pool.root, 'spec', 'template', 'spec', 'taints')).every(
        (taint) => podTolerates(template, taint) !== 'no',
      ),
    );
}

interface Known {
  readonly pools: readonly Resource[];
  readonly models: readonly UserModel[];
  readonly serving: Serving | undefined;
}

/** Kept with the server for as long as the same pools take its pod, so that an edit elsewhere costs nothing here. */
const memo = new WeakMap<ModelServer, Known>();

/**
 * What the manifests tell of the memory of one server; `undefined` where the model is not known.
 *
 * @param models those that the configuration describes, always the same list for the same configuration.
 */
export function servingIn(
  workspace: Workspace,
  server: ModelServer,
  models: readonly UserModel[] = noUserModels,
): Serving | undefined {
  const resolved = withConfiguredModel(workspace, server);
  if (resolved !== server) return servingIn(workspace, resolved, models);
  const pools = poolsFor(workspace, server.container.template);
  const known = memo.get(server);
  if (known !== undefined && known.models === models && sameItems(known.pools, pools)) return known.serving;
  const serving = servingOf(server, { pools, userModels: models });
  memo.set(server, { pools, models, serving });
  return serving;
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/** As {@link serversOf}, with the models that ConfigMaps of the workspace name. */
export function serversIn(workspace: Workspace, resource: Resource): readonly ModelServer[] {
  return serversOf(resource).map((server) => withConfiguredModel(workspace, server));
}

/** Every server of an object. A group whose pods all run the same command has one for each part. */
export function serversOf(resource: Resource): readonly ModelServer[] {
  return podTemplates(resource).flatMap(modelServers);
}

/** Fields of a pod that decide on the GPU that it gets; an overlay that names one makes the base's say nothing. */
export function gpuMayBePatched(workspace: Workspace, resource: Resource): boolean {
  return ['nodeSelector', 'affinity', 'nvidia.com/'].some((word) => mayBePatched(workspace, resource, word));
}

/** `NVIDIA L4 (g6.xlarge)`: the card with the cheapest type that has it, where EC2 has one. */
export function choiceText({ label, types }: GpuChoice): string {
  const [cheapest] = types;
  return cheapest === undefined ? label : `${label} (${cheapest.name})`;
}

/** `1 GPU`, `8 GPUs`. */
export function gpuText(count: number): string {
  return `${count} GPU${count === 1 ? '' : 's'}`;
}

/** Numbers of tokens as people read them: `131,072`. */
export function tokenText(tokens: number): string {
  return String(Math.round(tokens)).replace(/\B(?=(\d{3})+$)/g, ',');
}
