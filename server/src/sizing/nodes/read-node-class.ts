import type { Resource } from '../../kube/resource';
import { entryOf, isMap, isNull, isScalar, itemsIn, mapIn, numberIn, textIn } from '../../yaml/node';
import type { MapNode, YamlNode } from '../../yaml/node';
import { amiFamilyOf, amiFamilyOfAlias } from './allocatable';
import type { AmiFamily, BlockDevice, KubeletSpec, NodeClassSpec } from './allocatable';
import type { NodeClass } from './pool';

/** Something at or below the node is only known later, or a template can add to it. */
export function isUndecided(node: YamlNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.kind === 'scalar') return node.unknown;
  if (node.open) return true;
  return node.kind === 'sequence'
    ? node.items.some(isUndecided)
    : node.entries.some(({ key, value }) => key.unknown || isUndecided(value));
}

/** The fields that decide what nodes offer; another one that is only known later changes nothing here. */
const decisive = [
  'amiFamily',
  'amiSelectorTerms',
  'kubelet',
  'blockDeviceMappings',
  'instanceStorePolicy',
  'networkInterfaces',
  'capacityReservationSelectorTerms',
  'ephemeralStorage',
] as const;

const unknown: NodeClass = { kind: 'unknown' };

const memo = new WeakMap<Resource, NodeClass>();

/** An EC2NodeClass, or a NodeClass of EKS Auto Mode, as plain data; unknown when a part that decides is. */
export function readNodeClass(resource: Resource): NodeClass {
  let known = memo.get(resource);
  if (known === undefined) memo.set(resource, (known = read(resource)));
  return known;
}

function read(resource: Resource): NodeClass {
  const spec = mapIn(resource.root, 'spec');
  if (spec === undefined || spec.open || resource.role === 'kustomize-patch') return unknown;
  if (decisive.some((key) => isUndecided(entryOf(spec, key)?.value))) return unknown;
  const reservations = itemsIn(spec, 'capacityReservationSelectorTerms').length > 0;
  if (resource.kind === 'NodeClass') {
    const size = textIn(spec, 'ephemeralStorage', 'size');
    return {
      kind: 'NodeClass',
      spec: size === undefined ? {} : { ephemeralStorage: size },
      reservations,
    };
  }
  const family = amiFamily(spec);
  if (family === 'unknown') return unknown;
  return { kind: 'EC2NodeClass', spec: nodeClassSpec(spec, family), reservations };
}

/** The alias of the AMI, such as `al2023@latest`. */
export function amiAlias(spec: MapNode | undefined): string | undefined {
  for (const term of itemsIn(spec, 'amiSelectorTerms')) {
    const alias = textIn(term, 'alias');
    if (alias !== undefined) return alias;
  }
  return undefined;
}

function amiFamily(spec: MapNode): AmiFamily | undefined | 'unknown' {
  const written = textIn(spec, 'amiFamily');
  if (written !== undefined) return amiFamilyOf(written) ?? 'unknown';
  const alias = amiAlias(spec);
  return alias === undefined ? undefined : (amiFamilyOfAlias(alias) ?? 'unknown');
}

function nodeClassSpec(spec: MapNode, family: AmiFamily | undefined): NodeClassSpec {
  const kubelet = mapIn(spec, 'kubelet');
  const devices = itemsIn(spec, 'blockDeviceMappings').filter(isMap);
  const policy = textIn(spec, 'instanceStorePolicy');
  const interfaces = entryOf(spec, 'networkInterfaces')?.value;
  return {
    ...(family !== undefined && { amiFamily: family }),
    ...(kubelet !== undefined && { kubelet: kubeletSpec(kubelet) }),
    ...(devices.length > 0 && { blockDeviceMappings: devices.map(blockDevice) }),
    ...(policy !== undefined && { instanceStorePolicy: policy }),
    ...(interfaces?.kind === 'sequence' && {
      networkInterfaces: interfaces.items.map((one) => {
        const index = numberIn(one, 'networkCardIndex');
        const type = textIn(one, 'interfaceType');
        return {
          ...(index !== undefined && { networkCardIndex: index }),
          ...(type !== undefined && { interfaceType: type }),
        };
      }),
    }),
  };
}

function quantities(map: MapNode | undefined): Readonly<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const { key, value } of map?.entries ?? []) {
    if (isScalar(value) && !isNull(value)) read[key.text] = value.text;
  }
  return read;
}

function kubeletSpec(kubelet: MapNode): KubeletSpec {
  const maxPods = numberIn(kubelet, 'maxPods');
  const podsPerCore = numberIn(kubelet, 'podsPerCore');
  return {
    ...(maxPods !== undefined && { maxPods }),
    ...(podsPerCore !== undefined && { podsPerCore }),
    kubeReserved: quantities(mapIn(kubelet, 'kubeReserved')),
    systemReserved: quantities(mapIn(kubelet, 'systemReserved')),
    evictionHard: quantities(mapIn(kubelet, 'evictionHard')),
  };
}

function blockDevice(device: MapNode): BlockDevice {
  const name = textIn(device, 'deviceName');
  const root = entryOf(device, 'rootVolume')?.value;
  const size = textIn(device, 'ebs', 'volumeSize');
  return {
    ...(name !== undefined && { deviceName: name }),
    ...(isScalar(root) && root.value === true && { rootVolume: true }),
    ...(size !== undefined && { volumeSize: size }),
  };
}
