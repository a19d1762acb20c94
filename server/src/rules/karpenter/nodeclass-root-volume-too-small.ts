import type { UserModel } from '../../sizing/models/types';
import { acceleratorsOfPod } from '../../kube/accelerators';
import { runningContainers } from '../../kube/containers';
import { modelServers } from '../../kube/model-server';
import type { PodTemplate } from '../../kube/pod-carriers';
import { formatBytes } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import type { AmiFamily } from '../../sizing/nodes/allocatable';
import { readNodeClass } from '../../sizing/nodes/read-node-class';
import { acceleratorsOnly, typesOf } from '../../sizing/nodes/read-pool';
import { amount } from '../../sizing/nodes/resources';
import type { Workspace } from '../../workspace/workspace';
import { insertKey, replaceScalar, type Edits } from '../../yaml/edit';
import {
  entryOf,
  isMap,
  itemsIn,
  mapIn,
  scalarIn,
  textIn,
  type MapNode,
  type ScalarNode,
} from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { tenantsOf } from '../placement/tenants';
import { mountsOf } from '../sizing/memory-volumes';
import { servedModel } from '../sizing/served-model';
import { defineRule, type Place } from '../rule';

const GiB = 2 ** 30;

/** Karpenter's volume where none is sized. */
const defaultVolume = 20 * GiB;

/**
 * What the image of a model server takes when it is unpacked: those of vLLM, SGLang, TGI and Triton are between 8 and
 * 12 GB to pull and about twice that on the disk. The least of it is reckoned with.
 */
const imageBytes = 15 * GiB;

/** The volume that holds images and what pods write. */
const dataDevices: Readonly<Partial<Record<AmiFamily, string>>> = {
  AL2: '/dev/xvda',
  AL2023: '/dev/xvda',
  Ubuntu: '/dev/sda1',
  Bottlerocket: '/dev/xvdb',
};

export default defineRule({
  id: 'nodeclass-root-volume-too-small',
  summary: 'The disk of accelerator nodes has room for the image and the model',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['EC2NodeClass'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    const nodeClass = readNodeClass(resource);
    if (resource.group !== 'karpenter.k8s.aws' || nodeClass.kind !== 'EC2NodeClass') return;
    const family = nodeClass.spec.amiFamily ?? 'AL2023';
    const device = dataDevices[family];
    if (device === undefined) return;
    const pools = acceleratorPools(workspace, resource, nodeClass.spec.instanceStorePolicy === 'RAID0');
    const [pool] = pools;
    if (pool === undefined) return;
    const disk = diskOf(resource, device);
    const model = largestModel(workspace, pools, models);
    const needed = imageBytes + (model?.bytes ?? 0);
    // What the kubelet evicts at is no room: a tenth of the disk, and the gibibyte that it keeps back.
    const room = disk.bytes * 0.9 - GiB;
    if (room >= Math.max(needed, imageBytes + 5 * GiB)) return;
    if (mayBePatched(workspace, resource, 'blockDeviceMappings')) return;
    const goal = Math.max(100, Math.ceil(((imageBytes * 2 + (model?.bytes ?? 0)) * 1.2) / GiB / 50) * 50);
    const edits = enlarge(resource, disk, device, `${goal}Gi`);
    const what =
      model === undefined
        ? 'the image of a model server alone takes 15 to 25 GiB'
        : `the image takes 15 GiB or more and ${model.name} ${formatBytes(model.bytes)}`;
    report({
      at: disk.at,
      message: `${disk.says(resource.name ?? '')}, and its NodePool "${pool.name ?? ''}" launches accelerator nodes: ${what}, so pods are evicted for disk pressure while they start`,
      related: [
        {
          resource: pool,
          at: scalarIn(pool.root, 'spec', 'template', 'spec', 'nodeClassRef', 'name') ?? pool.root,
          message: `NodePool "${pool.name ?? ''}" makes its nodes with it`,
        },
        ...(model === undefined
          ? []
          : [
              {
                resource: model.template.resource,
                at: model.at,
                message: `${model.name} is loaded to the disk of the node here`,
              },
            ]),
      ],
      fixes: [edits === undefined ? undefined : { title: `Size ${device} at ${goal}Gi`, safe: false, edits }],
    });
  },
});

/** Pools of this node class that launch only accelerator nodes, and (with `raid`) not only such with local disks. */
function acceleratorPools(workspace: Workspace, nodeClass: Resource, raid: boolean): readonly Resource[] {
  return workspace.near(nodeClass, 'NodePool', 'karpenter.sh').filter((pool) => {
    const reference = workspace.references(pool).nodeClass;
    if (reference?.state !== 'found' || reference.resource !== nodeClass) return false;
    if (acceleratorsOnly(pool).length === 0) return false;
    return !raid || typesOf(pool).types.some(({ nvmeGB }) => nvmeGB === undefined);
  });
}

interface Disk {
  readonly bytes: number;
  /** The size as written; absent where the default holds. */
  readonly sized: ScalarNode | undefined;
  readonly at: Place;
  says(name: string): string;
}

function diskOf(resource: Resource, device: string): Disk {
  const spec = mapIn(resource.root, 'spec');
  const mappings = entryOf(spec, 'blockDeviceMappings');
  const devices = itemsIn(spec, 'blockDeviceMappings').filter(isMap);
  const isRoot = (item: MapNode): boolean => scalarIn(item, 'rootVolume')?.value === true;
  const data = devices.find(isRoot) ?? devices.find((item) => textIn(item, 'deviceName') === device);
  const size = scalarIn(data, 'ebs', 'volumeSize');
  const bytes = size === undefined ? undefined : amount('ephemeral-storage', size.text);
  if (size !== undefined && bytes !== undefined) {
    return {
      bytes,
      sized: size,
      at: size,
      says: (name) => `EC2NodeClass "${name}" sizes ${device} at ${size.text}`,
    };
  }
  // A volume from a snapshot has the size of that.
  if (data !== undefined) return { bytes: Infinity, sized: undefined, at: data, says: () => '' };
  const other = devices[0] === undefined ? undefined : scalarIn(devices[0], 'deviceName');
  return {
    bytes: defaultVolume,
    sized: undefined,
    at: other ?? mappings ?? entryOf(resource.root, 'spec') ?? resource.root,
    says: (name) =>
      other === undefined
        ? `EC2NodeClass "${name}" sizes no volume, so that nodes have 20 GiB`
        : `EC2NodeClass "${name}" sizes ${other.text} and not ${device}, which holds images and what pods write and so has 20 GiB`,
  };
}

interface StoredModel {
  readonly name: string;
  readonly bytes: number;
  readonly template: PodTemplate;
  readonly at: Place;
}

/** The largest model that a pod of these pools certainly keeps on the disk of its node. */
function largestModel(
  workspace: Workspace,
  pools: readonly Resource[],
  models: readonly UserModel[],
): StoredModel | undefined {
  let largest: StoredModel | undefined;
  for (const pool of pools) {
    for (const { template, sole } of tenantsOf(workspace, pool)) {
      if (!sole || acceleratorsOfPod(template).length === 0 || hasOtherStorage(template)) continue;
      for (const server of modelServers(template)) {
        const model = servedModel(server, models);
        if (model === undefined || server.model.state !== 'known' || model.loader === 'runai-streamer')
          continue;
        if (/^(?:\/|s3:|gs:|pvc:)/.test(model.name)) continue;
        const bytes = model.stored.low;
        if (largest === undefined || bytes > largest.bytes) {
          largest = { name: model.name, bytes, template, at: server.model.at };
        }
      }
    }
  }
  return largest;
}

/** A volume that is no part of the node's disk, in which the model may lie. */
function hasOtherStorage(template: PodTemplate): boolean {
  const mounted = new Set(
    runningContainers(template).flatMap((one) => mountsOf(one).map(({ volume }) => volume)),
  );
  return (
    template.spec.open ||
    itemsIn(template.spec, 'volumes').some((volume) => {
      const name = textIn(volume, 'name');
      const own = ['emptyDir', 'configMap', 'secret', 'projected', 'downwardAPI'];
      const memory = textIn(volume, 'emptyDir', 'medium') === 'Memory';
      return (
        (name === undefined || mounted.has(name)) &&
        (!isMap(volume) ||
          !volume.entries.some(({ key }) => own.includes(key.text)) ||
          (memory && !isShm(template, name)))
      );
    }) ||
    itemsIn(template.resource.root, 'spec', 'volumeClaimTemplates').length > 0
  );
}

function isShm(template: PodTemplate, volume: string | undefined): boolean {
  return runningContainers(template).some((container) =>
    mountsOf(container).some((mount) => mount.volume === volume && mount.path === '/dev/shm'),
  );
}

function enlarge(resource: Resource, disk: Disk, device: string, size: string): Edits {
  const { document } = resource.placed;
  if (disk.sized !== undefined) return replaceScalar(document, disk.sized, size);
  const spec = mapIn(resource.root, 'spec');
  if (spec === undefined || entryOf(spec, 'blockDeviceMappings') !== undefined) return undefined;
  return insertKey(document, spec, 'blockDeviceMappings', [
    { deviceName: device, ebs: { volumeSize: size, volumeType: 'gp3', encrypted: true } },
  ]);
}
