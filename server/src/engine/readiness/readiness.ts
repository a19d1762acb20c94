import type { Resource } from '../../kube/resource';
import { titleOf } from '../../rules/naming';
import type { Workspace } from '../../workspace/workspace';
import { getIn, type Span } from '../../yaml/node';
import type { Config } from '../config';
import { ruleMeta } from '../registry';
import { resourceRef } from '../run';
import { consolidationAndExpiry, gpuPlacement, instanceTypes, spotAndOnDemand } from './nodes';
import {
  gracePeriod,
  memoryHeadroom,
  memoryRequest,
  probesConfigured,
  probesDecoupled,
  requestsAndLimits,
} from './pod';
import {
  alarmAtMaximum,
  alarmNodeLaunch,
  alarmScaling,
  disruptionBudget,
  topologySpread,
} from './resilience';
import { customMetrics, scaleDownWindow, scalingBounds, scalingTarget } from './scaling';
import { isSubject, subjectOf, type Answer, type Subject, type Where } from './subject';
import type {
  ReadinessGroup,
  ReadinessItemId,
  ReadinessPlace,
  ReadinessResult,
  ReadinessState,
  WorkloadReadiness,
} from './types';

/** One item of the checklist: what holds when it passes, and how that is found out. */
interface ReadinessItem {
  readonly id: ReadinessItemId;
  readonly group: ReadinessGroup;
  readonly title: string;
  readonly judge: (subject: Subject) => Answer;
}

/** The checklist for autoscaling on EKS, in its order. */
export const readinessItems: readonly ReadinessItem[] = [
  {
    id: 'requests-and-limits',
    group: 'pod',
    title: 'Explicit requests and limits for CPU and memory',
    judge: requestsAndLimits,
  },
  {
    id: 'memory-request-above-model',
    group: 'pod',
    title: "Memory request above the model's static footprint",
    judge: memoryRequest,
  },
  { id: 'memory-limit-headroom', group: 'pod', title: 'Memory limit with headroom', judge: memoryHeadroom },
  {
    id: 'termination-grace-period',
    group: 'pod',
    title: 'Time to stop that running requests need',
    judge: gracePeriod,
  },
  {
    id: 'probes-configured',
    group: 'pod',
    title: 'Readiness and liveness probes that wait for the model',
    judge: probesConfigured,
  },
  {
    id: 'probes-decoupled',
    group: 'pod',
    title: 'Liveness slower to give up than readiness',
    judge: probesDecoupled,
  },
  { id: 'scaling-bounds', group: 'scaling', title: 'Minimum and maximum replicas', judge: scalingBounds },
  {
    id: 'scaling-target',
    group: 'scaling',
    title: 'Utilisation target of 50 to 70 %',
    judge: scalingTarget,
  },
  {
    id: 'scale-down-window',
    group: 'scaling',
    title: 'Scale-down window of 300 s or more',
    judge: scaleDownWindow,
  },
  {
    id: 'custom-metrics',
    group: 'scaling',
    title: 'Scales on metrics of the model server',
    judge: customMetrics,
  },
  { id: 'instance-types', group: 'nodes', title: 'Several instance types', judge: instanceTypes },
  { id: 'spot-and-on-demand', group: 'nodes', title: 'Spot and on-demand nodes', judge: spotAndOnDemand },
  { id: 'gpu-placement', group: 'nodes', title: 'GPU tolerations and selectors', judge: gpuPlacement },
  {
    id: 'consolidation-and-expiry',
    group: 'nodes',
    title: 'Consolidation and expiry that spare busy nodes',
    judge: consolidationAndExpiry,
  },
  { id: 'topology-spread', group: 'resilience', title: 'Spread over zones', judge: topologySpread },
  { id: 'disruption-budget', group: 'resilience', title: 'PodDisruptionBudget', judge: disruptionBudget },
  {
    id: 'alarm-scaling',
    group: 'resilience',
    title: 'Alarm for an autoscaler that cannot scale',
    judge: alarmScaling,
  },
  {
    id: 'alarm-node-launch',
    group: 'resilience',
    title: 'Alarm for nodes that are not launched',
    judge: alarmNodeLaunch,
  },
  {
    id: 'alarm-at-maximum',
    group: 'resilience',
    title: 'Alarm for an autoscaler at its maximum',
    judge: alarmAtMaximum,
  },
];

export interface ReadinessOptions {
  /** The files whose workloads are judged; absent: all. */
  readonly uris?: readonly string[];
  /** Judges what it accepts, whatever its kind, instead of what answers requests or is scaled. */
  readonly only?: (resource: Resource) => boolean;
}

/** The checklist for each workload, in the order of files and of their text. */
export function readiness(
  workspace: Workspace,
  configFor: (uri: string) => Config,
  options: ReadinessOptions = {},
): readonly WorkloadReadiness[] {
  const uris = options.uris ?? [...workspace.files.keys()].sort();
  return uris.flatMap((uri) =>
    workspace
      .resourcesOf(uri)
      .filter((resource) => options.only?.(resource) ?? isSubject(workspace, resource))
      .map((resource) => readinessOf(workspace, configFor, resource)),
  );
}

/** The checklist for one workload. */
export function readinessOf(
  workspace: Workspace,
  configFor: (uri: string) => Config,
  resource: Resource,
): WorkloadReadiness {
  const subject = subjectOf(workspace, resource, configFor);
  const items = readinessItems.map(({ judge, ...item }): ReadinessResult => {
    const { state, fact, place, rule } = judge(subject);
    return {
      ...item,
      state,
      fact,
      place: place === undefined ? undefined : placeIn(workspace, place),
      rule: rule !== undefined && ruleMeta(rule) !== undefined ? rule : undefined,
    };
  });
  const counts: Record<ReadinessState, number> = { pass: 0, fail: 0, 'not-applicable': 0, unknown: 0 };
  for (const { state } of items) counts[state]++;
  return {
    resource: resourceRef(resource),
    title: titleOf(resource),
    place: placeIn(workspace, { resource, at: getIn(resource.root, 'metadata', 'name') ?? resource.root }),
    items,
    counts,
  };
}

function placeIn(workspace: Workspace, { resource, at }: Where): ReadinessPlace {
  const { offset } = workspace.placeOf(resource);
  const { start, end }: Span = 'key' in at ? at.key : at;
  return { uri: resource.uri, at: { start: start + offset, end: end + offset } };
}
