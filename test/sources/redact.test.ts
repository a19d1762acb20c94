import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor, redacted } from '../../server/src/sources/redact';

test('secrets that were told are gone, also when they are written for a URL', () => {
  const { redact, add } = createRedactor();
  add('pa/ss+word==');
  assert.equal(redact('x pa/ss+word== y'), `x ${redacted} y`);
  assert.equal(redact(`token=${encodeURIComponent('pa/ss+word==')}`).includes('pa%2F'), false);
});

test('short texts are not secrets: they would take words apart', () => {
  const { redact, add } = createRedactor();
  add('a');
  add(undefined);
  add('   ');
  assert.equal(redact('a banana'), 'a banana');
});

const looks: readonly string[] = [
  'Authorization: Bearer planted-1234567890',
  'curl -H "authorization: Basic cGxhbnRlZDpzZWNyZXQ="',
  'error for https://planted-user:planted-pass@prometheus.example/api',
  'token eyJhbGciOiJSUzI1NiIsImtpZCI6In0.eyJpc3MiOiJwbGFudGVkIn0.c2lnbmF0dXJl here',
  'k8s-aws-v1.aHR0cHM6Ly9wbGFudGVk',
  'AKIAIOSFODNN7EXAMPLE is not valid',
  'X-Amz-Security-Token=planted%2Ftoken&X-Amz-Signature=abcdef0123456789',
  'password=planted-password',
  '{"client_secret": "planted-secret"}',
  'aws_secret_access_key = planted/secret/key',
];

for (const text of looks) {
  test(`what looks like a secret is one: ${text.slice(0, 30)}`, () => {
    const result = createRedactor().redact(text);
    assert.match(result, /\[redacted\]/);
    for (const secret of ['planted', 'cGxhbnRlZ', 'eyJ', 'aHR0cHM', 'AKIAIOS', 'abcdef0123456789'])
      assert.ok(!result.includes(secret), result);
  });
}

test('ordinary words stay', () => {
  const text =
    'list pods in namespace chat: 500: max-num-batched-tokens 8192, tokens 12, --tokenizer x, basic auth';
  assert.equal(createRedactor().redact(text), text);
});

test('characters that change how text is shown are taken out', () => {
  assert.equal(createRedactor().redact('a\u202eb\u0000c\u0085\nd\te'), 'abc\nd\te');
});
