import type { Connection } from 'vscode-languageserver';
import type { Finding } from '../engine/finding';
import type { Resource } from '../kube/resource';
import { baselineOf } from '../live/baseline';
import { readingsOf } from '../live/readings';
import type { LiveSnapshot } from '../live/snapshot';
import type { defaultThresholds } from '../live/thresholds';
import { thresholdsWith } from '../live/thresholds';
import type { LogsQueryId, Want } from '../live/want';
import { metricIds } from '../live/vocabulary';
import { logsQueryIds, wantKey } from '../live/want';
import { buildPanelModel } from '../panel/build';
import type { Empty, PanelModel } from '../panel/model';
import { workloadOf } from '../panel/places';
import { followedAt, wantOf } from '../panel/want';
import type {
  PanelBaseline,
  PanelConnection,
  PanelNamespaces,
  PanelSession,
  PanelState,
  PanelStatus,
  PanelText,
} from '../protocol/panel';
import {
  panelBaselineRequest,
  panelContextsRequest,
  panelNamespacesRequest,
  panelRefreshNotification,
  panelSessionNotification,
  panelStateNotification,
  panelTextRequest,
} from '../protocol/panel';
import { remedyFor, SourceError } from '../sources/failure';
import { logsQuery } from '../sources/logs-queries';
import { printYaml } from '../yaml/print';
import type { Clock } from './environment';
import type { Cancellation, Guard } from './guard';
import { cancelled } from './guard';
import type { LiveReader, LiveSources } from './live-reader';
import { refreshOf, sessionOf, textParamsOf } from './panel-params';
import type { Project } from './project';
import type { Reports } from './reports';
import { uriKey } from './uris';
import { unseal } from './unseal';

export interface PanelFeatures {
  readonly connection: Connection;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly project: Project;
  readonly reports: Reports;
  readonly sources: LiveSources;
  readonly sealKey: Buffer | undefined;
  /** Until the settings are there, and what is on its way from the disk about a file. */
  readonly settled: (key: string) => Promise<void>;
  /** What is known of the cluster has changed: lenses and live findings are to be asked for again. */
  readonly changed: () => void;
}

/** What is known of the cluster about one object of the files. */
export interface LiveView {
  readonly resource: Resource;
  readonly snapshot: LiveSnapshot;
}

export interface PanelServer {
  /** The newest, while the panel is open and follows an object of the files. */
  live(): LiveView | undefined;
  /**
   * The same while somebody looks at a cluster: neither what is not read any more nor what the demo plays is evidence
   * for a finding.
   */
  evidence(): LiveView | undefined;
  dispose(): void;
}

/** What is read about, and what has been read. */
interface Following {
  /** Absent for the demo's own object. */
  readonly resource: Resource | undefined;
  readonly want: Want;
  snapshot: LiveSnapshot | undefined;
}

/**
 * The server's side of the panel: reads what the client's session asks for, as long as somebody looks, and sends
 * models. It is in one of three states: without a connection, waiting for an object, or following one.
 */
export function createPanelServer(features: PanelFeatures): PanelServer {
  const { connection, guard, clock, project, reports, sources, sealKey, settled } = features;
  let session: PanelSession | undefined;
  let target: string | undefined;
  let reader: LiveReader | undefined;
  let following: Following | undefined;
  let reading: AbortController | undefined;
  let isReading = false;
  let nudge: (() => void) | undefined;
  let isDue = false;
  /** Queries of the logs that run, each with what stops it. */
  const queries = new Map<LogsQueryId, AbortController>();
  let isDisposed = false;
  /** What the last model was made of. */
  let told: readonly unknown[] = [];
  /** Sessions come one by one; work on an older one stops when a newer is there. */
  let generation = 0;

  // -------------------------------------------------------------------------------------------------------------
  // What the client sees

  const tell = (state: PanelState): void => {
    if (state.kind !== 'model') told = [];
    const key = baselineKey();
    const status: PanelStatus = { state, ...(key === undefined ? {} : { baselineKey: key }) };
    void connection.sendNotification(panelStateNotification, status);
  };

  function baselineKey(): string | undefined {
    if (session?.connection === undefined || following === undefined) return undefined;
    const { object, workload = object } = following.want;
    const place = session.connection.kind === 'demo' ? 'demo' : session.connection.context;
    return [place, workload.namespace, workload.kind, workload.name].join('|');
  }

  /** Sends the model, unless it would be the one that was sent last: a cursor that moves within an object changes nothing. */
  function tellModel(): void {
    if (following?.snapshot === undefined || session === undefined) return;
    const made = [
      following.snapshot,
      following.resource,
      isReading,
      project.generation,
      JSON.stringify(session.baselines),
      [...queries.keys()].join(),
    ];
    if (made.every((each, index) => each === told[index])) return;
    told = made;
    tell({ kind: 'model', model: modelOf(following.snapshot, following.resource), reading: isReading });
  }

  function modelOf(snapshot: LiveSnapshot, resource: Resource | undefined): PanelModel {
    const workspace = project.workspace();
    const key = baselineKey();
    const baseline = key === undefined ? undefined : session?.baselines[key];
    const { object, workload = object } = snapshot.want;
    const selection = { namespace: workload.namespace, workload: workload.name };
    return buildPanelModel(workspace, findingsAbout(resource), snapshot, sources.now(), {
      resource,
      configFor: project.configFor,
      baseline,
      thresholds: thresholdsFor(resource),
      ...spotPrice(resource),
      logsQueries: logsQueryIds.map((id) => ({
        id,
        query: logsQuery(id, selection),
        running: queries.has(id),
      })),
    });
  }

  function thresholdsFor(resource: Resource | undefined): typeof defaultThresholds {
    const uri = resource?.uri ?? '';
    return thresholdsWith(project.folderOf(uri).settings.live.thresholds).thresholds;
  }

  function spotPrice(resource: Resource | undefined): { readonly spotPriceFactor?: number } {
    const { spotPriceFactor } = project.folderOf(resource?.uri ?? '').settings.live;
    return spotPriceFactor > 0 ? { spotPriceFactor } : {};
  }

  function findingsAbout(resource: Resource | undefined): readonly Finding[] {
    if (resource === undefined) return [];
    const workload = workloadOf(project.workspace(), resource);
    const uris = new Set([resource.uri, ...(workload === undefined ? [] : [workload.uri])]);
    return [...uris].flatMap((uri) => reports.of(uri).findings);
  }

  // -------------------------------------------------------------------------------------------------------------
  // What is read

  /** Brings what is done in line with the session. */
  async function follow(next: PanelSession): Promise<void> {
    const mine = ++generation;
    const isOld = (): boolean => mine !== generation || isDisposed;
    // A page that has just come back knows nothing.
    if (next.visible && session?.visible !== true) told = [];
    session = next;
    await connectTo(next.connection);
    if (isOld()) return;
    if (reader === undefined) {
      stop();
      following = undefined;
      features.changed();
      return;
    }
    const found = await wanted(next, reader);
    if (isOld()) return;
    if (found === undefined) {
      // The cursor is somewhere else for a while: what was shown goes on.
      if (following === undefined) {
        stop();
        return tell({ kind: 'waiting', empty: noObject });
      }
    } else if (following === undefined || keyOf(following.want) !== keyOf(found.want)) {
      stop();
      const isSameObject = following !== undefined && objectKey(following.want) === objectKey(found.want);
      // Another range of the same object: what is known stays until the answer is there.
      following = { ...found, snapshot: isSameObject ? following?.snapshot : undefined };
      if (following.snapshot === undefined) {
        tell({ kind: 'loading', title: `${found.want.object.kind} ${found.want.object.name}` });
      }
      features.changed();
    } else {
      following = { ...found, snapshot: following.snapshot };
    }
    if (!next.visible) stop();
    else if (reading === undefined) start(reader);
    tellModel();
    features.changed();
  }

  async function connectTo(wish: PanelConnection | undefined): Promise<void> {
    const refreshMs = project.folderOf(session?.focus?.uri ?? '').settings.live.refreshSeconds * 1000;
    const key = wish === undefined ? undefined : JSON.stringify([wish, refreshMs]);
    if (key === target) return;
    stop();
    following = undefined;
    const before = reader;
    target = key;
    if (wish === undefined) reader = undefined;
    else if (wish.kind === 'demo') reader = sources.connect({ kind: 'demo' }, refreshMs);
    else {
      const token = unseal(wish.prometheusToken, sealKey);
      reader = sources.connect(
        {
          kind: 'cluster',
          context: wish.context,
          sources: wish.sources,
          ...(token === undefined ? {} : { prometheusToken: token }),
        },
        refreshMs,
      );
    }
    await before?.dispose();
  }

  /** The object at the cursor and what is asked about it. */
  async function wanted(
    { connection: wish, focus, range }: PanelSession,
    from: LiveReader,
  ): Promise<Omit<Following, 'snapshot'> | undefined> {
    const now = sources.now();
    const key = uriKey(focus?.uri ?? '');
    if (focus !== undefined) await settled(key);
    const document = project.document(key);
    const resource =
      focus === undefined || document === undefined
        ? undefined
        : followedAt(project.workspace(), key, document.offsetAt(focus));
    if (resource === undefined) {
      if (from.fallback === undefined || following?.resource !== undefined) return undefined;
      const want: Want = {
        object: from.fallback,
        engine: 'unknown',
        range,
        now,
        metrics: metricIds,
        allocationLabels: [],
        history: true,
      };
      return { resource: undefined, want };
    }
    const own = wish?.kind === 'cluster' ? wish.namespace : undefined;
    const namespace = resource.namespace ?? own ?? (await from.namespace());
    const { allocationLabels } = project.folderOf(key).settings.live;
    return {
      resource,
      want: wantOf(project.workspace(), resource, { range, now, namespace, allocationLabels, history: true }),
    };
  }

  function start(from: LiveReader): void {
    const mine = new AbortController();
    reading = mine;
    const { signal } = mine;
    if (following !== undefined) from.watch(following.want, () => nudgeNow(), signal);
    void guard.background('the panel', async () => {
      while (!signal.aborted) {
        const about = following;
        if (about === undefined) return;
        isDue = false;
        // A read that fails is told, and the next one is tried.
        await guard.background('reading for the panel', () => readOnce(from, about, signal));
        if (signal.aborted) return;
        await pause(following?.snapshot?.refresh ?? 15_000, signal);
      }
    });
  }

  async function readOnce(from: LiveReader, about: Following, signal: AbortSignal): Promise<void> {
    const want: Want = { ...about.want, now: sources.now() };
    const show = (snapshot: LiveSnapshot): void => {
      if (signal.aborted || following === undefined) return;
      following.snapshot = snapshot;
      tellModel();
      features.changed();
    };
    isReading = true;
    try {
      const snapshot = await from.read(want, signal, (part) => {
        // While all of it is known already, a part of the next answer would only flicker.
        const known = following?.snapshot;
        if (known === undefined || isPartial(known)) show(part);
      });
      isReading = queries.size > 0;
      show(snapshot);
    } catch (error) {
      isReading = false;
      if (signal.aborted) return;
      if (following?.snapshot === undefined) tell({ kind: 'waiting', empty: brokenRead });
      throw error;
    }
  }

  /** A query of the logs takes up to minutes; everything else is read meanwhile. */
  async function runQuery(logsQuery: LogsQueryId): Promise<void> {
    const [about, from, looking] = [following, reader, reading?.signal];
    if (about === undefined || from === undefined || looking === undefined || queries.has(logsQuery)) return;
    const running = new AbortController();
    const signal = AbortSignal.any([looking, running.signal]);
    queries.set(logsQuery, running);
    isReading = true;
    tellModel();
    try {
      const want: Want = { ...about.want, now: sources.now(), logsQuery };
      const snapshot = await from.read(want, signal, () => undefined);
      if (!signal.aborted && following !== undefined) following.snapshot = { ...snapshot, want: about.want };
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      queries.delete(logsQuery);
      if (!looking.aborted) {
        isReading = queries.size > 0;
        tellModel();
      }
    }
  }

  /** Until the next read is due, or something has changed. */
  function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (isDue) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.after(milliseconds, () => done());
      const done = (): void => {
        cancel();
        nudge = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      nudge = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  function nudgeNow(): void {
    isDue = true;
    nudge?.();
  }

  function stop(): void {
    reading?.abort(new Error('nobody looks'));
    reading = undefined;
    isReading = false;
    isDue = false;
  }

  // -------------------------------------------------------------------------------------------------------------
  // Messages

  connection.onNotification(
    panelSessionNotification,
    guard.notification(panelSessionNotification, (params: unknown) => follow(sessionOf(params))),
  );

  connection.onNotification(
    panelRefreshNotification,
    guard.notification(panelRefreshNotification, (params: unknown) => {
      const { logsQuery: query, cancelLogsQuery } = refreshOf(params);
      if (query !== undefined) return runQuery(query);
      if (cancelLogsQuery !== undefined) {
        queries.get(cancelLogsQuery)?.abort(new Error('cancelled'));
        return undefined;
      }
      if (following?.snapshot !== undefined && reading !== undefined) {
        isReading = true;
        tellModel();
      }
      nudgeNow();
      return undefined;
    }),
  );

  const contexts = guard.request(panelContextsRequest, () => sources.contexts());
  connection.onRequest(panelContextsRequest, (...given: unknown[]) => contexts(undefined, lastOf(given)));

  const namespaces = guard.request(
    panelNamespacesRequest,
    async (_params: unknown, cancellation: Cancellation): Promise<PanelNamespaces> => {
      if (reader === undefined) return { namespaces: [], problem: 'No cluster is connected' };
      const from = reader;
      const answer = await abortable(cancellation, (signal) => from.namespaces(signal));
      return answer.kind === 'value'
        ? { namespaces: answer.value }
        : { namespaces: [], problem: answer.message };
    },
  );
  connection.onRequest(panelNamespacesRequest, (...given: unknown[]) => namespaces(undefined, lastOf(given)));

  const baseline = guard.request(panelBaselineRequest, (): PanelBaseline => {
    const key = baselineKey();
    if (key === undefined || following?.snapshot === undefined)
      return { problem: 'there is nothing yet that a baseline could be made of' };
    const made = baselineOf(readingsOf(following.snapshot), sources.now());
    return made === undefined
      ? { problem: 'no metric that a baseline compares is known' }
      : { key, baseline: made };
  });
  connection.onRequest(panelBaselineRequest, (...given: unknown[]) => baseline(undefined, lastOf(given)));

  connection.onRequest(
    panelTextRequest,
    guard.request(panelTextRequest, async (params: unknown, cancellation): Promise<PanelText> => {
      const what = textParamsOf(params);
      if (reader === undefined) return { kind: 'problem', message: 'no cluster is connected' };
      const from = reader;
      if (what.kind === 'open-log') {
        const { pod, container, previous } = what;
        const answer = await abortable(cancellation, (signal) => from.log(pod, container, previous, signal));
        const title = [pod.name, container, previous ? 'previous' : undefined].filter(Boolean).join('-');
        return answer.kind === 'value'
          ? { kind: 'text', text: answer.value, language: 'log', title: `${title}.log` }
          : answer;
      }
      const { object } = what;
      const answer = await abortable(cancellation, (signal) => from.object(object, signal));
      if (answer.kind !== 'value') return answer;
      const title = `${object.kind}-${object.name}.yaml`;
      return { kind: 'text', text: printYaml(answer.value), language: 'yaml', title };
    }),
  );

  return {
    evidence() {
      return session?.visible === true && session.connection?.kind === 'cluster' ? this.live() : undefined;
    },
    live() {
      if (session?.connection === undefined) return undefined;
      const { resource, snapshot } = following ?? {};
      return resource === undefined || snapshot === undefined ? undefined : { resource, snapshot };
    },
    dispose() {
      isDisposed = true;
      stop();
      void guard.background('disconnecting', async () => void (await reader?.dispose()));
    },
  };
}

function lastOf(given: readonly unknown[]): Cancellation {
  return given.at(-1) as Cancellation;
}

/** Whether sources are missing from a snapshot because they have not answered yet. */
function isPartial({ sources }: LiveSnapshot): boolean {
  return sources.some(({ state }) => state === 'reading');
}

function objectKey({ object, workload }: Want): string {
  return JSON.stringify([object, workload]);
}

function keyOf(want: Want): string {
  const { engine, metricsPort, metricsPath, allocationLabels } = want;
  return JSON.stringify([wantKey(want), objectKey(want), engine, metricsPort, metricsPath, allocationLabels]);
}

type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'problem'; readonly message: string; readonly remedy?: string };

/** Asks with a signal that is aborted when the client takes its request back. */
async function abortable<T>(
  cancellation: Cancellation,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<Answer<T>> {
  const controller = new AbortController();
  const token = cancellation as Cancellation & {
    onCancellationRequested?(listener: () => void): { dispose(): void };
  };
  const listening = token.onCancellationRequested?.(() => controller.abort(new Error('cancelled')));
  try {
    return { kind: 'value', value: await ask(controller.signal) };
  } catch (error) {
    if (controller.signal.aborted) throw cancelled();
    // Messages of sources are made for people, without secrets; others are mistakes of ours.
    if (error instanceof SourceError) {
      const remedy = remedyFor(error);
      return { kind: 'problem', message: error.message, ...(remedy === undefined ? {} : { remedy }) };
    }
    throw error;
  } finally {
    listening?.dispose();
  }
}

const noObject: Empty = {
  kind: 'empty',
  why: 'The cursor is in no object that the panel follows',
  whatToDo:
    'Open a manifest and put the cursor into a Deployment, StatefulSet, HorizontalPodAutoscaler, ScaledObject, NodePool or another workload',
  actions: [],
  state: 'info',
};

const brokenRead: Empty = {
  kind: 'empty',
  why: 'Reading failed inside Plimsoll',
  whatToDo: 'Run "Plimsoll: Show Output" for the details; it is tried again with the next refresh',
  actions: [],
  state: 'critical',
};
