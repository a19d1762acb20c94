import type { ClusterPart, ClusterView } from '../live/cluster';
import type { Measurement, Series, Subject } from '../live/measurement';
import {
  absent,
  sourceIds,
  type Absent,
  type Duration,
  type Instant,
  type Part,
  type SourceId,
} from '../live/reading';
import type {
  LiveContext,
  LiveSnapshot,
  LogsQueryResult,
  SourceAnswer,
  SourceStatus,
} from '../live/snapshot';
import { ranges, wantKey, type LogsQueryId, type Want } from '../live/want';
import { SourceError, asSourceError, problemOf } from './failure';
import { TimeoutError, manyListeners, reasonOf, systemClock, within, type Clock } from './runtime';
import type { Source } from './source';

/** All sources as one. */
export interface Collector {
  /**
   * Asks all sources at the same time, and answers what they say together. No source can take another's answer away: one
   * that fails, or does not answer in time, says so, and what it said before stays while it is not too old.
   *
   * @param progress gets what is known so far after each source that has answered, but the last
   */
  read(want: Want, signal: AbortSignal, progress?: (snapshot: LiveSnapshot) => void): Promise<LiveSnapshot>;
  /** Calls back when a source has heard of a change, at most every tenth of a second, until the signal. */
  watch(want: Want, changed: () => void, signal: AbortSignal): void;
  dispose(): Promise<void>;
}

export interface CollectorOptions {
  readonly sources: readonly Source[];
  /** How often it is read while it is looked at. */
  readonly refresh: Duration;
  readonly clock?: Clock;
  /** How long an answer may take. */
  readonly timeouts?: Readonly<Partial<Record<SourceId, Duration>>>;
  /** Why sources are not there that could be, for people: `Set plimsoll.prometheus.url`. */
  readonly remedies?: Readonly<Partial<Record<SourceId, string>>>;
}

/** The first answer of a cluster waits for the plugin that makes its credential. */
const defaultTimeouts: Readonly<Record<SourceId, Duration>> = {
  kubernetes: 20_000,
  'engine-metrics': 25_000,
  prometheus: 20_000,
  cloudwatch: 30_000,
  demo: 5_000,
};
/** A query of logs is waited for longer than everything else. */
const logsTimeout = 150_000;
/** An answer that is younger is used again: a change in the cluster makes no query of Prometheus. */
const timeToLive: Readonly<Record<SourceId, Duration>> = {
  kubernetes: 0,
  'engine-metrics': 4_000,
  prometheus: 8_000,
  cloudwatch: 20_000,
  demo: 0,
};
/** What a source said stays so long while it fails; each number carries its own age. */
const keepAfterFailure = 300_000;
const gatherMs = 100;
/** Objects whose answers are kept, so that going back to one shows it at once. */
const maxObjects = 8;

interface Known {
  /** When it was asked. */
  readonly at: Instant;
  /** The last answer, whatever it was. */
  readonly answer: SourceAnswer;
  /** The last answer that said something. */
  readonly good: { readonly at: Instant; readonly answer: SourceAnswer } | undefined;
}

/** What is remembered of one object and range. */
interface Memory {
  readonly answers: Map<SourceId, Known>;
  readonly logs: Map<LogsQueryId, Part<LogsQueryResult>>;
  readonly tracks: Tracks;
}

export function createCollector(options: CollectorOptions): Collector {
  const clock = options.clock ?? systemClock;
  const memories = new Map<string, Memory>();

  const memoryOf = (want: Want): Memory => {
    const key = wantKey(want);
    const known = memories.get(key);
    if (known !== undefined) {
      // The newest is last.
      memories.delete(key);
      memories.set(key, known);
      return known;
    }
    const fresh: Memory = { answers: new Map(), logs: new Map(), tracks: createTracks(ranges[want.range]) };
    memories.set(key, fresh);
    while (memories.size > maxObjects) memories.delete([...memories.keys()][0] ?? '');
    return fresh;
  };

  const ask = async (source: Source, want: Want, memory: Memory, signal: AbortSignal): Promise<void> => {
    const known = memory.answers.get(source.id);
    const asksLogs = source.id === 'cloudwatch' && want.logsQuery !== undefined;
    if (known !== undefined && !asksLogs && clock.now() - known.at < timeToLive[source.id]) return;
    const startedAt = clock.now();
    const timeout = asksLogs ? logsTimeout : (options.timeouts?.[source.id] ?? defaultTimeouts[source.id]);
    let answer: SourceAnswer;
    try {
      answer = await within(clock, timeout, signal, (inner) => source.read(want, inner));
    } catch (error) {
      if (signal.aborted) throw reasonOf(signal);
      answer = { status: brokenStatus(source.id, error, clock.now() - startedAt) };
    }
    if (answer.logsQuery !== undefined && want.logsQuery !== undefined)
      memory.logs.set(want.logsQuery, answer.logsQuery);
    const saysSomething = answer.status.state === 'ok' || answer.status.state === 'partial';
    memory.answers.set(source.id, {
      at: startedAt,
      answer,
      good: saysSomething ? { at: clock.now(), answer } : known?.good,
    });
    memory.tracks.add(answer.measurements ?? []);
  };

  const snapshot = (want: Want, memory: Memory): LiveSnapshot => {
    const now = clock.now();
    const statuses: SourceStatus[] = [];
    const used: SourceAnswer[] = [];
    for (const id of sourceIds) {
      const isSet = options.sources.some((source) => source.id === id);
      const known = memory.answers.get(id);
      if (!isSet) {
        if (id !== 'demo' && !options.sources.some((source) => source.id === 'demo'))
          statuses.push(notConfigured(id, options.remedies?.[id]));
        continue;
      }
      if (known === undefined) {
        statuses.push({ source: id, state: 'reading', problems: [] });
        continue;
      }
      const { answer, good } = known;
      const isOld = good !== undefined && good.answer !== answer && now - good.at <= keepAfterFailure;
      statuses.push(
        isOld && good.answer.status.at !== undefined
          ? { ...answer.status, at: good.answer.status.at }
          : answer.status,
      );
      used.push(isOld ? { ...good.answer, ...answer, ...keptParts(good.answer, answer) } : answer);
    }
    return assemble(want, now, statuses, used, memory, options.refresh);
  };

  return {
    read: async (want, signal, progress) => {
      if (signal.aborted) throw reasonOf(signal);
      manyListeners(signal);
      const memory = memoryOf(want);
      let left = options.sources.length;
      await Promise.all(
        options.sources.map(async (source) => {
          await ask(source, want, memory, signal);
          left--;
          if (left > 0 && !signal.aborted) progress?.(snapshot(want, memory));
        }),
      );
      if (signal.aborted) throw reasonOf(signal);
      return snapshot(want, memory);
    },
    watch: (want, changed, signal) => {
      manyListeners(signal);
      let isWaiting = false;
      const heard = (): void => {
        if (isWaiting || signal.aborted) return;
        isWaiting = true;
        clock.wait(gatherMs, signal).then(
          () => {
            isWaiting = false;
            changed();
          },
          () => undefined,
        );
      };
      for (const source of options.sources) source.watch?.(want, heard, signal);
    },
    dispose: async () => {
      memories.clear();
      await Promise.all(options.sources.map((source) => source.dispose()));
    },
  };
}

/** While a source fails, the parts that it could still say are new, and the others as they were. */
function keptParts(before: SourceAnswer, now: SourceAnswer): Partial<SourceAnswer> {
  const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;
  return {
    ...(isEmpty(now.measurements) && before.measurements !== undefined
      ? { measurements: before.measurements }
      : {}),
    ...(isEmpty(now.series) && before.series !== undefined ? { series: before.series } : {}),
    ...(before.cluster === undefined ? {} : { cluster: { ...before.cluster, ...knownParts(now.cluster) } }),
    ...(now.alarms?.kind !== 'known' && before.alarms !== undefined ? { alarms: before.alarms } : {}),
    ...(now.exportedNames?.kind !== 'known' && before.exportedNames !== undefined
      ? { exportedNames: before.exportedNames }
      : {}),
  };
}

function knownParts(cluster: Partial<ClusterView> | undefined): Partial<ClusterView> {
  return Object.fromEntries(Object.entries(cluster ?? {}).filter(([, part]) => part.kind === 'known'));
}

function brokenStatus(source: SourceId, error: unknown, took: Duration): SourceStatus {
  if (error instanceof TimeoutError) {
    const slow = new SourceError('timeout', error.message);
    return { source, state: 'slow', took, problems: [problemOf(slow, 'read')] };
  }
  const failure = asSourceError(error, 'read', (text) => text);
  return { source, state: 'failed', took, problems: [problemOf(failure, 'read')] };
}

const titles: Readonly<Record<SourceId, string>> = {
  kubernetes: 'no cluster is connected',
  'engine-metrics': 'no cluster is connected, through which the pods could be asked',
  prometheus: 'no Prometheus is set up',
  cloudwatch: 'CloudWatch is not set up',
  demo: 'the demo does not run',
};

function notConfigured(source: SourceId, remedy: string | undefined): SourceStatus {
  return {
    source,
    state: 'not-configured',
    problems: [
      {
        what: 'read',
        why: 'not-configured',
        message: titles[source],
        ...(remedy === undefined ? {} : { remedy }),
      },
    ],
  };
}

const clusterParts: readonly ClusterPart[] = [
  'workload',
  'replicaSets',
  'pods',
  'events',
  'hpa',
  'scaledObject',
  'pdbs',
  'nodes',
  'nodeUse',
  'nodePools',
  'nodeClaims',
  'logs',
  'pendingInCluster',
];

/** Why a part is not there that a source would have said: the source's own reason. */
function whyAbsent(id: SourceId, statuses: readonly SourceStatus[]): Absent {
  const status = statuses.find(({ source }) => source === id);
  if (status === undefined || status.state === 'not-configured')
    return absent('not-configured', titles[id], { source: id });
  if (status.state === 'reading') return absent('no-data', 'the first answer is on its way', { source: id });
  const [problem] = status.problems;
  return absent(
    status.state === 'denied' ? 'denied' : status.state === 'ok' ? 'no-data' : 'failed',
    problem?.message ?? 'it said nothing about this',
    {
      source: id,
      ...(problem?.remedy === undefined ? {} : { remedy: problem.remedy }),
    },
  );
}

function assemble(
  want: Want,
  now: Instant,
  statuses: readonly SourceStatus[],
  answers: readonly SourceAnswer[],
  memory: Memory,
  refresh: Duration,
): LiveSnapshot {
  const isDemo = answers.some(({ status }) => status.source === 'demo');
  const of = (id: SourceId): SourceAnswer | undefined =>
    answers.find(({ status }) => status.source === id || (isDemo && status.source === 'demo'));
  const said = of('kubernetes')?.cluster ?? {};
  const cluster = Object.fromEntries(
    clusterParts.map((part) => [part, said[part] ?? whyAbsent('kubernetes', statuses)]),
  ) as unknown as ClusterView;
  const context: LiveContext = {
    name: '',
    namespace: want.object.namespace,
    demo: isDemo,
    ...answers
      .map((answer) => answer.context ?? {})
      .reduceRight((later, earlier) => ({ ...later, ...earlier }), {}),
  };
  const series = want.history ? answers.flatMap((answer) => answer.series ?? []) : [];
  return {
    want,
    at: now,
    context,
    sources: statuses,
    cluster,
    measurements: answers.flatMap((answer) => answer.measurements ?? []),
    series: want.history ? [...series, ...memory.tracks.series(series, now, refresh)] : series,
    alarms: of('cloudwatch')?.alarms ?? whyAbsent('cloudwatch', statuses),
    logsQueries: [...memory.logs].map(([id, answer]) => ({ id, answer })),
    exportedNames: of('engine-metrics')?.exportedNames ?? whyAbsent('engine-metrics', statuses),
    refresh,
  };
}

// --- What has been read since somebody looks

/** Values of the past reads, for metrics of which no source has a history: a panel without Prometheus draws those. */
export interface Tracks {
  add(measurements: readonly Measurement[]): void;
  /** Series of what none of the given ones is about. */
  series(known: readonly Series[], now: Instant, refresh: Duration): readonly Series[];
  readonly size: number;
}

/** Of a metric with more subjects than this nothing is kept: a sum over some of them would be wrong. */
const maxSubjects = 200;
const maxTracks = 4_000;

interface Track {
  readonly metric: Measurement['metric'];
  readonly subject: Subject;
  readonly labels: Measurement['labels'];
  readonly unit: Series['unit'];
  readonly source: Series['source'];
  readonly at: number[];
  readonly values: number[];
}

function subjectKey(subject: Subject): string {
  switch (subject.kind) {
    case 'pod':
      return `pod|${subject.pod.namespace}|${subject.pod.name}|${subject.container ?? ''}`;
    case 'device':
      return `device|${subject.device}|${subject.node}|${subject.id}`;
    case 'node':
      return `node|${subject.node}`;
    case 'namespace':
      return `namespace|${subject.namespace}`;
    default:
      return subject.kind;
  }
}

export function createTracks({
  duration,
  step,
}: {
  readonly duration: Duration;
  readonly step: Duration;
}): Tracks {
  const tracks = new Map<string, Track>();

  const forget = (before: Instant): void => {
    for (const [key, track] of tracks) {
      let old = 0;
      while (old < track.at.length && (track.at[old] ?? 0) < before) old++;
      if (old === track.at.length) tracks.delete(key);
      else if (old > 0) {
        track.at.splice(0, old);
        track.values.splice(0, old);
      }
    }
  };

  return {
    get size() {
      return tracks.size;
    },
    add: (measurements) => {
      const counts = new Map<string, number>();
      for (const { metric, subject } of measurements) {
        const key = `${metric}|${subject.kind}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      let newest = 0;
      for (const { metric, subject, labels, observed } of measurements) {
        if (observed.kind === 'absent' || (counts.get(`${metric}|${subject.kind}`) ?? 0) > maxSubjects)
          continue;
        newest = Math.max(newest, observed.at);
        const key = `${observed.source.source}|${metric}|${subjectKey(subject)}|${labels === undefined ? '' : JSON.stringify(labels)}`;
        let track = tracks.get(key);
        if (track === undefined) {
          if (tracks.size >= maxTracks) continue;
          track = {
            metric,
            subject,
            labels,
            unit: observed.unit,
            source: observed.source,
            at: [],
            values: [],
          };
          tracks.set(key, track);
        }
        const last = track.at.at(-1);
        if (last !== undefined && observed.at <= last) continue;
        const before = track.at.at(-2);
        // As many points as a chart of the range has: one that is too near to the point before it takes the place of the last.
        if (last !== undefined && before !== undefined && observed.at - before < step) {
          track.at[track.at.length - 1] = observed.at;
          track.values[track.values.length - 1] = observed.value;
        } else {
          track.at.push(observed.at);
          track.values.push(observed.value);
        }
      }
      if (newest > 0) forget(newest - duration);
    },
    series: (known, now, refresh) => {
      const told = new Set(known.map(({ metric, subject }) => `${metric}|${subject.kind}`));
      const gap = 2.5 * Math.max(refresh, step);
      return [...tracks.values()].flatMap((track): readonly Series[] => {
        if (
          told.has(`${track.metric}|${track.subject.kind}`) ||
          track.at.length < 2 ||
          (track.at.at(-1) ?? 0) < now - duration
        )
          return [];
        const at: number[] = [];
        const values: (number | null)[] = [];
        for (const [index, when] of track.at.entries()) {
          const last = at.at(-1);
          if (last !== undefined && when - last > gap) {
            at.push(last + Math.max(refresh, step));
            values.push(null);
          }
          at.push(when);
          values.push(track.values[index] ?? null);
        }
        const { metric, subject, labels, unit, source } = track;
        return [
          {
            metric,
            subject,
            ...(labels === undefined ? {} : { labels }),
            unit,
            at,
            values,
            step: Math.max(refresh, step),
            source,
          },
        ];
      });
    },
  };
}
