import { metrics, type MetricFamily } from './metric';

/** Sources: `etc/default-counters.csv` and `etc/dcp-metrics-included.csv` of dcgm-exporter, and the field names of DCGM. */
export const dcgm: MetricFamily = {
  title: 'DCGM',
  prefix: /^DCGM_FI_/,
  completeness: 'open',
  metrics: [
    ...metrics(
      'gauge',
      `DCGM_FI_DEV_SM_CLOCK DCGM_FI_DEV_MEM_CLOCK DCGM_FI_DEV_PCIE_REPLAY_COUNTER DCGM_FI_DEV_XID_ERRORS
      DCGM_FI_DEV_VGPU_LICENSE_STATUS DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS
      DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS DCGM_FI_DEV_ROW_REMAP_FAILURE DCGM_FI_DEV_ROW_REMAP_PENDING
      DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL DCGM_FI_DEV_PCIE_TX_THROUGHPUT DCGM_FI_DEV_PCIE_RX_THROUGHPUT
      DCGM_FI_DEV_CLOCK_THROTTLE_REASONS DCGM_FI_DEV_CLOCKS_EVENT_REASONS DCGM_FI_DEV_PSTATE
      DCGM_FI_DEV_ECC_SBE_VOL_TOTAL DCGM_FI_DEV_ECC_DBE_VOL_TOTAL DCGM_FI_DEV_ECC_SBE_AGG_TOTAL
      DCGM_FI_DEV_ECC_DBE_AGG_TOTAL DCGM_FI_DEV_RETIRED_SBE DCGM_FI_DEV_RETIRED_DBE DCGM_FI_DEV_RETIRED_PENDING
      DCGM_FI_DEV_POWER_VIOLATION DCGM_FI_DEV_THERMAL_VIOLATION DCGM_FI_DEV_SYNC_BOOST_VIOLATION
      DCGM_FI_DEV_BOARD_LIMIT_VIOLATION DCGM_FI_DEV_LOW_UTIL_VIOLATION DCGM_FI_DEV_RELIABILITY_VIOLATION
      DCGM_FI_PROF_PCIE_TX_BYTES DCGM_FI_PROF_PCIE_RX_BYTES DCGM_FI_PROF_NVLINK_TX_BYTES
      DCGM_FI_PROF_NVLINK_RX_BYTES DCGM_FI_DEV_FAN_SPEED`,
    ),
    ...metrics(
      'gauge',
      'DCGM_FI_DEV_GPU_UTIL DCGM_FI_DEV_MEM_COPY_UTIL DCGM_FI_DEV_ENC_UTIL DCGM_FI_DEV_DEC_UTIL',
      'percent',
    ),
    // A share, whatever its name says.
    ...metrics('gauge', 'DCGM_FI_DEV_FB_USED_PERCENT', 'ratio'),
    ...metrics(
      'gauge',
      'DCGM_FI_DEV_FB_FREE DCGM_FI_DEV_FB_USED DCGM_FI_DEV_FB_RESERVED DCGM_FI_DEV_FB_TOTAL',
      'MiB',
    ),
    ...metrics('gauge', 'DCGM_FI_DEV_GPU_TEMP DCGM_FI_DEV_MEMORY_TEMP', 'celsius'),
    ...metrics(
      'gauge',
      'DCGM_FI_DEV_POWER_USAGE DCGM_FI_DEV_POWER_MGMT_LIMIT DCGM_FI_DEV_ENFORCED_POWER_LIMIT',
      'watts',
    ),
    ...metrics('counter', 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION'),
    ...metrics(
      'gauge',
      `DCGM_FI_PROF_GR_ENGINE_ACTIVE DCGM_FI_PROF_SM_ACTIVE DCGM_FI_PROF_SM_OCCUPANCY
      DCGM_FI_PROF_PIPE_TENSOR_ACTIVE DCGM_FI_PROF_DRAM_ACTIVE DCGM_FI_PROF_PIPE_FP64_ACTIVE
      DCGM_FI_PROF_PIPE_FP32_ACTIVE DCGM_FI_PROF_PIPE_FP16_ACTIVE`,
      'ratio',
    ),
  ],
  old: [],
};

/** Source: `plugins/processors/awsneuron/metric_names.go` of the CloudWatch agent, which reads the Neuron monitor. */
export const neuron: MetricFamily = {
  title: 'the Neuron monitor',
  prefix: /^(?:neuroncore|neuron|neurondevice)_/,
  completeness: 'open',
  metrics: [
    ...metrics('gauge', 'neuroncore_utilization_ratio neuron_runtime_vcpu_usage_ratio', 'ratio'),
    ...metrics(
      'gauge',
      `neuroncore_memory_usage_constants neuroncore_memory_usage_model_code
      neuroncore_memory_usage_model_shared_scratchpad neuroncore_memory_usage_runtime_memory
      neuroncore_memory_usage_tensors neuron_runtime_memory_used_bytes`,
      'bytes',
    ),
    ...metrics('gauge', 'neuron_hardware_info'),
  ],
  old: [],
};
