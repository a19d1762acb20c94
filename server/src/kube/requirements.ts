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
import { truth, type Truth } from './truth';
import { admits, agree, valueSet, type ValueSet } from './value-set';

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
  /** The node selector has a key that is only known later: every alternative asks for something more. */
  readonly hidden: boolean;
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
  const hidden = isMap(selectorNode) && selectorNode.entries.some(({ key }) => key.unknown);
  const alternatives =
    terms.length === 0
      ? [selector]
      : terms.map((term) => [
          ...selector,
          ...readRequirements(entryOf(term, 'matchExpressions')?.value),
          ...readRequirements(entryOf(term, 'matchFields')?.value),
        ]);
  return { alternatives, open: open || hidden, hidden };
}

/** Every requirement of a pod, of all alternatives; for looking up which keys it names. */
export function allRequirements(template: PodTemplate): readonly NodeRequirement[] {
  return [...new Set(nodeDemandOf(template).alternatives.flat())];
}

/** The values that one requirement allows; `undefined` when that is not known, or the requirement is malformed. */
export function valueSetOf({ key, operator, values }: NodeRequirement): ValueSet | undefined {
  return operator === undefined || values === undefined ? undefined : valueSet({ key, operator, values });
}

export function allowsValue(set: ValueSet, value: string): boolean {
  return admits(set, value);
}

/** Whether two sets have a value in common, or the label may be missing for both. */
export function meets(a: ValueSet | undefined, b: ValueSet | undefined): Truth {
  return a === undefined || b === undefined ? 'unknown' : truth(agree(a, b));
}
