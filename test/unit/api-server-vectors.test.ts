import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { run as runApiServer } from '../vectors/apiserver';
import { run as runMutations } from '../vectors/mutations';

/** Recorded answers of a real API server: see `test/vectors`. */

/** Answers to manifests that the project does not have, beside the checkout, where there are any. */
const shared = resolve(__dirname, '../../../shared');
const facts = (name: string): string => join(shared, 'facts', name);

function counts(summary: string): readonly number[] {
  return [...summary.matchAll(/\d+/g)].map(Number);
}

test('nothing is claimed of what the API server accepts, and nearly all that it rejects is found', async () => {
  const packed = readFileSync(join(__dirname, '../vectors/data/api-mutations.json.gz'));
  const cases: unknown = JSON.parse(gunzipSync(packed).toString('utf8'));
  const { summary, differences } = await runMutations(cases, []);
  const [silent = 0, accepted = 0, found = 0, rejected = 0, onField = 0] = counts(summary);
  assert.ok(accepted >= 300 && rejected >= 700, summary);
  const claims = differences.filter((line) => line.includes(': accepted, but '));
  assert.deepEqual(claims, []);
  assert.equal(silent, accepted);
  assert.ok(found >= 0.96 * rejected, summary);
  assert.ok(onField >= 0.95 * rejected, summary);
});

const noMutations = existsSync(facts('api-mutations.json'))
  ? false
  : 'no recorded mutations beside the checkout';

test('recorded mutations: silent, found, on the field', { skip: noMutations }, async () => {
  const cases: unknown = JSON.parse(readFileSync(facts('api-mutations.json'), 'utf8'));
  const { ok, summary, differences } = await runMutations(cases, []);
  assert.ok(ok, [summary, ...differences].join('\n'));
});

const noVerdicts = existsSync(facts('apiserver-verdicts.json'))
  ? false
  : 'no recorded verdicts beside the checkout';

test('recorded verdicts about public manifests', { skip: noVerdicts }, async () => {
  const cases: unknown = JSON.parse(readFileSync(facts('apiserver-verdicts.json'), 'utf8'));
  const { ok, summary, differences } = await runApiServer(cases, [join(shared, 'corpus')]);
  assert.ok(ok, [summary, ...differences].join('\n'));
});
