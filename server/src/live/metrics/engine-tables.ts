import type { MetricId } from '../vocabulary';
import type { EngineName } from '../want';

/** Percentiles and mean that one histogram gives. */
export type LatencyId = 'ttft' | 'inter-token' | 'e2e' | 'queue-time';

/**
 * How the samples of an engine become one metric of the vocabulary. `names` are tried in order, the newest name first;
 * the first that is there counts. Names match in any of the spellings of `normalName`, counters with and without
 * `_total`.
 */
export type Extraction =
  | {
      readonly kind: 'gauge';
      readonly metric: MetricId;
      readonly names: readonly string[];
      /** Over the label sets of one endpoint, such as the engines of data parallelism. */
      readonly over: 'sum' | 'max' | 'mean';
      /** Only samples with these labels. */
      readonly where?: Readonly<Record<string, string>>;
      /** Multiplies into the unit of the vocabulary. */
      readonly factor?: number;
    }
  | {
      readonly kind: 'rate';
      readonly metric: MetricId;
      readonly names: readonly string[];
      /**
       * Only samples whose label matches; the labels are tried in order. Where none matches it is known to be zero if
       * some value shows that they are written out in full (`complete`), else it is not known.
       */
      readonly where?: {
        readonly labels: readonly string[];
        readonly matches: RegExp;
        readonly complete?: RegExp;
      };
      /** One measurement for each value of this label, with the label `reason`. */
      readonly split?: string;
      readonly factor?: number;
    }
  | {
      readonly kind: 'histogram';
      readonly latency: LatencyId;
      readonly names: readonly string[];
      /** Multiplies into seconds. */
      readonly factor?: number;
    }
  /** A mean of two counters, where an engine has no histogram. */
  | {
      readonly kind: 'mean';
      readonly metric: MetricId;
      readonly total: readonly string[];
      readonly count: readonly string[];
      readonly factor?: number;
    }
  /** A share of two counters. */
  | {
      readonly kind: 'share';
      readonly metric: MetricId;
      readonly part: readonly string[];
      readonly whole: readonly string[];
    };

const vllm: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.running', names: ['vllm:num_requests_running'], over: 'sum' },
  { kind: 'gauge', metric: 'queue.waiting', names: ['vllm:num_requests_waiting'], over: 'sum' },
  {
    kind: 'gauge',
    metric: 'kv-cache.usage',
    names: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'],
    over: 'max',
  },
  { kind: 'rate', metric: 'kv-cache.preemptions.rate', names: ['vllm:num_preemptions_total'] },
  {
    kind: 'share',
    metric: 'prefix-cache.hit-ratio',
    part: ['vllm:prefix_cache_hits_total', 'vllm:gpu_prefix_cache_hits_total'],
    whole: ['vllm:prefix_cache_queries_total', 'vllm:gpu_prefix_cache_queries_total'],
  },
  {
    kind: 'gauge',
    metric: 'prefix-cache.hit-ratio',
    names: ['vllm:gpu_prefix_cache_hit_rate'],
    over: 'mean',
  },
  { kind: 'rate', metric: 'tokens.prompt.rate', names: ['vllm:prompt_tokens_total'] },
  { kind: 'rate', metric: 'tokens.generation.rate', names: ['vllm:generation_tokens_total'] },
  {
    kind: 'gauge',
    metric: 'tokens.prompt.rate',
    names: ['vllm:avg_prompt_throughput_toks_per_s'],
    over: 'sum',
  },
  {
    kind: 'gauge',
    metric: 'tokens.generation.rate',
    names: ['vllm:avg_generation_throughput_toks_per_s'],
    over: 'sum',
  },
  { kind: 'rate', metric: 'requests.rate', names: ['vllm:request_success_total'] },
  {
    kind: 'rate',
    metric: 'requests.finished.rate',
    names: ['vllm:request_success_total'],
    split: 'finished_reason',
  },
  {
    kind: 'rate',
    metric: 'errors.rate',
    names: ['vllm:request_success_total'],
    where: { labels: ['finished_reason'], matches: /^error$/ },
  },
  { kind: 'rate', metric: 'errors.429.rate', names: ['vllm:admission_rejections_total'] },
  { kind: 'histogram', latency: 'ttft', names: ['vllm:time_to_first_token_seconds'] },
  {
    kind: 'histogram',
    latency: 'inter-token',
    names: [
      'vllm:inter_token_latency_seconds',
      'vllm:time_per_output_token_seconds',
      'vllm:request_time_per_output_token_seconds',
    ],
  },
  { kind: 'histogram', latency: 'e2e', names: ['vllm:e2e_request_latency_seconds'] },
  {
    kind: 'histogram',
    latency: 'queue-time',
    names: ['vllm:request_queue_time_seconds', 'vllm:time_in_queue_requests'],
  },
];

const sglang: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.running', names: ['sglang:num_running_reqs'], over: 'sum' },
  { kind: 'gauge', metric: 'queue.waiting', names: ['sglang:num_queue_reqs'], over: 'sum' },
  {
    kind: 'gauge',
    metric: 'kv-cache.usage',
    names: ['sglang:full_token_usage', 'sglang:token_usage'],
    over: 'max',
  },
  { kind: 'rate', metric: 'kv-cache.preemptions.rate', names: ['sglang:num_retracted_requests_total'] },
  {
    kind: 'share',
    metric: 'prefix-cache.hit-ratio',
    part: ['sglang:cached_tokens_total'],
    whole: ['sglang:prompt_tokens_total'],
  },
  { kind: 'gauge', metric: 'prefix-cache.hit-ratio', names: ['sglang:cache_hit_rate'], over: 'mean' },
  { kind: 'rate', metric: 'tokens.prompt.rate', names: ['sglang:prompt_tokens_total'] },
  { kind: 'rate', metric: 'tokens.generation.rate', names: ['sglang:generation_tokens_total'] },
  { kind: 'gauge', metric: 'tokens.generation.rate', names: ['sglang:gen_throughput'], over: 'sum' },
  { kind: 'rate', metric: 'requests.rate', names: ['sglang:num_requests_total'] },
  { kind: 'rate', metric: 'errors.rate', names: ['sglang:num_aborted_requests_total'] },
  { kind: 'histogram', latency: 'ttft', names: ['sglang:time_to_first_token_seconds'] },
  {
    kind: 'histogram',
    latency: 'inter-token',
    names: ['sglang:inter_token_latency_seconds', 'sglang:time_per_output_token_seconds'],
  },
  { kind: 'histogram', latency: 'e2e', names: ['sglang:e2e_request_latency_seconds'] },
  { kind: 'histogram', latency: 'queue-time', names: ['sglang:queue_time_seconds'] },
];

const tgi: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.waiting', names: ['tgi_queue_size'], over: 'sum' },
  { kind: 'gauge', metric: 'queue.running', names: ['tgi_batch_current_size'], over: 'sum' },
  { kind: 'rate', metric: 'requests.rate', names: ['tgi_request_success', 'tgi_request_count'] },
  { kind: 'rate', metric: 'errors.rate', names: ['tgi_request_failure'] },
  { kind: 'rate', metric: 'tokens.prompt.rate', names: ['tgi_request_input_length_sum'] },
  { kind: 'rate', metric: 'tokens.generation.rate', names: ['tgi_request_generated_tokens_sum'] },
  { kind: 'histogram', latency: 'e2e', names: ['tgi_request_duration'] },
  { kind: 'histogram', latency: 'queue-time', names: ['tgi_request_queue_duration'] },
  { kind: 'histogram', latency: 'inter-token', names: ['tgi_request_mean_time_per_token_duration'] },
];

/** The server itself; with the backends of vLLM and TensorRT-LLM their own metrics stand beside. */
const triton: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.waiting', names: ['nv_inference_pending_request_count'], over: 'sum' },
  {
    kind: 'gauge',
    metric: 'queue.waiting',
    names: ['nv_trt_llm_request_metrics'],
    where: { request_type: 'waiting' },
    over: 'sum',
  },
  {
    kind: 'gauge',
    metric: 'queue.running',
    names: ['nv_trt_llm_request_metrics'],
    where: { request_type: 'scheduled' },
    over: 'sum',
  },
  {
    kind: 'gauge',
    metric: 'kv-cache.usage',
    names: ['nv_trt_llm_kv_cache_block_metrics'],
    where: { kv_cache_block_type: 'fraction' },
    over: 'max',
  },
  { kind: 'rate', metric: 'requests.rate', names: ['nv_inference_request_success'] },
  { kind: 'rate', metric: 'errors.rate', names: ['nv_inference_request_failure'] },
  {
    kind: 'mean',
    metric: 'e2e.mean',
    total: ['nv_inference_request_duration_us'],
    count: ['nv_inference_request_success'],
    factor: 1e-6,
  },
  {
    kind: 'mean',
    metric: 'queue-time.mean',
    total: ['nv_inference_queue_duration_us'],
    count: ['nv_inference_request_success'],
    factor: 1e-6,
  },
  {
    kind: 'histogram',
    latency: 'ttft',
    names: ['nv_inference_first_response_histogram_ms'],
    factor: 1e-3,
  },
];

const rayServe: readonly Extraction[] = [
  {
    kind: 'gauge',
    metric: 'queue.waiting',
    names: [
      'serve_deployment_queued_queries',
      'serve_replica_queued_queries',
      'serve_replica_pending_queries',
    ],
    over: 'sum',
  },
  { kind: 'gauge', metric: 'queue.running', names: ['serve_replica_processing_queries'], over: 'sum' },
  {
    kind: 'rate',
    metric: 'requests.rate',
    names: ['serve_deployment_request_counter_total', 'serve_num_http_requests_total'],
  },
  {
    kind: 'rate',
    metric: 'errors.rate',
    names: ['serve_deployment_error_counter_total', 'serve_num_http_error_requests_total'],
  },
  {
    kind: 'rate',
    metric: 'errors.429.rate',
    names: ['serve_num_http_error_requests_total'],
    where: { labels: ['error_code', 'status_code'], matches: /^429$/, complete: /^\d{3}$/ },
  },
  {
    kind: 'rate',
    metric: 'errors.5xx.rate',
    names: ['serve_num_http_error_requests_total'],
    where: { labels: ['error_code', 'status_code'], matches: /^5\d\d$/, complete: /^\d{3}$/ },
  },
  { kind: 'histogram', latency: 'e2e', names: ['serve_deployment_processing_latency_ms'], factor: 1e-3 },
  { kind: 'histogram', latency: 'queue-time', names: ['serve_deployment_queuing_latency_ms'], factor: 1e-3 },
];

const tensorrtLlm: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.waiting', names: ['trtllm_num_requests_waiting'], over: 'sum' },
  { kind: 'gauge', metric: 'queue.running', names: ['trtllm_num_requests_running'], over: 'sum' },
  {
    kind: 'gauge',
    metric: 'kv-cache.usage',
    names: ['trtllm_kv_cache_utilization', 'trtllm_kv_cache_usage_perc'],
    over: 'max',
  },
  { kind: 'gauge', metric: 'prefix-cache.hit-ratio', names: ['trtllm_kv_cache_hit_rate'], over: 'mean' },
  { kind: 'rate', metric: 'requests.rate', names: ['trtllm_request_success_total'] },
  { kind: 'histogram', latency: 'ttft', names: ['trtllm_time_to_first_token_seconds'] },
  { kind: 'histogram', latency: 'inter-token', names: ['trtllm_time_per_output_token_seconds'] },
  { kind: 'histogram', latency: 'e2e', names: ['trtllm_e2e_request_latency_seconds'] },
  { kind: 'histogram', latency: 'queue-time', names: ['trtllm_request_queue_time_seconds'] },
];

/** NIM for LLMs: vLLM's metrics of an older time without their prefix, at `/v1/metrics`. */
const nim: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.running', names: ['num_requests_running'], over: 'sum' },
  { kind: 'gauge', metric: 'queue.waiting', names: ['num_requests_waiting'], over: 'sum' },
  {
    kind: 'gauge',
    metric: 'kv-cache.usage',
    names: ['kv_cache_usage_perc', 'gpu_cache_usage_perc'],
    over: 'max',
  },
  { kind: 'rate', metric: 'tokens.prompt.rate', names: ['prompt_tokens_total'] },
  { kind: 'rate', metric: 'tokens.generation.rate', names: ['generation_tokens_total'] },
  { kind: 'rate', metric: 'requests.rate', names: ['request_success_total', 'request_finish_total'] },
  { kind: 'rate', metric: 'errors.rate', names: ['request_failure_total'] },
  { kind: 'histogram', latency: 'ttft', names: ['time_to_first_token_seconds'] },
  {
    kind: 'histogram',
    latency: 'inter-token',
    names: ['inter_token_latency_seconds', 'time_per_output_token_seconds'],
  },
  { kind: 'histogram', latency: 'e2e', names: ['e2e_request_latency_seconds'] },
];

const llamaCpp: readonly Extraction[] = [
  { kind: 'gauge', metric: 'queue.running', names: ['llamacpp:requests_processing'], over: 'sum' },
  { kind: 'gauge', metric: 'queue.waiting', names: ['llamacpp:requests_deferred'], over: 'sum' },
  { kind: 'gauge', metric: 'kv-cache.usage', names: ['llamacpp:kv_cache_usage_ratio'], over: 'max' },
  { kind: 'rate', metric: 'tokens.prompt.rate', names: ['llamacpp:prompt_tokens_total'] },
  { kind: 'rate', metric: 'tokens.generation.rate', names: ['llamacpp:tokens_predicted_total'] },
];

/**
 * What servers built on FastAPI count beside (prometheus-fastapi-instrumentator, as in vLLM and SGLang): statuses are
 * written out or grouped as `5xx`. Grouped ones tell neither 429 nor 504 apart, so those stay absent.
 */
const http: readonly Extraction[] = [
  {
    kind: 'rate',
    metric: 'errors.429.rate',
    names: ['http_requests_total'],
    where: { labels: ['status', 'status_code', 'code'], matches: /^429$/, complete: /^\d{3}$/ },
  },
  {
    kind: 'rate',
    metric: 'errors.5xx.rate',
    names: ['http_requests_total'],
    where: {
      labels: ['status', 'status_code', 'code'],
      matches: /^5(\d\d|xx)$/i,
      complete: /^\d(\d\d|xx)$/i,
    },
  },
  {
    kind: 'rate',
    metric: 'errors.502-503.rate',
    names: ['http_requests_total'],
    where: { labels: ['status', 'status_code', 'code'], matches: /^50[23]$/, complete: /^\d{3}$/ },
  },
  {
    kind: 'rate',
    metric: 'errors.504.rate',
    names: ['http_requests_total'],
    where: { labels: ['status', 'status_code', 'code'], matches: /^504$/, complete: /^\d{3}$/ },
  },
];

export const engineTables: Readonly<
  Record<Exclude<EngineName, 'unknown' | 'ollama'>, readonly Extraction[]>
> = {
  vllm,
  sglang,
  tgi,
  triton,
  'ray-serve': rayServe,
  'tensorrt-llm': tensorrtLlm,
  nim,
  'llama-cpp': llamaCpp,
};

export const httpTable = http;

/** Prefixes, in the normal form of names, by which an engine is known from what it exports. */
export const enginePrefixes: readonly {
  readonly engine: keyof typeof engineTables;
  readonly prefix: RegExp;
}[] = [
  { engine: 'vllm', prefix: /^vllm_/ },
  { engine: 'sglang', prefix: /^sglang_/ },
  { engine: 'tgi', prefix: /^tgi_/ },
  { engine: 'triton', prefix: /^nv_(inference|trt_llm)_/ },
  { engine: 'ray-serve', prefix: /^serve_/ },
  { engine: 'tensorrt-llm', prefix: /^trtllm_/ },
  { engine: 'llama-cpp', prefix: /^llamacpp_/ },
  // Last: its names have no prefix of their own.
  { engine: 'nim', prefix: /^(num_requests_(running|waiting)|num_request_max)$/ },
];
