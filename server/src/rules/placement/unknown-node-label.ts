import { otherCloud } from '../../kube/clouds';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { valueSetOf, type NodeRequirement } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { admitsAbsence } from '../../kube/value-set';
import { wellKnownLabels } from '../../sizing/nodes/labels';
import type { PoolSpec } from '../../sizing/nodes/pool';
import { readNodeGroups } from '../../sizing/nodes/read-node-groups';
import { readNodePool } from '../../sizing/nodes/read-pool';
import type { Workspace } from '../../workspace/workspace';
import { replaceScalar } from '../../yaml/edit';
import { isScalar } from '../../yaml/node';
import { nearest } from '../nearest';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix, type Report } from '../rule';
import { demandedLabels, requiredLabels, type LabelPlace } from './label-places';
import { isOfItsKind } from './meant-pools';
import { labelOrigin, labelsLike, type LabelOrigin } from './node-labels';
import { definesLabel } from './strange-labels';
import { poolsNear, surroundingsOf } from './surroundings';
import { listWords } from './words';

type ProviderOfPools = 'karpenter' | 'auto-mode';

export default defineRule({
  id: 'unknown-node-label',
  summary: 'A label that pods or NodePools ask for is one that some node carries',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier', 'NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.kind === 'NodePool') {
      if (resource.group === 'karpenter.sh') checkPool(resource, report);
      return;
    }
    for (const template of podTemplates(resource)) {
      if (otherCloud(template) === undefined) checkPod(workspace, template, report);
    }
  },
});

function checkPod(workspace: Workspace, template: PodTemplate, report: (report: Report) => void): void {
  const { resource } = template;
  for (const place of demandedLabels(template)) {
    const { key, requirement } = place;
    reportRegion(requirement, report, 'no node is in it, and the pod stays pending');
    const set = requirement === undefined ? undefined : valueSetOf(requirement);
    // A node without the label is as good for these.
    if (set !== undefined && admitsAbsence(set)) continue;
    const origin = labelOrigin(key);
    if (origin === 'renamed') continue;
    const about = judge(workspace, template, key, origin);
    if (about === undefined || mayBePatched(workspace, resource, 'nodeSelector')) continue;
    const { message, provider } = about;
    report({
      at: place.node,
      message,
      ...(origin === 'not-karpenter' && { severity: 'error' as const }),
      fixes: suggestions(resource, place, provider),
    });
  }
}

const zoneKeys: readonly string[] = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const region = /^(af|ap|ca|cn|eu|il|me|mx|sa|us)(-gov|-iso[a-z]?)?-[a-z]+-\d$/;

/** The name of a region where a zone is asked for: a zone has a letter behind it, or is one inside a city. */
function reportRegion(
  requirement: NodeRequirement | undefined,
  report: (report: Report) => void,
  then: string,
): void {
  if (requirement?.operator !== 'In' || !zoneKeys.includes(requirement.key)) return;
  const values = requirement.valueNodes;
  const named = values.filter((node) => isScalar(node) && !node.unknown && region.test(node.text));
  const [first] = named;
  // Beside a zone it only does no good.
  if (!isScalar(first) || named.length < values.length) return;
  report({
    at: first,
    severity: 'error',
    message: `${first.text} is a region, and ${requirement.key} holds zones such as ${first.text}a: ${then}`,
  });
}

interface About {
  readonly message: string;
  /** Whose labels to suggest. */
  readonly provider: ProviderOfPools;
}

/** What is wrong with a key that a pod asks for; `undefined` for nothing, or nothing that can be known. */
function judge(
  workspace: Workspace,
  template: PodTemplate,
  key: string,
  origin: LabelOrigin,
): About | undefined {
  const pools = poolsNear(workspace, template.resource);
  const near = pools.map(({ spec }) => spec);
  const providers = new Set(near.flatMap((spec) => (spec.kind === 'node-pool' ? [spec.provider] : [])));
  const provider: ProviderOfPools =
    providers.size === 1 && providers.has('auto-mode') ? 'auto-mode' : 'karpenter';
  if (origin === 'not-karpenter') {
    return {
      provider,
      message: `Karpenter has no label ${key}${meant(key, provider)}: it launches no node for the pod`,
    };
  }
  if (origin === 'known') return ofOtherProvider(near, providers, key);
  if (definedSomewhere(workspace).some((spec) => definesLabel(spec, key))) return undefined;
  if (origin === 'look-alike') {
    return {
      provider,
      message: `Neither Kubernetes nor EKS nor Karpenter puts ${key} on nodes${meant(key, provider)}: the pod stays pending`,
    };
  }
  // A node group has nodes that somebody may have labelled; Karpenter launches only what it knows.
  if (near.length === 0 || near.some((spec) => spec.kind === 'node-group' || spec.incomplete === true))
    return undefined;
  if (origin === 'discovered') {
    return {
      provider,
      message: `${key} is put on nodes that are there already; no NodePool sets it, so that Karpenter launches none for the pod`,
    };
  }
  const surroundings = surroundingsOf(workspace, template);
  if (!pools.some((pool) => isOfItsKind(template, surroundings, pool))) return undefined;
  return {
    provider,
    message: `No NodePool sets ${key} on its nodes, and nothing else is known to: Karpenter launches none for the pod`,
  };
}

/** A label of EKS Auto Mode where all pools are of open source Karpenter, or the other way round. */
function ofOtherProvider(
  near: readonly PoolSpec[],
  providers: ReadonlySet<ProviderOfPools>,
  key: string,
): About | undefined {
  const [provider] = providers;
  if (provider === undefined || providers.size > 1) return undefined;
  if (near.some((spec) => spec.kind === 'node-group' || definesLabel(spec, key))) return undefined;
  const other = provider === 'karpenter' ? 'auto-mode' : 'karpenter';
  if (wellKnownLabels(provider).includes(key) || !wellKnownLabels(other).includes(key)) return undefined;
  const [from, to] =
    provider === 'karpenter'
      ? ['EKS Auto Mode', 'open source Karpenter']
      : ['open source Karpenter', 'EKS Auto Mode'];
  return {
    provider,
    message: `${key} is a label of ${from}, and the NodePools here are of ${to}: none of their nodes carries it`,
  };
}

const memo = new WeakMap<Workspace, readonly PoolSpec[]>();

/** Everything in the workspace that puts labels on nodes. */
function definedSomewhere(workspace: Workspace): readonly PoolSpec[] {
  let known = memo.get(workspace);
  if (known === undefined) {
    known = [
      ...workspace.everywhere('NodePool', 'karpenter.sh').map(readNodePool),
      ...workspace
        .everywhere('ClusterConfig', 'eksctl.io')
        .flatMap((cluster) => readNodeGroups(cluster).map(({ spec }) => spec)),
    ];
    memo.set(workspace, known);
  }
  return known;
}

/** The labels that may be meant, the likeliest first. */
function candidates(key: string, provider: ProviderOfPools): readonly string[] {
  const same = labelsLike(key, provider);
  if (same.length > 0) return same;
  const [domain = '', name = ''] = key.split('/', 2);
  const known = new Map(
    wellKnownLabels(provider)
      .filter((label) => domain.startsWith('karpenter') || label.startsWith(domain))
      .map((label) => [label.slice(label.indexOf('/') + 1), label]),
  );
  // Half of a name: `instance-gpu` for `instance-gpu-name`, which is no slip for `instance-cpu`.
  const whole = [`${name}-name`, ...known.keys()].find(
    (other) => other.startsWith(`${name}-`) && known.has(other),
  );
  const found = whole ?? nearest(name, known.keys());
  const label = found === undefined ? undefined : known.get(found);
  return label === undefined ? [] : [label];
}

function meant(key: string, provider: ProviderOfPools): string {
  const labels = candidates(key, provider);
  return labels.length === 0 ? '' : ` (${listWords(labels, 'or')} is one)`;
}

/** What GPU Feature Discovery calls GPUs, and what Karpenter does. */
const gpuNames: readonly (readonly [RegExp, string])[] = [
  [/^Tesla-T4\b/i, 't4'],
  [/\bA10G\b/i, 'a10g'],
  [/\bL40S\b/i, 'l40s'],
  [/\bL4\b/i, 'l4'],
  [/\bV100\b/i, 'v100'],
  [/\bA100\b/i, 'a100'],
  [/\bH100\b/i, 'h100'],
  [/\bH200\b/i, 'h200'],
  [/\bB200\b/i, 'b200'],
];

function suggestions(
  resource: Resource,
  place: LabelPlace,
  provider: ProviderOfPools,
): readonly (Fix | undefined)[] {
  const prefix = provider === 'karpenter' ? 'karpenter.k8s.aws/' : 'eks.amazonaws.com/';
  if (place.key === 'nvidia.com/gpu.product') {
    const [value] = place.requirement?.valueNodes ?? [];
    const name = isScalar(value) ? gpuNames.find(([pattern]) => pattern.test(value.text))?.[1] : undefined;
    const key = `${prefix}instance-gpu-name`;
    if (name === undefined || !isScalar(value) || place.requirement?.valueNodes.length !== 1) return [];
    const rename = place.rename(key);
    const edits = replaceScalar(resource.placed.document, value, name);
    return rename === undefined || edits === undefined
      ? []
      : [{ title: `Select ${key} ${name}`, safe: false, edits: [...rename, ...edits] }];
  }
  if (labelOrigin(place.key) === 'custom') return [];
  return candidates(place.key, provider)
    .slice(0, 2)
    .map((label) => {
      const edits = place.rename(label);
      return edits === undefined ? undefined : { title: `Use ${label}`, safe: false, edits };
    });
}

function checkPool(pool: Resource, report: (report: Report) => void): void {
  const { provider } = readNodePool(pool);
  for (const place of requiredLabels(pool)) {
    const { key } = place;
    reportRegion(place.requirement, report, 'Karpenter finds nothing on offer in it, and launches no node');
    const origin = labelOrigin(key);
    const foreign =
      origin === 'known' && !wellKnownLabels(provider).includes(key) && labelsLike(key, provider).length > 0;
    if (origin !== 'not-karpenter' && origin !== 'look-alike' && !foreign) continue;
    const message = foreign
      ? `${key} is a label of ${provider === 'karpenter' ? 'EKS Auto Mode' : 'open source Karpenter'}, and NodePool "${pool.name ?? ''}" is of ${provider === 'karpenter' ? 'open source Karpenter' : 'EKS Auto Mode'}: it filters no instance type, it only labels the nodes`
      : origin === 'not-karpenter'
        ? `Karpenter has no label ${key}${meant(key, provider)}, and allows nobody else to set one in its domain: the NodePool is rejected`
        : `${key} is none of the labels by which Karpenter knows instance types${meant(key, provider)}: it filters no instance type, it only labels the nodes`;
    report({
      at: place.node,
      message,
      ...(origin === 'not-karpenter' && { severity: 'error' as const }),
      fixes: suggestions(pool, place, provider),
    });
  }
}
