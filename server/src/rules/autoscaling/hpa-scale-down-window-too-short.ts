import { isAiWorkload } from '../../kube/ai-workload';
import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { podTemplates } from '../../kube/pod-carriers';
import { replaceScalar } from '../../yaml/edit';
import { numberIn, scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';

/**
 * Seconds: the controller's own default (`--horizontal-pod-autoscaler-downscale-stabilization`, 5 minutes), in
 * https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
 */
const advised = 300;

export default defineRule({
  id: 'hpa-scale-down-window-too-short',
  summary: 'A scale-down window below 300 s gives up replicas that take minutes to come back',
  severity: 'warning',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    const window = scalarIn(autoscaler?.behavior, 'scaleDown', 'stabilizationWindowSeconds');
    const seconds = numberIn(autoscaler?.behavior, 'scaleDown', 'stabilizationWindowSeconds');
    if (window === undefined || seconds === undefined || seconds >= advised || seconds < 0) return;
    // A window that may be short anyway, as nothing scales down.
    if (scalarIn(autoscaler?.behavior, 'scaleDown', 'selectPolicy')?.text === 'Disabled') return;
    // A target that is known and serves no model starts in seconds; one that is not in sight may be anything.
    const target = workspace.references(resource).target;
    if (target?.state === 'found' && !podTemplates(target.resource).some(isAiWorkload)) return;
    const edits = replaceScalar(resource.placed.document, window, advised);
    report({
      at: window,
      message: `The scale-down window is ${seconds} s, below the default of ${advised} s: a short lull removes model servers, and their node, image and weights take minutes to come back`,
      fixes: [
        edits === undefined
          ? undefined
          : { title: `Wait ${advised} s before scaling down`, safe: false, edits },
      ],
    });
  },
});
