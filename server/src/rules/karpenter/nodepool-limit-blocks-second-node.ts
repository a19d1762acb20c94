import { readAmounts } from '../../kube/containers';
import type { PodTemplate } from '../../kube/pod-carriers';
import { amountsOf } from '../../sizing/nodes/resources';
import { entryOf, isNull, mapIn, type Entry } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { isOfItsKind } from '../placement/meant-pools';
import { tightest, roomFor } from '../placement/pool-room';
import { mostPods, tenantsOf, type MostPods, type Tenant } from '../placement/tenants';
import { amountWords, typeWords } from '../placement/words';
import type { Pool } from '../placement/surroundings';
import { poolOf } from '../placement/surroundings';
import { defineRule, type Related } from '../rule';

export default defineRule({
  id: 'nodepool-limit-blocks-second-node',
  summary: 'The limits of a NodePool admit the nodes that its workloads need',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['NodePool'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.group !== 'karpenter.sh' || resource.role === 'kustomize-patch') return;
    const entries = limitEntries(poolOf(workspace, resource));
    if (entries.size === 0) return;
    const limits = amountsOf(
      Object.fromEntries(
        [...entries].map(([name, { value }]) => [name, value.kind === 'scalar' ? value.text : undefined]),
      ),
    ).amounts;
    const pool = poolOf(workspace, resource);
    /** By limit, the workload that it holds back most. */
    const found = new Map<
      string,
      { readonly text: string; readonly related: Related; readonly short: number }
    >();
    for (const tenant of tenantsOf(workspace, resource)) {
      // Pods without accelerators beside a pool of GPUs will have another pool.
      if (!tenant.sole || !(tenant.named || isOfItsKind(tenant.template, tenant.surroundings, pool)))
        continue;
      const most = mostPods(workspace, tenant.template);
      const rooms = roomFor(tenant.pod, tenant.surroundings, pool);
      const room = rooms === undefined ? undefined : tightest(rooms, limits);
      if (most === undefined || room === undefined || room.pods >= most.value) continue;
      const { best, limit, nodes, pods } = room;
      const each = room.resource === 'nodes' ? 1 : (best.counts[room.resource] ?? 0);
      const admits = nodes === 0 ? 'no node' : `${nodes} node${nodes === 1 ? '' : 's'}`;
      const text =
        `NodePool "${resource.name ?? ''}" may have ${room.resource === 'nodes' ? `${limit} nodes` : amountWords(room.resource, limit)}, and the smallest node for ${titleOf(tenant.template.resource)}, ${typeWords(best.type)}, ` +
        `counts ${room.resource === 'nodes' ? '1 node' : amountWords(room.resource, each)}: that is ${admits} with ${pods} pod${pods === 1 ? '' : 's'}, and ${wants(tenant.template, most)}; the others stay pending`;
      const before = found.get(room.resource);
      if (before === undefined || before.short < most.value - pods) {
        found.set(room.resource, { text, related: relatedTo(tenant, most), short: most.value - pods });
      }
    }
    for (const [name, { text, related }] of found) {
      const entry = entries.get(name);
      if (entry === undefined || mayBePatched(workspace, resource, 'limits')) continue;
      report({ at: entry.value, message: text, related: [related] });
    }
  },
});

/** The limits that are known; a pool that is static, or whose limits a template makes, has none here. */
function limitEntries({ resource }: Pool): ReadonlyMap<string, Entry> {
  const spec = mapIn(resource.root, 'spec');
  const limits = mapIn(spec, 'limits');
  if (limits === undefined || !isNull(entryOf(spec, 'replicas')?.value)) return new Map();
  return new Map(
    readAmounts(limits)
      .filter(({ state }) => state === 'known')
      .map(({ name, entry }) => [name, entry]),
  );
}

function wants({ resource }: PodTemplate, { value, autoscaler }: MostPods): string {
  return autoscaler === undefined
    ? `it wants ${value}`
    : `${titleOf(autoscaler)} goes up to ${value} of ${titleOf(resource)}`;
}

function relatedTo({ template }: Tenant, { autoscaler, node, value }: MostPods): Related {
  const resource = autoscaler ?? template.resource;
  return {
    resource,
    at: node ?? entryOf(mapIn(resource.root, 'metadata'), 'name')?.value ?? resource.root,
    message: `${titleOf(resource)} asks for ${value} pod${value === 1 ? '' : 's'}`,
  };
}
