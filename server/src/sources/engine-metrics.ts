import type { PodView } from '../live/cluster';
import type { Measurement, PodName } from '../live/measurement';
import { deviceMeasurements, type NodeScrape } from '../live/metrics/device-metrics';
import { engineMeasurements, enginesOf, type PodScrape } from '../live/metrics/engine-metrics';
import { engineTables, httpTable, type Extraction } from '../live/metrics/engine-tables';
import { normalName } from '../live/metrics/families';
import type { Part } from '../live/reading';
import type { Scrape } from '../live/scrape';
import type { SourceAnswer, SourceProblem, SourceStatus } from '../live/snapshot';
import type { EngineName, Want } from '../live/want';
import { parseExposition, sharedTexts, type SharedTexts } from './exposition';
import { SourceError, absentOf, asSourceError, problemOf, type RbacRule } from './failure';
import { pathOf, type KubeClient, type Scope } from './kube-client';
import * as kinds from './kube-kinds';
import { keptPod, type KeptPod } from './kube-views';
import type { KubeWorld } from './kube-world';
import { workloadPods } from './kubernetes';
import { mapLimited, reasonOf } from './runtime';
import type { Source } from './source';

/** Where an engine prints its metrics unless it is told otherwise. */
const engineEndpoints: Readonly<Record<Exclude<EngineName, 'unknown'>, readonly Endpoint[]>> = {
  vllm: [{ port: 8000, path: '/metrics' }],
  sglang: [{ port: 30000, path: '/metrics' }],
  tgi: [
    { port: 80, path: '/metrics' },
    { port: 3000, path: '/metrics' },
  ],
  triton: [{ port: 8002, path: '/metrics' }],
  'ray-serve': [{ port: 8080, path: '/metrics' }],
  'tensorrt-llm': [
    { port: 8000, path: '/prometheus/metrics' },
    { port: 8000, path: '/metrics' },
  ],
  nim: [
    { port: 8000, path: '/v1/metrics' },
    { port: 8000, path: '/metrics' },
  ],
  'llama-cpp': [{ port: 8080, path: '/metrics' }],
  // Prints none.
  ollama: [],
};

/** Exporters of the devices of a node: their labels in the usual charts, and where they answer. */
const exporters = {
  selectors: [
    'app.kubernetes.io/name in (dcgm-exporter,nvidia-dcgm-exporter,neuron-monitor)',
    'app in (dcgm-exporter,nvidia-dcgm-exporter,neuron-monitor)',
    'app.kubernetes.io/component in (dcgm-exporter,neuron-monitor)',
    'k8s-app in (dcgm-exporter,neuron-monitor)',
  ],
  /** Where they run when not all namespaces may be looked at: GPU operator, EKS add-on, charts. */
  namespaces: ['gpu-operator', 'nvidia-gpu-operator', 'amazon-cloudwatch', 'monitoring', 'kube-system'],
  gpuPort: 9400,
  neuronPort: 8000,
} as const;

interface Endpoint {
  readonly port: number;
  readonly path: string;
  /** The pod speaks TLS; its certificate is not verified, as the API server does not. */
  readonly tls?: boolean;
}

/** Pods that are asked with one read; of more, those that were asked longest ago. */
const maxPods = 250;
const atOnce = 24;
const podTimeoutMs = 4_000;
/** A page of a pod is not asked for again within this. */
const freshMs = 4_000;
/** Rates and percentiles are of so long where there are pages as old; until then of what there is. */
const windowMs = 60_000;
const exportersMs = 60_000;
/** A pod is tried at all its ports anew after none of them answered. */
const retryMs = 60_000;
/** Pages of pods that nobody asked about in so long are forgotten. */
const forgetMs = 300_000;

/** Names that become measurements; the rest of a page is large and of no use. */
const wantedNames = namesOf([...Object.values(engineTables).flat(), ...httpTable]);

function namesOf(extractions: readonly Extraction[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const extraction of extractions) {
    const own =
      'names' in extraction
        ? extraction.names
        : 'total' in extraction
          ? [...extraction.total, ...extraction.count]
          : [...extraction.part, ...extraction.whole];
    for (const name of own) {
      const base = normalName(name).replace(/_(total|sum|count)$/, '');
      for (const suffix of ['', '_total', '_bucket', '_sum', '_count', '_created'])
        names.add(`${base}${suffix}`);
    }
  }
  return names;
}

function isWanted(name: string): boolean {
  const normal = normalName(name);
  return wantedNames.has(normal) || normal.startsWith('nv_gpu_');
}

/** Pages of one endpoint over time. */
interface History {
  current: Scrape;
  /** What `current` is compared with. */
  previous: Scrape | undefined;
  /** Pages to be compared with, the oldest first, half a window apart. */
  bases: readonly Scrape[];
  names: readonly string[];
  usedAt: number;
}

interface State {
  readonly shared: SharedTexts;
  readonly histories: Map<string, History>;
  /** Where pods of an owner answered, or when none of their ports did. */
  readonly endpoints: Map<string, { readonly endpoint: Endpoint | undefined; readonly at: number }>;
}

/** The engines' own metrics, and those of the devices of their nodes, asked for through the API server. */
export function engineMetricsSource(world: KubeWorld): Source {
  const state: State = { shared: sharedTexts(), histories: new Map(), endpoints: new Map() };
  return {
    id: 'engine-metrics',
    read: (want, signal) => read(world, state, want, signal),
    dispose: () => {
      state.histories.clear();
      state.endpoints.clear();
      return Promise.resolve();
    },
  };
}

interface Reader {
  readonly world: KubeWorld;
  readonly client: KubeClient;
  readonly state: State;
  readonly want: Want;
  readonly signal: AbortSignal;
  readonly failures: Failure[];
}

interface Failure {
  /** `/metrics of pod`, without the pod, so that the same failure of many can be told once. */
  readonly kind: string;
  readonly pod: string;
  readonly error: SourceError;
}

async function read(world: KubeWorld, state: State, want: Want, signal: AbortSignal): Promise<SourceAnswer> {
  const startedAt = world.clock.now();
  if (signal.aborted) throw reasonOf(signal);
  let client: KubeClient;
  let pods: Part<readonly KeptPod[]>;
  try {
    ({ client, pods } = await workloadPods(world, want, signal));
  } catch (error) {
    if (signal.aborted) throw reasonOf(signal);
    const failure = asSourceError(error, 'find the pods', (text) => text);
    return { status: failed(failure, 'find the pods') };
  }
  const endpoint = `pods of context ${client.context.name}, through the API server`;
  if (pods.kind === 'absent') {
    return {
      status: {
        source: 'engine-metrics',
        state: pods.why === 'denied' ? 'denied' : 'failed',
        endpoint,
        problems: [
          {
            what: 'find the pods',
            why: pods.why === 'denied' ? 'denied' : 'failed',
            message: pods.message,
            ...(pods.remedy === undefined ? {} : { remedy: pods.remedy }),
          },
        ],
      },
      exportedNames: { ...pods, source: 'engine-metrics' },
    };
  }
  const reader: Reader = { world, client, state, want, signal, failures: [] };
  const running = pods.value.filter(
    ({ view }) => view.phase === 'Running' && view.deletingSince === undefined,
  );
  const [pages, devices] = await Promise.all([engines(reader, running), deviceMetrics(reader, running)]);
  if (signal.aborted) throw reasonOf(signal);
  forget(state, world.clock.now());
  const now = world.clock.now();
  const measurements = [
    ...engineMeasurements(
      pages.map(({ scrape }) => scrape),
      want.engine,
    ),
    ...devices,
  ];
  // Triton sees the GPUs itself; where an exporter runs, that one says more.
  if (devices.length === 0) {
    for (const { scrape, node } of pages) {
      if (node === undefined || !enginesOf(scrape.current).includes('triton')) continue;
      const page: NodeScrape = {
        node,
        pod: scrape.pod,
        current: scrape.current,
        ...(scrape.previous === undefined ? {} : { previous: scrape.previous }),
      };
      measurements.push(...deviceMeasurements(page));
    }
  }
  const problems = told(reader.failures);
  if (running.length > maxPods)
    problems.push({
      what: 'ask every pod',
      why: 'slow',
      message: `${maxPods} of the ${running.length} running pods are asked with each refresh, in turn`,
    });
  return {
    status: {
      source: 'engine-metrics',
      state: problems.length === 0 ? 'ok' : measurements.length > 0 ? 'partial' : stateOf(reader.failures),
      endpoint,
      ...(measurements.length > 0 ? { at: now } : {}),
      took: now - startedAt,
      problems,
    },
    measurements,
    exportedNames: namesPart(pages, running, reader, now),
  };
}

function failed(error: SourceError, what: string): SourceStatus {
  return {
    source: 'engine-metrics',
    state:
      error.kind === 'denied' || error.kind === 'unauthenticated'
        ? 'denied'
        : error.kind === 'timeout'
          ? 'slow'
          : 'failed',
    problems: [problemOf(error, what)],
  };
}

function stateOf(failures: readonly Failure[]): SourceStatus['state'] {
  if (failures.every(({ error }) => error.kind === 'denied')) return 'denied';
  return failures.every(({ error }) => error.kind === 'timeout') ? 'slow' : 'failed';
}

/** One problem for the pods that failed in the same way. */
function told(failures: readonly Failure[]): SourceProblem[] {
  const groups = new Map<string, Failure[]>();
  for (const failure of failures) {
    const { error, kind } = failure;
    const key = `${kind}|${error.kind}|${JSON.stringify(error.missing ?? '')}|${error.message.split(failure.pod).join('')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [failure]);
    else group.push(failure);
  }
  return [...groups.values()].map((group) => {
    const names = group.map(({ pod }) => pod);
    const [first] = group as [Failure, ...Failure[]];
    const who =
      names.length === 1
        ? `pod ${names[0] ?? ''}`
        : `${names.length} pods (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', ...' : ''})`;
    return problemOf(first.error, `${first.kind} of ${who}`);
  });
}

function namesPart(
  pages: readonly Page[],
  running: readonly KeptPod[],
  { failures }: Reader,
  at: number,
): NonNullable<SourceAnswer['exportedNames']> {
  if (pages.length > 0) {
    const names = new Set<string>();
    for (const page of pages) for (const name of page.names) names.add(name);
    return { kind: 'known', value: [...names].sort(), at };
  }
  const [failure] = failures;
  if (failure !== undefined) return absentOf(failure.error, 'engine-metrics');
  return {
    kind: 'absent',
    why: 'no-data',
    message: running.length === 0 ? 'no pod of the workload runs' : 'no pod of the workload prints metrics',
    source: 'engine-metrics',
  };
}

function forget({ histories, endpoints }: State, now: number): void {
  for (const [key, { usedAt }] of histories) if (now - usedAt > forgetMs) histories.delete(key);
  for (const [key, { at }] of endpoints) if (now - at > 10 * forgetMs) endpoints.delete(key);
}

// --- Engines

interface Page {
  readonly scrape: PodScrape;
  readonly names: readonly string[];
  readonly node: string | undefined;
}

async function engines(reader: Reader, running: readonly KeptPod[]): Promise<readonly Page[]> {
  const { state } = reader;
  const lastAt = ({ view }: KeptPod): number => state.histories.get(view.uid)?.current.at ?? 0;
  const asked =
    running.length <= maxPods
      ? running
      : [...running].sort((a, b) => lastAt(a) - lastAt(b)).slice(0, maxPods);
  await mapLimited(asked, atOnce, async (pod) => askPod(reader, pod));
  return running.flatMap(({ view }): readonly Page[] => {
    const history = state.histories.get(view.uid);
    if (history === undefined) return [];
    return [
      {
        scrape: {
          pod: view.pod,
          current: history.current,
          ...(history.previous === undefined ? {} : { previous: history.previous }),
        },
        names: history.names,
        node: view.node,
      },
    ];
  });
}

/** Pods of one owner are alike: where one answered, the others do. */
function ownerKey({ pod, owner }: PodView): string {
  return `${pod.namespace}/${owner?.kind ?? 'Pod'}/${owner?.name ?? pod.name}`;
}

async function askPod(reader: Reader, pod: KeptPod): Promise<void> {
  const { world, state, want, signal } = reader;
  const { view } = pod;
  const history = state.histories.get(view.uid);
  if (history !== undefined) {
    history.usedAt = world.clock.now();
    if (world.clock.now() - history.current.at < freshMs) return;
  }
  const key = ownerKey(view);
  const known = state.endpoints.get(key);
  if (known !== undefined && known.endpoint === undefined && world.clock.now() - known.at < retryMs) return;
  const candidates = known?.endpoint === undefined ? candidatesOf(pod, want) : [known.endpoint];
  let failure: SourceError | undefined;
  for (const candidate of candidates) {
    const answer = await page(reader, view.pod, candidate, isWanted);
    if (signal.aborted) throw reasonOf(signal);
    if (answer instanceof SourceError) {
      // A missing right, or a pod that does not answer at all, is the same at each port.
      failure = failure === undefined || failure.kind === 'not-found' ? answer : failure;
      if (answer.kind === 'denied' || answer.kind === 'unauthenticated') break;
      continue;
    }
    state.endpoints.set(key, { endpoint: answer.endpoint, at: world.clock.now() });
    remember(state, view.uid, answer.scrape, answer.names, world.clock.now());
    return;
  }
  if (known?.endpoint !== undefined) state.endpoints.delete(key);
  // Pods that are being started do not answer yet; that is no failure of theirs.
  const isReady = view.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (candidates.length === 0) return;
  if (failure !== undefined && (isReady || failure.kind === 'denied')) {
    if (failure.kind !== 'denied' && failure.kind !== 'timeout')
      state.endpoints.set(key, { endpoint: undefined, at: world.clock.now() });
    reader.failures.push({ kind: '/metrics', pod: `${view.pod.namespace}/${view.pod.name}`, error: failure });
  }
}

function remember(state: State, key: string, scrape: Scrape, names: readonly string[], now: number): void {
  const bases = state.histories.get(key)?.bases ?? [];
  // The newest page that is a window old, else the oldest there is.
  const old = bases.filter(({ at }) => scrape.at - at >= windowMs);
  const previous = old.at(-1) ?? bases[0];
  const kept = previous === undefined ? bases : bases.slice(bases.indexOf(previous));
  const last = kept.at(-1);
  state.histories.set(key, {
    current: scrape,
    previous,
    bases: last === undefined || scrape.at - last.at >= windowMs / 2 ? [...kept, scrape] : kept,
    names,
    usedAt: now,
  });
}

/** Names of ports that metrics are usually behind, the likeliest first. */
const metricPortNames = [/metric/i, /prom/i, /^http/i, /api|rest|server|serve|web/i];

function candidatesOf({ view, annotations }: KeptPod, want: Want): readonly Endpoint[] {
  const path = annotations['prometheus.io/path'] ?? want.metricsPath;
  const found: Endpoint[] = [];
  const add = (port: number | undefined, at: string): void => {
    if (port === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) return;
    if (!found.some((each) => each.port === port && each.path === at)) found.push({ port, path: at });
  };
  const engine = want.engine === 'unknown' ? [] : engineEndpoints[want.engine];
  const ownPaths =
    path !== undefined ? [path] : [...new Set([...engine.map((each) => each.path), '/metrics'])];
  const annotated = annotations['prometheus.io/port'];
  if (annotated !== undefined) add(Number(annotated), path ?? '/metrics');
  if (want.metricsPort !== undefined) for (const each of ownPaths) add(want.metricsPort, each);
  const ports = view.containers.filter(({ role }) => role !== 'init').flatMap((container) => container.ports);
  const rank = (name: string | undefined): number => {
    const index = metricPortNames.findIndex((pattern) => name !== undefined && pattern.test(name));
    return index === -1 ? metricPortNames.length : index;
  };
  for (const { port } of [...ports].sort((a, b) => rank(a.name) - rank(b.name)).slice(0, 4))
    for (const each of ownPaths) add(port, each);
  for (const each of engine) add(each.port, path ?? each.path);
  if (want.engine === 'unknown' && found.length === 0) {
    for (const each of [engineEndpoints.vllm, engineEndpoints.sglang, engineEndpoints.triton].flat())
      add(each.port, each.path);
  }
  return found.slice(0, 8);
}

interface PageAnswer {
  readonly endpoint: Endpoint;
  readonly scrape: Scrape;
  readonly names: readonly string[];
}

/** Asks one pod at one endpoint. */
async function page(
  { client, world, state, signal }: Reader,
  pod: PodName,
  endpoint: Endpoint,
  wanted: (name: string) => boolean,
): Promise<PageAnswer | SourceError> {
  const what = `${endpoint.path} of pod ${pod.namespace}/${pod.name} at port ${endpoint.port}`;
  const rule: RbacRule = { apiGroup: '', resource: 'pods/proxy', verb: 'get', namespace: pod.namespace };
  for (const tls of endpoint.tls === true ? [true] : [false, true]) {
    const target = `${tls ? 'https:' : ''}${encodeURIComponent(pod.name)}:${endpoint.port}`;
    const path = `/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/pods/${target}/proxy${endpoint.path.startsWith('/') ? '' : '/'}${endpoint.path}`;
    try {
      const text = await client.text(path, rule, signal, { timeoutMs: podTimeoutMs });
      const { samples, names, problems } = parseExposition(text, world.clock.now(), wanted, state.shared);
      if (names.size === 0) {
        return new SourceError(
          'malformed',
          `${what}: ${text.trim() === '' ? 'the page is empty' : `the answer is not a page of metrics (${problems[0] ?? 'no samples'})`}`,
        );
      }
      return {
        endpoint: tls ? { ...endpoint, tls } : endpoint,
        scrape: { at: world.clock.now(), samples },
        names: [...names],
      };
    } catch (error) {
      if (signal.aborted) throw reasonOf(signal);
      const failure = asSourceError(error, what, client.redactor.redact);
      const speaksTls =
        /HTTP request to an HTTPS server|first record does not look|malformed HTTP response/i.test(
          failure.message,
        );
      if (tls || !speaksTls) {
        return failure.kind === 'denied' || failure.kind === 'unauthenticated'
          ? failure
          : new SourceError(
              failure.kind,
              `${what}: ${failure.message.replace(/^[^:]*: /, '')}`,
              failure.missing,
            );
      }
    }
  }
  return new SourceError('failed', `${what}: no answer`);
}

// --- Devices of the nodes

async function deviceMetrics(reader: Reader, running: readonly KeptPod[]): Promise<readonly Measurement[]> {
  const { state, world, want } = reader;
  const wantsDevices = want.metrics.some((metric) => /^(gpu|neuron|efa)\./.test(metric));
  const nodes = new Set(running.flatMap(({ view }) => view.node ?? []));
  if (!wantsDevices || nodes.size === 0) return [];
  const found = (await exporterPods(reader)).filter(
    ({ view }) => view.node !== undefined && nodes.has(view.node) && view.phase === 'Running',
  );
  const pages = await mapLimited(found, atOnce, async ({ view }): Promise<NodeScrape | undefined> => {
    const key = `exporter ${view.uid}`;
    const history = state.histories.get(key);
    if (history === undefined || world.clock.now() - history.current.at >= freshMs) {
      const isNeuron = view.containers.some(({ name, image }) => /neuron/.test(`${name} ${image}`));
      const declared = view.containers.flatMap(({ ports }) => ports.map(({ port }) => port));
      const standard = isNeuron ? exporters.neuronPort : exporters.gpuPort;
      const port = declared.includes(standard) ? standard : (declared[0] ?? standard);
      const answer = await page(reader, view.pod, { port, path: '/metrics' }, (name) =>
        /^(DCGM_|neuron|execution_|hardware_)/.test(name),
      );
      if (answer instanceof SourceError) {
        reader.failures.push({
          kind: '/metrics',
          pod: `${view.pod.namespace}/${view.pod.name}`,
          error: answer,
        });
        return undefined;
      }
      remember(state, key, answer.scrape, [], world.clock.now());
    }
    const { current, previous } = state.histories.get(key) ?? {};
    if (current === undefined) return undefined;
    return { node: view.node ?? '', current, ...(previous === undefined ? {} : { previous }) };
  });
  return pages.flatMap((scrape) => (scrape === undefined ? [] : deviceMeasurements(scrape)));
}

async function exporterPods(reader: Reader): Promise<readonly KeptPod[]> {
  const { world, client, failures, signal } = reader;
  const ask = async (scope: Scope, inner: AbortSignal): Promise<readonly KeptPod[]> => {
    const pods: KeptPod[] = [];
    let next: string | undefined;
    do {
      const answer = await client.list(kinds.pods, scope, { limit: 500, next }, inner);
      pods.push(...answer.items.map(keptPod));
      next = answer.next;
    } while (next !== undefined);
    return pods;
  };
  const all = async (scope: Scope, inner: AbortSignal): Promise<readonly KeptPod[]> => {
    const lists = await mapLimited(exporters.selectors, 2, (labelSelector) =>
      ask({ ...scope, labelSelector }, inner),
    );
    return [...new Map(lists.flat().map((pod) => [pod.view.uid, pod])).values()];
  };
  try {
    const { value } = await world.cached('exporters', exportersMs, async (inner) => {
      try {
        return { pods: await all({}, inner), denied: undefined };
      } catch (error) {
        if (!(error instanceof SourceError) || error.kind !== 'denied') throw error;
        const lists = await mapLimited(exporters.namespaces, 2, (namespace) =>
          all({ namespace }, inner).catch(() => []),
        );
        return { pods: lists.flat(), denied: error };
      }
    });
    if (signal.aborted) throw reasonOf(signal);
    if (value.denied !== undefined && value.pods.length === 0)
      failures.push({ kind: 'find exporters', pod: 'the nodes', error: value.denied });
    return value.pods;
  } catch (error) {
    if (signal.aborted) throw reasonOf(signal);
    failures.push({
      kind: 'find exporters',
      pod: 'the nodes',
      error: asSourceError(error, `list ${pathOf(kinds.pods, {})}`, client.redactor.redact),
    });
    return [];
  }
}
