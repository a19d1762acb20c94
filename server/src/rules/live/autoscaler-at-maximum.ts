import { explain } from '../../autoscale/explain';
import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { counted } from '../../live/format';
import { replaceScalar } from '../../yaml/edit';
import { defineRule } from '../rule';
import { scalingOf } from './scaling-facts';

export default defineRule({
  id: 'autoscaler-at-maximum',
  summary: 'An autoscaler whose metrics ask for more than its maximum lets requests wait',
  severity: 'warning',
  needs: 'live',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, live }) {
    const scaling = scalingOf(live, live.at);
    const autoscaler = autoscalerOf(resource);
    if (scaling.kind !== 'known' || autoscaler === undefined) return;
    const { maximum, wanted, status, decision, spec } = scaling;
    if (wanted === undefined || wanted <= maximum || status.currentReplicas < maximum) return;
    const { maxReplicas } = autoscaler;
    // The file may say more by now than what is applied.
    if (!maxReplicas.known || maxReplicas.value > maximum || maxReplicas.node === undefined) return;
    const edits = replaceScalar(resource.placed.document, maxReplicas.node, wanted);
    report({
      at: maxReplicas.node,
      message: `${scaling.title} is at its maximum of ${maximum} and its metrics ask for ${wanted}; ${counted(wanted - maximum, 'replica')} too few, so requests wait`,
      fixes: [
        edits && { title: `Allow ${wanted} replicas, what the metrics ask for now`, safe: false, edits },
      ],
      evidence: [explain(decision, spec).summary],
    });
  },
});
