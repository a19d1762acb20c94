import { isServing } from '../../kube/ai-workload';
import { acceleratorsOfPod } from '../../kube/accelerators';
import { probesOf, runningContainers } from '../../kube/containers';
import { countAt } from '../../kube/count';
import { podTemplates } from '../../kube/pod-carriers';
import type { Probe } from '../../kube/probes';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isScalar, mapIn } from '../../yaml/node';
import { durationText } from '../cold-start/weights';
import { titleOf } from '../naming';
import { containerField } from '../resources/wording';
import { defineRule } from '../rule';
import { budgetOf } from './load-budget';

/** `apps/v1 Deployment` and Argo's Rollout: seconds. */
const defaultDeadline = 600;

/**
 * Seconds from a pending pod to a GPU node that is ready: Karpenter and EC2 take one to two minutes, the device plugin
 * and the pull of an image of several GB another.
 */
const nodeSeconds = 180;

const field = 'progressDeadlineSeconds';

export default defineRule({
  id: 'progress-deadline-too-short',
  summary: 'A rollout is given the time that its pods are given to start',
  severity: 'info',
  needs: 'document',
  kinds: ['Deployment', 'Rollout'],
  fixable: 'suggest',
  check(resource, { report }) {
    const spec = mapIn(resource.root, 'spec');
    const [template] = podTemplates(resource);
    if (spec === undefined || template === undefined || !isServing(resource, template)) return;
    if (acceleratorsOfPod(template).length === 0) return;
    const deadline = countAt(resource, spec, field, defaultDeadline);
    // Without any replica nothing is rolled out.
    if (!deadline.known || template.replicas.value === 0) return;
    let longest: { readonly probe: Probe; readonly budget: number; readonly name: string } | undefined;
    for (const container of runningContainers(template)) {
      const probe = probesOf(container).startup;
      const budget = probe === undefined ? undefined : budgetOf(probe, 'startup');
      if (probe !== undefined && budget !== undefined && budget > (longest?.budget ?? 0))
        longest = { probe, budget, name: container.name };
    }
    if (longest === undefined || longest.budget + nodeSeconds <= deadline.value) return;
    const { probe, budget, name } = longest;
    const needed = Math.ceil((budget + nodeSeconds) / 60) * 60;
    const { document } = resource.placed;
    const edits =
      deadline.node === undefined
        ? insertKey(document, spec, field, needed, { before: 'template' })
        : replaceScalar(document, deadline.node, needed);
    const threshold = entryOf(probe.node, 'failureThreshold')?.value;
    const written = deadline.node === undefined ? ' (the default)' : '';
    report({
      at: deadline.node ?? (isScalar(threshold) && threshold.value !== null ? threshold : probe.entry),
      message: `A pod of ${titleOf(resource)} may take ${durationText(budget)} to start by its startup probe, and ${durationText(nodeSeconds)} for a new GPU node, but after ${durationText(deadline.value)}${written} the rollout counts as failed: "kubectl rollout status", Helm and Argo CD give up on it while it still loads`,
      related:
        deadline.node === undefined
          ? []
          : [{ resource, at: probe.entry, message: `The startup probe allows ${durationText(budget)}` }],
      fixes: [
        edits && {
          title: `Allow ${needed} s (${Math.round(budget)} s to start and ${nodeSeconds} s for a node)`,
          safe: false,
          edits,
        },
      ],
      ...containerField({ name }),
    });
  },
});
