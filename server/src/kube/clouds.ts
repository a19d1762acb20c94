import { acceleratorsOfPod } from './accelerators';
import { podTemplates, type PodTemplate } from './pod-carriers';
import type { Resource } from './resource';
import { allRequirements } from './requirements';
import { tolerationsOf } from './tolerations';

export type OtherCloud = 'gke' | 'aks';

/** Label and taint keys that only one other cloud knows. */
const keys: readonly (readonly [RegExp, OtherCloud])[] = [
  [/^cloud\.google\.com\//, 'gke'],
  [/^kubernetes\.azure\.com\//, 'aks'],
  [/^agentpool$/, 'aks'],
  [/^karpenter\.azure\.com\//, 'aks'],
];

function cloudOf(key: string): OtherCloud | undefined {
  return keys.find(([pattern]) => pattern.test(key))?.[1];
}

/**
 * The cloud other than AWS that a pod is plainly written for: by the labels that it selects, the taints that it
 * tolerates or the devices that it asks for. Rules about EKS are silent then.
 */
export function otherCloud(template: PodTemplate): OtherCloud | undefined {
  if (template.resource.group === 'kaito.sh') return 'aks';
  for (const { key } of allRequirements(template)) {
    const cloud = cloudOf(key);
    if (cloud !== undefined) return cloud;
  }
  for (const { key } of tolerationsOf(template)) {
    const cloud = key === undefined ? undefined : cloudOf(key);
    if (cloud !== undefined) return cloud;
  }
  return acceleratorsOfPod(template).some(({ vendor }) => vendor === 'google') ? 'gke' : undefined;
}

/** As {@link otherCloud}, for any template of an object. */
export function otherCloudOf(resource: Resource): OtherCloud | undefined {
  for (const template of podTemplates(resource)) {
    const cloud = otherCloud(template);
    if (cloud !== undefined) return cloud;
  }
  return undefined;
}
