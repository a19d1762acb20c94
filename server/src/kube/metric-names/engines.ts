import { metrics, type MetricFamily, type OldMetric } from './metric';

/**
 * Sources: `vllm/v1/metrics/loggers.py` and `/metrics` of a running vLLM 0.32.0; pull requests 15458, 18354, 29330 and
 * 32661 of vLLM for what was renamed when. A metric that is deprecated in one release is hidden in the next one
 * (`--show-hidden-metrics-for-version`) and gone in the one after that.
 */
export const vllm: MetricFamily = {
  title: 'vLLM',
  prefix: /^vllm:/,
  completeness: 'grows',
  release: '0.32',
  // The router of vLLM's production stack, KV connectors and LMCache report under the same prefix.
  foreign:
    /^vllm:(?:current_qps|avg_|num_(?:prefill|decoding|incoming)_requests|healthy_pods|router_|nixl_|kv_offload|lmcache|mooncake|moriio|p2p_|sleep_)/,
  metrics: [
    ...metrics(
      'gauge',
      `vllm:num_requests_running vllm:num_requests_waiting vllm:num_requests_waiting_by_reason
      vllm:engine_sleep_state vllm:lora_requests_info vllm:cache_config_info`,
    ),
    { name: 'vllm:kv_cache_usage_perc', type: 'gauge', unit: 'ratio', since: '0.9.2' },
    ...metrics(
      'counter',
      `vllm:prompt_tokens_total vllm:prompt_tokens_by_source_total vllm:prompt_tokens_cached_total
      vllm:prompt_tokens_cached_by_source_total vllm:generation_tokens_total vllm:request_success_total
      vllm:num_preemptions_total vllm:external_prefix_cache_queries_total vllm:external_prefix_cache_hits_total
      vllm:mm_cache_queries_total vllm:mm_cache_hits_total vllm:corrupted_requests_total
      vllm:spec_decode_num_drafts_total vllm:spec_decode_num_draft_tokens_total
      vllm:spec_decode_num_accepted_tokens_total vllm:spec_decode_num_accepted_tokens_per_pos_total
      vllm:admission_rejections_total vllm:estimated_flops_per_gpu_total
      vllm:estimated_read_bytes_per_gpu_total vllm:estimated_write_bytes_per_gpu_total`,
    ),
    { name: 'vllm:prefix_cache_queries_total', type: 'counter', since: '0.9.2' },
    { name: 'vllm:prefix_cache_hits_total', type: 'counter', since: '0.9.2' },
    ...metrics(
      'histogram',
      `vllm:time_to_first_token_seconds vllm:e2e_request_latency_seconds vllm:request_queue_time_seconds
      vllm:request_inference_time_seconds vllm:request_prefill_time_seconds vllm:request_decode_time_seconds
      vllm:kv_block_lifetime_seconds vllm:kv_block_idle_before_evict_seconds vllm:kv_block_reuse_gap_seconds`,
      'seconds',
    ),
    { name: 'vllm:inter_token_latency_seconds', type: 'histogram', unit: 'seconds', since: '0.11.0' },
    {
      name: 'vllm:request_time_per_output_token_seconds',
      type: 'histogram',
      unit: 'seconds',
      since: '0.11.0',
    },
    // A histogram, despite its name.
    ...metrics(
      'histogram',
      `vllm:iteration_tokens_total vllm:request_prompt_tokens vllm:request_generation_tokens
      vllm:request_max_num_generation_tokens vllm:request_params_n vllm:request_params_max_tokens
      vllm:request_prefill_kv_computed_tokens vllm:request_num_preemptions`,
    ),
  ],
  old: [
    {
      name: 'vllm:gpu_cache_usage_perc',
      type: 'gauge',
      unit: 'ratio',
      deprecated: '0.9.2',
      removed: '0.12.0',
      use: { name: 'vllm:kv_cache_usage_perc', same: true },
    },
    {
      name: 'vllm:gpu_prefix_cache_queries_total',
      type: 'counter',
      deprecated: '0.9.2',
      removed: '0.12.0',
      use: { name: 'vllm:prefix_cache_queries_total', same: false },
      note: 'which counts tokens, not blocks',
    },
    {
      name: 'vllm:gpu_prefix_cache_hits_total',
      type: 'counter',
      deprecated: '0.9.2',
      removed: '0.12.0',
      use: { name: 'vllm:prefix_cache_hits_total', same: false },
      note: 'which counts tokens, not blocks',
    },
    {
      name: 'vllm:time_per_output_token_seconds',
      type: 'histogram',
      unit: 'seconds',
      deprecated: '0.11.0',
      removed: '0.13.0',
      use: { name: 'vllm:inter_token_latency_seconds', same: true },
    },
    {
      name: 'vllm:gpu_prefix_cache_hit_rate',
      type: 'gauge',
      unit: 'ratio',
      deprecated: '0.8.0',
      removed: '0.10.0',
      note: 'divide the rates of vllm:prefix_cache_hits_total and vllm:prefix_cache_queries_total',
    },
    {
      name: 'vllm:cpu_prefix_cache_hit_rate',
      type: 'gauge',
      unit: 'ratio',
      deprecated: '0.8.0',
      removed: '0.10.0',
      note: 'there is no prefix cache in host memory any more',
    },
    {
      name: 'vllm:num_requests_swapped',
      type: 'gauge',
      deprecated: '0.8.0',
      removed: '0.11.0',
      note: 'the engine preempts and computes again instead: vllm:num_preemptions_total',
    },
    {
      name: 'vllm:cpu_cache_usage_perc',
      type: 'gauge',
      unit: 'ratio',
      deprecated: '0.8.0',
      removed: '0.11.0',
      note: 'the engine swaps no more',
    },
    {
      name: 'vllm:time_in_queue_requests',
      type: 'histogram',
      unit: 'seconds',
      deprecated: '0.8.0',
      removed: '0.10.0',
      use: { name: 'vllm:request_queue_time_seconds', same: true },
    },
    {
      name: 'vllm:model_forward_time_milliseconds',
      type: 'histogram',
      unit: 'milliseconds',
      deprecated: '0.8.0',
      removed: '0.10.0',
    },
    {
      name: 'vllm:model_execute_time_milliseconds',
      type: 'histogram',
      unit: 'milliseconds',
      deprecated: '0.8.0',
      removed: '0.10.0',
    },
    ...['spec_decode_draft_acceptance_rate', 'spec_decode_efficiency'].map((name): OldMetric => ({
      name: `vllm:${name}`,
      type: 'gauge',
      unit: 'ratio',
      deprecated: '0.8.0',
      removed: '0.11.0',
      note: 'divide the rates of vllm:spec_decode_num_accepted_tokens_total and vllm:spec_decode_num_draft_tokens_total',
    })),
    {
      name: 'vllm:request_params_best_of',
      type: 'histogram',
      deprecated: '0.8.0',
      removed: '0.11.0',
    },
    {
      name: 'vllm:avg_prompt_throughput_toks_per_s',
      type: 'gauge',
      deprecated: '0.3.0',
      removed: '0.6.0',
      note: 'take rate(vllm:prompt_tokens_total[5m])',
    },
    {
      name: 'vllm:avg_generation_throughput_toks_per_s',
      type: 'gauge',
      deprecated: '0.3.0',
      removed: '0.6.0',
      note: 'take rate(vllm:generation_tokens_total[5m])',
    },
  ],
};

/** Source: `docs/references/production_metrics.md` of SGLang. */
export const sglang: MetricFamily = {
  title: 'SGLang',
  prefix: /^sglang:/,
  completeness: 'open',
  metrics: [
    ...metrics(
      'gauge',
      `sglang:num_running_reqs sglang:num_queue_reqs sglang:num_used_tokens sglang:gen_throughput
      sglang:spec_accept_length sglang:max_total_num_tokens`,
    ),
    ...metrics(
      'gauge',
      `sglang:token_usage sglang:full_token_usage sglang:swa_token_usage sglang:mamba_usage
      sglang:cache_hit_rate`,
      'ratio',
    ),
    ...metrics(
      'counter',
      `sglang:prompt_tokens_total sglang:generation_tokens_total sglang:num_requests_total
      sglang:cached_tokens_total sglang:num_retracted_requests_total sglang:num_aborted_requests_total`,
    ),
    ...metrics(
      'histogram',
      `sglang:time_to_first_token_seconds sglang:e2e_request_latency_seconds sglang:inter_token_latency_seconds
      sglang:queue_time_seconds sglang:func_latency_seconds`,
      'seconds',
    ),
  ],
  old: [
    {
      name: 'sglang:time_per_output_token_seconds',
      type: 'histogram',
      unit: 'seconds',
      use: { name: 'sglang:inter_token_latency_seconds', same: true },
    },
    {
      name: 'sglang:request_latency_seconds',
      type: 'histogram',
      unit: 'seconds',
      use: { name: 'sglang:e2e_request_latency_seconds', same: true },
    },
  ],
};

/** Source: `docs/source/reference/metrics.md` of Text Generation Inference, whose development has ended. */
export const tgi: MetricFamily = {
  title: 'Text Generation Inference',
  prefix: /^tgi_/,
  completeness: 'grows',
  metrics: [
    ...metrics('gauge', 'tgi_queue_size tgi_batch_current_size tgi_batch_current_max_tokens'),
    ...metrics(
      'counter',
      `tgi_request_count tgi_request_success tgi_request_failure tgi_batch_inference_count
      tgi_batch_inference_success tgi_batch_inference_failure tgi_batch_concat`,
    ),
    ...metrics(
      'histogram',
      `tgi_request_duration tgi_request_queue_duration tgi_request_inference_duration
      tgi_request_mean_time_per_token_duration tgi_request_validation_duration tgi_batch_decode_duration
      tgi_batch_filter_duration tgi_batch_forward_duration tgi_batch_inference_duration
      tgi_batch_concat_duration`,
      'seconds',
    ),
    ...metrics(
      'histogram',
      `tgi_batch_next_size tgi_batch_next_tokens tgi_request_generated_tokens tgi_request_input_length
      tgi_request_max_new_tokens tgi_request_skipped_tokens`,
    ),
  ],
  old: [],
};

/** Source: `docs/user_guide/metrics.md` of the Triton Inference Server. */
export const triton: MetricFamily = {
  title: 'Triton Inference Server',
  prefix: /^nv_(?:inference|gpu|cpu|energy|cache|pinned|model|trt_llm)_/,
  completeness: 'open',
  metrics: [
    ...metrics(
      'gauge',
      `nv_inference_pending_request_count nv_gpu_power_usage nv_gpu_power_limit nv_trt_llm_request_metrics
      nv_trt_llm_kv_cache_block_metrics`,
    ),
    ...metrics('gauge', 'nv_gpu_utilization nv_cpu_utilization nv_cache_util', 'ratio'),
    ...metrics(
      'gauge',
      `nv_gpu_memory_total_bytes nv_gpu_memory_used_bytes nv_cpu_memory_total_bytes nv_cpu_memory_used_bytes
      nv_pinned_memory_pool_total_bytes nv_pinned_memory_pool_used_bytes`,
      'bytes',
    ),
    ...metrics(
      'counter',
      `nv_inference_request_success nv_inference_request_failure nv_inference_count nv_inference_exec_count
      nv_energy_consumption nv_cache_num_hits_per_model nv_cache_num_misses_per_model`,
    ),
    ...metrics(
      'counter',
      `nv_inference_request_duration_us nv_inference_queue_duration_us nv_inference_compute_input_duration_us
      nv_inference_compute_infer_duration_us nv_inference_compute_output_duration_us`,
      'microseconds',
    ),
    ...metrics(
      'summary',
      `nv_inference_request_summary_us nv_inference_queue_summary_us nv_inference_compute_input_summary_us
      nv_inference_compute_infer_summary_us nv_inference_compute_output_summary_us`,
      'microseconds',
    ),
    ...metrics('histogram', 'nv_inference_first_response_histogram_ms', 'milliseconds'),
  ],
  old: [],
};

/** Source: `doc/source/serve/monitoring.md` of Ray; Ray puts `ray_` in front of each name. */
export const rayServe: MetricFamily = {
  title: 'Ray Serve',
  prefix: /^ray_serve_/,
  completeness: 'open',
  metrics: [
    ...metrics(
      'gauge',
      `ray_serve_replica_processing_queries ray_serve_deployment_queued_queries
      ray_serve_num_ongoing_http_requests`,
    ),
    ...metrics(
      'counter',
      `ray_serve_deployment_request_counter_total ray_serve_deployment_error_counter_total
      ray_serve_deployment_replica_starts_total ray_serve_num_http_requests_total
      ray_serve_num_http_error_requests_total ray_serve_num_router_requests_total
      ray_serve_handle_request_counter_total ray_serve_num_deployment_http_error_requests_total`,
    ),
    // Older releases of Ray left the suffix out.
    ...metrics(
      'counter',
      `ray_serve_deployment_request_counter
      ray_serve_deployment_error_counter
      ray_serve_deployment_replica_starts
      ray_serve_num_http_requests
      ray_serve_num_http_error_requests
      ray_serve_num_router_requests
      ray_serve_handle_request_counter
      ray_serve_num_deployment_http_error_requests`,
    ),
    ...metrics(
      'histogram',
      `ray_serve_deployment_queuing_latency_ms ray_serve_deployment_processing_latency_ms
      ray_serve_http_request_latency_ms`,
      'milliseconds',
    ),
  ],
  old: [
    {
      name: 'ray_serve_replica_queued_queries',
      type: 'gauge',
      use: { name: 'ray_serve_deployment_queued_queries', same: false },
      note: 'which is counted at the handles, by deployment',
    },
  ],
};
