/**
 * What the CloudWatch agent publishes in the namespace `ContainerInsights` with enhanced observability, and by which sets
 * of dimensions: other sets have no data. Source: aws/amazon-cloudwatch-agent,
 * `translator/tocwconfig/sampleConfig/emf_and_kubernetes_with_gpu_config.yaml` of August 2026. `PodName` is the name of
 * the workload there, `FullPodName` that of the pod.
 */
const published: readonly {
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
}[] = [
  {
    dimensions: [
      'ClusterName',
      'ClusterName ContainerName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace PodName',
    ],
    metrics: words(`
      container_cpu_utilization
      container_cpu_utilization_over_container_limit
      container_cpu_limit
      container_cpu_request
      container_memory_utilization
      container_memory_utilization_over_container_limit
      container_memory_failures_total
      container_memory_limit
      container_memory_request
      container_filesystem_usage
      container_filesystem_available
      container_filesystem_utilization
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace',
      'ClusterName Namespace PodName',
      'ClusterName Namespace Service',
      'ClusterName FullPodName Namespace PodName',
    ],
    metrics: words(`
      pod_cpu_utilization
      pod_memory_utilization
      pod_network_rx_bytes
      pod_network_tx_bytes
      pod_cpu_utilization_over_pod_limit
      pod_memory_utilization_over_pod_limit
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace',
      'ClusterName Namespace PodName',
      'ClusterName FullPodName Namespace PodName',
    ],
    metrics: words(`
      pod_interface_network_rx_dropped
      pod_interface_network_tx_dropped
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace PodName',
      'ClusterName Namespace Service',
      'ClusterName FullPodName Namespace PodName',
    ],
    metrics: words(`
      pod_cpu_reserved_capacity
      pod_memory_reserved_capacity
      pod_number_of_container_restarts
      pod_number_of_containers
      pod_number_of_running_containers
      pod_status_ready
      pod_status_scheduled
      pod_status_running
      pod_status_pending
      pod_status_failed
      pod_status_unknown
      pod_status_succeeded
      pod_memory_request
      pod_memory_limit
      pod_cpu_limit
      pod_cpu_request
      pod_cpu_usage_total
      pod_memory_working_set
      pod_container_status_running
      pod_container_status_terminated
      pod_container_status_waiting
      pod_container_status_waiting_reason_crash_loop_back_off
      pod_container_status_waiting_reason_image_pull_error
      pod_container_status_waiting_reason_start_error
      pod_container_status_waiting_reason_create_container_error
      pod_container_status_waiting_reason_create_container_config_error
      pod_container_status_terminated_reason_oom_killed
      pod_gpu_request
      pod_gpu_limit
      pod_gpu_usage_total
      pod_gpu_reserved_capacity
      pod_neuroncore_request
      pod_neuroncore_limit
      pod_neuroncore_usage_total
      pod_neuroncore_reserved_capacity
      pod_efa_request
      pod_efa_limit
      pod_efa_usage_total
      pod_efa_reserved_capacity
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName InstanceId NodeName'],
    metrics: words(`
      node_cpu_utilization
      node_memory_utilization
      node_network_total_bytes
      node_cpu_reserved_capacity
      node_memory_reserved_capacity
      node_number_of_running_pods
      node_number_of_running_containers
      node_cpu_usage_total
      node_cpu_limit
      node_memory_working_set
      node_memory_limit
      node_status_condition_ready
      node_status_condition_disk_pressure
      node_status_condition_memory_pressure
      node_status_condition_pid_pressure
      node_status_condition_network_unavailable
      node_status_condition_unknown
      node_status_capacity_pods
      node_status_allocatable_pods
      node_gpu_limit
      node_gpu_usage_total
      node_gpu_reserved_capacity
      node_gpu_unreserved_capacity
      node_gpu_available_capacity
      node_neuroncore_limit
      node_neuroncore_usage_total
      node_neuroncore_reserved_capacity
      node_neuroncore_unreserved_capacity
      node_neuroncore_available_capacity
      node_efa_limit
      node_efa_usage_total
      node_efa_reserved_capacity
      node_efa_unreserved_capacity
      node_efa_available_capacity
      node_interface_network_rx_dropped
      node_interface_network_tx_dropped
      node_diskio_io_service_bytes_total
      node_diskio_io_serviced_total
      hyperpod_node_health_status_schedulable
      hyperpod_node_health_status_unschedulable_pending_replacement
      hyperpod_node_health_status_unschedulable_pending_reboot
      hyperpod_node_health_status_unschedulable
      node_filesystem_utilization
      node_filesystem_inodes
      node_filesystem_inodes_free
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName Namespace Service'],
    metrics: words(`
      service_number_of_running_pods
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName Namespace PodName'],
    metrics: words(`
      replicas_desired
      replicas_ready
      status_replicas_available
      status_replicas_unavailable
      daemonset_status_number_available
      daemonset_status_number_unavailable
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName Namespace'],
    metrics: words(`
      namespace_number_of_running_pods
      namespace_ingress_count
    `),
  },
  {
    dimensions: ['ClusterName'],
    metrics: words(`
      cluster_node_count
      cluster_failed_node_count
      cluster_number_of_running_pods
      persistent_volume_count
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName endpoint'],
    metrics: words(`
      apiserver_storage_size_bytes
      apiserver_storage_db_total_size_in_bytes
      etcd_db_total_size_in_bytes
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName resource'],
    metrics: words(`
      apiserver_storage_list_duration_seconds
      apiserver_longrunning_requests
      apiserver_storage_objects
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName verb'],
    metrics: words(`
      apiserver_request_duration_seconds
      rest_client_request_duration_seconds
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName code verb'],
    metrics: words(`
      apiserver_request_total
      apiserver_request_total_5xx
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName operation'],
    metrics: words(`
      apiserver_admission_controller_admission_duration_seconds
      apiserver_admission_step_admission_duration_seconds
      etcd_request_duration_seconds
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName code method'],
    metrics: words(`
      rest_client_requests_total
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName request_kind'],
    metrics: words(`
      apiserver_current_inflight_requests
      apiserver_current_inqueue_requests
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName name'],
    metrics: words(`
      apiserver_admission_webhook_admission_duration_seconds
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName group'],
    metrics: words(`
      apiserver_requested_deprecated_apis
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName reason'],
    metrics: words(`
      apiserver_flowcontrol_rejected_requests_total
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName priority_level'],
    metrics: words(`
      apiserver_flowcontrol_request_concurrency_limit
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName ContainerName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace PodName',
      'ClusterName ContainerName FullPodName GpuDevice Namespace PodName',
    ],
    metrics: words(`
      container_gpu_utilization
      container_gpu_memory_utilization
      container_gpu_memory_total
      container_gpu_memory_used
      container_gpu_power_draw
      container_gpu_temperature
      container_gpu_tensor_core_utilization
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace',
      'ClusterName Namespace PodName',
      'ClusterName Namespace Service',
      'ClusterName FullPodName Namespace PodName',
      'ClusterName FullPodName GpuDevice Namespace PodName',
    ],
    metrics: words(`
      pod_gpu_utilization
      pod_gpu_memory_utilization
      pod_gpu_memory_total
      pod_gpu_memory_used
      pod_gpu_power_draw
      pod_gpu_temperature
      pod_gpu_tensor_core_utilization
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName InstanceId NodeName',
      'ClusterName GpuDevice InstanceId InstanceType NodeName',
    ],
    metrics: words(`
      node_gpu_utilization
      node_gpu_memory_utilization
      node_gpu_memory_total
      node_gpu_memory_used
      node_gpu_power_draw
      node_gpu_temperature
      node_gpu_tensor_core_utilization
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName ContainerName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace NeuronCore NeuronDevice PodName',
    ],
    metrics: words(`
      container_neuroncore_utilization
      container_neuroncore_memory_usage_total
      container_neuroncore_memory_usage_constants
      container_neuroncore_memory_usage_model_code
      container_neuroncore_memory_usage_model_shared_scratchpad
      container_neuroncore_memory_usage_runtime_memory
      container_neuroncore_memory_usage_tensors
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName ContainerName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace NeuronDevice PodName',
    ],
    metrics: words(`
      container_neurondevice_hw_ecc_events_total
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace',
      'ClusterName Namespace PodName',
      'ClusterName Namespace Service',
      'ClusterName FullPodName Namespace PodName',
      'ClusterName FullPodName Namespace NeuronCore NeuronDevice PodName',
    ],
    metrics: words(`
      pod_neuroncore_utilization
      pod_neuroncore_memory_usage_total
      pod_neuroncore_memory_usage_constants
      pod_neuroncore_memory_usage_model_code
      pod_neuroncore_memory_usage_model_shared_scratchpad
      pod_neuroncore_memory_usage_runtime_memory
      pod_neuroncore_memory_usage_tensors
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace',
      'ClusterName Namespace PodName',
      'ClusterName Namespace Service',
      'ClusterName FullPodName Namespace PodName',
      'ClusterName FullPodName Namespace NeuronDevice PodName',
    ],
    metrics: words(`
      pod_neurondevice_hw_ecc_events_total
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName UltraServer',
      'ClusterName InstanceId NodeName',
      'ClusterName InstanceId InstanceType NeuronCore NeuronDevice NodeName',
    ],
    metrics: words(`
      node_neuroncore_utilization
      node_neuroncore_memory_usage_total
      node_neuroncore_memory_usage_constants
      node_neuroncore_memory_usage_model_code
      node_neuroncore_memory_usage_model_shared_scratchpad
      node_neuroncore_memory_usage_runtime_memory
      node_neuroncore_memory_usage_tensors
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName UltraServer', 'ClusterName InstanceId NodeName'],
    metrics: words(`
      node_neuron_execution_errors_total
      node_neurondevice_runtime_memory_used_bytes
      node_neuron_execution_latency
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName UltraServer',
      'ClusterName InstanceId NodeName',
      'ClusterName InstanceId NeuronDevice NodeName',
    ],
    metrics: words(`
      node_neurondevice_hw_ecc_events_total
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName ContainerName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace PodName',
      'ClusterName ContainerName FullPodName Namespace NetworkInterfaceId PodName',
    ],
    metrics: words(`
      container_efa_rx_bytes
      container_efa_tx_bytes
      container_efa_rx_dropped
      container_efa_rdma_read_bytes
      container_efa_rdma_write_bytes
      container_efa_rdma_write_recv_bytes
      container_efa_retrans_bytes
      container_efa_retrans_pkts
      container_efa_retrans_timeout_events
      container_efa_impaired_remote_conn_events
      container_efa_unresponsive_remote_events
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName Namespace',
      'ClusterName Namespace PodName',
      'ClusterName Namespace Service',
      'ClusterName FullPodName Namespace PodName',
      'ClusterName FullPodName Namespace NetworkInterfaceId PodName',
    ],
    metrics: words(`
      pod_efa_rx_bytes
      pod_efa_tx_bytes
      pod_efa_rx_dropped
      pod_efa_rdma_read_bytes
      pod_efa_rdma_write_bytes
      pod_efa_rdma_write_recv_bytes
      pod_efa_retrans_bytes
      pod_efa_retrans_pkts
      pod_efa_retrans_timeout_events
      pod_efa_impaired_remote_conn_events
      pod_efa_unresponsive_remote_events
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName InstanceId NodeName',
      'ClusterName InstanceId InstanceType NetworkInterfaceId NodeName',
    ],
    metrics: words(`
      node_efa_rx_bytes
      node_efa_tx_bytes
      node_efa_rx_dropped
      node_efa_rdma_read_bytes
      node_efa_rdma_write_bytes
      node_efa_rdma_write_recv_bytes
      node_efa_retrans_bytes
      node_efa_retrans_pkts
      node_efa_retrans_timeout_events
      node_efa_impaired_remote_conn_events
      node_efa_unresponsive_remote_events
    `),
  },
  {
    dimensions: [
      'ClusterName',
      'ClusterName InstanceId NodeName',
      'ClusterName InstanceId NodeName VolumeId',
    ],
    metrics: words(`
      node_diskio_ebs_total_read_ops
      node_diskio_ebs_total_write_ops
      node_diskio_ebs_total_read_bytes
      node_diskio_ebs_total_write_bytes
      node_diskio_ebs_total_read_time
      node_diskio_ebs_total_write_time
      node_diskio_ebs_volume_performance_exceeded_iops
      node_diskio_ebs_volume_performance_exceeded_tp
      node_diskio_ebs_ec2_instance_performance_exceeded_iops
      node_diskio_ebs_ec2_instance_performance_exceeded_tp
      node_diskio_ebs_volume_queue_length
      node_diskio_instance_store_total_read_ops
      node_diskio_instance_store_total_write_ops
      node_diskio_instance_store_total_read_bytes
      node_diskio_instance_store_total_write_bytes
      node_diskio_instance_store_total_read_time
      node_diskio_instance_store_total_write_time
      node_diskio_instance_store_ec2_instance_performance_exceeded_iops
      node_diskio_instance_store_ec2_instance_performance_exceeded_tp
      node_diskio_instance_store_volume_queue_length
    `),
  },
  {
    dimensions: ['ClusterName', 'ClusterName Namespace', 'ClusterName Namespace PersistentVolumeClaimName'],
    metrics: words(`
      persistent_volume_claim_status_bound
      persistent_volume_claim_status_lost
      persistent_volume_claim_status_pending
      persistent_volume_claim_count
    `),
  },
];

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

const dimensionsByMetric: ReadonlyMap<string, readonly string[]> = new Map(
  published.flatMap(({ dimensions, metrics }) => metrics.map((name) => [name, dimensions] as const)),
);

/** Every metric of the namespace. */
export const containerInsightsMetrics: readonly string[] = [...dimensionsByMetric.keys()];

/** The sets of dimensions of a metric, names sorted and joined by a space; `undefined` for an unknown metric. */
export function containerInsightsDimensions(metric: string): readonly string[] | undefined {
  return dimensionsByMetric.get(metric);
}
