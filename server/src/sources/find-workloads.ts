import type { ObjectRef } from '../live/cluster';
import { SourceError } from './failure';
import { isRecord } from './json';
import type { KubeClient, KubeObject, KubeResource } from './kube-client';
import * as kinds from './kube-kinds';
import { ownerUid, refOf } from './kube-views';
import { mapLimited } from './runtime';

/** What a user calls kinds on a command line, beside their full and plural names. */
const shortNames: Readonly<Record<string, string>> = {
  deploy: 'Deployment',
  sts: 'StatefulSet',
  ds: 'DaemonSet',
  rs: 'ReplicaSet',
  rc: 'ReplicationController',
  po: 'Pod',
  lws: 'LeaderWorkerSet',
  isvc: 'InferenceService',
  hpa: 'HorizontalPodAutoscaler',
  so: 'ScaledObject',
  cj: 'CronJob',
  pdb: 'PodDisruptionBudget',
  svc: 'Service',
};

/** Kinds that a status can be asked about, the likeliest first. */
const askable: readonly KubeResource[] = [
  ...kinds.workloadKinds,
  kinds.scaledObjects,
  kinds.hpas,
  kinds.nodePools,
  kinds.pods,
];

function named(kind: string): readonly KubeResource[] {
  const lower = kind.toLowerCase();
  // `deployments.apps` as well.
  const [plain = ''] = lower.split('.');
  const full = (shortNames[plain] ?? plain).toLowerCase();
  return askable.filter((each) => each.kind.toLowerCase() === full || each.plural === full);
}

/** Kinds as a message can list them. */
export const askableKinds: readonly string[] = [...new Set(askable.map(({ kind }) => kind))];

/** Throws a {@link SourceError} when the kind is unknown, or when nothing may be read. */
export async function findObject(
  client: KubeClient,
  namespace: string,
  kind: string | undefined,
  name: string,
  signal: AbortSignal,
): Promise<ObjectRef | undefined> {
  const resources = kind === undefined ? askable : named(kind);
  if (resources.length === 0)
    throw new SourceError(
      'not-found',
      `"${kind ?? ''}" is not a kind that is read; there are ${askableKinds.join(', ')}`,
    );
  let denied: SourceError | undefined;
  let isAnswered = false;
  for (const resource of resources) {
    try {
      const scope = resource.namespaced ? { namespace, name } : { name };
      return refOf(resource, await client.get(resource, scope, signal));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === 'not-found') isAnswered = true;
      else if (error.kind === 'denied') denied ??= error;
      else throw error;
    }
  }
  if (!isAnswered && denied !== undefined) throw denied;
  return undefined;
}

const accelerator =
  /^(nvidia\.com\/|amd\.com\/gpu|aws\.amazon\.com\/neuron|vpc\.amazonaws\.com\/efa|habana\.ai\/)/;

/** Whether anything in an object asks for an accelerator, wherever its kind keeps the pods. */
function asksForAccelerator(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(asksForAccelerator);
  if (!isRecord(value)) return false;
  for (const [key, each] of Object.entries(value)) {
    if (key === 'managedFields' || key === 'status' || key === 'annotations') continue;
    if (
      (key === 'limits' || key === 'requests') &&
      isRecord(each) &&
      Object.keys(each).some((name) => accelerator.test(name))
    )
      return true;
    if (asksForAccelerator(each)) return true;
  }
  return false;
}

/** Those that no other workload has made. Kinds that may not be listed, or are not installed, have none. */
export async function acceleratedWorkloads(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly ObjectRef[]> {
  let denied: SourceError | undefined;
  let isAnswered = false;
  const lists = await mapLimited(kinds.workloadKinds, 6, async (resource): Promise<readonly ObjectRef[]> => {
    try {
      const objects: KubeObject[] = [];
      let next: string | undefined;
      do {
        const page = await client.list(resource, { namespace }, { limit: 500, next }, signal);
        objects.push(...page.items);
        next = page.next;
      } while (next !== undefined);
      isAnswered = true;
      return objects
        .filter((object) => ownerUid(object) === undefined && asksForAccelerator(object))
        .map((object) => refOf(resource, object));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === 'denied') denied ??= error;
      else if (error.kind === 'not-found') isAnswered = true;
      else throw error;
      return [];
    }
  });
  if (!isAnswered && denied !== undefined) throw denied;
  return lists.flat().sort((a, b) => a.name.localeCompare(b.name));
}
