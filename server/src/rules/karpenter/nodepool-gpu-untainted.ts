import { isAbsent, type Resource } from '../../kube/resource';
import { podTolerates } from '../../kube/tolerations';
import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import type { Workspace } from '../../workspace/workspace';
import { appendItem, insertKey } from '../../yaml/edit';
import { entryOf, isSequence, mapIn, numberIn, scalarIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { tenantsOf } from '../placement/tenants';
import { defineRule, type Related } from '../rule';

export default defineRule({
  id: 'nodepool-gpu-untainted',
  summary: 'A pool of accelerator nodes keeps other pods away with a taint',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.sh') return;
    const spec = mapIn(resource.root, 'spec', 'template', 'spec');
    if (spec === undefined) return;
    const taints = entryOf(spec, 'taints')?.value;
    const isEmpty = isSequence(taints) && taints.items.length === 0 && !taints.open;
    if (!isEmpty && !isAbsent(resource, spec, 'taints')) return;
    const [accelerator, ...others] = acceleratorsOnly(resource);
    if (accelerator === undefined) return;
    const weight = numberIn(resource.root, 'spec', 'weight') ?? 0;
    const { document } = resource.placed;
    const taint = { key: accelerator, effect: 'NoSchedule' };
    const excluded = others.length > 0 ? [] : excludedBy(workspace, resource, accelerator);
    const edits =
      others.length > 0 || excluded.length > 0
        ? undefined
        : isEmpty
          ? appendItem(document, taints, taint)
          : insertKey(document, spec, 'taints', [taint], { before: 'requirements' });
    const at = entryOf(spec, isEmpty ? 'taints' : 'requirements') ?? entryOf(spec, 'nodeClassRef');
    if (at === undefined) return;
    const worse =
      weight > 0
        ? `, and its weight of ${weight} makes Karpenter choose it before other pools for every pod`
        : '';
    report({
      at,
      message: `NodePool "${resource.name ?? ''}" launches only nodes with ${[accelerator, ...others].join(' or ')} and has no taint: any pod that fits is put on them and keeps them from being used or removed${worse}`,
      related: excluded,
      fixes: [
        edits === undefined
          ? undefined
          : { title: `Taint the nodes ${accelerator}:NoSchedule`, safe: false, edits },
      ],
    });
  },
});

/** Pods that ask for nodes of the pool and could no longer run there with the taint: they come first. */
function excludedBy(workspace: Workspace, pool: Resource, key: string): readonly Related[] {
  const taint = { key, value: '', effect: 'NoSchedule', node: undefined };
  const excluded = tenantsOf(workspace, pool).filter(
    ({ template, named }) => named && podTolerates(template, taint) === 'no',
  );
  return [...new Set(excluded.map(({ template }) => template.resource))].slice(0, 3).flatMap((resource) => {
    const at = scalarIn(resource.root, 'metadata', 'name');
    if (at === undefined) return [];
    const message = `${titleOf(resource)} selects the pool and does not tolerate ${key}: it needs the toleration before the pool gets the taint`;
    return [{ resource, at, message }];
  });
}
