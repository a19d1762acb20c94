import { GiB } from './range';
import type {
  DecoderShape,
  Experts,
  ExtraWeights,
  LatentAttention,
  LinearAttention,
  Modality,
  ModelSpec,
  SlidingWindow,
  WeightDtype,
} from './types';
import type { QuantizationId } from './quantization';
import { countParameters } from './weights';

/** Where figures come from; each entry names one or several. */
export const sources = {
  litgpt: 'Lightning-AI/litgpt@26857050 litgpt/config.py',
  mlc: 'mlc-ai/mlc-llm@79d603f model_preset.py',
  aiconfigurator: 'ai-dynamo/aiconfigurator@095f58a model_configs',
  kaito: 'kaito-project/kaito@056b828 model catalogue',
  gpuPoor: 'RahulSChand/gpu_poor@ad2fc0e',
  llmTools: 'manuelescobar-dev/LLM-Tools llm_tools/models',
  llmfit: 'AlexsJones/llmfit fallback table',
  transformers: 'huggingface/transformers configuration defaults',
  card: 'model card and config.json on the Hugging Face hub',
  configDump: 'config.json quoted in public code',
  vllm6746: 'vllm-project/vllm#6746',
  vllmLog: 'public vLLM log',
} as const;

export type SourceName = keyof typeof sources;

/** What models of one family share. */
const families = {
  llama: { matrices: 3 },
  qwen2: { matrices: 3, qkvBias: true },
  qwen3: { matrices: 3, qkNorm: true },
  /** Gated DeltaNet on three of four layers, gated attention on the fourth. */
  qwen35: { matrices: 3, qkNorm: true, outputGate: true, rotary: 0.25 },
  gemma: { matrices: 3, tied: true },
  /** Local and global layers turn by different frequencies. */
  gemma3: { matrices: 3, tied: true, qkNorm: true, rotaryTables: 2 },
  phi2: { matrices: 2, qkvBias: true, rotary: 0.4 },
  starcoder2: { matrices: 2, qkvBias: true },
  falcon: { matrices: 2 },
  gptOss: { matrices: 3, qkvBias: true },
  /** Learned positions and biases everywhere (OPT, GPT-2, BLOOM, MPT). */
  opt: { matrices: 2, qkvBias: true, rotary: 0 },
  neox: { matrices: 2, qkvBias: true, rotary: 0.25 },
} as const satisfies Record<
  string,
  {
    matrices: 2 | 3;
    tied?: boolean;
    qkvBias?: boolean;
    qkNorm?: boolean;
    outputGate?: boolean;
    rotary?: number;
    rotaryTables?: number;
  }
>;

export type Family = keyof typeof families;

/** A vision or audio tower; without `billions` it is what the published count has beyond the decoder. */
export interface Tower {
  readonly name: string;
  readonly billions?: number;
  readonly blocks?: number;
  readonly hidden?: number;
  readonly mlp?: number;
  readonly matrices?: 2 | 3;
  readonly placement?: 'sharded' | 'replicated';
}

/** One line of the catalogue: figures only, in the units people quote (billions, GiB). */
export interface Row {
  readonly also?: readonly string[];
  readonly modality?: Modality;
  readonly billions?: number;
  readonly active?: number;
  readonly positions?: number;
  readonly dtype?: WeightDtype;
  readonly quantization?: QuantizationId;
  readonly family?: Family;
  readonly layers?: number;
  readonly hidden?: number;
  readonly heads?: number;
  readonly kvHeads?: number;
  readonly headDim?: number;
  readonly mlp?: number;
  readonly vocab?: number;
  readonly tied?: boolean;
  readonly rotary?: number;
  readonly qkNorm?: boolean;
  readonly qkvBias?: boolean;
  readonly experts?: Experts;
  readonly latent?: LatentAttention;
  readonly linear?: LinearAttention;
  readonly window?: SlidingWindow;
  readonly full?: { readonly kvHeads: number; readonly headDim: number };
  readonly kvSharedLayers?: number;
  readonly attentionLayers?: number;
  readonly tower?: Tower;
  readonly extras?: readonly ExtraWeights[];
  readonly fileGiB?: number;
  readonly released?: string;
  readonly source: SourceName | readonly SourceName[];
  readonly certainty?: 'high' | 'medium' | 'low';
  readonly note?: string;
}

function shapeOf(row: Row): DecoderShape | undefined {
  const { layers, hidden, heads } = row;
  if (layers === undefined || hidden === undefined || heads === undefined) return undefined;
  const family = row.family === undefined ? { matrices: 3 as const } : families[row.family];
  const preset: {
    matrices: 2 | 3;
    tied?: boolean;
    qkvBias?: boolean;
    qkNorm?: boolean;
    outputGate?: boolean;
    rotary?: number;
    rotaryTables?: number;
  } = family;
  const { matrices, tied, ...flags } = preset;
  const shape: DecoderShape = {
    layers,
    hidden,
    heads,
    vocab: row.vocab ?? 0,
    tied: row.tied ?? tied ?? false,
    kvHeads: row.kvHeads ?? heads,
    headDim: row.headDim ?? hidden / heads,
    ...flags,
    ...(row.rotary === undefined ? {} : { rotary: row.rotary }),
    ...(row.qkNorm === undefined ? {} : { qkNorm: row.qkNorm }),
    ...(row.qkvBias === undefined ? {} : { qkvBias: row.qkvBias }),
    ...(row.mlp === undefined ? {} : { mlp: { size: row.mlp, matrices } }),
    ...(row.experts === undefined ? {} : { experts: row.experts }),
    ...(row.latent === undefined ? {} : { latent: row.latent }),
    ...(row.linear === undefined ? {} : { linear: row.linear }),
    ...(row.window === undefined ? {} : { window: row.window }),
    ...(row.full === undefined ? {} : { full: row.full }),
    ...(row.kvSharedLayers === undefined ? {} : { kvSharedLayers: row.kvSharedLayers }),
    ...(row.attentionLayers === undefined ? {} : { attentionLayers: row.attentionLayers }),
  };
  const keepsHead = shape.tied && row.family !== 'qwen2' && row.family !== 'qwen3';
  const withHead: DecoderShape = keepsHead ? { ...shape, headBeforeTie: true } : shape;
  const extras = [...(row.extras ?? [])];
  if (row.tower !== undefined) extras.push(towerWeights(row.tower, row, shape));
  return extras.length === 0 ? withHead : { ...withHead, extras };
}

function towerWeights(tower: Tower, row: Row, shape: DecoderShape): ExtraWeights {
  const counted = countParameters(row.extras === undefined ? shape : { ...shape, extras: row.extras });
  const parameters =
    tower.billions !== undefined ? tower.billions * 1e9 : Math.max(0, (row.billions ?? 0) * 1e9 - counted);
  const { blocks, hidden, mlp, matrices } = tower;
  return {
    name: tower.name,
    parameters,
    placement: tower.placement ?? 'sharded',
    quantised: false,
    ...(blocks === undefined || hidden === undefined || mlp === undefined
      ? {}
      : { tower: { blocks, hidden, mlp, matrices: matrices ?? 2 } }),
  };
}

/** Builds an entry. Without a published count, the parameters are those of the shape. */
export function model(id: string, row: Row): ModelSpec {
  const shape = shapeOf(row);
  const modality = row.modality ?? (row.tower === undefined ? 'text' : 'vision');
  const names = typeof row.source === 'string' ? [row.source] : row.source;
  const parameters =
    row.billions !== undefined ? row.billions * 1e9 : shape === undefined ? 0 : countParameters(shape);
  return {
    id,
    aliases: row.also ?? [],
    modality,
    parameters,
    dtype: row.dtype ?? 'bf16',
    source: names.map((name) => sources[name]).join('; '),
    certainty: row.certainty ?? 'high',
    ...(row.active === undefined ? {} : { activeParameters: row.active * 1e9 }),
    ...(row.positions === undefined ? {} : { maxPositions: row.positions }),
    ...(row.quantization === undefined ? {} : { quantization: row.quantization }),
    ...(shape === undefined ? {} : { shape }),
    ...(row.fileGiB === undefined ? {} : { fileBytes: row.fileGiB * GiB }),
    ...(row.released === undefined ? {} : { released: row.released }),
    ...(row.note === undefined ? {} : { note: row.note }),
  };
}
