import { parseQuantity } from '../../kube/quantity';

/**
 * Amounts by resource name: `cpu` in millicores, `memory`, `ephemeral-storage` and `hugepages-*` in bytes, every
 * other resource in pieces. Whole numbers, rounded up as the scheduler rounds, so that sums and comparisons are exact.
 */
export type ResourceList = Readonly<Record<string, number>>;

/** Resource quantities as a manifest writes them. Anything that is no quantity makes that resource unknown. */
export type QuantityList = Readonly<Record<string, unknown>>;

const milli = 1_000_000n;
const one = 1_000_000_000n;

/** Nearly every quantity has this form, whose value in pieces is exact in a double. */
const plain = /^(\d{1,9})(m|Ki|Mi|Gi)?$/;
const factors = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 } as const;

function plainAmount(resource: string, text: string): number | undefined {
  const match = plain.exec(text);
  if (match === null) return undefined;
  const number = Number(match[1]);
  if (match[2] === 'm') return resource === 'cpu' ? number : Math.ceil(number / 1000);
  const factor = match[2] === undefined ? 1 : factors[match[2] as keyof typeof factors];
  return number * factor * (resource === 'cpu' ? 1000 : 1);
}

/** One quantity in the unit of {@link ResourceList}; `undefined` when it cannot be read. */
export function amount(resource: string, value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const simple = plainAmount(resource, String(value));
  if (simple !== undefined) return simple;
  const quantity = parseQuantity(String(value));
  if (quantity === undefined) return undefined;
  const unit = resource === 'cpu' ? milli : one;
  const whole = quantity.nanos / unit;
  return Number(quantity.nanos % unit > 0n ? whole + 1n : whole);
}

/** Amounts that could be read, and the names of those that could not. */
export interface Amounts {
  readonly amounts: ResourceList;
  readonly unknown: readonly string[];
}

/** Reads a list of quantities. */
export function amountsOf(list: QuantityList | undefined): Amounts {
  const amounts: Record<string, number> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(list ?? {})) {
    const read = amount(name, value);
    if (read === undefined) unknown.push(name);
    else amounts[name] = read;
  }
  return { amounts, unknown };
}

/** The part of a container that decides what it asks of a node. */
export interface ContainerResources {
  readonly requests?: QuantityList;
  readonly limits?: QuantityList;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
}

/** The part of a pod that decides what it asks of a node. */
export interface PodResources {
  readonly containers: readonly ContainerResources[];
  readonly initContainers?: readonly ContainerResources[];
  /** `spec.overhead`, which a RuntimeClass adds. */
  readonly overhead?: QuantityList;
  /** `spec.resources`: the pod-level requests and limits of Kubernetes 1.34. */
  readonly podLevel?: Pick<ContainerResources, 'requests' | 'limits'>;
}

function add(to: Record<string, number>, from: ResourceList): void {
  for (const name of Object.keys(from)) to[name] = (to[name] ?? 0) + (from[name] ?? 0);
}

function raise(to: Record<string, number>, from: ResourceList): void {
  for (const name of Object.keys(from)) to[name] = Math.max(to[name] ?? 0, from[name] ?? 0);
}

/** A container's requests with the API server's defaulting: what is limited and not requested is requested. */
function containerRequests(container: ContainerResources, unknown: Set<string>): ResourceList {
  const requests = amountsOf({ ...container.limits, ...container.requests });
  for (const name of requests.unknown) unknown.add(name);
  return requests.amounts;
}

function podLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/**
 * What the scheduler reserves for a pod (`k8s.io/component-helpers/resource`): the main containers and sidecars
 * together, or one init container with the sidecars started before it where that is more, per resource; plus the
 * overhead. Pod-level requests replace the sum for the resources that they name.
 */
export function podRequests(pod: PodResources): Amounts {
  const unknown = new Set<string>();
  const total: Record<string, number> = {};
  for (const container of pod.containers) add(total, containerRequests(container, unknown));

  const sidecars: Record<string, number> = {};
  const starting: Record<string, number> = {};
  for (const container of pod.initContainers ?? []) {
    const requests = containerRequests(container, unknown);
    if (container.restartPolicy === 'Always') {
      add(total, requests);
      add(sidecars, requests);
      raise(starting, sidecars);
    } else {
      const alone: Record<string, number> = { ...sidecars };
      add(alone, requests);
      raise(starting, alone);
    }
  }
  raise(total, starting);

  if (pod.podLevel !== undefined) {
    const requests = amountsOf(pod.podLevel.requests);
    const limits = amountsOf(pod.podLevel.limits);
    for (const name of Object.keys(limits.amounts)) {
      if (podLevelResource(name)) total[name] ??= limits.amounts[name] ?? 0;
    }
    for (const name of Object.keys(requests.amounts)) {
      if (podLevelResource(name)) total[name] = requests.amounts[name] ?? 0;
    }
    for (const name of requests.unknown) unknown.add(name);
  }

  const overhead = amountsOf(pod.overhead);
  for (const name of overhead.unknown) unknown.add(name);
  add(total, overhead.amounts);
  return { amounts: total, unknown: [...unknown] };
}
