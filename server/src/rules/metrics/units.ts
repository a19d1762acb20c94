import { unitOfSeries } from '../../kube/metric-names/lookup';
import type { MetricUnit } from '../../kube/metric-names/metric';
import { partsOf, selectorsOf, type PromExpression } from '../../promql/expression';

/** What the values of an expression mean, and the metric that says so. */
export interface Measure {
  readonly unit: MetricUnit;
  readonly metric: string;
}

/** Functions whose values mean what those of their vector mean. */
const keeping =
  /^(?:(?:avg|max|min|quantile|last)_over_time|ceil|floor|round|abs|sort|sort_desc|label_replace|label_join|clamp|clamp_min|clamp_max|scalar|vector)$/;

/** Aggregations of values between 0 and 1 that are between 0 and 1. */
const withinBounds: readonly string[] = ['avg', 'max', 'min', 'quantile', 'topk', 'bottomk', 'limitk'];

const comparisons: readonly string[] = ['>', '<', '>=', '<=', '==', '!='];

export function isComparison(operator: string): boolean {
  return comparisons.includes(operator);
}

/** The number that an expression of numbers alone makes: `95`, `-1`, `80 * 1024`. */
export function constantOf(expression: PromExpression): number | undefined {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'unary': {
      const value = constantOf(expression.of);
      return value === undefined ? undefined : -value;
    }
    case 'binary': {
      const [left, right] = [constantOf(expression.left), constantOf(expression.right)];
      if (left === undefined || right === undefined) return undefined;
      switch (expression.operator) {
        case '*':
          return left * right;
        case '/':
          return left / right;
        case '+':
          return left + right;
        case '-':
          return left - right;
        case '^':
          return left ** right;
        default:
          return undefined;
      }
    }
    default:
      return undefined;
  }
}

/** What the values of an expression mean; `undefined` where that cannot be told. */
export function measureOf(expression: PromExpression): Measure | undefined {
  switch (expression.kind) {
    case 'number':
    case 'string':
      return undefined;
    case 'selector': {
      const { metric } = expression;
      // What a counter or a bucket has counted so far means nothing by itself.
      if (metric === undefined || /_(?:total|sum|bucket|count|created|us)$/.test(metric)) return undefined;
      const unit = unitOfSeries(metric);
      return unit === undefined ? undefined : { unit, metric };
    }
    case 'range':
    case 'shifted':
      return measureOf(expression.of);
    case 'unary':
      return undefined;
    case 'call': {
      if (expression.name === 'histogram_quantile' || expression.name === 'histogram_avg')
        return measureOfHistogram(expression);
      if (!keeping.test(expression.name)) return undefined;
      return firstMeasure(expression.args);
    }
    case 'aggregate': {
      const measure = firstMeasure(expression.args);
      if (measure === undefined) return undefined;
      if (withinBounds.includes(expression.operator)) return measure;
      const isBounded = measure.unit === 'ratio' || measure.unit === 'percent';
      return expression.operator === 'sum' && !isBounded ? measure : undefined;
    }
    case 'binary':
      return measureOfBinary(expression);
  }
}

function firstMeasure(args: readonly PromExpression[]): Measure | undefined {
  for (const arg of args) {
    const measure = measureOf(arg);
    if (measure !== undefined) return measure;
  }
  return undefined;
}

function measureOfHistogram(expression: PromExpression): Measure | undefined {
  const [metric] = selectorsOf(expression).flatMap((selector) => selector.metric ?? []);
  const unit = metric?.endsWith('_bucket') === true ? unitOfSeries(metric) : undefined;
  return metric === undefined || unit === undefined
    ? undefined
    : { unit, metric: metric.slice(0, -'_bucket'.length) };
}

const million = 1024 * 1024;

/** What is left of an expression without the numbers that it is multiplied with and divided by: `x * 1024 * 1024`. */
function withoutFactors(expression: PromExpression): {
  readonly of: PromExpression;
  readonly factor: number;
} {
  if (expression.kind !== 'binary') return { of: expression, factor: 1 };
  const { operator, left, right } = expression;
  const [leftNumber, rightNumber] = [constantOf(left), constantOf(right)];
  if (operator === '*' && rightNumber !== undefined) {
    const inner = withoutFactors(left);
    return { of: inner.of, factor: inner.factor * rightNumber };
  }
  if (operator === '*' && leftNumber !== undefined) {
    const inner = withoutFactors(right);
    return { of: inner.of, factor: inner.factor * leftNumber };
  }
  if (operator === '/' && rightNumber !== undefined && rightNumber !== 0) {
    const inner = withoutFactors(left);
    return { of: inner.of, factor: inner.factor / rightNumber };
  }
  return { of: expression, factor: 1 };
}

function scaled({ unit, metric }: Measure, factor: number): Measure | undefined {
  const to: MetricUnit | undefined =
    factor === 1
      ? unit
      : unit === 'ratio' && factor === 100
        ? 'percent'
        : unit === 'percent' && factor === 0.01
          ? 'ratio'
          : unit === 'MiB' && factor === million
            ? 'bytes'
            : unit === 'bytes' && factor === 1 / million
              ? 'MiB'
              : unit === 'seconds' && factor === 1000
                ? 'milliseconds'
                : unit === 'milliseconds' && factor === 0.001
                  ? 'seconds'
                  : undefined;
  return to === undefined ? undefined : { unit: to, metric };
}

function measureOfBinary(expression: PromExpression & { readonly kind: 'binary' }): Measure | undefined {
  const { operator, left, right } = expression;
  if (isComparison(operator)) return expression.bool ? undefined : measureOf(left);
  if (operator === 'and' || operator === 'unless' || operator === 'or') return measureOf(left);
  const { of, factor } = withoutFactors(expression);
  if (of !== expression) {
    const measure = measureOf(of);
    return measure === undefined ? undefined : scaled(measure, factor);
  }
  if (operator !== '/') return undefined;
  return shareOf(left, right) ?? meanOf(left, right);
}

/** A part of a whole that it is in: `used / (used + free)`, `used / total`. */
function shareOf(left: PromExpression, right: PromExpression): Measure | undefined {
  const [part, ...others] = selectorsOf(left).flatMap(({ metric }) => metric ?? []);
  if (part === undefined || others.length > 0) return undefined;
  const unit = unitOfSeries(part);
  if ((unit !== 'MiB' && unit !== 'bytes') || hasCall(left, /^(?:rate|irate|increase|delta)$/))
    return undefined;
  const whole = selectorsOf(right).flatMap(({ metric }) => metric ?? []);
  const isWhole =
    (whole.length > 1 && whole.includes(part)) ||
    (whole.length === 1 && /_total(?:_bytes)?$/i.test(whole[0] ?? ''));
  return isWhole ? { unit: 'ratio', metric: `${part} divided by the whole` } : undefined;
}

/** A mean of a histogram: `rate(x_sum[5m]) / rate(x_count[5m])`. */
function meanOf(left: PromExpression, right: PromExpression): Measure | undefined {
  const [sum, ...otherSums] = selectorsOf(left).flatMap(({ metric }) => metric ?? []);
  const [count, ...otherCounts] = selectorsOf(right).flatMap(({ metric }) => metric ?? []);
  if (sum === undefined || count === undefined || otherSums.length + otherCounts.length > 0) return undefined;
  if (!sum.endsWith('_sum') || count !== `${sum.slice(0, -'_sum'.length)}_count`) return undefined;
  const unit = unitOfSeries(sum);
  return unit === undefined ? undefined : { unit, metric: sum.slice(0, -'_sum'.length) };
}

function hasCall(expression: PromExpression, names: RegExp): boolean {
  return (
    (expression.kind === 'call' && names.test(expression.name)) ||
    partsOf(expression).some((part) => hasCall(part, names))
  );
}

/** A number in a unit that it cannot have been meant in. */
export interface WrongThreshold {
  /** `is 0 to 1`. */
  readonly what: string;
  /** What follows: `never above it`. */
  readonly then: string;
  /** The same threshold in the unit of the metric. */
  readonly meant: number | undefined;
}

/** Seconds beyond which a time of an inference engine was meant in milliseconds. */
function mostSeconds(metric: string): number {
  if (!/^(?:vllm:|sglang:|tgi_)/.test(metric)) return Infinity;
  if (/inter_token|per_output_token|per_token/.test(metric)) return 5;
  return /first_token|queue/.test(metric) ? 100 : 1000;
}

const precise = (value: number): number => Number(value.toPrecision(6));

/**
 * Whether a threshold is in another unit than what is compared with it.
 *
 * @param upper whether it is a bound from above that is to be reached (`>`, `>=`, the target of an autoscaler).
 */
export function wrongThreshold(
  { unit, metric }: Measure,
  threshold: number,
  upper: boolean,
): WrongThreshold | undefined {
  const never = upper ? 'it never gets there' : 'it is always below';
  const always = upper ? 'it nearly always is' : 'it hardly ever is';
  switch (unit) {
    case 'ratio':
      return threshold > 1
        ? { what: 'is 0 to 1', then: never, meant: threshold <= 100 ? precise(threshold / 100) : undefined }
        : undefined;
    case 'percent':
      if (threshold > 100) return { what: 'is 0 to 100', then: never, meant: undefined };
      return threshold > 0 && threshold < 1
        ? { what: 'is 0 to 100', then: always, meant: precise(threshold * 100) }
        : undefined;
    case 'MiB':
      if (threshold >= 1e7) return { what: 'is in MiB', then: never, meant: Math.round(threshold / million) };
      return (threshold > 0 && threshold < 1) ||
        (upper && /FB_USED$/.test(metric) && threshold >= 80 && threshold < 100)
        ? { what: 'is in MiB', then: always, meant: undefined }
        : undefined;
    case 'bytes':
      return /gpu_memory|neuron/.test(metric) && threshold > 1 && threshold < 1e6
        ? { what: 'is in bytes', then: always, meant: threshold > 1000 ? threshold * million : undefined }
        : undefined;
    case 'seconds':
      return threshold >= mostSeconds(metric)
        ? { what: 'is in seconds', then: never, meant: precise(threshold / 1000) }
        : undefined;
    case 'milliseconds':
      return threshold > 0 && threshold < 1
        ? { what: 'is in milliseconds', then: always, meant: precise(threshold * 1000) }
        : undefined;
    default:
      return undefined;
  }
}
