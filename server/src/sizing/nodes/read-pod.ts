import { resourceClaims } from '../../kube/accelerators';
import { containers } from '../../kube/containers';
import type { Container, ResourceAmount } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf, nodeSelectorOf, readRequirements } from '../../kube/requirements';
import type { NodeRequirement } from '../../kube/requirements';
import { tolerationsOf } from '../../kube/tolerations';
import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  isSequence,
  itemsIn,
  mapIn,
  numberIn,
  textIn,
} from '../../yaml/node';
import type { YamlNode } from '../../yaml/node';
import type { NodeSelectorTerm, PodSpec } from './pod';
import { isUndecided } from './read-node-class';
import type { RequirementSpec } from '../../kube/value-set';
import type { ContainerResources, PodResources, QuantityList } from './resources';
import type { Toleration } from './taints';

const memo = new WeakMap<PodTemplate, PodSpec>();

/**
 * A pod template as plain data, with what cannot be read from it marked as such. The zones of its volumes are not in
 * it: they stand in other documents.
 */
export function readPod(template: PodTemplate): PodSpec {
  let known = memo.get(template);
  if (known === undefined) memo.set(template, (known = read(template)));
  return known;
}

function read(template: PodTemplate): PodSpec {
  const { spec, resource } = template;
  const { selector, unknownKeys } = selectorOf(template);
  const affinity = mapIn(spec, 'affinity', 'nodeAffinity');
  const required = itemsIn(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  const preferred = itemsIn(affinity, 'preferredDuringSchedulingIgnoredDuringExecution');
  const { tolerations, open } = readTolerations(template);
  const topologyKeys = [...spreadKeys(spec), ...affinityKeys(spec)];
  return {
    resources: resourcesOf(template),
    ...(selector !== undefined && { nodeSelector: selector }),
    ...(required.length > 0 && { requiredTerms: required.map(term) }),
    ...(preferred.length > 0 && {
      preferredTerms: preferred.map((item) => ({
        weight: numberIn(item, 'weight') ?? 0,
        term: term(mapIn(item, 'preference')),
      })),
    }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(open && { openTolerations: true }),
    ...(topologyKeys.length > 0 && { topologyKeys }),
    ...(unknownKeys.length > 0 && { unknownKeys }),
    ...((nodeDemandOf(template).open ||
      template.resourcesElsewhere ||
      resource.role === 'kustomize-patch' ||
      resourceClaims(template).length > 0 ||
      containers(template).some(asksUnread) ||
      isUndecided(entryOf(spec, 'resources')?.value)) && { incomplete: true }),
  };
}

/** What the container asks for cannot all be read. */
function asksUnread(container: Container): boolean {
  const written = entryOf(container.node, 'resources')?.value;
  return (
    container.node.open ||
    (isScalar(written) ? written.unknown : isUndecided(written)) ||
    (container.resources !== undefined && !isNull(entryOf(container.resources, 'claims')?.value))
  );
}

function selectorOf(template: PodTemplate): {
  readonly selector: Readonly<Record<string, string>> | undefined;
  readonly unknownKeys: readonly string[];
} {
  const selector: Record<string, string> = {};
  const unknownKeys = new Set<string>();
  const seen = new Set<string>();
  for (const { key, values } of nodeSelectorOf(template)) {
    const [value] = values ?? [];
    // Two entries of one key are branches of a template.
    if (value === undefined || seen.has(key)) unknownKeys.add(key);
    else selector[key] = value;
    seen.add(key);
  }
  for (const key of unknownKeys) delete selector[key];
  return { selector: Object.keys(selector).length > 0 ? selector : undefined, unknownKeys: [...unknownKeys] };
}

function term(node: YamlNode | undefined): NodeSelectorTerm {
  const fields = readRequirements(entryOf(node, 'matchFields')?.value);
  return {
    matchExpressions: readRequirements(entryOf(node, 'matchExpressions')?.value).map(expression),
    ...(fields.length > 0 && { matchFields: true }),
  };
}

/** One whose operator or values are only known later has an operator that no cluster has, and so says nothing. */
function expression({ key, operator, values }: NodeRequirement): RequirementSpec {
  return operator === undefined || values === undefined ? { key, operator: '' } : { key, operator, values };
}

function readTolerations(template: PodTemplate): {
  readonly tolerations: readonly Toleration[];
  readonly open: boolean;
} {
  const list = entryOf(template.spec, 'tolerations')?.value;
  let open =
    template.resourcesElsewhere ||
    template.resource.role === 'kustomize-patch' ||
    // A RuntimeClass may bring some.
    !isNull(entryOf(template.spec, 'runtimeClassName')?.value) ||
    (isNull(list) ? template.spec.open : !isSequence(list) || list.open);
  const tolerations: Toleration[] = [];
  for (const { key, operator, value, effect } of tolerationsOf(template)) {
    if (key === undefined || operator === undefined || value === undefined || effect === undefined)
      open = true;
    else tolerations.push({ key, operator, value, effect });
  }
  return { tolerations, open };
}

function spreadKeys(spec: YamlNode): readonly string[] {
  return itemsIn(spec, 'topologySpreadConstraints').flatMap((constraint) => {
    const key = textIn(constraint, 'topologyKey');
    // Without a policy it is DoNotSchedule.
    const soft = textIn(constraint, 'whenUnsatisfiable') ?? 'DoNotSchedule';
    return key === undefined || soft !== 'DoNotSchedule' || hostname.test(key) ? [] : [key];
  });
}

function affinityKeys(spec: YamlNode): readonly string[] {
  return itemsIn(spec, 'affinity', 'podAffinity', 'requiredDuringSchedulingIgnoredDuringExecution').flatMap(
    (item) => {
      const key = textIn(item, 'topologyKey');
      return key === undefined || hostname.test(key) ? [] : [key];
    },
  );
}

/** Every node has one. */
const hostname = /^kubernetes\.io\/hostname$/;

function resourcesOf(template: PodTemplate): PodResources {
  const all = containers(template);
  const podLevel = mapIn(template.spec, 'resources');
  const overhead = mapIn(template.spec, 'overhead');
  // Of the containers in the branches of a template only some will be there.
  const list = entryOf(template.spec, 'containers')?.value;
  const branches = isSequence(list) && list.open;
  const isImplicit = all.some(({ node }) => node === template.spec);
  return {
    containers: all
      .filter(({ kind }) => kind === 'main')
      .map((container) => (branches ? undecided(container) : ofContainer(container))),
    initContainers: itemsIn(template.spec, 'initContainers').flatMap((node) => {
      const container = all.find((candidate) => candidate.node === node);
      return container === undefined
        ? []
        : [{ ...ofContainer(container), ...(container.kind === 'sidecar' && { restartPolicy: 'Always' }) }];
    }),
    ...(overhead !== undefined && { overhead: plain(overhead) }),
    ...(podLevel !== undefined &&
      !isImplicit && {
        podLevel: {
          requests: plain(mapIn(podLevel, 'requests')),
          limits: plain(mapIn(podLevel, 'limits')),
        },
      }),
  };
}

function ofContainer({ requests, limits }: Container): ContainerResources {
  return { requests: quantities(requests), limits: quantities(limits) };
}

/** Every amount of it may be there or not. */
function undecided({ requests, limits }: Container): ContainerResources {
  const none = (amounts: readonly ResourceAmount[]): QuantityList =>
    Object.fromEntries(amounts.map(({ name }) => [name, undefined]));
  return { requests: none(requests), limits: none(limits) };
}

function quantities(amounts: readonly ResourceAmount[]): QuantityList {
  const list: Record<string, unknown> = {};
  for (const { name, entry, state } of amounts) {
    list[name] = name in list || state !== 'known' ? undefined : textOf(entry.value);
  }
  return list;
}

function plain(map: YamlNode | undefined): QuantityList {
  if (!isMap(map)) return {};
  return Object.fromEntries(
    map.entries.filter(({ value }) => !isNull(value)).map(({ key, value }) => [key.text, textOf(value)]),
  );
}

/** The quantity as it reaches the API server, which takes `0x10` as 16. */
function textOf(node: YamlNode): string | undefined {
  if (!isScalar(node) || node.unknown) return undefined;
  return typeof node.value === 'number' && !/^[\d.]+$/.test(node.text)
    ? String(node.value)
    : node.text.trim();
}
