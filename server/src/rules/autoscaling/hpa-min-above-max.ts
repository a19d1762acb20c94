import { autoscalerOf } from '../../kube/autoscalers';
import { defineRule } from '../rule';

export default defineRule({
  id: 'hpa-min-above-max',
  summary: 'minReplicas of a HorizontalPodAutoscaler must not be above maxReplicas',
  severity: 'error',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { report }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined) return;
    const { minReplicas, maxReplicas } = autoscaler;
    if (!minReplicas.known || !maxReplicas.known || maxReplicas.node === undefined) return;
    if (minReplicas.value <= maxReplicas.value) return;
    const least =
      minReplicas.node === undefined ? `${minReplicas.value} (the default)` : String(minReplicas.value);
    report({
      at: maxReplicas.node,
      message: `maxReplicas ${maxReplicas.value} is below minReplicas ${least}; the API server rejects the HorizontalPodAutoscaler`,
      related:
        minReplicas.node === undefined
          ? []
          : [{ resource, at: minReplicas.node, message: `minReplicas is ${minReplicas.value}` }],
    });
  },
});
