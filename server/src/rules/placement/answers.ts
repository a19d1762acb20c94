import type { PodTemplate } from '../../kube/pod-carriers';
import {
  explain,
  openings,
  type Exclusion,
  type PoolExplanation,
  type Shortage,
} from '../../sizing/nodes/explain';
import {
  fit,
  prepareFit,
  type Candidate,
  type FitContext,
  type PoolFit,
  type Verdict,
} from '../../sizing/nodes/fit';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { NodePoolSpec } from '../../sizing/nodes/pool';
import { podRequests, type Amounts } from '../../sizing/nodes/resources';
import type { Workspace } from '../../workspace/workspace';
import { ownSelection } from './possible-types';
import { podOf, poolTitle, surroundingsOf, type Pool, type Surroundings } from './surroundings';
import { amountWords, bareAmount, listWords, someOf, typeWords } from './words';

/** What one pool says to one pod. */
export interface PoolAnswer {
  readonly pool: Pool;
  readonly verdict: Verdict;
  /** Types that will do for certain, cheapest first. */
  readonly candidates: readonly Candidate[];
  /** Names of types that may do beside those. */
  readonly possible: readonly string[];
  /** Where none does: each reason that alone is enough, in words. */
  readonly reasons: readonly string[];
  /** Where none does: the type that comes nearest, and what it lacks, in words. */
  readonly nearest: { readonly candidate: Candidate['type']; readonly lacks: readonly string[] } | undefined;
  /** Where none does: a requirement of the pool that keeps out a type which could run the pod. */
  readonly excludes: string | undefined;
}

/** Why none of a pool's types will do: one sentence for each reason. */
export function whyNone({ reasons, nearest, excludes }: PoolAnswer): readonly string[] {
  return [
    ...reasons,
    ...(reasons.length === 0 && nearest !== undefined
      ? [
          `no type has all that it asks for; the nearest, ${typeWords(nearest.candidate)}, ${listWords(nearest.lacks)}`,
        ]
      : []),
    ...(excludes === undefined ? [] : [excludes]),
  ];
}

/** Where the pods of one template can run. */
export interface PlacementAnswer {
  readonly template: PodTemplate;
  readonly requests: Amounts;
  readonly verdict: Verdict;
  /** The pool from which Karpenter launches; `undefined` unless the verdict is `fits`. */
  readonly launch: Pool | undefined;
  /** In launch order; empty where the workspace has no pool for the pod. */
  readonly pools: readonly PoolAnswer[];
  /** Without any pool: the types of the catalogue that would do, and whether there may be others. */
  readonly anywhere:
    { readonly candidates: readonly Candidate[]; readonly possible: readonly string[] } | undefined;
}

/** A pool that requires nothing. */
const anyPool: NodePoolSpec = { kind: 'node-pool', name: '', provider: 'karpenter', requirements: [] };
let anywhere: FitContext | undefined;

/** Answers for one template what the fit rules judge: which types, at what price, and else why none. */
export function placementOf(workspace: Workspace, template: PodTemplate): PlacementAnswer {
  const surroundings = surroundingsOf(workspace, template);
  const pod = podOf(workspace, template);
  const requests = podRequests(pod.resources);
  if (surroundings.pools.length === 0) {
    const { nodeSelector: _, requiredTerms: __, preferredTerms: ___, openTolerations: ____, ...rest } = pod;
    const own = ownSelection(pod) ?? {
      context: (anywhere ??= prepareFit([anyPool])),
      pod: rest,
    };
    const answer = fit(own.context, own.pod);
    const [one] = answer.pools;
    return {
      template,
      requests,
      verdict: answer.verdict === 'none' ? 'none' : 'unknown',
      launch: undefined,
      pools: [],
      anywhere: { candidates: one?.candidates ?? [], possible: one?.possible ?? [] },
    };
  }
  const answer = fit(surroundings.fit, pod);
  const explanations = answer.pools.some(({ verdict }) => verdict === 'none')
    ? explain(surroundings.fit, pod)
    : [];
  return {
    template,
    requests,
    verdict: answer.verdict,
    launch: answer.launch === undefined ? undefined : surroundings.poolOf(answer.launch.pool),
    pools: answer.pools.flatMap((one) => {
      const pool = surroundings.poolOf(one.pool);
      const explanation = explanations.find((candidate) => candidate.pool === one.pool);
      return pool === undefined ? [] : [poolAnswer(pool, one, explanation, surroundings, pod)];
    }),
    anywhere: undefined,
  };
}

function poolAnswer(
  pool: Pool,
  { verdict, candidates, possible }: PoolFit,
  explanation: PoolExplanation | undefined,
  surroundings: Surroundings,
  pod: PodSpec,
): PoolAnswer {
  const silent = { reasons: [], nearest: undefined, excludes: undefined };
  if (verdict !== 'none' || explanation === undefined)
    return { pool, verdict, candidates, possible, ...silent };
  const { nearest } = explanation;
  const [opening] = openings(surroundings.fit, pod, explanation.pool);
  const [type] = opening?.types ?? [];
  return {
    pool,
    verdict,
    candidates,
    possible,
    reasons: explanation.exclusions.map((exclusion) => exclusionWords(exclusion, pool)),
    nearest:
      nearest === undefined || nearest.shortages.length === 0
        ? undefined
        : { candidate: nearest.type, lacks: nearest.shortages.map(shortageWords) },
    excludes:
      opening === undefined || type === undefined
        ? undefined
        : `${typeWords(type)} could run it, but ${poolTitle(pool)} requires ${opening.key} ${opening.wants}`,
  };
}

/** A reason that alone keeps a pod out of a pool, in words. */
export function exclusionWords(exclusion: Exclusion, pool: Pool): string {
  switch (exclusion.kind) {
    case 'taint': {
      const { key, value = '', effect } = exclusion.taint;
      return `it does not tolerate the taint ${key}${value === '' ? '' : `=${value}`}:${effect}`;
    }
    case 'label':
      return `it asks for ${exclusion.key} ${exclusion.wants}, ${exclusion.poolHas === undefined ? 'which nodes of the pool do not have' : `and nodes of the pool have it ${exclusion.poolHas}`}`;
    case 'requirement':
      return `it asks for ${exclusion.key} ${exclusion.wants}, and the types of the pool have ${exclusion.typesHave.length === 0 ? 'none' : someOf(exclusion.typesHave, 5)}`;
    case 'resource': {
      const asks = `it asks for ${amountWords(exclusion.resource, exclusion.requested)}`;
      if (exclusion.available <= 0) return `${asks}, which no type of the pool offers`;
      return `${asks}, and the most that a node offers is ${bareAmount(exclusion.resource, exclusion.available)} (${someOf(exclusion.types)})`;
    }
    case 'limit':
      return exclusion.resource === 'nodes'
        ? 'the pool may have no node'
        : `the pool may have ${amountWords(exclusion.resource, exclusion.limit)}, and its smallest node, ${exclusion.type}, counts ${bareAmount(exclusion.resource, exclusion.smallest)}`;
    case 'min-values':
      return `the pool wants ${exclusion.wanted} values of ${exclusion.key} left to choose from, and ${exclusion.left} are left`;
    case 'empty-pool':
      return `no instance type passes the requirements of ${poolTitle(pool)}`;
  }
}

/** What one type lacks, in words that follow its name. */
export function shortageWords(shortage: Shortage): string {
  switch (shortage.kind) {
    case 'resource':
      return `offers ${bareAmount(shortage.resource, shortage.available)} of ${amountWords(shortage.resource, shortage.requested)}`;
    case 'requirement':
      return `has ${shortage.key} ${shortage.has}, not ${shortage.wants}`;
    case 'limit':
      return `counts ${amountWords(shortage.resource, shortage.capacity)} against a limit of ${bareAmount(shortage.resource, shortage.limit)}`;
  }
}

/** What a pod asks for: `3 CPUs, 24 GiB of memory and 1 GPU`. */
export function requestWords({ amounts, unknown }: Amounts): string {
  const order = ['cpu', 'memory', 'ephemeral-storage'];
  const place = (resource: string): number =>
    order.includes(resource) ? order.indexOf(resource) : order.length;
  const known = Object.entries(amounts)
    .filter(([, amount]) => amount > 0)
    .toSorted(([a], [b]) => place(a) - place(b))
    .map(([resource, amount]) => amountWords(resource, amount));
  const later = unknown.map((resource) => `${resource} that is only known later`);
  const all = [...known, ...later];
  return all.length === 0 ? 'nothing' : listWords(all);
}
