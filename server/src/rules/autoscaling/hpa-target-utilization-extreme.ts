import { autoscalerKinds, autoscalerOf } from '../../kube/autoscalers';
import { replaceScalar } from '../../yaml/edit';
import { defineRule } from '../rule';

/** Percent. The band is that of the EKS best practices; the two ends are what is called extreme. */
const band = { lowest: 30, low: 50, high: 70, highest: 80 } as const;

export default defineRule({
  id: 'hpa-target-utilization-extreme',
  summary: 'A utilization target leaves room for the time that new replicas take',
  severity: 'info',
  needs: 'document',
  kinds: autoscalerKinds,
  fixable: 'suggest',
  check(resource, { report }) {
    for (const { name, target, value } of autoscalerOf(resource)?.resourceMetrics ?? []) {
      if (target !== 'Utilization' || value === undefined || value.unknown) continue;
      if (name !== 'cpu' && name !== 'memory') continue;
      const percent = /^\d+$/.test(value.text) ? Number(value.text) : undefined;
      if (percent === undefined || percent === 0) continue;
      const isHigh = percent > band.highest;
      if (!isHigh && percent >= band.lowest) continue;
      const aim = isHigh ? band.high : band.low;
      const edits = replaceScalar(
        resource.placed.document,
        value,
        typeof value.value === 'number' ? aim : String(aim),
      );
      report({
        at: value,
        message: isHigh
          ? `The ${name} target is ${percent} % of the request: the replicas are full before the first new one is ready`
          : `The ${name} target is ${percent} % of the request: more than ${Math.floor(100 / percent)} replicas run for the work of one`,
        fixes: [edits && { title: `Aim at ${aim} %`, safe: false, edits }],
      });
    }
  },
});
