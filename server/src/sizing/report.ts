import { formatBytes } from '../kube/quantity';
import type { Gpu } from './gpus';
import { hostMemoryForLoad, loaderOf, type HostEstimate } from './memory/host';
import {
  estimate,
  maxModelLenOf,
  splitOf,
  type MemoryEstimate,
  type ServingConfig,
  type Verdict,
} from './memory/estimate';
import { describeParameters, storedWeights } from './memory/loaded-weights';
import { schemeOf } from './models/quantization';
import type { Range } from './models/range';
import { unevenSplit, unevenText, type Placement } from './placements';

/** The arithmetic of one server, for people and programs. Bytes, unless a field says otherwise. */
export interface SizingReport {
  /** The model as it was named. */
  readonly model: string;
  /** The model of the catalogue that it is taken for; absent where only its size is known. */
  readonly knownAs?: string;
  readonly parameters: Range;
  /** `bf16`, `AWQ int4, groups of 128`. */
  readonly precision: string;
  readonly gpu?: Gpu;
  readonly tensorParallel: number;
  readonly pipelineParallel: number;
  readonly estimate: MemoryEstimate;
  /** All weights, as they are stored. */
  readonly weights: Range;
  readonly host: HostEstimate;
  /** Tokens: as asked for, else the model's own maximum. */
  readonly requestedLength?: number;
  /** Tokens of the longest request that fits, at most the model's own maximum; absent where it is not known. */
  readonly largestLength?: Range;
  readonly fits: Verdict;
  /** What the verdict means, in one sentence. */
  readonly verdict: string;
  readonly reasons: readonly string[];
}

export interface ReportOptions {
  /** How people call the engine: `vLLM`. */
  readonly engineTitle: string;
  /** GPU workers of one pod; all of the replica's when absent. */
  readonly workersPerPod?: number;
  readonly loadFormat?: string;
}

const tokens = (count: number): string => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');

/** What one replica of a server needs, on the GPU of the configuration where there is one. */
export function sizingReport(config: ServingConfig, options: ReportOptions): SizingReport {
  const result = estimate(config);
  const uneven = whyUneven(config);
  const { quantization } = result;
  const weights = storedWeights(config.model, quantization, config.model.bitsPerWeight);
  const split = splitOf(config);
  const gpusPerCopy = split.tensor * split.pipeline;
  const host = hostMemoryForLoad({
    weights,
    quantization,
    loader: loaderOf(config.engine, quantization, options.loadFormat),
    engine: config.engine,
    workers: options.workersPerPod ?? gpusPerCopy,
    gpusPerCopy,
    ...(config.cpuOffloadBytes === undefined ? {} : { offloadBytesPerWorker: config.cpuOffloadBytes }),
  });
  const requestedLength = maxModelLenOf(config);
  const largestLength = largest(config, result);
  const { knownAs } = config.model;
  return {
    model: config.model.name,
    ...(knownAs === undefined ? {} : { knownAs }),
    parameters: config.model.parameters,
    precision: schemeOf(quantization).label,
    ...(config.gpu === undefined ? {} : { gpu: config.gpu }),
    tensorParallel: split.tensor,
    pipelineParallel: split.pipeline,
    estimate: result,
    weights,
    host,
    ...(requestedLength === undefined ? {} : { requestedLength }),
    ...(largestLength === undefined ? {} : { largestLength }),
    fits: uneven === undefined ? result.fits : 'no',
    verdict:
      uneven === undefined
        ? verdictText(config, result, largestLength, options.engineTitle)
        : `${options.engineTitle} refuses to start: ${uneven}`,
    reasons: [
      `${describeParameters(config.model.parameters)} at ${schemeOf(quantization).label}`,
      ...result.weights.perGpu.reasons,
      ...(result.kvPerToken?.reasons ?? []),
      ...(result.budget?.reasons ?? []),
      ...result.nonTorch.reasons,
      ...result.activation.reasons,
      ...result.cudaGraphs.reasons,
      ...host.need.reasons,
    ].filter((reason, index, all) => all.indexOf(reason) === index),
  };
}

/** Why an engine cannot cut the model so; `undefined` where it can, or the shape is not known. */
function whyUneven(config: ServingConfig): string | undefined {
  const { tensor } = splitOf(config);
  const uneven = unevenSplit(config, tensor);
  return uneven && `tensor parallel ${tensor} ${unevenText(uneven)}`;
}

function largest(config: ServingConfig, { kv, weightsFit }: MemoryEstimate): Range | undefined {
  const longest = kv?.longestRequest;
  if (longest === undefined || weightsFit === 'no') return undefined;
  const most = config.model.model?.maxPositions ?? Infinity;
  return {
    low: Math.min(longest.low, most),
    expected: Math.min(longest.expected, most),
    high: Math.min(longest.high, most),
  };
}

/** Engines compare the length with the model's own before anything else. */
function beyondModel(config: ServingConfig, length: number | undefined): string {
  const own = config.model.model?.maxPositions;
  return own === undefined || length === undefined || length <= own
    ? ''
    : `; the model was made for ${tokens(own)} tokens, and engines start with more only when they are told to`;
}

function verdictText(
  config: ServingConfig,
  { fits, weightsFit, contextFits, weights, budget, kv, kvNeeded, maxModelLen }: MemoryEstimate,
  longest: Range | undefined,
  engine: string,
): string {
  if (config.gpu === undefined && config.gpuMemory === undefined) return 'No GPU is named';
  const copies = splitOf(config);
  const each = copies.tensor * copies.pipeline > 1 ? ' on each GPU' : '';
  if (weightsFit === 'no') {
    return `It does not fit: ${formatBytes(weights.perGpu.expected)} of weights${each} and working memory exceed the ${formatBytes(budget?.expected ?? 0)} that ${engine} may fill`;
  }
  const length = maxModelLen === undefined ? '' : `${tokens(maxModelLen)} tokens`;
  const most =
    longest === undefined
      ? ''
      : `; the largest length that fits is about ${tokens(longest.expected)} tokens (${tokens(longest.low)} to ${tokens(longest.high)})`;
  if (contextFits === 'no') {
    return `${engine} refuses to start: a request of ${length} needs ${formatBytes(kvNeeded?.expected ?? 0)} of KV cache${each}, about ${formatBytes(kv?.available.expected ?? 0)} are left${most}`;
  }
  if (fits === 'yes')
    return length === ''
      ? 'It fits'
      : `It fits, with requests of ${length}${beyondModel(config, maxModelLen)}`;
  if (weightsFit === 'unknown') {
    return `It may fit: ${formatBytes(weights.perGpu.expected)} of weights${each} leave little or nothing for the KV cache${most}`;
  }
  if (kvNeeded === undefined) return 'The weights fit; the KV cache of this model is not known';
  return `It may fit: a request of ${length} needs ${formatBytes(kvNeeded.expected)} of KV cache${each}, ${formatBytes(kv?.available.low ?? 0)} to ${formatBytes(kv?.available.high ?? 0)} are left${most}`;
}

/** Figures of a report as a program reads them: plain numbers, in the order of the arithmetic. */
export interface PlainReport {
  readonly model: string;
  readonly knownAs: string | null;
  readonly parameters: Range;
  readonly precision: string;
  readonly gpu: string | null;
  readonly tensorParallel: number;
  readonly pipelineParallel: number;
  /** Bytes of the whole model. */
  readonly weights: Range;
  /** Bytes on one GPU, as the engine loads them. */
  readonly weightsPerGpu: Range;
  /** Bytes on one GPU; null for models without a cache or of which only the size is known. */
  readonly kvPerToken: Range | null;
  /** Bytes on one GPU; null where no GPU is known. */
  readonly kvAvailable: Range | null;
  /** Bytes of host memory that a pod needs while it loads. */
  readonly host: Range;
  /** Tokens. */
  readonly requestedMaxModelLen: number | null;
  /** Tokens of the longest request that fits; the model's own maximum where no GPU is known. */
  readonly maxModelLen: number | null;
  readonly maxModelLenRange: Range | null;
  readonly fits: Verdict;
  readonly verdict: string;
  readonly reasons: readonly string[];
}

const whole = ({ low, expected, high }: Range): Range => ({
  low: Math.round(low),
  expected: Math.round(expected),
  high: Math.round(high),
});

/** A report without its objects. */
export function plainReport(report: SizingReport, ownMaximum: number | undefined): PlainReport {
  const { estimate: result, largestLength } = report;
  const available = result.kv?.available;
  return {
    model: report.model,
    knownAs: report.knownAs ?? null,
    parameters: whole(report.parameters),
    precision: report.precision,
    gpu: report.gpu?.id ?? null,
    tensorParallel: report.tensorParallel,
    pipelineParallel: report.pipelineParallel,
    weights: whole(report.weights),
    weightsPerGpu: whole(result.weights.perGpu),
    kvPerToken: result.kvPerToken === undefined ? null : whole(result.kvPerToken),
    kvAvailable: available === undefined ? null : whole(available),
    host: whole(report.host.need),
    requestedMaxModelLen: report.requestedLength ?? null,
    maxModelLen: largestLength?.expected ?? (available === undefined ? (ownMaximum ?? null) : null),
    maxModelLenRange: largestLength === undefined ? null : whole(largestLength),
    fits: report.fits,
    verdict: report.verdict,
    reasons: report.reasons,
  };
}

/** One line of the list of instance types. */
export interface PlainPlacement {
  readonly instanceType: string;
  readonly gpu: string;
  readonly gpus: number;
  readonly tensorParallel: number;
  /** USD per hour; null where the list has none. */
  readonly pricePerHour: number | null;
  readonly kvAvailable: Range | null;
  /** Tokens of the longest request that fits. */
  readonly maxModelLen: number | null;
  readonly fits: Verdict;
}

/** Where a server fits, cheapest first. */
export function plainPlacements(
  found: readonly Placement[],
  ownMaximum: number | undefined,
): readonly PlainPlacement[] {
  return found.map(({ type, gpu, tensorParallel, estimate: result }) => {
    const longest = result.kv?.longestRequest?.expected;
    return {
      instanceType: type.name,
      gpu: gpu.id,
      gpus: type.gpus?.count ?? 0,
      tensorParallel,
      pricePerHour: type.onDemandPrice ?? null,
      kvAvailable: result.kv === undefined ? null : whole(result.kv.available),
      maxModelLen: longest === undefined ? null : Math.min(longest, ownMaximum ?? Infinity),
      fits: result.fits,
    };
  });
}
