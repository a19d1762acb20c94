import { errorOf, at, type Api, type JsonObject } from './lab/api';
import { withoutWebhooksLabel } from './lab/control-plane';
import { apply, ensureNamespace, objectsIn, resourceType, verdict, type Written } from './lab/manifest';
import { hasUnknowns, type Piece } from './claims';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import type { Resource } from '../../server/src/kube/resource';
import type { MapNode, YamlNode } from '../../server/src/yaml/node';

/** What the API server says to a document: each of its objects is sent as it is written, and none is kept. */
export type Verdict =
  | { readonly kind: 'accepted'; readonly warnings: readonly string[] }
  | { readonly kind: 'rejected'; readonly why: string }
  /** It was not asked, since this document is not something to be applied to this cluster. */
  | { readonly kind: 'skipped'; readonly why: string; readonly undefinedKind?: true };

/** Where objects without a namespace of their own go. */
const defaultNamespace = 'verdicts';

/** KEDA's webhooks look for the workload of a ScaledObject, which is not there: nothing of this is kept. */
const withoutWebhooks = { [withoutWebhooksLabel]: 'true' } as const;

/** What the verdicts rest on: a namespace, and what a GPU cluster has. */
export async function prepareVerdicts(api: Api): Promise<void> {
  await ensureNamespace(api, defaultNamespace, withoutWebhooks);
  const runtimeClass = {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'nvidia' },
    handler: 'nvidia',
  };
  await apply(api, JSON.stringify(runtimeClass), defaultNamespace);
}

/** Groups that are part of Kubernetes: what it does not serve of them, it has removed or never had. */
function isBuiltIn(apiVersion: string): boolean {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  return !group.includes('.') || group.endsWith('.k8s.io');
}

/** Groups outside of Kubernetes that the lab has definitions for. */
const installed: ReadonlySet<string> = new Set([
  'karpenter.sh',
  'karpenter.k8s.aws',
  'keda.sh',
  'eventing.keda.sh',
  'monitoring.coreos.com',
  'ray.io',
  'argoproj.io',
]);

/** Why a document is not sent at all. */
function reasonToSkip(piece: Piece): string | undefined {
  const { document } = piece.placed;
  if (document.root === undefined && document.problems.length === 0) return 'it is empty';
  if (piece.role !== 'resource') return `it is a ${piece.role}`;
  if (document.templated) return 'it is a template';
  if (hasUnknowns(document.root)) return 'a variable decides a value';
  return undefined;
}

async function objectVerdict(api: Api, written: Written): Promise<Verdict> {
  const apiVersion = String(written.object['apiVersion']);
  const kind = String(written.object['kind']);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  if ((await resourceType(api, apiVersion, kind)) === undefined) {
    return isBuiltIn(apiVersion) || installed.has(group)
      ? { kind: 'rejected', why: `no kind "${kind}" in "${apiVersion}"` }
      : {
          kind: 'skipped',
          why: `the cluster has no definition of ${kind} in ${apiVersion}`,
          undefinedKind: true,
        };
  }
  const namespace = at(written.object, 'metadata', 'namespace');
  if (typeof namespace === 'string') await ensureNamespace(api, namespace, withoutWebhooks);
  const answer = await verdict(api, written, defaultNamespace);
  return answer.status < 300
    ? { kind: 'accepted', warnings: answer.warnings }
    : { kind: 'rejected', why: errorOf('POST', '', answer).message };
}

/** Of several objects, one that is rejected rejects the document; all are accepted, or it is skipped. */
function combined(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find(({ kind }) => kind === 'rejected') ??
    verdicts.find(({ kind }) => kind === 'skipped') ?? {
      kind: 'accepted',
      warnings: verdicts.flatMap((each) => (each.kind === 'accepted' ? each.warnings : [])),
    }
  );
}

/** What the API server says to a document as it is. */
export async function documentVerdict(api: Api, piece: Piece): Promise<Verdict> {
  const skip = reasonToSkip(piece);
  if (skip !== undefined) return { kind: 'skipped', why: skip };
  let written: readonly Written[];
  try {
    written = objectsIn(piece.placed.document.text);
  } catch (error) {
    return { kind: 'rejected', why: error instanceof Error ? error.message : String(error) };
  }
  const verdicts: Verdict[] = [];
  for (const each of written) verdicts.push(await objectVerdict(api, each));
  return combined(verdicts);
}

/** A value as data, unknown scalars as their text. */
function dataOf(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.unknown ? node.text : node.value;
  if (node.kind === 'sequence') return node.items.map(dataOf);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key.text, dataOf(value)]));
}

/** A pod of each pod template of an object, as its controller makes it. */
export function podsOf(resource: Resource): readonly { readonly node: MapNode; readonly pod: JsonObject }[] {
  return podTemplates(resource).map(({ node, spec, metadata, implicitContainers }, index) => {
    const data = dataOf(spec) as Record<string, unknown>;
    const own = Array.isArray(data['containers']) ? (data['containers'] as readonly unknown[]) : [];
    const implicit = implicitContainers.map((container) => {
      const { resources, env, args, command } = dataOf(container.node) as Record<string, unknown>;
      return { name: container.name || 'main', resources, env, args, command };
    });
    const containers = [...own, ...implicit].map((container) => ({
      image: 'registry.example.com/any:1',
      ...(container as object),
    }));
    const { nodeSelector, affinity, tolerations, initContainers, topologySpreadConstraints, resources } =
      data;
    const labels =
      metadata === undefined ? {} : ((dataOf(metadata) as Record<string, unknown>)['labels'] ?? {});
    const isPodLevel = own.length > 0;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${(resource.name ?? 'pod').toLowerCase()}-${index}`, labels },
      spec: {
        nodeSelector,
        affinity,
        tolerations,
        topologySpreadConstraints,
        initContainers,
        containers,
        ...(isPodLevel ? { resources } : {}),
      },
    };
    return { node, pod: JSON.parse(JSON.stringify(pod)) as JsonObject };
  });
}

/**
 * What the API server says to the pods of a document, for kinds whose own definition does not look into their
 * templates: there the controller is who is refused.
 */
export async function podsVerdict(api: Api, piece: Piece): Promise<Verdict> {
  const pods = piece.resources.flatMap(podsOf);
  if (pods.length === 0) return { kind: 'skipped', why: 'it has no pods' };
  const verdicts: Verdict[] = [];
  for (const { pod } of pods) {
    const text = JSON.stringify(pod);
    verdicts.push(await objectVerdict(api, { object: pod, text, contentType: 'application/json' }));
  }
  return combined(verdicts);
}
