import { fit, nodeFigures } from '../../sizing/nodes/fit';
import { findInstanceType, type InstanceType } from '../../sizing/nodes/instances';
import type { PodSpec } from '../../sizing/nodes/pod';
import { podRequests, type ResourceList } from '../../sizing/nodes/resources';
import type { Pool, Surroundings } from './surroundings';

/** What one node of a type takes of the limits of its pool, and how many pods it holds. */
export interface NodeRoom {
  readonly type: InstanceType;
  /** The least that the node counts for, in the units of the fit. */
  readonly counts: ResourceList;
  readonly pods: number;
}

/**
 * For each type on which a pod can run in a pool, what a node of it counts for and how many such pods it holds, limits
 * aside; `undefined` when types that are not in the catalogue may do as well, or the pod asks for what is not known.
 */
export function roomFor(
  pod: PodSpec,
  surroundings: Surroundings,
  pool: Pool,
): readonly NodeRoom[] | undefined {
  const answer = fit(surroundings.unlimited, pod).pools.find((one) => surroundings.poolOf(one.pool) === pool);
  const { amounts, unknown } = podRequests(pod.resources);
  if (answer === undefined || unknown.length > 0 || pod.incomplete === true) return undefined;
  const names = new Set([...answer.candidates.map(({ type }) => type.name), ...answer.possible]);
  const rooms: NodeRoom[] = [];
  for (const name of names) {
    const type = findInstanceType(name);
    const figures = nodeFigures(surroundings.unlimited, answer.pool, name);
    if (type === undefined || figures === undefined) return undefined;
    let pods = Infinity;
    for (const [resource, asked] of Object.entries({ ...amounts, pods: 1 })) {
      if (asked > 0) pods = Math.min(pods, Math.floor((figures.gives[resource] ?? 0) / asked));
    }
    rooms.push({ type, counts: figures.counts, pods: Math.max(1, pods) });
  }
  return rooms;
}

/** A limit of a pool, and how many pods it leaves room for. */
export interface LimitedRoom {
  readonly resource: string;
  readonly limit: number;
  /** The most pods over any mix of types. */
  readonly pods: number;
  /** The type of which that many pods take the least, with the nodes of it that the limit admits. */
  readonly best: NodeRoom;
  readonly nodes: number;
}

/**
 * The limit that leaves room for the fewest pods. Of each node a pod takes at least the share that the type with the
 * most pods for its size has, so that no mix of types holds more.
 */
export function tightest(rooms: readonly NodeRoom[], limits: ResourceList): LimitedRoom | undefined {
  let found: LimitedRoom | undefined;
  for (const [resource, limit] of Object.entries(limits)) {
    let best: { readonly room: NodeRoom; readonly share: number } | undefined;
    for (const room of rooms) {
      const share = (resource === 'nodes' ? 1 : (room.counts[resource] ?? 0)) / room.pods;
      if (best === undefined || share < best.share) best = { room, share };
    }
    if (best === undefined || best.share <= 0) continue;
    const pods = Math.floor(limit / best.share);
    const counts = resource === 'nodes' ? 1 : (best.room.counts[resource] ?? 0);
    if (found === undefined || pods < found.pods) {
      found = { resource, limit, pods, best: best.room, nodes: Math.floor(limit / counts) };
    }
  }
  return found;
}
