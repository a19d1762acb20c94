import { acceleratorsOf } from '../../kube/accelerators';
import type { Container, ResourceAmount } from '../../kube/containers';
import { modelServerOf } from '../../kube/model-server';
import type { Resource } from '../../kube/resource';
import { toNumber, type Quantity } from '../../kube/quantity';
import { entryOf, isNull, type Entry, type MapNode, type ScalarNode } from '../../yaml/node';
import type { Place, Severity } from '../rule';

/** Kinds of the API server itself, which checks the pod template with the object; others are checked pod by pod. */
const checkedWithObject: readonly string[] = ['', 'apps', 'batch'];

/** What the API server refuses when a pod spec is wrong: the object, or the pods that its controller makes. */
export function refusedObject(resource: Resource): string {
  return checkedWithObject.includes(resource.group) ? resource.kind : 'pod';
}

/**
 * Whether a key without a value is an amount of 0, as the API server reads it in its own kinds. A patch takes the key
 * away, and custom resources drop it.
 */
export function nullIsZero(resource: Resource): boolean {
  return resource.role !== 'kustomize-patch' && checkedWithObject.includes(resource.group);
}

/** `Container "vllm"`, at the start of a message. */
export function containerTitle({ name }: Pick<Container, 'name'>): string {
  return name === '' ? 'The container' : `Container "${name}"`;
}

/** The container of a report, for overrides in the configuration: nothing where its name is not known. */
export function containerField({ name }: Pick<Container, 'name'>): { readonly container?: string } {
  return name === '' ? {} : { container: name };
}

/**
 * Whether a container is what its AI workload is there for: it runs the model server, or has the accelerators. The others
 * (proxies, exporters) matter less when they are slow.
 */
export function carriesTheWork(container: Container): boolean {
  return modelServerOf(container) !== undefined || acceleratorsOf(container).length > 0;
}

/** Kinds of pods that end by themselves, or that somebody started by hand. */
const shortLived: readonly string[] = ['Pod', 'PodTemplate', 'Job', 'CronJob', 'ScaledJob', 'Notebook'];

/**
 * How much it matters that a container of an AI workload has no request: a warning for what serves or trains, advice for
 * the containers beside it and for one-off pods (a test of the driver, a download).
 */
export function missingRequestSeverity(container: Container): Severity {
  const { kind } = container.template.resource;
  const serves = modelServerOf(container) !== undefined;
  return serves || (carriesTheWork(container) && !shortLived.includes(kind)) ? 'warning' : 'info';
}

/**
 * Where a person would look for a request or limit that is not written: the map it belongs in, else `resources`, else
 * the container's name.
 */
export function placeOfMissing(container: Container, where: 'requests' | 'limits'): Place {
  return (
    entryOf(container.resources, where) ??
    entryOf(container.node, 'resources') ??
    container.nameNode ??
    container.image ??
    container.node.entries[0] ??
    container.node
  );
}

/** The amount of one name; none where a template writes it in several branches, of which one will be taken. */
export function soleAmount(amounts: readonly ResourceAmount[], name: string): ResourceAmount | undefined {
  const [first, ...others] = amounts.filter((amount) => amount.name === name);
  return others.length === 0 ? first : undefined;
}

/** Amounts whose key is written without a value. */
export function emptyAmounts(map: MapNode | undefined): readonly Entry[] {
  return map?.entries.filter(({ key, value }) => !key.unknown && isNull(value)) ?? [];
}

/** The text of an amount as it is written. */
export function amountText({ entry }: ResourceAmount): string {
  return entry.value.kind === 'scalar' ? entry.value.text : '';
}

/** A number to write in the place of a value: with quotes where that one has some, else bare. */
export function scalarLike({ style }: ScalarNode, text: string): string | number {
  return style === 'plain' && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** `2 GPUs`, `1 GPU`, `16 aws.amazon.com/neuron`. */
export function pieces(count: number | string, name: string): string {
  if (name !== 'nvidia.com/gpu') return `${count} ${name}`;
  return `${count} GPU${Number(count) === 1 ? '' : 's'}`;
}

/** A known quantity as one would write it: whole and broken numbers without a suffix. */
export function plainNumber(quantity: Quantity): string {
  return String(toNumber(quantity));
}
