import { autoscalerOf, readsOnlyResources } from '../../kube/autoscalers';
import { triggersOf } from '../../kube/keda/read-triggers';
import { defineRule } from '../rule';
import { keepOneReplica, shownCount, targetKind } from './scaled-object';

export default defineRule({
  id: 'keda-cpu-trigger-scales-to-zero',
  summary: 'CPU and memory triggers alone cannot scale to zero',
  severity: 'error',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'suggest',
  check(resource, { report }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined || !readsOnlyResources(autoscaler)) return;
    const { minReplicas } = autoscaler;
    const kind = targetKind(resource);
    if (!minReplicas.known || minReplicas.value !== 0) return;
    // The webhook looks at these two kinds only.
    if (kind !== 'Deployment' && kind !== 'StatefulSet') return;
    const triggers = triggersOf(resource);
    const at = minReplicas.node ?? triggers[0]?.typeNode;
    if (at === undefined) return;
    const types = [...new Set(triggers.map(({ type }) => type))].join(' and ');
    report({
      at,
      message: `minReplicaCount is ${shownCount(minReplicas)} and all triggers are of type ${types}, which read nothing without a pod; KEDA's webhook refuses the ScaledObject`,
      fixes: [keepOneReplica(resource, minReplicas.node)],
    });
  },
});
