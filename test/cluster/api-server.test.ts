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
  saidToBeRejected,
  withOnly,
  type Bundle,
  type Piece,
} from './claims';
import { documentVerdict, prepareVerdicts, podsVerdict, type Verdict } from './verdict';

/**
 * What Plimsoll says that the API server rejects, the API server rejects; everything else that the project shows to
 * people, it accepts.
 */

let lab: Lab;
before(async () => {
  lab = useLab();
  await prepareVerdicts(lab.admin);
});

/** The verdict on a document, or on its pods where only these are looked at: by their controller, or by us. */
async function verdictOf(piece: Piece): Promise<Verdict> {
  const own = await documentVerdict(lab.admin, piece);
  if (own.kind === 'rejected') return own;
  const onPodsOnly = own.kind === 'accepted' ? claimsOf(piece).length > 0 : own.undefinedKind === true;
  if (!onPodsOnly) return own;
  const pods = await podsVerdict(lab.admin, piece);
  return pods.kind === 'skipped' ? own : pods;
}

const shown = new Set<string>();

async function problemsOf(
  bundle: Bundle,
  rule: string | undefined,
  piece: Piece,
  say: (text: string) => void,
): Promise<readonly string[]> {
  const claims = claimsOf(piece);
  const marked = saidToBeRejected(piece);
  const verdict = await verdictOf(piece);
  if (verdict.kind === 'skipped') {
    say(`not sent: ${piece.name}: ${verdict.why}`);
    return [];
  }
  if (verdict.kind === 'accepted') {
    return [
      ...claims.map((claim) => `${piece.name} is accepted, but ${claim.rule} says: ${claim.message}`),
      ...(marked === undefined ? [] : [`${piece.name} is accepted, but a comment says: rejected: ${marked}`]),
    ];
  }
  if (marked !== undefined) {
    return verdict.why.includes(marked)
      ? []
      : [`${piece.name} is rejected for another reason than "${marked}":\n  ${verdict.why}`];
  }
  if (claims.length === 0)
    return [`${piece.name} is rejected by the API server, and nothing says so:\n  ${verdict.why}`];

  // What is refused may be refused for something else, so each claim has to hold by itself, and without any of them
  // nothing may be left to refuse.
  const problems: string[] = [];
  for (const claim of claims) {
    const alone = withOnly(bundle, rule, piece, claim);
    if (alone === undefined) {
      say(`not shown alone: ${piece.name}: ${claim.rule}: ${claim.message}`);
    } else if ((await verdictOf(alone)).kind === 'accepted') {
      problems.push(`${piece.name} with this alone is accepted: ${claim.rule}: ${claim.message}`);
    } else {
      shown.add(claim.rule);
    }
  }
  const repaired = withOnly(bundle, rule, piece, undefined);
  const rest = repaired === undefined ? undefined : await verdictOf(repaired);
  if (rest?.kind === 'rejected')
    problems.push(`${piece.name} is rejected even without what is reported:\n  ${rest.why}`);
  return problems;
}

async function check(bundle: Bundle, rule: string | undefined, say: (text: string) => void): Promise<void> {
  const problems: string[] = [];
  for (const piece of piecesOf(bundle, rule).pieces)
    problems.push(...(await problemsOf(bundle, rule, piece, say)));
  if (problems.length > 0) assert.fail(problems.join('\n'));
}

for (const [rule, fixtures] of fixturesByRule()) {
  describe(`fixtures of ${rule}`, () => {
    for (const fixture of fixtures) {
      test(fixture.name, (t) => check(fixtureBundle(fixture), rule, (text) => t.diagnostic(text)));
      const fixed = fixedBundle(fixture);
      if (fixed !== undefined)
        test(`${fixture.name} fixed`, (t) => check(fixed, rule, (text) => t.diagnostic(text)));
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
