import type { Range } from './models/range';
import { exactly, GiB, MiB, range } from './models/range';

/** How the GPUs of one machine reach each other, which decides how much NCCL keeps. */
export type Interconnect = 'nvlink' | 'pcie' | 'xgmi' | 'neuronlink' | 'none';

export interface MigProfile {
  /** Resource suffix, `1g.10gb` in `nvidia.com/mig-1g.10gb`. */
  readonly name: string;
  readonly memoryMiB: number;
  /** How many of them one GPU holds. */
  readonly count: number;
}

export interface Gpu {
  /** Value of `karpenter.k8s.aws/instance-gpu-name` where EC2 has it, else a name of the same form. */
  readonly id: string;
  readonly label: string;
  readonly aliases: readonly string[];
  readonly vendor: 'nvidia' | 'amd' | 'habana';
  readonly onEc2: boolean;
  /** Memory that EC2 or the vendor states for one GPU. */
  readonly labelMiB: number;
  /** Total that the driver gives to torch, in GiB; several values were seen in public logs. */
  readonly visibleGiB: Range;
  /** True when no log was found and the visible memory is the label's with the usual loss. */
  readonly visibleIsInferred: boolean;
  /** CUDA compute capability; absent for other vendors. */
  readonly computeCapability?: number;
  readonly interconnect: Interconnect;
  readonly mig: readonly MigProfile[];
  readonly source: string;
}

/** Where the kernels for a precision come from. */
export type PrecisionSupport = 'native' | 'emulated' | 'none';

const logs = 'totals printed by vLLM and torch in public logs';
const ec2 = 'EC2 DescribeInstanceTypes (karpenter-provider-aws@1d92708)';
const vendorSheet = 'vendor data sheet';

function mig(...profiles: readonly (readonly [string, number, number])[]): readonly MigProfile[] {
  return profiles.map(([name, gigabytes, count]) => ({ name, memoryMiB: gigabytes * 1024, count }));
}

/** NVIDIA MIG user guide: profiles of each card, `name`, memory in GiB as named, instances for each GPU. */
const mig40 = mig(
  ['1g.5gb', 5, 7],
  ['1g.10gb', 10, 4],
  ['2g.10gb', 10, 3],
  ['3g.20gb', 20, 2],
  ['4g.20gb', 20, 1],
  ['7g.40gb', 40, 1],
);
const mig80 = mig(
  ['1g.10gb', 10, 7],
  ['1g.20gb', 20, 4],
  ['2g.20gb', 20, 3],
  ['3g.40gb', 40, 2],
  ['4g.40gb', 40, 1],
  ['7g.80gb', 80, 1],
);
const mig141 = mig(
  ['1g.18gb', 18, 7],
  ['1g.35gb', 35, 4],
  ['2g.35gb', 35, 3],
  ['3g.71gb', 71, 2],
  ['4g.71gb', 71, 1],
  ['7g.141gb', 141, 1],
);
const mig180 = mig(
  ['1g.23gb', 23, 7],
  ['1g.45gb', 45, 4],
  ['2g.45gb', 45, 3],
  ['3g.90gb', 90, 2],
  ['4g.90gb', 90, 1],
  ['7g.180gb', 180, 1],
);
const migRtxPro = mig(['1g.24gb', 24, 4], ['2g.48gb', 48, 2], ['4g.96gb', 96, 1]);

interface GpuRow {
  readonly label: string;
  readonly also?: readonly string[];
  readonly vendor?: Gpu['vendor'];
  readonly ec2?: boolean;
  readonly labelMiB: number;
  /** Lowest, usual and highest total seen, in GiB. */
  readonly seen?: readonly [number, number, number];
  readonly cc?: number;
  readonly link?: Interconnect;
  readonly mig?: readonly MigProfile[];
  readonly source?: string;
}

/** Cards without a log lose what their relatives lose: 0.7 to 1.5 % of the label, 9 % on Turing with ECC. */
const usualLoss = { low: 0.982, expected: 0.989, high: 0.994 };

function gpu(id: string, row: GpuRow): Gpu {
  const labelGiB = row.labelMiB / 1024;
  const visibleGiB =
    row.seen === undefined
      ? range(labelGiB * usualLoss.low, labelGiB * usualLoss.expected, labelGiB * usualLoss.high)
      : range(row.seen[0], row.seen[1], row.seen[2]);
  return {
    id,
    label: row.label,
    aliases: row.also ?? [],
    vendor: row.vendor ?? 'nvidia',
    onEc2: row.ec2 ?? false,
    labelMiB: row.labelMiB,
    visibleGiB,
    visibleIsInferred: row.seen === undefined,
    ...(row.cc === undefined ? {} : { computeCapability: row.cc }),
    interconnect: row.link ?? 'pcie',
    mig: row.mig ?? [],
    source: row.source ?? (row.seen === undefined ? (row.ec2 === true ? ec2 : vendorSheet) : logs),
  };
}

/** Every GPU that the estimator knows by name. Compute capabilities: NVIDIA's CUDA GPUs page. */
export const gpus: readonly Gpu[] = [
  gpu('k80', { label: 'NVIDIA K80', ec2: true, labelMiB: 12288, seen: [11.17, 11.17, 11.92], cc: 3.7 }),
  gpu('v100', {
    label: 'NVIDIA V100 16 GB',
    also: ['v100-16gb'],
    ec2: true,
    labelMiB: 16384,
    seen: [15.77, 15.77, 15.78],
    cc: 7.0,
    link: 'nvlink',
  }),
  gpu('v100-32gb', {
    label: 'NVIDIA V100 32 GB',
    ec2: true,
    labelMiB: 32768,
    seen: [31.73, 31.74, 31.75],
    cc: 7.0,
    link: 'nvlink',
  }),
  gpu('t4', {
    label: 'NVIDIA T4',
    also: ['tesla-t4'],
    ec2: true,
    labelMiB: 16384,
    seen: [14.56, 14.65, 14.75],
    cc: 7.5,
  }),
  gpu('t4g', { label: 'NVIDIA T4G', ec2: true, labelMiB: 16384, seen: [14.56, 14.65, 14.75], cc: 7.5 }),
  gpu('a10g', { label: 'NVIDIA A10G', ec2: true, labelMiB: 22888, seen: [21.96, 22.07, 22.19], cc: 8.6 }),
  gpu('a10', { label: 'NVIDIA A10', labelMiB: 23028, seen: [21.96, 22.07, 22.19], cc: 8.6 }),
  gpu('l4', { label: 'NVIDIA L4', ec2: true, labelMiB: 22888, seen: [21.96, 22.05, 22.17], cc: 8.9 }),
  gpu('l40s', { label: 'NVIDIA L40S', ec2: true, labelMiB: 45776, seen: [44.31, 44.39, 44.53], cc: 8.9 }),
  gpu('l40', { label: 'NVIDIA L40', labelMiB: 46068, seen: [44.31, 44.39, 44.53], cc: 8.9 }),
  gpu('a40', { label: 'NVIDIA A40', labelMiB: 46068, seen: [44.34, 44.45, 44.56], cc: 8.6 }),
  gpu('a30', {
    label: 'NVIDIA A30',
    labelMiB: 24576,
    seen: [23.49, 23.6, 23.69],
    cc: 8.0,
    mig: mig(['1g.6gb', 6, 4], ['2g.12gb', 12, 2], ['4g.24gb', 24, 1]),
  }),
  gpu('a100', {
    label: 'NVIDIA A100 40 GB',
    also: ['a100-40gb', 'a100-sxm4-40gb', 'a100-pcie-40gb'],
    ec2: true,
    labelMiB: 40960,
    seen: [39.38, 39.5, 39.57],
    cc: 8.0,
    link: 'nvlink',
    mig: mig40,
  }),
  gpu('a100-80gb', {
    label: 'NVIDIA A100 80 GB',
    also: ['a800', 'a100-sxm4-80gb', 'a100-pcie-80gb'],
    ec2: true,
    labelMiB: 81920,
    seen: [79.14, 79.25, 79.33],
    cc: 8.0,
    link: 'nvlink',
    mig: mig80,
  }),
  gpu('h100', {
    label: 'NVIDIA H100 80 GB',
    also: ['h800', 'h100-80gb', 'h100-sxm'],
    ec2: true,
    labelMiB: 81920,
    seen: [79.1, 79.15, 79.22],
    cc: 9.0,
    link: 'nvlink',
    mig: mig80,
  }),
  gpu('h100-nvl', {
    label: 'NVIDIA H100 NVL 94 GB',
    labelMiB: 95830,
    seen: [93.0, 93.1, 93.6],
    cc: 9.0,
    link: 'nvlink',
    source: vendorSheet,
  }),
  gpu('h20', {
    label: 'NVIDIA H20 96 GB',
    labelMiB: 97871,
    seen: [95.0, 95.1, 95.6],
    cc: 9.0,
    link: 'nvlink',
    source: vendorSheet,
  }),
  gpu('gh200', {
    label: 'NVIDIA GH200 96 GB',
    labelMiB: 97871,
    seen: [94.5, 95.0, 95.6],
    cc: 9.0,
    source: vendorSheet,
  }),
  gpu('h200', {
    label: 'NVIDIA H200',
    ec2: true,
    labelMiB: 144384,
    seen: [139.7, 139.81, 140.4],
    cc: 9.0,
    link: 'nvlink',
    mig: mig141,
  }),
  gpu('b200', { label: 'NVIDIA B200', ec2: true, labelMiB: 183359, cc: 10.0, link: 'nvlink', mig: mig180 }),
  gpu('b300', { label: 'NVIDIA B300', ec2: true, labelMiB: 275040, cc: 10.3, link: 'nvlink' }),
  gpu('rtx-pro-server-6000', {
    label: 'NVIDIA RTX PRO 6000 Blackwell',
    also: ['rtx-pro-6000', 'rtx-6000-pro', 'rtx-pro-6000-blackwell'],
    ec2: true,
    labelMiB: 97887,
    seen: [94.5, 94.97, 95.2],
    cc: 12.0,
    mig: migRtxPro,
  }),
  gpu('rtx-pro-4500', { label: 'NVIDIA RTX PRO 4500 Blackwell', ec2: true, labelMiB: 32768, cc: 12.0 }),
  gpu('rtx-6000-ada', { label: 'NVIDIA RTX 6000 Ada', labelMiB: 49140, seen: [47.3, 47.4, 47.53], cc: 8.9 }),
  gpu('rtx-a6000', {
    label: 'NVIDIA RTX A6000',
    also: ['a6000'],
    labelMiB: 49140,
    seen: [47.3, 47.43, 47.54],
    cc: 8.6,
  }),
  gpu('rtx-a5000', {
    label: 'NVIDIA RTX A5000',
    also: ['a5000'],
    labelMiB: 24564,
    seen: [23.5, 23.57, 23.68],
    cc: 8.6,
  }),
  gpu('rtx-a4000', {
    label: 'NVIDIA RTX A4000',
    also: ['a4000'],
    labelMiB: 16376,
    seen: [15.6, 15.72, 15.74],
    cc: 8.6,
  }),
  gpu('rtx-3090', {
    label: 'NVIDIA GeForce RTX 3090',
    also: ['3090'],
    labelMiB: 24576,
    seen: [23.55, 23.58, 23.69],
    cc: 8.6,
  }),
  gpu('rtx-4090', {
    label: 'NVIDIA GeForce RTX 4090',
    also: ['4090'],
    labelMiB: 24564,
    seen: [23.5, 23.6, 23.65],
    cc: 8.9,
  }),
  gpu('rtx-4090-48gb', {
    label: 'NVIDIA GeForce RTX 4090 48 GB',
    labelMiB: 49140,
    seen: [47.3, 47.4, 47.5],
    cc: 8.9,
  }),
  gpu('rtx-4080', { label: 'NVIDIA GeForce RTX 4080', labelMiB: 16376, seen: [15.57, 15.7, 15.73], cc: 8.9 }),
  gpu('rtx-3080', { label: 'NVIDIA GeForce RTX 3080', labelMiB: 10240, seen: [9.63, 9.77, 9.78], cc: 8.6 }),
  gpu('rtx-3060', { label: 'NVIDIA GeForce RTX 3060', labelMiB: 12288, seen: [11.6, 11.75, 11.77], cc: 8.6 }),
  gpu('rtx-5090', {
    label: 'NVIDIA GeForce RTX 5090',
    also: ['5090'],
    labelMiB: 32607,
    seen: [31.3, 31.36, 31.48],
    cc: 12.0,
  }),
  gpu('rtx-5080', {
    label: 'NVIDIA GeForce RTX 5080',
    labelMiB: 16303,
    seen: [15.4, 15.46, 15.58],
    cc: 12.0,
  }),
  gpu('rtx-5070-ti', {
    label: 'NVIDIA GeForce RTX 5070 Ti',
    labelMiB: 16303,
    seen: [15.4, 15.46, 15.58],
    cc: 12.0,
  }),
  gpu('rtx-2080-ti', {
    label: 'NVIDIA GeForce RTX 2080 Ti',
    also: ['2080ti', '2080-ti'],
    labelMiB: 11264,
    seen: [10.57, 10.75, 10.76],
    cc: 7.5,
  }),
  gpu('rtx-2080-ti-22gb', {
    label: 'NVIDIA GeForce RTX 2080 Ti 22 GB',
    labelMiB: 22528,
    seen: [21.48, 21.66, 21.7],
    cc: 7.5,
  }),
  gpu('gb10', {
    label: 'NVIDIA GB10 (DGX Spark)',
    labelMiB: 131072,
    seen: [119.6, 119.7, 121.7],
    cc: 12.1,
    link: 'none',
  }),
  gpu('radeon-pro-v520', { label: 'AMD Radeon Pro V520', vendor: 'amd', ec2: true, labelMiB: 8192 }),
  gpu('mi210', {
    label: 'AMD Instinct MI210',
    vendor: 'amd',
    labelMiB: 65536,
    seen: [63.9, 63.98, 64],
    link: 'xgmi',
  }),
  gpu('mi250x', {
    label: 'AMD Instinct MI250X (one die)',
    vendor: 'amd',
    labelMiB: 65536,
    seen: [63.9, 63.98, 64],
    link: 'xgmi',
  }),
  gpu('mi300x', {
    label: 'AMD Instinct MI300X',
    vendor: 'amd',
    labelMiB: 196608,
    seen: [191.4, 191.69, 192],
    link: 'xgmi',
  }),
  gpu('mi325x', {
    label: 'AMD Instinct MI325X',
    vendor: 'amd',
    labelMiB: 262144,
    seen: [255.7, 255.98, 256],
    link: 'xgmi',
  }),
  gpu('mi355x', {
    label: 'AMD Instinct MI355X',
    vendor: 'amd',
    labelMiB: 294912,
    seen: [287.6, 287.98, 288],
    link: 'xgmi',
  }),
  gpu('gaudi-hl-205', { label: 'Habana Gaudi', vendor: 'habana', ec2: true, labelMiB: 32768 }),
];

/** Memory of an AWS Inferentia or Trainium chip, which its NeuronCores share. */
export interface NeuronDevice {
  readonly id: string;
  readonly label: string;
  readonly cores: number;
  readonly memoryMiB: number;
  /** FP8 weights: Trainium and Inferentia2 compute them natively, Inferentia1 does not. */
  readonly fp8: boolean;
  readonly source: string;
}

export const neuronDevices: readonly NeuronDevice[] = [
  {
    id: 'inferentia',
    label: 'AWS Inferentia',
    cores: 4,
    memoryMiB: 8192,
    fp8: false,
    source: 'AWS specification: 8 GiB for each chip',
  },
  { id: 'inferentia2', label: 'AWS Inferentia2', cores: 2, memoryMiB: 32768, fp8: true, source: ec2 },
  { id: 'trainium', label: 'AWS Trainium', cores: 2, memoryMiB: 32768, fp8: true, source: ec2 },
  {
    id: 'trainium2',
    label: 'AWS Trainium2',
    cores: 8,
    memoryMiB: 98304,
    fp8: true,
    source: 'AWS specification: 96 GiB for each chip',
  },
];

const normalise = (text: string): string =>
  text
    .toLowerCase()
    .replace(/nvidia|geforce|tesla|amd|instinct|accelerator|gpu/g, ' ')
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-+|-+$/g, '');

const byName: ReadonlyMap<string, Gpu> = new Map(
  gpus.flatMap((item) => [item.id, ...item.aliases].map((name) => [normalise(name), item] as const)),
);

/** A GPU by the value of a Karpenter label or a common name, `a10g`, `H100 80GB`, `NVIDIA L40S`. */
export function findGpu(name: string): Gpu | undefined {
  return byName.get(normalise(name)) ?? byName.get(`${normalise(name)}gb`);
}

/** The GPU that a free text names, `RTX 2080Ti 22GB x4`, `H20 96GB x8, DP8`; the longest known name wins. */
export function gpuInText(text: string): Gpu | undefined {
  const flat = `-${normalise(text)}-`;
  const gigabytes = /(\d{2,3})\s?(?:gb|gib|g)\b/i.exec(text)?.[1];
  let best: { name: string; item: Gpu } | undefined;
  for (const [name, item] of byName) {
    if (
      name.length > (best?.name.length ?? 0) &&
      new RegExp(`[^a-z0-9]${escape(name)}(?=[^a-z0-9])`).test(flat)
    ) {
      best = { name, item };
    }
  }
  if (best === undefined) return undefined;
  if (gigabytes === undefined) return best.item;
  // `A100 80GB`, `V100 32GB`, `2080 Ti 22GB`: the same name with more memory.
  return byName.get(`${best.item.id}-${gigabytes}gb`) ?? best.item;
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Bytes that the driver shows for one GPU. */
export function visibleMemory(item: Gpu): Range {
  const { low, expected, high } = item.visibleGiB;
  return { low: low * GiB, expected: expected * GiB, high: high * GiB };
}

/** Bytes of one MIG instance; the driver keeps a little for itself. */
export function migMemory(profile: MigProfile): Range {
  const bytes = profile.memoryMiB * MiB;
  return range(bytes * 0.93, bytes * 0.97, bytes);
}

/** The MIG profile of a resource name `nvidia.com/mig-1g.10gb`, with the GPUs that have it. */
export function migProfile(resource: string): { profile: MigProfile; gpus: readonly Gpu[] } | undefined {
  const name = resource.replace(/^nvidia\.com\/mig-/, '');
  const having = gpus.filter((item) => item.mig.some((profile) => profile.name === name));
  const profile = having[0]?.mig.find((item) => item.name === name);
  return profile === undefined ? undefined : { profile, gpus: having };
}

export function findNeuronDevice(name: string): NeuronDevice | undefined {
  const flat = normalise(name).replace(/^(inf2|trn1|trn1n|trn2|inf1)$/, (family) =>
    family === 'inf1'
      ? 'inferentia'
      : family === 'inf2'
        ? 'inferentia2'
        : family === 'trn2'
          ? 'trainium2'
          : 'trainium',
  );
  return neuronDevices.find((device) => device.id === flat);
}

/** Memory that one NeuronCore can use: the chip's divided by its cores. */
export function neuronCoreMemory(device: NeuronDevice): Range {
  return exactly((device.memoryMiB * MiB) / device.cores);
}

/**
 * Whether a GPU computes a precision itself. `emulated`: an engine has kernels that convert on the fly
 * (Marlin for FP8 and FP4 weights on Ampere and later), so that it loads but gains no speed. Undefined for
 * other vendors than NVIDIA.
 *
 * Sources: vLLM supported-hardware tables; bfloat16 from compute capability 8.0, FP8 from 8.9, FP4 from 10.0.
 */
export function precisionSupport(
  item: Gpu,
  precision: 'bf16' | 'fp8' | 'int8' | 'awq' | 'gptq' | 'nvfp4' | 'mxfp4',
): PrecisionSupport | undefined {
  const capability = item.computeCapability;
  if (capability === undefined) return undefined;
  switch (precision) {
    case 'bf16':
      return capability >= 8 ? 'native' : 'none';
    case 'fp8':
      return capability >= 8.9 ? 'native' : capability >= 7.5 ? 'emulated' : 'none';
    case 'int8':
      return capability >= 7.5 ? 'native' : 'none';
    case 'awq':
      return capability >= 7.5 ? 'native' : 'none';
    case 'gptq':
      return capability >= 6 ? 'native' : 'none';
    case 'nvfp4':
    case 'mxfp4':
      return capability >= 10 ? 'native' : capability >= 8 ? 'emulated' : 'none';
  }
}
