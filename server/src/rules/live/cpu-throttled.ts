import { percentText } from '../../live/format';
import { readingsOf } from '../../live/readings';
import { defaultThresholds } from '../../live/thresholds';
import { removeEntry } from '../../yaml/edit';
import { isMap } from '../../yaml/node';
import { amountText, containerField, containerTitle, soleAmount } from '../resources/wording';
import { defineRule } from '../rule';
import { evidenceOf, seenContainers, written } from './seen';

export default defineRule({
  id: 'cpu-throttled',
  summary: 'A CPU limit that stops the container again and again slows the GPU down',
  severity: 'warning',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  options: {
    share: {
      default: defaultThresholds.cpuThrottled,
      description: 'Share of the periods of 100 ms with throttling, above which it is reported (0 to 1)',
      schema: { type: 'number', minimum: 0, maximum: 1 },
    },
  },
  check(resource, { report, live, options }) {
    const readings = readingsOf(live);
    for (const { container, running } of seenContainers(resource, live)) {
      const limit = soleAmount(container.limits, 'cpu');
      const value = written(container, 'limits', 'cpu');
      if (limit === undefined || value === undefined || container.resources === undefined) continue;
      const applied = Math.max(...running.map(({ view }) => view.limits['cpu'] ?? 0));
      if (applied > 0 && value > applied) continue;
      const worst = running
        .map(({ pod }) => ({ pod, observed: readings.ofPod('cpu.throttled.ratio', pod.pod, container.name) }))
        .filter(({ observed }) => observed.kind === 'reading' && observed.value > options.share)
        .sort(
          (a, b) =>
            (b.observed.kind === 'reading' ? b.observed.value : 0) -
            (a.observed.kind === 'reading' ? a.observed.value : 0),
        );
      const [first] = worst;
      if (first?.observed.kind !== 'reading') continue;
      const limits = container.resources.entries.find(({ key }) => key.text === 'limits')?.value;
      const edits = isMap(limits) ? removeEntry(resource.placed.document, limits, 'cpu') : undefined;
      report({
        at: limit.entry,
        message: `${containerTitle(container)} is throttled in ${percentText(first.observed.value)} of the periods by its CPU limit of ${amountText(limit)}; while it stands still, so does its GPU`,
        fixes: [edits && { title: 'Remove the CPU limit', safe: false, edits }],
        evidence: worst
          .slice(0, 5)
          .map(({ pod, observed }) =>
            evidenceOf(
              `pod ${pod.pod.name}`,
              observed,
              live,
              observed.kind === 'reading' ? percentText(observed.value) : '',
            ),
          ),
        ...containerField(container),
      });
    }
  },
});
