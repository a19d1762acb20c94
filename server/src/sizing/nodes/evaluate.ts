import { isWindows } from './allocatable';
import {
  addBit,
  copyBits,
  emptyBits,
  hasBit,
  isEmpty,
  keep,
  members,
  merge,
  removeBit,
  replaceBits,
} from './bits';
import type { Bits } from './bits';
import type { InstanceType } from './instances';
import {
  capacityTypeLabel,
  instanceTypeLabel,
  labelMeaning,
  osLabel,
  windowsBuildLabel,
  zoneLabel,
} from './labels';
import type { LabelMeaning, Provider } from './labels';
import { offerOf } from './offer';
import type { Bounds, Offer, OfferOptions } from './offer';
import { inLaunchOrder, poolLabels } from './pool';
import type { PoolSpec } from './pool';
import {
  absent,
  addRequirement,
  admits,
  admitsAbsence,
  agree,
  anyValue,
  intersect,
  normaliseLabel,
  oneOf,
  readRequirements,
  valueSet,
} from './requirements';
import type { RequirementSpec, Requirements, ValueSet } from './requirements';
import { amountsOf, podRequests } from './resources';
import type { PodResources, ResourceList } from './resources';
import { extendedResourceTolerations, tolerated } from './taints';
import type { Taint, Toleration } from './taints';
import { createWorld } from './world';
import type { World, WorldOptions } from './world';

/** One term of a required node affinity. Expressions are all required; terms are alternatives. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly RequirementSpec[];
  /** True when the term also matches fields, which name one existing node. */
  readonly matchFields?: boolean;
}

/** A pod, or the pod template of a workload, as far as it decides where the pod can run. */
export interface PodSpec {
  readonly resources: PodResources;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** `requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`. */
  readonly requiredTerms?: readonly NodeSelectorTerm[];
  /** `preferredDuringSchedulingIgnoredDuringExecution`. */
  readonly preferredTerms?: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
  readonly tolerations?: readonly Toleration[];
  /** For each volume that exists in certain zones only: those zones. */
  readonly volumeZones?: readonly (readonly string[])[];
  /** Keys that a node must carry: of spread constraints with `DoNotSchedule` and of required pod affinity. */
  readonly topologyKeys?: readonly string[];
  /** Selector keys that are there but whose values cannot be read. */
  readonly unknownKeys?: readonly string[];
  /** True when the pod may ask for more than can be read. */
  readonly incomplete?: boolean;
}

export interface FitOptions extends WorldOptions, OfferOptions {
  /** The zones of the cluster; absent: any zone may be one. */
  readonly zones?: readonly string[];
  /** Spot price as a fraction of the on-demand price; absent: spot prices are not known. */
  readonly spotPriceFactor?: number;
  /** Pods that run on every node that they match, and take room there. */
  readonly daemonSets?: readonly PodSpec[];
  /**
   * True (the default, since EKS runs that admission plugin): pods tolerate the taints named as the extended
   * resources that they ask for.
   */
  readonly extendedResourceToleration?: boolean;
  /** How many types Karpenter hands to the cloud provider, cheapest first; 600 in Karpenter v1.14. */
  readonly maxInstanceTypes?: number;
  /** Karpenter's `MIN_VALUES_POLICY`; `Strict` is its default. */
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
  /** Resources that NodeOverlays or device plugins may add to nodes of any type. */
  readonly overlayResources?: readonly string[];
}

/** Where a pod asks for a label. */
export type LabelSource = 'nodeSelector' | 'affinity' | 'volume' | 'topology';

/** What one alternative of a pod's affinity, with the rest of the pod, asks of labels. */
export interface PreparedTerm {
  readonly requirements: Requirements;
  readonly unknownKeys: readonly string[];
  /** Where each key comes from, and how the manifest writes it. */
  readonly sources: ReadonlyMap<string, readonly { readonly source: LabelSource; readonly key: string }[]>;
  /** False for a term without expressions, which matches no node. */
  readonly satisfiable: boolean;
  /** Something in it cannot be read or compared. */
  readonly doubtful: boolean;
}

/** Where a pod may be placed: everything but what it asks of resources. Equal placements are read once. */
export interface Placement {
  readonly tolerations: readonly Toleration[];
  /** The alternatives of the required affinity; at least one. */
  readonly terms: readonly PreparedTerm[];
  /**
   * The alternatives in the order in which Karpenter tries them: with the heaviest preference treated as required,
   * then, for the last alternative, with one preference after the other dropped.
   */
  readonly tries: readonly PreparedTerm[];
  readonly doubtful: boolean;
}

export interface PreparedPod {
  readonly placement: Placement;
  readonly requests: ResourceList;
  /** The same as pairs. */
  readonly asked: readonly (readonly [resource: string, amount: number])[];
  readonly unknownRequests: readonly string[];
}

/** Rows in the order of what they hold, with the set of the first n of them for every n. */
interface Thresholds {
  /** The amounts, from the largest. */
  readonly descending: Float64Array;
  /** The set of the first n rows starts at word n times the words of a set. */
  readonly prefixes: Uint32Array;
}

/** What DaemonSets take, by row: certainly and at most. */
interface Taken {
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/** What pods can ask of one resource on the rows that the pool's requirements admit. */
export interface Column {
  readonly most: ReadonlyMap<number, number>;
  readonly certain: Thresholds;
  readonly possible: Thresholds;
}

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
  /** Placements read so far, by their text. */
  readonly placements: Map<string, Placement>;
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

const capacityTypeOrder = ['reserved', 'spot', 'on-demand'] as const;

// ---------------------------------------------------------------------------------------------------------- pods

function readTerm(pod: PodSpec, term: NodeSelectorTerm | undefined): PreparedTerm {
  const requirements = new Map<string, ValueSet>();
  const unknownKeys = (pod.unknownKeys ?? []).map(normaliseLabel);
  const sources = new Map<string, { source: LabelSource; key: string }[]>();
  const add = (key: string, set: ValueSet | undefined, source: LabelSource): void => {
    const normalised = normaliseLabel(key);
    if (set === undefined) {
      unknownKeys.push(normalised);
      return;
    }
    addRequirement(requirements, normalised, set);
    const from = sources.get(normalised);
    if (from === undefined) sources.set(normalised, [{ source, key }]);
    else from.push({ source, key });
  };
  for (const [key, value] of Object.entries(pod.nodeSelector ?? {})) add(key, oneOf([value]), 'nodeSelector');
  for (const spec of term?.matchExpressions ?? []) add(spec.key, valueSet(spec), 'affinity');
  for (const zones of pod.volumeZones ?? []) add(zoneLabel, oneOf(zones), 'volume');
  for (const key of pod.topologyKeys ?? []) {
    if (!requirements.has(normaliseLabel(key))) add(key, anyValue, 'topology');
  }
  return {
    requirements,
    unknownKeys,
    sources,
    satisfiable: term === undefined || (term.matchExpressions ?? []).length > 0 || term.matchFields === true,
    doubtful: term?.matchFields === true,
  };
}

/** The term with a preference treated as a requirement, as Karpenter does until that fails. */
function withPreference(term: PreparedTerm, preference: Requirements | undefined): PreparedTerm {
  if (preference === undefined) return term;
  const requirements = new Map(term.requirements);
  for (const [key, set] of preference) addRequirement(requirements, key, set);
  return { ...term, requirements };
}

function readPlacement(pod: PodSpec, added: readonly Toleration[]): Placement {
  const required = pod.requiredTerms ?? [];
  const terms =
    required.length === 0 ? [readTerm(pod, undefined)] : required.map((term) => readTerm(pod, term));
  const preferences = (pod.preferredTerms ?? [])
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ term }) => readRequirements(term.matchExpressions ?? []).requirements);
  const last = terms.slice(-1);
  return {
    tolerations: [...(pod.tolerations ?? []), ...added],
    terms,
    tries: [
      ...terms.map((term) => withPreference(term, preferences[0])),
      ...preferences.flatMap((_, index) => last.map((term) => withPreference(term, preferences[index + 1]))),
    ],
    doubtful: pod.incomplete === true,
  };
}

/** Reads a pod once, for any number of pools. */
export function preparePod(pod: PodSpec, context: Pick<Context, 'options' | 'placements'>): PreparedPod {
  const { resources, ...rest } = pod;
  const requests = podRequests(resources);
  const added =
    context.options.extendedResourceToleration === false
      ? []
      : extendedResourceTolerations([...Object.keys(requests.amounts), ...requests.unknown]);
  const key = JSON.stringify([rest, added]);
  let placement = context.placements.get(key);
  if (placement === undefined) context.placements.set(key, (placement = readPlacement(pod, added)));
  const amounts = { ...requests.amounts, pods: 1 };
  return { placement, requests: amounts, asked: Object.entries(amounts), unknownRequests: requests.unknown };
}

// --------------------------------------------------------------------------------------------------------- pools

function thresholds(rows: readonly number[], values: Float64Array, size: number): Thresholds {
  const order = [...values.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  const descending = Float64Array.from(order, (index) => values[index] ?? 0);
  const words = (size + 31) >>> 5;
  const prefixes = new Uint32Array((rows.length + 1) * words);
  order.forEach((index, position) => {
    const row = rows[index] ?? 0;
    prefixes.copyWithin((position + 1) * words, position * words, (position + 1) * words);
    const word = (position + 1) * words + (row >>> 5);
    prefixes[word] = (prefixes[word] ?? 0) | (1 << (row & 31));
  });
  return { descending, prefixes };
}

/** The word at which the set of the rows with at least that amount starts. */
function startOf(ordered: Thresholds, amount: number, words: number): number {
  const { descending } = ordered;
  let low = 0;
  let high = descending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((descending[middle] ?? 0) >= amount) low = middle + 1;
    else high = middle;
  }
  return low * words;
}

/** Keeps in both sets only the rows with room for the amount: for certain in one, perhaps in the other. */
function keepRoomy(column: Column, amount: number, yes: Bits, possible: Bits): void {
  const words = yes.length;
  const { certain, possible: perhaps } = column;
  const start = startOf(certain, amount, words);
  const offset = certain === perhaps ? 0 : startOf(perhaps, amount, words) - start;
  for (let word = 0; word < words; word += 1) {
    const at = start + word;
    yes[word] = (yes[word] ?? 0) & (certain.prefixes[at] ?? 0);
    possible[word] = (possible[word] ?? 0) & (perhaps.prefixes[at + offset] ?? 0);
  }
}

/** The rows of a set that may have room for the amount. */
export function roomy(column: Column, amount: number, rows: Bits): Bits {
  const possible = copyBits(rows);
  keepRoomy(column, amount, copyBits(rows), possible);
  return possible;
}

const noOverhead: ReadonlyMap<string, Taken> = new Map();

function bound(list: ResourceList, resource: string, otherwise: number): number {
  return list[resource] ?? otherwise;
}

/** The most of a resource that no list mentions: nothing, unless something that cannot be seen may add it. */
function unmentioned(pool: PoolSpec, resource: string, options: FitOptions): number {
  if (options.overlayResources?.includes(resource) === true) return Infinity;
  return pool.kind === 'node-group' && resource.includes('/') ? Infinity : 0;
}

function createColumn(resource: string, pool: ColumnSource, options: FitOptions): Column {
  const otherwise = unmentioned(pool.spec, resource, options);
  const overlaid = options.overlayResources?.includes(resource) === true;
  const taken = pool.overhead.get(resource);
  const least = new Float64Array(pool.rows.length);
  const most = new Float64Array(pool.rows.length);
  const mostByRow = new Map<number, number>();
  let same = true;
  pool.rows.forEach((row, index) => {
    const given = pool.offer(row).allocatable;
    const low = bound(given.least, resource, 0) - (taken?.most[row] ?? 0);
    const high = overlaid ? Infinity : bound(given.most, resource, otherwise) - (taken?.least[row] ?? 0);
    least[index] = low;
    most[index] = high;
    mostByRow.set(row, high);
    if (low !== high) same = false;
  });
  const certain = thresholds(pool.rows, least, pool.size);
  return { most: mostByRow, certain, possible: same ? certain : thresholds(pool.rows, most, pool.size) };
}

interface ColumnSource {
  readonly spec: PoolSpec;
  /** The rows that the pool's requirements admit. */
  readonly rows: readonly number[];
  /** How many rows the world has. */
  readonly size: number;
  readonly overhead: PreparedPool['overhead'];
  offer(row: number): Offer;
}

function columnsOf(source: ColumnSource, options: FitOptions): (resource: string) => Column {
  const columns = new Map<string, Column>();
  return (resource) => {
    let column = columns.get(resource);
    if (column === undefined) {
      column = createColumn(resource, source, options);
      columns.set(resource, column);
    }
    return column;
  };
}

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

/** What the machines of a pool carry for labels that are the same for all its types. */
export interface Fixed {
  readonly zones: readonly string[] | undefined;
  readonly capacityTypes: readonly string[];
  readonly reserved: 'no' | 'unknown';
  readonly os: 'linux' | 'windows' | undefined;
}

function fixedOf(pool: PoolSpec, options: FitOptions): Fixed {
  if (pool.kind === 'node-group') {
    const windows = pool.amiFamily !== undefined && isWindows(pool.amiFamily);
    return {
      zones: pool.zones !== undefined && pool.zones.length > 0 ? pool.zones : options.zones,
      capacityTypes: [pool.spot === true ? 'spot' : 'on-demand'],
      reserved: 'no',
      os: windows ? 'windows' : 'linux',
    };
  }
  const nodeClass = pool.nodeClass ?? { kind: 'unknown' };
  const family = nodeClass.kind === 'EC2NodeClass' ? nodeClass.spec.amiFamily : undefined;
  return {
    zones: options.zones,
    capacityTypes: ['spot', 'on-demand'],
    reserved: nodeClass.kind === 'unknown' || nodeClass.reservations ? 'unknown' : 'no',
    os:
      pool.provider === 'auto-mode'
        ? 'linux'
        : nodeClass.kind === 'unknown'
          ? undefined
          : family !== undefined && isWindows(family)
            ? 'windows'
            : 'linux',
  };
}

/** Whether the fixed labels of a pool's machines satisfy a requirement on a label that is not of the instance. */
export function fixedSatisfies(key: string, set: ValueSet, fixed: Fixed): 'yes' | 'no' | 'unknown' {
  switch (key) {
    case zoneLabel:
      if (fixed.zones === undefined) return set.complement || set.values.size > 0 ? 'yes' : 'no';
      return fixed.zones.some((zone) => admits(set, zone)) ? 'yes' : 'no';
    case capacityTypeLabel:
      if (fixed.capacityTypes.some((type) => admits(set, type))) return 'yes';
      return fixed.reserved === 'unknown' && admits(set, 'reserved') ? 'unknown' : 'no';
    case osLabel:
      if (fixed.os === undefined) return admits(set, 'linux') ? 'yes' : 'unknown';
      return admits(set, fixed.os) ? 'yes' : 'no';
    case windowsBuildLabel:
      if (fixed.os === 'windows') return 'unknown';
      return agree(absent, set) ? 'yes' : fixed.os === undefined ? 'unknown' : 'no';
    case 'topology.kubernetes.io/region': {
      const regions = fixed.zones?.map((zone) => zone.replace(/[a-z]$/, ''));
      if (regions === undefined) return 'unknown';
      return regions.some((region) => admits(set, region)) ? 'yes' : 'no';
    }
    case 'karpenter.sh/nodepool':
      return 'yes';
    default:
      return 'unknown';
  }
}

/** The rows on which labels and taints let a pod run. */
interface Selection {
  readonly yes: Bits;
  readonly possible: Bits;
  readonly capacityTypes: readonly string[];
}

const nowhere: Selection = { yes: emptyBits(0), possible: emptyBits(0), capacityTypes: [] };

/** Labels that node groups carry and that come from their fixed properties. */
const fixedOfNodeGroups: ReadonlySet<string> = new Set([zoneLabel, osLabel, 'topology.kubernetes.io/region']);

/** The meaning of a label to a provider, with the labels that node groups get from their fixed properties. */
export function meaningOf(key: string, provider: Provider): LabelMeaning {
  const meaning = labelMeaning(key, provider);
  return provider === 'node-group' && fixedOfNodeGroups.has(key) ? { kind: 'well-known' } : meaning;
}

function remainingCapacityTypes(set: ValueSet | undefined, fixed: Fixed): readonly string[] {
  const offered = fixed.reserved === 'unknown' ? ['reserved', ...fixed.capacityTypes] : fixed.capacityTypes;
  return capacityTypeOrder.filter(
    (type) => offered.includes(type) && (set === undefined || admits(set, type)),
  );
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
  if (world.newer >= 0 && namedKeys.size === 0) removeBit(possible, world.newer);
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
    doubtful,
    capacityTypes: remainingCapacityTypes(read.requirements.get(capacityTypeLabel), fixed),
    fixed,
    selections: { strict: new WeakMap(), tolerant: new WeakMap() },
    minValues: [...read.requirements.values()].some((set) => set.minValues !== undefined),
    overhead: noOverhead,
    column: columnsOf(
      { spec, rows: members(admitted.possible), size: world.rows.length, overhead: noOverhead, offer },
      options,
    ),
  };
}

function nodeGroupRequirements(types: readonly string[]): readonly RequirementSpec[] {
  return types.length === 0 ? [] : [{ key: instanceTypeLabel, operator: 'In', values: types }];
}

function negative(list: ResourceList): boolean {
  return Object.values(list).some((value) => value < 0);
}

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

// ---------------------------------------------------------------------------------------------------- evaluation

/**
 * The rows of a pool on which the labels and taints let a pod run; `undefined` when none, for a reason that holds for
 * every row.
 */
function select(
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
        if (mask.named) named += 1;
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

// ---------------------------------------------------------------------------------------------------- DaemonSets

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
  const rows = members(pool.admitted.possible);
  return { ...pool, overhead, column: columnsOf({ spec, rows, size, overhead, offer }, context.options) };
}

// ------------------------------------------------------------------------------------------------------- context

/** A key for what decides the offers of a pool, so that pools of one NodeClass share them. */
function offerKey(pool: PoolSpec): string {
  return pool.kind === 'node-group'
    ? JSON.stringify(['group', pool.volumeSizeGiB, pool.maxPodsPerNode])
    : JSON.stringify([pool.provider, pool.nodeClass]);
}

/** Reads the pools once, for any number of pods. */
export function prepare(pools: readonly PoolSpec[], options: FitOptions = {}): Context {
  const world = createWorld(options);
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
    placements: new Map(),
    scratch: { yes: emptyBits(size), possible: emptyBits(size) },
  };
  const daemons = (options.daemonSets ?? []).map((pod) => preparePod(pod, base));
  return {
    ...base,
    pools: inLaunchOrder(pools).map((pool) => {
      const prepared = preparePool(pool, world, options, offerIn(pool));
      return daemons.length === 0 ? prepared : withDaemonSets(prepared, daemons, base);
    }),
  };
}
