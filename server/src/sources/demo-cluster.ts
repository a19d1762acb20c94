import type {
  ClusterView,
  Condition,
  ContainerView,
  EventView,
  HpaView,
  LogExcerpt,
  NodeClaimView,
  NodeUse,
  NodeView,
  ObjectRef,
  PodView,
  Resources,
} from '../live/cluster';
import type { Part } from '../live/reading';
import type { Want } from '../live/want';
import { minute, readyAt, script, type Moment } from './demo-story';

/** The objects of the demo's cluster at one moment of its story. */

const gi = 2 ** 30;

export const image = 'vllm/vllm-openai:v0.11.0';
export const model = 'Qwen/Qwen2.5-7B-Instruct';
export const instanceType = 'g6.xlarge';
export const gpuModel = 'NVIDIA L4';
export const gpuMemory = 23_034 * 2 ** 20;
export const memoryLimit = 12 * gi;

/** Targets of the two metrics of the autoscaler, for each pod. */
export const waitingTarget = 14;
export const runningTarget = 13;
const minReplicas = 2;
const maxReplicas = 6;

export interface Scene {
  readonly namespace: string;
  readonly workload: ObjectRef;
  readonly pods: readonly DemoPod[];
}

/** One replica, and where it is in its life. */
export interface DemoPod {
  readonly name: string;
  readonly index: number;
  readonly node: string;
  readonly gpu: string;
  readonly createdAt: number;
  /** Milliseconds since 1970; what lies after the moment has not happened. */
  readonly scheduledAt: number;
  readonly pulledAt: number;
  readonly weightsAt: number;
  readonly readyAt: number;
  /** When it was killed at its memory limit, and when its container ran again. */
  readonly killedAt: number | undefined;
  readonly isNew: boolean;
}

const nodeNames = ['ip-10-0-12-41', 'ip-10-0-27-118', 'ip-10-0-44-9', 'ip-10-0-51-203'].map(
  (name) => `${name}.ec2.internal`,
);
const podSuffixes = ['x7k2p', 'q9wnd', 'h4vtz', 'm2rbs'];
const gpuIds = [
  'GPU-5c89852c-dd8c-4c21-a6a7-4a5f1f3f9b11',
  'GPU-0f2b7a4e-7f0e-4b8e-9f5d-5b3d6d1f2a07',
  'GPU-b1e4b0aa-2f1c-49a5-8c52-0c7a8a6ff3d4',
  'GPU-93ad1d1e-64be-4b53-8e6f-1a1d3f0b7c55',
];
const templateHash = '7d9c6bd9f8';
const day = 24 * 60 * minute;

/** The workload that the panel is about: the one of the open manifest, so that the demo shows it. */
export function demoWorkload(want: Want): ObjectRef {
  const { object, workload } = want;
  if (workload !== undefined) return workload;
  const isOther =
    /^(HorizontalPodAutoscaler|ScaledObject|NodePool|EC2NodeClass|Service|PodDisruptionBudget|Pod)$/.test(
      object.kind,
    );
  if (!isOther) return object;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: object.namespace === '' ? 'inference' : object.namespace,
    name:
      object.kind === 'NodePool' || object.kind === 'EC2NodeClass'
        ? 'vllm'
        : object.name.replace(/-(hpa|scaler|svc|pdb)$/, ''),
  };
}

export function sceneAt(want: Want, { minute: into, roundAt }: Moment, openedAt: number): Scene {
  const workload = demoWorkload(want);
  const namespace = workload.namespace === '' ? 'inference' : workload.namespace;
  const timeOf = (minutes: number): number => roundAt + minutes * minute;
  const isNumbered = workload.kind === 'StatefulSet' || workload.kind === 'LeaderWorkerSet';
  const nameOf = (index: number): string =>
    isNumbered ? `${workload.name}-${index}` : `${workload.name}-${templateHash}-${podSuffixes[index] ?? ''}`;
  const base = [0, 1].map((index): DemoPod => {
    const createdAt = openedAt - 3 * day + index * 7 * minute;
    return {
      name: nameOf(index),
      index,
      node: nodeNames[index] ?? '',
      gpu: gpuIds[index] ?? '',
      createdAt,
      scheduledAt: createdAt + 2 * minute,
      pulledAt: createdAt + 4 * minute,
      weightsAt: createdAt + 6 * minute,
      readyAt: index === 1 && into >= script.oomReady ? timeOf(script.oomReady) : createdAt + 7.5 * minute,
      killedAt: index === 1 && into >= script.oomKill ? timeOf(script.oomKill) : undefined,
      isNew: false,
    };
  });
  const extra =
    into < script.scaleOut || into >= script.scaleIn
      ? []
      : [2, 3].map((index): DemoPod => {
          const step = index - 2;
          return {
            name: nameOf(index),
            index,
            node: nodeNames[index] ?? '',
            gpu: gpuIds[index] ?? '',
            createdAt: timeOf(script.scaleOut),
            scheduledAt: timeOf(script.scheduled[step] ?? 0),
            pulledAt: timeOf(script.pulled[step] ?? 0),
            weightsAt: timeOf(script.weights[step] ?? 0),
            readyAt: timeOf(script.ready[step] ?? 0),
            killedAt: undefined,
            isNew: true,
          };
        });
  return { namespace, workload: { ...workload, namespace }, pods: [...base, ...extra] };
}

const isReadyPod = (pod: DemoPod, at: number, into: number): boolean =>
  at >= pod.readyAt && !(pod.index === 1 && into >= script.oomKill && into < script.oomReady);

function condition(type: string, isTrue: boolean, since: number, reason = '', message = ''): Condition {
  return { type, status: isTrue ? 'True' : 'False', reason, message, since };
}

const notScheduled =
  '0/6 nodes are available: 2 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint(s). preemption: 0/6 nodes are available: 2 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.';

function podView(pod: DemoPod, scene: Scene, { at, minute: into }: Moment): PodView {
  const isScheduled = at >= pod.scheduledAt;
  const isReady = isReadyPod(pod, at, into);
  const wasKilled = pod.killedAt !== undefined;
  const isDown = pod.index === 1 && into >= script.oomKill && into < script.oomRestart;
  const restartedAt = (pod.killedAt ?? 0) + (script.oomRestart - script.oomKill) * minute;
  const startedAt = wasKilled && !isDown ? restartedAt : pod.weightsAt;
  const phase = !isScheduled || at < pod.weightsAt ? 'Pending' : 'Running';
  const requests: Resources = { cpu: 3, memory: 10 * gi, 'nvidia.com/gpu': 1 };
  const limits: Resources = { memory: memoryLimit, 'nvidia.com/gpu': 1 };
  const readySince = isReady
    ? pod.index === 1 && into >= script.oomReady
      ? (pod.killedAt ?? 0) + (script.oomReady - script.oomKill) * minute
      : pod.readyAt
    : (pod.killedAt ?? pod.createdAt);
  const waiting = {
    kind: 'waiting',
    reason: at < pod.pulledAt ? 'ContainerCreating' : 'PodInitializing',
    message: '',
  } as const;
  const weights: ContainerView = {
    name: 'fetch-weights',
    image: 'public.ecr.aws/aws-cli/aws-cli:2.31.0',
    role: 'init',
    ready: at >= pod.weightsAt,
    restarts: 0,
    state:
      at >= pod.weightsAt
        ? {
            kind: 'terminated',
            reason: 'Completed',
            exitCode: 0,
            startedAt: pod.pulledAt,
            finishedAt: pod.weightsAt,
          }
        : at >= pod.pulledAt
          ? { kind: 'running', since: pod.pulledAt }
          : waiting,
    requests: { cpu: 1, memory: gi },
    limits: { memory: 2 * gi },
    ports: [],
  };
  const termination = {
    reason: 'OOMKilled',
    exitCode: 137,
    startedAt: pod.weightsAt,
    finishedAt: pod.killedAt ?? 0,
  };
  const engine: ContainerView = {
    name: 'vllm',
    image,
    role: 'main',
    ready: isReady,
    restarts: wasKilled ? 1 : 0,
    state: isDown
      ? { kind: 'terminated', ...termination }
      : at >= pod.weightsAt
        ? { kind: 'running', since: startedAt }
        : { ...waiting, reason: 'PodInitializing' },
    ...(wasKilled ? { lastTermination: termination } : {}),
    requests,
    limits,
    ports: [{ name: 'http', port: 8000 }],
  };
  return {
    pod: { namespace: scene.namespace, name: pod.name },
    uid: `demo-${pod.name}-${pod.createdAt}`,
    createdAt: pod.createdAt,
    ...(isScheduled ? { startedAt: pod.scheduledAt, node: pod.node } : {}),
    phase,
    labels: { app: scene.workload.name, 'pod-template-hash': templateHash, team: 'assistants' },
    owner:
      scene.workload.kind === 'Deployment'
        ? { kind: 'ReplicaSet', name: `${scene.workload.name}-${templateHash}` }
        : { kind: scene.workload.kind, name: scene.workload.name },
    conditions: isScheduled
      ? [
          condition('PodScheduled', true, pod.scheduledAt),
          condition(
            'Initialized',
            at >= pod.weightsAt,
            at >= pod.weightsAt ? pod.weightsAt : pod.scheduledAt,
          ),
          condition('ContainersReady', isReady, readySince),
          condition('Ready', isReady, readySince),
        ]
      : [condition('PodScheduled', false, pod.createdAt, 'Unschedulable', notScheduled)],
    containers: [weights, engine],
  };
}

function nodeView(name: string, createdAt: number, more: Partial<NodeView> = {}): NodeView {
  return {
    name,
    createdAt,
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': instanceType,
      'topology.kubernetes.io/zone': 'us-east-1b',
      'karpenter.sh/capacity-type': 'on-demand',
      'karpenter.sh/nodepool': 'gpu',
      'karpenter.k8s.aws/instance-gpu-name': 'l4',
    },
    instanceType,
    zone: 'us-east-1b',
    capacityType: 'on-demand',
    pool: 'gpu',
    capacity: { cpu: 4, memory: 16 * gi, 'nvidia.com/gpu': 1, pods: 58 },
    allocatable: { cpu: 3.92, memory: 14.2 * gi, 'nvidia.com/gpu': 1, pods: 58 },
    conditions: [condition('Ready', true, createdAt + 30_000, 'KubeletReady')],
    unschedulable: false,
    taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }],
    ...more,
  };
}

/** A node of another team, with an Inferentia chip: devices and costs that are not the workload's. */
export const otherNode = 'ip-10-0-60-77.ec2.internal';
export const otherPod = { namespace: 'search', name: 'embeddings-6c5f7b8d9-4kzlw' } as const;

function nodesAt(scene: Scene, { minute: into, roundAt, at }: Moment, openedAt: number): readonly NodeView[] {
  const base = [0, 1].map((index) =>
    nodeView(nodeNames[index] ?? '', openedAt - 3 * day + index * 7 * minute),
  );
  const isThere = into >= script.nodesRegistered && into < script.nodesGone;
  const extra = isThere
    ? [2, 3].map((index) => {
        const createdAt = roundAt + script.nodesRegistered * minute;
        const isReady = into >= script.nodesReady;
        return nodeView(nodeNames[index] ?? '', createdAt, {
          conditions: [
            condition(
              'Ready',
              isReady,
              isReady ? roundAt + script.nodesReady * minute : createdAt,
              isReady ? 'KubeletReady' : 'KubeletNotReady',
              isReady ? '' : 'container runtime network not ready',
            ),
          ],
          ...(into >= script.scaleIn ? { deletingSince: at, unschedulable: true } : {}),
        });
      })
    : [];
  const inferentia: NodeView = {
    name: otherNode,
    createdAt: openedAt - 9 * day,
    labels: {
      'node.kubernetes.io/instance-type': 'inf2.xlarge',
      'eks.amazonaws.com/nodegroup': 'inferentia',
      'eks.amazonaws.com/capacityType': 'ON_DEMAND',
    },
    instanceType: 'inf2.xlarge',
    zone: 'us-east-1a',
    capacityType: 'on-demand',
    pool: 'inferentia',
    capacity: { cpu: 4, memory: 16 * gi, 'aws.amazon.com/neuroncore': 2, pods: 58 },
    allocatable: { cpu: 3.92, memory: 14.2 * gi, 'aws.amazon.com/neuroncore': 2, pods: 58 },
    conditions: [condition('Ready', true, openedAt - 9 * day, 'KubeletReady')],
    unschedulable: false,
    taints: [],
  };
  void scene;
  return [...base, ...extra, inferentia];
}

function claimsAt({ minute: into, roundAt }: Moment, openedAt: number): readonly NodeClaimView[] {
  const timeOf = (minutes: number): number => roundAt + minutes * minute;
  const steps = (launched: number, registered: number, ready: number, now: number): readonly Condition[] => [
    condition('Launched', now >= launched, launched),
    condition('Registered', now >= registered, registered),
    condition('Initialized', now >= ready, ready),
    condition('Ready', now >= ready, ready),
  ];
  const claim = (
    name: string,
    index: number,
    createdAt: number,
    conditions: readonly Condition[],
    isThere: boolean,
  ): NodeClaimView => ({
    name,
    pool: 'gpu',
    createdAt,
    conditions,
    instanceType,
    capacityType: 'on-demand',
    zone: 'us-east-1b',
    ...(isThere ? { node: nodeNames[index] ?? '' } : {}),
  });
  const base = [0, 1].map((index) => {
    const createdAt = openedAt - 3 * day + index * 7 * minute - 60_000;
    return claim(
      `gpu-${['k8w2d', 'p5tqx'][index] ?? ''}`,
      index,
      createdAt,
      steps(createdAt, createdAt, createdAt, Infinity),
      true,
    );
  });
  if (into < script.scaleOut || into >= script.nodesGone) return base;
  const now = timeOf(into);
  return [
    ...base,
    ...[2, 3].map((index) =>
      claim(
        `gpu-${['d9mzc', 'v3hjr'][index - 2] ?? ''}`,
        index,
        timeOf(script.scaleOut) + 2_000,
        steps(timeOf(script.claimsLaunched), timeOf(script.nodesRegistered), timeOf(script.nodesReady), now),
        into >= script.nodesRegistered,
      ),
    ),
  ];
}

// --- The autoscaler, as KEDA makes it

function scaledSpec(scene: Scene): unknown {
  return {
    scaleTargetRef: {
      apiVersion: scene.workload.apiVersion,
      kind: scene.workload.kind,
      name: scene.workload.name,
    },
    minReplicaCount: minReplicas,
    maxReplicaCount: maxReplicas,
    triggers: [
      {
        type: 'prometheus',
        metadata: { query: 'sum(vllm:num_requests_waiting)', threshold: String(waitingTarget) },
      },
      {
        type: 'prometheus',
        metadata: { query: 'sum(vllm:num_requests_running)', threshold: String(runningTarget) },
      },
    ],
  };
}

const metricName = (index: number): string => `s${index}-prometheus`;

function hpaView(scene: Scene, moment: Moment, openedAt: number): HpaView {
  const { waiting, running, current, desired, minute: into, roundAt } = moment;
  const { workload, namespace } = scene;
  const metric = (index: number, target: number): unknown => ({
    type: 'External',
    external: {
      metric: {
        name: metricName(index),
        selector: { matchLabels: { 'scaledobject.keda.sh/name': workload.name } },
      },
      target: { type: 'AverageValue', averageValue: String(target) },
    },
  });
  const now = (index: number, value: number): unknown => ({
    type: 'External',
    external: {
      metric: { name: metricName(index) },
      current: { averageValue: `${Math.ceil((value * 1000) / current)}m` },
    },
  });
  const iso = (at: number): string => new Date(at).toISOString();
  const changedAt =
    into >= script.scaleIn
      ? roundAt + script.scaleIn * minute
      : into >= script.scaleOut
        ? roundAt + script.scaleOut * minute
        : openedAt - 3 * day;
  const isHeld = into >= script.surgeIsOver && into < script.scaleIn;
  return {
    ref: {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      namespace,
      name: `keda-hpa-${workload.name}`,
    },
    createdAt: openedAt - 3 * day,
    target: { apiVersion: workload.apiVersion, kind: workload.kind, name: workload.name },
    spec: {
      scaleTargetRef: { apiVersion: workload.apiVersion, kind: workload.kind, name: workload.name },
      minReplicas,
      maxReplicas,
      metrics: [metric(0, waitingTarget), metric(1, runningTarget)],
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: 300,
          policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
        },
      },
    },
    status: {
      currentReplicas: current,
      desiredReplicas: desired,
      lastScaleTime: iso(changedAt),
      currentMetrics: [now(0, waiting), now(1, running)],
      conditions: [
        {
          type: 'AbleToScale',
          status: 'True',
          reason: isHeld ? 'ScaleDownStabilized' : 'ReadyForNewScale',
          message: isHeld
            ? 'recent recommendations were higher than current one, applying the highest recent recommendation'
            : 'recommended size matches current size',
          lastTransitionTime: iso(openedAt - 3 * day),
        },
        {
          type: 'ScalingActive',
          status: 'True',
          reason: 'ValidMetricFound',
          message: `the HPA was able to successfully calculate a replica count from external metric ${metricName(0)}`,
          lastTransitionTime: iso(openedAt - 3 * day),
        },
        {
          type: 'ScalingLimited',
          status: 'False',
          reason: 'DesiredWithinRange',
          message: 'the desired count is within the acceptable range',
          lastTransitionTime: iso(changedAt),
        },
      ],
    },
    annotations: {},
    owner: { kind: 'ScaledObject', name: workload.name },
  };
}

// --- Events and logs

interface Told {
  readonly minute: number;
  readonly about: ObjectRef;
  readonly type: EventView['type'];
  readonly reason: string;
  readonly message: string;
  readonly reporter: string;
  readonly count?: number;
}

function eventsAt(scene: Scene, { minute: into, roundAt }: Moment): readonly EventView[] {
  const { namespace, workload } = scene;
  const ref = (kind: string, name: string, apiVersion = 'v1', of = namespace): ObjectRef => ({
    apiVersion,
    kind,
    namespace: of,
    name,
  });
  const hpa = ref('HorizontalPodAutoscaler', `keda-hpa-${workload.name}`, 'autoscaling/v2');
  const told: Told[] = [
    {
      minute: script.scaleOut,
      about: hpa,
      type: 'Normal',
      reason: 'SuccessfulRescale',
      message: `New size: 4; reason: external metric ${metricName(1)}(&LabelSelector{MatchLabels:map[string]string{scaledobject.keda.sh/name: ${workload.name},},MatchExpressions:[]LabelSelectorRequirement{},}) above target`,
      reporter: 'horizontal-pod-autoscaler',
    },
    {
      minute: script.scaleOut,
      about: workload,
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: `Scaled up replica set ${workload.name}-${templateHash} from 2 to 4`,
      reporter: 'deployment-controller',
    },
    {
      minute: script.scaleIn,
      about: hpa,
      type: 'Normal',
      reason: 'SuccessfulRescale',
      message: 'New size: 2; reason: All metrics below target',
      reporter: 'horizontal-pod-autoscaler',
    },
    {
      minute: script.scaleIn,
      about: workload,
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: `Scaled down replica set ${workload.name}-${templateHash} from 4 to 2`,
      reporter: 'deployment-controller',
    },
  ];
  const killed = scene.pods[1];
  if (killed !== undefined) {
    const about = ref('Pod', killed.name);
    told.push(
      {
        minute: script.oomRestart,
        about,
        type: 'Normal',
        reason: 'Pulled',
        message: `Container image "${image}" already present on machine`,
        reporter: 'kubelet',
      },
      {
        minute: script.oomRestart,
        about,
        type: 'Normal',
        reason: 'Started',
        message: 'Started container vllm',
        reporter: 'kubelet',
      },
      {
        minute: script.oomKill + 0.1,
        about,
        type: 'Warning',
        reason: 'Unhealthy',
        message:
          'Readiness probe failed: Get "http://10.0.27.140:8000/health": dial tcp 10.0.27.140:8000: connect: connection refused',
        reporter: 'kubelet',
        count: 14,
      },
      {
        minute: script.oomKill,
        about: ref('Node', killed.node, 'v1', ''),
        type: 'Warning',
        reason: 'SystemOOM',
        message: 'System OOM encountered, victim process: VLLM::EngineCor, pid: 41877',
        reporter: 'kubelet',
      },
    );
  }
  for (const pod of scene.pods.filter(({ isNew }) => isNew)) {
    const about = ref('Pod', pod.name);
    const minuteOf = (at: number): number => (at - roundAt) / minute;
    const claim = `gpu-${['d9mzc', 'v3hjr'][pod.index - 2] ?? ''}`;
    told.push(
      {
        minute: script.scaleOut,
        about,
        type: 'Warning',
        reason: 'FailedScheduling',
        message: notScheduled,
        reporter: 'default-scheduler',
        count: 3,
      },
      {
        minute: script.scaleOut + 0.05,
        about,
        type: 'Normal',
        reason: 'Nominated',
        message: `Pod should schedule on: nodeclaim/${claim}`,
        reporter: 'karpenter',
      },
      {
        minute: minuteOf(pod.scheduledAt),
        about,
        type: 'Normal',
        reason: 'Scheduled',
        message: `Successfully assigned ${namespace}/${pod.name} to ${pod.node}`,
        reporter: 'default-scheduler',
      },
      {
        minute: minuteOf(pod.scheduledAt) + 0.03,
        about,
        type: 'Normal',
        reason: 'Pulling',
        message: `Pulling image "${image}"`,
        reporter: 'kubelet',
      },
      {
        minute: minuteOf(pod.pulledAt),
        about,
        type: 'Normal',
        reason: 'Pulled',
        message: `Successfully pulled image "${image}" in ${Math.round((pod.pulledAt - pod.scheduledAt) / 1000)}s. Image size: 10412873218 bytes.`,
        reporter: 'kubelet',
      },
      {
        minute: minuteOf(pod.weightsAt),
        about,
        type: 'Normal',
        reason: 'Started',
        message: 'Started container vllm',
        reporter: 'kubelet',
      },
      {
        minute: script.claimsLaunched,
        about: ref('NodeClaim', claim, 'karpenter.sh/v1', ''),
        type: 'Normal',
        reason: 'Launched',
        message: 'Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched',
        reporter: 'karpenter',
      },
    );
  }
  return told
    .filter(({ minute: when }) => when <= into)
    .sort((a, b) => a.minute - b.minute)
    .map(({ minute: when, about, type, reason, message, reporter, count = 1 }) => ({
      about,
      type,
      reason,
      message,
      count,
      firstAt: roundAt + when * minute,
      lastAt: roundAt + when * minute,
      reporter,
    }));
}

function logsAt(scene: Scene, { minute: into, roundAt }: Moment): readonly LogExcerpt[] {
  const pod = scene.pods[1];
  if (pod === undefined || into < script.oomKill) return [];
  const killedAt = roundAt + script.oomKill * minute;
  const line = (beforeMs: number, text: string): string =>
    `${new Date(killedAt - beforeMs).toISOString().slice(5, 19).replace('T', ' ')} ${text}`;
  return [
    {
      pod: { namespace: scene.namespace, name: pod.name },
      container: 'vllm',
      previous: into >= script.oomRestart,
      lines: [
        line(
          94_000,
          'INFO [loggers.py:123] Engine 000: Avg prompt throughput: 4312.6 tokens/s, Avg generation throughput: 611.2 tokens/s, Running: 24 reqs, Waiting: 17 reqs, GPU KV cache usage: 95.8%, Prefix cache hit rate: 31.4%',
        ),
        line(
          64_000,
          'INFO [loggers.py:123] Engine 000: Avg prompt throughput: 4127.9 tokens/s, Avg generation throughput: 598.7 tokens/s, Running: 24 reqs, Waiting: 18 reqs, GPU KV cache usage: 96.3%, Prefix cache hit rate: 31.2%',
        ),
        line(
          41_000,
          'WARNING [scheduler.py:1034] Swap space 4.00 GiB is in use: host memory of the container is at 11.6 GiB',
        ),
        line(12_000, 'INFO:     10.0.12.18:51244 - "POST /v1/chat/completions HTTP/1.1" 200 OK'),
        line(
          2_000,
          'ERROR [core_client.py:564] Engine core proc EngineCore_0 died unexpectedly, shutting down client.',
        ),
        line(1_000, '(APIServer pid=1) RuntimeError: Engine process terminated with exit code -9 (SIGKILL)'),
      ],
      at: killedAt,
    },
  ];
}

// --- All together

export function clusterAt(want: Want, moment: Moment, openedAt: number): ClusterView {
  const scene = sceneAt(want, moment, openedAt);
  const { at, minute: into } = moment;
  const { namespace, workload } = scene;
  const known = <T>(value: T): Part<T> => ({ kind: 'known', value, at });
  const ready = readyAt(into);
  const podViews = scene.pods.map((pod) => podView(pod, scene, moment));
  const nodes = nodesAt(scene, moment, openedAt);
  const own: Resources = { cpu: 3, memory: 10 * gi, 'nvidia.com/gpu': 1 };
  const system: Resources = { cpu: 0.35, memory: 0.8 * gi };
  const use = nodes.map(({ name }): NodeUse => {
    const isOther = name === otherNode;
    const isUsed = isOther || podViews.some(({ node }) => node === name);
    const requested = isOther ? { cpu: 2, memory: 8 * gi, 'aws.amazon.com/neuroncore': 2 } : own;
    const label = (value: string): Record<string, string> =>
      Object.fromEntries(want.allocationLabels.map((each) => [each, each === 'team' ? value : '']));
    const sum: Record<string, number> = { ...system };
    if (isUsed) for (const [key, amount] of Object.entries(requested)) sum[key] = (sum[key] ?? 0) + amount;
    return {
      node: name,
      requested: sum,
      parts: [
        ...(isUsed
          ? [
              {
                namespace: isOther ? otherPod.namespace : namespace,
                labels: label(isOther ? 'search' : 'assistants'),
                pods: 1,
                requested,
              },
            ]
          : []),
        { namespace: 'kube-system', labels: label(''), pods: 4, requested: system },
      ],
    };
  });
  const replicas = {
    desired: moment.desired,
    current: moment.current,
    ready,
    available: ready,
    updated: moment.current,
  };
  const isAvailable = ready >= moment.desired;
  return {
    workload: known({
      ref: workload,
      createdAt: openedAt - 30 * day,
      generation: 7,
      observedGeneration: 7,
      replicas,
      conditions: [
        condition(
          'Available',
          isAvailable,
          at - minute,
          isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
          isAvailable
            ? 'Deployment has minimum availability.'
            : 'Deployment does not have minimum availability.',
        ),
        condition('Progressing', true, openedAt - 3 * day, 'NewReplicaSetAvailable'),
      ],
      object: {
        apiVersion: workload.apiVersion,
        kind: workload.kind,
        metadata: { name: workload.name, namespace },
        spec: {
          replicas: moment.desired,
          template: {
            metadata: { labels: { app: workload.name, team: 'assistants' } },
            spec: {
              containers: [
                {
                  name: 'vllm',
                  image,
                  args: ['--model', model, '--max-num-seqs', '24', '--gpu-memory-utilization', '0.90'],
                  ports: [{ name: 'http', containerPort: 8000 }],
                  resources: {
                    requests: { cpu: '3', memory: '10Gi', 'nvidia.com/gpu': '1' },
                    limits: { memory: '12Gi', 'nvidia.com/gpu': '1' },
                  },
                },
              ],
            },
          },
        },
        status: { replicas: moment.current, readyReplicas: ready },
      },
    }),
    replicaSets: known([
      {
        ref: {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          namespace,
          name: `${workload.name}-${templateHash}`,
        },
        createdAt: openedAt - 3 * day,
        revision: 7,
        desired: moment.desired,
        ready,
        images: [image],
      },
    ]),
    pods: known(podViews),
    events: known(eventsAt(scene, moment)),
    hpa: known(hpaView(scene, moment, openedAt)),
    scaledObject: known({
      ref: { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', namespace, name: workload.name },
      target: { apiVersion: workload.apiVersion, kind: workload.kind, name: workload.name },
      spec: scaledSpec(scene),
      conditions: [
        condition(
          'Ready',
          true,
          openedAt - 3 * day,
          'ScaledObjectReady',
          'ScaledObject is defined correctly and is ready for scaling',
        ),
        condition(
          'Active',
          true,
          openedAt - 3 * day,
          'ScalerActive',
          'Scaling is performed because triggers are active',
        ),
        condition(
          'Fallback',
          false,
          openedAt - 3 * day,
          'NoFallbackFound',
          'No fallbacks are active on this scaled object',
        ),
      ],
      hpaName: `keda-hpa-${workload.name}`,
      health: {
        [metricName(0)]: { failures: 0, status: 'Happy' },
        [metricName(1)]: { failures: 0, status: 'Happy' },
      },
      lastActiveAt: at,
      annotations: {},
    }),
    pdbs: known([
      {
        ref: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace, name: workload.name },
        minAvailable: '1',
        currentHealthy: ready,
        desiredHealthy: 1,
        expectedPods: moment.current,
        disruptionsAllowed: Math.max(0, ready - 1),
      },
    ]),
    nodes: known(nodes),
    nodeUse: known(use),
    nodePools: known([
      {
        ref: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', namespace: '', name: 'gpu' },
        weight: 50,
        limits: { 'nvidia.com/gpu': 8 },
        resources: {
          'nvidia.com/gpu': into >= script.nodesRegistered && into < script.nodesGone ? 4 : 2,
          cpu: into >= script.nodesRegistered && into < script.nodesGone ? 16 : 8,
        },
        conditions: [condition('Ready', true, openedAt - 30 * day)],
        object: {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          metadata: { name: 'gpu' },
          spec: {
            weight: 50,
            limits: { 'nvidia.com/gpu': '8' },
            template: {
              spec: {
                nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'gpu' },
                taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }],
                requirements: [
                  {
                    key: 'node.kubernetes.io/instance-type',
                    operator: 'In',
                    values: [instanceType, 'g6.2xlarge'],
                  },
                  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
                ],
              },
            },
          },
        },
      },
    ]),
    nodeClaims: known(claimsAt(moment, openedAt)),
    logs: known(logsAt(scene, moment)),
    pendingInCluster: known(podViews.filter(({ phase }) => phase === 'Pending').length),
  };
}
