import { acceleratorsOfPod } from '../../kube/accelerators';
import { otherCloud } from '../../kube/clouds';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { allRequirements } from '../../kube/requirements';
import { gpuOfInstance } from '../../sizing/gpu-choices';
import { gpuInText, type Gpu } from '../../sizing/gpus';
import { readPod } from '../../sizing/nodes/read-pod';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { ContainerResources, QuantityList } from '../../sizing/nodes/resources';
import type { Workspace } from '../../workspace/workspace';
import { containerField, containerTitle } from '../resources/wording';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { possibleTypes } from './possible-types';
import { poolTitle } from './surroundings';
import { listWords, someOf } from './words';

export default defineRule({
  id: 'mig-profile-mismatch',
  summary: 'A MIG profile is one that the selected GPU can be cut into',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource)) {
      const slices = acceleratorsOfPod(template).flatMap((accelerator) => {
        const profile = profileOf(accelerator.resource);
        return profile === undefined ? [] : [{ accelerator, profile }];
      });
      if (slices.length === 0) continue;
      const selected = selectedGpus(workspace, template);
      if (selected === undefined || selected.gpus.length === 0) continue;
      const { gpus, from } = selected;
      for (const { accelerator, profile } of slices) {
        // One that may have it is enough, as is one whose profiles are not known.
        if (!gpus.every((gpu) => lacks(gpu, profile))) continue;
        if (mayBePatched(workspace, resource, 'mig-') || mayBePatched(workspace, resource, 'nodeSelector'))
          continue;
        report({
          at: accelerator.at,
          message: `${containerTitle(accelerator.container)} asks for the MIG profile ${profile}, and ${from} ${describe(gpus)}: no node ever offers it`,
          ...containerField(accelerator.container),
        });
      }
    }
  },
});

/** `1g.10gb` of `nvidia.com/mig-1g.10gb.me`; `undefined` for other resources and for parts of an instance. */
function profileOf(resource: string): string | undefined {
  return /^nvidia\.com\/mig-(\d+g\.\d+gb)(?:[.+-][a-z.]+)?$/.exec(resource)?.[1];
}

/** Compute capabilities of cards that cannot be cut: Kepler to Turing, and the smaller chips of Ampere and Ada. */
const withoutMig: readonly number[] = [3.7, 5.2, 6.0, 6.1, 7.0, 7.5, 8.6, 8.9];

function lacks(gpu: Gpu, profile: string): boolean {
  if (gpu.mig.length > 0) return !gpu.mig.some(({ name }) => name === profile);
  return gpu.computeCapability !== undefined && withoutMig.includes(gpu.computeCapability);
}

function describe(gpus: readonly Gpu[]): string {
  const [first] = gpus;
  if (first === undefined) return '';
  if (gpus.length > 1) return `${someOf(gpus.map(({ label }) => label))}, none of which has it`;
  return first.mig.length === 0
    ? `the ${first.label}, which cannot be cut (A100, H100, H200 and B200 can)`
    : `the ${first.label}, which has ${listWords(first.mig.map(({ name }) => name))}`;
}

interface Selected {
  readonly gpus: readonly Gpu[];
  /** Who selects them. */
  readonly from: string;
}

/** Karpenter knows no slices, so that the question is which whole GPUs the pod's nodes have. */
function selectedGpus(workspace: Workspace, template: PodTemplate): Selected | undefined {
  if (otherCloud(template) !== undefined) return undefined;
  const product = allRequirements(template).find(({ key }) => key === 'nvidia.com/gpu.product');
  if (product?.operator === 'In' && product.values !== undefined) {
    const named = product.values.map((value) => gpuInText(value));
    const gpus = named.flatMap((gpu) => gpu ?? []);
    if (gpus.length === named.length && gpus.length > 0) return { gpus, from: 'its nodes have' };
  }
  const possible = possibleTypes(workspace, template, onWholeGpus(readPod(template)));
  if (possible?.complete !== true) return undefined;
  const cards = new Set<Gpu>();
  for (const type of possible.types) {
    const gpu = gpuOfInstance(type);
    if (gpu === undefined) return undefined;
    cards.add(gpu);
  }
  const from =
    possible.pools.length === 0
      ? 'the types that it selects have'
      : `nodes of ${listWords(possible.pools.map(poolTitle))} have`;
  return { gpus: [...cards], from };
}

/** The pod with one whole GPU in the place of its slices. */
function onWholeGpus(pod: PodSpec): PodSpec {
  const { podLevel: _, ...resources } = pod.resources;
  const whole = (list: QuantityList = {}): QuantityList => {
    const kept = Object.entries(list).filter(([name]) => !name.startsWith('nvidia.com/mig-'));
    return kept.length === Object.keys(list).length
      ? list
      : { ...Object.fromEntries(kept), 'nvidia.com/gpu': 1 };
  };
  const each = (container: ContainerResources): ContainerResources => ({
    ...container,
    requests: whole(container.requests),
    limits: whole(container.limits),
  });
  return {
    ...pod,
    openTolerations: true,
    resources: {
      ...resources,
      containers: resources.containers.map(each),
      initContainers: (resources.initContainers ?? []).map(each),
    },
  };
}
