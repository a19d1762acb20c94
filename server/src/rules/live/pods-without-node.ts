import { runningContainers } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { counted, durationText } from '../../live/format';
import { isUnscheduled, unschedulableReason } from '../../live/pods';
import { partValue } from '../../live/readings';
import { entryOf, getIn } from '../../yaml/node';
import { inSentence, titleOf } from '../naming';
import { defineRule, type Place } from '../rule';

export default defineRule({
  id: 'pods-without-node',
  summary: 'Pods that find no node do no work',
  severity: 'warning',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'none',
  options: {
    seconds: {
      default: 120,
      description: 'How long a pod may wait for a node before it is reported',
      schema: { type: 'integer', minimum: 0 },
    },
  },
  check(resource, { report, live, options }) {
    const waiting = (partValue(live.cluster.pods) ?? []).filter(
      (pod) => isUnscheduled(pod) && live.at - pod.createdAt > options.seconds * 1000,
    );
    if (waiting.length === 0) return;
    const reasons = new Map<string, number>();
    for (const pod of waiting) {
      const reason = unschedulableReason(pod);
      if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    const [reason] = [...reasons].sort(([, a], [, b]) => b - a)[0] ?? [];
    const longest = Math.max(...waiting.map(({ createdAt }) => live.at - createdAt));
    report({
      at: placeOf(resource, reason ?? ''),
      message: `${counted(waiting.length, 'pod')} of ${inSentence(titleOf(resource))} ${waiting.length === 1 ? 'has' : 'have'} no node; ${reason === undefined ? 'the scheduler has not said why' : `the scheduler says: ${reason.replace(/\.+$/, '')}`}`,
      evidence: [
        `the longest waits for ${durationText(longest)}`,
        ...waiting.slice(0, 5).map(({ pod }) => `pod ${pod.name}`),
      ],
    });
  },
});

/** Where the file says what the scheduler cannot give. */
function placeOf(resource: Resource, reason: string): Place {
  const template = podTemplates(resource)[0];
  const name = getIn(resource.root, 'metadata', 'name') ?? resource.root;
  if (template === undefined) return name;
  const { spec } = template;
  const short = /Insufficient ([\w./-]+[\w])/.exec(reason)?.[1];
  if (short !== undefined) {
    for (const container of runningContainers(template)) {
      const amount = [...container.requests, ...container.limits].find((one) => one.name === short);
      if (amount !== undefined) return amount.entry;
    }
  }
  const keys = /untolerated taint/.test(reason)
    ? ['tolerations']
    : /node affinity|node\(s\) didn't match Pod's/.test(reason)
      ? ['nodeSelector', 'affinity']
      : /topology spread/.test(reason)
        ? ['topologySpreadConstraints']
        : /PersistentVolumeClaim|volume/.test(reason)
          ? ['volumes']
          : [];
  for (const key of keys) {
    const entry = entryOf(spec, key);
    if (entry !== undefined) return entry;
  }
  return name;
}
