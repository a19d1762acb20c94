import { amountOf } from '../../kube/containers';
import { podCarrierKinds } from '../../kube/pod-carriers';
import { formatBytes, quantityOf, toNumber } from '../../kube/quantity';
import { nodeDemandOf } from '../../kube/requirements';
import type { PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { findInstanceType, instanceTypes, nvidiaGpus } from '../../sizing/nodes/instances';
import { replaceScalar } from '../../yaml/edit';
import { isScalar, mapIn, scalarIn } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Report } from '../rule';
import { addOnKinds, addOnsOf, ownTree, type ConfigTree } from './configuration';
import { exportersIn } from './dcgm-exporter';

const MiB = 1024 * 1024;

/** What the exporter needs with one to four GPUs, and with eight. */
const least = {
  few: { bytes: 512 * MiB, text: '512Mi' },
  eight: { bytes: 1024 * MiB, text: '1Gi' },
} as const;

export default defineRule({
  id: 'dcgm-exporter-memory-too-low',
  summary: 'DCGM exporter has the memory that it needs',
  severity: 'warning',
  needs: 'document',
  kinds: [...podCarrierKinds, 'ClusterPolicy', ...addOnKinds],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const container of exportersIn(resource)) {
      const limit = amountOf(container.limits, 'memory');
      const node = limit?.entry.value;
      if (limit?.quantity === undefined || node === undefined || !isScalar(node)) continue;
      const onEight = runsOnEight(container.template);
      const needed = onEight ? least.eight : least.few;
      const bytes = toNumber(limit.quantity);
      if (bytes >= needed.bytes) continue;
      const edits = replaceScalar(resource.placed.document, node, needed.text);
      report({
        at: node,
        message: messageOf(containerTitle(container), node.text, onEight),
        fixes: [edits && { title: `Limit it to ${needed.text}`, safe: false, edits }],
        ...containerField(container),
      });
    }
    for (const tree of valuesIn(resource)) {
      const found = tooLow(tree);
      if (found !== undefined) report(found);
    }
  },
});

function messageOf(who: string, limit: string, onEight: boolean): string {
  return `${who} (DCGM exporter) is limited to ${limit} of memory, below ${onEight ? '1Gi for nodes of 8 GPUs' : formatBytes(least.few.bytes).replace(' MiB', 'Mi')}: it is OOMKilled while it samples, and the GPU metrics have gaps`;
}

/** Every type that the pods ask for has eight GPUs. */
function runsOnEight(template: PodTemplate): boolean {
  const { alternatives } = nodeDemandOf(template);
  return alternatives.every((requirements) =>
    requirements.some(({ key, operator, values }) => {
      if (operator !== 'In' || values === undefined || values.length === 0) return false;
      if (key === 'node.kubernetes.io/instance-type')
        return values.every((value) => {
          const type = findInstanceType(value);
          return type !== undefined && nvidiaGpus(type) >= 8;
        });
      if (/^(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\/instance-family$/.test(key))
        return values.every((family) => {
          const types = instanceTypes().filter(({ name }) => name.startsWith(`${family}.`));
          return types.length > 0 && types.every((type) => nvidiaGpus(type) >= 8);
        });
      return /^(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\/instance-gpu-count$/.test(key)
        ? values.every((value) => Number(value) >= 8)
        : false;
    }),
  );
}

/** Where charts, the GPU operator and the CloudWatch add-on write the exporter's resources. */
function valuesIn(resource: Resource): readonly ConfigTree[] {
  const trees: (ConfigTree | undefined)[] = [];
  const below = (tree: ConfigTree, ...path: readonly string[]): ConfigTree | undefined => {
    const root = mapIn(tree.root, ...path);
    return root === undefined ? undefined : { ...tree, root };
  };
  if (resource.kind === 'ClusterPolicy') {
    const exporter = mapIn(resource.root, 'spec', 'dcgmExporter');
    if (exporter !== undefined) trees.push(ownTree(resource, exporter));
  }
  for (const { name, tree } of addOnsOf(resource)) {
    if (/dcgm-exporter/.test(name)) trees.push(tree);
    else if (/gpu-operator|cloudwatch/.test(name)) trees.push(below(tree, 'dcgmExporter'));
    else trees.push(below(tree, 'dcgm-exporter'));
  }
  return trees.flatMap((tree) => (tree === undefined ? [] : [tree]));
}

function tooLow(tree: ConfigTree): Report | undefined {
  const node = scalarIn(tree.root, 'resources', 'limits', 'memory');
  const quantity = quantityOf(node);
  if (node === undefined || quantity === undefined || toNumber(quantity) >= least.few.bytes) return undefined;
  const edits = tree.replace(node, least.few.text);
  return {
    at: tree.place(node),
    message: messageOf('The exporter', node.text, false),
    fixes: [edits && { title: `Limit it to ${least.few.text}`, safe: false, edits }],
  };
}
