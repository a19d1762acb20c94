import { Environment } from '@marcbachmann/cel-js';
import { compareQuantities, isInteger, parseQuantity, toNumber, type Quantity } from '../kube/quantity';

/** A value as the language knows it: whole numbers are `bigint`, numbers with a fraction `number`. */
export type CelValue =
  string | number | bigint | boolean | null | readonly CelValue[] | { readonly [key: string]: CelValue };

/** How many nodes an expression may have; those of definitions have a hundred at most. */
const MOST_NODES = 5_000;

class Amount {
  constructor(readonly quantity: Quantity) {}
}

function amount(text: string): Amount {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`${text} is no quantity`);
  return new Amount(quantity);
}

function isUrl(text: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)\S*$/.test(text);
}

/** The functions that Kubernetes adds to the language, as far as definitions use them. */
function environment(): Environment {
  const compare = (a: Amount, b: Amount): number => compareQuantities(a.quantity, b.quantity);
  return new Environment({
    unlistedVariablesAreDyn: false,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: MOST_NODES },
  })
    .registerVariable('self', 'dyn')
    .registerFunction('string.find(string): string', (text: string, pattern: string) => find(text, pattern))
    .registerFunction('string.findAll(string): list', (text: string, pattern: string) =>
      [...text.matchAll(new RegExp(pattern, 'gu'))].map(([match]) => match),
    )
    .registerFunction('isURL(string): bool', isUrl)
    .registerType('Quantity', Amount)
    .registerFunction('quantity(string): Quantity', amount)
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: Amount, b: Amount) => compare(a, b) > 0)
    .registerFunction('Quantity.isLessThan(Quantity): bool', (a: Amount, b: Amount) => compare(a, b) < 0)
    .registerFunction('Quantity.compareTo(Quantity): int', (a: Amount, b: Amount) => BigInt(compare(a, b)))
    .registerFunction('Quantity.isInteger(): bool', ({ quantity }: Amount) => isInteger(quantity))
    .registerFunction('Quantity.asInteger(): int', ({ quantity }: Amount) => BigInt(toNumber(quantity)));
}

function find(text: string, pattern: string): string {
  return new RegExp(pattern, 'u').exec(text)?.[0] ?? '';
}

let shared: Environment | undefined;
const parsed = new Map<string, ((context: { self: CelValue }) => unknown) | undefined>();

/** Asking for a key that is not there fails an expression, and with it what depends on it. */
export const noSuchKey = Symbol('no such key');

/**
 * The value of an expression about `self`, or {@link noSuchKey}; `undefined` where it cannot be told: the expression uses
 * something that is not known here, or fails otherwise.
 */
export function evaluate(expression: string, self: CelValue): unknown {
  if (!parsed.has(expression)) {
    shared ??= environment();
    let run: ((context: { self: CelValue }) => unknown) | undefined;
    try {
      run = shared.parse(expression);
    } catch {
      run = undefined;
    }
    parsed.set(expression, run);
  }
  try {
    return parsed.get(expression)?.({ self });
  } catch (error) {
    return error instanceof Error && error.message.startsWith('No such key') ? noSuchKey : undefined;
  }
}
