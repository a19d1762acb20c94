import { isServing } from '../../kube/ai-workload';
import { amountState, runningContainers, type Container, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { compareQuantities, isInteger } from '../../kube/quantity';
import { commentBehind, insertPath, removeEntry, renameKey } from '../../yaml/edit';
import { entryOf, mapIn } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import {
  amountText,
  carriesTheWork,
  containerField,
  containerTitle,
  scalarLike,
  soleAmount,
} from './wording';

export default defineRule({
  id: 'cpu-limit-equals-request',
  summary: 'A cpu limit equal to the request leaves a model server no burst',
  severity: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const template of podTemplates(resource)) {
      if (!isServing(resource, template)) continue;
      for (const container of runningContainers(template)) {
        if (!carriesTheWork(container)) continue;
        const cpu = equalHalves(container, 'cpu');
        if (cpu === undefined || isPinned(container, cpu)) continue;
        const { limit, request } = cpu;
        const sameAs =
          request === undefined ? 'without a request, which is then the same' : 'the same as its request';
        report({
          at: limit.entry.value,
          message: `${containerTitle(container)} has a cpu limit of ${amountText(limit)}, ${sameAs}; tokenisation, sampling and loading are throttled there even on an idle node`,
          ...(request === undefined
            ? {}
            : {
                related: [
                  { resource, at: request.entry.value, message: `The request is ${amountText(request)}` },
                ],
              }),
          fixes: [removeLimit(container, cpu)],
          ...containerField(container),
        });
      }
    }
  },
});

interface Halves {
  readonly limit: ResourceAmount;
  /** `undefined` where it is not written, so that the limit counts as the request. */
  readonly request: ResourceAmount | undefined;
}

/** Limit and request of a resource where they are certainly equal and above 0. */
function equalHalves(container: Container, name: string): Halves | undefined {
  const limit = soleAmount(container.limits, name);
  if (limit?.quantity === undefined || limit.quantity.nanos <= 0n) return undefined;
  const request = soleAmount(container.requests, name);
  if (request === undefined) {
    return amountState(container, 'requests', name) === 'absent' ? { limit, request } : undefined;
  }
  const equal = request.quantity !== undefined && compareQuantities(request.quantity, limit.quantity) === 0;
  return equal ? { limit, request } : undefined;
}

/** Whole cores with equal memory: Guaranteed pods, which the CPU manager can give cores of their own. */
function isPinned(container: Container, { limit }: Halves): boolean {
  return (
    limit.quantity !== undefined &&
    isInteger(limit.quantity) &&
    equalHalves(container, 'memory') !== undefined
  );
}

/** Takes the limit away and keeps its number as the request. */
function removeLimit(container: Container, { limit, request }: Halves): Fix | undefined {
  const { document } = container.template.resource.placed;
  const limits = mapIn(container.resources, 'limits');
  const { value } = limit.entry;
  if (limits === undefined || value.kind !== 'scalar') return undefined;
  const whole = entryOf(container.resources, 'limits');
  if (request === undefined && limits.entries.length === 1 && whole !== undefined) {
    // Nothing else is limited: the map itself is what was meant as the request.
    if (entryOf(container.resources, 'requests') === undefined) {
      const edits = renameKey(document, whole, 'requests');
      return edits && { title: `Request ${amountText(limit)} cpu without a limit`, safe: false, edits };
    }
  }
  const removal = removeEntry(document, limits, 'cpu');
  const written =
    request === undefined
      ? insertPath(
          document,
          container.node,
          ['resources', 'requests', 'cpu'],
          scalarLike(value, amountText(limit)),
          { comment: commentBehind(document, limit.entry) },
        )
      : [];
  if (removal === undefined || written === undefined) return undefined;
  return {
    title:
      request === undefined ? `Request ${amountText(limit)} cpu without a limit` : 'Remove the cpu limit',
    safe: false,
    edits: [...written, ...removal],
  };
}
