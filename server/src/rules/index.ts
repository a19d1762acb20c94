// Written by `npm run gen`; do not edit.
import type { Rule } from './rule';
import cpuPodToleratesGpuTaint from './scheduling/cpu-pod-tolerates-gpu-taint';
import extendedResourceNotInteger from './gpu/extended-resource-not-integer';
import gpuRequestDiffersFromLimit from './gpu/gpu-request-differs-from-limit';
import gpuRequestWithoutLimit from './gpu/gpu-request-without-limit';
import gpuTaintNotTolerated from './scheduling/gpu-taint-not-tolerated';
import gracePeriodTooShort from './probes/grace-period-too-short';
import hpaCpuForGpuWorkload from './autoscaling/hpa-cpu-for-gpu-workload';
import hpaMinAboveMax from './autoscaling/hpa-min-above-max';
import hpaRemovedApiVersion from './autoscaling/hpa-removed-api-version';
import hpaScaleDownUnbounded from './autoscaling/hpa-scale-down-unbounded';
import hpaScaleDownWindowTooShort from './autoscaling/hpa-scale-down-window-too-short';
import hpaTargetMissingRequest from './autoscaling/hpa-target-missing-request';
import missingGpuToleration from './scheduling/missing-gpu-toleration';
import missingPdb from './availability/missing-pdb';
import missingReadinessProbe from './probes/missing-readiness-probe';
import missingTopologySpread from './availability/missing-topology-spread';
import nodepoolDisruptsGpu from './karpenter/nodepool-disrupts-gpu';
import nodepoolGpuUntainted from './karpenter/nodepool-gpu-untainted';
import nodepoolMissingLimits from './karpenter/nodepool-missing-limits';
import nodepoolOutdatedField from './karpenter/nodepool-outdated-field';
import nodepoolSpotOnly from './karpenter/nodepool-spot-only';
import pdbBlocksDrain from './availability/pdb-blocks-drain';
import probePortUnknown from './probes/probe-port-unknown';
import probesIdentical from './probes/probes-identical';
import replicasWithAutoscaler from './autoscaling/replicas-with-autoscaler';
import requestAboveLimit from './resources/request-above-limit';
import suspiciousQuantity from './resources/suspicious-quantity';
import topologySpreadSelectsNothing from './availability/topology-spread-selects-nothing';
import twoAutoscalers from './autoscaling/two-autoscalers';

/** Every rule, sorted by id. */
export const rules: readonly Rule[] = [
  cpuPodToleratesGpuTaint,
  extendedResourceNotInteger,
  gpuRequestDiffersFromLimit,
  gpuRequestWithoutLimit,
  gpuTaintNotTolerated,
  gracePeriodTooShort,
  hpaCpuForGpuWorkload,
  hpaMinAboveMax,
  hpaRemovedApiVersion,
  hpaScaleDownUnbounded,
  hpaScaleDownWindowTooShort,
  hpaTargetMissingRequest,
  missingGpuToleration,
  missingPdb,
  missingReadinessProbe,
  missingTopologySpread,
  nodepoolDisruptsGpu,
  nodepoolGpuUntainted,
  nodepoolMissingLimits,
  nodepoolOutdatedField,
  nodepoolSpotOnly,
  pdbBlocksDrain,
  probePortUnknown,
  probesIdentical,
  replicasWithAutoscaler,
  requestAboveLimit,
  suspiciousQuantity,
  topologySpreadSelectsNothing,
  twoAutoscalers,
];

/** The folder of each rule, by id. */
export const ruleAreas: Readonly<Record<string, string>> = {
  'cpu-pod-tolerates-gpu-taint': 'scheduling',
  'extended-resource-not-integer': 'gpu',
  'gpu-request-differs-from-limit': 'gpu',
  'gpu-request-without-limit': 'gpu',
  'gpu-taint-not-tolerated': 'scheduling',
  'grace-period-too-short': 'probes',
  'hpa-cpu-for-gpu-workload': 'autoscaling',
  'hpa-min-above-max': 'autoscaling',
  'hpa-removed-api-version': 'autoscaling',
  'hpa-scale-down-unbounded': 'autoscaling',
  'hpa-scale-down-window-too-short': 'autoscaling',
  'hpa-target-missing-request': 'autoscaling',
  'missing-gpu-toleration': 'scheduling',
  'missing-pdb': 'availability',
  'missing-readiness-probe': 'probes',
  'missing-topology-spread': 'availability',
  'nodepool-disrupts-gpu': 'karpenter',
  'nodepool-gpu-untainted': 'karpenter',
  'nodepool-missing-limits': 'karpenter',
  'nodepool-outdated-field': 'karpenter',
  'nodepool-spot-only': 'karpenter',
  'pdb-blocks-drain': 'availability',
  'probe-port-unknown': 'probes',
  'probes-identical': 'probes',
  'replicas-with-autoscaler': 'autoscaling',
  'request-above-limit': 'resources',
  'suspicious-quantity': 'resources',
  'topology-spread-selects-nothing': 'availability',
  'two-autoscalers': 'autoscaling',
};
