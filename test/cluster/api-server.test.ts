import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { useLab, type Lab } from './lab/use';
import {
  claimsOf,
  documentBundles,
  exampleBundle,
  fixedBundle,
  fixtureBundle,
  fixturesByRule,
  piecesOf,
  rejecting,
  type Bundle,
  type Piece,
} from './claims';
import { defaultNamespace, documentVerdict, podsVerdict, type Verdict } from './verdict';

/**
 * What Plimsoll says that the API server rejects, the API server rejects; everything else that the project shows to
 * people, it accepts.
 */

let lab: Lab;
before(async () => {
  lab = useLab();
  await lab.namespace(defaultNamespace);
});

async function verdictOf(piece: Piece): Promise<Verdict> {
  const own = await documentVerdict(lab.admin, piece);
  if (own.kind === 'rejected' || claimsOf(piece).length === 0) return own;
  // The object may be what its controller cannot make pods of.
  const pods = await podsVerdict(lab.admin, piece);
  return pods.kind === 'skipped' ? own : pods;
}

const shown = new Set<string>();

async function check(bundle: Bundle, rule: string | undefined, say: (text: string) => void): Promise<void> {
  const wrong: string[] = [];
  for (const piece of piecesOf(bundle, rule).pieces) {
    const claims = claimsOf(piece);
    const verdict = await verdictOf(piece);
    if (verdict.kind === 'skipped') {
      say(`not sent: ${piece.name}: ${verdict.why}`);
    } else if (claims.length > 0 && verdict.kind === 'accepted') {
      const messages = claims.map((claim) => `  ${claim.rule}: ${claim.message}`).join('\n');
      wrong.push(`${piece.name} is accepted by the API server, but is said to be rejected:\n${messages}`);
    } else if (claims.length === 0 && verdict.kind === 'rejected') {
      wrong.push(`${piece.name} is rejected by the API server, and nothing says so:\n  ${verdict.why}`);
    } else if (claims.length > 0) {
      for (const claim of claims) shown.add(claim.rule);
    }
  }
  if (wrong.length > 0) assert.fail(wrong.join('\n'));
}

for (const [rule, fixtures] of fixturesByRule()) {
  describe(`fixtures of ${rule}`, () => {
    for (const fixture of fixtures) {
      test(fixture.name, (t) => check(fixtureBundle(fixture), rule, (text) => t.diagnostic(text)));
      const fixed = fixedBundle(fixture);
      if (fixed !== undefined) test(`${fixture.name} fixed`, (t) => check(fixed, rule, (text) => t.diagnostic(text)));
    }
  });
}

describe('examples', () => {
  test('examples/healthy', (t) => check(exampleBundle(), undefined, (text) => t.diagnostic(text)));
  for (const { rule, bundle } of documentBundles())
    test(bundle.name, (t) => check(bundle, rule, (text) => t.diagnostic(text)));
});

describe('claims', () => {
  for (const rule of rejecting)
    test(`a rejection shows ${rule}`, () => assert.ok(shown.has(rule), `no document shows it`));
});
