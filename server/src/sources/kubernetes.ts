import type {
  ClusterView,
  EventView,
  HpaView,
  LogExcerpt,
  NodeUse,
  NodeUsePart,
  NodeView,
  ObjectRef,
  PodView,
  ReplicaSetView,
  Resources,
  WorkloadView,
} from '../live/cluster';
import type { Measurement } from '../live/measurement';
import type { Absent, Part } from '../live/reading';
import type { LiveContext, SourceAnswer, SourceProblem, SourceStatus } from '../live/snapshot';
import type { Want } from '../live/want';
import { SourceError, absentOf, asSourceError, problemOf, type RbacRule } from './failure';
import { at, instantAt, listAt, textAt } from './json';
import {
  describeRequest,
  pathOf,
  ruleOf,
  type KubeClient,
  type KubeObject,
  type KubeResource,
  type Scope,
} from './kube-client';
import * as kinds from './kube-kinds';
import {
  eventOf,
  hpaOf,
  keptPod,
  nodeClaimOf,
  nodeOf,
  nodePoolOf,
  pdbOf,
  podUse,
  refOf,
  replicaSetOf,
  resourcesOf,
  scaledObjectOf,
  selectsLabels,
  withoutSecrets,
  workloadOf,
  type KeptPod,
  type PodUse,
} from './kube-views';
import type { KubeWorld } from './kube-world';
import { mapLimited, reasonOf, TimeoutError, within } from './runtime';
import type { Source } from './source';

/** How long an answer waits for lists that have not come yet; what is missing then is told, and comes with the next. */
const answerMs = 6_000;
/** Lists of the whole cluster are large and change nothing that is urgent. */
const clusterPodsMs = 60_000;
const podMetricsMs = 15_000;
const versionMs = 600_000;
const namedMs = 10_000;
/** Newest events that are shown. */
const maxEvents = 200;
/** Containers whose log is read for the triage, and how much of it. */
const maxLogs = 4;
const logLines = 200;
const maxLogLine = 500;

/** A list of what a kind's objects were made into, or why there is none. */
interface Found<T> {
  readonly items: readonly T[] | Absent;
  readonly at: number;
}

/** The pods of a workload, and what else the other sources of the cluster ask about it. */
export interface WorkloadPods {
  readonly client: KubeClient;
  readonly pods: Part<readonly KeptPod[]>;
  /** What the object under the cursor is, or scales. */
  readonly workload: ObjectRef | undefined;
  readonly hpa: string | undefined;
}

interface Reader {
  readonly client: KubeClient;
  readonly world: KubeWorld;
  readonly want: Want;
  /** Aborted when the reader goes away. */
  readonly signal: AbortSignal;
  readonly deadline: number;
  readonly problems: SourceProblem[];
}

export function kubernetesSource(world: KubeWorld): Source {
  return {
    id: 'kubernetes',
    read: (want, signal) => read(world, want, signal),
    watch: (want, changed, signal) => {
      void want;
      world.listen(changed, signal);
    },
    dispose: () => world.dispose(),
  };
}

async function read(world: KubeWorld, want: Want, signal: AbortSignal): Promise<SourceAnswer> {
  const startedAt = world.clock.now();
  world.touch();
  if (signal.aborted) throw reasonOf(signal);
  let client: KubeClient;
  try {
    client = await world.client();
  } catch (error) {
    if (signal.aborted) throw reasonOf(signal);
    return unreachable(
      asSourceError(error, 'open the kubeconfig', (text) => text),
      world.clock.now(),
    );
  }
  const problems: SourceProblem[] = [];
  // From here on: the credentials of a context may take their time, once.
  const reader: Reader = { client, world, want, signal, deadline: world.clock.now() + answerMs, problems };
  const related = await relatedTo(reader);
  const [logs, metrics, use, serverVersion] = await Promise.all([
    logsOf(reader, related),
    podMetricsOf(reader, related),
    clusterUse(reader),
    versionOf(reader),
  ]);
  if (signal.aborted) throw reasonOf(signal);
  const now = world.clock.now();
  const cluster: ClusterView = {
    workload: related.workload,
    replicaSets: related.replicaSets,
    pods: mapPart(related.pods, (pods) => pods.map(({ view }) => view)),
    events: related.events,
    hpa: related.hpa,
    scaledObject: related.scaledObject,
    pdbs: related.pdbs,
    nodes: related.nodes,
    nodeUse: use.nodeUse,
    nodePools: related.nodePools,
    nodeClaims: related.nodeClaims,
    logs,
    pendingInCluster: use.pending,
  };
  return {
    status: statusOf(client, cluster, problems, now, now - startedAt),
    cluster,
    measurements: [...measurementsOf(cluster, now), ...metrics],
    context: contextOf(client, want, serverVersion),
  };
}

// --- The answer as a whole

function endpointOf({ context }: KubeClient): string {
  return `context ${context.name}`;
}

function statusOf(
  client: KubeClient,
  cluster: ClusterView,
  problems: readonly SourceProblem[],
  now: number,
  took: number,
): SourceStatus {
  const parts: readonly Part<unknown>[] = Object.values(cluster);
  const isSaid = parts.some(({ kind }) => kind === 'known');
  const only = (why: SourceProblem['why']): boolean =>
    problems.length > 0 && problems.every((each) => each.why === why);
  return {
    source: 'kubernetes',
    state:
      problems.length === 0
        ? 'ok'
        : isSaid
          ? 'partial'
          : only('denied')
            ? 'denied'
            : only('slow')
              ? 'slow'
              : 'failed',
    endpoint: endpointOf(client),
    ...(isSaid ? { at: now } : {}),
    took,
    problems: distinct(problems),
  };
}

/** The same failure of many requests, such as a refused connection, is told once. */
function distinct(problems: readonly SourceProblem[]): readonly SourceProblem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key =
      problem.missing === undefined
        ? problem.message.replace(/^[^:]*: /, '')
        : JSON.stringify(problem.missing);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function unreachable(error: SourceError, now: number): SourceAnswer {
  void now;
  return {
    status: {
      source: 'kubernetes',
      state: error.kind === 'unauthenticated' ? 'denied' : 'failed',
      problems: [problemOf(error, 'open the kubeconfig')],
    },
  };
}

function contextOf(
  { context }: KubeClient,
  want: Want,
  serverVersion: string | undefined,
): Partial<LiveContext> {
  const { eks } = context;
  return {
    name: context.name,
    cluster: eks?.name ?? context.cluster,
    ...(eks?.account === undefined ? {} : { account: eks.account }),
    ...(eks?.region === undefined ? {} : { region: eks.region }),
    namespace: namespaceOf(want, context.namespace),
    demo: false,
    ...(serverVersion === undefined ? {} : { serverVersion }),
  };
}

function namespaceOf({ object, workload }: Want, fallback: string): string {
  return object.namespace !== ''
    ? object.namespace
    : workload !== undefined && workload.namespace !== ''
      ? workload.namespace
      : fallback;
}

// --- Asking

/** Waits for something until the answer is due. `undefined`: it has not come. */
async function untilDue<T>({ world, deadline, signal }: Reader, promise: Promise<T>): Promise<T | undefined> {
  const left = Math.max(0, deadline - world.clock.now());
  try {
    return await within(world.clock, left, signal, () => promise);
  } catch (error) {
    if (error instanceof TimeoutError) return undefined;
    throw error;
  }
}

/** The API is not there: KEDA or Karpenter is not installed. That is no failure. */
function isNoApi(error: SourceError): boolean {
  return error.kind === 'not-found';
}

interface Lookup<T> {
  /** For the mirror: calls with the same id keep the same of an object. */
  readonly id: string;
  /** Versions of one kind, the newest first; the first that the cluster has counts. */
  readonly resources: readonly KubeResource[];
  /** From the widest to the narrowest; the next is tried when one is denied. */
  readonly scopes: readonly Scope[];
  /** Objects that are asked for one by one when no list is allowed. */
  readonly names?: { readonly namespace?: string; readonly names: readonly string[] } | undefined;
  readonly keep: (resource: KubeResource, object: KubeObject) => T | undefined;
  /** What a cluster without this API lacks: `Karpenter`. */
  readonly product?: string;
}

async function lookUp<T>(
  reader: Reader,
  { id, resources, scopes, names, keep, product }: Lookup<T>,
): Promise<Found<T>> {
  const { client, world, problems } = reader;
  let denied: SourceError | undefined;
  let missing: SourceError | undefined;
  for (const resource of resources) {
    denied = undefined;
    for (const scope of scopes) {
      const mirror = world.mirror(client, id, resource, scope, (object) => keep(resource, object));
      const settled = await untilDue(
        reader,
        mirror.settled.then(() => true),
      );
      const what = describeRequest(ruleOf(resource, 'list', scope));
      if (mirror.items !== undefined) {
        if (mirror.error !== undefined) problems.push(problemOf(mirror.error, what));
        return { items: [...mirror.items.values()], at: mirror.at };
      }
      if (settled === undefined) {
        const error = new SourceError('timeout', `${what}: no answer yet`);
        problems.push(problemOf(error, what));
        return { items: absentOf(error, 'kubernetes'), at: 0 };
      }
      const error = mirror.error ?? new SourceError('cancelled', `${what}: cancelled`);
      if (isNoApi(error)) {
        missing = error;
        break;
      }
      if (error.kind !== 'denied') {
        problems.push(problemOf(error, what));
        return { items: absentOf(error, 'kubernetes'), at: 0 };
      }
      problems.push(problemOf(error, what));
      denied = error;
    }
    if (denied !== undefined) {
      const found = names === undefined ? undefined : await byName(reader, resource, names, keep);
      if (found !== undefined) return found;
      return { items: absentOf(denied, 'kubernetes'), at: 0 };
    }
  }
  return {
    items: {
      kind: 'absent',
      why: 'no-data',
      message:
        product === undefined
          ? (missing?.message ?? 'the API server does not have this kind')
          : `${product} is not installed in this cluster`,
      source: 'kubernetes',
    },
    at: 0,
  };
}

/** Each object by its name, for whoever may get but not list. `undefined` when not one of them may be read. */
async function byName<T>(
  { client, world }: Reader,
  resource: KubeResource,
  { namespace, names }: { readonly namespace?: string; readonly names: readonly string[] },
  keep: (resource: KubeResource, object: KubeObject) => T | undefined,
): Promise<Found<T> | undefined> {
  let isAllowed = false;
  let latest = 0;
  const found = await mapLimited(names, 8, async (name) => {
    try {
      const { value, at: when } = await world.cached(
        `get ${pathOf(resource, { namespace, name })}`,
        namedMs,
        (signal) => client.get(resource, { namespace, name }, signal),
      );
      isAllowed = true;
      latest = Math.max(latest, when);
      return keep(resource, value);
    } catch (error) {
      if (error instanceof SourceError && error.kind === 'not-found') isAllowed = true;
      return undefined;
    }
  });
  return isAllowed ? { items: found.filter((each) => each !== undefined), at: latest } : undefined;
}

function partOf<T, R>({ items, at: when }: Found<T>, make: (items: readonly T[]) => R): Part<R> {
  return isAbsent(items) ? items : { kind: 'known', value: make(items), at: when };
}

function mapPart<T, R>(part: Part<T>, make: (value: T) => R): Part<R> {
  return part.kind === 'absent' ? part : { ...part, value: make(part.value) };
}

function isAbsent<T>(items: readonly T[] | Absent): items is Absent {
  return !Array.isArray(items);
}

function noData(message: string): Absent {
  return { kind: 'absent', why: 'no-data', message, source: 'kubernetes' };
}

// --- What hangs on the object

interface Related {
  readonly target: ObjectRef | undefined;
  readonly workload: Part<WorkloadView>;
  readonly replicaSets: Part<readonly ReplicaSetView[]>;
  readonly pods: Part<readonly KeptPod[]>;
  readonly events: Part<readonly EventView[]>;
  readonly hpa: ClusterView['hpa'];
  readonly scaledObject: ClusterView['scaledObject'];
  readonly pdbs: ClusterView['pdbs'];
  readonly nodes: Part<readonly NodeView[]>;
  readonly nodePools: ClusterView['nodePools'];
  readonly nodeClaims: ClusterView['nodeClaims'];
}

/** A ReplicaSet, and whose it is. */
interface KeptReplicaSet {
  readonly view: ReplicaSetView;
  readonly uid: string;
  readonly owner: { readonly kind: string; readonly name: string } | undefined;
}

interface KeptWorkload {
  readonly view: WorkloadView;
  readonly uid: string;
  readonly object: KubeObject;
}

/** The object that was asked about, where it is none of a workload, a scaler and a pool: a Service, a budget. */
function selectorOf(object: unknown): unknown {
  const selector = at(object, 'spec', 'selector');
  // A Service's selector is the labels themselves.
  return textAt(object, 'kind') === 'Service' ? { matchLabels: selector } : selector;
}

async function relatedTo(reader: Reader): Promise<Related> {
  const { want, client } = reader;
  const namespace = namespaceOf(want, client.context.namespace);
  const inNamespace = { namespace };

  const hpas = lookUp(reader, {
    id: 'hpa',
    resources: [kinds.hpas],
    scopes: [inNamespace],
    names: { namespace, names: scalerNames(want) },
    keep: hpaOf,
  });
  const scaledObjects = lookUp(reader, {
    id: 'scaledobject',
    resources: [kinds.scaledObjects],
    scopes: [inNamespace],
    names: { namespace, names: scalerNames(want) },
    keep: scaledObjectOf,
    product: 'KEDA',
  });
  const [hpaList, scaledList] = await Promise.all([hpas, scaledObjects]);
  const target = targetOf(want, namespace, hpaList, scaledList);

  const [workloadFound, allReplicaSets, allPods, pdbs, nodePools, nodeClaims, events, clusterEvents] =
    await Promise.all([
      workloadNamed(reader, target),
      lookUp(reader, {
        id: 'replicaset',
        resources: [kinds.replicaSets],
        scopes: [inNamespace],
        keep: (resource, object): KeptReplicaSet => {
          const owner = ownerReference(object);
          return { view: replicaSetOf(resource, object), uid: object.metadata.uid ?? '', owner };
        },
      }),
      podsIn(reader, namespace, want),
      lookUp(reader, { id: 'pdb', resources: [kinds.pdbs], scopes: [inNamespace], keep: pdbOf }),
      lookUp(reader, {
        id: 'nodepool',
        resources: [kinds.nodePools, { ...kinds.nodePools, version: 'v1beta1' }],
        scopes: [{}],
        names: want.object.kind === 'NodePool' ? { names: [want.object.name] } : undefined,
        keep: nodePoolOf,
        product: 'Karpenter',
      }),
      lookUp(reader, {
        id: 'nodeclaim',
        resources: [kinds.nodeClaims, { ...kinds.nodeClaims, version: 'v1beta1' }],
        scopes: [{}],
        keep: (_, object) => nodeClaimOf(object),
        product: 'Karpenter',
      }),
      lookUp(reader, {
        id: 'event',
        resources: [kinds.events],
        scopes: [inNamespace],
        keep: (_, object) => eventOf(object),
      }),
      // Events of objects without a namespace are kept in this one.
      namespace === 'default'
        ? undefined
        : lookUp(reader, {
            id: 'cluster-event',
            resources: [kinds.events],
            scopes: [{ namespace: 'default' }],
            keep: (_, object) => {
              const event = eventOf(object);
              return event.about.namespace === '' ? event : undefined;
            },
          }),
    ]);

  const workload = workloadFound.kind === 'known' ? workloadFound.value : undefined;
  const replicaSets: readonly KeptReplicaSet[] = isAbsent(allReplicaSets.items)
    ? []
    : allReplicaSets.items.filter(
        ({ owner }) =>
          workload !== undefined &&
          owner?.kind === workload.view.ref.kind &&
          owner.name === workload.view.ref.name,
      );
  const isOwn = await podFilter(
    reader,
    target,
    workload,
    isAbsent(allReplicaSets.items) ? undefined : replicaSets,
  );
  const pods = partOf(allPods, (items) => items.filter(isOwn));
  const podList = pods.kind === 'known' ? pods.value : [];

  const nodes = await lookUp(reader, {
    id: 'node',
    resources: [kinds.nodes],
    scopes: [{}],
    names: { names: [...new Set(podList.flatMap(({ view }) => view.node ?? []))] },
    keep: (_, object) => nodeOf(object),
  });

  const hpa = hpaFor(want, hpaList, scaledList, target);
  const scaledObject = partOf(scaledList, (items) =>
    items.find(
      (each) =>
        (want.object.kind === 'ScaledObject' && each.ref.name === want.object.name) ||
        (target !== undefined && each.target.kind === target.kind && each.target.name === target.name),
    ),
  );
  const related = new Set<string>(
    [
      want.object,
      ...(target === undefined ? [] : [target]),
      ...replicaSets.map(({ view }) => view.ref),
      ...(hpa.kind === 'known' ? [hpa.value.ref] : []),
      ...(scaledObject.kind === 'known' && scaledObject.value !== undefined ? [scaledObject.value.ref] : []),
    ].map(({ kind, name }) => `${kind}/${name}`),
  );
  for (const { view } of podList) related.add(`Pod/${view.pod.name}`);
  const isAbout = ({ about }: EventView): boolean =>
    related.has(`${about.kind}/${about.name}`) || about.kind === 'NodeClaim' || about.kind === 'NodePool';
  const ownEvents = partOf(events, (items) => {
    const more = clusterEvents === undefined || isAbsent(clusterEvents.items) ? [] : clusterEvents.items;
    return [...items, ...more]
      .filter(isAbout)
      .sort((a, b) => a.lastAt - b.lastAt)
      .slice(-maxEvents);
  });
  return {
    target,
    workload:
      workloadFound.kind === 'known' ? { ...workloadFound, value: workloadFound.value.view } : workloadFound,
    replicaSets: partOf(allReplicaSets, () => replicaSets.map(({ view }) => view)),
    pods,
    events: ownEvents,
    hpa,
    scaledObject:
      scaledObject.kind === 'absent'
        ? scaledObject
        : scaledObject.value === undefined
          ? noData('no ScaledObject scales this workload')
          : { ...scaledObject, value: scaledObject.value },
    pdbs: partOf(pdbs, (items) =>
      items
        .filter(({ selector }) => podList.some(({ view }) => selectsLabels(selector, view.labels)))
        .map(({ view }) => view),
    ),
    nodes: partOf(nodes, (items) => items),
    nodePools: partOf(nodePools, (items) => items),
    nodeClaims: partOf(nodeClaims, (items) => items),
  };
}

function ownerReference(object: KubeObject): KeptReplicaSet['owner'] {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((each) => at(each, 'controller') === true);
  const kind = textAt(owner, 'kind');
  const name = textAt(owner, 'name');
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

/** Names that a scaler of the workload commonly has, for whoever may not list them. */
function scalerNames({ object, workload }: Want): readonly string[] {
  const names = [object.name, ...(workload === undefined ? [] : [workload.name])];
  return [...new Set(names.flatMap((name) => [name, `keda-hpa-${name}`, `${name}-hpa`]))];
}

/** The workload that the object under the cursor is, scales or points at. */
function targetOf(
  want: Want,
  namespace: string,
  hpas: Found<HpaView>,
  scaledObjects: Found<{ readonly ref: ObjectRef; readonly target: HpaView['target'] }>,
): ObjectRef | undefined {
  const { object } = want;
  const scalers =
    object.kind === 'HorizontalPodAutoscaler'
      ? hpas
      : object.kind === 'ScaledObject'
        ? scaledObjects
        : undefined;
  if (scalers !== undefined && !isAbsent(scalers.items)) {
    const found = (
      scalers.items as readonly { readonly ref: ObjectRef; readonly target: HpaView['target'] }[]
    ).find(({ ref }) => ref.name === object.name);
    if (found !== undefined) return { ...found.target, namespace };
  }
  if (want.workload !== undefined) return want.workload;
  if (kinds.workloadKind(object.apiVersion, object.kind) !== undefined) return { ...object, namespace };
  return undefined;
}

async function workloadNamed(reader: Reader, target: ObjectRef | undefined): Promise<Part<KeptWorkload>> {
  const { want } = reader;
  if (target === undefined) {
    return noData(
      want.object.kind === 'NodePool' || want.object.kind === 'Pod'
        ? `a ${want.object.kind} is not a workload of its own`
        : `what ${want.object.kind} ${want.object.name} is about is not known`,
    );
  }
  const resource = kinds.workloadKind(target.apiVersion, target.kind);
  if (resource === undefined)
    return noData(`${target.kind} of ${target.apiVersion} is not a kind whose pods are known`);
  const found = await lookUp(reader, {
    id: 'workload',
    resources: [resource],
    scopes: [{ namespace: target.namespace, name: target.name }],
    names: { namespace: target.namespace, names: [target.name] },
    keep: (kind, object): KeptWorkload => ({
      view: workloadOf(kind, object),
      uid: object.metadata.uid ?? '',
      object,
    }),
  });
  if (isAbsent(found.items)) return found.items;
  const [first] = found.items;
  if (first === undefined)
    return noData(`there is no ${target.kind} ${target.name} in namespace ${target.namespace}`);
  return { kind: 'known', value: first, at: found.at };
}

/** All pods of the namespace; where they may not be listed, those whose names can be told. */
function podsIn(reader: Reader, namespace: string, want: Want): Promise<Found<KeptPod>> {
  const names = podNames(want);
  // A pool's pods are everywhere.
  const scopes: readonly Scope[] = want.object.kind === 'NodePool' ? [{}, { namespace }] : [{ namespace }];
  return lookUp(reader, {
    id: 'pod',
    resources: [kinds.pods],
    scopes,
    names: names.length === 0 ? undefined : { namespace, names },
    keep: (_, object) => keptPod(object),
  });
}

/** Pods of a StatefulSet and of a LeaderWorkerSet are numbered; so many are tried. */
const numberedPods = 8;

function podNames({ object, workload }: Want): readonly string[] {
  if (object.kind === 'Pod') return [object.name];
  const { kind, name } = workload ?? object;
  if (kind === 'StatefulSet' || kind === 'LeaderWorkerSet')
    return Array.from({ length: numberedPods }, (_, index) => `${name}-${index}`);
  return [];
}

/** Tells the pods of the workload from the others of its namespace. */
async function podFilter(
  reader: Reader,
  target: ObjectRef | undefined,
  workload: KeptWorkload | undefined,
  replicaSets: readonly KeptReplicaSet[] | undefined,
): Promise<(pod: KeptPod) => boolean> {
  const { want } = reader;
  const { object } = want;
  if (target === undefined) {
    if (object.kind === 'Pod') return ({ view }) => view.pod.name === object.name;
    if (object.kind === 'NodePool') {
      const nodes = await lookUp(reader, {
        id: 'node',
        resources: [kinds.nodes],
        scopes: [{}],
        keep: (_, each) => nodeOf(each),
      });
      const ofPool = new Set(
        isAbsent(nodes.items)
          ? []
          : nodes.items.filter(({ pool }) => pool === object.name).map(({ name }) => name),
      );
      return ({ view }) => view.node !== undefined && ofPool.has(view.node);
    }
    if (object.kind === 'Service' || object.kind === 'PodDisruptionBudget') {
      const resource = object.kind === 'Service' ? kinds.services : kinds.pdbs;
      const found = await lookUp(reader, {
        id: 'selector',
        resources: [resource],
        scopes: [{ namespace: object.namespace, name: object.name }],
        names: { namespace: object.namespace, names: [object.name] },
        keep: (_, each) => selectorOf({ kind: object.kind, spec: each['spec'] }),
      });
      const selector = isAbsent(found.items) ? undefined : found.items[0];
      return ({ view }) => selectsLabels(selector, view.labels);
    }
    return () => false;
  }
  const resource = kinds.workloadKind(target.apiVersion, target.kind);
  const spec = workload?.object;
  const labels = resource?.podLabels?.(target.name, spec);
  if (labels !== undefined)
    return ({ view }) =>
      Object.entries(labels).every(([key, values]) => values.includes(view.labels[key] ?? ''));
  if (target.kind === 'CronJob') {
    // Its Jobs are called after it, and a time.
    const pattern = new RegExp(`^${target.name.replace(/[.]/g, '\\.')}-\\d+$`);
    return ({ view }) =>
      pattern.test(view.labels['batch.kubernetes.io/job-name'] ?? view.labels['job-name'] ?? '');
  }
  const selector = at(spec, 'spec', 'selector');
  const viaReplicaSets = target.kind === 'Deployment' || target.kind === 'Rollout';
  // Two workloads may have the same labels; the owner tells them apart where it may be read.
  const owners = viaReplicaSets
    ? replicaSets === undefined
      ? undefined
      : new Set(replicaSets.map(({ uid }) => uid))
    : workload === undefined || workload.uid === ''
      ? undefined
      : new Set([workload.uid]);
  if (spec !== undefined) {
    return ({ view, ownerUid }) =>
      selectsLabels(selector, view.labels) &&
      (owners === undefined || (ownerUid !== undefined && owners.has(ownerUid)));
  }
  // The workload may not be read: its pods are told by the name of their owner.
  return ({ view }) => {
    const { owner } = view;
    if (owner === undefined) return false;
    if (viaReplicaSets)
      return owner.kind === 'ReplicaSet' && owner.name.replace(/-[a-z0-9]+$/, '') === target.name;
    return owner.kind === target.kind && owner.name === target.name;
  };
}

function hpaFor(
  { object }: Want,
  hpas: Found<HpaView>,
  scaledObjects: Found<{
    readonly ref: ObjectRef;
    readonly target: HpaView['target'];
    readonly hpaName?: string;
  }>,
  target: ObjectRef | undefined,
): Part<HpaView> {
  if (isAbsent(hpas.items)) return hpas.items;
  const scaled = isAbsent(scaledObjects.items)
    ? undefined
    : scaledObjects.items.find(({ ref }) => object.kind === 'ScaledObject' && ref.name === object.name);
  const named =
    object.kind === 'HorizontalPodAutoscaler'
      ? object.name
      : scaled === undefined
        ? undefined
        : (scaled.hpaName ?? `keda-hpa-${scaled.ref.name}`);
  const found = hpas.items.find(
    (each) =>
      (named !== undefined && each.ref.name === named) ||
      (named === undefined &&
        target !== undefined &&
        each.target.kind === target.kind &&
        each.target.name === target.name),
  );
  return found === undefined
    ? noData('no HorizontalPodAutoscaler scales this workload')
    : { kind: 'known', value: found, at: hpas.at };
}

// --- Requests of the whole cluster

interface ClusterUse {
  readonly nodeUse: ClusterView['nodeUse'];
  readonly pending: ClusterView['pendingInCluster'];
}

async function clusterUse(reader: Reader): Promise<ClusterUse> {
  const { client, world, want, problems } = reader;
  const labels = [...want.allocationLabels].sort();
  const scope: Scope = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
  const what = 'list pods of all namespaces';
  const ask = async (signal: AbortSignal): Promise<readonly PodUse[]> => {
    const uses: PodUse[] = [];
    let next: string | undefined;
    do {
      const page = await client.list(kinds.pods, scope, { limit: 500, next }, signal);
      for (const object of page.items) {
        const use = podUse(object, labels);
        if (use !== undefined) uses.push(use);
      }
      next = page.next;
    } while (next !== undefined);
    return uses;
  };
  try {
    const answer = await untilDue(reader, world.cached(`pods|${labels.join(',')}`, clusterPodsMs, ask));
    if (answer === undefined) {
      const absent = noData('the pods of all namespaces are still being read');
      return { nodeUse: absent, pending: absent };
    }
    const { value, at: when } = answer;
    return {
      nodeUse: { kind: 'known', value: usesByNode(value), at: when },
      pending: { kind: 'known', value: value.filter(({ isPending }) => isPending).length, at: when },
    };
  } catch (error) {
    if (reader.signal.aborted) throw error;
    const failure = asSourceError(error, what, client.redactor.redact);
    problems.push(problemOf(failure, what));
    const absent = absentOf(failure, 'kubernetes');
    return { nodeUse: absent, pending: absent };
  }
}

function usesByNode(uses: readonly PodUse[]): readonly NodeUse[] {
  interface Growing {
    readonly requested: Record<string, number>;
    readonly parts: Map<string, { part: NodeUsePart; pods: number; requested: Record<string, number> }>;
  }
  const nodes = new Map<string, Growing>();
  const add = (into: Record<string, number>, from: Resources): void => {
    for (const [name, amount] of Object.entries(from)) into[name] = (into[name] ?? 0) + amount;
  };
  for (const { node, namespace, labels, requests } of uses) {
    if (node === undefined) continue;
    let growing = nodes.get(node);
    if (growing === undefined) nodes.set(node, (growing = { requested: {}, parts: new Map() }));
    add(growing.requested, requests);
    const key = JSON.stringify([namespace, labels]);
    let part = growing.parts.get(key);
    if (part === undefined) {
      const requested: Record<string, number> = {};
      growing.parts.set(
        key,
        (part = { part: { namespace, labels, pods: 0, requested }, pods: 0, requested }),
      );
    }
    part.pods++;
    add(part.requested, requests);
  }
  return [...nodes].map(([node, { requested, parts }]) => ({
    node,
    requested,
    parts: [...parts.values()].map(({ part, pods, requested: sum }) => ({ ...part, pods, requested: sum })),
  }));
}

// --- metrics.k8s.io, logs, version

async function podMetricsOf(reader: Reader, { pods }: Related): Promise<readonly Measurement[]> {
  const { client, world, problems, want } = reader;
  if (pods.kind === 'absent' || pods.value.length === 0) return [];
  const namespace = namespaceOf(want, client.context.namespace);
  const rule = ruleOf(kinds.podMetrics, 'list', { namespace });
  try {
    const answer = await untilDue(
      reader,
      world.cached(`metrics ${namespace}`, podMetricsMs, (signal) =>
        client.json(pathOf(kinds.podMetrics, { namespace }), rule, signal),
      ),
    );
    if (answer === undefined) return [];
    const own = new Set(pods.value.map(({ view }) => view.pod.name));
    return listAt(answer.value, 'items').flatMap((item) => {
      const name = textAt(item, 'metadata', 'name');
      if (name === undefined || !own.has(name)) return [];
      const when = instantAt(item, 'timestamp') ?? answer.at;
      const window = goDuration(textAt(item, 'window'));
      return listAt(item, 'containers').flatMap((container): readonly Measurement[] => {
        const usage = resourcesOf(at(container, 'usage'));
        const subject = {
          kind: 'pod',
          pod: { namespace, name },
          ...(textAt(container, 'name') === undefined ? {} : { container: textAt(container, 'name') ?? '' }),
        } as const;
        const one = (
          metric: 'cpu.usage' | 'memory.working-set',
          value: number | undefined,
        ): readonly Measurement[] =>
          value === undefined
            ? []
            : [
                {
                  metric,
                  subject,
                  observed: {
                    kind: 'reading',
                    value,
                    unit: metric === 'cpu.usage' ? 'cores' : 'bytes',
                    at: when,
                    window: metric === 'cpu.usage' ? window : 0,
                    source: {
                      source: 'kubernetes',
                      from: `metrics.k8s.io ${metric === 'cpu.usage' ? 'cpu' : 'memory'}`,
                    },
                  },
                },
              ];
        return [...one('cpu.usage', usage['cpu']), ...one('memory.working-set', usage['memory'])];
      });
    });
  } catch (error) {
    if (reader.signal.aborted) throw error;
    const failure = asSourceError(error, describeRequest(rule), client.redactor.redact);
    // No metrics server, or one that is being started.
    if (failure.kind !== 'not-found') problems.push(problemOf(failure, describeRequest(rule)));
    return [];
  }
}

/** `30s`, `1m0s`, `14.996s` as Go writes them, in milliseconds. */
function goDuration(text: string | undefined): number {
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  let sum = 0;
  for (const [, amount, unit] of (text ?? '').matchAll(/([\d.]+)(ms|h|m|s)/g)) {
    sum += Number(amount) * (units[unit ?? ''] ?? 0);
  }
  return Number.isFinite(sum) ? sum : 0;
}

interface LogWanted {
  readonly pod: PodView;
  readonly container: string;
  readonly restarts: number;
  readonly previous: boolean;
  readonly at: number;
}

/** Containers that were killed or ended with an error, the newest first. */
function logsWanted(pods: readonly KeptPod[]): readonly LogWanted[] {
  return pods
    .flatMap(({ view }) =>
      view.containers.flatMap((container): readonly LogWanted[] => {
        const { name, restarts, state, lastTermination } = container;
        if (state.kind === 'terminated' && state.exitCode !== 0)
          return [{ pod: view, container: name, restarts, previous: false, at: state.finishedAt ?? 0 }];
        if (
          lastTermination !== undefined &&
          (lastTermination.exitCode !== 0 || lastTermination.reason === 'OOMKilled')
        )
          return [
            { pod: view, container: name, restarts, previous: true, at: lastTermination.finishedAt ?? 0 },
          ];
        return [];
      }),
    )
    .sort((a, b) => b.at - a.at)
    .slice(0, maxLogs);
}

async function logsOf(reader: Reader, { pods }: Related): Promise<ClusterView['logs']> {
  const { client, world, problems } = reader;
  if (pods.kind === 'absent') return pods;
  let failure: SourceError | undefined;
  const excerpts = await mapLimited(
    logsWanted(pods.value),
    maxLogs,
    async (wanted): Promise<LogExcerpt | undefined> => {
      const { pod, container, previous, restarts } = wanted;
      const { namespace, name } = pod.pod;
      const rule: RbacRule = { apiGroup: '', resource: 'pods/log', verb: 'get', namespace };
      const query = new URLSearchParams({
        container,
        previous: String(previous),
        tailLines: String(logLines),
        limitBytes: String(256 * 1024),
      });
      const path = `${pathOf(kinds.pods, { namespace, name })}/log?${query.toString()}`;
      try {
        // A run that has ended says nothing new: its log is read once.
        const answer = await untilDue(
          reader,
          world.cached(`log ${pod.uid} ${container} ${restarts} ${previous}`, 600_000, (signal) =>
            client.text(path, rule, signal, { timeoutMs: 5_000, maxBytes: 2 ** 20 }),
          ),
        );
        if (answer === undefined) return undefined;
        const lines = answer.value
          .split(/\r?\n/)
          .filter((line) => line.trim() !== '')
          .map((line) => client.redactor.redact(line).slice(0, maxLogLine));
        return { pod: pod.pod, container, previous, lines, at: answer.at };
      } catch (error) {
        if (reader.signal.aborted) throw error;
        failure = asSourceError(error, `log of pod ${namespace}/${name}`, client.redactor.redact);
        // The run before may be gone, with its node.
        if (failure.kind === 'denied') problems.push(problemOf(failure, `log of pod ${namespace}/${name}`));
        return undefined;
      }
    },
  );
  const known = excerpts.filter((each) => each !== undefined);
  if (known.length === 0 && failure !== undefined) return absentOf(failure, 'kubernetes');
  return { kind: 'known', value: known, at: world.clock.now() };
}

async function versionOf(reader: Reader): Promise<string | undefined> {
  const { client, world } = reader;
  const rule: RbacRule = { apiGroup: '', resource: '/version', verb: 'get', namespace: undefined };
  try {
    const answer = await untilDue(
      reader,
      world.cached('version', versionMs, (signal) => client.json('/version', rule, signal)),
    );
    return textAt(answer?.value, 'gitVersion');
  } catch (error) {
    if (reader.signal.aborted) throw error;
    return undefined;
  }
}

// --- Numbers

function measurementsOf(cluster: ClusterView, now: number): readonly Measurement[] {
  const result: Measurement[] = [];
  const add = (
    metric: Measurement['metric'],
    subject: Measurement['subject'],
    value: number | undefined,
    when: number,
    from: string,
  ): void => {
    if (value === undefined) return;
    result.push({
      metric,
      subject,
      observed: {
        kind: 'reading',
        value,
        unit: 'count',
        at: when,
        window: 0,
        source: { source: 'kubernetes', from },
      },
    });
  };
  const { workload, pods, nodes, pendingInCluster } = cluster;
  // A watch that is silent says that nothing has changed: what it says is of now, as long as it runs.
  if (workload.kind === 'known') {
    const { desired, current, ready } = workload.value.replicas;
    add('replicas.desired', { kind: 'workload' }, desired, now, 'spec.replicas');
    add('replicas.current', { kind: 'workload' }, current, now, 'status.replicas');
    add('replicas.ready', { kind: 'workload' }, ready, now, 'status.readyReplicas');
  }
  if (pods.kind === 'known') {
    for (const { pod, containers } of pods.value) {
      const restarts = containers.reduce((sum, each) => sum + each.restarts, 0);
      add('restarts.total', { kind: 'pod', pod }, restarts, now, 'status.containerStatuses[].restartCount');
    }
  }
  if (pendingInCluster.kind === 'known')
    add(
      'cluster.pods.pending',
      { kind: 'cluster' },
      pendingInCluster.value,
      pendingInCluster.at,
      'status.phase=Pending',
    );
  if (nodes.kind === 'known') {
    const failed = nodes.value.filter(
      ({ conditions }) => conditions.find(({ type }) => type === 'Ready')?.status !== 'True',
    );
    add('cluster.nodes.failed', { kind: 'cluster' }, failed.length, now, 'Node condition Ready');
  }
  return result;
}

// --- For the sources beside

/** The pods of the workload and what scales it, for those who ask the pods themselves or others about them. */
export async function workloadPods(world: KubeWorld, want: Want, signal: AbortSignal): Promise<WorkloadPods> {
  world.touch();
  const client = await world.client();
  const reader: Reader = {
    client,
    world,
    want,
    signal,
    deadline: world.clock.now() + answerMs,
    problems: [],
  };
  const { pods, target, hpa } = await relatedTo(reader);
  return { client, pods, workload: target, hpa: hpa.kind === 'known' ? hpa.value.ref.name : undefined };
}

/** An object as the cluster has it, for display; only what the file names, and never a Secret. */
export async function liveObject(world: KubeWorld, ref: ObjectRef, signal: AbortSignal): Promise<unknown> {
  const client = await world.client();
  const known: readonly KubeResource[] = [
    ...kinds.workloadKinds,
    kinds.hpas,
    kinds.scaledObjects,
    kinds.pdbs,
    kinds.nodePools,
    kinds.nodeClaims,
    kinds.nodes,
    kinds.pods,
    kinds.services,
  ];
  const resource =
    kinds.workloadKind(ref.apiVersion, ref.kind) ??
    known.find(
      (each) =>
        each.kind === ref.kind && refOf(each, { metadata: { name: '' } }).apiVersion === ref.apiVersion,
    );
  if (resource === undefined)
    throw new SourceError('failed', `${ref.kind} of ${ref.apiVersion} is not a kind that is read`);
  const scope = { name: ref.name, ...(ref.namespace === '' ? {} : { namespace: ref.namespace }) };
  return withoutSecrets(await client.get(resource, scope, signal));
}
