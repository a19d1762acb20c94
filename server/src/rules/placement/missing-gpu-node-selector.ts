import type { UserModel } from '../../sizing/models/types';
import { acceleratorsOf } from '../../kube/accelerators';
import { isServing } from '../../kube/ai-workload';
import { otherCloud } from '../../kube/clouds';
import { runningContainers, type Container } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf } from '../../kube/requirements';
import { normaliseLabel } from '../../kube/value-set';
import { entryOf, isNull } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { servedModel } from '../sizing/served-model';
import { poolsNear } from './surroundings';
import { amountWords } from './words';

const gpu = 'nvidia.com/gpu';
const GiB = 2 ** 30;

/** Of a T4, the smallest whole GPU of today's EKS types, as the driver shows it, less the tenth that engines leave. */
const smallestGpu = 14.5 * 0.9 * GiB;

/** What an engine needs beside the weights for a first request: activations, CUDA graphs and a little KV cache. */
const beside = 2 * GiB;

export default defineRule({
  id: 'missing-gpu-node-selector',
  summary: 'A model server says which GPU it needs',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace, models }) {
    if (resource.role === 'kustomize-patch') return;
    for (const template of podTemplates(resource)) {
      if (!isServing(resource, template) || template.resourcesElsewhere) continue;
      if (otherCloud(template) !== undefined || !saysNothing(template)) continue;
      const asking = runningContainers(template).find((container) =>
        acceleratorsOf(container).some(({ resource: name }) => name === gpu),
      );
      const accelerator =
        asking === undefined ? undefined : acceleratorsOf(asking).find((one) => one.resource === gpu);
      if (asking === undefined || accelerator?.count === undefined) continue;
      // With pools beside it, these decide which GPUs there are.
      if (poolsNear(workspace, resource).length > 0 || anyWillDo(asking, accelerator.count, models)) continue;
      if (mayBePatched(workspace, resource, 'nodeSelector') || mayBePatched(workspace, resource, 'affinity'))
        continue;
      report({
        at: accelerator.at,
        message: `${containerTitle(asking)} asks for ${amountWords(gpu, accelerator.count)} and the pod says nothing of which: on EKS that may be a T4 with 16 GB as well as an H100 with 80 GB, whichever node is free or cheapest`,
        ...containerField(asking),
      });
    }
  },
});

/** Labels that say nothing about the machine. */
const ofAnyNode =
  /^(?:kubernetes\.io\/(?:os|arch|hostname)|topology\.kubernetes\.io\/(?:zone|region)|karpenter\.sh\/capacity-type|eks\.amazonaws\.com\/(?:capacityType|compute-type))$/;

function saysNothing(template: PodTemplate): boolean {
  const { alternatives, open } = nodeDemandOf(template);
  return (
    !open &&
    isNull(entryOf(template.spec, 'nodeName')?.value) &&
    alternatives.every((requirements) => requirements.every(({ key }) => ofAnyNode.test(normaliseLabel(key))))
  );
}

/** The model is known to fit on as many of the smallest GPUs. */
function anyWillDo(container: Container, gpus: number, models: readonly UserModel[]): boolean {
  const server = modelServerOf(container);
  const model = server === undefined ? undefined : servedModel(server, models);
  return model !== undefined && model.stored.high + beside * gpus <= smallestGpu * gpus;
}
