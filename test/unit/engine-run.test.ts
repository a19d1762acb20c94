import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Finding } from '../../server/src/engine/finding';
import { defaultConfig } from '../../server/src/engine/config';
import type { LintOptions } from '../../server/src/engine/run';
import { lint } from '../../server/src/engine/run';
import { defineRule, type Rule } from '../../server/src/rules/rule';
import { entryOf, mapIn, scalarIn } from '../../server/src/yaml/node';
import { parseFile } from '../../server/src/yaml/parse';
import { configurationIn, uriOf, workspaceOf } from '../support/workspace';

const config = defaultConfig();
const configFor = () => config;

/** One Service document. */
function service(name: string, more = ''): string {
  return `apiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\nspec:\n  type: ClusterIP\n${more}`;
}

/** Reports on the name of each Service; counts how often it ran on each. */
function naming(runs: Map<string, number>, over: Partial<Rule> = {}): Rule {
  return {
    ...defineRule({
      id: 'request-above-limit',
      summary: '',
      severity: 'warning',
      needs: 'document',
      kinds: ['Service'],
      fixable: 'none',
      check(resource, { report }) {
        const name = scalarIn(resource.root, 'metadata', 'name');
        if (name === undefined) return;
        runs.set(name.text, (runs.get(name.text) ?? 0) + 1);
        report({ at: name, message: `Found ${name.text}` });
      },
    }),
    ...over,
  };
}

function lintText(text: string, rules: readonly Rule[], options: Omit<LintOptions, 'rules'> = {}) {
  const workspace = workspaceOf({ 'a.yaml': text });
  const result = lint(workspace, configFor, { rules, ...options });
  const file = result.files[0];
  assert.ok(file);
  return { ...file, internalErrors: result.internalErrors };
}

const spans = (text: string, findings: readonly Finding[]): string[] =>
  findings.map(({ at }) => text.slice(at.start, at.end));

describe('lint', () => {
  test('positions are those of the file, in every document', () => {
    const text = `${service('one')}---\n${service('two')}`;
    const { findings } = lintText(text, [naming(new Map())]);
    assert.deepEqual(spans(text, findings), ['one', 'two']);
    assert.equal(findings[1]?.at.start, text.indexOf('two'));
    assert.deepEqual(findings[1]?.resource, {
      uri: uriOf('a.yaml'),
      document: 1,
      apiVersion: 'v1',
      kind: 'Service',
      name: 'two',
      namespace: undefined,
    });
  });

  test('two documents of the same text are two findings', () => {
    const text = `${service('one')}---\n${service('one')}---\n`;
    const workspace = workspaceOf({ 'a.yaml': text });
    // The second reading shares one document object for both places.
    const again = workspace.with(
      parseFile(uriOf('a.yaml'), `${text}\n`, workspace.files.get(uriOf('a.yaml'))),
    );
    const runs = new Map<string, number>();
    const findings = lint(again, configFor, { rules: [naming(runs)] }).files[0]?.findings ?? [];
    assert.deepEqual(
      findings.map(({ at, resource }) => [at.start, resource?.document]),
      [
        [text.indexOf('one'), 0],
        [text.lastIndexOf('one'), 1],
      ],
    );
  });

  test('after an edit, document rules run again for the edited document only', () => {
    const runs = new Map<string, number>();
    const rules = [naming(runs)];
    const uri = uriOf('a.yaml');
    const text = `${service('one')}---\n${service('two')}---\n${service('three')}`;
    const workspace = workspaceOf({ 'a.yaml': text });
    lint(workspace, configFor, { rules });
    const edited = text.replace('name: one', 'name: a-much-longer-one');
    const next = workspace.with(parseFile(uri, edited, workspace.files.get(uri)));
    const [file] = lint(next, configFor, { rules }).files;
    assert.deepEqual(spans(edited, file?.findings ?? []), ['a-much-longer-one', 'two', 'three']);
    assert.deepEqual(
      [...runs],
      [
        ['one', 1],
        ['two', 1],
        ['three', 1],
        ['a-much-longer-one', 1],
      ],
    );
  });

  test('another configuration runs document rules again', () => {
    const runs = new Map<string, number>();
    const rules = [naming(runs)];
    const workspace = workspaceOf({ 'a.yaml': service('one') });
    const first = lint(workspace, configFor, { rules }).files[0]?.findings[0];
    const louder = defaultConfig({ defaults: { rules: { 'request-above-limit': 'error' } } });
    const second = lint(workspace, () => louder, { rules }).files[0]?.findings[0];
    assert.deepEqual([first?.severity, second?.severity, runs.get('one')], ['warning', 'error', 2]);
  });

  test('a rule that throws is reported once, and everything else is kept', () => {
    const crashing = naming(new Map(), {
      id: 'suspicious-crash',
      check(resource, { report }) {
        const name = scalarIn(resource.root, 'metadata', 'name');
        if (name !== undefined) report({ at: name, message: `Before the crash on ${name.text}` });
        throw new TypeError(`no such thing on ${resource.name}`);
      },
    });
    const text = `${service('one')}---\n${service('two')}`;
    const { findings, internalErrors } = lintText(text, [crashing, naming(new Map())]);
    assert.deepEqual(findings.map(({ message }) => message).sort(), [
      'Before the crash on one',
      'Before the crash on two',
      'Found one',
      'Found two',
    ]);
    assert.equal(internalErrors.length, 1);
    assert.equal(internalErrors[0]?.rule, 'suspicious-crash');
    assert.equal(
      internalErrors[0]?.message,
      'Rule suspicious-crash failed on Service one: no such thing on one',
    );
    assert.match(internalErrors[0]?.stack ?? '', /TypeError/);
  });

  test('a crash is reported again when the findings come from the cache', () => {
    const crashing = naming(new Map(), {
      check() {
        throw new Error('always');
      },
    });
    const workspace = workspaceOf({ 'a.yaml': service('one') });
    const rules = [crashing];
    for (let run = 0; run < 2; run++)
      assert.equal(lint(workspace, configFor, { rules }).internalErrors.length, 1);
  });

  test('a rule of one document cannot look at other files', () => {
    const reaching = naming(new Map(), {
      check(_resource, context) {
        context.report({ at: { start: 0, end: 1 }, message: `${context.workspace.files.size}` });
      },
    });
    const { findings, internalErrors } = lintText(service('one'), [reaching]);
    assert.deepEqual(findings, []);
    assert.match(internalErrors[0]?.message ?? '', /needs "document" and reads the workspace/);
  });

  test('rules whose needs are not met are skipped, and listed', () => {
    const workspaceRule = naming(new Map(), { id: 'needs-files', needs: 'workspace' });
    const liveRule = naming(new Map(), { id: 'needs-cluster', needs: 'live' });
    const rules = [workspaceRule, liveRule];
    const alone = lintText(service('one'), rules, { provides: { workspace: false } });
    assert.deepEqual(alone.findings, []);
    assert.deepEqual(alone.skipped, [
      { rule: 'needs-files', why: 'It needs the other files, and only this one is at hand' },
      { rule: 'needs-cluster', why: 'It needs a cluster, and none is connected' },
    ]);
    const all = lintText(service('one'), rules);
    assert.deepEqual(
      all.findings.map(({ rule }) => rule),
      ['needs-files'],
    );
    assert.deepEqual(
      all.skipped.map(({ rule }) => rule),
      ['needs-cluster'],
    );
  });

  test('on a document that is broken no rule runs, and it says so', () => {
    const text = `${service('one', '  ports: [')}\n---\n${service('two')}`;
    const { findings, skipped } = lintText(text, [naming(new Map())]);
    assert.deepEqual(
      findings.map(({ rule }) => rule),
      ['yaml-syntax', 'request-above-limit'],
    );
    assert.deepEqual(skipped, [
      { document: 0, why: 'The document is not well-formed YAML, so no rule was run on it' },
    ]);
  });

  test('text that is no Kubernetes object has no finding at all', () => {
    const { findings, skipped } = lintText('services: [a\n---\na: 1\na: 2\n', [naming(new Map())]);
    assert.deepEqual([findings, skipped], [[], []]);
  });

  test('an empty value is shown on its key', () => {
    const text = service('one', '  selector:\n');
    const rule = naming(new Map(), {
      check(resource, { report }) {
        const entry = entryOf(mapIn(resource.root, 'spec'), 'selector');
        if (entry !== undefined) report({ at: entry.value, message: 'Empty' });
      },
    });
    assert.deepEqual(spans(text, lintText(text, [rule]).findings), ['selector']);
  });

  test('the same report twice is one finding', () => {
    const rule = naming(new Map(), {
      check(resource, { report }) {
        const name = scalarIn(resource.root, 'metadata', 'name');
        if (name === undefined) return;
        report({ at: name, message: 'Twice' });
        report({ at: name, message: 'Twice' });
        report({ at: name, message: 'Once' });
      },
    });
    assert.equal(lintText(service('one'), [rule]).findings.length, 2);
  });

  test('a fix whose edits overlap is a crash of its rule', () => {
    const rule = naming(new Map(), {
      check(resource, { report }) {
        const edits = [
          { start: 0, end: 4, newText: 'x' },
          { start: 2, end: 3, newText: 'y' },
        ];
        report({ at: resource.root, message: 'Broken', fixes: [{ title: 'Break it', safe: true, edits }] });
      },
    });
    const { findings, internalErrors } = lintText(service('one'), [rule]);
    assert.deepEqual(findings, []);
    assert.match(internalErrors[0]?.message ?? '', /the edits of "Break it" overlap/);
  });

  test('related places and fixes move with their document', () => {
    const rule = naming(new Map(), {
      check(resource, { report }) {
        const type = entryOf(mapIn(resource.root, 'spec'), 'type');
        if (type === undefined) return;
        report({
          at: type,
          message: 'A type',
          related: [{ resource, at: type.value, message: 'The value' }],
          fixes: [
            undefined,
            { title: 'None', safe: true, edits: [] },
            {
              title: 'Change it',
              safe: true,
              edits: [{ start: type.value.start, end: type.value.end, newText: 'LoadBalancer' }],
            },
          ],
        });
      },
    });
    const rules = [rule];
    const uri = uriOf('a.yaml');
    const text = `${service('one')}---\n${service('two')}`;
    const workspace = workspaceOf({ 'a.yaml': text });
    lint(workspace, configFor, { rules });
    const edited = `# a comment above\n${text}`;
    const next = workspace.with(parseFile(uri, edited, workspace.files.get(uri)));
    const findings = lint(next, configFor, { rules }).files[0]?.findings ?? [];
    assert.deepEqual(spans(edited, findings), ['type', 'type']);
    for (const finding of findings) {
      const [related] = finding.related;
      const [fix, ...others] = finding.fixes;
      const [edit] = fix?.edits ?? [];
      assert.deepEqual(others, []);
      assert.equal(edited.slice(related?.at.start, related?.at.end), 'ClusterIP');
      assert.equal(edited.slice(edit?.start, edit?.end), 'ClusterIP');
      assert.ok((edit?.start ?? 0) > finding.at.start);
    }
  });

  test('files that the configuration ignores are skipped, and say so', () => {
    const files = { '.plimsoll.yaml': 'ignore: [generated/, "*.gen.yaml"]\n' };
    const configuration = configurationIn(files);
    const workspace = workspaceOf({
      'generated/deep/a.yaml': service('one'),
      'b.gen.yaml': service('two'),
      'c.yaml': service('three'),
    });
    const result = lint(workspace, configuration.configFor, { rules: [naming(new Map())] });
    assert.deepEqual(
      result.files.map(({ findings, skipped }) => [findings.length, skipped.map(({ why }) => why)]),
      [
        [0, ['Excluded by "ignore" in the configuration']],
        [0, ['Excluded by "ignore" in the configuration']],
        [1, []],
      ],
    );
  });

  test('a file that is not there has no findings', () => {
    const result = lint(workspaceOf({}), configFor, { uris: [uriOf('gone.yaml')] });
    assert.deepEqual(result.files, [{ uri: uriOf('gone.yaml'), findings: [], suppressed: [], skipped: [] }]);
  });

  test('items of a List are resources of their own', () => {
    const item = (name: string): string =>
      `  - apiVersion: v1\n    kind: Service\n    metadata: { name: ${name} }\n`;
    const text = `apiVersion: v1\nkind: List\nitems:\n${item('one')}${item('two')}`;
    assert.deepEqual(spans(text, lintText(text, [naming(new Map())]).findings), ['one', 'two']);
  });
});
