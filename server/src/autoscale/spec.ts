import type { Milli } from './milli';

/** `Utilization` compares a percentage of the request, the other two an amount. */
export type MetricTarget =
  | { readonly type: 'Utilization'; readonly averageUtilization: number }
  | { readonly type: 'AverageValue'; readonly averageValue: Milli }
  | { readonly type: 'Value'; readonly value: Milli };

export type AverageValueTarget = Extract<MetricTarget, { type: 'AverageValue' }>;
export type ResourceTarget = Extract<MetricTarget, { type: 'Utilization' | 'AverageValue' }>;
export type AmountTarget = Extract<MetricTarget, { type: 'Value' | 'AverageValue' }>;

/** One entry of `spec.metrics` of an HPA (autoscaling/v2), read and checked. */
export type MetricSpec =
  | { readonly type: 'Resource'; readonly resource: string; readonly target: ResourceTarget }
  | {
      readonly type: 'ContainerResource';
      readonly resource: string;
      readonly container: string;
      readonly target: ResourceTarget;
    }
  | { readonly type: 'Pods'; readonly metric: string; readonly target: AverageValueTarget }
  | {
      readonly type: 'Object';
      readonly metric: string;
      /** `Service/router`, for messages. */
      readonly object: string;
      readonly target: AmountTarget;
    }
  | { readonly type: 'External'; readonly metric: string; readonly target: AmountTarget };

export interface ScalingPolicy {
  readonly type: 'Pods' | 'Percent';
  readonly value: number;
  readonly periodSeconds: number;
}

export type SelectPolicy = 'Max' | 'Min' | 'Disabled';

/** `behavior.scaleUp` or `behavior.scaleDown`, with every default filled in. */
export interface ScalingRules {
  /** `undefined` only for scaleDown: the controller's own flag holds (300 s). */
  readonly stabilizationWindowSeconds: number | undefined;
  readonly selectPolicy: SelectPolicy;
  readonly policies: readonly ScalingPolicy[];
  /** A share of the target, 0.1 = 10 %. `undefined`: the controller's flag holds. */
  readonly tolerance: number | undefined;
}

export interface Behavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

/** The spec of an HPA after the API server's defaulting, without its target. */
export interface HpaSpec {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Never empty. */
  readonly metrics: readonly MetricSpec[];
  /** Not the same as the defaults: without it the controller takes an older path with limits of its own. */
  readonly behavior: Behavior | undefined;
}

/** How people name the metric: `cpu`, `cpu of container vllm`, `s0-prometheus`, `qps of Service/router`. */
export function nameOf(metric: MetricSpec): string {
  switch (metric.type) {
    case 'Resource':
      return metric.resource;
    case 'ContainerResource':
      return `${metric.resource} of container ${metric.container}`;
    case 'Object':
      return `${metric.metric} of ${metric.object}`;
    case 'Pods':
    case 'External':
      return metric.metric;
  }
}
