import { readTaints } from '../../kube/tolerations';
import { getIn, isMap, textIn } from '../../yaml/node';
import type { SuggestionSource } from './suggestion';

/** Taints of accelerator nodes as the guides of NVIDIA and AWS set them, where the workspace has no NodePool. */
const usual: readonly { readonly key: string; readonly from: string }[] = [
  { key: 'nvidia.com/gpu', from: 'the usual taint of GPU nodes' },
  { key: 'aws.amazon.com/neuron', from: 'the usual taint of Neuron nodes' },
];

/** Keys and values of the taints that the NodePools of the workspace put on their nodes. */
export const tolerationSuggestions: SuggestionSource = ({ workspace, cursor, unfinished, current }) => {
  const { kind, path, holders } = cursor;
  const field = path.at(-1);
  if (kind !== 'value' || path.at(-3) !== 'tolerations' || (field !== 'key' && field !== 'value')) return [];
  const from = current ?? unfinished;
  const pools = [
    ...workspace.near(from, 'NodePool', 'karpenter.sh'),
    ...workspace.everywhere('NodePool', 'karpenter.sh'),
  ];
  const taints = [...new Set(pools)].flatMap((pool) =>
    readTaints(getIn(pool.root, 'spec', 'template', 'spec', 'taints')).map((taint) => ({ taint, pool })),
  );
  if (field === 'key') {
    const found = new Map<string, string>();
    for (const { taint, pool } of taints) {
      if (typeof taint.key === 'string') found.set(taint.key, `taint of NodePool "${pool.name ?? ''}"`);
    }
    for (const { key, from: source } of usual) if (!found.has(key)) found.set(key, source);
    return [...found].map(([label, detail]) => ({ label, kind: 'key', detail }));
  }
  const toleration = holders.at(-1);
  const key = isMap(toleration) ? textIn(toleration, 'key') : undefined;
  return taints.flatMap(({ taint, pool }) =>
    taint.key === key && typeof taint.value === 'string' && taint.value !== ''
      ? [{ label: taint.value, kind: 'value', detail: `taint of NodePool "${pool.name ?? ''}"` }]
      : [],
  );
};
