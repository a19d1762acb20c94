import { given, partIn, type Part } from '../../kube/part';
import type { Inspection } from './inspection';
import { checkSelector } from './selector';
import { checkAmount } from './workload';

const rule = 'pdb-both-bounds';

export function checkBudget(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  const least = given(spec, 'minAvailable');
  const most = given(spec, 'maxUnavailable');
  if (least !== undefined && most !== undefined && cx.isCertain) {
    cx.add(rule, most, 'The budget has both minAvailable and maxUnavailable, and takes one', {
      related: [{ resource: cx.resource, at: least, message: 'minAvailable' }],
      fixes: ['minAvailable', 'maxUnavailable'].map((key) => cx.removal(spec, key, `Remove ${key}`)),
    });
  }
  checkAmount(cx, spec, 'minAvailable', rule, 100);
  checkAmount(cx, spec, 'maxUnavailable', rule, 100);
  checkSelector(cx, partIn(spec, 'selector'), 'the selector');
}
