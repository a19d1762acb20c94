import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAiWorkload, isServing } from '../../server/src/kube/ai-workload';
import {
  modelServerOf,
  modelServers,
  servingPort,
  type ModelServer,
} from '../../server/src/kube/model-server';
import { podTemplates, type PodTemplate } from '../../server/src/kube/pod-carriers';
import type { Setting } from '../../server/src/kube/settings';
import { containerOf, deployment, resourceOf, textAt } from './kube-support';

function serverIn(container: string): ModelServer | undefined {
  return modelServerOf(containerOf(deployment(container)));
}

function say(server: ModelServer, setting: Setting | Setting<number>): string {
  if (setting.state !== 'known') return setting.state;
  assert.equal(textAt(server.container.template.resource, setting.at), setting.text, 'the place is the text');
  return String(setting.value);
}

/** Engine, model, tensor parallel, maximal length and port of requests. */
function summary(container: string): string {
  const server = serverIn(container);
  if (server === undefined) return 'none';
  return [
    server.engine,
    say(server, server.model),
    say(server, server.tensorParallel),
    say(server, server.maxModelLen),
    servingPort(server) ?? 'unknown',
  ].join(' ');
}

const recognised: readonly (readonly [container: string, expected: string])[] = [
  [
    'image: vllm/vllm-openai:v0.9.0\nargs: [--model, org/m, --tensor-parallel-size, "4"]',
    'vllm org/m 4 absent 8000',
  ],
  [
    'image: vllm/vllm-openai\nargs: [org/m, --max-model-len=32k, --port, "9000"]',
    'vllm org/m absent 32000 9000',
  ],
  ['image: vllm/vllm-openai\ncommand: [vllm, serve, org/m, -tp, "2"]', 'vllm org/m 2 absent 8000'],
  ['image: vllm/vllm-openai\ncommand: [vllm, serve, --port, "80", org/m]', 'vllm org/m absent absent 80'],
  [
    'image: x\ncommand: [python3, -m, vllm.entrypoints.openai.api_server]\nargs: [--model=/models/m]',
    'vllm /models/m absent absent 8000',
  ],
  [
    'image: x\ncommand: [python3, -u, /opt/vllm/vllm/entrypoints/openai/api_server.py, --model, m]',
    'vllm m absent absent 8000',
  ],
  [
    'image: x\ncommand: [sh, -c, "pip install x && exec vllm serve m --max_model_len 4K"]',
    'vllm m absent 4096 8000',
  ],
  [
    'image: 123456789012.dkr.ecr.us-west-2.amazonaws.com/team/my-vllm:1\nargs: [--model, m]',
    'vllm m absent absent 8000',
  ],
  [
    'image: 763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.11-gpu\nenv: [{name: SM_VLLM_MODEL, value: org/m}]',
    'vllm org/m absent absent 8000',
  ],
  ['image: vllm/vllm-openai\nargs: [--config, /etc/vllm.yaml]', 'vllm unknown unknown unknown unknown'],
  [
    'image: vllm/vllm-openai\ncommand: [/entrypoint.sh]\nenv: [{name: MODEL_ID, value: org/m}, {name: TENSOR_PARALLEL_SIZE, value: "8"}]',
    'vllm org/m 8 unknown unknown',
  ],
  [
    'image: ghcr.io/huggingface/text-generation-inference:3.0\nargs: [--model-id, org/m, --num-shard, "2"]',
    'tgi org/m 2 absent 80',
  ],
  [
    'image: ghcr.io/huggingface/text-generation-inference:3.0\nenv: [{name: MODEL_ID, value: org/m}, {name: NUM_SHARD, value: "4"}, {name: MAX_TOTAL_TOKENS, value: "8192"}, {name: PORT, value: "8080"}]',
    'tgi org/m 4 8192 8080',
  ],
  [
    'image: lmsysorg/sglang:latest\ncommand: [python3, -m, sglang.launch_server, --model-path, org/m, --tp, "8", --context-length, "65536"]',
    'sglang org/m 8 65536 30000',
  ],
  [
    'image: nvcr.io/nvidia/tritonserver:24.08-trtllm-python-py3\ncommand: [tritonserver, --model-repository=/models, --http-port=9000]',
    'triton absent absent absent 9000',
  ],
  [
    'image: nvcr.io/nvidia/tensorrt-llm/release:1.0\ncommand: [trtllm-serve, org/m, --tp_size, "4"]',
    'tensorrt-llm org/m 4 absent 8000',
  ],
  ['image: nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3', 'nim meta/llama-3.1-8b-instruct absent absent 8000'],
  [
    'image: nvcr.io/nim/nvidia/llm-nim:1\nenv: [{name: NIM_MODEL_NAME, value: "hf://org/m"}, {name: NIM_MAX_MODEL_LEN, value: "4096"}]',
    'nim org/m absent 4096 8000',
  ],
  [
    'image: 763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.33.0-lmi15\nenv: [{name: HF_MODEL_ID, value: org/m}, {name: OPTION_TENSOR_PARALLEL_DEGREE, value: max}, {name: OPTION_MAX_MODEL_LEN, value: "8192"}]',
    'lmi org/m unknown 8192 8080',
  ],
  [
    'image: ollama/ollama:latest\ncommand: [sh, -c, "ollama serve & sleep 5; ollama pull llama3.1:8b; wait"]',
    'ollama llama3.1:8b absent absent 11434',
  ],
  [
    'image: ollama/ollama\nlifecycle: {postStart: {exec: {command: [/bin/sh, -c, "ollama pull qwen2:7b"]}}}',
    'ollama qwen2:7b absent absent 11434',
  ],
  [
    'image: ghcr.io/ggml-org/llama.cpp:server-cuda\nargs: [-hf, org/m-GGUF, -c, "8192"]',
    'llama.cpp org/m-GGUF absent 8192 8080',
  ],
  [
    'image: ghcr.io/huggingface/text-embeddings-inference:89-1.7\nargs: [--model-id, BAAI/bge-m3]',
    'tei BAAI/bge-m3 absent absent 80',
  ],
  [
    'image: kserve/huggingfaceserver:latest-gpu\nargs: [--model_id=org/m, --tensor-parallel-size=2]',
    'kserve org/m 2 absent 8080',
  ],
];

test('recognises servers by program, image and arguments, with exact places', () => {
  for (const [container, expected] of recognised) assert.equal(summary(container), expected, container);
});

const none: readonly string[] = [
  'image: nginx',
  'image: lmcache/vllm-router:latest',
  'image: ghcr.io/vllm-project/production-stack/router:latest',
  'image: vllm/vllm-benchmark',
  'image: ghcr.io/llm-d/llm-d-inference-sim',
  'image: lmcache/lmcache-server',
  'image: ghcr.io/open-webui/open-webui:ollama',
  'image: vllm/vllm-openai\ncommand: [sleep, infinity]',
  'image: vllm/vllm-openai\ncommand: [sh, -c, "while true; do curl http://vllm:8000/health; sleep 5; done"]',
  'image: vllm/vllm-openai\ncommand: [huggingface-cli, download, org/m]',
  'image: vllm/vllm-openai\ncommand: [python3, benchmarks/benchmark_serving.py, --model, m]',
  'image: vllm/vllm-openai\ncommand: [vllm, bench, serve, --model, m]',
  'image: vllm/vllm-openai\ncommand: [bash, -c]\nargs: ["trap exit TERM; sleep 999 & wait"]',
  'image: curlimages/curl\nargs: [sh, -c, "curl http://vllm/v1/models | grep vllm serve"]',
  'image: nvcr.io/nvidia/tritonserver:24.12-py3-sdk\ncommand: [sleep, infinity]',
  'image: nvcr.io/nim/meta/llama-3.1-8b-instruct:1.1\nargs: [download-to-cache]',
  'image: lmsysorg/sglang-router',
  'image: lmsysorg/sglang\ncommand: [python3, -m, sglang_router.launch_router]',
  'image: ghcr.io/ggml-org/llama.cpp:light-cuda',
  'image: python:3.12\ncommand: [python, server.py, --model, org/m]',
  'image: ray-project/verl:vllm0.8',
];

test('takes nothing else for a server', () => {
  for (const container of none) assert.equal(summary(container), 'none', container);
});

test('an init container that downloads with the image of a server is none', () => {
  const text = deployment('image: nginx').replace(
    '      containers:',
    '      initContainers: [{name: get, image: "vllm/vllm-openai:v1", args: [--model, m]}]\n      containers:',
  );
  assert.deepEqual(modelServers(podTemplates(resourceOf(text))[0] ?? assert.fail()), []);
});

test('only servers that cannot do without are said to need a GPU', () => {
  const needs = (container: string) => serverIn(container)?.gpuOnly;
  assert.equal(needs('image: vllm/vllm-openai\nargs: [--model, m]'), true);
  assert.equal(needs('image: vllm/vllm-openai\nargs: [--model, m, --device, cpu]'), false);
  assert.equal(needs('image: public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:v0.9\nargs: [--model, m]'), false);
  assert.equal(needs('image: vllm/vllm-tpu\ncommand: [vllm, serve, m]'), false);
  assert.equal(
    needs('image: public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:0.9\ncommand: [vllm, serve, m]'),
    false,
  );
  assert.equal(
    needs('image: ghcr.io/huggingface/text-embeddings-inference:cpu-1.7\nargs: [--model-id, m]'),
    false,
  );
  assert.equal(
    needs('image: ghcr.io/huggingface/text-embeddings-inference:1.7\nargs: [--model-id, m]'),
    true,
  );
  assert.equal(needs('image: ollama/ollama'), false);
  assert.equal(needs('image: ghcr.io/ggml-org/llama.cpp:server'), false);
});

test('reads every other setting', () => {
  const server = serverIn(
    'image: vllm/vllm-openai\nargs: [--model, m, --dtype, half, --quantization=awq, --kv-cache-dtype, fp8, --gpu-memory-utilization, "0.92", --cpu-offload-gb, "8", --swap-space, "4", --load-format, runai_streamer, -pp, "2", -dp=2, --max-num-seqs, "64"]',
  );
  assert.ok(server !== undefined);
  assert.deepEqual(
    [
      server.dtype,
      server.quantization,
      server.kvCacheDtype,
      server.gpuMemoryUtilization,
      server.cpuOffloadGb,
      server.swapSpaceGb,
      server.loadFormat,
      server.pipelineParallel,
      server.dataParallel,
      server.maxNumSeqs,
    ].map((setting) => say(server, setting)),
    ['half', 'awq', 'fp8', '0.92', '8', '4', 'runai_streamer', '2', '2', '64'],
  );
  assert.equal(server.healthPath, '/health');
  assert.equal(server.metricsPath, '/metrics');
});

test('a value that is no number is unknown, not absent', () => {
  assert.equal(
    serverIn('image: vllm/vllm-openai\nargs: [--model, m, --tensor-parallel-size, all]')?.tensorParallel
      .state,
    'unknown',
  );
});

function templatesOf(text: string): readonly PodTemplate[] {
  return podTemplates(resourceOf(text));
}

const rayService = `apiVersion: ray.io/v1
kind: RayService
metadata:
  name: chat
spec:
  serveConfigV2: |
    applications:
      - name: llm
        import_path: ray.serve.llm:build_openai_app
        args:
          llm_configs:
            - model_loading_config:
                model_id: chat
                model_source: org/Model-70B
              engine_kwargs:
                tensor_parallel_size: 4
                max_model_len: 16384
                dtype: 'bfloat16'
  rayClusterConfig:
    headGroupSpec:
      template: {spec: {containers: [{name: head, image: rayproject/ray-llm:2.52.0}]}}
    workerGroupSpecs:
      - groupName: gpu
        replicas: 1
        template: {spec: {containers: [{name: worker, image: rayproject/ray-llm:2.52.0, resources: {limits: {nvidia.com/gpu: 4}}}]}}
`;

test('Ray Serve: the settings stand in the configuration, the server runs on the workers', () => {
  const [head, worker] = templatesOf(rayService);
  assert.deepEqual(modelServers(head ?? assert.fail()), []);
  const [server] = modelServers(worker ?? assert.fail());
  assert.ok(server !== undefined);
  assert.equal(server.engine, 'ray-serve-llm');
  assert.equal(say(server, server.model), 'org/Model-70B');
  assert.equal(say(server, server.tensorParallel), '4');
  assert.equal(say(server, server.maxModelLen), '16384');
  assert.equal(say(server, server.dtype), 'bfloat16');
  assert.equal(server.pipelineParallel.state, 'absent');
  assert.ok(worker !== undefined);
  assert.equal(isServing(worker.resource, worker), true);
});

test('Ray Serve with code of its own: its variables tell, the rest is unknown', () => {
  const text = rayService
    .replace('import_path: ray.serve.llm:build_openai_app', 'import_path: vllm_serve:deployment')
    .replace(
      / {8}args:[\s\S]*?(?= {2}rayClusterConfig)/,
      '        runtime_env: {env_vars: {MODEL_ID: org/m, MAX_MODEL_LEN: "4096"}}\n',
    );
  const [, worker] = templatesOf(text);
  const [server] = modelServers(worker ?? assert.fail());
  assert.ok(server !== undefined);
  assert.equal(say(server, server.model), 'org/m');
  assert.equal(say(server, server.maxModelLen), '4096');
  assert.equal(server.tensorParallel.state, 'unknown');
});

test('KServe, KubeAI and NIMService name their model in their own fields', () => {
  const kserve = (model: string): ModelServer | undefined =>
    modelServers(
      templatesOf(
        `apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: x}\nspec: {predictor: {model: ${model}}}\n`,
      )[0] ?? assert.fail(),
    )[0];
  const huggingFace = kserve(
    '{modelFormat: {name: huggingface}, args: ["--model_name=chat", "--tensor-parallel-size=2"], storageUri: "hf://org/m", resources: {limits: {nvidia.com/gpu: 2}}}',
  );
  assert.ok(huggingFace !== undefined);
  assert.equal(huggingFace.engine, 'kserve');
  assert.equal(say(huggingFace, huggingFace.model), 'org/m');
  assert.equal(say(huggingFace, huggingFace.tensorParallel), '2');
  assert.equal(huggingFace.maxModelLen.state, 'unknown');
  assert.equal(kserve('{modelFormat: {name: sklearn}, storageUri: "s3://b/m"}'), undefined);
  assert.equal(
    kserve('{modelFormat: {name: nvidia-nim-llama3-8b-instruct}, runtime: nvidia-nim-llama3}')?.engine,
    'nim',
  );

  const [kubeAi] = modelServers(
    templatesOf(
      'apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: x}\nspec: {url: "hf://org/m", engine: VLLM, args: [--max-model-len=8192], resourceProfile: "nvidia-gpu-l4:1"}\n',
    )[0] ?? assert.fail(),
  );
  assert.ok(kubeAi !== undefined);
  assert.equal(say(kubeAi, kubeAi.model), 'org/m');
  assert.equal(say(kubeAi, kubeAi.maxModelLen), '8192');

  const [nim] = modelServers(
    templatesOf(
      'apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nmetadata: {name: x}\nspec: {image: {repository: nvcr.io/nim/meta/llama3-8b-instruct, tag: 1.0.3}}\n',
    )[0] ?? assert.fail(),
  );
  assert.ok(nim !== undefined);
  assert.equal(say(nim, nim.model), 'meta/llama3-8b-instruct');
});

test('an LLMInferenceService names model and parallelism in fields of its own', () => {
  const text = `apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: x}
spec:
  model: {uri: hf://org/m, name: org/m}
  parallelism: {tensor: 4}
  template: {containers: [{name: main, args: [--max-model-len=4096], resources: {limits: {nvidia.com/gpu: 4}}}]}
`;
  const [template] = templatesOf(text);
  const [server] = modelServers(template ?? assert.fail());
  assert.ok(server !== undefined);
  assert.equal(say(server, server.model), 'org/m');
  assert.equal(say(server, server.tensorParallel), '4');
  assert.equal(say(server, server.maxModelLen), '4096');
  assert.equal(server.dtype.state, 'unknown');
  assert.equal(server.gpuOnly, true);
});

test('an LLMInferenceService with an image of its own still runs what the operator starts', () => {
  const server = (container: string): ModelServer | undefined => {
    const [template] = templatesOf(`apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: x}
spec:
  model: {uri: hf://org/m}
  parallelism: {tensor: 4}
  template: {containers: [{name: main, ${container}}]}
`);
    return modelServers(template ?? assert.fail())[0];
  };
  const pinned = server('image: vllm/vllm-openai:v0.11.0') ?? assert.fail();
  assert.equal(say(pinned, pinned.model), 'org/m');
  assert.equal(say(pinned, pinned.tensorParallel), '4');
  const extra =
    server('env: [{name: VLLM_ADDITIONAL_ARGS, value: "--max-model-len 8192 --dtype=half"}]') ??
    assert.fail();
  assert.equal(say(extra, extra.maxModelLen), '8192');
  assert.equal(say(extra, extra.dtype), 'half');
  const own =
    server('image: vllm/vllm-openai:v0.11.0, command: [vllm, serve, org/other, --tensor-parallel-size=2]') ??
    assert.fail();
  assert.equal(say(own, own.model), 'org/other');
  assert.equal(say(own, own.tensorParallel), '2');
});

test('AI workloads: an accelerator, a claim or a server', () => {
  const isAi = (container: string) => isAiWorkload(templatesOf(deployment(container))[0] ?? assert.fail());
  assert.equal(isAi('image: x\nresources: {limits: {nvidia.com/gpu: 1}}'), true);
  assert.equal(isAi('image: x\nresources: {limits: {aws.amazon.com/neuron: 1}}'), true);
  assert.equal(isAi('image: x\nresources: {claims: [{name: g}]}'), true);
  assert.equal(isAi('image: x\nresources: {limits: {nvidia.com/gpu: "${GPUS}"}}'), true);
  assert.equal(isAi('image: ollama/ollama'), true);
  assert.equal(isAi('image: x\nresources: {limits: {nvidia.com/gpu: 0}}'), false);
  assert.equal(isAi('image: x\nresources: {limits: {vpc.amazonaws.com/efa: 1}}'), false);
});

test('serving: a kind that lives on, and a port', () => {
  const serves = (text: string, part?: string): boolean => {
    const template =
      templatesOf(text).find((each) => part === undefined || each.part === part) ?? assert.fail();
    return isServing(template.resource, template);
  };
  const gpu = 'resources: {limits: {nvidia.com/gpu: 1}}';
  assert.equal(serves(deployment(`image: x\n${gpu}\nports: [{containerPort: 80}]`)), true);
  assert.equal(serves(deployment(`image: x\n${gpu}`)), false);
  assert.equal(serves(deployment(`image: vllm/vllm-openai\nargs: [--model, m]\n${gpu}`)), true);
  assert.equal(serves(deployment('image: nginx\nports: [{containerPort: 80}]')), false);
  assert.equal(
    serves(deployment(`image: jupyter/scipy-notebook\n${gpu}\nports: [{containerPort: 8888}]`)),
    false,
  );
  assert.equal(
    serves(deployment(`image: x\ncommand: [torchrun, train.py]\n${gpu}\nports: [{containerPort: 29500}]`)),
    false,
  );
  const job = deployment(`image: vllm/vllm-openai\nargs: [--model, m]\n${gpu}`)
    .replace('apps/v1', 'batch/v1')
    .replace('Deployment', 'Job');
  assert.equal(serves(job), false);
  const lws = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: x}
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate: {spec: {containers: [{name: l, image: vllm/vllm-openai, command: [vllm, serve, m], ${gpu}, ports: [{containerPort: 8000}]}]}}
    workerTemplate: {spec: {containers: [{name: w, image: vllm/vllm-openai, command: [bash, run-worker.sh], ${gpu}, ports: [{containerPort: 8000}]}]}}
`;
  assert.equal(serves(lws, 'leader'), true);
  assert.equal(serves(lws, 'worker'), false);
});
