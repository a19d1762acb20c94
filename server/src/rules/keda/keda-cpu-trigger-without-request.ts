import { containers, requestState } from '../../kube/containers';
import { triggersOf } from '../../kube/keda/read-triggers';
import { isResourceType } from '../../kube/keda/trigger-types';
import { podTemplates } from '../../kube/pod-carriers';
import { hasDefaultResources } from '../limit-range';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';

export default defineRule({
  id: 'keda-cpu-trigger-without-request',
  summary: 'A CPU or memory trigger needs the request in every container of the target',
  severity: 'error',
  needs: 'workspace',
  kinds: ['ScaledObject'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    const target = workspace.references(resource).target;
    if (target?.state !== 'found') return;
    const { kind, name } = target.resource;
    // The webhook looks at these two kinds only.
    if (kind !== 'Deployment' && kind !== 'StatefulSet') return;
    if (
      hasDefaultResources(workspace, target.resource) ||
      mayBePatched(workspace, target.resource, 'resources')
    )
      return;
    for (const trigger of triggersOf(resource)) {
      if (!isResourceType(trigger.type)) continue;
      const one = trigger.metadata.get('containerName');
      if (trigger.metadata.has('containerName') && one === undefined) continue;
      const without = podTemplates(target.resource)
        .flatMap((template) => containers(template))
        .filter((container) => container.kind === 'main' && (one === undefined || container.name === one))
        .filter((container) => requestState(container, trigger.type) === 'absent');
      if (without.length === 0) continue;
      const many = without.length > 1;
      const names = without.map((container) => `"${container.name}"`).join(', ');
      report({
        at: trigger.typeNode,
        message: `Container${many ? 's' : ''} ${names} of "${name ?? kind}" ${many ? 'have' : 'has'} no ${trigger.type} request, which a ${trigger.type} trigger needs; KEDA's webhook refuses the ScaledObject`,
        related: without.map((container) => ({
          resource: target.resource,
          at: container.nameNode ?? container.node,
          message: `No ${trigger.type} request here`,
        })),
      });
    }
  },
});
