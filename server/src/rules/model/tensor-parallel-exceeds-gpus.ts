import type { Container } from '../../kube/containers';
import { modelServerOf, type ModelServer } from '../../kube/model-server';
import type { Resource } from '../../kube/resource';
import { replaceScalar, type Edits } from '../../yaml/edit';
import { groupGpus, type GroupGpus } from '../../sizing/groups';
import { parallelismOf, type Parallelism } from '../../sizing/from-manifest';
import { soleAccelerator } from '../../sizing/gpu-choices';
import { containerField, containerTitle, pieces, scalarLike } from '../resources/wording';
import { defineRule, type Fix, type Place } from '../rule';
import { setSetting } from './flags';
import { gpuText, serversOf } from './servings';

export default defineRule({
  id: 'tensor-parallel-exceeds-gpus',
  summary: 'A server must not be spread over more GPUs than its pods have',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const server of serversOf(resource)) {
      const need = needOf(server);
      if (need === undefined || need.gpus <= need.has) continue;
      report({
        at: need.at,
        message: messageFor(server, need),
        related: asked(resource, server),
        fixes: [requestMore(resource, server, need), lowerTensor(server, need)],
        ...containerField(server.container),
      });
    }
  },
});

interface Need {
  readonly parallelism: Parallelism;
  readonly group: GroupGpus;
  /** tensor x pipeline x data. */
  readonly gpus: number;
  /** Over all pods of the group. */
  readonly has: number;
  readonly at: Place;
}

/** What a server is told to use, and what it gets; `undefined` where either is only known later. */
function needOf(server: ModelServer): Need | undefined {
  const accelerator = soleAccelerator(server.container);
  if (accelerator === undefined || !['nvidia', 'amd', 'habana'].includes(accelerator.vendor))
    return undefined;
  const group = groupGpus(server);
  const parallelism = parallelismOf(server, group);
  const { tensor, pipeline, data } = parallelism;
  const { total } = group;
  if (total === undefined || total === 0) return undefined;
  // What is only known later can only add to the rest.
  const gpus = (tensor ?? 1) * (pipeline ?? 1) * (data ?? 1);
  const settings = [server.tensorParallel, server.pipelineParallel, server.dataParallel];
  const [written] = settings.flatMap((setting) =>
    setting.state === 'known' && setting.value > 1 ? [setting] : [],
  );
  return written === undefined ? undefined : { parallelism, group, gpus, has: total, at: written.at };
}

/** Whether a container that asks for that many devices has too few for what its server is told to use. */
export function isTooFew(container: Container, devices: number): boolean {
  const server = modelServerOf(container);
  const need = server === undefined ? undefined : needOf(server);
  return need?.group.pods !== undefined && !need.group.shared && need.gpus > devices * need.group.pods;
}

function messageFor(server: ModelServer, { parallelism, group, gpus, has }: Need): string {
  const factors = [
    ['tensor', parallelism.tensor],
    ['pipeline', parallelism.pipeline],
    ['data', parallelism.data],
  ] as const;
  const large = factors.filter(([, value]) => value !== undefined && value > 1);
  const product = large.map(([name, value]) => `${name} parallel ${value ?? 1}`).join(' x ');
  const needs = `${product} needs ${gpuText(gpus)}`;
  const { container } = server;
  const name = soleAccelerator(container)?.resource ?? '';
  const alone = group.pods === 1;
  const gets = alone
    ? `asks for ${pieces(has, name)}`
    : group.pods === undefined || group.perPod === undefined || group.perPod * group.pods !== has
      ? `is in a group with ${pieces(has, name)} in all`
      : `is in a group of ${group.pods} pods with ${pieces(group.perPod, name)} each, ${has} in all`;
  const then = group.shared
    ? 'Ray never finds them, and its replicas stay pending'
    : `${server.title} does not start`;
  return `${containerTitle(container)} ${gets}, but ${needs}; ${then}`;
}

function asked(resource: Resource, server: ModelServer) {
  const accelerator = soleAccelerator(server.container);
  return accelerator === undefined
    ? []
    : [
        {
          resource,
          at: 'value' in accelerator.at && 'key' in accelerator.at ? accelerator.at.value : accelerator.at,
          message: `The container asks for ${pieces(accelerator.count ?? 0, accelerator.resource)}`,
        },
      ];
}

/** What is left for tensor parallel when the rest stays as it is. */
function lowerTensor(server: ModelServer, { parallelism, has }: Need): Fix | undefined {
  const { tensor, pipeline, data } = parallelism;
  if (tensor === undefined || pipeline === undefined || data === undefined) return undefined;
  const left = has / (pipeline * data);
  if (!Number.isInteger(left) || left < 1 || left >= tensor) return undefined;
  const edits = setSetting(server, server.tensorParallel, String(left));
  return edits && { title: `Set tensor parallel to ${left}`, safe: false, edits };
}

/** Numbers of devices that instance types have: up to 8 GPUs, up to 16 Neuron devices. */
const sizes: readonly number[] = [1, 2, 4, 8, 16];
const mostGpus = 8;

function requestMore(resource: Resource, server: ModelServer, { group, gpus }: Need): Fix | undefined {
  const pods = group.pods ?? 0;
  const perPod = gpus / pods;
  if (group.perPod === undefined || group.perPod * pods !== group.total || !sizes.includes(perPod))
    return undefined;
  if (perPod > mostGpus && soleAccelerator(server.container)?.resource.startsWith('nvidia.com/') === true)
    return undefined;
  return requestGpus(resource, server, perPod);
}

/** Writes another number of devices, under limits and requests alike. */
export function requestGpus(resource: Resource, server: ModelServer, count: number): Fix | undefined {
  const { container } = server;
  const name = soleAccelerator(container)?.resource;
  if (name === undefined) return undefined;
  const amounts = [...container.limits, ...container.requests].filter((amount) => amount.name === name);
  const edits: Edits[] = amounts.map(({ entry: { value } }) =>
    value.kind === 'scalar'
      ? replaceScalar(resource.placed.document, value, scalarLike(value, String(count)))
      : undefined,
  );
  if (edits.length === 0 || edits.includes(undefined)) return undefined;
  return { title: `Request ${pieces(count, name)}`, safe: false, edits: edits.flatMap((edit) => edit ?? []) };
}
