// Written by `npm run gen`; do not edit.
import type { Rule } from './rule';
import affinityTermInvalid from './validity/affinity-term-invalid';
import apiVersionNotServed from './structure/api-version-not-served';
import autoscalerAtMaximum from './live/autoscaler-at-maximum';
import autoscalerTargetInvalid from './validity/autoscaler-target-invalid';
import cachePathNotMounted from './cold-start/cache-path-not-mounted';
import clusterAutoscalerLeftover from './placement/cluster-autoscaler-leftover';
import configKeyInvalid from './validity/config-key-invalid';
import containerInsightsWithoutGpu from './observability/container-insights-without-gpu';
import containerKeepsRestarting from './live/container-keeps-restarting';
import containerOomKilled from './live/container-oom-killed';
import contextExceedsKvCache from './model/context-exceeds-kv-cache';
import contextExceedsModel from './model/context-exceeds-model';
import cpuLimitEqualsRequest from './resources/cpu-limit-equals-request';
import cpuPodToleratesGpuTaint from './scheduling/cpu-pod-tolerates-gpu-taint';
import cpuThrottled from './live/cpu-throttled';
import dcgmExporterMemoryTooLow from './observability/dcgm-exporter-memory-too-low';
import dcgmExporterOffGpuNodes from './observability/dcgm-exporter-off-gpu-nodes';
import differsFromCluster from './live/differs-from-cluster';
import doNotDisruptMisplaced from './placement/do-not-disrupt-misplaced';
import dtypeUnsupportedOnGpu from './model/dtype-unsupported-on-gpu';
import duplicateEntry from './validity/duplicate-entry';
import envSourceInvalid from './validity/env-source-invalid';
import ephemeralStorageBelowWeights from './cold-start/ephemeral-storage-below-weights';
import extendedResourceNotInteger from './gpu/extended-resource-not-integer';
import fieldNotAllowed from './validity/field-not-allowed';
import gpuImageOnArm64 from './placement/gpu-image-on-arm64';
import gpuMemoryUtilizationExtreme from './model/gpu-memory-utilization-extreme';
import gpuNotRequested from './model/gpu-not-requested';
import gpuQuotaKeyInvalid from './observability/gpu-quota-key-invalid';
import gpuRequestDiffersFromLimit from './gpu/gpu-request-differs-from-limit';
import gpuRequestWithoutLimit from './gpu/gpu-request-without-limit';
import gpuSharingRequestAboveOne from './scheduling/gpu-sharing-request-above-one';
import gpuTaintNotTolerated from './scheduling/gpu-taint-not-tolerated';
import gpusHardlyUsed from './live/gpus-hardly-used';
import gpusLeftIdle from './model/gpus-left-idle';
import gracePeriodTooShort from './probes/grace-period-too-short';
import healthCheckLogsShipped from './observability/health-check-logs-shipped';
import hostMemoryPinnedByOffload from './model/host-memory-pinned-by-offload';
import hostRamBelowModel from './sizing/host-ram-below-model';
import hpaBehaviorOutOfRange from './validity/hpa-behavior-out-of-range';
import hpaCannotScale from './autoscaling/hpa-cannot-scale';
import hpaCpuForGpuWorkload from './autoscaling/hpa-cpu-for-gpu-workload';
import hpaExceedsNodeCapacity from './placement/hpa-exceeds-node-capacity';
import hpaMetricInvalid from './validity/hpa-metric-invalid';
import hpaMinAboveMax from './autoscaling/hpa-min-above-max';
import hpaMinReplicasOne from './autoscaling/hpa-min-replicas-one';
import hpaOnGpuUtilization from './autoscaling/hpa-on-gpu-utilization';
import hpaRemovedApiVersion from './autoscaling/hpa-removed-api-version';
import hpaResourceUnknown from './autoscaling/hpa-resource-unknown';
import hpaScaleDownUnbounded from './autoscaling/hpa-scale-down-unbounded';
import hpaScaleDownWindowTooShort from './autoscaling/hpa-scale-down-window-too-short';
import hpaScaleToZeroGated from './autoscaling/hpa-scale-to-zero-gated';
import hpaScaleUpDelayed from './autoscaling/hpa-scale-up-delayed';
import hpaTargetMissingRequest from './autoscaling/hpa-target-missing-request';
import hpaTargetNotFound from './autoscaling/hpa-target-not-found';
import hpaTargetNotScalable from './autoscaling/hpa-target-not-scalable';
import hpaTargetUtilizationExtreme from './autoscaling/hpa-target-utilization-extreme';
import imageNotPinned from './cold-start/image-not-pinned';
import immutableFieldInUpdate from './live/immutable-field-in-update';
import irsaRoleMalformed from './observability/irsa-role-malformed';
import kedaAverageDividedAgain from './keda/keda-average-divided-again';
import kedaCloudwatchWindow from './keda/keda-cloudwatch-window';
import kedaCooldownMisread from './keda/keda-cooldown-misread';
import kedaCpuTriggerScalesToZero from './keda/keda-cpu-trigger-scales-to-zero';
import kedaCpuTriggerWithoutRequest from './keda/keda-cpu-trigger-without-request';
import kedaHidesBrokenQuery from './keda/keda-hides-broken-query';
import kedaIdleNotBelowMin from './keda/keda-idle-not-below-min';
import kedaMinAboveMax from './keda/keda-min-above-max';
import kedaMissingFallback from './keda/keda-missing-fallback';
import kedaNeverWakesUp from './keda/keda-never-wakes-up';
import kedaQueryManySeries from './keda/keda-query-many-series';
import kedaTriggerInvalid from './keda/keda-trigger-invalid';
import kvCacheExhausted from './live/kv-cache-exhausted';
import livenessKillsDuringLoad from './probes/liveness-kills-during-load';
import logRetentionUnlimited from './observability/log-retention-unlimited';
import memoryLimitFarAboveRequest from './model/memory-limit-far-above-request';
import memoryRequestBelowModel from './model/memory-request-below-model';
import metricNotExported from './live/metric-not-exported';
import metricsNotScraped from './observability/metrics-not-scraped';
import migProfileMismatch from './placement/mig-profile-mismatch';
import migResourceUnderSingleStrategy from './scheduling/mig-resource-under-single-strategy';
import missingCostLabels from './observability/missing-cost-labels';
import missingCpuLimit from './resources/missing-cpu-limit';
import missingCpuRequest from './resources/missing-cpu-request';
import missingEfaForMultiNode from './placement/missing-efa-for-multi-node';
import missingField from './structure/missing-field';
import missingGpuNodeSelector from './placement/missing-gpu-node-selector';
import missingGpuQuota from './observability/missing-gpu-quota';
import missingGpuToleration from './scheduling/missing-gpu-toleration';
import missingLivenessProbe from './probes/missing-liveness-probe';
import missingMemoryLimit from './resources/missing-memory-limit';
import missingMemoryRequest from './resources/missing-memory-request';
import missingPdb from './availability/missing-pdb';
import missingReadinessProbe from './probes/missing-readiness-probe';
import missingSharedMemory from './sizing/missing-shared-memory';
import missingTopologySpread from './availability/missing-topology-spread';
import modelDownloadedAtStart from './cold-start/model-downloaded-at-start';
import nameInvalid from './validity/name-invalid';
import neuronCoresMismatch from './placement/neuron-cores-mismatch';
import neuronResourceUnknown from './placement/neuron-resource-unknown';
import noInstanceTypeFits from './placement/no-instance-type-fits';
import nodeclassAmiLatest from './karpenter/nodeclass-ami-latest';
import nodeclassInvalid from './validity/nodeclass-invalid';
import nodeclassMaxPodsTooLow from './karpenter/nodeclass-max-pods-too-low';
import nodeclassRootVolumeTooSmall from './karpenter/nodeclass-root-volume-too-small';
import nodepoolArchOpen from './karpenter/nodepool-arch-open';
import nodepoolDisruptsGpu from './karpenter/nodepool-disrupts-gpu';
import nodepoolExpiresTooSoon from './karpenter/nodepool-expires-too-soon';
import nodepoolFractionalOrForeignGpu from './karpenter/nodepool-fractional-or-foreign-gpu';
import nodepoolGpuUntainted from './karpenter/nodepool-gpu-untainted';
import nodepoolInvalid from './validity/nodepool-invalid';
import nodepoolLimitBlocksSecondNode from './karpenter/nodepool-limit-blocks-second-node';
import nodepoolLimitsWithoutAccelerator from './karpenter/nodepool-limits-without-accelerator';
import nodepoolMatchesNoInstance from './karpenter/nodepool-matches-no-instance';
import nodepoolMissingBudgets from './karpenter/nodepool-missing-budgets';
import nodepoolMissingLimits from './karpenter/nodepool-missing-limits';
import nodepoolNeverConsolidates from './karpenter/nodepool-never-consolidates';
import nodepoolNoSpot from './karpenter/nodepool-no-spot';
import nodepoolOutdatedField from './karpenter/nodepool-outdated-field';
import nodepoolSingleInstanceType from './karpenter/nodepool-single-instance-type';
import nodepoolSingleZone from './karpenter/nodepool-single-zone';
import nodepoolSpotOnly from './karpenter/nodepool-spot-only';
import numberOutOfRange from './validity/number-out-of-range';
import observabilityOnGpuNodes from './placement/observability-on-gpu-nodes';
import outdatedMetricName from './metrics/outdated-metric-name';
import outdatedNodeLabel from './placement/outdated-node-label';
import pdbBelowTwo from './availability/pdb-below-two';
import pdbBlocksDrain from './availability/pdb-blocks-drain';
import pdbBothBounds from './validity/pdb-both-bounds';
import pdbSelectsNothing from './availability/pdb-selects-nothing';
import pdbsOverlap from './availability/pdbs-overlap';
import podsWithoutNode from './live/pods-without-node';
import portOutOfRange from './validity/port-out-of-range';
import prestopLongerThanGrace from './validity/prestop-longer-than-grace';
import probeInvalid from './validity/probe-invalid';
import probePortNotServed from './probes/probe-port-not-served';
import probePortUnknown from './probes/probe-port-unknown';
import probesIdentical from './probes/probes-identical';
import progressDeadlineTooShort from './probes/progress-deadline-too-short';
import prometheusRuleThresholdUnit from './metrics/prometheus-rule-threshold-unit';
import promqlSyntax from './keda/promql-syntax';
import quantityOutOfRange from './validity/quantity-out-of-range';
import rayActorTakesEngineGpu from './model/ray-actor-takes-engine-gpu';
import replicasWithAutoscaler from './autoscaling/replicas-with-autoscaler';
import requestAboveLimit from './resources/request-above-limit';
import requestFarFromUse from './live/request-far-from-use';
import requiredValueMissing from './validity/required-value-missing';
import resourceNameUnknown from './validity/resource-name-unknown';
import restartPolicyInvalid from './validity/restart-policy-invalid';
import rollingUpdateNeedsSpareGpu from './placement/rolling-update-needs-spare-gpu';
import scheduleInvalid from './validity/schedule-invalid';
import schedulerPicksLargerNode from './placement/scheduler-picks-larger-node';
import securityContextInvalid from './validity/security-context-invalid';
import selectorDiffersFromLabels from './validity/selector-differs-from-labels';
import selectorInvalid from './validity/selector-invalid';
import serviceNameBreaksEngine from './model/service-name-breaks-engine';
import servicemonitorNotSelected from './observability/servicemonitor-not-selected';
import sharedMemoryAboveLimit from './sizing/shared-memory-above-limit';
import singleReplica from './availability/single-replica';
import startupBudgetTooShort from './probes/startup-budget-too-short';
import storageClaimInvalid from './validity/storage-claim-invalid';
import strategyContradiction from './validity/strategy-contradiction';
import suspiciousQuantity from './resources/suspicious-quantity';
import tensorParallelExceedsGpus from './model/tensor-parallel-exceeds-gpus';
import tensorParallelNotDivisible from './model/tensor-parallel-not-divisible';
import tolerationInvalid from './validity/toleration-invalid';
import topologySpreadSelectsNothing from './availability/topology-spread-selects-nothing';
import traceSamplingEverything from './observability/trace-sampling-everything';
import twoAutoscalers from './autoscaling/two-autoscalers';
import unboundedMemoryVolume from './model/unbounded-memory-volume';
import unknownField from './structure/unknown-field';
import unknownMetricName from './metrics/unknown-metric-name';
import unknownNodeLabel from './placement/unknown-node-label';
import validationRuleFailed from './structure/validation-rule-failed';
import valueMalformed from './structure/value-malformed';
import valueNotAllowed from './structure/value-not-allowed';
import valueOutOfRange from './structure/value-out-of-range';
import valueUnsupported from './validity/value-unsupported';
import volumeMountUnknown from './validity/volume-mount-unknown';
import volumeNotShareable from './availability/volume-not-shareable';
import volumeSourceInvalid from './validity/volume-source-invalid';
import vpaConflictsWithHpa from './autoscaling/vpa-conflicts-with-hpa';
import weightsExceedVram from './model/weights-exceed-vram';
import wrongType from './structure/wrong-type';

/** Every rule, sorted by id. */
export const rules: readonly Rule[] = [
  affinityTermInvalid,
  apiVersionNotServed,
  autoscalerAtMaximum,
  autoscalerTargetInvalid,
  cachePathNotMounted,
  clusterAutoscalerLeftover,
  configKeyInvalid,
  containerInsightsWithoutGpu,
  containerKeepsRestarting,
  containerOomKilled,
  contextExceedsKvCache,
  contextExceedsModel,
  cpuLimitEqualsRequest,
  cpuPodToleratesGpuTaint,
  cpuThrottled,
  dcgmExporterMemoryTooLow,
  dcgmExporterOffGpuNodes,
  differsFromCluster,
  doNotDisruptMisplaced,
  dtypeUnsupportedOnGpu,
  duplicateEntry,
  envSourceInvalid,
  ephemeralStorageBelowWeights,
  extendedResourceNotInteger,
  fieldNotAllowed,
  gpuImageOnArm64,
  gpuMemoryUtilizationExtreme,
  gpuNotRequested,
  gpuQuotaKeyInvalid,
  gpuRequestDiffersFromLimit,
  gpuRequestWithoutLimit,
  gpuSharingRequestAboveOne,
  gpuTaintNotTolerated,
  gpusHardlyUsed,
  gpusLeftIdle,
  gracePeriodTooShort,
  healthCheckLogsShipped,
  hostMemoryPinnedByOffload,
  hostRamBelowModel,
  hpaBehaviorOutOfRange,
  hpaCannotScale,
  hpaCpuForGpuWorkload,
  hpaExceedsNodeCapacity,
  hpaMetricInvalid,
  hpaMinAboveMax,
  hpaMinReplicasOne,
  hpaOnGpuUtilization,
  hpaRemovedApiVersion,
  hpaResourceUnknown,
  hpaScaleDownUnbounded,
  hpaScaleDownWindowTooShort,
  hpaScaleToZeroGated,
  hpaScaleUpDelayed,
  hpaTargetMissingRequest,
  hpaTargetNotFound,
  hpaTargetNotScalable,
  hpaTargetUtilizationExtreme,
  imageNotPinned,
  immutableFieldInUpdate,
  irsaRoleMalformed,
  kedaAverageDividedAgain,
  kedaCloudwatchWindow,
  kedaCooldownMisread,
  kedaCpuTriggerScalesToZero,
  kedaCpuTriggerWithoutRequest,
  kedaHidesBrokenQuery,
  kedaIdleNotBelowMin,
  kedaMinAboveMax,
  kedaMissingFallback,
  kedaNeverWakesUp,
  kedaQueryManySeries,
  kedaTriggerInvalid,
  kvCacheExhausted,
  livenessKillsDuringLoad,
  logRetentionUnlimited,
  memoryLimitFarAboveRequest,
  memoryRequestBelowModel,
  metricNotExported,
  metricsNotScraped,
  migProfileMismatch,
  migResourceUnderSingleStrategy,
  missingCostLabels,
  missingCpuLimit,
  missingCpuRequest,
  missingEfaForMultiNode,
  missingField,
  missingGpuNodeSelector,
  missingGpuQuota,
  missingGpuToleration,
  missingLivenessProbe,
  missingMemoryLimit,
  missingMemoryRequest,
  missingPdb,
  missingReadinessProbe,
  missingSharedMemory,
  missingTopologySpread,
  modelDownloadedAtStart,
  nameInvalid,
  neuronCoresMismatch,
  neuronResourceUnknown,
  noInstanceTypeFits,
  nodeclassAmiLatest,
  nodeclassInvalid,
  nodeclassMaxPodsTooLow,
  nodeclassRootVolumeTooSmall,
  nodepoolArchOpen,
  nodepoolDisruptsGpu,
  nodepoolExpiresTooSoon,
  nodepoolFractionalOrForeignGpu,
  nodepoolGpuUntainted,
  nodepoolInvalid,
  nodepoolLimitBlocksSecondNode,
  nodepoolLimitsWithoutAccelerator,
  nodepoolMatchesNoInstance,
  nodepoolMissingBudgets,
  nodepoolMissingLimits,
  nodepoolNeverConsolidates,
  nodepoolNoSpot,
  nodepoolOutdatedField,
  nodepoolSingleInstanceType,
  nodepoolSingleZone,
  nodepoolSpotOnly,
  numberOutOfRange,
  observabilityOnGpuNodes,
  outdatedMetricName,
  outdatedNodeLabel,
  pdbBelowTwo,
  pdbBlocksDrain,
  pdbBothBounds,
  pdbSelectsNothing,
  pdbsOverlap,
  podsWithoutNode,
  portOutOfRange,
  prestopLongerThanGrace,
  probeInvalid,
  probePortNotServed,
  probePortUnknown,
  probesIdentical,
  progressDeadlineTooShort,
  prometheusRuleThresholdUnit,
  promqlSyntax,
  quantityOutOfRange,
  rayActorTakesEngineGpu,
  replicasWithAutoscaler,
  requestAboveLimit,
  requestFarFromUse,
  requiredValueMissing,
  resourceNameUnknown,
  restartPolicyInvalid,
  rollingUpdateNeedsSpareGpu,
  scheduleInvalid,
  schedulerPicksLargerNode,
  securityContextInvalid,
  selectorDiffersFromLabels,
  selectorInvalid,
  serviceNameBreaksEngine,
  servicemonitorNotSelected,
  sharedMemoryAboveLimit,
  singleReplica,
  startupBudgetTooShort,
  storageClaimInvalid,
  strategyContradiction,
  suspiciousQuantity,
  tensorParallelExceedsGpus,
  tensorParallelNotDivisible,
  tolerationInvalid,
  topologySpreadSelectsNothing,
  traceSamplingEverything,
  twoAutoscalers,
  unboundedMemoryVolume,
  unknownField,
  unknownMetricName,
  unknownNodeLabel,
  validationRuleFailed,
  valueMalformed,
  valueNotAllowed,
  valueOutOfRange,
  valueUnsupported,
  volumeMountUnknown,
  volumeNotShareable,
  volumeSourceInvalid,
  vpaConflictsWithHpa,
  weightsExceedVram,
  wrongType,
];

/** The folder of each rule, by id. */
export const ruleAreas: Readonly<Record<string, string>> = {
  'affinity-term-invalid': 'validity',
  'api-version-not-served': 'structure',
  'autoscaler-at-maximum': 'live',
  'autoscaler-target-invalid': 'validity',
  'cache-path-not-mounted': 'cold-start',
  'cluster-autoscaler-leftover': 'placement',
  'config-key-invalid': 'validity',
  'container-insights-without-gpu': 'observability',
  'container-keeps-restarting': 'live',
  'container-oom-killed': 'live',
  'context-exceeds-kv-cache': 'model',
  'context-exceeds-model': 'model',
  'cpu-limit-equals-request': 'resources',
  'cpu-pod-tolerates-gpu-taint': 'scheduling',
  'cpu-throttled': 'live',
  'dcgm-exporter-memory-too-low': 'observability',
  'dcgm-exporter-off-gpu-nodes': 'observability',
  'differs-from-cluster': 'live',
  'do-not-disrupt-misplaced': 'placement',
  'dtype-unsupported-on-gpu': 'model',
  'duplicate-entry': 'validity',
  'env-source-invalid': 'validity',
  'ephemeral-storage-below-weights': 'cold-start',
  'extended-resource-not-integer': 'gpu',
  'field-not-allowed': 'validity',
  'gpu-image-on-arm64': 'placement',
  'gpu-memory-utilization-extreme': 'model',
  'gpu-not-requested': 'model',
  'gpu-quota-key-invalid': 'observability',
  'gpu-request-differs-from-limit': 'gpu',
  'gpu-request-without-limit': 'gpu',
  'gpu-sharing-request-above-one': 'scheduling',
  'gpu-taint-not-tolerated': 'scheduling',
  'gpus-hardly-used': 'live',
  'gpus-left-idle': 'model',
  'grace-period-too-short': 'probes',
  'health-check-logs-shipped': 'observability',
  'host-memory-pinned-by-offload': 'model',
  'host-ram-below-model': 'sizing',
  'hpa-behavior-out-of-range': 'validity',
  'hpa-cannot-scale': 'autoscaling',
  'hpa-cpu-for-gpu-workload': 'autoscaling',
  'hpa-exceeds-node-capacity': 'placement',
  'hpa-metric-invalid': 'validity',
  'hpa-min-above-max': 'autoscaling',
  'hpa-min-replicas-one': 'autoscaling',
  'hpa-on-gpu-utilization': 'autoscaling',
  'hpa-removed-api-version': 'autoscaling',
  'hpa-resource-unknown': 'autoscaling',
  'hpa-scale-down-unbounded': 'autoscaling',
  'hpa-scale-down-window-too-short': 'autoscaling',
  'hpa-scale-to-zero-gated': 'autoscaling',
  'hpa-scale-up-delayed': 'autoscaling',
  'hpa-target-missing-request': 'autoscaling',
  'hpa-target-not-found': 'autoscaling',
  'hpa-target-not-scalable': 'autoscaling',
  'hpa-target-utilization-extreme': 'autoscaling',
  'image-not-pinned': 'cold-start',
  'immutable-field-in-update': 'live',
  'irsa-role-malformed': 'observability',
  'keda-average-divided-again': 'keda',
  'keda-cloudwatch-window': 'keda',
  'keda-cooldown-misread': 'keda',
  'keda-cpu-trigger-scales-to-zero': 'keda',
  'keda-cpu-trigger-without-request': 'keda',
  'keda-hides-broken-query': 'keda',
  'keda-idle-not-below-min': 'keda',
  'keda-min-above-max': 'keda',
  'keda-missing-fallback': 'keda',
  'keda-never-wakes-up': 'keda',
  'keda-query-many-series': 'keda',
  'keda-trigger-invalid': 'keda',
  'kv-cache-exhausted': 'live',
  'liveness-kills-during-load': 'probes',
  'log-retention-unlimited': 'observability',
  'memory-limit-far-above-request': 'model',
  'memory-request-below-model': 'model',
  'metric-not-exported': 'live',
  'metrics-not-scraped': 'observability',
  'mig-profile-mismatch': 'placement',
  'mig-resource-under-single-strategy': 'scheduling',
  'missing-cost-labels': 'observability',
  'missing-cpu-limit': 'resources',
  'missing-cpu-request': 'resources',
  'missing-efa-for-multi-node': 'placement',
  'missing-field': 'structure',
  'missing-gpu-node-selector': 'placement',
  'missing-gpu-quota': 'observability',
  'missing-gpu-toleration': 'scheduling',
  'missing-liveness-probe': 'probes',
  'missing-memory-limit': 'resources',
  'missing-memory-request': 'resources',
  'missing-pdb': 'availability',
  'missing-readiness-probe': 'probes',
  'missing-shared-memory': 'sizing',
  'missing-topology-spread': 'availability',
  'model-downloaded-at-start': 'cold-start',
  'name-invalid': 'validity',
  'neuron-cores-mismatch': 'placement',
  'neuron-resource-unknown': 'placement',
  'no-instance-type-fits': 'placement',
  'nodeclass-ami-latest': 'karpenter',
  'nodeclass-invalid': 'validity',
  'nodeclass-max-pods-too-low': 'karpenter',
  'nodeclass-root-volume-too-small': 'karpenter',
  'nodepool-arch-open': 'karpenter',
  'nodepool-disrupts-gpu': 'karpenter',
  'nodepool-expires-too-soon': 'karpenter',
  'nodepool-fractional-or-foreign-gpu': 'karpenter',
  'nodepool-gpu-untainted': 'karpenter',
  'nodepool-invalid': 'validity',
  'nodepool-limit-blocks-second-node': 'karpenter',
  'nodepool-limits-without-accelerator': 'karpenter',
  'nodepool-matches-no-instance': 'karpenter',
  'nodepool-missing-budgets': 'karpenter',
  'nodepool-missing-limits': 'karpenter',
  'nodepool-never-consolidates': 'karpenter',
  'nodepool-no-spot': 'karpenter',
  'nodepool-outdated-field': 'karpenter',
  'nodepool-single-instance-type': 'karpenter',
  'nodepool-single-zone': 'karpenter',
  'nodepool-spot-only': 'karpenter',
  'number-out-of-range': 'validity',
  'observability-on-gpu-nodes': 'placement',
  'outdated-metric-name': 'metrics',
  'outdated-node-label': 'placement',
  'pdb-below-two': 'availability',
  'pdb-blocks-drain': 'availability',
  'pdb-both-bounds': 'validity',
  'pdb-selects-nothing': 'availability',
  'pdbs-overlap': 'availability',
  'pods-without-node': 'live',
  'port-out-of-range': 'validity',
  'prestop-longer-than-grace': 'validity',
  'probe-invalid': 'validity',
  'probe-port-not-served': 'probes',
  'probe-port-unknown': 'probes',
  'probes-identical': 'probes',
  'progress-deadline-too-short': 'probes',
  'prometheus-rule-threshold-unit': 'metrics',
  'promql-syntax': 'keda',
  'quantity-out-of-range': 'validity',
  'ray-actor-takes-engine-gpu': 'model',
  'replicas-with-autoscaler': 'autoscaling',
  'request-above-limit': 'resources',
  'request-far-from-use': 'live',
  'required-value-missing': 'validity',
  'resource-name-unknown': 'validity',
  'restart-policy-invalid': 'validity',
  'rolling-update-needs-spare-gpu': 'placement',
  'schedule-invalid': 'validity',
  'scheduler-picks-larger-node': 'placement',
  'security-context-invalid': 'validity',
  'selector-differs-from-labels': 'validity',
  'selector-invalid': 'validity',
  'service-name-breaks-engine': 'model',
  'servicemonitor-not-selected': 'observability',
  'shared-memory-above-limit': 'sizing',
  'single-replica': 'availability',
  'startup-budget-too-short': 'probes',
  'storage-claim-invalid': 'validity',
  'strategy-contradiction': 'validity',
  'suspicious-quantity': 'resources',
  'tensor-parallel-exceeds-gpus': 'model',
  'tensor-parallel-not-divisible': 'model',
  'toleration-invalid': 'validity',
  'topology-spread-selects-nothing': 'availability',
  'trace-sampling-everything': 'observability',
  'two-autoscalers': 'autoscaling',
  'unbounded-memory-volume': 'model',
  'unknown-field': 'structure',
  'unknown-metric-name': 'metrics',
  'unknown-node-label': 'placement',
  'validation-rule-failed': 'structure',
  'value-malformed': 'structure',
  'value-not-allowed': 'structure',
  'value-out-of-range': 'structure',
  'value-unsupported': 'validity',
  'volume-mount-unknown': 'validity',
  'volume-not-shareable': 'availability',
  'volume-source-invalid': 'validity',
  'vpa-conflicts-with-hpa': 'autoscaling',
  'weights-exceed-vram': 'model',
  'wrong-type': 'structure',
};
