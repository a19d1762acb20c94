import type { ObjectRef } from '../live/cluster';
import type { Measurement, Series, Subject } from '../live/measurement';
import type { SourceAnswer, SourceProblem, SourceStatus } from '../live/snapshot';
import { unitOf } from '../live/vocabulary';
import { ranges, type Want } from '../live/want';
import type { SourceError } from './failure';
import { asSourceError, problemOf } from './failure';
import { nodeHttp, type Http } from './http';
import {
  prometheusClient,
  type PrometheusAnswer,
  type PrometheusClient,
  type PrometheusPlace,
} from './prometheus-client';
import {
  minRateWindow,
  podPatternOf,
  prometheusQueries,
  type PrometheusQuery,
  type Selection,
} from './prometheus-queries';
import { createRedactor, type Redactor } from './redact';
import { mapLimited, reasonOf, systemClock, type Clock } from './runtime';
import type { Source } from './source';

/** What the cluster knows that makes queries exact; any of it may be missing. */
export interface WorkloadHint {
  readonly workload?: ObjectRef | undefined;
  readonly nodes?: readonly string[] | undefined;
  readonly hpa?: string | undefined;
}

export interface PrometheusOptions {
  readonly place: PrometheusPlace;
  readonly http?: Http;
  readonly clock?: Clock;
  readonly redactor?: Redactor;
  readonly timeoutMs?: number;
  /** Asked with each read; without it, names say what there is. */
  readonly hint?: (want: Want, signal: AbortSignal) => Promise<WorkloadHint>;
}

const atOnce = 6;
/** History is asked for again when its newest step could have ended. */
const kept = 64;

interface Remembered {
  readonly at: number;
  readonly answer: PrometheusAnswer;
}

/** History of everything, by the HTTP API of Prometheus. */
export function prometheusSource(options: PrometheusOptions): Source {
  const clock = options.clock ?? systemClock;
  const redactor = options.redactor ?? createRedactor();
  const own = options.http === undefined ? nodeHttp() : undefined;
  const http = options.http ?? own?.http;
  /** Answers by query and step; a query of the same step is not asked twice. */
  const answers = new Map<string, Remembered>();
  let client: PrometheusClient | undefined;
  return {
    id: 'prometheus',
    read: async (want, signal) => {
      const startedAt = clock.now();
      if (signal.aborted) throw reasonOf(signal);
      try {
        client ??= prometheusClient(options.place, {
          http: http ?? nodeHttp().http,
          clock,
          redactor,
          ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
        });
      } catch (error) {
        const failure = asSourceError(error, 'Prometheus', redactor.redact);
        return {
          status: { source: 'prometheus', state: 'failed', problems: [problemOf(failure, 'Prometheus')] },
        };
      }
      let hint: WorkloadHint = {};
      try {
        hint = (await options.hint?.(want, signal)) ?? {};
      } catch {
        if (signal.aborted) throw reasonOf(signal);
        // The cluster says itself why it cannot be read.
      }
      return read({ client, clock, answers, want, signal, startedAt, redactor }, selectionOf(want, hint));
    },
    dispose: () => {
      answers.clear();
      own?.close();
      return Promise.resolve();
    },
  };
}

export function selectionOf(want: Want, hint: WorkloadHint): Selection {
  const { duration, step } = ranges[want.range];
  const scaled = want.object.kind === 'HorizontalPodAutoscaler' || want.object.kind === 'ScaledObject';
  const workload = hint.workload ?? want.workload ?? (scaled ? undefined : want.object);
  return {
    namespace: want.object.namespace !== '' ? want.object.namespace : (workload?.namespace ?? ''),
    podPattern:
      workload === undefined ? `${want.object.name}-.+` : podPatternOf(workload.kind, workload.name),
    nodes: hint.nodes ?? [],
    workload: workload === undefined ? undefined : { kind: workload.kind, name: workload.name },
    hpa:
      hint.hpa ??
      (want.object.kind === 'HorizontalPodAutoscaler'
        ? want.object.name
        : want.object.kind === 'ScaledObject'
          ? `keda-hpa-${want.object.name}`
          : undefined),
    rateWindow: Math.max(minRateWindow, step),
    range: duration,
    step,
  };
}

interface Reader {
  readonly client: PrometheusClient;
  readonly clock: Clock;
  readonly answers: Map<string, Remembered>;
  readonly want: Want;
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly redactor: Redactor;
}

async function read(reader: Reader, selection: Selection): Promise<SourceAnswer> {
  const { client, clock, want, signal, startedAt } = reader;
  const queries = prometheusQueries(want, selection);
  const failures: { readonly query: PrometheusQuery; readonly error: SourceError }[] = [];
  const measurements: Measurement[] = [];
  const series: Series[] = [];
  const warnings = new Set<string>();
  let isHopeless: SourceError | undefined;
  await mapLimited(queries, atOnce, async (query) => {
    if (isHopeless !== undefined) return;
    try {
      const answer = await ask(reader, query, selection);
      for (const warning of answer.warnings) warnings.add(warning);
      const made = seriesOf(query, answer, want, selection);
      measurements.push(...made.measurements);
      series.push(...made.series);
    } catch (error) {
      if (signal.aborted) throw reasonOf(signal);
      const failure = asSourceError(error, query.metric, reader.redactor.redact);
      failures.push({ query, error: failure });
      // Nobody there, or nobody who lets us in: the other queries would find out the same.
      if (failure.kind === 'unreachable' || failure.kind === 'denied' || failure.kind === 'unauthenticated')
        isHopeless = failure;
    }
  });
  if (signal.aborted) throw reasonOf(signal);
  const now = clock.now();
  const isSaid = failures.length < queries.length && isHopeless === undefined;
  return {
    status: {
      source: 'prometheus',
      state: stateOf(
        failures.map(({ error }) => error),
        isSaid,
      ),
      endpoint: client.endpoint,
      ...(isSaid ? { at: now } : {}),
      took: now - startedAt,
      problems: [
        ...told(failures),
        ...[...warnings].map((message): SourceProblem => ({
          what: 'query',
          why: 'failed',
          message: `Prometheus warns: ${message}`,
        })),
      ],
    },
    measurements,
    ...(want.history ? { series } : {}),
  };
}

function stateOf(errors: readonly SourceError[], isSaid: boolean): SourceStatus['state'] {
  if (errors.length === 0) return 'ok';
  if (isSaid) return 'partial';
  const kinds = new Set(errors.map(({ kind }) => kind));
  if (kinds.has('denied') || kinds.has('unauthenticated')) return 'denied';
  return kinds.size === 1 && kinds.has('timeout') ? 'slow' : 'failed';
}

/** One problem for the queries that failed in the same way, with the metrics that are missing for it. */
function told(
  failures: readonly { readonly query: PrometheusQuery; readonly error: SourceError }[],
): readonly SourceProblem[] {
  const groups = new Map<string, { readonly error: SourceError; readonly metrics: string[] }>();
  for (const { query, error } of failures) {
    const group = groups.get(error.message) ?? { error, metrics: [] };
    group.metrics.push(query.metric);
    groups.set(error.message, group);
  }
  return [...groups.values()].map(({ error, metrics }) =>
    problemOf(
      error,
      metrics.length > 4
        ? `${metrics.slice(0, 3).join(', ')} and ${metrics.length - 3} more`
        : metrics.join(', '),
    ),
  );
}

async function ask(
  { client, answers, want, signal }: Reader,
  query: PrometheusQuery,
  { range, step }: Selection,
): Promise<PrometheusAnswer> {
  const isRange = want.history && query.instantOnly !== true;
  // Steps begin at multiples of their length, so that a point stays where it is from one read to the next.
  const end = Math.floor(want.now / step) * step;
  const key = `${isRange ? `${end}|${range}` : Math.floor(want.now / Math.max(step, 60_000))}|${query.query}`;
  const known = isRange || query.instantOnly === true ? answers.get(key) : undefined;
  if (known !== undefined) return known.answer;
  const answer = isRange
    ? await client.range(query.query, end - range, end, step, signal)
    : await client.instant(query.query, want.now, signal);
  if (isRange || query.instantOnly === true) {
    answers.set(key, { at: want.now, answer });
    while (answers.size > kept * 4) answers.delete([...answers.keys()][0] ?? '');
  }
  return answer;
}

function seriesOf(
  query: PrometheusQuery,
  { series }: PrometheusAnswer,
  want: Want,
  { range, step }: Selection,
): { readonly measurements: readonly Measurement[]; readonly series: readonly Series[] } {
  const measurements: Measurement[] = [];
  const made: Series[] = [];
  const unit = unitOf(query.metric);
  const source = { source: 'prometheus', from: query.query } as const;
  const isRange = want.history && query.instantOnly !== true;
  const end = Math.floor(want.now / step) * step;
  for (const { labels: raw, points } of series) {
    const subject: Subject | undefined = query.subject(raw);
    const last = points.at(-1);
    if (subject === undefined || last === undefined) continue;
    const labels = query.labels?.(raw);
    const about = { metric: query.metric, subject, ...(labels === undefined ? {} : { labels }) };
    const [at, value] = last;
    // A series that ended, as of a pod that is gone, says nothing about now.
    if (!isRange || at >= end - step) {
      measurements.push({
        ...about,
        observed: { kind: 'reading', value: query.convert(value), unit, at, window: query.window, source },
      });
    }
    if (!isRange) continue;
    const byTime = new Map(points);
    const times: number[] = [];
    const values: (number | null)[] = [];
    for (let when = end - range; when <= end; when += step) {
      const found = byTime.get(when);
      times.push(when);
      values.push(found === undefined ? null : query.convert(found));
    }
    made.push({ ...about, unit, at: times, values, step, source });
  }
  return { measurements, series: made };
}
