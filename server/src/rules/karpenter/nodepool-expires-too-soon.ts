import { isServing } from '../../kube/ai-workload';
import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import { replaceScalar } from '../../yaml/edit';
import { scalarIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { tenantsOf } from '../placement/tenants';
import { defineRule } from '../rule';
import { hoursOf } from './pool-facts';

export default defineRule({
  id: 'nodepool-expires-too-soon',
  summary: 'Nodes of a pool that serves live longer than a day',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.version !== 'v1' || resource.group !== 'karpenter.sh') return;
    const expire = scalarIn(resource.root, 'spec', 'template', 'spec', 'expireAfter');
    const hours = expire === undefined || expire.unknown ? undefined : hoursOf(expire.text);
    if (expire === undefined || hours === undefined || hours >= 24) return;
    const tenants = tenantsOf(workspace, resource);
    const served = tenants.find(({ template }) => isServing(template.resource, template));
    // Pods that are known and all end by themselves are the only ones there.
    if (served === undefined && (tenants.length > 0 || acceleratorsOnly(resource).length === 0)) return;
    const edits = replaceScalar(resource.placed.document, expire, '720h');
    const who = served === undefined ? 'model servers' : titleOf(served.template.resource);
    report({
      at: expire,
      message:
        `Nodes of NodePool "${resource.name ?? ''}" expire after ${expire.text}: Karpenter drains them then without a replacement at hand and whatever the budgets say, and ${who} loads its model again each time`.replace(
          'model servers loads its model',
          'model servers load their models',
        ),
      related:
        served === undefined
          ? []
          : [
              {
                resource: served.template.resource,
                at:
                  scalarIn(served.template.resource.root, 'metadata', 'name') ??
                  served.template.resource.root,
                message: `${titleOf(served.template.resource)} runs on its nodes`,
              },
            ],
      fixes: [
        edits === undefined
          ? undefined
          : { title: 'Expire nodes after 720h (30 days, the default)', safe: false, edits },
      ],
    });
  },
});
