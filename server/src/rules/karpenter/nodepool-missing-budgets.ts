import { isPathAbsent } from '../../kube/resource';
import { insertKey, insertPath } from '../../yaml/edit';
import { entryOf, mapIn } from '../../yaml/node';
import { defineRule } from '../rule';
import { isDynamic } from './pool-facts';

export default defineRule({
  id: 'nodepool-missing-budgets',
  summary: 'A pool says how many of its nodes may be disrupted at once',
  severity: 'off',
  strict: 'info',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report }) {
    if (!isDynamic(resource)) return;
    if (!isPathAbsent(resource, resource.root, 'spec', 'disruption', 'budgets')) return;
    const spec = mapIn(resource.root, 'spec');
    const at = entryOf(spec, 'disruption') ?? entryOf(resource.root, 'spec');
    if (spec === undefined || at === undefined) return;
    const { document } = resource.placed;
    const budgets = [{ nodes: '1' }];
    const edits =
      mapIn(spec, 'disruption') === undefined
        ? // With a policy of its own the API wants the delay as well.
          insertKey(document, spec, 'disruption', { consolidateAfter: '0s', budgets })
        : insertPath(document, spec, ['disruption', 'budgets'], budgets);
    report({
      at,
      message: `NodePool "${resource.name ?? ''}" has no disruption budgets: 10 % of its nodes, and at least one, may be replaced at once, at any hour`,
      fixes: [
        edits === undefined ? undefined : { title: 'Disrupt at most 1 node at a time', safe: false, edits },
      ],
    });
  },
});
