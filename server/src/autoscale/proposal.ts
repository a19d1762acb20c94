import type { MetricOutcome } from './metric-outcome';

/** What the metrics together ask for. */
export type Proposal =
  | {
      readonly ok: true;
      /** The largest proposal, at least 0. */
      readonly replicas: number;
      /** The metric that made it. */
      readonly by: MetricOutcome & { readonly kind: 'proposed' };
      /** Metrics that failed although the sync went on. */
      readonly failures: readonly (MetricOutcome & { readonly kind: 'failed' })[];
    }
  | {
      readonly ok: false;
      /** Not empty; the first one names the condition. */
      readonly failures: readonly (MetricOutcome & { readonly kind: 'failed' })[];
      /** What the working metrics ask for, had the sync not ended: it is below the current count. */
      readonly withheld: number | undefined;
    };

/**
 * The maximum over the metrics (`computeReplicasForMetrics` of horizontal.go). When one of them failed, the others
 * may scale up or confirm the count, but not scale down: the failed one might have asked for more.
 */
export function combineProposals(outcomes: readonly MetricOutcome[], currentReplicas: number): Proposal {
  const failures = outcomes.filter((outcome) => outcome.kind === 'failed');
  let by: (MetricOutcome & { readonly kind: 'proposed' }) | undefined;
  for (const outcome of outcomes) {
    if (outcome.kind !== 'proposed') continue;
    // A later metric displaces a proposal of exactly 0, even with a negative one.
    if (by === undefined || by.replicas === 0 || outcome.replicas > by.replicas) by = outcome;
  }
  if (by === undefined) return { ok: false, failures, withheld: undefined };
  if (failures.length > 0 && by.replicas < currentReplicas)
    return { ok: false, failures, withheld: by.replicas };
  return { ok: true, replicas: Math.max(0, by.replicas), by, failures };
}
