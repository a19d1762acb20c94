import type { Calculation, Working } from './metric-outcome';
import { maxInt64, minInt64, toInt32 } from './milli';
import type { Milli } from './milli';
import { countReady } from './pods';
import type { Pod } from './pods';
import { isWithin } from './tolerance';
import type { Tolerances } from './tolerance';

/**
 * One number for the whole target against `value`: Object and External metrics with a Value
 * (`getUsageRatioReplicaCount` of replica_calculator.go).
 *
 * The ratio is multiplied with the ready pods, not with the current replicas: while pods are starting, and as long
 * as the number does not fall, each sync proposes less than the same load would need.
 */
export function totalValueReplicas(
  currentReplicas: number,
  pods: readonly Pod[],
  total: Milli,
  target: Milli,
  tolerances: Tolerances,
): Calculation {
  const ratio = Number(total) / Number(target);
  const done = (replicas: number, parts: Pick<Working, 'form' | 'pods' | 'verdict'>): Calculation => ({
    ok: true,
    replicas,
    value: { kind: 'value', value: total },
    working: { ...parts, unit: 'milli', level: total, target, ratio, tolerances, assumed: undefined },
  });
  if (currentReplicas === 0)
    return done(toInt32(Math.ceil(ratio)), { form: 'ratio', pods: 0, verdict: 'scaled' });
  const ready = countReady(pods);
  if (isWithin(ratio, tolerances)) {
    return done(currentReplicas, { form: 'pods-times-ratio', pods: ready, verdict: 'within-tolerance' });
  }
  if (pods.length === 0) {
    return {
      ok: false,
      message: 'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    };
  }
  return done(toInt32(Math.ceil(ratio * ready)), {
    form: 'pods-times-ratio',
    pods: ready,
    verdict: 'scaled',
  });
}

/**
 * One number shared out over the pods against `averageValue`: Object and External metrics with an AverageValue
 * (`GetExternalPerPodMetricReplicas` of replica_calculator.go). This is what KEDA makes of most triggers.
 *
 * Within the tolerance it proposes `status.replicas`. They are fewer than `spec.replicas` while pods cannot be
 * created, so "nothing to do" can lower the count.
 */
export function totalPerPodReplicas(
  statusReplicas: number,
  total: Milli,
  target: Milli,
  tolerances: Tolerances,
): Calculation {
  const ratio = Number(total) / (Number(target) * statusReplicas);
  const within = isWithin(ratio, tolerances);
  return {
    ok: true,
    replicas: within ? statusReplicas : toInt32(Math.ceil(Number(total) / Number(target))),
    value: { kind: 'averageValue', averageValue: sharedOut(total, statusReplicas) },
    working: {
      form: 'total-over-target',
      unit: 'milli',
      level: total,
      target,
      pods: statusReplicas,
      ratio,
      tolerances,
      verdict: within ? 'within-tolerance' : 'scaled',
      assumed: undefined,
    },
  };
}

function sharedOut(total: Milli, replicas: number): Milli {
  if (total >= maxInt64) return maxInt64;
  const share = Math.ceil(Number(total) / replicas);
  return Number.isFinite(share) ? BigInt(share) : minInt64;
}

/**
 * The sum of the series that an External metric answered with; `undefined` for none, which is an error and not 0.
 *
 * It stops at the largest int64. Shared out over pods (AverageValue), a sum that falls below 0 on the way is taken
 * for such an overflow too, so a negative answer asks for as many replicas as there can be.
 */
export function sumOfSeries(values: readonly Milli[], sharedOutOverPods: boolean): Milli | undefined {
  if (values.length === 0) return undefined;
  let sum = 0n;
  for (const value of values) {
    sum += value;
    if (sum > maxInt64 || (sharedOutOverPods && sum < 0n)) return maxInt64;
  }
  return sum;
}
