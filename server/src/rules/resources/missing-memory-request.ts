import { isAiWorkload } from '../../kube/ai-workload';
import { requestState, runningContainers, type Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import { formatBytes, toMemoryQuantity } from '../../kube/quantity';
import type { Workspace } from '../../workspace/workspace';
import { insertPath } from '../../yaml/edit';
import { mayBePatched } from '../overlays';
import { hasRoomFor } from '../placement/room';
import { defineRule, type Fix } from '../rule';
import { hostNeedOf, type HostNeed } from '../sizing/host-memory';
import { containerField, containerTitle, missingRequestSeverity, placeOfMissing } from './wording';

export default defineRule({
  id: 'missing-memory-request',
  summary: 'Containers of AI workloads need a memory request',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace, models }) {
    for (const template of podTemplates(resource).filter(isAiWorkload)) {
      for (const container of runningContainers(template)) {
        if (requestState(container, 'memory') !== 'absent') continue;
        if (mayBePatched(workspace, resource, 'memory')) continue;
        const server = modelServerOf(container);
        const need = server === undefined ? undefined : hostNeedOf(server, models);
        report({
          at: placeOfMissing(container, 'requests'),
          message: `${containerTitle(container)} has no memory request and no limit; it may land on a node without room for ${
            need === undefined
              ? 'it'
              : `the ${formatBytes(need.wanted)} that ${need.model.name} needs (${sumOf(need)})`
          }, and is among the first to be evicted there`,
          severity: missingRequestSeverity(container),
          ...(need === undefined ? {} : { evidence: need.evidence }),
          fixes: [need === undefined ? undefined : requestNeed(workspace, container, need)],
          ...containerField(container),
        });
      }
    }
  },
});

/** The terms, with the weights as they are expected rather than at least. */
function sumOf({ terms, full, wanted }: HostNeed): string {
  return terms
    .map(({ label, bytes }, index) => `${label} ${formatBytes(index === 0 ? bytes + wanted - full : bytes)}`)
    .join(' + ');
}

function requestNeed(workspace: Workspace, container: Container, need: HostNeed): Fix | undefined {
  if (!hasRoomFor(container, 'memory', need.wanted, workspace)) return undefined;
  const wanted = toMemoryQuantity(need.wanted);
  const edits = insertPath(
    container.template.resource.placed.document,
    container.node,
    ['resources', 'requests', 'memory'],
    wanted,
  );
  return edits === undefined ? undefined : { title: `Request ${wanted} of memory`, safe: false, edits };
}
