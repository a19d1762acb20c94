import { entryOf, itemsIn, mapIn, scalarIn, textIn, type Entry, type YamlNode } from '../yaml/node';
import type { Container, ResourceAmount } from './containers';
import { containers, effectiveRequest } from './containers';
import type { PodTemplate } from './pod-carriers';
import { toNumber } from './quantity';

export type AcceleratorVendor = 'nvidia' | 'amd' | 'aws' | 'habana' | 'google' | 'unknown';

/**
 * What one unit of the resource is: a whole device, a slice of one (MIG, shared), a core of one (two or more NeuronCores
 * make a Neuron device), or something that a resource claim names.
 */
export type AcceleratorUnit = 'device' | 'slice' | 'core' | 'claim';

interface AcceleratorKind {
  readonly name: RegExp;
  readonly vendor: AcceleratorVendor;
  readonly unit: AcceleratorUnit;
}

/** Sources: the device plugins of NVIDIA, AMD, AWS Neuron, Intel Gaudi and Google. */
const kinds: readonly AcceleratorKind[] = [
  { name: /^nvidia\.com\/gpu$/, vendor: 'nvidia', unit: 'device' },
  { name: /^nvidia\.com\/gpu\.shared$/, vendor: 'nvidia', unit: 'slice' },
  { name: /^nvidia\.com\/mig-.+$/, vendor: 'nvidia', unit: 'slice' },
  { name: /^nvidia\.com\/[\w.-]+$/, vendor: 'nvidia', unit: 'device' },
  { name: /^amd\.com\/gpu$/, vendor: 'amd', unit: 'device' },
  { name: /^aws\.amazon\.com\/neuroncore$/, vendor: 'aws', unit: 'core' },
  { name: /^aws\.amazon\.com\/neuron(device)?$/, vendor: 'aws', unit: 'device' },
  { name: /^habana\.ai\/gaudi\d?$/, vendor: 'habana', unit: 'device' },
  { name: /^google\.com\/tpu$/, vendor: 'google', unit: 'device' },
];

/** Vendor and unit of an accelerator's resource name; `undefined` for every other resource. */
export function acceleratorKind(
  name: string,
): { vendor: AcceleratorVendor; unit: AcceleratorUnit } | undefined {
  const found = kinds.find((kind) => kind.name.test(name));
  return found === undefined ? undefined : { vendor: found.vendor, unit: found.unit };
}

/**
 * Resources that Kubernetes itself defines. Everything else with a domain is an extended resource: whole numbers only,
 * request equal to limit. `kubernetes.io/` names are native too; huge pages and attachable volumes are none of ours.
 */
export function isExtendedResource(name: string): boolean {
  const slash = name.indexOf('/');
  if (slash <= 0) return false;
  const domain = name.slice(0, slash);
  return domain !== 'kubernetes.io' && !domain.endsWith('.kubernetes.io') && !name.startsWith('requests.');
}

export interface Accelerator {
  /** `nvidia.com/gpu`, ...; of a claim, the name of the claim in the pod. */
  readonly resource: string;
  readonly vendor: AcceleratorVendor;
  readonly unit: AcceleratorUnit;
  /** How many the container asks for; `undefined` when only known later, and for claims. */
  readonly count: number | undefined;
  readonly container: Container;
  /** Where it is asked for: the entry under limits, else under requests; of a claim, its item in the list. */
  readonly at: Entry | YamlNode;
}

/** Profile names of KubeAI's chart (`nvidia-gpu-l4:8`, `amd-gpu-mi300x:8`): the vendor, and units after the colon. */
const resourceProfile = /^(nvidia|amd)-gpu-[\w.-]+?(?::(\d+))?$/;

function ofAmount(container: Container, amount: ResourceAmount): Accelerator | undefined {
  const kind = acceleratorKind(amount.name);
  if (kind === undefined) return undefined;
  const count = amount.quantity === undefined ? undefined : toNumber(amount.quantity);
  if (count === 0) return undefined;
  return { resource: amount.name, ...kind, count, container, at: amount.entry };
}

const memo = new WeakMap<Container, readonly Accelerator[]>();

/** What one container asks for. A count of 0 is not asking. */
export function acceleratorsOf(container: Container): readonly Accelerator[] {
  const known = memo.get(container);
  if (known !== undefined) return known;
  const found: Accelerator[] = [];
  const names = new Set([...container.limits, ...container.requests].map((amount) => amount.name));
  for (const name of names) {
    const amount = container.limits.find((limit) => limit.name === name) ?? effectiveRequest(container, name);
    const accelerator = amount === undefined ? undefined : ofAmount(container, amount);
    if (accelerator !== undefined) found.push(accelerator);
  }
  for (const claim of itemsIn(container.resources, 'claims')) {
    found.push({
      resource: textIn(claim, 'name') ?? '',
      vendor: 'unknown',
      unit: 'claim',
      count: undefined,
      container,
      at: claim,
    });
  }
  const { template, node } = container;
  if (template.resource.kind === 'Model' && template.resource.group === 'kubeai.org') {
    const profile = scalarIn(node, 'resourceProfile');
    const match = profile === undefined || profile.unknown ? null : resourceProfile.exec(profile.text);
    if (profile !== undefined && match !== null) {
      const vendor = match[1] === 'amd' ? 'amd' : 'nvidia';
      found.push({
        resource: vendor === 'amd' ? 'amd.com/gpu' : 'nvidia.com/gpu',
        vendor,
        unit: 'device',
        count: match[2] === undefined ? 1 : Number(match[2]),
        container,
        at: entryOf(node, 'resourceProfile') ?? profile,
      });
    }
  }
  memo.set(container, found);
  return found;
}

/** What all containers of a pod ask for, init containers included. */
export function acceleratorsOfPod(template: PodTemplate): readonly Accelerator[] {
  return containers(template).flatMap(acceleratorsOf);
}

/**
 * Accelerators of one kind that the scheduler reserves for a pod: the sum over main containers and sidecars, or the
 * largest init container where that is more. `undefined` when a count is only known later.
 */
export function acceleratorCount(template: PodTemplate, resource: string): number | undefined {
  let main = 0;
  let init = 0;
  for (const accelerator of acceleratorsOfPod(template)) {
    if (accelerator.resource !== resource || accelerator.unit === 'claim') continue;
    if (accelerator.count === undefined) return undefined;
    if (accelerator.container.kind === 'init') init = Math.max(init, accelerator.count);
    else main += accelerator.count;
  }
  return Math.max(main, init);
}

/** The key of a taint that keeps pods without accelerators away: the resource name of a device, by convention. */
export function isAcceleratorTaintKey(key: string): boolean {
  return acceleratorKind(key) !== undefined;
}

/** Resource claims of a pod (`spec.resourceClaims`), which device allocation resolves. */
export function resourceClaims(template: PodTemplate): readonly YamlNode[] {
  return mapIn(template.spec) === undefined ? [] : itemsIn(template.spec, 'resourceClaims');
}
