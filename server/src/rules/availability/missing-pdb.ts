import { isServing } from '../../kube/ai-workload';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { readSelector } from '../../kube/selectors';
import { pathOf } from '../../workspace/paths';
import type { Workspace } from '../../workspace/workspace';
import { appendDocument } from '../../yaml/edit';
import { formatBlockEntry } from '../../yaml/format';
import { entryOf, getIn, isNull, scalarIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { hasOverlay, isNamedByOverlay } from '../overlays';
import { defineRule, type Fix } from '../rule';
import { leastReplicas, relatedTo, type LeastReplicas } from './least-replicas';
import { ownSelector } from './own-labels';

export default defineRule({
  id: 'missing-pdb',
  summary: 'A model server with several replicas has a PodDisruptionBudget',
  severity: 'info',
  strict: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    // Operators label their pods, and some make budgets, as they see fit.
    const template = podTemplates(resource).find(
      (candidate) => !candidate.operatorOwned && isServing(resource, candidate),
    );
    const at = scalarIn(resource.root, 'metadata', 'name') ?? scalarIn(resource.root, 'kind');
    if (template === undefined || at === undefined || resource.role === 'kustomize-patch') return;
    const least = leastReplicas(workspace, template);
    if (least === undefined || least.value < 2) return;
    if (workspace.references(resource).disruptionBudgets.length > 0) return;
    if (isSelectedAfterPatching(workspace, resource, template)) return;
    const { name, namespace, scope } = resource;
    const namesake =
      name === undefined ? undefined : workspace.find('PodDisruptionBudget', namespace, name, scope);
    report({
      at,
      message: messageOf(resource, least),
      related: [
        ...(least.autoscaler === undefined ? [] : [relatedTo(template, least)]),
        ...(namesake === undefined
          ? []
          : [
              {
                resource: namesake,
                at:
                  entryOf(getIn(namesake.root, 'spec'), 'selector') ??
                  entryOf(namesake.root, 'spec') ??
                  namesake.root,
                message: `${titleOf(namesake)} selects other labels`,
              },
            ]),
      ],
      fixes: [namesake === undefined ? budgetFix(resource, template) : undefined],
    });
  },
});

function messageOf(resource: Resource, { value, autoscaler }: LeastReplicas): string {
  const pods =
    autoscaler === undefined
      ? `the ${value} replicas of ${titleOf(resource)}`
      : `the pods of ${titleOf(resource)}, at least ${value} by ${titleOf(autoscaler)}`;
  return `No PodDisruptionBudget selects ${pods}: node drains and Karpenter may evict all of them at once`;
}

/** Whether a budget selects by labels that the template lacks but a kustomization names, and may so give to the pods. */
function isSelectedAfterPatching(workspace: Workspace, resource: Resource, template: PodTemplate): boolean {
  if (!hasOverlay(workspace, resource)) return false;
  return workspace.near(resource, 'PodDisruptionBudget').some((budget) => {
    const terms = readSelector(getIn(budget.root, 'spec', 'selector'))?.terms ?? [];
    const lacking = terms.filter(({ key }) => !template.labels.values.has(key));
    return lacking.length > 0 && lacking.every(({ key }) => isNamedByOverlay(workspace, resource, key));
  });
}

function budgetFix(resource: Resource, template: PodTemplate): Fix | undefined {
  const { document } = resource.placed;
  const { name, namespace } = resource;
  const written = entryOf(getIn(resource.root, 'metadata'), 'namespace')?.value;
  const selector = ownSelector(template);
  if (name === undefined || selector === undefined || document.templated) return undefined;
  if ((namespace === undefined && !isNull(written)) || pathOf(resource.uri).endsWith('.json'))
    return undefined;
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: { maxUnavailable: 1, selector },
  };
  const lines = Object.entries(budget).flatMap(([key, value]) =>
    formatBlockEntry(key, value, { indent: 2, listIndent: 2 }),
  );
  const edits = appendDocument(document, lines.join('\n'));
  return edits === undefined
    ? undefined
    : { title: 'Add a PodDisruptionBudget with maxUnavailable: 1', safe: false, edits };
}
