import { isExtendedResource } from '../../kube/accelerators';
import { amountState, containers, type Container, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { isInteger } from '../../kube/quantity';
import { insertPath } from '../../yaml/edit';
import { entryOf } from '../../yaml/node';
import { defineRule, type Fix } from '../rule';
import {
  amountText,
  containerField,
  containerTitle,
  pieces,
  plainNumber,
  refusedObject,
  scalarLike,
  soleAmount,
} from '../resources/wording';

export default defineRule({
  id: 'gpu-request-without-limit',
  summary: 'A request for a GPU or another device needs the equal limit',
  severity: 'error',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'safe',
  apiServerRejects: true,
  check(resource, { report }) {
    for (const container of podTemplates(resource).flatMap(containers)) {
      for (const request of container.requests) {
        const { name } = request;
        if (!isExtendedResource(name) && !name.startsWith('hugepages-')) continue;
        if (soleAmount(container.requests, name) === undefined) continue;
        if (amountState(container, 'limits', name) !== 'absent') continue;
        const limits = entryOf(container.resources, 'limits');
        report({
          at: request.entry.key,
          message: `${containerTitle(container)} requests ${count(request)} without a limit; a device cannot be overcommitted, so the API server rejects the ${refusedObject(resource)}`,
          ...(limits === undefined
            ? {}
            : { related: [{ resource, at: limits, message: `${name} is missing here` }] }),
          fixes: [addLimit(container, request)],
          ...containerField(container),
        });
      }
    }
  },
});

function count({ name, quantity, entry: { value } }: ResourceAmount): string {
  if (quantity !== undefined && isExtendedResource(name)) return pieces(plainNumber(quantity), name);
  return value.kind === 'scalar' && !value.unknown ? pieces(value.text, name) : name;
}

/** The request is what the author wanted, and only one limit goes with it. */
function addLimit(container: Container, request: ResourceAmount): Fix | undefined {
  const { name, quantity, entry } = request;
  if (quantity === undefined || entry.value.kind !== 'scalar') return undefined;
  if (isExtendedResource(name) && !isInteger(quantity)) return undefined;
  const edits = insertPath(
    container.template.resource.placed.document,
    container.node,
    ['resources', 'limits', name],
    scalarLike(entry.value, amountText(request)),
  );
  return edits === undefined ? undefined : { title: `Limit to ${count(request)}`, safe: true, edits };
}
