import { at, errorOf, type Api, type JsonObject, type KubeObject } from './api';
import { apply } from './manifest';
import { waitFor } from './wait';

/** Long enough for a machine whose two cores are busy with something else. */
export const deadlineMs = 60_000;

/** What a node offers to pods, such as `{ cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' }`. */
export type Allocatable = Readonly<Record<string, string>>;

interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly JsonObject[];
}

/** Adds a node with a simulated kubelet, and waits until it is ready. */
export async function addNode(
  api: Api,
  name: string,
  allocatable: Allocatable,
  { labels = {}, taints = [] }: NodeOptions = {},
): Promise<void> {
  const resources = { pods: '110', ...allocatable };
  // Posted with its status: the simulated kubelet fills in its own amounts where it finds none.
  await api.send('POST', '/api/v1/nodes', {
    body: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        annotations: { 'kwok.x-k8s.io/node': 'fake' },
        labels: {
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/os': 'linux',
          'kubernetes.io/hostname': name,
          ...labels,
        },
      },
      spec: { taints },
      status: { capacity: resources, allocatable: resources },
    },
  });
  await waitFor(
    `node ${name} is ready`,
    async () => {
      const node = await api.get(`/api/v1/nodes/${name}`);
      if (conditionOf(node, 'Ready')?.['status'] !== 'True') return undefined;
      // Until the node controller has seen that, a taint keeps pods away.
      const left = (at(node, 'spec', 'taints') ?? []) as readonly JsonObject[];
      return left.some(({ key }) => key === 'node.kubernetes.io/not-ready') ? undefined : true;
    },
    deadlineMs,
  );
}

/** Takes a node away as EC2 does: it is gone, and its pods with it. */
export async function removeNode(api: Api, name: string): Promise<void> {
  const pods = await api.list(`/api/v1/pods?fieldSelector=spec.nodeName%3D${encodeURIComponent(name)}`);
  await api.delete(`/api/v1/nodes/${name}`);
  for (const { metadata } of pods) {
    await removePod(api, metadata.namespace ?? '', metadata.name);
  }
}

/** Takes a pod away at once. Its controller or its node may have been quicker. */
export async function removePod(api: Api, namespace: string, name: string): Promise<void> {
  const path = podPath(namespace, name);
  const answer = await api.call('DELETE', path, { body: { gracePeriodSeconds: 0 } });
  if (answer.status >= 300 && answer.status !== 404) throw errorOf('DELETE', path, answer);
}

/** A condition of an object's status by its type. */
export function conditionOf(object: JsonObject | undefined, type: string): JsonObject | undefined {
  const conditions = at(object, 'status', 'conditions');
  if (!Array.isArray(conditions)) return undefined;
  return (conditions as readonly JsonObject[]).find((condition) => condition['type'] === type);
}

/** A status condition in words, for failures. */
export function conditionsText(object: JsonObject | undefined): string {
  const conditions = at(object, 'status', 'conditions');
  if (!Array.isArray(conditions)) return 'no conditions';
  return (conditions as readonly JsonObject[])
    .map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`)
    .join('\n');
}

export function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Pods of a namespace that a label selector picks. */
export function podsIn(api: Api, namespace: string, selector = ''): Promise<readonly KubeObject[]> {
  return api.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`);
}

export function isRunning(pod: KubeObject): boolean {
  return at(pod, 'status', 'phase') === 'Running' && conditionOf(pod, 'Ready')?.['status'] === 'True';
}

/** Waits until exactly so many pods are there and all of them run, and answers them. */
export async function waitForRunning(
  api: Api,
  namespace: string,
  selector: string,
  count: number,
  withinMs = deadlineMs,
): Promise<readonly KubeObject[]> {
  let seen = '';
  return waitFor(
    `${count} running pods ${selector} in ${namespace}`,
    async () => {
      const pods = await podsIn(api, namespace, selector);
      seen = pods
        .map((pod) => `${pod.metadata.name} ${String(at(pod, 'status', 'phase'))} ${conditionsText(pod)}`)
        .join('\n');
      return pods.length === count && pods.every(isRunning) ? pods : undefined;
    },
    withinMs,
    () => seen,
  );
}

/** What is not in order with a container. */
export type Trouble =
  /** It was killed for its memory, and runs again. */
  | { readonly kind: 'OOMKilled'; readonly restarts: number }
  /** It ends again and again with this exit code, and is being kept waiting. */
  | { readonly kind: 'CrashLoopBackOff'; readonly restarts: number; readonly exitCode: number };

/** Makes the status of a running pod's container say so, as a kubelet would. */
export async function trouble(
  api: Api,
  namespace: string,
  podName: string,
  container: string,
  what: Trouble,
): Promise<void> {
  const pod = await api.get(podPath(namespace, podName));
  const statuses = (at(pod, 'status', 'containerStatuses') ?? []) as readonly JsonObject[];
  if (!statuses.some(({ name }) => name === container))
    throw new Error(`pod ${podName} has no status of a container ${container}; does it run?`);
  const finishedAt = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const terminated =
    what.kind === 'OOMKilled'
      ? { reason: 'OOMKilled', exitCode: 137 }
      : { reason: 'Error', exitCode: what.exitCode };
  const waits = what.kind === 'CrashLoopBackOff';
  const containerStatuses = statuses.map((status): JsonObject => {
    if (status['name'] !== container) return status;
    return {
      ...status,
      restartCount: what.restarts,
      ready: !waits,
      started: !waits,
      state: waits
        ? {
            waiting: {
              reason: 'CrashLoopBackOff',
              message: `back-off restarting failed container ${container}`,
            },
          }
        : { running: { startedAt: finishedAt } },
      lastState: { terminated: { ...terminated, startedAt: finishedAt, finishedAt } },
    };
  });
  const conditions = ((at(pod, 'status', 'conditions') ?? []) as readonly JsonObject[]).map((condition) =>
    condition['type'] === 'Ready' || condition['type'] === 'ContainersReady'
      ? { ...condition, status: waits ? 'False' : 'True' }
      : condition,
  );
  await api.send('PATCH', `${podPath(namespace, podName)}/status`, {
    body: { status: { containerStatuses, conditions } },
    contentType: 'application/merge-patch+json',
  });
}

/** Gives a user of the lab rights in one namespace; the viewer and the stranger have none of their own there. */
export async function grant(
  api: Api,
  namespace: string,
  user: string,
  rules: readonly JsonObject[],
): Promise<void> {
  const name = `granted-to-${user}`;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const objects: readonly JsonObject[] = [
    { apiVersion, kind: 'Role', metadata: { name }, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  ];
  await apply(api, objects.map((object) => JSON.stringify(object)).join('\n---\n'), namespace);
}

/** Events about one object, newest last, as `reason: message`. */
export async function eventsOf(api: Api, namespace: string, name: string): Promise<readonly string[]> {
  const events = await api.list(
    `/api/v1/namespaces/${namespace}/events?fieldSelector=${encodeURIComponent(`involvedObject.name=${name}`)}`,
  );
  return events.map((event) => `${String(event['reason'])}: ${String(event['message'])}`);
}
