import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hostMemoryForLoad,
  loaderOf,
  mapsFiles,
  quantisesWhileLoading,
} from '../../server/src/sizing/memory/host';
import type { HostConfig } from '../../server/src/sizing/memory/host';
import { loadTime } from '../../server/src/sizing/memory/load-time';
import { exactly, GiB } from '../../server/src/sizing/models/range';

const base: HostConfig = {
  weights: exactly(14e9),
  quantization: 'bf16',
  loader: 'safetensors',
  engine: { kind: 'vllm' },
  workers: 1,
  gpusPerCopy: 1,
};

const gib = (bytes: number): number => Number((bytes / GiB).toFixed(2));

test('a 14 GB model under 16Gi is short, term by term', () => {
  const host = hostMemoryForLoad(base);
  assert.deepEqual(
    host.terms.map((term) => [term.label, gib(term.bytes.expected)]),
    [
      ['weights held by the pod', 13.04],
      ['1 GPU worker', 2],
      ['server', 2],
    ],
  );
  assert.equal(gib(host.need.expected), 17.04);
  assert.ok(host.need.expected > 16 * GiB && host.need.expected < 18 * GiB);
  // Mapped files can do with less, so that nothing below the limit is certain to die.
  assert.ok(host.need.low < 10 * GiB);
  assert.equal(gib(host.killLikelyBelow), 6.52);
});

test('loaders that read into memory need it all', () => {
  for (const loader of ['pickle', 'bitsandbytes', 'runai-streamer'] as const) {
    assert.ok(hostMemoryForLoad({ ...base, loader }).need.low >= 14e9, loader);
    assert.equal(mapsFiles(loader), false);
  }
  assert.equal(hostMemoryForLoad({ ...base, loader: 'dummy' }).weightsHeld.expected, 0);
});

test('a pod holds its share of the weights', () => {
  const weights = exactly(140 * GiB);
  const alone = hostMemoryForLoad({ ...base, weights, workers: 8, gpusPerCopy: 8 });
  assert.equal(gib(alone.weightsHeld.expected), 140);
  assert.equal(gib(alone.need.expected), 140 + 16 + 2);
  // Two pods of a group share a copy over sixteen GPUs.
  assert.equal(
    gib(hostMemoryForLoad({ ...base, weights, workers: 8, gpusPerCopy: 16 }).weightsHeld.expected),
    70,
  );
  // Two copies in one pod: mapped files are shared, unpickled ones are not.
  assert.equal(
    gib(hostMemoryForLoad({ ...base, weights, workers: 8, gpusPerCopy: 4 }).weightsHeld.expected),
    140,
  );
  assert.equal(
    gib(
      hostMemoryForLoad({ ...base, weights, workers: 8, gpusPerCopy: 4, loader: 'pickle' }).weightsHeld
        .expected,
    ),
    280,
  );
});

test('volumes in memory, swap and offload are added', () => {
  const host = hostMemoryForLoad({
    ...base,
    workers: 4,
    gpusPerCopy: 4,
    engine: { kind: 'vllm', version: [0, 6] },
    offloadBytesPerWorker: 10 * GiB,
    memoryVolumes: [{ name: 'dshm', bytes: 8 * GiB }],
  });
  const term = (label: string): number =>
    gib(host.terms.find((item) => item.label.includes(label))?.bytes.expected ?? 0);
  assert.equal(term('swap space'), 16);
  assert.equal(term('offload'), 40);
  assert.equal(term('dshm'), 8);
  // V1 does not pin swap space.
  assert.ok(!hostMemoryForLoad(base).terms.some((item) => item.label.includes('swap')));
});

test('the loader follows the format, the precision and the engine', () => {
  assert.equal(loaderOf({ kind: 'vllm' }, 'bf16'), 'safetensors');
  assert.equal(loaderOf({ kind: 'vllm' }, 'bnb-4bit'), 'bitsandbytes');
  assert.equal(loaderOf({ kind: 'vllm' }, 'bf16', 'runai_streamer'), 'runai-streamer');
  assert.equal(loaderOf({ kind: 'vllm' }, 'bf16', 'pt'), 'pickle');
  assert.equal(loaderOf({ kind: 'vllm' }, 'gguf-q4_k_m'), 'pickle');
  assert.equal(loaderOf({ kind: 'ollama' }, 'gguf-q4_k_m'), 'gguf');
  assert.equal(quantisesWhileLoading(undefined, 'fp8'), true);
  assert.equal(quantisesWhileLoading('fp8-block', 'fp8'), false);
});

test('loading takes size over rate and the start of the engine', () => {
  const time = loadTime(exactly(15 * GiB), 'ebs', { kind: 'vllm' });
  assert.equal(Math.round(time.read.expected), 61);
  assert.ok(time.total.low < time.total.expected && time.total.expected < time.total.high);
  assert.equal(Math.round(time.total.expected), 61 + 75);
  assert.ok(loadTime(exactly(15 * GiB), 'nvme', { kind: 'vllm' }).read.expected < time.read.expected / 5);
});
