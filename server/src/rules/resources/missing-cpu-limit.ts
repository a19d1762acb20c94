import { isAiWorkload } from '../../kube/ai-workload';
import { amountState, runningContainers, type Container, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { toNumber } from '../../kube/quantity';
import { insertPath } from '../../yaml/edit';
import { entryOf } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix } from '../rule';
import { amountText, containerField, containerTitle, soleAmount } from './wording';

export default defineRule({
  id: 'missing-cpu-limit',
  summary: 'Containers of AI workloads have a cpu limit where the checklist asks for one',
  severity: 'off',
  strict: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource).filter(isAiWorkload)) {
      for (const container of runningContainers(template)) {
        const request = soleAmount(container.requests, 'cpu');
        if (request === undefined || amountState(container, 'limits', 'cpu') !== 'absent') continue;
        if (mayBePatched(workspace, resource, 'cpu')) continue;
        report({
          at: entryOf(container.resources, 'limits') ?? request.entry,
          message: `${containerTitle(container)} requests ${request.state === 'known' ? `${amountText(request)} cpu` : 'cpu'} without a limit; it may take every idle core of the node`,
          fixes: [limitToTwice(container, request)],
          ...containerField(container),
        });
      }
    }
  },
});

/** vCPUs of the largest GPU and Neuron instance types of EC2: a limit above that limits nothing. */
const largestMachine = 192;

/** Twice the request leaves the bursts of tokenisation and loading their room. */
function limitToTwice(container: Container, { quantity }: ResourceAmount): Fix | undefined {
  if (quantity === undefined || quantity.nanos <= 0n) return undefined;
  const twice = toNumber(quantity) * 2;
  if (twice > largestMachine) return undefined;
  const value = Number.isInteger(twice) ? twice : `${Math.round(twice * 1000)}m`;
  const edits = insertPath(
    container.template.resource.placed.document,
    container.node,
    ['resources', 'limits', 'cpu'],
    value,
  );
  return edits === undefined
    ? undefined
    : { title: `Limit cpu to ${value}, twice the request`, safe: false, edits };
}
