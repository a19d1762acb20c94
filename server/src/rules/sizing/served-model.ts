import { acceleratorsOf } from '../../kube/accelerators';
import { amountState } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import { valueOf } from '../../kube/settings';
import { dealsOutExperts, engineOf, parallelismOf } from '../../sizing/from-manifest';
import { groupGpus } from '../../sizing/groups';
import type { Engine } from '../../sizing/memory/engines';
import { loaderOf, type WeightLoader } from '../../sizing/memory/host';
import { effectiveQuantization, storedWeights } from '../../sizing/memory/loaded-weights';
import { identifyModel } from '../../sizing/models/identify';
import { isUnquantised, quantizationIn, type QuantizationId } from '../../sizing/models/quantization';
import type { Estimate } from '../../sizing/models/range';
import { noUserModels, type ModelIdentity, type UserModel } from '../../sizing/models/types';

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

const memo = new WeakMap<
  ModelServer,
  { readonly models: readonly UserModel[]; readonly served: ServedModel | undefined }
>();

/**
 * The model of a server with its size on disk; `undefined` when any part of that is unknown.
 *
 * @param models those that the configuration describes, always the same list for the same configuration.
 */
export function servedModel(
  server: ModelServer,
  models: readonly UserModel[] = noUserModels,
): ServedModel | undefined {
  const known = memo.get(server);
  if (known?.models === models) return known.served;
  const served = readServedModel(server, models);
  memo.set(server, { models, served });
  return served;
}

function readServedModel(server: ModelServer, userModels: readonly UserModel[]): ServedModel | undefined {
  const name = valueOf(server.model);
  if (name === undefined || name === '') return undefined;
  const identity = identifyModel(name, {
    ...(server.engine === 'ollama' ? { library: 'ollama' as const } : {}),
    userModels,
  });
  if (identity === undefined) return undefined;
  const quantization = storedPrecision(server, name, identity);
  if (quantization === undefined) return undefined;
  const stored = storedWeights(identity, quantization, identity.bitsPerWeight);
  if (!(stored.expected > 0)) return undefined;
  const engine = engineOf(server);
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

/** One process, whatever it is given. */
const singleProcess: readonly ModelServer['engine'][] = ['ollama', 'llama.cpp', 'tei'];

/** Runs on CPUs, and nothing else can give it an accelerator. */
function isOnCpu(server: ModelServer): boolean {
  return (
    !server.gpuOnly &&
    acceleratorsOf(server.container).length === 0 &&
    // The answer is the same for every device: whether something else can add resources.
    amountState(server.container, 'limits', 'nvidia.com/gpu') === 'absent'
  );
}

/**
 * The workers of the container and over how many GPUs a copy of the weights goes. Where the arguments leave it open, the
 * copy is taken to be spread as far as it can be, so that a pod is never said to hold more than it may.
 *
 * `undefined` where the pod may hold any part of the model.
 */
export function podShare(server: ModelServer): PodShare | undefined {
  if (isOnCpu(server)) return { workers: 0, gpusPerCopy: 1 };
  if (singleProcess.includes(server.engine)) return { workers: 1, gpusPerCopy: 1 };
  const group = groupGpus(server);
  // The Neuron and TPU workers drive all their cores from one process.
  const vendors = acceleratorsOf(server.container).map(({ vendor }) => vendor);
  if (vendors.length > 0 && vendors.every((vendor) => vendor === 'aws' || vendor === 'google')) {
    return group.pods === undefined ? undefined : { workers: 1, gpusPerCopy: Math.max(1, group.pods) };
  }
  const gpus = group.perPod === 0 ? undefined : group.perPod;
  const { tensor, data, ...written } = parallelismOf(server, group);
  const hidden = server.pipelineParallel.state === 'unknown' && server.pipelineParallel.at === undefined;
  const pipeline = hidden ? 1 : written.pipeline;
  if (tensor === undefined || tensor < 1 || pipeline === undefined) {
    if (group.pods === undefined) return undefined;
    if (gpus === undefined) return group.pods === 1 ? { workers: 1, gpusPerCopy: 1 } : undefined;
    return { workers: gpus, gpusPerCopy: gpus * group.pods };
  }
  const total = tensor * pipeline * (data ?? 1);
  const gpusPerCopy = dealsOutExperts(server) ? total : tensor * pipeline;
  if (gpus !== undefined) return { workers: Math.min(gpus, total), gpusPerCopy };
  return group.pods === undefined ? undefined : { workers: Math.ceil(total / group.pods), gpusPerCopy };
}
