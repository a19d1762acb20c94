import { hasBit, isEmpty, members, merge } from './bits';
import type { Bits } from './bits';
import { evaluate } from './evaluate';
import type { Context, Outcome, PreparedPool } from './evaluate';
import type { InstanceType } from './instances';
import type { Bounds } from './offer';
import type { FitOptions } from './options';
import { preparePod } from './pod';
import type { PodSpec, PreparedPod, PreparedTerm } from './pod';
import type { PoolSpec } from './pool';
import { prepare } from './prepare';
import type { ResourceList } from './resources';

/** An instance type on which a pod can run, as Karpenter would launch it. */
export interface Candidate {
  readonly type: InstanceType;
  /** The cheapest way that pool and pod leave open. */
  readonly capacityType: string;
  /** USD per hour of that way; absent when it is not known (spot prices are not, unless a factor was given). */
  readonly price?: number;
  readonly onDemandPrice?: number;
}

/** `fits`: some type will do for certain; `none`: none can; `unknown`: it depends on what cannot be seen. */
export type Verdict = 'fits' | 'none' | 'unknown';

/** The answer for one pool. */
export interface PoolFit {
  readonly pool: PoolSpec;
  readonly verdict: Verdict;
  /** Types that will do for certain, cheapest first. */
  readonly candidates: readonly Candidate[];
  /** Names of types that may do beside those: unknown figures, or a doubt about the pool or pod. */
  readonly possible: readonly string[];
}

/** The answer for one pod over all pools. */
export interface Fit {
  readonly verdict: Verdict;
  /** The pool that Karpenter takes and the types that it hands to EC2; absent unless the verdict is `fits`. */
  readonly launch?: PoolFit;
  /** In launch order. */
  readonly pools: readonly PoolFit[];
}

/** Pools read once, and the answers given so far; opaque. */
export interface FitContext {
  readonly context: Context;
  readonly answers: Map<string, Fit>;
  /** The same by identity, since a key of a whole pod takes longer to make than most answers. */
  readonly known: WeakMap<PodSpec, Fit>;
  readonly candidates: Map<string, readonly (Candidate | undefined)[]>;
  readonly noFit: Map<PreparedPool, PoolFit>;
}

/** Reads pools for {@link fit}. Cheap to keep: equal pods are answered once. */
export function prepareFit(pools: readonly PoolSpec[], options: FitOptions = {}): FitContext {
  return {
    context: prepare(pools, options),
    answers: new Map(),
    known: new WeakMap(),
    candidates: new Map(),
    noFit: new Map(),
  };
}

function candidateOf(type: InstanceType, capacityTypes: readonly string[], options: FitOptions): Candidate {
  const onDemand = type.onDemandPrice;
  const known = onDemand === undefined ? {} : { onDemandPrice: onDemand };
  const spotPrice = (factor: number): number | undefined =>
    onDemand === undefined ? undefined : onDemand * factor;
  const { spotPriceFactor } = options;
  if (
    capacityTypes.includes('spot') &&
    (spotPriceFactor === undefined || spotPriceFactor < 1 || !capacityTypes.includes('on-demand'))
  ) {
    const price = spotPriceFactor === undefined ? undefined : spotPrice(spotPriceFactor);
    return { type, capacityType: 'spot', ...(price !== undefined && { price }), ...known };
  }
  if (capacityTypes.includes('on-demand')) {
    return { type, capacityType: 'on-demand', ...(onDemand !== undefined && { price: onDemand }), ...known };
  }
  return { type, capacityType: capacityTypes[0] ?? 'on-demand', ...known };
}

/** The candidates of the rows, cheapest first, at most as many as Karpenter hands over. */
function candidatesOf(fit: FitContext, rows: Bits, capacityTypes: readonly string[]): readonly Candidate[] {
  const { world, options } = fit.context;
  const key = capacityTypes.join(' ');
  let made = fit.candidates.get(key);
  if (made === undefined) {
    made = world.rows.map((row) =>
      row.kind === 'listed' ? candidateOf(row.type, capacityTypes, options) : undefined,
    );
    fit.candidates.set(key, made);
  }
  const limit = options.maxInstanceTypes ?? 600;
  const found: Candidate[] = [];
  for (const row of members(rows)) {
    const candidate = made[row];
    if (candidate !== undefined && found.length < limit) found.push(candidate);
  }
  return found;
}

function poolFit(fit: FitContext, pool: PreparedPool, outcome: Outcome | undefined): PoolFit {
  if (outcome === undefined || isEmpty(outcome.possible)) {
    let none = fit.noFit.get(pool);
    if (none === undefined) {
      none = { pool: pool.spec, verdict: 'none', candidates: [], possible: [] };
      fit.noFit.set(pool, none);
    }
    return none;
  }
  return answerIn(fit, pool.spec, outcome);
}

/** The lists of an answer are long and seldom read for every pool, so that each is made when first read. */
function answerIn(fit: FitContext, pool: PoolSpec, outcome: Outcome): PoolFit {
  let candidates: readonly Candidate[] | undefined;
  let possible: readonly string[] | undefined;
  return {
    pool,
    verdict: isEmpty(outcome.yes) ? 'unknown' : 'fits',
    get candidates() {
      return (candidates ??= candidatesOf(fit, outcome.yes, outcome.capacityTypes));
    },
    get possible() {
      return (possible ??= members(outcome.possible)
        .filter((row) => !hasBit(outcome.yes, row))
        .map((row) => fit.context.world.rows[row]?.name ?? ''));
    },
  };
}

/**
 * A static pool has its nodes already, of a type that EC2 chose without regard to the pod: only where every type that
 * it can have would do is the answer certain.
 */
function onStaticPool(pool: PreparedPool, outcome: Outcome | undefined): Outcome | undefined {
  if (outcome === undefined || pool.spec.kind !== 'node-pool' || pool.spec.replicas === undefined)
    return outcome;
  const certain = outcome.yes.every((word, index) => word === pool.possible[index]);
  return certain ? outcome : { ...outcome, yes: new Uint32Array(outcome.yes.length) };
}

function outcomeOf(
  fit: FitContext,
  pool: PreparedPool,
  pod: PreparedPod,
  term: PreparedTerm,
  toleratePreferred: boolean,
): Outcome | undefined {
  return onStaticPool(pool, evaluate(pool, pod, term, toleratePreferred, fit.context));
}

/** The rows of a pool over all alternatives of the pod, without its preferences. */
function outcomeOfAllTerms(fit: FitContext, pool: PreparedPool, pod: PreparedPod): Outcome | undefined {
  let all: Outcome | undefined;
  for (const term of pod.placement.terms) {
    const outcome = outcomeOf(fit, pool, pod, term, true);
    if (outcome === undefined) continue;
    if (all === undefined) all = outcome;
    else {
      merge(all.yes, outcome.yes);
      merge(all.possible, outcome.possible);
      if (outcome.capacityTypes.length > all.capacityTypes.length) {
        all = { ...all, capacityTypes: outcome.capacityTypes };
      }
    }
  }
  return all;
}

/**
 * The pool that Karpenter takes: it drops alternatives of the required affinity from the front, then preferences from
 * the heaviest, then tolerates `PreferNoSchedule`, and tries every pool before it drops the next.
 */
function launchOf(fit: FitContext, pod: PreparedPod): PoolFit | undefined {
  const { pools } = fit.context;
  const { tries } = pod.placement;
  const last = pools.some((pool) => pool.preferredTaints.length > 0) ? tries.slice(-1) : [];
  const ordered = [
    ...tries.map((term) => [term, false] as const),
    ...last.map((term) => [term, true] as const),
  ];
  for (const [term, toleratePreferred] of ordered) {
    for (const pool of pools) {
      const outcome = outcomeOf(fit, pool, pod, term, toleratePreferred);
      if (outcome !== undefined && !isEmpty(outcome.yes)) return poolFit(fit, pool, outcome);
    }
  }
  return undefined;
}

function answer(fit: FitContext, pod: PreparedPod): Fit {
  const { pools } = fit.context;
  const outcomes = pools.map((pool) => outcomeOfAllTerms(fit, pool, pod));
  let listed: readonly PoolFit[] | undefined;
  const list = (): readonly PoolFit[] =>
    (listed ??= pools.map((pool, index) => poolFit(fit, pool, outcomes[index])));
  const first = outcomes.findIndex((outcome) => outcome !== undefined && !isEmpty(outcome.yes));
  const pool = pools[first];
  if (pool === undefined) {
    return {
      verdict: outcomes.some((outcome) => outcome !== undefined) ? 'unknown' : 'none',
      get pools() {
        return list();
      },
    };
  }
  const simple = pod.placement.tries.length === 1 && pools.every((one) => one.preferredTaints.length === 0);
  // Karpenter may find nothing where a term that it has dropped would have done; the pod can still run there.
  const launch = (simple ? undefined : launchOf(fit, pod)) ?? poolFit(fit, pool, outcomes[first]);
  return {
    verdict: 'fits',
    launch,
    get pools() {
      return list();
    },
  };
}

/** Where a pod can run, and what Karpenter would launch for it. */
export function fit(pools: FitContext, pod: PodSpec): Fit {
  const before = pools.known.get(pod);
  if (before !== undefined) return before;
  const key = JSON.stringify(pod);
  let known = pools.answers.get(key);
  if (known === undefined) {
    known = answer(pools, preparePod(pod, pools.context.reading));
    pools.answers.set(key, known);
  }
  pools.known.set(pod, known);
  return known;
}

/** What a pool launches when nothing but its own requirements and limits is asked. */
export function poolCandidates(pools: FitContext, name: string): PoolFit | undefined {
  const pool = pools.context.pools.find((candidate) => candidate.spec.name === name);
  if (pool === undefined) return undefined;
  return poolFit(pools, pool, { yes: pool.yes, possible: pool.possible, capacityTypes: pool.capacityTypes });
}

/** What a pool may launch, limits aside. */
export interface AdmittedTypes {
  /** Types of the catalogue that its requirements admit, or may admit; cheapest first. */
  readonly types: readonly InstanceType[];
  /** False when it may admit types that the catalogue does not have, or more is required than can be read. */
  readonly complete: boolean;
}

const admitted = new WeakMap<PreparedPool, AdmittedTypes>();

export function admittedTypes(pools: FitContext, spec: PoolSpec): AdmittedTypes {
  const pool = pools.context.pools.find((candidate) => candidate.spec === spec);
  if (pool === undefined) return { types: [], complete: false };
  let known = admitted.get(pool);
  if (known === undefined) {
    const rows = members(pool.admitted.possible).map((row) => pools.context.world.rows[row]);
    const types = rows.flatMap((row) => (row?.kind === 'listed' ? [row.type] : []));
    known = { types, complete: types.length === rows.length && !pool.doubtful };
    admitted.set(pool, known);
  }
  return known;
}

/** A node of a pool, at its best for whoever hopes that something fits. */
export interface NodeFigures {
  /** The least that it counts for in the limits of the pool. */
  readonly counts: ResourceList;
  /** The most that it gives to pods, after DaemonSets. */
  readonly gives: ResourceList;
}

/** The figures of a node of a type of the catalogue in a pool; `undefined` when there is no such type or pool. */
export function nodeFigures(pools: FitContext, spec: PoolSpec, typeName: string): NodeFigures | undefined {
  const pool = pools.context.pools.find((candidate) => candidate.spec === spec);
  const row = pools.context.world.rowOf(typeName);
  if (pool === undefined || row === undefined) return undefined;
  const { capacity, allocatable } = pool.offer(row);
  const gives: Record<string, number> = { ...allocatable.most };
  for (const [resource, taken] of pool.overhead) {
    gives[resource] = (gives[resource] ?? 0) - (taken.least[row] ?? 0);
  }
  return { counts: capacity.least, gives };
}

/**
 * What pods can ask of a node of a type of the catalogue in a pool, before DaemonSets, in the units of `ResourceList`;
 * `undefined` when the catalogue has no such type or there is no such pool. Two equal bounds are an exact figure.
 */
export function allocatableIn(pools: FitContext, poolName: string, typeName: string): Bounds | undefined {
  const pool = pools.context.pools.find((candidate) => candidate.spec.name === poolName);
  const row = pools.context.world.rowOf(typeName);
  return row === undefined ? undefined : pool?.offer(row).allocatable;
}
