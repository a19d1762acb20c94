import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ruleMeta } from '../../server/src/engine/registry';
import { useLab, type Lab } from './lab/use';
import {
  claimsOf,
  definitionsIn,
  documentBundles,
  exampleBundle,
  pitfallBundles,
  fixedBundle,
  fixtureBundle,
  fixturesByRule,
  isUnwanted,
  piecesOf,
  rejecting,
  saidToBeRejected,
  snippetBundles,
  withOnly,
  type Bundle,
  type Piece,
} from './claims';
import { withDefinitions } from './lab/definitions';
import { documentVerdict, podsVerdict, prepareVerdicts, webhooksVerdict, type Verdict } from './verdict';

/**
 * What Plimsoll says that the API server rejects, the API server rejects; everything else that the project shows to
 * people, it accepts.
 */

let lab: Lab;
before(async () => {
  lab = useLab();
  await prepareVerdicts(lab.admin);
});

/** Who judges: the API server itself, KEDA's webhooks behind it, or the API server when the pods are made. */
const judges: readonly ((piece: Piece) => Promise<Verdict>)[] = [
  (piece) => documentVerdict(lab, piece),
  (piece) => webhooksVerdict(lab.admin, piece),
  (piece) => podsVerdict(lab.admin, piece),
];

interface Judged {
  readonly verdict: Verdict;
  readonly judge: (piece: Piece) => Promise<Verdict>;
}

/** The verdict of the first one who rejects, where something is said to be; else the API server's own. */
async function judged(piece: Piece): Promise<Judged> {
  const [first, , ofPods] = judges;
  if (first === undefined || ofPods === undefined) throw new Error('there are three judges');
  const own = { verdict: await first(piece), judge: first };
  // The pods of a kind that is not known here are known all the same.
  const unknown = own.verdict.kind === 'skipped' && own.verdict.undefinedKind === true;
  if (own.verdict.kind === 'rejected' || (own.verdict.kind === 'skipped' && !unknown)) return own;
  const others = claimsOf(piece).length > 0 ? judges.slice(1) : unknown ? [ofPods] : [];
  for (const judge of others) {
    const verdict = await judge(piece);
    if (verdict.kind === 'rejected' || (unknown && verdict.kind === 'accepted')) return { verdict, judge };
  }
  return own;
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
  const { verdict, judge } = await judged(piece);
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
  const unwanted = claims.filter((claim) => isUnwanted(bundle, piece, claim));
  if (unwanted.length > 0 || claims.length === 0)
    return [
      `${piece.name} is rejected by the API server, and ${
        unwanted.length > 0 ? 'is shown as correct' : 'nothing says so'
      }:\n  ${verdict.why}`,
    ];

  // What is refused may be refused for something else, so each claim has to hold by itself, and without any of them
  // nothing may be left to refuse.
  const problems: string[] = [];
  for (const claim of claims) {
    const alone = withOnly(bundle, rule, piece, claim);
    if (alone === undefined) {
      say(`not shown alone: ${piece.name}: ${claim.rule}: ${claim.message}`);
    } else if ((await judge(alone.piece)).kind === 'accepted') {
      problems.push(`${piece.name} with this alone is accepted: ${claim.rule}: ${claim.message}`);
    } else {
      shown.add(claim.rule);
    }
  }
  const repaired = withOnly(bundle, rule, piece, undefined);
  if (repaired === undefined) return problems;
  const rest = await judge(repaired.piece);
  if (rest.kind !== 'rejected') return problems;
  const isRemoved = (field: string): boolean => repaired.removed.some((key) => field.includes(key));
  if (rest.fields.length === 0 || !rest.fields.every(isRemoved))
    problems.push(`${piece.name} is rejected even without what is reported:\n  ${rest.why}`);
  return problems;
}

async function check(bundle: Bundle, rule: string | undefined, say: (text: string) => void): Promise<void> {
  const problems: string[] = [];
  const linted = piecesOf(bundle, rule);
  await withDefinitions(lab.admin, definitionsIn(linted), async () => {
    for (const piece of linted.pieces) problems.push(...(await problemsOf(bundle, rule, piece, say)));
  });
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
  for (const bundle of pitfallBundles())
    test(bundle.name, (t) => check(bundle, undefined, (text) => t.diagnostic(text)));
  for (const { rule, bundle } of documentBundles())
    test(bundle.name, (t) => check(bundle, rule, (text) => t.diagnostic(text)));
});

describe('snippets', () => {
  for (const bundle of snippetBundles())
    test(bundle.name, (t) => check(bundle, undefined, (text) => t.diagnostic(text)));
});

describe('these tests', () => {
  const workload = (probe: string): string =>
    [
      'apiVersion: apps/v1',
      'kind: Deployment',
      'metadata: { name: chat }',
      'spec:',
      '  selector: { matchLabels: { app: chat } }',
      '  template:',
      '    metadata: { labels: { app: chat } }',
      '    spec:',
      '      containers:',
      `        - { name: vllm, image: "vllm/vllm-openai:v0.11.0", ${probe}: { tcpSocket: { port: 8000 } } }`,
      '',
    ].join('\n');

  test('fail on a misspelt field and name the file', async () => {
    const bundle = (probe: string): Bundle => ({
      name: 'test/rules/some-rule/good.yaml',
      files: { 'good.yaml': workload(probe) },
      wanted: [],
    });
    await check(bundle('readinessProbe'), undefined, () => undefined);
    await assert.rejects(
      check(bundle('readynessProbe'), undefined, () => undefined),
      {
        name: 'AssertionError',
        message:
          /test\/rules\/some-rule\/good\.yaml is rejected by the API server[^]*unknown field "spec\.template\.spec\.containers\[0\]\.readynessProbe"/,
      },
    );
  });

  test('fail on a claim that does not hold', async () => {
    const text = `# rejected: unknown field\n${workload('readinessProbe')}`;
    const bundle: Bundle = { name: 'good.yaml', files: { 'good.yaml': text } };
    await assert.rejects(
      check(bundle, undefined, () => undefined),
      /is accepted, but a comment says/,
    );
  });
});

describe('claims', () => {
  // What is refused as an update of something is shown in `updates.test.ts`.
  for (const rule of [...rejecting].filter((id) => ruleMeta(id)?.needs !== 'live'))
    test(`a rejection shows ${rule}`, () => assert.ok(shown.has(rule), `no document shows it`));
});
