import { parseQuantity, toNumber } from '../kube/quantity';
import type {
  Condition,
  ContainerState,
  ContainerView,
  EventView,
  HpaView,
  NodeClaimView,
  NodePoolView,
  NodeView,
  ObjectRef,
  PdbView,
  PodPhase,
  PodView,
  ReplicaSetView,
  Resources,
  ScaledObjectView,
  Taint,
  Termination,
  WorkloadView,
} from '../live/cluster';
import { at, instantAt, isRecord, listAt, numberAt, recordAt, textAt, textsAt } from './json';
import type { KubeObject, KubeResource } from './kube-client';

/**
 * Objects as the API server sends them -> what is kept of them. Any field may be missing or of another type: objects
 * come from clusters of other versions, and custom resources hold what their authors put there.
 */

/** What is left of a container's termination message, in characters. */
const maxTerminationMessage = 4096;

export function refOf({ group, version, kind }: KubeResource, { metadata }: KubeObject): ObjectRef {
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  };
}

function createdAt(object: KubeObject): number {
  return instantAt(object, 'metadata', 'creationTimestamp') ?? 0;
}

export function resourcesOf(value: unknown): Resources {
  const result: Record<string, number> = {};
  for (const [name, amount] of Object.entries(isRecord(value) ? value : {})) {
    const quantity =
      typeof amount === 'string' || typeof amount === 'number' ? parseQuantity(String(amount)) : undefined;
    if (quantity !== undefined) result[name] = toNumber(quantity);
  }
  return result;
}

export function conditionsOf(object: unknown, ...path: readonly string[]): readonly Condition[] {
  return listAt(object, ...(path.length > 0 ? path : ['status', 'conditions'])).flatMap((each) => {
    const type = textAt(each, 'type');
    if (type === undefined) return [];
    const status = textAt(each, 'status');
    const since = instantAt(each, 'lastTransitionTime');
    return [
      {
        type,
        status: status === 'True' || status === 'False' ? status : 'Unknown',
        reason: textAt(each, 'reason') ?? '',
        message: textAt(each, 'message') ?? '',
        ...(since === undefined ? {} : { since }),
      } satisfies Condition,
    ];
  });
}

function ownerOf(object: KubeObject): { readonly kind: string; readonly name: string } | undefined {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((each) => at(each, 'controller') === true);
  const kind = textAt(owner, 'kind');
  const name = textAt(owner, 'name');
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

export function ownerUid(object: KubeObject): string | undefined {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((each) => at(each, 'controller') === true);
  return textAt(owner, 'uid');
}

// --- Pods

function terminationOf(value: unknown): Termination | undefined {
  if (!isRecord(value)) return undefined;
  const message = textAt(value, 'message');
  const signal = numberAt(value, 'signal');
  const startedAt = instantAt(value, 'startedAt');
  const finishedAt = instantAt(value, 'finishedAt');
  return {
    reason: textAt(value, 'reason') ?? 'Error',
    exitCode: numberAt(value, 'exitCode') ?? 0,
    ...(signal === undefined || signal === 0 ? {} : { signal }),
    ...(message === undefined ? {} : { message: message.slice(0, maxTerminationMessage) }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
  };
}

function stateOf(status: unknown): ContainerState {
  const waiting = at(status, 'state', 'waiting');
  if (isRecord(waiting))
    return {
      kind: 'waiting',
      reason: textAt(waiting, 'reason') ?? '',
      message: textAt(waiting, 'message') ?? '',
    };
  const terminated = terminationOf(at(status, 'state', 'terminated'));
  if (terminated !== undefined) return { kind: 'terminated', ...terminated };
  const running = at(status, 'state', 'running');
  if (isRecord(running)) {
    const since = instantAt(running, 'startedAt');
    return { kind: 'running', ...(since === undefined ? {} : { since }) };
  }
  return { kind: 'unknown' };
}

function containerOf(
  spec: unknown,
  role: ContainerView['role'],
  statuses: ReadonlyMap<string, unknown>,
): ContainerView {
  const name = textAt(spec, 'name') ?? '';
  const status = statuses.get(name);
  const lastTermination = terminationOf(at(status, 'lastState', 'terminated'));
  return {
    name,
    image: textAt(spec, 'image') ?? '',
    role,
    ready: at(status, 'ready') === true,
    restarts: numberAt(status, 'restartCount') ?? 0,
    state: stateOf(status),
    ...(lastTermination === undefined ? {} : { lastTermination }),
    requests: resourcesOf(at(spec, 'resources', 'requests')),
    limits: resourcesOf(at(spec, 'resources', 'limits')),
    ports: listAt(spec, 'ports').flatMap((port) => {
      const number = numberAt(port, 'containerPort');
      const portName = textAt(port, 'name');
      return number === undefined
        ? []
        : [{ port: number, ...(portName === undefined ? {} : { name: portName }) }];
    }),
  };
}

const phases: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed'];

/** Annotations by which metrics of a pod are found; the only ones that are kept of it. */
const scrapeAnnotations = ['prometheus.io/scrape', 'prometheus.io/port', 'prometheus.io/path'] as const;

/** A pod with what only the sources need to know of it. */
export interface KeptPod {
  readonly view: PodView;
  readonly ownerUid: string | undefined;
  readonly annotations: Readonly<Partial<Record<(typeof scrapeAnnotations)[number], string>>>;
  /** What its containers request, as the scheduler counts: init containers, sidecars and overhead included. */
  readonly requests: Resources;
  readonly hostNetwork: boolean;
}

export function keptPod(object: KubeObject): KeptPod {
  const statuses = new Map(
    [
      ...listAt(object, 'status', 'containerStatuses'),
      ...listAt(object, 'status', 'initContainerStatuses'),
    ].map((status) => [textAt(status, 'name') ?? '', status]),
  );
  const phase = phases.find((each) => each === textAt(object, 'status', 'phase')) ?? 'Unknown';
  const startedAt = instantAt(object, 'status', 'startTime');
  const deletingSince = instantAt(object, 'metadata', 'deletionTimestamp');
  const node = textAt(object, 'spec', 'nodeName');
  const owner = ownerOf(object);
  const reason = textAt(object, 'status', 'reason');
  const message = textAt(object, 'status', 'message');
  const priorityClass = textAt(object, 'spec', 'priorityClassName');
  const containers = [
    ...listAt(object, 'spec', 'initContainers').map((spec) =>
      containerOf(spec, textAt(spec, 'restartPolicy') === 'Always' ? 'sidecar' : 'init', statuses),
    ),
    ...listAt(object, 'spec', 'containers').map((spec) => containerOf(spec, 'main', statuses)),
  ];
  const annotations: Partial<Record<(typeof scrapeAnnotations)[number], string>> = {};
  for (const name of scrapeAnnotations) {
    const value = textAt(recordAt(object, 'metadata', 'annotations'), name);
    if (value !== undefined) annotations[name] = value;
  }
  return {
    view: {
      pod: { namespace: object.metadata.namespace ?? '', name: object.metadata.name },
      uid: object.metadata.uid ?? '',
      createdAt: createdAt(object),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(deletingSince === undefined ? {} : { deletingSince }),
      phase,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(node === undefined ? {} : { node }),
      labels: textsAt(object, 'metadata', 'labels'),
      ...(owner === undefined ? {} : { owner }),
      ...(priorityClass === undefined ? {} : { priorityClass }),
      conditions: conditionsOf(object),
      containers,
    },
    ownerUid: ownerUid(object),
    annotations,
    requests: podRequests(containers, resourcesOf(at(object, 'spec', 'overhead'))),
    hostNetwork: at(object, 'spec', 'hostNetwork') === true,
  };
}

/**
 * The larger of what the containers ask for together and what any init container does beside the sidecars that started
 * before it, and the overhead (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers).
 */
function podRequests(containers: readonly ContainerView[], overhead: Resources): Resources {
  const total: Record<string, number> = {};
  const add = (into: Record<string, number>, from: Resources): void => {
    for (const [name, amount] of Object.entries(from)) into[name] = (into[name] ?? 0) + amount;
  };
  const requestsOf = ({ requests, limits }: ContainerView): Resources => ({
    // An extended resource may be written as a limit only; the API server fills in the request, other sources do not.
    ...limits,
    ...requests,
  });
  const sidecars: Record<string, number> = {};
  const highest: Record<string, number> = {};
  for (const container of containers) {
    if (container.role === 'main') add(total, requestsOf(container));
    if (container.role === 'sidecar') add(sidecars, requestsOf(container));
    if (container.role !== 'init') continue;
    const beside: Record<string, number> = { ...sidecars };
    add(beside, requestsOf(container));
    for (const [name, amount] of Object.entries(beside)) highest[name] = Math.max(highest[name] ?? 0, amount);
  }
  add(total, sidecars);
  for (const [name, amount] of Object.entries(highest)) total[name] = Math.max(total[name] ?? 0, amount);
  add(total, overhead);
  return total;
}

/** What is kept of a pod of somebody else: where it is and what it takes. */
export interface PodUse {
  readonly namespace: string;
  readonly node: string | undefined;
  readonly isPending: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly requests: Resources;
}

export function podUse(object: KubeObject, labels: readonly string[]): PodUse | undefined {
  const { view, requests } = keptPod(object);
  if (view.phase === 'Succeeded' || view.phase === 'Failed') return undefined;
  const kept: Record<string, string> = {};
  for (const name of labels) kept[name] = view.labels[name] ?? '';
  return {
    namespace: view.pod.namespace,
    node: view.node,
    isPending: view.phase === 'Pending',
    labels: kept,
    requests,
  };
}

// --- Events

export function eventOf(object: KubeObject): EventView {
  const about = recordAt(object, 'involvedObject');
  // `series` is how newer reporters count; `eventTime` is theirs too.
  const firstAt = instantAt(object, 'firstTimestamp') ?? instantAt(object, 'eventTime') ?? createdAt(object);
  const lastAt =
    instantAt(object, 'series', 'lastObservedTime') ?? instantAt(object, 'lastTimestamp') ?? firstAt;
  return {
    about: {
      apiVersion: textAt(about, 'apiVersion') ?? '',
      kind: textAt(about, 'kind') ?? '',
      namespace: textAt(about, 'namespace') ?? '',
      name: textAt(about, 'name') ?? '',
    },
    type: textAt(object, 'type') === 'Warning' ? 'Warning' : 'Normal',
    reason: textAt(object, 'reason') ?? '',
    message: textAt(object, 'message') ?? '',
    count: numberAt(object, 'series', 'count') ?? numberAt(object, 'count') ?? 1,
    firstAt,
    lastAt,
    reporter: textAt(object, 'reportingComponent') ?? textAt(object, 'source', 'component') ?? '',
  };
}

// --- Workloads and what scales them

export function replicaSetOf(resource: KubeResource, object: KubeObject): ReplicaSetView {
  const revision = Number(
    textAt(recordAt(object, 'metadata', 'annotations'), 'deployment.kubernetes.io/revision'),
  );
  return {
    ref: refOf(resource, object),
    createdAt: createdAt(object),
    ...(Number.isFinite(revision) ? { revision } : {}),
    desired: numberAt(object, 'spec', 'replicas') ?? 0,
    ready: numberAt(object, 'status', 'readyReplicas') ?? 0,
    images: listAt(object, 'spec', 'template', 'spec', 'containers').flatMap(
      (each) => textAt(each, 'image') ?? [],
    ),
  };
}

/** Where kinds keep the counts of their replicas; the first that is there counts. */
const replicaFields = {
  desired: [
    ['spec', 'replicas'],
    ['spec', 'parallelism'],
    ['status', 'desiredNumberScheduled'],
    ['status', 'rayClusterStatus', 'desiredWorkerReplicas'],
    ['status', 'activeServiceStatus', 'rayClusterStatus', 'desiredWorkerReplicas'],
    ['status', 'desiredWorkerReplicas'],
    ['spec', 'predictor', 'minReplicas'],
  ],
  current: [
    ['status', 'replicas'],
    ['status', 'active'],
    ['status', 'currentNumberScheduled'],
    ['status', 'availableWorkerReplicas'],
    ['status', 'activeServiceStatus', 'rayClusterStatus', 'availableWorkerReplicas'],
  ],
  ready: [
    ['status', 'readyReplicas'],
    ['status', 'ready'],
    ['status', 'numberReady'],
    ['status', 'readyWorkerReplicas'],
    ['status', 'activeServiceStatus', 'rayClusterStatus', 'readyWorkerReplicas'],
  ],
  available: [
    ['status', 'availableReplicas'],
    ['status', 'numberAvailable'],
  ],
  updated: [
    ['status', 'updatedReplicas'],
    ['status', 'updatedNumberScheduled'],
  ],
} as const satisfies Readonly<Record<keyof WorkloadView['replicas'], readonly (readonly string[])[]>>;

/** Kinds whose controller leaves a count of zero out of the status. */
const zeroIsLeftOut = new Set([
  'Deployment',
  'StatefulSet',
  'ReplicaSet',
  'Rollout',
  'Job',
  'LeaderWorkerSet',
]);

export function workloadOf(resource: KubeResource, object: KubeObject): WorkloadView {
  const count = (field: keyof typeof replicaFields): number | undefined => {
    for (const path of replicaFields[field]) {
      const found = numberAt(object, ...path);
      if (found !== undefined) return found;
    }
    if (!zeroIsLeftOut.has(resource.kind)) return undefined;
    // `spec.replicas` defaults to 1; a status that was written has zeros where nothing stands.
    if (field === 'desired') return 1;
    return isRecord(at(object, 'status')) ? 0 : undefined;
  };
  const replicas: { -readonly [K in keyof WorkloadView['replicas']]: WorkloadView['replicas'][K] } = {};
  for (const field of Object.keys(replicaFields) as readonly (keyof typeof replicaFields)[]) {
    const found = count(field);
    if (found !== undefined) replicas[field] = found;
  }
  const generation = numberAt(object, 'metadata', 'generation');
  const observedGeneration = numberAt(object, 'status', 'observedGeneration');
  return {
    ref: refOf(resource, object),
    createdAt: createdAt(object),
    ...(generation === undefined ? {} : { generation }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    replicas,
    conditions: conditionsOf(object),
    object: withoutSecrets(object),
  };
}

/** Annotations that repeat the object, with what was secret in it. */
const dropped = new Set(['kubectl.kubernetes.io/last-applied-configuration']);

/** A copy without managedFields, literal values of environment variables, and annotations that hold the object again. */
export function withoutSecrets(object: unknown): unknown {
  const clean = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) {
      if (key === 'env')
        return value.map((each: unknown) =>
          isRecord(each) && Object.hasOwn(each, 'value') ? { ...each, value: '' } : each,
        );
      if (key === 'args' || key === 'command') return withoutSecretArguments(value);
      return value.map((each) => clean(each, ''));
    }
    if (!isRecord(value)) return value;
    const copy: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(value)) {
      if (name === 'managedFields' || dropped.has(name)) continue;
      copy[name] = clean(each, name);
    }
    return copy;
  };
  return clean(object, '');
}

const secretFlag =
  /^(--?(?:\w+[-_])*(?:api[-_]key|(?:hf|auth|access|bearer)[-_]token|password|secret(?:[-_]key)?))(=|$)/i;

/** `--api-key sk-...` and `--api-key=sk-...` without what follows. */
function withoutSecretArguments(words: readonly unknown[]): readonly unknown[] {
  return words.map((word, index) => {
    const before = index === 0 ? undefined : words[index - 1];
    if (typeof before === 'string' && secretFlag.exec(before)?.[2] === '') return '';
    const match = typeof word === 'string' ? secretFlag.exec(word) : null;
    return match?.[2] === '=' ? `${match[1] ?? ''}=` : word;
  });
}

function targetOf(value: unknown): HpaView['target'] {
  return {
    apiVersion: textAt(value, 'apiVersion') ?? 'apps/v1',
    kind: textAt(value, 'kind') ?? 'Deployment',
    name: textAt(value, 'name') ?? '',
  };
}

export function hpaOf(resource: KubeResource, object: KubeObject): HpaView {
  const owner = ownerOf(object);
  return {
    ref: refOf(resource, object),
    createdAt: createdAt(object),
    target: targetOf(at(object, 'spec', 'scaleTargetRef')),
    spec: object['spec'],
    status: object['status'],
    annotations: annotationsOf(object),
    ...(owner === undefined ? {} : { owner }),
  };
}

function annotationsOf(object: KubeObject): Readonly<Record<string, string>> {
  const all = textsAt(object, 'metadata', 'annotations');
  return Object.fromEntries(Object.entries(all).filter(([name]) => !dropped.has(name)));
}

export function scaledObjectOf(resource: KubeResource, object: KubeObject): ScaledObjectView {
  const hpaName = textAt(object, 'status', 'hpaName');
  const lastActiveAt = instantAt(object, 'status', 'lastActiveTime');
  const health: Record<string, { failures: number; status: string }> = {};
  for (const [name, each] of Object.entries(recordAt(object, 'status', 'health'))) {
    health[name] = {
      failures: numberAt(each, 'numberOfFailures') ?? 0,
      status: textAt(each, 'status') ?? '',
    };
  }
  return {
    ref: refOf(resource, object),
    target: targetOf(at(object, 'spec', 'scaleTargetRef')),
    spec: object['spec'],
    conditions: conditionsOf(object),
    ...(hpaName === undefined ? {} : { hpaName }),
    health,
    ...(lastActiveAt === undefined ? {} : { lastActiveAt }),
    annotations: annotationsOf(object),
  };
}

export interface KeptPdb {
  readonly view: PdbView;
  readonly selector: unknown;
}

export function pdbOf(resource: KubeResource, object: KubeObject): KeptPdb {
  const bound = (name: string): string | undefined => {
    const value = at(object, 'spec', name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
  const minAvailable = bound('minAvailable');
  const maxUnavailable = bound('maxUnavailable');
  return {
    view: {
      ref: refOf(resource, object),
      ...(minAvailable === undefined ? {} : { minAvailable }),
      ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
      currentHealthy: numberAt(object, 'status', 'currentHealthy') ?? 0,
      desiredHealthy: numberAt(object, 'status', 'desiredHealthy') ?? 0,
      expectedPods: numberAt(object, 'status', 'expectedPods') ?? 0,
      disruptionsAllowed: numberAt(object, 'status', 'disruptionsAllowed') ?? 0,
    },
    selector: at(object, 'spec', 'selector'),
  };
}

/** Whether a label selector as in `spec.selector` picks these labels. An empty selector picks all. */
export function selectsLabels(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (!isRecord(selector)) return false;
  for (const [name, value] of Object.entries(recordAt(selector, 'matchLabels'))) {
    if (labels[name] !== value) return false;
  }
  return listAt(selector, 'matchExpressions').every((each) => {
    const key = textAt(each, 'key') ?? '';
    const values = listAt(each, 'values');
    const has = Object.hasOwn(labels, key);
    switch (textAt(each, 'operator')) {
      case 'In':
        return has && values.includes(labels[key]);
      case 'NotIn':
        return !has || !values.includes(labels[key]);
      case 'Exists':
        return has;
      case 'DoesNotExist':
        return !has;
      default:
        return false;
    }
  });
}

// --- Nodes

const capacityTypes: Readonly<Record<string, NonNullable<NodeView['capacityType']>>> = {
  'on-demand': 'on-demand',
  spot: 'spot',
  reserved: 'reserved',
  ON_DEMAND: 'on-demand',
  SPOT: 'spot',
  CAPACITY_BLOCK: 'capacity-block',
  capacity_block: 'capacity-block',
};

function capacityTypeOf(labels: Readonly<Record<string, string>>): NodeView['capacityType'] {
  // Karpenter calls a capacity block reserved, and says in another label which kind of reservation it is.
  if (labels['karpenter.k8s.aws/capacity-reservation-type'] === 'capacity-block') return 'capacity-block';
  return capacityTypes[
    labels['karpenter.sh/capacity-type'] ?? labels['eks.amazonaws.com/capacityType'] ?? ''
  ];
}

export function nodeOf(object: KubeObject): NodeView {
  const labels = textsAt(object, 'metadata', 'labels');
  const instanceType =
    labels['node.kubernetes.io/instance-type'] ?? labels['beta.kubernetes.io/instance-type'];
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'];
  const capacityType = capacityTypeOf(labels);
  const pool = labels['karpenter.sh/nodepool'] ?? labels['eks.amazonaws.com/nodegroup'];
  const deletingSince = instantAt(object, 'metadata', 'deletionTimestamp');
  return {
    name: object.metadata.name,
    createdAt: createdAt(object),
    labels,
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(zone === undefined ? {} : { zone }),
    ...(capacityType === undefined ? {} : { capacityType }),
    ...(pool === undefined ? {} : { pool }),
    capacity: resourcesOf(at(object, 'status', 'capacity')),
    allocatable: resourcesOf(at(object, 'status', 'allocatable')),
    conditions: conditionsOf(object),
    unschedulable: at(object, 'spec', 'unschedulable') === true,
    taints: listAt(object, 'spec', 'taints').flatMap((taint) => {
      const key = textAt(taint, 'key');
      const value = textAt(taint, 'value');
      const one: Taint | undefined =
        key === undefined
          ? undefined
          : { key, ...(value === undefined ? {} : { value }), effect: textAt(taint, 'effect') ?? '' };
      return one === undefined ? [] : [one];
    }),
    ...(deletingSince === undefined ? {} : { deletingSince }),
  };
}

export function nodePoolOf(resource: KubeResource, object: KubeObject): NodePoolView {
  const weight = numberAt(object, 'spec', 'weight');
  return {
    ref: refOf(resource, object),
    ...(weight === undefined ? {} : { weight }),
    limits: resourcesOf(at(object, 'spec', 'limits')),
    resources: resourcesOf(at(object, 'status', 'resources')),
    conditions: conditionsOf(object),
    object: withoutSecrets(object),
  };
}

export function nodeClaimOf(object: KubeObject): NodeClaimView {
  const labels = textsAt(object, 'metadata', 'labels');
  const pool = labels['karpenter.sh/nodepool'];
  const instanceType = labels['node.kubernetes.io/instance-type'];
  const zone = labels['topology.kubernetes.io/zone'];
  const capacityType = capacityTypeOf(labels);
  const node = textAt(object, 'status', 'nodeName');
  const deletingSince = instantAt(object, 'metadata', 'deletionTimestamp');
  return {
    name: object.metadata.name,
    ...(pool === undefined ? {} : { pool }),
    createdAt: createdAt(object),
    ...(deletingSince === undefined ? {} : { deletingSince }),
    conditions: conditionsOf(object),
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(capacityType === undefined ? {} : { capacityType }),
    ...(zone === undefined ? {} : { zone }),
    ...(node === undefined ? {} : { node }),
  };
}
