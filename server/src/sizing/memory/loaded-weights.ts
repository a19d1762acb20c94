import type { Gpu } from '../gpus';
import { identityOf, remembered } from '../memo';
import { isUnquantised, schemeOf, schemeWithBits } from '../models/quantization';
import type { QuantizationId, QuantizationScheme } from '../models/quantization';
import type { Estimate, Range } from '../models/range';
import { estimateOf, exactly, GiB, MiB, range, scale } from '../models/range';
import type { DecoderShape, ModelIdentity, ModelSpec } from '../models/types';
import type { ExpertPadding, Split } from '../models/weights';
import { countParameters, tensorSizes, weightMatrices } from '../models/weights';
import { createAllocator } from './allocator';
import type { AllocatedMemory } from './allocator';
import type { Engine } from './engines';
import { vllmTraits } from './engines';
import { expertPaddings } from './expert-padding';

/** Adapters that the server keeps slots for. */
export interface LoraSlots {
  readonly rank: number;
  readonly slots: number;
}

export interface WeightOptions {
  readonly quantization: QuantizationId;
  readonly bitsPerWeight?: number;
  readonly split: Split;
  readonly engine: Engine;
  readonly lora?: LoraSlots;
  /** The card, whose kernels decide how experts are laid out. */
  readonly gpu?: Gpu;
  /** AMD's allocator wastes more. */
  readonly rocm?: boolean;
}

/** Rotary tables are computed for every position up front; beyond a million no engine keeps them all. */
const maxRotaryPositions = 2 ** 20;

function elementBytesOf(spec: ModelSpec, quantization: QuantizationId): number {
  if (quantization === 'fp32' || quantization === 'gguf-f32') return 4;
  // Engines load fp32 checkpoints of generative models in 16 bit; embedding servers keep what they are told.
  return spec.dtype === 'fp32' && !isUnquantised(quantization) ? 4 : 2;
}

/** bf16 activations, 64 cos and 64 sin values for each position of a 128-wide head: 2 x 64 x 2 bytes. */
function rotaryBytes(spec: ModelSpec, shape: DecoderShape): number {
  const width = shape.latent?.ropeDim ?? shape.headDim * (shape.rotary ?? 1);
  const positions = Math.min(spec.maxPositions ?? 0, maxRotaryPositions);
  return positions * width * 2 * (shape.rotaryTables ?? 1);
}

/**
 * What multi-head latent attention adds in bf16 beside its weights: the up-projections W_UK and W_UV, or, up
 * to vLLM 0.7, the products that were multiplied out in advance (at the weights' own precision).
 */
function latentExtraBytes(shape: DecoderShape, split: Split, engine: Engine, bytesOfWeights: number): number {
  const latent = shape.latent;
  if (latent === undefined || engine.kind !== 'vllm') return 0;
  const heads = shape.heads / split.tensor;
  const layers = Math.ceil(shape.layers / split.pipeline);
  if (vllmTraits(engine).latentAbsorbed) {
    const queryIn = latent.queryRank ?? shape.hidden;
    const elements =
      queryIn * heads * latent.kvRank + // W_Q x W_UK
      queryIn * heads * latent.ropeDim + // W_QR
      heads * latent.kvRank * shape.hidden; // W_UV x W_O
    // FP8 products are quantised again, everything else is multiplied out to 16 bit.
    return layers * elements * (Math.round(bytesOfWeights) === 1 && bytesOfWeights >= 1 ? 1 : 2);
  }
  return layers * heads * latent.kvRank * (latent.nopeDim + latent.valueDim) * 2;
}

/** A and B of each adapted linear, for every slot, in the model's dtype. */
function loraBytes(shape: DecoderShape, split: Split, lora: LoraSlots): number {
  const queries = (shape.heads * shape.headDim) / split.tensor;
  const keys = Math.max(1, shape.kvHeads / split.tensor) * shape.headDim;
  const inner = (shape.mlp?.size ?? 0) / split.tensor;
  const elements =
    shape.hidden +
    queries +
    2 * (shape.hidden + keys) +
    (queries + shape.hidden) +
    3 * (shape.hidden + inner);
  return Math.ceil(shape.layers / split.pipeline) * elements * lora.rank * lora.slots * 2;
}

function allocate(
  spec: ModelSpec,
  shape: DecoderShape,
  scheme: QuantizationScheme,
  options: WeightOptions,
  padding?: ExpertPadding,
): AllocatedMemory {
  const elementBytes = elementBytesOf(spec, options.quantization);
  const { split, engine } = options;
  const allocator = createAllocator();
  const matrices = weightMatrices(shape, split, padding);
  let rotaryDone = false;
  for (const item of matrices) {
    for (const size of tensorSizes(item, scheme, shape.layers, elementBytes)) allocator.allocate(size);
    if (!rotaryDone && item.role !== 'embedding') {
      allocator.allocate(rotaryBytes(spec, shape));
      rotaryDone = true;
    }
  }
  // What the published count knows beyond the shape (unknown parts), as if cut like everything else.
  const remainder = remainderOf(spec, shape);
  if (remainder > 0) {
    const bytes = (remainder * scheme.bytesPerParameter) / split.tensor / split.pipeline;
    const pieces = Math.max(1, Math.round(bytes / (16 * MiB)));
    for (let piece = 0; piece < pieces; piece += 1) allocator.allocate(bytes / pieces);
  }
  const extra = latentExtraBytes(shape, split, engine, scheme.bytesPerParameter);
  if (extra > 0) {
    const layers = Math.ceil(shape.layers / split.pipeline);
    for (let layer = 0; layer < layers; layer += 1) allocator.allocate(extra / layers);
  }
  if (options.lora !== undefined) allocator.allocate(loraBytes(shape, split, options.lora));
  const { allocated, reserved } = allocator.result();
  // A head that was made and then tied is free again, but its memory stays reserved.
  const head = shape.headBeforeTie === true ? (shape.vocab * shape.hidden * elementBytes) / split.tensor : 0;
  return { allocated, reserved: reserved + head };
}

/** Parameters that are published but not accounted for by the shape; below 0.5 % it is rounding. */
function remainderOf(spec: ModelSpec, shape: DecoderShape): number {
  const difference = spec.parameters - countParameters(shape);
  return difference > spec.parameters * 0.005 ? difference : 0;
}

/** Which way engines report the size of loaded weights. */
function countsReserved(engine: Engine, released: string | undefined): boolean {
  return (
    engine.kind === 'sglang' || (engine.kind === 'vllm' && vllmTraits(engine, released).loadCountsReserved)
  );
}

/** False only where the version says that reserved memory is not counted. */
function mayCountReserved(engine: Engine): boolean {
  if (engine.kind !== 'vllm') return true;
  const traits = vllmTraits(engine);
  return traits.loadCountsReserved || (traits.generation === 'V1' && !traits.certain);
}

/** The precision to load with: what the command says, else what the name says, else what the repository ships. */
export function effectiveQuantization(
  identity: ModelIdentity,
  override: QuantizationId | undefined,
): QuantizationId {
  const said = identity.quantization ?? identity.model?.quantization;
  if (override !== undefined && !(isUnquantised(override) && said !== undefined && !isUnquantised(said))) {
    // `--quantization fp8` on a checkpoint that already is a kind of fp8 keeps the checkpoint's own layout.
    if (said !== undefined && sameFamily(said, override)) return said;
    return override;
  }
  return said ?? (identity.model?.dtype === 'fp32' ? 'fp16' : (identity.model?.dtype ?? 'bf16'));
}

function sameFamily(a: QuantizationId, b: QuantizationId): boolean {
  const family = (id: QuantizationId): string =>
    id.startsWith('fp8')
      ? 'fp8'
      : id.startsWith('awq')
        ? 'awq'
        : id.startsWith('mxfp4')
          ? 'mxfp4'
          : (id.split('-')[0] ?? id);
  return family(a) === family(b);
}

/**
 * Weights on the fullest GPU, with the allocator's rounding, rotary tables and replicated parts.
 *
 * `undefined` when not even the number of parameters is known.
 */
export function loadedWeights(identity: ModelIdentity, options: WeightOptions): Estimate {
  const { split, quantization } = options;
  const scheme =
    options.bitsPerWeight === undefined
      ? schemeOf(quantization)
      : schemeWithBits(quantization, options.bitsPerWeight);
  const spec = identity.model;
  const shape = spec?.shape;
  if (spec !== undefined && shape !== undefined && usableShape(spec, shape)) {
    return fromShape(spec, shape, scheme, options, identity);
  }
  const parts = split.tensor * split.pipeline;
  const total = totalFromCount(identity, scheme, quantization);
  const replicated = parts > 1 ? 1.06 : 1.02;
  const perGpu = range(total.low / parts, total.expected / parts, (total.high / parts) * replicated);
  return estimateOf(perGpu, [
    ...identity.reasons,
    `${describeParameters(identity.parameters)} at ${scheme.label}${parts > 1 ? `, over ${parts} GPUs` : ''}`,
  ]);
}

/** A shape without MLP or experts counts too little to be worth more than the published number. */
function usableShape(spec: ModelSpec, shape: DecoderShape): boolean {
  return countParameters(shape) > 0.55 * spec.parameters && countParameters(shape) < 1.03 * spec.parameters;
}

function totalFromCount(
  identity: ModelIdentity,
  scheme: QuantizationScheme,
  quantization: QuantizationId,
): Range {
  const spec = identity.model;
  if (spec?.fileBytes !== undefined && (spec.quantization ?? spec.dtype) === quantization) {
    return range(spec.fileBytes * 0.98, spec.fileBytes, spec.fileBytes * 1.06);
  }
  const perParameter = scheme.wholeModel(identity.parameters.expected);
  return {
    low: identity.parameters.low * perParameter.low,
    expected: identity.parameters.expected * perParameter.expected,
    high: identity.parameters.high * perParameter.high,
  };
}

function fromShape(
  spec: ModelSpec,
  shape: DecoderShape,
  scheme: QuantizationScheme,
  options: WeightOptions,
  identity: ModelIdentity,
): Estimate {
  const { split, engine } = options;
  const paddings = shape.experts === undefined ? undefined : expertPaddings(scheme.id, engine, options.gpu);
  const memory = allocate(spec, shape, scheme, options, paddings?.expected);
  const reserved = countsReserved(engine, spec.released);
  const measured = reserved ? memory.reserved : memory.allocated;
  const reasons = [
    ...identity.reasons,
    `${describeParameters(exactly(spec.parameters))} at ${scheme.label}` +
      (split.tensor * split.pipeline > 1
        ? `, over tensor parallel ${split.tensor}${split.pipeline > 1 ? ` x pipeline ${split.pipeline}` : ''}`
        : ''),
    `PyTorch's allocator rounds it up to ${(measured / GiB).toFixed(2)} GiB with the rotary tables`,
  ];
  // Plain 16-bit loads agree within 0.4 % (1.7 % on ROCm); quantisers leave layers out that no name tells.
  const plain = isUnquantised(scheme.id);
  let low = memory.allocated * (plain ? 0.995 : 0.985);
  let high =
    (mayCountReserved(engine) ? memory.reserved : memory.allocated) *
    (plain ? (options.rocm === true ? 1.02 : 1.006) : 1.03);
  let expected = measured;
  if (paddings !== undefined) {
    // The formats of the experts are exact once their layout is known; what is left is a choice of kernels.
    low = allocate(spec, shape, scheme, options, paddings.low).allocated * 0.99;
    const most = allocate(spec, shape, scheme, options, paddings.high);
    high = (mayCountReserved(engine) ? most.reserved : most.allocated) * 1.01;
    const plainBytes = allocate(spec, shape, scheme, options).allocated;
    reasons.push(
      `the kernel stores MXFP4 experts in tiles, so that ${(plainBytes / GiB).toFixed(1)} GiB become ${(measured / GiB).toFixed(1)} GiB`,
    );
  }
  if (scheme.id === 'nvfp4' && shape.linear !== undefined) {
    // Two published recipes for hybrid models: everything in NVFP4, or attention kept at FP8.
    const mixed = allocate(
      spec,
      shape,
      { ...scheme, covers: (role) => role === 'mlp' || role === 'expert' },
      options,
    );
    const mixedFp8 = memory.allocated + (mixed.allocated - memory.allocated) * ((1 - 0.5625) / (2 - 0.5625));
    low = memory.allocated * 0.985;
    high = mixedFp8 * 1.02;
    expected = (memory.allocated + mixedFp8) / 2;
    reasons.push('NVFP4 checkpoints of hybrid models keep attention at FP8 or not; the middle is shown');
  }
  if (identity.matchedBy === 'family') {
    reasons.push('the name points at a fine-tune or a copy; its shape is taken to be that of the original');
  }
  return estimateOf(range(low, expected, high), reasons);
}

/** Weights of the whole model as they are stored, which is what is downloaded and read. */
export function storedWeights(
  identity: ModelIdentity,
  quantization: QuantizationId,
  bitsPerWeight?: number,
): Estimate {
  return reckonStored({ identity, quantization, bitsPerWeight });
}

const reckonStored = remembered(1000, reckonStoredAnew, ({ identity, quantization, bitsPerWeight }) =>
  [identityOf(identity), quantization, bitsPerWeight].join(' '),
);

interface Stored {
  readonly identity: ModelIdentity;
  readonly quantization: QuantizationId;
  readonly bitsPerWeight: number | undefined;
}

function reckonStoredAnew({ identity, quantization, bitsPerWeight }: Stored): Estimate {
  const scheme =
    bitsPerWeight === undefined ? schemeOf(quantization) : schemeWithBits(quantization, bitsPerWeight);
  const spec = identity.model;
  const shape = spec?.shape;
  const label = `${describeParameters(identity.parameters)} at ${scheme.label}`;
  if (spec?.fileBytes !== undefined && (spec.quantization ?? spec.dtype) === quantization) {
    return estimateOf(exactly(spec.fileBytes), [...identity.reasons, label]);
  }
  if (spec !== undefined && shape !== undefined && usableShape(spec, shape)) {
    const elementBytes =
      spec.dtype === 'fp32' && isUnquantised(quantization)
        ? quantization === 'fp32'
          ? 4
          : 2
        : elementBytesOf(spec, quantization);
    let bytes = remainderOf(spec, shape) * scheme.bytesPerParameter;
    for (const item of weightMatrices(shape, { tensor: 1, pipeline: 1, expert: 1 })) {
      for (const size of tensorSizes(item, scheme, shape.layers, elementBytes)) bytes += size;
    }
    return estimateOf(range(bytes * 0.99, bytes, bytes * (isUnquantised(quantization) ? 1.01 : 1.05)), [
      ...identity.reasons,
      label,
    ]);
  }
  return estimateOf(totalFromCount(identity, scheme, quantization), [...identity.reasons, label]);
}

/** `8.03 billion parameters`, `6.5 to 8.8 billion parameters`. */
export function describeParameters(parameters: Range): string {
  const text = (value: number): string =>
    value >= 1e9 ? `${Number((value / 1e9).toPrecision(3))} billion` : `${Math.round(value / 1e6)} million`;
  return parameters.low === parameters.high
    ? `${text(parameters.expected)} parameters`
    : `${text(parameters.low)} to ${text(parameters.high)} parameters`;
}

/** The whole model over the GPUs of one replica. */
export function totalOverGpus(perGpu: Estimate, gpus: number): Range {
  return scale(perGpu, gpus);
}
