import { acceleratorsOf } from '../../kube/accelerators';
import { isAiWorkload } from '../../kube/ai-workload';
import { requestState, runningContainers, type Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates } from '../../kube/pod-carriers';
import type { Workspace } from '../../workspace/workspace';
import { insertPath } from '../../yaml/edit';
import { mayBePatched } from '../overlays';
import { hasRoomFor } from '../placement/room';
import { defineRule, type Fix } from '../rule';
import { containerField, containerTitle, missingRequestSeverity, placeOfMissing } from './wording';

export default defineRule({
  id: 'missing-cpu-request',
  summary: 'Containers of AI workloads need a cpu request',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource).filter(isAiWorkload)) {
      for (const container of runningContainers(template)) {
        if (requestState(container, 'cpu') !== 'absent') continue;
        if (mayBePatched(workspace, resource, 'cpu')) continue;
        const waiting = acceleratorsOf(container).length > 0 ? ', and its accelerators wait for it' : '';
        report({
          at: placeOfMissing(container, 'requests'),
          message: `${containerTitle(container)} has no cpu request and no limit; on a busy node it gets the smallest share of CPU time${waiting}`,
          severity: missingRequestSeverity(container),
          fixes: [requestOnePerDevice(workspace, container)],
          ...containerField(container),
        });
      }
    }
  },
});

/** One core for each device is what a server needs to feed it at all; most do better with more. */
function requestOnePerDevice(workspace: Workspace, container: Container): Fix | undefined {
  if (modelServerOf(container) === undefined) return undefined;
  let cores = 0;
  for (const { count, unit } of acceleratorsOf(container)) {
    if (count === undefined) return undefined;
    // Slices and NeuronCores are parts of a device: one core for all of them.
    cores += unit === 'device' ? Math.ceil(count) : 1;
  }
  if (cores === 0 || !hasRoomFor(container, 'cpu', cores, workspace)) return undefined;
  const edits = insertPath(
    container.template.resource.placed.document,
    container.node,
    ['resources', 'requests', 'cpu'],
    cores,
  );
  return edits === undefined
    ? undefined
    : { title: `Request ${cores} cpu, 1 for each accelerator`, safe: false, edits };
}
