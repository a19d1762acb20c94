import type { UserModel } from '../../sizing/models/types';
import { isAiWorkload } from '../../kube/ai-workload';
import { amountState, runningContainers, type Container, type ResourceAmount } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { toMemoryQuantity, toNumber } from '../../kube/quantity';
import { insertPath } from '../../yaml/edit';
import { entryOf } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix } from '../rule';
import { hostNeedOf } from '../sizing/host-memory';
import { mountedMemory } from '../sizing/memory-volumes';
import { amountText, containerField, containerTitle, scalarLike, soleAmount } from './wording';

export default defineRule({
  id: 'missing-memory-limit',
  summary: 'Containers of AI workloads need a memory limit',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const template of podTemplates(resource).filter(isAiWorkload)) {
      for (const container of runningContainers(template)) {
        const request = soleAmount(container.requests, 'memory');
        if (request === undefined || amountState(container, 'limits', 'memory') !== 'absent') continue;
        if (mayBePatched(workspace, resource, 'memory')) continue;
        report({
          at: entryOf(container.resources, 'limits') ?? request.entry,
          message: `${containerTitle(container)} has a memory request and no limit; if it leaks, the whole node runs out and other pods die with it`,
          fixes: [addLimit(container, request, models)],
          ...containerField(container),
        });
      }
    }
  },
});

/**
 * Memory cannot be taken back once it is used, so the limit that overcommits nothing is the request; where the model needs
 * more, the limit is what it needs.
 */
function addLimit(
  container: Container,
  request: ResourceAmount,
  models: readonly UserModel[],
): Fix | undefined {
  const { quantity, entry } = request;
  if (quantity === undefined || entry.value.kind !== 'scalar') return undefined;
  const server = modelServerOf(container);
  const need = server === undefined ? undefined : hostNeedOf(server, models);
  const requested = toNumber(quantity);
  const isEnough = Math.max(need?.wanted ?? 0, mountedMemory(container)) <= requested;
  if (!isEnough && need === undefined) return undefined;
  const text = isEnough || need === undefined ? amountText(request) : toMemoryQuantity(need.wanted);
  const edits = insertPath(
    container.template.resource.placed.document,
    container.node,
    ['resources', 'limits', 'memory'],
    scalarLike(entry.value, text),
  );
  const why = isEnough || need === undefined ? 'as requested' : `which ${need.model.name} needs`;
  return edits === undefined ? undefined : { title: `Limit memory to ${text}, ${why}`, safe: false, edits };
}
