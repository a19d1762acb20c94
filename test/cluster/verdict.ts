import { spawnSync } from 'node:child_process';
import type { LabState } from './lab/state';
import type { Lab } from './lab/use';
import { errorOf, at, type Api, type JsonObject } from './lab/api';
import { withoutWebhooksLabel } from './lab/control-plane';
import { apply, ensureNamespace, objectsIn, resourceType, verdict, type Written } from './lab/manifest';
import { claimsOf, hasUnknowns, type Piece } from './claims';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import type { Resource } from '../../server/src/kube/resource';
import { entryOf, itemsIn, mapIn, textIn, type MapNode, type YamlNode } from '../../server/src/yaml/node';

/** What the API server says to a document: each of its objects is sent as it is written, and none is kept. */
export type Verdict =
  | { readonly kind: 'accepted'; readonly warnings: readonly string[] }
  | {
      readonly kind: 'rejected';
      readonly why: string;
      /** Paths of fields, where the API server names them. */
      readonly fields: readonly string[];
    }
  /** It was not asked, since this document is not something to be applied to this cluster. */
  | { readonly kind: 'skipped'; readonly why: string; readonly undefinedKind?: true };

/** Where objects without a namespace of their own go. */
const defaultNamespace = 'verdicts';

/** Where KEDA's webhooks judge too. */
const webhooksNamespace = 'verdicts-of-webhooks';

/** KEDA's webhooks look for the workload of a ScaledObject, which is not there: nothing of this is kept. */
const withoutWebhooks = { [withoutWebhooksLabel]: 'true' } as const;

/** What the verdicts rest on: a namespace, and what a GPU cluster has. */
export async function prepareVerdicts(api: Api): Promise<void> {
  await ensureNamespace(api, defaultNamespace, withoutWebhooks);
  await ensureNamespace(api, webhooksNamespace);
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
  return !group.includes('.') || (group.endsWith('.k8s.io') && !installedAside.has(group));
}

/** Groups of Kubernetes projects that no cluster has by itself. */
const installedAside: ReadonlySet<string> = new Set([
  'autoscaling.k8s.io',
  'metrics.k8s.io',
  'custom.metrics.k8s.io',
  'external.metrics.k8s.io',
  'gateway.networking.k8s.io',
  'inference.networking.k8s.io',
  'snapshot.storage.k8s.io',
]);

/** Groups outside of Kubernetes that the lab has all definitions of. */
const installed: ReadonlySet<string> = new Set([
  'karpenter.sh',
  'karpenter.k8s.aws',
  'keda.sh',
  'eventing.keda.sh',
  'ray.io',
]);

/** Whether the API server has a kind in some version of its group: then it has refused all others. */
async function isDefined(api: Api, group: string, kind: string): Promise<boolean> {
  const { body } = await api.call('GET', `/apis/${group}`);
  const versions = at(body, 'versions');
  if (!Array.isArray(versions)) return false;
  for (const version of versions as readonly JsonObject[]) {
    if ((await resourceType(api, String(version['groupVersion']), kind)) !== undefined) return true;
  }
  return false;
}

/** Why a document is not sent at all. */
function reasonToSkip(piece: Piece): string | undefined {
  const { document } = piece.placed;
  if (document.root === undefined && document.problems.length === 0) return 'it is empty';
  if (piece.role !== 'resource') return `it is a ${piece.role}`;
  if (document.templated) return 'it is a template';
  if (hasUnknowns(document.root)) return 'a variable decides a value';
  // Values of a chart, a configuration file.
  const { root } = document;
  if (root?.kind === 'map' && ['apiVersion', 'kind'].every((key) => entryOf(root, key) === undefined))
    return 'it is no object of Kubernetes';
  return undefined;
}

async function objectVerdict(api: Api, written: Written): Promise<Verdict> {
  const apiVersion = String(written.object['apiVersion']);
  const kind = String(written.object['kind']);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  if ((await resourceType(api, apiVersion, kind)) === undefined) {
    return isBuiltIn(apiVersion) || installed.has(group) || (await isDefined(api, group, kind))
      ? { kind: 'rejected', why: `no kind "${kind}" in "${apiVersion}"`, fields: [] }
      : {
          kind: 'skipped',
          why: `the cluster has no definition of ${kind} in ${apiVersion}`,
          undefinedKind: true,
        };
  }
  const namespace = at(written.object, 'metadata', 'namespace');
  if (typeof namespace === 'string' && namespace !== webhooksNamespace)
    await ensureNamespace(api, namespace, withoutWebhooks);
  const answer = await verdict(api, written, defaultNamespace);
  if (answer.status < 300) return { kind: 'accepted', warnings: answer.warnings };
  const error = errorOf('POST', '', answer);
  // The API server adds one without a field where it has stopped looking for more.
  const fields = error.causes.map(({ field }) => field ?? '').filter((field) => /^[a-z]/.test(field));
  return { kind: 'rejected', why: error.message, fields };
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

/** kubectl reads a manifest before the API server sees anything of it. */
function kubectlVerdict({ kubectl, kubeconfigs }: LabState, text: string): Verdict {
  const result = spawnSync(
    kubectl,
    [`--kubeconfig=${kubeconfigs.admin}`, 'create', '--dry-run=server', '--validate=strict', '-f', '-'],
    { input: text, encoding: 'utf8' },
  );
  if (result.error !== undefined) throw result.error;
  return result.status === 0
    ? { kind: 'accepted', warnings: [] }
    : { kind: 'rejected', why: result.stderr.trim(), fields: [] };
}

/** What the API server says to a document as it is; kubectl, to one that is not well-formed or no object. */
export async function documentVerdict({ admin: api, state }: Lab, piece: Piece): Promise<Verdict> {
  // One without a kind or a version does not get further than kubectl.
  const isNone = piece.role === 'not-kubernetes' && claimsOf(piece).length > 0;
  if (isNone || piece.findings.some(({ rule }) => rule === 'yaml-syntax'))
    return kubectlVerdict(state, piece.placed.document.text);
  const skip = reasonToSkip(piece);
  if (skip !== undefined) return { kind: 'skipped', why: skip };
  let written: readonly Written[];
  try {
    written = objectsIn(piece.placed.document.text);
  } catch (error) {
    return { kind: 'rejected', why: error instanceof Error ? error.message : String(error), fields: [] };
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

/** A pod as the controller of an object makes it. */
export interface MadePod {
  /** What the scheduler reads of it. */
  readonly pod: JsonObject;
  /** All of it, where the template is one of Kubernetes as it is written; else as `pod`. */
  readonly whole: JsonObject;
  /** The template in the document. */
  readonly node: MapNode;
  /** An operator adds to it, and what it adds may be what is missing. */
  readonly unfinished: boolean;
}

/** The names of objects that a pod needs to have in its cluster, which has others. */
const namesOfObjects: ReadonlySet<string> = new Set([
  'serviceAccountName',
  'serviceAccount',
  'priorityClassName',
  'runtimeClassName',
]);

/** Without the keys that have no value. */
function compact(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

/** The volumes that a LeaderWorkerSet or a JobSet adds to its pods for its claim templates. */
function claimVolumes(resource: Resource): readonly object[] {
  const templates = [
    ...itemsIn(resource.root, 'spec', 'leaderWorkerTemplate', 'volumeClaimTemplates'),
    ...itemsIn(resource.root, 'spec', 'volumeClaimPolicies').flatMap((policy) =>
      itemsIn(policy, 'templates'),
    ),
  ];
  return templates.flatMap((template) => {
    const name = textIn(mapIn(template, 'metadata'), 'name');
    return name === undefined ? [] : [{ name, persistentVolumeClaim: { claimName: name } }];
  });
}

/** A pod of each pod template of an object. */
export function podsOf(resource: Resource): readonly MadePod[] {
  return podTemplates(resource).map((template, index) => {
    const { node, spec, metadata, implicitContainers } = template;
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
    const { nodeSelector, affinity, tolerations, initContainers, topologySpreadConstraints, volumes } = data;
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
        volumes,
        initContainers,
        containers,
        ...(isPodLevel ? { resources: data['resources'] } : {}),
      },
    };
    const isPlain = node !== spec && implicitContainers.length === 0 && !template.operatorOwned;
    const claims = claimVolumes(resource);
    const ownVolumes = (Array.isArray(volumes) ? volumes : []) as readonly unknown[];
    const whole = {
      ...pod,
      metadata: { ...(metadata === undefined ? {} : (dataOf(metadata) as object)), ...pod.metadata },
      spec: {
        ...Object.fromEntries(Object.entries(data).filter(([key]) => !namesOfObjects.has(key))),
        ...(claims.length === 0 ? {} : { volumes: [...ownVolumes, ...claims] }),
      },
    };
    return {
      pod: compact(pod),
      whole: compact(isPlain ? whole : pod),
      node,
      unfinished: template.operatorOwned || template.resourcesElsewhere,
    };
  });
}

/** What KEDA's webhooks say to the objects of a document that the API server itself accepts. */
export async function webhooksVerdict(api: Api, piece: Piece): Promise<Verdict> {
  const objects = objectsIn(piece.placed.document.text).filter(({ object }) =>
    String(object['apiVersion']).startsWith('keda.sh/'),
  );
  if (objects.length === 0) return { kind: 'skipped', why: 'KEDA does not judge it' };
  const verdicts: Verdict[] = [];
  for (const { object } of objects) {
    const metadata = { ...(object['metadata'] as JsonObject), namespace: webhooksNamespace };
    const moved: JsonObject = { ...object, metadata };
    const text = JSON.stringify(moved);
    verdicts.push(await objectVerdict(api, { object: moved, text, contentType: 'application/json' }));
  }
  return combined(verdicts);
}

/**
 * What the API server says to the pods of a document, for kinds whose own definition does not look into their
 * templates: there the controller is who is refused.
 */
export async function podsVerdict(api: Api, piece: Piece): Promise<Verdict> {
  const isClaimed = claimsOf(piece).length > 0;
  const pods = piece.resources.flatMap(podsOf).filter(({ unfinished }) => isClaimed || !unfinished);
  if (pods.length === 0) return { kind: 'skipped', why: 'it has no pods' };
  const verdicts: Verdict[] = [];
  for (const { whole } of pods) {
    const text = JSON.stringify(whole);
    verdicts.push(await objectVerdict(api, { object: whole, text, contentType: 'application/json' }));
  }
  return combined(verdicts);
}
