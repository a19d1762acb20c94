import type { Instant } from './controller';
import { scaleDownLimit, scaleUpLimit } from './rate-limit';
import type { RateLimit } from './rate-limit';
import type { ScaleEvents } from './scale-events';
import type { Behavior } from './spec';

/** Reasons of the condition ScalingLimited. */
export type LimitReason =
  'DesiredWithinRange' | 'ScaleUpLimit' | 'TooManyReplicas' | 'ScaleDownLimit' | 'TooFewReplicas';

export interface Bounded {
  readonly replicas: number;
  readonly reason: LimitReason;
  /** The rate limit that was asked, whether or not it was the one that held. */
  readonly rate: RateLimit | undefined;
  /** Without `behavior`: at most this many in one sync. */
  readonly perSync: number | undefined;
}

export interface Bounds {
  readonly current: number;
  /** The stabilised number. */
  readonly desired: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/**
 * Without `behavior`: at most twice the current count, but 4 at least, in one sync and without any period; then the
 * maximum and the minimum (`convertDesiredReplicasWithRules` of horizontal.go).
 */
export function boundWithoutBehavior({ current, desired, minReplicas, maxReplicas }: Bounds): Bounded {
  const perSync = Math.max(2 * current, 4);
  const highest = Math.min(maxReplicas, perSync);
  if (desired < minReplicas)
    return { replicas: minReplicas, reason: 'TooFewReplicas', rate: undefined, perSync };
  if (desired > highest) {
    const reason = maxReplicas > perSync ? 'ScaleUpLimit' : 'TooManyReplicas';
    return { replicas: highest, reason, rate: undefined, perSync };
  }
  return { replicas: desired, reason: 'DesiredWithinRange', rate: undefined, perSync };
}

/**
 * With `behavior`: the rate limit of the direction in which the stabilised number lies, then the maximum or the
 * minimum (`convertDesiredReplicasWithBehaviorRate` of horizontal.go). A limit never turns the direction round.
 */
export function boundWithBehavior(
  bounds: Bounds,
  behavior: Behavior,
  events: ScaleEvents,
  now: Instant,
): Bounded {
  const { current, desired, minReplicas, maxReplicas } = bounds;
  const free: Bounded = {
    replicas: desired,
    reason: 'DesiredWithinRange',
    rate: undefined,
    perSync: undefined,
  };
  if (desired > current) {
    const rate = scaleUpLimit(current, behavior.scaleUp, events, now);
    const allowed = Math.max(current, rate.limit);
    const highest = Math.min(maxReplicas, allowed);
    if (desired <= highest) return { ...free, rate };
    return {
      ...free,
      rate,
      replicas: highest,
      reason: maxReplicas > allowed ? 'ScaleUpLimit' : 'TooManyReplicas',
    };
  }
  if (desired < current) {
    const rate = scaleDownLimit(current, behavior.scaleDown, events, now);
    const allowed = Math.min(current, rate.limit);
    const lowest = Math.max(minReplicas, allowed);
    if (desired >= lowest) return { ...free, rate };
    return {
      ...free,
      rate,
      replicas: lowest,
      reason: minReplicas < allowed ? 'ScaleDownLimit' : 'TooFewReplicas',
    };
  }
  return free;
}
