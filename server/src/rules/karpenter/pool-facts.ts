import { readRequirements, type NodeRequirement } from '../../kube/requirements';
import { isAbsent, type Resource } from '../../kube/resource';
import { normaliseLabel } from '../../kube/value-set';
import { admits, readRequirements as readSets } from '../../kube/value-set';
import { acceleratorResource, readNodePool, typesOf } from '../../sizing/nodes/read-pool';
import { getIn, mapIn, type YamlNode } from '../../yaml/node';

export const capacityType = 'karpenter.sh/capacity-type';

/** The requirements of a pool on a label, as they are written. */
export function requirementsOn(pool: Resource, key: string): readonly NodeRequirement[] {
  return readRequirements(getIn(pool.root, 'spec', 'template', 'spec', 'requirements')).filter(
    (requirement) => normaliseLabel(requirement.key) === key,
  );
}

/** Whether a pool's nodes can have a value of a label; `undefined` when that cannot be read. */
export function allows(pool: Resource, key: string, value: string): boolean | undefined {
  const spec = readNodePool(pool);
  if (spec.incomplete === true || spec.unknownKeys?.includes(key) === true) return undefined;
  const set = readSets(spec.requirements).requirements.get(key);
  return set === undefined || admits(set, value);
}

/** A pool of Karpenter that is certainly not static: the number of its nodes follows the pods. */
export function isDynamic(pool: Resource): boolean {
  const spec = mapIn(pool.root, 'spec');
  return pool.group === 'karpenter.sh' && spec !== undefined && isAbsent(pool, spec, 'replicas');
}

/** Capacity that was reserved is of one kind in one place, on purpose. */
export function isReserved(pool: Resource): boolean {
  return requirementsOn(pool, capacityType).some(
    ({ operator, values }) => operator === 'In' && values?.includes('reserved') === true,
  );
}

/** Karpenter tries the pool before others, as one does with what is paid for already. */
export function isPreferred(pool: Resource): boolean {
  return (readNodePool(pool).weight ?? 0) > 0;
}

/** Some type that the pool may launch has accelerators. */
export function hasAccelerators(pool: Resource): boolean {
  return typesOf(pool).types.some((type) => acceleratorResource(type) !== undefined);
}

/**
 * Nodes of the other pool take the pods of this one: it has the same taints, and types in common.
 */
export function standsInFor(other: Resource, pool: Resource): boolean {
  const taintsOf = (resource: Resource): string =>
    (readNodePool(resource).taints ?? [])
      .map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`)
      .sort()
      .join(' ');
  if (taintsOf(pool) !== taintsOf(other)) return false;
  const names = new Set(typesOf(pool).types.map(({ name }) => name));
  return typesOf(other).types.some(({ name }) => names.has(name));
}

/** The one value of a requirement, else its key. */
export function placeOf({ keyNode, valueNodes }: NodeRequirement): YamlNode {
  const [value] = valueNodes;
  return value !== undefined && valueNodes.length === 1 ? value : keyNode;
}

const unitsInHours: Readonly<Record<string, number>> = {
  ns: 1 / 3.6e12,
  us: 1 / 3.6e9,
  ms: 1 / 3.6e6,
  s: 1 / 3600,
  m: 1 / 60,
  h: 1,
};

/** A duration of Go (`1h30m`) in hours; `undefined` for `Never` and for text that is none. */
export function hoursOf(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+$/.test(text)) return undefined;
  let hours = 0;
  for (const [, number = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)) {
    hours += Number(number) * (unitsInHours[unit] ?? 0);
  }
  return hours;
}
