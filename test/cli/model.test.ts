import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { safetensors, startHub, type TestHub } from '../sources/hub-server';
import { folder, plimsoll } from './host';

const config = {
  architectures: ['LlamaForCausalLM'],
  torch_dtype: 'bfloat16',
  num_hidden_layers: 32,
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  max_position_embeddings: 131072,
};

async function hubOf(test: { after(callback: () => Promise<void>): void }): Promise<TestHub> {
  const hub = await startHub({
    'acme/house': {
      'config.json': JSON.stringify(config),
      'model.safetensors': safetensors({ a: ['BF16', 1000, 1000] }),
    },
  });
  test.after(() => hub.close());
  return hub;
}

describe('plimsoll model', () => {
  test('prints what the configuration wants, and changes nothing', async (t) => {
    const hub = await hubOf(t);
    const root = folder(t, {});
    const { code, stdout, stderr } = await plimsoll(root, ['model', 'acme/house'], {
      env: { HF_ENDPOINT: hub.url },
    });
    assert.equal(stderr, '');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^acme\/house: 1 million parameters, 1\.91 MiB of weights, 128 KiB of KV cache for each token, LlamaForCausalLM/,
    );
    assert.match(stdout, /models:\n {2}acme\/house:\n {4}parameters: 1000000\n/);
  });

  test('writes it into the nearest configuration, of which nothing else changes; size then knows the model', async (t) => {
    const hub = await hubOf(t);
    const before = 'preset: strict # ours\n';
    const root = folder(t, { '.plimsoll.yaml': before, 'deploy/a.yaml': 'a: b\n' });
    const env = { HF_ENDPOINT: hub.url };
    const unknown = await plimsoll(join(root, 'deploy'), ['size', 'acme/house'], {});
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /read it with plimsoll model/);
    const { code, stdout } = await plimsoll(join(root, 'deploy'), ['model', 'acme/house', '--write'], {
      env,
    });
    assert.equal(code, 0);
    assert.match(stdout, /Written to .*\.plimsoll\.yaml:/);
    const after = readFileSync(join(root, '.plimsoll.yaml'), 'utf8');
    assert.ok(after.startsWith(`${before}models:\n  acme/house:\n`), after);
    const size = await plimsoll(join(root, 'deploy'), ['size', 'acme/house', '--format', 'json'], {});
    const report = JSON.parse(size.stdout) as {
      kvPerToken: { expected: number };
      parameters: { expected: number };
    };
    assert.equal(report.kvPerToken.expected, 131072);
    assert.equal(report.parameters.expected, 1e6);
    // Once more puts the new figures in the place of the old ones.
    await plimsoll(join(root, 'deploy'), ['model', 'acme/house', '--write'], { env });
    assert.equal(readFileSync(join(root, '.plimsoll.yaml'), 'utf8'), after);
  });

  test('makes a configuration where there is none, and tells JSON', async (t) => {
    const hub = await hubOf(t);
    const root = folder(t, {});
    const { stdout } = await plimsoll(
      root,
      ['model', 'acme/house', '--write', '--config', 'other.yaml', '--format', 'json'],
      {
        env: { HF_ENDPOINT: hub.url },
      },
    );
    const told = JSON.parse(stdout) as { figures: { layers: number }; writtenTo: string };
    assert.equal(told.figures.layers, 32);
    assert.equal(told.writtenTo, 'other.yaml');
    assert.match(readFileSync(join(root, 'other.yaml'), 'utf8'), /^models:\n {2}acme\/house:\n/);
  });

  test('a configuration that cannot be changed stays as it is', async (t) => {
    const hub = await hubOf(t);
    const root = folder(t, { '.plimsoll.yaml': 'models: [a\n' });
    const { code, stderr } = await plimsoll(root, ['model', 'acme/house', '--write'], {
      env: { HF_ENDPOINT: hub.url },
    });
    assert.equal(code, 2);
    assert.match(stderr, /\.plimsoll\.yaml: the model cannot be added: the file is not well-formed/);
    assert.equal(readFileSync(join(root, '.plimsoll.yaml'), 'utf8'), 'models: [a\n');
  });

  test('without a network, and with wrong arguments, it says what to do', async (t) => {
    const hub = await startHub({});
    await hub.close();
    const root = folder(t, {});
    const offline = await plimsoll(root, ['model', 'acme/house', '--write'], {
      env: { HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_donttellanybody' },
    });
    assert.equal(offline.code, 2);
    assert.match(offline.stderr, /cannot be reached \(ECONNREFUSED\); check the network/);
    assert.ok(!offline.stderr.includes('donttell'));
    for (const [argv, wanted] of [
      [['model'], /takes one repository/],
      [['model', 'a/b', 'c/d'], /takes one repository/],
      [['model', 'a/b', '--config', 'x'], /add --write/],
      [['model', 'no name'], /no repository of the hub/],
    ] as const) {
      const { code, stderr } = await plimsoll(root, argv, {});
      assert.equal(code, 2);
      assert.match(stderr, wanted);
    }
  });
});
