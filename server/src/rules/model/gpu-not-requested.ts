import { acceleratorsOfPod, resourceClaims } from '../../kube/accelerators';
import { amountOf, amountState, envOf, type Container } from '../../kube/containers';
import type { ModelServer } from '../../kube/model-server';
import type { PodTemplate } from '../../kube/pod-carriers';
import { isAbsent } from '../../kube/resource';
import { entryOf, isNull, mapIn } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle, placeOfMissing } from '../resources/wording';
import { defineRule } from '../rule';
import { serversOf } from './servings';

export default defineRule({
  id: 'gpu-not-requested',
  summary: 'A model server that needs a GPU must ask for one',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    for (const server of serversOf(resource)) {
      const { container } = server;
      if (!server.gpuOnly || !lacksAccelerator(container) || getsOneOtherwise(server)) continue;
      if (['nvidia.com/', 'resources', 'claims'].some((word) => mayBePatched(workspace, resource, word)))
        continue;
      report({
        at: amountOf(container.limits, 'nvidia.com/gpu')?.entry.value ?? placeOfMissing(container, 'limits'),
        message: `${containerTitle(container)} runs ${server.title}, which needs a GPU, but neither it nor a sidecar asks for an accelerator; the pod may land on a node without one, or share one with a pod that asked for it`,
        ...containerField(container),
      });
    }
  },
});

/** No container of the pod asks for a device, and no template or other object can make it. */
function lacksAccelerator(container: Container): boolean {
  const { template } = container;
  if (acceleratorsOfPod(template).length > 0 || resourceClaims(template).length > 0) return false;
  if (!asksForNone(container, 'limits') || !asksForNone(container, 'requests')) return false;
  return (
    isAbsent(template.resource, template.spec, 'resourceClaims') &&
    (container.resources === undefined || isAbsent(template.resource, container.resources, 'claims'))
  );
}

/** Nothing is written, and nothing can be added, or the amount is 0. */
function asksForNone(container: Container, where: 'limits' | 'requests'): boolean {
  const amount = amountOf(container[where], 'nvidia.com/gpu');
  return amount === undefined
    ? amountState(container, where, 'nvidia.com/gpu') === 'absent'
    : amount.quantity?.nanos === 0n;
}

/** The container runtime gives devices to it on purpose: by class, variable or device file. */
function getsOneOtherwise({ container }: ModelServer): boolean {
  const { template, node } = container;
  return (
    hasRuntimeClass(template) ||
    envOf(container).some(({ name }) => /^(NVIDIA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES)$/.test(name)) ||
    mapIn(node, 'securityContext')?.entries.some(
      ({ key, value }) => key.text === 'privileged' && value.kind === 'scalar' && value.value === true,
    ) === true
  );
}

function hasRuntimeClass({ spec }: PodTemplate): boolean {
  return !isNull(entryOf(spec, 'runtimeClassName')?.value);
}
