import { parseQuantity, toNumber } from '../../kube/quantity';
import type { InstanceType } from './instances';
import { amount } from './resources';
import type { QuantityList, ResourceList } from './resources';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export type AmiFamily =
  'AL2' | 'AL2023' | 'Bottlerocket' | 'Ubuntu' | 'Windows2019' | 'Windows2022' | 'Windows2025' | 'Custom';

/** The kubelet settings of an EC2NodeClass that change what a node offers. */
export interface KubeletSpec {
  readonly maxPods?: number;
  readonly podsPerCore?: number;
  readonly kubeReserved?: QuantityList;
  readonly systemReserved?: QuantityList;
  /** Signals such as `memory.available` with a quantity or a percentage. */
  readonly evictionHard?: Readonly<Record<string, unknown>>;
}

/** One entry of `blockDeviceMappings`. */
export interface BlockDevice {
  readonly deviceName?: string;
  readonly rootVolume?: boolean;
  /** `ebs.volumeSize` as written; absent when the size comes from a snapshot. */
  readonly volumeSize?: unknown;
}

/** The part of an EC2NodeClass that decides what its nodes offer. */
export interface NodeClassSpec {
  readonly amiFamily?: AmiFamily;
  readonly kubelet?: KubeletSpec;
  readonly blockDeviceMappings?: readonly BlockDevice[];
  readonly instanceStorePolicy?: string;
  /** `spec.networkInterfaces`: given, it replaces the EFA count of the type. */
  readonly networkInterfaces?: readonly {
    readonly networkCardIndex?: number;
    readonly interfaceType?: string;
  }[];
}

/** Settings of the Karpenter controller that its figures depend on. */
export interface KarpenterSettings {
  /** `VM_MEMORY_OVERHEAD_PERCENT`, a fraction. Karpenter's default is 0.075. */
  readonly vmMemoryOverheadPercent?: number;
  /** `RESERVED_ENIS`. Karpenter's default is 0. */
  readonly reservedEnis?: number;
}

/** What a family of AMIs changes (`pkg/providers/amifamily` of Karpenter's provider for AWS, v1.14). */
interface AmiTraits {
  /** kube-reserved memory follows the pods that the network interfaces allow, whatever `maxPods` says. */
  readonly reservesForEniPods: boolean;
  readonly podsPerCore: boolean;
  /** False on Windows, where the default is 110 pods. */
  readonly eniLimitedPods: boolean;
  /** The device that holds what pods write; absent for AMIs that Karpenter knows nothing of. */
  readonly ephemeralDevice?: string;
  readonly defaultVolumeBytes: number;
}

const linux = {
  reservesForEniPods: true,
  podsPerCore: true,
  eniLimitedPods: true,
  defaultVolumeBytes: 20 * GiB,
} as const;

const windows: AmiTraits = {
  reservesForEniPods: false,
  podsPerCore: true,
  eniLimitedPods: false,
  ephemeralDevice: '/dev/sda1',
  defaultVolumeBytes: 50 * GiB,
};

const amiTraits: Readonly<Record<AmiFamily, AmiTraits>> = {
  AL2: { ...linux, ephemeralDevice: '/dev/xvda' },
  AL2023: { ...linux, ephemeralDevice: '/dev/xvda' },
  Ubuntu: { ...linux, ephemeralDevice: '/dev/sda1' },
  Custom: linux,
  Bottlerocket: {
    reservesForEniPods: false,
    podsPerCore: false,
    eniLimitedPods: true,
    ephemeralDevice: '/dev/xvdb',
    defaultVolumeBytes: 20 * GiB,
  },
  Windows2019: windows,
  Windows2022: windows,
  Windows2025: windows,
};

const amiFamilyByAlias: Readonly<Record<string, AmiFamily>> = {
  al2: 'AL2',
  al2023: 'AL2023',
  bottlerocket: 'Bottlerocket',
  ubuntu: 'Ubuntu',
  windows2019: 'Windows2019',
  windows2022: 'Windows2022',
  windows2025: 'Windows2025',
};

/** The AMI family of an `amiSelectorTerms` alias such as `al2023@latest`; `undefined` for one that is not known. */
export function amiFamilyOfAlias(alias: string): AmiFamily | undefined {
  return amiFamilyByAlias[alias.split('@', 1)[0]?.toLowerCase() ?? ''];
}

/** The AMI family of `spec.amiFamily`; `undefined` for text that names none. */
export function amiFamilyOf(text: string): AmiFamily | undefined {
  return Object.hasOwn(amiTraits, text) ? (text as AmiFamily) : undefined;
}

/** True for the AMI families whose nodes run Windows. */
export function isWindows(family: AmiFamily): boolean {
  return family.startsWith('Windows');
}

/**
 * Memory that Karpenter expects a node of the type to report, in bytes: EC2's figure less 64 MiB on arm64 (contiguous
 * memory of Graviton), less the overhead of the virtual machine rounded up to a MiB.
 */
export function memoryCapacity(memoryMiB: number, arch: 'amd64' | 'arm64' | '', overhead: number): number {
  const MiBs = arch === 'arm64' ? memoryMiB - 64 : memoryMiB;
  const bytes = MiBs * MiB;
  // The division happens in Karpenter's order, since rounding up makes the last bit count.
  return bytes - Math.ceil((bytes * overhead) / 1024 / 1024) * MiB;
}

/** Pods that the VPC CNI has addresses for, without prefix delegation. */
export function eniLimitedPods(type: InstanceType, unusableInterfaces: number): number {
  const usable = Math.max(type.interfaces.onDefaultCard - unusableInterfaces, 0);
  return usable === 0 ? 0 : usable * (type.interfaces.ipv4Each - 1) + 2;
}

/** CPU that the kubelet keeps back, in millicores: 6 % of the first core, 1 %, 0.5 % twice, 0.25 % of the rest. */
export function kubeReservedCpu(vcpu: number): number {
  const bands: readonly (readonly [number, number, number])[] = [
    [0, 1000, 0.06],
    [1000, 2000, 0.01],
    [2000, 4000, 0.005],
    [4000, Infinity, 0.0025],
  ];
  const millicores = vcpu * 1000;
  let reserved = 0;
  for (const [start, end, share] of bands) {
    if (millicores > start) reserved += Math.trunc((Math.min(millicores, end) - start) * share);
  }
  return reserved;
}

/** Memory that the kubelet keeps back for that many pods, in bytes. */
export function kubeReservedMemory(pods: number): number {
  return (11 * pods + 255) * MiB;
}

function ephemeralCapacity(type: InstanceType, traits: AmiTraits, nodeClass: NodeClassSpec): number {
  if (nodeClass.instanceStorePolicy === 'RAID0' && type.nvmeGB !== undefined) return type.nvmeGB * 1e9;
  const devices = nodeClass.blockDeviceMappings ?? [];
  const size = (device: BlockDevice | undefined): number | undefined =>
    device === undefined ? undefined : amount('ephemeral-storage', device.volumeSize);
  const root = size(devices.find((device) => device.rootVolume === true));
  if (root !== undefined) return root;
  const device =
    traits.ephemeralDevice === undefined
      ? devices.at(-1)
      : devices.find((candidate) => candidate.deviceName === traits.ephemeralDevice);
  return size(device) ?? traits.defaultVolumeBytes;
}

/** What a node of the type has, in the units of {@link ResourceList}, by Karpenter's reckoning. */
export function capacity(
  type: InstanceType,
  nodeClass: NodeClassSpec = {},
  settings: KarpenterSettings = {},
): ResourceList {
  const traits = amiTraits[nodeClass.amiFamily ?? 'AL2023'];
  const neuronDevices = type.accelerators?.manufacturer === 'aws' ? type.accelerators.devices : 0;
  const gpus = (manufacturer: string): number =>
    type.gpus?.manufacturer === manufacturer ? type.gpus.count : 0;
  const efaOnly = (nodeClass.networkInterfaces ?? []).filter((nic) => nic.interfaceType === 'efa-only');
  return {
    cpu: type.vcpu * 1000,
    memory: memoryCapacity(type.memoryMiB, type.arch, settings.vmMemoryOverheadPercent ?? 0.075),
    'ephemeral-storage': ephemeralCapacity(type, traits, nodeClass),
    pods: podCapacity(type, traits, nodeClass, settings),
    'nvidia.com/gpu': gpus('nvidia'),
    'amd.com/gpu': gpus('amd'),
    'habana.ai/gaudi': gpus('habana'),
    'aws.amazon.com/neuron': neuronDevices,
    'aws.amazon.com/neuroncore': neuronDevices * (type.accelerators?.coresPerDevice ?? 0),
    'vpc.amazonaws.com/efa': nodeClass.networkInterfaces === undefined ? type.efaInterfaces : efaOnly.length,
  };
}

function podCapacity(
  type: InstanceType,
  traits: AmiTraits,
  nodeClass: NodeClassSpec,
  settings: KarpenterSettings,
): number {
  const { maxPods, podsPerCore } = nodeClass.kubelet ?? {};
  const pods =
    maxPods ??
    (traits.eniLimitedPods
      ? eniLimitedPods(type, (settings.reservedEnis ?? 0) + efaOnDefaultCard(nodeClass))
      : 110);
  return podsPerCore !== undefined && podsPerCore > 0 && traits.podsPerCore
    ? Math.min(podsPerCore * type.vcpu, pods)
    : pods;
}

/** EFA-only interfaces on the default card take a network interface and give no addresses. */
function efaOnDefaultCard(nodeClass: NodeClassSpec): number {
  return (nodeClass.networkInterfaces ?? []).filter(
    (nic) => (nic.networkCardIndex ?? 0) === 0 && nic.interfaceType === 'efa-only',
  ).length;
}

/** An eviction threshold in bytes: a quantity, or a percentage of the capacity of which 100 % means none. */
function evictionThreshold(capacityBytes: number, signal: unknown): number | undefined {
  if (typeof signal === 'string' && signal.endsWith('%')) {
    const percent = Number(signal.slice(0, -1));
    if (Number.isNaN(percent)) return undefined;
    return percent === 100 ? 0 : Math.ceil((capacityBytes / 100) * percent);
  }
  const quantity =
    typeof signal === 'string' || typeof signal === 'number' ? parseQuantity(String(signal)) : undefined;
  return quantity === undefined ? undefined : Math.ceil(toNumber(quantity));
}

/**
 * What Karpenter keeps back of a node for the kubelet, the system and the eviction thresholds, in the units of
 * {@link ResourceList}.
 */
export function overhead(type: InstanceType, has: ResourceList, nodeClass: NodeClassSpec = {}): ResourceList {
  const traits = amiTraits[nodeClass.amiFamily ?? 'AL2023'];
  const { kubeReserved = {}, systemReserved = {}, evictionHard = {} } = nodeClass.kubelet ?? {};
  const reservedPods = traits.reservesForEniPods
    ? eniLimitedPods(type, efaOnDefaultCard(nodeClass))
    : (has['pods'] ?? 0);
  const kube: Readonly<Record<string, number>> = {
    cpu: kubeReservedCpu(type.vcpu),
    memory: kubeReservedMemory(reservedPods),
    'ephemeral-storage': GiB,
  };
  const memory = has['memory'] ?? 0;
  const storage = has['ephemeral-storage'] ?? 0;
  const eviction: Readonly<Record<string, number>> = {
    cpu: 0,
    memory: evictionThreshold(memory, evictionHard['memory.available']) ?? 100 * MiB,
    'ephemeral-storage':
      evictionThreshold(storage, evictionHard['nodefs.available']) ?? Math.ceil((storage / 100) * 10),
  };
  const result: Record<string, number> = {};
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const kubelet = amount(name, kubeReserved[name]) ?? kube[name] ?? 0;
    const system = amount(name, systemReserved[name]) ?? 0;
    result[name] = kubelet + system + (eviction[name] ?? 0);
  }
  return result;
}

/** What pods can ask of a node of the type, in the units of {@link ResourceList}, by Karpenter's reckoning. */
export function allocatable(
  type: InstanceType,
  nodeClass: NodeClassSpec = {},
  settings: KarpenterSettings = {},
): ResourceList {
  const has = capacity(type, nodeClass, settings);
  const result: Record<string, number> = { ...has };
  for (const [name, taken] of Object.entries(overhead(type, has, nodeClass))) {
    result[name] = (result[name] ?? 0) - taken;
  }
  return result;
}
