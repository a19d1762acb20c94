import type { PodTemplate } from '../../kube/pod-carriers';
import { nodeDemandOf, readRequirements, type NodeRequirement } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { renameKey, replaceScalar, type Edits } from '../../yaml/edit';
import { entryOf, getIn, itemsIn, mapIn, scalarIn, type Entry, type ScalarNode } from '../../yaml/node';

/** Where a label key of nodes is written, and how to write another one there. */
export interface LabelPlace {
  readonly key: string;
  readonly node: ScalarNode;
  /** Of a requirement; `undefined` where a key stands alone, as in `topologyKey`. */
  readonly requirement: NodeRequirement | undefined;
  /** The edits that rename the key; none where the new one is there already or the text cannot be changed. */
  rename(to: string): Edits;
}

function ofEntry(
  resource: Resource,
  entry: Entry,
  requirement: NodeRequirement,
  keys: readonly string[],
): LabelPlace {
  return {
    key: requirement.key,
    node: entry.key,
    requirement,
    rename: (to) => (keys.includes(to) ? undefined : renameKey(resource.placed.document, entry, to)),
  };
}

function ofScalar(
  resource: Resource,
  node: ScalarNode,
  requirement: NodeRequirement | undefined,
): LabelPlace {
  return {
    key: node.text,
    node,
    requirement,
    rename: (to) => replaceScalar(resource.placed.document, node, to),
  };
}

/** The keys of a pod's node selector and of its required node affinity. */
export function demandedLabels(template: PodTemplate): readonly LabelPlace[] {
  const { resource } = template;
  const selector = mapIn(template.spec, 'nodeSelector');
  const keys = (selector?.entries ?? []).map(({ key }) => key.text);
  return [...new Set(nodeDemandOf(template).alternatives.flat())]
    .filter(({ key }) => key !== 'metadata.name')
    .map((requirement) => {
      const entry = selector?.entries.find(({ key }) => key === requirement.keyNode);
      return entry === undefined
        ? ofScalar(resource, requirement.keyNode, requirement)
        : ofEntry(resource, entry, requirement, keys);
    });
}

/** The keys by which a pod prefers nodes and by which it is spread over them or drawn to others. */
export function softLabels(template: PodTemplate): readonly LabelPlace[] {
  const { resource, spec } = template;
  const affinity = mapIn(spec, 'affinity');
  const preferred = itemsIn(
    affinity,
    'nodeAffinity',
    'preferredDuringSchedulingIgnoredDuringExecution',
  ).flatMap((item) => readRequirements(getIn(item, 'preference', 'matchExpressions')));
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
    ...itemsIn(affinity, kind, 'requiredDuringSchedulingIgnoredDuringExecution'),
    ...itemsIn(affinity, kind, 'preferredDuringSchedulingIgnoredDuringExecution').flatMap(
      (item) => mapIn(item, 'podAffinityTerm') ?? [],
    ),
  ]);
  const keys = [...itemsIn(spec, 'topologySpreadConstraints'), ...terms].flatMap((item) => {
    const key = scalarIn(item, 'topologyKey');
    return key === undefined || key.unknown || key.value === null ? [] : [key];
  });
  return [
    ...preferred.map((requirement) => ofScalar(resource, requirement.keyNode, requirement)),
    ...keys.map((key) => ofScalar(resource, key, undefined)),
  ];
}

/** The keys of a NodePool's requirements. */
export function requiredLabels(pool: Resource): readonly LabelPlace[] {
  const list = entryOf(mapIn(pool.root, 'spec', 'template', 'spec'), 'requirements')?.value;
  return readRequirements(list).map((requirement) => ofScalar(pool, requirement.keyNode, requirement));
}
