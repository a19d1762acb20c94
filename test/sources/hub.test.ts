import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readHubModel } from '../../server/src/remote/hub';
import { RemoteError } from '../../server/src/remote/remote-error';
import { safetensors, startHub } from './hub-server';

/** Reading a model from a hub: on the loopback interface, never the real one. */

const config = {
  architectures: ['LlamaForCausalLM'],
  torch_dtype: 'bfloat16',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  vocab_size: 100,
  max_position_embeddings: 4096,
};

async function refused(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof RemoteError, String(error));
    return error.message;
  }
  assert.fail('nothing was refused');
}

describe('a model of the hub', () => {
  test('is read from config.json and the header of its file', async () => {
    const hub = await startHub({
      'acme/tiny': {
        'config.json': JSON.stringify(config),
        'model.safetensors': safetensors({ 'a.weight': ['BF16', 100, 64], 'b.weight': ['BF16', 64, 64] }),
      },
    });
    const { model, notes } = await readHubModel({ repository: 'acme/tiny', hubUrl: hub.url });
    assert.deepEqual(model, {
      name: 'acme/tiny',
      parameters: 10496,
      weightBytes: 20992,
      dtype: 'bf16',
      layers: 2,
      heads: 8,
      kvHeads: 2,
      hidden: 64,
      headDim: 8,
      vocab: 100,
      maxPositions: 4096,
    });
    assert.deepEqual(notes, ['LlamaForCausalLM']);
    assert.ok(hub.requests.every(({ authorization }) => authorization === undefined));
    await hub.close();
  });

  test('is read from the index and the headers of several files, with a token', async () => {
    const token = 'hf_abcdefghijklmnop';
    const hub = await startHub(
      {
        'acme/big': {
          'config.json': JSON.stringify(config),
          'model.safetensors.index.json': JSON.stringify({
            metadata: { total_size: 24 },
            weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' },
          }),
          'model-00001-of-00002.safetensors': safetensors({ a: ['BF16', 2, 3] }),
          'model-00002-of-00002.safetensors': safetensors({ b: ['BF16', 2, 3] }),
        },
      },
      { gated: { 'acme/big': token } },
    );
    const { model } = await readHubModel({ repository: 'acme/big', hubUrl: hub.url, token });
    assert.equal(model.weightBytes, 24);
    assert.equal(model.parameters, 12);
    const message = await refused(readHubModel({ repository: 'acme/big', hubUrl: hub.url }));
    assert.match(
      message,
      /acme\/big does not exist, is private, or wants its terms accepted first; .*HF_TOKEN/,
    );
    const other = await refused(
      readHubModel({ repository: 'acme/big', hubUrl: hub.url, token: 'hf_wrongwrongwrong' }),
    );
    assert.match(other, /the token may not read it/);
    assert.ok(!other.includes('hf_wrong'));
    await hub.close();
  });

  test('whose weights have another format still tells its shape', async () => {
    const hub = await startHub({ 'acme/pickle': { 'config.json': JSON.stringify(config) } });
    const { model, notes } = await readHubModel({ repository: 'acme/pickle', hubUrl: hub.url });
    assert.equal(model.layers, 2);
    assert.equal(model.weightBytes, undefined);
    assert.match(notes.join(), /could not be read/);
    await hub.close();
  });
});

describe('what cannot be read is told', () => {
  test('a repository that is not there, or holds nothing', async () => {
    const hub = await startHub({
      'acme/gguf': { 'model.gguf': 'x' },
      'acme/odd': { 'config.json': '[' },
      'acme/empty': { 'config.json': '{}' },
    });
    assert.match(
      await refused(readHubModel({ repository: 'acme/gguf', hubUrl: hub.url })),
      /neither a config\.json nor safetensors/,
    );
    assert.match(
      await refused(readHubModel({ repository: 'acme/odd', hubUrl: hub.url })),
      /config\.json of acme\/odd is not JSON/,
    );
    assert.match(await refused(readHubModel({ repository: 'acme/empty', hubUrl: hub.url })), /no figures/);
    await hub.close();
  });

  test('a hub that cannot be reached, is too slow, or fails', async () => {
    const gone = await startHub({});
    await gone.close();
    assert.match(
      await refused(readHubModel({ repository: 'a/b', hubUrl: gone.url })),
      /cannot be reached \(ECONNREFUSED\); check the network/,
    );
    const slow = await startHub({}, { answer: 'never' });
    assert.match(
      await refused(readHubModel({ repository: 'a/b', hubUrl: slow.url, timeout: 50 })),
      /did not answer in time/,
    );
    await slow.close();
    for (const [status, wanted] of [
      [500, /answered with status 500/],
      [429, /too many requests/],
    ] as const) {
      const failing = await startHub({}, { answer: status });
      assert.match(await refused(readHubModel({ repository: 'a/b', hubUrl: failing.url })), wanted);
      await failing.close();
    }
  });

  test('names, addresses and tokens that are none, before anything is asked', async () => {
    for (const repository of ['', 'a/b/c', '../x', 'a b', 'https://huggingface.co/a/b']) {
      assert.match(await refused(readHubModel({ repository })), /is no repository/);
    }
    for (const hubUrl of ['hub', 'file:///etc', 'ftp://x']) {
      assert.match(await refused(readHubModel({ repository: 'a/b', hubUrl })), /is no address of a hub/);
    }
    const message = await refused(readHubModel({ repository: 'a/b', token: 'secret value' }));
    assert.match(message, /start with hf_/);
    assert.ok(!message.includes('secret'));
  });
});
