/** What an expression yields: a number, a text, one sample per series, or the samples of a time. */
export type ValueType = 'scalar' | 'string' | 'vector' | 'range';

export interface FunctionSignature {
  readonly args: readonly ValueType[];
  /** How many of the arguments, from the end, may be left out. */
  readonly optional: number;
  /** The last argument may be given again, any number of times. */
  readonly repeats: boolean;
  readonly returns: ValueType;
}

function signature(
  args: readonly ValueType[],
  more: Partial<Omit<FunctionSignature, 'args'>> = {},
): FunctionSignature {
  return { args, optional: 0, repeats: false, returns: 'vector', ...more };
}

function each(
  names: string,
  args: readonly ValueType[],
  more: Partial<Omit<FunctionSignature, 'args'>> = {},
): readonly (readonly [string, FunctionSignature])[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => [name, signature(args, more)] as const);
}

/**
 * Arguments and results of PromQL's functions (prometheus/prometheus promql/parser/functions.go, 3.x, and holt_winters
 * of 2.x). Functions that are not here are not judged.
 */
export const functionSignatures: ReadonlyMap<string, FunctionSignature> = new Map([
  ...each(
    `abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor ln log10 log2 rad sgn sin sinh sqrt tan
    tanh sort sort_desc timestamp histogram_avg histogram_count histogram_sum histogram_stddev histogram_stdvar`,
    ['vector'],
  ),
  ...each(
    `absent_over_time avg_over_time changes count_over_time delta deriv first_over_time idelta increase irate
    last_over_time mad_over_time max_over_time min_over_time present_over_time rate resets stddev_over_time
    stdvar_over_time sum_over_time ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time
    ts_of_min_over_time`,
    ['range'],
  ),
  ...each('quantile_over_time', ['scalar', 'range']),
  ...each('predict_linear', ['range', 'scalar']),
  ...each('double_exponential_smoothing holt_winters', ['range', 'scalar', 'scalar']),
  ...each('clamp', ['vector', 'scalar', 'scalar']),
  ...each('clamp_max clamp_min', ['vector', 'scalar']),
  ...each('round', ['vector', 'scalar'], { optional: 1 }),
  ...each('histogram_quantile', ['scalar', 'vector']),
  ...each('histogram_fraction', ['scalar', 'scalar', 'vector']),
  ...each('label_replace', ['vector', 'string', 'string', 'string', 'string']),
  ...each('label_join', ['vector', 'string', 'string', 'string'], { optional: 1, repeats: true }),
  ...each('sort_by_label sort_by_label_desc', ['vector', 'string'], { optional: 1, repeats: true }),
  ...each('info', ['vector', 'vector'], { optional: 1 }),
  ...each('day_of_month day_of_week day_of_year days_in_month hour minute month year', ['vector'], {
    optional: 1,
  }),
  ...each('scalar', ['vector'], { returns: 'scalar' }),
  ...each('vector', ['scalar']),
  ...each('time pi', [], { returns: 'scalar' }),
]);

/** The type of the parameter that comes before the vector of an aggregation. */
export const aggregateParameters: Readonly<Record<string, ValueType>> = {
  topk: 'scalar',
  bottomk: 'scalar',
  limitk: 'scalar',
  limit_ratio: 'scalar',
  quantile: 'scalar',
  count_values: 'string',
};

export const comparisons: readonly string[] = ['==', '!=', '>', '<', '>=', '<='];
export const setOperators: readonly string[] = ['and', 'or', 'unless'];
