import { acceleratorCount, acceleratorsOf, type Accelerator } from '../kube/accelerators';
import { effectiveRequest, runningContainers, type Container } from '../kube/containers';
import { toNumber } from '../kube/quantity';
import { nodeDemandOf, valueSetOf, type NodeRequirement } from '../kube/requirements';
import type { Resource } from '../kube/resource';
import { admits, admitsAbsence, normaliseLabel, type ValueSet } from '../kube/value-set';
import { isScalar, type YamlNode } from '../yaml/node';
import {
  findGpu,
  gpuInText,
  gpus,
  migMemory,
  migProfile,
  visibleMemory,
  type Gpu,
  type MigProfile,
} from './gpus';
import { MiB, type Range } from './models/range';
import { instanceTypes, type InstanceType } from './nodes/instances';
import { instanceLabel, labelMeaning } from './nodes/labels';
import { typesOf } from './nodes/read-pool';

/** One kind of GPU that a pod may get. */
export interface GpuChoice {
  readonly gpu: Gpu;
  /** Bytes of one GPU, or of one MIG instance, as the driver shows them. */
  readonly memory: Range;
  /** Name of the MIG profile, where it is not the whole card. */
  readonly slice: string | undefined;
  /** `NVIDIA L4`, `1g.10gb of NVIDIA H100 80 GB`. */
  readonly label: string;
  /** EC2 types with it on which the pod can run, cheapest first; empty for cards that EC2 does not have. */
  readonly types: readonly InstanceType[];
  /** The pool that may launch them. */
  readonly pool: Resource | undefined;
}

/** What can be told of the GPUs that a container gets. */
export interface GpuChoices {
  /** Smallest memory first. Empty where nothing is known. */
  readonly choices: readonly GpuChoice[];
  /** Nothing else can happen, as far as the manifest and the pools tell. */
  readonly exhaustive: boolean;
  /** A selector, a resource name or a pool narrows the choice; else `choices` is all that EC2 has. */
  readonly named: boolean;
  /** Where the pod says it: values of selectors. */
  readonly at: readonly YamlNode[];
}

const nothingKnown: GpuChoices = { choices: [], exhaustive: false, named: false, at: [] };

/** The card of an instance type; the label says `a100` and `v100` of two sizes of memory each. */
export function gpuOfInstance(type: InstanceType): Gpu | undefined {
  const has = type.gpus;
  if (has === undefined) return undefined;
  return gpus.find(
    (gpu) =>
      gpu.onEc2 &&
      (gpu.id === has.name || gpu.id.startsWith(`${has.name}-`)) &&
      gpu.labelMiB === has.memoryMiBEach,
  );
}

/** Cards of one name with different memory, where the name leaves it open: `a100`. */
function variantsOf(gpu: Gpu, text: string): readonly Gpu[] {
  return /\d\s?g/i.test(text)
    ? [gpu]
    : gpus.filter(({ id }) => id === gpu.id || new RegExp(`^${gpu.id}-\\d+gb$`).test(id));
}

/** What a requirement on labels says about the card. */
type Meaning =
  | { readonly says: 'nothing' }
  /** It narrows the choice in a way that cannot be told. */
  | { readonly says: 'unknown' }
  | { readonly says: 'types'; readonly admits: (type: InstanceType) => boolean; readonly certain: boolean }
  | {
      readonly says: 'gpus';
      readonly gpus: readonly Gpu[];
      readonly slice?: MigProfile;
      readonly certain: boolean;
    };

const nothing: Meaning = { says: 'nothing' };
const unknown: Meaning = { says: 'unknown' };

/** Labels that nodes of any kind have, or all nodes with a GPU. */
const everywhere =
  /^(kubernetes\.io\/os|topology\.kubernetes\.io\/|topology\.k8s\.aws\/|karpenter\.sh\/(capacity-type|registered|initialized)$|eks\.amazonaws\.com\/(compute-type|capacityType)$|nvidia\.com\/gpu\.(present|deploy\.)|feature\.node\.kubernetes\.io\/pci-(0300_)?10de)/;

/** Labels whose values name the card: GPU Feature Discovery, GKE, AMD's labeller. */
const productLabel =
  /^(nvidia\.com\/gpu\.product|cloud\.google\.com\/gke-accelerator|(beta\.)?amd\.com\/gpu\.product-name)$/;

/** Labels of people's own that name the card: `gpu-type: l40s`, `example.com/accelerator: nvidia-a10g`. */
const ownLabel = /gpu|accelerator/i;

/** Labels that say which node it is, not what it has. */
const instanceKey = (key: string): string | undefined => {
  const meaning = labelMeaning(key, key.startsWith('eks.amazonaws.com/') ? 'auto-mode' : 'karpenter');
  return meaning.kind === 'instance' ? meaning.label : undefined;
};

function meaningOf(requirement: NodeRequirement, ofPools: ReadonlySet<string>): Meaning {
  const key = normaliseLabel(requirement.key);
  const set = valueSetOf(requirement);
  if (set === undefined) return everywhere.test(key) ? nothing : unknown;
  const label = instanceKey(key);
  if (label !== undefined) {
    return {
      says: 'types',
      admits: (type) => admitsValue(set, instanceLabel(type, label)),
      certain: isKnownToAll(set, label),
    };
  }
  if (everywhere.test(key) || ofPools.has(key)) return nothing;
  if (productLabel.test(key)) return productOf(set) ?? unknown;
  // A node without the label will do, whatever it means.
  if (admitsAbsence(set)) return nothing;
  if (ownLabel.test(key) && !set.complement) {
    const named = [...set.values].map((value) => ({ value, gpu: findGpu(value) }));
    if (named.every(({ gpu }) => gpu !== undefined)) {
      const found = named.flatMap(({ value, gpu }) => (gpu === undefined ? [] : variantsOf(gpu, value)));
      return { says: 'gpus', gpus: found, certain: true };
    }
  }
  return unknown;
}

function admitsValue(set: ValueSet, value: ReturnType<typeof instanceLabel>): boolean {
  if (value === undefined) return true;
  if (value === null) return admitsAbsence(set);
  return typeof value === 'string' ? admits(set, value) : value.some((one) => admits(set, one));
}

/** Whether every value that is asked for by name is one that some type of the catalogue has. */
function isKnownToAll(set: ValueSet, label: string): boolean {
  if (set.complement) return true;
  return [...set.values].every((value) =>
    instanceTypes().some((type) => {
      const has = instanceLabel(type, label);
      return has === value || (Array.isArray(has) && has.includes(value));
    }),
  );
}

/** `NVIDIA-H100-80GB-HBM3`, `nvidia-l4`, `NVIDIA-A100-SXM4-40GB-MIG-3g.20gb`. */
function productOf(set: ValueSet): Meaning | undefined {
  if (set.complement) return undefined;
  const found: Gpu[] = [];
  let slice: MigProfile | undefined;
  for (const value of set.values) {
    const gpu = gpuInText(value);
    if (gpu === undefined) return undefined;
    const name = /MIG-(\d+g\.\d+gb)/i.exec(value)?.[1];
    if (name !== undefined) {
      slice = migProfile(name)?.profile;
      if (slice === undefined || set.values.size > 1) return undefined;
    }
    found.push(gpu);
  }
  return { says: 'gpus', gpus: found, certain: true, ...(slice === undefined ? {} : { slice }) };
}

/** What a pod asks of any one node, beside labels. */
interface Ask {
  readonly resource: string;
  readonly count: number;
  readonly cpu: number;
  readonly memory: number;
}

function askOf(container: Container, accelerator: Accelerator): Ask {
  const { template } = container;
  const sum = (name: string): number =>
    runningContainers(template).reduce((total, each) => {
      const quantity = effectiveRequest(each, name)?.quantity;
      return total + (quantity === undefined ? 0 : toNumber(quantity));
    }, 0);
  return {
    resource: accelerator.resource,
    count: acceleratorCount(template, accelerator.resource) ?? accelerator.count ?? 1,
    cpu: sum('cpu'),
    memory: sum('memory'),
  };
}

/** Volta, the oldest that vLLM and PyTorch 2 builds run on. */
const leastCapability = 7;

/** Necessary, not sufficient: what the node has before anything is taken from it. */
function isLargeEnough(type: InstanceType, vendor: Accelerator['vendor'], ask: Ask): boolean {
  const has = type.gpus;
  if (has === undefined || has.manufacturer !== vendor) return false;
  // What engines have stopped to support long ago is no choice, though EC2 lists it.
  if (vendor === 'nvidia' && (gpuOfInstance(type)?.computeCapability ?? 0) < leastCapability) return false;
  // A slice is a part of one card, however many of them there are.
  const count = ask.resource === `${vendor}.com/gpu` || vendor === 'habana' ? ask.count : 1;
  return has.count >= count && type.vcpu >= ask.cpu && type.memoryMiB * MiB >= ask.memory;
}

const byPrice = (a: InstanceType, b: InstanceType): number =>
  (a.onDemandPrice ?? Infinity) - (b.onDemandPrice ?? Infinity);

/** EC2 types of each card, cheapest first. */
function grouped(types: readonly InstanceType[]): ReadonlyMap<Gpu, readonly InstanceType[]> {
  const groups = new Map<Gpu, InstanceType[]>();
  for (const type of types.toSorted(byPrice)) {
    const gpu = gpuOfInstance(type);
    if (gpu === undefined) continue;
    const group = groups.get(gpu);
    if (group === undefined) groups.set(gpu, [type]);
    else group.push(type);
  }
  return groups;
}

/** What a pod may get by one alternative of its affinity. */
interface Branch {
  readonly choices: readonly GpuChoice[];
  readonly exhaustive: boolean;
  readonly named: boolean;
}

interface PoolOffer {
  readonly pool: Resource;
  readonly types: readonly InstanceType[];
  readonly complete: boolean;
}

/** A pool of the catalogue's plain types; what the catalogue lacks of such families has no accelerators either. */
function isWithoutAccelerators({ types }: PoolOffer): boolean {
  return (
    types.length > 0 && types.every((type) => type.gpus === undefined && type.accelerators === undefined)
  );
}

function branchOf(
  meanings: readonly Meaning[],
  offers: readonly PoolOffer[],
  accelerator: Accelerator,
  ask: Ask,
): Branch {
  let byLabel: readonly Gpu[] | undefined;
  let slice: MigProfile | undefined;
  for (const meaning of meanings) {
    if (meaning.says !== 'gpus') continue;
    slice = meaning.slice ?? slice;
    const { gpus: said } = meaning;
    byLabel = byLabel === undefined ? said : byLabel.filter((gpu) => said.includes(gpu));
  }
  const filters = meanings.flatMap((meaning) => (meaning.says === 'types' ? [meaning] : []));
  const certain = meanings.every(
    (meaning) => meaning.says !== 'unknown' && (meaning.says === 'nothing' || meaning.certain),
  );
  const admitsType = (type: InstanceType): boolean =>
    isLargeEnough(type, accelerator.vendor, ask) && filters.every((filter) => filter.admits(type));
  const make = (types: readonly InstanceType[], pool: Resource | undefined): GpuChoice[] =>
    [...grouped(types.filter(admitsType))].map(([gpu, having]) => choice(gpu, having, slice, pool));
  const usable = offers.filter(({ types }) => types.some(admitsType));
  if (usable.length > 0) {
    const found = usable.flatMap(({ types, pool }) => make(types, pool));
    return {
      choices: byLabel === undefined ? found : found.filter(({ gpu }) => byLabel.includes(gpu)),
      exhaustive: certain && offers.every((offer) => offer.complete || isWithoutAccelerators(offer)),
      named: true,
    };
  }
  if (byLabel !== undefined) {
    const onEc2 = make(instanceTypes(), undefined);
    const there = onEc2.filter(({ gpu }) => byLabel.includes(gpu));
    // What the pod asks of the node leaves fewer cards than the name of a slice does.
    const found =
      filters.length > 0 && there.length > 0
        ? there
        : byLabel.map((gpu) => onEc2.find((each) => each.gpu === gpu) ?? choice(gpu, [], slice, undefined));
    return { choices: found, exhaustive: certain, named: true };
  }
  const narrows = filters.some(({ admits: allowed }) =>
    instanceTypes().some((type) => isLargeEnough(type, accelerator.vendor, ask) && !allowed(type)),
  );
  if (!certain && !narrows) return { choices: [], exhaustive: false, named: false };
  return { choices: make(instanceTypes(), undefined), exhaustive: certain, named: narrows };
}

function choice(
  gpu: Gpu,
  types: readonly InstanceType[],
  slice: MigProfile | undefined,
  pool: Resource | undefined,
): GpuChoice {
  return slice === undefined
    ? { gpu, memory: visibleMemory(gpu), slice, label: gpu.label, types, pool }
    : {
        gpu,
        memory: migMemory(slice),
        slice: slice.name,
        label: `${slice.name} of ${gpu.label}`,
        types,
        pool,
      };
}

/** The one kind of accelerator that a container asks for; `undefined` for none, several and claims. */
export function soleAccelerator(container: Container): Accelerator | undefined {
  const [accelerator, ...others] = acceleratorsOf(container);
  return accelerator === undefined || others.length > 0 || accelerator.unit === 'claim'
    ? undefined
    : accelerator;
}

/**
 * The GPUs that a container may get, by its resource name, node selector, required node affinity and the NodePools that
 * would take it.
 *
 * @param pools - NodePools whose labels and taints let the pod in; empty where none is known.
 */
export function gpuChoices(container: Container, pools: readonly Resource[]): GpuChoices {
  const known = memo.get(container);
  const same =
    known?.pools.length === pools.length && known.pools.every((pool, index) => pool === pools[index]);
  if (known !== undefined && same) return known.choices;
  const choices = choose(container, pools);
  memo.set(container, { pools, choices });
  return choices;
}

/** Kept with the container for as long as the same pools take its pod. */
const memo = new WeakMap<Container, { readonly pools: readonly Resource[]; readonly choices: GpuChoices }>();

function choose(container: Container, pools: readonly Resource[]): GpuChoices {
  const accelerator = soleAccelerator(container);
  if (accelerator === undefined || !['nvidia', 'amd', 'habana'].includes(accelerator.vendor))
    return nothingKnown;
  const { template } = container;
  const byResource = gpusOfResource(accelerator);
  if (byResource === 'unknown') return nothingKnown;
  const demand = nodeDemandOf(template);
  const ask = askOf(container, accelerator);
  const offers = pools.map((pool) => ({ pool, ...typesOf(pool) }));
  const ofPools = new Set(pools.length === 0 ? [] : demand.alternatives.flat().map(({ key }) => key));
  const branches = demand.alternatives.map((requirements) => {
    const told = requirements.map((requirement) => meaningOf(requirement, ofPools));
    const meanings = demand.hidden ? [...told, unknown] : told;
    return branchOf(
      byResource === undefined ? meanings : [...meanings, byResource],
      offers,
      accelerator,
      ask,
    );
  });
  // EC2's AMD cards run no model server, so that nothing is known of a pod that asks for just any.
  const isGeneric = accelerator.vendor !== 'nvidia' && branches.some(({ named }) => !named);
  if (isGeneric) return nothingKnown;
  const choices = merged(branches.flatMap((branch) => branch.choices));
  return {
    choices: choices.toSorted((a, b) => a.memory.expected - b.memory.expected || armLast(a) - armLast(b)),
    exhaustive: !demand.open && choices.length > 0 && branches.every(({ exhaustive }) => exhaustive),
    named: branches.every(({ named }) => named),
    at: demand.alternatives
      .flat()
      .filter((requirement) => ['types', 'gpus'].includes(meaningOf(requirement, ofPools).says))
      .flatMap(({ valueNodes }) => valueNodes.filter(isScalar)),
  };
}

/** What the name of the resource says about the card: MIG profiles, names of plug-ins' own, KubeAI's profiles. */
function gpusOfResource(accelerator: Accelerator): Meaning | 'unknown' | undefined {
  const { resource, vendor, at } = accelerator;
  if (/^nvidia\.com\/mig-/.test(resource)) {
    const found = migProfile(resource);
    if (found === undefined) return 'unknown';
    return { says: 'gpus', gpus: found.gpus, slice: found.profile, certain: true };
  }
  if ('key' in at && at.key.text === 'resourceProfile' && isScalar(at.value)) {
    const gpu = gpuInText(at.value.text);
    return gpu === undefined ? 'unknown' : { says: 'gpus', gpus: [gpu], certain: true };
  }
  if (/^(nvidia\.com\/gpu(\.shared)?|amd\.com\/gpu|habana\.ai\/gaudi\d?)$/.test(resource)) return undefined;
  const gpu = vendor === 'nvidia' ? gpuInText(resource) : undefined;
  return gpu === undefined ? 'unknown' : { says: 'gpus', gpus: [gpu], certain: true };
}

/** Of two cards with the same memory, the one that most images run on comes first. */
const armLast = ({ types }: GpuChoice): number => (types[0]?.arch === 'arm64' ? 1 : 0);

/** One choice for each card, with the types of all. */
function merged(choices: readonly GpuChoice[]): readonly GpuChoice[] {
  const byGpu = new Map<string, GpuChoice>();
  for (const each of choices) {
    const key = `${each.gpu.id} ${each.memory.expected}`;
    const before = byGpu.get(key);
    const types = [...new Set([...(before?.types ?? []), ...each.types])].toSorted(byPrice);
    byGpu.set(key, before === undefined ? each : { ...before, types });
  }
  return [...byGpu.values()];
}
