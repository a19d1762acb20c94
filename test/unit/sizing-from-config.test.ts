import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConfig } from '../../server/src/engine/config';
import { modelEntry, withModel } from '../../server/src/engine/models-edit';
import { estimate } from '../../server/src/sizing/memory/estimate';
import { describeModel } from '../../server/src/sizing/models/from-config';
import { identifyModel } from '../../server/src/sizing/models/identify';
import type { UserModel } from '../../server/src/sizing/models/types';

/** Figures of published `config.json` files, as far as they matter, against the KV cache that is known of the models. */

const llama = {
  architectures: ['LlamaForCausalLM'],
  torch_dtype: 'bfloat16',
  num_hidden_layers: 32,
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  max_position_embeddings: 131072,
  vocab_size: 128256,
};

function read(
  config: object,
  elements: Readonly<Record<string, number>> | undefined = { BF16: 1e9 },
): UserModel {
  const found = describeModel('acme/x', config, elements);
  assert.ok(found !== undefined);
  return found.model;
}

/** Bytes of the cache for one token, as the estimator reckons them from what was read. */
function kvBytes(model: UserModel): number | undefined {
  const identity = identifyModel(model.name, { userModels: [model] });
  assert.ok(identity !== undefined);
  return estimate({ model: identity, engine: { kind: 'vllm' } }).kvPerToken?.expected;
}

describe('config.json', () => {
  test('of a plain decoder', () => {
    const model = read(llama, { BF16: 8_030_261_248 });
    assert.equal(model.parameters, 8_030_261_248);
    assert.equal(model.weightBytes, 16_060_522_496);
    assert.equal(model.headDim, 128);
    assert.equal(kvBytes(model), 131072);
  });

  test('of one that names its parts otherwise: GPT-2, Falcon, ChatGLM, DBRX', () => {
    assert.deepEqual(
      [
        read({ n_layer: 12, n_head: 12, n_embd: 768, n_positions: 1024 }),
        read({ num_hidden_layers: 32, num_attention_heads: 71, hidden_size: 4544, multi_query: true }),
        read({
          num_layers: 40,
          num_attention_heads: 32,
          hidden_size: 4096,
          multi_query_group_num: 2,
          kv_channels: 128,
          seq_length: 131072,
        }),
        read({
          n_layers: 40,
          n_heads: 48,
          d_model: 6144,
          attn_config: { kv_n_heads: 8 },
          max_seq_len: 32768,
        }),
      ].map(({ layers, heads, kvHeads, headDim, maxPositions }) => [
        layers,
        heads,
        kvHeads,
        headDim,
        maxPositions,
      ]),
      [
        [12, 12, 12, 64, 1024],
        [32, 71, 1, 64, undefined],
        [40, 32, 2, 128, 131072],
        [40, 48, 8, 128, 32768],
      ],
    );
  });

  test('of multi-head latent attention', () => {
    const model = read(
      {
        num_hidden_layers: 61,
        num_attention_heads: 128,
        num_key_value_heads: 128,
        hidden_size: 7168,
        kv_lora_rank: 512,
        qk_rope_head_dim: 64,
      },
      { F8_E4M3: 680e9, F32: 1e6, BF16: 4e9 },
    );
    assert.equal(kvBytes(model), 61 * (512 + 64) * 2);
  });

  test('of windows: those of a pattern, of a list, of a switch that is off', () => {
    const base = { num_hidden_layers: 12, num_attention_heads: 8, hidden_size: 1024, sliding_window: 512 };
    const of = (more: object): readonly (number | undefined)[] => {
      const { slidingLayers, slidingWindow } = read({ ...base, ...more });
      return [slidingLayers, slidingWindow];
    };
    assert.deepEqual(of({ sliding_window_pattern: 6 }), [10, 512]);
    assert.deepEqual(of({ model_type: 'gemma2' }), [6, 512]);
    assert.deepEqual(of({ use_sliding_window: false }), [undefined, undefined]);
    assert.deepEqual(of({ use_sliding_window: true, max_window_layers: 8 }), [4, 512]);
    assert.deepEqual(of({}), [12, 512]);
    const types = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? 'sliding_attention' : 'full_attention',
    );
    assert.deepEqual(of({ layer_types: types }), [6, 512]);
  });

  test('of hybrids, whose other layers keep no cache', () => {
    const base = {
      num_hidden_layers: 48,
      num_attention_heads: 16,
      num_key_value_heads: 2,
      hidden_size: 2048,
      head_dim: 256,
    };
    const types = Array.from({ length: 48 }, (_, index) =>
      index % 4 === 3 ? 'full_attention' : 'linear_attention',
    );
    for (const more of [
      { layer_types: types },
      { full_attention_interval: 4 },
      { attn_layer_period: 4, attn_layer_offset: 3 },
      { hybrid_override_pattern: 'MMM*'.repeat(12) },
      { attn_layer_indices: [3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47] },
    ]) {
      assert.equal(read({ ...base, ...more }).attentionLayers, 12, JSON.stringify(more).slice(0, 40));
    }
    assert.equal(kvBytes(read({ ...base, layer_types: types })), 2 * 12 * 2 * 256 * 2);
  });

  test('of models that take more than text, and of encoders', () => {
    const vision = read({
      architectures: ['Qwen2VLForConditionalGeneration'],
      text_config: llama,
      vision_config: { num_hidden_layers: 3, num_attention_heads: 1 },
    });
    assert.equal(vision.layers, 32);
    const encoder = describeModel('acme/x', { ...llama, architectures: ['XLMRobertaModel'] }, { F32: 5e8 });
    assert.equal(encoder?.model.layers, undefined);
    assert.equal(encoder?.model.weightBytes, 2e9);
  });

  for (const [settings, wanted] of [
    [{ quant_method: 'awq', bits: 4, group_size: 128 }, 'awq'],
    [{ quant_method: 'gptq', bits: 8 }, 'gptq-int8'],
    [{ quant_method: 'fp8', weight_block_size: [128, 128] }, 'fp8-block'],
    [{ quant_method: 'fbgemm_fp8' }, 'fp8-fbgemm'],
    [{ quant_method: 'bitsandbytes', load_in_4bit: true }, 'bnb-4bit'],
    [{ quant_method: 'mxfp4' }, 'mxfp4-experts'],
    [{ quant_method: 'modelopt', quant_algo: 'NVFP4' }, 'nvfp4'],
    [
      {
        quant_method: 'compressed-tensors',
        config_groups: { group_0: { weights: { num_bits: 8, type: 'float' } } },
      },
      'fp8',
    ],
    [
      {
        quant_method: 'compressed-tensors',
        config_groups: { group_0: { weights: { num_bits: 4, type: 'int' } } },
      },
      'int4',
    ],
    [{ quant_method: 'something new' }, undefined],
  ] as const) {
    test(`quantised with ${JSON.stringify(settings)}`, () => {
      const model = read({ ...llama, quantization_config: settings });
      assert.equal(model.quantization, wanted);
      // What is written is read back as the same.
      const text = withModel('', model) ?? '';
      const { config, problems } = parseConfig('file:///w/.plimsoll.yaml', text, 'file:///w/');
      assert.deepEqual(problems, []);
      assert.deepEqual(config.models, [model]);
    });
  }

  test('packed weights are counted one by one', () => {
    const model = read(
      { ...llama, quantization_config: { quant_method: 'awq', bits: 4 } },
      { I32: 1e9, F16: 1e8 },
    );
    assert.equal(model.parameters, 8.1e9);
    assert.equal(model.weightBytes, 4.2e9);
  });

  test('that is none', () => {
    for (const config of [
      undefined,
      null,
      3,
      [],
      {},
      { num_hidden_layers: 'many' },
      { num_hidden_layers: -1, num_attention_heads: 2 },
    ]) {
      assert.equal(describeModel('acme/x', config, undefined), undefined);
    }
    assert.deepEqual(describeModel('acme/x', {}, { BF16: 0, NEW: 7 }), undefined);
  });
});

describe('a model in a configuration', () => {
  const model: UserModel = { name: 'acme/x', parameters: 8e9, layers: 32, kvHeads: 8, headDim: 128 };
  const entry = '  acme/x:\n    parameters: 8000000000\n    layers: 32\n    kvHeads: 8\n    headSize: 128\n';

  for (const [before, after] of [
    ['', `models:\n${entry}`],
    ['# ours\n', `# ours\nmodels:\n${entry}`],
    ['preset: strict # ours\n', `preset: strict # ours\nmodels:\n${entry}`],
    ['models:\n', `models:\n${entry}`],
    ['models:\n  other: { parameters: 1B } # one\n', `models:\n  other: { parameters: 1B } # one\n${entry}`],
    [
      'models:\n  acme/x:\n    parameters: 1B\n  other: { parameters: 1B }\n',
      `models:\n${entry}  other: { parameters: 1B }\n`,
    ],
    ['models: { acme/x: { layers: 3 } }\npreset: minimal\n', `models:\n${entry}preset: minimal\n`],
    ['models: [a]\n', undefined],
    ['models: {', undefined],
    ['- a\n', undefined],
  ] as const) {
    test(JSON.stringify(before), () => assert.equal(withModel(before, model), after));
  }

  test('keeps the line ends of the file', () => {
    assert.equal(
      withModel('preset: strict\r\n', model),
      `preset: strict\r\nmodels:\r\n${entry.replaceAll('\n', '\r\n')}`,
    );
  });

  test('has every figure', () => {
    const all: UserModel = {
      ...model,
      weightBytes: 1,
      dtype: 'bf16',
      quantization: 'awq',
      hidden: 1,
      heads: 8,
      vocab: 1,
      maxPositions: 1,
      attentionLayers: 1,
      slidingLayers: 1,
      slidingWindow: 1,
      kvRank: 1,
      ropeDim: 1,
    };
    assert.equal(Object.keys(modelEntry(all)).length, Object.keys(all).length - 1);
  });

  for (const [text, message] of [
    ['acme/x: { parmeters: 8B }', /Unknown key "parmeters" of model "acme\/x"; did you mean "parameters"\?/],
    ['acme/x: 8B', /Model "acme\/x" is "8B"; a map of its figures is read/],
    ['acme/x: { parameters: 8 }', /less than a million; write 8B/],
    ['acme/x: { parameters: -3 }', /it is a number such as/],
    ['acme/x: { parameters: 8B, heads: 12, kvHeads: 5 }', /kvHeads divides heads/],
    ['acme/x: { parameters: 8B, layers: 1.5 }', /whole number above 0/],
    [
      'acme/x: { parameters: 8B, layers: 2, slidingLayers: 3, slidingWindow: 9 }',
      /3 slidingLayers and only 2 layers/,
    ],
    ['acme/x: { parameters: 8B, slidingWindow: 9 }', /without "slidingLayers"/],
    ['acme/x: { parameters: 8B, quantization: secret }', /known are awq/],
    ['acme/x: { parameters: 8B, dtype: int3 }', /it is one of bf16/],
    ['acme/x: { weightBytes: many }', /a quantity such as 15Gi/],
    ['acme/x: { layers: 3 }', /neither "parameters" nor "weightBytes"/],
    ['acme/x: {}', /has no figures/],
    ['"": { parameters: 8B }', /has no name/],
  ] as const) {
    test(`what is wrong with ${text}`, () => {
      const whole = `models:\n  ${text}\n`;
      const { problems } = parseConfig('file:///w/.plimsoll.yaml', whole, 'file:///w/');
      const [problem, ...others] = problems;
      assert.match(problem?.message ?? '', message);
      assert.deepEqual(others, []);
      assert.ok(problem !== undefined && problem.at.start > 7 && problem.at.end <= whole.length);
    });
  }

  test('a list of models is none', () => {
    const { problems } = parseConfig('file:///w/.plimsoll.yaml', 'models: [a]\n', 'file:///w/');
    assert.match(problems[0]?.message ?? '', /"models" is a list; a map/);
  });
});
