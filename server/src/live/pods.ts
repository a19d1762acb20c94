import type { Condition, ContainerView, PodView, Termination } from './cluster';
import type { Duration, Instant } from './reading';

/** What `kubectl get pods` says in its column STATUS, by the same order of reasons (printers/internalversion). */
export function statusWord(pod: PodView): string {
  let word = pod.reason !== undefined && pod.reason !== '' ? pod.reason : pod.phase;
  const inits = pod.containers.filter(({ role }) => role !== 'main');
  const initialized = conditionOf(pod, 'Initialized')?.status === 'True';
  let initializing = false;
  for (const [index, container] of inits.entries()) {
    const { state } = container;
    if (state.kind === 'terminated' && state.exitCode === 0) continue;
    if (container.role === 'sidecar' && state.kind === 'running') continue;
    if (state.kind === 'terminated') word = `Init:${terminationWord(state)}`;
    else if (state.kind === 'waiting' && state.reason !== '' && state.reason !== 'PodInitializing') {
      word = `Init:${state.reason}`;
    } else word = `Init:${index}/${inits.length}`;
    initializing = true;
    break;
  }
  if (!initializing || initialized) {
    let running = false;
    for (const { state, ready } of [...pod.containers].filter(({ role }) => role === 'main').reverse()) {
      if (state.kind === 'waiting' && state.reason !== '') word = state.reason;
      else if (state.kind === 'terminated') word = terminationWord(state);
      else if (state.kind === 'running' && ready) running = true;
    }
    if (word === 'Completed' && running) word = isReady(pod) ? 'Running' : 'NotReady';
  }
  if (pod.deletingSince !== undefined) return pod.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  return word;
}

function terminationWord({ reason, signal, exitCode }: Termination): string {
  if (reason !== '') return reason;
  return signal !== undefined && signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

export function conditionOf(
  object: { readonly conditions: readonly Condition[] },
  type: string,
): Condition | undefined {
  return object.conditions.find((condition) => condition.type === type);
}

export function isReady(pod: PodView): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True';
}

/** Neither finished nor on its way out: it counts as a replica. */
export function isActive(pod: PodView): boolean {
  return pod.deletingSince === undefined && pod.phase !== 'Succeeded' && pod.phase !== 'Failed';
}

/** Waits for a node. */
export function isUnscheduled(pod: PodView): boolean {
  return isActive(pod) && pod.phase === 'Pending' && pod.node === undefined;
}

export function restartsOf(pod: PodView): number {
  return pod.containers.reduce((sum, { restarts }) => sum + restarts, 0);
}

/** Sum of what its containers ask for, as the scheduler counts extended resources: init containers do not add. */
export function requestOf(pod: PodView, resource: string): number {
  let main = 0;
  let init = 0;
  for (const { role, requests, limits } of pod.containers) {
    const amount = requests[resource] ?? limits[resource] ?? 0;
    if (role === 'init') init = Math.max(init, amount);
    else main += amount;
  }
  return Math.max(main, init);
}

/** Resources that stand for devices which are counted in tiles and costs. */
const gpuResources = ['nvidia.com/gpu', 'amd.com/gpu', 'habana.ai/gaudi'] as const;
const neuronResources = [
  'aws.amazon.com/neuron',
  'aws.amazon.com/neuroncore',
  'aws.amazon.com/neurondevice',
] as const;

export function acceleratorsOf(
  pod: PodView,
): readonly { readonly resource: string; readonly count: number }[] {
  const names = new Set(
    pod.containers.flatMap(({ requests, limits }) => [...Object.keys(requests), ...Object.keys(limits)]),
  );
  return [...names]
    .filter((name) => isAccelerator(name))
    .map((resource) => ({ resource, count: requestOf(pod, resource) }))
    .filter(({ count }) => count > 0);
}

export function isAccelerator(resource: string): boolean {
  return (
    (gpuResources as readonly string[]).includes(resource) ||
    (neuronResources as readonly string[]).includes(resource) ||
    resource.startsWith('nvidia.com/mig-')
  );
}

/** An end of a container that was not asked for. */
export interface Failure {
  readonly pod: PodView;
  readonly container: ContainerView;
  readonly termination: Termination;
  /** `oom`: the kernel killed it for memory, or exit code 137 without another reason that explains it. */
  readonly kind: 'oom' | 'killed' | 'error';
  /** Waiting with CrashLoopBackOff, or ended and not yet begun anew. */
  readonly looping: boolean;
}

/**
 * The last failure of each container that had one. Exit code 137 is SIGKILL: with reason OOMKilled it was the memory
 * limit; otherwise it may as well have been a probe or a node under memory pressure.
 */
export function failuresOf(pods: readonly PodView[]): readonly Failure[] {
  return pods.flatMap((pod) =>
    pod.containers.flatMap((container): readonly Failure[] => {
      const { state } = container;
      const termination = state.kind === 'terminated' ? state : container.lastTermination;
      if (termination === undefined || (termination.exitCode === 0 && termination.reason !== 'OOMKilled'))
        return [];
      const looping = state.kind === 'waiting' && state.reason === 'CrashLoopBackOff';
      const kind =
        termination.reason === 'OOMKilled' ? 'oom' : termination.exitCode === 137 ? 'killed' : 'error';
      return [{ pod, container, termination, kind, looping: looping || state.kind === 'terminated' }];
    }),
  );
}

/** Failures whose end is not longer ago than `within`, and those that still wait for their next start. */
export function recentFailures(pods: readonly PodView[], now: Instant, within: Duration): readonly Failure[] {
  return failuresOf(pods).filter(
    ({ termination, looping, pod }) =>
      pod.deletingSince === undefined &&
      (looping || (termination.finishedAt !== undefined && now - termination.finishedAt <= within)),
  );
}

/**
 * Failures that are still going on: the container is not ready again, it has failed before, or it was minutes ago. One
 * kill that the pod has got over is history; the triage and the charts tell of it.
 */
export function presentFailures(pods: readonly PodView[], now: Instant): readonly Failure[] {
  return recentFailures(pods, now, 15 * 60_000).filter(
    ({ container, termination, looping }) =>
      looping ||
      !container.ready ||
      container.restarts >= 2 ||
      (termination.finishedAt !== undefined && now - termination.finishedAt <= 5 * 60_000),
  );
}

/** Why the scheduler has not placed it: the message of the condition PodScheduled. */
export function unschedulableReason(pod: PodView): string | undefined {
  const condition = conditionOf(pod, 'PodScheduled');
  return condition?.status === 'False' && condition.message !== '' ? condition.message : undefined;
}
