import type { ObjectRef } from '../live/cluster';
import type { Want } from '../live/want';
import { engineMetricsSource } from './engine-metrics';
import { openKube, pathOf, type KubeOptions } from './kube-client';
import { createKubeWorld, type KubeWorld } from './kube-world';
import type { EksCluster } from './kubeconfig';
import { acceleratedWorkloads, findObject } from './find-workloads';
import { kubernetesSource, liveObject, workloadPods } from './kubernetes';
import { pods } from './kube-kinds';
import { systemClock, type Random } from './runtime';
import type { Source } from './source';

export interface ClusterOptions extends KubeOptions {
  readonly random?: Random;
}

export interface PodLogOptions {
  readonly container?: string | undefined;
  /** The run before the last restart. */
  readonly previous: boolean;
  /** Newest lines. */
  readonly lines: number;
}

/** What the cluster knows that makes the questions to Prometheus and CloudWatch exact; any of it may be missing. */
export interface ClusterHint {
  /** What a scaler scales. */
  readonly workload?: ObjectRef | undefined;
  /** Name of the HorizontalPodAutoscaler. */
  readonly hpa?: string | undefined;
  /** Nodes of the workload's pods. */
  readonly nodes: readonly string[];
  /** Nodes by the names of the pods. */
  readonly nodeOfPod: ReadonlyMap<string, string>;
  readonly eks: EksCluster | undefined;
}

/** What can be asked of one cluster. */
export interface Cluster {
  readonly kubernetes: Source;
  readonly engineMetrics: Source;
  /** For sources that are reached through the cluster, such as a Prometheus in it. */
  readonly world: KubeWorld;
  hint(want: Want, signal: AbortSignal): Promise<ClusterHint>;
  /** Workloads of a namespace whose pods ask for an accelerator. */
  workloads(namespace: string, signal: AbortSignal): Promise<readonly ObjectRef[]>;
  /** The object of this name, of the kind if one is given, else of the first kind that has it; as kubectl calls kinds. */
  find(
    namespace: string,
    kind: string | undefined,
    name: string,
    signal: AbortSignal,
  ): Promise<ObjectRef | undefined>;
  /** The namespace of the context. */
  namespace(): Promise<string>;
  /** An object as the cluster has it, without managedFields and values of environment variables. */
  object(ref: ObjectRef, signal: AbortSignal): Promise<unknown>;
  /** A log, with secrets removed. */
  log(
    pod: { readonly namespace: string; readonly name: string },
    options: PodLogOptions,
    signal: AbortSignal,
  ): Promise<string>;
  dispose(): Promise<void>;
}

/** Prepares a cluster's sources. Reads no file, runs no program and opens no connection before the first question. */
export function connectCluster(options: ClusterOptions): Cluster {
  const clock = options.clock ?? systemClock;
  const world = createKubeWorld({
    open: () => openKube({ ...options, clock }),
    clock,
    random: options.random ?? Math.random,
  });
  const kubernetes = kubernetesSource(world);
  const engineMetrics = engineMetricsSource(world);
  return {
    kubernetes,
    engineMetrics,
    world,
    hint: async (want, signal) => {
      const { client, pods: found, workload, hpa } = await workloadPods(world, want, signal);
      const placed =
        found.kind === 'absent'
          ? []
          : found.value.flatMap(({ view: { pod, node } }) =>
              node === undefined ? [] : [[pod.name, node] as const],
            );
      return {
        workload,
        hpa,
        nodes: [...new Set(placed.map(([, node]) => node))],
        nodeOfPod: new Map(placed),
        eks: client.context.eks,
      };
    },
    workloads: async (namespace, signal) => acceleratedWorkloads(await world.client(), namespace, signal),
    find: async (namespace, kind, name, signal) =>
      findObject(await world.client(), namespace, kind, name, signal),
    namespace: async () => (await world.client()).context.namespace,
    object: (ref, signal) => liveObject(world, ref, signal),
    log: async ({ namespace, name }, { container, previous, lines }, signal) => {
      const client = await world.client();
      const query = new URLSearchParams({
        previous: String(previous),
        tailLines: String(lines),
        timestamps: 'true',
      });
      if (container !== undefined) query.set('container', container);
      const text = await client.text(
        `${pathOf(pods, { namespace, name })}/log?${query.toString()}`,
        { apiGroup: '', resource: 'pods/log', verb: 'get', namespace },
        signal,
      );
      return client.redactor.redact(text);
    },
    dispose: async () => {
      await engineMetrics.dispose();
      await kubernetes.dispose();
    },
  };
}
