import type { PodName } from '../live/measurement';
import type { ObjectRef } from '../live/cluster';
import type { Duration, Instant, SourceId } from '../live/reading';
import type { LogsQueryId, RangeName } from '../live/want';
import type { VerdictName } from '../live/verdict/table';
import type { Span } from '../yaml/node';

/**
 * Everything that the panel shows, complete each time, as plain data. The view lays it out and formats nothing: every
 * text is final, in plain characters, and must reach the page as text only, because names come from the cluster.
 *
 * A part that has nothing to show says why and what to do. No part shows zero for what no source said.
 */
export interface PanelModel {
  /** When it was made. */
  readonly at: Instant;
  readonly title: PanelTitle;
  readonly range: RangeName;
  /** What the charts' axis spans. */
  readonly window: { readonly from: Instant; readonly to: Instant };
  /** Milliseconds between two reads; the view pauses them when hidden. */
  readonly refresh: Duration;
  readonly verdict: VerdictView;
  /** GPU, VRAM, TTFT p95, queue, replicas, dollars per hour; in this order. */
  readonly tiles: readonly Tile[];
  /** Grouped; on one time axis. */
  readonly charts: readonly ChartGroup[];
  /** Rollouts, scale events, restarts, alarms: drawn in every chart. */
  readonly markers: readonly Marker[];
  readonly scaling: Section<ScalingView>;
  readonly pods: Section<Table>;
  readonly alarms: Section<AlarmsView>;
  readonly cost: Section<CostView>;
  readonly controlPlane: Section<FactsView>;
  readonly triage: Section<readonly TriageCase[]>;
  readonly logs: Section<LogsView>;
  readonly baseline: Section<BaselineView>;
  readonly readiness: Section<ReadinessView>;
  /** Findings of the linter on the file's object, worst first. */
  readonly findings: Section<Table>;
  readonly overview: OverviewView;
  readonly sources: readonly SourceView[];
  /** The whole state as Markdown, for the clipboard. */
  readonly markdown: string;
}

/** How grave something is. Always shown as a word as well. */
export type State = 'good' | 'info' | 'warning' | 'critical' | 'unknown';

export interface PanelTitle {
  /** `Deployment vllm`. */
  readonly text: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** `context prod-eks, account 123456789012, us-east-1`. */
  readonly context: string;
  /** Shown in large letters. */
  readonly demo: boolean;
  /** The object in the file that the panel follows. */
  readonly place?: Place;
}

/** A place in a file; offsets are UTF-16 in the file's text as it was when the model was made. */
export interface Place {
  readonly uri: string;
  readonly at: Span;
}

/** What a control does. The view sends it back as it got it; the host does it or asks first. */
export type Intent =
  | { readonly kind: 'open-place'; readonly place: Place }
  /** Opens the place and offers the quick fixes there; `title` is the one that is meant. */
  | { readonly kind: 'quick-fix'; readonly place: Place; readonly title?: string }
  | {
      readonly kind: 'open-log';
      readonly pod: PodName;
      readonly container?: string;
      readonly previous: boolean;
    }
  /** Shows the object as the cluster has it, as YAML, read-only. */
  | { readonly kind: 'open-live-object'; readonly object: ObjectRef }
  /** Puts a command into a terminal without running it. */
  | { readonly kind: 'terminal'; readonly command: string }
  /** Scrolls to a chart or section of this page and marks it. */
  | { readonly kind: 'show'; readonly target: string }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'run-logs-query'; readonly query: LogsQueryId }
  | { readonly kind: 'cancel-logs-query'; readonly query: LogsQueryId }
  | { readonly kind: 'save-baseline' }
  | { readonly kind: 'clear-baseline' }
  | { readonly kind: 'configure-source'; readonly source: SourceId }
  | { readonly kind: 'use-demo' }
  | { readonly kind: 'open-rule'; readonly rule: string }
  | { readonly kind: 'open-settings'; readonly setting: string };

export interface Action {
  /** `Open the memory limit`; an imperative. */
  readonly title: string;
  readonly intent: Intent;
}

/** A part of the panel, or why there is nothing in it and what would fill it. */
export type Section<T> =
  { readonly kind: 'shown'; readonly value: T; readonly notes?: readonly string[] } | Empty;

export interface Empty {
  readonly kind: 'empty';
  /** `Events cannot be read: 403 Forbidden`; also for good news: `No pod was killed or crashes`. */
  readonly why: string;
  /** `Grant list on events in namespace llm`; empty when there is nothing to do. */
  readonly whatToDo: string;
  readonly actions: readonly Action[];
  /** `good`: there is nothing because all is well. */
  readonly state: State;
}

/** A text with its value. */
export type Shown =
  | {
      readonly kind: 'value';
      /** `640 ms`, `12.4 GiB`, `$4.12/h`. */
      readonly text: string;
      /** In the unit of the vocabulary, for sorting and CSV. */
      readonly value: number;
      /** Source, window and time, for hover. */
      readonly detail: string;
      /** Older than two refreshes: faded, with this age: `4 min old`. */
      readonly stale?: string;
    }
  | { readonly kind: 'absent'; readonly why: string; readonly whatToDo: string };

// --- Verdict

export interface VerdictView {
  readonly name: VerdictName;
  readonly state: State;
  /** `Queue-saturated`. */
  readonly word: string;
  /** One sentence with numbers: `40 requests wait, 3 times as many as an hour ago, and the KV cache is 94 % full`. */
  readonly sentence: string;
  /** `since 12 min`; absent when the history does not tell. */
  readonly since?: string;
  readonly evidence: readonly EvidenceChip[];
  /** The first is the button. */
  readonly next: readonly Action[];
  /** What else is true, in order of urgency. */
  readonly also: readonly {
    readonly name: VerdictName;
    readonly word: string;
    readonly state: State;
    readonly sentence: string;
  }[];
  /** What could not be judged and why. */
  readonly unjudged: readonly { readonly word: string; readonly missing: string }[];
}

export interface EvidenceChip {
  /** `KV cache 94 % (above 90 %)`. */
  readonly text: string;
  /** Window, time, source, and where the threshold is from. */
  readonly detail: string;
  readonly state: State;
  /** Id of the chart or section that it jumps to. */
  readonly target?: string;
}

// --- Tiles

export type TileId =
  'gpu' | 'vram' | 'ttft' | 'queue' | 'replicas' | 'cost' | 'availability' | 'volume' | 'tokens';

export interface Tile {
  readonly id: TileId;
  /** `GPU`, `TTFT p95`. */
  readonly title: string;
  readonly shown: Shown;
  /** `of 24 GiB`, `3 of 4 ready`; may be empty. */
  readonly caption: string;
  readonly state: State;
  /** The state in a word: `high`, `normal`, `unknown`. */
  readonly word: string;
  /** Over the range; nulls are gaps. Absent without history. */
  readonly sparkline?: readonly (number | null)[];
  /** `+18 % against the baseline`; absent without one. */
  readonly change?: { readonly text: string; readonly state: State };
  /** Chart or section that it jumps to. */
  readonly target: string;
}

// --- Charts

export interface ChartGroup {
  readonly id: 'gpu' | 'latency' | 'traffic' | 'queue' | 'scaling' | 'devices';
  readonly title: string;
  readonly charts: readonly Chart[];
}

export interface Chart {
  /** Unique in the model; target of jumps. */
  readonly id: string;
  readonly title: string;
  /** How values of the axis are written: the view scales by `factor` and appends `suffix`, with three digits. */
  readonly scale: AxisScale;
  /** Shares and counts begin at zero; shares end at 1. In units of the values. */
  readonly min?: number;
  readonly max?: number;
  /** Offered for latency. */
  readonly logarithmic: boolean;
  readonly content: Section<ChartContent>;
}

export interface AxisScale {
  /** `%`, `ms`, `GiB`, `/s`; one for the whole chart, chosen for its largest value. */
  readonly suffix: string;
  /** Multiplies a value of the vocabulary's unit. */
  readonly factor: number;
}

export interface ChartContent {
  /** Ascending instants; the same for all lines. */
  readonly at: readonly Instant[];
  readonly lines: readonly ChartLine[];
  readonly thresholds: readonly Threshold[];
  /** Data ends more than two refreshes ago: `data ends 4 min ago`. */
  readonly stale?: string;
}

export interface ChartLine {
  readonly id: string;
  /** `GPU 0 on ip-10-0-1-7`, `p95`, `unattributed GPU 3`. */
  readonly label: string;
  /** In the vocabulary's unit; null is a gap and is not joined. */
  readonly values: readonly (number | null)[];
  /** Where it is from. */
  readonly source: string;
  readonly emphasis: 'main' | 'secondary' | 'faint';
  readonly dashed: boolean;
}

export interface Threshold {
  readonly value: number;
  /** `TTFT 500 ms (chat)`. */
  readonly label: string;
  readonly state: State;
  /** Who says so: `setting plimsoll.thresholds.ttft`, `HPA target`. */
  readonly source: string;
}

export interface Marker {
  readonly at: Instant;
  readonly kind: 'rollout' | 'scale' | 'restart' | 'oom' | 'alarm' | 'node' | 'event';
  /** `3 -> 4 replicas`. */
  readonly label: string;
  /** Time, reason and source. */
  readonly detail: string;
  readonly state: State;
}

// --- Tables

export interface Table {
  readonly id: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Column and direction that it comes in. */
  readonly sorted: { readonly column: string; readonly descending: boolean };
  /** What is above and below it, `6 of 1,000 pods are not ready`. */
  readonly summary: string;
}

export interface Column {
  readonly id: string;
  readonly title: string;
  /** Numbers are right-aligned with tabular figures, names in the editor's font and cut in the middle. */
  readonly kind: 'text' | 'number' | 'name' | 'state';
  readonly detail?: string;
}

export interface Row {
  /** Stable over refreshes, so that the selection stays. */
  readonly id: string;
  /** One for each column, in order. */
  readonly cells: readonly Cell[];
  readonly state: State;
  /** The first is what a click does. */
  readonly actions: readonly Action[];
}

export interface Cell {
  readonly text: string;
  /** What it is sorted by; the text where absent. Null sorts last: not known. */
  readonly sort?: number | null;
  readonly detail?: string;
  readonly state?: State;
}

// --- Scaling

export interface ScalingView {
  /** `3 -> 5: ceil(3 x 90 / 60) = 5`. */
  readonly summary: string;
  readonly state: State;
  /** `HPA vllm`, `ScaledObject vllm (HPA keda-hpa-vllm)`. */
  readonly scaler: string;
  /** `1 to 8 replicas`. */
  readonly bounds: string;
  /** Current, target and formula of each metric. */
  readonly metrics: Table;
  /** Step by step; `holds` are those that keep it from changing. */
  readonly steps: readonly { readonly text: string; readonly holds: boolean }[];
  /** How far it can be trusted: what the status does not tell. */
  readonly caveats: readonly string[];
  readonly conditions: Section<Table>;
  readonly events: Section<Table>;
  readonly pending: Section<Table>;
  readonly nodeClaims: Section<Table>;
  readonly coldStart: Section<ColdStartView>;
}

/** Measured time from "wanted" to "ready", of the newest pod that started on a new node, and of others for comparison. */
export interface ColdStartView {
  /** `4 min 12 s`. */
  readonly total: string;
  readonly pod: string;
  readonly phases: readonly ColdStartPhase[];
  readonly starts: Table;
}

export interface ColdStartPhase {
  readonly id: 'schedule' | 'node' | 'image' | 'weights' | 'engine' | 'start';
  /** `Node`. */
  readonly title: string;
  /** `1 min 58 s`. */
  readonly text: string;
  /** Seconds. */
  readonly seconds: number;
  /** Share of the total, 0 to 1. */
  readonly share: number;
  /** From which condition or event to which. */
  readonly detail: string;
}

// --- The others

export interface AlarmsView {
  /** Ours: warning, critical, composite. */
  readonly evaluated: Table;
  /** Those of CloudWatch. */
  readonly cloud: Section<Table>;
}

export interface CostView {
  readonly perHour: Shown;
  readonly perMillionTokens: Shown;
  readonly idleShare: Shown;
  readonly idlePerHour: Shown;
  /** Node by node: type, price, share. */
  readonly nodes: Table;
  readonly byNamespace: Section<Table>;
  readonly byLabel: readonly { readonly label: string; readonly content: Section<Table> }[];
  /** `us-east-1 on-demand Linux, USD per hour, of 2026-07-20`. */
  readonly priceBasis: string;
  readonly caveats: readonly string[];
}

/** A list of names and values. */
export interface FactsView {
  readonly facts: readonly Fact[];
}

export interface Fact {
  readonly title: string;
  readonly shown: Shown;
  readonly state: State;
}

export interface TriageCase {
  readonly pod: PodName;
  readonly container: string;
  /** `OOMKilled (exit code 137) 3 times in 10 min`. */
  readonly title: string;
  readonly state: State;
  /** Termination, log lines, memory before, fix; in this order. */
  readonly steps: readonly TriageStep[];
}

export interface TriageStep {
  readonly id: 'termination' | 'log' | 'before' | 'fix';
  readonly title: string;
  /** What was found, or why it cannot be told. */
  readonly text: string;
  /** Lines of the log, as they are. */
  readonly lines: readonly string[];
  readonly facts: readonly Fact[];
  readonly actions: readonly Action[];
  readonly known: boolean;
}

export interface LogsView {
  readonly queries: readonly LogsQueryView[];
}

export interface LogsQueryView {
  readonly id: LogsQueryId;
  readonly title: string;
  readonly query: string;
  /** `Runs on request; about $0.005 per GB scanned`. */
  readonly costNote: string;
  /** Runs it, or cancels it while it runs. */
  readonly run: Action;
  readonly result: Section<Table>;
}

export interface BaselineView {
  /** `saved 2 days ago over 1 h`. */
  readonly saved: string;
  /** Metric, baseline, now, change, verdict. */
  readonly comparison: Table;
  /** `TTFT p95 is 38 % slower at the same load`. */
  readonly regressions: readonly string[];
  readonly actions: readonly Action[];
}

export interface ReadinessView {
  /** `14 of 17 pass, 2 fail, 1 unknown`. */
  readonly summary: string;
  readonly items: Table;
}

/** For those who answer for it rather than operate it. */
export interface OverviewView {
  readonly tiles: readonly Tile[];
  readonly sentences: readonly string[];
}

export interface SourceView {
  readonly source: SourceId;
  /** `Kubernetes API`. */
  readonly title: string;
  readonly state: State;
  /** `connected`, `partly denied`, `slow`, `not set up`. */
  readonly word: string;
  /** `context prod-eks, answered in 120 ms, 4 s ago`. */
  readonly text: string;
  readonly problems: readonly SourceProblemView[];
  /** `12 metrics a read, $0.14/h while visible`. */
  readonly cost?: string;
  readonly actions: readonly Action[];
}

export interface SourceProblemView {
  readonly text: string;
  readonly whatToDo: string;
  /** The missing RBAC rule or IAM statement as YAML or JSON, to be copied. */
  readonly grant?: string;
}
