import { acceleratorsOf } from '../../kube/accelerators';
import { amountState } from '../../kube/containers';
import { parseImage } from '../../kube/images';
import type { ModelServer } from '../../kube/model-server';
import { valueOf, type Setting } from '../../kube/settings';
import { parseVersion, type Engine, type EngineKind } from '../../sizing/memory/engines';
import { loaderOf, type WeightLoader } from '../../sizing/memory/host';
import { effectiveQuantization, storedWeights } from '../../sizing/memory/loaded-weights';
import { identifyModel } from '../../sizing/models/identify';
import { isUnquantised, quantizationIn, type QuantizationId } from '../../sizing/models/quantization';
import type { Estimate } from '../../sizing/models/range';
import type { ModelIdentity } from '../../sizing/models/types';

/** The weights of a server, as its arguments tell. */
export interface ServedModel {
  readonly name: string;
  readonly identity: ModelIdentity;
  readonly engine: Engine;
  /** The precision of the files, which on-the-fly quantisation does not change. */
  readonly quantization: QuantizationId;
  /** Bytes of the whole model on disk. */
  readonly stored: Estimate;
  readonly loader: WeightLoader;
}

const engineKinds: Readonly<Record<ModelServer['engine'], EngineKind>> = {
  vllm: 'vllm',
  tgi: 'tgi',
  sglang: 'sglang',
  triton: 'triton',
  'tensorrt-llm': 'tensorrt-llm',
  nim: 'nim',
  'ray-serve-llm': 'vllm',
  lmi: 'vllm',
  ollama: 'ollama',
  'llama.cpp': 'llama.cpp',
  tei: 'tei',
  kserve: 'vllm',
  lmdeploy: 'transformers',
  dynamo: 'vllm',
};

/** The engine with its version, as far as the image tells. */
export function sizingEngine(server: ModelServer): Engine {
  const accelerators = acceleratorsOf(server.container);
  if (accelerators.length > 0 && accelerators.every(({ vendor }) => vendor === 'aws'))
    return { kind: 'neuron' };
  const kind = engineKinds[server.engine];
  // Only vLLM's own image carries vLLM's version.
  const tag =
    server.engine === 'vllm' && server.container.imageText !== undefined
      ? parseImage(server.container.imageText).tag
      : undefined;
  const version = tag === undefined ? undefined : parseVersion(tag);
  return version === undefined ? { kind } : { kind, version };
}

/**
 * The precision of the files. `undefined` where it cannot be told: an option that is only known later, GGUF without its
 * type, a packing format that comes in several precisions.
 */
function storedPrecision(
  server: ModelServer,
  name: string,
  identity: ModelIdentity,
): QuantizationId | undefined {
  const shipped = identity.quantization;
  const isGguf = shipped?.startsWith('gguf-') === true;
  if (server.engine === 'llama.cpp') {
    if (isGguf) return shipped;
    // A repository without a type: llama-server fetches Q4_K_M.
    return name.startsWith('/') || /\.gguf$/i.test(name) ? undefined : 'gguf-q4_k_m';
  }
  if (/(^|[^a-z])gguf([^a-z]|$)/i.test(name) && !isGguf) return undefined;
  if (shipped !== undefined && !isUnquantised(shipped)) return shipped;
  const option = server.quantization;
  if (option.state === 'unknown' && option.at !== undefined) return undefined;
  const value = valueOf(option)?.toLowerCase() ?? '';
  const plain = effectiveQuantization(identity, undefined);
  if (value === '' || /^(none|null|auto)$/.test(value)) return plain;
  // Done while loading, from the files of the plain model.
  if (/^(fp8|ptpc[_-]fp8|experts[_-]int8|bitsandbytes.*|eetq|torchao|int8|rtn)$/.test(value)) return plain;
  return quantizationIn(value);
}

/** Where the weights come through `--load-format`, else by the engine and the kind of files. */
function loaderFor(
  server: ModelServer,
  engine: Engine,
  name: string,
  quantization: QuantizationId,
): WeightLoader {
  const format = valueOf(server.loadFormat);
  const onTheFly = valueOf(server.quantization);
  if (format === undefined && onTheFly !== undefined && /^bitsandbytes/i.test(onTheFly))
    return 'bitsandbytes';
  const isKServe = server.container.template.resource.group === 'serving.kserve.io';
  // vLLM reads object storage with the streamer only.
  if (format === undefined && server.engine === 'vllm' && !isKServe && /^(s3|gs):\/\//.test(name)) {
    return 'runai-streamer';
  }
  return loaderOf(engine, quantization, format);
}

/** The model of a server with its size on disk; `undefined` when any part of that is unknown. */
export function servedModel(server: ModelServer): ServedModel | undefined {
  const name = valueOf(server.model);
  if (name === undefined || name === '') return undefined;
  const identity = identifyModel(name, server.engine === 'ollama' ? { library: 'ollama' } : {});
  if (identity === undefined) return undefined;
  const quantization = storedPrecision(server, name, identity);
  if (quantization === undefined) return undefined;
  const stored = storedWeights(identity, quantization, identity.bitsPerWeight);
  if (!(stored.expected > 0)) return undefined;
  const engine = sizingEngine(server);
  return {
    name,
    identity,
    engine,
    quantization,
    stored,
    loader: loaderFor(server, engine, name, quantization),
  };
}

/** How the model is spread over GPUs, seen from one pod. */
export interface PodShare {
  /** Worker processes of the container, one for each GPU that it uses; 0 on CPUs alone. */
  readonly workers: number;
  /** GPUs over which one copy of the weights is spread, over all pods of the group. */
  readonly gpusPerCopy: number;
}

/** Servers that use every GPU they see when no number is given. */
const usesAllGpus: readonly ModelServer['engine'][] = ['tgi', 'nim', 'lmi'];

/** One process, whatever it is given. */
const singleProcess: readonly ModelServer['engine'][] = ['ollama', 'llama.cpp', 'tei'];

function parallel(setting: Setting<number>, absent: number | undefined): number | undefined {
  if (setting.state === 'absent') return absent;
  const value = valueOf(setting);
  return value !== undefined && Number.isInteger(value) && value >= 1 ? value : undefined;
}

function isSet(server: ModelServer, flag: string): boolean {
  const setting = server.arguments.get(flag);
  return setting.state === 'known' && !/^(false|0)$/i.test(setting.value);
}

/** GPUs of a container: a number, or nothing where it is only known later. */
function gpusOf(server: ModelServer): { readonly count: number | undefined; readonly none: boolean } {
  const accelerators = acceleratorsOf(server.container);
  let count: number | undefined = 0;
  for (const accelerator of accelerators) {
    count =
      accelerator.count === undefined || count === undefined
        ? undefined
        : count + Math.ceil(accelerator.count);
  }
  // The answer is the same for every device: whether something else can add resources.
  const none =
    accelerators.length === 0 && amountState(server.container, 'limits', 'nvidia.com/gpu') === 'absent';
  return { count: accelerators.length === 0 ? undefined : count, none };
}

/**
 * The workers of the container and over how many GPUs a copy of the weights goes. Where the arguments leave it open, the
 * copy is taken to be spread as far as it can be, so that a pod is never said to hold more than it may.
 *
 * `undefined` where the pod may hold any part of the model.
 */
export function podShare(server: ModelServer): PodShare | undefined {
  const { template } = server.container;
  const gpus = gpusOf(server);
  if (gpus.none && !server.gpuOnly) return { workers: 0, gpusPerCopy: 1 };
  if (singleProcess.includes(server.engine)) return { workers: 1, gpusPerCopy: 1 };
  // The Neuron and TPU workers drive all their cores from one process.
  const vendors = acceleratorsOf(server.container).map(({ vendor }) => vendor);
  if (vendors.length > 0 && vendors.every((vendor) => vendor === 'aws' || vendor === 'google')) {
    const group = template.groupSize;
    return group.known ? { workers: 1, gpusPerCopy: Math.max(1, group.value) } : undefined;
  }
  const tensor = parallel(server.tensorParallel, usesAllGpus.includes(server.engine) ? gpus.count : 1);
  const pipeline = parallel(server.pipelineParallel, 1);
  const group = template.groupSize.known ? Math.max(1, template.groupSize.value) : undefined;
  if (tensor === undefined || pipeline === undefined) {
    if (group === undefined) return undefined;
    if (gpus.count === undefined) return group === 1 ? { workers: 1, gpusPerCopy: 1 } : undefined;
    return { workers: gpus.count, gpusPerCopy: gpus.count * group };
  }
  // Data parallel attention shares the GPUs of the tensor-parallel group.
  const data = isSet(server, 'enable-dp-attention') ? 1 : (parallel(server.dataParallel, 1) ?? 1);
  const total = tensor * pipeline * data;
  const gpusPerCopy =
    isSet(server, 'enable-expert-parallel') || isSet(server, 'enable-ep-moe') ? total : tensor * pipeline;
  if (gpus.count !== undefined) return { workers: Math.min(gpus.count, total), gpusPerCopy };
  if (group === undefined) return undefined;
  return { workers: Math.ceil(total / group), gpusPerCopy };
}
