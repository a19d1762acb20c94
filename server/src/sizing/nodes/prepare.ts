import { addBit, emptyBits, hasBit, keep, members, merge, removeBit } from './bits';
import type { Bits } from './bits';
import { columnsOf, noOverhead } from './columns';
import type { Taken } from './columns';
import { select, withinLimits } from './evaluate';
import type { Context, PreparedPool } from './evaluate';
import { fixedOf, fixedSatisfies, meaningOf, remainingCapacityTypes } from './fixed';
import type { InstanceType } from './instances';
import { capacityTypeLabel, instanceTypeLabel } from './labels';
import type { Provider } from './labels';
import { offerOf } from './offer';
import type { Offer } from './offer';
import type { FitOptions } from './options';
import { preparePod } from './pod';
import type { PreparedPod } from './pod';
import { inLaunchOrder, poolLabels } from './pool';
import type { PoolSpec } from './pool';
import { normaliseLabel, readRequirements } from '../../kube/value-set';
import type { RequirementSpec } from '../../kube/value-set';
import { amountsOf } from './resources';
import type { ResourceList } from './resources';
import { createWorld } from './world';
import type { World } from './world';

/** The families that EKS documents Auto Mode to launch; others may do as well, so that they are only doubted. */
const autoModeFamilies: ReadonlySet<string> = new Set(
  (
    'c5 c6a c6i c7g c7i m5 m6a m6i m7g m7i m8g r5 r6i r7g r7i r8g t3 i4i p6-b200 p6-b300 p5 p5e p5en p4d p4de p3dn ' +
    'g7e g6 gr6 g6e g5g g5 g4dn g4ad inf2 inf1 trn1 trn1n trn2'
  ).split(' '),
);

function documentedForAutoMode(type: InstanceType): boolean {
  return autoModeFamilies.has(type.family) && type.vcpu > 1 && !/^(?:nano|micro|small)$/.test(type.size);
}

function preparePool(
  spec: PoolSpec,
  world: World,
  options: FitOptions,
  offer: (row: number) => Offer,
): PreparedPool {
  const provider: Provider = spec.kind === 'node-group' ? 'node-group' : spec.provider;
  const fixed = fixedOf(spec, options);
  const written = spec.kind === 'node-pool' ? spec.requirements : nodeGroupRequirements(spec.instanceTypes);
  const read = readRequirements(written, poolLabels(spec));
  const unknownKeys = new Set([...read.unknownKeys, ...(spec.unknownKeys ?? []).map(normaliseLabel)]);
  const yes = emptyBits(world.rows.length);
  const possible = emptyBits(world.rows.length);
  for (let row = 0; row < world.rows.length; row += 1) {
    const listed = world.rows[row];
    const doubted =
      listed?.kind !== 'listed' || (provider === 'auto-mode' && !documentedForAutoMode(listed.type));
    if (!doubted) addBit(yes, row);
    addBit(possible, row);
  }
  const namedKeys = new Set<string>();
  let doubtful = spec.incomplete === true || (spec.kind === 'node-group' && spec.instanceTypes.length === 0);
  for (const key of unknownKeys) if (meaningOf(key, provider).kind !== 'custom') doubtful = true;
  for (const { key } of written)
    if (meaningOf(normaliseLabel(key), provider).kind === 'unknown') doubtful = true;
  for (const [key, set] of read.requirements) {
    const meaning = meaningOf(key, provider);
    if (meaning.kind === 'instance') {
      const mask = world.mask(meaning.label, set);
      keep(yes, mask.yes);
      keep(possible, mask.possible);
      if (mask.named) namedKeys.add(key);
    } else if (meaning.kind === 'well-known') {
      const truth = fixedSatisfies(key, set, fixed);
      if (truth !== 'yes') yes.fill(0);
      if (truth === 'no') possible.fill(0);
    }
  }
  if (doubtful) yes.fill(0);
  const newer = world.newer >= 0 && hasBit(possible, world.newer);
  if (newer && namedKeys.size === 0) removeBit(possible, world.newer);
  const admitted = { yes: yes.slice(), possible: possible.slice() };

  // A static pool keeps its number of nodes; the only limit that it has is on nodes.
  const { amounts: limits, unknown: unknownLimits } = amountsOf(
    spec.kind === 'node-pool' && spec.replicas === undefined ? spec.limits : {},
  );
  if (unknownLimits.length > 0) yes.fill(0);
  for (const row of members(possible)) {
    const { capacity, allocatable } = offer(row);
    const fits = withinLimits(capacity, limits);
    if (fits !== 'yes' || negative(allocatable.least)) removeBit(yes, row);
    if (fits === 'no' || negative(allocatable.most)) removeBit(possible, row);
  }
  const blocking = (spec.taints ?? []).filter((taint) => taint.effect !== 'PreferNoSchedule');
  return {
    spec,
    provider,
    requirements: read.requirements,
    unknownKeys,
    taints: blocking,
    preferredTaints: (spec.taints ?? []).filter((taint) => taint.effect === 'PreferNoSchedule'),
    limits,
    offer,
    admitted,
    yes,
    possible,
    namedKeys,
    newer,
    doubtful,
    capacityTypes: remainingCapacityTypes(read.requirements.get(capacityTypeLabel), fixed),
    fixed,
    selections: { strict: new WeakMap(), tolerant: new WeakMap() },
    minValues: [...read.requirements.values()].some((set) => set.minValues !== undefined),
    overhead: noOverhead,
    column: columnsOf(
      {
        spec,
        rows: rowsOf(admitted.possible, newer, world),
        size: world.rows.length,
        overhead: noOverhead,
        offer,
      },
      options,
    ),
  };
}

/** The rows that pods may be put on: a pod may name a newer type where the pool does not. */
function rowsOf(possible: Bits, newer: boolean, world: World): readonly number[] {
  const rows = members(possible);
  return newer && !hasBit(possible, world.newer) ? [...rows, world.newer] : rows;
}

function nodeGroupRequirements(types: readonly string[]): readonly RequirementSpec[] {
  return types.length === 0 ? [] : [{ key: instanceTypeLabel, operator: 'In', values: types }];
}

function negative(list: ResourceList): boolean {
  return Object.values(list).some((value) => value < 0);
}

/** The pool with the room that DaemonSets take on its nodes. */
function withDaemonSets(
  pool: PreparedPool,
  daemons: readonly PreparedPod[],
  context: Omit<Context, 'pools'>,
): PreparedPool {
  const size = context.world.rows.length;
  const overhead = new Map<string, Taken>();
  for (const daemon of daemons) {
    const yes = emptyBits(size);
    const possible = emptyBits(size);
    for (const term of daemon.placement.terms) {
      const selection = select(pool, daemon.placement, term, true, context.world);
      if (selection === undefined) continue;
      merge(yes, selection.yes);
      merge(possible, selection.possible);
    }
    const where = members(possible);
    if (where.length === 0) continue;
    for (const [name, amount] of Object.entries(daemon.requests)) {
      let taken = overhead.get(name);
      if (taken === undefined) {
        taken = { least: new Float64Array(size), most: new Float64Array(size) };
        overhead.set(name, taken);
      }
      for (const row of where) {
        taken.most[row] = (taken.most[row] ?? 0) + amount;
        if (hasBit(yes, row)) taken.least[row] = (taken.least[row] ?? 0) + amount;
      }
    }
  }
  if (overhead.size === 0) return pool;
  const { spec, offer } = pool;
  const rows = rowsOf(pool.admitted.possible, pool.newer, context.world);
  return { ...pool, overhead, column: columnsOf({ spec, rows, size, overhead, offer }, context.options) };
}

/** A key for what decides the offers of a pool, so that pools of one NodeClass share them. */
function offerKey(pool: PoolSpec): string {
  return pool.kind === 'node-group'
    ? JSON.stringify(['group', pool.volumeSizeGiB, pool.maxPodsPerNode])
    : JSON.stringify([pool.provider, pool.nodeClass]);
}

let everyType: World | undefined;

/** The rows without options are the same each time, and so are the requirements that were evaluated on them. */
function worldOf(options: FitOptions): World {
  const { types, closed, onlyPriced } = options;
  return types === undefined && closed === undefined && onlyPriced === undefined
    ? (everyType ??= createWorld())
    : createWorld(options);
}

/** Reads the pools once, for any number of pods. */
export function prepare(pools: readonly PoolSpec[], options: FitOptions = {}): Context {
  const world = worldOf(options);
  const shared = new Map<string, (Offer | undefined)[]>();
  const offerIn = (pool: PoolSpec): ((row: number) => Offer) => {
    const key = offerKey(pool);
    const offers = shared.get(key) ?? [];
    shared.set(key, offers);
    return (row) => {
      const candidate = world.rows[row];
      if (candidate === undefined) throw new RangeError(`row ${row} of ${world.rows.length}`);
      return (offers[row] ??= offerOf(candidate, pool, options));
    };
  };
  const size = world.rows.length;
  const base: Omit<Context, 'pools'> = {
    options,
    world,
    reading: {
      extendedResourceToleration: options.extendedResourceToleration !== false,
      placements: new Map(),
    },
    scratch: { yes: emptyBits(size), possible: emptyBits(size) },
  };
  const daemons = (options.daemonSets ?? []).map((pod) => preparePod(pod, base.reading));
  return {
    ...base,
    pools: inLaunchOrder(pools).map((pool) => {
      const prepared = preparePool(pool, world, options, offerIn(pool));
      return daemons.length === 0 ? prepared : withDaemonSets(prepared, daemons, base);
    }),
  };
}
