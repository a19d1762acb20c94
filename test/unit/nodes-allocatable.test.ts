import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  allocatable,
  amiFamilyOfAlias,
  capacity,
  kubeReservedCpu,
  memoryCapacity,
} from '../../server/src/sizing/nodes/allocatable';
import type { KarpenterSettings, NodeClassSpec } from '../../server/src/sizing/nodes/allocatable';
import { findInstanceType, instanceTypes } from '../../server/src/sizing/nodes/instances';
import type { InstanceType } from '../../server/src/sizing/nodes/instances';
import { allocatableDifferences, run } from '../vectors/allocatable';
import { publishedAllocatable } from '../vectors/data/allocatable';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

function typeOf(name: string): InstanceType {
  const type = findInstanceType(name);
  assert.ok(type, name);
  return type;
}

function memoryMiB(name: string, nodeClass: NodeClassSpec, settings: KarpenterSettings = {}): number {
  return (allocatable(typeOf(name), nodeClass, settings)['memory'] ?? 0) / MiB;
}

function storage(name: string, nodeClass: NodeClassSpec): number | undefined {
  return allocatable(typeOf(name), nodeClass)['ephemeral-storage'];
}

describe('memory of a new node', () => {
  // The expected bytes of Karpenter's own test of its formula (memory_test.go).
  const cases = [
    [8192, 'amd64', 0.075, 7945060352],
    [8192, 'arm64', 0.075, 7883194368],
    [4096, 'arm64', 0, 4227858432],
    [4096, 'amd64', 0, 4294967296],
    [16384, 'arm64', 0.15, 14545846272],
    [16384, 'amd64', 0.15, 14602469376],
    [512, 'arm64', 0.075, 434110464],
    [2048, '', 0.075, 1986002944],
    [1000, 'amd64', 0.1, 943718400],
  ] as const;
  for (const [size, arch, overhead, bytes] of cases) {
    test(`${size} MiB ${arch === '' ? 'of no architecture' : arch} less ${overhead * 100} %`, () => {
      assert.equal(memoryCapacity(size, arch, overhead), bytes);
    });
  }
});

describe('allocatable', () => {
  test('is what Karpenter publishes, for every type with published figures', () => {
    const names = Object.keys(publishedAllocatable);
    assert.ok(names.length > 100);
    for (const name of names)
      assert.deepEqual(allocatableDifferences(name, publishedAllocatable[name] ?? {}), []);
  });

  test('is computed for every type of the catalogue', () => {
    for (const type of instanceTypes()) {
      const has = allocatable(type);
      for (const [resource, amount] of Object.entries(has)) {
        assert.ok(Number.isInteger(amount) && amount >= 0, `${type.name} ${resource} ${amount}`);
      }
    }
  });

  test('a wrong figure is a difference, and a type that is not known is one', async () => {
    const result = await run({ 'g5.xlarge': { cpuMilli: 1 }, 'g5.none': {}, 'm5.large': {} }, []);
    assert.equal(result.summary, '1 of 3');
    assert.deepEqual(result.differences, [
      'g5.xlarge: cpuMilli 1 expected, 3920 computed',
      'g5.none: the catalogue does not have this type',
    ]);
  });

  test('kubelet reservations of CPU follow the bands', () => {
    assert.deepEqual(
      [1, 2, 4, 8, 96].map((vcpu) => kubeReservedCpu(vcpu)),
      [60, 70, 80, 90, 310],
    );
  });

  test('maxPods changes the memory reservation on Bottlerocket and not on AL2023', () => {
    const kubelet = { maxPods: 250 };
    assert.equal(memoryMiB('g5.xlarge', { kubelet }), memoryMiB('g5.xlarge', {}));
    const less =
      memoryMiB('g5.xlarge', { amiFamily: 'Bottlerocket' }) -
      memoryMiB('g5.xlarge', { amiFamily: 'Bottlerocket', kubelet });
    assert.equal(less, 11 * (250 - 58));
    assert.equal(allocatable(typeOf('g5.xlarge'), { kubelet })['pods'], 250);
  });

  test('podsPerCore caps pods, but not on Bottlerocket', () => {
    const kubelet = { podsPerCore: 4 };
    assert.equal(capacity(typeOf('g5.xlarge'), { kubelet })['pods'], 16);
    assert.equal(capacity(typeOf('g5.xlarge'), { kubelet, amiFamily: 'Bottlerocket' })['pods'], 58);
  });

  test('Windows has 110 pods and a volume of 50 GiB', () => {
    const node = { amiFamily: 'Windows2022' } as const;
    assert.equal(capacity(typeOf('m5.large'), node)['pods'], 110);
    assert.equal(storage('m5.large', node), 50 * GiB - GiB - 5 * GiB);
  });

  test('reserved network interfaces take pods but no memory on AL2023', () => {
    const settings = { reservedEnis: 1 };
    assert.equal(capacity(typeOf('m5.large'), {}, settings)['pods'], 2 * 9 + 2);
    assert.equal(memoryMiB('m5.large', {}, settings), memoryMiB('m5.large', {}));
    assert.equal(capacity(typeOf('c7g.medium'), {}, { reservedEnis: 2 })['pods'], 0);
  });

  test('EFA-only interfaces replace the EFA count and take addresses on the first card', () => {
    const networkInterfaces = [
      { networkCardIndex: 0, interfaceType: 'interface' },
      { networkCardIndex: 0, interfaceType: 'efa-only' },
      { networkCardIndex: 1, interfaceType: 'efa-only' },
    ];
    const node = capacity(typeOf('p5.48xlarge'), { networkInterfaces });
    assert.equal(node['vpc.amazonaws.com/efa'], 2);
    assert.equal(node['pods'], 49 + 2);
    assert.equal(capacity(typeOf('p5.48xlarge'))['vpc.amazonaws.com/efa'], 32);
  });

  test('kubelet settings replace the reservations that they name', () => {
    const base = memoryMiB('m5.large', {});
    const kubelet = {
      kubeReserved: { memory: '1Gi', cpu: '200m' },
      systemReserved: { memory: '100Mi', cpu: '50m', 'ephemeral-storage': '2Gi' },
      evictionHard: { 'memory.available': '300Mi', 'nodefs.available': '15%' },
    };
    const reservedBefore = 255 + 11 * 29;
    assert.equal(memoryMiB('m5.large', { kubelet }), base + reservedBefore + 100 - 1024 - 100 - 300);
    assert.equal(allocatable(typeOf('m5.large'), { kubelet })['cpu'], 2000 - 200 - 50);
    assert.equal(storage('m5.large', { kubelet }), 20 * GiB - GiB - 2 * GiB - 3 * GiB);
  });

  test('an eviction threshold of 100 % is none, and one that cannot be read counts as absent', () => {
    const none = { evictionHard: { 'memory.available': '100%' } };
    assert.equal(memoryMiB('m5.large', { kubelet: none }), memoryMiB('m5.large', {}) + 100);
    const junk = { evictionHard: { 'memory.available': 'plenty' } };
    assert.equal(memoryMiB('m5.large', { kubelet: junk }), memoryMiB('m5.large', {}));
  });

  test('the volume that counts is the root volume, else the device of the AMI family', () => {
    const sized = (
      deviceName: string,
      volumeSize: string,
      rootVolume = false,
    ): NodeClassSpec['blockDeviceMappings'] => [{ deviceName, volumeSize, rootVolume }];
    const left = (gibibytes: number): number =>
      gibibytes * GiB - GiB - Math.ceil(((gibibytes * GiB) / 100) * 10);
    assert.equal(storage('g5.xlarge', { blockDeviceMappings: sized('/dev/xvda', '200Gi') ?? [] }), left(200));
    assert.equal(storage('g5.xlarge', { blockDeviceMappings: sized('/dev/sdz', '200Gi') ?? [] }), left(20));
    assert.equal(
      storage('g5.xlarge', { blockDeviceMappings: sized('/dev/sdz', '200Gi', true) ?? [] }),
      left(200),
    );
    // Bottlerocket keeps images and pods on its second volume.
    const bottlerocket = { amiFamily: 'Bottlerocket' } as const;
    assert.equal(
      storage('g5.xlarge', { ...bottlerocket, blockDeviceMappings: sized('/dev/xvda', '200Gi') ?? [] }),
      left(20),
    );
    assert.equal(
      storage('g5.xlarge', { ...bottlerocket, blockDeviceMappings: sized('/dev/xvdb', '200Gi') ?? [] }),
      left(200),
    );
    assert.equal(
      storage('g5.xlarge', { amiFamily: 'Custom', blockDeviceMappings: sized('/dev/sdz', '90Gi') ?? [] }),
      left(90),
    );
  });

  test('RAID0 uses the local disks where the type has some', () => {
    const node = { instanceStorePolicy: 'RAID0' } as const;
    assert.equal(capacity(typeOf('g5.xlarge'), node)['ephemeral-storage'], 250e9);
    assert.equal(capacity(typeOf('m5.large'), node)['ephemeral-storage'], 20 * GiB);
  });

  test('an alias names its AMI family', () => {
    assert.equal(amiFamilyOfAlias('al2023@v20250701'), 'AL2023');
    assert.equal(amiFamilyOfAlias('bottlerocket@latest'), 'Bottlerocket');
    assert.equal(amiFamilyOfAlias('AL2023_GPU@latest'), undefined);
  });
});
