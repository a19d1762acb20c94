import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  annotationKey,
  configKey,
  dnsLabel,
  dnsSubdomain,
  environmentName,
  isAddress,
  isCidr,
  isPercent,
  labelValue,
  pathSegment,
  portName,
  qualifiedName,
  repairedName,
  type Form,
} from '../../server/src/kube/names';

/** Names that a real API server took, and that it refused, by form. */
const cases: readonly {
  readonly form: Form;
  readonly good: readonly string[];
  readonly bad: readonly string[];
}[] = [
  {
    form: dnsLabel,
    good: ['chat', 'a', '0', 'a-b', 'x'.repeat(63)],
    bad: ['', 'Chat', '-a', 'a-', 'a.b', 'a_b', 'ä', 'x'.repeat(64)],
  },
  {
    form: dnsSubdomain,
    good: ['chat', 'a.b', 'a-1.b-2', '0.0', 'x'.repeat(253)],
    bad: ['', 'a..b', '.a', 'a.', 'a-.b', 'A.b', 'a/b', 'x'.repeat(254)],
  },
  { form: pathSegment, good: ['Chat_1', '...'], bad: ['.', '..', 'a/b', 'a%b'] },
  {
    form: qualifiedName,
    good: ['app', 'App_1.x', 'nvidia.com/gpu', 'a.b/C', `${'x'.repeat(253)}/y`],
    bad: ['', '/x', 'x/', 'a/b/c', 'a_b/c', 'Nvidia.com/gpu', '-x', 'x-', 'a b', 'x'.repeat(64)],
  },
  { form: annotationKey, good: ['Example.com/Note'], bad: ['my note', 'a//b'] },
  { form: labelValue, good: ['', 'v1.0_a-B', 'x'.repeat(63)], bad: ['a b', '-a', 'a.', 'x'.repeat(64)] },
  {
    form: portName,
    good: ['http', 'http-8000', '8a', 'x'.repeat(15)],
    bad: ['', 'HTTP', '8000', 'a--b', '-a', 'a-', 'a.b', 'x'.repeat(16)],
  },
  { form: configKey, good: ['a.b', '_x', '.hidden', 'A-1'], bad: ['', '.', '..x', 'a/b', 'a b'] },
  { form: environmentName, good: ['A', 'a.b-c', 'my var', '1'], bad: ['', 'a=b', 'a\tb', 'ä'] },
];

describe('forms of names', () => {
  for (const { form, good, bad } of cases) {
    test(form.name, () => {
      assert.deepEqual(
        good.filter((text) => form.flaw(text) !== undefined),
        [],
      );
      assert.deepEqual(
        bad.filter((text) => form.flaw(text) === undefined),
        [],
      );
    });
  }

  test('addresses', () => {
    const good = [
      '10.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      'fd00::10',
      '1:2:3:4:5:6:7:8',
      '::ffff:10.0.0.1',
    ];
    const bad = ['', '10.0.0', '10.0.0.256', '010.0.0.1', '1:2:3', '1::2::3', '1:2:3:4:5:6:7:8:9', 'g::'];
    assert.deepEqual(good.filter(isAddress), good);
    assert.deepEqual(bad.filter(isAddress), []);
    assert.deepEqual(['10.0.0.0/8', 'fd00::/8'].filter(isCidr), ['10.0.0.0/8', 'fd00::/8']);
    assert.deepEqual(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08', 'fd00::/129', 'x/8'].filter(isCidr), []);
  });

  test('percentages', () => {
    assert.deepEqual(['0%', '25%', '120%', '25', '%', '-1%', '2.5%'].filter(isPercent), [
      '0%',
      '25%',
      '120%',
    ]);
  });

  test('a repaired name has the form, and is another one', () => {
    assert.equal(repairedName(dnsSubdomain, 'Chat_Server'), 'chat-server');
    assert.equal(repairedName(dnsSubdomain, 'Chat.V2'), 'chat.v2');
    assert.equal(repairedName(dnsLabel, 'chat.web'), 'chat-web');
    assert.equal(repairedName(dnsLabel, ' -x- '), 'x');
    assert.equal(repairedName(dnsLabel, 'chat'), undefined);
    assert.equal(repairedName(dnsLabel, '___'), undefined);
    assert.equal(repairedName(dnsLabel, 'X'.repeat(64)), undefined);
  });
});
