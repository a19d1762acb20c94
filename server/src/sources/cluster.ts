import type { ObjectRef } from '../live/cluster';
import { engineMetricsSource } from './engine-metrics';
import { openKube, type KubeOptions } from './kube-client';
import { createKubeWorld, type KubeWorld } from './kube-world';
import { kubernetesSource, liveObject } from './kubernetes';
import { pods } from './kube-kinds';
import { pathOf } from './kube-client';
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

/** What can be asked of one cluster. */
export interface Cluster {
  readonly kubernetes: Source;
  readonly engineMetrics: Source;
  /** For sources that are reached through the cluster, such as a Prometheus in it. */
  readonly world: KubeWorld;
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
