import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findGpu,
  findNeuronDevice,
  gpuInText,
  gpus,
  migProfile,
  neuronCoreMemory,
  precisionSupport,
  visibleMemory,
} from '../../server/src/sizing/gpus';
import { smallestEc2Gpu } from '../../server/src/sizing/memory/estimate';
import { GiB } from '../../server/src/sizing/models/range';

test('every GPU name of EC2 is known', () => {
  for (const name of [
    't4',
    't4g',
    'v100',
    'a10g',
    'l4',
    'l40s',
    'a100',
    'h100',
    'h200',
    'b200',
    'b300',
    'rtx-pro-server-6000',
    'rtx-pro-4500',
  ]) {
    assert.equal(findGpu(name)?.onEc2, true, name);
  }
  assert.equal(findGpu('NVIDIA L40S')?.id, 'l40s');
  assert.equal(findGpu('quantum-9000'), undefined);
});

test('free text names a card, and its memory tells variants apart', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['H100 80GB x8', 'h100'],
    ['p4d A100 40GB x8 (DJL/LMI)', 'a100'],
    ['A100 80GB', 'a100-80gb'],
    ['RTX 2080Ti 22GB x4', 'rtx-2080-ti-22gb'],
    ['RTX PRO 6000 Blackwell', 'rtx-pro-server-6000'],
    ['NVIDIA GeForce RTX 4090 x8', 'rtx-4090'],
    ['H20 96GB x8, DP8+EP', 'h20'],
    ['24GB-class', undefined],
    ['unknown', undefined],
  ];
  for (const [words, id] of cases) assert.equal(gpuInText(words)?.id, id, words);
});

test('memory is what the driver shows, never more than the label', () => {
  for (const gpu of gpus) {
    const { low, expected, high } = visibleMemory(gpu);
    assert.ok(low <= expected && expected <= high, gpu.id);
    assert.ok(high <= gpu.labelMiB * 2 ** 20 * 1.001, gpu.id);
    assert.ok(low > gpu.labelMiB * 2 ** 20 * 0.85, gpu.id);
  }
  const a10g = findGpu('a10g');
  assert.ok(
    a10g !== undefined && visibleMemory(a10g).low >= 21.9 * GiB && visibleMemory(a10g).high <= 22.3 * GiB,
  );
});

test('precisions need a compute capability', () => {
  const support = (name: string, precision: Parameters<typeof precisionSupport>[1]): string | undefined => {
    const gpu = findGpu(name);
    assert.ok(gpu !== undefined);
    return precisionSupport(gpu, precision);
  };
  assert.equal(support('t4', 'bf16'), 'none');
  assert.equal(support('v100', 'bf16'), 'none');
  assert.equal(support('a10g', 'bf16'), 'native');
  assert.equal(support('a10g', 'fp8'), 'emulated');
  assert.equal(support('l40s', 'fp8'), 'native');
  assert.equal(support('h100', 'nvfp4'), 'emulated');
  assert.equal(support('b200', 'nvfp4'), 'native');
  assert.equal(support('mi300x', 'fp8'), undefined);
});

test('MIG profiles belong to cards', () => {
  const slice = migProfile('nvidia.com/mig-1g.10gb');
  assert.deepEqual(slice?.gpus.map((gpu) => gpu.id).sort(), ['a100', 'a100-80gb', 'h100']);
  assert.equal(migProfile('nvidia.com/mig-9g.99gb'), undefined);
  assert.deepEqual(
    migProfile('3g.71gb')?.gpus.map((gpu) => gpu.id),
    ['h200'],
  );
});

test('NeuronCores share the memory of their chip', () => {
  const trn2 = findNeuronDevice('trn2');
  assert.ok(trn2 !== undefined);
  assert.equal(neuronCoreMemory(trn2).expected, 12 * GiB);
  assert.equal(findNeuronDevice('inferentia2')?.cores, 2);
  assert.equal(findNeuronDevice('trn9'), undefined);
});

test('the smallest GPU of EC2 that servers run on is a T4', () => {
  assert.ok(['t4', 't4g'].includes(smallestEc2Gpu().id));
});
