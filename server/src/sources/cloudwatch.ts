import type {
  AlarmType,
  CompositeAlarm,
  Dimension,
  MetricAlarm,
  MetricDataQuery,
  MetricDataResult,
} from '@aws-sdk/client-cloudwatch';
import type { ObjectRef } from '../live/cluster';
import type { Measurement, Series, Subject } from '../live/measurement';
import type { Absent, Part } from '../live/reading';
import type { CloudAlarm, LogsQueryResult, SourceProblem, SourceStatus } from '../live/snapshot';
import { unitOf, type MetricId } from '../live/vocabulary';
import { ranges, type LogsQueryId, type Want } from '../live/want';
import { cloudWatchApi, type CloudWatchAccess, type CloudWatchApi } from './cloudwatch-api';
import {
  cloudWatchQueries,
  periodFor,
  type ApplicationMetrics,
  type CloudWatchQuery,
  type CloudWatchSelection,
} from './cloudwatch-queries';
import { SourceError, absentOf, asSourceError, firstLine, problemOf } from './failure';
import { logGroupOf, logsQuery } from './logs-queries';
import { createRedactor, type Redactor } from './redact';
import { reasonOf, systemClock, type Clock } from './runtime';
import type { Source } from './source';

/** What the cluster knows that CloudWatch is asked about; any of it may be missing. */
export interface CloudWatchHint {
  readonly workload?: ObjectRef | undefined;
  /** Nodes by the names of pods. */
  readonly nodes?: ReadonlyMap<string, string> | undefined;
  /** Name of the EKS cluster. */
  readonly cluster?: string | undefined;
}

export interface CloudWatchOptions {
  readonly access: CloudWatchAccess;
  /** Name of the EKS cluster; without it, what the hint says. */
  readonly cluster?: string | undefined;
  readonly application?: ApplicationMetrics | undefined;
  /** Log groups of the standard queries; without them, the one of Container Insights. */
  readonly logGroups?: readonly string[] | undefined;
  readonly hint?: (want: Want, signal: AbortSignal) => Promise<CloudWatchHint>;
  readonly clock?: Clock;
  readonly redactor?: Redactor;
  readonly timeoutMs?: number;
  /** In the place of the AWS SDK. */
  readonly api?: CloudWatchApi;
}

/** Queries that one GetMetricData takes (API reference). */
export const maxQueries = 500;
/** Calls that one read may make to find the query that spoils the others. */
const maxCalls = 24;
/** Container Insights says something new once a minute; more often is paid for and tells nothing. */
const metricsMs = 60_000;
const alarmsMs = 60_000;
const maxAlarms = 1_000;
const shownAlarms = 100;
const logsPollMs = 1_000;
const logsMaxMs = 120_000;

/** Prices in us-east-1 of 2026-07 (https://aws.amazon.com/cloudwatch/pricing/). */
const prices = {
  dollarsPerMetric: 0.01 / 1_000,
  metricBasis: 'GetMetricData, $0.01 per 1,000 metrics requested (us-east-1, 2026-07)',
  dollarsPerByte: 0.005 / 1e9,
  logsBasis: 'Logs Insights, $0.005 per GB scanned (us-east-1, 2026-07)',
} as const;

interface Metrics {
  readonly measurements: readonly Measurement[];
  readonly series: readonly Series[];
  readonly problems: readonly SourceProblem[];
  readonly errors: readonly SourceError[];
  readonly metrics: number;
  readonly calls: number;
}

interface Remembered<T> {
  readonly key: string;
  readonly at: number;
  readonly value: T;
}

/** Container Insights, the application's own metrics, alarms and logs. */
export function cloudWatchSource(options: CloudWatchOptions): Source {
  const clock = options.clock ?? systemClock;
  const redactor = options.redactor ?? createRedactor();
  const api = options.api ?? cloudWatchApi(options.access, redactor, clock, options.timeoutMs);
  let metrics: Remembered<Metrics> | undefined;
  let alarms: Remembered<readonly CloudAlarm[]> | undefined;
  return {
    id: 'cloudwatch',
    read: async (want, signal) => {
      const startedAt = clock.now();
      if (signal.aborted) throw reasonOf(signal);
      let hint: CloudWatchHint = {};
      try {
        hint = (await options.hint?.(want, signal)) ?? {};
      } catch {
        if (signal.aborted) throw reasonOf(signal);
      }
      const cluster = options.cluster ?? hint.cluster;
      const selection = selectionOf(want, cluster, hint, options.application);
      const reader: Reader = { api, clock, redactor, want, signal };
      const key = JSON.stringify([
        want.object,
        want.range,
        want.metrics,
        want.history,
        cluster,
        selection.workload,
      ]);
      const [numbers, alarmPart, logs] = await Promise.all([
        metrics?.key === key && clock.now() - metrics.at < metricsMs
          ? metrics.value
          : readMetrics(reader, selection),
        alarms?.key === key && clock.now() - alarms.at < alarmsMs
          ? ({ kind: 'known', value: alarms.value, at: alarms.at } as const)
          : readAlarms(reader, selection),
        want.logsQuery === undefined
          ? undefined
          : runLogsQuery(
              reader,
              want.logsQuery,
              selection,
              options.logGroups ?? (cluster === undefined ? [] : [logGroupOf(cluster)]),
            ),
      ]);
      if (signal.aborted) throw reasonOf(signal);
      const now = clock.now();
      // What may be cured by itself is asked for again with the next refresh; a query that is refused is refused again.
      if (numbers !== metrics?.value)
        metrics = isPassing(numbers.errors) ? undefined : { key, at: now, value: numbers };
      if (alarmPart.kind === 'known' && alarmPart.at !== alarms?.at)
        alarms = { key, at: alarmPart.at, value: alarmPart.value };
      return {
        status: statusOf(options.access.region, numbers, alarmPart, logs, cluster, now, now - startedAt),
        measurements: numbers.measurements,
        ...(want.history ? { series: numbers.series } : {}),
        alarms: alarmPart.kind === 'known' ? alarmPart : alarmPart.absent,
        ...(logs === undefined ? {} : { logsQuery: logs }),
        context: { region: options.access.region, ...(cluster === undefined ? {} : { cluster }) },
      };
    },
    dispose: () => {
      api.dispose();
      return Promise.resolve();
    },
  };
}

/** No answer at all, for a reason that can pass within seconds. */
function isPassing(errors: readonly SourceError[]): boolean {
  return errors.some(
    ({ kind }) =>
      kind === 'unreachable' || kind === 'timeout' || kind === 'throttled' || kind === 'unauthenticated',
  );
}

function selectionOf(
  want: Want,
  cluster: string | undefined,
  hint: CloudWatchHint,
  application: ApplicationMetrics | undefined,
): CloudWatchSelection {
  const isScaler = want.object.kind === 'HorizontalPodAutoscaler' || want.object.kind === 'ScaledObject';
  const isPool = want.object.kind === 'NodePool';
  const workload = hint.workload ?? want.workload ?? (isScaler || isPool ? undefined : want.object);
  return {
    cluster: cluster ?? '',
    namespace: want.object.namespace !== '' ? want.object.namespace : (workload?.namespace ?? ''),
    workload: workload?.name,
    nodeOf: (pod) => hint.nodes?.get(pod),
    application,
    period: periodFor(ranges[want.range].step),
  };
}

interface Reader {
  readonly api: CloudWatchApi;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly want: Want;
  readonly signal: AbortSignal;
}

function statusOf(
  region: string,
  { problems, errors, measurements, metrics, calls }: Metrics,
  alarms: AlarmPart,
  logs: Part<LogsQueryResult> | undefined,
  cluster: string | undefined,
  now: number,
  took: number,
): SourceStatus {
  const all: SourceProblem[] = [...problems];
  const failures = [...errors];
  if (alarms.kind === 'absent') {
    failures.push(alarms.error);
    if (!all.some(({ message }) => message === alarms.error.message))
      all.push(problemOf(alarms.error, 'alarms'));
  }
  if (logs?.kind === 'absent') {
    all.push({
      what: 'Logs Insights',
      why: logs.why === 'denied' ? 'denied' : 'failed',
      message: logs.message,
      ...(logs.remedy === undefined ? {} : { remedy: logs.remedy }),
    });
  }
  if (cluster === undefined)
    all.push({
      what: 'Container Insights',
      why: 'not-configured',
      message: 'the name of the EKS cluster is not known',
      remedy: 'Set the name of the cluster as Container Insights has it',
    });
  const isSaid = measurements.length > 0 || alarms.kind === 'known' || (calls > 0 && errors.length === 0);
  const only = (...kinds: readonly SourceError['kind'][]): boolean =>
    failures.length > 0 && failures.every(({ kind }) => kinds.includes(kind));
  return {
    source: 'cloudwatch',
    state:
      all.length === 0
        ? 'ok'
        : isSaid
          ? 'partial'
          : only('denied', 'unauthenticated')
            ? 'denied'
            : only('timeout')
              ? 'slow'
              : 'failed',
    endpoint: region,
    ...(isSaid ? { at: now } : {}),
    took,
    problems: all,
    cost: {
      metrics,
      calls,
      dollarsPerHour: metrics * prices.dollarsPerMetric * (3_600_000 / metricsMs),
      basis: prices.metricBasis,
    },
  };
}

// --- Metrics

/** Parts of a label, which are names of Kubernetes and devices, so that this is in none of them. */
const separator = ' | ';

function dataQuery(query: CloudWatchQuery, id: string, period: number): MetricDataQuery {
  const { ask } = query;
  if (ask.kind === 'search')
    return {
      Id: id,
      Expression: ask.expression,
      Label: ask.told.map((name) => `\${PROP('Dim.${name}')}`).join(separator),
      Period: period,
    };
  return {
    Id: id,
    MetricStat: {
      Metric: {
        Namespace: ask.namespace,
        MetricName: ask.name,
        Dimensions: Object.entries(ask.dimensions).map(([Name, Value]) => ({ Name, Value })),
      },
      Period: period,
      Stat: ask.stat,
    },
  };
}

interface Collected {
  readonly results: Map<string, MetricDataResult[]>;
  readonly failures: { readonly query: CloudWatchQuery; readonly error: SourceError }[];
  calls: number;
}

async function readMetrics(reader: Reader, selection: CloudWatchSelection): Promise<Metrics> {
  const { want } = reader;
  const queries =
    selection.cluster === ''
      ? cloudWatchQueries(want, selection).filter(
          ({ ask }) => ask.kind === 'metric' && ask.namespace === selection.application?.namespace,
        )
      : cloudWatchQueries(want, selection);
  const period = selection.period * 1000;
  // The period that has not ended holds half a value.
  const end = Math.floor(want.now / period) * period;
  // Container Insights comes up to three minutes late.
  const start = end - (want.history ? ranges[want.range].duration : Math.max(5 * 60_000, 3 * period));
  const collected: Collected = { results: new Map(), failures: [], calls: 0 };
  const numbered = queries.map((query, index) => ({ query, id: `q${index}` }));
  for (let from = 0; from < numbered.length; from += maxQueries)
    await fetchBatch(
      reader,
      numbered.slice(from, from + maxQueries),
      { start, end, period: selection.period },
      collected,
    );

  const measurements: Measurement[] = [];
  const series: Series[] = [];
  const taken = new Set<string>();
  let metrics = 0;
  for (const { query, id } of numbered) {
    const results = collected.results.get(id) ?? [];
    metrics += query.ask.kind === 'search' ? results.length : 1;
    for (const result of results) {
      const made = seriesOf(query, result, { start, end, period });
      // Names of several versions: the first with values counts.
      const key = made === undefined ? '' : `${query.metric}|${JSON.stringify(made.series.subject)}`;
      if (made === undefined || taken.has(key)) continue;
      taken.add(key);
      measurements.push(made.measurement);
      series.push(made.series);
    }
  }
  const groups = new Map<string, { readonly error: SourceError; readonly metrics: Set<MetricId> }>();
  for (const { query, error } of collected.failures) {
    const group = groups.get(error.message) ?? { error, metrics: new Set<MetricId>() };
    group.metrics.add(query.metric);
    groups.set(error.message, group);
  }
  const problems = [...groups.values()].map(({ error, metrics: names }) => {
    const list = [...names];
    return problemOf(
      error,
      list.length > 4 ? `${list.slice(0, 3).join(', ')} and ${list.length - 3} more` : list.join(', '),
    );
  });
  return {
    measurements,
    series,
    problems,
    errors: collected.failures.map(({ error }) => error),
    metrics,
    calls: collected.calls,
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly period: number;
}

type Numbered = readonly { readonly query: CloudWatchQuery; readonly id: string }[];

/**
 * One batch with its pages. CloudWatch refuses a whole call for one query that it does not like: then each half is asked
 * alone, until the one is found and the others are answered.
 */
async function fetchBatch(reader: Reader, batch: Numbered, span: Span, collected: Collected): Promise<void> {
  const { api, signal } = reader;
  if (collected.calls >= maxCalls) {
    const last =
      collected.failures.at(-1)?.error ?? new SourceError('failed', 'GetMetricData: too many calls');
    for (const { query } of batch) collected.failures.push({ query, error: last });
    return;
  }
  const found = new Map<string, MetricDataResult[]>();
  try {
    let token: string | undefined;
    do {
      collected.calls++;
      const answer = await api.getMetricData(
        {
          MetricDataQueries: batch.map(({ query, id }) => dataQuery(query, id, span.period)),
          StartTime: new Date(span.start),
          EndTime: new Date(span.end),
          ScanBy: 'TimestampAscending',
          ...(token === undefined ? {} : { NextToken: token }),
        },
        signal,
      );
      if (!Array.isArray(answer.MetricDataResults))
        throw new SourceError('malformed', 'GetMetricData: the answer is not one of CloudWatch');
      for (const result of answer.MetricDataResults) {
        const id = result.Id ?? '';
        found.set(id, merged(found.get(id) ?? [], result));
      }
      token = answer.NextToken === '' ? undefined : answer.NextToken;
    } while (token !== undefined && collected.calls < maxCalls);
  } catch (error) {
    if (signal.aborted) throw reasonOf(signal);
    const failure = asSourceError(error, 'GetMetricData', reader.redactor.redact);
    const isOfOne = failure.kind === 'failed' || failure.kind === 'malformed';
    if (!isOfOne || batch.length === 1 || collected.calls >= maxCalls) {
      for (const { query } of batch) collected.failures.push({ query, error: failure });
      return;
    }
    for (const part of halves(batch)) await fetchBatch(reader, part, span, collected);
    return;
  }
  for (const [id, results] of found) {
    collected.results.set(id, results);
    const failed = results.find(
      ({ StatusCode }) => StatusCode === 'InternalError' || StatusCode === 'Forbidden',
    );
    const query = batch.find((each) => each.id === id)?.query;
    if (failed === undefined || query === undefined) continue;
    collected.failures.push({
      query,
      error:
        failed.StatusCode === 'Forbidden'
          ? new SourceError('denied', 'GetMetricData: Forbidden', {
              kind: 'iam',
              action: 'cloudwatch:GetMetricData',
              resource: '*',
            })
          : new SourceError('failed', `GetMetricData: ${failed.Messages?.[0]?.Value ?? 'InternalError'}`),
    });
  }
}

/** Percentiles and searches, which are refused most, apart from the rest; among their like, half and half. */
function halves(batch: Numbered): readonly Numbered[] {
  const isPlain = ({ query: { ask } }: Numbered[number]): boolean =>
    ask.kind === 'metric' && !/^(p|tm|tc|ts|wm|pr)\d|^IQM/i.test(ask.stat);
  const plain = batch.filter(isPlain);
  const others = batch.filter((each) => !isPlain(each));
  const half = Math.ceil(batch.length / 2);
  return plain.length > 0 && others.length > 0 ? [plain, others] : [batch.slice(0, half), batch.slice(half)];
}

/** Pages hold the same series in parts. */
function merged(known: readonly MetricDataResult[], more: MetricDataResult): MetricDataResult[] {
  const index = known.findIndex(({ Label }) => Label === more.Label);
  const same = known[index];
  if (same === undefined) return [...known, more];
  const together: MetricDataResult = {
    ...same,
    Timestamps: [...(same.Timestamps ?? []), ...(more.Timestamps ?? [])],
    Values: [...(same.Values ?? []), ...(more.Values ?? [])],
    ...(more.StatusCode === undefined ? {} : { StatusCode: more.StatusCode }),
  };
  return known.map((each, at) => (at === index ? together : each));
}

function seriesOf(
  query: CloudWatchQuery,
  { Label, Timestamps = [], Values = [] }: MetricDataResult,
  { start, end, period }: Span,
): { readonly measurement: Measurement; readonly series: Series } | undefined {
  const points = new Map<number, number>();
  for (const [index, when] of Timestamps.entries()) {
    const value = Values[index];
    const at = when instanceof Date ? when.getTime() : NaN;
    if (typeof value === 'number' && Number.isFinite(value) && !Number.isNaN(at))
      points.set(at, query.convert(value));
  }
  if (points.size === 0) return undefined;
  const told: Record<string, string> = {};
  if (query.ask.kind === 'search') {
    const parts = (Label ?? '').split(separator);
    for (const [index, name] of query.ask.told.entries()) told[name] = parts[index] ?? '';
  }
  const subject: Subject = query.subject(told);
  const unit = unitOf(query.metric);
  const source = { source: 'cloudwatch', from: query.from } as const;
  const at: number[] = [];
  const values: (number | null)[] = [];
  for (let when = start; when < end; when += period) {
    at.push(when + period);
    values.push(points.get(when) ?? null);
  }
  const [lastAt, last] = [...points].reduce((a, b) => (b[0] > a[0] ? b : a));
  return {
    measurement: {
      metric: query.metric,
      subject,
      observed: { kind: 'reading', value: last, unit, at: lastAt + period, window: period, source },
    },
    // A value is of the period that begins at its time; it is known at the end.
    series: { metric: query.metric, subject, unit, at, values, step: period, source },
  };
}

// --- Alarms

type AlarmPart =
  | { readonly kind: 'known'; readonly value: readonly CloudAlarm[]; readonly at: number }
  | { readonly kind: 'absent'; readonly absent: Absent; readonly error: SourceError };

async function readAlarms(reader: Reader, selection: CloudWatchSelection): Promise<AlarmPart> {
  const { api, clock, signal, redactor } = reader;
  const metricAlarms: MetricAlarm[] = [];
  const composites: CompositeAlarm[] = [];
  try {
    let token: string | undefined;
    do {
      const answer = await api.describeAlarms(
        {
          AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] satisfies AlarmType[],
          MaxRecords: 100,
          ...(token === undefined ? {} : { NextToken: token }),
        },
        signal,
      );
      metricAlarms.push(...(answer.MetricAlarms ?? []));
      composites.push(...(answer.CompositeAlarms ?? []));
      token = answer.NextToken === '' ? undefined : answer.NextToken;
    } while (token !== undefined && metricAlarms.length + composites.length < maxAlarms);
  } catch (error) {
    if (signal.aborted) throw reasonOf(signal);
    const failure = asSourceError(error, 'DescribeAlarms', redactor.redact);
    return { kind: 'absent', absent: absentOf(failure, 'cloudwatch'), error: failure };
  }
  const kept = metricAlarms.filter((alarm) => isAbout(alarm, selection));
  const names = new Set(kept.map(({ AlarmName }) => AlarmName ?? ''));
  const ofKept = composites.filter(({ AlarmRule = '' }) =>
    [...names].some((name) => name !== '' && AlarmRule.includes(name)),
  );
  const alarms = [...kept.map(metricAlarmOf), ...ofKept.map(compositeOf)];
  const rank = { ALARM: 0, INSUFFICIENT_DATA: 1, OK: 2 } as const;
  return {
    kind: 'known',
    value: alarms.sort((a, b) => rank[a.state] - rank[b.state] || b.since - a.since).slice(0, shownAlarms),
    at: clock.now(),
  };
}

/** Of the cluster, and where it names a namespace or a workload, of these; of the application's own namespace, all. */
function isAbout({ Namespace, Dimensions, Metrics }: MetricAlarm, selection: CloudWatchSelection): boolean {
  const places: readonly {
    readonly namespace: string | undefined;
    readonly dimensions: readonly Dimension[];
  }[] = [
    { namespace: Namespace, dimensions: Dimensions ?? [] },
    ...(Metrics ?? []).map(({ MetricStat }) => ({
      namespace: MetricStat?.Metric?.Namespace,
      dimensions: MetricStat?.Metric?.Dimensions ?? [],
    })),
  ];
  return places.some(({ namespace, dimensions }) => {
    if (namespace !== undefined && namespace === selection.application?.namespace) return true;
    const of = (name: string): string | undefined => dimensions.find((each) => each.Name === name)?.Value;
    if (selection.cluster === '' || of('ClusterName') !== selection.cluster) return false;
    const inNamespace = of('Namespace');
    const workload = of('PodName') ?? of('Service');
    return (
      (inNamespace === undefined || inNamespace === selection.namespace) &&
      (workload === undefined || selection.workload === undefined || workload === selection.workload)
    );
  });
}

const comparisons: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanThreshold: '<',
  LessThanOrEqualToThreshold: '<=',
  LessThanLowerOrGreaterThanUpperThreshold: 'outside of the band of',
  LessThanLowerThreshold: 'below the band of',
  GreaterThanUpperThreshold: 'above the band of',
};

function durationText(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

function stateOf(value: unknown): CloudAlarm['state'] {
  return value === 'ALARM' || value === 'OK' ? value : 'INSUFFICIENT_DATA';
}

function metricAlarmOf(alarm: MetricAlarm): CloudAlarm {
  const {
    AlarmName,
    StateValue,
    StateReason,
    StateUpdatedTimestamp,
    StateTransitionedTimestamp,
    AlarmDescription,
    ActionsEnabled,
  } = alarm;
  const metric =
    alarm.MetricName ??
    alarm.Metrics?.find(({ ReturnData }) => ReturnData !== false)?.Expression ??
    'an expression';
  const stat = alarm.Statistic ?? alarm.ExtendedStatistic;
  const periods = alarm.EvaluationPeriods ?? 1;
  const period = alarm.Period ?? alarm.Metrics?.[0]?.MetricStat?.Period ?? 60;
  const points = alarm.DatapointsToAlarm;
  const rule = [
    alarm.Namespace,
    metric,
    stat === undefined ? undefined : `(${stat})`,
    comparisons[alarm.ComparisonOperator ?? ''] ?? '?',
    alarm.Threshold === undefined ? alarm.ThresholdMetricId : String(alarm.Threshold),
    points !== undefined && points < periods
      ? `in ${points} of ${periods} periods of ${durationText(period)}`
      : `for ${durationText(periods * period)}`,
  ];
  return {
    name: AlarmName ?? '',
    kind: 'metric',
    state: stateOf(StateValue),
    reason: firstLine(StateReason ?? ''),
    since: (StateTransitionedTimestamp ?? StateUpdatedTimestamp)?.getTime() ?? 0,
    ...(AlarmDescription === undefined || AlarmDescription === '' ? {} : { description: AlarmDescription }),
    rule: rule.filter((part) => part !== undefined).join(' '),
    actionsEnabled: ActionsEnabled === true,
  };
}

function compositeOf(alarm: CompositeAlarm): CloudAlarm {
  const {
    AlarmName,
    AlarmRule,
    StateValue,
    StateReason,
    StateUpdatedTimestamp,
    StateTransitionedTimestamp,
    AlarmDescription,
    ActionsEnabled,
  } = alarm;
  return {
    name: AlarmName ?? '',
    kind: 'composite',
    state: stateOf(StateValue),
    reason: firstLine(StateReason ?? ''),
    since: (StateTransitionedTimestamp ?? StateUpdatedTimestamp)?.getTime() ?? 0,
    ...(AlarmDescription === undefined || AlarmDescription === '' ? {} : { description: AlarmDescription }),
    rule: firstLine((AlarmRule ?? '').replace(/\s+/g, ' '), 500),
    actionsEnabled: ActionsEnabled === true,
  };
}

// --- Logs Insights

async function runLogsQuery(
  { api, clock, signal, want, redactor }: Reader,
  id: LogsQueryId,
  selection: CloudWatchSelection,
  logGroups: readonly string[],
): Promise<Part<LogsQueryResult>> {
  if (logGroups.length === 0) {
    return {
      kind: 'absent',
      why: 'not-configured',
      message: 'no log group is known',
      remedy: 'Set the log groups, or the name of the cluster as Container Insights has it',
      source: 'cloudwatch',
    };
  }
  const query = logsQuery(id, { namespace: selection.namespace, workload: selection.workload });
  const window = { from: want.now - ranges[want.range].duration, to: want.now };
  let queryId: string | undefined;
  try {
    queryId = await api.startQuery(
      {
        logGroupNames: [...logGroups],
        queryString: query,
        startTime: Math.floor(window.from / 1000),
        endTime: Math.ceil(window.to / 1000),
        limit: 1_000,
      },
      signal,
    );
    const giveUpAt = clock.now() + logsMaxMs;
    for (;;) {
      const { status, results = [], statistics } = await api.getQueryResults(queryId, signal);
      if (status === 'Complete') {
        queryId = undefined;
        const rows = results.map(
          (row) => new Map(row.map(({ field, value }) => [field ?? '', redactor.redact(value ?? '')])),
        );
        const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))].filter(
          (name) => name !== '@ptr' && name !== '',
        );
        const scannedBytes = statistics?.bytesScanned ?? 0;
        return {
          kind: 'known',
          at: clock.now(),
          value: {
            id,
            query,
            logGroups,
            window,
            columns,
            rows: rows.map((row) => columns.map((name) => row.get(name) ?? '')),
            scannedBytes,
            cost: { dollars: scannedBytes * prices.dollarsPerByte, basis: prices.logsBasis },
          },
        };
      }
      if (status !== 'Running' && status !== 'Scheduled') {
        queryId = undefined;
        throw new SourceError(
          status === 'Timeout' ? 'timeout' : 'failed',
          `Logs Insights: the query ended as ${status ?? 'unknown'}`,
        );
      }
      if (clock.now() > giveUpAt)
        throw new SourceError('timeout', `Logs Insights: no result within ${logsMaxMs / 1000} s`);
      await clock.wait(logsPollMs, signal);
    }
  } catch (error) {
    // What nobody waits for any more costs money as long as it runs.
    if (queryId !== undefined)
      await api.stopQuery(queryId, new AbortController().signal).catch(() => undefined);
    if (signal.aborted) throw reasonOf(signal);
    return absentOf(asSourceError(error, 'Logs Insights', redactor.redact), 'cloudwatch');
  }
}
