import type { Estimate, Range } from '../models/range';
import { add, estimateOf, exactly, GiB, range, scale } from '../models/range';
import { isUnquantised } from '../models/quantization';
import type { QuantizationId } from '../models/quantization';
import type { Engine } from './engines';
import { vllmTraits } from './engines';

/**
 * How weights come from a file into GPU memory. Memory-mapped files need one shard at a time (their page
 * cache can be reclaimed), the others hold the whole model in memory that cannot.
 */
export type WeightLoader =
  | 'safetensors'
  | 'pickle'
  | 'gguf'
  | 'bitsandbytes'
  | 'runai-streamer'
  | 'fastsafetensors'
  | 'tensorizer'
  | 'sharded-state'
  | 'dummy';

/** True for loaders that never need the whole model in host memory. */
export function mapsFiles(loader: WeightLoader): boolean {
  return (
    loader === 'safetensors' ||
    loader === 'fastsafetensors' ||
    loader === 'sharded-state' ||
    loader === 'gguf'
  );
}

/**
 * The loader that an engine uses, by its `--load-format` and the precision.
 *
 * Quantising 16-bit weights on the fly with bitsandbytes and converting GGUF files (vLLM) go through the
 * whole model in host memory; llama.cpp and Ollama map GGUF files.
 */
export function loaderOf(engine: Engine, quantization: QuantizationId, loadFormat?: string): WeightLoader {
  const format = loadFormat?.toLowerCase();
  if (format !== undefined) {
    if (/runai|streamer/.test(format)) return 'runai-streamer';
    if (/tensorizer/.test(format)) return 'tensorizer';
    if (/sharded/.test(format)) return 'sharded-state';
    if (/fastsafe/.test(format)) return 'fastsafetensors';
    if (/dummy/.test(format)) return 'dummy';
    if (/^(?:pt|bin|npcache|pickle)$/.test(format)) return 'pickle';
    if (/bitsandbytes/.test(format)) return 'bitsandbytes';
    if (/gguf/.test(format))
      return engine.kind === 'ollama' || engine.kind === 'llama.cpp' ? 'gguf' : 'pickle';
    if (/safetensors/.test(format)) return 'safetensors';
  }
  if (engine.kind === 'ollama' || engine.kind === 'llama.cpp') return 'gguf';
  if (quantization.startsWith('gguf-')) return 'pickle';
  return quantization.startsWith('bnb') ? 'bitsandbytes' : 'safetensors';
}

/** What a pod holds in host memory. Bytes, unless the field says otherwise. */
export interface HostConfig {
  /** Weights of the whole model as they are stored. */
  readonly weights: Range;
  readonly quantization: QuantizationId;
  readonly loader: WeightLoader;
  readonly engine: Engine;
  /** GPU workers in this pod: its share of tensor x pipeline x data parallel. */
  readonly workers: number;
  /** GPUs over which one copy of the weights is spread, over all pods of the group. */
  readonly gpusPerCopy: number;
  /** `--swap-space` for each GPU; vLLM V0 pins 4 GiB when nothing is said. */
  readonly swapBytesPerGpu?: number;
  /** `--cpu-offload-gb` and KV offload (LMCache, `--kv-offloading-size`) for each worker. */
  readonly offloadBytesPerWorker?: number;
  /** Size limits of emptyDir volumes in memory (`/dev/shm`, a tmpfs for weights), which count as used. */
  readonly memoryVolumes?: readonly { readonly name: string; readonly bytes: number }[];
}

/** One line of the sum. */
export interface HostTerm {
  readonly label: string;
  readonly bytes: Range;
}

export interface HostEstimate {
  /**
   * `expected` is the rule of host-ram-below-model: weights held by the pod + 2 GiB for each GPU worker +
   * 2 GiB + memory-backed volumes + what is pinned. `low` is what the loader cannot do without.
   */
  readonly need: Estimate;
  readonly terms: readonly HostTerm[];
  /** Weights that this pod goes through while it loads. */
  readonly weightsHeld: Range;
  /** Below this a kill by the kernel while loading is likely: half of the weights. */
  readonly killLikelyBelow: number;
  readonly loader: WeightLoader;
  /** One sentence: what the assumption about the loader means. */
  readonly assumption: string;
}

/** Python, CUDA and the engine in each worker process: 3 to 6 GiB for one worker in all were seen. */
const perWorker = { low: 1.5 * GiB, expected: 2 * GiB, high: 3 * GiB };
const base = { low: 1 * GiB, expected: 2 * GiB, high: 4 * GiB };

/** Files of a checkpoint are cut at 5 GB (`max_shard_size` of transformers). */
const shardBytes = 5e9;

/** Buffers of the streaming loader on each rank: 3.7 GiB were seen. */
const streamerBuffer = 4 * GiB;

const assumptions: Readonly<Record<WeightLoader, string>> = {
  safetensors: 'safetensors are mapped: page cache can be reclaimed, so less can do',
  fastsafetensors: 'safetensors go to the GPU in large blocks',
  'sharded-state': 'each worker maps only its own shard',
  gguf: 'GGUF files are mapped: what goes to the GPU can be reclaimed',
  pickle: 'this format is read into memory as a whole',
  bitsandbytes: 'bitsandbytes goes through the whole model in host memory',
  'runai-streamer': 'the streamer holds buffers on every worker and the model on its way',
  tensorizer: 'tensorizer streams through host memory',
  dummy: 'no weights are read',
};

/** Host memory that one pod needs while its model loads, term by term. */
export function hostMemoryForLoad(config: HostConfig): HostEstimate {
  const { loader, workers } = config;
  const copies = Math.max(1, Math.floor(workers / Math.max(1, config.gpusPerCopy)));
  const share = Math.min(1, workers / Math.max(1, config.gpusPerCopy));
  // Copies of one node share the page cache; loaders that read into memory do not share.
  const held = scale(config.weights, loader === 'dummy' ? 0 : share * (mapsFiles(loader) ? 1 : copies));
  const terms: HostTerm[] = [
    {
      label: 'weights held by the pod',
      bytes: range(leastHeld(loader, held, workers), held.expected, held.high),
    },
    { label: `${workers} GPU ${workers === 1 ? 'worker' : 'workers'}`, bytes: scale(perWorker, workers) },
    { label: 'server', bytes: base },
  ];
  if (loader === 'runai-streamer') {
    terms.push({
      label: 'buffers of the streamer',
      bytes: scale(range(0, streamerBuffer / 2, streamerBuffer), workers),
    });
  }
  const swap = swapBytes(config);
  if (swap > 0) terms.push({ label: 'swap space pinned for the KV cache', bytes: exactly(swap * workers) });
  const offload = config.offloadBytesPerWorker ?? 0;
  if (offload > 0) terms.push({ label: 'offload pinned in host memory', bytes: exactly(offload * workers) });
  for (const volume of config.memoryVolumes ?? []) {
    // A volume counts when it is filled; NCCL fills little of /dev/shm.
    terms.push({ label: `memory-backed volume ${volume.name}`, bytes: range(0, volume.bytes, volume.bytes) });
  }
  const need = add(...terms.map((term) => term.bytes));
  // One worker goes through each file once; of several each reads all of them, from the cache or from the disk again.
  const again = loader === 'safetensors' && workers > 1 ? ', but each worker then reads the files again' : '';
  const assumption = `${assumptions[loader]}${again}`;
  return {
    need: estimateOf(need, [
      ...terms.map((term) => `${term.label} ${(term.bytes.expected / GiB).toFixed(1)} GiB`),
      assumption,
    ]),
    terms,
    weightsHeld: held,
    killLikelyBelow: held.expected / 2,
    loader,
    assumption,
  };
}

/** What a mapped checkpoint needs at the very least: one shard for each worker at a time. */
function leastHeld(loader: WeightLoader, held: Range, workers: number): number {
  return mapsFiles(loader) ? Math.min(held.low, shardBytes * workers) : held.low;
}

/** vLLM V0 pins `--swap-space` (4 GiB by default) for each GPU; V1 does not use it. */
function swapBytes(config: HostConfig): number {
  if (config.engine.kind !== 'vllm' || vllmTraits(config.engine).generation !== 'V0') return 0;
  return config.swapBytesPerGpu ?? 4 * GiB;
}

/** True when the checkpoint is plain and the engine quantises it while it loads. */
export function quantisesWhileLoading(shipped: QuantizationId | undefined, wanted: QuantizationId): boolean {
  return !isUnquantised(wanted) && (shipped === undefined || isUnquantised(shipped));
}
