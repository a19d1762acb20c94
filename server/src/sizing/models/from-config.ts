import type { QuantizationId } from './quantization';
import type { UserModel, WeightDtype } from './types';

/** What the files of a repository tell about its model. */
export interface DescribedModel {
  readonly model: UserModel;
  /** What was understood, one statement each. */
  readonly notes: readonly string[];
}

/** Elements of the tensors in safetensors files, by their type as the format names it: `BF16`, `I32`. */
export type ElementCounts = Readonly<Record<string, number>>;

/** Bytes of one element. Source: the safetensors format. */
const elementBytes: Readonly<Record<string, number>> = {
  F64: 8,
  C64: 8,
  I64: 8,
  U64: 8,
  F32: 4,
  I32: 4,
  U32: 4,
  F16: 2,
  BF16: 2,
  I16: 2,
  U16: 2,
  F8_E4M3: 1,
  F8_E4M3FNUZ: 1,
  F8_E5M2: 1,
  F8_E5M2FNUZ: 1,
  F8_E8M0: 1,
  E8M0: 1,
  UE8: 1,
  I8: 1,
  U8: 1,
  BOOL: 1,
  F6_E3M2: 0.75,
  F6_E2M3: 0.75,
  F4: 0.5,
  FP4: 0.5,
};

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The first of several names under which a whole number above 0 stands. */
function numberOf(fields: Fields, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  }
  return undefined;
}

/** Of a model that takes more than text, the part that writes it: only that one has a KV cache. */
function textPart(config: Fields): Fields {
  for (const name of ['text_config', 'llm_config', 'language_config', 'language_model', 'decoder']) {
    const inner = fieldsOf(config[name]);
    if (inner !== undefined && numberOf(inner, ...layerNames) !== undefined) return { ...config, ...inner };
  }
  const thinker = fieldsOf(config['thinker_config']);
  return thinker === undefined ? config : textPart(thinker);
}

const layerNames = ['num_hidden_layers', 'n_layer', 'n_layers', 'num_layers'] as const;

const encoders = /^(?:\w*Bert|\w*Roberta|MPNet|Electra|Deberta\w*|T5Encoder|NewModel|Nomic\w*|Clip|Siglip)/i;

/**
 * A model as its `config.json` and its safetensors files describe it.
 *
 * @param name as servers are told it.
 * @param config the parsed `config.json`.
 * @param elements of all tensors; `undefined` where the files could not be read.
 * @returns `undefined` where neither a size nor a shape is there.
 */
export function describeModel(
  name: string,
  config: unknown,
  elements: ElementCounts | undefined,
): DescribedModel | undefined {
  const whole = fieldsOf(config) ?? {};
  const text = textPart(whole);
  const quantization = quantizationOf(whole);
  const dtype = dtypeOf(text) ?? dtypeOf(whole);
  const weights = elements === undefined ? undefined : weightsOf(elements, whole, quantization);
  const architecture = architectureOf(whole);
  const isEncoder = encoders.test(architecture);
  const shape = isEncoder ? {} : shapeOf(text);
  const figures = {
    parameters: weights?.parameters,
    weightBytes: weights?.bytes,
    dtype,
    quantization,
    ...shape,
    maxPositions: numberOf(
      text,
      'max_position_embeddings',
      'n_positions',
      'max_seq_len',
      'seq_length',
      'max_sequence_length',
      'model_max_length',
    ),
  };
  const known = Object.entries(figures).filter(([, value]) => value !== undefined);
  if (weights === undefined && !('layers' in shape)) return undefined;
  return {
    model: { name, ...Object.fromEntries(known) },
    notes: [
      ...(architecture === '' ? [] : [architecture]),
      ...(isEncoder ? ['an encoder, which keeps no KV cache'] : []),
      ...(weights === undefined
        ? ['its safetensors files could not be read, so that the size of the weights is not known']
        : []),
    ],
  };
}

function architectureOf(config: Fields): string {
  const [first] = Array.isArray(config['architectures']) ? (config['architectures'] as unknown[]) : [];
  return typeof first === 'string' && /^\w{1,80}$/.test(first) ? first : '';
}

function dtypeOf(config: Fields): WeightDtype | undefined {
  const text = config['torch_dtype'] ?? config['dtype'];
  switch (typeof text === 'string' ? text.replace(/^torch\./, '') : '') {
    case 'bfloat16':
      return 'bf16';
    case 'float16':
    case 'half':
      return 'fp16';
    case 'float32':
    case 'float':
      return 'fp32';
    default:
      return undefined;
  }
}

/** Sources: `quantization_config` of transformers, compressed-tensors and NVIDIA's ModelOpt. */
function quantizationOf(config: Fields): QuantizationId | undefined {
  const settings =
    fieldsOf(config['quantization_config']) ??
    fieldsOf(config['compression_config']) ??
    fieldsOf(fieldsOf(config['text_config'])?.['quantization_config']);
  if (settings === undefined) return undefined;
  const method = String(settings['quant_method'] ?? '').toLowerCase();
  const bits = settings['bits'] ?? settings['w_bit'];
  const group = settings['group_size'] ?? settings['q_group_size'];
  switch (method) {
    case 'awq':
      return group === 32 ? 'awq-g32' : 'awq';
    case 'gptq':
    case 'auto-round':
    case 'auto_round':
      return bits === 8 ? 'gptq-int8' : 'gptq';
    case 'fp8':
      return Array.isArray(settings['weight_block_size']) ? 'fp8-block' : 'fp8';
    case 'fbgemm_fp8':
      return 'fp8-fbgemm';
    case 'bitsandbytes':
      return settings['load_in_8bit'] === true ? 'bnb-8bit' : 'bnb-4bit';
    case 'mxfp4':
      return 'mxfp4-experts';
    case 'hqq':
      return 'hqq-4bit';
    case 'aqlm':
      return 'aqlm-2bit';
    case 'exl2':
    case 'exl3':
      return 'exl2';
    case 'compressed-tensors':
      return compressedOf(settings);
    default: {
      const algorithm = String(settings['quant_algo'] ?? '').toUpperCase();
      if (algorithm.includes('NVFP4')) return 'nvfp4';
      return algorithm.includes('FP8') ? 'fp8' : undefined;
    }
  }
}

function compressedOf(settings: Fields): QuantizationId | undefined {
  const groups = Object.values(fieldsOf(settings['config_groups']) ?? {}).map(fieldsOf);
  const weights = fieldsOf(groups.find((group) => group?.['weights'] !== undefined)?.['weights']);
  const format = String(settings['format'] ?? '').toLowerCase();
  if (format.includes('nvfp4')) return 'nvfp4';
  if (format.includes('mxfp4')) return 'mxfp4';
  if (weights === undefined) return undefined;
  const isFloat = weights['type'] === 'float';
  if (weights['num_bits'] === 8) {
    return isFloat ? (weights['strategy'] === 'block' ? 'fp8-block' : 'fp8') : 'int8';
  }
  if (weights['num_bits'] !== 4) return undefined;
  return isFloat ? (weights['group_size'] === 32 ? 'mxfp4' : 'nvfp4') : 'int4';
}

/** Types in which several weights are packed into one element. */
const packed: ReadonlySet<string> = new Set(['I32', 'U32', 'U8', 'I8']);

function weightsOf(
  elements: ElementCounts,
  config: Fields,
  quantization: QuantizationId | undefined,
): { readonly bytes: number; readonly parameters: number } | undefined {
  let bytes = 0;
  let parameters = 0;
  const bits = bitsOf(config, quantization);
  for (const [type, count] of Object.entries(elements)) {
    const each = elementBytes[type];
    if (each === undefined || !(count > 0)) continue;
    bytes += count * each;
    // Scales have a type of their own, and are few.
    const isScale =
      /^(?:F8_E8M0|E8M0|UE8)$/.test(type) || (quantization === 'nvfp4' && type.startsWith('F8_'));
    if (isScale || type === 'BOOL' || /^[IU](?:16|64)$/.test(type)) continue;
    parameters += bits !== undefined && packed.has(type) ? (count * each * 8) / bits : count;
  }
  return bytes === 0 ? undefined : { bytes: Math.round(bytes), parameters: Math.round(parameters) };
}

/** Bits of one quantised weight, where several share an element. */
function bitsOf(config: Fields, quantization: QuantizationId | undefined): number | undefined {
  if (quantization === undefined) return undefined;
  if (/^(?:fp8|int8|bnb-8bit|mxfp8)/.test(quantization)) return 8;
  const settings = fieldsOf(config['quantization_config']) ?? {};
  const bits = settings['bits'] ?? settings['w_bit'];
  return typeof bits === 'number' && bits > 0 && bits <= 8 ? bits : 4;
}

/** What decides the KV cache. */
function shapeOf(config: Fields): Partial<UserModel> {
  const layers = numberOf(config, ...layerNames);
  const heads = numberOf(config, 'num_attention_heads', 'n_head', 'n_heads');
  const hidden = numberOf(config, 'hidden_size', 'n_embd', 'd_model', 'dim');
  if (layers === undefined || heads === undefined) return {};
  const latent = numberOf(config, 'kv_lora_rank');
  const rope = numberOf(config, 'qk_rope_head_dim');
  const attention = fieldsOf(config['attn_config']) ?? {};
  const kvHeads =
    numberOf(config, 'num_key_value_heads', 'num_kv_heads', 'n_kv_heads', 'multi_query_group_num') ??
    numberOf(attention, 'kv_n_heads') ??
    (config['multi_query'] === true && config['new_decoder_architecture'] !== true ? 1 : heads);
  const headDim =
    numberOf(config, 'head_dim', 'attention_head_dim', 'kv_channels') ??
    (hidden !== undefined && hidden % heads === 0 ? hidden / heads : undefined);
  const vocab = numberOf(config, 'vocab_size');
  return {
    layers,
    heads,
    kvHeads,
    ...(hidden === undefined ? {} : { hidden }),
    ...(headDim === undefined ? {} : { headDim }),
    ...(vocab === undefined ? {} : { vocab }),
    ...(latent === undefined || rope === undefined ? {} : { kvRank: latent, ropeDim: rope }),
    ...layerKinds(config, layers),
  };
}

/** Layers that look back a few tokens only, and layers that keep nothing for each token. */
function layerKinds(config: Fields, layers: number): Partial<UserModel> {
  const types = ['layer_types', 'layers_block_type'].map((name) => config[name]).find(Array.isArray) as
    readonly unknown[] | undefined;
  if (types !== undefined && types.length >= layers) {
    const named = types.slice(0, layers).map(String);
    const sliding = named.filter((type) => /sliding|chunked|local/.test(type)).length;
    const without = named.filter((type) => /linear|mamba|recurrent|conv|ssm/.test(type)).length;
    const tokens = numberOf(config, 'sliding_window', 'attention_chunk_size');
    return {
      ...(without === 0 ? {} : { attentionLayers: layers - without }),
      ...(sliding === 0 || tokens === undefined ? {} : { slidingLayers: sliding, slidingWindow: tokens }),
    };
  }
  const attending = attendingLayers(config, layers);
  const window = slidingLayers(config, layers);
  return {
    ...(attending === undefined ? {} : { attentionLayers: attending }),
    ...(window === undefined || attending !== undefined ? {} : window),
  };
}

/** Layers with attention of a hybrid, by the ways in which such models write them down. */
function attendingLayers(config: Fields, layers: number): number | undefined {
  const pattern = config['hybrid_override_pattern'];
  if (typeof pattern === 'string') return [...pattern].filter((letter) => letter === '*').length;
  const interval = numberOf(config, 'full_attention_interval');
  if (interval !== undefined) return Math.floor(layers / interval);
  const period = numberOf(config, 'attn_layer_period');
  if (period !== undefined) {
    const offset = Number(config['attn_layer_offset'] ?? 0);
    return Array.from({ length: layers }, (_, index) => index).filter((index) => index % period === offset)
      .length;
  }
  const indices = config['attn_layer_indices'];
  return Array.isArray(indices) ? indices.length : undefined;
}

function slidingLayers(
  config: Fields,
  layers: number,
): Pick<UserModel, 'slidingLayers' | 'slidingWindow'> | undefined {
  const tokens = numberOf(config, 'sliding_window');
  if (tokens === undefined || config['use_sliding_window'] === false) return undefined;
  const of = (count: number): ReturnType<typeof slidingLayers> =>
    count > 0 ? { slidingLayers: count, slidingWindow: tokens } : undefined;
  // Every so-manieth layer looks back over everything.
  const pattern = numberOf(config, 'sliding_window_pattern', '_sliding_window_pattern');
  if (pattern !== undefined && pattern > 1) return of(layers - Math.floor(layers / pattern));
  if (config['model_type'] === 'gemma2') return of(Math.ceil(layers / 2));
  if (config['use_sliding_window'] === true) {
    // Qwen2: the layers from this one on.
    return of(layers - (numberOf(config, 'max_window_layers') ?? 0));
  }
  return of(layers);
}
