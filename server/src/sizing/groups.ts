import { acceleratorsOf } from '../kube/accelerators';
import { commandLines } from '../kube/arguments';
import { containers, envOf, type Container } from '../kube/containers';
import { countAt } from '../kube/count';
import type { ModelServer } from '../kube/model-server';
import { podTemplates, type PodTemplate } from '../kube/pod-carriers';
import { valueOf, type Setting } from '../kube/settings';
import { entryOf, getIn, isMap, isNull, itemsIn, mapIn } from '../yaml/node';

/** GPUs (or slices of them) that the servers of one replica can see. `undefined`: only known later. */
export interface GroupGpus {
  /** Asked for by the container itself. 0 when it asks for none. */
  readonly perPod: number | undefined;
  /** Pods over which one replica may be spread. */
  readonly pods: number | undefined;
  /** Over all pods of the group. */
  readonly total: number | undefined;
  /** Ray places any number of replicas on the GPUs of its cluster, so that none of them is idle for certain. */
  readonly shared: boolean;
}

/** Devices of a container; `undefined` where a number or the device itself is only known later. */
export function devicesOf(container: Container): number | undefined {
  let sum = 0;
  const accelerators = acceleratorsOf(container);
  for (const { unit, count, vendor } of accelerators) {
    if (unit === 'claim' || unit === 'core' || count === undefined) return undefined;
    if (vendor !== accelerators[0]?.vendor) return undefined;
    sum += count;
  }
  // Devices beyond those asked for: the container runtime hands out what this variable names.
  const visible = envOf(container).find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')?.value;
  return visible !== undefined && visible.text !== 'void' && visible.text !== 'none' ? undefined : sum;
}

function isSet(setting: Setting): boolean {
  return setting.state !== 'absent' && !(setting.state === 'unknown' && setting.at === undefined);
}

/** Arguments by which servers of several pods find each other, without the object that makes the pods knowing. */
const joins: readonly string[] = [
  'node-rank',
  'master-addr',
  'dist-init-addr',
  'headless',
  'data-parallel-address',
  'data-parallel-rank',
  'data-parallel-start-rank',
  'data-parallel-backend',
  'data-parallel-external-lb',
  'data-parallel-hybrid-lb',
];

/** The server is told of others like it by hand. */
export function joinsOthers(server: ModelServer): boolean {
  return (
    joins.some((flag) => isSet(server.arguments.get(flag))) ||
    envOf(server.container).some(({ name }) => /^(RAY_ADDRESS|RAY_HEAD_\w+|VLLM_DP_MASTER_IP)$/.test(name)) ||
    commandLines(server.container).some(
      ({ words }) => words[0]?.text.endsWith('ray') === true && words[1]?.text === 'start',
    )
  );
}

/** Pods of a group as the server's own arguments count them: `--nnodes`. */
function writtenNodes(server: ModelServer): number | undefined | 'absent' {
  const nodes = server.arguments.get('nnodes');
  if (!isSet(nodes)) return 'absent';
  const value = Number(valueOf(nodes));
  return Number.isInteger(value) && value >= 1 ? value : undefined;
}

/** GPUs of a Ray cluster at its largest: every worker group with as many pods as it may grow to, and the head. */
function rayGpus(resource: PodTemplate['resource']): number | undefined {
  let total = 0;
  const specs = [
    mapIn(resource.root, 'spec', 'rayClusterConfig'),
    mapIn(resource.root, 'spec', 'rayClusterSpec'),
  ];
  const cluster = specs.find(isMap) ?? mapIn(resource.root, 'spec');
  const groups = itemsIn(cluster, 'workerGroupSpecs').filter(isMap);
  const scales = !isNull(getIn(cluster, 'enableInTreeAutoscaling'));
  for (const template of podTemplates(resource)) {
    if (template.part !== 'worker' && template.part !== 'head') continue;
    const perPod = containers(template).map(devicesOf);
    if (perPod.includes(undefined)) return undefined;
    const devices = perPod.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    if (devices === 0) continue;
    const group = groups.find((candidate) => mapIn(candidate, 'template') === template.node);
    const hosts = group === undefined ? undefined : countAt(resource, group, 'numOfHosts', 1);
    const replicas = group === undefined ? undefined : countAt(resource, group, 'replicas', undefined);
    const most = group === undefined ? undefined : countAt(resource, group, 'maxReplicas', undefined);
    const hasMost = group !== undefined && !isNull(entryOf(group, 'maxReplicas')?.value);
    if (group === undefined) {
      total += devices;
      continue;
    }
    if (hosts?.known !== true) return undefined;
    // Without the autoscaler only `replicas` counts; with it the group may grow.
    const counts = [replicas, ...(scales || replicas?.known !== true ? [most] : [])].flatMap((count) =>
      count?.known === true ? [count.value] : [],
    );
    if (counts.length === 0 || (scales && hasMost && most?.known !== true)) return undefined;
    if (scales && !hasMost) return undefined;
    total += devices * hosts.value * Math.max(...counts);
  }
  return total;
}

/** GPUs of a group that a LeaderWorkerSet makes: one leader and the rest. */
function leaderGroup(template: PodTemplate, container: Container): number | undefined {
  const { resource } = template;
  const size = countAt(resource, mapIn(resource.root, 'spec', 'leaderWorkerTemplate'), 'size', 1);
  if (!size.known) return undefined;
  const templates = podTemplates(resource);
  const leader = templates.find(({ part }) => part === 'leader');
  const worker = templates.find(({ part }) => part === 'worker');
  const own = devicesOf(container);
  const devicesIn = (of: PodTemplate | undefined): number | undefined => {
    if (of === undefined) return undefined;
    if (of === template) return own;
    const counts = containers(of).map(devicesOf);
    return counts.includes(undefined)
      ? undefined
      : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  };
  const ofWorker = devicesIn(worker);
  if (leader === undefined) return ofWorker === undefined ? undefined : ofWorker * size.value;
  const ofLeader = devicesIn(leader);
  if (ofLeader === undefined) return undefined;
  if (size.value === 1) return ofLeader;
  return ofWorker === undefined ? undefined : ofLeader + ofWorker * (size.value - 1);
}

/** Kinds whose pods may work on one model together, in ways that their objects do not tell. */
const mayJoin: readonly string[] = ['jobset.x-k8s.io', 'batch.volcano.sh', 'kubeflow.org', 'kaito.sh'];

const alone = (perPod: number | undefined): GroupGpus => ({ perPod, pods: 1, total: perPod, shared: false });

/** The GPUs that one replica of a server can be spread over. */
export function groupGpus(server: ModelServer): GroupGpus {
  const { container } = server;
  const { template } = container;
  const { resource } = template;
  const perPod = devicesOf(container);
  const unknown: GroupGpus = { perPod, pods: undefined, total: undefined, shared: false };
  if (resource.group === 'ray.io') {
    const total = rayGpus(resource);
    return { perPod, pods: undefined, total, shared: true };
  }
  if (resource.group === 'leaderworkerset.x-k8s.io') {
    const size = countAt(resource, mapIn(resource.root, 'spec', 'leaderWorkerTemplate'), 'size', 1);
    return {
      perPod,
      pods: size.known ? size.value : undefined,
      total: leaderGroup(template, container),
      shared: false,
    };
  }
  const nodes = writtenNodes(server);
  if (nodes !== 'absent') {
    return nodes === undefined || perPod === undefined
      ? unknown
      : { perPod, pods: nodes, total: perPod * nodes, shared: false };
  }
  if (joinsOthers(server) || mayJoin.includes(resource.group)) return unknown;
  const hasWorkers = podTemplates(resource).some(({ part }) => part === 'worker');
  if (hasWorkers) return unknown;
  const { groupSize } = template;
  if (!groupSize.known) return unknown;
  return groupSize.value === 1 || perPod === undefined
    ? { ...alone(perPod), pods: groupSize.value, total: groupSize.value === 1 ? perPod : undefined }
    : { perPod, pods: groupSize.value, total: perPod * groupSize.value, shared: false };
}
