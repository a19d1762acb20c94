import type { VectorRunner } from './index';
import { findGpu, gpuInText, visibleMemory } from '../../server/src/sizing/gpus';
import type { Gpu } from '../../server/src/sizing/gpus';
import { parseVersion, vllmReleaseOf } from '../../server/src/sizing/memory/engines';
import type { Engine } from '../../server/src/sizing/memory/engines';
import { estimate, splitOf } from '../../server/src/sizing/memory/estimate';
import type { MemoryEstimate, ServingConfig } from '../../server/src/sizing/memory/estimate';
import { kvLayout, printedTokens, requestBytes } from '../../server/src/sizing/memory/kv-cache';
import type { KvOptions } from '../../server/src/sizing/memory/kv-cache';
import { identifyModel } from '../../server/src/sizing/models/identify';
import { quantizationIn } from '../../server/src/sizing/models/quantization';
import { GiB, range } from '../../server/src/sizing/models/range';
import type { Range } from '../../server/src/sizing/models/range';
import type { ModelIdentity } from '../../server/src/sizing/models/types';

/** One measured server, as the log of its start tells it. Every field may be missing or null. */
export interface MeasuredCase {
  readonly id: string;
  readonly model: string;
  readonly gpu: string;
  readonly engine: string;
  readonly note: string;
  readonly source: string;
  readonly weightsDtype: string;
  readonly kvDtype: string;
  readonly gpuTotalGiB?: number;
  readonly utilization?: number;
  readonly tensorParallel: number;
  readonly pipelineParallel?: number;
  readonly dataParallel?: number;
  readonly weightsGiBPerGpu?: number;
  readonly kvCacheGiBPerGpu?: number;
  readonly kvTokens?: number;
  readonly maxModelLen?: number;
  readonly neededKvGiBPerGpu?: number;
  readonly maxNumBatchedTokens?: number;
  readonly maxNumSeqs?: number;
  readonly enforceEager?: boolean;
  readonly cpuOffloadGb?: number;
}

/** A figure of the estimator beside the measured one. */
export interface Comparison {
  readonly agrees: boolean;
  /** What was measured, what came, for the line of a miss. */
  readonly text: string;
}

export interface CaseResult {
  readonly case: MeasuredCase;
  readonly identity: ModelIdentity | undefined;
  readonly estimate: MemoryEstimate | undefined;
  readonly weights?: Comparison;
  readonly kv?: Comparison;
  readonly room?: Comparison & { readonly width: number };
  /** Why something was not compared although it was measured. */
  readonly setAside: readonly string[];
}

const weightsTolerance = 0.02;
const kvTolerance = 0.002;

/** Logs print two decimals of a GiB: nothing finer than that can be compared. */
const printedResolution = 0.005 * GiB;

/**
 * With several workers the printed tokens are those of the worker with the least memory, while the printed
 * memory is that of the worker that logs. Fewer tokens than the memory would hold, down to this share, then
 * say nothing about bytes for each token; more tokens than that still do.
 */
const smallestWorkerShare = 0.75;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function text(record: Readonly<Record<string, unknown>>, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function number(record: Readonly<Record<string, unknown>>, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = record[key];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
      return Number(value);
  }
  return undefined;
}

/** Numbers that people write into notes: `max_num_batched_tokens=65536`, `--max-num-seqs 16`. */
function option(words: string, name: string): number | undefined {
  const pattern = new RegExp(`${name.replace(/-/g, '[-_ ]')}\\s*[=: ]?\\s*(\\d[\\d,]*)\\s*(k)?`, 'i');
  const match = pattern.exec(words);
  if (match?.[1] === undefined) return undefined;
  return Number(match[1].replace(/,/g, '')) * (match[2] === undefined ? 1 : 1024);
}

function defined<K extends string>(key: K, value: number | boolean | undefined): Partial<Record<K, never>> {
  return (value === undefined ? {} : { [key]: value }) as Partial<Record<K, never>>;
}

/** Reads one case; undefined when the value is not an object. */
export function readCase(value: unknown): MeasuredCase | undefined {
  if (!isRecord(value)) return undefined;
  const words = ['model', 'note', 'engine', 'gpu'].map((key) => text(value, key)).join(' ; ');
  const gpuWords = `${text(value, 'gpu')} ${text(value, 'model')}`;
  const dataParallel = number(value, 'dataParallel', 'dp') ?? numberIn(gpuWords, /(?<![a-z])dp\s?(\d+)/i);
  const pipelineParallel =
    number(value, 'pipelineParallel', 'pp') ?? numberIn(gpuWords, /(?<![a-z])pp\s?(\d+)/i);
  const eager = value['enforceEager'];
  const name = `${text(value, 'id')} ${text(value, 'model')} ${text(value, 'engine')}`;
  return {
    id: text(value, 'id') || '(no id)',
    model: text(value, 'model'),
    gpu: text(value, 'gpu'),
    engine: text(value, 'engine'),
    note: text(value, 'note'),
    source: text(value, 'source'),
    weightsDtype: text(value, 'weightsDtype'),
    kvDtype: text(value, 'kvDtype'),
    tensorParallel: Math.max(1, number(value, 'tensorParallel', 'tp') ?? 1),
    ...defined('gpuTotalGiB', number(value, 'gpuTotalGiB')),
    ...defined('utilization', number(value, 'gpuMemoryUtilization')),
    ...defined('weightsGiBPerGpu', number(value, 'weightsGiBPerGpu')),
    ...defined('kvCacheGiBPerGpu', number(value, 'kvCacheGiBPerGpu', 'availableKvGiBPerGpu')),
    ...defined('kvTokens', number(value, 'kvTokens')),
    ...defined('maxModelLen', number(value, 'maxModelLen', 'requestedMaxModelLen')),
    ...defined('neededKvGiBPerGpu', number(value, 'neededKvGiBPerGpu')),
    ...defined('dataParallel', dataParallel),
    ...defined('pipelineParallel', pipelineParallel),
    ...defined(
      'maxNumBatchedTokens',
      number(value, 'maxNumBatchedTokens') ?? option(words, 'max-num-batched-tokens'),
    ),
    ...defined('maxNumSeqs', number(value, 'maxNumSeqs') ?? option(words, 'max-num-seqs')),
    ...defined('cpuOffloadGb', number(value, 'cpuOffloadGb') ?? option(words, 'cpu-offload-gb')),
    ...defined('enforceEager', typeof eager === 'boolean' ? eager : /eager/i.test(name) ? true : undefined),
  };
}

function numberIn(words: string, pattern: RegExp): number | undefined {
  const match = pattern.exec(words);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** The server of a case: `vLLM 0.8.5 V1`, `vLLM V0`, `SGLang`, with a date where no version is written. */
export function engineOf(item: MeasuredCase): Engine {
  const words = item.engine;
  const kind: Engine['kind'] = /sglang/i.test(words)
    ? 'sglang'
    : /tgi|text-generation-inference/i.test(words)
      ? 'tgi'
      : /tensorrt|trt-?llm/i.test(words)
        ? 'tensorrt-llm'
        : /ollama/i.test(words)
          ? 'ollama'
          : /llama\.?cpp/i.test(words)
            ? 'llama.cpp'
            : 'vllm';
  const generation = /\bV0\b/.test(words) ? 'V0' : /\bV1\b/.test(words) ? 'V1' : undefined;
  if (kind !== 'vllm') return { kind };
  const inNote = /vllm\s+v?\d+\.\d+/i.exec(item.note)?.[0];
  const dated = /(20\d\d-[01]\d)/.exec(`${words} ${item.source}`)?.[1];
  const version =
    parseVersion(words) ??
    (inNote === undefined ? undefined : parseVersion(inNote)) ??
    (dated === undefined ? undefined : vllmReleaseOf(dated));
  return {
    kind,
    ...(generation === undefined ? {} : { generation }),
    ...(version === undefined ? {} : { version }),
  };
}

const rank: Readonly<Record<ModelIdentity['matchedBy'], number>> = {
  user: 3,
  catalogue: 3,
  family: 2,
  'name-size': 1,
};

/** The model by its own text, or by the id of the case where that says more (`same as above`). */
function identityOf(item: MeasuredCase): ModelIdentity | undefined {
  const byText = identifyModel(item.model);
  const byId = identifyModel(item.id);
  const better =
    (byText === undefined ? 0 : rank[byText.matchedBy]) >= (byId === undefined ? 0 : rank[byId.matchedBy]);
  const best = better ? byText : byId;
  if (best?.model !== undefined) return best;
  // A case may describe the shape instead of naming the model: `80L, 8kv`, `48L x 4kv x 128`.
  const shape = /(\d+)\s?L\b\D{0,4}(\d+)\s?kv\b(?:\s?x\s?(\d+))?/i.exec(`${item.model} ; ${item.note}`);
  if (shape?.[1] === undefined || shape[2] === undefined) return best;
  return identifyModel(item.model || item.id, {
    userModels: [
      {
        name: item.model || item.id,
        layers: Number(shape[1]),
        kvHeads: Number(shape[2]),
        headDim: Number(shape[3] ?? 128),
      },
    ],
  });
}

/** `24GB-class`: any of the cards of that size. */
function memoryOfClass(words: string): Range | undefined {
  const size = numberIn(words, /(\d{2,3})\s?GB[- ]class/i) ?? numberIn(words, /^\s*(\d{2,3})\s?GB/i);
  const members: Readonly<Record<number, readonly string[]>> = {
    24: ['a10g', 'l4', 'rtx-3090', 'rtx-4090'],
    40: ['a100'],
    48: ['l40s', 'rtx-a6000'],
    80: ['a100-80gb', 'h100'],
  };
  const found = (size === undefined ? [] : (members[size] ?? [])).flatMap((name) => findGpu(name) ?? []);
  if (found.length === 0) return undefined;
  const memories = found.map(visibleMemory);
  const lows = memories.map((memory) => memory.low);
  const highs = memories.map((memory) => memory.high);
  return range(Math.min(...lows), (Math.min(...lows) + Math.max(...highs)) / 2, Math.max(...highs));
}

function configOf(item: MeasuredCase, identity: ModelIdentity): ServingConfig {
  const gpu: Gpu | undefined = gpuInText(item.gpu);
  const total = item.gpuTotalGiB;
  const memory =
    total === undefined
      ? gpu === undefined
        ? memoryOfClass(item.gpu)
        : undefined
      : range((total - 0.005) * GiB, total * GiB, (total + 0.005) * GiB);
  const said = quantizationIn(item.weightsDtype);
  return {
    model: identity,
    engine: engineOf(item),
    tensorParallel: item.tensorParallel,
    kvElementBytes: /fp8|int8|e4m3|e5m2/i.test(item.kvDtype) ? 1 : 2,
    ...(gpu === undefined ? {} : { gpu }),
    ...(memory === undefined ? {} : { gpuMemory: memory }),
    ...(said === undefined ? {} : { quantization: said }),
    ...(item.pipelineParallel === undefined ? {} : { pipelineParallel: item.pipelineParallel }),
    ...(item.dataParallel === undefined ? {} : { dataParallel: item.dataParallel }),
    ...(/(?<![a-z])EP\d*\b|expert[- ]parallel/i.test(`${item.gpu} ${item.engine} ${item.model}`)
      ? { expertParallel: true }
      : {}),
    ...(item.utilization === undefined ? {} : { utilization: item.utilization }),
    ...(item.maxModelLen === undefined ? {} : { maxModelLen: item.maxModelLen }),
    ...(item.maxNumBatchedTokens === undefined ? {} : { maxNumBatchedTokens: item.maxNumBatchedTokens }),
    ...(item.maxNumSeqs === undefined ? {} : { maxNumSeqs: item.maxNumSeqs }),
    ...(item.enforceEager === undefined ? {} : { enforceEager: item.enforceEager }),
    ...(item.cpuOffloadGb === undefined ? {} : { cpuOffloadBytes: item.cpuOffloadGb * GiB }),
    // vLLM's own default rank; a case that says LoRA rarely says more.
    ...(/lora/i.test(item.model) ? { lora: { rank: 16, slots: 1 } } : {}),
  };
}

const percent = (value: number): string => `${(value * 100).toFixed(2)} %`;

function compareWeights(measured: number, computed: MemoryEstimate): Comparison {
  if (computed.weights.perGpu.expected <= 0) {
    return { agrees: false, text: `weights: measured ${measured} GiB, came unknown` };
  }
  const expected = computed.weights.perGpu.expected / GiB;
  const error = expected / measured - 1;
  return {
    agrees: Math.abs(error) <= weightsTolerance,
    text: `weights: measured ${measured} GiB, came ${expected.toFixed(3)} GiB (${percent(error)})`,
  };
}

/** Tokens of a pool, or bytes of a request, against what the log printed; a sentence when they cannot be compared. */
function compareKv(item: MeasuredCase, config: ServingConfig): Comparison | string | undefined {
  const pool = item.kvCacheGiBPerGpu;
  const comparesTokens = pool !== undefined && pool > 0 && item.kvTokens !== undefined;
  const comparesNeed = item.neededKvGiBPerGpu !== undefined && item.maxModelLen !== undefined;
  if (!comparesTokens && !comparesNeed) return undefined;
  const shape = config.model.model?.shape;
  if (shape === undefined) return { agrees: false, text: 'kv: the shape of the model is unknown' };
  const options: KvOptions = {
    split: splitOf(config),
    engine: config.engine,
    elementBytes: config.kvElementBytes ?? 2,
  };
  const layout = kvLayout(shape, options);
  if (comparesNeed && item.neededKvGiBPerGpu !== undefined && item.maxModelLen !== undefined) {
    const needed = item.neededKvGiBPerGpu * GiB;
    const came = requestBytes(layout, item.maxModelLen, options);
    const off = Math.max(0, Math.abs(came - needed) - printedResolution) / needed;
    return {
      agrees: off <= kvTolerance,
      text: `kv: measured ${item.neededKvGiBPerGpu} GiB for ${item.maxModelLen} tokens, came ${(came / GiB).toFixed(3)} GiB (${percent(came / needed - 1)})`,
    };
  }
  const tokens = item.kvTokens ?? 0;
  const tokensOf = (bytes: number): number => printedTokens(layout, bytes, options, item.maxModelLen) ?? 0;
  const bytes = (pool ?? 0) * GiB;
  const least = tokensOf(bytes - printedResolution) - layout.blockTokens;
  const most = tokensOf(bytes + printedResolution) + layout.blockTokens;
  const workers = item.tensorParallel * (item.pipelineParallel ?? 1);
  const enough = tokens >= least * (1 - kvTolerance);
  if (workers > 1 && !enough && tokens >= least * smallestWorkerShare) {
    return `set aside: ${tokens} tokens are those of the smallest of ${workers} workers, ${pool} GiB those of another`;
  }
  const agrees = enough && tokens <= most * (1 + kvTolerance);
  const came = tokensOf(bytes);
  return {
    agrees,
    text: `kv: measured ${tokens} tokens in ${pool} GiB (${Math.round(bytes / tokens)} B each), came ${came} tokens (${came > 0 ? Math.round(bytes / came) : 0} B each, ${percent(tokens / Math.max(1, came) - 1)})`,
  };
}

/**
 * A case whose cache and smallest possible weights are more than the card has contradicts itself: the card is
 * not the one that it names (the H20 exists with 96 and with 141 GB). It says nothing about the estimator.
 */
function contradiction(item: MeasuredCase, computed: MemoryEstimate): string | undefined {
  const memory = computed.gpuMemory;
  if (memory === undefined || item.kvCacheGiBPerGpu === undefined || item.utilization === undefined)
    return undefined;
  const weights = item.weightsGiBPerGpu ?? computed.weights.perGpu.low / GiB;
  const sum = weights + item.kvCacheGiBPerGpu;
  if (sum <= memory.high / GiB) return undefined;
  return `set aside: ${item.kvCacheGiBPerGpu} GiB of cache and ${weights.toFixed(1)} GiB of weights are more than the ${(memory.high / GiB).toFixed(1)} GiB of ${item.gpu}`;
}

function compareRoom(item: MeasuredCase, computed: MemoryEstimate): CaseResult['room'] {
  const measured = item.kvCacheGiBPerGpu;
  const room = computed.kv?.available;
  if (measured === undefined || item.utilization === undefined || room === undefined) return undefined;
  const [low, expected, high] = [room.low / GiB, room.expected / GiB, room.high / GiB];
  return {
    agrees: measured + 0.005 >= low && measured - 0.005 <= high,
    width: measured > 0 ? (high - low) / measured : Infinity,
    text: `range: measured ${measured} GiB for KV, came [${low.toFixed(2)}, ${high.toFixed(2)}] expected ${expected.toFixed(2)}`,
  };
}

/** Words and units that a case uses where it does not know which model ran: `29.09 GiB-weights model`. */
const namelessWords =
  /\b(?:unknown|unnamed|same|as|above|with|a|the|model|weights?|class|gib|gb|mib|util(?:isation|ization)?)\b|[^a-z]+/gi;

/** True when a case does not say which model ran; that is a missing field, not an unknown model. */
function namesNoModel(item: MeasuredCase): boolean {
  return item.model.replace(namelessWords, '') === '';
}

/** Runs one case through the estimator. A model that is not known misses whatever was measured of it. */
export function evaluateCase(item: MeasuredCase): CaseResult {
  const identity = identityOf(item);
  const nameless = namesNoModel(item) && (identity === undefined || identity.parameters.expected === 0);
  if (identity === undefined && nameless) {
    return {
      case: item,
      identity,
      estimate: undefined,
      setAside: [`set aside: ${JSON.stringify(item.model)} names no model`],
    };
  }
  if (identity === undefined) {
    const miss: Comparison = { agrees: false, text: `unknown model ${JSON.stringify(item.model)}` };
    const hasKv =
      (item.kvCacheGiBPerGpu !== undefined && item.kvTokens !== undefined) ||
      item.neededKvGiBPerGpu !== undefined;
    return {
      case: item,
      identity,
      estimate: undefined,
      setAside: [],
      ...(item.weightsGiBPerGpu === undefined ? {} : { weights: miss }),
      ...(hasKv ? { kv: miss } : {}),
      ...(item.kvCacheGiBPerGpu === undefined || item.utilization === undefined
        ? {}
        : { room: { ...miss, width: Infinity } }),
    };
  }
  const config = configOf(item, identity);
  const computed = estimate(config);
  const kv = compareKv(item, config);
  const contradicts = contradiction(item, computed);
  const noName =
    nameless && item.weightsGiBPerGpu !== undefined
      ? `set aside: weights of ${JSON.stringify(item.model)}, which names no model`
      : undefined;
  const setAside = [contradicts, noName, typeof kv === 'string' ? kv : undefined].flatMap(
    (line) => line ?? [],
  );
  const room = contradicts === undefined ? compareRoom(item, computed) : undefined;
  return {
    case: item,
    identity,
    estimate: computed,
    ...(item.weightsGiBPerGpu === undefined || nameless
      ? {}
      : { weights: compareWeights(item.weightsGiBPerGpu, computed) }),
    ...(kv === undefined || typeof kv === 'string' ? {} : { kv }),
    ...(room === undefined ? {} : { room }),
    setAside,
  };
}

export interface Totals {
  readonly weights: readonly [number, number];
  readonly kv: readonly [number, number];
  readonly range: readonly [number, number];
  /** Share of the measured figure; 0 when nothing was compared. */
  readonly medianWidth: number;
}

export function totalsOf(results: readonly CaseResult[]): Totals {
  const count = (pick: (result: CaseResult) => Comparison | undefined): readonly [number, number] => {
    const compared = results.flatMap((result) => pick(result) ?? []);
    return [compared.filter((item) => item.agrees).length, compared.length];
  };
  const widths = results.flatMap((result) => result.room?.width ?? []).sort((a, b) => a - b);
  const middle = widths.length / 2;
  const medianWidth =
    widths.length === 0
      ? 0
      : widths.length % 2 === 1
        ? (widths[Math.floor(middle)] ?? 0)
        : ((widths[middle - 1] ?? 0) + (widths[middle] ?? 0)) / 2;
  return {
    weights: count((result) => result.weights),
    kv: count((result) => result.kv),
    range: count((result) => result.room),
    medianWidth,
  };
}

/** The targets: 95 % of each, and a median width below a quarter of what was measured. */
export function meetsTargets(totals: Totals): boolean {
  const enough = ([agreeing, compared]: readonly [number, number]): boolean => agreeing >= 0.95 * compared;
  return enough(totals.weights) && enough(totals.kv) && enough(totals.range) && totals.medianWidth < 0.25;
}

export function summaryOf(totals: Totals): string {
  const width = Number.isFinite(totals.medianWidth)
    ? Number((totals.medianWidth * 100).toFixed(1))
    : 'unbounded';
  return `weights ${totals.weights[0]} of ${totals.weights[1]} within 2 %, kv ${totals.kv[0]} of ${totals.kv[1]} within 0.2 %, range ${totals.range[0]} of ${totals.range[1]}, median width ${width} %`;
}

/** Reads a file of cases: an array, or an object with one under `cases`. */
export function readCases(cases: unknown): readonly MeasuredCase[] {
  const list = Array.isArray(cases)
    ? cases
    : isRecord(cases) && Array.isArray(cases['cases'])
      ? cases['cases']
      : [];
  return list.flatMap((item: unknown) => readCase(item) ?? []);
}

export const run: VectorRunner = (cases) => {
  const results = readCases(cases).map(evaluateCase);
  const differences = results.flatMap((result) => [
    ...[result.weights, result.kv, result.room].flatMap((item) =>
      item === undefined || item.agrees ? [] : [`${result.case.id}: ${item.text}`],
    ),
    ...result.setAside.map((line) => `${result.case.id}: ${line}`),
  ]);
  const totals = totalsOf(results);
  return { differences, summary: summaryOf(totals), ok: results.length > 0 && meetsTargets(totals) };
};
