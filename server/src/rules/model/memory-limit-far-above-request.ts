import { isAiWorkload } from '../../kube/ai-workload';
import { runningContainers } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { formatBytes, toNumber } from '../../kube/quantity';
import { amountText, containerField, containerTitle, soleAmount } from '../resources/wording';
import { defineRule } from '../rule';

export default defineRule({
  id: 'memory-limit-far-above-request',
  summary: 'A memory limit must not be a multiple of the request',
  severity: 'off',
  strict: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  options: {
    factor: {
      default: 4,
      description: 'How many times the request a limit may be.',
      schema: { type: 'number', minimum: 1 },
    },
  },
  check(resource, { report, options }) {
    for (const template of podTemplates(resource).filter(isAiWorkload)) {
      for (const container of runningContainers(template)) {
        const limit = soleAmount(container.limits, 'memory');
        const request = soleAmount(container.requests, 'memory');
        if (limit?.quantity === undefined || request?.quantity === undefined) continue;
        const [may, asks] = [toNumber(limit.quantity), toNumber(request.quantity)];
        if (asks <= 0 || may <= options.factor * asks) continue;
        report({
          at: limit.entry.value,
          message: `${containerTitle(container)} may use ${amountText(limit)} of memory and requests ${amountText(request)}; the scheduler counts the request only, so that ${formatBytes(may - asks)} may be missing on the node and other pods are evicted`,
          related: [{ resource, at: request.entry.value, message: `The request is ${amountText(request)}` }],
          ...containerField(container),
        });
      }
    }
  },
});
