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

/** Whether an engine would start with so many GPUs: attention heads are divided evenly. */
export function divides(config: Pick<ServingConfig, 'model'>, tensorParallel: number): boolean {
  const heads = config.model.model?.shape?.heads ?? 0;
  return heads === 0 || heads % tensorParallel === 0;
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
