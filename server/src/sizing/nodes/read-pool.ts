import { countAt } from '../../kube/count';
import { readRequirements } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { labelsOf } from '../../kube/selectors';
import { readTaints } from '../../kube/tolerations';
import {
  entryOf,
  isScalar,
  itemsIn,
  mapIn,
  numberIn,
  textIn,
  type MapNode,
  type YamlNode,
} from '../../yaml/node';
import { findInstanceType, type InstanceType } from './instances';
import { nodePoolLabel } from './labels';
import { poolCandidates, prepareFit } from './fit';
import type { NodePoolSpec } from './pool';
import { otherTypes } from './other-types';
import { admitsAbsence, readRequirements as readSets } from '../../kube/value-set';
import type { RequirementSpec, ValueSet } from '../../kube/value-set';
import type { Taint } from './taints';

const read = new WeakMap<Resource, NodePoolSpec>();

/**
 * A NodePool's manifest as plain data, with what cannot be read from it marked as such. Its node class is left
 * unknown: it lies in another document.
 */
export function readNodePool(resource: Resource): NodePoolSpec {
  let known = read.get(resource);
  if (known === undefined) read.set(resource, (known = readSpec(resource)));
  return known;
}

function readSpec(resource: Resource): NodePoolSpec {
  const spec = mapIn(resource.root, 'spec');
  const template = mapIn(spec, 'template');
  const inner = mapIn(template, 'spec');
  const unknownKeys: string[] = [];
  const list = entryOf(inner, 'requirements')?.value;
  const requirements: RequirementSpec[] = [];
  const written = readRequirements(list);
  // A requirement without a key that can be read may be on any label.
  const keyless = written.length < itemsIn(list).length;
  for (const { key, operator, values, node } of written) {
    if (operator === undefined || values === undefined) {
      unknownKeys.push(key);
      continue;
    }
    const minValues = numberIn(node, 'minValues');
    requirements.push({ key, operator, values, ...(minValues === undefined ? {} : { minValues }) });
  }
  const labels: Record<string, string> = {};
  const own = labelsOf(entryOf(mapIn(template, 'metadata'), 'labels')?.value);
  for (const [key, value] of own.values) {
    if (value === undefined) unknownKeys.push(key);
    else labels[key] = value;
  }
  const taints: Taint[] = [];
  let unreadTaint = false;
  for (const { key, value, effect } of readTaints(entryOf(inner, 'taints')?.value)) {
    if (key === undefined || value === undefined || effect === undefined) unreadTaint = true;
    else taints.push({ key, value, effect });
  }
  const reference = mapIn(inner, 'nodeClassRef');
  const group = textIn(reference, 'group');
  const kind = textIn(reference, 'kind');
  const name = textIn(reference, 'name');
  const weight = countAt(resource, spec, 'weight', 0);
  const replicas = numberIn(spec, 'replicas');
  if (resource.name === undefined) unknownKeys.push(nodePoolLabel);
  const parts: readonly (YamlNode | undefined)[] = [
    spec,
    template,
    inner,
    list,
    entryOf(inner, 'taints')?.value,
  ];
  return {
    kind: 'node-pool',
    name: resource.name ?? '',
    provider: group === 'eks.amazonaws.com' || kind === 'NodeClass' ? 'auto-mode' : 'karpenter',
    requirements,
    labels,
    taints,
    limits: limitsOf(mapIn(spec, 'limits')),
    ...(weight.known ? { weight: weight.value } : {}),
    ...(replicas === undefined ? {} : { replicas }),
    nodeClassRef: {
      ...(group === undefined ? {} : { group }),
      ...(kind === undefined ? {} : { kind }),
      ...(name === undefined ? {} : { name }),
    },
    unknownKeys,
    incomplete:
      resource.role === 'kustomize-patch' ||
      inner === undefined ||
      own.open ||
      keyless ||
      unreadTaint ||
      parts.some((node) => node !== undefined && (node.kind === 'scalar' ? node.unknown : node.open)),
  };
}

function limitsOf(limits: MapNode | undefined): Readonly<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  for (const { key, value } of limits?.entries ?? []) {
    if (isScalar(value)) read[key.text] = value.unknown ? undefined : value.text;
  }
  return read;
}

/** What a NodePool can launch, limits aside. */
export interface PoolTypes {
  /** Types of the catalogue that its requirements admit, or may admit. */
  readonly types: readonly InstanceType[];
  /** False when some type, or something that it requires, is not known. */
  readonly complete: boolean;
  /** Its requirements name a label that only nodes with accelerators have. */
  readonly accelerated: boolean;
  /** What the types that EC2 has and the catalogue lacks would offer; `undefined` when one is not known at all. */
  readonly others: readonly string[] | undefined;
}

/** Labels that Karpenter and EKS Auto Mode put on nodes with accelerators only. */
const acceleratorLabel = /^(karpenter\.k8s\.aws|eks\.amazonaws\.com)\/instance-(gpu|accelerator)-/;

const memo = new WeakMap<Resource, PoolTypes>();

export function typesOf(pool: Resource): PoolTypes {
  const known = memo.get(pool);
  if (known !== undefined) return known;
  const { limits: _, ...spec } = readNodePool(pool);
  const found = poolCandidates(prepareFit([spec]), spec.name);
  const certain = (found?.candidates ?? []).map(({ type }) => type);
  const possible = (found?.possible ?? []).map(findInstanceType);
  const readable = spec.incomplete !== true;
  const accelerated =
    readable &&
    [...readSets(spec.requirements).requirements].some(
      ([key, set]) => acceleratorLabel.test(key) && !admitsAbsence(set) && !admitsOnlyZero(key, set),
    );
  const others = (found?.possible ?? [])
    .filter((_, index) => possible[index] === undefined)
    .map((name) => otherTypes().find(({ family, size }) => `${family}.${size ?? '*'}` === name));
  const result: PoolTypes = {
    types: [...certain, ...possible.flatMap((type) => type ?? [])],
    complete: readable && others.length === 0,
    accelerated,
    others:
      !readable || others.some((other) => Object.keys(other?.accelerators ?? {}).length === 0)
        ? undefined
        : others.flatMap((other) => Object.keys(other?.accelerators ?? {}).slice(0, 1)),
  };
  memo.set(pool, result);
  return result;
}

/** `instance-gpu-count` of 0 is what the fractions of a GPU have. */
function admitsOnlyZero(key: string, set: ValueSet): boolean {
  return key.endsWith('-count') && !set.complement && [...set.values].every((value) => value === '0');
}

/** The extended resource that the accelerators of a type are asked for with; `undefined` for types without any. */
export function acceleratorResource(type: InstanceType): string | undefined {
  if (type.gpus !== undefined) {
    switch (type.gpus.manufacturer) {
      case 'nvidia':
        return 'nvidia.com/gpu';
      case 'amd':
        return 'amd.com/gpu';
      case 'habana':
        return 'habana.ai/gaudi';
    }
  }
  return type.accelerators?.manufacturer === 'aws' ? 'aws.amazon.com/neuron' : undefined;
}

/** The accelerator resources of a pool that can only launch nodes with accelerators; empty for every other pool. */
export function acceleratorsOnly(pool: Resource): readonly string[] {
  const { types, accelerated, others } = typesOf(pool);
  if (types.length === 0 || (others === undefined && !accelerated)) return [];
  const resources = new Set<string>(others);
  for (const type of types) {
    const resource = acceleratorResource(type);
    if (resource === undefined) return [];
    resources.add(resource);
  }
  return [...resources];
}
