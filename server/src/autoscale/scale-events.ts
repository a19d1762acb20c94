import type { Instant } from './controller';
import type { ScalingPolicy } from './spec';

/** A change that the HPA itself made, remembered for its rate limits. Edits by others leave no event. */
export interface ScaleEvent {
  readonly at: Instant;
  /** How many replicas were added or removed; positive. */
  readonly change: number;
}

/** The events of each direction, in the order in which the controller keeps them. */
export interface ScaleEvents {
  readonly up: readonly ScaleEvent[];
  readonly down: readonly ScaleEvent[];
}

export const noScaleEvents: ScaleEvents = { up: [], down: [] };

/** Replicas changed in the last `periodSeconds`; an event exactly that old no longer counts. */
export function changedWithin(events: readonly ScaleEvent[], periodSeconds: number, now: Instant): number {
  return events.reduce((sum, { at, change }) => (at > now - periodSeconds * 1000 ? sum + change : sum), 0);
}

/**
 * Remembers a change (`storeScaleEvent` of horizontal.go).
 *
 * It displaces the last event of its own direction that is older than the longest period of that direction's
 * policies. The other direction may have longer periods and would still have needed it, so where the periods
 * differ the limits see less than the whole history. The controller does it so, and this does too.
 */
export function storeScaleEvent(
  events: readonly ScaleEvent[],
  policies: readonly ScalingPolicy[],
  event: ScaleEvent,
): readonly ScaleEvent[] {
  const longest = Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds));
  const outdated = events.findLastIndex(({ at }) => at < event.at - longest * 1000);
  return outdated < 0 ? [...events, event] : events.with(outdated, event);
}
