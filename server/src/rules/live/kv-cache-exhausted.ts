import { modelServers } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { percentText, quantityText } from '../../live/format';
import { readingsOf } from '../../live/readings';
import { defaultThresholds } from '../../live/thresholds';
import { entryOf } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { evidenceOf } from './seen';

export default defineRule({
  id: 'kv-cache-exhausted',
  summary: 'A server whose KV cache is full computes the same requests twice',
  severity: 'warning',
  needs: 'live',
  kinds: ['pod-carrier'],
  fixable: 'none',
  options: {
    usage: {
      default: defaultThresholds.kvHigh,
      description:
        'Share of the KV cache in use, above which it is reported when requests are preempted (0 to 1)',
      schema: { type: 'number', minimum: 0, maximum: 1 },
    },
  },
  check(resource, { report, live, options }) {
    const readings = readingsOf(live);
    const usage = readings.fresh('kv-cache.usage');
    const preemptions = readings.fresh('kv-cache.preemptions.rate');
    if (usage.kind === 'absent' || preemptions.kind === 'absent') return;
    if (usage.value <= options.usage || preemptions.value <= 0) return;
    for (const server of podTemplates(resource)
      .flatMap((template) => modelServers(template))
      .slice(0, 1)) {
      const { container } = server;
      const lengths =
        server.maxModelLen.state === 'absent'
          ? 'the longest context is not limited'
          : 'lower the longest context';
      report({
        at: entryOf(container.node, 'args') ?? container.image ?? container.nameNode ?? container.node,
        message: `${containerTitle(container)} has its KV cache ${percentText(usage.value)} full and preempts ${quantityText(preemptions.value, 'per-second')}; preempted requests are computed again, so take fewer at once, more GPU memory, or more replicas`,
        evidence: [
          evidenceOf('KV cache', usage, live, percentText(usage.value)),
          evidenceOf('preemptions', preemptions, live, quantityText(preemptions.value, 'per-second')),
          lengths,
        ],
        ...containerField(container),
      });
    }
  },
});
