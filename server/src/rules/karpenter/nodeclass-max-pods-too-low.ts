import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import { scalarIn } from '../../yaml/node';
import { defineRule } from '../rule';
import { mayBePatched } from '../overlays';

/** Those that EKS brings and their companions where nothing is known: CNI, kube-proxy, CSI, device plugin, agents. */
const usual = 8;

/** DaemonSets that are counted anyway. */
const broughtByEks = /^(?:aws-node|kube-proxy)$/;

export default defineRule({
  id: 'nodeclass-max-pods-too-low',
  summary: 'Beside the DaemonSets a node has room for a pod',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['EC2NodeClass'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.k8s.aws' || resource.role === 'kustomize-patch') return;
    const maxPods = scalarIn(resource.root, 'spec', 'kubelet', 'maxPods');
    if (maxPods === undefined || maxPods.unknown || typeof maxPods.value !== 'number') return;
    const pools = workspace.near(resource, 'NodePool', 'karpenter.sh').filter((pool) => {
      const reference = workspace.references(pool).nodeClass;
      return reference?.state === 'found' && reference.resource === resource;
    });
    const daemons = workspace
      .near(resource, 'DaemonSet', 'apps')
      .filter(({ name }) => name === undefined || !broughtByEks.test(name));
    const accelerated = pools.some((pool) => acceleratorsOnly(pool).length > 0);
    // aws-node and kube-proxy, and on accelerator nodes a device plugin, unless it is one of the DaemonSets.
    const plugin = accelerated && !daemons.some(({ name }) => /device-plugin/.test(name ?? '')) ? 1 : 0;
    const taken = daemons.length === 0 ? usual : daemons.length + 2 + plugin;
    if (maxPods.value > taken || mayBePatched(workspace, resource, 'maxPods')) return;
    const reckoned =
      daemons.length === 0
        ? `the DaemonSets of an EKS cluster (aws-node, kube-proxy, CSI drivers, a device plugin, agents) take about ${usual}`
        : `${daemons.length} DaemonSet${daemons.length === 1 ? '' : 's'} of these files, aws-node, kube-proxy${plugin === 1 ? ' and the device plugin' : ''} take ${taken}`;
    report({
      at: maxPods,
      message: `maxPods of EC2NodeClass "${resource.name ?? ''}" is ${maxPods.value}, and ${reckoned}: a new node has no room for the pod that it was launched for`,
    });
  },
});
