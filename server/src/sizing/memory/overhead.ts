import type { Gpu } from '../gpus';
import type { Estimate } from '../models/range';
import { estimateOf, exactly, GiB, range } from '../models/range';
import type { DecoderShape, ModelSpec } from '../models/types';
import type { Split } from '../models/weights';
import type { Engine } from './engines';
import { olderThan, vllmTraits } from './engines';

/**
 * Bytes for each logit of the batch while the sampler is profiled: the logits in fp32, their sorted copy,
 * the 64-bit order and the running sums. 1.40 GiB for Qwen (256 sequences x 151,936) and 1.19 GiB for Llama 3
 * (256 x 128,256) were measured, which is 38.6 to 38.9 bytes for each.
 */
const sortedBytesPerLogit = 38.75;

/** Without sorting: the logits in 16 and in 32 bit. */
const plainBytesPerLogit = 6;

/** GPUs with this much memory get larger default batches in vLLM V1 (and A100 does not). */
const largeGpuBytes = 70 * GiB;

export interface BatchOptions {
  readonly engine: Engine;
  readonly maxModelLen?: number;
  readonly maxNumBatchedTokens?: number;
  readonly maxNumSeqs?: number;
  readonly chunkedPrefill?: boolean;
  /** Total memory of a GPU in bytes, and its name. */
  readonly gpuBytes?: number;
  readonly gpu?: Gpu;
  /** Adapters are profiled with the model. */
  readonly lora?: boolean;
}

export interface BatchSize {
  /** Tokens of the profiled step. */
  readonly tokens: number;
  /** The smallest number of tokens that a version near by would take. */
  readonly leastTokens: number;
  readonly sequences: number;
  /** False when the sampler is left out of the profile (V0 with chunked prefill). */
  readonly sampled: boolean;
  readonly reasons: readonly string[];
}

/** `max_num_batched_tokens` and `max_num_seqs` as the engine would choose them. */
export function batchSize(spec: ModelSpec | undefined, options: BatchOptions): BatchSize {
  const { engine } = options;
  const sequences = options.maxNumSeqs;
  const written = options.maxNumBatchedTokens;
  switch (engine.kind) {
    case 'vllm':
    case 'nim':
      return vllmTraits(engine).generation === 'V0' ? batchOfV0(spec, options) : batchOfV1(options);
    case 'sglang': {
      const tokens = written ?? ((options.gpuBytes ?? 0) > 35 * GiB ? 8192 : 2048);
      return {
        tokens,
        leastTokens: tokens,
        sequences: sequences ?? 256,
        sampled: true,
        reasons: [`chunks of ${tokens} tokens`],
      };
    }
    case 'tgi': {
      const tokens = written ?? Math.max(4096, Math.min(options.maxModelLen ?? 4096, 32768));
      return {
        tokens,
        leastTokens: 4096,
        sequences: sequences ?? 128,
        sampled: true,
        reasons: [`prefill batches of ${tokens} tokens`],
      };
    }
    case 'tensorrt-llm':
    case 'triton': {
      const tokens = written ?? 8192;
      return {
        tokens,
        leastTokens: 2048,
        sequences: sequences ?? 256,
        sampled: true,
        reasons: [`up to ${tokens} tokens in a batch`],
      };
    }
    default: {
      const tokens = written ?? 512;
      return {
        tokens,
        leastTokens: tokens,
        sequences: sequences ?? 1,
        sampled: true,
        reasons: [`batches of ${tokens} tokens`],
      };
    }
  }
}

function batchOfV0(spec: ModelSpec | undefined, options: BatchOptions): BatchSize {
  const { engine } = options;
  const length = options.maxModelLen ?? spec?.maxPositions;
  const multimodal = spec?.modality === 'vision' || spec?.modality === 'audio';
  // V0 switched chunked prefill on by itself above 32k, but not for towers and latent attention.
  const chunked =
    options.chunkedPrefill ??
    ((length ?? 0) > 32768 && !multimodal && spec?.shape?.latent === undefined && !olderThan(engine, 0, 5));
  const sequences = options.maxNumSeqs ?? 256;
  if (options.maxNumBatchedTokens !== undefined) {
    const tokens = options.maxNumBatchedTokens;
    return {
      tokens,
      leastTokens: tokens,
      sequences,
      sampled: !chunked,
      reasons: [`${tokens} batched tokens`],
    };
  }
  if (chunked) {
    return {
      tokens: 2048,
      leastTokens: 512,
      sequences,
      sampled: false,
      reasons: ['chunked prefill keeps the profiled step at 512 to 2048 tokens'],
    };
  }
  // Nothing says the length: a model's own maximum would not have started on most GPUs.
  const unknownLength = options.maxModelLen === undefined;
  const tokens = Math.max(2048, unknownLength ? Math.min(length ?? 2048, 8192) : (length ?? 2048));
  return {
    tokens,
    leastTokens: unknownLength ? 2048 : tokens,
    sequences,
    sampled: true,
    reasons: [`without chunked prefill the profiled step has ${tokens} tokens`],
  };
}

function batchOfV1(options: BatchOptions): BatchSize {
  const { engine, gpu } = options;
  const large = (options.gpuBytes ?? 0) >= largeGpuBytes && gpu?.id !== 'a100-80gb' && gpu?.id !== 'a100';
  const tokens = options.maxNumBatchedTokens ?? (large ? 8192 : 2048);
  // 1024 sequences on large GPUs since 0.9; 256 before and elsewhere.
  const sequences = options.maxNumSeqs ?? (large && !olderThan(engine, 0, 9) ? 1024 : 256);
  return {
    tokens,
    leastTokens: Math.min(tokens, 2048),
    sequences,
    sampled: true,
    reasons: [`${tokens} batched tokens and ${sequences} sequences are profiled`],
  };
}

/** Bytes of the largest set of activations that one token needs inside a layer (16 bit). */
function forwardBytesPerToken(shape: DecoderShape, split: Split): number {
  const { hidden, experts, mlp, latent } = shape;
  const tp = split.tensor;
  const residual = 3 * hidden;
  let inner = 0;
  if (experts !== undefined) {
    const size = split.expert > 1 ? experts.size : experts.size / tp;
    // The first and the third intermediate of the fused kernel share their memory.
    inner = experts.perToken * (Math.max(2 * size, hidden) + size) + (3 * experts.shared) / tp;
  }
  // gate, up and their product; without a gate the input and its activation.
  if (mlp !== undefined) inner = Math.max(inner, (mlp.matrices * mlp.size) / tp);
  const attention =
    latent === undefined
      ? ((2 * shape.heads + 2 * shape.kvHeads) * shape.headDim) / tp
      : (shape.heads / tp) * (2 * (latent.nopeDim + latent.ropeDim) + 2 * latent.valueDim + latent.nopeDim);
  return 2 * (Math.max(inner, attention) + residual);
}

/** What the encoder of a sound adds while it is profiled, in GiB: 1.4 and 4.1 were measured. */
const audioEncoderGiB = { low: 0.8, expected: 2.2, high: 4.6 };

/** Patches of a picture that become one token of the language model (2 x 2 are merged). */
const patchesPerToken = 4;

/** Activations of the vision tower: engines profile as many pictures as the batched tokens hold. */
function visionBytes(shape: DecoderShape, tokens: number, tp: number): number {
  const tower = shape.extras?.find(
    (extra) => extra.tower !== undefined && extra.name.includes('vision'),
  )?.tower;
  if (tower === undefined) return 0;
  return (patchesPerToken * tokens * 2 * (3 * tower.hidden + tower.matrices * tower.mlp)) / tp;
}

/** Peak of the activations during the profiled step (or the largest step, where nothing is profiled). */
export function activationPeak(spec: ModelSpec | undefined, split: Split, options: BatchOptions): Estimate {
  const batch = batchSize(spec, options);
  const shape = spec?.shape;
  if (shape === undefined || shape.vocab === 0) {
    return estimateOf(range(0.2 * GiB, 1.2 * GiB, 3 * GiB), ['activations of an unknown architecture']);
  }
  const { engine } = options;
  const vllm = engine.kind === 'vllm' || engine.kind === 'nim';
  const perToken = forwardBytesPerToken(shape, split);
  const forward = batch.tokens * perToken;
  const leastForward =
    Math.min(batch.tokens, batch.leastTokens) * perToken * (shape.experts === undefined ? 1 : 0.85);
  const sorting = vllm && vllmTraits(engine).sortingSampler;
  const logits = batch.sampled ? batch.sequences * shape.vocab : 0;
  const sampler = logits * (sorting ? sortedBytesPerLogit : plainBytesPerLogit);
  const vision = visionBytes(shape, batch.tokens, split.tensor);
  const audio = spec?.modality === 'audio' ? audioEncoderGiB : { low: 0, expected: 0, high: 0 };
  const expected = Math.max(forward, sampler, vision) + (sorting ? 0 : 0.1 * GiB) + audio.expected * GiB;
  // A written --max-num-seqs is certain; else frameworks that embed the engine lower it, to a quarter at times.
  const leastSampler =
    logits *
    (sorting ? sortedBytesPerLogit : plainBytesPerLogit) *
    (options.maxNumSeqs === undefined ? 0.25 : 1);
  const low = Math.max(leastForward, vllm ? leastSampler : 0) + audio.low * GiB;
  // Where the version or the length is assumed, the sampler may be profiled after all.
  const assumed =
    vllm && (!vllmTraits(engine).certain || (!batch.sampled && options.maxModelLen === undefined));
  const mostSampler = assumed ? batch.sequences * shape.vocab * sortedBytesPerLogit : sampler;
  const vendorFactor =
    options.gpu !== undefined && options.gpu.vendor !== 'nvidia'
      ? 1.5
      : options.gpu === undefined
        ? 1.25
        : 1.04;
  const high =
    Math.max(forward * vendorFactor, mostSampler * 1.04, sampler * 1.04, vision * 2) +
    (options.lora === true ? 0.4 : 0.12) * GiB +
    audio.high * GiB;
  return estimateOf(range(low, expected, high), [
    ...batch.reasons,
    `${(forward / GiB).toFixed(2)} GiB for a step of ${batch.tokens} tokens, ${(sampler / GiB).toFixed(2)} GiB to sample ${batch.sequences} sequences`,
  ]);
}

/** Memory outside of PyTorch: CUDA context after start, NCCL buffers, kernels' workspaces. */
export function nonTorchMemory(
  spec: ModelSpec | undefined,
  split: Split,
  engine: Engine,
  gpu: Gpu | undefined,
  gpuBytes: number | undefined,
): Estimate {
  // Before 0.7 the whole CUDA context counted, not only what came on top of it.
  const context = engine.kind === 'vllm' && olderThan(engine, 0, 7) ? 1.5 : 0;
  const workers = split.tensor * split.pipeline * (split.expert > 1 ? split.expert : 1);
  if (workers <= 1) {
    return estimateOf(range(0, 0.1 * GiB, (0.4 + context) * GiB), [
      'CUDA context and workspaces: 0.01 to 0.35 GiB were measured on one GPU',
    ]);
  }
  // DeepSeek on data-centre cards brings workspaces of its own (DeepGEMM, FlashMLA).
  const latentExperts =
    spec?.shape?.latent !== undefined &&
    spec.parameters > 1e11 &&
    (gpuBytes ?? largeGpuBytes) >= largeGpuBytes;
  const peerless = gpu?.interconnect === 'pcie';
  const expected = peerless ? 0.5 : 1;
  const high = latentExperts && workers >= 8 ? 7.5 : peerless ? 1.7 : 2.3;
  return estimateOf(range(0.15 * GiB, expected * GiB, (high + context) * GiB), [
    `NCCL and workspaces over ${workers} GPUs: 0.2 to 2.1 GiB were measured${latentExperts ? ', up to 7.2 for DeepSeek on eight' : ''}`,
  ]);
}

/** CUDA graphs; zero in eager mode. `inBudget` says whether the KV cache is reduced by them. */
export function cudaGraphs(engine: Engine, eager: boolean): { memory: Estimate; inBudget: boolean } {
  if (eager)
    return { memory: estimateOf(exactly(0), ['eager mode captures no CUDA graphs']), inBudget: false };
  switch (engine.kind) {
    case 'vllm':
    case 'nim': {
      const { graphsInBudget } = vllmTraits(engine);
      return {
        memory: estimateOf(range(0.1 * GiB, 0.5 * GiB, 2.3 * GiB), [
          graphsInBudget
            ? 'CUDA graphs are profiled inside the budget since vLLM 0.21'
            : 'CUDA graphs come on top of the budget: 0.13 to 2.3 GiB were measured',
        ]),
        inBudget: graphsInBudget,
      };
    }
    case 'sglang':
    case 'tgi':
      return {
        memory: estimateOf(range(0.1 * GiB, 0.6 * GiB, 2.3 * GiB), ['CUDA graphs, outside the static share']),
        inBudget: false,
      };
    default:
      return { memory: estimateOf(exactly(0), []), inBudget: false };
  }
}

/** What a model without a KV cache needs beside its weights, in GiB: batch, images, beams. */
const workingGiB: Readonly<Record<'embedding' | 'speech' | 'image', readonly [number, number, number]>> = {
  embedding: [0.2, 0.8, 3],
  speech: [0.3, 1.2, 4],
  image: [1, 3, 8],
};

/** Working memory of embedding, speech and image servers. */
export function workingMemory(modality: 'embedding' | 'speech' | 'image'): Estimate {
  const [low, expected, high] = workingGiB[modality];
  return estimateOf(range(low * GiB, expected * GiB, high * GiB), [`working memory of ${modality} models`]);
}
