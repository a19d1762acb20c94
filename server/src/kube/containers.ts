import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  isSequence,
  itemsIn,
  mapIn,
  scalarIn,
  type Entry,
  type MapNode,
  type ScalarNode,
  type YamlNode,
} from '../yaml/node';
import { countOf, type Count } from './count';
import { probeOf, type Probe } from './probes';
import type { PodTemplate } from './pod-carriers';
import { quantityOf, type Quantity } from './quantity';
import { isAbsent } from './resource';

/** `sidecar`: an init container with `restartPolicy: Always`, which runs as long as the pod does. */
export type ContainerKind = 'main' | 'init' | 'sidecar' | 'ephemeral';

export interface ResourceAmount {
  /** `cpu`, `memory`, `nvidia.com/gpu`, ... */
  readonly name: string;
  readonly entry: Entry;
  /** The value, when it is known and well-formed. */
  readonly quantity: Quantity | undefined;
  readonly state: 'known' | 'invalid' | 'unknown';
}

export interface Container {
  readonly template: PodTemplate;
  readonly kind: ContainerKind;
  /** Empty when it is not written or not known. */
  readonly name: string;
  readonly node: MapNode;
  readonly nameNode: ScalarNode | undefined;
  /** Where the image is written; of a NIMService, its `repository`. */
  readonly image: ScalarNode | undefined;
  /** The image as one would pull it, when known. */
  readonly imageText: string | undefined;
  readonly resources: MapNode | undefined;
  readonly requests: readonly ResourceAmount[];
  readonly limits: readonly ResourceAmount[];
}

/** Reads a `requests:` or `limits:` map (or a NodePool's `limits`). */
export function readAmounts(node: YamlNode | undefined): readonly ResourceAmount[] {
  if (!isMap(node)) return [];
  const amounts: ResourceAmount[] = [];
  for (const entry of node.entries) {
    if (entry.key.unknown) continue;
    const { value } = entry;
    if (isScalar(value) && value.value === null && !value.unknown) continue;
    const quantity = quantityOf(value);
    const state = isScalar(value) && value.unknown ? 'unknown' : quantity === undefined ? 'invalid' : 'known';
    amounts.push({ name: entry.key.text, entry, quantity, state });
  }
  return amounts;
}

function imageOf(node: MapNode): { image: ScalarNode | undefined; imageText: string | undefined } {
  const written = entryOf(node, 'image')?.value;
  if (isMap(written)) {
    const repository = scalarIn(written, 'repository');
    const tag = scalarIn(written, 'tag');
    if (repository === undefined || repository.unknown) return { image: repository, imageText: undefined };
    const suffix = tag === undefined || isNull(tag) || tag.unknown ? '' : `:${tag.text}`;
    return { image: repository, imageText: `${repository.text}${suffix}` };
  }
  if (!isScalar(written)) return { image: undefined, imageText: undefined };
  return { image: written, imageText: written.unknown || written.value === null ? undefined : written.text };
}

function read(template: PodTemplate, node: MapNode, kind: ContainerKind, defaultName = ''): Container {
  const nameNode = scalarIn(node, 'name');
  const resources = mapIn(node, 'resources');
  return {
    template,
    kind,
    name: nameNode === undefined || nameNode.unknown || nameNode.value === null ? defaultName : nameNode.text,
    node,
    nameNode,
    ...imageOf(node),
    resources,
    requests: readAmounts(mapIn(resources, 'requests')),
    limits: readAmounts(mapIn(resources, 'limits')),
  };
}

const memo = new WeakMap<PodTemplate, readonly Container[]>();

/** All containers of a pod: main ones first, then init containers and sidecars, then ephemeral ones. */
export function containers(template: PodTemplate): readonly Container[] {
  const known = memo.get(template);
  if (known !== undefined) return known;
  const found: Container[] = [];
  for (const implicit of template.implicitContainers)
    found.push(read(template, implicit.node, 'main', implicit.name));
  for (const node of itemsIn(template.spec, 'containers')) {
    if (isMap(node)) found.push(read(template, node, 'main'));
  }
  for (const node of itemsIn(template.spec, 'initContainers')) {
    if (!isMap(node)) continue;
    const policy = scalarIn(node, 'restartPolicy');
    found.push(read(template, node, policy?.text === 'Always' && !policy.unknown ? 'sidecar' : 'init'));
  }
  for (const node of itemsIn(template.spec, 'ephemeralContainers')) {
    if (isMap(node)) found.push(read(template, node, 'ephemeral'));
  }
  memo.set(template, found);
  return found;
}

/** Containers that run as long as the pod does. */
export function runningContainers(template: PodTemplate): readonly Container[] {
  return containers(template).filter(({ kind }) => kind === 'main' || kind === 'sidecar');
}

export function amountOf(amounts: readonly ResourceAmount[], name: string): ResourceAmount | undefined {
  return amounts.find((amount) => amount.name === name);
}

/** What the scheduler reckons with: the request, or the limit where no request is written. */
export function effectiveRequest(container: Container, name: string): ResourceAmount | undefined {
  return amountOf(container.requests, name) ?? amountOf(container.limits, name);
}

/**
 * Whether a request or limit is there. `unknown` where something outside the text can bring it: the rest of a patched
 * object, a template, a serving runtime, pod-level resources.
 */
export function amountState(
  container: Container,
  where: 'requests' | 'limits',
  name: string,
): 'present' | 'absent' | 'unknown' {
  if (amountOf(container[where], name) !== undefined) return 'present';
  const { template, node, resources } = container;
  const { resource } = template;
  if (
    template.resourcesElsewhere ||
    (entryOf(template.spec, 'resources') !== undefined && template.spec !== node)
  ) {
    return 'unknown';
  }
  if (isAbsent(resource, node, 'resources')) return 'absent';
  if (resources === undefined) return 'unknown';
  if (isAbsent(resource, resources, where)) return 'absent';
  const map = mapIn(resources, where);
  return map !== undefined && isAbsent(resource, map, name) ? 'absent' : 'unknown';
}

/** As {@link amountState} for what counts as the request: absent only when request and limit both are. */
export function requestState(container: Container, name: string): 'present' | 'absent' | 'unknown' {
  const request = amountState(container, 'requests', name);
  if (request === 'present') return 'present';
  const limit = amountState(container, 'limits', name);
  if (limit === 'present') return 'present';
  return request === 'absent' && limit === 'absent' ? 'absent' : 'unknown';
}

export interface ContainerPort {
  readonly node: MapNode;
  readonly name: string | undefined;
  readonly nameNode: ScalarNode | undefined;
  readonly number: Count;
}

export function portsOf(container: Container): readonly ContainerPort[] {
  return itemsIn(container.node, 'ports')
    .filter(isMap)
    .map((node) => {
      const nameNode = scalarIn(node, 'name');
      return {
        node,
        name:
          nameNode === undefined || nameNode.unknown || nameNode.value === null ? undefined : nameNode.text,
        nameNode,
        number: countOf(entryOf(node, 'containerPort')?.value),
      };
    });
}

/**
 * The port that a number or a name means. `unknown` when a template can add ports or names are only known later;
 * `absent` when the container certainly declares no such name. A number needs no declaration: it is always `found`.
 */
export type PortLookup =
  | { readonly state: 'found'; readonly port: ContainerPort | undefined; readonly number: Count }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown' };

export function findPort(container: Container, reference: ScalarNode): PortLookup {
  if (reference.unknown || reference.value === null) return { state: 'unknown' };
  const ports = portsOf(container);
  if (typeof reference.value === 'number') {
    const port = ports.find(({ number }) => number.known && number.value === reference.value);
    return { state: 'found', port, number: countOf(reference) };
  }
  const port = ports.find(({ name }) => name === reference.text);
  if (port !== undefined) return { state: 'found', port, number: port.number };
  const list = entryOf(container.node, 'ports')?.value;
  const closed =
    isAbsent(container.template.resource, container.node, 'ports') ||
    (isSequence(list) && !list.open && container.template.resource.role !== 'kustomize-patch');
  const named = ports.every(({ node, nameNode }) => !node.open && nameNode?.unknown !== true);
  return closed && named ? { state: 'absent' } : { state: 'unknown' };
}

export interface Probes {
  readonly readiness: Probe | undefined;
  readonly liveness: Probe | undefined;
  readonly startup: Probe | undefined;
}

export function probesOf(container: Container): Probes {
  const complete = container.template.resource.role !== 'kustomize-patch';
  return {
    readiness: probeOf(container.node, 'readiness', complete),
    liveness: probeOf(container.node, 'liveness', complete),
    startup: probeOf(container.node, 'startup', complete),
  };
}

export interface EnvVar {
  readonly name: string;
  /** The item of the list, or the value in a map of variables. */
  readonly node: YamlNode;
  readonly nameNode: ScalarNode;
  /** The literal `value`; `undefined` when it comes from a Secret, a ConfigMap or the pod itself. */
  readonly value: ScalarNode | undefined;
}

/**
 * Text that another tool replaces before the manifest is applied (`$HF_TOKEN` of envsubst, `<your-token>`), though it
 * looks like a value.
 */
function isPlaceholder(text: string): boolean {
  return /^\$[A-Z_][A-Z0-9_]*$/.test(text) || /^<[^<>]*>$/.test(text);
}

const environments = new WeakMap<Container, readonly EnvVar[]>();

/** The environment of a container, in order; a later variable of one name wins. */
export function envOf(container: Container): readonly EnvVar[] {
  let known = environments.get(container);
  if (known === undefined) environments.set(container, (known = readEnv(container)));
  return known;
}

function readEnv(container: Container): readonly EnvVar[] {
  const env = entryOf(container.node, 'env')?.value;
  if (isMap(env)) {
    return env.entries
      .filter(({ key }) => !key.unknown)
      .map(({ key, value }) => ({
        name: key.text,
        node: value,
        nameNode: key,
        value: isScalar(value) ? value : undefined,
      }));
  }
  const variables: EnvVar[] = [];
  for (const node of itemsIn(container.node, 'env')) {
    const nameNode = scalarIn(node, 'name');
    if (nameNode === undefined || nameNode.unknown || nameNode.value === null) continue;
    variables.push({ name: nameNode.text, node, nameNode, value: scalarIn(node, 'value') });
  }
  return variables;
}

export type EnvLookup =
  | { readonly state: 'known'; readonly text: string; readonly node: ScalarNode; readonly variable: EnvVar }
  | { readonly state: 'unknown'; readonly variable: EnvVar | undefined }
  | { readonly state: 'absent' };

/** A variable's literal value. `unknown` when it comes from elsewhere, or `envFrom` or a template could set it. */
export function envValue(container: Container, name: string): EnvLookup {
  const variable = envOf(container).findLast((candidate) => candidate.name === name);
  if (variable !== undefined) {
    const { value } = variable;
    if (value === undefined || value.unknown || isPlaceholder(value.text))
      return { state: 'unknown', variable };
    return { state: 'known', text: value.text, node: value, variable };
  }
  const { node, template } = container;
  const env = entryOf(node, 'env')?.value;
  const open =
    template.resource.role === 'kustomize-patch' ||
    node.open ||
    (env !== undefined && (env.kind === 'scalar' ? !isNull(env) : env.open)) ||
    !isNull(entryOf(node, 'envFrom')?.value);
  return open ? { state: 'unknown', variable: undefined } : { state: 'absent' };
}
