import { isAbsent } from '../../kube/resource';
import { acceleratorResource, acceleratorsOnly, typesOf } from '../../sizing/nodes/read-pool';
import { insertKey } from '../../yaml/edit';
import { entryOf, isMap, mapIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'nodepool-missing-limits',
  summary: 'A NodePool without limits can grow without end',
  severity: 'warning',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (resource.group !== 'karpenter.sh') return;
    const spec = mapIn(resource.root, 'spec');
    const at = entryOf(resource.root, 'spec');
    if (spec === undefined || at === undefined) return;
    const limits = entryOf(spec, 'limits')?.value;
    const isEmpty = isMap(limits) && limits.entries.length === 0 && !limits.open;
    if (!isEmpty && !isAbsent(resource, spec, 'limits')) return;
    // A static pool has as many nodes as it says.
    if (!isAbsent(resource, spec, 'replicas')) return;
    const [accelerator] = acceleratorsOnly(resource);
    const [name, amount] = accelerator === undefined ? ['cpu', '1000'] : [accelerator, '16'];
    const edits = isEmpty
      ? insertKey(resource.placed.document, limits, name, amount)
      : insertKey(resource.placed.document, spec, 'limits', { [name]: amount }, { before: 'disruption' });
    // Only accelerators make the mistake a costly one within the hour.
    const costly = typesOf(resource).types.some((type) => acceleratorResource(type) !== undefined);
    report({
      ...(costly ? {} : { severity: 'info' as const }),
      at: isEmpty ? (entryOf(spec, 'limits') ?? at) : at,
      message: `NodePool "${resource.name ?? ''}" has no limits: a runaway autoscaler or a typing error in replicas launches nodes until the account's quota is used up`,
      fixes: [
        edits === undefined
          ? undefined
          : { title: `Limit the pool to ${name}: ${amount}`, safe: false, edits },
      ],
    });
  },
});
