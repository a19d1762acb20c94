import { autoscalerOf } from '../../kube/autoscalers';
import { podTemplates, type PodTemplate } from '../../kube/pod-carriers';
import { fit } from '../../sizing/nodes/fit';
import { amountsOf } from '../../sizing/nodes/resources';
import type { Workspace } from '../../workspace/workspace';
import { entryOf, mapIn } from '../../yaml/node';
import { titleOf } from '../naming';
import { mayBePatched } from '../overlays';
import { defineRule, type Related } from '../rule';
import { isOfItsKind } from './meant-pools';
import { roomFor, tightest, type LimitedRoom } from './pool-room';
import { podOf, poolTitle, surroundingsOf, type Pool } from './surroundings';
import { amountWords, bareAmount, listWords, typeWords } from './words';

export default defineRule({
  id: 'hpa-exceeds-node-capacity',
  summary: 'The maximum of an autoscaler fits in the limits of the NodePools that run its pods',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['HorizontalPodAutoscaler', 'ScaledObject'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    if (resource.role === 'kustomize-patch') return;
    const maximum = autoscalerOf(resource)?.maxReplicas;
    const target = workspace.references(resource).target;
    if (maximum?.known !== true || maximum.node === undefined || target?.state !== 'found') return;
    for (const template of podTemplates(target.resource)) {
      const { replicas, pods } = template;
      const each = replicas.known && pods.known && replicas.value > 0 ? pods.value / replicas.value : 1;
      const wanted = maximum.value * each;
      const rooms = roomsOf(workspace, template);
      if (rooms === undefined) continue;
      const total = rooms.reduce((sum, { room }) => sum + room.pods, 0);
      if (total >= wanted || rooms.some(({ pool }) => mayBePatched(workspace, pool.resource, 'limits')))
        continue;
      const [first] = rooms;
      if (first === undefined) continue;
      const { room } = first;
      const limit =
        rooms.length === 1
          ? `${poolTitle(first.pool)} may have ${room.resource === 'nodes' ? `${room.limit} nodes` : amountWords(room.resource, room.limit)}`
          : `${listWords(rooms.map(({ pool }) => poolTitle(pool)))} together`;
      const size =
        rooms.length === 1
          ? `, of which one node with ${room.best.pods} pod${room.best.pods === 1 ? '' : 's'} (${typeWords(room.best.type)}) takes ${counted(room)}`
          : '';
      report({
        at: maximum.node,
        message: `${titleOf(resource)} goes up to ${maximum.value} replicas of ${titleOf(target.resource)}, and ${limit}${size}: there is room for ${total}, the others stay pending`,
        related: rooms.flatMap((one) => limitOf(one)),
      });
      return;
    }
  },
});

function counted({ resource, best }: LimitedRoom): string {
  return resource === 'nodes' ? '1' : bareAmount(resource, best.counts[resource] ?? 0);
}

interface PoolRoom {
  readonly pool: Pool;
  readonly room: LimitedRoom;
}

/** What each pool that can run the pods has room for; `undefined` when one has no limit, or that cannot be known. */
function roomsOf(workspace: Workspace, template: PodTemplate): readonly PoolRoom[] | undefined {
  const surroundings = surroundingsOf(workspace, template);
  if (surroundings.pools.length === 0) return undefined;
  const pod = podOf(workspace, template);
  const possible = fit(surroundings.unlimited, pod).pools.filter(({ verdict }) => verdict !== 'none');
  const rooms: PoolRoom[] = [];
  for (const answer of possible) {
    const pool = surroundings.poolOf(answer.pool);
    if (pool === undefined || pool.spec.kind === 'node-group' || pool.spec.incomplete === true)
      return undefined;
    // A pool without limits, or with one that is only known later, may take them all.
    const { amounts, unknown } = amountsOf(pool.spec.limits);
    if (pool.spec.replicas !== undefined || unknown.length > 0) return undefined;
    const types = roomFor(pod, surroundings, pool);
    const room = types === undefined ? undefined : tightest(types, amounts);
    if (room === undefined || !isOfItsKind(template, surroundings, pool)) return undefined;
    rooms.push({ pool, room });
  }
  return rooms.length === 0 ? undefined : rooms;
}

function limitOf({ pool, room }: PoolRoom): readonly Related[] {
  const limit = entryOf(mapIn(pool.resource.root, 'spec', 'limits'), room.resource);
  return limit === undefined
    ? []
    : [
        {
          resource: pool.resource,
          at: limit.value,
          message: `${poolTitle(pool)} has room for ${room.pods} of these pods`,
        },
      ];
}
