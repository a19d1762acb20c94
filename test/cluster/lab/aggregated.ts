import type { Api, JsonObject } from './api';
import { at } from './api';
import { apply } from './manifest';
import { waitFor } from './wait';

/** A group of the API that another program than the API server answers for. */
export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  /** The port of this machine on which the program serves it. */
  readonly port: number;
}

const namespace = 'kube-system';

function nameOf({ group, version }: AggregatedApi): string {
  return `${version}.${group}`;
}

function pathOf(api: AggregatedApi): string {
  return `/apis/apiregistration.k8s.io/v1/apiservices/${nameOf(api)}`;
}

/**
 * Lets the API server pass a group on to a port of this machine, and waits until it does. `proceed` throws when waiting
 * on is in vain.
 */
export async function register(
  api: Api,
  aggregated: AggregatedApi,
  proceed: () => void = () => undefined,
): Promise<void> {
  const { group, version, port } = aggregated;
  const service = `${group.replaceAll('.', '-')}-${port}`;
  const objects: readonly JsonObject[] = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace },
      // The one form of a Service that leads to loopback.
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: nameOf(aggregated) },
      spec: {
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { name: service, namespace, port },
      },
    },
  ];
  await apply(api, objects.map((object) => JSON.stringify(object)).join('\n---\n'), namespace);
  let seen = '';
  await waitFor(
    `${nameOf(aggregated)} is available at port ${port}`,
    async () => {
      proceed();
      const object = await api.get(pathOf(aggregated));
      const conditions = at(object, 'status', 'conditions');
      seen = JSON.stringify(conditions);
      if (at(object, 'spec', 'service', 'port') !== port || !Array.isArray(conditions)) return undefined;
      const available = (conditions as readonly JsonObject[]).find(({ type }) => type === 'Available');
      if (available?.['status'] !== 'True') return undefined;
      const answer = await api.call('GET', `/apis/${group}/${version}`);
      return answer.status === 200 ? true : undefined;
    },
    60_000,
    () => seen,
  );
}

/** Takes a group away again. */
export function unregister(api: Api, aggregated: AggregatedApi): Promise<void> {
  return api.delete(pathOf(aggregated));
}
