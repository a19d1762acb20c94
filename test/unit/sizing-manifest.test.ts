import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modelServers } from '../../server/src/kube/model-server';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import { servingOf, type Serving } from '../../server/src/sizing/from-manifest';
import { groupGpus } from '../../server/src/sizing/groups';
import { divides, placements } from '../../server/src/sizing/placements';
import { identifyModel } from '../../server/src/sizing/models/identify';
import { tooOldFor } from '../../server/src/sizing/precision-limits';
import { findGpu } from '../../server/src/sizing/gpus';
import { workspaceOf } from '../support/workspace';

interface Shape {
  readonly args?: readonly string[];
  readonly image?: string;
  /** Lines of the pod spec, indented by six. */
  readonly pod?: string;
  readonly limits?: string;
  readonly env?: string;
}

function manifest({
  args = [],
  image = 'vllm/vllm-openai:v0.11.0',
  pod = '',
  limits,
  env = '[]',
}: Shape): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: { name: chat }
spec:
  selector: { matchLabels: { app: chat } }
  template:
    metadata: { labels: { app: chat } }
    spec:
${pod}      containers:
        - name: server
          image: ${image}
          args: ${JSON.stringify(args)}
          env: ${env}
          resources: { limits: ${limits ?? '{ nvidia.com/gpu: 1 }'} }
`;
}

/** What is told of the one server of a manifest, with the NodePools of the same text. */
function serving(text: string): Serving {
  const workspace = workspaceOf({ 'chat.yaml': text });
  const pools = workspace.byKind('NodePool');
  const [server] = workspace.resources.flatMap(podTemplates).flatMap(modelServers);
  assert.ok(server, 'a model server');
  const found = servingOf(server, { pools });
  assert.ok(found, 'a known model');
  return found;
}

const model = '--model=Qwen/Qwen2.5-7B-Instruct';
const select = (map: string): string => `      nodeSelector: ${map}\n`;

function cards(text: string): readonly string[] {
  const { gpus } = serving(text);
  return [...gpus.choices.map(({ gpu, slice }) => (slice === undefined ? gpu.id : `${gpu.id}/${slice}`))];
}

describe('GPUs that a pod may get', () => {
  const cases: readonly (readonly [string, Shape, readonly string[], boolean])[] = [
    ['an instance type', { pod: select('{ node.kubernetes.io/instance-type: g5.xlarge }') }, ['a10g'], true],
    [
      'the older name of that label',
      { pod: select('{ beta.kubernetes.io/instance-type: g6.xlarge }') },
      ['l4'],
      true,
    ],
    ["Karpenter's label", { pod: select('{ karpenter.k8s.aws/instance-gpu-name: l40s }') }, ['l40s'], true],
    ["Auto Mode's label", { pod: select('{ eks.amazonaws.com/instance-gpu-name: h100 }') }, ['h100'], true],
    [
      'two sizes of one name',
      { pod: select('{ karpenter.k8s.aws/instance-gpu-name: a100 }') },
      ['a100', 'a100-80gb'],
      true,
    ],
    ['a family', { pod: select('{ karpenter.k8s.aws/instance-family: g6e }') }, ['l40s'], true],
    [
      'GPU Feature Discovery',
      { pod: select('{ nvidia.com/gpu.product: NVIDIA-A10G-SHARED }') },
      ['a10g'],
      true,
    ],
    [
      'a MIG product',
      { pod: select('{ nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3-MIG-1g.10gb }') },
      ['h100/1g.10gb'],
      true,
    ],
    ['GKE', { pod: select('{ cloud.google.com/gke-accelerator: nvidia-l4 }') }, ['l4'], true],
    [
      "a label of one's own that names the card",
      { pod: select('{ acme.com/gpu-type: l40s }') },
      ['l40s'],
      true,
    ],
    ["a label of one's own", { pod: select('{ acme.com/pool: large }') }, [], false],
    [
      'a type that is not known',
      { pod: select('{ node.kubernetes.io/instance-type: g9.xlarge }') },
      [],
      false,
    ],
    ['a variable', { pod: select('{ node.kubernetes.io/instance-type: "${TYPE}" }') }, [], false],
    [
      'what any node has',
      { pod: select('{ kubernetes.io/os: linux, node.kubernetes.io/instance-type: g6.xlarge }') },
      ['l4'],
      true,
    ],
  ];
  for (const [name, shape, expected, exhaustive] of cases) {
    test(name, () => {
      const text = manifest({ args: [model], ...shape });
      assert.deepEqual(cards(text), expected);
      assert.equal(serving(text).gpus.exhaustive, exhaustive);
    });
  }

  test('a MIG resource has the memory of its profile', () => {
    const { gpus } = serving(manifest({ args: [model], limits: '{ nvidia.com/mig-1g.10gb: 1 }' }));
    assert.ok(gpus.choices.length > 0);
    for (const { memory, slice } of gpus.choices) {
      assert.equal(slice, '1g.10gb');
      assert.ok(memory.high <= 10 * 2 ** 30);
    }
  });

  test('a resource claim leaves everything open', () => {
    const text = manifest({ args: [model] }).replace(
      'limits: { nvidia.com/gpu: 1 }',
      'claims: [{ name: gpu }]',
    );
    assert.deepEqual(serving(text).gpus.choices, []);
  });

  test('without a selector it is all that EC2 has in that number, the smallest first', () => {
    const { gpus } = serving(manifest({ args: [model], limits: '{ nvidia.com/gpu: 8 }' }));
    assert.equal(gpus.named, false);
    assert.equal(gpus.choices[0]?.gpu.id, 't4');
    assert.ok(gpus.choices.every(({ types }) => types.every((type) => (type.gpus?.count ?? 0) >= 8)));
  });

  test('what the pod asks of CPU and memory rules types out', () => {
    const limits = '{ nvidia.com/gpu: 1, cpu: 100, memory: 500Gi }';
    const { gpus } = serving(
      manifest({ args: [model], limits, pod: select('{ karpenter.k8s.aws/instance-family: g5 }') }),
    );
    assert.deepEqual(
      gpus.choices.flatMap(({ types }) => types.map(({ name }) => name)),
      ['g5.48xlarge'],
    );
  });

  const pool = (name: string, requirements: string, template = ''): string => `---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: ${name} }
spec:
  template:
${template}    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements: [${requirements}]
`;
  const family = (...names: readonly string[]): string =>
    `{ key: karpenter.k8s.aws/instance-family, operator: In, values: [${names.join(', ')}] }`;

  test('pools decide where the pod says nothing, and pools without GPUs do not count', () => {
    const text = manifest({ args: [model] }) + pool('gpu', family('g5', 'g6')) + pool('cpu', family('m7i'));
    assert.deepEqual([...cards(text)].sort(), ['a10g', 'l4']);
    assert.equal(serving(text).gpus.exhaustive, true);
  });

  test('pool and selector narrow each other', () => {
    const pod = select('{ karpenter.k8s.aws/instance-gpu-name: l4 }');
    assert.deepEqual(cards(manifest({ args: [model], pod }) + pool('gpu', family('g5', 'g6'))), ['l4']);
  });

  test('a requirement of a pool that is only known later leaves open what it leaves open', () => {
    const size = '{ key: karpenter.k8s.aws/instance-size, operator: In, values: ["${SIZE}"] }';
    assert.deepEqual(cards(manifest({ args: [model] }) + pool('gpu', `${family('g5')}, ${size}`)), ['a10g']);
    const any = cards(manifest({ args: [model] }) + pool('gpu', family('${FAMILY}')));
    assert.ok(any.length > 3);
  });
});

describe('what a server loads', () => {
  const precision = (shape: Shape): readonly [string | undefined, string | undefined] => {
    const { config, bestCase } = serving(manifest(shape));
    return [config?.quantization, bestCase?.quantization];
  };

  test('a repository without a word is 16 bit', () => {
    assert.deepEqual(precision({ args: [model] }), ['bf16', 'bf16']);
  });

  test('the name says it', () => {
    assert.deepEqual(precision({ args: ['--model=Qwen/Qwen2.5-7B-Instruct-AWQ'] }), ['awq', 'awq']);
    assert.deepEqual(precision({ args: ['--model=s3://acme/llama-3-70b-awq/'] }), ['awq', 'awq']);
  });

  test('a path without a word can hold anything', () => {
    assert.deepEqual(precision({ args: ['--model=/models/qwen2.5-7b-instruct'] }), [undefined, 'int4']);
  });

  test('an option quantises while it loads, and keeps what is quantised', () => {
    assert.deepEqual(precision({ args: [model, '--quantization=fp8'] }), ['fp8', 'fp8']);
    assert.deepEqual(precision({ args: [model, '--quantization', 'bitsandbytes'] }), [
      'bnb-4bit',
      'bnb-4bit',
    ]);
    assert.deepEqual(precision({ args: ['--model=deepseek-ai/DeepSeek-R1', '--quantization=fp8'] }), [
      'fp8-block',
      'fp8-block',
    ]);
    assert.deepEqual(precision({ args: [model, '--quantization=compressed-tensors'] }), [undefined, 'int4']);
    assert.deepEqual(precision({ args: [model, '--quantization=${Q}'] }), [undefined, 'int4']);
  });

  test('a NIM chooses by the GPU', () => {
    assert.deepEqual(precision({ image: 'nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8' }), [undefined, 'int4']);
  });

  test("the version is that of vLLM's own images, and the generation that of the variable", () => {
    assert.deepEqual(serving(manifest({ args: [model] })).engine, { kind: 'vllm', version: [0, 11] });
    assert.deepEqual(serving(manifest({ args: [model], image: 'registry.acme.com/vllm-ours:v3.2' })).engine, {
      kind: 'vllm',
    });
    const env = '[{ name: VLLM_USE_V1, value: "0" }]';
    assert.deepEqual(serving(manifest({ args: [model], image: 'vllm/vllm-openai:v0.9.1', env })).engine, {
      kind: 'vllm',
      version: [0, 9],
      generation: 'V0',
    });
  });

  test('options become the configuration', () => {
    const args = [
      model,
      '--gpu-memory-utilization=0.8',
      '--max-model-len=32k',
      '--max-num-seqs',
      '64',
      '--enforce-eager',
      '--kv-cache-dtype=fp8',
      '--cpu-offload-gb=2',
    ];
    const { config, contextKnown } = serving(manifest({ args }));
    assert.equal(contextKnown, true);
    assert.equal(config?.utilization, 0.8);
    assert.equal(config.maxModelLen, 32000);
    assert.equal(config.maxNumSeqs, 64);
    assert.equal(config.enforceEager, true);
    assert.equal(config.kvElementBytes, 1);
    assert.equal(config.cpuOffloadBytes, 2 * 2 ** 30);
  });

  test('what changes the room or the maximum makes the length unknown', () => {
    for (const flag of [
      '--num-gpu-blocks-override=100',
      '--kv-cache-memory-bytes=1G',
      '--hf-overrides={}',
      '--max-model-len=${N}',
    ]) {
      assert.equal(serving(manifest({ args: [model, flag] })).contextKnown, false, flag);
    }
    // A written length does not depend on the maximum.
    assert.equal(
      serving(manifest({ args: [model, '--hf-overrides={}', '--max-model-len=4096'] })).contextKnown,
      true,
    );
  });

  test('tensor parallel that is only known later may be over all GPUs', () => {
    const { config, bestCase } = serving(
      manifest({ args: [model, '--tensor-parallel-size=${TP}'], limits: '{ nvidia.com/gpu: 4 }' }),
    );
    assert.equal(config, undefined);
    assert.equal(bestCase?.tensorParallel, 4);
  });
});

describe('GPUs of a group', () => {
  const total = (text: string): number | undefined => {
    const workspace = workspaceOf({ 'group.yaml': text });
    const [server] = workspace.resources.flatMap(podTemplates).flatMap(modelServers);
    assert.ok(server, 'a model server');
    return groupGpus(server).total;
  };
  const container = (gpus: number, command = '["vllm", "serve", "deepseek-ai/DeepSeek-R1"]'): string =>
    `{ name: server, image: "vllm/vllm-openai:v0.11.0", command: ${command}, resources: { limits: { nvidia.com/gpu: ${gpus} } } }`;
  const lws = (spec: string): string =>
    `apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: { name: group }\nspec: { leaderWorkerTemplate: { ${spec} } }\n`;

  test('LeaderWorkerSet: size times the GPUs of a pod', () => {
    assert.equal(total(lws(`size: 2, workerTemplate: { spec: { containers: [${container(8)}] } }`)), 16);
  });

  test('LeaderWorkerSet: a leader of its own', () => {
    const leader = `leaderTemplate: { spec: { containers: [${container(4)}] } }`;
    const worker = `workerTemplate: { spec: { containers: [${container(8, '["ray", "start"]')}] } }`;
    assert.equal(total(lws(`size: 3, ${leader}, ${worker}`)), 20);
  });

  test('--nnodes', () => {
    assert.equal(total(manifest({ args: [model, '--nnodes=2'], limits: '{ nvidia.com/gpu: 8 }' })), 16);
  });

  test('what joins others by hand is not known', () => {
    for (const flag of ['--headless', '--data-parallel-address=10.0.0.1', '--node-rank=1']) {
      assert.equal(total(manifest({ args: [model, flag] })), undefined, flag);
    }
    assert.equal(
      total(manifest({ args: [model], env: '[{ name: RAY_ADDRESS, value: "ray:6379" }]' })),
      undefined,
    );
  });

  const ray = (scaling: string, group: string): string => `apiVersion: ray.io/v1
kind: RayService
metadata: { name: llm }
spec:
  serveConfigV2: |
    applications:
      - import_path: ray.serve.llm:build_openai_app
        args: { llm_configs: [{ model_loading_config: { model_id: a, model_source: Qwen/Qwen3-32B } }] }
  rayClusterConfig:
${scaling}    headGroupSpec: { template: { spec: { containers: [{ name: head, image: "rayproject/ray:2.46.0" }] } } }
    workerGroupSpecs:
      - groupName: gpu
${group}        template: { spec: { containers: [{ name: worker, image: "rayproject/ray:2.46.0", resources: { limits: { nvidia.com/gpu: 4 } } }] } }
`;

  test('Ray: replicas times hosts, or as many as the autoscaler may make', () => {
    assert.equal(total(ray('', '        replicas: 2\n')), 8);
    assert.equal(total(ray('', '        replicas: 1\n        numOfHosts: 3\n')), 12);
    assert.equal(
      total(ray('    enableInTreeAutoscaling: true\n', '        replicas: 1\n        maxReplicas: 5\n')),
      20,
    );
    assert.equal(total(ray('    enableInTreeAutoscaling: true\n', '        replicas: 1\n')), undefined);
  });
});

describe('where a model fits', () => {
  const named = (name: string) => {
    const found = identifyModel(name);
    assert.ok(found, name);
    return { model: found, engine: { kind: 'vllm' } as const, maxModelLen: 8192 };
  };

  test('cheapest first, with the smallest tensor parallel that fits', () => {
    const found = placements(named('meta-llama/Llama-3.1-8B-Instruct'));
    assert.equal(found[0]?.type.name, 'g6.xlarge');
    assert.equal(found[0].tensorParallel, 1);
    const prices = found.map(({ type }) => type.onDemandPrice ?? Infinity);
    assert.deepEqual(
      prices,
      prices.toSorted((a, b) => a - b),
    );
  });

  test('only numbers that divide the heads', () => {
    const config = named('tiiuae/falcon-7b');
    assert.equal(divides(config, 2), false);
    assert.ok(placements(config).every(({ tensorParallel }) => tensorParallel === 1));
  });
});

describe('formats that a GPU lacks', () => {
  const gpu = (name: string) => {
    const found = findGpu(name);
    assert.ok(found, name);
    return found;
  };

  test('the version decides where kernels came later', () => {
    assert.equal(tooOldFor(gpu('t4'), 'fp8', 'vllm', { kind: 'vllm', version: [0, 10] })?.least, 8);
    assert.equal(tooOldFor(gpu('t4'), 'fp8', 'vllm', { kind: 'vllm' }), undefined);
    assert.equal(tooOldFor(gpu('v100'), 'fp8', 'vllm', { kind: 'vllm' })?.least, 7.5);
    assert.equal(tooOldFor(gpu('h100'), 'nvfp4', 'vllm', { kind: 'vllm', version: [0, 8] })?.least, 10);
    assert.equal(tooOldFor(gpu('h100'), 'nvfp4', 'tensorrt-llm', { kind: 'tensorrt-llm' })?.least, 10);
    assert.equal(tooOldFor(gpu('a10g'), 'bfloat16', 'vllm', { kind: 'vllm' }), undefined);
    assert.equal(tooOldFor(gpu('mi300x'), 'bfloat16', 'vllm', { kind: 'vllm' }), undefined);
  });
});
