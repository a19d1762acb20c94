import { partIn, textAt, wholeAt, type Part } from '../../kube/part';
import type { Inspection } from './inspection';

/** `HighestUserDefinablePriority` of `k8s.io/kubernetes/pkg/apis/scheduling`; above it are the two classes of the system. */
const highest = 1_000_000_000;

export function checkPriorityClass(cx: Inspection, root: Part): void {
  const name = textAt(partIn(root, 'metadata'), 'name');
  if (name?.text === 'system-node-critical' || name?.text === 'system-cluster-critical') return;
  if (name?.text.startsWith('system-') === true)
    cx.add(
      'name-invalid',
      name.node,
      `The name ${name.text} starts with "system-", which the system keeps for itself`,
    );
  const value = wholeAt(root, 'value');
  if (value !== undefined && value.value > highest)
    cx.add(
      'number-out-of-range',
      value.node,
      `The value of the PriorityClass is ${value.value}, and up to ${highest} is allowed`,
    );
}
