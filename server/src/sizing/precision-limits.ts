import type { ModelServer } from '../kube/model-server';
import type { Gpu } from './gpus';
import { olderThan, type Engine } from './memory/engines';
import type { QuantizationId } from './models/quantization';

/** What a server computes or loads, as far as a GPU can be too old for it. */
export type Precision = 'bfloat16' | 'fp8' | 'modelopt-fp8' | 'nvfp4' | 'mxfp4' | 'awq';

/** Servers that run vLLM. */
const vllm: readonly ModelServer['engine'][] = ['vllm', 'kserve', 'ray-serve-llm', 'dynamo', 'lmi'];

interface Limit {
  readonly engines: readonly ModelServer['engine'][];
  readonly precision: Precision;
  /** CUDA compute capability below which nothing runs it. */
  readonly least: number;
  /** Only for versions known to be older. */
  readonly olderThan?: readonly [number, number];
  readonly source: string;
}

/**
 * Compute capabilities below which an engine refuses a precision. Where newer versions have learned to fall back, the
 * row says the version; a version that is not known is taken to be new enough.
 */
const limits: readonly Limit[] = [
  {
    engines: vllm,
    precision: 'bfloat16',
    least: 8,
    source: 'vLLM: "Bfloat16 is only supported on GPUs with compute capability of at least 8.0" (vllm#1157)',
  },
  {
    engines: vllm,
    precision: 'fp8',
    least: 8,
    olderThan: [0, 12],
    source: 'vLLM: minimum capability 80 of its FP8 schemes (vllm#14040)',
  },
  {
    engines: vllm,
    precision: 'fp8',
    least: 7.5,
    source: 'vLLM: no FP8 kernels on Volta, not even weight-only ones',
  },
  {
    engines: [...vllm, 'sglang'],
    precision: 'modelopt-fp8',
    least: 8.9,
    source: 'vLLM and SGLang: minimum capability 89 of ModelOptFp8Config, which has no weight-only kernels',
  },
  {
    engines: vllm,
    precision: 'awq',
    least: 7.5,
    source: 'vLLM: minimum capability 75 of AWQ (vllm#1488, vllm#4202)',
  },
  {
    engines: vllm,
    precision: 'nvfp4',
    least: 10,
    olderThan: [0, 9],
    source: 'vLLM: FP4 only on Blackwell before the weight-only Marlin kernels of 0.9',
  },
  { engines: vllm, precision: 'nvfp4', least: 7.5, source: 'vLLM: the weight-only FP4 kernels need Turing' },
  {
    engines: vllm,
    precision: 'mxfp4',
    least: 8,
    olderThan: [0, 12],
    source: 'vLLM: minimum capability 80 of MXFP4',
  },
  { engines: vllm, precision: 'mxfp4', least: 7.5, source: 'vLLM: no MXFP4 kernels on Volta' },
  {
    engines: ['sglang'],
    precision: 'nvfp4',
    least: 7.5,
    source: 'SGLang: the weight-only FP4 kernels need Turing (sglang#19652)',
  },
  {
    engines: ['tensorrt-llm'],
    precision: 'nvfp4',
    least: 10,
    source: 'TensorRT-LLM support matrix: NVFP4 on Blackwell',
  },
  {
    engines: ['tensorrt-llm'],
    precision: 'fp8',
    least: 8.9,
    source: 'TensorRT-LLM support matrix: FP8 on Ada, Hopper and Blackwell',
  },
];

/** Why a server cannot use a precision on a card. */
export interface TooOld {
  readonly least: number;
  readonly source: string;
}

/** Whether a card is too old for what a server loads; `undefined` where it is not, or where that is not known. */
export function tooOldFor(
  gpu: Gpu,
  precision: Precision,
  server: ModelServer['engine'],
  engine: Engine,
): TooOld | undefined {
  const capability = gpu.computeCapability;
  if (gpu.vendor !== 'nvidia' || capability === undefined) return undefined;
  return limits.find(
    (limit) =>
      limit.engines.includes(server) &&
      limit.precision === precision &&
      capability < limit.least &&
      (limit.olderThan === undefined || olderThan(engine, limit.olderThan[0], limit.olderThan[1])),
  );
}

/** The precision of weights, where a GPU can be too old for it. */
export function precisionOfWeights(quantization: QuantizationId): Precision | undefined {
  if (quantization.startsWith('fp8')) return 'fp8';
  if (quantization.startsWith('mxfp4')) return 'mxfp4';
  if (quantization === 'nvfp4') return 'nvfp4';
  return quantization.startsWith('awq') ? 'awq' : undefined;
}

/** Compute capability from which a GPU computes in FP4; on older ones the weights are unpacked as they are used. */
export const nativeFp4 = 10;
