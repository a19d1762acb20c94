import { onceFor } from '../memo';
import type { QuantizationScheme, WeightRole } from './quantization';
import type { DecoderShape, ExtraWeights } from './types';

/** One matrix (or a stack of `copies` equal ones) as one GPU holds it. */
export interface WeightMatrix {
  readonly role: WeightRole;
  readonly rows: number;
  readonly columns: number;
  /** Experts are stored as one tensor with a leading dimension. */
  readonly copies: number;
  /** Elements of the bias beside it. */
  readonly bias: number;
  readonly layer: number;
  /** Bytes for one element when it is neither the model's dtype nor quantised. */
  readonly bytesPerParameter?: number;
  /** Overrides what the scheme says of the role (towers that are quantised, indexers that are not). */
  readonly quantised?: boolean;
}

/** How the model is spread: every number is at least 1. */
export interface Split {
  readonly tensor: number;
  readonly pipeline: number;
  /** GPUs over which whole experts are distributed; 1 means that experts are cut like other matrices. */
  readonly expert: number;
}

export const unsplit: Split = { tensor: 1, pipeline: 1, expert: 1 };

/** Multiples that the two sides of an expert's matrices are rounded up to on each GPU. */
export interface ExpertPadding {
  readonly inner: number;
  readonly hidden: number;
}

export const unpadded: ExpertPadding = { inner: 1, hidden: 1 };

function roundedUp(size: number, multiple: number): number {
  return Math.ceil(size / multiple) * multiple;
}

/** Engines pad the vocabulary so that it divides over the GPUs (vLLM, SGLang: to 64). */
const vocabularyPadding = 64;

function matrix(
  role: WeightRole,
  layer: number,
  rows: number,
  columns: number,
  rest: Partial<Pick<WeightMatrix, 'copies' | 'bias' | 'bytesPerParameter' | 'quantised'>> = {},
): WeightMatrix {
  return { role, layer, rows, columns, copies: 1, bias: 0, ...rest };
}

function attentionOf(shape: DecoderShape, layer: number, tp: number): WeightMatrix[] {
  const { hidden } = shape;
  const latent = shape.latent;
  if (latent !== undefined) {
    const heads = shape.heads / tp;
    const queryDim = latent.nopeDim + latent.ropeDim;
    const matrices =
      latent.queryRank === undefined
        ? [matrix('attention', layer, hidden, heads * queryDim)]
        : [
            matrix('attention', layer, hidden, latent.queryRank),
            matrix('attention', layer, latent.queryRank, heads * queryDim),
            matrix('norm', layer, 1, latent.queryRank),
          ];
    return [
      ...matrices,
      matrix('attention', layer, hidden, latent.kvRank + latent.ropeDim),
      matrix('norm', layer, 1, latent.kvRank),
      matrix('attention', layer, latent.kvRank, heads * (latent.nopeDim + latent.valueDim)),
      matrix('attention', layer, heads * latent.valueDim, hidden),
    ];
  }
  const isFull = layer >= (shape.window?.layers ?? 0) + (shape.linear?.layers ?? 0);
  const kvHeads = (isFull ? shape.full?.kvHeads : undefined) ?? shape.kvHeads;
  const headDim = (isFull ? shape.full?.headDim : undefined) ?? shape.headDim;
  const queries = (shape.heads / tp) * headDim;
  const keys = Math.max(1, kvHeads / tp) * headDim;
  const columns = queries * (shape.outputGate === true ? 2 : 1) + 2 * keys;
  const matrices = [
    matrix('attention', layer, hidden, columns, { bias: shape.qkvBias === true ? columns : 0 }),
    matrix('attention', layer, queries, hidden),
  ];
  if (shape.qkNorm === true) matrices.push(matrix('norm', layer, 2, headDim));
  return matrices;
}

function linearAttentionOf(shape: DecoderShape, layer: number, tp: number): WeightMatrix[] {
  const linear = shape.linear;
  if (linear === undefined) return [];
  const keys = (linear.keyHeads * linear.keyDim) / tp;
  const values = (linear.valueHeads * linear.valueDim) / tp;
  return [
    matrix('linear-attention', layer, shape.hidden, 2 * keys + 2 * values),
    matrix('router', layer, shape.hidden, (2 * linear.valueHeads) / tp),
    matrix('norm', layer, linear.convolution, 2 * keys + values),
    matrix('linear-attention', layer, values, shape.hidden),
  ];
}

function mlpOf(shape: DecoderShape, layer: number, split: Split, padding: ExpertPadding): WeightMatrix[] {
  const { hidden, experts, mlp } = shape;
  const dense = shape.layers - (experts?.layers ?? 0);
  if (experts !== undefined && layer >= dense) {
    const parted = split.expert > 1;
    const copies = Math.ceil(experts.count / (parted ? split.expert : 1));
    const size = experts.size / (parted ? 1 : split.tensor);
    const inner = padding.inner === 1 ? size : roundedUp(size, padding.inner);
    const outer = roundedUp(hidden, padding.hidden);
    const matrices = [
      matrix('router', layer, hidden, experts.count),
      matrix('expert', layer, outer, 2 * inner, { copies }),
      matrix('expert', layer, inner, outer, { copies }),
    ];
    if (experts.shared > 0) {
      matrices.push(
        matrix('mlp', layer, hidden, (2 * experts.shared) / split.tensor),
        matrix('mlp', layer, experts.shared / split.tensor, hidden),
      );
    }
    return matrices;
  }
  if (mlp === undefined) return [];
  const inner = mlp.size / split.tensor;
  return [matrix('mlp', layer, hidden, inner * (mlp.matrices - 1)), matrix('mlp', layer, inner, hidden)];
}

function towerOf(extra: ExtraWeights, tp: number): WeightMatrix[] {
  const tower = extra.tower;
  const parts = extra.placement === 'sharded' ? tp : 1;
  const element: Pick<WeightMatrix, 'quantised'> & { bytesPerParameter?: number } = {
    quantised: extra.quantised,
    ...(extra.bytesPerParameter === undefined ? {} : { bytesPerParameter: extra.bytesPerParameter }),
  };
  if (tower === undefined) {
    // No inner structure is known: one tensor for each 16 Mi parameters.
    const pieces = Math.max(1, Math.round(extra.parameters / 2 ** 24));
    return Array.from({ length: pieces }, () =>
      matrix('tower', 0, 1, extra.parameters / pieces / parts, element),
    );
  }
  const { blocks, hidden, mlp, matrices } = tower;
  const perBlock = 4 * hidden * hidden + matrices * hidden * mlp;
  const list: WeightMatrix[] = [];
  for (let block = 0; block < blocks; block += 1) {
    list.push(
      matrix('tower', block, hidden, (3 * hidden) / parts, { bias: (3 * hidden) / parts, ...element }),
      matrix('tower', block, hidden / parts, hidden, { bias: hidden, ...element }),
      matrix('tower', block, hidden, ((matrices - 1) * mlp) / parts, { bias: mlp / parts, ...element }),
      matrix('tower', block, mlp / parts, hidden, { bias: hidden, ...element }),
    );
  }
  const rest = extra.parameters - blocks * perBlock;
  // The patch embedding and the projection into the language model.
  if (rest > 0) list.push(matrix('tower', 0, 1, rest / parts, element));
  return list;
}

/**
 * The matrices of the largest pipeline stage on one GPU, in the order in which engines allocate them.
 *
 * What is replicated over a tensor-parallel group: norms, routers, MLA's down-projections, KV heads beyond
 * their number, and the extras that say so.
 */
export function weightMatrices(
  shape: DecoderShape,
  split: Split,
  padding: ExpertPadding = unpadded,
): readonly WeightMatrix[] {
  const tp = split.tensor;
  const vocabulary = (Math.ceil(shape.vocab / vocabularyPadding) * vocabularyPadding) / tp;
  const layers = Math.ceil(shape.layers / split.pipeline);
  const list: WeightMatrix[] = [];
  list.push(matrix('embedding', 0, shape.hidden, vocabulary));
  const linearLayers = shape.linear?.layers ?? 0;
  const step = shape.layers / layers;
  for (let index = 0; index < layers; index += 1) {
    // A stage is an even sample of the layers, so that each kind of layer has its share.
    const layer = Math.min(shape.layers - 1, Math.floor((index + 0.5) * step));
    list.push(
      ...(layer < linearLayers ? linearAttentionOf(shape, layer, tp) : attentionOf(shape, layer, tp)),
    );
    list.push(...mlpOf(shape, layer, split, padding));
    list.push(matrix('norm', layer, 1, shape.hidden), matrix('norm', layer, 1, shape.hidden));
  }
  list.push(matrix('norm', 0, 1, shape.hidden));
  // With pipeline stages the embedding and the head are on different GPUs.
  if (!shape.tied && split.pipeline === 1) list.push(matrix('head', 0, shape.hidden, vocabulary));
  for (const extra of shape.extras ?? []) list.push(...towerOf(extra, tp));
  return list;
}

/** The number of parameters that the shape accounts for; unknown parts are missing from it. */
export const countParameters = onceFor((shape: DecoderShape): number => {
  let sum = 0;
  for (const item of weightMatrices(shape, unsplit)) {
    const columns = item.role === 'embedding' || item.role === 'head' ? shape.vocab : item.columns;
    sum += item.rows * columns * item.copies + item.bias;
  }
  return Math.round(sum);
});

/** Byte sizes of the tensors that hold one matrix under a precision; `elementBytes` is that of the model's dtype. */
export function tensorSizes(
  item: WeightMatrix,
  scheme: QuantizationScheme,
  layers: number,
  elementBytes: number,
): readonly number[] {
  const quantised = item.quantised ?? scheme.covers(item.role, item.layer, layers);
  const bias = item.bias > 0 ? [item.bias * elementBytes] : [];
  if (!quantised || scheme.bytesPerParameter >= elementBytes) {
    return [item.rows * item.columns * item.copies * (item.bytesPerParameter ?? elementBytes), ...bias];
  }
  return [...scheme.tensors(item.rows, item.columns).map((size) => size * item.copies), ...bias];
}
