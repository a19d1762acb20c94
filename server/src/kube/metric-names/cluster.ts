import { metrics, type MetricFamily, type OldMetric } from './metric';

const gone = (name: string, use?: string, same = false, note?: string): OldMetric => ({
  name,
  type: 'gauge',
  ...(use === undefined ? {} : { use: { name: use, same } }),
  ...(note === undefined ? {} : { note }),
});

/** Source: `docs/metrics/workload/horizontalpodautoscaler-metrics.md` of kube-state-metrics. */
export const kubeStateAutoscalers: MetricFamily = {
  title: 'kube-state-metrics',
  prefix: /^kube_(?:horizontalpodautoscaler|hpa)_/,
  completeness: 'closed',
  metrics: metrics(
    'gauge',
    `kube_horizontalpodautoscaler_info kube_horizontalpodautoscaler_annotations
    kube_horizontalpodautoscaler_labels kube_horizontalpodautoscaler_metadata_generation
    kube_horizontalpodautoscaler_spec_min_replicas kube_horizontalpodautoscaler_spec_max_replicas
    kube_horizontalpodautoscaler_spec_target_metric kube_horizontalpodautoscaler_status_target_metric
    kube_horizontalpodautoscaler_status_condition kube_horizontalpodautoscaler_status_current_replicas
    kube_horizontalpodautoscaler_status_desired_replicas kube_horizontalpodautoscaler_created
    kube_horizontalpodautoscaler_deletion_timestamp`,
  ),
  old: [
    ...[
      'spec_min_replicas',
      'spec_max_replicas',
      'spec_target_metric',
      'status_condition',
      'status_current_replicas',
      'status_desired_replicas',
      'labels',
      'metadata_generation',
    ].map((name) =>
      gone(
        `kube_hpa_${name}`,
        `kube_horizontalpodautoscaler_${name}`,
        false,
        'with the label horizontalpodautoscaler for hpa',
      ),
    ),
  ],
};

/** Names that kube-state-metrics 2 dropped. Its others are not listed. */
export const kubeStateResources: MetricFamily = {
  title: 'kube-state-metrics',
  prefix: /^kube_(?:pod|node)_/,
  completeness: 'open',
  metrics: metrics(
    'gauge',
    `kube_pod_container_resource_requests kube_pod_container_resource_limits kube_node_status_allocatable
    kube_node_status_capacity kube_pod_container_status_restarts_total
    kube_pod_container_status_waiting_reason kube_pod_container_status_last_terminated_reason
    kube_pod_container_status_last_terminated_exitcode kube_pod_container_status_last_terminated_timestamp
    kube_pod_status_phase kube_pod_status_ready`,
  ),
  old: [
    ...(['requests', 'limits'] as const).flatMap((what) => [
      gone(
        `kube_pod_container_resource_${what}_cpu_cores`,
        undefined,
        false,
        `take kube_pod_container_resource_${what}{resource="cpu"}`,
      ),
      gone(
        `kube_pod_container_resource_${what}_memory_bytes`,
        undefined,
        false,
        `take kube_pod_container_resource_${what}{resource="memory"}`,
      ),
    ]),
    ...(['allocatable', 'capacity'] as const).flatMap((what) =>
      (
        [
          ['cpu_cores', 'cpu'],
          ['memory_bytes', 'memory'],
          ['pods', 'pods'],
        ] as const
      ).map(([suffix, resource]) =>
        gone(
          `kube_node_status_${what}_${suffix}`,
          undefined,
          false,
          `take kube_node_status_${what}{resource="${resource}"}`,
        ),
      ),
    ),
  ],
};

/** Source: the metrics page of Karpenter 1.x; the dead names are those before 1.0 and 0.33. */
export const karpenter: MetricFamily = {
  title: 'Karpenter',
  prefix: /^karpenter_/,
  completeness: 'open',
  metrics: [
    ...metrics(
      'gauge',
      `karpenter_pods_state karpenter_scheduler_queue_depth karpenter_scheduler_unschedulable_pods_count
      karpenter_nodepools_usage karpenter_nodepools_limit karpenter_nodepools_allowed_disruptions
      karpenter_nodes_allocatable karpenter_nodes_total_pod_requests karpenter_nodes_total_pod_limits
      karpenter_nodes_total_daemon_requests karpenter_nodes_total_daemon_limits
      karpenter_nodes_system_overhead karpenter_cluster_state_synced karpenter_cluster_state_node_count
      karpenter_cloudprovider_instance_type_offering_price_estimate
      karpenter_cloudprovider_instance_type_offering_available
      karpenter_cloudprovider_instance_type_memory_bytes karpenter_cloudprovider_instance_type_cpu_cores
      karpenter_voluntary_disruption_eligible_nodes karpenter_build_info`,
    ),
    ...metrics('gauge', 'karpenter_cluster_utilization_percent', 'percent'),
    ...metrics(
      'counter',
      `karpenter_nodeclaims_created_total karpenter_nodeclaims_terminated_total
      karpenter_nodeclaims_disrupted_total karpenter_nodes_created_total karpenter_nodes_terminated_total
      karpenter_cloudprovider_errors_total karpenter_voluntary_disruption_decisions_total
      karpenter_voluntary_disruption_queue_failures_total`,
    ),
    ...metrics(
      'histogram',
      `karpenter_pods_startup_duration_seconds karpenter_scheduler_scheduling_duration_seconds
      karpenter_cloudprovider_duration_seconds`,
      'seconds',
    ),
  ],
  old: [
    gone('karpenter_provisioner_limit', 'karpenter_nodepools_limit', false, 'with the label nodepool'),
    gone('karpenter_provisioner_usage', 'karpenter_nodepools_usage', false, 'with the label nodepool'),
    gone('karpenter_provisioner_usage_pct'),
    gone(
      'karpenter_provisioner_scheduling_duration_seconds',
      'karpenter_scheduler_scheduling_duration_seconds',
    ),
    gone('karpenter_provisioner_scheduling_queue_depth', 'karpenter_scheduler_queue_depth'),
    gone('karpenter_allocation_controller_scheduling_duration_seconds'),
    gone('karpenter_deprovisioning_actions_performed', 'karpenter_voluntary_disruption_decisions_total'),
    gone('karpenter_deprovisioning_eligible_machines', 'karpenter_voluntary_disruption_eligible_nodes'),
    gone('karpenter_deprovisioning_evaluation_duration_seconds'),
    gone('karpenter_consolidation_nodes_created'),
    gone('karpenter_consolidation_nodes_terminated'),
    gone(
      'karpenter_cloudprovider_instance_type_price_estimate',
      'karpenter_cloudprovider_instance_type_offering_price_estimate',
    ),
    gone('karpenter_nodeclaims_created', 'karpenter_nodeclaims_created_total', true),
    gone('karpenter_nodeclaims_terminated', 'karpenter_nodeclaims_terminated_total', true),
    gone('karpenter_nodes_created', 'karpenter_nodes_created_total', true),
    gone('karpenter_nodes_terminated', 'karpenter_nodes_terminated_total', true),
    gone('karpenter_pods_pods_drained_total'),
    gone('karpenter_ignored_pod_count'),
  ],
};

/** Source: `pkg/metricscollector/prommetrics.go` of KEDA. */
export const keda: MetricFamily = {
  title: 'KEDA',
  prefix: /^keda_/,
  completeness: 'open',
  metrics: [
    ...metrics(
      'gauge',
      `keda_build_info keda_scaler_active keda_scaler_metrics_value keda_scaled_object_paused
      keda_scaled_job_paused keda_resource_registered_total keda_trigger_registered_total`,
    ),
    ...metrics(
      'gauge',
      'keda_scaler_metrics_latency_seconds keda_internal_scale_loop_latency_seconds',
      'seconds',
    ),
    ...metrics(
      'counter',
      `keda_scaler_detail_errors_total keda_scaled_object_errors_total keda_scaled_job_errors_total
      keda_scaler_empty_upstream_responses_total keda_scaler_http_requests_total
      keda_cloudeventsource_events_emitted_total`,
    ),
    ...metrics('histogram', 'keda_scaler_http_request_duration_seconds', 'seconds'),
  ],
  old: [
    gone('keda_scaler_metrics_latency', 'keda_scaler_metrics_latency_seconds', false, 'in seconds'),
    gone('keda_internal_scale_loop_latency', 'keda_internal_scale_loop_latency_seconds', false, 'in seconds'),
    gone('keda_scaler_errors', 'keda_scaler_detail_errors_total'),
    gone('keda_scaler_errors_total', 'keda_scaler_detail_errors_total'),
    gone('keda_scaled_object_errors', 'keda_scaled_object_errors_total', true),
    gone('keda_trigger_totals', 'keda_trigger_registered_total', true),
    gone('keda_resource_totals', 'keda_resource_registered_total', true),
  ],
};

/** Source: the API server's own metrics of each release; kubernetes/kubernetes 118812 for the size of its storage. */
export const apiServer: MetricFamily = {
  title: 'the API server',
  prefix: /^(?:apiserver_(?:storage_|request_(?:latenc|duration))|etcd_db_total_size)/,
  completeness: 'open',
  metrics: [
    ...metrics('gauge', 'apiserver_storage_size_bytes', 'bytes'),
    ...metrics('gauge', 'apiserver_storage_objects'),
    ...metrics(
      'histogram',
      'apiserver_request_duration_seconds apiserver_storage_list_duration_seconds',
      'seconds',
    ),
  ],
  old: [
    {
      name: 'etcd_db_total_size_in_bytes',
      type: 'gauge',
      unit: 'bytes',
      use: { name: 'apiserver_storage_size_bytes', same: true },
      note: 'since Kubernetes 1.28',
    },
    {
      name: 'apiserver_storage_db_total_size_in_bytes',
      type: 'gauge',
      unit: 'bytes',
      use: { name: 'apiserver_storage_size_bytes', same: true },
      note: 'since Kubernetes 1.28',
    },
    {
      name: 'apiserver_request_latencies',
      type: 'histogram',
      unit: 'microseconds',
      use: { name: 'apiserver_request_duration_seconds', same: false },
      note: 'in seconds',
    },
    {
      name: 'apiserver_request_latencies_summary',
      type: 'summary',
      unit: 'microseconds',
      note: 'take the histogram apiserver_request_duration_seconds',
    },
  ],
};
