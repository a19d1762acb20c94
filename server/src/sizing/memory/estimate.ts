import { identityOf, remembered } from '../memo';
import { gpus } from '../gpus';
import type { Gpu } from '../gpus';
import { visibleMemory } from '../gpus';
import { modelCatalogue } from '../models/catalogue';
import type { QuantizationId } from '../models/quantization';
import type { Estimate, Range } from '../models/range';
import { estimateOf, exactly, GiB, range, scale, subtract, subtractLoosely } from '../models/range';
import type { DecoderShape, ModelIdentity, ModelSpec } from '../models/types';
import type { Split } from '../models/weights';
import type { Engine } from './engines';
import { defaultUtilization, expectedVersion, vllmTraits } from './engines';
import type { KvLayout, KvOptions } from './kv-cache';
import {
  concurrencyOf,
  isHybrid,
  kvBytesOfSize,
  kvBytesPerToken,
  kvLayout,
  longestRequest,
  printedTokens,
  requestBytes,
} from './kv-cache';
import type { LoraSlots } from './loaded-weights';
import { effectiveQuantization, loadedWeights, storedWeights } from './loaded-weights';
import { activationPeak, batchSize, cudaGraphs, nonTorchMemory, workingMemory } from './overhead';

/** Everything about a server that its memory depends on. What is absent takes the engine's default. */
export interface ServingConfig {
  readonly model: ModelIdentity;
  readonly engine: Engine;
  /** The card, for its memory, its default batch and its links. */
  readonly gpu?: Gpu;
  /** Bytes of one GPU where they are known better than from the card (a MIG slice, a NeuronCore, a log). */
  readonly gpuMemory?: Range;
  readonly tensorParallel?: number;
  readonly pipelineParallel?: number;
  readonly dataParallel?: number;
  /** Experts whole on each GPU, over tensor x data parallel. */
  readonly expertParallel?: boolean;
  /** `--gpu-memory-utilization`, `--mem-fraction-static` and their like. */
  readonly utilization?: number;
  /** `--dtype` or `--quantization` where it overrules the checkpoint. */
  readonly quantization?: QuantizationId;
  /** `--kv-cache-dtype`: 2 bytes for 16 bit, 1 for fp8 or int8. */
  readonly kvElementBytes?: number;
  /** `--max-model-len`; the model's own maximum when absent. `auto`: the engine takes what fits. */
  readonly maxModelLen?: number | 'auto';
  readonly maxNumBatchedTokens?: number;
  readonly maxNumSeqs?: number;
  readonly enforceEager?: boolean;
  readonly chunkedPrefill?: boolean;
  readonly blockTokens?: number;
  readonly speculativeTokens?: number;
  readonly lora?: LoraSlots;
  /** `--cpu-offload-gb` in bytes for each GPU: so much of the weights stays in host memory. */
  readonly cpuOffloadBytes?: number;
}

/** The room for KV and what fits into it. Tokens where not said otherwise. */
export interface KvRoom {
  /** Bytes for the KV cache on one GPU. */
  readonly available: Estimate;
  /** Longest request, in tokens, rounded down to a block. */
  readonly longestRequest?: Estimate;
  /** What the engine prints as the size of its cache, in tokens. */
  readonly tokens?: Estimate;
  /** Requests of the maximum length at the same time. */
  readonly concurrency?: Estimate;
}

export type Verdict = 'yes' | 'no' | 'unknown';

/** The arithmetic of one replica. Absent parts are unknown; nothing is guessed. */
export interface MemoryEstimate {
  readonly quantization: QuantizationId;
  readonly weights: { readonly total: Estimate; readonly perGpu: Estimate };
  /** Bytes for one token on one GPU; absent for models without a cache and where nothing is known. */
  readonly kvPerToken?: Estimate;
  /** Bytes of the cache of one request of `maxModelLen` tokens on one GPU. */
  readonly kvNeeded?: Estimate;
  readonly maxModelLen?: number;
  readonly nonTorch: Estimate;
  readonly activation: Estimate;
  readonly cudaGraphs: Estimate;
  /** Memory of one GPU, and the part that the engine may use. */
  readonly gpuMemory?: Estimate;
  readonly budget?: Estimate;
  readonly kv?: KvRoom;
  /** Weights and working memory into the budget. */
  readonly weightsFit: Verdict;
  /** A request of the maximum length into the cache; what the engine checks before it starts. */
  readonly contextFits: Verdict;
  /** Both of them. */
  readonly fits: Verdict;
  readonly reasons: readonly string[];
}

const noCache: ReadonlySet<string> = new Set(['embedding', 'speech', 'image']);

/** How many GPUs one copy of the weights is spread over, and how. */
export function splitOf(config: ServingConfig): Split {
  const tensor = Math.max(1, config.tensorParallel ?? 1);
  const pipeline = Math.max(1, config.pipelineParallel ?? 1);
  const expert = config.expertParallel === true ? tensor * Math.max(1, config.dataParallel ?? 1) : 1;
  return { tensor, pipeline, expert };
}

/** The engine with the version that is expected of it, so that every part assumes the same one. */
function withVersion(engine: Engine, spec: ModelSpec | undefined): Engine {
  if (engine.kind !== 'vllm' && engine.kind !== 'nim') return engine;
  if (engine.version !== undefined || engine.generation === undefined) return engine;
  const version = expectedVersion(engine, spec?.released);
  return version === undefined ? engine : { ...engine, version };
}

function gpuMemoryOf(config: ServingConfig): Estimate | undefined {
  if (config.gpuMemory !== undefined) return estimateOf(config.gpuMemory, ['as given']);
  const { gpu } = config;
  if (gpu === undefined) return undefined;
  const { low, expected, high } = gpu.visibleGiB;
  return estimateOf(visibleMemory(gpu), [
    `the driver shows ${low === high ? expected : `${round(low)} to ${round(high)}`} GiB of ${gpu.label}${gpu.visibleIsInferred ? ' (inferred from related cards)' : ''}`,
  ]);
}

const round = (value: number): number => Number(value.toFixed(2));

/** The memory that the engine may fill. SGLang takes its share of what is free, not of the total. */
function budgetOf(config: ServingConfig, engine: Engine, memory: Estimate, split: Split): Estimate {
  const utilization = config.utilization ?? defaultUtilization(engine, split.tensor);
  const percent = `${round(utilization * 100)} %`;
  if (engine.kind === 'sglang') {
    const workers = split.tensor * split.pipeline;
    const context =
      workers > 1 ? range(0.35 * GiB, 0.6 * GiB, 1.8 * GiB) : range(0.3 * GiB, 0.45 * GiB, 1 * GiB);
    const low = config.utilization === undefined ? utilization - 0.08 : utilization;
    const free = subtract(memory, context);
    return estimateOf(range(free.low * low, free.expected * utilization, free.high * utilization), [
      ...memory.reasons,
      `SGLang takes ${percent} of what is free before it loads`,
    ]);
  }
  const assumed = config.utilization === undefined && (engine.kind === 'vllm' || engine.kind === 'nim');
  const low = assumed && !vllmTraits(engine).certain ? Math.min(0.9, utilization) : utilization;
  const high = assumed && !vllmTraits(engine).certain ? Math.max(0.92, utilization) : utilization;
  return estimateOf(range(memory.low * low, memory.expected * utilization, memory.high * high), [
    ...memory.reasons,
    engine.kind === 'vllm' || engine.kind === 'nim'
      ? `${percent} of it ${config.utilization === undefined ? 'by default' : 'as asked for'}`
      : `${percent} of it`,
  ]);
}

function kvOptionsOf(config: ServingConfig, engine: Engine, split: Split): KvOptions {
  return {
    split,
    engine,
    elementBytes: config.kvElementBytes ?? 2,
    ...(config.blockTokens === undefined ? {} : { blockTokens: config.blockTokens }),
    ...(config.speculativeTokens === undefined ? {} : { speculativeTokens: config.speculativeTokens }),
    ...(config.gpu?.vendor === 'amd' ? { rocm: true } : {}),
    batchedTokens: batchSize(config.model.model, batchOptionsOf(config, engine)).tokens,
  };
}

function batchOptionsOf(config: ServingConfig, engine: Engine): Parameters<typeof batchSize>[1] {
  const length = maxModelLenOf(config);
  const gpuBytes =
    config.gpuMemory?.expected ?? (config.gpu === undefined ? undefined : visibleMemory(config.gpu).expected);
  return {
    engine,
    ...(length === undefined || config.maxModelLen === undefined ? {} : { maxModelLen: length }),
    ...(config.maxNumBatchedTokens === undefined ? {} : { maxNumBatchedTokens: config.maxNumBatchedTokens }),
    ...(config.maxNumSeqs === undefined ? {} : { maxNumSeqs: config.maxNumSeqs }),
    ...(config.chunkedPrefill === undefined ? {} : { chunkedPrefill: config.chunkedPrefill }),
    ...(gpuBytes === undefined ? {} : { gpuBytes }),
    ...(config.gpu === undefined ? {} : { gpu: config.gpu }),
    ...(config.lora === undefined ? {} : { lora: true }),
  };
}

/** The length that the engine will check: the written one, else the model's own maximum. */
export function maxModelLenOf(config: ServingConfig): number | undefined {
  if (config.maxModelLen === 'auto') return undefined;
  return config.maxModelLen ?? config.model.model?.maxPositions;
}

/** KV bytes for each token of every model of the catalogue, for models of which only the size is known. */
function knownKvBytes(split: Split, elementBytes: number): readonly { parameters: number; bytes: number }[] {
  return modelCatalogue.flatMap((spec) => {
    if (spec.shape === undefined || noCache.has(spec.modality)) return [];
    const layout = kvLayout(spec.shape, { split, elementBytes, engine: { kind: 'vllm' } });
    return [{ parameters: spec.parameters, bytes: layout.allLayersBytesPerToken }];
  });
}

function hasCache(shape: DecoderShape | undefined): shape is DecoderShape {
  return shape !== undefined && shape.kvHeads > 0;
}

/**
 * What a server needs on each of its GPUs, and what is left for the KV cache.
 *
 * Bounds are honest rather than tight: `low` and `high` hold what engine versions, drivers and unwritten
 * options move. All figures are bytes, except tokens and numbers of requests in {@link KvRoom}.
 */
export const estimate = remembered(
  1000,
  reckon,
  // Models and cards are found once for each name, and are most of what would have to be written out.
  ({ model, gpu, ...rest }) => `${identityOf(model)} ${identityOf(gpu)} ${JSON.stringify(rest)}`,
);

function reckon(config: ServingConfig): MemoryEstimate {
  const spec = config.model.model;
  const split = splitOf(config);
  const engine = withVersion(config.engine, spec);
  const quantization = effectiveQuantization(config.model, config.quantization);
  const total = storedWeights(config.model, quantization, config.model.bitsPerWeight);
  const loaded = loadedWeights(config.model, {
    quantization,
    split,
    engine: config.engine,
    ...(config.model.bitsPerWeight === undefined ? {} : { bitsPerWeight: config.model.bitsPerWeight }),
    ...(config.lora === undefined ? {} : { lora: config.lora }),
    ...(config.gpu !== undefined && config.gpu.vendor !== 'amd' ? {} : { rocm: true }),
    ...(config.gpu === undefined ? {} : { gpu: config.gpu }),
  });
  const perGpu = withOffload(loaded, config.cpuOffloadBytes ?? 0);
  const eager = config.enforceEager ?? false;
  const { memory: graphs, inBudget } = cudaGraphs(engine, eager);
  const gpuMemory = gpuMemoryOf(config);
  const modality = spec?.modality ?? 'text';
  const cacheless = modality === 'embedding' || modality === 'speech' || modality === 'image';
  const serving = batchOptionsOf(config, engine);
  const nonTorch = nonTorchMemory(spec, split, engine, config.gpu, serving.gpuBytes);
  const activation =
    cacheless && !(engine.kind === 'vllm' && spec?.shape !== undefined)
      ? workingMemory(modality)
      : activationPeak(spec, split, serving);

  const shared = {
    quantization,
    weights: { total, perGpu },
    nonTorch,
    activation,
    cudaGraphs: graphs,
    ...(gpuMemory === undefined ? {} : { gpuMemory }),
  };
  const budget = gpuMemory === undefined ? undefined : budgetOf(config, engine, gpuMemory, split);
  const room =
    budget === undefined
      ? undefined
      : roomFor(engine, budget, perGpu, nonTorch, activation, inBudget ? graphs : undefined);
  const weightsFit = verdictOfWeights(engine, budget, perGpu, room);
  const kvParts = kvPart(config, engine, split, room, cacheless);
  const contextFits: Verdict = cacheless ? 'yes' : kvParts.contextFits;
  const reasons = [...perGpu.reasons, ...(budget?.reasons ?? ['no GPU is known'])];
  return {
    ...shared,
    ...kvParts.fields,
    ...(budget === undefined ? {} : { budget }),
    weightsFit,
    contextFits,
    fits: both(weightsFit, contextFits),
    reasons,
  };
}

function withOffload(loaded: Estimate, offload: number): Estimate {
  if (offload <= 0) return loaded;
  const kept = subtract(loaded, exactly(offload));
  return estimateOf(range(Math.max(0, kept.low), Math.max(0, kept.expected), Math.max(0, kept.high)), [
    ...loaded.reasons,
    `${round(offload / GiB)} GiB of them stay in host memory`,
  ]);
}

/** What the engine leaves for the cache. */
function roomFor(
  engine: Engine,
  budget: Estimate,
  weights: Estimate,
  nonTorch: Estimate,
  activation: Estimate,
  graphs: Estimate | undefined,
): Range {
  switch (engine.kind) {
    case 'sglang':
      // The static share holds weights and cache; activations live in the rest.
      return subtractLoosely(budget, weights);
    case 'tensorrt-llm':
    case 'triton': {
      // The share is of what is free after the engine has been loaded.
      const share = defaultUtilization(engine, 1);
      const whole = scale(budget, 1 / share);
      return scale(subtractLoosely(whole, weights, nonTorch, activation), share);
    }
    default:
      return subtractLoosely(
        budget,
        weights,
        nonTorch,
        activation,
        ...(graphs === undefined ? [] : [graphs]),
      );
  }
}

/** Servers that leave layers on the CPU instead of failing when the GPU is too small. */
const spillsOver: ReadonlySet<Engine['kind']> = new Set(['ollama', 'llama.cpp', 'transformers']);

function verdictOfWeights(
  engine: Engine,
  budget: Range | undefined,
  weights: Range,
  room: Range | undefined,
): Verdict {
  if (budget === undefined || room === undefined) return 'unknown';
  if (weights.low > budget.high || room.high <= 0) return spillsOver.has(engine.kind) ? 'unknown' : 'no';
  return room.low > 0 ? 'yes' : 'unknown';
}

function both(a: Verdict, b: Verdict): Verdict {
  if (a === 'no' || b === 'no') return 'no';
  return a === 'yes' && b === 'yes' ? 'yes' : 'unknown';
}

interface KvPart {
  readonly fields: Pick<MemoryEstimate, never> & {
    readonly kvPerToken?: Estimate;
    readonly kvNeeded?: Estimate;
    readonly maxModelLen?: number;
    readonly kv?: KvRoom;
  };
  readonly contextFits: Verdict;
}

function kvPart(
  config: ServingConfig,
  engine: Engine,
  split: Split,
  room: Range | undefined,
  cacheless: boolean,
): KvPart {
  const spec = config.model.model;
  const shape = spec?.shape;
  const length = maxModelLenOf(config);
  const lengthField = length === undefined ? {} : { maxModelLen: length };
  if (cacheless) return { fields: {}, contextFits: 'yes' };
  const options = kvOptionsOf(config, engine, split);
  const available =
    room === undefined
      ? undefined
      : estimateOf(clampRange(room), ['budget less weights, workspaces and activations']);
  if (!hasCache(shape)) {
    const bySize =
      spec === undefined
        ? kvBytesOfSize(knownKvBytes(split, options.elementBytes), config.model.parameters)
        : undefined;
    return {
      fields: {
        ...lengthField,
        ...(available === undefined ? {} : { kv: { available } }),
        ...(bySize === undefined
          ? {}
          : { kvPerToken: estimateOf(bySize, ['the extremes of known models of that size']) }),
      },
      contextFits: 'unknown',
    };
  }
  const layout = kvLayout(shape, options);
  const perToken = kvBytesPerToken(layout, options, length);
  const needed = length === undefined ? undefined : neededFor(layout, length, options);
  const kv = available === undefined ? undefined : roomDetails(layout, available, options, length, spec);
  return {
    fields: {
      ...lengthField,
      kvPerToken: perToken,
      ...(needed === undefined ? {} : { kvNeeded: needed }),
      ...(kv === undefined ? {} : { kv }),
    },
    contextFits: verdictOfContext(config, engine, room, needed),
  };
}

function clampRange(room: Range): Range {
  return { low: Math.max(0, room.low), expected: Math.max(0, room.expected), high: Math.max(0, room.high) };
}

function neededFor(layout: KvLayout, length: number, options: KvOptions): Estimate {
  const expected = requestBytes(layout, length, options);
  const low = isHybrid(layout) ? Math.min(expected, layout.growingBytesPerToken * length) : expected;
  return estimateOf(
    range(
      low,
      expected,
      isHybrid(layout) ? Math.max(expected, layout.allLayersBytesPerToken * length * 1.15) : expected,
    ),
    [...layout.reasons, `x ${length.toLocaleString('en-US')} tokens`],
  );
}

function roomDetails(
  layout: KvLayout,
  available: Estimate,
  options: KvOptions,
  length: number | undefined,
  spec: ModelSpec | undefined,
): KvRoom {
  const limit = spec?.maxPositions ?? length ?? 2 ** 24;
  const each = (of: (bytes: number) => number): Range =>
    range(of(available.low), of(available.expected), of(available.high));
  const longest = each((bytes) => longestRequest(layout, bytes, options, Math.max(limit, length ?? 0)));
  const tokens = each((bytes) => printedTokens(layout, bytes, options, length) ?? 0);
  const concurrency =
    length === undefined ? undefined : each((bytes) => concurrencyOf(layout, bytes, length, options));
  return {
    available,
    longestRequest: estimateOf(longest, ['rounded down to a block']),
    ...(isHybrid(layout) && length === undefined ? {} : { tokens: estimateOf(tokens, layout.reasons) }),
    ...(concurrency === undefined
      ? {}
      : { concurrency: estimateOf(concurrency, ['requests of the maximum length']) }),
  };
}

/** Whether a request of the maximum length fits, as the engine checks it before it starts. */
function verdictOfContext(
  config: ServingConfig,
  engine: Engine,
  room: Range | undefined,
  needed: Estimate | undefined,
): Verdict {
  if (config.maxModelLen === 'auto') return room !== undefined && room.low > 0 ? 'yes' : 'unknown';
  if (room === undefined || needed === undefined) return 'unknown';
  // SGLang and TGI shorten requests instead of refusing to start.
  const refuses = engine.kind === 'vllm' || engine.kind === 'nim';
  if (needed.low > room.high)
    return refuses || (room.high <= 0 && !spillsOver.has(engine.kind)) ? 'no' : 'unknown';
  return needed.high <= room.low ? 'yes' : 'unknown';
}

/** Bytes of one cached element for `--kv-cache-dtype`; 16 bit for `auto` and whatever else is no 8-bit type. */
export function kvElementBytesOf(option: string | undefined): number {
  return option !== undefined && /fp8|e4m3|e5m2|int8|q8/i.test(option) ? 1 : 2;
}

/** The smallest EC2 GPU, which is what a pod may land on when nothing says more. */
export function smallestEc2Gpu(): Gpu {
  const candidates = gpus.filter(
    (gpu) => gpu.onEc2 && gpu.vendor === 'nvidia' && (gpu.computeCapability ?? 0) >= 7.5,
  );
  return candidates.reduce((least, gpu) =>
    gpu.visibleGiB.expected < least.visibleGiB.expected ? gpu : least,
  );
}
