import { isPathAbsent, type Resource } from '../../kube/resource';
import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import { insertKey, insertPath, replaceScalar } from '../../yaml/edit';
import { entryOf, isMap, isSequence, itemsIn, mapIn, scalarIn, textIn, type MapNode } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';

/** v1, and its name in v1beta1. */
const underutilized: readonly string[] = ['WhenEmptyOrUnderutilized', 'WhenUnderutilized'];

export default defineRule({
  id: 'nodepool-disrupts-gpu',
  summary:
    'Consolidation judges accelerator nodes by CPU and memory, and empties them while their GPUs are busy',
  severity: 'warning',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (resource.group !== 'karpenter.sh') return;
    const spec = mapIn(resource.root, 'spec');
    if (spec === undefined) return;
    const disruption = mapIn(spec, 'disruption');
    const policy = scalarIn(disruption, 'consolidationPolicy');
    const isDefault = isPathAbsent(resource, resource.root, 'spec', 'disruption', 'consolidationPolicy');
    if (!isDefault && (policy === undefined || policy.unknown || !underutilized.includes(policy.text)))
      return;
    if (textIn(disruption, 'consolidateAfter') === 'Never') return;
    // A static pool is not consolidated.
    if (!isPathAbsent(resource, resource.root, 'spec', 'replicas')) return;
    if (hasBudget(resource, disruption)) return;
    const accelerators = acceleratorsOnly(resource);
    const at =
      (isDefault ? undefined : policy) ?? entryOf(spec, 'disruption') ?? entryOf(resource.root, 'spec');
    if (accelerators.length === 0 || at === undefined) return;
    const name = policy === undefined || isDefault ? 'WhenEmptyOrUnderutilized (the default)' : policy.text;
    report({
      at,
      message: `${name} without a budget on NodePool "${resource.name ?? ''}" of ${accelerators.join(' and ')} nodes: utilisation is reckoned from CPU and memory requests, so a node with busy GPUs looks empty and its model servers are moved`,
      fixes: [whenEmpty(resource, spec, disruption, isDefault), oneAtATime(resource, disruption)],
    });
  },
});

/** A budget of the author's own that holds for this reason; without any, the default allows 10 % of the nodes. */
function hasBudget(resource: Resource, disruption: MapNode | undefined): boolean {
  if (isPathAbsent(resource, resource.root, 'spec', 'disruption', 'budgets')) return false;
  const budgets = entryOf(disruption, 'budgets')?.value;
  if (!isSequence(budgets) || budgets.open) return true;
  return budgets.items.some((budget) => {
    if (!isMap(budget)) return true;
    const reasons = itemsIn(budget, 'reasons');
    return (
      reasons.length === 0 ||
      reasons.some((reason) => reason.kind !== 'scalar' || reason.unknown || reason.text === 'Underutilized')
    );
  });
}

function whenEmpty(
  resource: Resource,
  spec: MapNode,
  disruption: MapNode | undefined,
  isDefault: boolean,
): Fix | undefined {
  const { document } = resource.placed;
  const policy = scalarIn(disruption, 'consolidationPolicy');
  const edits =
    !isDefault && policy !== undefined
      ? replaceScalar(document, policy, 'WhenEmpty')
      : disruption === undefined
        ? // The API wants the delay beside the policy; its default is 0s.
          insertKey(document, spec, 'disruption', {
            consolidationPolicy: 'WhenEmpty',
            consolidateAfter: '0s',
          })
        : insertKey(document, disruption, 'consolidationPolicy', 'WhenEmpty', { before: 'consolidateAfter' });
  return edits === undefined ? undefined : { title: 'Consolidate WhenEmpty only', safe: false, edits };
}

function oneAtATime(resource: Resource, disruption: MapNode | undefined): Fix | undefined {
  if (disruption === undefined) return undefined;
  const edits = insertPath(resource.placed.document, disruption, ['budgets'], [{ nodes: '1' }]);
  return edits === undefined ? undefined : { title: 'Disrupt at most 1 node at a time', safe: false, edits };
}
