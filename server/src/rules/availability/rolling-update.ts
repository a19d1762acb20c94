import { isAbsent, type Resource } from '../../kube/resource';
import { entryOf, isNull, mapIn, scalarIn, type MapNode } from '../../yaml/node';
import type { Place } from '../rule';

export interface RollingUpdate {
  readonly surge: number;
  readonly unavailable: number;
  /** maxSurge is written. */
  readonly written: boolean;
  readonly at: Place | undefined;
}

/** How many pods an update adds and may miss; `undefined` when that is not known, or it starts anew. */
export function rollingUpdate(
  resource: Resource,
  spec: MapNode,
  replicas: number,
): RollingUpdate | undefined {
  const strategy = mapIn(spec, 'strategy');
  if (strategy === undefined) {
    if (!isAbsent(resource, spec, 'strategy')) return undefined;
    return {
      surge: amountFor(undefined, replicas, true) ?? 0,
      unavailable: amountFor(undefined, replicas, false) ?? 0,
      written: false,
      at: undefined,
    };
  }
  const type = scalarIn(strategy, 'type');
  if (
    strategy.open ||
    type?.unknown === true ||
    (type !== undefined && !isNull(type) && type.text !== 'RollingUpdate')
  )
    return undefined;
  const rolling = mapIn(strategy, 'rollingUpdate');
  if (rolling?.open === true) return undefined;
  const maxSurge = scalarIn(rolling, 'maxSurge');
  const surge = amountFor(maxSurge, replicas, true);
  const unavailable = amountFor(scalarIn(rolling, 'maxUnavailable'), replicas, false);
  if (surge === undefined || unavailable === undefined) return undefined;
  return {
    surge,
    unavailable,
    written: !isNull(maxSurge),
    at: isNull(maxSurge) ? (entryOf(strategy, 'rollingUpdate') ?? entryOf(spec, 'strategy')) : maxSurge,
  };
}

/** A number of pods or a share of them; a surge is rounded up, what may be missing down. */
function amountFor(node: ReturnType<typeof scalarIn>, replicas: number, up: boolean): number | undefined {
  if (node?.unknown === true) return undefined;
  const text = node === undefined || isNull(node) ? '25%' : node.text;
  const percent = /^(\d+)%$/.exec(text)?.[1];
  if (percent !== undefined) {
    const share = (Number(percent) * replicas) / 100;
    return up ? Math.ceil(share) : Math.floor(share);
  }
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
