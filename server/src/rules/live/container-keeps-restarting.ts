import { agoText, counted } from '../../live/format';
import { recentFailures } from '../../live/pods';
import { linesThatMatter } from '../../live/triage';
import { partValue, isSamePod } from '../../live/readings';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { seenContainers } from './seen';

const hour = 3_600_000;

export default defineRule({
  id: 'container-keeps-restarting',
  summary: 'A container that ends again and again serves nobody',
  severity: 'warning',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'none',
  options: {
    restarts: {
      default: 3,
      description: 'Restarts of one container from which on it is reported',
      schema: { type: 'integer', minimum: 1 },
    },
  },
  check(resource, { report, live, options }) {
    for (const { container, running } of seenContainers(resource, live)) {
      const failures = running
        .flatMap(({ pod, view }) => recentFailures([{ ...pod, containers: [view] }], live.at, hour))
        // What the memory limit does has a rule of its own.
        .filter((failure) => failure.kind !== 'oom' && failure.container.restarts >= options.restarts)
        .sort((a, b) => b.container.restarts - a.container.restarts);
      const [worst] = failures;
      if (worst === undefined) continue;
      const { pod, termination } = worst;
      const log = (partValue(live.cluster.logs) ?? [])
        .filter((excerpt) => isSamePod(excerpt.pod, pod.pod) && excerpt.container === container.name)
        .flatMap(({ lines }) => lines);
      const [found] = linesThatMatter([...(termination.message ?? '').split('\n'), ...log]);
      const reason = termination.reason === '' ? 'no reason given' : termination.reason;
      report({
        at: container.image ?? container.nameNode ?? container.node,
        message: `${containerTitle(container)} restarted ${counted(worst.container.restarts, 'time')}, the last run ended with exit code ${termination.exitCode} (${reason})${found === undefined ? '' : `: ${found.meaning}`}`,
        evidence: [
          ...failures.slice(0, 5).map((failure) => {
            const { finishedAt, exitCode } = failure.termination;
            const when = finishedAt === undefined ? '' : `, ${agoText(finishedAt, live.at)}`;
            return `pod ${failure.pod.pod.name}: ${counted(failure.container.restarts, 'restart')}, exit code ${exitCode}${when}`;
          }),
          ...(found === undefined ? [] : [`log: ${found.line}`]),
        ],
        ...containerField(container),
      });
    }
  },
});
