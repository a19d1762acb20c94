import type { UserModel } from '../../sizing/models/types';
import { modelServers, type ModelServer } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { commandLines } from '../../kube/arguments';
import { identifyModel } from '../../sizing/models/identify';
import { valueOf } from '../../kube/settings';
import { parallelismOf, type Parallelism } from '../../sizing/from-manifest';
import { soleAccelerator } from '../../sizing/gpu-choices';
import { groupGpus, type GroupGpus } from '../../sizing/groups';
import { divides } from '../../sizing/placements';
import { envOf } from '../../kube/containers';
import { containerField, containerTitle, pieces } from '../resources/wording';
import { defineRule, type Fix } from '../rule';
import { addFlag, setSetting } from './flags';
import { serversOf } from './servings';
import { requestGpus } from './tensor-parallel-exceeds-gpus';

/** Servers that use one GPU unless they are told otherwise, and the name of what tells them. */
const flags: Readonly<Partial<Record<ModelServer['engine'], string>>> = {
  vllm: '--tensor-parallel-size',
  kserve: '--tensor-parallel-size',
  dynamo: '--tensor-parallel-size',
  sglang: '--tp-size',
  tgi: '--num-shard',
  'tensorrt-llm': '--tp_size',
  lmdeploy: '--tp',
  lmi: 'TENSOR_PARALLEL_DEGREE',
};

export default defineRule({
  id: 'gpus-left-idle',
  summary: 'A server must use the GPUs that its pods have',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, models }) {
    for (const server of serversOf(resource)) {
      const use = useOf(server);
      if (use === undefined || use.gpus >= use.has) continue;
      const accelerator = soleAccelerator(server.container);
      if (accelerator === undefined) continue;
      const { at } = accelerator;
      report({
        at: 'key' in at ? at.value : at,
        message: messageFor(server, use, accelerator.resource),
        fixes: [
          spread(server, use, models),
          use.group.pods === 1 ? requestGpus(resource, server, use.gpus) : undefined,
        ],
        ...containerField(server.container),
      });
    }
  },
});

interface Use {
  readonly parallelism: Parallelism;
  readonly group: GroupGpus;
  readonly gpus: number;
  readonly has: number;
}

/** What a server certainly uses of what it certainly has. */
function useOf(server: ModelServer): Use | undefined {
  const accelerator = soleAccelerator(server.container);
  if (accelerator?.unit !== 'device' || !['nvidia', 'amd', 'habana'].includes(accelerator.vendor))
    return undefined;
  if (flags[server.engine] === undefined || startsSeveral(server)) return undefined;
  const group = groupGpus(server);
  const { tensor, pipeline, data, isDefault } = parallelismOf(server, group);
  const { total } = group;
  if (
    group.shared ||
    total === undefined ||
    tensor === undefined ||
    pipeline === undefined ||
    data === undefined
  ) {
    return undefined;
  }
  const parallelism: Parallelism = { tensor, pipeline, data, isDefault };
  const gpus = tensor * pipeline * data;
  if (group.perPod !== undefined && group.perPod < total && gpus <= group.perPod && isForItself(server)) {
    return { parallelism, group: { ...group, pods: 1 }, gpus, has: group.perPod };
  }
  return { parallelism, group, gpus, has: total };
}

/** Every pod of the group runs a server like this one, so that each has its own GPUs to itself. */
function isForItself({ container }: ModelServer): boolean {
  const { template } = container;
  const others = podTemplates(template.resource).filter((other) => other !== template);
  return others.every((other) => modelServers(other).length > 0);
}

/** A program that is a model server, in one word of a command. */
const serverWord =
  /(^|\/)(vllm|sglang|text-generation-launcher|trtllm-serve|lmdeploy)$|(api_server|launch_server)(\.py)?$/;

/**
 * A script that starts servers beside each other, or that gives each of them its GPUs: what one of them does not use is
 * another's.
 */
function startsSeveral({ container }: ModelServer): boolean {
  const words = commandLines(container).flatMap((line) => line.words.map(({ text }) => text));
  return (
    words.filter((word) => serverWord.test(word)).length > 1 ||
    words.some(
      (word) =>
        /^(for|while|parallel|torchrun|mpirun|supervisord)$/.test(word) ||
        /^(CUDA|HIP)_VISIBLE_DEVICES/.test(word),
    ) ||
    envOf(container).some(({ name }) => /^(CUDA|HIP|ROCR)_VISIBLE_DEVICES$/.test(name))
  );
}

function messageFor(server: ModelServer, { parallelism, group, gpus, has }: Use, name: string): string {
  const { tensor, pipeline, data, isDefault } = parallelism;
  const product = [
    `tensor parallel ${tensor ?? 1}${isDefault ? ' by default' : ''}`,
    ...(pipeline === 1 ? [] : [`pipeline parallel ${pipeline ?? 1}`]),
    ...(data === 1 ? [] : [`data parallel ${data ?? 1}`]),
  ].join(' x ');
  const asks =
    group.pods === 1 ? `asks for ${pieces(has, name)}` : `is in a group with ${pieces(has, name)} in all`;
  const idle = has - gpus;
  return `${containerTitle(server.container)} ${asks}, but ${server.title} uses ${gpus} (${product}); ${idle} of them ${idle === 1 ? 'stays' : 'stay'} idle`;
}

/** Tensor parallel over all of them, where that divides the attention heads. */
function spread(
  server: ModelServer,
  { parallelism, has }: Use,
  userModels: readonly UserModel[],
): Fix | undefined {
  const { pipeline, data } = parallelism;
  const tensor = has / ((pipeline ?? 1) * (data ?? 1));
  const name = valueOf(server.model);
  const model = name === undefined ? undefined : identifyModel(name, { userModels });
  if (!Number.isInteger(tensor) || (model !== undefined && !divides({ model }, tensor))) return undefined;
  const flag = flags[server.engine] ?? '';
  const edits =
    server.tensorParallel.state === 'known'
      ? setSetting(server, server.tensorParallel, String(tensor))
      : flag.startsWith('--')
        ? addFlag(server, flag, String(tensor))
        : undefined;
  return edits && { title: `Set ${flag} to ${tensor}`, safe: false, edits };
}
