import type { Instant } from './controller';

/** What one sync computed from the metrics, before stabilisation and limits. */
export interface Recommendation {
  readonly at: Instant;
  readonly replicas: number;
}

export interface Stabilization {
  readonly replicas: number;
  /** The memory with this sync's own recommendation in it. */
  readonly recommendations: readonly Recommendation[];
  /** The remembered recommendation that holds the count, the youngest where several do. */
  readonly heldBy: Recommendation | undefined;
  /** Over how many milliseconds it is remembered. */
  readonly window: number | undefined;
}

/**
 * Without `behavior`: the highest recommendation of the window (`stabilizeRecommendation` of horizontal.go). A
 * recommendation exactly as old as the window still counts.
 */
export function stabilizeDown(
  recommendations: readonly Recommendation[],
  proposal: number,
  window: number,
  now: Instant,
): Stabilization {
  let replicas = proposal;
  let outdated = -1;
  recommendations.forEach((recommendation, index) => {
    if (recommendation.at < now - window) outdated = index;
    else replicas = Math.max(replicas, recommendation.replicas);
  });
  const heldBy =
    replicas === proposal
      ? undefined
      : youngest(recommendations, (one) => one.at >= now - window && one.replicas === replicas);
  return {
    replicas,
    recommendations: remember(recommendations, outdated, { at: now, replicas: proposal }),
    heldBy,
    window: heldBy && window,
  };
}

/**
 * With `behavior`: not below the highest recommendation of the scale-down window, not above the lowest of the
 * scale-up window, and between the two as near to the current count as can be
 * (`stabilizeRecommendationWithBehaviors` of horizontal.go). Younger than the window, strictly.
 */
export function stabilizeBothWays(
  recommendations: readonly Recommendation[],
  current: number,
  proposal: number,
  windows: { readonly up: number; readonly down: number },
  now: Instant,
): Stabilization {
  let up = proposal;
  let down = proposal;
  let outdated = -1;
  recommendations.forEach(({ at, replicas }, index) => {
    if (at > now - windows.up) up = Math.min(up, replicas);
    if (at > now - windows.down) down = Math.max(down, replicas);
    if (at < now - windows.up && at < now - windows.down) outdated = index;
  });
  const replicas = Math.min(Math.max(current, up), down);
  const heldDown = proposal > replicas;
  const window = heldDown ? windows.up : windows.down;
  // The count stays where it is for as long as one such recommendation is remembered.
  const heldBy =
    replicas === proposal
      ? undefined
      : youngest(
          recommendations,
          (one) => one.at > now - window && (heldDown ? one.replicas <= replicas : one.replicas >= replicas),
        );
  return {
    replicas,
    recommendations: remember(recommendations, outdated, { at: now, replicas: proposal }),
    heldBy,
    window: heldBy && window,
  };
}

function youngest(
  recommendations: readonly Recommendation[],
  matches: (one: Recommendation) => boolean,
): Recommendation | undefined {
  return recommendations
    .filter(matches)
    .reduce<Recommendation | undefined>(
      (best, one) => (best === undefined || one.at >= best.at ? one : best),
      undefined,
    );
}

/** A new recommendation takes the place of the last outdated one, so that the memory does not grow for ever. */
function remember(
  recommendations: readonly Recommendation[],
  outdated: number,
  recommendation: Recommendation,
): readonly Recommendation[] {
  return outdated < 0 ? [...recommendations, recommendation] : recommendations.with(outdated, recommendation);
}
