import type { Engine } from '../../kube/engines';

/** One option of a model server's command line. */
export interface EngineArgument {
  /** Without the dashes. */
  readonly name: string;
  /** What it does, in a sentence. */
  readonly summary: string;
  /** What may follow it; absent for a switch. */
  readonly value?: 'model' | 'number' | 'text' | readonly string[];
}

const dtypes = ['auto', 'half', 'float16', 'bfloat16', 'float', 'float32'];

/** https://docs.vllm.ai/en/latest/cli/serve/ */
const vllm: readonly EngineArgument[] = [
  {
    name: 'model',
    value: 'model',
    summary: 'The model: a name on the Hugging Face hub, or a folder with its files',
  },
  {
    name: 'served-model-name',
    value: 'text',
    summary: 'The name that requests call the model by; without it, that of --model',
  },
  {
    name: 'revision',
    value: 'text',
    summary: 'Branch, tag or commit of the model on the hub; pinning it keeps replicas equal',
  },
  { name: 'tokenizer', value: 'text', summary: 'The tokenizer, where it is not the one beside the weights' },
  {
    name: 'tokenizer-mode',
    value: ['auto', 'slow', 'mistral', 'custom'],
    summary: 'Which implementation of the tokenizer is used',
  },
  { name: 'trust-remote-code', summary: 'Runs Python code that comes with the model' },
  {
    name: 'download-dir',
    value: 'text',
    summary: 'Where weights are fetched to; without it, the cache of the Hugging Face libraries',
  },
  {
    name: 'load-format',
    value: [
      'auto',
      'safetensors',
      'pt',
      'gguf',
      'bitsandbytes',
      'runai_streamer',
      'tensorizer',
      'sharded_state',
      'dummy',
    ],
    summary: 'How weights are read; runai_streamer reads from S3 straight to the GPU, dummy reads none',
  },
  {
    name: 'dtype',
    value: dtypes,
    summary: 'Precision of weights and activations; auto takes that of the checkpoint',
  },
  {
    name: 'quantization',
    value: [
      'awq',
      'awq_marlin',
      'gptq',
      'gptq_marlin',
      'fp8',
      'bitsandbytes',
      'compressed-tensors',
      'modelopt',
      'gguf',
    ],
    summary: 'How the weights are quantised; without it, what the checkpoint says',
  },
  {
    name: 'kv-cache-dtype',
    value: ['auto', 'fp8', 'fp8_e4m3', 'fp8_e5m2'],
    summary: 'Precision of the KV cache; fp8 holds twice the tokens',
  },
  {
    name: 'max-model-len',
    value: 'number',
    summary:
      'Most tokens of a request and its answer; without it, the length of the model, which often does not fit',
  },
  { name: 'max-num-seqs', value: 'number', summary: 'Most requests that are worked on at a time' },
  {
    name: 'max-num-batched-tokens',
    value: 'number',
    summary: 'Most tokens of one step: more for throughput, fewer for the time to the next token',
  },
  {
    name: 'gpu-memory-utilization',
    value: ['0.90', '0.85', '0.92', '0.95'],
    summary: 'Share of each GPU that vLLM fills with weights, activations and KV cache',
  },
  {
    name: 'kv-cache-memory-bytes',
    value: 'number',
    summary: 'Bytes of KV cache on each GPU, in place of what --gpu-memory-utilization leaves',
  },
  {
    name: 'tensor-parallel-size',
    value: 'number',
    summary: 'GPUs that each layer is split over; as many as the container has',
  },
  {
    name: 'pipeline-parallel-size',
    value: 'number',
    summary: 'Groups of GPUs, often nodes, that the layers are dealt out to',
  },
  { name: 'data-parallel-size', value: 'number', summary: 'Copies of the model that share the requests' },
  {
    name: 'enable-expert-parallel',
    summary: 'Puts whole experts of a mixture on GPUs instead of parts of each',
  },
  {
    name: 'distributed-executor-backend',
    value: ['mp', 'ray', 'uni', 'external_launcher'],
    summary: 'What starts the workers: processes of this pod, or Ray over several',
  },
  {
    name: 'enforce-eager',
    summary: 'Captures no CUDA graphs: less memory and a faster start, slower answers',
  },
  {
    name: 'compilation-config',
    value: 'text',
    summary: 'How much torch.compile does, as a number from 0 to 3 or as JSON',
  },
  { name: 'enable-prefix-caching', summary: 'Keeps the KV cache of prompts that start alike; on by default' },
  { name: 'no-enable-prefix-caching', summary: 'Keeps no KV cache of prompts that start alike' },
  {
    name: 'enable-chunked-prefill',
    summary: 'Works long prompts off in parts, between answers; on by default',
  },
  { name: 'block-size', value: ['16', '32', '64', '128'], summary: 'Tokens in one block of the KV cache' },
  {
    name: 'swap-space',
    value: 'number',
    summary: 'GiB of host memory for each GPU that KV cache is moved to (V0 only)',
  },
  {
    name: 'cpu-offload-gb',
    value: 'number',
    summary: 'GiB of weights for each GPU that stay in host memory and are read in each step',
  },
  {
    name: 'limit-mm-per-prompt',
    value: 'text',
    summary: 'Most images, videos or sounds of a request, as JSON: {"image": 2}',
  },
  { name: 'enable-lora', summary: 'Serves LoRA adapters beside the model' },
  { name: 'lora-modules', value: 'text', summary: 'Adapters, as name=path' },
  { name: 'max-loras', value: 'number', summary: 'Most adapters in one batch' },
  {
    name: 'max-lora-rank',
    value: ['8', '16', '32', '64', '128', '256'],
    summary: 'Largest rank of an adapter',
  },
  { name: 'speculative-config', value: 'text', summary: 'A draft model that guesses tokens ahead, as JSON' },
  {
    name: 'enable-auto-tool-choice',
    summary: 'Lets the model decide to call tools; needs --tool-call-parser',
  },
  {
    name: 'tool-call-parser',
    value: ['hermes', 'llama3_json', 'llama4_pythonic', 'mistral', 'pythonic', 'deepseek_v3', 'qwen3_coder'],
    summary: 'How calls of tools are read from the answer',
  },
  {
    name: 'reasoning-parser',
    value: ['deepseek_r1', 'qwen3', 'granite', 'glm45', 'mistral'],
    summary: 'How the thinking of a model is told from its answer',
  },
  {
    name: 'chat-template',
    value: 'text',
    summary: 'A file with the template that turns messages into a prompt',
  },
  { name: 'host', value: 'text', summary: 'The address that the server listens on' },
  { name: 'port', value: 'number', summary: 'The port of requests, health and metrics; 8000 by default' },
  {
    name: 'uvicorn-log-level',
    value: ['debug', 'info', 'warning', 'error', 'critical'],
    summary: 'How much the web server logs',
  },
  { name: 'disable-log-requests', summary: 'Does not log each request' },
  {
    name: 'api-key',
    value: 'text',
    summary: 'A key that requests must bring; better from a Secret through VLLM_API_KEY',
  },
  { name: 'otlp-traces-endpoint', value: 'text', summary: 'Where traces are sent' },
  { name: 'seed', value: 'number', summary: 'Start of the random numbers' },
];

/** https://huggingface.co/docs/text-generation-inference/reference/launcher */
const tgi: readonly EngineArgument[] = [
  {
    name: 'model-id',
    value: 'model',
    summary: 'The model: a name on the Hugging Face hub, or a folder with its files',
  },
  { name: 'revision', value: 'text', summary: 'Branch, tag or commit of the model on the hub' },
  { name: 'num-shard', value: 'number', summary: 'GPUs that the model is split over' },
  {
    name: 'sharded',
    value: ['true', 'false'],
    summary: 'Whether the model is split over all GPUs of the container',
  },
  {
    name: 'quantize',
    value: [
      'awq',
      'gptq',
      'fp8',
      'bitsandbytes',
      'bitsandbytes-nf4',
      'bitsandbytes-fp4',
      'eetq',
      'exl2',
      'marlin',
      'compressed-tensors',
    ],
    summary: 'How the weights are quantised',
  },
  {
    name: 'dtype',
    value: ['float16', 'bfloat16'],
    summary: 'Precision of the weights; not together with --quantize',
  },
  { name: 'kv-cache-dtype', value: ['fp8_e4m3fn', 'fp8_e5m2'], summary: 'Precision of the KV cache' },
  { name: 'max-concurrent-requests', value: 'number', summary: 'Requests beyond this are refused at once' },
  { name: 'max-input-tokens', value: 'number', summary: 'Most tokens of a prompt' },
  { name: 'max-total-tokens', value: 'number', summary: 'Most tokens of a prompt and its answer' },
  {
    name: 'max-batch-prefill-tokens',
    value: 'number',
    summary: 'Most prompt tokens that are worked on at a time',
  },
  {
    name: 'max-batch-total-tokens',
    value: 'number',
    summary: 'Most tokens in a batch: as many as the memory holds when it is left out',
  },
  {
    name: 'waiting-served-ratio',
    value: 'number',
    summary: 'How many requests must wait before running ones pause for them',
  },
  { name: 'cuda-memory-fraction', value: ['0.9', '0.95', '1.0'], summary: 'Share of each GPU that is used' },
  {
    name: 'cuda-graphs',
    value: 'text',
    summary: 'Batch sizes of which CUDA graphs are captured; 0 for none',
  },
  {
    name: 'huggingface-hub-cache',
    value: 'text',
    summary: 'Where weights are fetched to; /data in the image',
  },
  { name: 'trust-remote-code', summary: 'Runs Python code that comes with the model' },
  { name: 'hostname', value: 'text', summary: 'The address that the server listens on' },
  { name: 'port', value: 'number', summary: 'The port of requests, health and metrics' },
  { name: 'json-output', summary: 'Logs as JSON' },
  { name: 'lora-adapters', value: 'text', summary: 'Adapters that are loaded at the start' },
  { name: 'speculate', value: 'number', summary: 'Tokens that are guessed ahead' },
];

/** https://docs.sglang.ai/advanced_features/server_arguments.html */
const sglang: readonly EngineArgument[] = [
  {
    name: 'model-path',
    value: 'model',
    summary: 'The model: a name on the Hugging Face hub, or a folder with its files',
  },
  { name: 'served-model-name', value: 'text', summary: 'The name that requests call the model by' },
  { name: 'tp-size', value: 'number', summary: 'GPUs that each layer is split over' },
  { name: 'dp-size', value: 'number', summary: 'Copies of the model that share the requests' },
  { name: 'ep-size', value: 'number', summary: 'GPUs that whole experts are dealt out to' },
  { name: 'pp-size', value: 'number', summary: 'Groups of GPUs that the layers are dealt out to' },
  { name: 'nnodes', value: 'number', summary: 'Pods that hold one model together' },
  { name: 'node-rank', value: 'number', summary: 'Which of them this one is, from 0' },
  { name: 'dist-init-addr', value: 'text', summary: 'Address and port of the first of them' },
  { name: 'dtype', value: dtypes, summary: 'Precision of weights and activations' },
  {
    name: 'quantization',
    value: [
      'awq',
      'awq_marlin',
      'gptq',
      'gptq_marlin',
      'fp8',
      'bitsandbytes',
      'w8a8_int8',
      'w8a8_fp8',
      'modelopt_fp4',
    ],
    summary: 'How the weights are quantised',
  },
  { name: 'kv-cache-dtype', value: ['auto', 'fp8_e5m2', 'fp8_e4m3'], summary: 'Precision of the KV cache' },
  { name: 'context-length', value: 'number', summary: 'Most tokens of a request and its answer' },
  {
    name: 'mem-fraction-static',
    value: ['0.80', '0.85', '0.88', '0.90'],
    summary: 'Share of each GPU for weights and KV cache; the rest is for activations and CUDA graphs',
  },
  { name: 'max-running-requests', value: 'number', summary: 'Most requests that are worked on at a time' },
  { name: 'max-total-tokens', value: 'number', summary: 'Most tokens in the KV cache' },
  {
    name: 'chunked-prefill-size',
    value: 'number',
    summary: 'Most tokens of a prompt in one step; -1 for whole prompts',
  },
  { name: 'cuda-graph-max-bs', value: 'number', summary: 'Largest batch of which a CUDA graph is captured' },
  { name: 'disable-cuda-graph', summary: 'Captures no CUDA graphs: less memory, slower answers' },
  { name: 'disable-radix-cache', summary: 'Keeps no KV cache of prompts that start alike' },
  {
    name: 'attention-backend',
    value: ['flashinfer', 'fa3', 'triton', 'trtllm_mla'],
    summary: 'Which kernels attention runs on',
  },
  {
    name: 'cpu-offload-gb',
    value: 'number',
    summary: 'GiB of weights for each GPU that stay in host memory',
  },
  {
    name: 'load-format',
    value: ['auto', 'safetensors', 'pt', 'gguf', 'bitsandbytes', 'remote', 'dummy'],
    summary: 'How weights are read',
  },
  { name: 'enable-metrics', summary: 'Serves metrics at /metrics; off by default' },
  { name: 'trust-remote-code', summary: 'Runs Python code that comes with the model' },
  { name: 'host', value: 'text', summary: 'The address that the server listens on; 0.0.0.0 for a pod' },
  { name: 'port', value: 'number', summary: 'The port of requests, health and metrics; 30000 by default' },
  {
    name: 'tool-call-parser',
    value: ['llama3', 'qwen25', 'mistral', 'deepseekv3', 'pythonic'],
    summary: 'How calls of tools are read from the answer',
  },
  {
    name: 'reasoning-parser',
    value: ['deepseek-r1', 'qwen3'],
    summary: 'How the thinking of a model is told from its answer',
  },
];

/** Of the servers whose options are known here. */
export const engineArguments: Readonly<Partial<Record<Engine, readonly EngineArgument[]>>> = {
  vllm,
  tgi,
  sglang,
};
