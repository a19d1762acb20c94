import {
  entryOf,
  isMap,
  isScalar,
  isSequence,
  itemsIn,
  mapIn,
  scalarIn,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from '../yaml/node';
import type { PodTemplate } from './pod-carriers';
import type { Truth } from './truth';

/** One requirement on node labels: of a NodePool, a node selector or a node affinity term. */
export interface NodeRequirement {
  readonly key: string;
  readonly keyNode: ScalarNode;
  /** `In` for an entry of a nodeSelector. `undefined` when it is not known. */
  readonly operator: string | undefined;
  /** `undefined` when some value is only known later. */
  readonly values: readonly string[] | undefined;
  readonly valueNodes: readonly YamlNode[];
  /** The whole requirement: the item of the list, or the value under a nodeSelector's key. */
  readonly node: YamlNode;
}

function fromItem(node: MapNode): NodeRequirement | undefined {
  const keyNode = scalarIn(node, 'key');
  if (keyNode === undefined || keyNode.unknown || keyNode.value === null) return undefined;
  const operator = scalarIn(node, 'operator');
  const values = entryOf(node, 'values')?.value;
  const valueNodes = isSequence(values) ? values.items : [];
  const known =
    !node.open &&
    (values === undefined || (isSequence(values) && !values.open)) &&
    valueNodes.every((value) => isScalar(value) && !value.unknown);
  return {
    key: keyNode.text,
    keyNode,
    operator: operator === undefined || operator.unknown ? undefined : operator.text,
    values: known ? valueNodes.map((value) => (isScalar(value) ? value.text : '')) : undefined,
    valueNodes,
    node,
  };
}

/** Reads a list of `{key, operator, values}`. */
export function readRequirements(list: YamlNode | undefined): readonly NodeRequirement[] {
  return itemsIn(list).flatMap((item) => (isMap(item) ? (fromItem(item) ?? []) : []));
}

/** The entries of `nodeSelector`, as requirements. */
export function nodeSelectorOf(template: PodTemplate): readonly NodeRequirement[] {
  const map = mapIn(template.spec, 'nodeSelector');
  return (map?.entries ?? [])
    .filter(({ key }) => !key.unknown)
    .map(({ key, value }) => ({
      key: key.text,
      keyNode: key,
      operator: 'In',
      values: isScalar(value) && !value.unknown ? [value.text] : undefined,
      valueNodes: [value],
      node: value,
    }));
}

/** What one pod asks of its node: any one alternative, every requirement of it. */
export interface NodeDemand {
  /** Never empty; a pod that asks nothing has one alternative without requirements. */
  readonly alternatives: readonly (readonly NodeRequirement[])[];
  /** A template or a patched object can add requirements. */
  readonly open: boolean;
}

/**
 * Node selector and required node affinity of a pod. The terms of the affinity are alternatives, each together with the
 * node selector; preferred terms ask nothing.
 */
export function nodeDemandOf(template: PodTemplate): NodeDemand {
  const selector = nodeSelectorOf(template);
  const required = mapIn(
    template.spec,
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
  );
  const list = entryOf(required, 'nodeSelectorTerms')?.value;
  const terms = itemsIn(list).filter(isMap);
  const selectorNode = entryOf(template.spec, 'nodeSelector')?.value;
  const affinityNode = entryOf(template.spec, 'affinity')?.value;
  const open =
    template.resource.role === 'kustomize-patch' ||
    template.spec.open ||
    [selectorNode, affinityNode, required, list, ...terms].some(
      (node) => node !== undefined && (node.kind === 'scalar' ? node.unknown : node.open),
    );
  const alternatives =
    terms.length === 0
      ? [selector]
      : terms.map((term) => [
          ...selector,
          ...readRequirements(entryOf(term, 'matchExpressions')?.value),
          ...readRequirements(entryOf(term, 'matchFields')?.value),
        ]);
  return { alternatives, open };
}

/** Every requirement of a pod, of all alternatives; for looking up which keys it names. */
export function allRequirements(template: PodTemplate): readonly NodeRequirement[] {
  return [...new Set(nodeDemandOf(template).alternatives.flat())];
}

/**
 * The values that a label may have, as Karpenter reckons: a set, or everything but a set, within bounds. `absent` tells
 * whether a node without the label will do.
 */
export interface ValueSet {
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  readonly above: number | undefined;
  readonly below: number | undefined;
  readonly absent: boolean;
}

const everything: ValueSet = {
  complement: true,
  values: new Set(),
  above: undefined,
  below: undefined,
  absent: true,
};

/** The values that one requirement allows; `undefined` when that is not known. */
export function valueSetOf(requirement: NodeRequirement): ValueSet | undefined {
  const { operator, values } = requirement;
  if (operator === undefined || values === undefined) return undefined;
  const bound = Number(values[0]);
  switch (operator) {
    case 'In':
      return { ...everything, complement: false, values: new Set(values), absent: false };
    case 'NotIn':
      return { ...everything, values: new Set(values) };
    case 'Exists':
      return { ...everything, absent: false };
    case 'DoesNotExist':
      return { ...everything, complement: false };
    case 'Gt':
      return Number.isNaN(bound) ? undefined : { ...everything, above: bound, absent: false };
    case 'Lt':
      return Number.isNaN(bound) ? undefined : { ...everything, below: bound, absent: false };
    case 'Gte':
      return Number.isNaN(bound) ? undefined : { ...everything, above: bound - 1, absent: false };
    case 'Lte':
      return Number.isNaN(bound) ? undefined : { ...everything, below: bound + 1, absent: false };
    default:
      return undefined;
  }
}

function within(value: string, above: number | undefined, below: number | undefined): boolean {
  if (above === undefined && below === undefined) return true;
  const number = Number(value);
  return (
    !Number.isNaN(number) &&
    (above === undefined || number > above) &&
    (below === undefined || number < below)
  );
}

function maximum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b);
}

function minimum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

export function allowsValue(set: ValueSet, value: string): boolean {
  return set.values.has(value) !== set.complement && within(value, set.above, set.below);
}

/** The values that both allow. */
export function intersect(a: ValueSet, b: ValueSet): ValueSet {
  const above = maximum(a.above, b.above);
  const below = minimum(a.below, b.below);
  const absent = a.absent && b.absent;
  if (a.complement && b.complement) {
    return { complement: true, values: new Set([...a.values, ...b.values]), above, below, absent };
  }
  const [listed, other] = a.complement ? [b, a] : [a, b];
  const values = [...listed.values].filter(
    (value) => allowsValue(other, value) && within(value, above, below),
  );
  return { complement: false, values: new Set(values), above: undefined, below: undefined, absent };
}

/** No value at all is left, and the label may not be missing either. */
export function isEmptySet(set: ValueSet): boolean {
  if (set.absent) return false;
  if (!set.complement) return set.values.size === 0;
  return set.above !== undefined && set.below !== undefined && set.below - set.above <= 1;
}

/** Whether two sets have a value in common. */
export function meets(a: ValueSet | undefined, b: ValueSet | undefined): Truth {
  if (a === undefined || b === undefined) return 'unknown';
  return isEmptySet(intersect(a, b)) ? 'no' : 'yes';
}
