import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Ajv from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { parseStringPromise } from 'xml2js';
import { formatGithub } from '../../server/src/cli/formats/github';
import { formatJunit } from '../../server/src/cli/formats/junit';
import { formatSarif } from '../../server/src/cli/formats/sarif';
import type { Report } from '../../server/src/cli/report';
import { brokenPod, folder, plimsoll } from './host';

const region = { startLine: 2, startColumn: 3, endLine: 2, endColumn: 9 };

/** Everything that a report can hold, with names that each format has to escape. */
const full: Report = {
  version: '1.2.3',
  checkedFiles: 3,
  counts: { error: 1, warning: 0, info: 1, hint: 0 },
  fixed: 0,
  files: [
    {
      path: 'a b/ä,1:%.yaml',
      text: 'one\n  "two"\n',
      findings: [
        {
          rule: 'request-above-limit',
          severity: 'error',
          message: 'Container "<a&b>" \u0007 100% of\nit',
          region,
          related: [{ path: 'b.yaml', region, message: 'the "limit"' }],
          fixes: [{ title: 'Write it', safe: true, edits: [{ region, newText: '"three"' }] }],
        },
        {
          rule: 'request-above-limit',
          severity: 'info',
          message: 'spans lines',
          region: { ...region, endLine: 4 },
          related: [],
          fixes: [],
        },
      ],
      suppressed: [
        {
          finding: {
            rule: 'duplicate-key',
            severity: 'error',
            message: 'again',
            region,
            related: [],
            fixes: [],
          },
          kind: 'inSource',
          justification: 'because "it" <is>',
        },
        {
          finding: {
            rule: 'duplicate-key',
            severity: 'error',
            message: 'again',
            region,
            related: [],
            fixes: [],
          },
          kind: 'external',
          justification: undefined,
        },
      ],
    },
  ],
  skipped: [{ path: 'c.yaml', rule: undefined, message: 'is a binary file' }],
  internalErrors: [{ path: 'a.yaml', rule: 'missing-pdb', message: 'x is not a function' }],
  rules: [
    {
      id: 'duplicate-key',
      summary: 'A key must occur once',
      severity: 'error',
      docUrl: 'https://example.com/d',
    },
    { id: 'request-above-limit', summary: 'A request', severity: 'error', docUrl: 'https://example.com/r' },
  ],
};

const schema = JSON.parse(
  readFileSync(require.resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'), 'utf8'),
) as object;

function validateSarif(text: string): Sarif {
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  addFormats(ajv);
  const log: unknown = JSON.parse(text);
  const validate = ajv.compile(schema);
  assert.ok(validate(log), JSON.stringify(validate.errors, null, 2));
  return log as Sarif;
}

interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly locations: readonly {
    physicalLocation: { artifactLocation: { uri: string }; region: typeof region };
  }[];
  readonly fixes?: readonly {
    artifactChanges: readonly { replacements: readonly { insertedContent: { text: string } }[] }[];
  }[];
  readonly suppressions?: readonly { kind: string; justification?: string }[];
  readonly partialFingerprints: Record<string, string>;
}

interface Sarif {
  readonly runs: readonly {
    readonly columnKind: string;
    readonly tool: { readonly driver: { readonly rules: readonly { id: string }[] } };
    readonly invocations: readonly { executionSuccessful: boolean; toolExecutionNotifications?: unknown[] }[];
    readonly results: readonly SarifResult[];
  }[];
}

test('SARIF validates against its schema and keeps regions, fixes, suppressions and failures', () => {
  const [run] = validateSarif(formatSarif(full)).runs;
  assert.ok(run !== undefined);
  assert.equal(run.columnKind, 'utf16CodeUnits');
  assert.equal(run.results.length, 4);
  for (const result of run.results) assert.equal(run.tool.driver.rules[result.ruleIndex]?.id, result.ruleId);
  const [first, second, third, fourth] = run.results;
  assert.deepEqual(first?.locations[0]?.physicalLocation.region, region);
  assert.equal(first?.locations[0]?.physicalLocation.artifactLocation.uri, 'a%20b/%C3%A4%2C1%3A%25.yaml');
  assert.equal(first?.fixes?.[0]?.artifactChanges[0]?.replacements[0]?.insertedContent.text, '"three"');
  assert.equal(second?.level, 'note');
  assert.deepEqual(third?.suppressions, [
    { kind: 'inSource', status: 'accepted', justification: 'because "it" <is>' },
  ]);
  assert.deepEqual(fourth?.suppressions, [{ kind: 'external', status: 'accepted' }]);
  const prints = run.results.map(({ partialFingerprints }) => JSON.stringify(partialFingerprints));
  assert.equal(new Set(prints).size, prints.length, 'two equal findings of one file have two fingerprints');
  assert.equal(run.invocations[0]?.executionSuccessful, false);
  assert.equal(run.invocations[0]?.toolExecutionNotifications?.length, 2);
});

test('SARIF of a real run validates, with a fingerprint that does not move with the line', async (t) => {
  const cwd = folder(t, { 'pod.yaml': brokenPod, 'clean.yaml': '{}\n' });
  const moved = folder(t, { 'pod.yaml': `# a comment\n\n${brokenPod}` });
  const results = await Promise.all(
    [cwd, moved].map(
      async (at) =>
        validateSarif((await plimsoll(at, ['lint', '--format', 'sarif'])).stdout).runs[0]?.results[0],
    ),
  );
  assert.equal(results[0]?.locations[0]?.physicalLocation.region.startLine, 11);
  assert.equal(results[1]?.locations[0]?.physicalLocation.region.startLine, 13);
  assert.deepEqual(results[0]?.partialFingerprints, results[1]?.partialFingerprints);
});

test('SARIF of a clean run is a run without results', async (t) => {
  const log = validateSarif((await plimsoll(folder(t, {}), ['lint', '--format', 'sarif'])).stdout);
  assert.deepEqual(log.runs[0]?.results, []);
  assert.equal(log.runs[0]?.invocations[0]?.executionSuccessful, true);
});

interface Suites {
  readonly testsuites: {
    readonly $: Record<string, string>;
    readonly testsuite: readonly {
      readonly $: Record<string, string>;
      readonly testcase: readonly {
        failure?: readonly { $: { message: string } }[];
        skipped?: unknown[];
        error?: unknown[];
      }[];
    }[];
  };
}

test('JUnit is well-formed XML whose counts agree with its cases', async () => {
  const { testsuites } = (await parseStringPromise(formatJunit(full), { strict: true })) as Suites;
  const cases = testsuites.testsuite.flatMap(({ testcase }) => testcase);
  assert.equal(Number(testsuites.$['tests']), cases.length);
  assert.equal(Number(testsuites.$['failures']), cases.filter(({ failure }) => failure !== undefined).length);
  assert.equal(Number(testsuites.$['errors']), cases.filter(({ error }) => error !== undefined).length);
  assert.equal(cases.filter(({ skipped }) => skipped !== undefined).length, 3);
  assert.equal(cases[0]?.failure?.[0]?.$.message, 'Container "<a&b>" \ufffd 100% of\nit');
});

test('GitHub annotations escape what would end or forge a command', () => {
  assert.equal(
    formatGithub(full),
    [
      '::error file=a b/ä%2C1%3A%25.yaml,line=2,endLine=2,col=3,endColumn=9,title=request-above-limit::Container "<a&b>" \u2407 100%25 of%0Ait',
      '::notice file=a b/ä%2C1%3A%25.yaml,line=2,endLine=4,title=request-above-limit::spans lines',
      '::error file=a.yaml::internal error in missing-pdb: x is not a function',
      '::notice file=c.yaml::skipped: is a binary file',
      '',
    ].join('\n'),
  );
});

test('the Action and the pre-commit hooks run the version of this package', () => {
  const root = join(__dirname, '../..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.ok(readFileSync(join(root, 'action.yml'), 'utf8').includes(`default: ${version}\n`));
  const hooks = readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8').match(/plimsoll@\S+/g) ?? [];
  assert.ok(hooks.length > 0);
  for (const hook of hooks) assert.equal(hook, `plimsoll@${version}`);
});
