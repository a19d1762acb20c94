import { readRequirements } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { acceleratorResource, readNodePool, typesOf } from '../../sizing/nodes/read-pool';
import { admits, readRequirements as readSets } from '../../kube/value-set';
import { appendItem } from '../../yaml/edit';
import { entryOf, getIn, isSequence } from '../../yaml/node';
import { defineRule } from '../rule';

const capacityType = 'karpenter.sh/capacity-type';

/** Whether a pool's nodes can be of a capacity type; `undefined` when that cannot be read. */
function allows(pool: Resource, value: string): boolean | undefined {
  const spec = readNodePool(pool);
  if (spec.incomplete === true || spec.unknownKeys?.includes(capacityType) === true) return undefined;
  const set = readSets(spec.requirements).requirements.get(capacityType);
  return set === undefined || admits(set, value);
}

/** Nodes of the other pool take the pods of this one: the same taints, and the labels that this one sets. */
function standsInFor(other: Resource, pool: Resource): boolean {
  const a = readNodePool(pool);
  const b = readNodePool(other);
  const taintsOf = (taints: typeof a.taints): string =>
    (taints ?? [])
      .map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`)
      .sort()
      .join(' ');
  if (taintsOf(a.taints) !== taintsOf(b.taints)) return false;
  const names = new Set(typesOf(pool).types.map(({ name }) => name));
  return typesOf(other).types.some(({ name }) => names.has(name));
}

export default defineRule({
  id: 'nodepool-spot-only',
  summary: 'A pool of spot nodes alone has nothing to launch when spot capacity is gone',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.sh') return;
    if (allows(resource, 'spot') !== true) return;
    if (allows(resource, 'on-demand') !== false || allows(resource, 'reserved') !== false) return;
    const requirement = readRequirements(
      getIn(resource.root, 'spec', 'template', 'spec', 'requirements'),
    ).find(({ key }) => key === capacityType);
    if (requirement === undefined) return;
    const fallback = workspace
      .near(resource, 'NodePool', 'karpenter.sh')
      .some(
        (other) => other !== resource && allows(other, 'on-demand') !== false && standsInFor(other, resource),
      );
    if (fallback) return;
    const accelerated = typesOf(resource).types.some((type) => acceleratorResource(type) !== undefined);
    const values = entryOf(requirement.node, 'values')?.value;
    const edits =
      requirement.operator === 'In' && isSequence(values)
        ? appendItem(resource.placed.document, values, 'on-demand')
        : undefined;
    report({
      at: requirement.valueNodes[0] ?? requirement.keyNode,
      message: `NodePool "${resource.name ?? ''}" launches spot nodes only: when ${accelerated ? 'GPU ' : ''}spot capacity runs out, its pods stay Pending and an interruption takes replicas without replacement`,
      // Pods that hold a model cannot move in the two minutes of an interruption; others usually can.
      ...(accelerated ? {} : { severity: 'info' as const }),
      fixes: [
        edits === undefined
          ? undefined
          : {
              title: 'Allow on-demand nodes too; Karpenter takes the cheaper spot first',
              safe: false,
              edits,
            },
      ],
    });
  },
});
