import { acceleratorsOfPod } from '../../kube/accelerators';
import { containers, effectiveRequest, amountOf, readAmounts, type Container } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf, type NodeRequirement } from '../../kube/requirements';
import { normaliseLabel } from '../../kube/value-set';
import { toNumber } from '../../kube/quantity';
import { mapIn } from '../../yaml/node';
import type { Place } from '../rule';

/** Where a pod asks for a resource: the amount that weighs most. */
export interface AskedResource {
  readonly at: Place;
  readonly container: Container | undefined;
  /** Several containers ask for it, and their amounts are added. */
  readonly together: boolean;
}

export function askedResource(template: PodTemplate, resource: string): AskedResource | undefined {
  const podLevel = readAmounts(mapIn(template.spec, 'resources', 'requests')).find(
    ({ name }) => name === resource,
  );
  const isImplicit = template.implicitContainers.some(({ node }) => node === template.spec);
  if (podLevel !== undefined && !isImplicit) {
    return { at: podLevel.entry.value, container: undefined, together: false };
  }
  let best: { readonly container: Container; readonly amount: number; readonly at: Place } | undefined;
  let running = 0;
  for (const container of containers(template)) {
    if (container.kind === 'ephemeral') continue;
    const request = effectiveRequest(container, resource);
    if (request?.quantity === undefined) continue;
    const amount = toNumber(request.quantity);
    if (amount === 0) continue;
    if (container.kind !== 'init') running += 1;
    // A device is asked for under limits; the request beside it repeats the number.
    const shown = resource.includes('/') ? (amountOf(container.limits, resource) ?? request) : request;
    if (best === undefined || amount > best.amount) best = { container, amount, at: shown.entry.value };
  }
  if (best !== undefined) return { ...best, together: running > 1 && best.container.kind !== 'init' };
  const accelerator = acceleratorsOfPod(template).find((one) => one.resource === resource);
  return accelerator === undefined
    ? undefined
    : { at: accelerator.at, container: accelerator.container, together: false };
}

/** What a pod asks of a label in its node selector and in one alternative of its affinity, as it is written. */
export function requirementsOn(
  template: PodTemplate,
  alternative: number,
  key: string,
): readonly NodeRequirement[] {
  const { alternatives } = nodeDemandOf(template);
  return (alternatives[alternative] ?? []).filter((requirement) => normaliseLabel(requirement.key) === key);
}

/** The one value of a requirement, else its key. */
export function placeOfRequirement(requirement: NodeRequirement): Place {
  const [value] = requirement.valueNodes;
  return value !== undefined && requirement.valueNodes.length === 1 ? value : requirement.keyNode;
}

export type AcceleratorFamily = 'gpu' | 'neuron' | 'gaudi';

/** The kinds of accelerators that a pod asks for. */
export function acceleratorFamilies(template: PodTemplate): ReadonlySet<AcceleratorFamily> {
  const families = new Set<AcceleratorFamily>();
  for (const { vendor, unit } of acceleratorsOfPod(template)) {
    if (unit === 'claim') continue;
    if (vendor === 'nvidia' || vendor === 'amd') families.add('gpu');
    else if (vendor === 'aws') families.add('neuron');
    else if (vendor === 'habana') families.add('gaudi');
  }
  return families;
}
