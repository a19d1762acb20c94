import { acceleratorsOfPod } from '../../kube/accelerators';
import { otherCloud } from '../../kube/clouds';
import { podTemplates } from '../../kube/pod-carriers';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { pluginConfigurations } from './device-plugin';

export default defineRule({
  id: 'mig-resource-under-single-strategy',
  summary: 'MIG devices are asked for by the name that the device plugin gives them',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch') return;
    for (const template of podTemplates(resource)) {
      const slices = acceleratorsOfPod(template).filter((accelerator) =>
        accelerator.resource.startsWith('nvidia.com/mig-'),
      );
      if (slices.length === 0 || otherCloud(template) !== undefined) continue;
      const strategies = pluginConfigurations(workspace, resource).flatMap(
        ({ migStrategy }) => migStrategy ?? [],
      );
      const [first] = strategies;
      // `none` offers whole GPUs only, `single` the slices as if they were GPUs.
      if (first === undefined || strategies.some(({ value }) => value !== 'single' && value !== 'none'))
        continue;
      for (const { resource: name, container, at } of slices) {
        if (mayBePatched(workspace, resource, 'mig-')) continue;
        report({
          at,
          message:
            `${containerTitle(container)} asks for ${name}, but with the MIG strategy "${first.value}" ` +
            `${first.value === 'single' ? 'the slices of a node are offered as nvidia.com/gpu' : 'no slices are offered'}: the pod stays pending`,
          related: [{ resource: first.resource, at: first.at, message: 'The strategy of the device plugin' }],
          ...containerField(container),
        });
      }
    }
  },
});
