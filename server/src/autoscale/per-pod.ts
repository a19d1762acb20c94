import type { ControllerOptions, Instant } from './controller';
import type { AssumedSamples, Calculation, MetricValue, Working } from './metric-outcome';
import { toInt32 } from './milli';
import type { Milli } from './milli';
import { groupPods } from './pods';
import type { Pod, Sample } from './pods';
import { isWithin } from './tolerance';
import type { Tolerances } from './tolerance';

/** What a metric with one sample per pod is computed from. */
export interface PerPodInput {
  /** `spec.replicas` of the target. */
  readonly currentReplicas: number;
  /** Every pod that the target's selector matches, whoever owns it. */
  readonly pods: readonly Pod[];
  /** By pod name. Samples of pods that are not listed stay in, as they do in the controller. */
  readonly samples: ReadonlyMap<string, Sample>;
  readonly tolerances: Tolerances;
  readonly now: Instant;
  readonly controller: ControllerOptions;
}

/** How samples become a level that can be compared with the target: the part in which such metrics differ. */
export interface PerPodMeasure {
  /** Readiness counts for `cpu` only; empty for custom metrics. */
  readonly resource: string;
  readonly unit: Working['unit'];
  readonly target: bigint;
  /** The level over some pods. Called again after missing and unready pods were filled in. */
  level(values: ReadonlyMap<string, Milli>): Level;
  /** What a pod without a sample is taken to use when scaling down. */
  assumeMissing(pod: string): Milli;
  readonly missingAs: 'the whole request' | 'the target';
}

export type Level =
  | { readonly ok: true; readonly level: bigint; readonly value: MetricValue }
  | { readonly ok: false; readonly message: string };

/**
 * The replicas for a metric with one sample per pod
 * (`GetResourceReplicas` and `calcPlainMetricReplicas` of replica_calculator.go).
 *
 * `prepare` is called once pods with samples are known to be left, which is where the controller looks at requests:
 * it decides which of two errors is the one reported.
 */
export function perPodReplicas(
  input: PerPodInput,
  resource: string,
  prepare: () =>
    { readonly ok: true; readonly measure: PerPodMeasure } | { readonly ok: false; readonly message: string },
): Calculation {
  const { currentReplicas, pods, samples, tolerances } = input;
  if (pods.length === 0)
    return { ok: false, message: 'no pods returned by selector while calculating replica count' };
  const groups = groupPods(pods, samples, resource, input.now, input.controller);
  const dropped = new Set([...groups.unready, ...groups.ignored]);
  const values = new Map<string, Milli>();
  for (const [pod, { value }] of samples) if (!dropped.has(pod)) values.set(pod, value);
  if (values.size === 0) {
    return { ok: false, message: 'did not receive metrics for targeted pods (pods might be unready)' };
  }
  const prepared = prepare();
  if (!prepared.ok) return prepared;
  const { measure } = prepared;
  const first = measure.level(values);
  if (!first.ok) return first;
  const target = Number(measure.target);
  const firstRatio = Number(first.level) / target;

  const done = (
    replicas: number,
    verdict: Working['verdict'],
    { level, count, assumed }: { level: bigint; count: number; assumed?: AssumedSamples },
  ): Calculation => ({
    ok: true,
    replicas,
    value: first.value,
    working: {
      form: 'pods-times-ratio',
      unit: measure.unit,
      level,
      target: measure.target,
      pods: count,
      ratio: Number(level) / target,
      tolerances,
      verdict,
      assumed,
    },
  });

  const scaleUpWithUnready = groups.unready.length > 0 && firstRatio > 1;
  if (!scaleUpWithUnready && groups.missing.length === 0) {
    const plain = { level: first.level, count: groups.ready };
    return isWithin(firstRatio, tolerances)
      ? done(currentReplicas, 'within-tolerance', plain)
      : done(toInt32(Math.ceil(firstRatio * groups.ready)), 'scaled', plain);
  }

  // Scaling down, pods without a sample are taken to be busy, scaling up to be idle: both hold the count back.
  if (firstRatio < 1) for (const pod of groups.missing) values.set(pod, measure.assumeMissing(pod));
  if (firstRatio > 1) for (const pod of groups.missing) values.set(pod, 0n);
  if (scaleUpWithUnready) for (const pod of groups.unready) values.set(pod, 0n);
  const second = measure.level(values);
  if (!second.ok) return second;
  const ratio = Number(second.level) / target;
  const filled = {
    level: second.level,
    count: values.size,
    assumed: {
      missing: groups.missing.length,
      missingAs: firstRatio < 1 ? measure.missingAs : firstRatio > 1 ? ('nothing' as const) : undefined,
      unready: scaleUpWithUnready ? groups.unready.length : 0,
      levelBefore: first.level,
    },
  };
  if (isWithin(ratio, tolerances)) return done(currentReplicas, 'within-tolerance', filled);
  if ((firstRatio < 1 && ratio > 1) || (firstRatio > 1 && ratio < 1)) {
    return done(currentReplicas, 'direction-would-flip', filled);
  }
  const replicas = toInt32(Math.ceil(ratio * values.size));
  if ((ratio < 1 && replicas > currentReplicas) || (ratio > 1 && replicas < currentReplicas)) {
    return done(currentReplicas, 'against-direction', filled);
  }
  return done(replicas, 'scaled', filled);
}
