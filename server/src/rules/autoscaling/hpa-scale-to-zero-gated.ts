import { autoscalerOf } from '../../kube/autoscalers';
import { replaceScalar } from '../../yaml/edit';
import { entryOf, isMap, itemsIn, mapIn, textIn } from '../../yaml/node';
import { isAbsent, type Resource } from '../../kube/resource';
import { defineRule } from '../rule';

export default defineRule({
  id: 'hpa-scale-to-zero-gated',
  summary: 'minReplicas 0 needs a feature gate of the cluster, and a metric that is there without pods',
  severity: 'info',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'suggest',
  check(resource, { report }) {
    const minimum = autoscalerOf(resource)?.minReplicas;
    if (minimum?.known !== true || minimum.value !== 0 || minimum.node === undefined) return;
    const edits = replaceScalar(resource.placed.document, minimum.node, 1);
    const fixes = [edits && { title: 'Keep at least 1 replica', safe: false, edits }];
    if (outsideMetric(resource) === 'no') {
      report({
        at: minimum.node,
        severity: 'error',
        message:
          'minReplicas is 0 without an Object or External metric, and pods that do not run report nothing; the API server rejects the HorizontalPodAutoscaler',
        fixes,
      });
      return;
    }
    report({
      at: minimum.node,
      message:
        'minReplicas 0 is taken by Kubernetes 1.37, before that only with the alpha gate HPAScaleToZero, which EKS does not switch on; other clusters reject the HorizontalPodAutoscaler',
      fixes,
    });
  },
});

/** Whether some metric is there without a pod. */
function outsideMetric(resource: Resource): 'yes' | 'no' | 'unknown' {
  const spec = mapIn(resource.root, 'spec');
  const list = entryOf(spec, 'metrics')?.value;
  if (spec === undefined) return 'unknown';
  if (list?.kind !== 'sequence') return isAbsent(resource, spec, 'metrics') ? 'no' : 'unknown';
  const types = itemsIn(list).map((item) => (isMap(item) ? textIn(item, 'type') : undefined));
  if (types.some((type) => type === 'Object' || type === 'External')) return 'yes';
  return list.open || resource.role === 'kustomize-patch' || types.includes(undefined) ? 'unknown' : 'no';
}
