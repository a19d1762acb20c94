import { acceleratorCount } from '../../kube/accelerators';
import { podTemplates } from '../../kube/pod-carriers';
import { nvidiaGpus, type InstanceType } from '../../sizing/nodes/instances';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule } from '../rule';
import { askedResource } from './demand';
import { possibleTypes } from './possible-types';
import { poolTitle } from './surroundings';
import { mostPods } from './tenants';
import { amountWords, listWords, typeWords } from './words';

const gpu = 'nvidia.com/gpu';

export default defineRule({
  id: 'scheduler-picks-larger-node',
  summary: 'A pod does not pay for GPUs of its node that nothing uses',
  severity: 'info',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch' || resource.kind === 'DaemonSet') return;
    for (const template of podTemplates(resource)) {
      const each = acceleratorCount(template, gpu);
      if (each === undefined || each === 0) continue;
      const possible = possibleTypes(workspace, template);
      if (possible === undefined || !possible.complete || possible.pools.length === 0) continue;
      const smallest = smallestOf(possible.types);
      const pods = mostPods(workspace, template)?.value;
      const asked = askedResource(template, gpu);
      if (smallest === undefined || pods === undefined || asked === undefined) continue;
      const count = nvidiaGpus(smallest);
      const used = each * pods;
      if (used >= count || pods === 0 || mayBePatched(workspace, resource, gpu)) continue;
      const idle = count - used;
      const cost =
        smallest.onDemandPrice === undefined
          ? ''
          : ` and $${((smallest.onDemandPrice * idle) / count).toFixed(2)} of its $${smallest.onDemandPrice.toFixed(2)} an hour`;
      report({
        at: asked.at,
        message: `${titleOf(resource)} uses ${amountWords(gpu, used)}, and the smallest node that ${listWords(possible.pools.map(poolTitle))} can launch for it, ${typeWords(smallest)}, has ${count}: ${amountWords(gpu, idle)}${cost} are left to whatever else comes`,
      });
    }
  },
});

/** The cheapest of the types with the fewest GPUs. */
function smallestOf(types: readonly InstanceType[]): InstanceType | undefined {
  let smallest: InstanceType | undefined;
  for (const type of types) {
    if (smallest === undefined || nvidiaGpus(type) < nvidiaGpus(smallest)) smallest = type;
  }
  return smallest;
}
