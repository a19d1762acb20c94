import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolvePlain, resolveTagged } from '../../server/src/yaml/resolve';

// Each was read by kubectl 1.32: `kubectl label --local -f - -o json --dry-run=client a=b`, with the scalar as a value.
const READ_BY_KUBECTL: readonly (readonly [string, string | number | boolean | null])[] = [
  ...['yes', 'Yes', 'YES', 'on', 'y', 'Y', 'true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['no', 'No', 'off', 'Off', 'n', 'N', 'false', 'False', 'FALSE'].map((text) => [text, false] as const),
  ...['~', 'null', 'Null', 'NULL', ''].map((text) => [text, null] as const),
  ...['tRue', 'nO', 'yEs', '=', '+', '.', '.e3', '0x', '0o', '1e', '._5', '_1', '1,000', '1:20', '1.2.3'].map(
    (text) => [text, text] as const,
  ),
  ...['2020-01-01', '2020-1-1T1:2:3Z', '0b12', '1e400'].map((text) => [text, text] as const),
  ['0777', 511],
  ['0o777', 511],
  ['0O17', 15],
  ['-0o17', -15],
  ['0x1F', 31],
  ['0X1f', 31],
  ['-0x10', -16],
  ['+0x10', 16],
  ['0b11', 3],
  ['-0b11', -3],
  ['1_000', 1000],
  ['1__0', 10],
  ['12_', 12],
  ['-_1', -1],
  ['0x_1', 1],
  ['0_8', 8],
  ['08', 8],
  ['09.5', 9.5],
  ['00', 0],
  ['-0', 0],
  ['+5', 5],
  ['1.0', 1],
  ['1.', 1],
  ['0.', 0],
  ['.5', 0.5],
  ['-.5', -0.5],
  ['+.5', 0.5],
  ['.5_0', 0.5],
  ['5_0.5_0', 50.5],
  ['1e3', 1000],
  ['1E3', 1000],
  ['1e+3', 1000],
  ['12e03', 12000],
  ['-1.5e-3', -0.0015],
  ['9223372036854775808', 9223372036854775808],
];

for (const [text, value] of READ_BY_KUBECTL) {
  test(`a plain ${JSON.stringify(text)} is ${JSON.stringify(value)}`, () => {
    assert.ok(Object.is(resolvePlain(text), value), `read as ${String(resolvePlain(text))}`);
  });
}

test('infinities and not-a-number are numbers', () => {
  assert.equal(resolvePlain('.inf'), Infinity);
  assert.equal(resolvePlain('-.INF'), -Infinity);
  assert.ok(Number.isNaN(resolvePlain('.nan')));
});

test('YAML’s own tags decide, other tags leave the value open', () => {
  const tag = (name: string): string => `tag:yaml.org,2002:${name}`;
  assert.equal(resolveTagged(tag('str'), '3'), '3');
  assert.equal(resolveTagged(tag('int'), '3'), 3);
  assert.equal(resolveTagged(tag('bool'), 'yes'), true);
  assert.equal(resolveTagged('!', '3'), '3');
  assert.equal(resolveTagged('!Ref', 'x'), undefined);
});
