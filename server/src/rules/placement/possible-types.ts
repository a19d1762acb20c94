import type { PodTemplate } from '../../kube/pod-carriers';
import { normaliseLabel } from '../../kube/value-set';
import { explain } from '../../sizing/nodes/explain';
import { fit, prepareFit, type Fit, type FitContext } from '../../sizing/nodes/fit';
import { findInstanceType, type InstanceType } from '../../sizing/nodes/instances';
import { labelMeaning } from '../../sizing/nodes/labels';
import type { PodSpec } from '../../sizing/nodes/pod';
import type { NodePoolSpec } from '../../sizing/nodes/pool';
import type { Workspace } from '../../workspace/workspace';
import { meantPools } from './meant-pools';
import { podOf, surroundingsOf, type Pool } from './surroundings';

type ProviderOfLabels = 'karpenter' | 'auto-mode';

/** A pool without requirements: what a pod's own labels leave of all types. */
const anyPool: Readonly<Record<ProviderOfLabels, NodePoolSpec>> = {
  karpenter: { kind: 'node-pool', name: '', provider: 'karpenter', requirements: [] },
  'auto-mode': { kind: 'node-pool', name: '', provider: 'auto-mode', requirements: [] },
};

const contexts = new Map<ProviderOfLabels, FitContext>();

/** A pod reduced to the labels of instance types that it selects, with a pool that admits every type. */
export interface OwnSelection {
  readonly pod: PodSpec;
  readonly context: FitContext;
}

/** `undefined` when the pod selects no instance types by itself. */
export function ownSelection(pod: PodSpec): OwnSelection | undefined {
  const selector = Object.entries(pod.nodeSelector ?? {});
  const expressions = (pod.requiredTerms ?? []).map(({ matchExpressions }) => matchExpressions ?? []);
  const keys = [...selector.map(([key]) => key), ...expressions.flat().map(({ key }) => key)];
  const provider = keys.some((key) => key.startsWith('eks.amazonaws.com/instance-'))
    ? 'auto-mode'
    : 'karpenter';
  const decides = (key: string): boolean => labelMeaning(normaliseLabel(key), provider).kind === 'instance';
  if (!keys.some(decides)) return undefined;
  const { nodeSelector: _, requiredTerms: __, preferredTerms: ___, openTolerations: ____, ...rest } = pod;
  const kept = selector.filter(([key]) => decides(key));
  const terms = expressions.map((list) => list.filter(({ key }) => decides(key)));
  let context = contexts.get(provider);
  if (context === undefined) contexts.set(provider, (context = prepareFit([anyPool[provider]])));
  return {
    context,
    // The pool has no taints, so that tolerations are no question.
    pod: {
      ...rest,
      ...(kept.length > 0 && { nodeSelector: Object.fromEntries(kept) }),
      ...(terms.length > 0 &&
        terms.every((list) => list.length > 0) && {
          requiredTerms: terms.map((matchExpressions) => ({ matchExpressions })),
        }),
    },
  };
}

/** The types that a pod can get, as far as its labels and the pools tell. */
export interface PossibleTypes {
  /** Cheapest first. */
  readonly types: readonly InstanceType[];
  /** No other type can do. */
  readonly complete: boolean;
  /** The pools that were looked at; empty where the pod's own labels decide. */
  readonly pools: readonly Pool[];
}

function typesIn({ pools }: Fit): { types: readonly InstanceType[]; complete: boolean } {
  const names = new Set(
    pools.flatMap(({ candidates, possible }) => [...candidates.map(({ type }) => type.name), ...possible]),
  );
  const types = [...names].flatMap((name) => findInstanceType(name) ?? []);
  return { types, complete: types.length === names.size };
}

/**
 * The types on which a pod can run: of the pools that it could mean, else those that it selects by itself; `undefined`
 * when neither says anything.
 *
 * @param pod what to ask for instead of what the template does, where that is not what Karpenter looks at.
 */
export function possibleTypes(
  workspace: Workspace,
  template: PodTemplate,
  pod: PodSpec = podOf(workspace, template),
): PossibleTypes | undefined {
  const surroundings = surroundingsOf(workspace, template);
  if (surroundings.pools.length > 0) {
    const answer = fit(surroundings.unlimited, pod);
    const open = answer.pools.filter(({ verdict }) => verdict !== 'none');
    if (open.length > 0) {
      const pools = open.flatMap((one) => surroundings.poolOf(one.pool) ?? []);
      return { ...typesIn(answer), pools };
    }
    const meant = meantPools(template, pod, surroundings, explain(surroundings.unlimited, pod));
    if (meant.length > 0) return { types: [], complete: false, pools: [] };
  }
  const own = ownSelection(pod);
  return own === undefined ? undefined : { ...typesIn(fit(own.context, own.pod)), pools: [] };
}
