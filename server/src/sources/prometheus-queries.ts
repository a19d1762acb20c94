import type { Subject } from '../live/measurement';
import { engineTables, httpTable, type Extraction } from '../live/metrics/engine-tables';
import { dcgmGpu, dcgmMetrics } from '../live/metrics/device-metrics';
import { normalName } from '../live/metrics/families';
import type { MetricId } from '../live/vocabulary';
import type { Want } from '../live/want';

/**
 * What is asked of Prometheus for each metric of the vocabulary. Names of engines are those of their tables, in every
 * spelling; names of Kubernetes are those of kube-state-metrics 2, cAdvisor and the API server.
 */

export interface PrometheusQuery {
  readonly metric: MetricId;
  readonly query: string;
  /** What a series of the answer is about; `undefined`: it is none of ours. */
  readonly subject: (labels: Readonly<Record<string, string>>) => Subject | undefined;
  /** Labels of the measurement. */
  readonly labels?: (labels: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** Into the unit of the vocabulary. */
  readonly convert: (value: number) => number;
  /** Milliseconds that a value is made of; 0 for the value of a moment. */
  readonly window: number;
  /** About the whole range, so there is nothing to draw: asked as of now. */
  readonly instantOnly?: boolean;
}

export interface Selection {
  readonly namespace: string;
  /** Matches the names of the workload's pods, also of those that are gone. */
  readonly podPattern: string;
  readonly nodes: readonly string[];
  readonly workload: { readonly kind: string; readonly name: string } | undefined;
  /** Name of the HorizontalPodAutoscaler, where it is known. */
  readonly hpa: string | undefined;
  /** Milliseconds over which rates are taken. */
  readonly rateWindow: number;
  /** Milliseconds of the range. */
  readonly range: number;
  readonly step: number;
}

/** Two scrapes at the usual 30 s, with one missed between them, make a rate. */
export const minRateWindow = 120_000;

const workloadSubject = (): Subject => ({ kind: 'workload' });
const clusterSubject = (): Subject => ({ kind: 'cluster' });
const same = (value: number): number => value;

/** A duration as PromQL writes it. */
export function promDuration(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.max(1, Math.round(ms / 1000))}s`;
}

/** A text in double quotes. */
export function quoted(text: string): string {
  return `"${text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}

function escapedPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Names of pods as the controllers of the kind make them. */
export function podPatternOf(kind: string, name: string): string {
  const base = escapedPattern(name);
  switch (kind) {
    case 'Pod':
      return base;
    case 'StatefulSet':
      return `${base}-[0-9]+`;
    case 'LeaderWorkerSet':
      return `${base}-[0-9]+(-[0-9]+)?`;
    case 'DaemonSet':
    case 'ReplicaSet':
    case 'Job':
      return `${base}-[a-z0-9]{5}`;
    case 'Deployment':
    case 'Rollout':
      // The hash of a ReplicaSet, then five letters, without vowels: names of others that begin the same do not match.
      return `${base}-[a-z0-9]{6,10}-[a-z0-9]{5}`;
    default:
      return `${base}-.+`;
  }
}

/** Label pairs by which the series of a pod are told; the first is that of pod monitors, the others of clashes and older set-ups. */
const podLabels = [
  ['namespace', 'pod'],
  ['exported_namespace', 'exported_pod'],
  ['kubernetes_namespace', 'kubernetes_pod_name'],
] as const;

type Matchers = readonly (readonly [label: string, operator: '=' | '=~' | '!=' | '!~', value: string])[];

function selector(name: string, matchers: Matchers): string {
  return `${name}{${matchers.map(([label, operator, value]) => `${label}${operator}${quoted(value)}`).join(',')}}`;
}

/** A name in every spelling: colons or underscores, with Ray's prefix or without, counters with and without `_total`. */
function nameMatcher(name: string, suffix = ''): Matchers[number] {
  const normal = normalName(name);
  const isTotal = normal.endsWith('_total');
  const base = escapedPattern(isTotal ? normal.slice(0, -'_total'.length) : normal);
  const isEngine = /^(vllm|sglang|serve|llamacpp)_/.exec(normal)?.[1];
  const spelled = isEngine === undefined ? base : `(ray_)?${base.replace(`${isEngine}_`, `${isEngine}[:_]`)}`;
  return [
    '__name__',
    '=~',
    `${spelled}${suffix === '' ? (isTotal ? '(_total)?' : '') : escapedPattern(suffix)}`,
  ];
}

/** `a or b or c`: the first that is there. */
function firstOf(expressions: readonly string[]): string {
  return expressions.length === 1
    ? (expressions[0] ?? '')
    : expressions.map((each) => `(${each})`).join(' or ');
}

/** Expressions for each way in which the pods may be labelled. */
function eachLabelling(
  { namespace, podPattern }: Selection,
  make: (pods: Matchers) => string,
): readonly string[] {
  return podLabels.map(([ns, pod]) =>
    make([
      [ns, '=', namespace],
      [pod, '=~', podPattern],
    ]),
  );
}

function engineQueries(want: Want, selection: Selection): readonly PrometheusQuery[] {
  const known = want.engine === 'unknown' || want.engine === 'ollama' ? undefined : engineTables[want.engine];
  const table = [
    ...(known ??
      [
        engineTables.vllm,
        engineTables.sglang,
        engineTables.tgi,
        engineTables.triton,
        engineTables['ray-serve'],
      ].flat()),
    ...httpTable,
  ];
  const byMetric = new Map<
    MetricId,
    { readonly expressions: string[]; readonly rate: boolean; readonly split: string | undefined }
  >();
  const add = (metric: MetricId, expressions: readonly string[], rate: boolean, split?: string): void => {
    const known = byMetric.get(metric);
    if (known === undefined) byMetric.set(metric, { expressions: [...expressions], rate, split });
    // Another way to tell the same metric, where the first has no series.
    else if (known.split === split) known.expressions.push(...expressions);
  };
  for (const extraction of table) {
    for (const [metric, expressions] of expressionsOf(extraction, selection))
      add(
        metric,
        expressions,
        extraction.kind !== 'gauge',
        extraction.kind === 'rate' ? extraction.split : undefined,
      );
  }
  return [...byMetric].map(([metric, { expressions, rate, split }]) => ({
    metric,
    query: firstOf(expressions),
    subject: workloadSubject,
    ...(split === undefined
      ? {}
      : { labels: (labels: Readonly<Record<string, string>>) => ({ reason: labels[split] ?? '' }) }),
    convert: same,
    window: rate ? selection.rateWindow : 0,
  }));
}

const quantiles = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const;

function expressionsOf(
  extraction: Extraction,
  selection: Selection,
): readonly (readonly [MetricId, readonly string[]])[] {
  const window = promDuration(selection.rateWindow);
  const scaled = (expression: string, factor: number | undefined): string =>
    factor === undefined || factor === 1 ? expression : `${expression} * ${factor}`;
  const forNames = (
    names: readonly string[],
    make: (name: string, pods: Matchers) => string,
  ): readonly string[] => names.flatMap((name) => eachLabelling(selection, (pods) => make(name, pods)));
  switch (extraction.kind) {
    case 'gauge': {
      const { metric, names, over, where = {}, factor } = extraction;
      const operator = over === 'mean' ? 'avg' : over;
      const more: Matchers = Object.entries(where).map(([label, value]) => [label, '=', value] as const);
      return [
        [
          metric,
          forNames(names, (name, pods) =>
            scaled(`${operator}(${selector('', [nameMatcher(name), ...pods, ...more])})`, factor),
          ),
        ],
      ];
    }
    case 'rate': {
      const { metric, names, where, split, factor } = extraction;
      const by = split === undefined ? '' : ` by (${split})`;
      const rate = (name: string, pods: Matchers, more: Matchers): string =>
        `sum${by} (rate(${selector('', [nameMatcher(name), ...pods, ...more])}[${window}]))`;
      if (where === undefined)
        return [[metric, forNames(names, (name, pods) => scaled(rate(name, pods, []), factor))]];
      const expressions = where.labels.flatMap((label) => [
        ...forNames(names, (name, pods) =>
          scaled(rate(name, pods, [[label, '=~', patternOf(where.matches)]]), factor),
        ),
        // No error yet has no series; it is zero where another series shows that errors would have one.
        ...(where.complete === undefined
          ? []
          : forNames(
              names,
              (name, pods) => `0 * ${rate(name, pods, [[label, '=~', patternOf(where.complete ?? /./)]])}`,
            )),
      ]);
      return [[metric, expressions]];
    }
    case 'histogram': {
      const { latency, names, factor } = extraction;
      const mean = forNames(names, (name, pods) =>
        scaled(
          `sum(rate(${selector('', [nameMatcher(name, '_sum'), ...pods])}[${window}])) / sum(rate(${selector('', [nameMatcher(name, '_count'), ...pods])}[${window}]))`,
          factor,
        ),
      );
      return [
        ...quantiles.map(
          ([suffix, q]) =>
            [
              `${latency}.${suffix}` satisfies MetricId,
              forNames(names, (name, pods) =>
                scaled(
                  `histogram_quantile(${q}, sum by (le) (rate(${selector('', [nameMatcher(name, '_bucket'), ...pods])}[${window}])))`,
                  factor,
                ),
              ),
            ] as const,
        ),
        [`${latency}.mean` satisfies MetricId, mean],
      ];
    }
    case 'mean':
    case 'share': {
      const [parts, wholes, factor] =
        extraction.kind === 'mean'
          ? [extraction.total, extraction.count, extraction.factor]
          : [extraction.part, extraction.whole, undefined];
      const sum = (name: string, pods: Matchers): string =>
        `sum(rate(${selector('', [nameMatcher(name), ...pods])}[${window}]))`;
      return [
        [
          extraction.metric,
          parts.flatMap((part, index) =>
            eachLabelling(selection, (pods) =>
              scaled(
                `${sum(part, pods)} / ${sum(wholes[Math.min(index, wholes.length - 1)] ?? '', pods)}`,
                factor,
              ),
            ),
          ),
        ],
      ];
    }
  }
}

/** A pattern of ours for RE2, which PromQL matches against the whole value. */
function patternOf({ source, flags }: RegExp): string {
  const open = source.startsWith('^') ? source.slice(1) : `.*${source}`;
  const whole = open.endsWith('$') ? open.slice(0, -1) : `${open}.*`;
  return flags.includes('i') ? `(?i)${whole}` : whole;
}

function deviceQueries(selection: Selection): readonly PrometheusQuery[] {
  const nodePattern = selection.nodes.map(escapedPattern).join('|');
  const everyWay = (make: (matchers: Matchers) => string): string =>
    firstOf([
      ...eachLabelling(selection, make),
      // Exporters that do not tell pods: all GPUs of the nodes.
      ...(nodePattern === ''
        ? []
        : (['Hostname', 'node', 'kubernetes_node'] as const).map((label) =>
            make([[label, '=~', nodePattern]]),
          )),
    ]);
  const gpu = (labels: Readonly<Record<string, string>>): Subject =>
    dcgmGpu({ labels }, labels['node'] ?? labels['kubernetes_node']);
  const byMetric = new Map<MetricId, PrometheusQuery>();
  for (const { metric, names, convert } of dcgmMetrics) {
    if (byMetric.has(metric)) continue;
    byMetric.set(metric, {
      metric,
      query: firstOf(names.map((name) => everyWay((matchers) => selector(name, matchers)))),
      subject: gpu,
      convert,
      window: 0,
    });
  }
  byMetric.set('gpu.memory.total', {
    metric: 'gpu.memory.total',
    // The default counters have no total: it is what is used, free and, where it is told, reserved.
    query: everyWay((matchers) => {
      const sum = `${selector('DCGM_FI_DEV_FB_USED', matchers)} + ${selector('DCGM_FI_DEV_FB_FREE', matchers)}`;
      return `(${sum} + ${selector('DCGM_FI_DEV_FB_RESERVED', matchers)}) or (${sum})`;
    }),
    subject: gpu,
    convert: (mebibytes) => mebibytes * 2 ** 20,
    window: 0,
  });
  const core = (labels: Readonly<Record<string, string>>): Subject => ({
    kind: 'device',
    device: 'neuron-core',
    node: labels['node'] ?? labels['instance_name'] ?? labels['instance'] ?? '',
    id: labels['neuroncore'] ?? '?',
    ...(labels['neuroncore'] === undefined ? {} : { index: labels['neuroncore'] }),
  });
  byMetric.set('neuron.core.utilization', {
    metric: 'neuron.core.utilization',
    query: everyWay((matchers) => selector('neuroncore_utilization_ratio', matchers)),
    subject: core,
    convert: same,
    window: 0,
  });
  const memory =
    'neuroncore_memory_usage_(constants|model_code|model_shared_scratchpad|runtime_memory|tensors)';
  byMetric.set('neuron.memory.used', {
    metric: 'neuron.memory.used',
    query: everyWay(
      (matchers) =>
        `sum by (node, instance, instance_name, neuroncore) (${selector('', [['__name__', '=~', memory], ...matchers])})`,
    ),
    subject: core,
    convert: same,
    window: 0,
  });
  const window = promDuration(selection.rateWindow);
  if (nodePattern !== '') {
    for (const [metric, names] of [
      ['efa.receive.rate', ['node_amazonefa_rx_bytes', 'node_amazonefa_rdma_write_recv_bytes']],
      ['efa.transmit.rate', ['node_amazonefa_tx_bytes', 'node_amazonefa_rdma_write_bytes']],
      ['efa.dropped.rate', ['node_amazonefa_rx_drops']],
    ] as const) {
      byMetric.set(metric, {
        metric,
        query: `sum by (node, instance) (rate(${selector('', [
          ['__name__', '=~', names.join('|')],
          ['node', '=~', nodePattern],
        ])}[${window}]))`,
        subject: (labels) => ({ kind: 'node', node: labels['node'] ?? labels['instance'] ?? '' }),
        convert: same,
        window: selection.rateWindow,
      });
    }
  }
  return [...byMetric.values()];
}

function containerQueries(selection: Selection): readonly PrometheusQuery[] {
  const { namespace, podPattern, rateWindow, range, step } = selection;
  const pods: Matchers = [
    ['namespace', '=', namespace],
    ['pod', '=~', podPattern],
    ['container', '!~', '|POD'],
  ];
  const window = promDuration(rateWindow);
  const subject = ({ pod, container }: Readonly<Record<string, string>>): Subject | undefined =>
    pod === undefined
      ? undefined
      : { kind: 'pod', pod: { namespace, name: pod }, ...(container === undefined ? {} : { container }) };
  // Of cgroup v1 the exporter writes the same container more than once; the largest is all of it.
  const cpu = `sum by (pod, container) (rate(${selector('container_cpu_usage_seconds_total', pods)}[${window}]))`;
  const memory = `max by (pod, container) (${selector('container_memory_working_set_bytes', pods)})`;
  const over = `[${promDuration(range)}:${promDuration(Math.max(step, 30_000))}]`;
  const one = (metric: MetricId, query: string, of: number, instantOnly = false): PrometheusQuery => ({
    metric,
    query,
    subject,
    convert: same,
    window: of,
    ...(instantOnly ? { instantOnly } : {}),
  });
  return [
    one('cpu.usage', cpu, rateWindow),
    one('cpu.usage.p95', `quantile_over_time(0.95, (${cpu})${over})`, range, true),
    one(
      'cpu.throttled.ratio',
      `sum by (pod, container) (rate(${selector('container_cpu_cfs_throttled_periods_total', pods)}[${window}])) / sum by (pod, container) (rate(${selector('container_cpu_cfs_periods_total', pods)}[${window}]))`,
      rateWindow,
    ),
    one('memory.working-set', memory, 0),
    one('memory.working-set.p95', `quantile_over_time(0.95, (${memory})${over})`, range, true),
    one('memory.working-set.max', `max_over_time((${memory})${over})`, range, true),
    one('restarts.total', `sum by (pod) (${selector('kube_pod_container_status_restarts_total', pods)})`, 0),
  ];
}

/** kube-state-metrics, by kind: wanted, there, ready. */
const replicaMetrics: Readonly<
  Record<string, { readonly label: string; readonly names: readonly [string, string, string] }>
> = {
  Deployment: {
    label: 'deployment',
    names: [
      'kube_deployment_spec_replicas',
      'kube_deployment_status_replicas',
      'kube_deployment_status_replicas_ready',
    ],
  },
  StatefulSet: {
    label: 'statefulset',
    names: [
      'kube_statefulset_replicas',
      'kube_statefulset_status_replicas',
      'kube_statefulset_status_replicas_ready',
    ],
  },
  ReplicaSet: {
    label: 'replicaset',
    names: [
      'kube_replicaset_spec_replicas',
      'kube_replicaset_status_replicas',
      'kube_replicaset_status_ready_replicas',
    ],
  },
  DaemonSet: {
    label: 'daemonset',
    names: [
      'kube_daemonset_status_desired_number_scheduled',
      'kube_daemonset_status_current_number_scheduled',
      'kube_daemonset_status_number_ready',
    ],
  },
};

function replicaQueries({ namespace, workload, hpa }: Selection): readonly PrometheusQuery[] {
  const one = (metric: MetricId, query: string): PrometheusQuery => ({
    metric,
    query,
    subject: workloadSubject,
    convert: same,
    window: 0,
  });
  const table = workload === undefined ? undefined : replicaMetrics[workload.kind];
  if (table === undefined || workload === undefined) {
    if (hpa === undefined) return [];
    const of = (name: string): string =>
      `max(${selector(name, [
        ['namespace', '=', namespace],
        ['horizontalpodautoscaler', '=', hpa],
      ])})`;
    return [
      one('replicas.desired', of('kube_horizontalpodautoscaler_status_desired_replicas')),
      one('replicas.current', of('kube_horizontalpodautoscaler_status_current_replicas')),
    ];
  }
  const of = (name: string): string =>
    `max(${selector(name, [
      ['namespace', '=', namespace],
      [table.label, '=', workload.name],
    ])})`;
  const [desired, current, ready] = table.names;
  return [
    one('replicas.desired', of(desired)),
    one('replicas.current', of(current)),
    one('replicas.ready', of(ready)),
  ];
}

function clusterQueries({ rateWindow }: Selection): readonly PrometheusQuery[] {
  const window = promDuration(rateWindow);
  // Watches last as long as they last, and requests that connect do too.
  const short: Matchers = [['verb', '!~', 'WATCH|CONNECT|WATCHLIST']];
  const one = (metric: MetricId, query: string, of = 0): PrometheusQuery => ({
    metric,
    query,
    subject: clusterSubject,
    convert: same,
    window: of,
  });
  return [
    one(
      'api-server.latency.p99',
      `histogram_quantile(0.99, sum by (le) (rate(${selector('apiserver_request_duration_seconds_bucket', short)}[${window}])))`,
      rateWindow,
    ),
    one(
      'api-server.latency.mean',
      `sum(rate(${selector('apiserver_request_duration_seconds_sum', short)}[${window}])) / sum(rate(${selector('apiserver_request_duration_seconds_count', short)}[${window}]))`,
      rateWindow,
    ),
    one('api-server.requests.rate', `sum(rate(apiserver_request_total[${window}]))`, rateWindow),
    one(
      'api-server.errors.rate',
      `sum(rate(apiserver_request_total{code=~"5.."}[${window}])) or (0 * sum(rate(apiserver_request_total[${window}])))`,
      rateWindow,
    ),
    one(
      'api-server.storage.size',
      // Renamed in Kubernetes 1.26 and 1.28.
      'max(apiserver_storage_size_bytes) or max(apiserver_storage_db_total_size_in_bytes) or max(etcd_db_total_size_in_bytes)',
    ),
    one('cluster.pods.pending', 'sum(kube_pod_status_phase{phase="Pending"})'),
    one('cluster.nodes.failed', 'sum(kube_node_status_condition{condition="Ready",status=~"false|unknown"})'),
  ];
}

/** The queries for what is wanted. */
export function prometheusQueries(want: Want, selection: Selection): readonly PrometheusQuery[] {
  const wanted = new Set<MetricId>(want.metrics);
  return [
    ...engineQueries(want, selection),
    ...deviceQueries(selection),
    ...containerQueries(selection),
    ...replicaQueries(selection),
    ...clusterQueries(selection),
  ].filter(({ metric }) => wanted.has(metric));
}
