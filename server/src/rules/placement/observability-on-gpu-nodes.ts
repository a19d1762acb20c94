import { isAcceleratorTaintKey } from '../../kube/accelerators';
import { isAiWorkload } from '../../kube/ai-workload';
import { otherCloud } from '../../kube/clouds';
import { containers } from '../../kube/containers';
import { parseImage } from '../../kube/images';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { allRequirements, valueSetOf, type NodeRequirement } from '../../kube/requirements';
import { tolerationsOf } from '../../kube/tolerations';
import { admits, admitsAbsence } from '../../kube/value-set';
import { instanceTypes } from '../../sizing/nodes/instances';
import { instanceLabel, labelMeaning, nodePoolLabel } from '../../sizing/nodes/labels';
import { acceleratorsOnly } from '../../sizing/nodes/read-pool';
import type { Workspace } from '../../workspace/workspace';
import { removeItem } from '../../yaml/edit';
import { entryOf, isSequence, scalarIn } from '../../yaml/node';
import { looksLikeAcceleratorTaint } from '../scheduling/accelerator-taints';
import { titleOf } from '../naming';
import { defineRule, type Fix, type Place } from '../rule';
import { placeOfRequirement } from './demand';

export default defineRule({
  id: 'observability-on-gpu-nodes',
  summary: 'Prometheus, Grafana and collectors for the whole cluster do not run on GPU nodes',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    // One pod on each node belongs there: node agents, DCGM and Neuron exporters.
    if (resource.kind === 'DaemonSet') return;
    for (const template of podTemplates(resource)) {
      const tool = toolOf(template);
      if (tool === undefined || isAiWorkload(template) || otherCloud(template) !== undefined) continue;
      const selected = selection(workspace, template);
      if (selected !== undefined) {
        report({
          at: selected,
          message: `${titleOf(resource)} runs ${tool} and selects GPU nodes: it takes CPU and memory that model servers need, and keeps a node with GPUs from being removed`,
        });
      }
      const toleration = tolerance(template);
      if (toleration === undefined) continue;
      report({
        at: toleration.at,
        message: `${titleOf(resource)} runs ${tool} and tolerates ${toleration.what}: it may be put on GPU nodes, takes CPU and memory that model servers need, and keeps a node with GPUs from being removed`,
        // Without it a pod that selects such nodes would find none.
        fixes: selected === undefined ? [toleration.fix] : [],
      });
    }
  },
});

/** Tools for the whole cluster, by the last part of their images' names. */
const tools: readonly (readonly [RegExp, string])[] = [
  [/^prometheus$/, 'Prometheus'],
  [/^(?:thanos|mimir|cortex|victoria-metrics|vmsingle|vmselect|vminsert|vmstorage)$/, 'a store of metrics'],
  [/^grafana(?:-oss|-enterprise)?$/, 'Grafana'],
  [/^alertmanager$/, 'Alertmanager'],
  [/^(?:loki|tempo|jaeger|all-in-one|jaeger-collector)$/, 'a store of logs or traces'],
  [
    /^(?:fluent-bit|fluentd|aws-for-fluent-bit|fluentd-kubernetes-daemonset|vector)$/,
    'an aggregator of logs',
  ],
  [/^(?:opentelemetry-collector(?:-contrib|-k8s)?|aws-otel-collector|otelcol)$/, 'an OpenTelemetry gateway'],
  [/^kube-state-metrics$/, 'kube-state-metrics'],
];

function toolOf(template: PodTemplate): string | undefined {
  for (const { kind, imageText } of containers(template)) {
    if (kind !== 'main' || imageText === undefined) continue;
    const { name } = parseImage(imageText);
    const found = tools.find(([pattern]) => pattern.test(name));
    if (found !== undefined) return found[1];
  }
  return undefined;
}

/** Where the pod asks for nodes that all have accelerators. */
function selection(workspace: Workspace, template: PodTemplate): Place | undefined {
  const found = allRequirements(template).find((requirement) =>
    isAccelerated(workspace, template, requirement),
  );
  return found === undefined ? undefined : placeOfRequirement(found);
}

function isAccelerated(workspace: Workspace, template: PodTemplate, requirement: NodeRequirement): boolean {
  const set = valueSetOf(requirement);
  if (set === undefined || admitsAbsence(set)) return false;
  if (requirement.key === nodePoolLabel) {
    const pools = workspace
      .references(template.resource)
      .nodePools(template)
      .filter(({ named }) => named);
    return pools.length > 0 && pools.every(({ resource }) => acceleratorsOnly(resource).length > 0);
  }
  if (/^nvidia\.com\/gpu(?:\.|$)/.test(requirement.key)) return !set.complement || set.values.size === 0;
  const provider = requirement.key.startsWith('eks.amazonaws.com/') ? 'auto-mode' : 'karpenter';
  const meaning = labelMeaning(requirement.key, provider);
  if (meaning.kind !== 'instance') return false;
  const matching = instanceTypes().filter((type) => {
    const value = instanceLabel(type, meaning.label);
    return typeof value === 'string' && admits(set, value);
  });
  return (
    matching.length > 0 &&
    matching.every(({ gpus, accelerators }) => gpus !== undefined || accelerators !== undefined)
  );
}

interface Tolerance {
  readonly what: string;
  readonly at: Place;
  readonly fix: Fix | undefined;
}

function tolerance(template: PodTemplate): Tolerance | undefined {
  const list = entryOf(template.spec, 'tolerations')?.value;
  for (const { key, operator, effect, node } of tolerationsOf(template)) {
    if (node === undefined || key === undefined || effect === 'PreferNoSchedule') continue;
    const all = key === '' && operator === 'Exists' && effect !== 'NoExecute';
    if (!all && !isAcceleratorTaintKey(key) && !looksLikeAcceleratorTaint(key)) continue;
    const at = scalarIn(node, all ? 'operator' : 'key');
    if (at === undefined) continue;
    const what = all ? 'every taint' : key;
    const edits = isSequence(list)
      ? removeItem(template.resource.placed.document, list, list.items.indexOf(node))
      : undefined;
    return {
      what,
      at,
      fix:
        edits === undefined ? undefined : { title: `Remove the toleration of ${what}`, safe: false, edits },
    };
  }
  return undefined;
}
