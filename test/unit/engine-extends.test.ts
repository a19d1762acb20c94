import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  configurationOf,
  effectiveConfig,
  isIgnored,
  singleConfiguration,
} from '../../server/src/engine/config';
import type { Bases } from '../../server/src/engine/extends';
import { gatherBases } from '../../server/src/engine/extends';
import { ruleMeta } from '../../server/src/engine/registry';

/** Finds what configurations extend among some files, by path; a path of `null` cannot be read. */
function bases(files: Readonly<Record<string, string | null>>, ...configs: readonly string[]): Bases {
  const wanted = gatherBases(configs.map((path) => [uri(path), files[path] ?? ''] as const));
  let step = wanted.next();
  while (step.done !== true) {
    const path = decodeURIComponent(step.value.slice('file://'.length));
    const text = files[path];
    step = wanted.next(text === null ? { problem: 'no permission to read it' } : text);
  }
  return step.value;
}

const uri = (path: string): string => `file://${path}`;
const config = '/work/team/app/.plimsoll.yaml';

interface Read {
  readonly problems: readonly string[];
  /** Severity of a rule in a file of the folder, or `off`. */
  level(rule: string, path?: string): string;
  options(rule: string): unknown;
  ignores(path: string): boolean;
}

function read(files: Readonly<Record<string, string | null>>): Read {
  const texts = new Map([[uri(config), files[config] ?? '']]);
  const { configFor, problems } = configurationOf(texts, {}, bases(files, config));
  const one = configFor(uri('/work/team/app/a.yaml'));
  const meta = (id: string) => ruleMeta(id) ?? assert.fail(`no rule ${id}`);
  return {
    problems: (problems.get(uri(config)) ?? []).map(({ message }) => message),
    level(rule, path = 'a.yaml') {
      const { loudness, accepted } = effectiveConfig(one, { uri: uri(`/work/team/app/${path}`) }).decide(
        meta(rule),
      );
      return accepted !== undefined ? 'accepted' : loudness.kind === 'off' ? 'off' : loudness.severity;
    },
    options: (rule) => effectiveConfig(one, { uri: uri('/work/team/app/a.yaml') }).options(meta(rule)),
    ignores: (path) => isIgnored(one, uri(`/work/team/app/${path}`)),
  };
}

describe('what is extended', () => {
  test('a file beside this one; what this one says holds over it', () => {
    const { level, problems } = read({
      [config]: 'extends: ./base.yaml\nrules: { missing-pdb: error }',
      '/work/team/app/base.yaml': 'preset: strict\nrules: { missing-pdb: off, request-above-limit: hint }',
    });
    assert.deepEqual(problems, []);
    assert.equal(level('missing-pdb'), 'error');
    assert.equal(level('request-above-limit'), 'hint');
    assert.equal(level('missing-topology-spread'), 'warning', 'the preset of the base is strict');
  });

  test('later ones hold over earlier ones, and what they extend themselves is read from their own folder', () => {
    const { level, problems } = read({
      [config]: 'extends: [../first.yaml, ../deep/second.yaml]',
      '/work/team/first.yaml': 'rules: { missing-pdb: error, request-above-limit: hint }',
      '/work/team/deep/second.yaml': 'extends: ./third.yaml\nrules: { missing-pdb: warning }',
      '/work/team/deep/third.yaml': 'rules: { missing-pdb: off, request-above-limit: info }',
    });
    assert.deepEqual(problems, []);
    assert.equal(level('missing-pdb'), 'warning');
    assert.equal(level('request-above-limit'), 'info');
  });

  for (const [name, place] of [
    ['@acme/plimsoll-config', '/work/node_modules/@acme/plimsoll-config/plimsoll.yaml'],
    ['plimsoll-config-acme', '/work/team/app/node_modules/plimsoll-config-acme/.plimsoll.yaml'],
    ['@acme/plimsoll-config/strict.yaml', '/work/team/node_modules/@acme/plimsoll-config/strict.yaml'],
    ['/etc/plimsoll/company.yaml', '/etc/plimsoll/company.yaml'],
    ['../with space/ünï.yaml', '/work/team/with space/ünï.yaml'],
  ] as const) {
    test(`${name} is found at ${place}`, () => {
      const { level, problems } = read({
        [config]: `extends: "${name}"`,
        [place]: 'rules: { missing-pdb: error }',
      });
      assert.deepEqual(problems, []);
      assert.equal(level('missing-pdb'), 'error');
    });
  }

  test('the nearest node_modules counts, and a package without a configuration ends the search', () => {
    const { problems } = read({
      [config]: 'extends: shared',
      '/work/team/node_modules/shared/package.json': '{}',
      '/work/node_modules/shared/plimsoll.yaml': 'preset: strict',
    });
    assert.deepEqual(problems, [
      'The package "shared" is installed, but has no plimsoll.yaml or .plimsoll.yaml',
    ]);
  });

  test('patterns are relative to the folder of the file that extends, and lists are added up', () => {
    const { level, ignores } = read({
      [config]: 'extends: ../base.yaml\nignore: ["!gen/keep.yaml"]',
      '/work/team/base.yaml':
        'ignore: ["gen/*"]\noverrides: [{ files: dev/, rules: { missing-pdb: off }, reason: dev }]',
    });
    assert.equal(ignores('gen/a.yaml'), true);
    assert.equal(ignores('gen/keep.yaml'), false, 'the file itself takes back what it inherits');
    assert.equal(level('missing-pdb', 'dev/a.yaml'), 'accepted');
    assert.equal(level('missing-pdb', 'prod/a.yaml'), 'info');
  });

  test('a severity alone keeps the options from below', () => {
    const rule = 'grace-period-too-short';
    const { options, level } = read({
      [config]: `extends: ./base.yaml\nrules: { ${rule}: error }`,
      '/work/team/app/base.yaml': `rules: { ${rule}: { severity: info, minimumSeconds: 90 } }`,
    });
    assert.equal(level(rule), 'error');
    assert.deepEqual(options(rule), { minimumSeconds: 90 });
  });

  test('a configuration that is named on the command line extends too', () => {
    const files = { '/etc/a.yaml': 'extends: ./b.yaml', '/etc/b.yaml': 'preset: minimal' };
    const { configFor } = singleConfiguration(
      uri('/etc/a.yaml'),
      files['/etc/a.yaml'],
      uri('/work/'),
      {},
      bases(files, '/etc/a.yaml'),
    );
    assert.equal(configFor(uri('/work/x.yaml')).preset, 'minimal');
  });
});

describe('what leads nowhere is a finding, and the rest of the file applies', () => {
  for (const [what, files, message] of [
    ['a missing file', { [config]: 'extends: ./no.yaml' }, '"./no.yaml" does not exist, or is no file'],
    [
      'a missing package',
      { [config]: 'extends: "@acme/no"' },
      'The package "@acme/no" is in no node_modules folder here or above; install it (nothing is fetched)',
    ],
    [
      'a file written like a package',
      { [config]: 'extends: base.yaml', '/work/team/app/base.yaml': '' },
      '"base.yaml" is the name of a package; a file is written "./base.yaml"',
    ],
    [
      'an address',
      { [config]: 'extends: https://example.com/a.yaml' },
      '"https://example.com/a.yaml" is an address; a file or an installed package is read, and nothing is fetched',
    ],
    [
      'a file that cannot be read',
      { [config]: 'extends: ./a.yaml', '/work/team/app/a.yaml': null },
      '"./a.yaml" cannot be read: no permission to read it',
    ],
    [
      'itself',
      { [config]: 'extends: ./.plimsoll.yaml' },
      '"./.plimsoll.yaml" extends itself: .plimsoll.yaml -> .plimsoll.yaml',
    ],
    [
      'a circle further down',
      {
        [config]: 'extends: ./a.yaml',
        '/work/team/app/a.yaml': 'extends: ./b.yaml',
        '/work/team/app/b.yaml': 'extends: ./a.yaml',
      },
      '"./a.yaml" has a mistake: "./b.yaml" has a mistake: "./a.yaml" extends itself: a.yaml -> b.yaml -> a.yaml',
    ],
    [
      'a mistake in the base',
      { [config]: 'extends: ./a.yaml', '/work/team/app/a.yaml': 'rules: { missing-pbd: off }' },
      '"./a.yaml" has a mistake: Unknown rule "missing-pbd"; did you mean "missing-pdb"?',
    ],
    ['a map', { [config]: 'extends: { a: b }' }, '"extends" holds a map; texts are read'],
    [
      'a name that is none',
      { [config]: 'extends: "a b"' },
      '"a b" is neither a path that starts with ./ or ../ nor the name of a package',
    ],
  ] as const) {
    test(what, () => {
      const withRule = { ...files, [config]: `${files[config]}\nrules: { missing-pdb: error }` };
      const { problems, level } = read(withRule);
      assert.deepEqual(problems, [message]);
      assert.equal(level('missing-pdb'), 'error');
    });
  }

  test('the mistake in the base is a related place', () => {
    const files = { [config]: 'extends: ./a.yaml', '/work/team/app/a.yaml': '# x\npreset: loud\n' };
    const { problems } = configurationOf(new Map([[uri(config), files[config]]]), {}, bases(files, config));
    const [related] = problems.get(uri(config))?.[0]?.related ?? [];
    assert.equal(related?.uri, uri('/work/team/app/a.yaml'));
    assert.equal(files['/work/team/app/a.yaml'].slice(related?.at.start, related?.at.end), 'loud');
  });
});

describe('switches for suppressions', () => {
  for (const [text, unused, reason] of [
    ['', 'info', 'off'],
    ['reportUnusedSuppressions: true\nrequireReason: true', 'warning', 'warning'],
    ['reportUnusedSuppressions: false', 'off', 'off'],
    ['requireReason: error', 'info', 'error'],
    ['requireReason: true\nrules: { suppression-without-reason: hint }', 'info', 'hint'],
  ] as const) {
    test(text === '' ? 'none' : text.replace('\n', ', '), () => {
      const { level, problems } = read({ [config]: text });
      assert.deepEqual(problems, []);
      assert.equal(level('unused-suppression'), unused);
      assert.equal(level('suppression-without-reason'), reason);
    });
  }

  test('what is no switch is reported', () => {
    assert.deepEqual(read({ [config]: 'requireReason: maybe' }).problems, [
      '"requireReason" is "maybe"; it is true, false, or one of off, hint, info, warning, error',
    ]);
  });

  test('with a reason required, an override that turns a rule off needs one too', () => {
    const text = (reason: string): string =>
      `requireReason: true\noverrides: [{ files: dev/, rules: { missing-pdb: off }${reason} }]`;
    assert.deepEqual(read({ [config]: text('') }).problems, [
      'This override turns missing-pdb off and gives no "reason"',
    ]);
    assert.deepEqual(read({ [config]: text(', reason: one replica there') }).problems, []);
  });
});
