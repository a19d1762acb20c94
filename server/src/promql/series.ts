import type { Grouping, PromExpression } from './expression';
import { functionSignatures } from './functions';

/**
 * How many series an expression can return: `one` at most, `many`, or `unknown`. A number that is no vector counts as
 * `unknown`.
 */
export type SeriesCount = 'one' | 'many' | 'unknown';

/**
 * The labels by which the series of a vector can differ.
 *
 * - `listed`: those with `true` can differ, those with `false` are there with one value
 * - `open`: any label but the fixed ones
 */
type Labels =
  | { readonly kind: 'listed'; readonly labels: ReadonlyMap<string, boolean> }
  | { readonly kind: 'open'; readonly fixed: ReadonlySet<string> };

export function seriesCount(expression: PromExpression): SeriesCount {
  const labels = labelsOf(expression);
  if (labels === undefined) return 'unknown';
  return isOne(labels) ? 'one' : 'many';
}

/** The labels by which the series differ, where they are listed by an aggregation. */
export function distinguishingLabels(expression: PromExpression): readonly string[] {
  const labels = labelsOf(expression);
  return labels?.kind === 'listed' ? free(labels.labels) : [];
}

/** Labels of one pod or one scraped address: whoever asks for one of their values wants one series. */
const identifying: readonly string[] = ['instance', 'pod', 'pod_name', 'exported_pod', 'exported_instance'];

const noLabels: Labels = { kind: 'listed', labels: new Map() };

function free(labels: ReadonlyMap<string, boolean>): readonly string[] {
  return [...labels].filter(([, differs]) => differs).map(([name]) => name);
}

function isOne(labels: Labels): boolean {
  return labels.kind === 'listed' && free(labels.labels).length === 0;
}

function without(labels: Labels, names: readonly string[]): Labels {
  return labels.kind === 'open'
    ? { kind: 'open', fixed: new Set([...labels.fixed, ...names]) }
    : { kind: 'listed', labels: new Map([...labels.labels].filter(([name]) => !names.includes(name))) };
}

function only(labels: Labels, names: readonly string[]): Labels {
  const differs = (name: string): boolean | undefined =>
    labels.kind === 'open' ? !labels.fixed.has(name) : labels.labels.get(name);
  const kept = names.flatMap((name) => {
    const found = differs(name);
    return found === undefined ? [] : [[name, found] as const];
  });
  return { kind: 'listed', labels: new Map(kept) };
}

/** `undefined` where it cannot be told. */
function labelsOf(expression: PromExpression): Labels | undefined {
  switch (expression.kind) {
    case 'number':
    case 'string':
      return undefined;
    case 'selector': {
      const pinned = expression.matchers.filter(({ operator, value }) => operator === '=' && value !== '');
      const fixed = new Set(pinned.map(({ label }) => label));
      return identifying.some((name) => fixed.has(name)) ? undefined : { kind: 'open', fixed };
    }
    case 'range':
    case 'shifted':
    case 'unary':
      return labelsOf(expression.of);
    case 'call':
      return callLabels(expression);
    case 'aggregate':
      return aggregateLabels(expression);
    case 'binary':
      return binaryLabels(expression);
  }
}

function callLabels({ name, args }: PromExpression & { readonly kind: 'call' }): Labels | undefined {
  if (name === 'absent' || name === 'absent_over_time' || name === 'vector') return noLabels;
  const signature = functionSignatures.get(name);
  if (signature === undefined || signature.returns === 'scalar') return undefined;
  const vector = signature.args.findIndex((type) => type === 'vector' || type === 'range');
  const arg = args[vector];
  if (arg === undefined) return noLabels;
  const labels = labelsOf(arg);
  if (labels === undefined) return undefined;
  if (name === 'histogram_quantile') return without(labels, ['le']);
  return name === 'info' && !isOne(labels) ? undefined : labels;
}

function grouped(labels: Labels, grouping: Grouping | undefined): Labels {
  if (grouping === undefined) return noLabels;
  return grouping.without ? without(labels, grouping.labels) : only(labels, grouping.labels);
}

function aggregateLabels({
  operator,
  args,
  grouping,
}: PromExpression & { readonly kind: 'aggregate' }): Labels | undefined {
  const vector = args.at(-1);
  const [parameter] = args;
  const labels = vector === undefined ? undefined : labelsOf(vector);
  // Without a grouping one series is left, whatever goes in.
  if (labels === undefined) {
    const isPlain = grouping === undefined && args.length === 1;
    return isPlain ? noLabels : undefined;
  }
  switch (operator) {
    case 'topk':
    case 'bottomk':
    case 'limitk':
      return parameter?.kind === 'number' && parameter.value === 1 ? grouped(labels, grouping) : labels;
    case 'limit_ratio':
      return labels;
    case 'count_values': {
      const name = parameter?.kind === 'string' ? parameter.value : 'value';
      const base = grouped(labels, grouping);
      return base.kind === 'open'
        ? base
        : { kind: 'listed', labels: new Map([...base.labels, [name, true]]) };
    }
    default:
      return grouped(labels, grouping);
  }
}

function isScalar(expression: PromExpression): boolean {
  switch (expression.kind) {
    case 'number':
      return true;
    case 'call':
      return functionSignatures.get(expression.name)?.returns === 'scalar';
    case 'unary':
      return isScalar(expression.of);
    case 'binary':
      return isScalar(expression.left) && isScalar(expression.right);
    default:
      return false;
  }
}

function binaryLabels(binary: PromExpression & { readonly kind: 'binary' }): Labels | undefined {
  const { operator, matching } = binary;
  if (isScalar(binary.left)) return isScalar(binary.right) ? undefined : labelsOf(binary.right);
  const left = labelsOf(binary.left);
  if (isScalar(binary.right)) return left;
  if (operator === 'and' || operator === 'unless') return left;
  const right = labelsOf(binary.right);
  if (operator === 'or') return orLabels(left, right, matching?.on === true && matching.labels.length === 0);
  if (matching?.many === 'left') return left;
  if (matching?.many === 'right') return right;
  if ((left !== undefined && isOne(left)) || (right !== undefined && isOne(right))) return noLabels;
  if (left === undefined || right === undefined) return undefined;
  if (matching !== undefined) {
    return matching.on ? only(left, matching.labels) : without(left, matching.labels);
  }
  return left.kind === 'listed' ? left : right;
}

/** With `on ()` the right side counts only where the left one is empty. */
function orLabels(
  left: Labels | undefined,
  right: Labels | undefined,
  onNothing: boolean,
): Labels | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (!isOne(left)) return left;
  if (!isOne(right)) return right;
  const isBare = (labels: Labels): boolean => labels.kind === 'listed' && labels.labels.size === 0;
  return onNothing || (isBare(left) && isBare(right)) ? noLabels : undefined;
}
