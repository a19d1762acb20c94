import type { MemoryEstimate, ServingConfig } from './memory/estimate';
import type { Engine } from './memory/engines';
import { estimate } from './memory/estimate';
import { effectiveQuantization } from './memory/loaded-weights';
import { precisionOfWeights, tooOldFor } from './precision-limits';
import { gpuOfInstance } from './gpu-choices';
import type { Gpu } from './gpus';
import { instanceTypes, type InstanceType } from './nodes/instances';

/** One instance type on which a server can run, and how many of its GPUs it takes. */
export interface Placement {
  readonly type: InstanceType;
  readonly gpu: Gpu;
  readonly tensorParallel: number;
  readonly estimate: MemoryEstimate;
}

export interface PlacementOptions {
  /** This card only. */
  readonly gpu?: Gpu;
  /** This number only; else the smallest power of two that fits. */
  readonly tensorParallel?: number;
  /** Also what may fit: the verdict depends on versions or options that are not known. */
  readonly unknownToo?: boolean;
}

/** What of a model does not come out even on so many GPUs, and how much of it there is. */
export type UnevenSplit =
  | { readonly what: 'heads' | 'kv-heads'; readonly count: number }
  /** Experts of FP8 blocks: the slice that each GPU would get. */
  | { readonly what: 'expert-blocks'; readonly slice: number };

type Divided = Pick<ServingConfig, 'model' | 'quantization' | 'expertParallel'>;

/** FP8 weights share a scale in blocks of 128 x 128, which are not cut (vLLM: `weight_block_size`). */
const fp8Block = 128;

/** Qwen's own FP8 repositories are in blocks; those of others mostly have a scale for each channel. */
function isInBlocks({ model, quantization }: Divided): boolean {
  const id = effectiveQuantization(model, quantization);
  return id === 'fp8-block' || (id === 'fp8' && /^qwen\/qwen3.*-fp8$/i.test(model.name));
}

/**
 * Why an engine would not start with so many GPUs. Attention heads are divided evenly, KV heads are too or are copied
 * whole (vllm#16021), and slices of experts hold whole FP8 blocks (vllm#17569) unless experts stay whole.
 */
export function unevenSplit(config: Divided, tensorParallel: number): UnevenSplit | undefined {
  const shape = config.model.model?.shape;
  if (shape === undefined || tensorParallel <= 1) return undefined;
  if (shape.heads > 0 && shape.heads % tensorParallel !== 0) return { what: 'heads', count: shape.heads };
  const kvHeads = shape.latent === undefined ? shape.kvHeads : 0;
  const isEven = kvHeads >= tensorParallel ? kvHeads % tensorParallel === 0 : tensorParallel % kvHeads === 0;
  if (kvHeads > 0 && !isEven) return { what: 'kv-heads', count: kvHeads };
  if (shape.experts === undefined || config.expertParallel === true || !isInBlocks(config)) return undefined;
  const slice = shape.experts.size / tensorParallel;
  return slice % fp8Block === 0 ? undefined : { what: 'expert-blocks', slice };
}

/** `does not divide the model's 40 attention heads`. */
export function unevenText(uneven: UnevenSplit): string {
  switch (uneven.what) {
    case 'heads':
      return `does not divide the model's ${uneven.count} attention heads`;
    case 'kv-heads':
      return `does not go with the model's ${uneven.count} KV heads`;
    case 'expert-blocks':
      return `cuts the model's FP8 blocks of ${fp8Block} (each GPU would get ${uneven.slice} of an expert)`;
  }
}

/** Whether an engine would start with so many GPUs. */
export function divides(config: Divided, tensorParallel: number): boolean {
  return unevenSplit(config, tensorParallel) === undefined;
}

/**
 * Compute capability below which no version of an engine has kernels: vLLM, SGLang, TGI and TensorRT-LLM begin with
 * Volta or later (vllm#1284), llama.cpp and Ollama with Maxwell.
 */
function leastCapability({ kind }: Engine): number {
  return kind === 'llama.cpp' || kind === 'ollama' ? 5 : 7;
}

/** Whether a card can run the engine at all, and load what it is given. */
function isNewEnough(gpu: Gpu, { engine, model, quantization }: ServingConfig): boolean {
  if ((gpu.computeCapability ?? Infinity) < leastCapability(engine)) return false;
  const precision = precisionOfWeights(effectiveQuantization(model, quantization));
  if (
    precision === undefined ||
    (engine.kind !== 'vllm' && engine.kind !== 'sglang' && engine.kind !== 'tensorrt-llm')
  )
    return true;
  return tooOldFor(gpu, precision, engine.kind, engine) === undefined;
}

const sizes: readonly number[] = [1, 2, 4, 8, 16];

/**
 * The EC2 types on one of which a replica fits, cheapest first (on demand, by {@link InstanceType.onDemandPrice}). Types
 * without a price come last.
 */
export function placements(config: ServingConfig, options: PlacementOptions = {}): readonly Placement[] {
  const known = new Map<string, MemoryEstimate>();
  const on = (gpu: Gpu, tensorParallel: number): MemoryEstimate => {
    const key = `${gpu.id} ${tensorParallel}`;
    let found = known.get(key);
    if (found === undefined) {
      const { gpuMemory: _, ...rest } = config;
      found = estimate({ ...rest, gpu, tensorParallel, pipelineParallel: 1 });
      known.set(key, found);
    }
    return found;
  };
  const found: Placement[] = [];
  for (const type of instanceTypes()) {
    const gpu = gpuOfInstance(type);
    const count = type.gpus?.count ?? 0;
    if (gpu?.vendor !== 'nvidia' || (options.gpu !== undefined && gpu.id !== options.gpu.id)) continue;
    if (!isNewEnough(gpu, config)) continue;
    const wanted = options.tensorParallel === undefined ? sizes : [options.tensorParallel];
    for (const tensorParallel of wanted) {
      if (tensorParallel > count || !divides(config, tensorParallel)) continue;
      const result = on(gpu, tensorParallel);
      const fits = result.fits === 'yes' || (options.unknownToo === true && result.fits === 'unknown');
      if (!fits) continue;
      found.push({ type, gpu, tensorParallel, estimate: result });
      break;
    }
  }
  return found.toSorted(
    (a, b) =>
      (a.type.onDemandPrice ?? Infinity) - (b.type.onDemandPrice ?? Infinity) || a.type.vcpu - b.type.vcpu,
  );
}
