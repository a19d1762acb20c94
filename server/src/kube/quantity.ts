import type { ScalarNode, YamlNode } from '../yaml/node';

/**
 * Kubernetes quantities (`500m`, `16Gi`, `1e3`), as `k8s.io/apimachinery/pkg/api/resource` reads them.
 *
 * A value is an exact integer of nano-units, so that comparisons never suffer from binary fractions.
 */
export interface Quantity {
  /** The value in 1e-9 units (cpu: nano-cores; memory: nano-bytes). Rounded up, as Kubernetes does below one nano. */
  readonly nanos: bigint;
  /** The suffix as written: `''`, `m`, `Ki`, `G`, `e3`, ... */
  readonly suffix: string;
}

const binary: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};

/** Decimal suffixes as powers of ten. */
const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

const form = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?\d{1,4})$/;

/** Values with a binary suffix are cut off at the largest signed 64-bit number of units. */
const binaryMaximum = ((1n << 63n) - 1n) * 1_000_000_000n;

/**
 * Reads a quantity; `undefined` when the API server would refuse the text. As there, text without any digit is zero
 * (`.`, `-`, and `Gi`, but for the two largest suffixes).
 */
export function parseQuantity(text: string): Quantity | undefined {
  const known = read.get(text);
  if (known !== undefined || read.has(text)) return known;
  const quantity = readQuantity(text);
  if (read.size >= MOST_READ) read.clear();
  read.set(text, quantity);
  return quantity;
}

/** Manifests write few amounts, many times each. */
const read = new Map<string, Quantity | undefined>();
const MOST_READ = 2_000;

function readQuantity(text: string): Quantity | undefined {
  const match = text === '' ? null : form.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '' && (suffix === 'Pi' || suffix === 'Ei')) return undefined;
  const digits = BigInt(whole + fraction || '0');
  let numerator = digits;
  let exponent = 9 - fraction.length;
  const factor = binary[suffix];
  if (factor !== undefined) {
    numerator *= factor;
  } else if (/^[eE]./.test(suffix)) {
    exponent += Number(suffix.slice(1));
  } else {
    exponent += decimal[suffix] ?? 0;
  }
  let nanos: bigint;
  if (exponent >= 0) {
    nanos = numerator * 10n ** BigInt(exponent);
  } else {
    const divisor = 10n ** BigInt(-exponent);
    nanos = (numerator + divisor - 1n) / divisor;
  }
  if (factor !== undefined && nanos > binaryMaximum) nanos = binaryMaximum;
  return { nanos: sign === '-' ? -nanos : nanos, suffix };
}

/**
 * A quantity as it reaches the API server: numbers arrive in their JSON form (`0x10` as 16), and spaces around a text are
 * cut off. A line break is none of them: in JSON it is written as `\n`.
 */
export function quantityText(node: ScalarNode): string {
  return typeof node.value === 'number' && /^[-+]?0[0-9xob]|_|:/i.test(node.text)
    ? String(node.value)
    : node.text.replace(/^ +| +$/g, '');
}

/** Reads the quantity of a manifest; `undefined` when it is unknown or would be refused. */
export function quantityOf(node: YamlNode | undefined): Quantity | undefined {
  if (node?.kind !== 'scalar' || node.unknown || node.value === null || typeof node.value === 'boolean')
    return undefined;
  return parseQuantity(quantityText(node));
}

const nano = 1_000_000_000n;

/** The value in whole units (cores, bytes, pieces) as a number; exact up to 2^53. */
export function toNumber(quantity: Quantity): number {
  const whole = quantity.nanos / nano;
  const rest = quantity.nanos % nano;
  return Number(whole) + Number(rest) / 1e9;
}

/** True when the value is a whole number of units. */
export function isInteger(quantity: Quantity): boolean {
  return quantity.nanos % nano === 0n;
}

/** Negative, zero or positive, as a sort function wants it. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

const units: readonly (readonly [string, bigint])[] = [
  ['Ti', 1n << 40n],
  ['Gi', 1n << 30n],
  ['Mi', 1n << 20n],
  ['Ki', 1n << 10n],
];

/**
 * Bytes as people say them: at most three significant digits in the largest binary unit, `15.9 GiB`.
 * For messages only; {@link toMemoryQuantity} makes text for a manifest.
 */
export function formatBytes(bytes: number): string {
  for (const [unit, factor] of units) {
    const value = bytes / Number(factor);
    if (Math.abs(value) >= 1) {
      const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
      return `${Number(value.toFixed(digits))} ${unit}B`;
    }
  }
  return `${Math.round(bytes)} B`;
}

/** Bytes as a manifest quantity, rounded up to a whole `Gi`. */
export function toMemoryQuantity(bytes: number): string {
  return `${Math.ceil(bytes / Number(1n << 30n))}Gi`;
}
