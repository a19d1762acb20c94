import { acceleratorsOf } from '../kube/accelerators';
import { envValue } from '../kube/containers';
import { parseImage } from '../kube/images';
import type { ModelServer } from '../kube/model-server';
import type { Resource } from '../kube/resource';
import { asNumber, valueOf, type Setting } from '../kube/settings';
import { gpuChoices, type GpuChoice, type GpuChoices } from './gpu-choices';
import { groupGpus, joinsOthers, type GroupGpus } from './groups';
import { engineOfServer, type Engine } from './memory/engines';
import { estimate, kvElementBytesOf, type MemoryEstimate, type ServingConfig } from './memory/estimate';
import { effectiveQuantization } from './memory/loaded-weights';
import { identifyModel } from './models/identify';
import { isUnquantised, quantizationIn, type QuantizationId } from './models/quantization';
import { GiB } from './models/range';
import type { ModelIdentity, UserModel } from './models/types';

/** How a replica is spread over GPUs. `undefined`: only known later. */
export interface Parallelism {
  readonly tensor: number | undefined;
  readonly pipeline: number | undefined;
  /** Copies that take GPUs of their own; 1 where data parallel shares those of tensor parallel. */
  readonly data: number | undefined;
  /** No number is written for tensor parallel, so that the engine's default holds. */
  readonly isDefault: boolean;
}

/** What a manifest tells about the memory of one model server. */
export interface Serving {
  readonly server: ModelServer;
  /** The model as the manifest names it. */
  readonly name: string;
  readonly model: ModelIdentity;
  readonly engine: Engine;
  readonly parallelism: Parallelism;
  readonly group: GroupGpus;
  readonly gpus: GpuChoices;
  /**
   * The server as it is written, with the engine's defaults for what is not: for figures that are shown and for
   * warnings. `undefined` where an option that matters is only known later.
   */
  readonly config: ServingConfig | undefined;
  /**
   * The same with everything unknown taken in the author's favour: what does not fit even so, does not fit.
   * `undefined` where even that says nothing.
   */
  readonly bestCase: ServingConfig | undefined;
  /** The length that the engine checks before it starts can be told. */
  readonly contextKnown: boolean;
  /** What was assumed where the manifest says nothing, for people to read. */
  readonly assumptions: readonly string[];
}

export interface ServingOptions {
  /** NodePools that would take the pod. */
  readonly pools?: readonly Resource[];
  readonly userModels?: readonly UserModel[];
}

/** vLLM's own images and AWS's builds of them carry vLLM's version in their tag. */
const vllmImages = /(^|\/)(vllm-openai(-\w+)?|vllm)$/;

/** The engine with its version, as far as image and environment tell. */
export function engineOf(server: ModelServer): Engine {
  const { container } = server;
  const accelerators = acceleratorsOf(container);
  if (accelerators.length > 0 && accelerators.every(({ vendor }) => vendor === 'aws'))
    return { kind: 'neuron' };
  const image = container.imageText === undefined ? undefined : parseImage(container.imageText);
  const carriesVersion =
    image !== undefined && (server.engine !== 'vllm' || vllmImages.test(image.repository));
  const engine = engineOfServer(server.engine, carriesVersion ? image.tag : undefined);
  if (engine.kind !== 'vllm') return engine;
  // A version above 0.x is a count of somebody's own.
  const { version, ...plain } = engine;
  const known: Engine = version === undefined || version[0] > 0 ? plain : { ...plain, version };
  const generation = envValue(container, 'VLLM_USE_V1');
  if (generation.state !== 'known') return known;
  return { ...known, generation: generation.text === '0' ? 'V0' : 'V1' };
}

/** Engines that use every GPU which they see when no number is given. */
const usesAllGpus: ReadonlySet<ModelServer['engine']> = new Set(['tgi', 'nim', 'lmi', 'ollama', 'llama.cpp']);

function positive(setting: Setting<number>, otherwise: number | undefined): number | undefined {
  if (setting.state === 'absent') return otherwise;
  const value = valueOf(setting);
  return value !== undefined && Number.isInteger(value) && value >= 1 ? value : undefined;
}

/** A flag without a value, or with one that says yes. */
export function isOn(setting: Setting): boolean {
  return setting.state === 'known' && !/^(false|0|no|off)$/i.test(setting.value.trim());
}

/** Something is written, whatever it is. */
function isWritten(setting: Setting): boolean {
  return setting.state === 'known' || (setting.state === 'unknown' && setting.at !== undefined);
}

/** How the server spreads its model, as it is told. */
export function parallelismOf(server: ModelServer, group: GroupGpus): Parallelism {
  const { arguments: args } = server;
  const isDefault = server.tensorParallel.state === 'absent';
  const allGpus = usesAllGpus.has(server.engine) ? group.perPod : 1;
  const tensor = positive(server.tensorParallel, allGpus);
  let pipeline = positive(server.pipelineParallel, 1);
  let data = positive(server.dataParallel, 1);
  // SGLang's data parallel attention shares the GPUs of the tensor parallel group.
  if (isOn(args.get('enable-dp-attention'))) data = 1;
  // One pod of several runs its own part of the copies.
  const local = args.get('data-parallel-size-local', ['dpl']);
  if (isWritten(local) || (data !== 1 && joinsOthers(server))) data = positive(asNumber(local), undefined);
  // Context parallel of the prefill takes GPUs of its own.
  const context = args.get('prefill-context-parallel-size', ['pcp']);
  if (isWritten(context)) {
    const copies = positive(asNumber(context), undefined);
    pipeline = copies === undefined || pipeline === undefined ? undefined : pipeline * copies;
  }
  return { tensor, pipeline, data, isDefault };
}

/** What is known of the precision that is loaded. */
interface Precision {
  /** `undefined`: any is possible. */
  readonly loaded: QuantizationId | undefined;
  readonly assumption: string | undefined;
}

/** Names of a repository on a hub, whose files are public; a path can hold anything. */
function isRepository(name: string): boolean {
  return /^[\w.-]+\/[\w.-]+$/.test(name);
}

/** Values of `--quantization` that say only where the precision is written. */
const saysNothing = /^(compressed-tensors|quark|torchao|modelopt_mixed|auto|auto-round|inc|ipex|none|null|)$/;

/** `--quantization` as a precision, also by the engines' own words; `undefined` for one that is not known. */
export function precisionOption(engine: ModelServer['engine'], text: string): QuantizationId | undefined {
  if (/^(modelopt|ptpc_fp8|deepspeedfp|fbgemm_fp8)$/.test(text)) return 'fp8';
  if (/^(modelopt_fp4|petit_nvfp4)$/.test(text)) return 'nvfp4';
  if (/^(experts_int8|tpu_int8|eetq|w8a8_int8|rtn)$/.test(text)) return 'int8';
  if (/^(marlin|moe_wna16|gptq_marlin_24)$/.test(text)) return 'int4';
  // TGI's bitsandbytes keeps 8 bit, vLLM's 4.
  if (text === 'bitsandbytes' && engine === 'tgi') return 'bnb-8bit';
  if (/^bitsandbytes-(nf4|fp4)$/.test(text)) return 'bnb-4bit';
  return quantizationIn(text);
}

function precisionOf(server: ModelServer, name: string, model: ModelIdentity): Precision {
  const { quantization: option } = server;
  const unknown: Precision = { loaded: undefined, assumption: undefined };
  const said = model.quantization;
  if (option.state === 'unknown') {
    // What is quantised already stays so.
    return said !== undefined && !isUnquantised(said) ? { loaded: said, assumption: undefined } : unknown;
  }
  const text = valueOf(option)?.toLowerCase() ?? '';
  if (option.state === 'known' && !saysNothing.test(text)) {
    const wanted = precisionOption(server.engine, text);
    return {
      loaded: wanted === undefined ? undefined : effectiveQuantization(model, wanted),
      assumption: undefined,
    };
  }
  if (said !== undefined && !isUnquantised(said)) return { loaded: said, assumption: undefined };
  if (option.state === 'known' && !/^(none|null|auto|)$/.test(text)) return unknown;
  if (/(^|[^a-z])gguf([^a-z]|$)/i.test(name) && said?.startsWith('gguf') !== true) return unknown;
  if (server.engine === 'nim') return unknown;
  if (server.engine === 'llama.cpp') return unknown;
  const dtype = valueOf(server.dtype)?.toLowerCase();
  const plain = effectiveQuantization(model, dtype === 'float32' || dtype === 'float' ? 'fp32' : undefined);
  if (said === undefined && !isRepository(name) && server.engine !== 'ollama') {
    return { loaded: undefined, assumption: undefined };
  }
  return {
    loaded: plain,
    assumption: `${plain} weights, since neither the name nor an option says otherwise`,
  };
}

/** The precision of a path whose name says none: shown as 16 bit, never judged by it. */
function shownPrecision(model: ModelIdentity): QuantizationId {
  return effectiveQuantization(model, undefined);
}

/** The smallest that a plain model gets: 4 bit for each weight. */
const smallest: QuantizationId = 'int4';

type Options = Omit<ServingConfig, 'model' | 'engine'>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

function numberOf(server: ModelServer, flag: string, aliases: readonly string[] = []): number | undefined {
  const setting = asNumber(server.arguments.get(flag, aliases));
  const value = valueOf(setting);
  return value !== undefined && value > 0 ? value : undefined;
}

/** Options that neither help nor matter to a bound, as far as they are known. */
function optionsOf(server: ModelServer): Options {
  const options: Writable<Options> = {};
  const utilization = valueOf(server.gpuMemoryUtilization);
  if (utilization !== undefined && utilization > 0 && utilization <= 1) options.utilization = utilization;
  const kv = valueOf(server.kvCacheDtype);
  if (kv !== undefined) options.kvElementBytes = kvElementBytesOf(kv);
  const sequences = valueOf(server.maxNumSeqs);
  if (sequences !== undefined && sequences > 0) options.maxNumSeqs = sequences;
  const tokens = numberOf(server, 'max-num-batched-tokens', [
    'max-batch-prefill-tokens',
    'chunked-prefill-size',
  ]);
  if (tokens !== undefined) options.maxNumBatchedTokens = tokens;
  const block = numberOf(server, 'block-size');
  if (block !== undefined) options.blockTokens = block;
  if (isOn(server.arguments.get('enforce-eager'))) options.enforceEager = true;
  const chunked = server.arguments.get('enable-chunked-prefill');
  if (isOn(server.arguments.get('no-enable-chunked-prefill'))) options.chunkedPrefill = false;
  else if (chunked.state === 'known') options.chunkedPrefill = isOn(chunked);
  if (isOn(server.arguments.get('enable-lora'))) {
    options.lora = {
      rank: numberOf(server, 'max-lora-rank') ?? 16,
      slots: numberOf(server, 'max-loras') ?? 1,
    };
  }
  if (dealsOutExperts(server)) options.expertParallel = true;
  const offload = valueOf(server.cpuOffloadGb);
  if (offload !== undefined && offload > 0) options.cpuOffloadBytes = offload * GiB;
  const length = valueOf(server.maxModelLen);
  if (length !== undefined) options.maxModelLen = length > 0 ? length : 'auto';
  return options;
}

/** Whether the GPUs of a server hold whole experts, rather than a piece of each: by a flag, or SGLang's number of groups. */
export function dealsOutExperts(server: ModelServer): boolean {
  if (isOn(server.arguments.get('enable-expert-parallel', ['enable-ep-moe']))) return true;
  return (numberOf(server, 'ep-size', ['expert-parallel-size', 'ep']) ?? 1) > 1;
}

/** Flags that change how much room the cache gets or what the engine checks, in ways that are not reckoned. */
const changesContext: readonly string[] = [
  'kv-cache-memory-bytes',
  'kv-cache-memory',
  'num-gpu-blocks-override',
  'max-total-tokens-per-batch',
  'task',
  'runner',
  'convert',
  'disable-sliding-window',
  'kv-cache-dtype-skip-layers',
];

/** Flags that change the model's own maximum. */
const changesMaximum: readonly string[] = [
  'hf-overrides',
  'rope-scaling',
  'rope-theta',
  'json-model-override-args',
];

/** Whether the length that is checked is the one in the configuration of the estimate. */
function knowsContext(server: ModelServer, config: ServingConfig): boolean {
  const { arguments: args, maxModelLen } = server;
  if (maxModelLen.state === 'unknown' || server.kvCacheDtype.state === 'unknown') return false;
  if (changesContext.some((flag) => isWritten(args.get(flag)))) return false;
  if (maxModelLen.state === 'known') return true;
  return (
    config.model.model?.maxPositions !== undefined &&
    !changesMaximum.some((flag) => isWritten(args.get(flag)))
  );
}

/** An option that is unknown because something outside of the text may set it, or because its value is. */
function isUnknown(...settings: readonly Setting<unknown>[]): boolean {
  return settings.some(({ state }) => state === 'unknown');
}

/**
 * What a manifest tells about the memory of a model server; `undefined` where the model is not known.
 *
 * The one place where settings of a server become a {@link ServingConfig}.
 */
export function servingOf(server: ModelServer, options: ServingOptions = {}): Serving | undefined {
  const name = valueOf(server.model);
  if (name === undefined || name === '') return undefined;
  const { userModels } = options;
  const model = identifyModel(name, {
    ...(server.engine === 'ollama' ? { library: 'ollama' as const } : {}),
    ...(userModels === undefined ? {} : { userModels }),
  });
  if (model === undefined) return undefined;
  const engine = engineOf(server);
  const group = groupGpus(server);
  const parallelism = parallelismOf(server, group);
  const gpus = gpuChoices(server.container, options.pools ?? []);
  const precision = precisionOf(server, name, model);
  const written = optionsOf(server);
  const { tensor, pipeline, data } = parallelism;
  const base = { ...written, model, engine };

  const knownSplit = tensor !== undefined && pipeline !== undefined;
  const split = {
    tensorParallel: tensor ?? 1,
    pipelineParallel: pipeline ?? 1,
    ...(data === undefined ? {} : { dataParallel: data }),
  };
  const config: ServingConfig | undefined =
    !knownSplit || isUnknown(server.gpuMemoryUtilization, server.cpuOffloadGb)
      ? undefined
      : { ...base, ...split, quantization: precision.loaded ?? shownPrecision(model) };
  const best = bestSplit(parallelism, group);
  const { cpuOffloadGb } = server;
  const offloadsUnknown = cpuOffloadGb.state === 'unknown' && isWritten(cpuOffloadGb);
  const bestCase: ServingConfig | undefined =
    best === undefined || offloadsUnknown
      ? undefined
      : {
          ...base,
          ...best,
          quantization: precision.loaded ?? smallestOf(model),
          ...(server.gpuMemoryUtilization.state === 'unknown' ? { utilization: 1 } : {}),
        };
  return {
    server,
    name,
    model,
    engine,
    parallelism,
    group,
    gpus,
    config: precision.loaded === undefined ? undefined : config,
    bestCase,
    contextKnown: config !== undefined && precision.loaded !== undefined && knowsContext(server, config),
    assumptions: precision.assumption === undefined ? [] : [precision.assumption],
  };
}

/** A model that may be quantised further; what is below 4 bit stays. */
function smallestOf(model: ModelIdentity): QuantizationId {
  const plain = effectiveQuantization(model, undefined);
  return isUnquantised(plain) ? smallest : plain;
}

/** The split as written; where it is not known, over all GPUs that there can be. */
function bestSplit(
  { tensor, pipeline, data }: Parallelism,
  { total }: GroupGpus,
):
  Pick<ServingConfig, 'tensorParallel' | 'pipelineParallel' | 'dataParallel' | 'expertParallel'> | undefined {
  if (tensor !== undefined && pipeline !== undefined) {
    return {
      tensorParallel: tensor,
      pipelineParallel: pipeline,
      ...(data === undefined ? {} : { dataParallel: data }),
    };
  }
  if (total === undefined || total < 1) return undefined;
  return { tensorParallel: total / (pipeline ?? 1), pipelineParallel: pipeline ?? 1 };
}

const estimates = new WeakMap<ServingConfig, Map<GpuChoice, MemoryEstimate>>();

/** The estimate of a configuration on one of the GPUs that the pod may get. Several rules ask for the same one. */
export function estimateOn(config: ServingConfig, choice: GpuChoice): MemoryEstimate {
  let known = estimates.get(config);
  if (known === undefined) estimates.set(config, (known = new Map<GpuChoice, MemoryEstimate>()));
  let found = known.get(choice);
  if (found === undefined) {
    const { gpu, slice, memory } = choice;
    found = estimate({ ...config, gpu, ...(slice === undefined ? {} : { gpuMemory: memory }) });
    known.set(choice, found);
  }
  return found;
}
