import type { ClusterView, EventView, NodeClaimView, NodeView, PodView } from './cluster';
import { durationText } from './format';
import type { PodName } from './measurement';
import { conditionOf, isReady, restartsOf } from './pods';
import type { Duration, Instant } from './reading';
import { isSamePod, partValue } from './readings';

export type ColdStartPhaseId = 'schedule' | 'node' | 'image' | 'weights' | 'engine' | 'start';

export interface Phase {
  readonly id: ColdStartPhaseId;
  readonly duration: Duration;
  /** From which condition or event to which. */
  readonly detail: string;
}

/** How long a pod took from being wanted to being ready, and what of it went where. */
export interface ColdStart {
  readonly pod: PodView;
  /** A node was started for it. */
  readonly newNode: boolean;
  /** The image was already on the node. */
  readonly imagePresent: boolean | undefined;
  readonly from: Instant;
  /** When it became ready; absent while it is on its way. */
  readonly to: Instant | undefined;
  /** In order of time; they add up to the total. */
  readonly phases: readonly Phase[];
  /** What the phases could not be told from. */
  readonly caveats: readonly string[];
}

/**
 * The starts of the pods that are known, the newest first. A pod whose containers have restarted is left out: its
 * condition Ready tells of a later start.
 */
export function coldStarts(cluster: ClusterView, now: Instant): readonly ColdStart[] {
  const pods = partValue(cluster.pods) ?? [];
  const events = partValue(cluster.events);
  const claims = new Map((partValue(cluster.nodeClaims) ?? []).map((claim) => [claim.node ?? '', claim]));
  const nodes = new Map((partValue(cluster.nodes) ?? []).map((node) => [node.name, node]));
  const own = eventsByPod(events ?? []);
  return [...pods]
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, mostStarts)
    .filter((pod) => restartsOf(pod) === 0 && pod.deletingSince === undefined && pod.phase !== 'Failed')
    .flatMap((pod) => {
      const start = coldStart(
        pod,
        events === undefined ? undefined : (own.get(podKey(pod.pod)) ?? []),
        claims,
        nodes,
        cluster,
        now,
      );
      return start === undefined ? [] : [start];
    });
}

/** Older starts tell nothing new, and a thousand of them take time. */
const mostStarts = 100;

function podKey({ namespace, name }: PodName): string {
  return `${namespace}/${name}`;
}

function eventsByPod(events: readonly EventView[]): ReadonlyMap<string, readonly EventView[]> {
  const result = new Map<string, EventView[]>();
  for (const event of events) {
    if (event.about.kind !== 'Pod') continue;
    const list = result.get(podKey(event.about));
    if (list === undefined) result.set(podKey(event.about), [event]);
    else list.push(event);
  }
  return result;
}

/** The one to show: the newest complete start on a new node, else the newest complete one, else one on its way. */
export function chosenStart(starts: readonly ColdStart[]): ColdStart | undefined {
  const complete = starts.filter(({ to }) => to !== undefined);
  return complete.find(({ newNode }) => newNode) ?? complete[0] ?? starts[0];
}

function coldStart(
  pod: PodView,
  events: readonly EventView[] | undefined,
  claims: ReadonlyMap<string, NodeClaimView>,
  nodes: ReadonlyMap<string, NodeView>,
  cluster: ClusterView,
  now: Instant,
): ColdStart | undefined {
  const from = pod.createdAt;
  const ready = isReady(pod) ? conditionOf(pod, 'Ready')?.since : undefined;
  if (isReady(pod) && ready === undefined) return undefined;
  const end = ready ?? now;
  const caveats: string[] = [];
  const phases: Phase[] = [];
  let at = from;
  const add = (id: ColdStartPhaseId, until: Instant, detail: string): void => {
    const bounded = Math.min(Math.max(until, at), end);
    if (bounded > at) phases.push({ id, duration: bounded - at, detail });
    at = bounded;
  };

  const scheduledCondition = conditionOf(pod, 'PodScheduled');
  const scheduled = scheduledCondition?.status === 'True' ? scheduledCondition.since : undefined;
  const node = pod.node === undefined ? undefined : nodes.get(pod.node);
  const claim = pod.node === undefined ? undefined : claims.get(pod.node);
  const nodeBegan = claim?.createdAt ?? node?.createdAt;
  const newNode =
    nodeBegan !== undefined && nodeBegan >= from - 5000 && (scheduled === undefined || nodeBegan < scheduled);
  if (scheduled === undefined) {
    add(
      'schedule',
      end,
      ready === undefined
        ? 'from its creation; it has no node yet'
        : 'the API server does not tell when it was scheduled',
    );
    return { pod, newNode: false, imagePresent: undefined, from, to: ready, phases, caveats };
  }
  if (newNode) {
    add(
      'schedule',
      nodeBegan,
      `from its creation to the creation of ${claim === undefined ? `node ${node?.name ?? ''}` : `NodeClaim ${claim.name}`}`,
    );
    add('node', scheduled, `${nodeDetail(claim, node)}, until it was scheduled`);
  } else {
    if (node === undefined && claim === undefined && pod.node !== undefined) {
      caveats.push('nodes cannot be read, so a new node cannot be told from one that was there');
    }
    add('schedule', scheduled, 'from its creation to its binding to a node');
  }

  const pulls = imagePulls(events ?? []);
  if (events === undefined)
    caveats.push('events cannot be read, so pulling images cannot be told from starting');
  const inits = pod.containers.filter(({ role }) => role === 'init');
  const mains = pod.containers.filter(({ role }) => role === 'main');
  const initEnds = inits.flatMap(({ state }) =>
    state.kind === 'terminated' && state.startedAt !== undefined && state.finishedAt !== undefined
      ? [{ start: state.startedAt, end: state.finishedAt }]
      : [],
  );
  const begun = mains.flatMap(({ state }) =>
    state.kind === 'running' && state.since !== undefined ? [state.since] : [],
  );
  const running = begun.length === mains.length && begun.length > 0 ? Math.max(...begun) : undefined;

  // What init containers do after their images are there is fetching the model.
  const firstInit = initEnds[0];
  const lastInit = initEnds.at(-1);
  if (firstInit !== undefined && lastInit !== undefined) {
    add(
      pulls.firstEnd !== undefined ? 'image' : 'start',
      firstInit.start,
      'from its binding to the start of its init containers',
    );
    add('weights', lastInit.end, 'while its init containers ran');
  }
  if (running === undefined) {
    const pulling = pulls.pulling && !pulls.done;
    add(
      pulling ? 'image' : 'start',
      end,
      pulling
        ? 'since its image is being pulled; the containers do not run yet'
        : 'its containers do not run yet',
    );
    return { pod, newNode, imagePresent: pulls.present, from, to: ready, phases, caveats };
  }
  if (pulls.lastEnd !== undefined && pulls.firstStart !== undefined && pulls.lastEnd > at) {
    add(
      'start',
      Math.max(at, pulls.firstStart),
      'from its binding to the start of pulling images: sandbox, volumes, addresses',
    );
    add('image', pulls.lastEnd, 'from event Pulling to event Pulled');
  }
  add('start', running, 'until its containers ran');

  const loaded = weightsFromLog(pod, cluster);
  if (loaded !== undefined && lastInit === undefined) {
    add('weights', at + loaded.duration, `the engine's log: "${loaded.line}"`);
  }
  add(
    'engine',
    end,
    loaded === undefined && lastInit === undefined
      ? 'from the start of the containers to condition Ready; loading the weights is in it'
      : 'from the weights being there to condition Ready: compiling, CUDA graphs, warming up, probes',
  );
  return { pod, newNode, imagePresent: pulls.present, from, to: ready, phases, caveats };
}

function nodeDetail(claim: NodeClaimView | undefined, node: NodeView | undefined): string {
  if (claim === undefined) return `node ${node?.name ?? ''} was created`;
  const parts = ['Launched', 'Registered', 'Initialized'].flatMap((type) => {
    const condition = conditionOf(claim, type);
    return condition?.status === 'True' && condition.since !== undefined
      ? [`${type.toLowerCase()} after ${durationText(condition.since - claim.createdAt)}`]
      : [];
  });
  const type = claim.instanceType ?? node?.instanceType;
  return [`NodeClaim ${claim.name}${type === undefined ? '' : ` (${type})`}`, ...parts].join(', ');
}

interface Pulls {
  readonly firstStart: Instant | undefined;
  readonly firstEnd: Instant | undefined;
  readonly lastEnd: Instant | undefined;
  readonly pulling: boolean;
  readonly done: boolean;
  readonly present: boolean | undefined;
}

function imagePulls(events: readonly EventView[]): Pulls {
  const pulling = events.filter(({ reason }) => reason === 'Pulling');
  const pulled = events.filter(({ reason }) => reason === 'Pulled');
  const fetched = pulled.filter(({ message }) => !/already present/i.test(message));
  const starts = pulling.map(({ firstAt }) => firstAt);
  const ends = fetched.map(({ firstAt }) => firstAt);
  return {
    firstStart: starts.length === 0 ? undefined : Math.min(...starts),
    firstEnd: ends.length === 0 ? undefined : Math.min(...ends),
    lastEnd: ends.length === 0 ? undefined : Math.max(...ends),
    pulling: pulling.length > 0,
    done: fetched.length >= pulling.length && pulling.length > 0,
    present: pulled.length === 0 ? undefined : fetched.length === 0,
  };
}

/** vLLM and SGLang print how long the weights took: `Loading weights took 12.34 seconds`, `Load weight end. elapsed=9.81 s`. */
const weightLines: readonly RegExp[] = [
  /Loading weights took ([\d.]+) seconds/i,
  /Load weight end\.? .*?elapsed=([\d.]+) ?s/i,
  /Model loading took [\d.]+ Gi?B (?:memory )?and ([\d.]+) seconds/i,
];

function weightsFromLog(
  { pod }: PodView,
  { logs }: ClusterView,
): { readonly duration: Duration; readonly line: string } | undefined {
  for (const excerpt of partValue(logs) ?? []) {
    if (excerpt.previous || !isSamePod(excerpt.pod, pod)) continue;
    for (const line of excerpt.lines) {
      for (const pattern of weightLines) {
        const seconds = Number(pattern.exec(line)?.[1] ?? Number.NaN);
        if (Number.isFinite(seconds) && seconds > 0)
          return { duration: seconds * 1000, line: line.trim().slice(0, 200) };
      }
    }
  }
  return undefined;
}
