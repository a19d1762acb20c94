/**
 * What kubectl makes of a plain scalar. It reads manifests with sigs.k8s.io/yaml, whose fork of go-yaml v2 resolves by
 * YAML 1.1 (`goyaml.v2/resolve.go`): `yes` and `on` are booleans, `0777` and `0o777` are octal, underscores in numbers
 * are skipped, `08` is a float, and base 60 and timestamps stay text.
 */

const CONSTANTS: ReadonlyMap<string, boolean | null | number> = new Map<string, boolean | null | number>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(
    (word) => [word, Number.POSITIVE_INFINITY] as const,
  ),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

/** The longest word of the table; anything longer needs no look-up. */
const LONGEST_CONSTANT = 5;

/** By first character: 1 = may be one of the constants, 2 = may be a number, 3 = either (`.`, `+`, `-`). */
const FIRST = new Uint8Array(128);
for (const character of 'yYnNtTfFoO~') FIRST[character.charCodeAt(0)] = 1;
for (const character of '0123456789') FIRST[character.charCodeAt(0)] = 2;
for (const character of '.+-') FIRST[character.charCodeAt(0)] = 3;

const DECIMAL = /^[-+]?(?:0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const PREFIXED = /^([-+]?)0(?:([xX])([0-9a-fA-F]+)|([oO]?)([0-7]+)|([bB])([01]+))$/;

/** The value of a plain scalar without a tag. */
export function resolvePlain(text: string): string | number | boolean | null {
  if (text.length === 0) return null;
  const code = text.charCodeAt(0);
  const first = code < 128 ? FIRST[code] : 0;
  if (first === 0) return text;
  if (first !== 2 && text.length <= LONGEST_CONSTANT) {
    const constant = CONSTANTS.get(text);
    if (constant !== undefined) return constant;
  }
  return first === 1 ? text : resolveNumber(text);
}

function resolveNumber(text: string): string | number {
  // An integer has no negative zero.
  if (text.length <= 15 && DECIMAL.test(text)) return Number(text) + 0;
  const plain = text.includes('_') && !text.startsWith('._') ? text.replaceAll('_', '') : text;
  const prefixed = PREFIXED.exec(plain);
  if (prefixed !== null) {
    const digits = prefixed[3] ?? prefixed[5] ?? prefixed[7] ?? '0';
    const base = prefixed[3] !== undefined ? 16 : prefixed[5] !== undefined ? 8 : 2;
    const magnitude = Number.parseInt(digits, base);
    return prefixed[1] === '-' ? -magnitude : magnitude;
  }
  if (!FLOAT.test(plain)) return text;
  const number = Number(plain);
  // strconv.ParseFloat reports a float out of range as an error, so go-yaml keeps its text; an integer becomes a big one.
  return Number.isFinite(number) ? number : text;
}

const TAG_PREFIX = 'tag:yaml.org,2002:';

/**
 * The value of a scalar with a tag such as `!!str`. `undefined` for a tag that is not YAML's own: a program that
 * understands it decides the value.
 */
export function resolveTagged(tag: string, text: string): string | number | boolean | null | undefined {
  if (tag === '!') return text;
  if (!tag.startsWith(TAG_PREFIX)) return undefined;
  const name = tag.slice(TAG_PREFIX.length);
  return name === 'int' || name === 'float' || name === 'bool' || name === 'null' ? resolvePlain(text) : text;
}
