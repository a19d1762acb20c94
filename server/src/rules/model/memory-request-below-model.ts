import { formatBytes, toMemoryQuantity, toNumber } from '../../kube/quantity';
import { hasRoomFor } from '../placement/room';
import { hostNeedOf } from '../sizing/host-memory';
import { amountText, containerField, containerTitle, soleAmount } from '../resources/wording';
import { defineRule } from '../rule';
import { memoryLimit, setMemory } from './memory-amounts';
import { serversOf } from './servings';

/** Sizes of checkpoints are known to a few percent. */
const tolerance = 0.97;

export default defineRule({
  id: 'memory-request-below-model',
  summary: 'A memory request must cover the weights that a pod loads',
  severity: 'info',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, models }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      const limit = memoryLimit(container);
      const request = soleAmount(container.requests, 'memory');
      if (limit?.quantity === undefined || request?.quantity === undefined) continue;
      const need = hostNeedOf(server, models);
      if (need === undefined) continue;
      const [may, asks] = [toNumber(limit.quantity), toNumber(request.quantity)];
      if (asks >= need.weights * tolerance || may < need.weights) continue;
      const wanted = may < need.wanted ? amountText(limit) : toMemoryQuantity(need.wanted);
      report({
        at: request.entry.value,
        message: `${containerTitle(container)} requests ${amountText(request)} of memory, but loads ${formatBytes(need.weights)} of weights of ${need.model.name}; the scheduler may choose a node without that much free (${need.assumption})`,
        evidence: need.evidence,
        fixes: [
          hasRoomFor(container, 'memory', Math.min(may, need.wanted))
            ? setMemory(resource, container, ['requests'], wanted, `Request ${wanted} of memory`)
            : undefined,
        ],
        ...containerField(container),
      });
    }
  },
});
