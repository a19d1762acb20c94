import type { UserModel } from '../../sizing/models/types';
import { acceleratorsOf } from '../../kube/accelerators';
import { commandLines } from '../../kube/arguments';
import { envValue, runningContainers, type Container } from '../../kube/containers';
import { modelServerOf, type ModelServer } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { toNumber } from '../../kube/quantity';
import { isAbsent, type Resource } from '../../kube/resource';
import { valueOf, valueOr } from '../../kube/settings';
import { appendItem, insertKey, type Edit, type Edits } from '../../yaml/edit';
import {
  entryOf,
  isMap,
  isNull,
  isSequence,
  itemsIn,
  scalarIn,
  textIn,
  type MapNode,
  type YamlNode,
} from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix, type Related } from '../rule';
import { containerField, containerTitle, soleAmount } from '../resources/wording';
import { hostNeedOf, isShort, sharedMemoryPerWorker } from './host-memory';
import { memoryVolumes, mountedMemory, mountsOf } from './memory-volumes';

/** What vLLM's own manifests for Kubernetes give it. */
const size = '2Gi';
const sizeBytes = 2 * 2 ** 30;

export default defineRule({
  id: 'missing-shared-memory',
  summary: 'Several GPU workers in one pod need more than 64 MiB of /dev/shm',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const template of podTemplates(resource)) {
      // Operators mount it themselves (KubeRay, KServe, NIM Operator, KubeAI).
      if (template.operatorOwned || mayShareHost(resource, template)) continue;
      for (const container of runningContainers(template)) {
        const workers = gpuWorkers(container);
        if (workers === undefined || !certainlyUnmounted(resource, container)) continue;
        if (mayBePatched(workspace, resource, '/dev/shm')) continue;
        report({
          at: entryOf(container.node, 'volumeMounts') ?? container.nameNode ?? container.node,
          message: `${containerTitle(container)} runs ${workers.text} and has nothing mounted on /dev/shm, which is then 64 MiB; NCCL and the workers' queues run out of it, and they hang or die at start`,
          related: workers.related,
          fixes: [mountMemory(resource, template, container, models)],
          ...containerField(container),
        });
      }
    }
  },
});

interface Workers {
  readonly text: string;
  readonly related: readonly Related[];
}

/** Servers that spread over every GPU they see when no number is given. */
const usesAllGpus: readonly ModelServer['engine'][] = ['tgi', 'nim', 'lmi'];
/** Servers that do not talk over NCCL. */
const withoutNccl: readonly ModelServer['engine'][] = ['ollama', 'llama.cpp', 'tei', 'triton'];

/** More than one GPU worker that talks over NCCL; `undefined` for one, and where there may be one only. */
function gpuWorkers(container: Container): Workers | undefined {
  const accelerators = acceleratorsOf(container);
  if (accelerators.some(({ vendor }) => vendor === 'aws' || vendor === 'habana' || vendor === 'google')) {
    return undefined;
  }
  // Of a resource claim, and where a variable fills it in, the number is not known.
  const gpus = accelerators.every(({ count }) => count !== undefined)
    ? accelerators.reduce((sum, { count }) => sum + (count ?? 0), 0)
    : undefined;
  if (accelerators.length > 0 && gpus !== undefined && gpus <= 1) return undefined;
  const many = accelerators.length > 0 && gpus !== undefined ? gpus : undefined;
  const server = modelServerOf(container);
  if (server === undefined) {
    return many !== undefined && trains(container) && !avoidsSharedMemory(container)
      ? { text: `distributed training on ${many} GPUs`, related: [] }
      : undefined;
  }
  if (withoutNccl.includes(server.engine) || avoidsSharedMemory(container)) return undefined;
  if (accelerators.length === 0 && !server.gpuOnly) return undefined;
  const { tensorParallel, pipelineParallel } = server;
  // Without a number it is 1, or as many as there are; an unknown number on several GPUs is hardly 1.
  const tensor = usesAllGpus.includes(server.engine) ? valueOf(tensorParallel) : valueOr(tensorParallel, 1);
  const pipeline = valueOf(pipelineParallel) ?? 1;
  if (tensor === undefined) {
    return many === undefined ? undefined : { text: `${server.title} on ${many} GPUs`, related: [] };
  }
  const workers = Math.min(tensor * pipeline, many ?? Number.POSITIVE_INFINITY);
  if (!(workers > 1)) return undefined;
  const related: Related[] =
    tensorParallel.state === 'known' && tensor > 1
      ? [
          {
            resource: container.template.resource,
            at: tensorParallel.at,
            message: `Tensor parallel over ${tensor} GPUs`,
          },
        ]
      : [];
  return { text: `${workers} GPU workers of ${server.title}`, related };
}

/** The author has dealt with it by telling NCCL to do without. */
function avoidsSharedMemory(container: Container): boolean {
  const disabled = envValue(container, 'NCCL_SHM_DISABLE');
  switch (disabled.state) {
    case 'known':
      return disabled.text !== '0';
    case 'unknown':
      return disabled.variable !== undefined;
    case 'absent':
      return false;
  }
}

const trainingPrograms = /^(torchrun|deepspeed|accelerate)$/;

/** Frameworks that train over NCCL, by their job or their launcher. */
function trains(container: Container): boolean {
  const { kind, group } = container.template.resource;
  if (group === 'kubeflow.org' && kind === 'PyTorchJob') return true;
  return commandLines(container).some(({ words }) =>
    words.some(
      ({ text, unknown }, index) =>
        !unknown &&
        (trainingPrograms.test(text.slice(text.lastIndexOf('/') + 1)) ||
          (/^torch\.distributed\.(run|launch)$/.test(text) && words[index - 1]?.text === '-m')),
    ),
  );
}

/** The pod uses the shared memory of its node, or may do so. */
function mayShareHost(resource: Resource, template: PodTemplate): boolean {
  if (isAbsent(resource, template.spec, 'hostIPC')) return false;
  const value = scalarIn(template.spec, 'hostIPC');
  return value === undefined || value.unknown || value.value !== false;
}

/** Nothing is mounted on /dev/shm or above it, and nothing else can add a mount. */
function certainlyUnmounted(resource: Resource, container: Container): boolean {
  const entry = entryOf(container.node, 'volumeMounts');
  if (entry === undefined || isNull(entry.value)) return isAbsent(resource, container.node, 'volumeMounts');
  const { value } = entry;
  if (!isSequence(value) || value.open || resource.role === 'kustomize-patch') return false;
  if (value.items.some((item) => !isMap(item) || item.open)) return false;
  return mountsOf(container).every(
    ({ path }) => path !== undefined && path !== '/dev/shm' && path !== '/dev' && path !== '/',
  );
}

/** Mounts memory on /dev/shm: a memory-backed volume that the container has no use for yet, else a new one. */
function mountMemory(
  resource: Resource,
  template: PodTemplate,
  container: Container,
  models: readonly UserModel[],
): Fix | undefined {
  const mounted = mountsOf(container).map(({ volume }) => volume);
  const idle = memoryVolumes(template).find(
    ({ name }) => !mounted.includes(name) && /shm|shared/i.test(name),
  );
  if (idle !== undefined) {
    const edits = addItem(resource, container.node, 'volumeMounts', {
      name: idle.name,
      mountPath: '/dev/shm',
    });
    return edits === undefined
      ? undefined
      : { title: `Mount volume "${idle.name}" on /dev/shm`, safe: false, edits };
  }
  if (!leavesRoom(container, models)) return undefined;
  const volumes = itemsIn(template.spec, 'volumes');
  const names = volumes.map((volume) => textIn(volume, 'name'));
  if (names.includes(undefined)) return undefined;
  let name = 'shm';
  for (let number = 2; names.includes(name); number += 1) name = `shm-${number}`;
  const volume = { name, emptyDir: { medium: 'Memory', sizeLimit: size } };
  const parts: readonly (readonly Edit[] | undefined)[] = [
    addItem(resource, container.node, 'volumeMounts', { name, mountPath: '/dev/shm' }),
    addItem(resource, template.spec, 'volumes', volume),
  ];
  return parts.includes(undefined)
    ? undefined
    : {
        title: `Mount ${size} of memory on /dev/shm`,
        safe: false,
        edits: parts.flatMap((part) => part ?? []),
      };
}

/** Whether the memory limit has room for the new volume, which is charged to it. */
function leavesRoom(container: Container, models: readonly UserModel[]): boolean {
  const limit = soleAmount(container.limits, 'memory')?.quantity;
  if (limit === undefined) return true;
  const bytes = toNumber(limit);
  if (mountedMemory(container) + sizeBytes > bytes) return false;
  const server = modelServerOf(container);
  const need = server === undefined ? undefined : hostNeedOf(server, models);
  return (
    need === undefined ||
    isShort(bytes, need.likely) ||
    !isShort(bytes, need.likely + Math.min(sizeBytes, 2 * sharedMemoryPerWorker))
  );
}

type Item = Parameters<typeof appendItem>[2];

function addItem(resource: Resource, map: MapNode, key: string, item: Item): Edits {
  const { document } = resource.placed;
  const list: YamlNode | undefined = entryOf(map, key)?.value;
  return isSequence(list) ? appendItem(document, list, item) : insertKey(document, map, key, [item]);
}
