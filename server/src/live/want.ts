import type { ObjectRef } from './cluster';
import type { Duration, Instant } from './reading';
import type { MetricId } from './vocabulary';

export const ranges = {
  '15m': { duration: 15 * 60_000, step: 15_000 },
  '1h': { duration: 3_600_000, step: 30_000 },
  '6h': { duration: 6 * 3_600_000, step: 120_000 },
  '24h': { duration: 24 * 3_600_000, step: 600_000 },
  '7d': { duration: 7 * 24 * 3_600_000, step: 3_600_000 },
} as const satisfies Readonly<Record<string, { readonly duration: Duration; readonly step: Duration }>>;

export type RangeName = keyof typeof ranges;

/** Which engine a workload runs, as far as its manifest tells; `unknown` is tried with all of them. */
export type EngineName =
  | 'vllm'
  | 'sglang'
  | 'tgi'
  | 'triton'
  | 'ray-serve'
  | 'tensorrt-llm'
  | 'nim'
  | 'llama-cpp'
  | 'ollama'
  | 'unknown';

/** What is asked of the sources. */
export interface Want {
  /** The object under the cursor; a scaler or a pool leads to its workloads in the cluster. */
  readonly object: ObjectRef;
  /** The workload that it is about, where the files tell: the target of an HPA. */
  readonly workload?: ObjectRef;
  /** What the manifest says about the server; the cluster's own pods say it better where they are there. */
  readonly engine: EngineName;
  readonly metricsPort?: number;
  readonly metricsPath?: string;
  readonly range: RangeName;
  /** The end of the range: the time of the request. */
  readonly now: Instant;
  /** Ids that are wanted; sources leave out what costs money and is not wanted. */
  readonly metrics: readonly MetricId[];
  /** Labels that cost is split by, such as `team`. */
  readonly allocationLabels: readonly string[];
  /** Whether the history of the range is wanted, or only how things are now (code lens, CLI). */
  readonly history: boolean;
  /** A query of CloudWatch Logs Insights that was asked for with this read; none runs by itself. */
  readonly logsQuery?: LogsQueryId;
}

export const logsQueryIds = ['latency-percentiles', 'slow-requests', 'tokens-and-cost'] as const;
export type LogsQueryId = (typeof logsQueryIds)[number];

/** Identity of what a snapshot is about, to match answers with questions. */
export function wantKey({ object, range }: Pick<Want, 'object' | 'range'>): string {
  return [object.apiVersion, object.kind, object.namespace, object.name, range].join('|');
}
