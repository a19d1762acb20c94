import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { configFileName, parseConfig, type Configuration } from '../../server/src/engine/config';
import type { Finding, FindingFix } from '../../server/src/engine/finding';
import { applyEdits } from '../../server/src/engine/fixes';
import type { RuleLevel } from '../../server/src/engine/presets';
import { severityRank } from '../../server/src/engine/presets';
import { ruleDocPath, ruleMeta, ruleMetas } from '../../server/src/engine/registry';
import { lint } from '../../server/src/engine/run';
import { liveLookup } from '../../server/src/live/lookup';
import type { Workspace } from '../../server/src/workspace/workspace';
import type { SourceFile } from '../../server/src/yaml/document';
import type { Example, Fixture, Want } from '../support/fixtures';
import { examplesOf, fixturesOf, withoutWants } from '../support/fixtures';
import { appliedFixture, liveFixture } from '../support/live';
import { productSchemas } from '../support/schemas';
import { configurationIn, testRoot, uriOf, workspaceOf } from '../support/workspace';

/**
 * Every fixture of every rule; see "Fixtures" in CONTRIBUTING.md. `RULE=id` in the environment runs one rule alone.
 */

const root = resolve(__dirname, '../..');
const fixturesRoot = join(root, 'test/rules');
const only = process.env['RULE'];

type Files = Readonly<Record<string, string>>;

interface Linted {
  readonly findings: readonly Finding[];
  readonly sources: readonly SourceFile[];
}

/** What was linted last. */
let last:
  | {
      readonly fixture: Fixture;
      readonly configs: Files;
      readonly configuration: Configuration;
      readonly workspace: Workspace;
    }
  | undefined;

function isAskedAlike(a: Fixture, b: Fixture): boolean {
  return a.rule === b.rule && a.preset === b.preset && a.config === b.config;
}

function configsIn(files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([path]) => isConfig(path)));
}

/** Lints texts as a fixture asks: its rule speaks even where the preset has it off. */
function lintFixture(fixture: Fixture, files: Files): Linted {
  const meta = ruleMeta(fixture.rule);
  assert.ok(meta, `no rule ${fixture.rule}`);
  const preset = fixture.preset ?? 'recommended';
  const isOff = (preset === 'strict' ? (meta.strict ?? meta.severity) : meta.severity) === 'off';
  const rules: Record<string, RuleLevel> = isOff ? { [meta.id]: meta.strict ?? 'info' } : {};
  const layers = { defaults: { preset, rules } };
  const configs: Files =
    fixture.config === undefined ? files : { ...files, [configFileName]: fixture.config };
  const manifests = Object.fromEntries(Object.entries(files).filter(([path]) => !isConfig(path)));
  const before = last !== undefined && isAskedAlike(last.fixture, fixture) ? last : undefined;
  // What a fix leaves as it is is not worked out again: of fifty objects, one is another after each of a hundred fixes.
  const { configFor, problems } =
    before !== undefined && isDeepStrictEqual(configsIn(before.configs), configsIn(configs))
      ? before.configuration
      : configurationIn(configs, layers);
  const workspace = workspaceOf(manifests, before?.workspace);
  last = { fixture, configs, configuration: { configFor, problems }, workspace };
  const result = lint(workspace, configFor, {
    schemas: productSchemas(),
    ...(fixture.live === undefined
      ? {}
      : {
          live: liveLookup(
            [liveFixture(fixture.live, `${fixture.rule}/${fixture.name}`)],
            appliedFixture(fixture.live),
          ),
        }),
  });
  assert.deepEqual(
    result.internalErrors.map(({ stack, message }) => stack ?? message),
    [],
    'no rule crashes',
  );
  const all = [...result.files.flatMap(({ findings }) => findings), ...[...problems.values()].flat()];
  const findings = all.filter(({ rule }) => fixture.rules === undefined || fixture.rules.includes(rule));
  return { findings, sources: [...workspace.files.values()] };
}

function isConfig(path: string): boolean {
  return path.split('/').at(-1) === configFileName;
}

function pathOf(uri: string): string {
  return decodeURIComponent(uri.slice(testRoot.length));
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length - 1;
}

function normal(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function spanned(files: Files, finding: Finding): string {
  return normal((files[pathOf(finding.uri)] ?? '').slice(finding.at.start, finding.at.end));
}

/** Findings in words, for comparing and for reading. */
function describeFinding(files: Files, finding: Finding): string {
  const path = pathOf(finding.uri);
  const fixes = finding.fixes.map(({ title }) => ` fix="${title}"`).join('');
  const line = lineOf(files[path] ?? '', finding.at.start) + 1;
  return `${path}:${line} ${finding.rule} ${finding.severity} "${finding.message}" at="${spanned(files, finding)}"${fixes}`;
}

function describeWant(want: Want): string {
  const severity = want.severity === undefined ? '' : ` ${want.severity}`;
  const at = want.at === undefined ? '' : ` at="${want.at}"`;
  const fixes = want.fixes.map((title) => ` fix="${title}"`).join('');
  return `${want.path}:${want.line + 1} ${want.rule}${severity} "${want.message}"${at}${fixes}`;
}

function agrees(files: Files, want: Want, finding: Finding): boolean {
  const path = pathOf(finding.uri);
  return (
    want.rule === finding.rule &&
    want.path === path &&
    want.line === lineOf(files[path] ?? '', finding.at.start) &&
    finding.message.includes(want.message) &&
    (want.severity === undefined || want.severity === finding.severity) &&
    (want.at === undefined || want.at === spanned(files, finding)) &&
    want.fixes.length === finding.fixes.length &&
    want.fixes.every((title, index) => title === finding.fixes[index]?.title)
  );
}

/** Demands that findings and wants are the same; answers the finding of each want. */
function compare(
  fixture: Fixture,
  files: Files,
  wants: readonly Want[],
  findings: readonly Finding[],
): Finding[] {
  const left = [...findings];
  const missing: Want[] = [];
  const matched: Finding[] = [];
  for (const want of wants) {
    const index = left.findIndex((finding) => agrees(files, want, finding));
    const [finding] = index === -1 ? [] : left.splice(index, 1);
    if (finding === undefined) missing.push(want);
    else matched.push(finding);
  }
  if (missing.length > 0 || left.length > 0) {
    assert.fail(
      [
        `${fixture.rule}/${fixture.name}: findings differ from what the comments want`,
        ...missing.map((want) => `  wanted, not found: ${describeWant(want)}`),
        ...left.map((finding) => `  found, not wanted: ${describeFinding(files, finding)}`),
      ].join('\n'),
    );
  }
  return matched;
}

/** A finding as a later run can recognise it: the text may have moved. */
function identity(finding: Finding): string {
  return `${finding.uri} ${finding.rule} ${finding.message}`;
}

/** Takes each element of the second list out of the first one once. */
function minus(from: readonly string[], what: readonly string[]): string[] {
  const rest = [...from];
  for (const item of what) {
    const index = rest.indexOf(item);
    if (index !== -1) rest.splice(index, 1);
  }
  return rest;
}

function applyFix(files: Files, finding: Finding, fix: FindingFix): Files {
  const path = pathOf(finding.uri);
  return { ...files, [path]: applyEdits(files[path] ?? '', fix.edits) };
}

function problemsOf(sources: readonly SourceFile[]): string[] {
  return sources.flatMap(({ uri, documents }) =>
    documents.flatMap(({ document }) => document.problems.map(({ message }) => `${uri}: ${message}`)),
  );
}

function checkFix(fixture: Fixture, files: Files, before: Linted, finding: Finding, fix: FindingFix): void {
  const what = `${fixture.rule}/${fixture.name}: fix "${fix.title}"`;
  const path = pathOf(finding.uri);
  const text = files[path] ?? '';
  for (const edit of fix.edits) {
    const old = text.slice(edit.start, edit.end);
    assert.notEqual(old, edit.newText, `${what} writes what is already there`);
    const oldLines = old.split('\n');
    const newLines = edit.newText.split('\n');
    if (oldLines.length > 2 && newLines.length > 2) {
      assert.notEqual(oldLines[0], newLines[0], `${what} rewrites a line without changing it`);
      assert.notEqual(oldLines.at(-2), newLines.at(-2), `${what} rewrites a line without changing it`);
    }
    if (text.includes('\r\n'))
      assert.doesNotMatch(edit.newText, /(?<!\r)\n/, `${what} writes LF into a CRLF file`);
  }
  const fixedFiles = applyFix(files, finding, fix);
  const after = lintFixture(fixture, fixedFiles);
  assert.deepEqual(
    minus(problemsOf(after.sources), problemsOf(before.sources)),
    [],
    `${what} breaks the YAML`,
  );

  const then = before.findings.map(identity);
  const now = after.findings.map(identity);
  assert.ok(minus(then, now).includes(identity(finding)), `${what} leaves the finding: ${finding.message}`);
  const known = new Set(minus(now, then));
  const worse = after.findings.filter(
    (found) => known.has(identity(found)) && severityRank[found.severity] <= severityRank[finding.severity],
  );
  assert.deepEqual(
    worse.map((found) => describeFinding(fixedFiles, found)),
    [],
    `${what} makes a finding of equal or higher severity`,
  );
}

/** Applies the first fix of each finding, from the end of each file on, those that overlap again after a new run. */
function applyAll(fixture: Fixture, files: Files, wants: readonly Want[]): Files {
  const wanted = new Set(wants.map(({ rule }) => rule));
  let current = files;
  for (let round = 0; round < 20; round++) {
    const { findings } = lintFixture(fixture, current);
    const finding = findings.findLast(({ rule, fixes }) => wanted.has(rule) && fixes.length > 0);
    const fix = finding?.fixes[0];
    if (finding === undefined || fix === undefined) return current;
    current = applyFix(current, finding, fix);
  }
  return assert.fail(`${fixture.rule}/${fixture.name}: fixes never come to an end`);
}

function mapFiles(files: Files, change: (text: string, path: string) => string): Files {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, change(text, path)]));
}

const before = [
  'apiVersion: v1',
  'kind: ConfigMap',
  'metadata:',
  '  name: stands-before',
  'data: {}',
  '---',
  '',
];

/** Where a document may be put before the first one without changing what the file is. */
function takesDocument(path: string, text: string): boolean {
  return (
    /\.ya?ml$/.test(path) &&
    !isConfig(path) &&
    !/^(\uFEFF|%)/.test(text) &&
    !/^(kustomization|Chart|values)/.test(path.split('/').at(-1) ?? '')
  );
}

function runFixture(fixture: Fixture): void {
  const { files, wants } = fixture;
  if (fixture.name.startsWith('bad'))
    assert.notEqual(wants.length, 0, `${fixture.rule}/${fixture.name} wants nothing`);
  if (fixture.rules !== undefined)
    for (const id of fixture.rules) assert.ok(ruleMeta(id), `header names unknown rule ${id}`);

  const asIs = lintFixture(fixture, files);
  const matched = compare(fixture, files, wants, asIs.findings);
  for (const finding of matched) {
    for (const fix of finding.fixes) checkFix(fixture, files, asIs, finding, fix);
  }
  const allFixed = applyAll(fixture, files, wants);
  assert.deepEqual(applyAll(fixture, allFixed, wants), allFixed, 'applying all fixes twice changes nothing');
  for (const [path, text] of Object.entries(fixture.fixed)) {
    assert.equal(
      withoutWants(allFixed[path] ?? ''),
      text,
      `${fixture.rule}/${fixture.name}: ${path} after its fixes`,
    );
  }

  const crlf = mapFiles(files, (text) => normal(text).replaceAll('\n', '\r\n'));
  const withCrlf = lintFixture(fixture, crlf);
  const crlfMatched = compare({ ...fixture, name: `${fixture.name} (CRLF)` }, crlf, wants, withCrlf.findings);
  crlfMatched.forEach((finding, index) => {
    const name = `${fixture.name} (CRLF)`;
    for (const [number, fix] of finding.fixes.entries()) {
      checkFix({ ...fixture, name }, crlf, withCrlf, finding, fix);
      const original = matched[index];
      const originalFix = original?.fixes[number];
      if (original === undefined || originalFix === undefined) continue;
      const path = pathOf(finding.uri);
      assert.equal(
        normal(applyFix(crlf, finding, fix)[path] ?? ''),
        normal(applyFix(files, original, originalFix)[path] ?? ''),
        `${fixture.rule}/${name}: fix "${fix.title}" differs from that of LF`,
      );
    }
  });

  const shifted = new Map<string, number>();
  const second = mapFiles(files, (text, path) => {
    if (!takesDocument(path, text)) return text;
    shifted.set(path, before.length - 1);
    return before.join('\n') + text;
  });
  const lower = wants.map((want) => ({ ...want, line: want.line + (shifted.get(want.path) ?? 0) }));
  const asSecond = { ...fixture, name: `${fixture.name} (as second document)` };
  const secondMatched = compare(asSecond, second, lower, lintFixture(fixture, second).findings);
  secondMatched.forEach((finding, index) => {
    const original = matched[index];
    const path = pathOf(finding.uri);
    const by = shifted.has(path) ? before.join('\n').length : 0;
    const fix = finding.fixes[0];
    const originalFix = original?.fixes[0];
    if (original === undefined || fix === undefined || originalFix === undefined) return;
    assert.equal(
      (applyFix(second, finding, fix)[path] ?? '').slice(by),
      applyFix(files, original, originalFix)[path],
      `${asSecond.rule}/${asSecond.name}: fix "${fix.title}" differs`,
    );
  });
}

function runExample(id: string, example: Example): void {
  const where = `${id}.md:${example.line}`;
  if (example.kind === 'config') {
    const { problems } = parseConfig(uriOf(configFileName), example.text, testRoot);
    assert.deepEqual(
      problems.map(({ message }) => message),
      [],
      `${where}: the configuration is wrong`,
    );
    return;
  }
  const files = { [example.path]: example.text };
  const fixture: Fixture = {
    rule: id,
    name: where,
    files,
    wants: [],
    rules: [id],
    preset: undefined,
    config: undefined,
    fixed: {},
    ...(example.live === undefined ? {} : { live: example.live }),
  };
  const { findings, sources } = lintFixture(fixture, files);
  if (example.kind === 'wrong') {
    assert.notEqual(findings.length, 0, `${where}: the wrong example has no finding of ${id}`);
    return;
  }
  assert.deepEqual(problemsOf(sources), [], `${where}: the example is not well-formed`);
  assert.deepEqual(
    findings.map((finding) => describeFinding(files, finding)),
    [],
    `${where}: the example has a finding of ${id}`,
  );
}

const folders = readdirSync(fixturesRoot).filter((name) => statSync(join(fixturesRoot, name)).isDirectory());

for (const id of folders.filter((name) => only === undefined || name === only)) {
  describe(`rule ${id}`, () => {
    test('is a rule', () => assert.ok(ruleMeta(id), `test/rules/${id} belongs to no rule`));
    if (ruleMeta(id) === undefined) return;
    for (const fixture of fixturesOf(join(fixturesRoot, id), id))
      test(fixture.name, () => runFixture(fixture));
  });
}

for (const { id } of ruleMetas.filter((meta) => only === undefined || meta.id === only)) {
  const path = join(root, ruleDocPath(id));
  if (!existsSync(path)) continue;
  describe(`examples of ${id}`, () => {
    for (const example of examplesOf(readFileSync(path, 'utf8'))) {
      test(`${example.kind} example at line ${example.line}`, () => runExample(id, example));
    }
  });
}
