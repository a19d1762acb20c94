import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGpu, gpus } from '../../server/src/sizing/gpus';
import { createAllocator } from '../../server/src/sizing/memory/allocator';
import type { Engine } from '../../server/src/sizing/memory/engines';
import {
  engineOfServer,
  generationOf,
  parseVersion,
  vllmTraits,
} from '../../server/src/sizing/memory/engines';
import { estimate, kvElementBytesOf } from '../../server/src/sizing/memory/estimate';
import type { MemoryEstimate, ServingConfig } from '../../server/src/sizing/memory/estimate';
import {
  kvLayout,
  longestRequest,
  printedTokens,
  requestBytes,
} from '../../server/src/sizing/memory/kv-cache';
import type { KvOptions } from '../../server/src/sizing/memory/kv-cache';
import { modelCatalogue } from '../../server/src/sizing/models/catalogue';
import { identifyModel } from '../../server/src/sizing/models/identify';
import { exactly, GiB, MiB } from '../../server/src/sizing/models/range';
import type { Range } from '../../server/src/sizing/models/range';
import type { DecoderShape } from '../../server/src/sizing/models/types';
import { unsplit } from '../../server/src/sizing/models/weights';
import { measuredCases } from '../vectors/data/memory-cases';
import { evaluateCase, meetsTargets, readCases, run, totalsOf } from '../vectors/memory';

const vllm: Engine = { kind: 'vllm' };
const v0: Engine = { kind: 'vllm', generation: 'V0' };

function shapeOf(name: string): DecoderShape {
  const shape = identifyModel(name)?.model?.shape;
  assert.ok(shape !== undefined, name);
  return shape;
}

function serving(name: string, rest: Partial<ServingConfig> = {}): MemoryEstimate {
  const model = identifyModel(name);
  assert.ok(model !== undefined, name);
  return estimate({ model, engine: vllm, ...rest });
}

function card(name: string): { gpu: NonNullable<ReturnType<typeof findGpu>> } {
  const gpu = findGpu(name);
  assert.ok(gpu !== undefined, name);
  return { gpu };
}

const near = (value: number, expected: number, tolerance: number, message?: string): void =>
  assert.ok(Math.abs(value / expected - 1) <= tolerance, `${message ?? ''} ${value} is not near ${expected}`);

test('the allocator rounds as PyTorch does', () => {
  const rounded = createAllocator();
  // 259 MiB come in a segment of 260; the rest of 1 MiB is not cut off, so that it counts.
  rounded.allocate(259 * MiB);
  assert.deepEqual(rounded.result(), { allocated: 260 * MiB, reserved: 260 * MiB });
  const cut = createAllocator();
  // Of 24.5 MiB in 26 the rest of 1.5 MiB is cut off and stays free.
  cut.allocate(24.5 * MiB);
  assert.deepEqual(cut.result(), { allocated: 24.5 * MiB, reserved: 26 * MiB });
  const shared = createAllocator();
  shared.allocate(8 * MiB);
  shared.allocate(8 * MiB);
  assert.deepEqual(shared.result(), { allocated: 16 * MiB, reserved: 20 * MiB });
  const small = createAllocator();
  small.allocate(1);
  assert.deepEqual(small.result(), { allocated: 512, reserved: 2 * MiB });
});

test('weights of a GPU are those that logs print', () => {
  const cases: readonly (readonly [string, Partial<ServingConfig>, number])[] = [
    ['meta-llama/Llama-3.1-8B-Instruct', { engine: v0 }, 14.9888],
    ['Qwen/Qwen3-8B', { engine: { kind: 'vllm', generation: 'V1' } }, 15.2683],
    ['deepseek-ai/DeepSeek-R1-Distill-Qwen-14B', { engine: v0, tensorParallel: 2 }, 13.95],
    ['Qwen/Qwen3-30B-A3B', { engine: v0, tensorParallel: 4 }, 14.2474],
    ['Qwen/Qwen2.5-14B-Instruct-AWQ', { engine: { kind: 'vllm', generation: 'V1' } }, 9.38],
    ['Qwen/QwQ-32B', { engine: { kind: 'sglang' }, tensorParallel: 4 }, 15.54],
    ['Qwen/Qwen2.5-7B-Instruct-AWQ', { engine: { kind: 'vllm', version: [0, 31] } }, 5.38],
  ];
  for (const [name, config, measured] of cases) {
    near(serving(name, config).weights.perGpu.expected / GiB, measured, 0.004, name);
  }
});

test('MLA before 0.8 multiplied projections out, which shows in the weights', () => {
  const old = serving('deepseek-ai/DeepSeek-R1', { engine: v0, tensorParallel: 8 });
  const later = serving('deepseek-ai/DeepSeek-R1', {
    engine: { kind: 'vllm', version: [0, 8], generation: 'V0' },
    tensorParallel: 8,
  });
  near(old.weights.perGpu.expected / GiB, 83.88, 0.01);
  assert.ok(later.weights.perGpu.expected < old.weights.perGpu.expected - 3 * GiB);
});

const options = (rest: Partial<KvOptions> = {}): KvOptions => ({
  split: unsplit,
  elementBytes: 2,
  engine: { kind: 'vllm', generation: 'V1' },
  ...rest,
});

test('KV bytes for each token: grouped queries, replication, latent attention, fp8', () => {
  const llama = shapeOf('meta-llama/Llama-3.1-8B');
  assert.equal(kvLayout(llama, options()).growingBytesPerToken, 131072);
  assert.equal(kvLayout(llama, options({ elementBytes: 1 })).growingBytesPerToken, 65536);
  const tp = (tensor: number): Partial<KvOptions> => ({ split: { ...unsplit, tensor } });
  assert.equal(kvLayout(llama, options(tp(8))).growingBytesPerToken, 16384);
  // Eight KV heads on sixteen GPUs are replicated.
  assert.equal(kvLayout(llama, options(tp(16))).growingBytesPerToken, 16384);
  const r1 = shapeOf('deepseek-ai/DeepSeek-R1');
  assert.equal(kvLayout(r1, options(tp(8))).growingBytesPerToken, 61 * 576 * 2);
  // V0 aligned entries to 256 bytes.
  assert.equal(kvLayout(r1, options({ engine: v0 })).growingBytesPerToken, 61 * 640 * 2);
  assert.equal(kvLayout(r1, options({ engine: v0, rocm: true })).growingBytesPerToken, 61 * 576 * 2);
  assert.equal(
    requestBytes(kvLayout(shapeOf('Mistral-Small-4-119B-2603'), options()), 1_048_576, options()) / GiB,
    22.5,
  );
});

test('hybrid models are laid out in groups of layers', () => {
  // Gemma 3 27B before 0.22: 10 full and 52 local layers become seven groups of ten, 13 % more than all layers.
  const gemma = kvLayout(
    shapeOf('google/gemma-3-27b-it'),
    options({ engine: { kind: 'vllm', version: [0, 11] } }),
  );
  assert.equal(gemma.groups.length, 7);
  assert.equal((gemma.blockBytes * gemma.groups.length) / 16, 573440);
  // Qwen3.6 35B with fp8 KV on 0.24: 569,878 tokens in 6.01 GiB were printed at 131,072.
  const engine: Engine = { kind: 'vllm', version: [0, 24] };
  const kv = options({ engine, elementBytes: 1 });
  const qwen = kvLayout(shapeOf('Qwen/Qwen3.6-35B-A3B'), kv);
  assert.equal(printedTokens(qwen, 6.01 * GiB, kv, 131072), 569878);
  // Gemma 4 E4B shares the cache of 18 of its 42 layers.
  const shared = options({ engine: { kind: 'vllm', generation: 'V1', version: [0, 20] } });
  near(
    printedTokens(kvLayout(shapeOf('google/gemma-4-E4B-it'), shared), 2.74 * GiB, shared, 4096) ?? 0,
    29968,
    0.002,
  );
});

test('the longest request is rounded down to a block', () => {
  const qwen = kvLayout(shapeOf('Qwen/Qwen3-8B'), options());
  assert.equal(longestRequest(qwen, 2.4 * GiB, options(), 40960), 17472);
  const awq = kvLayout(shapeOf('Qwen/Qwen2.5-14B-Instruct'), options());
  assert.equal(longestRequest(awq, 0.18 * GiB, options(), 32768), 976);
  assert.equal(longestRequest(qwen, 0, options(), 40960), 0);
  assert.equal(longestRequest(qwen, 100 * GiB, options(), 40960), 40960);
  const gemma = kvLayout(shapeOf('google/gemma-3-27b-it'), options());
  const longest = longestRequest(gemma, 10 * GiB, options(), 131072);
  assert.ok(requestBytes(gemma, longest, options()) <= 10 * GiB);
  assert.ok(requestBytes(gemma, longest + 16, options()) > 10 * GiB);
});

test('activations follow the profiled step of V0', () => {
  const llama = (maxModelLen: number): number =>
    serving('meta-llama/Llama-3.1-8B', { engine: v0, maxModelLen, maxNumSeqs: 1 }).activation.expected / GiB;
  near(llama(20000), 2.07, 0.01);
  near(llama(29000), 2.99, 0.01);
  // Above 32k chunked prefill switches on, and activations shrink.
  near(llama(131072), 0.22, 0.05);
  // 256 sequences are sampled: 1.40 GiB for Qwen's vocabulary.
  near(
    serving('Qwen/Qwen2.5-Math-1.5B', { engine: v0, maxModelLen: 4096 }).activation.expected / GiB,
    1.4,
    0.01,
  );
});

test('an 8B model at its full length does not start on an A10G, and the largest length is named', () => {
  for (const engine of [vllm, v0]) {
    const answer = serving('meta-llama/Llama-3.1-8B-Instruct', {
      engine,
      ...card('a10g'),
      maxModelLen: 131072,
    });
    assert.equal(answer.weightsFit, 'yes');
    assert.equal(answer.contextFits, 'no');
    assert.equal(answer.fits, 'no');
    assert.equal(answer.kvNeeded?.expected, 16 * GiB);
    // 37,696 tokens were measured on that class of GPU.
    near(answer.kv?.longestRequest?.expected ?? 0, 37696, 0.05);
  }
  const shorter = serving('meta-llama/Llama-3.1-8B-Instruct', { ...card('a10g'), maxModelLen: 8192 });
  assert.equal(shorter.contextFits, 'yes');
});

test('what runs in reality is never said not to fit', () => {
  const results = readCases(measuredCases).map(evaluateCase);
  for (const result of results) {
    const started =
      result.case.kvTokens !== undefined &&
      result.case.maxModelLen !== undefined &&
      result.case.kvTokens >= result.case.maxModelLen;
    if (result.estimate === undefined || !started || result.setAside.length > 0) continue;
    assert.notEqual(result.estimate.fits, 'no', result.case.id);
  }
});

test('measured servers: weights, tokens and room meet the targets', () => {
  const totals = totalsOf(readCases(measuredCases).map(evaluateCase));
  assert.ok(totals.weights[1] >= 30 && totals.kv[1] >= 25 && totals.range[1] >= 18);
  assert.ok(meetsTargets(totals), JSON.stringify(totals));
});

test('the runner survives cases that say little, and counts unknown models as misses', async () => {
  const result = await run(
    [
      null,
      7,
      {},
      { id: 'empty', model: null, weightsGiBPerGpu: 3 },
      {
        id: 'unknown',
        model: 'acme/Unheard-Of',
        gpu: null,
        engine: null,
        weightsGiBPerGpu: 3,
        kvCacheGiBPerGpu: 1,
        kvTokens: 10,
        gpuMemoryUtilization: 0.9,
      },
      { id: 'known', model: 'Qwen/Qwen3-8B', engine: 'vLLM V1', weightsGiBPerGpu: 15.27, tensorParallel: 1 },
    ],
    [],
  );
  assert.match(
    result.summary,
    /^weights 1 of 2 within 2 %, kv 0 of 1 within 0.2 %, range 0 of 1, median width unbounded %$/,
  );
  assert.ok(result.differences.some((line) => line.startsWith('unknown: unknown model "acme/Unheard-Of"')));
  assert.equal(result.ok, false);
});

test('unknown stays unknown', () => {
  const bare = serving('acme/assistant-70B', { tensorParallel: 4 });
  assert.equal(bare.fits, 'unknown');
  assert.equal(bare.kv, undefined);
  assert.ok(bare.kvPerToken !== undefined && bare.kvPerToken.high > 3 * bare.kvPerToken.low);
  const withoutShape = serving('deepseek-ai/DeepSeek-V4-Flash', { ...card('h200'), tensorParallel: 8 });
  assert.equal(withoutShape.kvPerToken, undefined);
  assert.equal(withoutShape.contextFits, 'unknown');
});

test('models without a cache need weights and working memory only', () => {
  const bge = serving('BAAI/bge-m3', { engine: { kind: 'tei' }, ...card('t4') });
  assert.equal(bge.kvPerToken, undefined);
  assert.equal(bge.fits, 'yes');
  assert.equal(
    serving('openai/whisper-large-v3', { engine: { kind: 'transformers' }, ...card('t4') }).fits,
    'yes',
  );
  // 31.5 GiB of FLUX do not fit 22 GiB, but Diffusers can leave parts on the CPU.
  const flux = (kind: Engine['kind']): string =>
    serving('black-forest-labs/FLUX.1-dev', { engine: { kind }, ...card('a10g') }).fits;
  assert.equal(flux('triton'), 'no');
  assert.equal(flux('transformers'), 'unknown');
  assert.equal(serving('llama3.1:70b', { engine: { kind: 'ollama' }, ...card('t4') }).weightsFit, 'unknown');
});

test('offload, eager mode and a shorter length make room', () => {
  const base = serving('Qwen/Qwen2.5-7B-Instruct', { ...card('l4'), maxModelLen: 4096 });
  const eager = serving('Qwen/Qwen2.5-7B-Instruct', { ...card('l4'), maxModelLen: 4096, enforceEager: true });
  const offloaded = serving('Qwen/Qwen2.5-7B-Instruct', {
    ...card('l4'),
    maxModelLen: 4096,
    cpuOffloadBytes: 4 * GiB,
  });
  assert.ok((eager.kv?.available.expected ?? 0) > (base.kv?.available.expected ?? 0));
  near((offloaded.kv?.available.expected ?? 0) - (base.kv?.available.expected ?? 0), 4 * GiB, 0.01);
  // Measured in eager mode on an L4: 5.46 GiB.
  const measured = eager.kv?.available;
  assert.ok(measured !== undefined && measured.low <= 5.46 * GiB && 5.46 * GiB <= measured.high);
});

test('bounds are in order for every model on every kind of card and engine', () => {
  const ordered = (item: Range | undefined, what: string): void => {
    if (item === undefined) return;
    assert.ok(item.low <= item.expected && item.expected <= item.high && Number.isFinite(item.high), what);
  };
  const engines: readonly Engine[] = [
    vllm,
    v0,
    { kind: 'sglang' },
    { kind: 'tgi' },
    { kind: 'tensorrt-llm' },
    { kind: 'nim' },
    { kind: 'llama.cpp' },
    { kind: 'neuron' },
  ];
  for (const spec of modelCatalogue) {
    const model = {
      name: spec.id,
      model: spec,
      parameters: exactly(spec.parameters),
      matchedBy: 'catalogue',
      reasons: [],
    } as const;
    for (const [index, engine] of engines.entries()) {
      const gpu = gpus[(index * 7) % gpus.length];
      assert.ok(gpu !== undefined);
      const answer = estimate({ model, engine, gpu, tensorParallel: index % 2 === 0 ? 1 : 4 });
      const what = `${spec.id} on ${engine.kind}`;
      for (const item of [
        answer.weights.total,
        answer.weights.perGpu,
        answer.kvPerToken,
        answer.kvNeeded,
        answer.activation,
        answer.nonTorch,
        answer.budget,
        answer.kv?.available,
        answer.kv?.longestRequest,
        answer.kv?.tokens,
        answer.kv?.concurrency,
      ]) {
        ordered(item, what);
      }
      assert.ok(answer.weights.perGpu.low > 0, what);
    }
  }
});

test('versions decide what is assumed of vLLM', () => {
  assert.deepEqual(parseVersion('v0.8.5.post1'), [0, 8]);
  assert.deepEqual(parseVersion('vllm/vllm-openai:v0.10.1'), [0, 10]);
  assert.equal(parseVersion('latest'), undefined);
  assert.equal(generationOf({ kind: 'vllm', version: [0, 6] }), 'V0');
  assert.equal(generationOf({ kind: 'vllm', version: [0, 9] }), 'V1');
  assert.equal(vllmTraits({ kind: 'vllm', version: [0, 19] }).utilization, 0.9);
  assert.equal(vllmTraits({ kind: 'vllm', version: [0, 21] }).utilization, 0.92);
  // A NIM 1.8 is not a vLLM 1.8.
  assert.equal(vllmTraits({ kind: 'nim', version: [1, 8] }).utilization, 0.9);
});

test('a recognised model server is one of the engines', () => {
  assert.deepEqual(engineOfServer('vllm', 'v0.8.5'), { kind: 'vllm', version: [0, 8] });
  assert.deepEqual(engineOfServer('vllm', 'latest'), { kind: 'vllm' });
  assert.deepEqual(engineOfServer('lmi', '0.33.0-lmi15.0.0-cu128'), { kind: 'vllm' });
  assert.deepEqual(engineOfServer('nim', '1.8'), { kind: 'nim', version: [1, 8] });
  assert.equal(kvElementBytesOf('fp8_e4m3'), 1);
  assert.equal(kvElementBytesOf('auto'), 2);
  assert.equal(kvElementBytesOf(undefined), 2);
});

test('MXFP4 experts are as large as the tiles of the kernel that the card gets', () => {
  const weights = (name: string, gpu: string, rest: Partial<ServingConfig> = {}): Range =>
    serving(name, { ...card(gpu), ...rest }).weights.perGpu;
  // Marlin rounds 2880 x 2880 up to 2944 x 3072: vLLM logs 13.72 GiB on A100, A10G and L4 alike.
  for (const gpu of ['a100-80gb', 'a10g', 'l4', 'l40s'])
    near(weights('openai/gpt-oss-20b', gpu).expected, 13.72 * GiB, 0.01, gpu);
  // Two kernels run on Hopper, by version and packages: 64.38 GiB (vLLM issue 33155) and 65.97 (23278).
  const hopper = weights('openai/gpt-oss-120b', 'h100');
  near(hopper.expected, 64.38 * GiB, 0.005);
  assert.ok(hopper.low < 64.38 * GiB && hopper.high > 65.97 * GiB, JSON.stringify(hopper));
  // What is cut over GPUs is rounded up on each: 1440 to 1536.
  const half = weights('openai/gpt-oss-120b', 'l40s', { tensorParallel: 2 });
  assert.ok(half.expected > (65.97 / 2) * 1.03 * GiB, JSON.stringify(half));
  // Other engines and other formats are not padded.
  const ollama = weights('openai/gpt-oss-20b', 'l4', { engine: { kind: 'ollama' } });
  near(ollama.expected, 12.8 * GiB, 0.03);
});
