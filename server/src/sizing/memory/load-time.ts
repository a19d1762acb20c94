import type { Estimate, Range } from '../models/range';
import { add, estimateOf, MiB, range } from '../models/range';
import type { Engine } from './engines';

/** Where weights come from when a pod starts. */
export type WeightSource = 'hub' | 's3' | 's3-csi' | 'ebs' | 'efs' | 'fsx' | 'nvme' | 'image' | 'page-cache';

interface SourceRate {
  readonly label: string;
  /** Bytes a second. */
  readonly rate: Range;
  readonly origin: string;
}

const rate = (low: number, expected: number, high: number): Range =>
  range(low * MiB, expected * MiB, high * MiB);

/** Rates of reading, in MiB a second, with where they come from. */
const sourceRates: Readonly<Record<WeightSource, SourceRate>> = {
  hub: { label: 'the Hugging Face hub', rate: rate(40, 150, 450), origin: 'public logs: 0.1 to 0.4 GB/s' },
  s3: {
    label: 'S3',
    rate: rate(200, 700, 3000),
    origin: 'parallel range reads up to the network of the instance',
  },
  's3-csi': {
    label: 'S3 through the CSI driver',
    rate: rate(150, 500, 1500),
    origin: 'Mountpoint for Amazon S3',
  },
  ebs: {
    label: 'an EBS volume',
    rate: rate(125, 250, 1000),
    origin: 'gp3: 125 MiB/s unless more is provisioned, at most 1000',
  },
  efs: {
    label: 'EFS',
    rate: rate(100, 300, 1500),
    origin: 'EFS: up to 1500 MiB/s for one client with elastic throughput',
  },
  fsx: {
    label: 'FSx for Lustre',
    rate: rate(250, 1000, 5000),
    origin: '125 to 1000 MB/s for each TiB of storage',
  },
  nvme: { label: 'instance storage', rate: rate(800, 2000, 6000), origin: 'local NVMe of G and P instances' },
  image: { label: 'the container image', rate: rate(50, 150, 400), origin: 'image pull and unpacking' },
  'page-cache': { label: 'page cache', rate: rate(2000, 5000, 12000), origin: 'host memory to GPU' },
};

/** Seconds from the start of the process to the first answer beside reading: imports, compilation, CUDA graphs. */
const engineStartSeconds: Readonly<Partial<Record<Engine['kind'], readonly [number, number, number]>>> = {
  vllm: [25, 75, 240],
  nim: [40, 120, 300],
  sglang: [25, 60, 180],
  tgi: [20, 45, 120],
  'tensorrt-llm': [15, 40, 120],
  triton: [10, 30, 120],
  neuron: [60, 300, 1800],
  tei: [3, 10, 30],
  ollama: [2, 8, 30],
  'llama.cpp': [2, 8, 30],
};

export interface LoadTime {
  /** Seconds. */
  readonly read: Estimate;
  readonly start: Estimate;
  readonly total: Estimate;
}

/** How long a pod takes to serve after its container has started. Seconds. */
export function loadTime(weightBytes: Range, source: WeightSource, engine: Engine): LoadTime {
  const { label, rate: bytesPerSecond, origin } = sourceRates[source];
  const read = range(
    weightBytes.low / bytesPerSecond.high,
    weightBytes.expected / bytesPerSecond.expected,
    weightBytes.high / bytesPerSecond.low,
  );
  const [low, expected, high] = engineStartSeconds[engine.kind] ?? [10, 40, 180];
  const start = range(low, expected, high);
  const perSecond = Math.round(bytesPerSecond.expected / MiB);
  return {
    read: estimateOf(read, [`reading from ${label} at about ${perSecond} MiB/s (${origin})`]),
    start: estimateOf(start, [`start of ${engine.kind}: imports, compilation, CUDA graphs`]),
    total: estimateOf(add(read, start), [
      `about ${Math.round(read.expected)} s to read from ${label} and ${expected} s to start`,
    ]),
  };
}
