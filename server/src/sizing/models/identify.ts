import { remembered } from '../memo';
import { modelCatalogue } from './catalogue';
import { bitsPerWeightIn, quantizationIn, schemeOf } from './quantization';
import type { QuantizationId } from './quantization';
import type { Range } from './range';
import { exactly, range } from './range';
import type { DecoderShape, ModelIdentity, ModelSpec, UserModel } from './types';

export interface IdentifyOptions {
  /** Models that the user described; they win over the catalogue. */
  readonly userModels?: readonly UserModel[];
  /** Ollama's library gives names without a size a size and a precision of their own. */
  readonly library?: 'ollama';
}

/** Words that say nothing about the architecture. */
const decoration: ReadonlySet<string> = new Set([
  'meta',
  'hf',
  'instruct',
  'chat',
  'it',
  'base',
  'bf16',
  'fp16',
  'fp8',
  'awq',
  'nvfp4',
  'int4',
  'autoawq',
  'qat',
  'asr',
  'c4ai',
]);

/** Words between a family and a size that mean another architecture. */
const otherArchitecture: ReadonlySet<string> = new Set([
  'vl',
  'omni',
  'audio',
  'vision',
  'embedding',
  'embed',
  'reranker',
  'moe',
  'next',
  'distill',
  'distilled',
  'nano',
  'super',
  'ultra',
  'mini',
  'lite',
  'tiny',
  'small',
  'medium',
  'large',
  'math',
  'draft',
  'eagle',
  'eagle3',
  'medusa',
  'speculator',
]);

interface NamePattern {
  readonly spec: ModelSpec;
  /**
   * Letters and digits that a name must have, in this order, for the expression to match: they rule out nearly all
   * names, and most expressions are never compiled.
   */
  readonly runs: readonly string[];
  readonly expression: () => RegExp;
  /** Letters and digits that have to be there: the more, the more exact the match. */
  readonly weight: number;
  /** Words that are there in the full name only (`v0.3`, `2507`, `128k`). */
  readonly optional: () => readonly RegExp[];
  /** The last part of the name, as written. */
  readonly written: string;
  readonly full: string;
}

const escape = (text: string): string => text.replace(/[*+?^${}()|[\]\\]/g, '\\$&');

/** Version numbers are written `2.5`, `2_5`, `25`; a family and its number `qwen2` or `qwen-2`. */
function tokenPattern(token: string): string {
  return escape(token)
    .replace(/([a-z])(\d)/g, '$1[-_ ]?$2')
    .replace(/(\d)\.(\d)/g, '$1[._-]?$2');
}

const optionalToken = /^(?:v\d+(?:\.\d+)*|\d{2,4}|\d+k|1m|a\d+(?:\.\d+)?b|\d+e|beta|thinking)$/;

/** A space of separators; two numbers need at least one between them, words may follow words. */
const gap = '[-_ .:]*';
const numberGap = '[-_ .:]+';

function patternOf(spec: ModelSpec, name: string): NamePattern | undefined {
  const written = name.slice(name.lastIndexOf('/') + 1);
  const tokens = written
    .toLowerCase()
    .split(/[-_ :]+/)
    .filter((token) => token !== '');
  const required: string[] = [];
  const optional: string[] = [];
  // Optional words that stand before the required word of that index.
  const between = new Map<number, string>();
  tokens.forEach((token, index) => {
    if (decoration.has(token) || (optionalToken.test(token) && index >= 2)) {
      optional.push(`(?<![a-z0-9])${tokenPattern(token)}(?![a-z0-9])`);
      between.set(
        required.length,
        `${between.get(required.length) ?? ''}(?:${tokenPattern(token)}${numberGap})?`,
      );
    } else {
      required.push(token);
    }
  });
  if (required.length === 0) return undefined;
  const blocked = [...otherArchitecture].join('|');
  const filler = `(?:(?!(?:${blocked})[-_ .:])[a-z]+[-_ .:]+){0,3}?`;
  let expression = '(?<![a-z0-9])';
  required.forEach((token, index) => {
    const before = required[index - 1];
    if (before !== undefined) {
      const numbers = /\d$/.test(before) && /^\d/.test(token);
      // Fine-tuners put their own words before the size: Llama-3.1-Nemotron-70B.
      const beforeSize = /^\d+(?:\.\d+)?(?:x\d+)?[bm]$/.test(token);
      expression += (numbers ? numberGap : gap) + (between.get(index) ?? '') + (beforeSize ? filler : '');
    }
    expression += tokenPattern(token);
  });
  expression += '(?![a-z0-9])(?!\\.\\d)';
  const source = expression;
  return {
    spec,
    runs: required.flatMap((token) => token.match(/[a-z]+|\d+/g) ?? []),
    expression: once(() => new RegExp(source, 'i')),
    weight: required.join('').length,
    optional: once(() => optional.map((pattern) => new RegExp(pattern, 'i'))),
    written,
    full: name,
  };
}

/** Makes a value when it is first asked for. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

let patterns: readonly NamePattern[] | undefined;

function allPatterns(): readonly NamePattern[] {
  patterns ??= modelCatalogue.flatMap((spec) =>
    [spec.id, ...spec.aliases].flatMap((name) => patternOf(spec, name) ?? []),
  );
  return patterns;
}

/** Sizes that a name says, in parameters: `8b`, `8x7B`, `30B-A3B`, `0.5B`, `405b`, `350m`. */
interface NamedSize {
  readonly text: string;
  readonly parameters: Range;
}

function sizesIn(segment: string): readonly NamedSize[] {
  const sizes: NamedSize[] = [];
  const pattern =
    /(?<![a-z0-9.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)\s?([bm])(?![a-z0-9])(?:-a(\d+(?:\.\d+)?)b(?![a-z0-9]))?/gi;
  for (const match of segment.matchAll(pattern)) {
    const [text, copies, number = '', unit = 'b'] = match;
    const value = Number(number) * (unit.toLowerCase() === 'b' ? 1e9 : 1e6);
    const count = copies === undefined ? 1 : Number(copies);
    const total = value * count;
    if (total < 2e7 || total > 3e12) continue;
    // Experts share attention: 8x7B has 47 billion parameters, not 56.
    const parameters =
      count > 1 ? range(total * 0.75, total * 0.84, total) : range(total * 0.85, total * 1.03, total * 1.25);
    sizes.push({ text: text.trim(), parameters });
  }
  return sizes;
}

/** False when the name says a size that the model does not have (its own name may count otherwise: 17B-16E). */
function sizeAgrees(pattern: NamePattern, sizes: readonly NamedSize[]): boolean {
  const { parameters: known } = pattern.spec;
  if (sizes.length === 0 || known === 0) return true;
  const own = pattern.written.toLowerCase();
  return sizes.some(
    ({ text, parameters }) =>
      (known > parameters.low * 0.7 && known < parameters.high * 1.35) || own.includes(text.toLowerCase()),
  );
}

function hasInOrder(text: string, runs: readonly string[]): boolean {
  let from = 0;
  for (const run of runs) {
    const at = text.indexOf(run, from);
    if (at < 0) return false;
    from = at + run.length;
  }
  return true;
}

function bestPattern(segment: string): NamePattern | undefined {
  const sizes = sizesIn(segment);
  const letters = segment.toLowerCase();
  let best: { pattern: NamePattern; score: number } | undefined;
  for (const pattern of allPatterns()) {
    if (
      !hasInOrder(letters, pattern.runs) ||
      !pattern.expression().test(segment) ||
      !sizeAgrees(pattern, sizes)
    )
      continue;
    let score = pattern.weight * 100;
    for (const word of pattern.optional()) score += word.test(segment) ? 20 : -2;
    // The same letters in the same case: the hub writes capitals, container images do not.
    if (segment.includes(pattern.written)) score += 1;
    // Older models of one name keep a window that their successors dropped.
    if (pattern.spec.shape?.window?.layers === pattern.spec.shape?.layers) score -= 0.5;
    if (best === undefined || score > best.score) best = { pattern, score };
  }
  return best?.pattern;
}

const noise =
  /^(?:[0-9a-f]{32,64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|snapshots|main|master|models?|resolve|latest|hub|weights|nim|blobs|refs|library)$/i;

/** The parts of a name or path that can name a model, the most telling first. */
function segmentsOf(name: string): readonly string[] {
  const bare = name
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/@sha256:[0-9a-f]+$/i, '')
    // The version of a container image; an Ollama tag such as `:8b` stays.
    .replace(/:(?:v?\d+(?:\.\d+)+(?:[-.][a-z0-9.]+)*|latest)$/i, '')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '')
    .replace(/--/g, '/')
    .replace(/\.(?:gguf|safetensors|bin|tar|gz|engine|plan|nemo)\b/gi, (extension) =>
      extension.toLowerCase() === '.gguf' ? '-gguf' : '',
    );
  return bare
    .split('/')
    .filter((segment) => segment !== '' && !noise.test(segment))
    .reverse();
}

/** Sizes that Ollama serves when a tag does not say one (`latest` of each library entry), all Q4_K_M but gpt-oss. */
const ollamaLatest: Readonly<Record<string, string>> = {
  llama2: 'llama-2-7b',
  llama3: 'llama-3-8b',
  'llama3.1': 'llama-3.1-8b',
  'llama3.2': 'llama-3.2-3b',
  'llama3.3': 'llama-3.3-70b',
  mistral: 'mistral-7b-instruct-v0.3',
  'mistral-nemo': 'mistral-nemo-instruct-2407',
  mixtral: 'mixtral-8x7b',
  codellama: 'codellama-7b',
  gemma: 'gemma-7b',
  gemma2: 'gemma-2-9b',
  gemma3: 'gemma-3-4b',
  qwen2: 'qwen2-7b',
  'qwen2.5': 'qwen2.5-7b',
  'qwen2.5-coder': 'qwen2.5-coder-7b',
  qwen3: 'qwen3-8b',
  phi3: 'phi-3-mini-4k',
  phi4: 'phi-4',
  'deepseek-r1': 'deepseek-r1-0528-qwen3-8b',
  tinyllama: 'tinyllama-1.1b',
  'gpt-oss': 'gpt-oss-20b',
  'nomic-embed-text': 'nomic-embed-text-v1.5',
};

/**
 * What a model argument, a path or an image name says about the model.
 *
 * @param name - `meta-llama/Llama-3.1-8B-Instruct`, `/models/llama-3-70b-awq/`, `s3://bucket/qwen2.5-7b`,
 *   `nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8`, `llama3.1:70b-instruct-q4_K_M`.
 * @returns undefined when the name tells neither a known model nor a size. It never guesses.
 */
export function identifyModel(name: string, options: IdentifyOptions = {}): ModelIdentity | undefined {
  return userModel(name, options.userModels ?? []) ?? identifyKnown({ name, library: options.library });
}

const identifyKnown = remembered(2000, identify, ({ name, library }) => `${library ?? ''} ${name}`);

function identify(question: {
  readonly name: string;
  readonly library: IdentifyOptions['library'];
}): ModelIdentity | undefined {
  const { name, library: from } = question;
  if (from === 'ollama') {
    const [library = '', tag] = name.replace(/^.*\//, '').toLowerCase().split(':');
    const latest = ollamaLatest[library];
    if (latest !== undefined && (tag === undefined || tag === 'latest')) {
      const identity = identifyModel(latest);
      if (identity !== undefined) {
        return { ...identity, name, quantization: identity.model?.quantization ?? 'gguf-q4_k_m' };
      }
    }
    const identity = identifyModel(name);
    if (identity === undefined || identity.quantization !== undefined) return identity;
    return { ...identity, quantization: 'gguf-q4_k_m' };
  }
  const segments = segmentsOf(name);
  const said = quantizationOf(segments);
  const bits = bitsPerWeightIn(name);
  const rest = bits === undefined ? {} : { bitsPerWeight: bits };
  for (const segment of segments) {
    const pattern = bestPattern(segment);
    if (pattern === undefined) continue;
    const { spec } = pattern;
    const quantization = precisionOf(spec, said);
    const matchedBy = isExact(name, spec) ? 'catalogue' : 'family';
    return {
      name,
      model: spec,
      parameters: exactly(spec.parameters),
      matchedBy,
      reasons: [
        matchedBy === 'catalogue' ? pattern.full : `${segment} has the name of ${pattern.full} in it`,
      ],
      knownAs: pattern.full,
      ...(quantization === undefined ? {} : { quantization }),
      ...rest,
    };
  }
  for (const segment of segments) {
    const size = sizesIn(segment)[0];
    if (size === undefined) continue;
    return {
      name,
      parameters: size.parameters,
      matchedBy: 'name-size',
      reasons: [`the name says ${size.text}; the model itself is not known`],
      ...(said === undefined ? {} : { quantization: said }),
      ...rest,
    };
  }
  return undefined;
}

/** A name that says `awq` of a model that ships a kind of AWQ means the kind that it ships. */
function precisionOf(spec: ModelSpec, said: QuantizationId | undefined): QuantizationId | undefined {
  if (said === undefined) return spec.quantization;
  const family = (id: QuantizationId): string => id.split('-')[0] ?? id;
  return spec.quantization !== undefined && family(spec.quantization) === family(said)
    ? spec.quantization
    : said;
}

function quantizationOf(segments: readonly string[]): QuantizationId | undefined {
  for (const segment of segments) {
    const found = quantizationIn(segment);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isExact(name: string, spec: ModelSpec): boolean {
  const wanted = name.trim().toLowerCase().replace(/\/+$/, '');
  return [spec.id, ...spec.aliases].some((known) => {
    const full = known.toLowerCase();
    return wanted === full || wanted === full.slice(full.indexOf('/') + 1);
  });
}

/** The model that the configuration describes under this very name (or its last part). */
function userModel(name: string, models: readonly UserModel[]): ModelIdentity | undefined {
  const wanted = name.trim().toLowerCase().replace(/\/+$/, '');
  const tail = wanted.slice(wanted.lastIndexOf('/') + 1);
  const found =
    models.find((model) => model.name.toLowerCase() === wanted) ??
    models.find((model) => model.name.toLowerCase() === tail);
  if (found === undefined) return undefined;
  const known = identifyModel(name);
  const quantization = found.quantization ?? known?.quantization;
  const parameters = parametersOf(found, quantization, known);
  // What is described without a size is not known any better for it.
  if (parameters === undefined) return undefined;
  const spec = specOf({ ...found, parameters: parameters.expected }, known?.model);
  return {
    name,
    model: spec,
    parameters,
    matchedBy: 'user',
    reasons: [`${found.name} as described in the configuration`],
    ...(quantization === undefined ? {} : { quantization }),
  };
}

/** As described, else from the size of the files, else of the model that the name says. */
function parametersOf(
  { parameters, weightBytes, dtype }: UserModel,
  quantization: QuantizationId | undefined,
  known: ModelIdentity | undefined,
): Range | undefined {
  if (parameters !== undefined) return exactly(parameters);
  if (known !== undefined || weightBytes === undefined) return known?.parameters;
  const scheme = schemeOf(quantization ?? dtype ?? 'bf16');
  const { low, expected, high } = scheme.wholeModel(weightBytes);
  return range(weightBytes / high, Math.round(weightBytes / expected), weightBytes / low);
}

function specOf(user: UserModel, known: ModelSpec | undefined): ModelSpec {
  const shape = shapeOf(user, known?.shape);
  const maxPositions = user.maxPositions ?? known?.maxPositions;
  return {
    id: user.name,
    aliases: [],
    modality: known?.modality ?? 'text',
    parameters: user.parameters ?? known?.parameters ?? 0,
    dtype: user.dtype ?? known?.dtype ?? 'bf16',
    source: 'configuration',
    certainty: 'high',
    ...(shape === undefined ? {} : { shape }),
    ...(maxPositions === undefined ? {} : { maxPositions }),
    ...(user.quantization === undefined ? {} : { quantization: user.quantization }),
    ...(user.weightBytes === undefined ? {} : { fileBytes: user.weightBytes }),
  };
}

function shapeOf(user: UserModel, known: DecoderShape | undefined): DecoderShape | undefined {
  const layers = user.layers ?? known?.layers;
  const latent = latentOf(user, known);
  const kvHeads = user.kvHeads ?? known?.kvHeads ?? user.heads ?? (latent === undefined ? undefined : 1);
  const heads = user.heads ?? known?.heads ?? kvHeads;
  const hidden = user.hidden ?? known?.hidden;
  const headDim =
    user.headDim ??
    known?.headDim ??
    (hidden !== undefined && heads !== undefined && Number.isInteger(hidden / heads)
      ? hidden / heads
      : latent === undefined
        ? undefined
        : latent.kvRank);
  if (layers === undefined || kvHeads === undefined || headDim === undefined || heads === undefined) {
    return undefined;
  }
  const { slidingLayers, slidingWindow, attentionLayers } = user;
  return {
    ...known,
    layers,
    kvHeads,
    headDim,
    heads,
    hidden: hidden ?? heads * headDim,
    vocab: user.vocab ?? known?.vocab ?? 0,
    tied: known?.tied ?? false,
    ...(latent === undefined ? {} : { latent }),
    ...(attentionLayers === undefined ? {} : { attentionLayers }),
    ...(slidingLayers === undefined || slidingWindow === undefined
      ? {}
      : { window: { layers: slidingLayers, tokens: slidingWindow } }),
  };
}

/** Only the cache is reckoned from it: the other sizes matter to weights, of which the number is given. */
function latentOf(user: UserModel, known: DecoderShape | undefined): DecoderShape['latent'] {
  const { kvRank, ropeDim } = user;
  if (kvRank === undefined || ropeDim === undefined) return known?.latent;
  return { nopeDim: 128, valueDim: 128, ...known?.latent, kvRank, ropeDim };
}
