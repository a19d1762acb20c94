import { appendItem } from '../../yaml/edit';
import { entryOf, isSequence } from '../../yaml/node';
import { defineRule } from '../rule';
import { allows, capacityType, hasAccelerators, requirementsOn, standsInFor } from './pool-facts';

export default defineRule({
  id: 'nodepool-spot-only',
  summary: 'A pool of spot nodes alone has nothing to launch when spot capacity is gone',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.sh') return;
    if (allows(resource, capacityType, 'spot') !== true) return;
    if (
      allows(resource, capacityType, 'on-demand') !== false ||
      allows(resource, capacityType, 'reserved') !== false
    )
      return;
    const [requirement] = requirementsOn(resource, capacityType);
    if (requirement === undefined) return;
    const fallback = workspace
      .near(resource, 'NodePool', 'karpenter.sh')
      .some(
        (other) =>
          other !== resource &&
          allows(other, capacityType, 'on-demand') !== false &&
          standsInFor(other, resource),
      );
    if (fallback) return;
    const accelerated = hasAccelerators(resource);
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
