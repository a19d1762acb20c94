import { isExtendedResource } from '../../kube/accelerators';
import { qualifiedName } from '../../kube/names';
import { given, type Part } from '../../kube/part';
import { isInteger, quantityOf } from '../../kube/quantity';
import { entryOf, isMap, isScalar, type MapNode, type ScalarNode } from '../../yaml/node';
import { shown, type Inspection } from './inspection';

/** What a container can ask for without a domain in its name. */
const ofContainers: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** Standard names that mean something elsewhere (quotas, claims), and nothing for a container. */
const ofOthers: readonly string[] = [
  'storage',
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
];

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/**
 * What is wrong with the name of a resource of a container: neither one of Kubernetes' own nor one with a domain
 * (`pkg/apis/core/validation.ValidateContainerResourceName`).
 */
export function resourceNameFlaw(name: string): string | undefined {
  const form = qualifiedName.flaw(name);
  if (form !== undefined) return `not ${qualifiedName.name}: ${form}`;
  if (!name.includes('/')) {
    return ofContainers.includes(name) || isHugePages(name)
      ? undefined
      : ofOthers.includes(name)
        ? 'nothing that a container asks for'
        : 'neither cpu, memory, ephemeral-storage nor a name with a domain';
  }
  const domain = name.slice(0, name.indexOf('/'));
  if (domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io')) return undefined;
  if (name.startsWith('requests.')) return 'the form of quotas, and a container asks for the resource itself';
  return qualifiedName.flaw(`requests.${name}`) === undefined
    ? undefined
    : 'too long for the quota of a device';
}

export function checkResources(cx: Inspection, resources: Part | undefined, title: string): void {
  if (resources === undefined) return;
  for (const half of ['requests', 'limits'] as const) {
    const map = given(resources, half)?.value;
    if (!isMap(map)) continue;
    for (const { key, value } of map.entries) {
      if (key.unknown) continue;
      checkName(cx, map, key, title, half);
      checkAmount(cx, key.text, value, `${title} ${half === 'requests' ? 'requests' : 'is limited to'}`);
    }
  }
}

function checkName(cx: Inspection, map: MapNode, key: ScalarNode, title: string, half: string): void {
  const flaw = resourceNameFlaw(key.text);
  if (flaw === undefined) return;
  cx.add('resource-name-unknown', key, `${title} has ${shown(key.text)} in its ${half}, which is ${flaw}`, {
    fixes: [renamed(cx, map, key)],
  });
}

/** Short names of devices, which lie near to `cpu` only by their letters. */
const devices: readonly { readonly pattern: RegExp; readonly name: string }[] = [
  { pattern: /^(nvidia[-_.]?)?gpus?$/i, name: 'nvidia.com/gpu' },
  { pattern: /^neurons?$/i, name: 'aws.amazon.com/neuron' },
  { pattern: /^efas?$/i, name: 'vpc.amazonaws.com/efa' },
];

function renamed(cx: Inspection, map: MapNode, key: ScalarNode) {
  const device = devices.find(({ pattern }) => pattern.test(key.text));
  if (device !== undefined) {
    return entryOf(map, device.name) === undefined
      ? cx.write(key, device.name, `Write ${device.name}`)
      : undefined;
  }
  return cx.meantKey(map, key, [
    ...ofContainers,
    'nvidia.com/gpu',
    'aws.amazon.com/neuron',
    'vpc.amazonaws.com/efa',
  ]);
}

/** Amounts below 0, and halves of huge pages. Other broken numbers have rules of their own. */
function checkAmount(
  cx: Inspection,
  name: string,
  value: Parameters<typeof quantityOf>[0],
  who: string,
): void {
  const quantity = quantityOf(value);
  if (quantity === undefined || value === undefined || !isScalar(value)) return;
  if (quantity.nanos < 0n) {
    cx.add('quantity-out-of-range', value, `${who} ${value.text} ${name}, and 0 or more is allowed`, {
      fixes: [
        cx.write(value, value.text.trim().replace(/^-/, ''), `Write ${value.text.trim().replace(/^-/, '')}`),
      ],
    });
  } else if (isHugePages(name)) {
    const size = quantityOf({
      ...value,
      text: name.slice('hugepages-'.length),
      value: name.slice('hugepages-'.length),
    });
    if (size !== undefined && size.nanos > 0n && quantity.nanos % size.nanos !== 0n) {
      cx.add(
        'quantity-out-of-range',
        value,
        `${who} ${value.text} of ${name}, which is not a whole number of pages`,
      );
    }
  }
}

/** Amounts of quotas, ranges and claims: not below 0. */
export function checkNotNegative(
  cx: Inspection,
  map: Part | undefined,
  what: string,
  wholeNumbers = false,
): void {
  if (map === undefined) return;
  for (const { key, value } of map.map.entries) {
    const quantity = key.unknown ? undefined : quantityOf(value);
    if (quantity === undefined) continue;
    if (quantity.nanos < 0n) {
      cx.add('quantity-out-of-range', value, `${what} ${key.text} is below 0`);
    } else if (wholeNumbers && isCounted(key.text) && !isInteger(quantity)) {
      cx.add('quantity-out-of-range', value, `${what} ${key.text} is no whole number`);
    }
  }
}

/** Resources of a quota that are counted in pieces (`pkg/apis/core/helper.IsIntegerResourceName`). */
function isCounted(name: string): boolean {
  return (
    [
      'pods',
      'services',
      'replicationcontrollers',
      'resourcequotas',
      'secrets',
      'configmaps',
      'persistentvolumeclaims',
      'services.nodeports',
      'services.loadbalancers',
    ].includes(name) ||
    name.startsWith('count/') ||
    (name.includes('/') && !name.startsWith('requests.') && isExtendedResource(name))
  );
}
