import type { QuantizationId } from './quantization';
import type { Range } from './range';

/** What a model takes in and gives out; decides whether a KV cache exists at all. */
export type Modality = 'text' | 'vision' | 'audio' | 'embedding' | 'speech' | 'image';

/** The element type of the weights that are not quantised. */
export type WeightDtype = 'bf16' | 'fp16' | 'fp32';

/** DeepSeek's multi-head latent attention: one compressed vector for each token, shared by all heads. */
export interface LatentAttention {
  /** Rank of the query compression; absent when queries are projected directly (V2-Lite). */
  readonly queryRank?: number;
  readonly kvRank: number;
  readonly nopeDim: number;
  readonly ropeDim: number;
  readonly valueDim: number;
}

/** Layers with a state of constant size for each sequence instead of a growing cache (Mamba, Gated DeltaNet). */
export interface LinearAttention {
  readonly layers: number;
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly convolution: number;
}

/** Layers that see only the last `tokens` tokens. Their heads may differ from those of the full layers. */
export interface SlidingWindow {
  readonly layers: number;
  readonly tokens: number;
}

export interface Experts {
  /** Layers that have experts; the others have the dense `mlp`. */
  readonly layers: number;
  readonly count: number;
  readonly perToken: number;
  /** Inner size of one expert. */
  readonly size: number;
  /** Inner size of the expert that sees every token, 0 when there is none. */
  readonly shared: number;
}

/** Weights beside the decoder layers: vision and audio towers, indexers, per-layer embeddings. */
export interface ExtraWeights {
  readonly name: string;
  readonly parameters: number;
  /** `sharded` weights are split over the tensor-parallel group, `replicated` ones are whole on every GPU. */
  readonly placement: 'sharded' | 'replicated';
  /** False when quantised checkpoints leave it in 16 bit (towers, routers, embeddings). */
  readonly quantised: boolean;
  /** Bytes for one parameter when it is not the model's own dtype. */
  readonly bytesPerParameter?: number;
  /** A transformer tower; its matrices are then allocated one by one. */
  readonly tower?: {
    readonly blocks: number;
    readonly hidden: number;
    readonly mlp: number;
    readonly matrices: 2 | 3;
  };
}

/**
 * A decoder-only transformer as its config.json describes it. Absent parts are unknown, not zero: the
 * difference to the published parameter count is then carried as one remainder.
 */
export interface DecoderShape {
  readonly layers: number;
  readonly hidden: number;
  readonly vocab: number;
  /** The output head is the embedding matrix. */
  readonly tied: boolean;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Biases on the q, k and v projections (Qwen 1.5 to 2.5, OPT). */
  readonly qkvBias?: boolean;
  /** Norms over each q and k head (Qwen3, Gemma3, OLMo 2). */
  readonly qkNorm?: boolean;
  /** A gate beside the queries, as large as them (Qwen3-Next, Qwen3.5). */
  readonly outputGate?: boolean;
  readonly latent?: LatentAttention;
  /** Heads of the full-attention layers where they differ (Gemma 4). */
  readonly full?: { readonly kvHeads: number; readonly headDim: number };
  readonly window?: SlidingWindow;
  readonly linear?: LinearAttention;
  /** Last layers that reuse the cache of an earlier layer (Gemma 3n, Gemma 4 E-sizes). */
  readonly kvSharedLayers?: number;
  /** Layers of the cache where not every layer attends (cross-attention or pure MLP layers). */
  readonly attentionLayers?: number;
  readonly mlp?: { readonly size: number; readonly matrices: 2 | 3 };
  readonly experts?: Experts;
  readonly extras?: readonly ExtraWeights[];
  /**
   * vLLM makes an output head first and ties it afterwards; its memory stays reserved (all but Qwen, which
   * uses the embedding itself).
   */
  readonly headBeforeTie?: boolean;
  /** Rotary dimensions for each head as a share of `headDim`; 0 for learned or ALiBi positions. */
  readonly rotary?: number;
  /** How many rotary tables the engine keeps (2 where local and global layers differ, or long and short factors). */
  readonly rotaryTables?: number;
}

export interface ModelSpec {
  /** The repository on the Hugging Face hub. */
  readonly id: string;
  readonly aliases: readonly string[];
  readonly modality: Modality;
  /** Number of parameters, as published where a publication is known. */
  readonly parameters: number;
  /** Parameters that a token passes through; only for mixtures of experts. */
  readonly activeParameters?: number;
  /** `max_position_embeddings`: what engines take as maximum length when nothing is said. */
  readonly maxPositions?: number;
  readonly dtype: WeightDtype;
  /** How the repository ships the weights; absent for plain 16 or 32 bit. */
  readonly quantization?: QuantizationId;
  readonly shape?: DecoderShape;
  /** Size of the served weights on disk in bytes where it is not parameters x bytes (duplicates left out). */
  readonly fileBytes?: number;
  /** First release, `YYYY-MM`, where it bounds the engine versions that can serve it. */
  readonly released?: string;
  /** Where the figures come from. */
  readonly source: string;
  readonly certainty: 'high' | 'medium' | 'low';
  readonly note?: string;
}

/** What a name told about the model. Nothing in here is a guess: unknown parts are absent. */
export interface ModelIdentity {
  readonly name: string;
  /** Known architecture. Its own precision is overruled by {@link quantization}. */
  readonly model?: ModelSpec;
  /** The name under which the catalogue has it (an alias, where that is the closer one). */
  readonly knownAs?: string;
  /** Number of parameters; exact for a known model, wide when only the name tells a size. */
  readonly parameters: Range;
  /** The precision that the name says, or that the repository ships. */
  readonly quantization?: QuantizationId;
  /** Bits for each weight where the name says them (`4.0bpw`). */
  readonly bitsPerWeight?: number;
  /**
   * `catalogue`: the very name; `family`: a fine-tune, a copy or a path with the name of a known model in it;
   * `name-size`: only the number of parameters is in the name; `user`: from the configuration.
   */
  readonly matchedBy: 'user' | 'catalogue' | 'family' | 'name-size';
  readonly reasons: readonly string[];
}

/** A model that the user described in the configuration. Only what is known has to be given. */
export interface UserModel {
  readonly name: string;
  /** Parameters, in units (not billions). */
  readonly parameters?: number;
  /** Number of hidden layers, KV heads and head size: together they give the KV cache. */
  readonly layers?: number;
  readonly kvHeads?: number;
  readonly headDim?: number;
  readonly heads?: number;
  readonly hidden?: number;
  readonly vocab?: number;
  readonly maxPositions?: number;
  readonly quantization?: QuantizationId;
  readonly weightBytes?: number;
  readonly dtype?: WeightDtype;
  /** Layers that keep keys and values, where not all of them do. */
  readonly attentionLayers?: number;
  /** Layers that see the last `slidingWindow` tokens only. */
  readonly slidingLayers?: number;
  readonly slidingWindow?: number;
  /** Of multi-head latent attention. */
  readonly kvRank?: number;
  readonly ropeDim?: number;
}

/** One list for everybody who has none, so that answers that were kept for it are found again. */
export const noUserModels: readonly UserModel[] = [];
