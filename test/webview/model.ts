import type {
  Cell,
  Chart,
  ChartContent,
  ChartLine,
  Empty,
  Intent,
  PanelModel,
  Row,
  Section,
  State,
  Table,
  Threshold,
} from '../../server/src/panel/model';

/** A panel with something in every part of it, as a cluster in trouble would fill it. */

/** 2026-03-01 14:30:00 UTC. */
export const now = Date.UTC(2026, 2, 1, 14, 30);
const minutes = 60_000;
const from = now - 60 * minutes;
const step = 30_000;
const at: readonly number[] = Array.from({ length: 121 }, (_, index) => from + index * step);

/** A curve from one level to another at a point of the range, with a ripple that is the same in every run. */
export function curve(low: number, high: number, turn: number, ripple: number): readonly number[] {
  return at.map((_, index) => {
    const share = 1 / (1 + Math.exp(-(index / 120 - turn) * 24));
    return low + (high - low) * share + ripple * Math.sin(index * 1.7) * Math.cos(index * 0.31);
  });
}

export function shown<T>(value: T, notes?: readonly string[]): Section<T> {
  return { kind: 'shown', value, ...(notes === undefined ? {} : { notes }) };
}

export function empty(why: string, whatToDo = '', state: State = 'unknown'): Empty {
  return { kind: 'empty', why, whatToDo, actions: [], state };
}

function line(
  id: string,
  label: string,
  values: ChartLine['values'],
  part: Partial<ChartLine> = {},
): ChartLine {
  return { id, label, values, source: 'Prometheus, vllm', emphasis: 'main', dashed: false, ...part };
}

function chart(
  id: string,
  title: string,
  [suffix, factor]: readonly [string, number],
  lines: readonly ChartLine[],
  part: Partial<Chart> & { readonly thresholds?: readonly Threshold[]; readonly stale?: string } = {},
): Chart {
  const { thresholds = [], stale, ...rest } = part;
  const content: ChartContent = { at, lines, thresholds, ...(stale === undefined ? {} : { stale }) };
  return {
    id,
    title,
    scale: { suffix, factor },
    min: 0,
    logarithmic: false,
    content: shown(content),
    ...rest,
  };
}

function threshold(value: number, label: string, state: State = 'warning'): Threshold {
  return { value, label, state, source: 'setting plimsoll.live.thresholds' };
}

export const place = { uri: 'file:///work/chat.yaml', at: { start: 120, end: 140 } } as const;

export function table(
  id: string,
  columns: readonly (readonly [string, Table['columns'][number]['kind']])[],
  rows: readonly (readonly (string | Cell)[])[],
  actions: (index: number) => readonly { readonly title: string; readonly intent: Intent }[] = () => [],
): Table {
  return {
    id,
    columns: columns.map(([title, kind]) => ({ id: title.toLowerCase().replace(/\W+/g, '-'), title, kind })),
    rows: rows.map((cells, index): Row => ({
      id: `${id}-${index}`,
      cells: cells.map((cell) => (typeof cell === 'string' ? { text: cell } : cell)),
      state: 'good',
      actions: actions(index),
    })),
    sorted: { column: columns[0]?.[0].toLowerCase().replace(/\W+/g, '-') ?? '', descending: false },
    summary: `${rows.length} rows`,
  };
}

const number = (value: number, text = String(value)): Cell => ({ text, sort: value });
const state = (text: string, grave: State): Cell => ({ text, state: grave });

/** Pods of a Deployment, any number of them; the names of all but the ends are the same. */
export function pods(count: number, name: (index: number) => string = podName): Table {
  const rows = Array.from({ length: count }, (_, index): readonly (string | Cell)[] => {
    const isPending = index % 9 === 7;
    const isKilled = index % 23 === 3;
    return [
      name(index),
      isPending ? state('Pending', 'warning') : state('Running', 'good'),
      number(isPending ? 0 : 1, isPending ? 'no' : 'yes'),
      number(isKilled ? 3 : 0),
      isKilled ? state('OOMKilled (137)', 'critical') : '',
      isPending ? '' : `ip-10-0-${index % 100}-17.us-west-2.compute.internal`,
      isPending ? '' : 'g6.12xlarge',
      number(1),
      number((index % 50) * 60 + 30, `${(index % 50) + 1} min`),
    ];
  });
  const made = table(
    'pods',
    [
      ['Name', 'name'],
      ['Phase', 'state'],
      ['Ready', 'text'],
      ['Restarts', 'number'],
      ['Last termination', 'state'],
      ['Node', 'name'],
      ['Instance type', 'text'],
      ['GPUs', 'number'],
      ['Age', 'number'],
    ],
    rows,
    (index) => [
      { title: 'Open the manifest', intent: { kind: 'open-place', place } },
      {
        title: 'Open the log',
        intent: { kind: 'open-log', pod: { namespace: 'llm', name: name(index) }, previous: false },
      },
      {
        title: 'Describe in a terminal',
        intent: { kind: 'terminal', command: `kubectl describe pod -n llm ${name(index)}` },
      },
    ],
  );
  return { ...made, summary: `${rows.filter((row) => row[2] !== undefined).length} pods` };
}

export function podName(index: number): string {
  return `vllm-llama-3-3-70b-instruct-production-7c9d8b6f5d-${index.toString(36).padStart(5, 'x')}`;
}

/** The model; a test replaces the parts that it is about. */
export function fakeModel(part: Partial<PanelModel> = {}): PanelModel {
  const ttft = curve(0.31, 1.24, 0.55, 0.03);
  const gpu = curve(0.52, 0.97, 0.5, 0.03);
  const waiting = curve(0, 41, 0.62, 1).map((value) => Math.max(0, Math.round(value)));
  const withGap = gpu.map((value, index) => (index > 30 && index < 44 ? null : value));
  return {
    at: now,
    title: {
      text: 'Deployment vllm',
      kind: 'Deployment',
      name: 'vllm-llama-3-3-70b',
      namespace: 'llm',
      context: 'context prod-eks, account 123456789012, us-west-2',
      demo: false,
      place,
    },
    range: '1h',
    window: { from, to: now },
    refresh: 15_000,
    verdict: {
      name: 'queue-saturated',
      state: 'critical',
      word: 'Queue-saturated',
      sentence:
        '41 requests wait, 10 times the target of 4 per replica, and the KV cache is 94 % full; TTFT p95 is 1.24 s',
      since: 'since 12 min',
      evidence: [
        {
          text: 'Queue 41 (above 10)',
          detail: 'vllm:num_requests_waiting, now; threshold of the ScaledObject',
          state: 'critical',
          target: 'queue-waiting',
        },
        {
          text: 'KV cache 94 % (above 90 %)',
          detail: 'vllm:kv_cache_usage_perc, 5 min',
          state: 'warning',
          target: 'kv-cache',
        },
        {
          text: 'TTFT p95 1.24 s (above 500 ms)',
          detail: 'Prometheus, 5 min',
          state: 'critical',
          target: 'ttft',
        },
        { text: '2 pods pending', detail: 'Kubernetes API', state: 'warning', target: 'pods' },
      ],
      next: [
        { title: 'See why it does not scale', intent: { kind: 'show', target: 'scaling' } },
        { title: 'Open maxReplicas', intent: { kind: 'open-place', place } },
      ],
      also: [
        {
          name: 'crash-looping',
          word: 'Crash-looping',
          state: 'critical',
          sentence: 'container vllm of 1 pod was OOMKilled 3 times in 10 min',
        },
      ],
      unjudged: [{ word: 'Throttled', missing: 'no source tells the clock of the GPUs' }],
    },
    tiles: [
      tile('gpu', 'GPU', '97 %', '4 GPUs of 2 pods', 'warning', 'busy', gpu, '+18 % against the baseline'),
      tile('vram', 'VRAM', '91 %', '87.4 of 96 GiB', 'warning', 'high', curve(0.88, 0.91, 0.5, 0.002)),
      tile(
        'ttft',
        'TTFT p95',
        '1.24 s',
        'chat, 500 ms',
        'critical',
        'slow',
        ttft,
        '+290 % against the baseline',
      ),
      tile('queue', 'Queue', '41', '82 running', 'critical', 'deep', waiting),
      tile(
        'replicas',
        'Replicas',
        '2',
        'of 4 ready',
        'warning',
        'pending',
        curve(2, 4, 0.7, 0).map(Math.round),
      ),
      {
        id: 'cost',
        title: 'Cost',
        shown: {
          kind: 'absent',
          why: 'The price of p9.48xlarge is not known',
          whatToDo: 'Set plimsoll.live.prices',
        },
        caption: '',
        state: 'unknown',
        word: 'unknown',
        target: 'cost',
      },
    ],
    charts: [
      {
        id: 'gpu',
        title: 'GPU',
        charts: [
          chart(
            'gpu-utilization',
            'Utilisation',
            ['%', 100],
            [
              line('0', 'GPU 0 on ip-10-0-1-7', withGap),
              line('1', 'GPU 1 on ip-10-0-1-7', curve(0.5, 0.92, 0.5, 0.04), { emphasis: 'secondary' }),
              line('2', 'unattributed GPU 2', curve(0, 0.02, 0.5, 0.01), { emphasis: 'faint', dashed: true }),
            ],
            { max: 1, thresholds: [threshold(0.9, 'compute-bound 90 %')] },
          ),
          chart(
            'gpu-memory',
            'Memory',
            ['GiB', 1 / 2 ** 30],
            [line('0', 'used', curve(20e9, 21.6e9, 0.5, 1e8))],
            { thresholds: [threshold(0.92 * 24 * 2 ** 30, 'at risk 92 %')] },
          ),
          chart(
            'gpu-temperature',
            'Temperature',
            ['°C', 1],
            [line('0', 'GPU 0 on ip-10-0-1-7', curve(61, 83, 0.6, 0.8))],
            { thresholds: [threshold(85, 'throttles at 85 °C', 'critical')], stale: 'data ends 4 min ago' },
          ),
          {
            id: 'gpu-clock',
            title: 'SM clock',
            scale: { suffix: 'MHz', factor: 1e-6 },
            logarithmic: false,
            content: empty('No source tells the clock', 'Add DCGM_FI_DEV_SM_CLOCK to the exporter'),
          },
        ],
      },
      {
        id: 'latency',
        title: 'Latency',
        charts: [
          chart(
            'ttft',
            'Time to first token',
            ['ms', 1000],
            [
              line('p50', 'p50', curve(0.14, 0.41, 0.55, 0.01), { emphasis: 'secondary' }),
              line('p95', 'p95', ttft),
              line('p99', 'p99', curve(0.5, 2.3, 0.55, 0.06), { emphasis: 'secondary' }),
            ],
            {
              logarithmic: true,
              thresholds: [threshold(0.5, 'chat 500 ms'), threshold(2, 'batch 2 s', 'critical')],
            },
          ),
          chart(
            'inter-token',
            'Time between tokens',
            ['ms', 1000],
            [line('p95', 'p95', curve(0.021, 0.048, 0.55, 0.001))],
            { logarithmic: true, thresholds: [threshold(0.1, '100 ms per token')] },
          ),
        ],
      },
      {
        id: 'queue',
        title: 'Queue and KV cache',
        charts: [
          chart(
            'queue-waiting',
            'Requests',
            ['', 1],
            [
              line('waiting', 'waiting', waiting),
              line('running', 'running', curve(40, 82, 0.5, 2).map(Math.round), { emphasis: 'secondary' }),
            ],
          ),
          chart('kv-cache', 'KV cache', ['%', 100], [line('kv', 'in use', curve(0.48, 0.94, 0.55, 0.01))], {
            max: 1,
            thresholds: [threshold(0.9, 'pressure 90 %')],
          }),
        ],
      },
      {
        id: 'devices',
        title: 'EFA and Neuron',
        charts: [
          {
            id: 'efa',
            title: 'EFA',
            scale: { suffix: 'MB/s', factor: 1e-6 },
            logarithmic: false,
            content: empty('The instance types have no EFA', '', 'good'),
          },
        ],
      },
    ],
    markers: [
      {
        at: now - 34 * minutes,
        kind: 'rollout',
        label: 'revision 7',
        detail: 'ReplicaSet vllm-7c9d8b6f5d',
        state: 'info',
      },
      { at: now - 19 * minutes, kind: 'scale', label: '2 -> 4 replicas', detail: 'HPA', state: 'info' },
      {
        at: now - 9 * minutes,
        kind: 'oom',
        label: 'OOMKilled',
        detail: 'container vllm, exit code 137',
        state: 'critical',
      },
    ],
    scaling: shown({
      summary: '4 -> 5: ceil(4 x 12.5 / 10) = 5',
      state: 'warning',
      scaler: 'ScaledObject vllm (HPA keda-hpa-vllm)',
      bounds: '2 to 8 replicas',
      metrics: table(
        'scaling-metrics',
        [
          ['Metric', 'name'],
          ['Current', 'number'],
          ['Target', 'number'],
          ['Formula', 'text'],
        ],
        [['s0-prometheus', number(12.5), number(10), 'ceil(4 x 12.5 / 10) = 5']],
      ),
      steps: [
        { text: 's0-prometheus asks for 5', holds: false },
        { text: 'the policy allows 1 pod per 60 s, and 1 was added 20 s ago: 4', holds: true },
      ],
      caveats: ['The status does not tell which pods were counted'],
      conditions: shown(
        table(
          'scaling-conditions',
          [
            ['Condition', 'text'],
            ['Status', 'state'],
            ['Message', 'text'],
          ],
          [
            [
              'ScalingActive',
              state('True', 'good'),
              'the HPA was able to successfully calculate a replica count',
            ],
          ],
        ),
      ),
      events: empty('No events in the last hour', '', 'good'),
      pending: shown(
        table(
          'scaling-pending',
          [
            ['Pod', 'name'],
            ['Why', 'text'],
            ['NodePool', 'name'],
          ],
          [[podName(7), '0/12 nodes are available: 12 Insufficient nvidia.com/gpu', 'gpu-inference']],
        ),
      ),
      nodeClaims: shown(
        table(
          'scaling-claims',
          [
            ['NodeClaim', 'name'],
            ['State', 'state'],
            ['Age', 'number'],
          ],
          [['gpu-inference-x7k2p', state('Launched', 'info'), number(95, '1 min 35 s')]],
        ),
      ),
      coldStart: shown({
        total: '5 min 42 s',
        pod: podName(1),
        phases: [
          phase('schedule', 'Scheduling', '6 s', 6, 342),
          phase('node', 'Node', '1 min 58 s', 118, 342),
          phase('image', 'Image', '1 min 21 s', 81, 342),
          phase('weights', 'Weights', '1 min 52 s', 112, 342),
          phase('engine', 'Engine', '25 s', 25, 342),
        ],
        starts: table(
          'scaling-starts',
          [
            ['Pod', 'name'],
            ['Total', 'number'],
          ],
          [[podName(1), number(342, '5 min 42 s')]],
        ),
      }),
    }),
    pods: shown(pods(6)),
    alarms: shown({
      evaluated: table(
        'alarms',
        [
          ['Alarm', 'text'],
          ['Tier', 'text'],
          ['State', 'state'],
          ['Value', 'number'],
          ['Rule', 'text'],
        ],
        [
          ['VRAM', 'warning', state('ALARM', 'warning'), number(0.91, '91 %'), 'above 85 % for 15 min'],
          ['Restarts', 'critical', state('ALARM', 'critical'), number(3), 'more than 2 in 5 min'],
          ['5xx', 'critical', state('OK', 'good'), number(0, '0 %'), 'above 2 % for 3 min'],
        ],
      ),
      cloud: empty('CloudWatch may not be read: AccessDenied', 'Grant cloudwatch:DescribeAlarms', 'warning'),
    }),
    cost: shown({
      perHour: value('$9.20/h', 9.2),
      perMillionTokens: value('$1.43', 1.43),
      idleShare: value('12 %', 0.12),
      idlePerHour: value('$1.10/h', 1.1),
      nodes: table(
        'cost-nodes',
        [
          ['Node', 'name'],
          ['Type', 'text'],
          ['Share', 'number'],
          ['Per hour', 'number'],
        ],
        [['ip-10-0-1-7', 'g6.12xlarge', number(1, '100 %'), number(4.6, '$4.60/h')]],
      ),
      byNamespace: empty('Pods of other namespaces may not be listed', 'Grant list on pods', 'info'),
      byLabel: [],
      priceBasis: 'us-west-2 on-demand Linux, USD per hour, of 2026-07-20',
      caveats: ['Savings plans are not known here'],
    }),
    controlPlane: shown({
      facts: [
        { title: 'API server p99', shown: value('84 ms', 0.084), state: 'good' },
        { title: 'Errors', shown: value('0/s', 0), state: 'good' },
        {
          title: 'Storage',
          shown: { kind: 'absent', why: 'Not exported', whatToDo: 'Allow /metrics' },
          state: 'unknown',
        },
        { title: 'Pending pods', shown: value('2', 2), state: 'warning' },
      ],
    }),
    triage: shown([
      {
        pod: { namespace: 'llm', name: podName(3) },
        container: 'vllm',
        title: 'OOMKilled (exit code 137) 3 times in 10 min',
        state: 'critical',
        steps: [
          {
            id: 'termination',
            title: 'Termination',
            text: 'The kernel killed the container: its working set reached the limit of 48 GiB',
            lines: [],
            facts: [],
            actions: [],
            known: true,
          },
          {
            id: 'log',
            title: 'Log',
            text: '2 lines that matter, of the run before the restart',
            lines: [
              'INFO 03-01 14:20:58 loader.py:447] Loading weights took 92.13 seconds',
              'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
            ],
            facts: [],
            actions: [
              {
                title: 'Open the log of the run before',
                intent: { kind: 'open-log', pod: { namespace: 'llm', name: podName(3) }, previous: true },
              },
            ],
            known: true,
          },
          {
            id: 'before',
            title: 'Just before',
            text: 'Memory grew from 31 to 48 GiB in 40 s',
            lines: [],
            facts: [
              { title: 'Working set', shown: value('47.9 GiB', 47.9 * 2 ** 30), state: 'critical' },
              { title: 'VRAM', shown: value('91 %', 0.91), state: 'warning' },
            ],
            actions: [],
            known: true,
          },
          {
            id: 'fix',
            title: 'Fix',
            text: 'Raise the memory limit to 64 GiB: 16 GiB weights in the page cache count too',
            lines: [],
            facts: [],
            actions: [
              {
                title: 'Open the memory limit',
                intent: { kind: 'quick-fix', place, title: 'Limit memory to 64Gi' },
              },
            ],
            known: true,
          },
        ],
      },
    ]),
    logs: shown({
      queries: [
        {
          id: 'slow-requests',
          title: 'Slow requests',
          query: 'fields @timestamp, latency_ms\n| sort latency_ms desc\n| limit 20',
          costNote: 'Runs on request; about $0.005 per GB scanned',
          run: { title: 'Run', intent: { kind: 'run-logs-query', query: 'slow-requests' } },
          result: empty('Not run yet', '', 'info'),
        },
      ],
    }),
    baseline: shown({
      saved: 'saved 2 days ago over 1 h',
      comparison: table(
        'baseline',
        [
          ['Metric', 'text'],
          ['Baseline', 'number'],
          ['Now', 'number'],
          ['Change', 'number'],
        ],
        [['TTFT p95', number(0.31, '310 ms'), number(1.24, '1.24 s'), number(3, '+300 %')]],
      ),
      regressions: ['TTFT p95 is 300 % slower at 1.9 times the load'],
      actions: [
        { title: 'Save as the baseline', intent: { kind: 'save-baseline' } },
        { title: 'Forget the baseline', intent: { kind: 'clear-baseline' } },
      ],
    }),
    readiness: shown({
      summary: '14 of 17 pass, 2 fail, 1 unknown',
      items: table(
        'readiness',
        [
          ['Area', 'text'],
          ['Item', 'text'],
          ['Result', 'state'],
          ['Why', 'text'],
        ],
        [
          ['Pod', 'CPU and memory requests and limits', state('pass', 'good'), 'container vllm has them'],
          [
            'Resilience',
            'PodDisruptionBudget',
            state('fail', 'critical'),
            'no PodDisruptionBudget selects it',
          ],
        ],
        () => [{ title: 'Open the line', intent: { kind: 'open-place', place } }],
      ),
    }),
    findings: shown(
      table(
        'findings',
        [
          ['Severity', 'state'],
          ['Rule', 'name'],
          ['Message', 'text'],
        ],
        [[state('warning', 'warning'), 'missing-pdb', 'Deployment "vllm" has 2 replicas and no budget']],
      ),
    ),
    overview: {
      tiles: [
        tile(
          'availability',
          'Availability',
          '98.2 %',
          'of requests, 1 h',
          'warning',
          'low',
          curve(1, 0.97, 0.6, 0.001),
        ),
        tile('volume', 'Requests', '18.4/s', '66,000 in 1 h', 'good', 'normal', curve(9, 18, 0.5, 0.5)),
        tile('tokens', 'Tokens out', '6,420/s', '', 'good', 'normal', curve(3000, 6400, 0.5, 80)),
        tile('cost', 'Cost', '$9.20/h', '$1.43 per million tokens', 'good', 'normal'),
      ],
      sentences: ['Users wait 1.24 s for the first word; 12 minutes ago it was 310 ms.'],
    },
    sources: [
      source(
        'kubernetes',
        'Kubernetes API',
        'good',
        'connected',
        'context prod-eks, answered in 120 ms, 4 s ago',
      ),
      source('engine-metrics', 'Engine metrics', 'warning', 'partly failed', '1 of 2 pods answered', {
        problems: [
          {
            text: 'GET /metrics of pod llm/vllm-0: 403 Forbidden',
            whatToDo: 'Grant get on pods/proxy in namespace llm',
            grant: 'apiGroups: [""]\nresources: [pods/proxy]\nverbs: [get]\n',
          },
        ],
      }),
      source('prometheus', 'Prometheus', 'good', 'connected', 'http://prometheus.monitoring:9090, 4 s ago'),
      source('cloudwatch', 'CloudWatch', 'unknown', 'not set up', 'Set plimsoll.live.cloudwatch.enable', {
        cost: '12 metrics a read, $0.14/h while visible',
        actions: [{ title: 'Set up', intent: { kind: 'configure-source', source: 'cloudwatch' } }],
      }),
    ],
    markdown: '# Deployment vllm\n\n**Queue-saturated**: 41 requests wait\n',
    ...part,
  };
}

function tile(
  id: PanelModel['tiles'][number]['id'],
  title: string,
  text: string,
  caption: string,
  grave: State,
  word: string,
  sparkline?: readonly (number | null)[],
  change?: string,
): PanelModel['tiles'][number] {
  const targets: Readonly<Record<string, string>> = {
    gpu: 'gpu-utilization',
    vram: 'gpu-memory',
    ttft: 'ttft',
    queue: 'queue-waiting',
    replicas: 'scaling',
  };
  return {
    id,
    title,
    shown: { kind: 'value', text, value: 1, detail: `${title}: Prometheus, 5 min, 14:30` },
    caption,
    state: grave,
    word,
    ...(sparkline === undefined ? {} : { sparkline }),
    ...(change === undefined ? {} : { change: { text: change, state: 'warning' } }),
    target: targets[id] ?? 'cost',
  };
}

function value(
  text: string,
  amount: number,
): Extract<PanelModel['tiles'][number]['shown'], { kind: 'value' }> {
  return { kind: 'value', text, value: amount, detail: 'Prometheus, 5 min' };
}

function phase(
  id: 'schedule' | 'node' | 'image' | 'weights' | 'engine',
  title: string,
  text: string,
  seconds: number,
  total: number,
) {
  return {
    id,
    title,
    text,
    seconds,
    share: seconds / total,
    detail: `${title}: from condition to condition`,
  };
}

function source(
  id: PanelModel['sources'][number]['source'],
  title: string,
  grave: State,
  word: string,
  text: string,
  part: Partial<PanelModel['sources'][number]> = {},
): PanelModel['sources'][number] {
  return { source: id, title, state: grave, word, text, problems: [], actions: [], ...part };
}
