import { getIn, isMap, isSequence, mapIn, scalarIn, type MapNode, type YamlNode } from '../yaml/node';
import { countAt, knownCount, product, unknownCount, type Count } from './count';
import type { Resource } from './resource';
import { labelsOf, type Labels } from './selectors';

/** Keys from one map down to another. */
type Path = readonly string[];

/**
 * One place of a kind where pods are described. Paths start at `base` where there is one (each item of a list or
 * each value of a map in turn), else at the object.
 */
interface PodPlace {
  /** What the pods are in their group: empty for the only ones, `leader`, `worker`, `head`, `predictor`, ... */
  readonly part: string;
  readonly base?: Path;
  /** Where the template stands. */
  readonly path: Path;
  /**
   * - `template`: a map of `metadata` and `spec`.
   * - `spec`: a pod spec; its labels stand elsewhere, if anywhere.
   * - `container`: the pod spec *is* its one container (`resources`, `env`, `args` beside `tolerations`).
   */
  readonly shape: 'template' | 'spec' | 'container';
  /** Maps below the spec that are the main container under another name (KServe's `model`). */
  readonly containers?: readonly string[];
  /** From the object, or from `base` where there is one; `absent` is the API's default, left out where it has none. */
  readonly replicas?: { readonly path: Path; readonly absent?: number };
  /** Pods of this template for each replica, from the object or `base`. */
  readonly hosts?: { readonly path: Path; readonly absent: number };
  /** Pods of one group, from the object: the model of a group is spread over all of them. */
  readonly group?: { readonly path: Path; readonly absent: number };
  /** How many pods of one group use this template: one, all but one, or (left out) each. */
  readonly inGroup?: 'first' | 'rest';
  /** Only where this path of the object is not written (a group without a leader template uses the other for all). */
  readonly unless?: Path;
}

interface PodCarrier {
  readonly group: string;
  readonly kind: string;
  readonly places: readonly PodPlace[];
  /** An operator adds to the pods what the document does not say: probes, resources of a runtime, labels. */
  readonly operatorOwned?: boolean;
  /** Its pods answer requests for as long as they live, when they are servers at all. */
  readonly serves?: boolean;
  /** Resource requests may come from another object or from the operator's configuration. */
  readonly resourcesElsewhere?: boolean;
  /** Labels that the controller puts on every pod: the object's name, or a value of its own. */
  readonly addedLabels?: Readonly<Record<string, 'name' | 'other'>>;
}

const workload: readonly PodPlace[] = [
  {
    part: '',
    path: ['spec', 'template'],
    shape: 'template',
    replicas: { path: ['spec', 'replicas'], absent: 1 },
  },
];

const single: readonly PodPlace[] = [{ part: '', path: ['spec', 'template'], shape: 'template' }];

/** KubeRay: one head, and worker groups whose replicas are `numOfHosts` pods each. */
function rayCluster(...path: Path): readonly PodPlace[] {
  return [
    {
      part: 'head',
      path: [...path, 'headGroupSpec', 'template'],
      shape: 'template',
      replicas: { path: [...path, 'headGroupSpec', 'replicas'], absent: 1 },
    },
    {
      part: 'worker',
      base: [...path, 'workerGroupSpecs'],
      path: ['template'],
      shape: 'template',
      replicas: { path: ['replicas'] },
      hosts: { path: ['numOfHosts'], absent: 1 },
    },
  ];
}

/** Kubeflow training operator v1: a map from replica type (`Master`, `Worker`, `Launcher`) to a template. */
function replicaSpecs(key: string): readonly PodPlace[] {
  return [
    {
      part: 'worker',
      base: ['spec', key],
      path: ['template'],
      shape: 'template',
      replicas: { path: ['replicas'], absent: 1 },
    },
  ];
}

/** Containers of an InferenceService predictor that stand under the name of their model format. */
const predictorFormats: readonly string[] = [
  'model',
  'huggingface',
  'triton',
  'pytorch',
  'tensorflow',
  'sklearn',
  'xgboost',
  'lightgbm',
  'onnx',
  'pmml',
  'paddle',
];

const kserve = 'serving.kserve.io';
const rayLabels = {
  'ray.io/node-type': 'other',
  'ray.io/cluster': 'other',
  'ray.io/group': 'other',
} as const;

/**
 * Where pod templates live, by group and kind. Sources: the API types of each project (Kubernetes, Argo Rollouts, LWS,
 * KubeRay, KServe, Kubeflow training operator, JobSet, NVIDIA NIM Operator, KubeAI, KAITO, KEDA, Volcano).
 */
const carriers: readonly PodCarrier[] = [
  {
    group: 'apps',
    kind: 'Deployment',
    places: workload,
    serves: true,
    addedLabels: { 'pod-template-hash': 'other' },
  },
  {
    group: 'apps',
    kind: 'StatefulSet',
    places: workload,
    serves: true,
    addedLabels: {
      'apps.kubernetes.io/pod-index': 'other',
      'statefulset.kubernetes.io/pod-name': 'other',
      'controller-revision-hash': 'other',
    },
  },
  {
    group: 'apps',
    kind: 'DaemonSet',
    places: single,
    addedLabels: { 'controller-revision-hash': 'other', 'pod-template-generation': 'other' },
  },
  { group: 'apps', kind: 'ReplicaSet', places: workload, serves: true },
  { group: '', kind: 'ReplicationController', places: workload, serves: true },
  {
    group: 'batch',
    kind: 'Job',
    places: [
      {
        part: '',
        path: ['spec', 'template'],
        shape: 'template',
        replicas: { path: ['spec', 'parallelism'], absent: 1 },
      },
    ],
    addedLabels: {
      'job-name': 'name',
      'batch.kubernetes.io/job-name': 'name',
      'controller-uid': 'other',
      'batch.kubernetes.io/controller-uid': 'other',
    },
  },
  {
    group: 'batch',
    kind: 'CronJob',
    places: [
      {
        part: '',
        path: ['spec', 'jobTemplate', 'spec', 'template'],
        shape: 'template',
        replicas: { path: ['spec', 'jobTemplate', 'spec', 'parallelism'], absent: 1 },
      },
    ],
    addedLabels: { 'job-name': 'other', 'batch.kubernetes.io/job-name': 'other' },
  },
  { group: '', kind: 'Pod', places: [{ part: '', path: [], shape: 'template' }] },
  { group: '', kind: 'PodTemplate', places: [{ part: '', path: ['template'], shape: 'template' }] },
  {
    group: 'argoproj.io',
    kind: 'Rollout',
    places: workload,
    serves: true,
    addedLabels: { 'rollouts-pod-template-hash': 'other' },
  },
  {
    group: 'leaderworkerset.x-k8s.io',
    kind: 'LeaderWorkerSet',
    serves: true,
    addedLabels: {
      'leaderworkerset.sigs.k8s.io/name': 'name',
      'leaderworkerset.sigs.k8s.io/group-index': 'other',
      'leaderworkerset.sigs.k8s.io/worker-index': 'other',
      'leaderworkerset.sigs.k8s.io/group-key': 'other',
    },
    places: [
      {
        part: 'leader',
        path: ['spec', 'leaderWorkerTemplate', 'leaderTemplate'],
        shape: 'template',
        replicas: { path: ['spec', 'replicas'], absent: 1 },
        group: { path: ['spec', 'leaderWorkerTemplate', 'size'], absent: 1 },
        inGroup: 'first',
      },
      {
        part: 'worker',
        path: ['spec', 'leaderWorkerTemplate', 'workerTemplate'],
        shape: 'template',
        replicas: { path: ['spec', 'replicas'], absent: 1 },
        group: { path: ['spec', 'leaderWorkerTemplate', 'size'], absent: 1 },
        inGroup: 'rest',
      },
    ],
  },
  {
    group: 'ray.io',
    kind: 'RayCluster',
    places: rayCluster('spec'),
    operatorOwned: true,
    addedLabels: rayLabels,
  },
  {
    group: 'ray.io',
    kind: 'RayJob',
    places: [
      ...rayCluster('spec', 'rayClusterSpec'),
      { part: 'submitter', path: ['spec', 'submitterPodTemplate'], shape: 'template' },
    ],
    operatorOwned: true,
    addedLabels: rayLabels,
  },
  {
    group: 'ray.io',
    kind: 'RayService',
    places: rayCluster('spec', 'rayClusterConfig'),
    operatorOwned: true,
    serves: true,
    addedLabels: { ...rayLabels, 'ray.io/serve': 'other' },
  },
  {
    group: kserve,
    kind: 'InferenceService',
    operatorOwned: true,
    serves: true,
    resourcesElsewhere: true,
    addedLabels: { 'serving.kserve.io/inferenceservice': 'name', component: 'other', app: 'other' },
    places: [
      {
        part: 'predictor',
        path: ['spec', 'predictor'],
        shape: 'spec',
        containers: predictorFormats,
        replicas: { path: ['spec', 'predictor', 'minReplicas'], absent: 1 },
      },
      {
        part: 'worker',
        path: ['spec', 'predictor', 'workerSpec'],
        shape: 'spec',
        replicas: { path: ['spec', 'predictor', 'minReplicas'], absent: 1 },
        group: { path: ['spec', 'predictor', 'workerSpec', 'pipelineParallelSize'], absent: 2 },
        inGroup: 'rest',
      },
      {
        part: 'transformer',
        path: ['spec', 'transformer'],
        shape: 'spec',
        replicas: { path: ['spec', 'transformer', 'minReplicas'], absent: 1 },
      },
      {
        part: 'explainer',
        path: ['spec', 'explainer'],
        shape: 'spec',
        replicas: { path: ['spec', 'explainer', 'minReplicas'], absent: 1 },
      },
    ],
  },
  ...['ServingRuntime', 'ClusterServingRuntime'].map((kind): PodCarrier => ({
    group: kserve,
    kind,
    operatorOwned: true,
    resourcesElsewhere: true,
    places: [
      { part: 'predictor', path: ['spec'], shape: 'spec' },
      { part: 'worker', path: ['spec', 'workerSpec'], shape: 'spec' },
    ],
  })),
  ...['LLMInferenceService', 'LLMInferenceServiceConfig'].map((kind): PodCarrier => ({
    group: kserve,
    kind,
    operatorOwned: true,
    resourcesElsewhere: true,
    serves: kind === 'LLMInferenceService',
    places: [
      {
        part: 'predictor',
        path: ['spec', 'template'],
        shape: 'spec',
        replicas: { path: ['spec', 'replicas'] },
      },
      { part: 'worker', path: ['spec', 'worker'], shape: 'spec', replicas: { path: ['spec', 'replicas'] } },
      {
        part: 'prefill',
        path: ['spec', 'prefill', 'template'],
        shape: 'spec',
        replicas: { path: ['spec', 'prefill', 'replicas'] },
      },
      {
        part: 'worker',
        path: ['spec', 'prefill', 'worker'],
        shape: 'spec',
        replicas: { path: ['spec', 'prefill', 'replicas'] },
      },
    ],
  })),
  { group: 'kubeflow.org', kind: 'PyTorchJob', places: replicaSpecs('pytorchReplicaSpecs') },
  { group: 'kubeflow.org', kind: 'MPIJob', places: replicaSpecs('mpiReplicaSpecs') },
  { group: 'kubeflow.org', kind: 'TFJob', places: replicaSpecs('tfReplicaSpecs') },
  { group: 'kubeflow.org', kind: 'JAXJob', places: replicaSpecs('jaxReplicaSpecs') },
  { group: 'kubeflow.org', kind: 'Notebook', places: single },
  {
    group: 'jobset.x-k8s.io',
    kind: 'JobSet',
    places: [
      {
        part: 'worker',
        base: ['spec', 'replicatedJobs'],
        path: ['template', 'spec', 'template'],
        shape: 'template',
        replicas: { path: ['replicas'], absent: 1 },
        hosts: { path: ['template', 'spec', 'parallelism'], absent: 1 },
      },
    ],
    addedLabels: {
      'jobset.sigs.k8s.io/jobset-name': 'name',
      'jobset.sigs.k8s.io/replicatedjob-name': 'other',
    },
  },
  {
    group: 'batch.volcano.sh',
    kind: 'Job',
    places: [
      {
        part: 'worker',
        base: ['spec', 'tasks'],
        path: ['template'],
        shape: 'template',
        replicas: { path: ['replicas'], absent: 1 },
      },
    ],
  },
  {
    group: 'apps.nvidia.com',
    kind: 'NIMService',
    operatorOwned: true,
    serves: true,
    addedLabels: { 'app.kubernetes.io/name': 'name', app: 'name' },
    places: [
      {
        part: '',
        path: ['spec'],
        shape: 'container',
        replicas: { path: ['spec', 'replicas'], absent: 1 },
        group: { path: ['spec', 'multiNode', 'size'], absent: 1 },
      },
    ],
  },
  {
    group: 'kubeai.org',
    kind: 'Model',
    operatorOwned: true,
    serves: true,
    resourcesElsewhere: true,
    addedLabels: { model: 'name' },
    places: [
      {
        part: '',
        path: ['spec'],
        shape: 'container',
        replicas: { path: ['spec', 'minReplicas'], absent: 0 },
      },
    ],
  },
  {
    group: 'kaito.sh',
    kind: 'Workspace',
    operatorOwned: true,
    serves: true,
    resourcesElsewhere: true,
    places: [
      {
        part: '',
        path: ['inference', 'template'],
        shape: 'template',
        group: { path: ['resource', 'count'], absent: 1 },
      },
    ],
  },
  {
    group: 'keda.sh',
    kind: 'ScaledJob',
    places: [{ part: '', path: ['spec', 'jobTargetRef', 'template'], shape: 'template' }],
  },
];

const byGroupKind = new Map(carriers.map((carrier) => [`${carrier.group}/${carrier.kind}`, carrier]));

/** Every kind with a pod template, without its group. */
export const podCarrierKinds: readonly string[] = [...new Set(carriers.map((carrier) => carrier.kind))];

/** Group and kind of everything with a pod template. */
export const podCarrierTypes: readonly { readonly group: string; readonly kind: string }[] = carriers.map(
  ({ group, kind }) => ({ group, kind }),
);

/** A container that stands under a name of its own instead of in `containers`. */
export interface ImplicitContainer {
  readonly name: string;
  readonly node: MapNode;
}

/** Pods of one shape, as one place of one object describes them. */
export interface PodTemplate {
  readonly resource: Resource;
  /** Empty for the only pods of the object; `leader`, `worker`, `head`, `predictor`, `transformer`, `submitter`, ... */
  readonly part: string;
  /** The name of the group, replica type, task or replicated job, where an object has several of one part. */
  readonly groupName: string | undefined;
  readonly metadata: MapNode | undefined;
  /** The pod spec: `tolerations`, `nodeSelector`, `volumes` and the like are read here. */
  readonly spec: MapNode;
  /** The map that holds `metadata` and `spec`, or the spec where there is no such map. */
  readonly node: MapNode;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** Replicas: of the workload, or groups of pods (LeaderWorkerSet), or of the worker group (Ray). */
  readonly replicas: Count;
  /** Pods over which one model may be spread: 1 but for LeaderWorkerSet, Ray and other groups. */
  readonly groupSize: Count;
  /** All pods of this template: replicas times those of one group that use it. */
  readonly pods: Count;
  /** An operator adds probes and more, so that nothing can be called missing from these pods. */
  readonly operatorOwned: boolean;
  /** Requests may come from a serving runtime, a resource profile or the operator's configuration. */
  readonly resourcesElsewhere: boolean;
  readonly implicitContainers: readonly ImplicitContainer[];
}

function carrierOf(resource: Resource): PodCarrier | undefined {
  return byGroupKind.get(`${resource.group}/${resource.kind}`);
}

export function isPodCarrier(resource: Resource): boolean {
  return carrierOf(resource) !== undefined;
}

/** Whether pods of this kind answer requests for as long as they live (a Job or a notebook does not). */
export function isServingKind(resource: Resource): boolean {
  return carrierOf(resource)?.serves ?? false;
}

function countIn(resource: Resource, base: MapNode, path: Path, absent: number | undefined): Count {
  const last = path.at(-1);
  if (last === undefined) return unknownCount;
  let at: YamlNode = base;
  for (const key of path.slice(0, -1)) {
    const next = getIn(at, key);
    if (next === undefined) {
      return absent !== undefined && at.kind === 'map' && !at.open && resource.role !== 'kustomize-patch'
        ? knownCount(absent)
        : unknownCount;
    }
    at = next;
  }
  return at.kind === 'map' ? countAt(resource, at, last, absent) : unknownCount;
}

function withLabels(labels: Labels, carrier: PodCarrier, resource: Resource): Labels {
  if (carrier.addedLabels === undefined) return labels;
  const values = new Map(labels.values);
  for (const [key, source] of Object.entries(carrier.addedLabels)) {
    if (!values.has(key)) values.set(key, source === 'name' ? resource.name : undefined);
  }
  return { values, open: labels.open };
}

interface Base {
  readonly node: MapNode;
  readonly name: string | undefined;
}

function basesOf(root: MapNode, place: PodPlace): readonly Base[] {
  if (place.base === undefined) return [{ node: root, name: undefined }];
  const found = getIn(root, ...place.base);
  if (isSequence(found)) {
    return found.items.filter(isMap).map((node) => ({
      node,
      name: scalarIn(node, 'groupName')?.text ?? scalarIn(node, 'name')?.text,
    }));
  }
  if (!isMap(found)) return [];
  return found.entries.flatMap(({ key, value }) => (isMap(value) ? [{ node: value, name: key.text }] : []));
}

/** Core kinds add no labels but the known ones; other controllers may add any. */
const closedGroups: readonly string[] = ['', 'apps', 'batch', 'argoproj.io'];

function read(resource: Resource, carrier: PodCarrier, place: PodPlace, base: Base): PodTemplate | undefined {
  const node = place.path.length === 0 ? base.node : mapIn(base.node, ...place.path);
  if (node === undefined) return undefined;
  const spec = place.shape === 'template' ? mapIn(node, 'spec') : node;
  if (spec === undefined) return undefined;
  const metadata = place.shape === 'template' ? mapIn(node, 'metadata') : undefined;
  const open =
    resource.role === 'kustomize-patch' ||
    node.open ||
    !closedGroups.includes(resource.group) ||
    metadata?.open === true;
  const own = place.shape === 'template' ? metadata : spec;
  const replicas =
    place.replicas === undefined
      ? resource.group === '' && resource.kind === 'Pod'
        ? knownCount(1)
        : unknownCount
      : countIn(resource, base.node, place.replicas.path, place.replicas.absent);
  const hosts =
    place.hosts === undefined
      ? knownCount(1)
      : countIn(resource, base.node, place.hosts.path, place.hosts.absent);
  const group =
    place.group === undefined
      ? undefined
      : countIn(resource, resource.root, place.group.path, place.group.absent);
  const alone = place.inGroup === 'rest' && part(resource, carrier, 'leader') === undefined;
  const inGroup =
    group === undefined
      ? hosts
      : place.inGroup === 'first'
        ? knownCount(1)
        : place.inGroup === 'rest' && !alone && group.known
          ? knownCount(Math.max(0, group.value - 1))
          : group;
  const implicitContainers: ImplicitContainer[] =
    place.shape === 'container'
      ? [{ name: resource.kind === 'Model' ? 'server' : (resource.name ?? ''), node: spec }]
      : (place.containers ?? []).flatMap((key) => {
          const container = mapIn(spec, key);
          return container === undefined ? [] : [{ name: 'kserve-container', node: container }];
        });
  return {
    resource,
    part: place.part,
    groupName: base.name,
    metadata,
    spec,
    node,
    labels: withLabels(labelsOf(getIn(own, 'labels'), open), carrier, resource),
    annotations: labelsOf(getIn(own, 'annotations'), open),
    replicas,
    groupSize:
      group ?? (resource.group === 'ray.io' && place.part === 'worker' ? product(replicas, hosts) : hosts),
    pods: product(replicas, inGroup),
    operatorOwned: carrier.operatorOwned ?? false,
    resourcesElsewhere: carrier.resourcesElsewhere ?? false,
    implicitContainers,
  };
}

/** Whether an object writes the place of a part at all. */
function part(resource: Resource, carrier: PodCarrier, name: string): MapNode | undefined {
  const place = carrier.places.find((candidate) => candidate.part === name);
  return place === undefined || place.base !== undefined ? undefined : mapIn(resource.root, ...place.path);
}

const memo = new WeakMap<Resource, readonly PodTemplate[]>();

/** The pod templates that an object holds, in the order of the table; none for kinds without pods. */
export function podTemplates(resource: Resource): readonly PodTemplate[] {
  const known = memo.get(resource);
  if (known !== undefined) return known;
  const carrier = carrierOf(resource);
  const templates =
    carrier === undefined
      ? []
      : carrier.places.flatMap((place) =>
          basesOf(resource.root, place).flatMap((base) => read(resource, carrier, place, base) ?? []),
        );
  memo.set(resource, templates);
  return templates;
}
