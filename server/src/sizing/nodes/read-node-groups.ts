import type { Resource } from '../../kube/resource';
import { labelsOf } from '../../kube/selectors';
import { readTaints } from '../../kube/tolerations';
import { entryOf, isMap, isScalar, isSequence, itemsIn, numberIn, scalarIn, textIn } from '../../yaml/node';
import type { MapNode } from '../../yaml/node';
import type { AmiFamily } from './allocatable';
import type { NodeGroupSpec } from './pool';
import { isUndecided } from './read-node-class';
import type { Taint } from './taints';

/** A node group of an eksctl ClusterConfig, with where it stands. */
export interface ReadNodeGroup {
  readonly spec: NodeGroupSpec;
  readonly node: MapNode;
}

/** What eksctl launches when a group names no type (its `DefaultNodeType`). */
const defaultType = 'm5.large';

/** `amiFamily` of eksctl, in the words of Karpenter. */
const families: Readonly<Record<string, AmiFamily>> = {
  AmazonLinux2: 'AL2',
  AmazonLinux2023: 'AL2023',
  Bottlerocket: 'Bottlerocket',
  Ubuntu2004: 'Ubuntu',
  Ubuntu2204: 'Ubuntu',
  UbuntuPro2204: 'Ubuntu',
  Ubuntu2404: 'Ubuntu',
  UbuntuPro2404: 'Ubuntu',
  WindowsServer2019CoreContainer: 'Windows2019',
  WindowsServer2019FullContainer: 'Windows2019',
  WindowsServer2022CoreContainer: 'Windows2022',
  WindowsServer2022FullContainer: 'Windows2022',
};

const memo = new WeakMap<Resource, readonly ReadNodeGroup[]>();

/** The node groups of an eksctl `ClusterConfig`, managed ones and the others, as plain data. */
export function readNodeGroups(resource: Resource): readonly ReadNodeGroup[] {
  let known = memo.get(resource);
  if (known === undefined) {
    known = [
      ...itemsIn(resource.root, 'managedNodeGroups').map((node) => [node, true] as const),
      ...itemsIn(resource.root, 'nodeGroups').map((node) => [node, false] as const),
    ].flatMap(([node, managed]) => (isMap(node) ? [{ node, spec: read(resource, node, managed) }] : []));
    memo.set(resource, known);
  }
  return known;
}

function read(resource: Resource, group: MapNode, managed: boolean): NodeGroupSpec {
  const unknownKeys: string[] = [];
  const labels: Record<string, string> = {};
  const written = labelsOf(entryOf(group, 'labels')?.value);
  for (const [key, value] of written.values) {
    if (value === undefined) unknownKeys.push(key);
    else labels[key] = value;
  }
  const { taints, unread } = taintsOf(group);
  const zones = texts(group, 'availabilityZones');
  const family = textIn(group, 'amiFamily');
  const known = family === undefined ? undefined : families[family];
  const volumeSizeGiB = numberIn(group, 'volumeSize');
  const maxPodsPerNode = numberIn(group, 'maxPodsPerNode');
  const clusterName = textIn(resource.root, 'metadata', 'name');
  return {
    kind: 'node-group',
    name: textIn(group, 'name') ?? '',
    instanceTypes: typesOf(group) ?? [],
    ...(known !== undefined && { amiFamily: known }),
    labels,
    taints,
    ...(zones !== undefined && zones.length > 0 && { zones }),
    spot: managed ? scalarIn(group, 'spot')?.value === true : isSpot(group),
    ...(volumeSizeGiB !== undefined && { volumeSizeGiB }),
    ...(maxPodsPerNode !== undefined && { maxPodsPerNode }),
    ...(clusterName !== undefined && { clusterName }),
    unknownKeys,
    incomplete:
      group.open ||
      written.open ||
      unread ||
      resource.role === 'kustomize-patch' ||
      (family !== undefined && known === undefined) ||
      ['amiFamily', 'availabilityZones', 'spot', 'volumeSize', 'maxPodsPerNode', 'name'].some((key) =>
        isUndecided(entryOf(group, key)?.value),
      ),
  };
}

function texts(map: MapNode, ...path: readonly string[]): readonly string[] | undefined {
  const items = itemsIn(map, ...path);
  const read = items.flatMap((item) => (isScalar(item) && !item.unknown ? [item.text] : []));
  return read.length === items.length ? read : undefined;
}

/** The types that a group names; `undefined` when something else chooses them. */
function typesOf(group: MapNode): readonly string[] | undefined {
  const keys = [
    'instanceType',
    'instanceTypes',
    'instancesDistribution',
    'instanceSelector',
    'launchTemplate',
  ];
  if (keys.some((key) => isUndecided(entryOf(group, key)?.value))) return undefined;
  if (entryOf(group, 'instanceSelector') !== undefined || entryOf(group, 'launchTemplate') !== undefined)
    return undefined;
  const one = textIn(group, 'instanceType');
  const several = [
    ...(texts(group, 'instanceTypes') ?? []),
    ...(texts(group, 'instancesDistribution', 'instanceTypes') ?? []),
  ];
  if (several.length > 0) return several;
  // With a distribution, `mixed` says that it names the types.
  return one === undefined || one === 'mixed' ? [defaultType] : [one];
}

function isSpot(group: MapNode): boolean {
  const above = numberIn(group, 'instancesDistribution', 'onDemandPercentageAboveBaseCapacity');
  const base = numberIn(group, 'instancesDistribution', 'onDemandBaseCapacity') ?? 0;
  return above === 0 && base === 0;
}

/** Managed groups list taints, the others may also map a key to `value:effect`. */
function taintsOf(group: MapNode): { readonly taints: readonly Taint[]; readonly unread: boolean } {
  const written = entryOf(group, 'taints')?.value;
  if (isSequence(written)) {
    const taints: Taint[] = [];
    let unread = written.open;
    for (const { key, value, effect } of readTaints(written)) {
      if (key === undefined || value === undefined || effect === undefined) unread = true;
      else taints.push({ key, value, effect });
    }
    return { taints, unread };
  }
  if (!isMap(written)) return { taints: [], unread: isUndecided(written) };
  const taints = written.entries.flatMap(({ key, value }): Taint[] => {
    if (!isScalar(value) || value.unknown) return [];
    const [text = '', effect = ''] = value.text.split(':');
    return [{ key: key.text, value: text, effect }];
  });
  return { taints, unread: isUndecided(written) };
}
