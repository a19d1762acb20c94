import { amountOf, containers, readAmounts, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { compareQuantities } from '../../kube/quantity';
import { mapIn } from '../../yaml/node';
import { defineRule } from '../rule';

/** Kinds of the API server itself, which checks the pod template with the object; others are checked pod by pod. */
const checkedWithObject: readonly string[] = ['', 'apps', 'batch'];

export default defineRule({
  id: 'request-above-limit',
  summary: 'A request must not be above its limit',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { report }) {
    const refused = checkedWithObject.includes(resource.group) ? resource.kind : 'pod';
    const compare = (
      who: string,
      requests: readonly ResourceAmount[],
      limits: readonly ResourceAmount[],
      container?: string,
    ): void => {
      for (const request of requests) {
        const limit = amountOf(limits, request.name);
        if (request.quantity === undefined || limit?.quantity === undefined) continue;
        if (compareQuantities(request.quantity, limit.quantity) <= 0) continue;
        report({
          at: request.entry.value,
          message: `${who} requests ${request.name} ${textOf(request)} but is limited to ${textOf(limit)}; the API server rejects the ${refused}`,
          related: [{ resource, at: limit.entry.value, message: `The limit is ${textOf(limit)}` }],
          ...(container === undefined ? {} : { container }),
        });
      }
    };
    for (const template of podTemplates(resource)) {
      const all = containers(template);
      for (const { name, requests, limits } of all) compare(`Container "${name}"`, requests, limits, name);
      // Where the pod spec is its own container, `resources` has been read with it.
      const pod = all.some(({ node }) => node === template.spec)
        ? undefined
        : mapIn(template.spec, 'resources');
      compare('The pod', readAmounts(mapIn(pod, 'requests')), readAmounts(mapIn(pod, 'limits')));
    }
  },
});

function textOf({ entry }: ResourceAmount): string {
  return entry.value.kind === 'scalar' ? entry.value.text : '';
}
