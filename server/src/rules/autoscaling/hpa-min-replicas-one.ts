import { acceleratorsOfPod } from '../../kube/accelerators';
import { isServing } from '../../kube/ai-workload';
import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { podTemplates } from '../../kube/pod-carriers';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, mapIn } from '../../yaml/node';
import { durationText } from '../cold-start/weights';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { slowestStart } from './cold-starts';

/** Seconds. A server that starts faster is back before most clients give up. */
const slow = 60;

export default defineRule({
  id: 'hpa-min-replicas-one',
  summary: 'A model server that takes minutes to start keeps two replicas',
  severity: 'info',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    const spec = mapIn(resource.root, 'spec');
    const target = workspace.references(resource).target;
    if (autoscaler === undefined || spec === undefined || target?.state !== 'found') return;
    if (resource.role === 'kustomize-patch') return;
    const { minReplicas, maxReplicas } = autoscaler;
    // A ScaledObject without a minimum goes to zero, which somebody who does not want that is told elsewhere.
    if (!minReplicas.known || minReplicas.value !== 1) return;
    if (maxReplicas.known && maxReplicas.value <= 1) return;
    const serves = podTemplates(target.resource).some(
      (template) => isServing(target.resource, template) && acceleratorsOfPod(template).length > 0,
    );
    if (!serves) return;
    const start = slowestStart(workspace, target.resource);
    if (start !== undefined && start.seconds < slow) return;
    const at = minReplicas.node ?? entryOf(spec, 'maxReplicas') ?? entryOf(spec, 'scaleTargetRef');
    const word = resource.kind === 'ScaledObject' ? 'minReplicaCount' : 'minReplicas';
    if (at === undefined || mayBePatched(workspace, resource, word)) return;
    const { document } = resource.placed;
    const edits =
      minReplicas.node === undefined
        ? insertKey(document, spec, word, 2, { before: 'maxReplicas' })
        : replaceScalar(document, minReplicas.node, 2);
    const how = minReplicas.node === undefined ? ' (the default)' : '';
    const wait =
      start === undefined
        ? 'a new one takes minutes'
        : `a new one takes about ${durationText(start.seconds)} on a node that is there`;
    report({
      at,
      message: `At low load one replica${how} of ${titleOf(target.resource)} is left: when it or its node goes, nobody answers, and ${wait}`,
      fixes: [edits && { title: 'Keep at least 2 replicas', safe: false, edits }],
      ...(start === undefined ? {} : { evidence: start.reasons }),
    });
  },
});
