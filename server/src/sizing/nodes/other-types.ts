import type { InstanceType } from './instances';

/**
 * EC2 types that exist but whose figures the catalogue does not carry. They make an answer about an open NodePool
 * "unknown" where one of them might do, instead of "none".
 */
export interface OtherType {
  readonly family: string;
  /** The size, when only that size of a family of the catalogue is missing; absent for a whole family. */
  readonly size?: string;
  readonly arch: InstanceType['arch'];
  /** The most that one node of it offers of each accelerator resource; every other accelerator is 0. */
  readonly accelerators: Readonly<Record<string, number>>;
}

/** Families without accelerators, from EC2's list of instance types (2026). */
const amd64Families =
  'c1 c3 c4 c5a c5ad c5d c5n c6id c6in c7a c7i-flex c8a c8i c8i-flex c8id d2 d3 d3en f1 f2 h1 hpc6a hpc6id hpc7a ' +
  'hpc8a i2 i3 i3en i7i i7ie m1 m2 m3 m4 m5a m5ad m5d m5dn m5n m5zn m6id m6idn m6in m7a m7i-flex m8a m8azn m8i ' +
  'm8i-flex m8id r3 r4 r5a r5ad r5b r5d r5dn r5n r6a r6id r6idn r6in r7a r7iz r8a r8i r8i-flex r8id t1 t2 t3a ' +
  'u-3tb1 u-6tb1 u-9tb1 u-12tb1 u-18tb1 u-24tb1 u7i-6tb u7i-8tb u7i-12tb u7in-16tb u7in-24tb u7in-32tb ' +
  'u7inh-32tb x1 x1e x2idn x2iedn x2iezn x8i x8aedz z1d';

const arm64Families =
  'a1 c6g c6gd c6gn c7gd c7gn c8g c8gb c8gd c8gn hpc7g i4g i8g i8ge im4gn is4gen m6g m6gd m7gd m8gb m8gd m8gn r6g ' +
  'r6gd r7gd r8gb r8gd r8gn t4g x2gd x8g';

/** Sizes that the catalogue lacks of families that it has. */
const sizes =
  'c5.metal c6a.metal c6i.metal c7g.metal c7i.metal-24xl c7i.metal-48xl i4i.metal m5.metal m6a.metal m6i.metal ' +
  'm7g.metal m7i.metal-24xl m7i.metal-48xl m8g.metal-24xl m8g.metal-48xl r5.metal r6i.metal r7g.metal ' +
  'r7i.metal-24xl r7i.metal-48xl r8g.metal-24xl r8g.metal-48xl';

const arm64Sizes = /^[a-z]+\d+g[a-z]*\./;

/** Types with accelerators, and the most that a node of each was announced with. */
const accelerated: readonly OtherType[] = [
  { family: 'g3', arch: 'amd64', accelerators: { 'nvidia.com/gpu': 4 } },
  { family: 'g3s', arch: 'amd64', accelerators: { 'nvidia.com/gpu': 1 } },
  { family: 'p6e-gb200', arch: 'arm64', accelerators: { 'nvidia.com/gpu': 4 } },
  {
    family: 'trn2',
    size: '3xlarge',
    arch: 'amd64',
    accelerators: { 'aws.amazon.com/neuron': 1, 'aws.amazon.com/neuroncore': 8 },
  },
  {
    family: 'trn2u',
    arch: 'amd64',
    accelerators: { 'aws.amazon.com/neuron': 16, 'aws.amazon.com/neuroncore': 128 },
  },
];

let built: readonly OtherType[] | undefined;

/** Every such type, built on the first call. */
export function otherTypes(): readonly OtherType[] {
  return (built ??= [
    ...amd64Families.split(' ').map((family): OtherType => ({ family, arch: 'amd64', accelerators: {} })),
    ...arm64Families.split(' ').map((family): OtherType => ({ family, arch: 'arm64', accelerators: {} })),
    ...sizes.split(' ').map((name): OtherType => {
      const [family = '', size = ''] = name.split('.');
      return { family, size, arch: arm64Sizes.test(name) ? 'arm64' : 'amd64', accelerators: {} };
    }),
    ...accelerated,
  ]);
}
