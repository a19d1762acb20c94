import { addBit, emptyBits, hasBit, isEmpty, keep, members, overlaps } from './bits';
import type { Bits } from './bits';
import { roomy } from './columns';
import { evaluate, minValuesShortage, withinLimits } from './evaluate';
import type { Context, PreparedPool } from './evaluate';
import { fixedSatisfies, meaningOf } from './fixed';
import { preparePod } from './pod';
import type { LabelSource, PodSpec, PreparedPod, PreparedTerm } from './pod';
import type { FitContext } from './fit';
import type { InstanceType } from './instances';
import type { PoolSpec } from './pool';
import { admitsAbsence, agree, describeValueSet, intersect } from '../../kube/value-set';
import type { ValueSet } from '../../kube/value-set';
import { tolerated } from './taints';
import type { Taint } from './taints';

/** A label that a pod asks for, with where and how its manifest asks. */
export interface AskedLabel {
  /** The key as Karpenter compares it. */
  readonly key: string;
  /** Where the pod asks and the key as written there. */
  readonly asked: readonly { readonly source: LabelSource; readonly key: string }[];
  /** What the pod asks for, in words: `in [l40s]`. */
  readonly wants: string;
}

/** A reason that by itself keeps a pod off every node of a pool. */
export type Exclusion =
  | { readonly kind: 'taint'; readonly taint: Taint }
  /** The pool gives its nodes another value, or none (`poolHas` absent); for a key that no instance type decides. */
  | ({ readonly kind: 'label'; readonly poolHas?: string } & AskedLabel)
  /** No type of the pool carries such a value. `typesHave` lists what they carry. */
  | ({
      readonly kind: 'requirement';
      readonly poolHas?: string;
      readonly typesHave: readonly string[];
    } & AskedLabel)
  | {
      readonly kind: 'resource';
      readonly resource: string;
      /** In the units of `ResourceList`. */
      readonly requested: number;
      /** The most that a node of a type of the pool gives, after DaemonSets; 0 when no type offers the resource. */
      readonly available: number;
      /** The type that gives the most; absent when none gives any. */
      readonly type?: string;
      /** Every type that gives as much, cheapest first. */
      readonly types: readonly string[];
      /** Taken on that type by DaemonSets. */
      readonly daemonSets: number;
    }
  | {
      readonly kind: 'limit';
      readonly resource: string;
      readonly limit: number;
      /** What the smallest type of the pool has. */
      readonly smallest: number;
      readonly type: string;
    }
  | { readonly kind: 'min-values'; readonly key: string; readonly wanted: number; readonly left: number }
  /** The requirements of the pool admit no type at all. */
  | { readonly kind: 'empty-pool' };

/** Why one type cannot run the pod. */
export type Shortage =
  | {
      readonly kind: 'resource';
      readonly resource: string;
      readonly requested: number;
      readonly available: number;
    }
  | ({ readonly kind: 'requirement'; readonly has: string } & AskedLabel)
  | { readonly kind: 'limit'; readonly resource: string; readonly limit: number; readonly capacity: number };

/** Why a pod cannot run in a pool. */
export interface PoolExplanation {
  readonly pool: PoolSpec;
  /** Index of the alternative of the pod's required affinity that comes nearest; 0 without affinity. */
  readonly term: number;
  /**
   * Each reason that alone is enough; of a resource also one that alone is enough among the types that the labels of
   * pool and pod leave. Empty when only reasons together exclude every type. */
  readonly exclusions: readonly Exclusion[];
  /** The type that lacks least, and what it lacks, worked out when it is read; absent when the pool admits no type of the catalogue. */
  readonly nearest: { readonly type: InstanceType; readonly shortages: readonly Shortage[] } | undefined;
}

function askedLabel(term: PreparedTerm, key: string, set: ValueSet): AskedLabel {
  return { key, asked: term.sources.get(key) ?? [], wants: describeValueSet(set) };
}

function textOf(context: Context, row: number, label: string): string | undefined {
  const value = context.world.label(row, label);
  if (value === undefined) return undefined;
  if (value === null) return 'no such label';
  return typeof value === 'string' ? value : value.join(' or ');
}

function valuesOf(context: Context, rows: Bits, label: string): readonly string[] {
  const values = new Set<string>();
  for (const row of members(rows)) {
    const text = textOf(context, row, label);
    if (text !== undefined) values.add(text);
  }
  return [...values].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function taintExclusions(pool: PreparedPool, pod: PreparedPod): readonly Exclusion[] {
  return pool.taints
    .filter((taint) => tolerated(pod.placement.tolerations, taint) === 'no')
    .map((taint) => ({ kind: 'taint', taint }));
}

/** The rows that the labels of both pool and pod admit; those of the pool where that leaves none. */
function selectedRows(context: Context, pool: PreparedPool, term: PreparedTerm): Bits {
  const rows = pool.admitted.possible.slice();
  for (const [key, set] of term.requirements) {
    const meaning = meaningOf(key, pool.provider);
    if (meaning.kind !== 'instance') continue;
    const existing = pool.requirements.get(key);
    if (existing !== undefined && !agree(existing, set)) return pool.admitted.possible;
    keep(
      rows,
      context.world.mask(meaning.label, existing === undefined ? set : intersect(set, existing)).possible,
    );
  }
  return isEmpty(rows) ? pool.admitted.possible : rows;
}

function labelExclusions(context: Context, pool: PreparedPool, term: PreparedTerm): readonly Exclusion[] {
  const found: Exclusion[] = [];
  for (const [key, set] of term.requirements) {
    if (pool.unknownKeys.has(key)) continue;
    const meaning = meaningOf(key, pool.provider);
    const existing = pool.requirements.get(key);
    const label = askedLabel(term, key, set);
    const poolHas = existing === undefined ? {} : { poolHas: describeValueSet(existing) };
    if (meaning.kind === 'instance') {
      const mask = context.world.mask(meaning.label, existing === undefined ? set : intersect(set, existing));
      const contradicts = existing !== undefined && !agree(existing, set);
      if (contradicts || !overlaps(pool.admitted.possible, mask.possible)) {
        const typesHave = valuesOf(context, pool.admitted.possible, meaning.label);
        found.push({ kind: 'requirement', ...label, ...poolHas, typesHave });
      }
      continue;
    }
    const excluded =
      existing !== undefined
        ? !agree(existing, set)
        : (meaning.kind === 'custom' || meaning.kind === 'reserved') &&
          !admitsAbsence(set) &&
          pool.spec.incomplete !== true &&
          !(meaning.kind === 'custom' && pool.provider === 'node-group');
    const unfixed =
      meaning.kind === 'well-known' &&
      fixedSatisfies(key, existing === undefined ? set : intersect(set, existing), pool.fixed) === 'no';
    if (excluded || unfixed) found.push({ kind: 'label', ...label, ...poolHas });
  }
  return found;
}

/** How much the roomiest of the listed rows has of a resource, and which rows have as much. */
function largest(
  context: Context,
  pool: PreparedPool,
  rows: Bits,
  resource: string,
): { readonly rows: readonly number[]; readonly available: number } {
  const column = pool.column(resource);
  let available = -Infinity;
  let best: number[] = [];
  for (const row of members(rows)) {
    if (context.world.rows[row]?.kind !== 'listed') continue;
    const most = column.most.get(row) ?? 0;
    if (most > available) {
      available = most;
      best = [row];
    } else if (most === available) best.push(row);
  }
  return { rows: best, available };
}

function resourceExclusions(
  context: Context,
  pool: PreparedPool,
  pod: PreparedPod,
  rows: Bits,
): readonly Exclusion[] {
  const found: Exclusion[] = [];
  for (const [resource, requested] of Object.entries(pod.requests)) {
    if (requested <= 0) continue;
    if (!isEmpty(roomy(pool.column(resource), requested, rows))) continue;
    const best = largest(context, pool, rows, resource);
    const available = Math.max(0, best.available);
    const types = available > 0 ? best.rows.flatMap((row) => context.world.rows[row]?.name ?? []) : [];
    const [type] = types;
    const [first] = best.rows;
    found.push({
      kind: 'resource',
      resource,
      requested,
      available,
      ...(type !== undefined && { type }),
      types,
      daemonSets: first === undefined ? 0 : (pool.overhead.get(resource)?.least[first] ?? 0),
    });
  }
  return found;
}

function limitExclusions(context: Context, pool: PreparedPool): readonly Exclusion[] {
  const found: Exclusion[] = [];
  for (const [resource, limit] of Object.entries(pool.limits)) {
    const one = { [resource]: limit };
    let smallest: { capacity: number; name: string } | undefined;
    let within = false;
    for (const row of members(pool.admitted.possible)) {
      const offer = pool.offer(row);
      if (withinLimits(offer.capacity, one) !== 'no') within = true;
      const listed = context.world.rows[row];
      const capacity = resource === 'nodes' ? 1 : (offer.capacity.least[resource] ?? 0);
      if (listed?.kind === 'listed' && (smallest === undefined || capacity < smallest.capacity)) {
        smallest = { capacity, name: listed.name };
      }
    }
    if (!within && smallest !== undefined) {
      found.push({ kind: 'limit', resource, limit, smallest: smallest.capacity, type: smallest.name });
    }
  }
  return found;
}

function shortagesOf(
  context: Context,
  pool: PreparedPool,
  pod: PreparedPod,
  term: PreparedTerm,
  row: number,
): readonly Shortage[] {
  const shortages: Shortage[] = [];
  const single = emptyBits(context.world.rows.length);
  single[row >>> 5] = 1 << (row & 31);
  for (const [key, set] of term.requirements) {
    const meaning = meaningOf(key, pool.provider);
    if (meaning.kind !== 'instance') continue;
    const existing = pool.requirements.get(key);
    const mask = context.world.mask(meaning.label, existing === undefined ? set : intersect(set, existing));
    const contradicts = existing !== undefined && !agree(existing, set);
    if (contradicts || !overlaps(single, mask.possible)) {
      const has = textOf(context, row, meaning.label) ?? 'unknown';
      shortages.push({ kind: 'requirement', ...askedLabel(term, key, set), has });
    }
  }
  for (const [resource, requested] of Object.entries(pod.requests)) {
    const available = Math.max(0, pool.column(resource).most.get(row) ?? 0);
    if (requested > available) shortages.push({ kind: 'resource', resource, requested, available });
  }
  const offer = pool.offer(row);
  for (const [resource, limit] of Object.entries(pool.limits)) {
    if (withinLimits(offer.capacity, { [resource]: limit }) !== 'no') continue;
    shortages.push({ kind: 'limit', resource, limit, capacity: offer.capacity.least[resource] ?? 0 });
  }
  return shortages;
}

/** How far a shortage is from none: the share that is missing, and the whole for a label. */
function distance(shortage: Shortage): number {
  switch (shortage.kind) {
    case 'resource':
      return (shortage.requested - shortage.available) / shortage.requested;
    case 'limit':
      return shortage.capacity === 0 ? 1 : (shortage.capacity - shortage.limit) / shortage.capacity;
    case 'requirement':
      return 1;
  }
}

function nearestOf(
  context: Context,
  pool: PreparedPool,
  pod: PreparedPod,
  term: PreparedTerm,
): PoolExplanation['nearest'] {
  let best: { type: InstanceType; shortages: readonly Shortage[]; far: number } | undefined;
  // Rows come cheapest first, so that of equal distances the cheapest type is named.
  for (const row of members(pool.admitted.possible)) {
    const listed = context.world.rows[row];
    if (listed?.kind !== 'listed') continue;
    const shortages = shortagesOf(context, pool, pod, term, row);
    const far = shortages.reduce((sum, shortage) => sum + distance(shortage), 0);
    const nearer =
      best === undefined ||
      shortages.length < best.shortages.length ||
      (shortages.length === best.shortages.length && far < best.far - 1e-9);
    if (nearer) best = { type: listed.type, shortages, far };
  }
  return best === undefined ? undefined : { type: best.type, shortages: best.shortages };
}

function minValuesExclusion(
  context: Context,
  pool: PreparedPool,
  pod: PreparedPod,
  term: PreparedTerm,
): readonly Exclusion[] {
  const relaxed = { ...context, options: { ...context.options, minValuesPolicy: 'BestEffort' as const } };
  const outcome = evaluate(pool, pod, term, true, relaxed);
  if (outcome === undefined || context.options.minValuesPolicy === 'BestEffort') return [];
  const shortage = minValuesShortage(pool, term, context.world, outcome.possible);
  return shortage === undefined ? [] : [{ kind: 'min-values', ...shortage }];
}

function explainTerm(
  context: Context,
  pool: PreparedPool,
  pod: PreparedPod,
  term: PreparedTerm,
): readonly Exclusion[] {
  if (isEmpty(pool.admitted.possible)) return [{ kind: 'empty-pool' }, ...taintExclusions(pool, pod)];
  return [
    ...taintExclusions(pool, pod),
    ...labelExclusions(context, pool, term),
    ...resourceExclusions(context, pool, pod, selectedRows(context, pool, term)),
    ...limitExclusions(context, pool),
    ...minValuesExclusion(context, pool, pod, term),
  ];
}

/**
 * Why a pod cannot run in each pool: every reason that alone excludes all types, on the alternative of the pod's
 * affinity that has the fewest of them, and the type that comes nearest. Meaningful for pools whose verdict is `none`.
 */
export function explain(fit: FitContext, pod: PodSpec): readonly PoolExplanation[] {
  const { context } = fit;
  const prepared = preparePod(pod, context.reading);
  return context.pools.map((pool) => {
    const terms = prepared.placement.terms.map((term) => explainTerm(context, pool, prepared, term));
    let best = 0;
    terms.forEach((exclusions, index) => {
      if (exclusions.length < (terms[best]?.length ?? 0)) best = index;
    });
    const term = prepared.placement.terms[best];
    let nearest: { readonly found: PoolExplanation['nearest'] } | undefined;
    return {
      pool: pool.spec,
      term: best,
      exclusions: terms[best] ?? [],
      get nearest() {
        nearest ??= { found: term === undefined ? undefined : nearestOf(context, pool, prepared, term) };
        return nearest.found;
      },
    };
  });
}

/** What one requirement of a pool keeps out. */
export interface RequirementEffect {
  readonly key: string;
  readonly wants: string;
  /** Types of the catalogue that the pool would admit if this key were not required. */
  readonly freed: readonly string[];
}

/** What each requirement of a pool that depends on the type, or on nothing, admits. */
function masksOf(
  context: Context,
  pool: PreparedPool,
): readonly { readonly key: string; readonly set: ValueSet; readonly possible: Bits }[] {
  const everything = emptyBits(context.world.rows.length).fill(0xffffffff);
  const nothing = emptyBits(context.world.rows.length);
  return [...pool.requirements].flatMap(([key, set]) => {
    const meaning = meaningOf(key, pool.provider);
    if (meaning.kind === 'instance') {
      return [{ key, set, possible: context.world.mask(meaning.label, set).possible }];
    }
    if (meaning.kind !== 'well-known') return [];
    return [{ key, set, possible: fixedSatisfies(key, set, pool.fixed) === 'no' ? nothing : everything }];
  });
}

/** The listed rows that all requirements but one admit and that the pool does not. */
function freedBy(context: Context, pool: PreparedPool, masks: ReturnType<typeof masksOf>, key: string): Bits {
  const others = emptyBits(context.world.rows.length).fill(0xffffffff);
  for (const mask of masks) if (mask.key !== key) keep(others, mask.possible);
  const freed = emptyBits(context.world.rows.length);
  context.world.rows.forEach((row, index) => {
    if (row.kind === 'listed' && hasBit(others, index) && !hasBit(pool.admitted.possible, index)) {
      addBit(freed, index);
    }
  });
  return freed;
}

/**
 * For each key that a pool requires of its types, the types that removing it would add, most first: for a pool that
 * admits none, the first is the key to look at.
 */
export function requirementEffects(fit: FitContext, name: string): readonly RequirementEffect[] {
  const { context } = fit;
  const pool = context.pools.find((candidate) => candidate.spec.name === name);
  if (pool === undefined) return [];
  const masks = masksOf(context, pool);
  return masks
    .map(({ key, set }) => ({
      key,
      wants: describeValueSet(set),
      freed: members(freedBy(context, pool, masks, key)).map((row) => context.world.rows[row]?.name ?? ''),
    }))
    .toSorted((a, b) => b.freed.length - a.freed.length);
}

/** A requirement of a pool without which some type could run a pod. */
export interface Opening {
  readonly key: string;
  readonly wants: string;
  /** Cheapest first; never empty. */
  readonly types: readonly InstanceType[];
}

/** The requirements of a pool that each by itself keeps out types that could run the pod, cheapest type first. */
export function openings(fit: FitContext, pod: PodSpec, spec: PoolSpec): readonly Opening[] {
  const { context } = fit;
  const pool = context.pools.find((candidate) => candidate.spec === spec);
  if (pool === undefined) return [];
  const prepared = preparePod(pod, context.reading);
  const masks = masksOf(context, pool);
  const couldRun = (row: number): boolean => {
    const { most } = pool.offer(row).allocatable;
    return (
      Object.entries(prepared.requests).every(([resource, asked]) => asked <= (most[resource] ?? 0)) &&
      prepared.placement.terms.some((term) =>
        [...term.requirements].every(([key, set]) => {
          const meaning = meaningOf(key, pool.provider);
          return meaning.kind !== 'instance' || hasBit(context.world.mask(meaning.label, set).possible, row);
        }),
      )
    );
  };
  return masks
    .flatMap(({ key, set }) => {
      const types = members(freedBy(context, pool, masks, key))
        .filter(couldRun)
        .flatMap((row) => {
          const listed = context.world.rows[row];
          return listed?.kind === 'listed' ? [listed.type] : [];
        });
      return types.length === 0 ? [] : [{ key, wants: describeValueSet(set), types }];
    })
    .toSorted((a, b) => (a.types[0]?.onDemandPrice ?? Infinity) - (b.types[0]?.onDemandPrice ?? Infinity));
}
