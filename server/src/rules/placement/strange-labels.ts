import type { NodeSelectorTerm, PodSpec } from '../../sizing/nodes/pod';
import type { PoolSpec } from '../../sizing/nodes/pool';
import { labelOrigin } from './node-labels';

/** Whether a pool puts a label on its nodes, by a requirement or by a label of its template. */
export function definesLabel(spec: PoolSpec, key: string): boolean {
  return (
    spec.labels?.[key] !== undefined ||
    spec.unknownKeys?.includes(key) === true ||
    (spec.kind === 'node-pool' && spec.requirements.some((requirement) => requirement.key === key))
  );
}

/** Keys that no node of these pools will ever carry, by a mistake in the key and not by a choice of the pool. */
export function isStrangeLabel(key: string, pools: readonly PoolSpec[]): boolean {
  const origin = labelOrigin(key);
  if (key === 'karpenter.sh/provisioner-name') return true;
  if (origin !== 'not-karpenter' && origin !== 'look-alike' && origin !== 'discovered') return false;
  return !pools.some((spec) => definesLabel(spec, key));
}

function withoutKeys(
  term: NodeSelectorTerm,
  isStrange: (key: string) => boolean,
): NodeSelectorTerm | undefined {
  const expressions = (term.matchExpressions ?? []).filter(({ key }) => !isStrange(key));
  return expressions.length === 0 && term.matchFields !== true
    ? undefined
    : { ...term, matchExpressions: expressions };
}

/**
 * The pod as it would be with the right labels: what else is wrong with it can be told before the first mistake is
 * mended.
 */
export function withoutStrangeLabels(pod: PodSpec, pools: readonly PoolSpec[]): PodSpec {
  const isStrange = (key: string): boolean => isStrangeLabel(key, pools);
  const { nodeSelector = {}, requiredTerms = [], preferredTerms: _, ...rest } = pod;
  const keys = [
    ...Object.keys(nodeSelector),
    ...requiredTerms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key)),
  ];
  if (!keys.some(isStrange)) return pod;
  const kept = Object.entries(nodeSelector).filter(([key]) => !isStrange(key));
  const terms = requiredTerms.map((term) => withoutKeys(term, isStrange));
  const known = terms.flatMap((term) => term ?? []);
  return {
    ...rest,
    ...(kept.length > 0 && { nodeSelector: Object.fromEntries(kept) }),
    ...(known.length > 0 && known.length === terms.length && { requiredTerms: known }),
  };
}
