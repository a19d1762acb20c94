import { catalogueText, priceBasis, priceDate } from './catalogue-data';

/** The GPUs of an instance type, as EC2 and the node labels report them. */
export interface Gpus {
  /** Value of the `instance-gpu-name` label: `a10g`, `l40s`, `h100`, ... */
  readonly name: string;
  readonly manufacturer: 'nvidia' | 'amd' | 'habana';
  /** Whole GPUs. 0 on g6f and gr6f, whose nodes offer a slice of a GPU and no `nvidia.com/gpu`. */
  readonly count: number;
  /** MiB of one GPU as EC2 says, the `instance-gpu-memory` label. What a driver shows is a little less. */
  readonly memoryMiBEach: number;
}

/** Neuron devices and other accelerators that are not GPUs. */
export interface Accelerators {
  /** Value of the `instance-accelerator-name` label: `inferentia2`, `trainium`, ... */
  readonly name: string;
  readonly manufacturer: 'aws' | 'qualcomm';
  readonly devices: number;
  /** NeuronCores of one device; absent when the device has none. */
  readonly coresPerDevice?: number;
  readonly memoryMiBPerDevice?: number;
}

/** What decides how many pods the VPC CNI can give addresses to. */
export interface NetworkInterfaces {
  /** All network interfaces of the type; absent where EC2's limits do not list the type any more. */
  readonly total?: number;
  /** IPv4 addresses of one network interface. */
  readonly ipv4Each: number;
  readonly networkCards?: number;
  /** Network interfaces of the default network card, the only ones that serve pods. */
  readonly onDefaultCard: number;
}

/** The figures of one EC2 instance type. */
export interface InstanceType {
  readonly name: string;
  /** `g5` of `g5.xlarge`. */
  readonly family: string;
  /** `xlarge` of `g5.xlarge`. */
  readonly size: string;
  /** `g` of `g5`, `p` of `p6-b200`. */
  readonly category: string;
  readonly generation: number;
  readonly arch: 'amd64' | 'arm64';
  /** `''` for metal, as EC2 and the node label have it. */
  readonly hypervisor: 'nitro' | 'xen' | '';
  readonly cpuManufacturer?: 'intel' | 'amd' | 'aws';
  readonly vcpu: number;
  /** MiB as EC2 says, before what the virtual machine takes: the `instance-memory` label. */
  readonly memoryMiB: number;
  readonly gpus?: Gpus;
  readonly accelerators?: Accelerators;
  /** Local NVMe in decimal GB, summed over the disks; absent when there is none. */
  readonly nvmeGB?: number;
  /** Baseline Mbit/s. */
  readonly networkMbps?: number;
  /** Maximum Mbit/s to EBS. */
  readonly ebsMbps?: number;
  /** Elastic Fabric Adapters at most. */
  readonly efaInterfaces: number;
  readonly interfaces: NetworkInterfaces;
  /** USD per hour on demand ({@link priceSource}); absent when that list has no price. */
  readonly onDemandPrice?: number;
  /** MiB that a running node was seen to lack of `memoryMiB` (2023); absent when it was not measured. */
  readonly measuredOverheadMiB?: number;
}

/** How EC2 names its types: category, an optional memory class of `u` types, generation. */
const typeName = /^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*$/;

/** Category and generation of a family, as Karpenter reads them from its name; `undefined` for another form. */
export function familyParts(
  family: string,
): { readonly category: string; readonly generation: number } | undefined {
  const match = typeName.exec(family);
  if (match === null) return undefined;
  return { category: match[1] ?? '', generation: Number(match[2]) };
}

const hypervisors = { n: 'nitro', x: 'xen', m: '' } as const;

interface Family {
  readonly name: string;
  readonly arch: InstanceType['arch'];
  readonly maker: string;
  readonly device: readonly string[];
}

function known(field: string | undefined): number | undefined {
  return field === undefined || field === '-' ? undefined : Number(field);
}

function devicesOf(family: Family, field: string): Partial<Pick<InstanceType, 'gpus' | 'accelerators'>> {
  const [kind, name = '', manufacturer = '', cores, memory] = family.device;
  if (kind === 'gpu') {
    const [count, memoryMiBEach] = field.split('x').map(Number);
    return {
      gpus: {
        name,
        manufacturer: manufacturer as Gpus['manufacturer'],
        count: count ?? 0,
        memoryMiBEach: memoryMiBEach ?? 0,
      },
    };
  }
  if (kind === 'accelerator') {
    const coresPerDevice = known(cores);
    const memoryMiBPerDevice = known(memory);
    return {
      accelerators: {
        name,
        manufacturer: manufacturer as Accelerators['manufacturer'],
        devices: Number(field),
        ...(coresPerDevice !== undefined && { coresPerDevice }),
        ...(memoryMiBPerDevice !== undefined && { memoryMiBPerDevice }),
      },
    };
  }
  return {};
}

function decodeSize(family: Family, line: string): InstanceType {
  const [
    size = '',
    vcpu,
    memory,
    hypervisor,
    devices = '-',
    nvme,
    network,
    ebs,
    efa,
    eni = '',
    price,
    overhead,
  ] = line.trim().split(' ');
  const [total, ipv4, cards, onDefaultCard] = eni.split('/').map(known);
  const parts = familyParts(family.name);
  const nvmeGB = known(nvme);
  const networkMbps = known(network);
  const ebsMbps = known(ebs);
  const onDemandPrice = known(price);
  const measuredOverheadMiB = known(overhead);
  return {
    name: `${family.name}.${size}`,
    family: family.name,
    size,
    category: parts?.category ?? '',
    generation: parts?.generation ?? 0,
    arch: family.arch,
    hypervisor: hypervisors[hypervisor as keyof typeof hypervisors],
    ...(family.maker !== '-' && { cpuManufacturer: family.maker as 'intel' | 'amd' | 'aws' }),
    vcpu: Number(vcpu),
    memoryMiB: Number(memory),
    ...devicesOf(family, devices),
    ...(nvmeGB !== undefined && { nvmeGB }),
    ...(networkMbps !== undefined && { networkMbps }),
    ...(ebsMbps !== undefined && { ebsMbps }),
    efaInterfaces: Number(efa),
    interfaces: {
      ...(total !== undefined && { total }),
      ipv4Each: ipv4 ?? 0,
      ...(cards !== undefined && { networkCards: cards }),
      onDefaultCard: onDefaultCard ?? 0,
    },
    ...(onDemandPrice !== undefined && { onDemandPrice }),
    ...(measuredOverheadMiB !== undefined && { measuredOverheadMiB }),
  };
}

/** Reads a text of the form that `catalogue-data.ts` explains. */
function decode(text: string): readonly InstanceType[] {
  const types: InstanceType[] = [];
  let family: Family = { name: '', arch: 'amd64', maker: '-', device: [] };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith(' ')) {
      types.push(decodeSize(family, line));
    } else {
      const [name = '', arch, maker = '-', device = '-'] = line.split(' ');
      family = { name, arch: arch === 'arm64' ? 'arm64' : 'amd64', maker, device: device.split(',') };
    }
  }
  return types;
}

/** Where prices come from, for people to read. */
export interface PriceSource {
  /** `us-east-1 on-demand Linux, USD per hour`. */
  readonly basis: string;
  /** `2026-07-20`. */
  readonly date: string;
}

/** A text of the form that `catalogue-data.ts` explains, with the source of its prices. */
export interface CatalogueSource {
  readonly text: string;
  readonly prices: PriceSource;
}

let source: CatalogueSource = { text: catalogueText, prices: { basis: priceBasis, date: priceDate } };
let decoded: readonly InstanceType[] | undefined;
let byName: ReadonlyMap<string, InstanceType> | undefined;

/** Every instance type of the catalogue, decoded on the first call. */
export function instanceTypes(): readonly InstanceType[] {
  return (decoded ??= decode(source.text));
}

/**
 * Takes another catalogue for the whole process: the one that the user has refreshed. Programs do so as they start;
 * answers that were given from one catalogue are kept, so that it cannot be changed once something has looked at it.
 *
 * @returns false when it is too late.
 */
export function useCatalogue(refreshed: CatalogueSource): boolean {
  if (decoded !== undefined) return source === refreshed || source.text === refreshed.text;
  source = refreshed;
  return true;
}

/** Of the prices of {@link instanceTypes}. */
export function priceSource(): PriceSource {
  return source.prices;
}

/** `us-east-1 on-demand Linux, USD per hour, 2026-07-20`. */
export function priceNote(): string {
  return `${source.prices.basis}, ${source.prices.date}`;
}

/** The type of that name; `undefined` when the catalogue does not have it, which does not mean that EC2 does not. */
export function findInstanceType(name: string): InstanceType | undefined {
  byName ??= new Map(instanceTypes().map((type) => [type.name, type]));
  return byName.get(name);
}

/** GPUs that a pod can ask for as `nvidia.com/gpu`. */
export function nvidiaGpus(type: InstanceType): number {
  return type.gpus?.manufacturer === 'nvidia' ? type.gpus.count : 0;
}
