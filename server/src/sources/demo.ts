import type { Measurement, Series, Subject } from '../live/measurement';
import { engineTables } from '../live/metrics/engine-tables';
import type { CloudAlarm, LogsQueryResult, SourceAnswer } from '../live/snapshot';
import { unitOf, type MetricId } from '../live/vocabulary';
import { ranges, type LogsQueryId, type Want } from '../live/want';
import {
  clusterAt,
  gpuMemory,
  gpuModel,
  memoryLimit,
  otherNode,
  otherPod,
  sceneAt,
  type DemoPod,
  type Scene,
} from './demo-cluster';
import {
  capacityOfReplica,
  createStory,
  isThrottledAt,
  maxRunning,
  minute,
  ramp,
  script,
  wave,
  type Moment,
  type Story,
} from './demo-story';
import { logsQuery } from './logs-queries';
import { reasonOf } from './runtime';
import type { Source } from './source';

/**
 * A cluster that is not there: everything that a panel can show, at once, without asking anybody. The moment is that of
 * the {@link Want}: the same time gives the same answer.
 *
 * @param openedAt when somebody opened the demo; the story is under way by then
 */
export function demoSource(openedAt: number): Source {
  const story = createStory(openedAt);
  return {
    id: 'demo',
    read: (want, signal) =>
      signal.aborted ? Promise.reject(reasonOf(signal)) : Promise.resolve(demoAnswer(story, want, openedAt)),
    dispose: () => Promise.resolve(),
  };
}

const context = {
  name: 'demo',
  cluster: 'demo',
  account: '111122223333',
  region: 'us-east-1',
  serverVersion: 'v1.34.1-eks-3cfe0ce',
} as const;

export function demoAnswer(story: Story, want: Want, openedAt: number): SourceAnswer {
  const moment = story.at(want.now);
  const scene = sceneAt(want, moment, openedAt);
  const wanted = new Set<MetricId>(want.metrics);
  const measurements = numbersAt(moment, scene).filter(({ metric }) => wanted.has(metric));
  const cluster = clusterAt(want, moment, openedAt);
  return {
    status: {
      source: 'demo',
      state: 'ok',
      endpoint: 'no cluster: a story that is told again every 50 min',
      at: want.now,
      took: 0,
      problems: [],
    },
    cluster,
    measurements,
    ...(want.history ? { series: seriesOf(story, want, openedAt, wanted) } : {}),
    alarms: { kind: 'known', value: alarmsAt(moment), at: want.now },
    ...(want.logsQuery === undefined
      ? {}
      : { logsQuery: { kind: 'known', value: logsAt(want.logsQuery, want, scene, moment), at: want.now } }),
    context: { ...context, namespace: scene.namespace, demo: true },
    exportedNames: { kind: 'known', value: vllmNames, at: want.now },
  };
}

// --- Numbers

type Value = readonly [metric: MetricId, value: number, window: number, from: string];

const rateWindow = minute;

function percentiles(
  id: 'ttft' | 'inter-token' | 'e2e' | 'queue-time',
  typical: number,
  spread: number,
  name: string,
): readonly Value[] {
  const of = (q: string): string => `histogram_quantile(${q}, ${name}_bucket)`;
  return [
    [`${id}.p50`, typical, rateWindow, of('0.5')],
    [`${id}.p95`, typical * (1 + spread), rateWindow, of('0.95')],
    [`${id}.p99`, typical * (1 + 1.8 * spread), rateWindow, of('0.99')],
    [`${id}.mean`, typical * (1 + 0.15 * spread), rateWindow, `${name}_sum / ${name}_count`],
  ];
}

function workloadValues(moment: Moment): readonly Value[] {
  const {
    at,
    minute: into,
    served,
    waiting,
    running,
    kvCache,
    preemptions,
    queueTime,
    ttft,
    interToken,
    desired,
    current,
    ready,
    gone,
    timedOut,
  } = moment;
  const prompt = 640 + 40 * wave(at, 29);
  const completion = 180 + 12 * wave(at, 31);
  const failed = gone + timedOut;
  const day = (at / 86_400_000) % 1;
  const dry = isThrottledAt(into);
  return [
    ['queue.running', running, 0, 'vllm:num_requests_running'],
    ['queue.waiting', waiting, 0, 'vllm:num_requests_waiting'],
    ['kv-cache.usage', kvCache, 0, 'vllm:kv_cache_usage_perc'],
    ['kv-cache.preemptions.rate', preemptions, rateWindow, 'rate(vllm:num_preemptions_total)'],
    [
      'prefix-cache.hit-ratio',
      0.31 + 0.02 * wave(at, 37),
      rateWindow,
      'vllm:prefix_cache_hits_total / vllm:prefix_cache_queries_total',
    ],
    ...percentiles('ttft', ttft, 0.45, 'vllm:time_to_first_token_seconds'),
    ...percentiles('inter-token', interToken, dry ? 0.9 : 0.5, 'vllm:inter_token_latency_seconds'),
    ...percentiles('e2e', ttft + completion * interToken, 0.5, 'vllm:e2e_request_latency_seconds'),
    ...percentiles('queue-time', queueTime, 0.4, 'vllm:request_queue_time_seconds'),
    ['requests.rate', served, rateWindow, 'rate(vllm:request_success_total)'],
    ['errors.rate', failed, rateWindow, 'rate(vllm:request_success_total{finished_reason="error"})'],
    ['errors.429.rate', waiting > 30 ? 0.2 : 0, rateWindow, 'rate(http_requests_total{status="429"})'],
    ['errors.5xx.rate', failed, rateWindow, 'rate(http_requests_total{status=~"5.."})'],
    ['errors.502-503.rate', gone, rateWindow, 'rate(http_requests_total{status=~"50[23]"})'],
    ['errors.504.rate', timedOut, rateWindow, 'rate(http_requests_total{status="504"})'],
    ['errors.5xx.ratio', failed / (served + failed), rateWindow, 'http_requests_total'],
    ['tokens.prompt.rate', served * prompt, rateWindow, 'rate(vllm:prompt_tokens_total)'],
    ['tokens.generation.rate', served * completion, rateWindow, 'rate(vllm:generation_tokens_total)'],
    ['tokens.budget.usage', Math.min(0.97, 0.18 + 0.55 * day), 0, 'Assistants TokenBudgetUsed'],
    ['replicas.desired', desired, 0, 'spec.replicas'],
    ['replicas.current', current, 0, 'status.replicas'],
    ['replicas.ready', ready, 0, 'status.readyReplicas'],
  ];
}

function clusterValues({ at, minute: into }: Moment): readonly Value[] {
  const pending =
    into >= script.scaleOut && into < script.weights[1] ? (into < script.weights[0] ? 2 : 1) : 0;
  return [
    [
      'api-server.latency.p99',
      0.092 + 0.015 * wave(at, 41),
      rateWindow,
      'histogram_quantile(0.99, apiserver_request_duration_seconds_bucket)',
    ],
    [
      'api-server.latency.mean',
      0.011 + 0.001 * wave(at, 43),
      rateWindow,
      'apiserver_request_duration_seconds_sum / apiserver_request_duration_seconds_count',
    ],
    ['api-server.requests.rate', 61 + 6 * wave(at, 47), rateWindow, 'rate(apiserver_request_total)'],
    ['api-server.errors.rate', 0, rateWindow, 'rate(apiserver_request_total{code=~"5.."})'],
    ['api-server.storage.size', 412e6 + (at % 86_400_000) / 40, 0, 'apiserver_storage_size_bytes'],
    ['cluster.pods.pending', pending, 0, 'status.phase=Pending'],
    [
      'cluster.nodes.failed',
      into >= script.nodesRegistered && into < script.nodesReady ? 2 : 0,
      0,
      'Node condition Ready',
    ],
  ];
}

/** Whether the engine of a pod serves. */
function serves({ readyAt, index }: DemoPod, { at, minute: into }: Moment): boolean {
  return at >= readyAt && !(index === 1 && into >= script.oomKill && into < script.oomReady);
}

/** Which of the GPUs gets too hot: that of the first pod, behind a fan that fails. */
const hotPod = 0;

function gpuValues(pod: DemoPod, moment: Moment): readonly Value[] {
  const { at, minute: into, demand, capacity, waiting } = moment;
  const isServing = serves(pod, moment);
  const isLoaded =
    at >= pod.weightsAt && !(pod.index === 1 && into >= script.oomKill && into < script.oomRestart + 1);
  const load = Math.min(1, demand / capacity);
  const utilization = isServing
    ? Math.min(
        0.995,
        waiting > 1
          ? 0.965 + 0.02 * wave(at, 53 + pod.index)
          : 0.3 + 0.6 * load + 0.03 * wave(at, 53 + pod.index),
      )
    : 0;
  const isHot = pod.index === hotPod && isThrottledAt(into);
  const heat =
    pod.index === hotPod
      ? 29 *
        (ramp(into, script.throttleBegins - 2, script.throttleBegins) -
          ramp(into, script.throttleEnds - 0.5, script.throttleEnds + 2))
      : 0;
  const temperature = 38 + 31 * utilization + 1.5 * wave(at, 59 + pod.index) + Math.max(0, heat);
  return [
    ['gpu.utilization', utilization, 0, 'DCGM_FI_DEV_GPU_UTIL'],
    ['gpu.tensor-activity', utilization * (isHot ? 0.22 : 0.37), 0, 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'],
    [
      'gpu.memory.used',
      (isLoaded ? 0.894 + 0.002 * wave(at, 61 + pod.index) : 0.001) * gpuMemory,
      0,
      'DCGM_FI_DEV_FB_USED',
    ],
    ['gpu.memory.total', gpuMemory, 0, 'DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE + DCGM_FI_DEV_FB_RESERVED'],
    [
      'gpu.memory.usage',
      isLoaded ? 0.894 + 0.002 * wave(at, 61 + pod.index) : 0.001,
      0,
      'DCGM_FI_DEV_FB_USED',
    ],
    ['gpu.temperature', Math.min(92, temperature), 0, 'DCGM_FI_DEV_GPU_TEMP'],
    ['gpu.memory.temperature', Math.min(92, temperature - 4), 0, 'DCGM_FI_DEV_MEMORY_TEMP'],
    ['gpu.power', isHot ? 46 + wave(at, 67) : 17 + 54 * utilization, 0, 'DCGM_FI_DEV_POWER_USAGE'],
    ['gpu.power.limit', 72, 0, 'DCGM_FI_DEV_POWER_MGMT_LIMIT'],
    [
      'gpu.clock.sm',
      (isHot ? 1_080 + 45 * wave(at, 71) : utilization > 0 ? 2_040 - 15 * (1 + wave(at, 71)) : 300) * 1e6,
      0,
      'DCGM_FI_DEV_SM_CLOCK',
    ],
    ['gpu.throttle.thermal', isHot ? 1 : 0, 0, 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS'],
    ['gpu.throttle.power', 0, 0, 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS'],
    ['gpu.xid', 0, 0, 'DCGM_FI_DEV_XID_ERRORS'],
  ];
}

/** Host memory of the engine: under pressure it grows, until the pod is killed. */
function memoryOf(pod: DemoPod, { minute: into, at }: Moment): number {
  const calm = memoryLimit * (0.68 + 0.005 * wave(at, 73 + pod.index));
  if (pod.index !== 1 || into < script.surgeBegins) return calm;
  if (into < script.oomKill)
    return calm + (memoryLimit * 0.999 - calm) * ramp(into, script.surgeBegins + 1, script.oomKill);
  if (into < script.oomReady) return memoryLimit * 0.68 * ramp(into, script.oomRestart, script.oomReady);
  return calm;
}

function containerValues(pod: DemoPod, moment: Moment): readonly Value[] {
  const { at, minute: into } = moment;
  if (at < pod.weightsAt) return [];
  const cpu = serves(pod, moment)
    ? 1.9 + 0.5 * Math.min(1, moment.demand / moment.capacity) + 0.1 * wave(at, 79 + pod.index)
    : 0.9;
  const memory = memoryOf(pod, moment);
  const isUnderPressure = pod.index === 1 && into >= script.surgeBegins;
  return [
    ['cpu.usage', cpu, 30_000, 'metrics.k8s.io cpu'],
    ['cpu.usage.p95', 2.5, 3_600_000, 'quantile_over_time(0.95, container_cpu_usage_seconds_total)'],
    [
      'cpu.throttled.ratio',
      0,
      rateWindow,
      'container_cpu_cfs_throttled_periods_total / container_cpu_cfs_periods_total',
    ],
    ['memory.working-set', memory, 0, 'container_memory_working_set_bytes'],
    [
      'memory.working-set.p95',
      isUnderPressure ? memoryLimit * 0.94 : memoryLimit * 0.7,
      3_600_000,
      'quantile_over_time(0.95, container_memory_working_set_bytes)',
    ],
    [
      'memory.working-set.max',
      isUnderPressure ? memoryLimit * 0.999 : memoryLimit * 0.71,
      3_600_000,
      'max_over_time(container_memory_working_set_bytes)',
    ],
  ];
}

function podValues(pod: DemoPod, moment: Moment): readonly Value[] {
  const isServing = serves(pod, moment);
  const share = isServing ? 1 / Math.max(1, moment.ready) : 0;
  return [
    ['restarts.total', pod.killedAt === undefined ? 0 : 1, 0, 'status.containerStatuses[].restartCount'],
    ...(isServing
      ? ([
          [
            'queue.running',
            Math.min(maxRunning, Math.round(moment.running * share)),
            0,
            'vllm:num_requests_running',
          ],
          ['queue.waiting', Math.round(moment.waiting * share), 0, 'vllm:num_requests_waiting'],
          ['kv-cache.usage', Math.max(0, moment.kvCache - 0.008 * pod.index), 0, 'vllm:kv_cache_usage_perc'],
          [
            'requests.rate',
            Math.min(capacityOfReplica, moment.served * share),
            rateWindow,
            'rate(vllm:request_success_total)',
          ],
        ] satisfies readonly Value[])
      : []),
  ];
}

/** Devices of the other team, so that the panel has some that are nobody's here. */
function neuronValues({ at }: Moment, core: number): readonly Value[] {
  return [
    ['neuron.core.utilization', 0.41 + 0.08 * wave(at, 83 + core), 0, 'neuroncore_utilization_ratio'],
    ['neuron.memory.used', 9.7e9 + 2e8 * wave(at, 89 + core), 0, 'neuroncore_memory_usage_*'],
    ['neuron.memory.total', 16 * 2 ** 30, 0, 'neuron_hardware_info'],
  ];
}

function nodeValues({ at }: Moment): readonly Value[] {
  return [
    ['neuron.execution.errors.rate', 0, rateWindow, 'rate(execution_errors_total)'],
    ['neuron.ecc.rate', 0, rateWindow, 'rate(hardware_ecc_events_total)'],
    ['efa.receive.rate', 3.1e6 + 4e5 * wave(at, 97), rateWindow, 'rate(node_amazonefa_rx_bytes)'],
    ['efa.transmit.rate', 2.7e6 + 4e5 * wave(at, 101), rateWindow, 'rate(node_amazonefa_tx_bytes)'],
    ['efa.dropped.rate', 0, rateWindow, 'rate(node_amazonefa_rx_drops)'],
  ];
}

export function numbersAt(moment: Moment, scene: Scene): readonly Measurement[] {
  const { at, served, gone, timedOut, waiting, running, current } = moment;
  const result: Measurement[] = [];
  const add = (
    subject: Subject,
    values: readonly Value[],
    labels?: Readonly<Record<string, string>>,
  ): void => {
    for (const [metric, value, window, from] of values) {
      result.push({
        metric,
        subject,
        ...(labels === undefined ? {} : { labels }),
        observed: {
          kind: 'reading',
          value,
          unit: unitOf(metric),
          at,
          window,
          source: { source: 'demo', from },
        },
      });
    }
  };
  const workload: Subject = { kind: 'workload' };
  add(workload, workloadValues(moment));
  const reasons: readonly (readonly [string, number])[] = [
    ['stop', served * 0.83],
    ['length', served * 0.16],
    ['abort', served * 0.01 + timedOut],
    ['error', gone],
  ];
  for (const [reason, value] of reasons)
    add(workload, [['requests.finished.rate', value, rateWindow, 'rate(vllm:request_success_total)']], {
      reason,
    });
  add(workload, [['scaler.metric', waiting / current, 0, 'status.currentMetrics']], {
    metric: 's0-prometheus',
  });
  add(workload, [['scaler.metric', running / current, 0, 'status.currentMetrics']], {
    metric: 's1-prometheus',
  });
  add({ kind: 'cluster' }, clusterValues(moment));
  for (const pod of scene.pods) {
    const name = { namespace: scene.namespace, name: pod.name };
    add({ kind: 'pod', pod: name }, podValues(pod, moment));
    add({ kind: 'pod', pod: name, container: 'vllm' }, containerValues(pod, moment));
    // The exporter starts with the node; until a pod has the GPU, nobody is named.
    if (at < pod.scheduledAt) continue;
    const isHeld = at >= pod.weightsAt;
    add(
      {
        kind: 'device',
        device: 'gpu',
        node: pod.node,
        id: pod.gpu,
        index: '0',
        model: gpuModel,
        ...(isHeld ? { pod: name, container: 'vllm' } : {}),
      },
      gpuValues(pod, moment),
    );
  }
  for (const core of [0, 1])
    add(
      {
        kind: 'device',
        device: 'neuron-core',
        node: otherNode,
        id: String(core),
        index: String(core),
        pod: otherPod,
      },
      neuronValues(moment, core),
    );
  add({ kind: 'node', node: otherNode }, nodeValues(moment));
  return result;
}

function subjectKey(subject: Subject): string {
  switch (subject.kind) {
    case 'pod':
      return `pod|${subject.pod.name}|${subject.container ?? ''}`;
    case 'device':
      return `${subject.device}|${subject.node}|${subject.id}`;
    case 'node':
      return `node|${subject.node}`;
    case 'namespace':
      return `namespace|${subject.namespace}`;
    default:
      return subject.kind;
  }
}

function seriesOf(
  story: Story,
  want: Want,
  openedAt: number,
  wanted: ReadonlySet<MetricId>,
): readonly Series[] {
  const { duration, step } = ranges[want.range];
  const end = Math.floor(want.now / step) * step;
  const times: number[] = [];
  for (let at = end - duration; at <= end; at += step) times.push(at);
  const found = new Map<string, { readonly first: Measurement; readonly values: (number | null)[] }>();
  for (const [index, at] of times.entries()) {
    const moment = story.at(at);
    for (const measurement of numbersAt(moment, sceneAt(want, moment, openedAt))) {
      const { metric, subject, labels, observed } = measurement;
      if (!wanted.has(metric) || observed.kind === 'absent') continue;
      const key = `${metric}|${subjectKey(subject)}|${labels === undefined ? '' : JSON.stringify(labels)}`;
      let one = found.get(key);
      if (one === undefined) found.set(key, (one = { first: measurement, values: times.map(() => null) }));
      one.values[index] = observed.value;
    }
  }
  return [...found.values()].flatMap(({ first, values }) => {
    if (first.observed.kind === 'absent') return [];
    const { metric, subject, labels, observed } = first;
    return [
      {
        metric,
        subject,
        ...(labels === undefined ? {} : { labels }),
        unit: observed.unit,
        at: times,
        values,
        step,
        source: observed.source,
      },
    ];
  });
}

// --- Alarms, logs, names

function alarmsAt({ minute: into, roundAt, at }: Moment): readonly CloudAlarm[] {
  const within = (from: number, to: number): boolean => into >= from && into < to;
  const alarm = (
    name: string,
    from: number,
    to: number,
    rule: string,
    reason: string,
    more: Partial<CloudAlarm> = {},
  ): CloudAlarm => {
    const isOn = within(from, to);
    const changed = isOn ? from : into >= to ? to : undefined;
    return {
      name,
      kind: 'metric',
      state: isOn ? 'ALARM' : 'OK',
      reason: isOn ? reason : 'The value is below the threshold',
      since: changed === undefined ? at - 2 * 86_400_000 : roundAt + changed * minute,
      rule,
      actionsEnabled: true,
      ...more,
    };
  };
  return [
    alarm(
      'assistants-latency-high',
      script.surgeBegins + 4,
      script.ready[1] + 1,
      'Assistants LatencyP95 (p95) > 1500 for 3 min',
      'Threshold Crossed: 3 datapoints were greater than the threshold (1500.0)',
      {
        description: 'p95 of whole requests',
      },
    ),
    alarm(
      'assistants-restarts',
      script.oomRestart + 0.5,
      script.oomRestart + 6,
      'ContainerInsights pod_number_of_container_restarts (Maximum) > 0 for 1 min',
      'Threshold Crossed: 1 datapoint was greater than the threshold (0.0)',
    ),
    alarm(
      'assistants-gpu-hot',
      script.throttleBegins + 1,
      script.throttleEnds + 1,
      'ContainerInsights node_gpu_temperature (Maximum) > 85 for 1 min',
      'Threshold Crossed: 1 datapoint was greater than the threshold (85.0)',
    ),
    alarm(
      'assistants-saturated',
      script.surgeBegins + 4,
      script.ready[1] + 1,
      'ALARM("assistants-latency-high") AND ALARM("assistants-queue-deep")',
      'Both alarms are in state ALARM',
      { kind: 'composite' },
    ),
  ];
}

function logsAt(
  id: LogsQueryId,
  want: Want,
  scene: Scene,
  { ttft, interToken, served }: Moment,
): LogsQueryResult {
  const end = want.now;
  const seconds = (value: number): string => (value * 1000).toFixed(0);
  const e2e = ttft + 180 * interToken;
  const tables: Readonly<
    Record<
      LogsQueryId,
      { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
    >
  > = {
    'latency-percentiles': {
      columns: ['bin(5m)', 'requests', 'p50_ms', 'p95_ms', 'p99_ms', 'max_ms'],
      rows: Array.from({ length: 6 }, (_, index) => {
        const at = Math.floor(end / 300_000) * 300_000 - index * 300_000;
        const scale = 1 + 0.06 * wave(at, 103);
        return [
          new Date(at).toISOString().slice(0, 19).replace('T', ' '),
          String(Math.round(served * 300 * scale)),
          seconds(e2e * scale),
          seconds(e2e * 1.5 * scale),
          seconds(e2e * 1.9 * scale),
          seconds(e2e * 2.4 * scale),
        ];
      }),
    },
    'slow-requests': {
      columns: ['@timestamp', 'pod', 'latency_ms', 'request', 'status', 'prompt_tokens', 'completion_tokens'],
      rows: Array.from({ length: 8 }, (_, index) => [
        new Date(end - (index + 1) * 47_000).toISOString().slice(0, 23).replace('T', ' '),
        scene.pods[index % 2]?.name ?? '',
        seconds(e2e * (2.4 - 0.12 * index)),
        `chatcmpl-${(0x5f3a91 + index * 7_919).toString(16)}`,
        '200',
        String(5_120 - 340 * index),
        String(512 - 31 * index),
      ]),
    },
    'tokens-and-cost': {
      columns: ['model', 'requests', 'prompt_tokens', 'completion_tokens', 'cost_usd'],
      rows: [
        [
          'Qwen/Qwen2.5-7B-Instruct',
          String(Math.round(served * 3_600)),
          String(Math.round(served * 3_600 * 640)),
          String(Math.round(served * 3_600 * 180)),
          (served * 3_600 * 0.000_31).toFixed(2),
        ],
      ],
    },
  };
  const scannedBytes = 184e6;
  return {
    id,
    query: logsQuery(id, { namespace: scene.namespace, workload: scene.workload.name }),
    logGroups: ['/aws/containerinsights/demo/application'],
    window: { from: end - ranges[want.range].duration, to: end },
    ...tables[id],
    scannedBytes,
    cost: {
      dollars: (scannedBytes * 0.005) / 1e9,
      basis: 'Logs Insights, $0.005 per GB scanned (us-east-1, 2026-07)',
    },
  };
}

const vllmNames: readonly string[] = [
  ...new Set(
    engineTables.vllm.flatMap((each) => {
      if (each.kind === 'histogram')
        return ['bucket', 'sum', 'count'].map((suffix) => `${each.names[0] ?? ''}_${suffix}`);
      if (each.kind === 'gauge' || each.kind === 'rate') return each.names.slice(0, 1);
      if (each.kind === 'share') return [...each.part.slice(0, 1), ...each.whole.slice(0, 1)];
      return [];
    }),
  ),
].sort();
