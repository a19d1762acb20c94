import { addBit, copyBits, isEmpty, keep, members, removeBit, replaceBits, emptyBits } from './bits';
import type { Bits } from './bits';
import { bound, keepRoomy } from './columns';
import type { Column, Taken } from './columns';
import { fixedSatisfies, meaningOf, remainingCapacityTypes } from './fixed';
import type { Fixed } from './fixed';
import { familyParts } from './instances';
import { capacityTypeLabel, instanceTypeLabel } from './labels';
import type { Provider } from './labels';
import type { Bounds, Offer } from './offer';
import type { FitOptions } from './options';
import type { Placement, PodReading, PreparedPod, PreparedTerm } from './pod';
import type { PoolSpec } from './pool';
import { admits, admitsAbsence, agree, intersect } from '../../kube/value-set';
import type { Requirements, ValueSet } from '../../kube/value-set';
import type { ResourceList } from './resources';
import { tolerated } from './taints';
import type { Taint } from './taints';
import type { World } from './world';

export interface PreparedPool {
  readonly spec: PoolSpec;
  readonly provider: Provider;
  readonly requirements: Requirements;
  readonly unknownKeys: ReadonlySet<string>;
  /** Taints that keep pods off: `PreferNoSchedule` apart. */
  readonly taints: readonly Taint[];
  readonly preferredTaints: readonly Taint[];
  readonly limits: ResourceList;
  /** What a new node of a row would offer. */
  offer(row: number): Offer;
  /** Rows that the requirements admit, before limits. */
  readonly admitted: { readonly yes: Bits; readonly possible: Bits };
  /** Rows that requirements and limits admit and whose nodes have room for anything. */
  readonly yes: Bits;
  readonly possible: Bits;
  /** Keys whose requirement names a value that nothing known carries. */
  readonly namedKeys: ReadonlySet<string>;
  /** Its requirements do not exclude types that are newer than the catalogue. */
  readonly newer: boolean;
  /** Nothing about the pool is certain. */
  readonly doubtful: boolean;
  readonly capacityTypes: readonly string[];
  readonly fixed: Fixed;
  /** Selections made so far, by term, with taints `PreferNoSchedule` kept or tolerated. */
  readonly selections: {
    readonly strict: WeakMap<PreparedTerm, Selection>;
    readonly tolerant: WeakMap<PreparedTerm, Selection>;
  };
  /** Some requirement has `minValues`. */
  readonly minValues: boolean;
  /** Taken by DaemonSets, by resource. */
  readonly overhead: ReadonlyMap<string, Taken>;
  column(resource: string): Column;
}

export interface Context {
  readonly options: FitOptions;
  readonly world: World;
  /** In launch order. */
  readonly pools: readonly PreparedPool[];
  readonly reading: PodReading;
  /** Sets that an evaluation works in; nothing that outlives it may refer to them. */
  readonly scratch: { readonly yes: Bits; readonly possible: Bits };
}

/** The rows on which a pod can run in a pool. */
export interface Outcome {
  readonly yes: Bits;
  readonly possible: Bits;
  /** Capacity types left by pool and pod, in Karpenter's order of preference. */
  readonly capacityTypes: readonly string[];
}

/** The rows on which labels and taints let a pod run. */
export interface Selection {
  readonly yes: Bits;
  readonly possible: Bits;
  readonly capacityTypes: readonly string[];
}

const nowhere: Selection = { yes: emptyBits(0), possible: emptyBits(0), capacityTypes: [] };

/** Whether a node of that capacity stays within the limits of a pool that has no node yet. */
export function withinLimits(has: Bounds, limits: ResourceList): 'yes' | 'no' | 'unknown' {
  let worst: 'yes' | 'unknown' = 'yes';
  for (const [name, limit] of Object.entries(limits)) {
    if (name === 'nodes') {
      if (limit <= 0) return 'no';
      continue;
    }
    if (bound(has.least, name, 0) > limit) return 'no';
    if (bound(has.most, name, 0) > limit) worst = 'unknown';
  }
  return worst;
}

/**
 * The rows of a pool on which the labels and taints let a pod run; `undefined` when none, for a reason that holds for
 * every row.
 */
export function select(
  pool: PreparedPool,
  placement: Placement,
  term: PreparedTerm,
  toleratePreferred: boolean,
  world: World,
): Selection | undefined {
  let doubtful = pool.doubtful || placement.doubtful || term.doubtful;
  for (const taint of pool.taints) {
    const truth = tolerated(placement.tolerations, taint);
    if (truth === 'no') return undefined;
    if (truth === 'unknown') doubtful = true;
  }
  if (!toleratePreferred) {
    for (const taint of pool.preferredTaints)
      if (tolerated(placement.tolerations, taint) === 'no') return undefined;
  }
  if (!term.satisfiable) return undefined;

  const { fixed } = pool;
  const yes = copyBits(pool.yes);
  const possible = copyBits(pool.possible);
  if (pool.newer) addBit(possible, world.newer);
  let capacityTypes = pool.capacityTypes;
  let named = 0;
  let replaced = 0;
  for (const [key, set] of term.requirements) {
    const meaning = meaningOf(key, pool.provider);
    const existing = pool.requirements.get(key);
    if (existing !== undefined && !agree(existing, set)) return undefined;
    if (pool.unknownKeys.has(key)) doubtful = true;
    const merged = existing === undefined ? set : intersect(set, existing);
    switch (meaning.kind) {
      case 'instance': {
        const mask = world.mask(meaning.label, merged);
        keep(yes, mask.yes);
        keep(possible, mask.possible);
        if (mask.named && couldBeNewer(pool, meaning.label, set)) named += 1;
        if (pool.namedKeys.has(key)) replaced += 1;
        break;
      }
      case 'well-known': {
        const truth = fixedSatisfies(key, merged, fixed);
        if (truth === 'no') return undefined;
        if (truth === 'unknown') doubtful = true;
        if (key === capacityTypeLabel) capacityTypes = remainingCapacityTypes(merged, fixed);
        break;
      }
      case 'unknown':
        if (existing === undefined) doubtful = true;
        break;
      case 'reserved':
      case 'custom':
        if (existing !== undefined || pool.unknownKeys.has(key) || admitsAbsence(set)) break;
        // Something else may label the nodes of a node group; Karpenter launches nothing for such a pod.
        if (pool.provider === 'node-group' && meaning.kind === 'custom') doubtful = true;
        else if (pool.spec.incomplete !== true) return undefined;
        break;
    }
  }
  if (term.unknownKeys.length > 0) doubtful = true;
  if (world.newer >= 0 && named === 0 && pool.namedKeys.size <= replaced) removeBit(possible, world.newer);
  if (doubtful) yes.fill(0);
  return { yes, possible, capacityTypes };
}

/**
 * Whether a pool admits a type that is newer than the catalogue, by what its name says: a `g9.xlarge` is of family g9,
 * category g, generation 9 and size xlarge.
 */
function couldBeNewer(pool: PreparedPool, label: string, set: ValueSet): boolean {
  if (label !== instanceTypeLabel && label !== 'instance-family') return true;
  const prefix = pool.provider === 'auto-mode' ? 'eks.amazonaws.com/' : 'karpenter.k8s.aws/';
  return [...set.values].some((value) => {
    const [family = '', size] = value.split('.');
    const parts = familyParts(family);
    const said: Readonly<Record<string, string | undefined>> = {
      'instance-family': family,
      'instance-size': size,
      'instance-category': parts?.category,
      'instance-generation': parts === undefined ? undefined : String(parts.generation),
    };
    return Object.entries(said).every(([name, text]) => {
      const required = pool.requirements.get(prefix + name);
      return required === undefined || text === undefined || admits(required, text);
    });
  });
}

/** The same, remembered by the pool: a term belongs to one placement. */
function selectionOf(
  pool: PreparedPool,
  placement: Placement,
  term: PreparedTerm,
  toleratePreferred: boolean,
  world: World,
): Selection | undefined {
  const known = toleratePreferred ? pool.selections.tolerant : pool.selections.strict;
  let selection = known.get(term);
  if (selection === undefined) {
    selection = select(pool, placement, term, toleratePreferred, world) ?? nowhere;
    known.set(term, selection);
  }
  return selection === nowhere ? undefined : selection;
}

/** The rows of a pool that a pod can run on, for one alternative of its affinity. */
export function evaluate(
  pool: PreparedPool,
  pod: PreparedPod,
  term: PreparedTerm,
  toleratePreferred: boolean,
  context: Context,
): Outcome | undefined {
  const selection = selectionOf(pool, pod.placement, term, toleratePreferred, context.world);
  if (selection === undefined) return undefined;
  const { capacityTypes } = selection;
  const { yes, possible } = context.scratch;
  replaceBits(yes, selection.yes);
  replaceBits(possible, selection.possible);
  if (isEmpty(possible)) return undefined;
  for (const [resource, asked] of pod.asked) {
    // DaemonSets may leave less than nothing, so that even a pod that asks for nothing must be compared with them.
    if (asked > 0 || pool.overhead.has(resource)) keepRoomy(pool.column(resource), asked, yes, possible);
  }
  for (const resource of pool.overhead.keys()) {
    if (pod.requests[resource] === undefined) keepRoomy(pool.column(resource), 0, yes, possible);
  }
  if (pod.unknownRequests.length > 0) {
    for (const resource of pod.unknownRequests) keepRoomy(pool.column(resource), 1, yes, possible);
    yes.fill(0);
  }
  if (pool.minValues && context.options.minValuesPolicy !== 'BestEffort') {
    keepMinValues(pool, term, context.world, yes, possible);
  }
  if (isEmpty(possible)) return undefined;
  return { yes: copyBits(yes), possible: copyBits(possible), capacityTypes };
}

/** A requirement of the pool with `minValues` that too few types are left for, with the number that is left. */
export interface MinValuesShortage {
  readonly key: string;
  readonly wanted: number;
  readonly left: number;
}

/** The first `minValues` of a pool (with a pod's term) that the rows fall short of. */
export function minValuesShortage(
  pool: PreparedPool,
  term: PreparedTerm | undefined,
  world: World,
  rows: Bits,
): MinValuesShortage | undefined {
  for (const [key, set] of pool.requirements) {
    if (set.minValues === undefined) continue;
    const incoming = term?.requirements.get(key);
    const wanted =
      incoming === undefined ? set.minValues : (intersect(set, incoming).minValues ?? set.minValues);
    const meaning = meaningOf(key, pool.provider);
    const values = new Set<string>();
    if (meaning.kind === 'instance') {
      for (const row of members(rows)) {
        const value = labelOfRow(world, row, meaning.label);
        for (const one of value) values.add(one);
      }
    } else if (key === capacityTypeLabel) {
      for (const type of pool.capacityTypes) values.add(type);
    } else {
      continue;
    }
    if (values.size < wanted) return { key, wanted, left: values.size };
  }
  return undefined;
}

function labelOfRow(world: World, row: number, label: string): readonly string[] {
  const candidate = world.rows[row];
  if (candidate?.kind !== 'listed') return [];
  const value = world.label(row, label);
  return value === null || value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

function keepMinValues(
  pool: PreparedPool,
  term: PreparedTerm,
  world: World,
  yes: Bits,
  possible: Bits,
): void {
  if (isEmpty(possible)) return;
  const onlyListed = members(possible).every((row) => world.rows[row]?.kind === 'listed');
  if (onlyListed && minValuesShortage(pool, term, world, possible) !== undefined) possible.fill(0);
  if (minValuesShortage(pool, term, world, yes) !== undefined) yes.fill(0);
}
