import type { ControllerOptions, Instant } from './controller';
import type { Milli } from './milli';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** What the algorithm reads of a pod. */
export interface Pod {
  readonly name: string;
  readonly phase: PodPhase;
  /** It has a deletion timestamp. */
  readonly deleting: boolean;
  /** `status.startTime`. */
  readonly startTime: Instant | undefined;
  /** The condition `Ready` and when its status last changed. */
  readonly ready: { readonly status: 'True' | 'False' | 'Unknown'; readonly since: Instant } | undefined;
  /** Containers and restartable init containers (sidecars). */
  readonly containers: readonly ContainerRequests[];
  /** `spec.resources.requests` of the pod itself (gate PodLevelResources), where set. */
  readonly podRequests?: Readonly<Record<string, Milli>>;
}

export interface ContainerRequests {
  readonly name: string;
  readonly requests: Readonly<Record<string, Milli>>;
}

/** One pod's value of a metric: the sum over its containers, or the one container that the metric names. */
export interface Sample {
  readonly value: Milli;
  /** When it was taken; the end of its window. */
  readonly at: Instant;
  /** Over how long it was averaged, milliseconds. */
  readonly window: number;
}

/** The pods by what their samples are worth, each name in exactly one group. */
export interface PodGroups {
  /** How many pods count as they are. */
  readonly ready: number;
  /** Their samples are dropped; when scaling up they count as using nothing. */
  readonly unready: readonly string[];
  /** They have no sample. */
  readonly missing: readonly string[];
  /** Being deleted or failed: they do not count at all. */
  readonly ignored: readonly string[];
}

/**
 * Sorts pods as `groupPods` of the controller does (pkg/controller/podautoscaler/replica_calculator.go). Only for
 * cpu does readiness count: a starting pod burns cpu that says nothing about load.
 */
export function groupPods(
  pods: readonly Pod[],
  samples: ReadonlyMap<string, Sample>,
  resource: string,
  now: Instant,
  controller: ControllerOptions,
): PodGroups {
  let ready = 0;
  const unready: string[] = [];
  const missing: string[] = [];
  const ignored: string[] = [];
  for (const pod of pods) {
    const sample = samples.get(pod.name);
    if (pod.deleting || pod.phase === 'Failed') ignored.push(pod.name);
    else if (pod.phase === 'Pending') unready.push(pod.name);
    else if (sample === undefined) missing.push(pod.name);
    else if (resource === 'cpu' && isStarting(pod, sample, now, controller)) unready.push(pod.name);
    else ready += 1;
  }
  return { ready, unready, missing, ignored };
}

/** True when the pod's cpu sample is that of a start, not of work. */
function isStarting(pod: Pod, sample: Sample, now: Instant, controller: ControllerOptions): boolean {
  if (pod.ready === undefined || pod.startTime === undefined) return true;
  const unready = pod.ready.status === 'False';
  if (now < pod.startTime + controller.cpuInitializationPeriod) {
    // A sample that ends exactly one window after the change lies wholly after it and counts.
    return unready || sample.at < pod.ready.since + sample.window;
  }
  // Unready since so shortly after its start that it has never been ready.
  return unready && pod.ready.since < pod.startTime + controller.initialReadinessDelay;
}

/** Running and ready: what a metric with a total `Value` is multiplied by. Pods being deleted are included. */
export function countReady(pods: readonly Pod[]): number {
  return pods.filter((pod) => pod.phase === 'Running' && pod.ready?.status === 'True').length;
}

export type Requests =
  | { readonly ok: true; readonly byPod: ReadonlyMap<string, Milli> }
  | { readonly ok: false; readonly message: string };

/**
 * The request of each pod for a resource; one container without it makes the whole metric fail.
 *
 * With `container` only that container counts. Otherwise requests of the pod itself stand in for the sum.
 */
export function requestsOf(pods: readonly Pod[], resource: string, container: string | undefined): Requests {
  const byPod = new Map<string, Milli>();
  for (const pod of pods) {
    const request = requestOf(pod, resource, container);
    if (typeof request === 'string') return { ok: false, message: request };
    byPod.set(pod.name, request);
  }
  return { ok: true, byPod };
}

/** The request, or what is missing. */
function requestOf(pod: Pod, resource: string, container: string | undefined): Milli | string {
  if (container === undefined && pod.podRequests !== undefined) {
    const whole = pod.podRequests[resource];
    if (whole !== undefined) return whole;
    const parts = pod.containers.flatMap(({ requests }) => requests[resource] ?? []);
    if (parts.length === 0) return `missing pod-level request for ${resource} in Pod ${pod.name}`;
    return parts.reduce((sum, part) => sum + part, 0n);
  }
  const counted = pod.containers.filter(({ name }) => container === undefined || name === container);
  if (container !== undefined && counted.length === 0)
    return `container ${container} not found in Pod ${pod.name}`;
  let sum = 0n;
  for (const { name, requests } of counted) {
    const request = requests[resource];
    if (request === undefined)
      return `missing request for ${resource} in container ${name} of Pod ${pod.name}`;
    sum += request;
  }
  return sum;
}
