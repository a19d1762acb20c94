import { isAbsent } from '../../kube/resource';
import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import { appendItem, insertKey } from '../../yaml/edit';
import { entryOf, isSequence, mapIn, numberIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'nodepool-gpu-untainted',
  summary: 'A pool of accelerator nodes keeps other pods away with a taint',
  severity: 'warning',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (resource.group !== 'karpenter.sh') return;
    const spec = mapIn(resource.root, 'spec', 'template', 'spec');
    if (spec === undefined) return;
    const taints = entryOf(spec, 'taints')?.value;
    const isEmpty = isSequence(taints) && taints.items.length === 0 && !taints.open;
    if (!isEmpty && !isAbsent(resource, spec, 'taints')) return;
    const [accelerator, ...others] = acceleratorsOnly(resource);
    if (accelerator === undefined) return;
    const weight = numberIn(resource.root, 'spec', 'weight') ?? 0;
    const { document } = resource.placed;
    const taint = { key: accelerator, effect: 'NoSchedule' };
    const edits =
      others.length > 0
        ? undefined
        : isEmpty
          ? appendItem(document, taints, taint)
          : insertKey(document, spec, 'taints', [taint], { before: 'requirements' });
    const at = entryOf(spec, isEmpty ? 'taints' : 'requirements') ?? entryOf(spec, 'nodeClassRef');
    if (at === undefined) return;
    const worse =
      weight > 0
        ? `, and its weight of ${weight} makes Karpenter choose it before other pools for every pod`
        : '';
    report({
      at,
      message: `NodePool "${resource.name ?? ''}" launches only nodes with ${[accelerator, ...others].join(' or ')} and has no taint: any pod that fits is put on them and keeps them from being used or removed${worse}`,
      fixes: [
        edits === undefined
          ? undefined
          : { title: `Taint the nodes ${accelerator}:NoSchedule`, safe: false, edits },
      ],
    });
  },
});
