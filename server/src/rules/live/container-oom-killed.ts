import { modelServerOf } from '../../kube/model-server';
import { toMemoryQuantity } from '../../kube/quantity';
import { agoText, bytesText, counted } from '../../live/format';
import { recentFailures } from '../../live/pods';
import { setMemory } from '../model/memory-amounts';
import { containerField, containerTitle, placeOfMissing, soleAmount } from '../resources/wording';
import { defineRule } from '../rule';
import { hostNeedOf } from '../sizing/host-memory';
import { seenContainers, written } from './seen';

/** How much more than the limit that was too small to try first. */
const more = 1.25;

const day = 86_400_000;

export default defineRule({
  id: 'container-oom-killed',
  summary: 'A container that the cluster kills for its memory needs a higher limit',
  severity: 'warning',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, live, models }) {
    for (const { container, running } of seenContainers(resource, live)) {
      const killed = running.flatMap(({ pod, view }) =>
        recentFailures([{ ...pod, containers: [view] }], live.at, day).filter(({ kind }) => kind === 'oom'),
      );
      if (killed.length === 0) continue;
      const limit = written(container, 'limits', 'memory');
      // At which limit it was killed; the file may say more by now.
      const old = Math.max(...killed.map((failure) => failure.container.limits['memory'] ?? 0));
      if (limit !== undefined && old > 0 && limit > old) continue;
      const pods = new Set(killed.map(({ pod }) => pod.pod.name));
      const restarts = killed.reduce((sum, failure) => sum + failure.container.restarts, 0);
      const server = modelServerOf(container);
      const need = server === undefined ? undefined : hostNeedOf(server, models);
      const base = Math.max(limit ?? 0, old);
      const wanted = toMemoryQuantity(Math.max(base * more, need?.wanted ?? 0));
      const reason =
        need !== undefined && need.wanted > base * more
          ? `what ${need.model.name} needs`
          : `${more} x ${bytesText(base)}`;
      const at = soleAmount(container.limits, 'memory')?.entry ?? placeOfMissing(container, 'limits');
      report({
        at,
        message: `${containerTitle(container)} was OOMKilled in ${counted(pods.size, 'pod')} (${counted(restarts, 'restart')})${base > 0 ? ` at its memory limit of ${bytesText(base)}` : ' without a memory limit of its own'}; its requests fail and the model is loaded anew each time`,
        fixes:
          limit === undefined || base === 0
            ? []
            : [
                setMemory(
                  resource,
                  container,
                  written(container, 'requests', 'memory') === limit ? ['limits', 'requests'] : ['limits'],
                  wanted,
                  `Limit memory to ${wanted}, ${reason}`,
                ),
              ],
        evidence: killed.slice(0, 5).map(({ pod, termination }) => {
          const when =
            termination.finishedAt === undefined
              ? 'at a time that is not told'
              : agoText(termination.finishedAt, live.at);
          return `pod ${pod.pod.name}: OOMKilled, exit code ${termination.exitCode}, ${when}`;
        }),
        ...containerField(container),
      });
    }
  },
});
