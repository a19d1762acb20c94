import { amiAlias } from '../../sizing/nodes/read-node-class';
import { isScalar, itemsIn, mapIn, scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';

export default defineRule({
  id: 'nodeclass-ami-latest',
  summary: 'The AMI of a node class is pinned to a version',
  severity: 'info',
  needs: 'document',
  kinds: ['EC2NodeClass'],
  fixable: 'none',
  check(resource, { report }) {
    if (resource.group !== 'karpenter.k8s.aws') return;
    const spec = mapIn(resource.root, 'spec');
    if (amiAlias(spec) === undefined) return;
    for (const term of itemsIn(spec, 'amiSelectorTerms')) {
      const alias = scalarIn(term, 'alias');
      if (!isScalar(alias) || alias.unknown || !alias.text.endsWith('@latest')) continue;
      // Windows has no other alias.
      if (alias.text.startsWith('windows')) continue;
      report({
        at: alias,
        message: `EC2NodeClass "${resource.name ?? ''}" takes ${alias.text}: with each release of the AMI all of its nodes have drifted and are replaced, in every cluster at once and before anyone has tried it`,
      });
    }
  },
});
