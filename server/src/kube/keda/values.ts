/**
 * The forms in which KEDA reads the text of a trigger's metadata: Go's `encoding/json` for numbers, `strconv.ParseBool`,
 * `time.ParseDuration`, and KEDA's own maps and lists (kedacore/keda pkg/scalers/scalersconfig/typed_config.go,
 * commit 8b4f083). Each function takes text whose spaces at both ends are cut off.
 */

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const jsonInteger = /^-?(?:0|[1-9]\d*)$/;

/** A JSON number: `0.5`, `-5`, `1e3`; not `.5`, `05`, `+5`, `100m` or `NaN`. */
export function readNumber(text: string): number | undefined {
  const value = jsonNumber.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const maxInt64 = (1n << 63n) - 1n;
const minInt64 = -(1n << 63n);

/** A JSON number without a fraction and an exponent, of 64 bits. */
export function readInteger(text: string): bigint | undefined {
  if (!jsonInteger.test(text)) return undefined;
  const value = BigInt(text);
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}

/** As Go's `strconv.ParseInt` with base 10: leading zeros and a plus sign are fine. */
export function readDecimal(text: string, bits: 32 | 64): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  const limit = 1n << BigInt(bits - 1);
  return value >= -limit && value < limit ? value : undefined;
}

const booleans: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  True: true,
  TRUE: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  False: false,
  FALSE: false,
};

export function readBoolean(text: string): boolean | undefined {
  return Object.hasOwn(booleans, text) ? booleans[text] : undefined;
}

/** Nanoseconds of each unit of a Go duration. */
const durationUnits: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

const durationPart = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** A Go duration (`30s`, `1m30s`) or a whole number of milliseconds, not negative. In milliseconds. */
export function readDuration(text: string): number | undefined {
  const nanoseconds = readGoDuration(text);
  if (nanoseconds !== undefined) return nanoseconds < 0 ? undefined : nanoseconds / 1e6;
  const milliseconds = readDecimal(text, 64);
  return milliseconds === undefined || milliseconds < 0n ? undefined : Number(milliseconds);
}

function readGoDuration(text: string): number | undefined {
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return 0;
  let at = 0;
  let total = 0;
  durationPart.lastIndex = 0;
  for (const [whole, amount = '', unit = ''] of unsigned.matchAll(durationPart)) {
    at += whole.length;
    total += Number(amount) * (durationUnits[unit] ?? 0);
  }
  if (unsigned === '' || at !== unsigned.length || total > Number(maxInt64)) return undefined;
  return text.startsWith('-') ? -total : total;
}

/** `k=v,k=v`: exactly one `=` per item. */
export function isMap(text: string): boolean {
  return text.split(',').every((item) => item.split('=').length === 2);
}

/** Whole numbers and ranges of them: `1-4,8`. Kafka's own parser takes decimal forms (`+1`, `01`), the other one JSON. */
export function isPartitionList(text: string, form: 'decimal' | 'json'): boolean {
  const isWhole = (part: string): boolean =>
    (form === 'decimal' ? readDecimal(part.trim(), 32) : readInteger(part.trim())) !== undefined;
  return text.split(',').every((item) => {
    const range = item.trim().split('-');
    return range.length === 1 ? isWhole(item) : range.length === 2 && range.every(isWhole);
  });
}

/** `1.0.0`, or `0.10.2.0` before Kafka 1.0 (sarama's `ParseKafkaVersion`). */
export function isKafkaVersion(text: string): boolean {
  return (text.startsWith('0') ? /^0\.\d+\.\d+\.\d+$/ : /^\d+\.\d+\.\d+$/).test(text);
}
