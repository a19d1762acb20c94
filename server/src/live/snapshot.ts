import type { ClusterView } from './cluster';
import type { Measurement, Series } from './measurement';
import type { Duration, Instant, Part, SourceId } from './reading';
import type { LogsQueryId, Want } from './want';

/** A permission that is missing, exactly enough to grant it. */
export type MissingPermission =
  | {
      readonly kind: 'rbac';
      readonly apiGroups: readonly string[];
      readonly resources: readonly string[];
      readonly verbs: readonly string[];
      readonly resourceNames?: readonly string[];
      /** Absent: a ClusterRole is needed. */
      readonly namespace?: string;
    }
  | { readonly kind: 'iam'; readonly action: string; readonly resource: string };

/** One thing that a source could not say. The rest of its answer counts. */
export interface SourceProblem {
  /** What was tried: `list nodes`, `/metrics of pod llm/vllm-0`, `p95 of ttft`. */
  readonly what: string;
  readonly why: 'not-configured' | 'denied' | 'failed' | 'slow' | 'nonsense';
  /** What happened, without a full stop and without secrets: `403 Forbidden: cannot list nodes at the cluster scope`. */
  readonly message: string;
  readonly missing?: MissingPermission;
  /** An imperative. */
  readonly remedy?: string;
}

export interface SourceStatus {
  readonly source: SourceId;
  /**
   * `partial`: some of it was said. `denied`, `failed`, `slow`: nothing of it was. `reading`: the first answer is on
   * its way.
   */
  readonly state: 'ok' | 'partial' | 'denied' | 'failed' | 'slow' | 'not-configured' | 'reading';
  /** What is asked, for people: `context prod-eks`, `https://aps-workspaces...`, `us-east-1`. No secrets. */
  readonly endpoint?: string;
  /** When it last answered. */
  readonly at?: Instant;
  /** How long the answer took. */
  readonly took?: Duration;
  readonly problems: readonly SourceProblem[];
  /** What asking costs, for sources that charge. */
  readonly cost?: {
    /** Metrics requested by the last read. */
    readonly metrics: number;
    readonly calls: number;
    /** At the present rate of refreshes, while the panel is visible. */
    readonly dollarsPerHour: number;
    /** `GetMetricData, $0.01 per 1,000 metrics (us-east-1, 2026-07)`. */
    readonly basis: string;
  };
}

/** An alarm of CloudWatch as it is, next to the ones that we evaluate. */
export interface CloudAlarm {
  readonly name: string;
  readonly kind: 'metric' | 'composite';
  readonly state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  readonly reason: string;
  readonly since: Instant;
  readonly description?: string;
  /** `ContainerInsights pod_gpu_memory_utilization > 85 for 15 min`; for composites the rule. */
  readonly rule: string;
  readonly actionsEnabled: boolean;
}

export interface LogsQueryResult {
  readonly id: LogsQueryId;
  readonly query: string;
  readonly logGroups: readonly string[];
  readonly window: { readonly from: Instant; readonly to: Instant };
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly scannedBytes: number;
  /** What the scan cost, in dollars, and by which price. */
  readonly cost: { readonly dollars: number; readonly basis: string };
}

/** Where the answers are from. */
export interface LiveContext {
  /** Name of the kubeconfig context; `demo` for the demo. */
  readonly name: string;
  readonly cluster?: string;
  readonly account?: string;
  readonly region?: string;
  readonly namespace: string;
  readonly demo: boolean;
  /** `v1.34.2`, as the API server says. */
  readonly serverVersion?: string;
}

/** What a source answers. Parts that it has nothing to do with are left out. */
export interface SourceAnswer {
  readonly status: SourceStatus;
  readonly cluster?: Partial<ClusterView>;
  readonly measurements?: readonly Measurement[];
  readonly series?: readonly Series[];
  readonly alarms?: Part<readonly CloudAlarm[]>;
  readonly logsQuery?: Part<LogsQueryResult>;
  readonly context?: Partial<LiveContext>;
  /** Metric names that the engines of the workload export now, for rules about wrong names. */
  readonly exportedNames?: Part<readonly string[]>;
}

/** What became of a query of the logs. */
export interface LogsAnswer {
  readonly id: LogsQueryId;
  readonly answer: Part<LogsQueryResult>;
}

/**
 * All that is known about an object at one time, of all sources. Plain data: it can be stored and sent. What no source
 * said is absent with a reason, or not there; never zero.
 */
export interface LiveSnapshot {
  readonly want: Want;
  /** When it was put together. */
  readonly at: Instant;
  readonly context: LiveContext;
  /** One for each of {@link SourceId} that there is to know about, configured or not. */
  readonly sources: readonly SourceStatus[];
  readonly cluster: ClusterView;
  readonly measurements: readonly Measurement[];
  readonly series: readonly Series[];
  readonly alarms: Part<readonly CloudAlarm[]>;
  /** The newest answer to each query that was run. */
  readonly logsQueries: readonly LogsAnswer[];
  readonly exportedNames: Part<readonly string[]>;
  /** How often it is read again while it is looked at; what is older than two of these is stale. */
  readonly refresh: Duration;
}
