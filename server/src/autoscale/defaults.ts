import type { Behavior, MetricSpec, ScalingRules } from './spec';

/*
 * What the API server fills in (kubernetes/kubernetes pkg/apis/autoscaling/v2/defaults.go). A `behavior` that is
 * absent stays absent; once it is there, both directions are filled.
 */

export const defaultMinReplicas = 1;

export const defaultMetrics: readonly MetricSpec[] = [
  { type: 'Resource', resource: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
];

export const defaultScaleUp: ScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
  tolerance: undefined,
};

export const defaultScaleDown: ScalingRules = {
  stabilizationWindowSeconds: undefined,
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  tolerance: undefined,
};

/** Rules with any part left out; a list of policies replaces the default list as a whole. */
export type PartialRules = { readonly [K in keyof ScalingRules]?: ScalingRules[K] | undefined };

export function fillBehavior(
  scaleUp: PartialRules | undefined,
  scaleDown: PartialRules | undefined,
): Behavior {
  return { scaleUp: fill(scaleUp, defaultScaleUp), scaleDown: fill(scaleDown, defaultScaleDown) };
}

function fill(given: PartialRules | undefined, defaults: ScalingRules): ScalingRules {
  return {
    stabilizationWindowSeconds: given?.stabilizationWindowSeconds ?? defaults.stabilizationWindowSeconds,
    selectPolicy: given?.selectPolicy ?? defaults.selectPolicy,
    policies: given?.policies ?? defaults.policies,
    tolerance: given?.tolerance,
  };
}
