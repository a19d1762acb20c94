import type {
  ContainerView,
  EventView,
  HpaView,
  NodeView,
  PodView,
  WorkloadView,
} from '../../server/src/live/cluster';
import type { Measurement, Series, Subject } from '../../server/src/live/measurement';
import { absent } from '../../server/src/live/reading';
import type { Observed, Part } from '../../server/src/live/reading';
import { emptyCluster } from '../../server/src/live/readings';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import { unitOf } from '../../server/src/live/vocabulary';
import type { MetricId } from '../../server/src/live/vocabulary';

/** Snapshots for tests: each test says what it is about, and everything else is not known. */

/** 2026-12-01T00:00:00Z. */
export const now = Date.UTC(2026, 11, 1);
export const minute = 60_000;
export const namespace = 'llm';

export const nobody = absent('not-configured', 'no source is set up');

export function known<T>(value: T): Part<T> {
  return { kind: 'known', value, at: now - 1000 };
}

export function snapshot(parts: Partial<LiveSnapshot> = {}): LiveSnapshot {
  return {
    want: {
      object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'vllm' },
      engine: 'vllm',
      range: '1h',
      now,
      metrics: [],
      allocationLabels: [],
      history: true,
    },
    at: now,
    context: { name: 'test', namespace, demo: false },
    sources: [],
    cluster: emptyCluster(nobody),
    measurements: [],
    series: [],
    alarms: nobody,
    logsQueries: [],
    exportedNames: nobody,
    refresh: 15_000,
    ...parts,
  };
}

export function reading(
  metric: MetricId,
  value: number,
  more: Partial<Extract<Observed, { kind: 'reading' }>> = {},
): Observed {
  return {
    kind: 'reading',
    value,
    unit: unitOf(metric),
    at: now - 1000,
    window: 0,
    source: { source: 'engine-metrics', from: metric },
    ...more,
  };
}

export const workloadSubject: Subject = { kind: 'workload' };

export function measured(metric: MetricId, value: number, subject: Subject = workloadSubject): Measurement {
  return { metric, subject, observed: reading(metric, value) };
}

export function gpu(index: number, node = 'node-0', pod: string | null = 'vllm-0'): Subject {
  return {
    kind: 'device',
    device: 'gpu',
    node,
    id: `GPU-${node}-${index}`,
    index: String(index),
    ...(pod === null ? {} : { pod: { namespace, name: pod } }),
  };
}

/** One point a minute up to now, of a function of the minutes before now. */
export function series(
  metric: MetricId,
  minutes: number,
  value: (minutesAgo: number) => number | null,
  subject: Subject = workloadSubject,
): Series {
  const ago = Array.from({ length: minutes + 1 }, (_, index) => minutes - index);
  return {
    metric,
    subject,
    unit: unitOf(metric),
    at: ago.map((one) => now - one * minute),
    values: ago.map(value),
    step: minute,
    source: { source: 'prometheus', from: metric },
  };
}

export function container(more: Partial<ContainerView> = {}): ContainerView {
  return {
    name: 'vllm',
    image: 'vllm/vllm-openai:v0.21.0',
    role: 'main',
    ready: true,
    restarts: 0,
    state: { kind: 'running', since: now - 55 * minute },
    requests: { cpu: 4, memory: 16 * 1024 ** 3, 'nvidia.com/gpu': 1 },
    limits: { memory: 32 * 1024 ** 3, 'nvidia.com/gpu': 1 },
    ports: [{ port: 8000 }],
    ...more,
  };
}

export function pod(name: string, more: Partial<PodView> = {}): PodView {
  return {
    pod: { namespace, name },
    uid: name,
    createdAt: now - 60 * minute,
    startedAt: now - 59 * minute,
    phase: 'Running',
    node: 'node-0',
    labels: { app: 'vllm' },
    owner: { kind: 'ReplicaSet', name: 'vllm-1' },
    conditions: [
      { type: 'PodScheduled', status: 'True', reason: '', message: '', since: now - 59 * minute },
      { type: 'Initialized', status: 'True', reason: '', message: '', since: now - 59 * minute },
      { type: 'Ready', status: 'True', reason: '', message: '', since: now - 50 * minute },
    ],
    containers: [container()],
    ...more,
  };
}

export function pendingPod(
  name: string,
  waits: number,
  message = '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.',
): PodView {
  const { node: _, startedAt: __, ...rest } = pod(name);
  return {
    ...rest,
    createdAt: now - waits,
    phase: 'Pending',
    conditions: [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, since: now - waits },
    ],
    containers: [container({ ready: false, state: { kind: 'unknown' } })],
  };
}

export function oomPod(name: string, ago = 2 * minute): PodView {
  return pod(name, {
    conditions: [
      { type: 'PodScheduled', status: 'True', reason: '', message: '', since: now - 59 * minute },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: '' },
    ],
    containers: [
      container({
        ready: false,
        restarts: 3,
        state: {
          kind: 'waiting',
          reason: 'CrashLoopBackOff',
          message: 'back-off 40s restarting failed container',
        },
        lastTermination: {
          reason: 'OOMKilled',
          exitCode: 137,
          startedAt: now - ago - 4 * minute,
          finishedAt: now - ago,
        },
      }),
    ],
  });
}

export function workload(desired: number, ready: number, more: Partial<WorkloadView> = {}): WorkloadView {
  return {
    ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'vllm' },
    createdAt: now - 24 * 60 * minute,
    replicas: { desired, ready, current: desired, available: ready, updated: desired },
    conditions: [],
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'vllm', namespace },
      spec: {
        replicas: desired,
        selector: { matchLabels: { app: 'vllm' } },
        template: {
          metadata: { labels: { app: 'vllm' } },
          spec: {
            containers: [
              {
                name: 'vllm',
                image: 'vllm/vllm-openai:v0.21.0',
                resources: { requests: { cpu: '3', memory: '8Gi' }, limits: { 'nvidia.com/gpu': 1 } },
              },
            ],
            tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
          },
        },
      },
    },
    ...more,
  };
}

export function node(name: string, more: Partial<NodeView> = {}): NodeView {
  return {
    name,
    createdAt: now - 90 * minute,
    labels: {},
    instanceType: 'g6.xlarge',
    zone: 'us-east-1a',
    capacityType: 'on-demand',
    pool: 'gpu',
    capacity: { cpu: 4, memory: 16 * 1024 ** 3, 'nvidia.com/gpu': 1 },
    allocatable: { cpu: 3.9, memory: 15 * 1024 ** 3, 'nvidia.com/gpu': 1 },
    conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', since: now - 80 * minute }],
    unschedulable: false,
    taints: [],
    ...more,
  };
}

/** An HPA on one external metric with a target a pod, as KEDA makes it. */
export function hpa(current: number, desired: number, total: number, target: number, maximum = 8): HpaView {
  const metric = { name: 's0-prometheus' };
  return {
    ref: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', namespace, name: 'vllm' },
    createdAt: now - 24 * 60 * minute,
    target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'vllm' },
    spec: {
      minReplicas: 1,
      maxReplicas: maximum,
      metrics: [
        {
          type: 'External',
          external: { metric, target: { type: 'AverageValue', averageValue: String(target) } },
        },
      ],
    },
    status: {
      currentReplicas: current,
      desiredReplicas: desired,
      currentMetrics: [
        {
          type: 'External',
          external: { metric, current: { averageValue: `${Math.ceil((total * 1000) / current)}m` } },
        },
      ],
      conditions: [
        { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'ready' },
        { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message: 'ok' },
      ],
    },
    annotations: {},
  };
}

export function event(
  about: string,
  reason: string,
  message: string,
  ago: number,
  more: Partial<EventView> = {},
): EventView {
  return {
    about: { apiVersion: 'v1', kind: 'Pod', namespace, name: about },
    type: 'Normal',
    reason,
    message,
    count: 1,
    firstAt: now - ago,
    lastAt: now - ago,
    reporter: 'kubelet',
    ...more,
  };
}
