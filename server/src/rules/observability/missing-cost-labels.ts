import { isAiWorkload } from '../../kube/ai-workload';
import { podTemplates } from '../../kube/pod-carriers';
import { hasLabel } from '../../kube/selectors';
import { entryOf, mapIn, scalarIn } from '../../yaml/node';
import { listWords } from '../placement/words';
import { titleOf } from '../naming';
import { isNamedByOverlay } from '../overlays';
import { defineRule } from '../rule';

interface Options {
  readonly labels: readonly string[];
}

export default defineRule<Options>({
  id: 'missing-cost-labels',
  summary: 'Accelerator workloads have the labels that costs are allocated by',
  severity: 'off',
  strict: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  options: {
    labels: {
      default: ['team', 'cost-center'],
      description: 'The labels that the pods of each AI workload have',
      schema: { type: 'array', items: { type: 'string' } },
    },
  },
  check(resource, { report, workspace, options: { labels } }) {
    if (resource.role === 'kustomize-patch') return;
    const [template] = podTemplates(resource).filter(isAiWorkload);
    if (template === undefined) return;
    const own = mapIn(resource.root, 'metadata', 'labels');
    const missing = labels.filter(
      (label) =>
        // Operators hand the labels of the object on to their pods.
        hasLabel(template.labels, label) === 'no' ||
        (template.operatorOwned && !template.labels.values.has(label) && entryOf(own, label) === undefined),
    );
    if (missing.length === 0 || missing.some((label) => isNamedByOverlay(workspace, resource, label))) return;
    const at =
      entryOf(template.metadata, 'labels') ??
      scalarIn(resource.root, 'metadata', 'name') ??
      scalarIn(resource.root, 'kind');
    if (at === undefined) return;
    report({
      at,
      message: `The pods of ${titleOf(resource)} have no label ${listWords(missing)}: the cost of their accelerators is nobody's`,
    });
  },
});
