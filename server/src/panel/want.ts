import { autoscalerOf } from '../kube/autoscalers';
import type { Engine } from '../kube/engines';
import { modelServers, servingPort } from '../kube/model-server';
import { isPodCarrier, podTemplates } from '../kube/pod-carriers';
import type { Resource } from '../kube/resource';
import type { ObjectRef } from '../live/cluster';
import type { Instant } from '../live/reading';
import { metricIds } from '../live/vocabulary';
import type { EngineName, LogsQueryId, RangeName, Want } from '../live/want';
import type { Workspace } from '../workspace/workspace';
import { workloadOf } from './places';

/** What a manifest leads to: the object that the panel is about, and what is asked about it. */

/** Kinds without pods of their own that the panel follows too. */
const poolKinds: ReadonlySet<string> = new Set(['NodePool']);

/** Whether the panel has something to say about an object. One whose name a template makes cannot be asked about. */
export function isFollowed(resource: Resource): boolean {
  if (resource.name === undefined || resource.role === 'kustomize-patch') return false;
  return isPodCarrier(resource) || autoscalerOf(resource) !== undefined || poolKinds.has(resource.kind);
}

/**
 * The object at a place of a file; beside one that the panel does not follow, such as a Service, the first of the file
 * that it does. Nothing in a file without any.
 */
export function followedAt(workspace: Workspace, uri: string, offset: number): Resource | undefined {
  const all = workspace.resourcesOf(uri);
  const at = all.find((resource) => {
    const { offset: start, document } = workspace.placeOf(resource);
    const { root } = resource;
    const isAlone = root === document.root;
    const from = isAlone ? start : start + root.start;
    const to = isAlone ? start + document.text.length : start + root.end;
    return offset >= from && offset <= to && isFollowed(resource);
  });
  return at ?? all.find(isFollowed);
}

export interface WantOptions {
  readonly range: RangeName;
  readonly now: Instant;
  /** Of objects whose manifest names none: the context's. */
  readonly namespace: string;
  readonly allocationLabels: readonly string[];
  readonly history: boolean;
  readonly logsQuery?: LogsQueryId;
}

/** What is asked of the sources about an object of the files. */
export function wantOf(workspace: Workspace, resource: Resource, options: WantOptions): Want {
  const { range, now, namespace, allocationLabels, history, logsQuery } = options;
  const workload = workloadOf(workspace, resource);
  const server = workload === undefined ? undefined : podTemplates(workload).flatMap(modelServers)[0];
  const port = server === undefined ? undefined : (server.metricsPort ?? servingPort(server));
  return {
    object: refOf(resource, namespace),
    ...(workload === undefined || workload === resource ? {} : { workload: refOf(workload, namespace) }),
    engine: server === undefined ? 'unknown' : (engineNames[server.engine] ?? 'unknown'),
    ...(port === undefined ? {} : { metricsPort: port }),
    ...(server?.metricsPath === undefined ? {} : { metricsPath: server.metricsPath }),
    range,
    now,
    metrics: metricIds,
    allocationLabels,
    history,
    ...(logsQuery === undefined ? {} : { logsQuery }),
  };
}

function refOf({ apiVersion, kind, name, namespace }: Resource, fallback: string): ObjectRef {
  return {
    apiVersion,
    kind,
    namespace: poolKinds.has(kind) ? '' : (namespace ?? fallback),
    name: name ?? '',
  };
}

/** Engines whose metrics are known; the others are tried with all of them. */
const engineNames: Readonly<Partial<Record<Engine, EngineName>>> = {
  vllm: 'vllm',
  sglang: 'sglang',
  tgi: 'tgi',
  triton: 'triton',
  'tensorrt-llm': 'tensorrt-llm',
  nim: 'nim',
  'ray-serve-llm': 'ray-serve',
  'llama.cpp': 'llama-cpp',
  ollama: 'ollama',
};
