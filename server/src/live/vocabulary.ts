import type { Unit } from './reading';

/**
 * How the values of several pods or devices make the one of the workload.
 *
 * `none`: they make none (the percentile of percentiles is not a percentile).
 */
export type Combination = 'sum' | 'mean' | 'max' | 'min' | 'none';

export interface Term {
  readonly unit: Unit;
  /** What it says, for a tooltip; no full stop. */
  readonly meaning: string;
  readonly combine: Combination;
}

const term = (unit: Unit, combine: Combination, meaning: string): Term => ({ unit, meaning, combine });

/**
 * The neutral vocabulary. Each source maps to these ids and units, whatever its own names and units are; everything
 * above `sources/` knows nothing else.
 */
export const vocabulary = {
  // GPUs (subject: device)
  'gpu.utilization': term('ratio', 'mean', 'Share of time in which at least one kernel ran on the GPU'),
  'gpu.tensor-activity': term('ratio', 'mean', 'Share of cycles in which the tensor cores worked'),
  'gpu.memory.used': term('bytes', 'sum', 'GPU memory in use'),
  'gpu.memory.total': term('bytes', 'sum', 'GPU memory that the device has'),
  'gpu.memory.usage': term('ratio', 'max', 'GPU memory in use, of what the device has'),
  'gpu.temperature': term('celsius', 'max', 'Temperature of the GPU'),
  'gpu.memory.temperature': term('celsius', 'max', 'Temperature of the GPU memory'),
  'gpu.power': term('watts', 'sum', 'Power that the GPU draws'),
  'gpu.power.limit': term('watts', 'sum', 'Power that the GPU may draw'),
  'gpu.clock.sm': term('hertz', 'min', 'Clock of the streaming multiprocessors'),
  'gpu.throttle.thermal': term('ratio', 'max', 'Share of time in which heat lowered the clock'),
  'gpu.throttle.power': term('ratio', 'max', 'Share of time in which the power limit lowered the clock'),
  'gpu.xid': term('count', 'max', 'Number of the last XID error; 0 when there was none'),
  // AWS Neuron (subject: device) and EFA
  'neuron.core.utilization': term('ratio', 'mean', 'Share of time in which the NeuronCore computed'),
  'neuron.memory.used': term('bytes', 'sum', 'Neuron device memory in use'),
  'neuron.memory.total': term('bytes', 'sum', 'Neuron device memory that there is'),
  'neuron.execution.errors.rate': term('per-second', 'sum', 'Executions on NeuronCores that failed'),
  'neuron.ecc.rate': term('per-second', 'sum', 'ECC events of Neuron devices'),
  'efa.receive.rate': term('bytes-per-second', 'sum', 'Bytes received over EFA'),
  'efa.transmit.rate': term('bytes-per-second', 'sum', 'Bytes sent over EFA'),
  'efa.dropped.rate': term('per-second', 'sum', 'Packets that EFA dropped'),
  // Latency. Percentiles belong to the subject that they were made for.
  'ttft.p50': term('seconds', 'none', 'Time to first token, median'),
  'ttft.p95': term('seconds', 'none', 'Time to first token, 95th percentile'),
  'ttft.p99': term('seconds', 'none', 'Time to first token, 99th percentile'),
  'ttft.mean': term('seconds', 'none', 'Time to first token, mean'),
  'inter-token.p50': term('seconds', 'none', 'Time between two tokens, median'),
  'inter-token.p95': term('seconds', 'none', 'Time between two tokens, 95th percentile'),
  'inter-token.p99': term('seconds', 'none', 'Time between two tokens, 99th percentile'),
  'inter-token.mean': term('seconds', 'none', 'Time between two tokens, mean'),
  'e2e.p50': term('seconds', 'none', 'Time of a whole request, median'),
  'e2e.p95': term('seconds', 'none', 'Time of a whole request, 95th percentile'),
  'e2e.p99': term('seconds', 'none', 'Time of a whole request, 99th percentile'),
  'e2e.mean': term('seconds', 'none', 'Time of a whole request, mean'),
  'queue-time.p50': term('seconds', 'none', 'Time that a request waits in the queue, median'),
  'queue-time.p95': term('seconds', 'none', 'Time that a request waits in the queue, 95th percentile'),
  'queue-time.p99': term('seconds', 'none', 'Time that a request waits in the queue, 99th percentile'),
  'queue-time.mean': term('seconds', 'none', 'Time that a request waits in the queue, mean'),
  // Traffic and errors
  'requests.rate': term('per-second', 'sum', 'Requests that were finished'),
  'requests.finished.rate': term('per-second', 'sum', 'Requests finished, by `reason` (label)'),
  'errors.429.rate': term('per-second', 'sum', 'Requests refused with 429'),
  'errors.5xx.rate': term('per-second', 'sum', 'Requests that failed with any 5xx'),
  'errors.502-503.rate': term(
    'per-second',
    'sum',
    'Requests that failed with 502 or 503: the worker is gone',
  ),
  'errors.504.rate': term('per-second', 'sum', 'Requests that failed with 504: time-out'),
  'errors.rate': term('per-second', 'sum', 'Requests that the engine itself counts as failed'),
  'errors.5xx.ratio': term('ratio', 'none', 'Share of requests that failed with 5xx'),
  'tokens.prompt.rate': term('tokens-per-second', 'sum', 'Tokens read'),
  'tokens.generation.rate': term('tokens-per-second', 'sum', 'Tokens written'),
  'tokens.budget.usage': term('ratio', 'none', 'Tokens used, of the budget that the application publishes'),
  // Queue and KV cache (subject: pod)
  'queue.running': term('count', 'sum', 'Requests in the running batch'),
  'queue.waiting': term('count', 'sum', 'Requests that wait'),
  'kv-cache.usage': term('ratio', 'max', 'KV cache in use'),
  'kv-cache.preemptions.rate': term(
    'per-second',
    'sum',
    'Requests put back into the queue for want of KV cache',
  ),
  'prefix-cache.hit-ratio': term('ratio', 'none', 'Share of prompt tokens found in the prefix cache'),
  // Containers (subject: pod, with a container)
  'cpu.usage': term('cores', 'sum', 'CPU in use'),
  'cpu.usage.p95': term('cores', 'max', 'CPU in use, 95th percentile over the range'),
  'cpu.throttled.ratio': term('ratio', 'max', 'Share of CFS periods in which the container was throttled'),
  'memory.working-set': term('bytes', 'sum', 'Memory that cannot be taken back, as the OOM killer counts it'),
  'memory.working-set.p95': term('bytes', 'max', 'Working set, 95th percentile over the range'),
  'memory.working-set.max': term('bytes', 'max', 'Working set, maximum over the range'),
  'restarts.total': term('count', 'sum', 'Restarts of the containers since the pods began'),
  // Replicas (subject: workload)
  'replicas.desired': term('count', 'sum', 'Replicas that are asked for'),
  'replicas.current': term('count', 'sum', 'Replicas that exist'),
  'replicas.ready': term('count', 'sum', 'Replicas that are ready'),
  'scaler.metric': term('count', 'none', 'Value that the autoscaler sees, by `metric` (label)'),
  // Control plane (subject: cluster)
  'api-server.latency.p99': term('seconds', 'none', 'Time of requests to the API server, 99th percentile'),
  'api-server.latency.mean': term('seconds', 'none', 'Time of requests to the API server, mean'),
  'api-server.requests.rate': term('per-second', 'sum', 'Requests to the API server'),
  'api-server.errors.rate': term('per-second', 'sum', 'Requests that the API server answered with 5xx'),
  'api-server.storage.size': term('bytes', 'max', 'Size of the API server storage (etcd)'),
  'cluster.pods.pending': term('count', 'sum', 'Pods of the cluster that are pending'),
  'cluster.nodes.failed': term('count', 'sum', 'Nodes of the cluster that are not ready'),
} as const satisfies Readonly<Record<string, Term>>;

export type MetricId = keyof typeof vocabulary;

export const metricIds = Object.keys(vocabulary) as readonly MetricId[];

export function unitOf(metric: MetricId): Unit {
  return vocabulary[metric].unit;
}
