import { containers } from '../kube/containers';
import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import { nodeDemandOf } from '../kube/requirements';
import type { Resource } from '../kube/resource';
import { relevantGroups } from '../workspace/relevant-kinds';
import { nodePoolLabel } from '../sizing/nodes/labels';
import type { Index } from '../workspace/indexes';
import { nameKeyOf } from '../workspace/objects';
import { entryOf, isMap, isScalar, isSequence, textIn, type ScalarNode, type YamlNode } from '../yaml/node';
import { objectsOfFile } from './objects';

/** A place where an object names another. */
export interface ReferenceSite {
  readonly from: Resource;
  /** The name as it is written. */
  readonly node: ScalarNode;
  readonly name: string;
  /** Kinds that the name can be of. */
  readonly kinds: readonly string[];
}

/** `*` stands for each item of a list or each value of a map. */
type Path = readonly string[];

interface Pattern {
  readonly path: Path;
  /** Fixed, or read beside the name: the key of the kind, and the kind where that is not written. */
  readonly kinds: readonly string[] | { readonly beside: string; readonly otherwise: readonly string[] };
}

/** From a path with dots. */
function to(path: string, ...kinds: readonly string[]): Pattern {
  return { path: path.split('.'), kinds };
}

function toKindBeside(path: string, beside: string, ...otherwise: readonly string[]): Pattern {
  return { path: path.split('.'), kinds: { beside, otherwise } };
}

/** Of a pod spec. */
const ofPods: readonly Pattern[] = [
  to('serviceAccountName', 'ServiceAccount'),
  to('priorityClassName', 'PriorityClass'),
  to('runtimeClassName', 'RuntimeClass'),
  to('imagePullSecrets.*.name', 'Secret'),
  to('volumes.*.persistentVolumeClaim.claimName', 'PersistentVolumeClaim'),
  to('volumes.*.configMap.name', 'ConfigMap'),
  to('volumes.*.secret.secretName', 'Secret'),
  to('volumes.*.projected.sources.*.configMap.name', 'ConfigMap'),
  to('volumes.*.projected.sources.*.secret.name', 'Secret'),
  to('volumes.*.csi.volumeAttributes.secretProviderClass', 'SecretProviderClass'),
  to('volumes.*.csi.nodePublishSecretRef.name', 'Secret'),
  to('volumes.*.ephemeral.volumeClaimTemplate.spec.storageClassName', 'StorageClass'),
  to('resourceClaims.*.resourceClaimName', 'ResourceClaim'),
  to('resourceClaims.*.resourceClaimTemplateName', 'ResourceClaimTemplate'),
];

/** Of a container. */
const ofContainers: readonly Pattern[] = [
  to('env.*.valueFrom.configMapKeyRef.name', 'ConfigMap'),
  to('env.*.valueFrom.secretKeyRef.name', 'Secret'),
  to('envFrom.*.configMapRef.name', 'ConfigMap'),
  to('envFrom.*.secretRef.name', 'Secret'),
];

const triggers = toKindBeside('spec.triggers.*.authenticationRef.name', 'kind', 'TriggerAuthentication');

const authentication: readonly Pattern[] = [
  to('spec.secretTargetRef.*.name', 'Secret'),
  to('spec.configMapTargetRef.*.name', 'ConfigMap'),
];

/** Of whole objects, by kind. */
const ofObjects: Readonly<Record<string, readonly Pattern[]>> = {
  HorizontalPodAutoscaler: [toKindBeside('spec.scaleTargetRef.name', 'kind')],
  ScaledObject: [toKindBeside('spec.scaleTargetRef.name', 'kind', 'Deployment'), triggers],
  ScaledJob: [triggers],
  VerticalPodAutoscaler: [toKindBeside('spec.targetRef.name', 'kind')],
  TriggerAuthentication: authentication,
  ClusterTriggerAuthentication: authentication,
  NodePool: [toKindBeside('spec.template.spec.nodeClassRef.name', 'kind', 'EC2NodeClass', 'NodeClass')],
  NodeClaim: [toKindBeside('spec.nodeClassRef.name', 'kind', 'EC2NodeClass', 'NodeClass')],
  StatefulSet: [
    to('spec.serviceName', 'Service'),
    to('spec.volumeClaimTemplates.*.spec.storageClassName', 'StorageClass'),
  ],
  PersistentVolumeClaim: [
    to('spec.storageClassName', 'StorageClass'),
    to('spec.volumeName', 'PersistentVolume'),
  ],
  PersistentVolume: [
    to('spec.storageClassName', 'StorageClass'),
    to('spec.claimRef.name', 'PersistentVolumeClaim'),
  ],
  Ingress: [
    to('spec.rules.*.http.paths.*.backend.service.name', 'Service'),
    to('spec.defaultBackend.service.name', 'Service'),
    to('spec.tls.*.secretName', 'Secret'),
  ],
  HTTPRoute: [
    toKindBeside('spec.rules.*.backendRefs.*.name', 'kind', 'Service'),
    toKindBeside('spec.parentRefs.*.name', 'kind', 'Gateway'),
  ],
  GRPCRoute: [toKindBeside('spec.rules.*.backendRefs.*.name', 'kind', 'Service')],
  ServiceAccount: [to('secrets.*.name', 'Secret'), to('imagePullSecrets.*.name', 'Secret')],
  InferenceService: [to('spec.predictor.model.runtime', 'ServingRuntime', 'ClusterServingRuntime')],
  InferencePool: [
    toKindBeside('spec.extensionRef.name', 'kind', 'Service'),
    toKindBeside('spec.endpointPickerRef.name', 'kind', 'Service'),
  ],
  ExternalSecret: [to('spec.target.name', 'Secret')],
};

/** Every node at the end of a path, with the map that holds it. */
function* ends(
  at: YamlNode | undefined,
  path: Path,
  step = 0,
  holder?: YamlNode,
): Generator<{ readonly node: YamlNode; readonly holder: YamlNode | undefined }> {
  if (at === undefined || at.borrowed) return;
  const key = path[step];
  if (key === undefined) {
    yield { node: at, holder };
  } else if (key === '*') {
    const items = isSequence(at) ? at.items : isMap(at) ? at.entries.map(({ value }) => value) : [];
    for (const item of items) yield* ends(item, path, step + 1, at);
  } else {
    yield* ends(entryOf(at, key)?.value, path, step + 1, at);
  }
}

function sitesAt(from: Resource, root: YamlNode, patterns: readonly Pattern[]): ReferenceSite[] {
  return patterns.flatMap(({ path, kinds }) =>
    [...ends(root, path)].flatMap(({ node, holder }) => {
      const name = nameKeyOf(from.placed.document, node);
      if (!isScalar(node) || name === undefined || name === '') return [];
      return [{ from, node, name, kinds: kindsOf(kinds, holder) }];
    }),
  );
}

function kindsOf(kinds: Pattern['kinds'], holder: YamlNode | undefined): readonly string[] {
  if (!('beside' in kinds)) return kinds;
  const written = textIn(holder, kinds.beside);
  return written === undefined ? kinds.otherwise : [written];
}

/** Node pools that a pod names by the label that Karpenter gives their nodes. */
function poolSites(template: PodTemplate): ReferenceSite[] {
  const from = template.resource;
  const requirements = new Set(nodeDemandOf(template).alternatives.flat());
  return [...requirements]
    .filter(({ key, operator }) => key === nodePoolLabel && operator !== 'NotIn')
    .flatMap(({ valueNodes }) =>
      valueNodes.flatMap((node) => {
        const name = isScalar(node) && !node.borrowed ? nameKeyOf(from.placed.document, node) : undefined;
        return isScalar(node) && name !== undefined ? [{ from, node, name, kinds: ['NodePool'] }] : [];
      }),
    );
}

const sites = new WeakMap<Resource, readonly ReferenceSite[]>();

/** Every place of an object that names another, in no order. Contents of ConfigMaps and Secrets are not looked at. */
export function sitesOf(object: Resource): readonly ReferenceSite[] {
  let known = sites.get(object);
  if (known === undefined) {
    known = [
      ...sitesAt(object, object.root, ofObjects[object.kind] ?? []),
      ...(relevantGroups(object.kind).length === 0 ? [] : podTemplates(object)).flatMap((template) => [
        ...sitesAt(object, template.spec, ofPods),
        ...poolSites(template),
        ...containers(template).flatMap(({ node }) => sitesAt(object, node, ofContainers)),
      ]),
    ];
    sites.set(object, known);
  }
  return known;
}

/** Sites by the kind and the name that they refer to. */
export const sitesByTarget: Index<ReferenceSite> = {
  read: (from, add) => {
    for (const object of objectsOfFile(from)) {
      for (const site of sitesOf(object)) for (const kind of site.kinds) add(`${kind} ${site.name}`, site);
    }
  },
  uriOf: ({ from }) => from.uri,
};
