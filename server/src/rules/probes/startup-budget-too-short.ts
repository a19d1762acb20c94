import { probesOf } from '../../kube/containers';
import type { Probe } from '../../kube/probes';
import type { Resource } from '../../kube/resource';
import { insertKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isScalar } from '../../yaml/node';
import { durationText } from '../cold-start/weights';
import { serversOf } from '../model/servings';
import { inSentence } from '../naming';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Fix } from '../rule';
import { budgetOf, shortBudget, wantedSeconds, type ShortBudget } from './load-budget';

export default defineRule({
  id: 'startup-budget-too-short',
  summary: 'A startup probe must allow the time that loading the model takes',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      const { startup } = probesOf(container);
      if (startup === undefined) continue;
      const short = shortBudget(server, workspace, models, budgetOf(startup, 'startup'));
      if (short === undefined || mayBePatched(workspace, resource, 'startupProbe')) continue;
      const { initialDelaySeconds: delay, periodSeconds: period, failureThreshold: failures } = startup;
      const written = entryOf(startup.node, 'failureThreshold')?.value;
      const before = (delay.value ?? 0) > 0 ? `${delay.value ?? 0} s delay + ` : '';
      report({
        at: isScalar(written) && written.value !== null ? written : startup.entry,
        message: `The startup probe of ${inSentence(containerTitle(container))} allows ${durationText(short.budget)} (${before}${failures.value ?? 3} x ${period.value ?? 10} s), but loading takes about ${durationText(short.start.time.total.expected)}: ${short.sum}; the kubelet restarts it before it is ready, again and again`,
        fixes: [raise(resource, startup, short)],
        evidence: [...short.start.time.read.reasons, ...short.start.time.start.reasons],
        ...containerField(container),
      });
    }
  },
});

/** More failures of the same period. */
function raise(resource: Resource, probe: Probe, { start }: ShortBudget): Fix | undefined {
  const { periodSeconds, initialDelaySeconds } = probe;
  if (!periodSeconds.known || !initialDelaySeconds.known) return undefined;
  const failures = Math.ceil((wantedSeconds(start) - initialDelaySeconds.value) / periodSeconds.value);
  const written = entryOf(probe.node, 'failureThreshold')?.value;
  const { document } = resource.placed;
  const edits =
    isScalar(written) && written.value !== null
      ? replaceScalar(document, written, failures)
      : insertKey(document, probe.node, 'failureThreshold', failures);
  return edits && { title: `Raise failureThreshold to ${failures}`, safe: false, edits };
}
