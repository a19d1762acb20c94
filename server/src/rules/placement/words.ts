import { formatBytes } from '../../kube/quantity';
import type { InstanceType } from '../../sizing/nodes/instances';

/** What one and several of a resource are called; other resources keep their names. */
const names: Readonly<Record<string, readonly [one: string, several: string]>> = {
  'nvidia.com/gpu': ['GPU', 'GPUs'],
  'amd.com/gpu': ['AMD GPU', 'AMD GPUs'],
  'habana.ai/gaudi': ['Gaudi device', 'Gaudi devices'],
  'aws.amazon.com/neuron': ['Neuron device', 'Neuron devices'],
  'aws.amazon.com/neuroncore': ['NeuronCore', 'NeuronCores'],
  'vpc.amazonaws.com/efa': ['EFA interface', 'EFA interfaces'],
  cpu: ['CPU', 'CPUs'],
  pods: ['pod', 'pods'],
};

const inBytes: Readonly<Record<string, string>> = {
  memory: 'memory',
  'ephemeral-storage': 'ephemeral storage',
};

/** Millicores as cores, with at most three digits behind the point. */
function cores(millicores: number): string {
  return String(millicores / 1000);
}

/** An amount of a resource in the units of the fit, without its name: `2`, `3.92`, `17 GiB`. */
export function bareAmount(resource: string, amount: number): string {
  if (resource === 'cpu') return cores(amount);
  return resource in inBytes || resource.startsWith('hugepages-') ? formatBytes(amount) : String(amount);
}

/** An amount of a resource in the units of the fit: `2 GPUs`, `17 CPUs`, `64 GiB of memory`. */
export function amountWords(resource: string, amount: number): string {
  const of = inBytes[resource];
  const bare = bareAmount(resource, amount);
  if (of !== undefined) return `${bare} of ${of}`;
  const [one, several] = names[resource] ?? [resource, resource];
  return `${bare} ${amount === 1 || (resource === 'cpu' && amount === 1000) ? one : several}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listWords(items: readonly string[], last = 'and'): string {
  return items.length < 2
    ? (items[0] ?? '')
    : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1) ?? ''}`;
}

/** The first of many, and how many more: `g5.xlarge, g5.2xlarge and 6 others`. */
export function someOf(items: readonly string[], most = 3, last = 'and'): string {
  if (items.length <= most) return listWords(items, last);
  const shown = items.slice(0, most - 1);
  return listWords([...shown, `${items.length - shown.length} others`], last);
}

/** USD per hour on demand, `$1.01/h`; `undefined` without a price. */
export function priceWords(type: InstanceType): string | undefined {
  return type.onDemandPrice === undefined ? undefined : `$${type.onDemandPrice.toFixed(2)}/h`;
}

/** `g5.xlarge ($1.01/h)`. */
export function typeWords(type: InstanceType): string {
  const price = priceWords(type);
  return price === undefined ? type.name : `${type.name} (${price})`;
}
