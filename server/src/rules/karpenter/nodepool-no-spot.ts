import { typesOf } from '../../sizing/nodes/read-pool';
import { appendItem } from '../../yaml/edit';
import { entryOf, isSequence } from '../../yaml/node';
import { defineRule } from '../rule';
import {
  allows,
  capacityType,
  isDynamic,
  isPreferred,
  isReserved,
  requirementsOn,
  standsInFor,
} from './pool-facts';

export default defineRule({
  id: 'nodepool-no-spot',
  summary: 'A pool of types that spot has allows spot nodes too',
  severity: 'info',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (!isDynamic(resource) || isReserved(resource) || isPreferred(resource)) return;
    if (allows(resource, capacityType, 'on-demand') !== true) return;
    if (allows(resource, capacityType, 'spot') !== false) return;
    const [requirement] = requirementsOn(resource, capacityType);
    const { types } = typesOf(resource);
    // Of the largest accelerator types there is hardly any spot capacity.
    if (requirement === undefined || types.length === 0 || types.every(({ family }) => scarce.test(family)))
      return;
    const elsewhere = workspace
      .near(resource, 'NodePool', 'karpenter.sh')
      .some(
        (other) =>
          other !== resource && allows(other, capacityType, 'spot') !== false && standsInFor(other, resource),
      );
    if (elsewhere) return;
    const values = entryOf(requirement.node, 'values')?.value;
    const edits =
      requirement.operator === 'In' && isSequence(values)
        ? appendItem(resource.placed.document, values, 'spot')
        : undefined;
    report({
      at: requirement.valueNodes[0] ?? requirement.keyNode,
      message: `NodePool "${resource.name ?? ''}" launches on-demand nodes only: its pods pay the full price, also those that bear the two minutes' notice of an interruption`,
      fixes: [
        edits === undefined
          ? undefined
          : { title: 'Allow spot nodes too; Karpenter takes the cheaper first', safe: false, edits },
      ],
    });
  },
});

const scarce = /^(?:p4|p5|p6|trn)/;
