import { absent } from '../reading';
import type { Observed, SourceId } from '../reading';
import type { DeviceKind, Measurement, PodName, Subject } from '../measurement';
import type { Sample, Scrape } from '../scrape';
import { unitOf } from '../vocabulary';
import type { MetricId } from '../vocabulary';
import { familiesOf, increases, samplesOf } from './families';
import type { Families } from './families';

const mebibyte = 1048576;

/** Bits of DCGM_FI_DEV_CLOCKS_EVENT_REASONS (nvml.h, nvmlClocksEventReasons): what lowers the clock now. */
const thermalReasons = 0x20 | 0x40;
const powerReasons = 0x4 | 0x80;

/** How a metric of a device exporter becomes one of the vocabulary. Names are tried in order. */
interface DeviceMetric {
  readonly metric: MetricId;
  readonly names: readonly string[];
  readonly convert: (value: number) => number;
}

const percent = (value: number): number => value / 100;
const same = (value: number): number => value;

/** dcgm-exporter, etc/default-counters.csv and etc/dcp-metrics-included.csv: units as there. */
export const dcgmMetrics: readonly DeviceMetric[] = [
  { metric: 'gpu.utilization', names: ['DCGM_FI_DEV_GPU_UTIL'], convert: percent },
  { metric: 'gpu.utilization', names: ['DCGM_FI_PROF_GR_ENGINE_ACTIVE'], convert: same },
  { metric: 'gpu.tensor-activity', names: ['DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'], convert: same },
  { metric: 'gpu.memory.used', names: ['DCGM_FI_DEV_FB_USED'], convert: (value) => value * mebibyte },
  { metric: 'gpu.temperature', names: ['DCGM_FI_DEV_GPU_TEMP'], convert: same },
  { metric: 'gpu.memory.temperature', names: ['DCGM_FI_DEV_MEMORY_TEMP'], convert: same },
  { metric: 'gpu.power', names: ['DCGM_FI_DEV_POWER_USAGE'], convert: same },
  {
    metric: 'gpu.power.limit',
    names: ['DCGM_FI_DEV_POWER_MGMT_LIMIT', 'DCGM_FI_DEV_ENFORCED_POWER_LIMIT'],
    convert: same,
  },
  { metric: 'gpu.clock.sm', names: ['DCGM_FI_DEV_SM_CLOCK'], convert: (value) => value * 1e6 },
  {
    metric: 'gpu.throttle.thermal',
    names: ['DCGM_FI_DEV_CLOCKS_EVENT_REASONS', 'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS'],
    convert: (value) => ((value & thermalReasons) === 0 ? 0 : 1),
  },
  {
    metric: 'gpu.throttle.power',
    names: ['DCGM_FI_DEV_CLOCKS_EVENT_REASONS', 'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS'],
    convert: (value) => ((value & powerReasons) === 0 ? 0 : 1),
  },
  { metric: 'gpu.xid', names: ['DCGM_FI_DEV_XID_ERRORS'], convert: same },
];

/** Triton's own GPU metrics, where no exporter runs: utilisation is 0 to 1 there. */
const tritonGpuMetrics: readonly DeviceMetric[] = [
  { metric: 'gpu.utilization', names: ['nv_gpu_utilization'], convert: same },
  { metric: 'gpu.memory.used', names: ['nv_gpu_memory_used_bytes'], convert: same },
  { metric: 'gpu.memory.total', names: ['nv_gpu_memory_total_bytes'], convert: same },
  { metric: 'gpu.power', names: ['nv_gpu_power_usage'], convert: same },
  { metric: 'gpu.power.limit', names: ['nv_gpu_power_limit'], convert: same },
];

/** A page of metrics of something that runs on a node. */
export interface NodeScrape {
  /** The node that the exporter runs on. */
  readonly node: string;
  /** The pod that printed it; Triton reports the GPUs that it sees itself. */
  readonly pod?: PodName;
  readonly previous?: Scrape;
  readonly current: Scrape;
}

type Device = Extract<Subject, { kind: 'device' }>;

/** GPUs and NeuronCores, of DCGM exporter, Neuron monitor or Triton, whichever the page is from. */
export function deviceMeasurements(scrape: NodeScrape): readonly Measurement[] {
  const now = familiesOf(scrape.current);
  const before = scrape.previous === undefined ? undefined : familiesOf(scrape.previous);
  return [
    ...dcgm(now, scrape),
    ...simple(now, scrape, tritonGpuMetrics, (sample) => tritonGpu(sample, scrape)),
    ...neuron(now, before, scrape),
  ];
}

function reading(metric: MetricId, value: number, at: number, window: number, from: string): Observed {
  if (!Number.isFinite(value)) return absent('no-data', `${from} has no number as its value`, { source });
  return { kind: 'reading', value, unit: unitOf(metric), at, window, source: { source, from } };
}

const source: SourceId = 'engine-metrics';

function simple(
  families: Families,
  { current }: NodeScrape,
  table: readonly DeviceMetric[],
  subjectOf: (sample: Sample) => Device | undefined,
): readonly Measurement[] {
  const taken = new Set<MetricId>();
  const result: Measurement[] = [];
  for (const { metric, names, convert } of table) {
    const name = names.find((one) => samplesOf(families, one).length > 0);
    if (name === undefined || taken.has(metric)) continue;
    taken.add(metric);
    for (const sample of samplesOf(families, name)) {
      const subject = subjectOf(sample);
      if (subject === undefined) continue;
      result.push({ metric, subject, observed: reading(metric, convert(sample.value), current.at, 0, name) });
    }
  }
  return result;
}

function dcgm(families: Families, scrape: NodeScrape): readonly Measurement[] {
  const subjectOf = (sample: Sample): Device => dcgmGpu(sample, scrape.node);
  const result = [...simple(families, scrape, dcgmMetrics, subjectOf)];
  // The default counters have no total: it is what is used, free and reserved.
  const totals = new Map<string, { device: Device; bytes: number; parts: Set<string> }>();
  for (const name of ['DCGM_FI_DEV_FB_USED', 'DCGM_FI_DEV_FB_FREE', 'DCGM_FI_DEV_FB_RESERVED']) {
    for (const sample of samplesOf(families, name)) {
      const device = subjectOf(sample);
      const total = totals.get(device.id) ?? { device, bytes: 0, parts: new Set() };
      if (!total.parts.has(name)) total.bytes += sample.value * mebibyte;
      total.parts.add(name);
      totals.set(device.id, total);
    }
  }
  for (const { device, bytes, parts } of totals.values()) {
    if (!parts.has('DCGM_FI_DEV_FB_USED') || !parts.has('DCGM_FI_DEV_FB_FREE')) continue;
    result.push({
      metric: 'gpu.memory.total',
      subject: device,
      observed: reading('gpu.memory.total', bytes, scrape.current.at, 0, [...parts].join(' + ')),
    });
  }
  return result;
}

/** Labels of dcgm-exporter, of its older name mapping, and as Prometheus renames them on a clash. */
function podOf(labels: Sample['labels']): { readonly pod?: PodName; readonly container?: string } {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => labels[name]).find((value) => value !== undefined && value !== '');
  const name = first('exported_pod', 'pod', 'pod_name');
  const namespace = first('exported_namespace', 'namespace', 'pod_namespace');
  const container = first('exported_container', 'container', 'container_name');
  if (name === undefined || namespace === undefined) return {};
  return { pod: { namespace, name }, ...(container === undefined ? {} : { container }) };
}

/**
 * The device that the labels of a DCGM sample name, and its pod.
 *
 * @param node the node that the exporter runs on; without one, the label `Hostname` is what there is
 */
export function dcgmGpu({ labels }: Pick<Sample, 'labels'>, node: string | undefined): Device {
  const uuid = labels['UUID'] ?? labels['uuid'];
  const index = labels['gpu'];
  const mig = labels['GPU_I_ID'];
  const model = labels['modelName'];
  return {
    kind: 'device',
    device: 'gpu',
    node: node ?? labels['Hostname'] ?? labels['hostname'] ?? labels['instance'] ?? '',
    id: `${uuid ?? index ?? '?'}${mig === undefined || mig === '' ? '' : `/${mig}`}`,
    ...(index === undefined ? {} : { index: mig === undefined || mig === '' ? index : `${index}.${mig}` }),
    ...(model === undefined ? {} : { model }),
    ...podOf(labels),
  };
}

function tritonGpu({ labels }: Sample, { node, pod }: NodeScrape): Device {
  return {
    kind: 'device',
    device: 'gpu',
    node,
    id: labels['gpu_uuid'] ?? '?',
    ...(pod === undefined ? {} : { pod }),
  };
}

const neuronMemory = [
  'neuroncore_memory_usage_constants',
  'neuroncore_memory_usage_model_code',
  'neuroncore_memory_usage_model_shared_scratchpad',
  'neuroncore_memory_usage_runtime_memory',
  'neuroncore_memory_usage_tensors',
];

function neuron(
  families: Families,
  before: Families | undefined,
  scrape: NodeScrape,
): readonly Measurement[] {
  const deviceOf = ({ labels }: Pick<Sample, 'labels'>, kind: DeviceKind): Device => ({
    kind: 'device',
    device: kind,
    node: scrape.node,
    id: labels['neuroncore'] ?? labels['neuron_device'] ?? '?',
    ...(labels['neuroncore'] === undefined ? {} : { index: labels['neuroncore'] }),
    ...podOf(labels),
  });
  const at = scrape.current.at;
  const result: Measurement[] = [];
  for (const sample of samplesOf(families, 'neuroncore_utilization_ratio')) {
    result.push({
      metric: 'neuron.core.utilization',
      subject: deviceOf(sample, 'neuron-core'),
      observed: reading('neuron.core.utilization', sample.value, at, 0, 'neuroncore_utilization_ratio'),
    });
  }
  const memory = new Map<string, { device: Device; bytes: number }>();
  for (const name of neuronMemory) {
    for (const sample of samplesOf(families, name)) {
      const device = deviceOf(sample, 'neuron-core');
      const entry = memory.get(device.id) ?? { device, bytes: 0 };
      entry.bytes += sample.value;
      memory.set(device.id, entry);
    }
  }
  for (const { device, bytes } of memory.values()) {
    result.push({
      metric: 'neuron.memory.used',
      subject: device,
      observed: reading('neuron.memory.used', bytes, at, 0, 'neuroncore_memory_usage_*'),
    });
  }
  for (const [metric, name] of [
    ['neuron.execution.errors.rate', 'execution_errors_total'],
    ['neuron.ecc.rate', 'hardware_ecc_events_total'],
  ] as const) {
    if (samplesOf(families, name).length === 0) continue;
    const subject: Subject = { kind: 'node', node: scrape.node };
    const window = scrape.previous === undefined ? 0 : at - scrape.previous.at;
    if (before === undefined || window <= 0) {
      const message = 'a rate needs two readings of the counters; the second one comes with the next refresh';
      result.push({ metric, subject, observed: absent('too-few-points', message, { source }) });
      continue;
    }
    const sum = increases(before, families, name).reduce((total, { value }) => total + value, 0);
    const from = `rate(${name})`;
    result.push({ metric, subject, observed: reading(metric, sum / (window / 1000), at, window, from) });
  }
  return result;
}
