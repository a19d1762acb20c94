import type { PodTemplate } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import type { TemplateMatch } from '../../workspace/references';
import type { Workspace } from '../../workspace/workspace';
import { renameKey, replaceScalar } from '../../yaml/edit';
import { entryOf, isNull, isScalar, mapIn, type Entry, type ScalarNode } from '../../yaml/node';
import { mayBePatched } from '../overlays';
import { defineRule, type Fix, type Related } from '../rule';
import { leastReplicas, relatedTo } from './least-replicas';

export default defineRule({
  id: 'pdb-blocks-drain',
  summary: 'A PodDisruptionBudget lets at least one pod go',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['PodDisruptionBudget'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    if (resource.group !== 'policy') return;
    const spec = mapIn(resource.root, 'spec');
    const minimum = written(entryOf(spec, 'minAvailable'));
    const maximum = written(entryOf(spec, 'maxUnavailable'));
    // Both at once are rejected.
    const entry = minimum ?? maximum;
    if (entry === undefined || (minimum !== undefined && maximum !== undefined)) return;
    const bound = boundOf(entry.value);
    if (bound === undefined || mayBePatched(workspace, resource, entry.key.text)) return;
    const { templates } = workspace.references(resource);
    // Pods that end by themselves: until then the drain waits, as its author means.
    if (templates.length > 0 && templates.every(({ template }) => runsToEnd.includes(template.resource.kind)))
      return;
    const blocked = maximum === undefined ? keepsAll(workspace, bound, templates) : allowsNone(entry, bound);
    if (blocked === undefined) return;
    report({
      at: entry.value,
      message: `${blocked.why}: no pod may be evicted, so node drains, upgrades and Karpenter's consolidation wait for ever`,
      related: blocked.related,
      fixes: [letOneGo(resource, entry)],
    });
  },
});

const runsToEnd: readonly string[] = [
  'Job',
  'CronJob',
  'RayJob',
  'PyTorchJob',
  'MPIJob',
  'TFJob',
  'JAXJob',
  'JobSet',
  'ScaledJob',
];

interface Written extends Entry {
  readonly value: ScalarNode;
}

function written(entry: Entry | undefined): Written | undefined {
  return entry !== undefined && !isNull(entry.value) && isScalar(entry.value)
    ? { key: entry.key, value: entry.value }
    : undefined;
}

type Bound = { readonly pods: number } | { readonly percent: number };

/** A whole number, or a percentage as text; anything else is unknown, or rejected. */
function boundOf(node: ScalarNode): Bound | undefined {
  if (node.unknown) return undefined;
  if (typeof node.value === 'number')
    return Number.isInteger(node.value) && node.value >= 0 ? { pods: node.value } : undefined;
  const percent = typeof node.value === 'string' ? /^(\d+)%$/.exec(node.value)?.[1] : undefined;
  return percent === undefined || Number(percent) > 100 ? undefined : { percent: Number(percent) };
}

interface Blocked {
  readonly why: string;
  readonly related: readonly Related[];
}

/** Percentages of unavailable pods are rounded up too, so that only 0 allows none. */
function allowsNone({ value }: Written, bound: Bound): Blocked | undefined {
  const amount = 'pods' in bound ? bound.pods : bound.percent;
  return amount === 0 ? { why: `maxUnavailable is ${value.text}`, related: [] } : undefined;
}

/** Whether as many pods must stay as there are at the least; percentages are rounded up. */
function keepsAll(
  workspace: Workspace,
  bound: Bound,
  templates: readonly TemplateMatch[],
): Blocked | undefined {
  if ('percent' in bound && bound.percent === 100)
    return { why: 'minAvailable 100% keeps every pod', related: [] };
  const selected = leastPods(workspace, templates);
  if (selected === undefined || selected.pods === 0) return undefined;
  const { pods, related } = selected;
  const kept = 'pods' in bound ? bound.pods : Math.ceil((bound.percent * pods) / 100);
  if (kept < pods) return undefined;
  const asked =
    'pods' in bound
      ? `minAvailable ${bound.pods} of ${pods === 1 ? 'the 1 pod' : `the ${pods} pods`}`
      : `minAvailable ${bound.percent}% of ${pods === 1 ? 'the 1 pod' : `the ${pods} pods`}, rounded up to ${kept},`;
  return { why: `${asked} that the budget selects at the least keeps all`, related };
}

interface Selected {
  readonly pods: number;
  readonly related: readonly Related[];
}

/** All pods that a budget selects, when there are as few as there can be; `undefined` when that is not known. */
function leastPods(workspace: Workspace, templates: readonly TemplateMatch[]): Selected | undefined {
  let pods = 0;
  const related: Related[] = [];
  for (const { template, match } of templates) {
    const { resource } = template;
    const least = leastReplicas(workspace, template);
    if (match !== 'yes' || least === undefined) return undefined;
    if (mayBePatched(workspace, least.autoscaler ?? resource, 'eplicas')) return undefined;
    const each = podsOfEach(template);
    if (each === undefined) return undefined;
    // Without any pod there is nothing to evict; an autoscaler that starts from 0 comes by 1.
    const replicas = least.autoscaler === undefined ? least.value : Math.max(1, least.value);
    pods += replicas * each;
    related.push(relatedTo(template, least));
  }
  return templates.length === 0 ? undefined : { pods, related };
}

/** Pods for each replica: more than one in groups. */
function podsOfEach({ replicas, pods, groupSize }: PodTemplate): number | undefined {
  if (replicas.known && replicas.value > 0 && pods.known) return pods.value / replicas.value;
  return groupSize.known && groupSize.value === 1 ? 1 : undefined;
}

function letOneGo(resource: Resource, { key, value }: Written): Fix | undefined {
  const { document } = resource.placed;
  const rename = key.text === 'maxUnavailable' ? [] : renameKey(document, { key, value }, 'maxUnavailable');
  const replace = replaceScalar(document, value, 1);
  // `minAvailable: 1` keeps its number and becomes a maximum.
  const edits =
    value.value === 1
      ? rename
      : rename === undefined || replace === undefined
        ? undefined
        : [...rename, ...replace];
  return edits === undefined
    ? undefined
    : { title: 'Let 1 pod go at a time (maxUnavailable: 1)', safe: false, edits };
}
