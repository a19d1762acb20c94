import { above, all, any, below, ifKnown } from './condition';
import type { Condition, Evidence } from './condition';
import type { QuantityId } from './quantities';

export type VerdictName =
  | 'healthy'
  | 'queue-saturated'
  | 'kv-cache-pressure'
  | 'compute-bound'
  | 'vram-at-risk'
  | 'throttled'
  | 'degraded'
  | 'idle-gpus'
  | 'scaling-blocked'
  | 'crash-looping'
  | 'demand'
  | 'infrastructure'
  | 'unknown';

/** How grave something is. */
export type Gravity = 'good' | 'info' | 'warning' | 'critical' | 'unknown';

/** What to do next; the panel turns each into a control with a place to go to. */
export type NextStep =
  | 'triage'
  | 'open-memory-limit'
  | 'open-maximum'
  | 'show-pending'
  | 'show-scaling'
  | 'show-kv-cache'
  | 'open-engine-arguments'
  | 'show-gpus'
  | 'show-cost'
  | 'show-latency'
  | 'show-nodes'
  | 'show-sources'
  | 'open-replicas';

export interface VerdictRow {
  readonly name: Exclude<VerdictName, 'healthy' | 'unknown'>;
  readonly word: string;
  readonly gravity: Gravity;
  readonly when: Condition;
  /** The quantity whose history tells since when. */
  readonly since: QuantityId;
  /** One sentence of the evidence. `of` gives the text of a quantity that is known, `has` whether it holds. */
  readonly sentence: (facts: SentenceFacts) => string;
  readonly next: readonly { readonly step: NextStep; readonly title: string }[];
}

export interface SentenceFacts {
  /** The text of a quantity of the evidence; empty when it is not in it. */
  of(quantity: QuantityId): string;
  value(quantity: QuantityId): number | undefined;
  has(quantity: QuantityId): boolean;
}

const join = (...parts: readonly (string | false)[]): string =>
  parts.filter((part) => part !== false).join('; ');
const pods = (text: string): string => `${text} ${text === '1' ? 'pod' : 'pods'}`;

/**
 * The decision table: rows in order of urgency. The first row that holds is the verdict, the others are told as "also".
 * A row of which a value is missing does not hold and is told as not judged. `healthy` and `unknown` are what is left.
 */
export const verdictTable: readonly VerdictRow[] = [
  {
    name: 'crash-looping',
    word: 'Crash-looping',
    gravity: 'critical',
    when: any(above('pods.failing', 0), above('restarts.recent', 'criticalRestarts')),
    since: 'restarts.recent',
    sentence: ({ of, value, has }) => {
      const oom = value('pods.oom') ?? 0;
      const failing = value('pods.failing') ?? 0;
      if (has('pods.failing')) {
        const containers = `${of('pods.failing')} ${failing === 1 ? 'container was' : 'containers were'}`;
        return oom > 0
          ? `${containers} killed or crashed in the last 15 min, ${oom === failing ? 'by the memory limit (OOMKilled)' : `${of('pods.oom')} by the memory limit (OOMKilled)`}`
          : `${containers} killed or crashed in the last 15 min`;
      }
      return `${of('restarts.recent')} restarts in 5 min`;
    },
    next: [
      { step: 'triage', title: 'Show the triage' },
      { step: 'open-memory-limit', title: 'Open the memory limit' },
    ],
  },
  {
    name: 'scaling-blocked',
    word: 'Scaling blocked',
    gravity: 'critical',
    when: any(
      above('scaling.above-maximum', 0),
      all(above('pods.pending', 0), above('pods.pending-for', 'pendingFor')),
      above('scaling.failures', 0),
    ),
    since: 'pods.pending-for',
    sentence: ({ of, has }) =>
      join(
        has('scaling.above-maximum') &&
          `the autoscaler is at its maximum and wants ${of('scaling.above-maximum')} more`,
        has('pods.pending') &&
          `${pods(of('pods.pending'))} without a node, the longest for ${of('pods.pending-for')}`,
        has('scaling.failures') && `the autoscaler cannot read ${of('scaling.failures')} of its metrics`,
      ),
    next: [
      { step: 'show-pending', title: 'Show why' },
      { step: 'open-maximum', title: 'Open maxReplicas' },
    ],
  },
  {
    name: 'throttled',
    word: 'Throttled',
    gravity: 'warning',
    when: any(
      above('gpu.temperature', 'temperature'),
      above('gpu.throttle', 0),
      below('gpu.clock', 'clockLow'),
    ),
    since: 'gpu.temperature',
    sentence: ({ of, has }) =>
      join(
        has('gpu.temperature') && `a GPU is at ${of('gpu.temperature')}`,
        has('gpu.throttle') && 'the driver lowers the clock for heat',
        has('gpu.clock') && `a busy GPU runs at ${of('gpu.clock')} of its highest clock`,
      ),
    next: [
      { step: 'show-gpus', title: 'Show the GPUs' },
      { step: 'show-nodes', title: 'Show the nodes' },
    ],
  },
  {
    name: 'queue-saturated',
    word: 'Queue-saturated',
    gravity: 'critical',
    when: all(
      above('queue.per-pod', 'queueDeep'),
      any(above('queue.growth', 'queueGrowth'), above('kv-cache.usage', 'kvHigh')),
    ),
    since: 'queue.per-pod',
    sentence: ({ of, has }) =>
      join(
        `${of('queue.per-pod')} requests wait for each ready pod`,
        has('queue.growth') && `the queue is ${of('queue.growth')} what it was 10 min ago`,
        has('kv-cache.usage') && `the KV cache is ${of('kv-cache.usage')} full`,
      ),
    next: [
      { step: 'show-scaling', title: 'Show the scaling' },
      { step: 'open-maximum', title: 'Open maxReplicas' },
    ],
  },
  {
    name: 'kv-cache-pressure',
    word: 'KV-cache pressure',
    gravity: 'warning',
    when: all(above('kv-cache.usage', 'kvHigh'), ifKnown(above('kv-cache.preemptions', 0))),
    since: 'kv-cache.usage',
    sentence: ({ of, has }) =>
      join(
        `the KV cache is ${of('kv-cache.usage')} full`,
        has('kv-cache.preemptions') && `requests are preempted at ${of('kv-cache.preemptions')}`,
      ),
    next: [
      { step: 'open-engine-arguments', title: 'Open the engine arguments' },
      { step: 'show-kv-cache', title: 'Show the KV cache' },
    ],
  },
  {
    name: 'vram-at-risk',
    word: 'VRAM at risk',
    gravity: 'warning',
    when: above('gpu.memory.usage', 'vramRisk'),
    since: 'gpu.memory.usage',
    sentence: ({ of }) => `${of('gpu.memory.usage')} of the memory of a GPU is in use`,
    next: [
      { step: 'open-engine-arguments', title: 'Open the engine arguments' },
      { step: 'show-gpus', title: 'Show the GPUs' },
    ],
  },
  {
    name: 'degraded',
    word: 'Degraded',
    gravity: 'warning',
    when: all(
      above('latency.against-baseline', 'latencyWorse'),
      below('load.against-baseline.off', 'loadSame'),
    ),
    since: 'ttft.p95',
    sentence: ({ of }) =>
      `latency is ${of('latency.against-baseline')} that of the baseline, at a load that differs by ${of('load.against-baseline.off')}`,
    next: [{ step: 'show-latency', title: 'Compare with the baseline' }],
  },
  {
    name: 'infrastructure',
    word: 'Infrastructure slower',
    gravity: 'warning',
    when: all(above('latency.against-before', 'latencyWorse'), below('load.against-before.off', 'loadSame')),
    since: 'ttft.p95',
    sentence: ({ of }) =>
      `the same load is slower: latency is ${of('latency.against-before')} that of before, and the load differs by ${of('load.against-before.off')}`,
    next: [
      { step: 'show-nodes', title: 'Show what changed' },
      { step: 'show-gpus', title: 'Show the GPUs' },
    ],
  },
  {
    name: 'demand',
    word: 'Demand up',
    gravity: 'warning',
    when: all(above('latency.against-before', 'latencyWorse'), above('load.against-before', 'loadUp')),
    since: 'ttft.p95',
    sentence: ({ of }) =>
      `the load is ${of('load.against-before')} that of before, and latency ${of('latency.against-before')}`,
    next: [
      { step: 'show-scaling', title: 'Show the scaling' },
      { step: 'open-maximum', title: 'Open maxReplicas' },
    ],
  },
  {
    name: 'compute-bound',
    word: 'Compute-bound',
    gravity: 'info',
    when: all(
      above('gpu.utilization', 'gpuBusy'),
      any(below('kv-cache.usage', 'kvLow'), below('gpu.memory.usage', 'kvLow')),
    ),
    since: 'gpu.utilization',
    sentence: ({ of, has }) =>
      join(
        `the GPUs are busy ${of('gpu.utilization')} of the time`,
        has('kv-cache.usage') && `the KV cache is only ${of('kv-cache.usage')} full`,
        has('gpu.memory.usage') && `only ${of('gpu.memory.usage')} of their memory is in use`,
      ),
    next: [
      { step: 'open-replicas', title: 'Open the replicas' },
      { step: 'show-gpus', title: 'Show the GPUs' },
    ],
  },
  {
    name: 'idle-gpus',
    word: 'Idle GPUs',
    gravity: 'info',
    when: all(below('gpu.utilization.sustained', 'gpuIdle'), ifKnown(below('queue.per-pod', 'queueDeep'))),
    since: 'gpu.utilization.sustained',
    sentence: ({ of }) => `the GPUs were busy ${of('gpu.utilization.sustained')} of the last 30 min`,
    next: [
      { step: 'show-cost', title: 'Show the cost' },
      { step: 'open-replicas', title: 'Open the replicas' },
    ],
  },
];

/** What must be known before anything is called healthy: that it runs, and how it serves. */
export const healthyNeeds: readonly { readonly word: string; readonly anyOf: readonly QuantityId[] }[] = [
  { word: 'replicas', anyOf: ['replicas.missing'] },
  { word: 'restarts', anyOf: ['pods.failing'] },
  { word: 'queue or latency', anyOf: ['queue.waiting', 'ttft.p95', 'e2e.p95'] },
];

export function factsOf(evidence: readonly Evidence[]): SentenceFacts {
  const find = (quantity: QuantityId): Evidence | undefined =>
    evidence.find((one) => one.quantity === quantity);
  return {
    of: (quantity) => find(quantity)?.text ?? '',
    value: (quantity) => {
      const observed = find(quantity)?.observed;
      return observed?.kind === 'reading' ? observed.value : undefined;
    },
    has: (quantity) => find(quantity)?.holds === true,
  };
}
