import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  absent,
  admits,
  admitsAbsence,
  agree,
  anyValue,
  describeValueSet,
  intersect,
  intersects,
  normaliseLabel,
  oneOf,
  readRequirements,
  valueSet,
} from '../../server/src/kube/value-set';
import type { ValueSet } from '../../server/src/kube/value-set';

function set(operator: string, ...values: string[]): ValueSet {
  const made = valueSet({ key: 'k', operator, values });
  assert.ok(made, `${operator} ${values.join(',')}`);
  return made;
}

describe('value sets', () => {
  test('bounds compare integers and admit nothing else', () => {
    assert.ok(admits(set('Gt', '8'), '9'));
    assert.ok(!admits(set('Gt', '8'), '8'));
    assert.ok(admits(set('Gt', '8'), '10'), 'as numbers, not as text');
    assert.ok(admits(set('Gte', '8'), '8'));
    assert.ok(admits(set('Lte', '8'), '8'));
    assert.ok(!admits(set('Lt', '8'), '8'));
    assert.ok(!admits(set('Gt', '8'), 'large'));
  });

  test('malformed requirements are no sets', () => {
    const malformed = [
      { key: 'k', operator: 'In', values: [] },
      { key: 'k', operator: 'Gt', values: ['many'] },
      { key: 'k', operator: 'Gt', values: ['1', '2'] },
      { key: 'k', operator: 'Gt', values: ['1.5'] },
      { key: 'k', operator: 'Matches', values: ['x'] },
    ];
    for (const spec of malformed) assert.equal(valueSet(spec), undefined, JSON.stringify(spec));
    assert.deepEqual(readRequirements(malformed).unknownKeys, ['k', 'k', 'k', 'k', 'k']);
  });

  test('bounds that leave no integer admit no value', () => {
    const none = intersect(set('Gt', '5'), set('Lt', '6'));
    assert.ok(!none.complement && none.values.size === 0);
    assert.ok(!intersects(set('Gt', '5'), set('Lt', '6')));
    assert.ok(intersects(set('Gte', '5'), set('Lte', '5')));
  });

  test('minValues keeps the larger', () => {
    const a = valueSet({ key: 'k', operator: 'Exists', minValues: 2 });
    const b = valueSet({ key: 'k', operator: 'In', values: ['x'], minValues: 5 });
    assert.ok(a && b);
    assert.equal(intersect(a, b).minValues, 5);
  });

  test('a missing label satisfies NotIn and DoesNotExist only', () => {
    assert.deepEqual(
      [set('In', 'a'), set('NotIn', 'a'), anyValue, absent, set('Gt', '1')].map(admitsAbsence),
      [false, true, false, true, false],
    );
    // Merged with an exclusion, Karpenter forgets that the label had to exist.
    assert.ok(admitsAbsence(intersect(anyValue, set('NotIn', 'a'))));
    assert.ok(agree(set('NotIn', 'a'), absent));
    assert.ok(!agree(anyValue, absent));
  });

  test('aliases are one key', () => {
    assert.equal(normaliseLabel('beta.kubernetes.io/arch'), 'kubernetes.io/arch');
    assert.equal(normaliseLabel('failure-domain.beta.kubernetes.io/zone'), 'topology.kubernetes.io/zone');
    assert.equal(normaliseLabel('topology.ebs.csi.aws.com/zone'), 'topology.kubernetes.io/zone');
    const { requirements } = readRequirements(
      [{ key: 'beta.kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] }],
      { 'kubernetes.io/arch': 'arm64' },
    );
    assert.deepEqual(requirements.get('kubernetes.io/arch'), oneOf(['arm64']));
  });

  test('are described in words', () => {
    assert.equal(describeValueSet(set('In', 'b', 'a')), 'in [a, b]');
    assert.equal(describeValueSet(set('NotIn', 'a')), 'not in [a]');
    assert.equal(describeValueSet(intersect(set('Gt', '7'), set('Lt', '97'))), 'at least 8, at most 96');
    assert.equal(describeValueSet(anyValue), 'exists');
    assert.equal(describeValueSet(absent), 'does not exist');
    const many = Array.from({ length: 12 }, (_, index) => `v${10 + index}`);
    assert.match(describeValueSet(oneOf(many)), /v17, 4 more\]$/);
  });

  const value = fc.constantFrom('1', '2', '3', '5', '8', '13', 'a', 'b', 'c');
  const bound = fc.integer({ min: 0, max: 14 }).map(String);
  const sets = fc.oneof(
    fc.array(value, { minLength: 1, maxLength: 4 }).map((values) => set('In', ...values)),
    fc.array(value, { minLength: 1, maxLength: 4 }).map((values) => set('NotIn', ...values)),
    fc.constant(anyValue),
    fc.constant(absent),
    fc.tuple(fc.constantFrom('Gt', 'Lt', 'Gte', 'Lte'), bound).map(([operator, one]) => set(operator, one)),
  );

  test('an intersection admits what both admit', () => {
    fc.assert(
      fc.property(sets, sets, sets, value, (a, b, c, one) => {
        assert.equal(admits(intersect(a, b), one), admits(a, one) && admits(b, one));
        assert.equal(admits(intersect(b, a), one), admits(intersect(a, b), one));
        const both = intersect(intersect(a, b), c);
        assert.equal(admits(both, one), admits(a, one) && admits(b, one) && admits(c, one));
      }),
    );
  });

  test('two sets intersect when their intersection is not empty', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const both = intersect(a, b);
        assert.equal(intersects(a, b), both.complement || both.values.size > 0);
        assert.equal(intersects(a, b), intersects(b, a));
      }),
    );
  });
});
