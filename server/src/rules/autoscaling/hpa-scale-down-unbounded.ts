import { isAiWorkload } from '../../kube/ai-workload';
import { autoscalerKinds, autoscalerOf, isBehaviorAbsent } from '../../kube/autoscalers';
import { podTemplates } from '../../kube/pod-carriers';
import { insertPath } from '../../yaml/edit';
import { entryOf, mapIn, scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';

/** A quarter of the replicas a minute: slower than the default, quick enough to follow a day's curve. */
const policy = { type: 'Percent', value: 25, periodSeconds: 60 } as const;

export default defineRule({
  id: 'hpa-scale-down-unbounded',
  summary: 'Without a scale-down policy an autoscaler may remove every replica above the minimum at once',
  severity: 'info',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined || !isBehaviorAbsent(autoscaler, 'scaleDown', 'policies')) return;
    const scaleDown = mapIn(autoscaler.behavior, 'scaleDown');
    if (scalarIn(scaleDown, 'selectPolicy')?.text === 'Disabled') return;
    const target = workspace.references(resource).target;
    if (target?.state !== 'found' || !podTemplates(target.resource).some(isAiWorkload)) return;
    const { minReplicas, maxReplicas } = autoscaler;
    // With one replica to spare there is nothing to spread over time.
    if (minReplicas.known && maxReplicas.known && maxReplicas.value - Math.max(1, minReplicas.value) < 2)
      return;
    const spec = mapIn(resource.root, 'spec');
    const at =
      (scaleDown === undefined ? undefined : entryOf(autoscaler.behavior, 'scaleDown')) ??
      entryOf(spec, 'behavior') ??
      entryOf(spec, resource.kind === 'ScaledObject' ? 'maxReplicaCount' : 'maxReplicas') ??
      entryOf(spec, 'scaleTargetRef');
    if (at === undefined) return;
    const edits = autoscaler.takesBehavior
      ? insertPath(
          resource.placed.document,
          resource.root,
          [...autoscaler.behaviorPath, 'scaleDown', 'policies'],
          [policy],
        )
      : undefined;
    const older = autoscaler.takesBehavior ? '' : ` (${resource.apiVersion} has none, autoscaling/v2 has)`;
    report({
      at,
      message: `No scale-down policy${older}: after the window the default removes 100 % of the replicas above the minimum within 15 s, and "${target.resource.name ?? target.resource.kind}" takes minutes to start again`,
      fixes: [
        edits === undefined
          ? undefined
          : {
              title: `Remove at most ${policy.value} % of the replicas in ${policy.periodSeconds} s`,
              safe: false,
              edits,
            },
      ],
    });
  },
});
