import type { PodTemplate } from '../kube/pod-carriers';
import { valueSetOf, type NodeRequirement } from '../kube/requirements';
import type { Resource } from '../kube/resource';
import { admits, normaliseLabel } from '../kube/value-set';
import { otherCloud } from '../kube/clouds';
import { titleOf } from '../rules/naming';
import { placementOf, requestWords, whyNone, type PoolAnswer } from '../rules/placement/answers';
import {
  poolOf,
  poolTitle,
  surroundingsOfPool,
  type Pool,
  type Surroundings,
} from '../rules/placement/surroundings';
import { someOf } from '../rules/placement/words';
import { requirementEffects } from '../sizing/nodes/explain';
import { findInstanceType, priceNote, type InstanceType } from '../sizing/nodes/instances';
import { instanceLabel, labelMeaning } from '../sizing/nodes/labels';
import type { Workspace } from '../workspace/workspace';
import type { Card, CardTable } from './card';
import { candidateTable, typeCount, typeTable } from './types';

const fewTypes = 8;
const source = (): string => `Prices: ${priceNote()}`;

/** Where the pods of a template can run, at what price, and else why nowhere. Nothing about other clouds. */
export function placementCard(workspace: Workspace, template: PodTemplate): Card | undefined {
  const { resource, part } = template;
  if (resource.role === 'kustomize-patch' || otherCloud(template) !== undefined) return undefined;
  const answer = placementOf(workspace, template);
  const title = `${titleOf(resource)}${part === '' ? '' : ` (${part})`} asks for ${requestWords(answer.requests)}`;
  if (answer.anywhere !== undefined) {
    const { candidates, possible } = answer.anywhere;
    const count = candidates.length + possible.length;
    return {
      title,
      verdict:
        count === 0
          ? 'No instance type of EC2 would do'
          : `No NodePool or node group is at hand for it; of all instance types ${typeCount(candidates.length)} would do${possible.length === 0 ? '' : `, and ${possible.length} more may`}`,
      tables: candidates.length === 0 ? [] : [candidateTable(candidates, fewTypes)],
      notes: candidates.length === 0 ? [] : [...more(candidates.length), source()],
    };
  }
  const told =
    answer.verdict === 'fits' ? answer.pools.filter(({ verdict }) => verdict !== 'none') : answer.pools;
  const shown = told.slice(0, 4);
  const launch =
    answer.launch === undefined || answer.pools.length < 2
      ? ''
      : `Karpenter launches it from ${poolTitle(answer.launch)}. `;
  const verdict =
    answer.verdict === 'none'
      ? 'It can run on no node that these pools launch'
      : answer.verdict === 'unknown'
        ? 'It may fit; parts of the pod or of the pools are only known later'
        : `${launch}${shown.map(fitsWords).join('. ')}`;
  const tables = shown.flatMap((pool): CardTable[] =>
    pool.candidates.length === 0
      ? []
      : [
          {
            ...candidateTable(pool.candidates, fewTypes),
            ...(shown.length > 1 ? { caption: `${poolTitle(pool.pool)}:` } : {}),
          },
        ],
  );
  const notes = shown.flatMap(reasonWords);
  const [only] = shown;
  return {
    title,
    verdict,
    tables,
    notes: [
      ...notes,
      ...(shown.length === 1 && only !== undefined ? more(only.candidates.length) : []),
      ...(told.length > shown.length ? [`and ${told.length - shown.length} more pools`] : []),
      ...(tables.length === 0 ? [] : [source()]),
    ],
  };
}

function more(count: number): readonly string[] {
  return count > fewTypes ? [`and ${count - fewTypes} more types`] : [];
}

function fitsWords({ pool, candidates, possible, verdict }: PoolAnswer): string {
  if (verdict === 'unknown') return `${poolTitle(pool)} may do`;
  const also = possible.length === 0 ? '' : `, and perhaps on ${possible.length} more`;
  return `${poolTitle(pool)}: it fits on ${typeCount(candidates.length)}${also}`;
}

function reasonWords(answer: PoolAnswer): readonly string[] {
  if (answer.verdict !== 'none') return [];
  const title = poolTitle(answer.pool);
  return whyNone(answer).map((line) =>
    line.startsWith(title) || line.includes(title) ? line : `${title}: ${line}`,
  );
}

/** What a pool launches; of a requirement, also what that one keeps out. */
export function poolCard(
  workspace: Workspace,
  resource: Resource,
  pointed?: { readonly requirement: NodeRequirement; readonly value: string | undefined },
): Card | undefined {
  if (resource.role === 'kustomize-patch') return undefined;
  const pool = poolOf(workspace, resource);
  const surroundings = surroundingsOfPool(workspace, resource);
  const { types, complete } = surroundings.typesOf(pool);
  const notes = types.length === 0 ? [] : [...more(types.length), source()];
  const title = `${poolTitle(pool)} launches ${complete ? '' : 'at least '}${typeCount(types.length)}`;
  if (types.length === 0) {
    return {
      title: complete
        ? `${poolTitle(pool)} launches no instance type`
        : `What ${poolTitle(pool)} launches is not known`,
      tables: [],
      notes: effects(surroundings, pool, undefined),
    };
  }
  if (pointed === undefined) return { title, tables: [typeTable(types, fewTypes)], notes };
  const { requirement, value } = pointed;
  const of = value === undefined ? undefined : typesWith(types, requirement.key, value, pool);
  return {
    title,
    ...(of === undefined
      ? {}
      : {
          verdict: `${of.length} of them ${of.length === 1 ? 'has' : 'have'} ${requirement.key} ${value ?? ''}`,
        }),
    tables: [typeTable(of === undefined || of.length === 0 ? types : of, fewTypes)],
    notes: [...effects(surroundings, pool, requirement), ...more((of ?? types).length), source()],
  };
}

function typesWith(
  types: readonly InstanceType[],
  key: string,
  value: string,
  { spec }: Pool,
): readonly InstanceType[] | undefined {
  const provider = spec.kind === 'node-pool' ? spec.provider : 'node-group';
  const meaning = labelMeaning(normaliseLabel(key), provider);
  if (meaning.kind !== 'instance') return undefined;
  return types.filter((type) => {
    const has = instanceLabel(type, meaning.label);
    return Array.isArray(has) ? has.includes(value) : has === value;
  });
}

/** What the requirement on a key keeps out; of all keys where none is named. */
function effects(
  { fit }: Surroundings,
  pool: Pool,
  requirement: NodeRequirement | undefined,
): readonly string[] {
  const key = requirement === undefined ? undefined : normaliseLabel(requirement.key);
  return requirementEffects(fit, pool.spec.name)
    .filter((effect) => key === undefined || effect.key === key)
    .filter(({ freed }) => freed.length > 0)
    .slice(0, 3)
    .map(
      (effect) =>
        `without ${effect.key} ${effect.wants}, ${effect.freed.length} more would do: ${someOf(effect.freed, 4)}`,
    );
}

/** One instance type, where a manifest names it. */
export function instanceTypeCard(name: string): Card | undefined {
  const type = findInstanceType(name);
  if (type === undefined) return undefined;
  const { nvmeGB, networkMbps, efaInterfaces, arch } = type;
  const facts = [
    arch,
    ...(nvmeGB === undefined ? [] : [`${nvmeGB} GB of local NVMe`]),
    ...(networkMbps === undefined ? [] : [`${Number((networkMbps / 1000).toFixed(1))} Gbit/s of network`]),
    ...(efaInterfaces === 0 ? [] : [`${efaInterfaces} EFA interfaces`]),
  ];
  return { title: name, verdict: facts.join(', '), tables: [typeTable([type], 1)], notes: [source()] };
}

/** Whether a requirement admits an instance type by its name, for pointing at one among several. */
export function admitsType(requirement: NodeRequirement, name: string): boolean {
  const set = valueSetOf(requirement);
  return set !== undefined && admits(set, name);
}
