import { isAcceleratorTaintKey } from '../../kube/accelerators';
import { isAiWorkload } from '../../kube/ai-workload';
import { containers, envOf } from '../../kube/containers';
import { podCarrierKinds, podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { allRequirements, nodeDemandOf, valueSetOf, type NodeRequirement } from '../../kube/requirements';
import { tolerationsOf, type Toleration } from '../../kube/tolerations';
import { removeItem } from '../../yaml/edit';
import { entryOf, isNull, isSequence, scalarIn, textIn, type YamlNode } from '../../yaml/node';
import type { Workspace } from '../../workspace/workspace';
import { hasAccelerators } from '../karpenter/pool-facts';
import { titleOf } from '../naming';
import { defineRule } from '../rule';

export default defineRule({
  id: 'cpu-pod-tolerates-gpu-taint',
  summary: 'A pod without accelerators does not tolerate the taint of accelerator nodes',
  severity: 'warning',
  needs: 'workspace',
  // One pod on each node is what a DaemonSet is for.
  kinds: podCarrierKinds.filter((kind) => kind !== 'DaemonSet'),
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    // A patch says nothing of the pod that it changes.
    if (resource.role === 'kustomize-patch') return;
    const templates = podTemplates(resource);
    if (templates.some((template) => isAiWorkload(template) || mayUseAccelerator(template))) return;
    for (const template of templates) {
      const list = entryOf(template.spec, 'tolerations')?.value;
      if (!isSequence(list) || selectsOtherNodes(template) || meansOtherPools(workspace, template)) continue;
      const isBound = allRequirements(template).some(({ key }) => !ofAnyPool.test(key));
      for (const toleration of tolerationsOf(template)) {
        const what = unneeded(toleration);
        if (what === undefined || toleration.node === undefined) continue;
        // A pod that asks for certain nodes may need what lets it onto them.
        const edits = isBound
          ? undefined
          : removeItem(resource.placed.document, list, list.items.indexOf(toleration.node));
        report({
          at: what.at,
          message: `${titleOf(resource)} asks for no accelerator and tolerates ${what.taint}: its pods take CPU and memory of accelerator nodes and keep idle ones from being removed`,
          fixes: [
            edits === undefined
              ? undefined
              : { title: `Remove the toleration of ${what.taint}`, safe: false, edits },
          ],
        });
      }
    }
  },
});

interface Unneeded {
  /** In words, for the message. */
  readonly taint: string;
  readonly at: YamlNode;
}

/** What a toleration opens that a pod without accelerators has no use for. */
function unneeded({ key, operator, effect, node }: Toleration): Unneeded | undefined {
  if (node === undefined || effect === undefined || effect === 'PreferNoSchedule') return undefined;
  if (key === '') {
    // With NoExecute alone the pod is only not evicted at once, as from a node that is not ready.
    if (effect === 'NoExecute') return undefined;
    const at = scalarIn(node, 'operator');
    return operator === 'Exists' && at !== undefined ? { taint: 'every taint', at } : undefined;
  }
  const at = scalarIn(node, 'key');
  return key !== undefined && at !== undefined && isAcceleratorTaintKey(key) ? { taint: key, at } : undefined;
}

/** Programs that look after accelerators; they ask for none and belong on these nodes. */
const looksAfterAccelerators =
  /nvidia|dcgm|cuda|neuron|gpu|device-plugin|habana|gaudi|rocm|amd-smi|node-feature-discovery/i;

/**
 * Whether a pod may use an accelerator though none is written: its resources, image or claims are known only later, or
 * it gets one without asking.
 */
function mayUseAccelerator(template: PodTemplate): boolean {
  const { spec } = template;
  if (template.resourcesElsewhere || spec.open) return true;
  if (!isNull(entryOf(spec, 'resourceClaims')?.value)) return true;
  if (/nvidia|habana|neuron/.test(textIn(spec, 'runtimeClassName') ?? '')) return true;
  const list = entryOf(spec, 'containers')?.value;
  if (isSequence(list) && list.open) return true;
  return containers(template).some((container) => {
    if (container.node.open || container.imageText === undefined) return true;
    if (looksAfterAccelerators.test(container.imageText)) return true;
    if (envOf(container).some(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')) return true;
    const written = entryOf(container.node, 'resources')?.value;
    return [written, entryOf(written, 'requests')?.value, entryOf(written, 'limits')?.value].some(isOpen);
  });
}

function isOpen(node: YamlNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.kind === 'scalar') return node.unknown;
  return node.open || (node.kind === 'map' && node.entries.some(({ key }) => key.unknown));
}

const instanceKeys: readonly string[] = [
  'karpenter.k8s.aws/instance-category',
  'karpenter.k8s.aws/instance-family',
  'eks.amazonaws.com/instance-category',
  'eks.amazonaws.com/instance-family',
  'node.kubernetes.io/instance-type',
];

/** Categories, families and types of EC2 with accelerators: `g`, `gr6`, `p5en`, `inf2.xlarge`, `trn1`, `dl2q`, `vt1`. */
const accelerated = /^(gr?|p|inf|trn|dl|vt)(\d|$)/;

/** Whether every alternative asks for instance types without accelerators. */
function selectsOtherNodes(template: PodTemplate): boolean {
  const excludes = (requirement: NodeRequirement): boolean => {
    if (!instanceKeys.includes(requirement.key)) return false;
    const set = valueSetOf(requirement);
    return set !== undefined && !set.complement && ![...set.values].some((value) => accelerated.test(value));
  };
  return nodeDemandOf(template).alternatives.every((requirements) => requirements.some(excludes));
}

/** Labels that nodes of every pool can have. */
const ofAnyPool =
  /^((beta\.)?kubernetes\.io\/(os|arch)|(topology|failure-domain\.beta)\.kubernetes\.io\/.*|karpenter\.sh\/capacity-type)$/;

/** Whether a pod names its pool, and none that it can mean launches accelerators. */
function meansOtherPools(workspace: Workspace, template: PodTemplate): boolean {
  const pools = workspace.references(template.resource).nodePools(template);
  return pools.some(({ named }) => named) && !pools.some(({ resource }) => hasAccelerators(resource));
}
