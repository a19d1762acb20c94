import { isAiWorkload } from '../../kube/ai-workload';
import { autoscalerKinds, autoscalerOf, isBehaviorAbsent, type Autoscaler } from '../../kube/autoscalers';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { targetRefOf } from '../../workspace/references';
import type { Workspace } from '../../workspace/workspace';
import { insertPath, replaceScalar } from '../../yaml/edit';
import { entryOf, mapIn, numberIn, scalarIn } from '../../yaml/node';
import { durationText } from '../cold-start/weights';
import { defineRule, type Report } from '../rule';
import { slowestStart } from './cold-starts';

/**
 * Seconds: the controller's own default (`--horizontal-pod-autoscaler-downscale-stabilization`, 5 minutes), in
 * https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
 */
const advised = 300;

/** Seconds: the API server takes no longer window. */
const longest = 3600;

export default defineRule({
  id: 'hpa-scale-down-window-too-short',
  summary: 'A scale-down window below 300 s gives up replicas that take minutes to come back',
  severity: 'warning',
  needs: 'workspace',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined) return;
    const window = scalarIn(autoscaler.behavior, 'scaleDown', 'stabilizationWindowSeconds');
    const seconds = numberIn(autoscaler.behavior, 'scaleDown', 'stabilizationWindowSeconds');
    // A window that may be short anyway, as nothing scales down.
    if (scalarIn(autoscaler.behavior, 'scaleDown', 'selectPolicy')?.text === 'Disabled') return;
    const target = workspace.references(resource).target;
    if (window === undefined || seconds === undefined || seconds >= advised) {
      if (target?.state === 'found') reportLongStart(autoscaler, target.resource, workspace, report);
      return;
    }
    // A target that is known and serves no model starts in seconds.
    if (seconds < 0 || (target?.state === 'found' && !podTemplates(target.resource).some(isAiWorkload)))
      return;
    // One that is not in sight may be anything: advice, unless the autoscaler itself speaks of a model or a GPU.
    const serves = target?.state === 'found' || namesModelServing(resource);
    const edits = replaceScalar(resource.placed.document, window, advised);
    report({
      at: window,
      severity: serves ? 'warning' : 'info',
      message: `The scale-down window is ${seconds} s, below the default of ${advised} s: a short lull removes ${serves ? 'model servers, and their' : 'replicas; if they serve a model,'} node, image and weights take minutes to come back`,
      fixes: [
        edits === undefined
          ? undefined
          : { title: `Wait ${advised} s before scaling down`, safe: false, edits },
      ],
    });
  },
});

/** Words of metrics, queries and names that only model serving uses. */
const servingWords =
  /vllm|sglang|\btgi_|dcgm|neuron|nv_inference|ray_serve|triton|\bnim\b|gpu|llm|llama|mistral|mixtral|qwen|deepseek|gemma|kv_?cache|num_requests_(waiting|running)|tokens?_per|inference/i;

/** True when the target's name, a metric or a trigger of an autoscaler tells that models are served. */
function namesModelServing(resource: Resource): boolean {
  const spec = mapIn(resource.root, 'spec');
  return ['scaleTargetRef', 'metrics', 'triggers'].some((key) => {
    const entry = entryOf(spec, key);
    return (
      entry !== undefined &&
      servingWords.test(resource.placed.document.text.slice(entry.value.start, entry.value.end))
    );
  });
}

/** A window of 300 s or more is still short for a server that takes longer than that to start. */
function reportLongStart(
  autoscaler: Autoscaler,
  target: Resource,
  workspace: Workspace,
  report: (finding: Report) => void,
): void {
  const { resource, behavior, behaviorPath, takesBehavior, minReplicas, maxReplicas } = autoscaler;
  const written = scalarIn(behavior, 'scaleDown', 'stabilizationWindowSeconds');
  if (written === undefined && !isBehaviorAbsent(autoscaler, 'scaleDown', 'stabilizationWindowSeconds'))
    return;
  const window = numberIn(behavior, 'scaleDown', 'stabilizationWindowSeconds');
  if (written !== undefined && window === undefined) return;
  if (minReplicas.known && maxReplicas.known && minReplicas.value >= maxReplicas.value) return;
  const seconds = window ?? advised;
  const start = slowestStart(workspace, target);
  if (start === undefined || start.seconds <= seconds) return;
  const wanted = Math.min(longest, Math.ceil(start.seconds / 60) * 60);
  const spec = mapIn(resource.root, 'spec');
  const at =
    written ??
    entryOf(behavior, 'scaleDown') ??
    entryOf(spec, 'behavior') ??
    scalarIn(targetRefOf(resource), 'name');
  if (at === undefined || wanted <= seconds) return;
  const edits = takesBehavior
    ? insertPath(
        resource.placed.document,
        resource.root,
        [...behaviorPath, 'scaleDown', 'stabilizationWindowSeconds'],
        wanted,
      )
    : undefined;
  const name = target.name ?? target.kind;
  report({
    at,
    severity: 'info',
    message: `The scale-down window is ${seconds} s${written === undefined ? ' (the default)' : ''}, and a replica of "${name}" takes about ${durationText(start.seconds)} to come back (weights from ${start.from}): a lull of that length costs more than it saves`,
    fixes: [edits && { title: `Wait ${wanted} s before scaling down`, safe: false, edits }],
    evidence: start.reasons,
  });
}
