import type { Instant } from './controller';
import { toInt32 } from './milli';
import { changedWithin } from './scale-events';
import type { ScaleEvents } from './scale-events';
import type { ScalingPolicy, ScalingRules } from './spec';

/** What one policy allows now. */
export interface PolicyLimit {
  readonly policy: ScalingPolicy;
  /** Replicas at the start of the period, as far as the remembered events tell. */
  readonly start: number;
  readonly added: number;
  readonly removed: number;
  /** The count up to which (scaling up) or down to which (scaling down) the policy lets go. */
  readonly limit: number;
}

export interface RateLimit {
  readonly direction: 'up' | 'down';
  /** Not yet compared with the current count, the minimum or the maximum. */
  readonly limit: number;
  /** `selectPolicy: Disabled`: the direction is frozen at the current count. */
  readonly disabled: boolean;
  readonly policies: readonly PolicyLimit[];
  /** The policy that selectPolicy picked; the first where several give the same. */
  readonly decisive: PolicyLimit | undefined;
}

/** How far the scale-up rules let it go: `calculateScaleUpLimitWithScalingRules` of horizontal.go. */
export function scaleUpLimit(
  current: number,
  rules: ScalingRules,
  events: ScaleEvents,
  now: Instant,
): RateLimit {
  return select('up', current, rules, events, now, ({ type, value }, start) =>
    // Rounded up, or a small count could never grow. Plain doubles: 25 + 120 % gives 56.
    type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100)),
  );
}

/** How far the scale-down rules let it go: `calculateScaleDownLimitWithBehaviors` of horizontal.go. */
export function scaleDownLimit(
  current: number,
  rules: ScalingRules,
  events: ScaleEvents,
  now: Instant,
): RateLimit {
  return select('down', current, rules, events, now, ({ type, value }, start) =>
    // Cut towards zero. Plain doubles: 60 - 80 % gives 11.
    type === 'Pods' ? start - value : start * (1 - value / 100),
  );
}

function select(
  direction: RateLimit['direction'],
  current: number,
  rules: ScalingRules,
  events: ScaleEvents,
  now: Instant,
  allowed: (policy: ScalingPolicy, start: number) => number,
): RateLimit {
  if (rules.selectPolicy === 'Disabled') {
    return { direction, limit: current, disabled: true, policies: [], decisive: undefined };
  }
  const policies = rules.policies.map((policy) => {
    const added = changedWithin(events.up, policy.periodSeconds, now);
    const removed = changedWithin(events.down, policy.periodSeconds, now);
    const start = direction === 'up' ? current - added + removed : current + removed - added;
    return { policy, start, added, removed, limit: toInt32(allowed(policy, start)) };
  });
  // Max and Min are about the size of the change: scaling down, the biggest change is the lowest count.
  const highest = (rules.selectPolicy === 'Max') === (direction === 'up');
  let decisive: PolicyLimit | undefined;
  for (const one of policies) {
    if (decisive === undefined || (highest ? one.limit > decisive.limit : one.limit < decisive.limit))
      decisive = one;
  }
  return { direction, limit: decisive?.limit ?? current, disabled: false, policies, decisive };
}
