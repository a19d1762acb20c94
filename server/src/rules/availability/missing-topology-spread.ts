import { isServing } from '../../kube/ai-workload';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf, valueSetOf } from '../../kube/requirements';
import { isAbsent, isPathAbsent } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { appendItem, insertKey } from '../../yaml/edit';
import { entryOf, isNull, isSequence, mapIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix } from '../rule';
import { leastReplicas, relatedTo, type LeastReplicas } from './least-replicas';
import { ownSelector } from './own-labels';

const zone = 'topology.kubernetes.io/zone';

export default defineRule({
  id: 'missing-topology-spread',
  summary: 'The replicas of a model server are spread over zones',
  severity: 'info',
  strict: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource)) {
      if (template.operatorOwned || !isServing(resource, template)) continue;
      // The pods of a group talk to each other all the time: they belong into one zone.
      if (template.groupSize.value !== 1 || isOfOneZone(template)) continue;
      if (!hasNoSpread(template) || !hasNoAntiAffinity(template)) continue;
      const several = severalReplicas(workspace, template);
      if (several === undefined || mayBePatched(workspace, resource, 'topologySpreadConstraints')) continue;
      const { spec, node } = template;
      const list = entryOf(spec, 'topologySpreadConstraints');
      const at = list !== undefined && !isNull(list.value) ? list : entryOf(node, 'spec');
      if (at === undefined) continue;
      report({
        at,
        message: `${titleOf(resource)} runs with ${several.autoscaler === undefined ? '' : 'at least '}${several.value} replicas that nothing spreads over zones: the scheduler tolerates 5 more of them in one zone than in another and Karpenter starts nodes where they are cheapest, so that one zone can take all of them down`,
        related: several.autoscaler === undefined ? [] : [relatedTo(template, several)],
        fixes: [spreadFix(template)],
      });
    }
  },
});

/** As written, or as an autoscaler keeps them: a constraint costs nothing while there is only one. */
function severalReplicas(workspace: Workspace, template: PodTemplate): LeastReplicas | undefined {
  const { replicas } = template;
  const least = leastReplicas(workspace, template);
  if (least !== undefined && least.value >= 2) return least;
  return replicas.known && replicas.value >= 2 ? { value: replicas.value, autoscaler: undefined } : undefined;
}

function hasNoSpread({ resource, spec }: PodTemplate): boolean {
  const list = entryOf(spec, 'topologySpreadConstraints')?.value;
  return (
    isAbsent(resource, spec, 'topologySpreadConstraints') ||
    (isSequence(list) && list.items.length === 0 && !list.open && resource.role !== 'kustomize-patch')
  );
}

/** Rules of the pod's own about which pods it keeps away from, however they are meant. */
function hasNoAntiAffinity({ resource, spec }: PodTemplate): boolean {
  if (isPathAbsent(resource, spec, 'affinity', 'podAntiAffinity')) return true;
  const rules = mapIn(spec, 'affinity', 'podAntiAffinity');
  return (
    rules !== undefined &&
    !rules.open &&
    rules.entries.every(({ value }) => isSequence(value) && value.items.length === 0 && !value.open)
  );
}

/** Every alternative asks for one and the same zone, as for reserved capacity. */
function isOfOneZone(template: PodTemplate): boolean {
  const { alternatives } = nodeDemandOf(template);
  return alternatives.every((requirements) =>
    requirements.some(({ key, ...requirement }) => {
      if (
        !/^(topology\.kubernetes\.io\/zone|topology\.k8s\.aws\/zone-id|failure-domain\.beta\.kubernetes\.io\/zone|kubernetes\.io\/hostname)$/.test(
          key,
        )
      )
        return false;
      const set = valueSetOf({ key, ...requirement });
      return set === undefined || (!set.complement && set.values.size === 1);
    }),
  );
}

function spreadFix(template: PodTemplate): Fix | undefined {
  const labelSelector = ownSelector(template);
  if (labelSelector === undefined) return undefined;
  const { resource, spec } = template;
  const constraint = {
    maxSkew: 1,
    topologyKey: zone,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector,
  };
  const { document } = resource.placed;
  const list = entryOf(spec, 'topologySpreadConstraints')?.value;
  const edits = isSequence(list)
    ? appendItem(document, list, constraint)
    : insertKey(document, spec, 'topologySpreadConstraints', [constraint], { before: 'containers' });
  return edits === undefined
    ? undefined
    : { title: 'Spread over zones with maxSkew 1, ScheduleAnyway', safe: false, edits };
}
