import { acceleratorsOfPod, type Accelerator } from '../../kube/accelerators';
import { otherCloud } from '../../kube/clouds';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { isAbsent } from '../../kube/resource';
import { tolerates, tolerationsOf } from '../../kube/tolerations';
import { appendItem, insertKey, type Edits } from '../../yaml/edit';
import { entryOf, isMap, isNull, isSequence } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule } from '../rule';
import { looksLikeAcceleratorTaint, taintKeyOf } from './accelerator-taints';

export default defineRule({
  id: 'missing-gpu-toleration',
  summary: 'A pod that asks for an accelerator tolerates the taint of its nodes',
  severity: 'info',
  strict: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'safe',
  check(resource, { report, workspace }) {
    // Where there are pools, their own taints decide: gpu-taint-not-tolerated compares with them.
    if (workspace.near(resource, 'NodePool', 'karpenter.sh').length > 0) return;
    for (const template of podTemplates(resource)) {
      const asked = firstAccelerator(template);
      if (asked === undefined || bringsTolerations(template) || otherCloud(template) !== undefined) continue;
      if (workspace.references(resource).nodePools(template).length > 0) continue;
      if (!toleratesNothingOf(template, asked.key) || mayBePatched(workspace, resource, 'tolerations'))
        continue;
      const { accelerator, key } = asked;
      const list = entryOf(template.spec, 'tolerations');
      const edits = tolerate(template, key);
      // The plug-in adds a toleration of the name that is asked for, which is not that of the whole device.
      const consequence =
        accelerator.resource === key
          ? 'EKS adds the toleration by itself (ExtendedResourceToleration), on a cluster without that admission plug-in a tainted node never takes the pod'
          : `EKS by itself adds one of ${accelerator.resource} only (ExtendedResourceToleration), so that a node with that taint never takes the pod`;
      report({
        at: list === undefined || isNull(list.value) ? accelerator.at : list,
        message: `${containerTitle(accelerator.container)} asks for ${accelerator.resource}, and the pod does not tolerate the taint ${key}: ${consequence}`,
        ...containerField(accelerator.container),
        fixes: [
          edits === undefined
            ? undefined
            : { title: `Add a toleration of ${key}:NoSchedule`, safe: true, edits },
        ],
      });
    }
  },
});

interface Asked {
  readonly accelerator: Accelerator;
  readonly key: string;
}

/** The first accelerator that is certainly asked for, with the taint of its nodes. */
function firstAccelerator(template: PodTemplate): Asked | undefined {
  for (const accelerator of acceleratorsOfPod(template)) {
    const key = taintKeyOf(accelerator);
    if (key !== undefined && accelerator.count !== undefined) return { accelerator, key };
  }
  return undefined;
}

/** Runtimes, profiles and operators can add tolerations; KubeRay makes the pods from their templates as they are. */
function bringsTolerations(template: PodTemplate): boolean {
  return template.operatorOwned && template.resource.group !== 'ray.io';
}

/** Whether all tolerations are known, and none has to do with accelerators. */
function toleratesNothingOf(template: PodTemplate, key: string): boolean {
  const { resource, spec } = template;
  const list = entryOf(spec, 'tolerations')?.value;
  if (isNull(list)) return isAbsent(resource, spec, 'tolerations');
  if (!isSequence(list) || list.open || !list.items.every(isMap) || resource.role === 'kustomize-patch')
    return false;
  const taint = { key, value: undefined, effect: 'NoSchedule', node: undefined };
  return tolerationsOf(template).every(
    (toleration) =>
      toleration.key !== undefined &&
      tolerates(toleration, taint) === 'no' &&
      (toleration.key === key || !looksLikeAcceleratorTaint(toleration.key)),
  );
}

function tolerate({ resource, spec }: PodTemplate, key: string): Edits {
  const toleration = { key, operator: 'Exists', effect: 'NoSchedule' };
  const list = entryOf(spec, 'tolerations')?.value;
  return isSequence(list)
    ? appendItem(resource.placed.document, list, toleration)
    : insertKey(resource.placed.document, spec, 'tolerations', [toleration], { before: 'containers' });
}
