/**
 * Karpenter's algebra of label requirements (`sigs.k8s.io/karpenter/pkg/scheduling`, v1.14): a requirement is a set of
 * label values, possibly the complement of a finite set, possibly bounded by integers.
 */

export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';

/** A requirement as a NodePool or a node affinity writes it. `Gte`, `Lte` and `minValues` exist in NodePools only. */
export interface RequirementSpec {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

/** The label values that a requirement admits. */
export interface ValueSet {
  /** True: every value but `values` (within the bounds); false: exactly `values`. */
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Smallest integer admitted. With a bound, values that are no integers are not admitted. */
  readonly atLeast?: number;
  /** Largest integer admitted. */
  readonly atMost?: number;
  /** How many different values the instance types of a NodePool must keep open. */
  readonly minValues?: number;
}

/** Requirements by normalised label key. */
export type Requirements = ReadonlyMap<string, ValueSet>;

/** Aliases that Karpenter translates before it compares labels. */
const aliases: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'topology.ebs.csi.aws.com/zone': 'topology.kubernetes.io/zone',
};

/** The label key that Karpenter uses for it. */
export function normaliseLabel(key: string): string {
  return aliases[key] ?? key;
}

const integer = /^[+-]?\d+$/;

const nothing: ReadonlySet<string> = new Set();

/** The set that admits no value: a label that must not exist. */
export const absent: ValueSet = { complement: false, values: nothing };

/** The set that admits every value. */
export const anyValue: ValueSet = { complement: true, values: nothing };

/** Exactly these values. */
export function oneOf(values: Iterable<string>): ValueSet {
  return { complement: false, values: new Set(values) };
}

/**
 * The values that a requirement admits; `undefined` when it is malformed (an unknown operator, a bound that is no
 * integer, no values where some are needed), which the API server refuses.
 */
export function valueSet(spec: RequirementSpec): ValueSet | undefined {
  const values = spec.values ?? [];
  const min = spec.minValues === undefined ? {} : { minValues: spec.minValues };
  switch (spec.operator) {
    case 'In':
      return values.length === 0 ? undefined : { ...oneOf(values), ...min };
    case 'NotIn':
      return values.length === 0 ? undefined : { complement: true, values: new Set(values), ...min };
    case 'Exists':
      return { ...anyValue, ...min };
    case 'DoesNotExist':
      return { ...absent, ...min };
    case 'Gt':
    case 'Lt':
    case 'Gte':
    case 'Lte': {
      const [bound = ''] = values;
      if (values.length !== 1 || !integer.test(bound)) return undefined;
      const number = Number(bound);
      const bounds =
        spec.operator === 'Gt'
          ? { atLeast: number + 1 }
          : spec.operator === 'Gte'
            ? { atLeast: number }
            : spec.operator === 'Lt'
              ? { atMost: number - 1 }
              : { atMost: number };
      return { ...anyValue, ...bounds, ...min };
    }
    default:
      return undefined;
  }
}

function within(value: string, atLeast: number | undefined, atMost: number | undefined): boolean {
  if (atLeast === undefined && atMost === undefined) return true;
  if (!integer.test(value)) return false;
  const number = Number(value);
  return (atLeast === undefined || number >= atLeast) && (atMost === undefined || number <= atMost);
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b);
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** The values that both sets admit. */
export function intersect(a: ValueSet, b: ValueSet): ValueSet {
  const atLeast = larger(a.atLeast, b.atLeast);
  const atMost = smaller(a.atMost, b.atMost);
  const minValues = larger(a.minValues, b.minValues);
  const min = minValues === undefined ? {} : { minValues };
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) return { ...absent, ...min };

  const complement = a.complement && b.complement;
  let values: string[];
  if (complement) values = [...a.values, ...b.values];
  else if (a.complement) values = [...b.values].filter((value) => !a.values.has(value));
  else if (b.complement) values = [...a.values].filter((value) => !b.values.has(value));
  else values = [...a.values].filter((value) => b.values.has(value));
  return {
    complement,
    values: new Set(values.filter((value) => within(value, atLeast, atMost))),
    ...(complement && atLeast !== undefined && { atLeast }),
    ...(complement && atMost !== undefined && { atMost }),
    ...min,
  };
}

/** True when some value is in both sets. */
export function intersects(a: ValueSet, b: ValueSet): boolean {
  const atLeast = larger(a.atLeast, b.atLeast);
  const atMost = smaller(a.atMost, b.atMost);
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) return false;
  if (a.complement && b.complement) return true;
  const [finite, other] = a.complement ? [b, a] : [a, b];
  for (const value of finite.values) {
    if (other.values.has(value) !== other.complement && within(value, atLeast, atMost)) return true;
  }
  return false;
}

/** True when the set admits that value. */
export function admits(set: ValueSet, value: string): boolean {
  return set.values.has(value) !== set.complement && within(value, set.atLeast, set.atMost);
}

/**
 * True when a node without the label satisfies the set. Karpenter asks the operator, not the values: a set that
 * excludes values counts as `NotIn` even where `Exists` or a bound on the same key was merged into it.
 */
export function admitsAbsence(set: ValueSet): boolean {
  return set.complement ? set.values.size > 0 : set.values.size === 0;
}

/** Whether requirements on one key can hold together, by Karpenter's rule for keys that both sides define. */
export function agree(existing: ValueSet, incoming: ValueSet): boolean {
  return intersects(existing, incoming) || (admitsAbsence(existing) && admitsAbsence(incoming));
}

/** Adds a requirement to those already there, intersecting on the same key. */
export function addRequirement(to: Map<string, ValueSet>, key: string, set: ValueSet): void {
  const normalised = normaliseLabel(key);
  const existing = to.get(normalised);
  to.set(normalised, existing === undefined ? set : intersect(set, existing));
}

/** Requirements that could be read, merged by key, and the keys of those that could not. */
export interface ReadRequirements {
  readonly requirements: Requirements;
  readonly unknownKeys: readonly string[];
}

/** Merges requirements as written and labels (each a requirement for exactly its value). */
export function readRequirements(
  specs: readonly RequirementSpec[],
  labels: Readonly<Record<string, string>> = {},
): ReadRequirements {
  const requirements = new Map<string, ValueSet>();
  const unknownKeys: string[] = [];
  for (const spec of specs) {
    const set = valueSet(spec);
    if (set === undefined) unknownKeys.push(normaliseLabel(spec.key));
    else addRequirement(requirements, spec.key, set);
  }
  for (const [key, value] of Object.entries(labels)) addRequirement(requirements, key, oneOf([value]));
  return { requirements, unknownKeys };
}

/** The set in the words of a manifest: `in [a, b]`, `not in [c]`, `at least 8`, `exists`, `does not exist`. */
export function describeValueSet(set: ValueSet): string {
  const listed = [...set.values].sort();
  const values = listed.length > 8 ? [...listed.slice(0, 8), `${listed.length - 8} more`] : listed;
  if (!set.complement) return values.length === 0 ? 'does not exist' : `in [${values.join(', ')}]`;
  const parts: string[] = [];
  if (set.atLeast !== undefined) parts.push(`at least ${set.atLeast}`);
  if (set.atMost !== undefined) parts.push(`at most ${set.atMost}`);
  if (values.length > 0) parts.push(`not in [${values.join(', ')}]`);
  return parts.length === 0 ? 'exists' : parts.join(', ');
}
