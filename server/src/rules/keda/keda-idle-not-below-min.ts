import { countAt } from '../../kube/count';
import { mapIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'keda-idle-not-below-min',
  summary: 'idleReplicaCount of a ScaledObject must be below minReplicaCount',
  severity: 'error',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'none',
  check(resource, { report }) {
    const spec = mapIn(resource.root, 'spec');
    const idle = countAt(resource, spec, 'idleReplicaCount', undefined);
    const least = countAt(resource, spec, 'minReplicaCount', 0);
    if (!idle.known || idle.node === undefined || !least.known) return;
    // CheckReplicaCountBoundsAreValid takes an absent minimum for 0 and a written 0 for 1.
    const bound = least.node === undefined ? 0 : Math.max(least.value, 1);
    if (idle.value < bound) return;
    const minimum =
      least.node === undefined
        ? 'there is no minReplicaCount, which counts as 0'
        : `minReplicaCount is ${least.value}`;
    report({
      at: idle.node,
      message: `idleReplicaCount is ${idle.value} and ${minimum}; KEDA refuses the ScaledObject`,
      related:
        least.node === undefined
          ? []
          : [{ resource, at: least.node, message: `minReplicaCount is ${least.value}` }],
    });
  },
});
