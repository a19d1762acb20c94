import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { PackageManager, listFiles } from '@vscode/vsce';

const root = resolve(__dirname, '..', '..');

/** The documentation of the rules is one file for each, so the sources say what is expected. */
function rulePages(): readonly string[] {
  return ['rules', 'engine/docs']
    .flatMap((folder) => readdirSync(join(root, 'server', 'src', folder), { recursive: true }).map(String))
    .map((name) => name.split(/[\\/]/).at(-1) ?? '')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `dist/rules/${name}`);
}

/** One kind is two files: what is checked, and the same with descriptions, which the editor alone shows. */
function schemaFiles(parts: readonly string[]): readonly string[] {
  const { kinds } = JSON.parse(readFileSync(join(root, 'dist', 'schemas', 'made-from.json'), 'utf8')) as {
    kinds: { group: string; version: string; kind: string }[];
  };
  return kinds.flatMap(({ group, version, kind }) =>
    parts.map((part) => `dist/schemas/${group === '' ? 'core' : group}/${version}/${kind}${part}`),
  );
}

function snippetFiles(): readonly string[] {
  const folder = join(root, 'snippets');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.endsWith('.code-snippets')).map((name) => `snippets/${name}`);
}

/** `npm test` builds first; a single test file that is run alone does not build the world. */
function build(): void {
  if (existsSync(join(root, 'dist', 'cli.js')) && existsSync(join(root, 'dist', 'schemas'))) return;
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'build'], { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
}

let listed: Promise<string[]> | undefined;

/** Of these there are many files, and listing matches each against each pattern: a few stand for them. */
const large: readonly string[] = ['node_modules', 'out', '.git', '.vscode-test', 'test', 'server/src'];
const unwanted: readonly string[] = [
  'node_modules/yaml/package.json',
  'node_modules/yaml/dist/index.js',
  'out/a.js',
  'test/rules/missing-pdb/bad.yaml',
  'server/src/rules/availability/missing-pdb.md',
  'server/src/rules/availability/missing-pdb.ts',
];

/** What the VSIX holds, of a copy of the tree. */
function shippedFiles(): Promise<string[]> {
  build();
  listed ??= list();
  return listed;
}

async function list(): Promise<string[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'plimsoll-package-'));
  try {
    cpSync(root, cwd, { recursive: true, filter: (path) => !large.includes(relative(root, path)) });
    for (const path of unwanted) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), '');
    }
    return await listFiles({ cwd, packageManager: PackageManager.None });
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

test('the VSIX holds these files and no other', async () => {
  build();
  const expected = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'client/walkthrough/fix.md',
    'client/walkthrough/lint.md',
    'client/walkthrough/share.md',
    'dist/THIRD-PARTY-NOTICES.txt',
    'dist/aws-clients.js',
    'dist/cli-main.js',
    'dist/cli.js',
    'dist/client.js',
    'dist/kubernetes-client.js',
    'dist/remote.js',
    'dist/server.js',
    'dist/webview.css',
    'dist/webview.js',
    'docs/permissions.md',
    'images/editor.png',
    'images/icon.png',
    'images/panel.png',
    'package.json',
    'schemas/config.schema.json',
    ...rulePages(),
    ...schemaFiles(['.json.gz', '.structure.json.gz']),
    ...snippetFiles(),
  ].sort();
  assert.deepEqual([...(await shippedFiles())].sort(), expected);
});

test('the npm package holds the command line and no other', () => {
  build();
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  assert.equal(status, 0, stderr);
  const [packed] = JSON.parse(stdout) as { files: { path: string; mode: number }[] }[];
  assert.ok(packed !== undefined);
  assert.deepEqual(
    packed.files.map(({ path }) => path).sort(),
    [
      'LICENSE',
      'README.md',
      'dist/THIRD-PARTY-NOTICES.txt',
      'dist/aws-clients.js',
      'dist/cli-main.js',
      'dist/cli.js',
      'dist/kubernetes-client.js',
      'dist/remote.js',
      'package.json',
      'schemas/config.schema.json',
      ...rulePages(),
      ...schemaFiles(['.structure.json.gz']),
    ].sort(),
  );
});

test('the command line starts with a shebang, and no bundle names a machine path', () => {
  build();
  const text = (name: string) => readFileSync(join(root, 'dist', name), 'utf8');
  assert.ok(text('cli.js').startsWith('#!/usr/bin/env node\n'));
  for (const name of [
    'cli.js',
    'cli-main.js',
    'client.js',
    'server.js',
    'webview.js',
    'aws-clients.js',
    'kubernetes-client.js',
  ]) {
    assert.ok(!text(name).includes(root), `${name} contains ${root}`);
    assert.ok(!text(name).includes('sourceMappingURL'), `${name} refers to a source map`);
  }
});

test('links between the shipped pages lead to shipped files', async () => {
  const shipped = new Set(await shippedFiles());
  for (const page of rulePages()) {
    const text = readFileSync(join(root, page), 'utf8');
    const links = [...text.matchAll(/(?:\]\(|^\[[^\]]+\]: )([^)\s]+)/gm)].map((match) => match[1] ?? '');
    const local = links.filter((link) => !/^(?:https?:|#)/.test(link));
    const missing = local.filter((link) => !shipped.has(posix.join('dist/rules', link.replace(/#.*$/, ''))));
    assert.deepEqual(missing, [], page);
    assert.ok(
      !/^```yaml (wrong|right)/m.test(text),
      `${page} says which example is which only where it is unseen`,
    );
  }
});
