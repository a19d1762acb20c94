import { isServing } from '../../kube/ai-workload';
import { acceleratorsOfPod } from '../../kube/accelerators';
import { probesOf, runningContainers } from '../../kube/containers';
import { countAt } from '../../kube/count';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import type { Probe } from '../../kube/probes';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isScalar, mapIn } from '../../yaml/node';
import { coldStart, durationText } from '../cold-start/weights';
import { titleOf } from '../naming';
import { containerField } from '../resources/wording';
import { defineRule, type Place } from '../rule';
import { budgetOf } from './load-budget';
import { placeOf } from './place';

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
    const start = slowestStart(template);
    if (start === undefined || start.seconds + nodeSeconds <= deadline.value) return;
    const needed = Math.ceil((start.seconds + nodeSeconds) / 60) * 60;
    const { document } = resource.placed;
    const edits =
      deadline.node === undefined
        ? insertKey(document, spec, field, needed, { before: 'template' })
        : replaceScalar(document, deadline.node, needed);
    const written = deadline.node === undefined ? ' (the default)' : '';
    const takes = durationText(start.seconds);
    const how =
      start.probe === undefined
        ? `takes about ${takes} to load its model`
        : `may take ${takes} to start by its startup probe`;
    report({
      at: deadline.node ?? start.at,
      message: `A pod of ${titleOf(resource)} ${how}, and ${durationText(nodeSeconds)} for a new GPU node, but after ${durationText(deadline.value)}${written} the rollout counts as failed: "kubectl rollout status", Helm and Argo CD give up on it while it still loads`,
      related:
        deadline.node === undefined || start.probe === undefined
          ? []
          : [{ resource, at: start.probe.entry, message: `The startup probe allows ${takes}` }],
      fixes: [
        edits && {
          title: `Allow ${needed} s (${Math.round(start.seconds)} s to start and ${nodeSeconds} s for a node)`,
          safe: false,
          edits,
        },
      ],
      ...containerField({ name: start.name }),
    });
  },
});

interface Start {
  readonly seconds: number;
  readonly probe: Probe | undefined;
  readonly name: string;
  readonly at: Place;
}

/** What a startup probe allows; without one, how long the model takes to load. The slowest container decides. */
function slowestStart(template: PodTemplate): Start | undefined {
  let slowest: Start | undefined;
  for (const container of runningContainers(template)) {
    const { startup: probe } = probesOf(container);
    const server = probe === undefined ? modelServerOf(container) : undefined;
    const seconds =
      probe === undefined
        ? server === undefined
          ? undefined
          : coldStart(server, undefined)?.time.total.expected
        : budgetOf(probe, 'startup');
    if (seconds === undefined || seconds <= (slowest?.seconds ?? 0)) continue;
    const threshold = entryOf(probe?.node, 'failureThreshold')?.value;
    const at =
      probe === undefined
        ? placeOf(container)
        : isScalar(threshold) && threshold.value !== null
          ? threshold
          : probe.entry;
    slowest = { seconds, probe, name: container.name, at };
  }
  return slowest;
}
