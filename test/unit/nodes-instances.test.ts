import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import {
  familyParts,
  findInstanceType,
  instanceTypes,
  nvidiaGpus,
} from '../../server/src/sizing/nodes/instances';
import { otherTypes } from '../../server/src/sizing/nodes/other-types';

const facts = resolve(__dirname, '../../../shared/facts/instances.json');

describe('instance catalogue', () => {
  test('holds 251 types of distinct names', () => {
    const names = instanceTypes().map((type) => type.name);
    assert.equal(names.length, 251);
    assert.equal(new Set(names).size, 251);
  });

  test('decodes a GPU type', () => {
    assert.deepEqual(findInstanceType('g5.12xlarge'), {
      name: 'g5.12xlarge',
      family: 'g5',
      size: '12xlarge',
      category: 'g',
      generation: 5,
      arch: 'amd64',
      hypervisor: 'nitro',
      cpuManufacturer: 'amd',
      vcpu: 48,
      memoryMiB: 196608,
      gpus: { name: 'a10g', manufacturer: 'nvidia', count: 4, memoryMiBEach: 22888 },
      nvmeGB: 3800,
      networkMbps: 40000,
      ebsMbps: 16000,
      efaInterfaces: 1,
      interfaces: { total: 15, ipv4Each: 50, networkCards: 2, onDefaultCard: 15 },
      onDemandPrice: 5.672,
      measuredOverheadMiB: 5429.4,
    });
  });

  test('decodes an accelerator type without a price and without all network figures', () => {
    const type = findInstanceType('trn2.48xlarge');
    assert.deepEqual(type?.accelerators, {
      name: 'trainium2',
      manufacturer: 'aws',
      devices: 16,
      coresPerDevice: 8,
      memoryMiBPerDevice: 98304,
    });
    assert.deepEqual(type.interfaces, { ipv4Each: 50, onDefaultCard: 2 });
    assert.equal(type.onDemandPrice, undefined);
    assert.equal(type.gpus, undefined);
  });

  test('counts what a pod can ask for as nvidia.com/gpu', () => {
    const count = (name: string): number => {
      const type = findInstanceType(name);
      assert.ok(type, name);
      return nvidiaGpus(type);
    };
    assert.equal(count('p5.48xlarge'), 8);
    assert.equal(count('p5.4xlarge'), 1);
    // A slice of an L4, an AMD GPU and a Gaudi are no whole NVIDIA GPU.
    assert.equal(count('g6f.4xlarge'), 0);
    assert.equal(count('g4ad.xlarge'), 0);
    assert.equal(count('dl1.24xlarge'), 0);
    assert.equal(count('g5g.xlarge'), 1);
  });

  test('reads category and generation as Karpenter does', () => {
    assert.deepEqual(familyParts('p6-b200'), { category: 'p', generation: 6 });
    assert.deepEqual(familyParts('gr6f'), { category: 'gr', generation: 6 });
    assert.deepEqual(familyParts('u-12tb1'), { category: 'u', generation: 1 });
    assert.deepEqual(familyParts('im4gn'), { category: 'im', generation: 4 });
    assert.equal(familyParts('metal'), undefined);
  });

  test('lists no type twice among those without figures', () => {
    const others = otherTypes().map(({ family, size }) => `${family}.${size ?? '*'}`);
    assert.equal(new Set(others).size, others.length);
    for (const { family, size } of otherTypes()) {
      assert.ok(familyParts(family), family);
      if (size !== undefined) assert.equal(findInstanceType(`${family}.${size}`), undefined);
      else assert.ok(!instanceTypes().some((type) => type.family === family), family);
    }
  });

  test(
    'agrees with the published figures',
    { skip: existsSync(facts) ? false : 'the facts are not here' },
    () => {
      const { instances } = JSON.parse(readFileSync(facts, 'utf8')) as {
        instances: {
          name: string;
          arch: string;
          vcpu: number;
          memoryMiB: number;
          hypervisor: string | null;
          category: string;
          generation: number;
          gpu?: { name: string; count: number; memoryMiBEach: number };
          accelerator?: { devices: number; neuronCores?: number };
          localNvmeGB: number | null;
          networkMbps: number | null;
          efaInterfaces: number;
          onDemandUSDPerHourUsEast1: number | null;
        }[];
      };
      assert.equal(instances.length, instanceTypes().length);
      for (const fact of instances) {
        const type = findInstanceType(fact.name);
        assert.ok(type, fact.name);
        assert.deepEqual(
          [type.arch, type.vcpu, type.memoryMiB, type.hypervisor, type.category, type.generation],
          [fact.arch, fact.vcpu, fact.memoryMiB, fact.hypervisor ?? '', fact.category, fact.generation],
          fact.name,
        );
        assert.deepEqual(
          [type.gpus?.name, type.gpus?.count, type.gpus?.memoryMiBEach, type.accelerators?.devices],
          [fact.gpu?.name, fact.gpu?.count, fact.gpu?.memoryMiBEach, fact.accelerator?.devices],
          fact.name,
        );
        assert.deepEqual(
          [type.nvmeGB ?? null, type.networkMbps ?? null, type.efaInterfaces, type.onDemandPrice ?? null],
          [fact.localNvmeGB, fact.networkMbps, fact.efaInterfaces, fact.onDemandUSDPerHourUsEast1],
          fact.name,
        );
      }
    },
  );
});
