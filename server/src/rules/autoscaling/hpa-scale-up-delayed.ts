import { isAiWorkload } from '../../kube/ai-workload';
import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { podTemplates } from '../../kube/pod-carriers';
import { replaceScalar } from '../../yaml/edit';
import { numberIn, scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'hpa-scale-up-delayed',
  summary: 'A model server that takes minutes to start is not made to wait before it is asked for',
  severity: 'info',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    const window = scalarIn(autoscaler?.behavior, 'scaleUp', 'stabilizationWindowSeconds');
    const seconds = numberIn(autoscaler?.behavior, 'scaleUp', 'stabilizationWindowSeconds');
    if (window === undefined || seconds === undefined || seconds <= 0) return;
    if (scalarIn(autoscaler?.behavior, 'scaleUp', 'selectPolicy')?.text === 'Disabled') return;
    const target = workspace.references(resource).target;
    if (target?.state !== 'found' || !podTemplates(target.resource).some(isAiWorkload)) return;
    const edits = replaceScalar(resource.placed.document, window, 0);
    report({
      at: window,
      message: `Load has to last ${seconds} s before "${target.resource.name ?? target.resource.kind}" gets a replica, which then takes minutes to load its model: requests queue all the while`,
      fixes: [edits && { title: 'Scale up at once (window 0 s, the default)', safe: false, edits }],
    });
  },
});
