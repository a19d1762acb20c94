import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { readRequirements, valueSetOf, type NodeRequirement } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { admits, admitsAbsence, normaliseLabel } from '../../kube/value-set';
import { poolsNear } from '../../rules/placement/surroundings';
import { instanceTypes, type InstanceType } from '../../sizing/nodes/instances';
import {
  archLabel,
  capacityTypeLabel,
  instanceLabel,
  instanceTypeLabel,
  labelMeaning,
  nodePoolLabel,
  osLabel,
  wellKnownLabels,
  zoneLabel,
} from '../../sizing/nodes/labels';
import { poolLabels } from '../../workspace/references';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, getIn, isMap, isScalar, itemsIn, mapIn, textIn, type YamlNode } from '../../yaml/node';
import { namesOf } from '../objects';
import { deviceWords, gibWords, typeCount } from '../types';
import { isMark } from './cursor';
import { labelDetail, regionOfZone, regions, zonesOf } from './label-details';
import type { CompletionPlace, Suggestion, SuggestionSource } from './suggestion';

type LabelProvider = 'karpenter' | 'auto-mode';

/** Where a label of nodes is written. */
interface LabelPlace {
  /** `selector`: a key with one value; `pool`, `pod`: `{key, operator, values}` of a NodePool or of node affinity. */
  readonly form: 'selector' | 'pool' | 'pod' | 'topology';
  readonly part: 'field' | 'key' | 'operator' | 'value';
  /** The requirement that is being typed; `undefined` where it is a new entry of a selector. */
  readonly key: string | undefined;
  readonly operator: string | undefined;
  /** Values that it has already. */
  readonly taken: readonly string[];
  /** Fields of the item that are there already. */
  readonly fields: readonly string[];
  /** What else is required, of the same object. */
  readonly others: readonly NodeRequirement[];
}

/** Keys, operators and values of requirements on node labels, filtered by what is required already. */
export const requirementSuggestions: SuggestionSource = (place) => {
  const found = labelPlaceOf(place);
  if (found === undefined) return [];
  switch (found.part) {
    case 'field':
      return fieldSuggestions(found);
    case 'key':
      return keySuggestions(place, found);
    case 'operator':
      return operatorSuggestions(found);
    case 'value':
      return valueSuggestions(place, found);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Where

function labelPlaceOf(place: CompletionPlace): LabelPlace | undefined {
  const { cursor, unfinished } = place;
  if (unfinished.kind === 'NodePool' && unfinished.group === 'karpenter.sh') {
    const list = ['spec', 'template', 'spec', 'requirements'];
    if (list.every((key, index) => cursor.path[index] === key)) return inList(place, 'pool', list);
    return undefined;
  }
  const templates = podTemplates(unfinished);
  const template = templates.find(({ spec }) => cursor.holders.includes(spec));
  return template === undefined ? undefined : inPod(place, template);
}

/** The list of requirements that the cursor is in, at a path from the object's root. */
function inList(
  place: CompletionPlace,
  form: 'pool' | 'pod',
  path: readonly (string | number)[],
  beside: readonly NodeRequirement[] = [],
): LabelPlace | undefined {
  const { cursor, unfinished, current } = place;
  const [index, field, ...deeper] = cursor.path.slice(path.length);
  if (typeof index !== 'number') return undefined;
  const own = getIn(unfinished.root, ...path, index);
  const whole = getIn(current?.root, ...path, index);
  const others = [
    ...readRequirements(getIn(current?.root ?? unfinished.root, ...path)).filter(
      ({ node }) => node !== whole && node !== own,
    ),
    ...beside,
  ];
  const written = (key: string): string | undefined => {
    const node = entryOf(own, key)?.value;
    return node === undefined || isMark(node) ? textIn(whole, key) : textIn(own, key);
  };
  const fields = [own, whole].flatMap((map) => (isMap(map) ? map.entries.map(({ key }) => key.text) : []));
  const taken = [
    ...itemsIn(own, 'values').filter((node) => !isMark(node)),
    // Of what stands behind the cursor; the word that is being typed is none of them.
    ...itemsIn(whole, 'values').filter((_, at) => field !== 'values' || at !== deeper[0]),
  ].flatMap((node) => (isScalar(node) && node.value !== null ? [node.text] : []));
  const base = { form, key: written('key'), operator: written('operator'), taken, fields, others };
  if (field === undefined || cursor.kind === 'key') {
    return field === undefined ? { ...base, part: 'field' } : undefined;
  }
  if (field === 'key') return { ...base, part: 'key' };
  if (field === 'operator') return { ...base, part: 'operator' };
  return field === 'values' && typeof deeper[0] === 'number' ? { ...base, part: 'value' } : undefined;
}

function inPod(place: CompletionPlace, template: PodTemplate): LabelPlace | undefined {
  const { cursor, current } = place;
  const depth = cursor.holders.indexOf(template.spec);
  const before = cursor.path.slice(0, depth);
  const path = cursor.path.slice(depth);
  const [first, second, ...rest] = path;
  const whole =
    current === undefined ? undefined : podTemplates(current).find(({ part }) => part === template.part);
  const selector = mapIn(whole?.spec ?? template.spec, 'nodeSelector');
  const selected = (selector?.entries ?? []).flatMap(({ key, value }): NodeRequirement[] =>
    key.unknown || isMark(key) || !isScalar(value)
      ? []
      : [
          {
            key: key.text,
            keyNode: key,
            operator: 'In',
            values: value.unknown || value.value === null ? undefined : [value.text],
            valueNodes: [value],
            node: value,
          },
        ],
  );
  if (first === 'nodeSelector') {
    const others = selected.filter(({ key }) => key !== second);
    const base = { form: 'selector', operator: 'In', taken: [], fields: [], others } as const;
    // An empty value under `nodeSelector:` is the start of its first key.
    if (second === undefined) return { ...base, part: 'key', key: undefined };
    return rest.length === 0 && typeof second === 'string' && cursor.kind === 'value'
      ? { ...base, part: 'value', key: second }
      : undefined;
  }
  if (first === 'affinity') {
    const at = path.findIndex((step) => step === 'matchExpressions');
    if (second === 'nodeAffinity' && at >= 0) {
      return inList(place, 'pod', [...before, ...path.slice(0, at + 1)], selected);
    }
  }
  const isTopology = path.at(-1) === 'topologyKey' && cursor.kind === 'value';
  return isTopology
    ? {
        form: 'topology',
        part: 'key',
        key: undefined,
        operator: undefined,
        taken: [],
        fields: [],
        others: [],
      }
    : undefined;
}

// ---------------------------------------------------------------------------------------------------------------
// What

function fieldSuggestions({ form, fields }: LabelPlace): readonly Suggestion[] {
  const known: readonly (readonly [string, string])[] = [
    ['key', 'label of the nodes'],
    ['operator', 'In, NotIn, Exists, DoesNotExist, Gt, Lt'],
    ['values', 'list of texts'],
    ...(form === 'pool'
      ? ([['minValues', 'different values to keep open, for flexibility with spot']] as const)
      : []),
  ];
  return known
    .filter(([name]) => !fields.includes(name))
    .map(([name, detail], index) => ({
      label: name,
      insert: name === 'values' ? 'values: []' : `${name}: `,
      kind: 'key',
      detail,
      order: String(index),
    }));
}

/** Whose labels the nodes will have: of the pool itself, or of the pools that the pod's nodes come from. */
function providersOf({ workspace, unfinished, current }: CompletionPlace): readonly LabelProvider[] {
  if (unfinished.kind === 'NodePool') {
    const reference = mapIn((current ?? unfinished).root, 'spec', 'template', 'spec', 'nodeClassRef');
    const isAuto =
      textIn(reference, 'group') === 'eks.amazonaws.com' || textIn(reference, 'kind') === 'NodeClass';
    const isOpen =
      reference === undefined || (textIn(reference, 'group') ?? textIn(reference, 'kind')) === undefined;
    const text = (current ?? unfinished).placed.document.text;
    if (isOpen && text.includes('eks.amazonaws.com/instance-')) return ['auto-mode'];
    return [isAuto ? 'auto-mode' : 'karpenter'];
  }
  const near = poolsNear(workspace, current ?? unfinished);
  const used = new Set(near.flatMap(({ spec }) => (spec.kind === 'node-pool' ? [spec.provider] : [])));
  return used.size === 0 ? ['karpenter', 'auto-mode'] : [...used];
}

function keySuggestions(place: CompletionPlace, found: LabelPlace): readonly Suggestion[] {
  const { cursor, workspace, unfinished, current } = place;
  const isPool = found.form === 'pool';
  const taken = new Set(found.others.map(({ key }) => normaliseLabel(key)));
  const known = new Set(providersOf(place).flatMap(wellKnownLabels));
  const own = isPool ? [] : ownLabels(workspace, current ?? unfinished);
  if (found.form === 'topology') {
    known.clear();
    for (const key of [zoneLabel, 'kubernetes.io/hostname', capacityTypeLabel]) known.add(key);
  }
  const isSelectorKey = found.form === 'selector' && !/^\s*:/.test(cursor.rest);
  return [...new Set([...own, ...known])]
    .filter((key) => !isPool || key !== nodePoolLabel)
    .flatMap((key): Suggestion[] => {
      const detail = labelDetail(key);
      const isBound = detail?.numeric === true && found.form !== 'selector';
      // Two bounds of one label make a range; anything else twice is a mistake.
      if (taken.has(normaliseLabel(key)) && !isBound) return [];
      const order = own.includes(key) ? '0' : detail?.common === true ? '1' : '2';
      return [
        {
          label: key,
          ...(isSelectorKey ? { insert: `${key}: ` } : {}),
          kind: 'key',
          ...(own.includes(key) && detail === undefined
            ? { detail: 'label of a NodePool of this workspace' }
            : detail === undefined
              ? {}
              : { detail: detail.detail }),
          order,
        },
      ];
    });
}

/** Labels that pools near an object give their nodes. */
function ownLabels(workspace: Workspace, from: Resource): readonly string[] {
  const keys = workspace
    .near(from, 'NodePool', 'karpenter.sh')
    .flatMap((pool) => [...poolLabels(pool).sets.keys()])
    .filter(
      (key) =>
        labelMeaning(normaliseLabel(key), 'karpenter').kind === 'custom' &&
        !key.startsWith('eks.amazonaws.com/'),
    );
  return [...new Set(keys)];
}

const operators: readonly (readonly [string, string])[] = [
  ['In', 'one of the values'],
  ['NotIn', 'none of the values, or no such label'],
  ['Exists', 'any value'],
  ['DoesNotExist', 'no such label'],
  ['Gt', 'greater than the one value'],
  ['Lt', 'less than the one value'],
];

/** Only NodePools of newer versions of Karpenter know them. */
const newOperators: readonly (readonly [string, string])[] = [
  ['Gte', 'at least the one value; newer versions of Karpenter'],
  ['Lte', 'at most the one value; newer versions of Karpenter'],
];

function operatorSuggestions({ form, key, taken }: LabelPlace): readonly Suggestion[] {
  const isNumeric = key === undefined ? undefined : labelDetail(key)?.numeric === true;
  // A label that nobody knows may hold numbers.
  const isKnown = key !== undefined && labelDetail(key) !== undefined;
  const all = [...operators, ...(form === 'pool' ? newOperators : [])];
  return all
    .filter(([name]) => !(isKnown && isNumeric === false && /^[GL]te?$/.test(name)))
    .filter(([name]) => !(taken.length > 0 && /Exist/.test(name)))
    .filter(([name]) => !(taken.length > 1 && /^[GL]te?$/.test(name)))
    .map(([label, detail], index) => ({ label, kind: 'operator', detail, order: String(index) }));
}

function meaningOf(key: string): ReturnType<typeof labelMeaning> {
  return labelMeaning(normaliseLabel(key), key.startsWith('eks.amazonaws.com/') ? 'auto-mode' : 'karpenter');
}

function valuesOf(type: InstanceType, label: string): readonly string[] {
  const value = instanceLabel(type, label);
  return value === null || value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

/** The types that the other requirements leave open, as far as each can be read. */
function openTypes(others: readonly NodeRequirement[]): readonly InstanceType[] {
  const tests = others.flatMap((requirement) => {
    const meaning = meaningOf(requirement.key);
    const set = valueSetOf(requirement);
    if (meaning.kind !== 'instance' || set === undefined) return [];
    return [
      (type: InstanceType): boolean => {
        const value = instanceLabel(type, meaning.label);
        if (value === undefined) return true;
        if (value === null) return admitsAbsence(set);
        return typeof value === 'string' ? admits(set, value) : value.some((each) => admits(set, each));
      },
    ];
  });
  return instanceTypes().filter((type) => tests.every((test) => test(type)));
}

function valueSuggestions(place: CompletionPlace, found: LabelPlace): readonly Suggestion[] {
  const { key, operator, taken } = found;
  if (key === undefined || operator === 'Exists' || operator === 'DoesNotExist') return [];
  // A bound has one value.
  if (/^[GL]te?$/.test(operator ?? '') && taken.length > 0) return [];
  return listValues(place, found, normaliseLabel(key))
    .filter(({ label }) => !taken.includes(label))
    .map((suggestion) => withQuotes(suggestion, place));
}

/** Labels are texts: a number or a boolean needs quotes, which the API server insists on. */
function withQuotes(suggestion: Suggestion, { cursor }: CompletionPlace): Suggestion {
  const isText = !/^(?:[-+]?\d[\d._]*(?:e[-+]?\d+)?|true|false|yes|no|on|off|null|~|)$/i.test(
    suggestion.label,
  );
  return cursor.quoted || isText ? suggestion : { ...suggestion, insert: `"${suggestion.label}"` };
}

function listValues(
  place: CompletionPlace,
  { others, key = '' }: LabelPlace,
  label: string,
): readonly Suggestion[] {
  const { workspace, unfinished, current } = place;
  const from = current ?? unfinished;
  const plain = (values: readonly string[]): readonly Suggestion[] =>
    values.map((value, index) => ({ label: value, kind: 'value', order: String(index).padStart(3, '0') }));
  switch (label) {
    case zoneLabel:
      return zoneSuggestions(workspace);
    case 'topology.kubernetes.io/region':
      return plain(regions);
    case osLabel:
      return plain(['linux', 'windows']);
    case capacityTypeLabel:
      return plain(['on-demand', 'spot', 'reserved']);
    case 'eks.amazonaws.com/capacityType':
      return plain(['ON_DEMAND', 'SPOT']);
    case 'eks.amazonaws.com/compute-type':
      return plain(['auto', 'fargate']);
    case nodePoolLabel:
      return namesOf(workspace, from, ['NodePool']).map((name) => ({ label: name, kind: 'name' }));
    case 'karpenter.k8s.aws/ec2nodeclass':
      return namesOf(workspace, from, ['EC2NodeClass']).map((name) => ({ label: name, kind: 'name' }));
    case 'eks.amazonaws.com/nodeclass':
      return namesOf(workspace, from, ['NodeClass']).map((name) => ({ label: name, kind: 'name' }));
    case 'karpenter.k8s.aws/capacity-reservation-type':
      return plain(['default', 'capacity-block']);
    default:
  }
  const meaning = meaningOf(key);
  if (meaning.kind !== 'instance')
    return meaning.kind === 'custom' ? poolValues(workspace, from, key) : plain(booleans(key));
  const byValue = new Map<string, InstanceType[]>();
  for (const type of openTypes(others)) {
    for (const value of valuesOf(type, meaning.label)) {
      const types = byValue.get(value);
      if (types === undefined) byValue.set(value, [type]);
      else types.push(type);
    }
  }
  if (byValue.size === 0) return plain(booleans(key));
  return [...byValue].map(([value, types]) => ({
    label: value,
    kind: 'value',
    detail: meaning.label === instanceTypeLabel ? typeDetail(types[0]) : valueDetail(types),
    order: orderOf(meaning.label, value, types),
  }));
}

function booleans(key: string): readonly string[] {
  return labelDetail(key)?.detail === 'true or false' ? ['true', 'false'] : [];
}

/** Numbers by size, types by price, what has accelerators before what has none. */
function orderOf(label: string, value: string, types: readonly InstanceType[]): string {
  if (label === archLabel) return value;
  if (/^\d+$/.test(value)) return value.padStart(12, '0');
  const price = Math.min(...types.map(({ onDemandPrice }) => onDemandPrice ?? 9999));
  const hasDevice = types.some(({ gpus, accelerators }) => gpus !== undefined || accelerators !== undefined);
  return `${hasDevice ? 0 : 1}${price.toFixed(4).padStart(10, '0')}`;
}

/** `4 x a10g 22.4 GiB, 48 vCPU, 192 GiB, $5.67/h`. */
export function typeDetail(type: InstanceType | undefined): string {
  if (type === undefined) return '';
  const devices = deviceWords(type);
  return [
    ...(devices === '-' ? [] : [devices]),
    `${type.vcpu} vCPU`,
    gibWords(type.memoryMiB),
    ...(type.onDemandPrice === undefined ? [] : [`$${type.onDemandPrice.toFixed(2)}/h`]),
  ].join(', ');
}

/** `8 types, a10g, $1.01/h and more`. */
function valueDetail(types: readonly InstanceType[]): string {
  const devices = new Set(types.flatMap(({ gpus, accelerators }) => gpus?.name ?? accelerators?.name ?? []));
  const prices = types.flatMap(({ onDemandPrice }) => onDemandPrice ?? []);
  const from = Math.min(...prices);
  return [
    typeCount(types.length),
    ...(devices.size === 0 ? [] : [[...devices].slice(0, 3).join(', ') + (devices.size > 3 ? ', ...' : '')]),
    ...(prices.length === 0 ? [] : [`from $${from.toFixed(2)}/h`]),
  ].join(', ');
}

/** Values that pools near an object give a label of their own. */
function poolValues(workspace: Workspace, from: Resource, key: string): readonly Suggestion[] {
  return workspace.near(from, 'NodePool', 'karpenter.sh').flatMap((pool) => {
    const set = poolLabels(pool).sets.get(key);
    if (set === undefined || set.complement) return [];
    return [...set.values].map((label): Suggestion => ({
      label,
      kind: 'value',
      detail: `NodePool ${pool.name ?? ''}`.trim(),
    }));
  });
}

/** Zones that the workspace names, then the others of their regions; without any, those of all regions. */
function zoneSuggestions(workspace: Workspace): readonly Suggestion[] {
  const named = new Set<string>();
  for (const pool of workspace.byKind('NodePool', 'karpenter.sh')) {
    for (const { key, values } of readRequirements(
      getIn(pool.root, 'spec', 'template', 'spec', 'requirements'),
    )) {
      if (normaliseLabel(key) === zoneLabel) for (const value of values ?? []) named.add(value);
    }
  }
  const found = new Set([...named].flatMap((zone) => regionOfZone(zone) ?? []));
  for (const cluster of workspace.byKind('ClusterConfig', 'eksctl.io')) {
    const region = textIn(cluster.root, 'metadata', 'region');
    if (region !== undefined) found.add(region);
    for (const node of zoneNodes(cluster)) if (isScalar(node) && !node.unknown) named.add(node.text);
  }
  const others = (found.size === 0 ? regions : [...found]).flatMap(zonesOf);
  return [...new Set([...[...named].sort(), ...others])]
    .filter((zone) => zone !== '')
    .map((label) => ({
      label,
      kind: 'value',
      order: named.has(label) ? '0' : '1',
      ...(named.has(label) ? { detail: 'used in this workspace' } : {}),
    }));
}

function zoneNodes({ root }: Resource): readonly YamlNode[] {
  return itemsIn(root, 'availabilityZones');
}
