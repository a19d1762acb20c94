import { zoneLabel } from './labels';
import {
  addRequirement,
  anyValue,
  normaliseLabel,
  oneOf,
  readRequirements,
  valueSet,
} from '../../kube/value-set';
import type { RequirementSpec, Requirements, ValueSet } from '../../kube/value-set';
import { podRequests } from './resources';
import type { PodResources, ResourceList } from './resources';
import type { TolerationFields } from '../../kube/tolerations';
import { anyToleration, extendedResourceTolerations, tolerationFields } from './taints';
import type { Toleration } from './taints';

/** One term of a required node affinity. Expressions are all required; terms are alternatives. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly RequirementSpec[];
  /** True when the term also matches fields, which name one existing node. */
  readonly matchFields?: boolean;
}

/** A pod, or the pod template of a workload, as far as it decides where the pod can run. */
export interface PodSpec {
  readonly resources: PodResources;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** `requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`. */
  readonly requiredTerms?: readonly NodeSelectorTerm[];
  /** `preferredDuringSchedulingIgnoredDuringExecution`. */
  readonly preferredTerms?: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
  readonly tolerations?: readonly Toleration[];
  /** True when it may tolerate more than can be read. */
  readonly openTolerations?: boolean;
  /** For each volume that exists in certain zones only: those zones. */
  readonly volumeZones?: readonly (readonly string[])[];
  /** Keys that a node must carry: of spread constraints with `DoNotSchedule` and of required pod affinity. */
  readonly topologyKeys?: readonly string[];
  /** Selector keys that are there but whose values cannot be read. */
  readonly unknownKeys?: readonly string[];
  /** True when the pod may ask for more than can be read. */
  readonly incomplete?: boolean;
}

/** Where a pod asks for a label. */
export type LabelSource = 'nodeSelector' | 'affinity' | 'volume' | 'topology';

/** What one alternative of a pod's affinity, with the rest of the pod, asks of labels. */
export interface PreparedTerm {
  readonly requirements: Requirements;
  readonly unknownKeys: readonly string[];
  /** Where each key comes from, and how the manifest writes it. */
  readonly sources: ReadonlyMap<string, readonly { readonly source: LabelSource; readonly key: string }[]>;
  /** False for a term without expressions, which matches no node. */
  readonly satisfiable: boolean;
  /** Something in it cannot be read or compared. */
  readonly doubtful: boolean;
}

/** Where a pod may be placed: everything but what it asks of resources. Equal placements are read once. */
export interface Placement {
  readonly tolerations: readonly TolerationFields[];
  /** The alternatives of the required affinity; at least one. */
  readonly terms: readonly PreparedTerm[];
  /**
   * The alternatives in the order in which Karpenter tries them: with the heaviest preference treated as required,
   * then, for the last alternative, with one preference after the other dropped.
   */
  readonly tries: readonly PreparedTerm[];
  readonly doubtful: boolean;
}

export interface PreparedPod {
  readonly placement: Placement;
  readonly requests: ResourceList;
  /** The same as pairs. */
  readonly asked: readonly (readonly [resource: string, amount: number])[];
  readonly unknownRequests: readonly string[];
}

/** What reading a pod needs to know, and the placements read so far by their text. */
export interface PodReading {
  /** False where admission adds no tolerations for extended resources. */
  readonly extendedResourceToleration: boolean;
  readonly placements: Map<string, Placement>;
}

function readTerm(pod: PodSpec, term: NodeSelectorTerm | undefined): PreparedTerm {
  const requirements = new Map<string, ValueSet>();
  const unknownKeys = (pod.unknownKeys ?? []).map(normaliseLabel);
  const sources = new Map<string, { source: LabelSource; key: string }[]>();
  const add = (key: string, set: ValueSet | undefined, source: LabelSource): void => {
    const normalised = normaliseLabel(key);
    if (set === undefined) {
      unknownKeys.push(normalised);
      return;
    }
    addRequirement(requirements, normalised, set);
    const from = sources.get(normalised);
    if (from === undefined) sources.set(normalised, [{ source, key }]);
    else from.push({ source, key });
  };
  for (const [key, value] of Object.entries(pod.nodeSelector ?? {})) add(key, oneOf([value]), 'nodeSelector');
  for (const spec of term?.matchExpressions ?? []) add(spec.key, valueSet(spec), 'affinity');
  for (const zones of pod.volumeZones ?? []) add(zoneLabel, oneOf(zones), 'volume');
  for (const key of pod.topologyKeys ?? []) {
    if (!requirements.has(normaliseLabel(key))) add(key, anyValue, 'topology');
  }
  return {
    requirements,
    unknownKeys,
    sources,
    satisfiable: term === undefined || (term.matchExpressions ?? []).length > 0 || term.matchFields === true,
    doubtful: term?.matchFields === true,
  };
}

/** The term with a preference treated as a requirement, as Karpenter does until that fails. */
function withPreference(term: PreparedTerm, preference: Requirements | undefined): PreparedTerm {
  if (preference === undefined) return term;
  const requirements = new Map(term.requirements);
  for (const [key, set] of preference) addRequirement(requirements, key, set);
  return { ...term, requirements };
}

function readPlacement(pod: PodSpec, added: readonly Toleration[]): Placement {
  const required = pod.requiredTerms ?? [];
  const terms =
    required.length === 0 ? [readTerm(pod, undefined)] : required.map((term) => readTerm(pod, term));
  const preferences = (pod.preferredTerms ?? [])
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ term }) => readRequirements(term.matchExpressions ?? []).requirements);
  const last = terms.slice(-1);
  return {
    tolerations: [
      ...[...(pod.tolerations ?? []), ...added].map(tolerationFields),
      ...(pod.openTolerations === true ? [anyToleration] : []),
    ],
    terms,
    tries: [
      ...terms.map((term) => withPreference(term, preferences[0])),
      ...preferences.flatMap((_, index) => last.map((term) => withPreference(term, preferences[index + 1]))),
    ],
    doubtful: pod.incomplete === true,
  };
}

/** Reads a pod once, for any number of pools. */
export function preparePod(pod: PodSpec, reading: PodReading): PreparedPod {
  const { resources, ...rest } = pod;
  const requests = podRequests(resources);
  const added = reading.extendedResourceToleration
    ? extendedResourceTolerations([...Object.keys(requests.amounts), ...requests.unknown])
    : [];
  const key = JSON.stringify([rest, added]);
  let placement = reading.placements.get(key);
  if (placement === undefined) reading.placements.set(key, (placement = readPlacement(pod, added)));
  const amounts = { ...requests.amounts, pods: 1 };
  return { placement, requests: amounts, asked: Object.entries(amounts), unknownRequests: requests.unknown };
}
