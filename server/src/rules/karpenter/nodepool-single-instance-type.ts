import type { NodeRequirement } from '../../kube/requirements';
import { instanceTypes } from '../../sizing/nodes/instances';
import { typesOf } from '../../sizing/nodes/read-pool';
import { defineRule } from '../rule';
import { listWords } from '../placement/words';
import { isDynamic, isPreferred, isReserved, placeOf, requirementsOn } from './pool-facts';

export default defineRule({
  id: 'nodepool-single-instance-type',
  summary: 'A pool has several instance types to choose from',
  severity: 'info',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'none',
  check(resource, { report }) {
    if (!isDynamic(resource) || isReserved(resource) || isPreferred(resource)) return;
    const { types, complete } = typesOf(resource);
    if (!complete || types.length === 0 || types.length >= 3) return;
    const families = new Set(types.map(({ family }) => family));
    const names = new Set(types.map(({ name }) => name));
    // A family with no other type of the kind leaves no choice.
    const accelerated = types.some(
      ({ gpus, accelerators }) => gpus !== undefined || accelerators !== undefined,
    );
    const others = instanceTypes().filter(({ family, name }) => families.has(family) && !names.has(name));
    if (others.length === 0) return;
    const narrowing = narrowest(resource);
    if (narrowing === undefined) return;
    report({
      at: placeOf(narrowing),
      message: `NodePool "${resource.name ?? ''}" can launch ${listWords([...names])} only: when a zone has ${names.size === 1 ? 'none' : 'neither'} left${accelerated ? ', as is usual with GPUs,' : ''} pods stay pending, and spot nodes are interrupted more often`,
    });
  },
});

/** What narrows the choice: the list of types, else of sizes, else what is said of families. */
function narrowest(pool: Parameters<typeof requirementsOn>[0]): NodeRequirement | undefined {
  for (const key of [
    'node.kubernetes.io/instance-type',
    'karpenter.k8s.aws/instance-size',
    'eks.amazonaws.com/instance-size',
    'karpenter.k8s.aws/instance-cpu',
    'karpenter.k8s.aws/instance-gpu-count',
    'karpenter.k8s.aws/instance-family',
    'eks.amazonaws.com/instance-family',
  ]) {
    const [requirement] = requirementsOn(pool, key);
    if (requirement !== undefined) return requirement;
  }
  return undefined;
}
