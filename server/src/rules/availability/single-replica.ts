import { isServing } from '../../kube/ai-workload';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { scalarIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { leastReplicas, relatedTo } from './least-replicas';

export default defineRule({
  id: 'single-replica',
  summary: 'A model server runs with more than one replica',
  severity: 'off',
  strict: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch') return;
    const template = servingTemplate(resource);
    if (template === undefined) return;
    const least = leastReplicas(workspace, template);
    const at =
      (least?.autoscaler === undefined ? template.replicas.node : undefined) ??
      scalarIn(resource.root, 'metadata', 'name') ??
      scalarIn(resource.root, 'kind');
    if (least?.value !== 1 || at === undefined) return;
    if (mayBePatched(workspace, least.autoscaler ?? resource, 'eplicas')) return;
    const how =
      least.autoscaler === undefined
        ? template.replicas.node === undefined
          ? ' (the default)'
          : ''
        : `, down to which ${titleOf(least.autoscaler)} goes`;
    report({
      at,
      message: `${titleOf(resource)} runs with one replica${how}: each eviction, update and crash is an outage until the model is loaded again`,
      related: least.autoscaler === undefined ? [] : [relatedTo(template, least)],
    });
  },
});

/** What answers requests. Ray's head is always one pod; its workers are what there can be several of. */
function servingTemplate(resource: Resource): PodTemplate | undefined {
  const serving = podTemplates(resource).filter((template) => isServing(resource, template));
  if (resource.group !== 'ray.io') return serving[0];
  const workers = serving.filter(({ part }) => part === 'worker');
  const [only, ...others] = workers;
  // Ray's own autoscaler adds workers; several groups are several pods.
  return others.length > 0 || resource.placed.document.text.includes('enableInTreeAutoscaling')
    ? undefined
    : only;
}
