import type { Subject } from '../live/measurement';
import type { MetricId } from '../live/vocabulary';
import type { Want } from '../live/want';

/**
 * What is asked of CloudWatch for each metric of the vocabulary. Names and dimensions are those of Container Insights
 * with enhanced observability (amazon-cloudwatch-agent, emf_and_kubernetes_with_gpu_config.yaml), where `PodName` is the
 * workload and `FullPodName` the pod.
 */

export interface CloudWatchSelection {
  readonly cluster: string;
  readonly namespace: string;
  /** Name of the workload. */
  readonly workload: string | undefined;
  /** Node of a pod, where the cluster tells. */
  readonly nodeOf: (pod: string) => string | undefined;
  /** Metrics that the application publishes itself. */
  readonly application: ApplicationMetrics | undefined;
  /** Seconds. */
  readonly period: number;
}

/** Where an application publishes metrics of its own (EMF), and which of them is which. */
export interface ApplicationMetrics {
  readonly namespace: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly metrics: Readonly<Partial<Record<MetricId, ApplicationMetric>>>;
}

export interface ApplicationMetric {
  readonly name: string;
  /** `Average`, `Sum`, `p95`, ... */
  readonly stat: string;
  /** Multiplies into the unit of the vocabulary: 0.001 for milliseconds. */
  readonly factor?: number;
  /** The values of a period are counts: divided by its length they are a rate. */
  readonly isCount?: boolean;
}

export interface CloudWatchQuery {
  readonly metric: MetricId;
  /** One metric, or a search for several. */
  readonly ask:
    | {
        readonly kind: 'metric';
        readonly namespace: string;
        readonly name: string;
        readonly dimensions: Readonly<Record<string, string>>;
        readonly stat: string;
      }
    | {
        readonly kind: 'search';
        readonly expression: string;
        /** Dimensions of which the values of each series are told, in this order. */
        readonly told: readonly string[];
      };
  /** For people. */
  readonly from: string;
  readonly subject: (told: Readonly<Record<string, string>>) => Subject;
  readonly convert: (value: number) => number;
  /** Whether the value is of the whole period, such as a rate. */
  readonly isOfPeriod: boolean;
}

/** The namespace of Container Insights. */
export const containerInsights = 'ContainerInsights';

const same = (value: number): number => value;
const percent = (value: number): number => value / 100;

/** A text in a SEARCH expression, which knows no escape: quotes cannot be in names of Kubernetes. */
function searched(text: string): string {
  return `"${text.replace(/["\\]/g, '')}"`;
}

interface DeviceRow {
  readonly metric: MetricId;
  readonly name: string;
  readonly stat: string;
  readonly convert: (value: number) => number;
}

/** `container_gpu_*`; memory in bytes, shares in percent, the tensor cores as DCGM has them, from 0 to 1. */
const gpuRows: readonly DeviceRow[] = [
  { metric: 'gpu.utilization', name: 'container_gpu_utilization', stat: 'Average', convert: percent },
  {
    metric: 'gpu.tensor-activity',
    name: 'container_gpu_tensor_core_utilization',
    stat: 'Average',
    convert: (value) => (value > 1 ? value / 100 : value),
  },
  { metric: 'gpu.memory.used', name: 'container_gpu_memory_used', stat: 'Average', convert: same },
  { metric: 'gpu.memory.total', name: 'container_gpu_memory_total', stat: 'Average', convert: same },
  { metric: 'gpu.temperature', name: 'container_gpu_temperature', stat: 'Maximum', convert: same },
  { metric: 'gpu.power', name: 'container_gpu_power_draw', stat: 'Average', convert: same },
];

const neuronRows: readonly DeviceRow[] = [
  {
    metric: 'neuron.core.utilization',
    name: 'container_neuroncore_utilization',
    stat: 'Average',
    convert: percent,
  },
  {
    metric: 'neuron.memory.used',
    name: 'container_neuroncore_memory_usage_total',
    stat: 'Average',
    convert: same,
  },
];

/** Of each pod. `pod_cpu_usage_total` is in thousandths of a core. */
const podRows: readonly DeviceRow[] = [
  { metric: 'cpu.usage', name: 'pod_cpu_usage_total', stat: 'Average', convert: (value) => value / 1000 },
  { metric: 'memory.working-set', name: 'pod_memory_working_set', stat: 'Average', convert: same },
  { metric: 'restarts.total', name: 'pod_number_of_container_restarts', stat: 'Maximum', convert: same },
];

/** Bytes and packets of a second. */
const efaRows: readonly DeviceRow[] = [
  { metric: 'efa.receive.rate', name: 'pod_efa_rx_bytes', stat: 'Average', convert: same },
  { metric: 'efa.transmit.rate', name: 'pod_efa_tx_bytes', stat: 'Average', convert: same },
  { metric: 'efa.dropped.rate', name: 'pod_efa_rx_dropped', stat: 'Average', convert: same },
];

export function cloudWatchQueries(want: Want, selection: CloudWatchSelection): readonly CloudWatchQuery[] {
  const { cluster, namespace, workload, nodeOf, application, period } = selection;
  const wanted = new Set<MetricId>(want.metrics);
  const queries: CloudWatchQuery[] = [];

  const search = (
    { metric, name, stat, convert }: DeviceRow,
    dimensions: readonly string[],
    told: readonly string[],
    subject: CloudWatchQuery['subject'],
    isOfPeriod = false,
  ): void => {
    const terms = [
      `MetricName=${searched(name)}`,
      `ClusterName=${searched(cluster)}`,
      `Namespace=${searched(namespace)}`,
      `PodName=${searched(workload ?? '')}`,
    ];
    queries.push({
      metric,
      ask: {
        kind: 'search',
        expression: `SEARCH('{${containerInsights},${dimensions.join(',')}} ${terms.join(' ')}', '${stat}', ${period})`,
        told,
      },
      from: `${containerInsights} ${name} (${stat})`,
      subject,
      convert,
      isOfPeriod,
    });
  };
  const one = (
    metric: MetricId,
    name: string,
    stat: string,
    dimensions: Readonly<Record<string, string>>,
    subject: Subject,
    convert: (value: number) => number = same,
    isOfPeriod = false,
    of = containerInsights,
  ): void => {
    queries.push({
      metric,
      ask: { kind: 'metric', namespace: of, name, dimensions, stat },
      from: `${of} ${name} (${stat})`,
      subject: () => subject,
      convert,
      isOfPeriod,
    });
  };

  if (workload !== undefined) {
    const podDimensions = ['ClusterName', 'Namespace', 'PodName', 'FullPodName'];
    const device =
      (kind: 'gpu' | 'neuron-core', label: string) =>
      (told: Readonly<Record<string, string>>): Subject => {
        const pod = told['FullPodName'] ?? '';
        const id = told[label] ?? '?';
        const index = /\d+$/.exec(id)?.[0];
        return {
          kind: 'device',
          device: kind,
          node: nodeOf(pod) ?? '',
          id,
          ...(index === undefined ? {} : { index }),
          pod: { namespace, name: pod },
          ...(told['ContainerName'] === undefined ? {} : { container: told['ContainerName'] }),
        };
      };
    for (const row of gpuRows)
      search(
        row,
        [...podDimensions, 'ContainerName', 'GpuDevice'],
        ['FullPodName', 'ContainerName', 'GpuDevice'],
        device('gpu', 'GpuDevice'),
      );
    for (const row of neuronRows)
      search(
        row,
        [...podDimensions, 'ContainerName', 'NeuronCore', 'NeuronDevice'],
        ['FullPodName', 'ContainerName', 'NeuronCore'],
        device('neuron-core', 'NeuronCore'),
      );
    for (const row of [...podRows, ...efaRows])
      search(
        row,
        podDimensions,
        ['FullPodName'],
        (told) => ({ kind: 'pod', pod: { namespace, name: told['FullPodName'] ?? '' } }),
        row.metric.endsWith('.rate'),
      );
    const dimensions = { ClusterName: cluster, Namespace: namespace, PodName: workload };
    one(
      'gpu.memory.usage',
      'pod_gpu_memory_utilization',
      'Maximum',
      dimensions,
      { kind: 'workload' },
      percent,
    );
    one('replicas.desired', 'replicas_desired', 'Average', dimensions, { kind: 'workload' });
    one('replicas.ready', 'replicas_ready', 'Average', dimensions, { kind: 'workload' });
  }

  const dimensions = { ClusterName: cluster };
  const here: Subject = { kind: 'cluster' };
  const perSecond = (value: number): number => value / period;
  one('api-server.latency.p99', 'apiserver_request_duration_seconds', 'p99', dimensions, here, same, true);
  one(
    'api-server.latency.mean',
    'apiserver_request_duration_seconds',
    'Average',
    dimensions,
    here,
    same,
    true,
  );
  one('api-server.requests.rate', 'apiserver_request_total', 'Sum', dimensions, here, perSecond, true);
  one('api-server.errors.rate', 'apiserver_request_total_5xx', 'Sum', dimensions, here, perSecond, true);
  // Renamed in Kubernetes 1.26 and 1.28; the first that has values counts.
  for (const name of [
    'apiserver_storage_size_bytes',
    'apiserver_storage_db_total_size_in_bytes',
    'etcd_db_total_size_in_bytes',
  ])
    one('api-server.storage.size', name, 'Maximum', dimensions, here);
  // Each pod says 1 or 0 once a minute.
  one(
    'cluster.pods.pending',
    'pod_status_pending',
    'Sum',
    dimensions,
    here,
    (value) => value / (period / 60),
  );
  one('cluster.nodes.failed', 'cluster_failed_node_count', 'Maximum', dimensions, here);

  for (const [metric, each] of Object.entries(application?.metrics ?? {}) as readonly (readonly [
    MetricId,
    ApplicationMetric,
  ])[]) {
    const factor = each.factor ?? 1;
    one(
      metric,
      each.name,
      each.stat,
      application?.dimensions ?? {},
      { kind: 'workload' },
      (value) => (value * factor) / (each.isCount === true ? period : 1),
      each.isCount === true,
      application?.namespace ?? '',
    );
  }
  return queries.filter(({ metric }) => wanted.has(metric));
}

/** Seconds of a period for a range: at least as fine as the charts, and a multiple of a minute. */
export function periodFor(stepMs: number): number {
  return Math.max(60, Math.ceil(stepMs / 60_000) * 60);
}
