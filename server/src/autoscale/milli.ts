import { parseQuantity } from '../kube/quantity';

/**
 * A metric value, a target or a request in thousandths of its unit, as the controller holds it in an int64.
 *
 * All sums and integer divisions of the algorithm are done on these. Memory of a few hundred GiB in milli-bytes
 * is beyond 2^53, so it is a bigint; only a ratio of two of them is a double, as in the controller.
 */
export type Milli = bigint;

export const maxInt64: Milli = (1n << 63n) - 1n;

/** What Go's conversion of an infinite or undefined double to int64 gives on amd64. */
export const minInt64: Milli = -(1n << 63n);

/** The largest replica count that the API has room for. */
export const maxInt32 = 2_147_483_647;

const minInt32 = -2_147_483_648;

/**
 * A double as a replica count: cut towards zero, then held between the bounds of an int32.
 *
 * Go leaves the conversion of larger numbers open and the controller guards only some of its sums against it;
 * here all of them stop at the bound. NaN (0 / 0) becomes 0.
 */
export function toInt32(value: number): number {
  if (Number.isNaN(value)) return 0;
  // `+ 0` turns the -0 that Math.ceil makes of small negative numbers into 0.
  return Math.min(maxInt32, Math.max(minInt32, Math.trunc(value))) + 0;
}

/** A quantity in thousandths, rounded up as `Quantity.MilliValue` does; `undefined` if it is no quantity. */
export function readMilli(quantity: string | number): Milli | undefined {
  const parsed = parseQuantity(String(quantity));
  if (parsed === undefined) return undefined;
  const whole = parsed.nanos / 1_000_000n;
  return parsed.nanos > 0n && parsed.nanos % 1_000_000n !== 0n ? whole + 1n : whole;
}

const decimalSuffixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** The text that the API server prints for `resource.NewMilliQuantity(milli, DecimalSI)`: `36135m`, `33`, `2k`. */
export function toQuantityText(milli: Milli): string {
  if (milli === 0n) return '0';
  if (milli % 1000n !== 0n) return `${milli}m`;
  let whole = milli / 1000n;
  let power = 0;
  while (whole % 1000n === 0n && power < decimalSuffixes.length - 1) {
    whole /= 1000n;
    power += 1;
  }
  return `${whole}${decimalSuffixes[power] ?? ''}`;
}

/** The value as people write it: `36.135`, `33`, `2000`. */
export function toDecimalText(milli: Milli): string {
  const sign = milli < 0n ? '-' : '';
  const size = milli < 0n ? -milli : milli;
  const rest = (size % 1000n).toString().padStart(3, '0').replace(/0+$/, '');
  return `${sign}${size / 1000n}${rest === '' ? '' : `.${rest}`}`;
}
