import type { LiveSnapshot } from '../live/snapshot';
import type { MetricId } from '../live/vocabulary';
import type { Want } from '../live/want';
import type { PanelContexts } from '../protocol/panel';
import type { LiveSourceSettings } from '../protocol/settings';
import { cloudWatchSource, type CloudWatchHint } from '../sources/cloudwatch';
import type { ApplicationMetric } from '../sources/cloudwatch-queries';
import { connectCluster, type Cluster } from '../sources/cluster';
import { createCollector } from '../sources/collect';
import { demoSource } from '../sources/demo';
import { SourceError, withRemedy } from '../sources/failure';
import { readContexts, type EksCluster } from '../sources/kubeconfig';
import type { PrometheusPlace } from '../sources/prometheus-client';
import { prometheusSource } from '../sources/prometheus';
import { createRedactor } from '../sources/redact';
import { systemClock } from '../sources/runtime';
import type { Source } from '../sources/source';
import type { LiveReader, LiveSources, LiveTarget } from './live-reader';

type Environment = Readonly<Record<string, string | undefined>>;

/** The real sources, as a process with this environment reaches them. */
export function nodeLiveSources(env: Environment): LiveSources {
  return {
    now: () => systemClock.now(),
    contexts: () => contextsIn(env),
    connect: (target, refreshMs) =>
      target.kind === 'demo' ? connectDemo(refreshMs) : connectTo(target, refreshMs, env),
  };
}

async function contextsIn(env: Environment): Promise<PanelContexts> {
  const files = env['KUBECONFIG'] === undefined ? ['~/.kube/config'] : [env['KUBECONFIG']];
  try {
    const contexts = await readContexts({ env });
    const current = contexts.find(({ isCurrent }) => isCurrent)?.name;
    return {
      files,
      ...(current === undefined ? {} : { current }),
      contexts: contexts.map(({ name, cluster, server, namespace, user, plugin, eks }) => ({
        name,
        cluster: eks?.name ?? cluster,
        server,
        namespace,
        ...(user === undefined ? {} : { user }),
        ...(eks?.account === undefined ? {} : { account: eks.account }),
        ...(eks?.region === undefined ? {} : { region: eks.region }),
        ...(plugin === undefined ? {} : { runs: plugin }),
      })),
    };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { files, contexts: [], problem: withRemedy(error) };
  }
}

function connectTo(
  { context, sources, prometheusToken }: Extract<LiveTarget, { readonly kind: 'cluster' }>,
  refreshMs: number,
  env: Environment,
): LiveReader {
  const redactor = createRedactor();
  redactor.add(prometheusToken);
  const cluster = connectCluster({ context, env, redactor });
  // Which region and account a cluster is in is said by the kubeconfig; it is read with the first question.
  let opened: Promise<ReturnType<typeof createCollector>> | undefined;
  const collector = (): Promise<ReturnType<typeof createCollector>> => {
    opened ??= open();
    return opened;
  };
  const contextOf = async () => {
    const all = await readContexts({ env });
    return all.find(({ name }) => name === context);
  };
  const open = async (): Promise<ReturnType<typeof createCollector>> => {
    const found = await contextOf().catch(() => undefined);
    const eks = found?.eks;
    const beside = besideCluster(sources, cluster, eks, prometheusToken, redactor);
    return createCollector({
      sources: [cluster.kubernetes, cluster.engineMetrics, ...beside],
      refresh: refreshMs,
      remedies: {
        prometheus: 'Set plimsoll.live.prometheus.url, .service or .ampWorkspace',
        cloudwatch: 'Set plimsoll.live.cloudwatch.enable',
      },
    });
  };
  return {
    namespace: async () => {
      const found = await contextOf().catch(() => undefined);
      return found?.namespace ?? 'default';
    },
    read: async (want, signal, progress) => (await collector()).read(want, signal, progress),
    watch: (want, changed, signal) =>
      void collector().then(
        (each) => {
          if (!signal.aborted) each.watch(want, changed, signal);
        },
        // The read says what is wrong.
        () => undefined,
      ),
    namespaces: async (signal) => {
      const client = await cluster.world.client();
      const list = await client.list(
        { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
        {},
        { limit: 500 },
        signal,
      );
      return list.items.map(({ metadata }) => metadata.name);
    },
    log: (pod, container, previous, signal) =>
      cluster.log(pod, { container, previous, lines: logLines }, signal),
    object: (ref, signal) => cluster.object(ref, signal),
    dispose: async () => {
      const made = await opened?.catch(() => undefined);
      await made?.dispose();
      await cluster.dispose();
    },
  };
}

/** So often, in milliseconds, the demo is looked at: its story goes on while one reads. */
const demoRefreshMs = 5000;

/** A cluster that is not there. It asks nobody, and shows itself as the workload of the open manifest. */
function connectDemo(refreshMs: number): LiveReader {
  const collector = createCollector({
    sources: [demoSource(systemClock.now())],
    refresh: Math.min(refreshMs, demoRefreshMs),
  });
  let last: LiveSnapshot | undefined;
  return {
    fallback: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'inference', name: 'vllm' },
    namespace: () => Promise.resolve('inference'),
    read: async (want, signal, progress) => (last = await collector.read(want, signal, progress)),
    watch: (want, changed, signal) => collector.watch(want, changed, signal),
    namespaces: () => Promise.resolve(['inference']),
    log: async (pod, container, previous) => {
      const logs = last?.cluster.logs;
      const found = (logs?.kind === 'known' ? logs.value : []).find(
        (each) =>
          each.pod.name === pod.name &&
          each.previous === previous &&
          (container === undefined || each.container === container),
      );
      if (found === undefined) throw new SourceError('not-found', 'the demo has no log of this pod');
      return `${found.lines.join('\n')}\n`;
    },
    object: async (ref) => {
      const workload = last?.cluster.workload;
      if (workload?.kind !== 'known' || workload.value.ref.name !== ref.name)
        throw new SourceError('not-found', `the demo does not hold ${ref.kind} ${ref.name}`);
      return workload.value.object;
    },
    dispose: () => collector.dispose(),
  };
}

/** Lines of a log that is opened in the editor. */
const logLines = 5000;

/** Prometheus and CloudWatch, as far as they are set up. */
function besideCluster(
  { prometheus, cloudwatch, aws }: LiveSourceSettings,
  cluster: Cluster,
  eks: EksCluster | undefined,
  token: string | undefined,
  redactor: ReturnType<typeof createRedactor>,
): readonly Source[] {
  const region = aws.region === '' ? eks?.region : aws.region;
  const profile = aws.profile === '' ? eks?.profile : aws.profile;
  const access = region === undefined ? undefined : { region, ...(profile === undefined ? {} : { profile }) };
  const place = prometheusPlace(prometheus, cluster, access, token);
  const hint = (want: Want, signal: AbortSignal): Promise<CloudWatchHint> => hintOf(cluster, want, signal);
  return [
    ...(place === undefined
      ? []
      : [
          prometheusSource({
            place,
            redactor,
            hint: (want, signal) => cluster.hint(want, signal),
          }),
        ]),
    ...(cloudwatch.enable && access !== undefined
      ? [
          cloudWatchSource({
            access,
            cluster: eks?.name,
            redactor,
            hint,
            logGroups: cloudwatch.logGroups.length === 0 ? undefined : cloudwatch.logGroups,
            application:
              cloudwatch.namespace === ''
                ? undefined
                : {
                    namespace: cloudwatch.namespace,
                    dimensions: cloudwatch.dimensions,
                    metrics: cloudwatch.metrics as Readonly<Partial<Record<MetricId, ApplicationMetric>>>,
                  },
          }),
        ]
      : []),
  ];
}

function prometheusPlace(
  { url, service, ampWorkspace, tenant }: LiveSourceSettings['prometheus'],
  cluster: Cluster,
  access: { readonly region: string; readonly profile?: string } | undefined,
  token: string | undefined,
): PrometheusPlace | undefined {
  if (url !== '') {
    return {
      kind: 'url',
      url,
      ...(token === undefined ? {} : { authorization: () => Promise.resolve(`Bearer ${token}`) }),
      ...(tenant === '' ? {} : { tenant }),
    };
  }
  const named = /^([a-z0-9-]+)\/([a-z0-9-]+):([a-z0-9-]+)$/.exec(service);
  if (named !== null) {
    const [, namespace = '', name = '', port = ''] = named;
    return { kind: 'service', world: cluster.world, namespace, service: name, port };
  }
  if (ampWorkspace !== '' && access !== undefined) return { kind: 'amp', workspace: ampWorkspace, access };
  return undefined;
}

/** What is scaled, and where its pods run, as the cluster knows; what cannot be known makes queries less exact. */
async function hintOf(cluster: Cluster, want: Want, signal: AbortSignal): Promise<CloudWatchHint> {
  const { workload, nodeOfPod } = await cluster.hint(want, signal);
  return { workload, nodes: nodeOfPod };
}
