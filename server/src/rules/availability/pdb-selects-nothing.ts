import { readSelector } from '../../kube/selectors';
import { scalableKinds } from '../autoscaling/scalable-kinds';
import { entryOf, getIn, mapIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { isNamedByOverlay } from '../overlays';
import { defineRule } from '../rule';

/** Kinds whose pods people protect with a budget of their own. */
const protectedKinds: readonly string[] = [...scalableKinds, 'DaemonSet'];

export default defineRule({
  id: 'pdb-selects-nothing',
  summary: 'A PodDisruptionBudget selects the pods of a workload',
  severity: 'info',
  needs: 'workspace',
  kinds: ['PodDisruptionBudget'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'policy' || resource.role !== 'resource') return;
    const spec = mapIn(resource.root, 'spec');
    const selector = readSelector(getIn(spec, 'selector'));
    const at = entryOf(spec, 'selector');
    if (selector === undefined || at === undefined || selector.open || selector.empty) return;
    if (selector.terms.some(({ values, operator }) => operator === undefined || values === undefined)) return;
    if (workspace.references(resource).templates.length > 0) return;
    const around = protectedKinds.flatMap((kind) => workspace.near(resource, kind));
    // Without a workload beside it, or with one that a template makes, the pods are simply not in sight.
    if (around.length === 0 || around.some(({ role }) => role !== 'resource')) return;
    if (selector.terms.some(({ key }) => isNamedByOverlay(workspace, resource, key))) return;
    const labels = selector.terms
      .map(({ key, operator, values }) =>
        operator === 'In' && values?.length === 1
          ? `${key}=${values[0] ?? ''}`
          : `${key} ${operator ?? ''}${values === undefined || values.length === 0 ? '' : ` ${values.join(', ')}`}`,
      )
      .join(', ');
    report({
      at,
      message: `No workload around ${titleOf(resource)} has pods with ${labels}: it protects nothing`,
    });
  },
});
