import type { Resource } from '../../kube/resource';
import type { ObjectRef } from '../../live/cluster';
import type { LiveSnapshot } from '../../live/snapshot';
import { metricIds } from '../../live/vocabulary';
import type { Want } from '../../live/want';
import { buildPanelModel } from '../../panel/build';
import type { PanelModel } from '../../panel/model';
import { wantOf } from '../../panel/want';
import { cloudWatchSource } from '../../sources/cloudwatch';
import { connectCluster, type Cluster } from '../../sources/cluster';
import { createCollector, type Collector } from '../../sources/collect';
import { demoSource } from '../../sources/demo';
import { SourceError } from '../../sources/failure';
import { prometheusSource } from '../../sources/prometheus';
import { serviceIn, type PrometheusPlace } from '../../sources/prometheus-client';
import { createRedactor } from '../../sources/redact';
import { systemClock } from '../../sources/runtime';
import type { Source } from '../../sources/source';
import { Workspace } from '../../workspace/workspace';
import { parseFile } from '../../yaml/parse';
import { UsageError, type StatusCommand } from '../arguments';
import { askSources } from '../ask-cluster';
import { printable } from '../formats/text';
import { statusJson, statusLine, statusText, healthOf, type Health } from '../formats/status';
import type { Host } from '../host';

/** How often it is read, in milliseconds, where nobody says. */
const refreshMs = 15_000;
/** Rates and percentiles of the engines need two readings; the second comes after this. */
const secondReadingMs = 5_000;

/** What is asked, wherever the answers are from. */
interface Session {
  readonly collector: Collector;
  /** Without a name: all of the namespace. */
  targets(signal: AbortSignal): Promise<readonly ObjectRef[]>;
  object(ref: ObjectRef, signal: AbortSignal): Promise<unknown>;
  readonly namespace: string;
  dispose(): Promise<void>;
}

/** `plimsoll status`: exit code 0 healthy, 1 not, 2 where it cannot be told. */
export async function statusCommand(command: StatusCommand, host: Host): Promise<number> {
  const now = (): number => host.now?.() ?? systemClock.now();
  return askSources(host, async (signal) => {
    const session = command.demo ? demoSession(command, now) : await clusterSession(command, host, now);
    try {
      return await report(command, host, session, now, signal);
    } finally {
      await session.dispose();
    }
  });
}

function demoSession(command: StatusCommand, now: () => number): Session {
  const clock = { now, wait: systemClock.wait };
  const namespace = command.namespace ?? 'inference';
  const object: ObjectRef = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace,
    name: command.object?.name ?? 'vllm',
  };
  const collector = createCollector({ sources: [demoSource(now())], refresh: refreshMs, clock });
  return {
    collector,
    namespace,
    targets: () => Promise.resolve([object]),
    object: () => Promise.resolve(undefined),
    dispose: () => collector.dispose(),
  };
}

async function clusterSession(command: StatusCommand, host: Host, now: () => number): Promise<Session> {
  const clock = { now, wait: systemClock.wait };
  const redactor = createRedactor();
  const cluster = connectCluster({
    ...(command.kubeconfig === undefined ? {} : { kubeconfig: command.kubeconfig }),
    ...(command.context === undefined ? {} : { context: command.context }),
    env: host.env,
    clock,
    redactor,
  });
  try {
    const { context } = await cluster.world.client();
    const access = {
      region:
        command.region ?? context.eks?.region ?? host.env['AWS_REGION'] ?? host.env['AWS_DEFAULT_REGION'],
      profile: command.profile ?? context.eks?.profile,
    };
    const sources: Source[] = [cluster.kubernetes, cluster.engineMetrics];
    const place = prometheusPlace(command, host, cluster, access);
    if (place !== undefined)
      sources.push(
        prometheusSource({ place, clock, redactor, hint: (want, inner) => cluster.hint(want, inner) }),
      );
    if (command.cloudwatch) {
      sources.push(
        cloudWatchSource({
          access: { ...access, region: regionOf(access.region) },
          clock,
          redactor,
          hint: async (want, inner) => {
            const { workload, nodeOfPod, eks } = await cluster.hint(want, inner);
            return { workload, nodes: nodeOfPod, cluster: eks?.name };
          },
        }),
      );
    }
    const namespace = command.namespace ?? context.namespace;
    const collector = createCollector({
      sources,
      refresh: (command.watch ?? refreshMs / 1000) * 1000,
      clock,
      remedies: { prometheus: 'Add --prometheus or --amp', cloudwatch: 'Add --cloudwatch' },
    });
    return {
      collector,
      namespace,
      targets: async (inner) => {
        if (command.object === undefined) return cluster.workloads(namespace, inner);
        const { kind, name } = command.object;
        const found = await cluster.find(namespace, kind, name, inner);
        if (found === undefined)
          throw new SourceError(
            'not-found',
            `there is no ${kind ?? 'workload'} ${name} in namespace ${namespace} of context ${context.name}`,
          );
        return [found];
      },
      object: (ref, inner) => cluster.object(ref, inner),
      dispose: async () => {
        await collector.dispose();
        await cluster.dispose();
      },
    };
  } catch (error) {
    await cluster.dispose();
    throw error;
  }
}

function regionOf(region: string | undefined): string {
  if (region === undefined)
    throw new UsageError('the region of AWS is not known: the kubeconfig does not say it; add --region');
  return region;
}

function prometheusPlace(
  { prometheus, amp }: StatusCommand,
  { env }: Host,
  { world }: Cluster,
  { region, profile }: { readonly region: string | undefined; readonly profile: string | undefined },
): PrometheusPlace | undefined {
  if (amp !== undefined)
    return { kind: 'amp', workspace: amp, access: { region: regionOf(region), profile } };
  if (prometheus === undefined) return undefined;
  const service = serviceIn(prometheus);
  if (service !== undefined) return { kind: 'service', world, ...service };
  if (!/^https?:\/\//.test(prometheus))
    throw new UsageError(`--prometheus takes a URL, or namespace/service:port; got "${prometheus}"`);
  const token = env['PLIMSOLL_PROMETHEUS_TOKEN'];
  return {
    kind: 'url',
    url: prometheus,
    ...(token === undefined || token === ''
      ? {}
      : { authorization: () => Promise.resolve(`Bearer ${token}`) }),
  };
}

// --- Reading and telling

interface Told {
  readonly model: PanelModel;
  readonly snapshot: LiveSnapshot;
}

async function report(
  command: StatusCommand,
  host: Host,
  session: Session,
  now: () => number,
  signal: AbortSignal,
): Promise<number> {
  const targets = await session.targets(signal);
  if (targets.length === 0) {
    host.stderr.write(
      `plimsoll: no workload of namespace ${printable(session.namespace)} asks for an accelerator; name one, or another namespace with -n\n`,
    );
    return 2;
  }
  let last = '';
  for (;;) {
    const all = await readAll(command, session, targets, now, signal);
    const health = worstOf(all.map(({ model }) => healthOf(model)));
    const text = command.format === 'json' ? jsonOf(command, all, health) : textOf(all);
    // While it goes on, what is as it was is not said again.
    const shape = text.replace(/\d+(\.\d+)?/g, '#');
    if (
      command.watch === undefined ||
      command.format === 'json' ||
      shape !== last ||
      host.stdout.isTerminal
    ) {
      const stamp =
        command.watch !== undefined && command.format === 'text'
          ? `${new Date(now()).toISOString().slice(11, 19)} UTC\n`
          : '';
      host.stdout.write(`${stamp}${text}`);
    }
    last = shape;
    if (command.watch === undefined) return exitCodes[health];
    try {
      await systemClock.wait(command.watch * 1000, signal);
    } catch {
      // Interrupted: how it was last is the answer.
      return exitCodes[health];
    }
  }
}

const exitCodes: Readonly<Record<Health, number>> = { healthy: 0, unhealthy: 1, unknown: 2 };

function worstOf(all: readonly Health[]): Health {
  if (all.includes('unhealthy')) return 'unhealthy';
  return all.includes('unknown') ? 'unknown' : 'healthy';
}

/** What is asked about one target, and for the panel what stands in the place of its file. */
interface Question {
  readonly want: () => Want;
  readonly workspace: Workspace;
  readonly resource: Resource | undefined;
}

async function questionAbout(
  command: StatusCommand,
  session: Session,
  target: ObjectRef,
  now: () => number,
  signal: AbortSignal,
): Promise<Question> {
  // The object itself is what the panel's file would be: it says which engine runs, and what was asked for.
  const object = await session.object(target, signal).catch((error: unknown) => {
    if (error instanceof SourceError && !signal.aborted) return undefined;
    throw error;
  });
  const uri = 'cluster:///object.yaml';
  const workspace =
    object === undefined ? Workspace.empty : Workspace.empty.with(parseFile(uri, JSON.stringify(object)));
  const [first] = object === undefined ? [] : workspace.resourcesOf(uri);
  const resource = first?.name === undefined ? undefined : first;
  return {
    workspace,
    resource,
    want: () => {
      const options = {
        range: command.range,
        now: now(),
        namespace: session.namespace,
        allocationLabels: [],
        history: true,
      };
      return resource === undefined
        ? { object: target, engine: 'unknown', metrics: metricIds, ...options }
        : wantOf(workspace, resource, options);
    },
  };
}

/** Reads all targets; those whose rates need a second reading are read again, after one pause for all of them. */
async function readAll(
  command: StatusCommand,
  session: Session,
  targets: readonly ObjectRef[],
  now: () => number,
  signal: AbortSignal,
): Promise<readonly Told[]> {
  const questions: Question[] = [];
  const snapshots: LiveSnapshot[] = [];
  for (const target of targets) {
    const question = await questionAbout(command, session, target, now, signal);
    questions.push(question);
    snapshots.push(await session.collector.read(question.want(), signal));
  }
  const needsSecond = ({ measurements }: LiveSnapshot): boolean =>
    measurements.some(({ observed }) => observed.kind === 'absent' && observed.why === 'too-few-points');
  if (snapshots.some(needsSecond)) {
    await systemClock.wait(secondReadingMs, signal);
    for (const [index, { want }] of questions.entries()) {
      const first = snapshots[index];
      if (first !== undefined && needsSecond(first))
        snapshots[index] = await session.collector.read(want(), signal);
    }
  }
  return questions.flatMap(({ workspace, resource }, index): readonly Told[] => {
    const snapshot = snapshots[index];
    if (snapshot === undefined) return [];
    const options = resource === undefined ? {} : { resource };
    return [{ model: buildPanelModel(workspace, [], snapshot, snapshot.at, options), snapshot }];
  });
}

function textOf(all: readonly Told[]): string {
  const [only] = all;
  const text =
    all.length === 1 && only !== undefined
      ? statusText(only.model)
      : all.map(({ model }) => statusLine(model)).join('');
  return text;
}

function jsonOf(command: StatusCommand, all: readonly Told[], health: Health): string {
  const value = { health, workloads: all.map(({ model, snapshot }) => statusJson(model, snapshot)) };
  // One line for each reading while it goes on, as log processors want it.
  return `${command.watch === undefined ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`;
}
