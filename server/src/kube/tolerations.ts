import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  itemsIn,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from '../yaml/node';
import { acceleratorsOfPod, isExtendedResource } from './accelerators';
import { containers } from './containers';
import type { PodTemplate } from './pod-carriers';
import { all, any, truth, type Truth } from './truth';

/** A text that may be absent (empty, as the API reads it) or only known later (`undefined`). */
type Text = string | undefined;

/** What a taint says. */
export interface TaintFields {
  readonly key: Text;
  readonly value: Text;
  readonly effect: Text;
}

export interface Taint extends TaintFields {
  readonly node: MapNode | undefined;
}

/** What a toleration says. */
export interface TolerationFields {
  readonly key: Text;
  /** `Equal` when it is not written. */
  readonly operator: Text;
  readonly value: Text;
  /** Empty: all effects. */
  readonly effect: Text;
}

export interface Toleration extends TolerationFields {
  /** `undefined` for one that the cluster adds. */
  readonly node: MapNode | undefined;
}

function textAt(map: MapNode, key: string, absent: string): Text {
  const value: YamlNode | undefined = entryOf(map, key)?.value;
  if (isNull(value)) return map.open ? undefined : absent;
  return isScalar(value) && !(value as ScalarNode).unknown ? value.text : undefined;
}

/** Reads `tolerations:` of a pod spec. */
export function tolerationsOf(template: PodTemplate): readonly Toleration[] {
  return itemsIn(template.spec, 'tolerations')
    .filter(isMap)
    .map((node) => ({
      key: textAt(node, 'key', ''),
      operator: textAt(node, 'operator', 'Equal'),
      value: textAt(node, 'value', ''),
      effect: textAt(node, 'effect', ''),
      node,
    }));
}

/** Reads a list of taints (`spec.taints` of a node, `spec.template.spec.taints` of a NodePool). */
export function readTaints(list: YamlNode | undefined): readonly Taint[] {
  if (list?.kind !== 'sequence') return [];
  return list.items.filter(isMap).map((node) => ({
    key: textAt(node, 'key', ''),
    value: textAt(node, 'value', ''),
    effect: textAt(node, 'effect', ''),
    node,
  }));
}

/**
 * Whether one toleration tolerates one taint, as `core/v1 Toleration.ToleratesTaint` decides it: effect, then key (an
 * empty one with Exists means all), then the value for Equal.
 */
export function tolerates(toleration: TolerationFields, taint: TaintFields): Truth {
  const effect: Truth =
    toleration.effect === ''
      ? 'yes'
      : toleration.effect === undefined || taint.effect === undefined
        ? 'unknown'
        : truth(toleration.effect === taint.effect);
  const key: Truth =
    toleration.key === ''
      ? 'yes'
      : toleration.key === undefined || taint.key === undefined
        ? 'unknown'
        : truth(toleration.key === taint.key);
  const equal: Truth =
    toleration.value === undefined || taint.value === undefined
      ? 'unknown'
      : truth(toleration.value === taint.value);
  const operator: Truth =
    toleration.operator === 'Exists'
      ? 'yes'
      : toleration.operator === 'Equal' || toleration.operator === ''
        ? toleration.key === ''
          ? 'no'
          : equal
        : // Lt and Gt compare numbers on clusters that have them; anything else the API server rejects.
          'unknown';
  return all([effect, key, operator]);
}

/**
 * Tolerations that the `ExtendedResourceToleration` admission plug-in adds, which EKS runs: one for each extended
 * resource that a container asks for.
 */
export function impliedTolerations(template: PodTemplate): readonly Toleration[] {
  const names = new Set<string>();
  for (const container of containers(template)) {
    for (const { name } of [...container.requests, ...container.limits]) {
      if (isExtendedResource(name)) names.add(name);
    }
  }
  for (const accelerator of acceleratorsOfPod(template)) {
    if (accelerator.unit !== 'claim') names.add(accelerator.resource);
  }
  return [...names].map((key) => ({
    key,
    operator: 'Exists',
    value: '',
    effect: 'NoSchedule',
    node: undefined,
  }));
}

/** Whether the list of tolerations may hold more than is written. */
function isOpen(template: PodTemplate): boolean {
  const list = entryOf(template.spec, 'tolerations')?.value;
  return (
    template.resource.role === 'kustomize-patch' ||
    (list === undefined ? template.spec.open : list.kind === 'sequence' ? list.open : !isNull(list))
  );
}

/** Whether a pod tolerates a taint: by its own tolerations, or by those that EKS adds. */
export function podTolerates(template: PodTemplate, taint: Taint): Truth {
  // A PreferNoSchedule taint never keeps a pod away.
  if (taint.effect === 'PreferNoSchedule') return 'yes';
  const result = any(
    [...tolerationsOf(template), ...impliedTolerations(template)].map((toleration) =>
      tolerates(toleration, taint),
    ),
  );
  return result === 'no' && isOpen(template) ? 'unknown' : result;
}
