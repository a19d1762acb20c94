import { nodeDemandOf } from '../../kube/requirements';
import { isAbsent } from '../../kube/resource';
import { entryOf, isMap, isNull, isSequence } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { exportersIn } from './dcgm-exporter';

/** Labels that every node has: choosing by them alone leaves out none. */
const everywhere = /^(?:beta\.)?kubernetes\.io\/(?:os|arch)$/;

export default defineRule({
  id: 'dcgm-exporter-off-gpu-nodes',
  summary: 'DCGM exporter runs where the GPUs are',
  severity: 'info',
  needs: 'workspace',
  kinds: ['DaemonSet'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    const [container] = exportersIn(resource);
    if (container === undefined || resource.role === 'kustomize-patch') return;
    const { spec } = container.template;
    const demand = nodeDemandOf(container.template).alternatives;
    const chooses =
      demand.length > 0 &&
      demand.every((requirements) => requirements.some(({ key }) => !everywhere.test(key)));
    const tolerations = entryOf(spec, 'tolerations')?.value;
    const tolerates =
      !isAbsent(resource, spec, 'tolerations') &&
      !(isSequence(tolerations) && tolerations.items.length === 0 && !tolerations.open);
    if (chooses && tolerates) return;
    const selector = entryOf(spec, 'nodeSelector')?.value;
    const isOpen =
      !isNull(selector) &&
      (!isMap(selector) || selector.open || selector.entries.some(({ key }) => key.unknown));
    if (isOpen) return;
    // Templates may add either.
    if (spec.open || mayBePatched(workspace, resource, chooses ? 'tolerations' : 'nodeSelector')) return;
    if (!chooses && entryOf(spec, 'affinity') !== undefined && !mentionsNothing(spec)) return;
    const at = container.nameNode ?? container.image ?? entryOf(spec, 'containers');
    if (at === undefined) return;
    report({
      at,
      message: chooses
        ? `${titleOf(resource)} chooses GPU nodes but tolerates no taint: on nodes that are tainted for GPUs, which EKS tolerates only for pods that ask for them, no metrics are collected`
        : `${titleOf(resource)} chooses no nodes: on those without a GPU DCGM exporter fails again and again${tolerates ? '' : ', and it does not tolerate the taint of those with one'}`,
    });
  },
});

function mentionsNothing(spec: Parameters<typeof entryOf>[0]): boolean {
  const affinity = entryOf(spec, 'affinity')?.value;
  return affinity?.kind === 'map' && entryOf(affinity, 'nodeAffinity') === undefined && !affinity.open;
}
