import { replaceScalar } from '../../yaml/edit';
import { isNull, mapIn, scalarIn } from '../../yaml/node';
import { isServing } from '../../kube/ai-workload';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule, type Related } from '../rule';
import { leastReplicas, relatedTo } from './least-replicas';

export default defineRule({
  id: 'pdb-below-two',
  summary: 'A PodDisruptionBudget of three replicas or more keeps two',
  severity: 'off',
  strict: 'info',
  needs: 'workspace',
  kinds: ['PodDisruptionBudget'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.group !== 'policy' || resource.role === 'kustomize-patch') return;
    const spec = mapIn(resource.root, 'spec');
    const minimum = scalarIn(spec, 'minAvailable');
    if (minimum === undefined || minimum.unknown || !isNull(scalarIn(spec, 'maxUnavailable'))) return;
    const percent = typeof minimum.value === 'string' ? /^(\d+)%$/.exec(minimum.value)?.[1] : undefined;
    if (typeof minimum.value !== 'number' && percent === undefined) return;
    let pods = 0;
    const related: Related[] = [];
    for (const { template, match } of workspace.references(resource).templates) {
      const least = leastReplicas(workspace, template);
      if (match !== 'yes' || least === undefined || template.groupSize.value !== 1) return;
      if (!isServing(template.resource, template)) return;
      pods += least.value;
      related.push(relatedTo(template, least));
    }
    const kept = percent === undefined ? Number(minimum.value) : Math.ceil((Number(percent) * pods) / 100);
    if (pods < 3 || kept >= 2 || mayBePatched(workspace, resource, 'minAvailable')) return;
    const edits = replaceScalar(resource.placed.document, minimum, 2);
    report({
      at: minimum,
      message: `${titleOf(resource)} lets all but ${kept === 0 ? 'none' : '1'} of ${pods} pods go at once: a drain leaves ${kept === 0 ? 'nothing that serves' : 'one that takes the load of all'}`,
      related,
      fixes: [edits && { title: 'Keep 2 pods', safe: false, edits }],
    });
  },
});
