import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { isAbsent } from '../../kube/resource';
import { mapIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';

export default defineRule({
  id: 'hpa-cannot-scale',
  summary: 'The minimum of an autoscaler is below its maximum',
  severity: 'warning',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'none',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    const spec = mapIn(resource.root, 'spec');
    if (autoscaler === undefined || spec === undefined) return;
    const { minReplicas, maxReplicas } = autoscaler;
    if (!minReplicas.known || !maxReplicas.known || minReplicas.value !== maxReplicas.value) return;
    // A ScaledObject still goes to zero and back, by idleReplicaCount.
    if (autoscaler.kind === 'ScaledObject' && !isAbsent(resource, spec, 'idleReplicaCount')) return;
    const at = maxReplicas.node ?? minReplicas.node;
    // A base leaves the numbers to its overlays.
    if (at === undefined || mayBePatched(workspace, resource, 'Replica')) return;
    const written = minReplicas.node === undefined ? ' (the default)' : '';
    report({
      at,
      message: `${titleOf(resource)} has the minimum ${minReplicas.value}${written} and the maximum ${maxReplicas.value}: whatever its metrics say, nothing scales`,
      related:
        minReplicas.node === undefined || minReplicas.node === at
          ? []
          : [{ resource, at: minReplicas.node, message: `The minimum is ${minReplicas.value}` }],
    });
  },
});
