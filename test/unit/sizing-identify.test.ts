import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { modelCatalogue } from '../../server/src/sizing/models/catalogue';
import { identifyModel } from '../../server/src/sizing/models/identify';
import { bitsPerWeightIn, quantizationIn } from '../../server/src/sizing/models/quantization';
import { countParameters } from '../../server/src/sizing/models/weights';

/** Name, expected model, expected precision. */
const names: readonly (readonly [string, string, string?])[] = [
  ['meta-llama/Llama-3.1-8B-Instruct', 'meta-llama/Llama-3.1-8B'],
  ['NousResearch/Meta-Llama-3-8B-Instruct', 'meta-llama/Meta-Llama-3-8B'],
  ['/models/llama-3-70b-awq/', 'meta-llama/Meta-Llama-3-70B', 'awq'],
  ['s3://weights/team/llama-3-70b-awq/', 'meta-llama/Meta-Llama-3-70B', 'awq'],
  ['nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8', 'meta-llama/Llama-3.1-8B'],
  ['nvcr.io/nim/meta/llama3-8b-instruct:1.0.0', 'meta-llama/Meta-Llama-3-8B'],
  ['nvcr.io/nim/mistralai/mixtral-8x7b-instruct-v01:1.2.1', 'mistralai/Mixtral-8x7B-Instruct-v0.1'],
  ['llama3.1:70b-instruct-q4_K_M', 'meta-llama/Llama-3.1-70B', 'gguf-q4_k_m'],
  ['qwen2.5-coder:7b', 'Qwen/Qwen2.5-7B-Instruct'],
  ['deepseek-r1:14b', 'deepseek-ai/DeepSeek-R1-Distill-Qwen-14B'],
  ['RedHatAI/Qwen2.5-7B-Instruct-FP8-dynamic', 'Qwen/Qwen2.5-7B-Instruct', 'fp8'],
  ['neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8', 'meta-llama/Llama-3.1-70B', 'int8'],
  ['hugging-quants/Meta-Llama-3.1-405B-Instruct-AWQ-INT4', 'meta-llama/Llama-3.1-405B', 'awq'],
  ['meta-llama/Llama-3.1-405B-Instruct-FP8', 'meta-llama/Llama-3.1-405B-Instruct-FP8', 'fp8-fbgemm'],
  ['unsloth/Qwen3-32B-bnb-4bit', 'Qwen/Qwen3-32B', 'bnb-4bit'],
  ['nvidia/Qwen3.6-35B-A3B-NVFP4', 'Qwen/Qwen3.5-35B-A3B', 'nvfp4'],
  ['Qwen/Qwen3-30B-A3B-Instruct-2507-FP8', 'Qwen/Qwen3-30B-A3B-Instruct-2507', 'fp8'],
  ['Llama-3.1-Nemotron-70B-Instruct-HF', 'meta-llama/Llama-3.1-70B'],
  ['NousResearch/Hermes-3-Llama-3.1-8B', 'meta-llama/Llama-3.1-8B'],
  [
    '/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/895c8d171bc03c30e113cd7a28c02494b5e068b7',
    'Qwen/Qwen3-8B',
  ],
  [
    'bartowski/Llama-3.3-70B-Instruct-GGUF/Llama-3.3-70B-Instruct-Q4_K_M.gguf',
    'meta-llama/Llama-3.3-70B-Instruct',
    'gguf-q4_k_m',
  ],
  ['deepseek-ai/DeepSeek-R1', 'deepseek-ai/DeepSeek-V3', 'fp8-block'],
  ['moonshotai/Kimi-K2.5', 'moonshotai/Kimi-K2.5', 'int4-experts'],
  ['openai/gpt-oss-120b', 'openai/gpt-oss-120b', 'mxfp4-experts'],
  ['facebook/opt-125m', 'facebook/opt-125m'],
  ['mistralai/Mistral-7B-Instruct-v0.1', 'mistralai/Mistral-7B-v0.1'],
  ['mistralai/Mistral-7B-Instruct-v0.2', 'mistralai/Mistral-7B-Instruct-v0.2'],
  ['microsoft/Phi-4-mini-instruct', 'microsoft/Phi-4-mini-instruct'],
  ['phi4', 'microsoft/phi-4'],
  ['nvidia/Cosmos-Reason2-2B', 'Qwen/Qwen3-VL-2B-Instruct'],
  ['nvcr.io/nim/nvidia/cosmos-reason2-2b:1.7.0', 'nim/nvidia/cosmos-reason2-2b'],
];

for (const [name, id, precision] of names) {
  test(`${name} is ${id}${precision === undefined ? '' : ` in ${precision}`}`, () => {
    const identity = identifyModel(name);
    assert.equal(identity?.model?.id, id);
    assert.equal(identity?.quantization, precision);
  });
}

test('only the size of an unknown model is known, and within bounds', () => {
  const sizes: readonly (readonly [string, number])[] = [
    ['acme/assistant-70B-chat', 70e9],
    ['acme/tiny-350m', 350e6],
    ['acme/nano-0.5B', 0.5e9],
    ['acme/Giant-405b', 405e9],
    ['acme/Foo-30B-A3B', 30e9],
  ];
  for (const [name, parameters] of sizes) {
    const identity = identifyModel(name);
    assert.equal(identity?.matchedBy, 'name-size', name);
    assert.equal(identity.model, undefined);
    assert.ok(identity.parameters.low < parameters && parameters < identity.parameters.high, name);
  }
  // Experts share attention, so that 8x7B is below 56 billion.
  const mixture = identifyModel('acme/Foo-8x7B');
  assert.ok(mixture !== undefined && mixture.parameters.expected < 56e9 && mixture.parameters.low < 46.7e9);
});

test('nothing is made of names that say nothing', () => {
  for (const name of [
    'default',
    'my-app',
    '/mnt/models',
    'registry.example.com/app:1.2.3',
    'acme/v2b',
    'sha256:1b3f7a',
    'release-2b3c4d5e6f',
    'models/3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    'zai-org/GLM-5.2-FP8',
    '',
  ]) {
    assert.equal(identifyModel(name), undefined, JSON.stringify(name));
  }
});

test('a size that contradicts a known name is not that model', () => {
  assert.equal(identifyModel('acme/DeepSeek-R1-Distill-Foo-3B')?.model, undefined);
  assert.equal(identifyModel('Qwen/Qwen2.5-VL-99B')?.model, undefined);
});

test("Ollama's library fills in a size and a precision", () => {
  const identity = identifyModel('llama3.1', { library: 'ollama' });
  assert.equal(identity?.model?.id, 'meta-llama/Llama-3.1-8B');
  assert.equal(identity?.quantization, 'gguf-q4_k_m');
  assert.equal(identifyModel('gpt-oss', { library: 'ollama' })?.quantization, 'mxfp4-experts');
  assert.equal(identifyModel('qwen2.5:14b', { library: 'ollama' })?.quantization, 'gguf-q4_k_m');
});

test('a described model wins over the catalogue and keeps what it does not say', () => {
  const identity = identifyModel('acme/house-model', {
    userModels: [
      {
        name: 'acme/house-model',
        parameters: 12e9,
        layers: 40,
        kvHeads: 8,
        headDim: 128,
        maxPositions: 65536,
      },
    ],
  });
  assert.equal(identity?.matchedBy, 'user');
  assert.equal(identity.parameters.expected, 12e9);
  assert.equal(identity.model?.shape?.layers, 40);
  const copy = identifyModel('/models/house', {
    userModels: [{ name: 'house', parameters: 8.03e9, quantization: 'awq' }],
  });
  assert.equal(copy?.quantization, 'awq');
});

test('precisions in names and options', () => {
  const words: readonly (readonly [string, string | undefined])[] = [
    ['Foo-FP8', 'fp8'],
    ['Foo-AWQ', 'awq'],
    ['Foo-GPTQ-Int4', 'gptq'],
    ['Foo-GPTQ-Int8', 'gptq-int8'],
    ['Foo-INT4', 'int4'],
    ['Foo-quantized.w8a8', 'int8'],
    ['Foo-w4a16', 'int4'],
    ['Foo-NVFP4', 'nvfp4'],
    ['Foo-MXFP4', 'mxfp4'],
    ['foo-q4_K_M', 'gguf-q4_k_m'],
    ['foo.IQ4_XS.gguf', 'gguf-iq4_xs'],
    ['foo-bnb-4bit', 'bnb-4bit'],
    ['bitsandbytes', 'bnb-4bit'],
    ['awq_marlin', 'awq'],
    ['half', 'fp16'],
    ['bfloat16', 'bf16'],
    ['Foo-8B', undefined],
    ['Q4you-7B', undefined],
  ];
  for (const [name, precision] of words) assert.equal(quantizationIn(name), precision, name);
  assert.equal(bitsPerWeightIn('turboderp/Llama-3-8B-exl2-4.0bpw'), 4);
  assert.equal(bitsPerWeightIn('Llama-3-8B'), undefined);
});

test('parameters counted from the dimensions are those that are published', () => {
  // Layers whose inner sizes are not public, pruned ones, and learned positions or norms with biases.
  const partly = new Set(['ibm-granite/granite-4.1-8b']);
  for (const spec of modelCatalogue) {
    if (spec.shape === undefined || partly.has(spec.id) || spec.id.includes('Nemotron-3')) continue;
    const counted = countParameters(spec.shape);
    const error = Math.abs(counted - spec.parameters) / spec.parameters;
    assert.ok(error < 0.015, `${spec.id}: counted ${counted}, published ${spec.parameters}`);
  }
});

test('names are unique and every entry names its source', () => {
  const seen = new Map<string, string>();
  for (const spec of modelCatalogue) {
    assert.ok(spec.source.length > 0 && spec.parameters > 0, spec.id);
    for (const name of [spec.id, ...spec.aliases]) {
      const before = seen.get(name.toLowerCase());
      assert.ok(
        before === undefined || name.toLowerCase() === 'nim/nvidia/cosmos-reason2-2b',
        `${name} twice: ${before} and ${spec.id}`,
      );
      seen.set(name.toLowerCase(), spec.id);
    }
  }
});

const facts = join(__dirname, '..', '..', '..', 'shared', 'facts', 'models.json');

test(
  'every collected model is in the catalogue with its figures',
  { skip: existsSync(facts) ? false : 'the collected figures are not beside this checkout' },
  () => {
    const entries = JSON.parse(readFileSync(facts, 'utf8')) as readonly Record<string, unknown>[];
    for (const entry of entries) {
      const spec = identifyModel(String(entry['id']))?.model;
      assert.ok(spec !== undefined, `${String(entry['id'])} is missing`);
      if (typeof entry['publishedParamsB'] === 'number' && !spec.id.startsWith('Qwen/Qwen3.5')) {
        assert.ok(Math.abs(spec.parameters / 1e9 / entry['publishedParamsB'] - 1) < 0.001, spec.id);
      }
      const shape = spec.shape;
      if (shape === undefined || entry['modality'] !== 'text-generation') continue;
      assert.equal(shape.layers, entry['layers'], spec.id);
      assert.equal(shape.kvHeads, entry['kvHeads'], spec.id);
      assert.equal(shape.headDim, entry['headDim'], spec.id);
      assert.equal(spec.maxPositions, entry['maxPositionEmbeddings'], spec.id);
    }
  },
);
