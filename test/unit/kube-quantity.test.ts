import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareQuantities,
  formatBytes,
  isInteger,
  parseQuantity,
  quantityOf,
  toMemoryQuantity,
  toNumber,
} from '../../server/src/kube/quantity';
import { getIn } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';

/** Every expectation was printed by `resource.ParseQuantity` of apimachinery 0.34. */
const accepted: Readonly<Record<string, bigint>> = {
  '1': 1_000_000_000n,
  '0': 0n,
  '500m': 500_000_000n,
  '0.5': 500_000_000n,
  '.5': 500_000_000n,
  '5.': 5_000_000_000n,
  '1.G': 1_000_000_000_000_000_000n,
  '1e3': 1_000_000_000_000n,
  '1E-3': 1_000_000n,
  '1.3E+6': 1_300_000_000_000_000n,
  '1E': 10n ** 27n,
  '12E': 12n * 10n ** 27n,
  '1Ki': 1_024_000_000_000n,
  '0.5Mi': 524_288_000_000_000n,
  '100.035Ki': 102_435_840_000_000n,
  '-3.5': -3_500_000_000n,
  '+2': 2_000_000_000n,
  '3.001n': 4n,
  '-0.9n': -1n,
  '0.0000000001': 1n,
  '0.000000000001Ki': 2n,
  '9Ei': 9_223_372_036_854_775_807_000_000_000n,
  '.': 0n,
  '-': 0n,
  Gi: 0n,
  m: 0n,
};

test('reads what the API server reads, with its value', () => {
  for (const [text, nanos] of Object.entries(accepted)) assert.equal(parseQuantity(text)?.nanos, nanos, text);
});

test('refuses what the API server refuses', () => {
  for (const text of [
    '',
    'gi',
    '1gi',
    '16GB',
    '16Gib',
    '1i',
    '1e',
    '1e+',
    'Pi',
    '1 Gi',
    ' 1',
    '1,5',
    '1.1.M',
    '0x10',
    'abc',
    'true',
  ]) {
    assert.equal(parseQuantity(text), undefined, JSON.stringify(text));
  }
});

test('keeps the suffix as written', () => {
  assert.equal(parseQuantity('128m')?.suffix, 'm');
  assert.equal(parseQuantity('1e3')?.suffix, 'e3');
  assert.equal(parseQuantity('4')?.suffix, '');
});

test('reads a manifest value in the form in which it reaches the API server', () => {
  const [placed] = parseFile(
    '',
    "hex: 0x10\noctal: 010\nspaced: ' 2Gi '\nplain: 1.0\nno: true\nbroken: |\n  2Gi\nnone:\nlist: [1]\nvar: ${X}",
  ).documents;
  const nanosOf = (key: string): bigint | undefined => quantityOf(getIn(placed?.document.root, key))?.nanos;
  assert.equal(nanosOf('hex'), 16_000_000_000n);
  assert.equal(nanosOf('octal'), 8_000_000_000n);
  assert.equal(nanosOf('spaced'), (2n << 30n) * 1_000_000_000n);
  assert.equal(nanosOf('plain'), 1_000_000_000n);
  for (const key of ['no', 'broken', 'none', 'list', 'var', 'missing'])
    assert.equal(nanosOf(key), undefined, key);
});

test('compares and converts', () => {
  const quantity = (text: string) => parseQuantity(text) ?? assert.fail(text);
  assert.ok(compareQuantities(quantity('1Gi'), quantity('1G')) > 0);
  assert.equal(compareQuantities(quantity('1000m'), quantity('1')), 0);
  assert.equal(toNumber(quantity('1500m')), 1.5);
  assert.equal(isInteger(quantity('1500m')), false);
  assert.equal(isInteger(quantity('2000m')), true);
});

test('says bytes as people do, and writes whole Gi', () => {
  assert.equal(formatBytes(16 * 2 ** 30), '16 GiB');
  assert.equal(formatBytes(15.94 * 2 ** 30), '15.9 GiB');
  assert.equal(formatBytes(512), '512 B');
  assert.equal(toMemoryQuantity(15.1 * 2 ** 30), '16Gi');
});
