import { scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';
import { hasAccelerators, isDynamic } from './pool-facts';

export default defineRule({
  id: 'nodepool-never-consolidates',
  summary: 'A pool gives its empty nodes back',
  severity: 'info',
  needs: 'document',
  kinds: ['NodePool'],
  fixable: 'none',
  check(resource, { report }) {
    if (!isDynamic(resource)) return;
    const after = scalarIn(resource.root, 'spec', 'disruption', 'consolidateAfter');
    if (after === undefined || after.unknown || after.text !== 'Never') return;
    report({
      at: after,
      message: `consolidateAfter is Never on NodePool "${resource.name ?? ''}": nodes stay, and are paid for, when their last pod has gone${hasAccelerators(resource) ? ', GPUs included' : ''}, until they expire`,
    });
  },
});
