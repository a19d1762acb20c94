import { autoscalerOf } from '../../kube/autoscalers';
import { nearest } from '../nearest';
import { defineRule } from '../rule';

/** All that `metrics.k8s.io` serves: https://github.com/kubernetes-sigs/metrics-server */
const measured: readonly string[] = ['cpu', 'memory'];

export default defineRule({
  id: 'hpa-resource-unknown',
  summary: 'A Resource metric of a HorizontalPodAutoscaler is cpu or memory',
  severity: 'error',
  needs: 'document',
  kinds: ['HorizontalPodAutoscaler'],
  fixable: 'none',
  check(resource, { report }) {
    const autoscaler = autoscalerOf(resource);
    if (autoscaler === undefined) return;
    for (const { name, at, node } of autoscaler.resourceMetrics) {
      if (node === undefined || at === undefined || measured.includes(name)) continue;
      const meant = name.includes('/') ? undefined : nearest(name, measured);
      const then =
        autoscaler.metricCount === 1
          ? 'the metric fails and nothing scales'
          : 'the metric fails, so that no pod is ever removed';
      report({
        at,
        message: `The resource metrics API knows cpu and memory only, not "${name}"${meant === undefined ? '' : ` (${meant}?)`}: ${then}`,
      });
    }
  },
});
