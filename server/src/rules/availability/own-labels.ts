import type { PodTemplate } from '../../kube/pod-carriers';
import { readSelector, selects } from '../../kube/selectors';
import type { PlainValue } from '../../yaml/edit';
import { getIn, isScalar, mapIn, type MapNode } from '../../yaml/node';

/** Labels as a selector writes them. */
export type MatchLabels = Readonly<Record<string, string>>;

function known(map: MapNode | undefined): MatchLabels | undefined {
  if (map === undefined || map.open || map.entries.length === 0) return undefined;
  const labels: Record<string, string> = {};
  for (const { key, value } of map.entries) {
    if (key.unknown || !isScalar(value) || value.unknown || value.value === null) return undefined;
    labels[key.text] = value.text;
  }
  return labels;
}

/** The label by which LeaderWorkerSet knows all pods of all its groups, whatever their templates say. */
const groupLabel = 'leaderworkerset.sigs.k8s.io/name';

/**
 * Labels that the pods of a template have: those of the workload's own selector, which cannot change, else all of the
 * template. `undefined` when they are not all known.
 */
export function ownLabels(template: PodTemplate): MatchLabels | undefined {
  const { resource, metadata } = template;
  if (resource.group === 'leaderworkerset.x-k8s.io' && resource.name !== undefined)
    return { [groupLabel]: resource.name };
  const own = known(mapIn(metadata, 'labels'));
  const matched = known(mapIn(resource.root, 'spec', 'selector', 'matchLabels'));
  const isOwn =
    matched !== undefined && Object.entries(matched).every(([key, value]) => own?.[key] === value);
  return isOwn ? matched : own;
}

/** A selector of these pods and no others: the workload's own with all its terms, else all labels of the template. */
export function ownSelector(template: PodTemplate): { readonly [key: string]: PlainValue } | undefined {
  const { resource } = template;
  const labels = ownLabels(template);
  const selector = readSelector(getIn(resource.root, 'spec', 'selector'));
  if (labels === undefined || labels[groupLabel] !== undefined || selector === undefined || selector.open)
    return labels === undefined ? undefined : { matchLabels: labels };
  const matched = Object.entries(labels);
  // What stands beside `matchLabels`, each term as it is.
  const expressions = selector.terms.slice(
    mapIn(resource.root, 'spec', 'selector', 'matchLabels')?.entries.length ?? 0,
  );
  const isKnown = expressions.every(({ operator, values }) => operator !== undefined && values !== undefined);
  if (!isKnown || selects(selector, template.labels) !== 'yes') return undefined;
  return {
    matchLabels: Object.fromEntries(matched),
    ...(expressions.length === 0
      ? {}
      : {
          matchExpressions: expressions.map(({ key, operator, values }) => ({
            key,
            operator: operator ?? '',
            ...(values === undefined || values.length === 0 ? {} : { values }),
          })),
        }),
  };
}
