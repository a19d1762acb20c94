import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Ajv from 'ajv';
import { parse } from 'yaml';
import type { Config } from '../../server/src/engine/config';
import {
  configFileName,
  configurationOf,
  defaultConfig,
  effectiveConfig,
  isIgnored,
  parseConfig,
  singleConfiguration,
} from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import type { Rule } from '../../server/src/rules/rule';
import { defineRule } from '../../server/src/rules/rule';
import { itemsIn, scalarIn } from '../../server/src/yaml/node';
import { testRoot, uriOf, workspaceOf } from '../support/workspace';

/** Reports every container of a Pod. */
const perContainer: Rule = defineRule({
  id: 'request-above-limit',
  summary: '',
  severity: 'warning',
  needs: 'document',
  kinds: ['Pod'],
  fixable: 'none',
  check(resource, { report }) {
    for (const item of itemsIn(resource.root, 'spec', 'containers')) {
      const name = scalarIn(item, 'name');
      if (name !== undefined) report({ at: name, message: name.text, container: name.text });
    }
    report({ at: resource.root, message: 'error', severity: 'error' });
  },
});

function read(text: string): Config {
  const { config, problems } = parseConfig(uriOf(configFileName), text, testRoot);
  assert.deepEqual(
    problems.map(({ message }) => message),
    [],
  );
  return config;
}

function pod(name: string, namespace: string): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  containers:
    - { name: vllm, image: a }
    - { name: istio-proxy, image: b }
`;
}

/** What is said about a pod under a configuration: `severity message`. */
function said(text: string, path = 'a.yaml', name = 'chat', namespace = 'prod'): string[] {
  const config = read(text);
  const workspace = workspaceOf({ [path]: pod(name, namespace) });
  const [file] = lint(workspace, () => config, { rules: [perContainer] }).files;
  return (file?.findings ?? []).map(({ severity, message }) => `${severity} ${message}`);
}

const usual = ['error error', 'warning vllm', 'warning istio-proxy'];

describe('severities', () => {
  test('the recommended preset says what reports say', () => assert.deepEqual(said(''), usual));

  test('minimal keeps errors, also of a rule that usually warns', () =>
    assert.deepEqual(said('preset: minimal'), ['error error']));

  test('minimal says a rule that is set by name', () =>
    assert.deepEqual(said('preset: minimal\nrules: { request-above-limit: hint }'), [
      'hint error',
      'hint vllm',
      'hint istio-proxy',
    ]));

  test('a severity that is set holds for every report', () =>
    assert.deepEqual(said('rules: { request-above-limit: info }'), [
      'info error',
      'info vllm',
      'info istio-proxy',
    ]));

  test('off is off, quoted and in other words of YAML 1.1 that read as false', () => {
    assert.deepEqual(said('rules: { request-above-limit: off }'), []);
    assert.deepEqual(said('rules: { request-above-limit: "off" }'), []);
    assert.deepEqual(said('rules: { request-above-limit: { severity: off } }'), []);
  });

  test('settings give way to the file, and the command line does not', () => {
    const text = 'preset: strict\nrules: { request-above-limit: info }\n';
    const layers = {
      defaults: { preset: 'minimal', rules: { 'request-above-limit': 'off', 'yaml-syntax': 'info' } },
    } as const;
    const { config } = parseConfig(uriOf(configFileName), text, testRoot, layers);
    assert.equal(config.preset, 'strict');
    assert.equal(config.rules.get('request-above-limit')?.level, 'info');
    assert.equal(config.rules.get('yaml-syntax')?.level, 'info');
    const forced = parseConfig(uriOf(configFileName), text, testRoot, { forced: { preset: 'minimal' } });
    assert.equal(forced.config.preset, 'minimal');
  });
});

describe('overrides', () => {
  const off = 'rules: { request-above-limit: off }';

  test('by file, as .gitignore means it', () => {
    const text = `overrides: [{ files: [staging/, "!staging/real.yaml"], ${off} }]`;
    assert.deepEqual(said(text, 'staging/a.yaml'), []);
    assert.deepEqual(said(text, 'deep/staging/a.yaml'), []);
    assert.deepEqual(said(text, 'prod/a.yaml'), usual);
    assert.deepEqual(said(`overrides: [{ files: "*.test.yaml", ${off} }]`, 'x/a.test.yaml'), []);
    assert.deepEqual(said(`overrides: [{ files: "/a.yaml", ${off} }]`, 'x/a.yaml'), usual);
  });

  test('by file with characters that a URI encodes', () =>
    assert.deepEqual(said(`overrides: [{ files: "my apps/ä.yaml", ${off} }]`, 'my apps/ä.yaml'), []));

  test('by kind, namespace and name, all of which must hold', () => {
    const text = `overrides: [{ kinds: [Pod, Job], namespaces: prod-*, names: chat, ${off} }]`;
    assert.deepEqual(said(text, 'a.yaml', 'chat', 'prod-eu'), []);
    assert.deepEqual(said(text, 'a.yaml', 'chat', 'prod'), usual);
    assert.deepEqual(said(text, 'a.yaml', 'chat-2', 'prod-eu'), usual);
    assert.deepEqual(said(`overrides: [{ kinds: Deployment, ${off} }]`), usual);
  });

  test('a star is no other part of a regular expression', () => {
    assert.deepEqual(said(`overrides: [{ names: "ch.t*", ${off} }]`), usual);
    assert.deepEqual(said(`overrides: [{ names: "*a*", ${off} }]`), []);
  });

  test('by container: what is about another container, or about none, stays', () =>
    assert.deepEqual(said(`overrides: [{ containers: istio-*, ${off} }]`), ['error error', 'warning vllm']));

  test('a rule that is off can be on for one container', () =>
    assert.deepEqual(
      said(`${off}\noverrides: [{ containers: vllm, rules: { request-above-limit: hint } }]`),
      ['hint vllm'],
    ));

  test('later ones win', () =>
    assert.deepEqual(
      said(`overrides: [{ names: "*", ${off} }, { names: chat, rules: { request-above-limit: info } }]`),
      ['info error', 'info vllm', 'info istio-proxy'],
    ));

  test('what an override turns off is listed as accepted, with the reason', () => {
    const config = read(`overrides: [{ containers: istio-*, ${off}, reason: injected }]`);
    const workspace = workspaceOf({ 'a.yaml': pod('chat', 'prod') });
    const [file] = lint(workspace, () => config, { rules: [perContainer] }).files;
    assert.deepEqual(
      file?.suppressed.map(({ finding, kind, justification }) => [finding.message, kind, justification]),
      [['istio-proxy', 'external', 'injected']],
    );
  });

  test('places under the same overrides share one decision', () => {
    const config = read(`overrides: [{ files: staging/, ${off} }]`);
    const at = (path: string) => effectiveConfig(config, { uri: uriOf(path), kind: 'Pod' });
    assert.equal(at('a.yaml'), at('b.yaml'));
    assert.notEqual(at('a.yaml'), at('staging/a.yaml'));
  });
});

describe('which file applies', () => {
  const files = new Map([
    [uriOf('.plimsoll.yaml'), 'preset: minimal'],
    [uriOf('apps/chat/.plimsoll.yaml'), 'preset: strict'],
  ]);
  const { configFor } = configurationOf(files);

  test('the nearest one above the manifest, alone', () => {
    assert.equal(configFor(uriOf('a.yaml')).preset, 'minimal');
    assert.equal(configFor(uriOf('apps/a.yaml')).preset, 'minimal');
    assert.equal(configFor(uriOf('apps/chat/a.yaml')).preset, 'strict');
    assert.equal(configFor(uriOf('apps/chat/deep/er/a.yaml')).preset, 'strict');
    assert.equal(configFor(uriOf('apps/chatter/a.yaml')).preset, 'minimal');
  });

  test('outside of all of them, the defaults', () => {
    assert.equal(configFor('file:///elsewhere/a.yaml').preset, 'recommended');
    assert.equal(configFor('untitled:Untitled-1').preset, 'recommended');
    assert.equal(configFor('').preset, 'recommended');
  });

  test('one file for everything, with patterns from a folder of its own', () => {
    const single = singleConfiguration('file:///etc/plimsoll.yaml', 'ignore: [gen/]', 'file:///work');
    assert.equal(single.problems.size, 0);
    assert.ok(isIgnored(single.configFor('file:///work/gen/a.yaml'), 'file:///work/gen/a.yaml'));
    assert.ok(!isIgnored(single.configFor('file:///work/a.yaml'), 'file:///work/a.yaml'));
    assert.ok(!isIgnored(single.configFor('file:///etc/gen/a.yaml'), 'file:///etc/gen/a.yaml'));
  });
});

describe('bad input', () => {
  test('no text makes reading a configuration fail', () => {
    const texts = [
      '',
      '\uFEFFpreset: strict',
      '[]',
      'strict',
      'preset: [strict',
      'rules: { : }',
      'rules: { *: off }',
      'overrides: [{}, [], null, { rules: null }]',
      'ignore: { a: b }',
      'ignore: ["[", "{", "**/[z-a]", "\\\\", "!", "/", " ", ""]',
      'rules: &a { yaml-syntax: *a }',
      '? [a]\n: b',
      'rules:\n\t- x',
      'preset: ${PRESET}',
      'rules: { toString: error, __proto__: error }',
      'rules: { request-above-limit: { toString: 1, __proto__: 2 } }',
    ];
    for (const text of texts) {
      const { config } = parseConfig(uriOf(configFileName), text, testRoot);
      assert.equal(typeof isIgnored(config, uriOf('a/b.yaml')), 'boolean', text);
      lint(workspaceOf({ 'a.yaml': pod('chat', 'prod') }), () => config, { rules: [perContainer] });
    }
  });

  test('problems can be silenced by the file itself', () => {
    const { problems } = parseConfig(
      uriOf(configFileName),
      'presets: x\nrules: { config-invalid: off }',
      testRoot,
    );
    assert.deepEqual(problems, []);
  });

  test('what cannot be used is left out, the rest applies', () => {
    const { config, problems } = parseConfig(
      uriOf(configFileName),
      'preset: strict\nrules: { nonsense: error, yaml-syntax: loud, duplicate-key: info }\n',
      testRoot,
    );
    assert.equal(problems.length, 2);
    assert.equal(config.preset, 'strict');
    assert.deepEqual([...config.rules.keys()], ['duplicate-key']);
  });
});

describe('the schema of the configuration', () => {
  const schema = JSON.parse(
    readFileSync(join(__dirname, '../../schemas/config.schema.json'), 'utf8'),
  ) as object;
  const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

  const cases: readonly (readonly [text: string, valid: boolean])[] = [
    ['preset: strict', true],
    ['preset: stricter', false],
    ['rules: { request-above-limit: warning }', true],
    ['rules: { request-above-limit: { severity: info } }', true],
    ['rules: { request-above-limit: warn }', false],
    ['rules: { request-above-limit: { sevrity: info } }', false],
    ['rules: { no-such-rule: warning }', false],
    ['overrides: [{ files: a/, kinds: [Pod], rules: { yaml-syntax: "off" }, reason: why }]', true],
    ['overrides: [{ files: a/ }]', false],
    ['overrides: [{ file: a/, rules: {} }]', false],
    ['ignore: [a/, b/]', true],
    ['ignore: a/', true],
    ['ignore: [1]', false],
    ['unknown: 1', false],
  ];
  for (const [text, valid] of cases) {
    test(`agrees with what is read: ${text}`, () => {
      assert.equal(validate(parse(text)), valid);
      const { problems } = parseConfig(uriOf(configFileName), text, testRoot);
      // The reader takes a number for a pattern, since it is the same text.
      if (text !== 'ignore: [1]') assert.equal(problems.length === 0, valid);
    });
  }
});

test('the defaults are the recommended preset and nothing else', () => {
  const config = defaultConfig();
  assert.deepEqual([config.preset, config.rules.size, config.overrides.length], ['recommended', 0, 0]);
});
