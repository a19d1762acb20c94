import { quantityOf, toNumber } from '../kube/quantity';
import { nearest } from '../rules/nearest';
import { identifyModel } from '../sizing/models/identify';
import { isQuantizationId, quantizationIn } from '../sizing/models/quantization';
import { noUserModels, type UserModel, type WeightDtype } from '../sizing/models/types';
import type { Entry, MapNode, Span, YamlNode } from '../yaml/node';
import { entryOf, isNull } from '../yaml/node';

/** What one key of a model means: for people, for the schema, and how it is read. */
export interface ModelKey {
  readonly description: string;
  readonly schema: object;
}

const count = { type: 'integer', minimum: 1 };
const dtypes: Readonly<Record<string, WeightDtype>> = {
  bf16: 'bf16',
  bfloat16: 'bf16',
  fp16: 'fp16',
  float16: 'fp16',
  half: 'fp16',
  fp32: 'fp32',
  float32: 'fp32',
  float: 'fp32',
};

/** The keys of a model in `.plimsoll.yaml`, in the order in which they are written. */
export const modelKeys = {
  parameters: {
    description: 'Number of parameters: 8030261248, 8.03B or 350M.',
    schema: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0 },
        { type: 'string', pattern: '^\\d+(\\.\\d+)?\\s?[kKmMbBtT]?$' },
      ],
    },
  },
  weightBytes: {
    description:
      'Size of the weights on disk, in bytes or as a quantity such as 15Gi, where it is not parameters x bytes.',
    schema: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0 },
        { type: 'string', pattern: '^\\d+(\\.\\d+)?([kMGT]i?)?$' },
      ],
    },
  },
  dtype: {
    description: 'Type of the weights that are not quantised.',
    schema: { enum: Object.keys(dtypes) },
  },
  quantization: {
    description: 'How the weights are quantised: awq, gptq, fp8, int8, nvfp4, mxfp4, q4_k_m and the like.',
    schema: { type: 'string' },
  },
  layers: { description: 'Number of hidden layers.', schema: count },
  hidden: { description: 'Size of the hidden state.', schema: count },
  heads: { description: 'Number of attention heads.', schema: count },
  kvHeads: {
    description: 'Number of key and value heads; as many as heads without grouped-query attention.',
    schema: count,
  },
  headSize: { description: 'Size of one head.', schema: count },
  vocab: { description: 'Number of tokens of the vocabulary.', schema: count },
  maxLength: { description: 'Longest request in tokens (max_position_embeddings).', schema: count },
  attentionLayers: {
    description:
      'Layers that keep keys and values, where not all of them do (hybrids with Mamba or linear attention).',
    schema: count,
  },
  slidingLayers: { description: 'Layers that see the last slidingWindow tokens only.', schema: count },
  slidingWindow: { description: 'Tokens that those layers see.', schema: count },
  kvRank: { description: 'Of multi-head latent attention: kv_lora_rank.', schema: count },
  ropeSize: { description: 'Of multi-head latent attention: qk_rope_head_dim.', schema: count },
} as const satisfies Readonly<Record<string, ModelKey>>;

export type ModelKeyName = keyof typeof modelKeys;

const names = Object.keys(modelKeys) as readonly ModelKeyName[];

interface Problem {
  readonly at: Span;
  readonly message: string;
  readonly fix?: { readonly title: string; readonly newText: string } | undefined;
}

type Complain = (problem: Problem) => void;

function described(node: YamlNode): string {
  if (node.kind !== 'scalar') return node.kind === 'map' ? 'a map' : 'a list';
  return isNull(node) ? 'empty' : `"${node.text}"`;
}

/** The section `models`. It never fails: what cannot be used is left out and reported on its place. */
export function readModels(node: YamlNode | undefined, complain: Complain): readonly UserModel[] {
  if (node === undefined || isNull(node)) return noUserModels;
  if (node.kind !== 'map') {
    complain({
      at: node,
      message: `"models" is ${described(node)}; a map from a model's name to its figures is read`,
    });
    return noUserModels;
  }
  const models = node.entries.flatMap((entry) => readModel(entry, complain) ?? []);
  return models.length === 0 ? noUserModels : models;
}

function readModel({ key, value }: Entry, complain: Complain): UserModel | undefined {
  const name = key.text.trim();
  if (name === '') {
    complain({ at: key, message: 'A model has no name; write it as its server is told it' });
    return undefined;
  }
  if (value.kind !== 'map') {
    complain({
      at: isNull(value) ? key : value,
      message: `Model "${name}" is ${described(value)}; a map of its figures is read`,
    });
    return undefined;
  }
  checkKeys(name, value, complain);
  const whole = (named: ModelKeyName): number | undefined => {
    const found = written(value, named);
    if (found === undefined) return undefined;
    if (
      found.kind === 'scalar' &&
      typeof found.value === 'number' &&
      Number.isInteger(found.value) &&
      found.value >= 1
    )
      return found.value;
    complain({
      at: found,
      message: `"${named}" of model "${name}" is ${described(found)}; it is a whole number above 0`,
    });
    return undefined;
  };
  const parameters = readParameters(name, value, complain);
  const weightBytes = readBytes(name, value, complain);
  const quantization = readQuantization(name, value, complain);
  const dtype = readDtype(name, value, complain);
  const figures = {
    layers: whole('layers'),
    hidden: whole('hidden'),
    heads: whole('heads'),
    kvHeads: whole('kvHeads'),
    headDim: whole('headSize'),
    vocab: whole('vocab'),
    maxPositions: whole('maxLength'),
    attentionLayers: whole('attentionLayers'),
    slidingLayers: whole('slidingLayers'),
    slidingWindow: whole('slidingWindow'),
    kvRank: whole('kvRank'),
    ropeDim: whole('ropeSize'),
  };
  checkSense(name, value, figures, complain);
  const known = Object.entries({ parameters, weightBytes, quantization, dtype, ...figures }).filter(
    ([, figure]) => figure !== undefined,
  );
  if (known.length === 0) {
    if (value.entries.length === 0)
      complain({
        at: key,
        message: `Model "${name}" has no figures; parameters is the least that says something`,
      });
    return undefined;
  }
  const isSized = parameters !== undefined || weightBytes !== undefined || identifyModel(name) !== undefined;
  if (!isSized && written(value, 'parameters') === undefined && written(value, 'weightBytes') === undefined)
    complain({
      at: key,
      message: `Model "${name}" has neither "parameters" nor "weightBytes"; without a size nothing can be reckoned`,
    });
  return { name, ...Object.fromEntries(known) };
}

function written(map: MapNode, name: string): YamlNode | undefined {
  const found = entryOf(map, name)?.value;
  return found === undefined || isNull(found) ? undefined : found;
}

function checkKeys(model: string, map: MapNode, complain: Complain): void {
  for (const { key } of map.entries) {
    if (names.some((name) => name === key.text)) continue;
    const near = nearest(key.text, names);
    complain({
      at: key,
      message: `Unknown key "${key.text}" of model "${model}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
      fix:
        near === undefined || entryOf(map, near) !== undefined
          ? undefined
          : { title: `Write ${near}`, newText: near },
    });
  }
}

const units: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, b: 1e9, t: 1e12 };

function readParameters(model: string, map: MapNode, complain: Complain): number | undefined {
  const found = written(map, 'parameters');
  if (found === undefined) return undefined;
  const match =
    found.kind === 'scalar'
      ? /^(\d+(?:\.\d+)?(?:e\+?\d+)?)\s?([kmbt]?)$/i.exec(found.text.replaceAll('_', ''))
      : null;
  const value = match === null ? NaN : Number(match[1]) * (units[(match[2] ?? '').toLowerCase()] ?? 1);
  if (value >= 1e6 && value <= 1e14) return Math.round(value);
  complain({
    at: found,
    message:
      value > 0 && value < 1e6
        ? `"parameters" of model "${model}" is ${described(found)}, which is less than a million; write 8B for 8 billion`
        : `"parameters" of model "${model}" is ${described(found)}; it is a number such as 8030261248 or 8.03B`,
  });
  return undefined;
}

function readBytes(model: string, map: MapNode, complain: Complain): number | undefined {
  const found = written(map, 'weightBytes');
  if (found === undefined) return undefined;
  const quantity = quantityOf(found);
  const bytes = quantity === undefined ? NaN : toNumber(quantity);
  if (bytes >= 1) return bytes;
  complain({
    at: found,
    message: `"weightBytes" of model "${model}" is ${described(found)}; it is a number of bytes or a quantity such as 15Gi`,
  });
  return undefined;
}

function readQuantization(model: string, map: MapNode, complain: Complain): UserModel['quantization'] {
  const found = written(map, 'quantization');
  if (found === undefined) return undefined;
  const text = found.kind === 'scalar' ? found.text.toLowerCase() : '';
  if (text === 'none') return undefined;
  const read = text === '' ? undefined : isQuantizationId(text) ? text : quantizationIn(text);
  if (read === undefined)
    complain({
      at: found,
      message: `"quantization" of model "${model}" is ${described(found)}; known are awq, gptq, fp8, int8, int4, nvfp4, mxfp4, bnb-4bit, q4_k_m and the like`,
    });
  return read;
}

function readDtype(model: string, map: MapNode, complain: Complain): WeightDtype | undefined {
  const found = written(map, 'dtype');
  if (found === undefined) return undefined;
  const read = found.kind === 'scalar' ? dtypes[found.text.toLowerCase()] : undefined;
  if (read === undefined)
    complain({
      at: found,
      message: `"dtype" of model "${model}" is ${described(found)}; it is one of ${Object.keys(dtypes).join(', ')}`,
    });
  return read;
}

type Figures = Readonly<
  Record<
    | 'layers'
    | 'heads'
    | 'kvHeads'
    | 'attentionLayers'
    | 'slidingLayers'
    | 'slidingWindow'
    | 'kvRank'
    | 'ropeDim',
    number | undefined
  >
>;

/** Figures that cannot belong to one model. */
function checkSense(model: string, map: MapNode, figures: Figures, complain: Complain): void {
  const { layers, heads, kvHeads, slidingLayers, slidingWindow, attentionLayers, kvRank, ropeDim } = figures;
  const at = (name: ModelKeyName): Span => written(map, name) ?? map;
  if (heads !== undefined && kvHeads !== undefined && (kvHeads > heads || heads % kvHeads !== 0))
    complain({
      at: at('kvHeads'),
      message: `Model "${model}" has ${kvHeads} kvHeads and ${heads} heads; each group of heads shares one, so that kvHeads divides heads`,
    });
  for (const [name, part] of [
    ['slidingLayers', slidingLayers],
    ['attentionLayers', attentionLayers],
  ] as const) {
    if (layers !== undefined && part !== undefined && part > layers)
      complain({ at: at(name), message: `Model "${model}" has ${part} ${name} and only ${layers} layers` });
  }
  for (const [name, has, other, missing] of [
    ['slidingLayers', slidingLayers, 'slidingWindow', slidingWindow],
    ['slidingWindow', slidingWindow, 'slidingLayers', slidingLayers],
    ['kvRank', kvRank, 'ropeSize', ropeDim],
    ['ropeSize', ropeDim, 'kvRank', kvRank],
  ] as const) {
    if (has !== undefined && missing === undefined && written(map, other) === undefined)
      complain({
        at: at(name),
        message: `Model "${model}" has "${name}" without "${other}", which says nothing`,
      });
  }
}
