// Written by `npm run gen`; do not edit.
import type { Rule } from './rule';
import hpaCpuForGpuWorkload from './autoscaling/hpa-cpu-for-gpu-workload';
import hpaMinAboveMax from './autoscaling/hpa-min-above-max';
import hpaRemovedApiVersion from './autoscaling/hpa-removed-api-version';
import hpaScaleDownUnbounded from './autoscaling/hpa-scale-down-unbounded';
import hpaScaleDownWindowTooShort from './autoscaling/hpa-scale-down-window-too-short';
import hpaTargetMissingRequest from './autoscaling/hpa-target-missing-request';
import nodepoolDisruptsGpu from './karpenter/nodepool-disrupts-gpu';
import nodepoolGpuUntainted from './karpenter/nodepool-gpu-untainted';
import nodepoolMissingLimits from './karpenter/nodepool-missing-limits';
import nodepoolOutdatedField from './karpenter/nodepool-outdated-field';
import nodepoolSpotOnly from './karpenter/nodepool-spot-only';
import replicasWithAutoscaler from './autoscaling/replicas-with-autoscaler';
import requestAboveLimit from './resources/request-above-limit';
import twoAutoscalers from './autoscaling/two-autoscalers';

/** Every rule, sorted by id. */
export const rules: readonly Rule[] = [
  hpaCpuForGpuWorkload,
  hpaMinAboveMax,
  hpaRemovedApiVersion,
  hpaScaleDownUnbounded,
  hpaScaleDownWindowTooShort,
  hpaTargetMissingRequest,
  nodepoolDisruptsGpu,
  nodepoolGpuUntainted,
  nodepoolMissingLimits,
  nodepoolOutdatedField,
  nodepoolSpotOnly,
  replicasWithAutoscaler,
  requestAboveLimit,
  twoAutoscalers,
];

/** The folder of each rule, by id. */
export const ruleAreas: Readonly<Record<string, string>> = {
  'hpa-cpu-for-gpu-workload': 'autoscaling',
  'hpa-min-above-max': 'autoscaling',
  'hpa-removed-api-version': 'autoscaling',
  'hpa-scale-down-unbounded': 'autoscaling',
  'hpa-scale-down-window-too-short': 'autoscaling',
  'hpa-target-missing-request': 'autoscaling',
  'nodepool-disrupts-gpu': 'karpenter',
  'nodepool-gpu-untainted': 'karpenter',
  'nodepool-missing-limits': 'karpenter',
  'nodepool-outdated-field': 'karpenter',
  'nodepool-spot-only': 'karpenter',
  'replicas-with-autoscaler': 'autoscaling',
  'request-above-limit': 'resources',
  'two-autoscalers': 'autoscaling',
};
