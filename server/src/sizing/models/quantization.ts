/**
 * How weights are stored, and how much room one matrix then takes.
 *
 * Sizes follow the formats' own layout: a group of weights shares a scale (and a zero point), so that int4
 * with groups of 128 costs 4 bit + 16/128 + 4/128 bit = 0.5195 B for each parameter, with groups of 32
 * 0.5781 B. Embedding, output head, norms, routers and towers stay at the model's own precision unless the
 * scheme says otherwise. Measured loads agree within 1 % (facts of the sizing tests).
 */
export type QuantizationId =
  | 'bf16'
  | 'fp16'
  | 'fp32'
  | 'fp8'
  | 'fp8-block'
  | 'fp8-fbgemm'
  | 'int8'
  | 'awq'
  | 'awq-g32'
  | 'gptq'
  | 'gptq-int8'
  | 'int4'
  | 'int4-experts'
  | 'nvfp4'
  | 'mxfp4'
  | 'mxfp4-experts'
  | 'mxfp8'
  | 'bnb-4bit'
  | 'bnb-8bit'
  | 'hqq-4bit'
  | 'aqlm-2bit'
  | 'exl2'
  | GgufType;

/** GGUF tensor mixes, named as llama.cpp and Ollama name them. */
export type GgufType =
  | 'gguf-q2_k'
  | 'gguf-q3_k_s'
  | 'gguf-q3_k_m'
  | 'gguf-q3_k_l'
  | 'gguf-q4_0'
  | 'gguf-q4_1'
  | 'gguf-q4_k_s'
  | 'gguf-q4_k_m'
  | 'gguf-q5_0'
  | 'gguf-q5_1'
  | 'gguf-q5_k_s'
  | 'gguf-q5_k_m'
  | 'gguf-q6_k'
  | 'gguf-q8_0'
  | 'gguf-iq2_xxs'
  | 'gguf-iq2_xs'
  | 'gguf-iq3_xxs'
  | 'gguf-iq4_xs'
  | 'gguf-iq4_nl'
  | 'gguf-f16'
  | 'gguf-bf16'
  | 'gguf-f32';

/** The part of the network that a matrix belongs to; quantisers treat the parts differently. */
export type WeightRole =
  | 'attention'
  | 'mlp'
  | 'expert'
  | 'linear-attention'
  | 'router'
  | 'norm'
  | 'embedding'
  | 'head'
  | 'tower'
  | 'other';

export interface QuantizationScheme {
  readonly id: QuantizationId;
  readonly label: string;
  /** Bytes for one quantised parameter, scales and zero points included. */
  readonly bytesPerParameter: number;
  /**
   * Whole-model bytes for each parameter where nothing but the parameter count is known, from measured
   * quantised checkpoints (smaller models keep a larger 16-bit share).
   */
  readonly wholeModel: (parameters: number) => { low: number; expected: number; high: number };
  /** Whether a weight of this role in this layer is stored quantised. */
  readonly covers: (role: WeightRole, layer: number, layers: number) => boolean;
  /** Byte sizes of the tensors that stand for a `rows` (input) x `columns` (output) matrix. */
  readonly tensors: (rows: number, columns: number) => readonly number[];
}

const linears: ReadonlySet<WeightRole> = new Set(['attention', 'mlp', 'expert', 'linear-attention', 'other']);
const everyLinear = (role: WeightRole): boolean => linears.has(role);
const nothing = (): boolean => false;

/** The 16-bit share of a small model is larger: measured 0.745 (8B), 0.63 (15B to 122B), 0.58 (400B and up). */
function fourBit(parameters: number): { low: number; expected: number; high: number } {
  if (parameters < 10e9) return { low: 0.6, expected: 0.72, high: 0.95 };
  if (parameters < 40e9) return { low: 0.56, expected: 0.64, high: 0.72 };
  return { low: 0.53, expected: 0.59, high: 0.66 };
}

const eightBit = (): { low: number; expected: number; high: number } => ({
  low: 1,
  expected: 1.05,
  high: 1.23,
});

function plain(
  id: 'bf16' | 'fp16' | 'fp32' | 'gguf-f16' | 'gguf-bf16' | 'gguf-f32',
  bytes: number,
): QuantizationScheme {
  return {
    id,
    label: id.replace('gguf-', ''),
    bytesPerParameter: bytes,
    wholeModel: () => ({ low: bytes, expected: bytes, high: bytes }),
    covers: nothing,
    tensors: (rows, columns) => [rows * columns * bytes],
  };
}

/** Groups of `group` input weights share a 16-bit scale and, when asymmetric, a 4- or 8-bit zero point. */
function grouped(
  id: QuantizationId,
  label: string,
  bits: number,
  group: number,
  zeroPoints: boolean,
  covers: QuantizationScheme['covers'] = everyLinear,
): QuantizationScheme {
  return {
    id,
    label,
    bytesPerParameter: bits / 8 + 2 / group + (zeroPoints ? bits / 8 / group : 0),
    wholeModel: bits === 4 ? fourBit : eightBit,
    covers,
    tensors: (rows, columns) => {
      const groups = Math.ceil(rows / group);
      const sizes = [(rows * columns * bits) / 8, groups * columns * 2];
      return zeroPoints ? [...sizes, (groups * columns * bits) / 8] : sizes;
    },
  };
}

/** Blocks of consecutive weights share one scale of `scaleBytes`. */
function blocked(
  id: QuantizationId,
  label: string,
  bits: number,
  block: number,
  scaleBytes: number,
  covers: QuantizationScheme['covers'] = everyLinear,
): QuantizationScheme {
  return {
    id,
    label,
    bytesPerParameter: bits / 8 + scaleBytes / block,
    wholeModel: bits < 8 ? fourBit : eightBit,
    covers,
    tensors: (rows, columns) => [(rows * columns * bits) / 8, (rows * columns * scaleBytes) / block],
  };
}

/** One scale for each output channel. */
function channelwise(
  id: QuantizationId,
  label: string,
  covers: QuantizationScheme['covers'] = everyLinear,
): QuantizationScheme {
  return {
    id,
    label,
    bytesPerParameter: 1,
    wholeModel: eightBit,
    covers,
    tensors: (rows, columns) => [rows * columns, columns * 4],
  };
}

/**
 * Average bits for each weight of whole llama.cpp files (README of `llama-quantize`, Llama 3.1 8B); the
 * mixes give embeddings and some layers more bits, so small models come out up to 10 % larger.
 */
const ggufBits: Readonly<Record<Exclude<GgufType, 'gguf-f16' | 'gguf-bf16' | 'gguf-f32'>, number>> = {
  'gguf-q2_k': 3.16,
  'gguf-q3_k_s': 3.64,
  'gguf-q3_k_m': 4.0,
  'gguf-q3_k_l': 4.3,
  'gguf-q4_0': 4.66,
  'gguf-q4_1': 5.12,
  'gguf-q4_k_s': 4.67,
  'gguf-q4_k_m': 4.89,
  'gguf-q5_0': 5.59,
  'gguf-q5_1': 6.05,
  'gguf-q5_k_s': 5.57,
  'gguf-q5_k_m': 5.7,
  'gguf-q6_k': 6.56,
  'gguf-q8_0': 8.5,
  'gguf-iq2_xxs': 2.38,
  'gguf-iq2_xs': 2.59,
  'gguf-iq3_xxs': 3.25,
  'gguf-iq4_xs': 4.46,
  'gguf-iq4_nl': 4.68,
};

function gguf(id: keyof typeof ggufBits): QuantizationScheme {
  const bytes = ggufBits[id] / 8;
  return {
    id,
    label: `GGUF ${id.slice('gguf-'.length).toUpperCase()}`,
    bytesPerParameter: bytes,
    wholeModel: () => ({ low: bytes * 0.97, expected: bytes, high: bytes * 1.1 }),
    // GGUF quantises embedding and head as well.
    covers: (role) => everyLinear(role) || role === 'embedding' || role === 'head',
    tensors: (rows, columns) => [rows * columns * bytes],
  };
}

/** The released FP8 checkpoints of Llama 3.1 405B leave attention and the first and last MLP in bf16. */
const fbgemm = (role: WeightRole, layer: number, layers: number): boolean =>
  (role === 'mlp' || role === 'expert') && layer !== 0 && layer !== layers - 1;

const expertsOnly = (role: WeightRole): boolean => role === 'expert';

const schemes: readonly QuantizationScheme[] = [
  plain('bf16', 2),
  plain('fp16', 2),
  plain('fp32', 4),
  plain('gguf-f16', 2),
  plain('gguf-bf16', 2),
  plain('gguf-f32', 4),
  channelwise('fp8', 'FP8'),
  blocked('fp8-block', 'FP8, 128x128 blocks', 8, 128 * 128, 4),
  channelwise('fp8-fbgemm', 'FP8 with bf16 attention', fbgemm),
  channelwise('int8', 'INT8'),
  grouped('awq', 'AWQ int4, groups of 128', 4, 128, true),
  grouped('awq-g32', 'AWQ int4, groups of 32', 4, 32, true),
  grouped('gptq', 'GPTQ int4, groups of 128', 4, 128, false),
  grouped('gptq-int8', 'GPTQ int8, groups of 128', 8, 128, false),
  grouped('int4', 'int4, groups of 128', 4, 128, false),
  grouped('int4-experts', 'int4 experts, groups of 32', 4, 32, false, expertsOnly),
  blocked('nvfp4', 'NVFP4', 4, 16, 1),
  blocked('mxfp4', 'MXFP4', 4, 32, 1),
  blocked('mxfp4-experts', 'MXFP4 experts', 4, 32, 1, expertsOnly),
  blocked('mxfp8', 'MXFP8', 8, 32, 1),
  // NF4 with doubly quantised scales: 8 bit for each 64 weights and 32 bit for each 256 of those.
  blocked('bnb-4bit', 'bitsandbytes 4 bit', 4, 64, 1 + 4 / 256),
  channelwise('bnb-8bit', 'bitsandbytes 8 bit'),
  grouped('hqq-4bit', 'HQQ int4, groups of 64', 4, 64, true),
  blocked('aqlm-2bit', 'AQLM 2 bit', 2, 16, 0.25),
  blocked('exl2', 'EXL2', 4, 32, 0.5),
  ...(Object.keys(ggufBits) as (keyof typeof ggufBits)[]).map(gguf),
];

const byId: ReadonlyMap<string, QuantizationScheme> = new Map(schemes.map((scheme) => [scheme.id, scheme]));

/** The layout of a precision. Every id has one. */
export function schemeOf(id: QuantizationId): QuantizationScheme {
  const scheme = byId.get(id);
  if (scheme === undefined) throw new Error(`no layout for the precision ${id}`);
  return scheme;
}

/** True when the precision is one that the product knows. */
export function isQuantizationId(text: string): text is QuantizationId {
  return byId.has(text);
}

/** True for 16- and 32-bit weights. */
export function isUnquantised(id: QuantizationId): boolean {
  return ['bf16', 'fp16', 'fp32', 'gguf-f16', 'gguf-bf16', 'gguf-f32'].includes(id);
}

/** Bits for each weight under the exl2 or similar formats whose name says them. */
export function schemeWithBits(id: QuantizationId, bits: number): QuantizationScheme {
  const scheme = schemeOf(id);
  const bytes = bits / 8;
  return {
    ...scheme,
    bytesPerParameter: bytes,
    wholeModel: () => ({ low: bytes, expected: bytes * 1.04, high: bytes * 1.15 }),
    tensors: (rows, columns) => [rows * columns * bytes],
  };
}

/** Boundaries that count as the end of a word in a model name. */
const word = (pattern: string): RegExp => new RegExp(`(?<![a-z0-9])(?:${pattern})(?![a-z0-9])`, 'i');

/** First match wins, so the more exact words come first. */
const words: readonly (readonly [RegExp, QuantizationId])[] = [
  ...(Object.keys(ggufBits) as GgufType[])
    .concat(['gguf-f16', 'gguf-bf16', 'gguf-f32'])
    .map((id): readonly [RegExp, QuantizationId] => {
      const type = id.slice('gguf-'.length);
      // `f16` and `bf16` alone are precisions of any format; only with the word gguf they mean a file type.
      return type.endsWith('f16') || type === 'f32'
        ? [
            new RegExp(`gguf.*(?<![a-z0-9])${type}(?![a-z0-9])|(?<![a-z0-9])${type}(?![a-z0-9]).*gguf`, 'i'),
            id,
          ]
        : [word(type.replace(/_/g, '[_-]')), id];
    })
    // Longer names first: q4_k_m before q4_0 would not matter, iq4_xs before q4 would.
    .sort((a, b) => b[1].length - a[1].length),
  [word('gptq[-_.]?(?:int)?8(?:bit)?|(?:int)?8(?:bit)?[-_.]?gptq|gptq[-_.]w8a16'), 'gptq-int8'],
  [word('gptq(?:[-_.]?marlin)?(?:[-_.]?(?:int)?4(?:bit)?)?|autoround'), 'gptq'],
  [word('awq(?:[-_.]?marlin)?(?:[-_.]?(?:int)?4(?:bit)?)?'), 'awq'],
  [word('nvfp4|nv[-_.]fp4|modelopt[-_.]fp4|fp4'), 'nvfp4'],
  [word('mxfp8'), 'mxfp8'],
  [word('mxfp4|mx[-_.]fp4'), 'mxfp4'],
  [word('bnb[-_.]?8(?:bit)?|bitsandbytes[-_.]?8(?:bit)?'), 'bnb-8bit'],
  [
    word(
      '(?:unsloth[-_.])?bnb(?:[-_.]?4(?:bit|b)?)?|bitsandbytes(?:[-_.]?4(?:bit)?)?|nf4|4[-_.]?bit[-_.]?bnb',
    ),
    'bnb-4bit',
  ],
  [word('hqq(?:[-_.]?4(?:bit)?)?'), 'hqq-4bit'],
  [word('aqlm(?:[-_.]?2(?:bit)?)?'), 'aqlm-2bit'],
  [word('exl2|exl3|\\d+(?:\\.\\d+)?bpw'), 'exl2'],
  [word('fbgemm(?:[-_.]?fp8)?'), 'fp8-fbgemm'],
  [word('fp8(?:[-_.]?(?:dynamic|block|e4m3|e5m2|kv|tensorwise))?|f8|w8a8[-_.]?fp8|fp8[-_.]?w8a8'), 'fp8'],
  [word('w8a8|w8a16|int8|8[-_.]?bit|eetq|smoothquant|sq8?'), 'int8'],
  [word('w4a16(?:[-_.]?g\\d+)?|w4a8|w4a4|int4|4[-_.]?bit|u4|i4'), 'int4'],
  [word('bf16|bfloat16'), 'bf16'],
  [word('fp16|float16|half|f16'), 'fp16'],
  [word('fp32|float32|f32'), 'fp32'],
];

/**
 * The precision that a name or an option says (`...-AWQ`, `FP8`, `w8a8`, `q4_K_M`, `--quantization awq`);
 * undefined when it says none.
 */
export function quantizationIn(text: string): QuantizationId | undefined {
  const found = words.find(([pattern]) => pattern.test(text));
  return found?.[1];
}

/** `4.0bpw` in a name. */
export function bitsPerWeightIn(text: string): number | undefined {
  const match = /(?<![a-z0-9.])(\d+(?:\.\d+)?)bpw(?![a-z0-9])/i.exec(text);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
