import {
  allocatable,
  capacity,
  eniLimitedPods,
  isWindows,
  kubeReservedCpu,
  kubeReservedMemory,
  memoryCapacity,
} from './allocatable';
import type { KarpenterSettings } from './allocatable';
import type { InstanceType } from './instances';
import type { NodeGroupSpec, PoolSpec } from './pool';
import { amount } from './resources';
import type { ResourceList } from './resources';
import type { Row } from './world';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** What a node offers at least, for certain, and at most. A resource in neither list is offered by no node. */
export interface Bounds {
  readonly least: ResourceList;
  readonly most: ResourceList;
}

/** What a new node of a row has (for the limits of a pool) and gives to pods. */
export interface Offer {
  readonly capacity: Bounds;
  readonly allocatable: Bounds;
}

export interface OfferOptions {
  /** Settings of the Karpenter controller. */
  readonly settings?: KarpenterSettings;
  /**
   * Karpenter guesses a type's memory until it has seen a node of it, then uses what that node reported. True (the
   * default): such a node may have been seen, so that the guess is only the least.
   */
  readonly discoveredMemory?: boolean;
  /** Extended resources that the provider reports; absent: all that Karpenter's provider for AWS knows. */
  readonly extendedResources?: readonly string[];
  /**
   * What a provider keeps back of every type alike, so that a node has what it gives plus this (millicores, bytes).
   * Karpenter's kwok provider, with which clusters are simulated, works so; it keeps back 100m and 10Mi.
   */
  readonly reservedOfEveryType?: ResourceList;
}

/** Reported by nodes, in numbers that are not in the catalogue. */
const uncounted = ['vpc.amazonaws.com/pod-eni', 'vpc.amazonaws.com/PrivateIPv4Address'] as const;

const nodeResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

const unbounded: ResourceList = {
  cpu: Infinity,
  memory: Infinity,
  'ephemeral-storage': Infinity,
  pods: Infinity,
};

function exactly(list: ResourceList): Bounds {
  return { least: list, most: list };
}

/** Bytes of memory that a node of the type was seen to have, or the most that it can have. */
function largestMemory(type: InstanceType): number {
  return Math.floor((type.memoryMiB - (type.measuredOverheadMiB ?? 0)) * MiB);
}

function withLargestMemory(bounds: Bounds, type: InstanceType): Bounds {
  const guess = memoryCapacity(type.memoryMiB, type.arch, 0.075);
  const memory = (bounds.most['memory'] ?? 0) + Math.max(0, largestMemory(type) - guess);
  return { least: bounds.least, most: { ...bounds.most, memory } };
}

function sum(a: ResourceList, b: ResourceList): ResourceList {
  return {
    ...a,
    ...Object.fromEntries(Object.entries(b).map(([name, value]) => [name, (a[name] ?? 0) + value])),
  };
}

function onlyReported(list: ResourceList, reported: readonly string[] | undefined): ResourceList {
  if (reported === undefined) return list;
  return Object.fromEntries(
    Object.entries(list).filter(([name]) => nodeResources.has(name) || reported.includes(name)),
  );
}

/** A node of a NodePool of open source Karpenter. */
function karpenterOffer(type: InstanceType, pool: PoolSpec, options: OfferOptions): Offer {
  const nodeClass = pool.kind === 'node-pool' ? pool.nodeClass : undefined;
  const spec = nodeClass?.kind === 'EC2NodeClass' ? nodeClass.spec : {};
  const given = onlyReported(allocatable(type, spec, options.settings), options.extendedResources);
  const owned = onlyReported(capacity(type, spec, options.settings), options.extendedResources);
  let gives = exactly(given);
  let has = exactly(
    options.reservedOfEveryType === undefined ? owned : sum(given, options.reservedOfEveryType),
  );
  if (options.discoveredMemory !== false) {
    has = withLargestMemory(has, type);
    gives = withLargestMemory(gives, type);
  }
  if (nodeClass?.kind !== 'EC2NodeClass') {
    // The NodeClass may give a larger disk and more pods.
    const open = { 'ephemeral-storage': Infinity, pods: Infinity };
    has = { least: has.least, most: { ...has.most, ...open } };
    gives = { least: gives.least, most: { ...gives.most, ...open } };
  }
  if (spec.amiFamily !== undefined && isWindows(spec.amiFamily)) {
    const open = { 'vpc.amazonaws.com/PrivateIPv4Address': Infinity };
    gives = { least: gives.least, most: { ...gives.most, ...open } };
  }
  return { capacity: has, allocatable: gives };
}

/**
 * A node of EKS Auto Mode, whose reservations are not published: at least what Karpenter reckons for Bottlerocket with
 * at most 110 pods, at most what the machine has. Local NVMe replaces the volume where it is larger.
 */
function autoModeOffer(type: InstanceType, pool: PoolSpec): Offer {
  const nodeClass = pool.kind === 'node-pool' ? pool.nodeClass : undefined;
  const known = nodeClass?.kind === 'NodeClass';
  const size = (known ? amount('ephemeral-storage', nodeClass.spec.ephemeralStorage) : undefined) ?? 80 * GiB;
  const pods = Math.min(110, eniLimitedPods(type, 0));
  const spec = { amiFamily: 'Bottlerocket', kubelet: { maxPods: pods } } as const;
  const has = capacity(type, spec);
  const local = (type.nvmeGB ?? 0) * 1e9;
  const storage = {
    least: known ? Math.floor(size * 0.9) - GiB : 20 * GiB,
    most: known ? Math.max(size, local) : Infinity,
  };
  return {
    capacity: {
      least: { ...has, 'ephemeral-storage': storage.least },
      most: { ...has, memory: type.memoryMiB * MiB, 'ephemeral-storage': storage.most },
    },
    allocatable: {
      least: { ...allocatable(type, spec), 'ephemeral-storage': storage.least },
      most: { ...has, memory: type.memoryMiB * MiB, 'ephemeral-storage': storage.most },
    },
  };
}

/** What EKS caps the pods of a managed node at: 110 below 30 vCPUs, else 250. */
function managedPods(type: InstanceType): number {
  return Math.min(eniLimitedPods(type, 0), type.vcpu < 30 ? 110 : 250);
}

/**
 * A node of a node group: what the kubelet of the AMI keeps back is known, what the machine reports is measured for
 * some types and lies between Karpenter's guess and EC2's figure for the others.
 */
function nodeGroupOffer(type: InstanceType, pool: NodeGroupSpec): Offer {
  const pods = pool.maxPodsPerNode ?? managedPods(type);
  const manyPods = Math.max(pods, eniLimitedPods(type, 0));
  const has = capacity(type);
  const memory = (bytes: number, forPods: number): number => bytes - kubeReservedMemory(forPods) - 100 * MiB;
  const guess = has['memory'] ?? 0;
  const leastMemory = type.measuredOverheadMiB === undefined ? guess : largestMemory(type);
  const disk = (pool.volumeSizeGiB ?? 80) * GiB;
  const cpu = type.vcpu * 1000 - kubeReservedCpu(type.vcpu);
  return {
    capacity: exactly(has),
    allocatable: {
      least: {
        ...has,
        cpu,
        memory: memory(leastMemory, manyPods),
        pods,
        'ephemeral-storage': Math.floor(disk * 0.9) - 2 * GiB,
        'vpc.amazonaws.com/efa': 0,
      },
      most: {
        ...has,
        cpu,
        memory: memory(largestMemory(type), Math.min(pods, manyPods)),
        pods: pool.maxPodsPerNode ?? Infinity,
        'ephemeral-storage': Math.max(disk, (type.nvmeGB ?? 0) * 1e9),
      },
    },
  };
}

/** What a new node of the row would offer in the pool. */
export function offerOf(row: Row, pool: PoolSpec, options: OfferOptions): Offer {
  if (row.kind === 'listed') {
    const offer =
      pool.kind === 'node-group'
        ? nodeGroupOffer(row.type, pool)
        : pool.provider === 'auto-mode'
          ? autoModeOffer(row.type, pool)
          : karpenterOffer(row.type, pool, options);
    return options.extendedResources === undefined ? withUncounted(offer) : offer;
  }
  const accelerators =
    row.kind === 'other'
      ? row.other.accelerators
      : Object.fromEntries(acceleratorResources.map((name) => [name, Infinity] as const));
  const most = { ...unbounded, 'vpc.amazonaws.com/efa': Infinity, ...accelerators };
  const offer = { least: {}, most };
  return withUncounted({ capacity: offer, allocatable: offer });
}

function withUncounted(offer: Offer): Offer {
  const most: Record<string, number> = { ...offer.allocatable.most };
  for (const name of uncounted) most[name] ??= Infinity;
  return { capacity: offer.capacity, allocatable: { least: offer.allocatable.least, most } };
}

/** The accelerator resources that nodes of EC2 types can offer without further set-up. */
export const acceleratorResources = [
  'nvidia.com/gpu',
  'amd.com/gpu',
  'habana.ai/gaudi',
  'aws.amazon.com/neuron',
  'aws.amazon.com/neuroncore',
] as const;
