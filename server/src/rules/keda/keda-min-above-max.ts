import { autoscalerOf } from '../../kube/autoscalers';
import { defineRule } from '../rule';
import { shownCount } from './scaled-object';

export default defineRule({
  id: 'keda-min-above-max',
  summary: 'minReplicaCount of a ScaledObject must not be above maxReplicaCount',
  severity: 'error',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { report }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined) return;
    const { minReplicas, maxReplicas } = autoscaler;
    if (!minReplicas.known || !maxReplicas.known || minReplicas.value <= maxReplicas.value) return;
    const at = maxReplicas.node ?? minReplicas.node;
    if (at === undefined) return;
    report({
      at,
      message: `maxReplicaCount ${shownCount(maxReplicas)} is below minReplicaCount ${shownCount(minReplicas)}; the API server rejects the ScaledObject`,
      related:
        minReplicas.node === undefined || minReplicas.node === at
          ? []
          : [{ resource, at: minReplicas.node, message: `minReplicaCount is ${minReplicas.value}` }],
    });
  },
});
