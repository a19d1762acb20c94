import { isExtendedResource } from '../../kube/accelerators';
import { containers, readAmounts, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { compareQuantities } from '../../kube/quantity';
import { entryOf, isNull, mapIn, type MapNode } from '../../yaml/node';
import { defineRule } from '../rule';
import { amountText, containerField, containerTitle, nullIsZero, refusedObject, soleAmount } from './wording';

export default defineRule({
  id: 'request-above-limit',
  summary: 'A request must not be above its limit',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'none',
  apiServerRejects: true,
  check(resource, { report }) {
    const refused = refusedObject(resource);
    const compare = (
      who: string,
      requests: readonly ResourceAmount[],
      resources: MapNode | undefined,
      container: { readonly container?: string },
    ): void => {
      const map = mapIn(resources, 'limits');
      const limits = readAmounts(map);
      for (const request of requests) {
        if (request.quantity === undefined) continue;
        const empty = entryOf(map, request.name);
        if (
          empty !== undefined &&
          isNull(empty.value) &&
          nullIsZero(resource) &&
          !isExtendedResource(request.name) &&
          request.quantity.nanos > 0n
        ) {
          report({
            at: request.entry.value,
            message: `${who} requests ${request.name} ${amountText(request)}, but its limit is written without a value, which is read as 0; the API server rejects the ${refused}`,
            related: [{ resource, at: empty.key, message: 'The limit has no value' }],
            ...container,
          });
          continue;
        }
        const limit = soleAmount(limits, request.name);
        if (limit?.quantity === undefined) continue;
        if (compareQuantities(request.quantity, limit.quantity) <= 0) continue;
        report({
          at: request.entry.value,
          message: `${who} requests ${request.name} ${amountText(request)} but is limited to ${amountText(limit)}; the API server rejects the ${refused}`,
          related: [{ resource, at: limit.entry.value, message: `The limit is ${amountText(limit)}` }],
          ...container,
        });
      }
    };
    for (const template of podTemplates(resource)) {
      const all = containers(template);
      for (const container of all) {
        compare(
          containerTitle(container),
          container.requests,
          container.resources,
          containerField(container),
        );
      }
      // Where the pod spec is its own container, `resources` has been read with it.
      const pod = all.some(({ node }) => node === template.spec)
        ? undefined
        : mapIn(template.spec, 'resources');
      compare('The pod', readAmounts(mapIn(pod, 'requests')), pod, {});
    }
  },
});
