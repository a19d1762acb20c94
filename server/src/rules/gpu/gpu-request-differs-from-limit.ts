import { isExtendedResource } from '../../kube/accelerators';
import { containers, type Container, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { compareQuantities, isInteger, toNumber } from '../../kube/quantity';
import { replaceScalar } from '../../yaml/edit';
import { mapIn, type ScalarNode } from '../../yaml/node';
import { isTooFew } from '../model/tensor-parallel-exceeds-gpus';
import { defineRule, type Fix } from '../rule';
import {
  amountText,
  containerField,
  containerTitle,
  emptyAmounts,
  nullIsZero,
  pieces,
  plainNumber,
  refusedObject,
  scalarLike,
  soleAmount,
} from '../resources/wording';

export default defineRule({
  id: 'gpu-request-differs-from-limit',
  summary: 'The request of a GPU or another device must equal its limit',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  apiServerRejects: true,
  check(resource, { report }) {
    const refused = refusedObject(resource);
    for (const container of podTemplates(resource).flatMap(containers)) {
      for (const { name } of container.limits) {
        if (!isNeverOvercommitted(name)) continue;
        const limit = soleAmount(container.limits, name);
        const request = soleAmount(container.requests, name);
        if (limit?.quantity === undefined) continue;
        if (request === undefined) {
          reportEmpty(container, limit);
          continue;
        }
        // Broken numbers have a rule of their own.
        if (request.quantity === undefined || !isCountable(request) || !isCountable(limit)) continue;
        if (compareQuantities(request.quantity, limit.quantity) === 0) continue;
        report({
          at: request.entry.value,
          message: `${containerTitle(container)} requests ${count(request)} but is limited to ${numberOf(limit)}; the API server rejects the ${refused}`,
          related: [{ resource, at: limit.entry.value, message: `The limit is ${numberOf(limit)}` }],
          fixes: [
            write(container, request, limit, `Request ${count(limit)}`),
            write(container, limit, request, `Limit to ${count(request)}`),
          ],
          ...containerField(container),
        });
      }
    }

    /** `nvidia.com/gpu:` without a value under requests: a request of 0. */
    function reportEmpty(container: Container, limit: ResourceAmount): void {
      const empty = emptyAmounts(mapIn(container.resources, 'requests')).find(
        ({ key }) => key.text === limit.name,
      );
      if (empty === undefined || !nullIsZero(resource) || limit.quantity?.nanos === 0n) return;
      report({
        at: empty.key,
        message: `${containerTitle(container)} has a request for ${limit.name} without a value, which is read as 0, but is limited to ${numberOf(limit)}; the API server rejects the ${refused}`,
        related: [{ resource, at: limit.entry.value, message: `The limit is ${numberOf(limit)}` }],
        fixes: [fill(container, empty.value, limit)],
        ...containerField(container),
      });
    }
  },
});

/** Resources of which a pod can never be promised less than it may use: devices, and huge pages. */
function isNeverOvercommitted(name: string): boolean {
  return isExtendedResource(name) || name.startsWith('hugepages-');
}

function isCountable({ name, quantity }: ResourceAmount): boolean {
  return quantity !== undefined && (!isExtendedResource(name) || isInteger(quantity));
}

/** Devices as a number, huge pages as they are written. */
function numberOf(amount: ResourceAmount): string {
  return amount.quantity !== undefined && isExtendedResource(amount.name)
    ? plainNumber(amount.quantity)
    : amountText(amount);
}

function count(amount: ResourceAmount): string {
  return pieces(numberOf(amount), amount.name);
}

/** Writes the value of one amount in the place of another. */
function write(
  container: Container,
  into: ResourceAmount,
  from: ResourceAmount,
  title: string,
): Fix | undefined {
  return into.entry.value.kind === 'scalar' ? fixOf(container, into.entry.value, from, title) : undefined;
}

function fill(
  container: Container,
  nothing: ResourceAmount['entry']['value'],
  limit: ResourceAmount,
): Fix | undefined {
  return nothing.kind === 'scalar' ? fixOf(container, nothing, limit, `Request ${count(limit)}`) : undefined;
}

function fixOf(
  container: Container,
  scalar: ScalarNode,
  from: ResourceAmount,
  title: string,
): Fix | undefined {
  const value = from.entry.value;
  if (value.kind !== 'scalar') return undefined;
  // The other direction is left: this one would not start.
  if (from.quantity !== undefined && isTooFew(container, toNumber(from.quantity))) return undefined;
  const edits = replaceScalar(
    container.template.resource.placed.document,
    scalar,
    scalarLike(scalar, value.text),
  );
  return edits === undefined ? undefined : { title, safe: false, edits };
}
