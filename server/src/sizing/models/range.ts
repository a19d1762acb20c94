/**
 * A figure that is known only within bounds. `low <= expected <= high` always holds.
 *
 * The product never shows `expected` where only a bound is safe: a finding of severity error compares
 * with the bound that is in the author's favour.
 */
export interface Range {
  readonly low: number;
  readonly expected: number;
  readonly high: number;
}

/** A range together with the sentences that say where it comes from. Bytes unless the field says otherwise. */
export interface Estimate extends Range {
  readonly reasons: readonly string[];
}

/** A figure that is known exactly. */
export function exactly(value: number): Range {
  return { low: value, expected: value, high: value };
}

/** Orders the three figures, so that rounding or a negative spread never breaks the invariant of {@link Range}. */
export function range(low: number, expected: number, high: number): Range {
  return { low: Math.min(low, expected), expected, high: Math.max(high, expected) };
}

/** The sum of independent figures; bounds add up, which is wider than chance would make it. */
export function add(...ranges: readonly Range[]): Range {
  return {
    low: ranges.reduce((sum, item) => sum + item.low, 0),
    expected: ranges.reduce((sum, item) => sum + item.expected, 0),
    high: ranges.reduce((sum, item) => sum + item.high, 0),
  };
}

/** `a - b`: the low bound of the difference meets the high bound of what is taken away. */
export function subtract(a: Range, b: Range): Range {
  return { low: a.low - b.high, expected: a.expected - b.expected, high: a.high - b.low };
}

/**
 * `a` less several figures that depend on each other only in part. The spread lies half-way between the root
 * of the squares (all independent) and the plain sum (all at their worst together).
 */
export function subtractLoosely(a: Range, ...parts: readonly Range[]): Range {
  const expected = parts.reduce((rest, part) => rest - part.expected, a.expected);
  const spread = (deviations: readonly number[]): number =>
    (Math.hypot(...deviations) + deviations.reduce((sum, deviation) => sum + deviation, 0)) / 2;
  return {
    low: expected - spread([a.expected - a.low, ...parts.map((part) => part.high - part.expected)]),
    expected,
    high: expected + spread([a.high - a.expected, ...parts.map((part) => part.expected - part.low)]),
  };
}

/** Every figure times a non-negative factor. */
export function scale(item: Range, factor: number): Range {
  return { low: item.low * factor, expected: item.expected * factor, high: item.high * factor };
}

/** The smallest range that holds all of the given ones; `expected` is the first one's. */
export function hull(first: Range, ...others: readonly Range[]): Range {
  return {
    low: Math.min(first.low, ...others.map((item) => item.low)),
    expected: first.expected,
    high: Math.max(first.high, ...others.map((item) => item.high)),
  };
}

/** Attaches the reasons. */
export function estimateOf(item: Range, reasons: readonly string[]): Estimate {
  return { low: item.low, expected: item.expected, high: item.high, reasons };
}

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
