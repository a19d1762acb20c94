import { autoscalerOf } from '../../kube/autoscalers';
import { triggersOf } from '../../kube/keda/read-triggers';
import { triggerTypes } from '../../kube/keda/trigger-types';
import { isAbsent, type Resource } from '../../kube/resource';
import { insertKey } from '../../yaml/edit';
import { mapIn } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';

/** Triggers that ask nobody who can be away: the HPA's own metrics, the clock, and the API server. */
const local: readonly string[] = ['cpu', 'memory', 'cron', 'kubernetes-workload', 'kubernetes-resource'];

/** Polls that may fail in a row: a minute and a half at the default interval, and a number to start from. */
const failures = 3;

export default defineRule({
  id: 'keda-missing-fallback',
  summary: 'A ScaledObject says what to do when the source of its metric fails',
  severity: 'info',
  needs: 'document',
  kinds: ['ScaledObject'],
  fixable: 'suggest',
  check(resource, { report }) {
    const spec = mapIn(resource.root, 'spec');
    if (spec === undefined || !isAbsent(resource, spec, 'fallback')) return;
    const trigger = triggersOf(resource).find(({ type }) => triggerTypes.has(type) && !local.includes(type));
    if (trigger === undefined) return;
    report({
      at: trigger.typeNode,
      message: `The ScaledObject has no fallback: while the source of the ${trigger.type} trigger does not answer, the HPA gets no value and adds no replica, whatever the load`,
      fixes: [addFallback(resource)],
    });
  },
});

function addFallback(resource: Resource): Fix | undefined {
  const spec = mapIn(resource.root, 'spec');
  const least = autoscalerOf(resource)?.minReplicas;
  if (spec === undefined || least?.known !== true) return undefined;
  const replicas = Math.max(1, least.value);
  const edits = insertKey(
    resource.placed.document,
    spec,
    'fallback',
    { failureThreshold: failures, replicas },
    { before: 'triggers' },
  );
  return edits === undefined
    ? undefined
    : {
        title: `Fall back to ${replicas} replica${replicas === 1 ? '' : 's'} after ${failures} failures`,
        safe: false,
        edits,
      };
}
