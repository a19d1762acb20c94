/** Model servers that are recognised. `kserve` is KServe's Hugging Face runtime, `lmi` DJL Serving (AWS's LMI). */
export type Engine =
  | 'vllm'
  | 'tgi'
  | 'sglang'
  | 'triton'
  | 'tensorrt-llm'
  | 'nim'
  | 'ray-serve-llm'
  | 'lmi'
  | 'ollama'
  | 'llama.cpp'
  | 'tei'
  | 'kserve'
  | 'lmdeploy'
  | 'dynamo';

/** What a server can be told, whatever its own name for it. */
export const settingNames = [
  'model',
  'tensorParallel',
  'pipelineParallel',
  'dataParallel',
  'dtype',
  'quantization',
  'maxModelLen',
  'maxNumSeqs',
  'gpuMemoryUtilization',
  'kvCacheDtype',
  'cpuOffloadGb',
  'swapSpaceGb',
  'loadFormat',
  'port',
] as const;

export type SettingName = (typeof settingNames)[number];

export interface EngineKind {
  readonly engine: Engine;
  /** As people call it, in messages. */
  readonly title: string;
  /** Tested against `repository`; an image alone is enough when nothing contradicts it. */
  readonly image?: RegExp;
  /** The tag that makes the image a server, or not one. */
  readonly tag?: { readonly must?: RegExp; readonly never?: RegExp };
  /** Program names (base names) and, where a word must follow, that word. */
  readonly programs?: readonly { readonly name: RegExp; readonly then?: readonly string[] }[];
  /** `python -m <module>`. */
  readonly modules?: RegExp;
  /** The first word behind the program (and `then`) may be the model. */
  readonly positionalModel?: boolean;
  readonly flags: Readonly<Partial<Record<SettingName, readonly string[]>>>;
  readonly env: Readonly<Partial<Record<SettingName, readonly string[]>>>;
  /** It can run on CPUs alone: never call a missing GPU a mistake. */
  readonly runsOnCpu?: boolean;
  readonly port: number | undefined;
  readonly health: string | undefined;
  readonly metrics: string | undefined;
  /** Where metrics are served, when not on the port of requests. */
  readonly metricsPort?: number;
}

/** `vllm serve`'s own flags; several others pass them through. */
const vllmFlags: EngineKind['flags'] = {
  model: ['model'],
  tensorParallel: ['tensor-parallel-size', 'tp'],
  pipelineParallel: ['pipeline-parallel-size', 'pp'],
  dataParallel: ['data-parallel-size', 'dp'],
  dtype: ['dtype'],
  quantization: ['quantization', 'q'],
  maxModelLen: ['max-model-len'],
  maxNumSeqs: ['max-num-seqs'],
  gpuMemoryUtilization: ['gpu-memory-utilization'],
  kvCacheDtype: ['kv-cache-dtype'],
  cpuOffloadGb: ['cpu-offload-gb'],
  swapSpaceGb: ['swap-space'],
  loadFormat: ['load-format'],
  port: ['port'],
};

/**
 * Model servers as data. Sources: each project's command line reference and image documentation (vLLM engine arguments,
 * TGI launcher, SGLang server arguments, Triton, trtllm-serve, NIM configuration, DJL LMI configuration, Ollama,
 * llama.cpp server, TEI, KServe Hugging Face runtime, LMDeploy, NVIDIA Dynamo).
 */
export const engines: readonly EngineKind[] = [
  {
    engine: 'dynamo',
    title: 'NVIDIA Dynamo worker',
    modules: /^dynamo\.(vllm|sglang|trtllm)$/,
    flags: vllmFlags,
    env: {},
    port: undefined,
    health: undefined,
    metrics: undefined,
  },
  {
    engine: 'vllm',
    title: 'vLLM',
    image: /(^|[-_./])vllm(\d|[-_.]|$)[^/]*$/,
    programs: [{ name: /^vllm$/, then: ['serve'] }, { name: /^api_server\.py$/ }],
    modules: /^vllm\.entrypoints\.(openai\.)?api_server$/,
    positionalModel: true,
    flags: vllmFlags,
    env: {
      // The SageMaker entrypoint turns SM_VLLM_* into flags.
      model: ['SM_VLLM_MODEL'],
      tensorParallel: ['SM_VLLM_TENSOR_PARALLEL_SIZE'],
      maxModelLen: ['SM_VLLM_MAX_MODEL_LEN'],
      dtype: ['SM_VLLM_DTYPE'],
      quantization: ['SM_VLLM_QUANTIZATION'],
    },
    port: 8000,
    health: '/health',
    metrics: '/metrics',
  },
  {
    engine: 'tgi',
    title: 'Text Generation Inference',
    image: /(^|[-_./])(text-generation-inference|tgi(-inference)?)([-_.]|$)[^/]*$/,
    programs: [{ name: /^text-generation-(launcher|server)$/ }],
    flags: {
      model: ['model-id'],
      tensorParallel: ['num-shard'],
      dtype: ['dtype'],
      quantization: ['quantize'],
      maxModelLen: ['max-total-tokens'],
      gpuMemoryUtilization: ['cuda-memory-fraction'],
      kvCacheDtype: ['kv-cache-dtype'],
      port: ['port', 'p'],
    },
    env: {
      model: ['MODEL_ID', 'HF_MODEL_ID'],
      tensorParallel: ['NUM_SHARD', 'SM_NUM_GPUS'],
      dtype: ['DTYPE'],
      quantization: ['QUANTIZE', 'HF_MODEL_QUANTIZE'],
      maxModelLen: ['MAX_TOTAL_TOKENS'],
      gpuMemoryUtilization: ['CUDA_MEMORY_FRACTION'],
      kvCacheDtype: ['KV_CACHE_DTYPE'],
      port: ['PORT'],
    },
    // The image sets PORT=80.
    port: 80,
    health: '/health',
    metrics: '/metrics',
  },
  {
    engine: 'sglang',
    title: 'SGLang',
    image: /(^|[-_./])sglang([-_.]|$)[^/]*$/,
    programs: [{ name: /^sglang$/, then: ['serve'] }, { name: /^launch_server\.py$/ }],
    modules: /^sglang\.launch_server$/,
    flags: {
      model: ['model-path', 'model'],
      tensorParallel: ['tp-size', 'tensor-parallel-size', 'tp'],
      pipelineParallel: ['pp-size', 'pipeline-parallel-size', 'pp'],
      dataParallel: ['dp-size', 'data-parallel-size', 'dp'],
      dtype: ['dtype'],
      quantization: ['quantization'],
      maxModelLen: ['context-length'],
      maxNumSeqs: ['max-running-requests'],
      gpuMemoryUtilization: ['mem-fraction-static'],
      kvCacheDtype: ['kv-cache-dtype'],
      cpuOffloadGb: ['cpu-offload-gb'],
      loadFormat: ['load-format'],
      port: ['port'],
    },
    env: {},
    port: 30000,
    health: '/health',
    metrics: '/metrics',
  },
  {
    engine: 'tensorrt-llm',
    title: 'TensorRT-LLM',
    image: /(^|[-_./])tensorrt[-_]?llm([-_./]|$)/,
    programs: [{ name: /^trtllm-serve$/ }],
    positionalModel: true,
    flags: {
      tensorParallel: ['tp-size', 'tp'],
      pipelineParallel: ['pp-size', 'pp'],
      maxModelLen: ['max-seq-len'],
      maxNumSeqs: ['max-batch-size'],
      gpuMemoryUtilization: ['kv-cache-free-gpu-memory-fraction', 'free-gpu-memory-fraction'],
      kvCacheDtype: ['kv-cache-dtype'],
      port: ['port'],
    },
    env: {},
    port: 8000,
    health: '/health',
    metrics: '/prometheus/metrics',
  },
  {
    engine: 'triton',
    title: 'Triton Inference Server',
    image: /(^|[-_./])tritonserver$/,
    tag: { never: /(^|-)(sdk|min)$|-sdk/ },
    programs: [{ name: /^tritonserver$/ }, { name: /^launch_triton_server\.py$/ }],
    flags: {
      tensorParallel: ['world-size'],
      port: ['http-port', 'triton-http-port'],
    },
    env: {},
    // Triton also serves classical models on CPUs.
    runsOnCpu: true,
    port: 8000,
    health: '/v2/health/ready',
    metrics: '/metrics',
    metricsPort: 8002,
  },
  {
    engine: 'nim',
    title: 'NVIDIA NIM',
    image: /(^|\/)nim\/[^/]+\/[^/]+$/,
    programs: [{ name: /^start[-_]server\.sh$/ }],
    flags: {},
    env: {
      model: ['NIM_MODEL_NAME'],
      tensorParallel: ['NIM_TENSOR_PARALLEL_SIZE'],
      pipelineParallel: ['NIM_PIPELINE_PARALLEL_SIZE'],
      maxModelLen: ['NIM_MAX_MODEL_LEN'],
      gpuMemoryUtilization: ['NIM_GPU_MEM_FRACTION', 'NIM_KVCACHE_PERCENT'],
      port: ['NIM_SERVER_PORT', 'NIM_HTTP_API_PORT'],
    },
    port: 8000,
    health: '/v1/health/ready',
    metrics: '/v1/metrics',
  },
  {
    engine: 'lmi',
    title: 'DJL Serving (LMI)',
    image: /(^|[-_./])(djl-(serving|inference)|lmi)([-_.]|$)[^/]*$/,
    programs: [{ name: /^djl-serving$/ }],
    flags: {},
    env: {
      model: ['HF_MODEL_ID', 'OPTION_MODEL_ID', 'SERVING_LOAD_MODELS'],
      tensorParallel: ['TENSOR_PARALLEL_DEGREE', 'OPTION_TENSOR_PARALLEL_DEGREE'],
      pipelineParallel: ['PIPELINE_PARALLEL_DEGREE', 'OPTION_PIPELINE_PARALLEL_DEGREE'],
      dtype: ['OPTION_DTYPE'],
      quantization: ['OPTION_QUANTIZE'],
      maxModelLen: ['OPTION_MAX_MODEL_LEN'],
      maxNumSeqs: ['OPTION_MAX_ROLLING_BATCH_SIZE'],
      gpuMemoryUtilization: ['OPTION_GPU_MEMORY_UTILIZATION'],
      kvCacheDtype: ['OPTION_KV_CACHE_DTYPE'],
      cpuOffloadGb: ['OPTION_CPU_OFFLOAD_GB'],
      swapSpaceGb: ['OPTION_SWAP_SPACE'],
      loadFormat: ['OPTION_LOAD_FORMAT'],
    },
    runsOnCpu: true,
    port: 8080,
    health: '/ping',
    metrics: '/metrics',
  },
  {
    engine: 'ollama',
    title: 'Ollama',
    image: /(^|\/)ollama$/,
    programs: [{ name: /^ollama$/, then: ['serve'] }],
    flags: {},
    env: { maxModelLen: ['OLLAMA_CONTEXT_LENGTH'], kvCacheDtype: ['OLLAMA_KV_CACHE_TYPE'] },
    runsOnCpu: true,
    port: 11434,
    health: '/',
    metrics: undefined,
  },
  {
    engine: 'llama.cpp',
    title: 'llama.cpp',
    image: /(^|\/)llama\.cpp$/,
    tag: { must: /server|full/ },
    programs: [{ name: /^llama-server$/ }],
    modules: /^llama_cpp\.server$/,
    flags: {
      model: ['hf-repo', 'hf', 'hfr', 'model', 'm'],
      maxModelLen: ['ctx-size', 'c', 'n-ctx'],
      maxNumSeqs: ['parallel', 'np'],
      kvCacheDtype: ['cache-type-k', 'ctk'],
      port: ['port'],
    },
    env: {
      model: ['LLAMA_ARG_HF_REPO', 'LLAMA_ARG_MODEL'],
      maxModelLen: ['LLAMA_ARG_CTX_SIZE'],
      port: ['LLAMA_ARG_PORT'],
    },
    runsOnCpu: true,
    port: 8080,
    health: '/health',
    metrics: '/metrics',
  },
  {
    engine: 'tei',
    title: 'Text Embeddings Inference',
    image: /(^|[-_./])(text-embeddings-inference|tei)([-_.]|$)[^/]*$/,
    programs: [{ name: /^text-embeddings-router$/ }],
    flags: { model: ['model-id'], dtype: ['dtype'], port: ['port', 'p'] },
    env: { model: ['MODEL_ID', 'HF_MODEL_ID'], dtype: ['DTYPE'], port: ['PORT'] },
    // The image sets PORT=80.
    port: 80,
    health: '/health',
    metrics: '/metrics',
  },
  {
    engine: 'kserve',
    title: 'KServe Hugging Face runtime',
    image: /(^|[-_./])huggingfaceserver([-_.]|$)[^/]*$/,
    modules: /^huggingfaceserver$/,
    flags: { ...vllmFlags, model: ['model-id', 'model', 'model-dir'], port: ['http-port'] },
    env: { model: ['MODEL_ID'] },
    runsOnCpu: true,
    port: 8080,
    health: '/v2/health/ready',
    metrics: '/metrics',
  },
  {
    engine: 'lmdeploy',
    title: 'LMDeploy',
    image: /(^|[-_./])lmdeploy$/,
    programs: [{ name: /^lmdeploy$/, then: ['serve', 'api_server'] }],
    positionalModel: true,
    flags: {
      tensorParallel: ['tp'],
      dataParallel: ['dp'],
      dtype: ['dtype'],
      maxModelLen: ['session-len'],
      gpuMemoryUtilization: ['cache-max-entry-count'],
      port: ['server-port'],
    },
    env: {},
    port: 23333,
    health: '/health',
    metrics: '/metrics',
  },
];

/** Ray Serve's LLM application: its settings stand in `serveConfigV2`, under `engine_kwargs`. */
export const rayServe: EngineKind = {
  engine: 'ray-serve-llm',
  title: 'Ray Serve LLM',
  flags: vllmFlags,
  env: {},
  port: 8000,
  health: '/-/healthz',
  metrics: '/metrics',
  metricsPort: 8080,
};

/**
 * Variables that scripts of people's own commonly read. Looked at only where a server runs under a script, so that its
 * flags cannot be seen.
 */
export const scriptVariables: Readonly<Partial<Record<SettingName, readonly string[]>>> = {
  model: ['MODEL_ID', 'MODEL', 'MODEL_NAME', 'MODEL_PATH', 'HF_MODEL_ID', 'HF_MODEL', 'VLLM_MODEL'],
  tensorParallel: ['TENSOR_PARALLEL_SIZE', 'TP_SIZE', 'TENSOR_PARALLEL'],
  pipelineParallel: ['PIPELINE_PARALLEL_SIZE', 'PP_SIZE'],
  dtype: ['DTYPE'],
  quantization: ['QUANTIZATION'],
  maxModelLen: ['MAX_MODEL_LEN'],
  maxNumSeqs: ['MAX_NUM_SEQS', 'MAX_NUM_SEQ'],
  gpuMemoryUtilization: ['GPU_MEMORY_UTILIZATION'],
  swapSpaceGb: ['SWAP_SPACE'],
};

/**
 * Words in an image's name that make it something beside a model server: routers, clients, caches, tools. A `vllm-router`
 * is none, nor is a benchmark that carries the engine's libraries.
 */
export const besideServers =
  /(^|[-_./])(router|gateway|bench(mark(s|er|ing)?)?|clients?|exporter|proxy|sim(ulator)?|mock|fake|ui|webui|frontend|dashboard|operator|controller|manager|sidecar|download(er)?|model-?loader|loader|sync(er)?|init(ializer)?|tests?|tester|scheduler|epp|picker|lmcache|cache(server)?|eval(uation|uator)?|playground|chat(ui|bot)?|load-?(gen|test|generator)|locust|perf|sdk|build(er)?|compiler|train(er|ing)?|finetune|adapter|agent|tokenizer|docs|webhook|autoscaler|scaler)([-_.]|$)/;

/** Programs that are certainly no model server: what a container with a server's image runs instead. */
export const helperPrograms =
  /^(sleep|tail|true|false|echo|printf|cat|ls|cp|mv|rm|mkdir|ln|chmod|chown|curl|wget|nc|dig|nslookup|aws|s5cmd|gsutil|gcloud|az|azcopy|rclone|rsync|git|git-lfs|huggingface-cli|hf|modelscope|pip3?|uv|apt|apt-get|yum|conda|env|export|cd|set|source|\.|ulimit|sysctl|wait|exit|trap|date|whoami|nvidia-smi|neuron-ls|neuron-top|rocm-smi|jupyter(-lab|-notebook)?|tensorboard|nginx|envoy|locust|k6|hey|wrk|genai-perf|aiperf|perf_analyzer|guidellm|lm_eval|lm-eval|evalplus|pytest|torchrun|deepspeed|accelerate|mpirun|trtllm-build|trtllm-bench|download-to-cache|create-model-store|list-model-profiles|kubectl|jq|grep|sed|awk|test|\[|\[\[|while|until|for|if|then|fi|do|done|else|read|kill|pkill|pgrep|dcgmi|ray)$/;

/** Scripts (of Python or a shell) that by their name serve nothing. */
export const helperScripts =
  /(^|[-_/])(download|fetch|pull|convert|quantize|compile|bench(mark)?\w*|client|load_?test\w*|test\w*|eval\w*|train\w*|finetune|pretrain\w*|upload|copy|warm_?up|wait\w*|check\w*|probe|proxy|router|health\w*)[^/]*\.(py|sh)$/i;
