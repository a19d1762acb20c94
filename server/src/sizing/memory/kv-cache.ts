import type { Estimate, Range } from '../models/range';
import { estimateOf, exactly, range } from '../models/range';
import type { DecoderShape } from '../models/types';
import type { Split } from '../models/weights';
import type { Engine } from './engines';
import { generationOf, vllmTraits } from './engines';

/** Tokens in one block of a paged cache, unless the engine is told otherwise. */
export const defaultBlockTokens = 16;

/** Alignment of a cached MLA entry in vLLM V0 on CUDA, in bytes. */
const latentAlignment = 256;

/** vLLM treats two kinds of layers as one group when their numbers differ by less than this. */
const sameGroupFactor = 1.25;

export interface KvOptions {
  readonly split: Split;
  /** Bytes of one cached element: 2 for 16 bit, 1 for fp8. */
  readonly elementBytes: number;
  readonly engine: Engine;
  /** `--block-size`. */
  readonly blockTokens?: number;
  /** Tokens of a step, which a sliding window has to hold beside the window itself. */
  readonly batchedTokens?: number;
  /** Tokens that speculative decoding drafts at a time. */
  readonly speculativeTokens?: number;
  /** ROCm does not align MLA entries. */
  readonly rocm?: boolean;
}

/**
 * The cache of one GPU. For plain models every layer costs the same for each token; models with windows or
 * linear attention are described by groups of layers, as vLLM V1 allocates them: every group has the same
 * number of layers, a block of any group takes the same memory.
 */
export interface KvLayout {
  /** Bytes for one more token, over the layers that grow without bound. */
  readonly growingBytesPerToken: number;
  /** Bytes for one token if every layer kept it (what V0 and simple engines do). */
  readonly allLayersBytesPerToken: number;
  /** Bytes of one block over one group of layers. */
  readonly blockBytes: number;
  /** Tokens in a block of the first group. */
  readonly blockTokens: number;
  readonly groups: readonly KvGroup[];
  readonly reasons: readonly string[];
}

export interface KvGroup {
  readonly kind: 'full' | 'window' | 'state';
  readonly tokensPerBlock: number;
  /** Tokens that the layers look back; only for `window`. */
  readonly window?: number;
}

interface LayerKind {
  readonly kind: KvGroup['kind'];
  readonly layers: number;
  /** Bytes of one layer for one token, or of its state for one sequence. */
  readonly bytes: number;
  readonly window?: number;
}

/** Elements that one layer caches for one token on one GPU. */
function elementsPerToken(shape: DecoderShape, full: boolean, split: Split): number {
  const kvHeads = (full ? shape.full?.kvHeads : undefined) ?? shape.kvHeads;
  const headDim = (full ? shape.full?.headDim : undefined) ?? shape.headDim;
  // KV heads are never fewer than one on a GPU: beyond their number they are replicated.
  return 2 * Math.max(1, kvHeads / split.tensor) * headDim;
}

/** Convolution and recurrent state of one Gated DeltaNet layer; the recurrent part is kept in 32 bit. */
function stateBytes(shape: DecoderShape, split: Split): number {
  const linear = shape.linear;
  if (linear === undefined) return 0;
  const keys = (linear.keyHeads * linear.keyDim) / split.tensor;
  const values = (linear.valueHeads * linear.valueDim) / split.tensor;
  const convolution = (2 * keys + values) * (linear.convolution - 1) * 2;
  const recurrent = (linear.valueHeads / split.tensor) * linear.keyDim * linear.valueDim * 4;
  return convolution + recurrent;
}

function latentBytes(shape: DecoderShape, options: KvOptions): number | undefined {
  const latent = shape.latent;
  if (latent === undefined) return undefined;
  const bytes = (latent.kvRank + latent.ropeDim) * options.elementBytes;
  const aligned =
    options.engine.kind === 'vllm' && vllmTraits(options.engine).latentAligned && options.rocm !== true;
  return aligned ? Math.ceil(bytes / latentAlignment) * latentAlignment : bytes;
}

/** Kinds of layers on one pipeline stage; layers that reuse another layer's cache are left out. */
function layerKinds(shape: DecoderShape, options: KvOptions): readonly LayerKind[] {
  const { split, elementBytes } = options;
  const stage = (layers: number): number => Math.ceil(layers / split.pipeline);
  const linear = shape.linear?.layers ?? 0;
  const attending = (shape.attentionLayers ?? shape.layers) - linear;
  const share = 1 - (shape.kvSharedLayers ?? 0) / shape.layers;
  const windowed = Math.round((shape.window?.layers ?? 0) * share);
  const full = Math.round(attending * share) - windowed;
  const latent = latentBytes(shape, options);
  const kinds: LayerKind[] = [];
  if (full > 0) {
    kinds.push({
      kind: 'full',
      layers: stage(full),
      bytes: latent ?? elementsPerToken(shape, true, split) * elementBytes,
    });
  }
  if (windowed > 0) {
    kinds.push({
      kind: 'window',
      layers: stage(windowed),
      bytes: elementsPerToken(shape, false, split) * elementBytes,
      window: shape.window?.tokens ?? 0,
    });
  }
  if (linear > 0) kinds.push({ kind: 'state', layers: stage(linear), bytes: stateBytes(shape, split) });
  return kinds;
}

/** How many layers share a group: the fewest of any kind, or the most when they differ little. */
function layersPerGroup(kinds: readonly LayerKind[]): number {
  const counts = kinds.map((kind) => kind.layers);
  const fewest = Math.min(...counts);
  const most = Math.max(...counts);
  return most < fewest * sameGroupFactor ? most : fewest;
}

/** Lays the cache out as the engine does. */
export function kvLayout(shape: DecoderShape, options: KvOptions): KvLayout {
  const kinds = layerKinds(shape, options);
  const blockTokens = options.blockTokens ?? defaultBlockTokens;
  const perToken = kinds.filter((kind) => kind.kind !== 'state');
  const growing = kinds.filter((kind) => kind.kind === 'full');
  const growingBytesPerToken = growing.reduce((sum, kind) => sum + kind.layers * kind.bytes, 0);
  const allLayersBytesPerToken = perToken.reduce((sum, kind) => sum + kind.layers * kind.bytes, 0);
  const perGroup = layersPerGroup(kinds);

  // All blocks have the size of the largest: a state is one block, attention blocks grow to match it.
  const state = kinds.find((kind) => kind.kind === 'state');
  const attentionBytes = Math.max(0, ...perToken.map((kind) => kind.bytes));
  let pageBytes = attentionBytes * blockTokens;
  if (state !== undefined && state.bytes > pageBytes && attentionBytes > 0) {
    const tokens = Math.ceil(state.bytes / attentionBytes / blockTokens) * blockTokens;
    pageBytes = tokens * attentionBytes;
  }
  const groups = kinds.flatMap((kind): KvGroup[] => {
    const count = Math.max(1, Math.ceil(kind.layers / perGroup));
    const group: KvGroup = {
      kind: kind.kind,
      tokensPerBlock: kind.kind === 'state' ? 0 : Math.floor(pageBytes / kind.bytes),
      ...(kind.window === undefined ? {} : { window: kind.window }),
    };
    return Array.from({ length: count }, () => group);
  });
  return {
    growingBytesPerToken,
    allLayersBytesPerToken,
    blockBytes: pageBytes * perGroup,
    blockTokens: Math.min(
      ...groups.filter((group) => group.kind !== 'state').map((group) => group.tokensPerBlock),
    ),
    groups,
    reasons: describe(shape, kinds, options),
  };
}

function describe(shape: DecoderShape, kinds: readonly LayerKind[], options: KvOptions): readonly string[] {
  const { split, elementBytes } = options;
  const reasons: string[] = [];
  if (shape.latent !== undefined) {
    reasons.push(
      `${shape.layers} layers x (${shape.latent.kvRank} + ${shape.latent.ropeDim}) compressed elements x ${elementBytes} B; latent attention is not split by tensor parallel`,
    );
  } else {
    const kvHeads = shape.full?.kvHeads ?? shape.kvHeads;
    const onGpu = Math.max(1, kvHeads / split.tensor);
    reasons.push(
      `2 x ${kinds[0]?.layers ?? 0} layers x ${onGpu} KV ${onGpu === 1 ? 'head' : 'heads'} x ${shape.full?.headDim ?? shape.headDim} x ${elementBytes} B`,
    );
    if (kvHeads < split.tensor) {
      reasons.push(`tensor parallel ${split.tensor} exceeds the ${kvHeads} KV heads: they are replicated`);
    }
  }
  for (const kind of kinds) {
    if (kind.kind === 'window')
      reasons.push(`${kind.layers} layers keep only the last ${kind.window} tokens`);
    if (kind.kind === 'state')
      reasons.push(`${kind.layers} layers keep a state of constant size for each sequence`);
  }
  return reasons;
}

/** Blocks that one request of `tokens` needs over all groups. */
function blocksOf(layout: KvLayout, tokens: number, options: KvOptions): number {
  const speculative = options.speculativeTokens ?? 0;
  let blocks = 0;
  for (const group of layout.groups) {
    if (group.kind === 'state') {
      // With prefix caching a state is kept at the last aligned position and at the current one.
      blocks += 2 + speculative;
    } else if (group.kind === 'window') {
      const held = Math.min((group.window ?? 0) - 1 + (options.batchedTokens ?? 2048), tokens);
      blocks += Math.ceil(held / group.tokensPerBlock) + 1;
    } else {
      blocks += Math.ceil(tokens / group.tokensPerBlock);
    }
  }
  return blocks;
}

/** True when the layout has kinds of layers that do not all grow alike. */
export function isHybrid(layout: KvLayout): boolean {
  return layout.groups.some((group) => group.kind !== 'full');
}

/** Whether the engine makes use of windows, or keeps every layer in full. */
function honoursWindows(engine: Engine): boolean {
  return engine.kind === 'vllm' || engine.kind === 'nim' ? generationOf(engine) === 'V1' : false;
}

/** Bytes that one request of `tokens` takes, rounded up to blocks. */
export function requestBytes(layout: KvLayout, tokens: number, options: KvOptions): number {
  if (honoursWindows(options.engine)) return blocksOf(layout, tokens, options) * layout.blockBytes;
  return Math.ceil(tokens / layout.blockTokens) * layout.blockTokens * layout.allLayersBytesPerToken;
}

/** The longest request that a pool of `bytes` holds, rounded down to a block; at most `limit` tokens. */
export function longestRequest(layout: KvLayout, bytes: number, options: KvOptions, limit: number): number {
  if (bytes <= 0) return 0;
  if (!isHybrid(layout) || !honoursWindows(options.engine)) {
    const perToken = honoursWindows(options.engine)
      ? layout.growingBytesPerToken
      : layout.allLayersBytesPerToken;
    const tokens = Math.floor(bytes / perToken / layout.blockTokens) * layout.blockTokens;
    return Math.min(limit, tokens);
  }
  let low = 0;
  let high = Math.ceil(limit / layout.blockTokens);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (requestBytes(layout, middle * layout.blockTokens, options) <= bytes) low = middle;
    else high = middle - 1;
  }
  return Math.min(limit, low * layout.blockTokens);
}

/**
 * The tokens that the engine prints for a pool (`GPU KV cache size`, `# GPU blocks` x block size). For hybrid
 * models this is not memory divided by bytes: vLLM prints blocks / groups x block size before 0.20 and
 * concurrency x maximum length since.
 */
export function printedTokens(
  layout: KvLayout,
  bytes: number,
  options: KvOptions,
  maxModelLen: number | undefined,
): number | undefined {
  if (bytes <= 0) return 0;
  const blocks = Math.floor(bytes / layout.blockBytes);
  if (!honoursWindows(options.engine)) {
    return Math.floor(bytes / layout.allLayersBytesPerToken / layout.blockTokens) * layout.blockTokens;
  }
  if (!isHybrid(layout)) return blocks * layout.blockTokens;
  if (vllmTraits(options.engine).tokensFromConcurrency) {
    if (maxModelLen === undefined) return undefined;
    return Math.floor((blocks / blocksOf(layout, maxModelLen, options)) * maxModelLen);
  }
  return Math.floor(blocks / layout.groups.length) * layout.blockTokens;
}

/** Requests of `tokens` that a pool holds at the same time. */
export function concurrencyOf(layout: KvLayout, bytes: number, tokens: number, options: KvOptions): number {
  if (tokens <= 0) return 0;
  return Math.max(0, bytes) / requestBytes(layout, tokens, options);
}

/** Bytes for one token on one GPU, with the bounds of hybrid models. */
export function kvBytesPerToken(
  layout: KvLayout,
  options: KvOptions,
  maxModelLen: number | undefined,
): Estimate {
  if (!isHybrid(layout)) return estimateOf(exactly(layout.growingBytesPerToken), layout.reasons);
  const all = layout.allLayersBytesPerToken;
  if (!honoursWindows(options.engine)) {
    return estimateOf(range(layout.growingBytesPerToken, all, all), [
      ...layout.reasons,
      'this engine keeps every layer in full',
    ]);
  }
  const expected = maxModelLen === undefined ? all : requestBytes(layout, maxModelLen, options) / maxModelLen;
  // Blocks / groups pads the groups: up to 15 % more than all layers in full was measured.
  return estimateOf(
    range(layout.growingBytesPerToken, expected, Math.max(all * 1.15, expected)),
    layout.reasons,
  );
}

/** Bytes for one token of a model of which only the size is known: the extremes of known models of that size. */
export function kvBytesOfSize(
  known: readonly { parameters: number; bytes: number }[],
  parameters: Range,
): Range | undefined {
  const similar = known
    .filter((item) => item.parameters >= parameters.low / 1.6 && item.parameters <= parameters.high * 1.6)
    .map((item) => item.bytes)
    .sort((a, b) => a - b);
  const low = similar[0];
  const high = similar[similar.length - 1];
  const middle = similar[Math.floor(similar.length / 2)];
  return low === undefined || high === undefined || middle === undefined
    ? undefined
    : { low, expected: middle, high };
}
