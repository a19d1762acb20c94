import { acceleratorsOfPod } from '../../kube/accelerators';
import { otherCloud } from '../../kube/clouds';
import { podTemplates } from '../../kube/pod-carriers';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { pluginConfigurations, type PluginConfiguration, type SharedGpu } from './device-plugin';

export default defineRule({
  id: 'gpu-sharing-request-above-one',
  summary: 'A container asks for one shared GPU, where the device plugin refuses more',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch') return;
    for (const template of podTemplates(resource)) {
      const asked = acceleratorsOfPod(template).filter(
        ({ vendor, unit, count }) =>
          vendor === 'nvidia' && unit !== 'claim' && count !== undefined && count > 1,
      );
      if (asked.length === 0 || otherCloud(template) !== undefined) continue;
      const configurations = pluginConfigurations(workspace, resource).filter(
        ({ sharing }) => sharing.length > 0,
      );
      for (const accelerator of asked) {
        const shared = sharedOnAll(configurations, accelerator.resource);
        if (shared?.refuses === undefined || mayBePatched(workspace, resource, accelerator.resource))
          continue;
        const { container, count = 0, at } = accelerator;
        const pieces = shared.replicas === undefined ? 'shares' : `${shared.replicas} shares each`;
        report({
          at,
          message: `${containerTitle(container)} asks for ${count} ${accelerator.resource}, which the device plugin cuts into ${pieces} and of which it gives one to a container (failRequestsGreaterThanOne): the pod fails with UnexpectedAdmissionError`,
          related: [
            {
              resource: shared.refuses.resource,
              at: shared.refuses.at,
              message: 'The device plugin refuses more than one',
            },
          ],
          ...containerField(container),
        });
      }
    }
  },
});

/** What is shared under a name on every node: nodes choose one of several configurations by a label. */
function sharedOnAll(configurations: readonly PluginConfiguration[], name: string): SharedGpu | undefined {
  const every = configurations.flatMap(({ sharing }) => sharing);
  const found = every.map((shared) => shared.find((gpu) => gpu.name === name && gpu.refuses !== undefined));
  return found.length > 0 && found.every((gpu) => gpu !== undefined) ? found[0] : undefined;
}
