import type { PodTemplate } from '../../kube/pod-carriers';
import { tolerationsOf } from '../../kube/tolerations';
import { agree, normaliseLabel, readRequirements, valueSet, type Requirements } from '../../kube/value-set';
import type { AdmittedTypes } from '../../sizing/nodes/fit';
import type { PoolExplanation } from '../../sizing/nodes/explain';
import { labelMeaning, nodePoolLabel } from '../../sizing/nodes/labels';
import type { PodSpec } from '../../sizing/nodes/pod';
import { poolLabels, type PoolSpec } from '../../sizing/nodes/pool';
import { acceleratorFamilies, type AcceleratorFamily } from './demand';
import type { Pool, Surroundings } from './surroundings';

const own = new WeakMap<PoolSpec, Requirements>();

/** Labels by which a pool can be told from others: its name, and what nobody but pools decides. */
function ownLabels(spec: PoolSpec): Requirements {
  let known = own.get(spec);
  if (known === undefined) own.set(spec, (known = readOwnLabels(spec)));
  return known;
}

function readOwnLabels(spec: PoolSpec): Requirements {
  const provider = spec.kind === 'node-group' ? 'node-group' : spec.provider;
  const { requirements } = readRequirements(
    spec.kind === 'node-pool' ? spec.requirements : [],
    poolLabels(spec),
  );
  return new Map(
    [...requirements].filter(
      ([key]) => key === nodePoolLabel || labelMeaning(key, provider).kind === 'custom',
    ),
  );
}

/** Whether a pod asks for a label that the pool gives to its nodes, so that it means this pool. */
export function namesPool(pod: PodSpec, spec: PoolSpec): boolean {
  const labels = ownLabels(spec);
  const asked = [
    ...Object.entries(pod.nodeSelector ?? {}).map(([key, value]) => ({
      key,
      operator: 'In',
      values: [value],
    })),
    ...(pod.requiredTerms ?? []).flatMap(({ matchExpressions }) => matchExpressions ?? []),
  ];
  return asked.some((requirement) => {
    const set = valueSet(requirement);
    const offered = labels.get(normaliseLabel(requirement.key));
    return set !== undefined && offered !== undefined && !set.complement && set.values.size > 0
      ? agree(offered, set)
      : false;
  });
}

/** Whether a pod tolerates a taint of the pool by its key, which it would not without knowing the pool. */
export function knowsTaint(template: PodTemplate, spec: PoolSpec): boolean {
  const keys = (spec.taints ?? []).map(({ key }) => key);
  return tolerationsOf(template).some(({ key }) => key !== undefined && keys.includes(key));
}

function familiesOf({ types }: AdmittedTypes): ReadonlySet<AcceleratorFamily | 'none'> {
  const families = new Set<AcceleratorFamily | 'none'>();
  for (const { gpus, accelerators } of types) {
    if (gpus !== undefined) families.add(gpus.manufacturer === 'habana' ? 'gaudi' : 'gpu');
    else if (accelerators?.manufacturer === 'aws') families.add('neuron');
    else families.add('none');
  }
  return families;
}

/** Whether a pool makes nodes with the kind of accelerators that the pod asks for, or without when it asks for none. */
export function isOfItsKind(template: PodTemplate, surroundings: Surroundings, pool: Pool): boolean {
  const asked = acceleratorFamilies(template);
  const offered = familiesOf(surroundings.typesOf(pool));
  if (asked.size === 0) return offered.has('none');
  return [...asked].some((family) => offered.has(family));
}

/** A pool that the pod could mean, with why it cannot run there. */
export interface MeantPool {
  readonly explanation: PoolExplanation;
  /** The pod names the pool by a label. */
  readonly named: boolean;
}

/**
 * Of the pools in which a pod cannot run, those that it could mean: that it names, or that do not keep it out by
 * taints and labels of their own and have nodes of the kind that it asks for.
 */
export function meantPools(
  template: PodTemplate,
  pod: PodSpec,
  surroundings: Surroundings,
  explanations: readonly PoolExplanation[],
): readonly MeantPool[] {
  return explanations.flatMap((explanation): MeantPool[] => {
    const { pool, exclusions } = explanation;
    if (exclusions.some(({ kind }) => kind === 'empty-pool')) return [];
    const named = namesPool(pod, pool);
    if (named) return [{ explanation, named }];
    const provider = pool.kind === 'node-group' ? 'node-group' : pool.provider;
    const keptOut = exclusions.some(
      (exclusion) =>
        exclusion.kind === 'taint' ||
        (exclusion.kind === 'label' &&
          (exclusion.key === nodePoolLabel || labelMeaning(exclusion.key, provider).kind === 'custom')),
    );
    const found = surroundings.poolOf(pool);
    return keptOut || found === undefined || !isOfItsKind(template, surroundings, found)
      ? []
      : [{ explanation, named }];
  });
}
