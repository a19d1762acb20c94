import { otherCloud } from '../../kube/clouds';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { normaliseLabel } from '../../kube/value-set';
import { explain, openings, type Exclusion, type PoolExplanation } from '../../sizing/nodes/explain';
import { fit } from '../../sizing/nodes/fit';
import { labelMeaning } from '../../sizing/nodes/labels';
import { acceleratorResources } from '../../sizing/nodes/offer';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, getIn, isNull, itemsIn, mapIn, scalarIn, textIn } from '../../yaml/node';
import { containerField } from '../resources/wording';
import { mayBePatched } from '../overlays';
import { defineRule, type Place, type Related, type Report, type Severity } from '../rule';
import { askedResource, placeOfRequirement, requirementsOn } from './demand';
import { knowsTaint, meantPools, type MeantPool } from './meant-pools';
import { ownSelection } from './possible-types';
import { withoutStrangeLabels } from './strange-labels';
import { podOf, poolTitle, surroundingsOf, type Pool, type Surroundings } from './surroundings';
import { amountWords, bareAmount, listWords, someOf, typeWords } from './words';

export default defineRule({
  id: 'no-instance-type-fits',
  summary: 'Some instance type that the NodePools allow can run the pod',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    // Karpenter launches no node for a DaemonSet.
    if (resource.role === 'kustomize-patch' || resource.kind === 'DaemonSet') return;
    for (const template of podTemplates(resource)) {
      if (otherCloud(template) !== undefined || !isNull(entryOf(template.spec, 'nodeName')?.value)) continue;
      for (const finding of findingsOf(workspace, template)) report(finding);
    }
  },
});

/** A finding, with the words by which an overlay could change what it rests on. */
interface Found extends Report {
  readonly words: readonly string[];
}

function findingsOf(workspace: Workspace, template: PodTemplate): readonly Report[] {
  const found = againstPools(workspace, template) ?? againstItsOwnLabels(workspace, template);
  return found.filter(
    ({ words }) =>
      !words.some((word) =>
        [word, word.replace('/', '~1')].some((text) => mayBePatched(workspace, template.resource, text)),
      ),
  );
}

/** What keeps the pod out of every pool that it could mean; `undefined` where there is no such pool. */
function againstPools(workspace: Workspace, template: PodTemplate): readonly Found[] | undefined {
  const surroundings = surroundingsOf(workspace, template);
  if (surroundings.pools.length === 0) return undefined;
  const pod = withoutStrangeLabels(
    podOf(workspace, template),
    surroundings.pools.map(({ spec }) => spec),
  );
  const { unlimited } = surroundings;
  if (fit(unlimited, pod).verdict !== 'none') return [];
  const meant = meantPools(template, pod, surroundings, explain(unlimited, pod));
  if (meant.length === 0) return undefined;
  const pools = meant.flatMap(({ explanation }) => surroundings.poolOf(explanation.pool) ?? []);
  if (pools.some((pool) => mayBePatched(workspace, pool.resource, 'requirements'))) return [];
  const judge: Judge = { workspace, template, pod, surroundings, meant, pools };
  return common(judge) ?? together(judge) ?? [];
}

interface Judge {
  readonly workspace: Workspace;
  readonly template: PodTemplate;
  readonly pod: PodSpec;
  readonly surroundings: Surroundings;
  readonly meant: readonly MeantPool[];
  /** Of `meant`, in the same order. */
  readonly pools: readonly Pool[];
}

type ResourceExclusion = Extract<Exclusion, { kind: 'resource' }>;
type KeyExclusion = Extract<Exclusion, { kind: 'label' | 'requirement' }>;

function isKey(exclusion: Exclusion): exclusion is KeyExclusion {
  return exclusion.kind === 'label' || exclusion.kind === 'requirement';
}

/** Each resource and each key that by itself keeps the pod out of every pool; `undefined` where nothing does alone. */
function common(judge: Judge): readonly Found[] | undefined {
  const [first, ...others] = judge.meant;
  if (first === undefined) return undefined;
  const found: Found[] = [];
  let alone = false;
  for (const exclusion of first.explanation.exclusions) {
    if (exclusion.kind === 'resource') {
      const all = [first, ...others].map(({ explanation }) =>
        explanation.exclusions.find(
          (other): other is ResourceExclusion =>
            other.kind === 'resource' && other.resource === exclusion.resource,
        ),
      );
      const each = all.flatMap((one) => one ?? []);
      if (each.length < all.length) continue;
      alone = true;
      found.push(...resourceFinding(judge, each));
    } else if (isKey(exclusion)) {
      const all = [first, ...others].map(({ explanation }) =>
        explanation.exclusions.find(
          (other): other is KeyExclusion => isKey(other) && other.key === exclusion.key,
        ),
      );
      const each = all.flatMap((one) => one ?? []);
      if (each.length < all.length) continue;
      alone = true;
      found.push(...keyFinding(judge, each));
    }
  }
  return alone ? found : undefined;
}

/** `NodePool "gpu"`, `NodePools "a" and "b"`. */
function poolNames(pools: readonly Pool[]): string {
  const [first] = pools;
  if (first === undefined) return '';
  if (pools.length === 1) return poolTitle(first);
  if (pools.length > 3) return `the ${pools.length} pools that it could use`;
  return pools.every(({ spec }) => spec.kind === 'node-pool')
    ? `NodePools ${listWords(pools.map(({ spec }) => `"${spec.name}"`))}`
    : listWords(pools.map(poolTitle));
}

function subject({ template, pools }: Judge): string {
  const pod = template.part === '' ? 'this pod' : `the ${template.part} pod`;
  return `No instance type allowed by ${poolNames(pools)} can run ${pod}`;
}

/** Not every part of pod and pools is known, or the pools are not all that the pod can mean. */
function severityOf({ pod, meant, pools }: Judge): Severity {
  const known =
    pod.incomplete !== true &&
    (pod.unknownKeys ?? []).length === 0 &&
    pools.every(({ spec }) => spec.incomplete !== true && (spec.unknownKeys ?? []).length === 0) &&
    meant.every(({ explanation: { pool } }) => {
      const provider = pool.kind === 'node-group' ? 'node-group' : pool.provider;
      return (
        pool.kind === 'node-group' ||
        pool.requirements.every(({ key }) => labelMeaning(normaliseLabel(key), provider).kind !== 'unknown')
      );
    });
  return known ? 'error' : 'warning';
}

/** Resources that instance types are known to have or not to have. */
const ofTypes: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'pods',
  'vpc.amazonaws.com/efa',
  ...acceleratorResources,
]);

function resourceFinding(judge: Judge, each: readonly ResourceExclusion[]): readonly Found[] {
  const { template, pools } = judge;
  const [first] = each;
  const asked = first === undefined ? undefined : askedResource(template, first.resource);
  if (first === undefined || asked === undefined) return [];
  const { resource, requested } = first;
  const asks = `${asked.together ? 'its containers together ask' : 'it asks'} for ${amountWords(resource, requested)}`;
  return [
    {
      at: asked.at,
      // A device plugin may offer it once there is a node, which others may make.
      severity: ofTypes.has(resource) ? severityOf(judge) : 'warning',
      message: `${subject(judge)}: ${asks}, ${offered(judge, each)}`,
      related: [...nodeClassRelated(resource, pools), ...openingRelated(judge)],
      ...(asked.container === undefined ? {} : containerField(asked.container)),
      words: [resource],
    },
  ];
}

/** What the roomiest nodes have of it. */
function offered(judge: Judge, each: readonly ResourceExclusion[]): string {
  const best = each.reduce((a, b) => (b.available > a.available ? b : a));
  const { resource, available, types, daemonSets } = best;
  if (available <= 0) return nobodyHas(judge, resource);
  if (resource.includes('/')) {
    const all = [...new Set(each.filter((one) => one.available === available).flatMap((one) => one.types))];
    return `${someOf(all)} ${all.length === 1 ? 'has' : 'have'} ${bareAmount(resource, available)}`;
  }
  const less = daemonSets > 0 ? `, after ${bareAmount(resource, daemonSets)} for DaemonSets` : '';
  return `the most that a node offers is ${bareAmount(resource, available)} (${types[0] ?? ''}${less})`;
}

/** Why types that have GPUs do not offer what the pod asks for. */
function nobodyHas({ surroundings, pools }: Judge, resource: string): string {
  const types = pools.flatMap((pool) => [...surroundings.typesOf(pool).types]);
  const families = (keep: (type: (typeof types)[number]) => boolean): string =>
    someOf([...new Set(types.filter(keep).map(({ family }) => family))]);
  if (resource === 'nvidia.com/gpu') {
    const foreign = families(({ gpus }) => gpus?.manufacturer === 'amd');
    const parts = families(({ gpus }) => gpus?.manufacturer === 'nvidia' && gpus.count === 0);
    const reasons = [
      ...(foreign === '' ? [] : [`the GPUs of ${foreign} are AMD's, which are amd.com/gpu`]),
      ...(parts === '' ? [] : [`nodes of ${parts} have a fraction of a GPU and offer no nvidia.com/gpu`]),
    ];
    if (reasons.length > 0) return reasons.join(', and ');
  }
  if (resource.startsWith('nvidia.com/') && resource !== 'nvidia.com/gpu') {
    return 'and Karpenter knows no type that offers it: it launches nodes for whole GPUs (nvidia.com/gpu) only';
  }
  if (!ofTypes.has(resource)) {
    return 'and Karpenter knows no type that offers it: it launches no node for the pod, though one that is there may do';
  }
  const shown = someOf([...new Set(types.map(({ family }) => family))]);
  return shown === '' ? 'which none has' : `which ${shown} do not have`;
}

/** Where the disk of the nodes is sized. */
function nodeClassRelated(resource: string, pools: readonly Pool[]): readonly Related[] {
  if (resource !== 'ephemeral-storage') return [];
  return pools.slice(0, 3).flatMap(({ nodeClass }): readonly Related[] => {
    if (nodeClass === undefined) return [];
    const title = `${nodeClass.kind} "${nodeClass.name ?? ''}"`;
    const sizes = itemsIn(nodeClass.root, 'spec', 'blockDeviceMappings').flatMap((device) => {
      const size = scalarIn(device, 'ebs', 'volumeSize');
      return size === undefined ? [] : [size];
    });
    const at = sizes.at(-1) ?? entryOf(mapIn(nodeClass.root, 'metadata'), 'name')?.value;
    if (at === undefined) return [];
    const message =
      sizes.length > 0
        ? `${title} sizes the disk of the nodes`
        : `${title} sizes no volume, so that nodes have one of 20 GiB`;
    return [{ resource: nodeClass, at, message }];
  });
}

/** The requirements of the pools that keep out types which could run the pod. */
function openingRelated({ surroundings, pod, meant, pools }: Judge): readonly Related[] {
  return meant.slice(0, 3).flatMap(({ explanation }, index) => {
    const pool = pools[index];
    const [opening] = openings(surroundings.unlimited, pod, explanation.pool);
    const [type] = opening?.types ?? [];
    if (pool === undefined || opening === undefined || type === undefined) return [];
    const at = requirementKey(pool, opening.key);
    if (at === undefined) return [];
    return [
      {
        resource: pool.resource,
        at,
        message: `${typeWords(type)} could run it, but ${poolTitle(pool)} requires ${opening.key} ${opening.wants}`,
      },
    ];
  });
}

/** Where a pool requires a key: the key's value in the list. */
function requirementKey({ resource, group }: Pool, key: string): Place | undefined {
  if (group !== undefined) return entryOf(group, 'instanceTypes') ?? entryOf(group, 'instanceType');
  const list = itemsIn(getIn(resource.root, 'spec', 'template', 'spec', 'requirements'));
  const item = list.find((one) => normaliseLabel(textIn(one, 'key') ?? '') === key);
  const label = entryOf(mapIn(resource.root, 'spec', 'template', 'metadata', 'labels'), key);
  return scalarIn(item, 'key') ?? label?.key;
}

/** A label that the pod asks for and no pool has; said where the pod plainly means these pools. */
function keyFinding(judge: Judge, each: readonly KeyExclusion[]): readonly Found[] {
  const { workspace, template, meant, pools } = judge;
  const [first] = each;
  if (first === undefined) return [];
  const plain = meant.some(
    ({ explanation, named }, index) =>
      named ||
      knowsTaint(template, explanation.pool) ||
      (pools[index] !== undefined && workspace.appliedTogether(template.resource, pools[index].resource)),
  );
  const [requirement] = requirementsOn(template, meant[0]?.explanation.term ?? 0, first.key);
  if (!plain || requirement === undefined) return [];
  const has = [...new Set(each.map(hasInstead))];
  return [
    {
      at: placeOfRequirement(requirement),
      severity: severityOf(judge),
      message: `${subject(judge)}: it asks for ${requirement.key} ${first.wants}, ${listWords(has)}`,
      related: pools.slice(0, 3).flatMap((pool) => {
        const at = requirementKey(pool, first.key);
        return at === undefined
          ? []
          : [{ resource: pool.resource, at, message: `${poolTitle(pool)} decides ${first.key} here` }];
      }),
      words: [requirement.key],
    },
  ];
}

function hasInstead(exclusion: KeyExclusion): string {
  if (exclusion.kind === 'requirement' && exclusion.typesHave.length > 0) {
    return `its types have ${someOf(exclusion.typesHave, 5)}`;
  }
  return exclusion.poolHas === undefined ? 'which its nodes lack' : `its nodes have it ${exclusion.poolHas}`;
}

/** Nothing alone keeps the pod out: the type that lacks least, and what it lacks. */
function together(judge: Judge): readonly Found[] | undefined {
  const { template, meant } = judge;
  const nearest = meant
    .flatMap(({ explanation }) => explanation.nearest ?? [])
    .filter(({ shortages }) => shortages.length > 0)
    .toSorted((a, b) => a.shortages.length - b.shortages.length)[0];
  if (nearest === undefined) return undefined;
  const words: string[] = [];
  const places: Place[] = [];
  const lacks = nearest.shortages.flatMap((shortage): string[] => {
    if (shortage.kind === 'resource') {
      const asked = askedResource(template, shortage.resource);
      if (asked !== undefined) places.push(asked.at);
      words.push(shortage.resource);
      return [
        `offers ${bareAmount(shortage.resource, shortage.available)} of the ${amountWords(shortage.resource, shortage.requested)} that it asks for`,
      ];
    }
    if (shortage.kind === 'requirement') {
      const [requirement] = requirementsOn(template, meant[0]?.explanation.term ?? 0, shortage.key);
      if (requirement !== undefined) places.push(placeOfRequirement(requirement));
      words.push(shortage.key);
      return [`has ${shortage.key} ${shortage.has} and not ${shortage.wants}`];
    }
    return [];
  });
  const [at] = places;
  if (at === undefined || lacks.length === 0) return undefined;
  return [
    {
      at,
      severity: severityOf(judge),
      message: `${subject(judge)}: the nearest, ${typeWords(nearest.type)}, ${listWords(lacks)}`,
      related: openingRelated(judge),
      words,
    },
  ];
}

/**
 * The types that a pod itself selects lack what it asks for, whatever the pools. Of memory only what exceeds the
 * machine's own, since what a node keeps back depends on how it is set up.
 */
function againstItsOwnLabels(workspace: Workspace, template: PodTemplate): readonly Found[] {
  const pod = podOf(workspace, template);
  const own = ownSelection(pod);
  if (own === undefined || fit(own.context, own.pod).verdict !== 'none') return [];
  const [explanation] = explain(own.context, own.pod);
  if (explanation === undefined) return [];
  return explanation.exclusions.flatMap((exclusion) =>
    exclusion.kind === 'resource'
      ? ownFinding(template, explanation, exclusion, pod.incomplete !== true)
      : [],
  );
}

/** Memory that a node may have beside what Karpenter reckons with. */
const slackBytes = 2 ** 30;

function ownFinding(
  template: PodTemplate,
  { term }: PoolExplanation,
  { resource, requested, available, types }: ResourceExclusion,
  certain: boolean,
): readonly Found[] {
  const asked = askedResource(template, resource);
  if (asked === undefined || resource === 'ephemeral-storage' || resource === 'pods') return [];
  // Whoever sets up the nodes can reserve huge pages, cut GPUs into MIG instances and add device plugins.
  if (!ofTypes.has(resource)) return [];
  if (resource === 'memory' && requested <= available + slackBytes) return [];
  const has =
    available <= 0
      ? 'which they do not have'
      : `${someOf(types)} ${types.length === 1 ? 'has' : 'have'} ${bareAmount(resource, available)}${resource.includes('/') ? '' : ' at most'}`;
  const asks = `${asked.together ? 'its containers together ask' : 'it asks'} for ${amountWords(resource, requested)}`;
  const [selected] = [
    ...requirementsOn(template, term, 'node.kubernetes.io/instance-type'),
    ...requirementsOn(template, term, 'karpenter.k8s.aws/instance-family'),
  ];
  return [
    {
      at: asked.at,
      severity: certain ? 'error' : 'warning',
      message: `No instance type that the pod selects can run it: ${asks}, ${has}`,
      related:
        selected === undefined
          ? []
          : [
              {
                resource: template.resource,
                at: placeOfRequirement(selected),
                message: 'The instance types are selected here',
              },
            ],
      ...(asked.container === undefined ? {} : containerField(asked.container)),
      words: [resource, ...(selected === undefined ? [] : [selected.key])],
    },
  ];
}
