/**
 * What happens in the demo, as a function of time. Everything follows from it: the objects of the cluster, the numbers,
 * the events. Nothing in it is random: the same time gives the same answer.
 *
 * The story: requests rise to three times what two replicas can serve. The queue grows, the KV cache fills, latency
 * suffers; a container is killed at its memory limit under the pressure; the autoscaler asks for two more replicas, for
 * which Karpenter has to start nodes and the nodes have to pull a large image and weights, which takes nine minutes;
 * then the queue drains, and one of the GPUs gets too hot and slows down. After three quarters of an hour all is well again.
 */

export const minute = 60_000;

/** One round of the story, in minutes; then it begins anew. */
export const roundMinutes = 50;
/** The demo opens in the middle of it, with the surge already to be seen. */
export const openingMinute = 9;

/** Moments of a round, in minutes from its beginning. */
export const script = {
  surgeBegins: 2,
  surgeIsFull: 5,
  /** The autoscaler asks for two more. */
  scaleOut: 4.5,
  claimsLaunched: 5.3,
  nodesRegistered: 6.9,
  nodesReady: 7.4,
  oomKill: 8,
  oomRestart: 8.2,
  oomReady: 10.6,
  /** Of the two new pods. */
  scheduled: [7.5, 7.7],
  pulled: [9.7, 10.4],
  weights: [11.4, 12.2],
  ready: [12.6, 13.5],
  throttleBegins: 24,
  throttleEnds: 29,
  surgeEnds: 31,
  surgeIsOver: 33,
  /** After the stabilisation window of five minutes. */
  scaleIn: 39,
  nodesGone: 42,
} as const;

/** Requests a second that one replica can serve. */
export const capacityOfReplica = 3.2;
export const maxRunning = 24;

/** How things are at one moment. */
export interface Moment {
  readonly at: number;
  /** Minutes into the round; below 0 before the first one. */
  readonly minute: number;
  /** When the round began. */
  readonly roundAt: number;
  /** Requests that arrive a second. */
  readonly demand: number;
  /** Requests that are finished a second. */
  readonly served: number;
  readonly capacity: number;
  readonly waiting: number;
  readonly running: number;
  /** 0 to 1. */
  readonly kvCache: number;
  readonly preemptions: number;
  /** Seconds. */
  readonly queueTime: number;
  readonly ttft: number;
  readonly interToken: number;
  readonly desired: number;
  readonly current: number;
  readonly ready: number;
  readonly isThrottled: boolean;
  /** Requests a second that fail because the worker is gone. */
  readonly gone: number;
  readonly timedOut: number;
}

/** From 0 at `from` to 1 at `to`, smoothly. */
export function ramp(value: number, from: number, to: number): number {
  const share = Math.min(1, Math.max(0, (value - from) / (to - from)));
  return share * share * (3 - 2 * share);
}

/** Between -1 and 1: slow waves of periods that do not meet, so that lines look measured. */
export function wave(at: number, seed: number): number {
  const seconds = at / 1000;
  return (
    0.5 * Math.sin(seconds / (37 + (seed % 7)) + seed) +
    0.3 * Math.sin(seconds / (11 + (seed % 5)) + 2 * seed) +
    0.2 * Math.sin(seconds / (193 + (seed % 13)) + 3 * seed)
  );
}

/** Minutes into the round, and when the round began; before the first round, minutes until it begins. */
export function roundOf(at: number, openedAt: number): { readonly minute: number; readonly roundAt: number } {
  const firstAt = openedAt - openingMinute * minute;
  const rounds = Math.max(0, Math.floor((at - firstAt) / (roundMinutes * minute)));
  const roundAt = firstAt + rounds * roundMinutes * minute;
  return { minute: (at - roundAt) / minute, roundAt };
}

function demandAt(at: number, into: number): number {
  const hour = (at / 3_600_000) % 24;
  // Days have an afternoon; the demo does not know in which time zone.
  const daily = 1 + 0.2 * Math.sin(((hour - 9) / 24) * 2 * Math.PI);
  const surge =
    ramp(into, script.surgeBegins, script.surgeIsFull) - ramp(into, script.surgeEnds, script.surgeIsOver);
  return Math.max(0.2, 3.6 * daily + 5.6 * Math.max(0, surge) + 0.25 * wave(at, 3));
}

export function readyAt(into: number): number {
  const base = into >= script.oomKill && into < script.oomReady ? 1 : 2;
  const extra = script.ready.filter((ready) => into >= ready && into < script.scaleIn).length;
  return base + extra;
}

export function isThrottledAt(into: number): boolean {
  return into >= script.throttleBegins && into < script.throttleEnds;
}

function capacityAt(into: number): number {
  return readyAt(into) * capacityOfReplica * (isThrottledAt(into) ? 0.92 : 1);
}

const gridMs = 5_000;

export interface Story {
  at(time: number): Moment;
}

/** @param openedAt when somebody opened the demo */
export function createStory(openedAt: number): Story {
  /** The queue at each step of a round; it needs the steps before. Rounds differ by the time of day. */
  const queues = new Map<number, readonly number[]>();
  const queueAt = (time: number, into: number, roundAt: number): number => {
    if (into < 0) return 0;
    let queue = queues.get(roundAt);
    if (queue === undefined) {
      const steps: number[] = [];
      let waiting = 0;
      for (let step = 0; step <= (roundMinutes * minute) / gridMs; step++) {
        const when = roundAt + step * gridMs;
        const minutes = (step * gridMs) / minute;
        // Clients give up and do not come back for a while: the queue has an end.
        const patience = 1 - ramp(waiting, 25, 45);
        waiting = Math.max(
          0,
          waiting + (demandAt(when, minutes) * patience - capacityAt(minutes)) * (gridMs / 1000),
        );
        steps.push(waiting);
      }
      queue = steps;
      queues.set(roundAt, queue);
    }
    const index = (time - roundAt) / gridMs;
    const before = queue[Math.floor(index)] ?? 0;
    const after = queue[Math.ceil(index)] ?? before;
    return before + (after - before) * (index - Math.floor(index));
  };

  return {
    at: (time) => {
      const { minute: into, roundAt } = roundOf(time, openedAt);
      const demand = demandAt(time, into);
      const capacity = capacityAt(into);
      const queue = queueAt(time, into, roundAt);
      const waiting = Math.round(queue < 0.6 ? Math.max(0, wave(time, 5) * 0.8) : queue);
      const served = waiting > 1 ? capacity : Math.min(demand, capacity);
      const load = Math.min(1, demand / capacity);
      const ready = readyAt(into);
      const isFull = waiting > 1;
      const running = Math.round(isFull ? ready * maxRunning : Math.max(1, ready * maxRunning * 0.75 * load));
      const kvCache = Math.min(
        0.985,
        isFull
          ? 0.93 + 0.035 * Math.min(1, waiting / 40) + 0.01 * wave(time, 7)
          : 0.2 + 0.5 * load + 0.02 * wave(time, 7),
      );
      const queueTime = waiting > 1 ? waiting / capacity : 0.004 + 0.003 * (1 + wave(time, 11));
      const slow = isThrottledAt(into) ? 1.35 : 1;
      const interToken = (0.021 + 0.019 * load + (isFull ? 0.012 : 0) + 0.001 * wave(time, 13)) * slow;
      const prefill = (0.16 + 0.16 * load + 0.01 * wave(time, 17)) * slow;
      const isGone = into >= script.oomKill && into < script.oomKill + 0.6;
      return {
        at: time,
        minute: into,
        roundAt,
        demand,
        served,
        capacity,
        waiting,
        running,
        kvCache,
        preemptions: isFull ? Math.max(0, 0.35 * (kvCache - 0.93) * 20 + 0.05 * wave(time, 19)) : 0,
        queueTime,
        ttft: prefill + queueTime,
        interToken,
        desired: into >= script.scaleOut && into < script.scaleIn ? 4 : 2,
        current: into >= script.scaleOut && into < script.scaleIn ? 4 : 2,
        ready,
        isThrottled: isThrottledAt(into),
        gone: isGone ? 1.4 : 0,
        timedOut: queueTime > 8 ? 0.15 + 0.05 * wave(time, 23) : 0,
      };
    },
  };
}
