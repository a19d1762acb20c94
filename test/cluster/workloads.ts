import type { Resource } from '../../server/src/kube/resource';
import { hasUnknowns, piecesOf, type Bundle, type Piece } from './claims';
import { at, type Api, type JsonObject, type KubeObject } from './lab/api';
import { apply, collectionPath, objectsIn } from './lab/manifest';
import { waitForRunning } from './lab/nodes-and-pods';

/** Objects of fixtures, made in the cluster with what they need beside them. */

/** An object that a file gives, with what is said of it. */
export interface Given {
  readonly piece: Piece;
  readonly object: JsonObject;
  readonly resource: Resource | undefined;
}

/** The objects of a bundle that can be applied: whole, without variables. */
export function givenBy(bundle: Bundle, rule: string): readonly Given[] {
  return piecesOf(bundle, rule)
    .pieces.filter(({ role, placed }) => role === 'resource' && !hasUnknowns(placed.document.root))
    .flatMap((piece) =>
      objectsIn(piece.placed.document.text).map(({ object }, index) => ({
        piece,
        object,
        resource: piece.resources[index],
      })),
    );
}

export const autoscalerKinds: readonly unknown[] = ['HorizontalPodAutoscaler', 'ScaledObject'];
export const workloadKinds: readonly unknown[] = ['Deployment', 'StatefulSet'];

/** Namespaced objects go into the namespace of the test, whatever they say. */
export async function applyIn(api: Api, namespace: string, object: JsonObject): Promise<KubeObject> {
  const metadata = { ...(object['metadata'] as JsonObject), namespace };
  const [applied] = await apply(api, JSON.stringify({ ...object, metadata }), namespace);
  if (applied === undefined) throw new Error('nothing was applied');
  return applied;
}

/** As {@link applyIn}, the way of `kubectl create`. */
export async function createIn(api: Api, namespace: string, object: JsonObject): Promise<KubeObject> {
  const metadata = { ...(object['metadata'] as JsonObject), namespace };
  const moved: JsonObject = { ...object, metadata };
  const path = `${await collectionPath(api, moved, namespace)}?fieldValidation=Strict`;
  return (await api.send('POST', path, { body: moved })) as KubeObject;
}

/** Makes a workload and waits until its pods run. */
export async function runWorkload(api: Api, namespace: string, object: JsonObject): Promise<void> {
  const applied = await applyIn(api, namespace, object);
  const labels = Object.entries(
    (at(applied, 'spec', 'selector', 'matchLabels') ?? {}) as Record<string, string>,
  );
  const selector = labels.map(([key, value]) => `${key}=${value}`).join(',');
  await waitForRunning(api, namespace, selector, Number(at(applied, 'spec', 'replicas') ?? 1));
}

/** Whether the target of an autoscaler is among the objects. */
export function hasTarget(given: readonly Given[], { object }: Given): boolean {
  const target = at(object, 'spec', 'scaleTargetRef', 'name');
  return given.some(
    (other) =>
      workloadKinds.includes(other.object['kind']) && at(other.object, 'metadata', 'name') === target,
  );
}

/** Workloads that autoscalers name and no file has. */
export function missingTargets(given: readonly Given[]): readonly JsonObject[] {
  const wanted = new Map<string, JsonObject>();
  for (const each of given) {
    if (!autoscalerKinds.includes(each.object['kind']) || hasTarget(given, each)) continue;
    const reference = at(each.object, 'spec', 'scaleTargetRef') as JsonObject | undefined;
    if (reference === undefined) continue;
    const [kind, name] = [String(reference['kind'] ?? 'Deployment'), String(reference['name'])];
    if (!workloadKinds.includes(kind)) continue;
    const labels = { app: `${kind}-${name}`.toLowerCase() };
    wanted.set(`${kind}/${name}`, {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name },
      spec: {
        ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: 'app',
                image: 'registry.example.com/app:1',
                resources: { requests: { cpu: '100m', memory: '1Gi' } },
              },
            ],
          },
        },
      },
    });
  }
  return [...wanted.values()];
}
