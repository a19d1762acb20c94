import type { Resource } from '../../kube/resource';
import { entryOf, mapIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';

export default defineRule({
  id: 'pdbs-overlap',
  summary: 'A pod is in one PodDisruptionBudget only',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['PodDisruptionBudget'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'policy' || resource.role !== 'resource') return;
    const spec = mapIn(resource.root, 'spec');
    const at = entryOf(spec, 'selector');
    if (at === undefined || mayBePatched(workspace, resource, 'selector')) return;
    for (const { template, match } of workspace.references(resource).templates) {
      // Where only one of them says its namespace, it may be another one.
      if (match !== 'yes' || template.resource.namespace !== resource.namespace) continue;
      const other = workspace
        .references(template.resource)
        .disruptionBudgets.filter((budget) => budget.match === 'yes' && budget.resource.role === 'resource')
        .map((budget) => budget.resource)
        .find((budget) => isAnother(budget, resource) && comesBefore(budget, resource));
      if (other === undefined) continue;
      report({
        at,
        message: `The pods of ${titleOf(template.resource)} are in ${titleOf(other)} too, and the API server evicts no pod that is in two: node drains, upgrades and Karpenter's consolidation wait for ever`,
        related: [
          {
            resource: other,
            at: entryOf(mapIn(other.root, 'spec'), 'selector') ?? other.root,
            message: `${titleOf(other)} selects them as well`,
          },
        ],
      });
      return;
    }
  },
});

/** Another budget of the namespace: the same name is the same object, written for several places. */
function isAnother(budget: Resource, resource: Resource): boolean {
  return budget.name !== resource.name && budget.namespace === resource.namespace;
}

/** One of two says it. */
function comesBefore(budget: Resource, resource: Resource): boolean {
  if (budget.uri !== resource.uri) return budget.uri < resource.uri;
  const [first, second] = [budget.placed.index, resource.placed.index];
  return first < second || (first === second && budget.root.start < resource.root.start);
}
