import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { allowsValue, meets, nodeDemandOf, valueSetOf, type NodeRequirement } from '../../kube/requirements';
import type { Resource } from '../../kube/resource';
import { podTolerates, readTaints, tolerationsOf, type Taint } from '../../kube/tolerations';
import { poolLabels } from '../../workspace/references';
import type { Workspace } from '../../workspace/workspace';
import { appendItem, insertKey, type Edits, type PlainValue } from '../../yaml/edit';
import { entryOf, getIn, isNull, isScalar, isSequence, scalarIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule, type Place } from '../rule';

export default defineRule({
  id: 'gpu-taint-not-tolerated',
  summary: 'A pod tolerates the taints of the NodePool that it selects',
  severity: 'error',
  needs: 'workspace',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report, workspace }) {
    for (const template of podTemplates(resource)) {
      // Runtimes and profiles can add tolerations, and a pod with a node's name is not scheduled at all.
      if (template.resourcesElsewhere || !isNull(entryOf(template.spec, 'nodeName')?.value)) continue;
      const refused = refusal(workspace, template);
      if (refused === undefined || mayBePatched(workspace, resource, 'tolerations')) continue;
      const { pool, selection, taints } = refused;
      const names = taints.map(nameOf).join(' and ');
      const many = taints.length > 1;
      const edits = tolerate(template, taints);
      report({
        at: selection,
        message:
          `The pod selects ${titleOf(pool)} and does not tolerate its taint${many ? 's' : ''} ${names}` +
          `${nearMiss(template, taints)}: it stays pending`,
        related: taints.flatMap((taint) =>
          taint.node === undefined
            ? []
            : [
                {
                  resource: pool,
                  at: scalarIn(taint.node, 'key') ?? taint.node,
                  message: `${titleOf(pool)} has the taint ${nameOf(taint)}`,
                },
              ],
        ),
        fixes: [edits === undefined ? undefined : { title: `Tolerate ${names}`, safe: false, edits }],
      });
    }
  },
});

interface Refusal {
  readonly pool: Resource;
  /** Where the pod names the pool. */
  readonly selection: Place;
  /** Never empty. */
  readonly taints: readonly Taint[];
}

/**
 * The pool that refuses a pod. Only where every pool that the pod could mean certainly does, and each alternative of
 * its affinity names one of them: else another pool, or nodes that are not in the files, may take it.
 */
function refusal(workspace: Workspace, template: PodTemplate): Refusal | undefined {
  const demand = nodeDemandOf(template);
  // A pod that asks nothing of its node names no pool.
  if (demand.open || demand.alternatives.some((requirements) => requirements.length === 0)) return undefined;
  const pools = workspace.references(template.resource).nodePools(template);
  const refusing = pools.flatMap(({ resource, match }) => {
    const taints = refusedTaints(template, resource);
    return match === 'yes' && taints.length > 0 ? [{ pool: resource, taints }] : [];
  });
  if (refusing.length === 0 || refusing.length < pools.length) return undefined;
  const refusals = demand.alternatives.map((requirements) => {
    for (const { pool, taints } of refusing) {
      const naming = requirements.find(
        (requirement) =>
          names(requirement, pool) &&
          namesOnly(
            requirement,
            refusing.map((one) => one.pool),
          ),
      );
      if (naming !== undefined) return { pool, taints, selection: placeOf(naming, pool) };
    }
    return undefined;
  });
  return refusals.includes(undefined) ? undefined : refusals[0];
}

/** The taints of a pool that a pod certainly does not tolerate; startup taints go by themselves. */
function refusedTaints(template: PodTemplate, pool: Resource): readonly Taint[] {
  return readTaints(getIn(pool.root, 'spec', 'template', 'spec', 'taints')).filter(
    (taint) =>
      taint.key !== undefined && taint.effect !== undefined && podTolerates(template, taint) === 'no',
  );
}

/** Labels that nodes of any pool have, so that asking for one names no pool. */
const ofAnyPool =
  /^((beta\.|node\.|failure-domain\.beta\.)?kubernetes\.io\/|topology\.|karpenter\.k8s\.aws\/|eks\.amazonaws\.com\/|karpenter\.sh\/(?!nodepool$))/;

/** Whether a requirement asks for the pool itself, or for a label that the pool gives to its nodes. */
function names(requirement: NodeRequirement, pool: Resource): boolean {
  const { key } = requirement;
  const { sets } = poolLabels(pool);
  const wanted = valueSetOf(requirement);
  if (ofAnyPool.test(key) || !sets.has(key) || wanted === undefined) return false;
  return !wanted.complement && wanted.values.size > 0 && meets(sets.get(key), wanted) === 'yes';
}

/** Whether nodes of these pools have every value that the pod may have: a pool that is in no file has none of them. */
function namesOnly(requirement: NodeRequirement, pools: readonly Resource[]): boolean {
  const offered = pools.map((pool) => poolLabels(pool).sets.get(requirement.key));
  return [...(valueSetOf(requirement)?.values ?? [])].every((value) =>
    offered.some((set) => set !== undefined && allowsValue(set, value)),
  );
}

/** The value that names the pool, else the key. */
function placeOf(requirement: NodeRequirement, pool: Resource): Place {
  const offered = poolLabels(pool).sets.get(requirement.key);
  const value = requirement.valueNodes.find(
    (node) => isScalar(node) && (offered === undefined || offered.values.has(node.text)),
  );
  return value ?? requirement.keyNode;
}

function nameOf({ key, value, effect }: Taint): string {
  return `${key ?? ''}${value === undefined || value === '' ? '' : `=${value}`}:${effect ?? ''}`;
}

/** What a toleration of the same key says instead: a wrong value is easily overlooked. */
function nearMiss(template: PodTemplate, taints: readonly Taint[]): string {
  for (const taint of taints) {
    const near = tolerationsOf(template).find(({ key }) => key !== undefined && key === taint.key);
    if (near === undefined) continue;
    if (near.effect !== '' && near.effect !== taint.effect)
      return ` (its toleration of that key is for ${near.effect ?? 'another effect'})`;
    return ` (its toleration of that key is for the value "${near.value ?? ''}")`;
  }
  return '';
}

function tolerate({ resource, spec }: PodTemplate, taints: readonly Taint[]): Edits {
  const tolerations: PlainValue[] = [];
  for (const { key, value, effect } of taints) {
    if (key === undefined || value === undefined || effect === undefined) return undefined;
    tolerations.push(
      value === '' ? { key, operator: 'Exists', effect } : { key, operator: 'Equal', value, effect },
    );
  }
  const { document } = resource.placed;
  const list = entryOf(spec, 'tolerations')?.value;
  if (!isSequence(list))
    return insertKey(document, spec, 'tolerations', tolerations, { before: 'containers' });
  const [first, ...others] = tolerations;
  // Items are added one behind the other at one place, where edits keep their order.
  if (first === undefined || (list.items.length === 0 && others.length > 0)) return undefined;
  const edits = tolerations.map((toleration) => appendItem(document, list, toleration));
  return edits.includes(undefined) ? undefined : edits.flatMap((part) => part ?? []);
}
