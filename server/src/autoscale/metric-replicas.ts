import { averageValueReplicas } from './average-value';
import type { ControllerOptions, Instant } from './controller';
import type { Calculation, FailureReason, MetricOutcome } from './metric-outcome';
import type { Pod } from './pods';
import type { MetricReading } from './reading';
import { nameOf } from './spec';
import type { MetricSpec } from './spec';
import type { Tolerances } from './tolerance';
import { sumOfSeries, totalPerPodReplicas, totalValueReplicas } from './total-value';
import { utilizationReplicas } from './utilization';

/** The target and its pods as one sync sees them. */
export interface ObservedTarget {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** Every pod that the target's selector matches, whoever owns it. */
  readonly pods: readonly Pod[];
}

const failureReasons: Readonly<Record<MetricSpec['type'], FailureReason>> = {
  Resource: 'FailedGetResourceMetric',
  ContainerResource: 'FailedGetContainerResourceMetric',
  Pods: 'FailedGetPodsMetric',
  Object: 'FailedGetObjectMetric',
  External: 'FailedGetExternalMetric',
};

/** What one metric of the HPA proposes, by the type of metric and of target. */
export function metricReplicas(
  metric: MetricSpec,
  reading: MetricReading,
  target: ObservedTarget,
  tolerances: Tolerances,
  now: Instant,
  controller: ControllerOptions,
): MetricOutcome {
  const calculation = calculate(metric, reading, target, tolerances, now, controller);
  return calculation.ok
    ? {
        kind: 'proposed',
        metric,
        replicas: calculation.replicas,
        working: calculation.working,
        value: calculation.value,
      }
    : { kind: 'failed', metric, reason: failureReasons[metric.type], message: calculation.message };
}

function calculate(
  metric: MetricSpec,
  reading: MetricReading,
  target: ObservedTarget,
  tolerances: Tolerances,
  now: Instant,
  controller: ControllerOptions,
): Calculation {
  if (reading.kind === 'error') return failed(metric, reading.message);
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource':
    case 'Pods': {
      if (reading.kind !== 'pods') return failed(metric, `got a reading of kind ${reading.kind}`);
      if (reading.samples.size === 0) {
        return failed(
          metric,
          `no metrics returned from ${metric.type === 'Pods' ? 'custom' : 'resource'} metrics API`,
        );
      }
      const input = {
        currentReplicas: target.specReplicas,
        pods: target.pods,
        samples: reading.samples,
        tolerances,
        now,
        controller,
      };
      if (metric.type === 'Pods') return averageValueReplicas(input, '', metric.target.averageValue);
      const container = metric.type === 'ContainerResource' ? metric.container : undefined;
      return metric.target.type === 'Utilization'
        ? utilizationReplicas(input, metric.resource, container, metric.target.averageUtilization)
        : averageValueReplicas(input, metric.resource, metric.target.averageValue);
    }
    case 'Object':
    case 'External': {
      const sharedOut = metric.target.type === 'AverageValue';
      const total =
        reading.kind === 'object'
          ? reading.value
          : reading.kind === 'series'
            ? sumOfSeries(reading.values, sharedOut)
            : undefined;
      if (total === undefined) {
        return failed(
          metric,
          `no metrics returned from ${metric.type === 'External' ? 'external' : 'custom'} metrics API`,
        );
      }
      return metric.target.type === 'AverageValue'
        ? totalPerPodReplicas(target.statusReplicas, total, metric.target.averageValue, tolerances)
        : totalValueReplicas(target.specReplicas, target.pods, total, metric.target.value, tolerances);
    }
  }
}

function failed(metric: MetricSpec, message: string): Calculation {
  const what =
    metric.type === 'Resource' || metric.type === 'ContainerResource'
      ? `metrics for resource ${metric.resource}`
      : metric.type === 'External'
        ? `external metric ${nameOf(metric)}`
        : `metric ${nameOf(metric)}`;
  return { ok: false, message: `unable to get ${what}: ${message}` };
}
