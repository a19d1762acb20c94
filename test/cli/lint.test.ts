import assert from 'node:assert/strict';
import { chmodSync, linkSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brokenPod, folder, healthyPod, plimsoll } from './host';

test('a clean folder prints nothing and exits 0', async (t) => {
  const cwd = folder(t, { 'pod.yaml': healthyPod });
  assert.deepEqual(await plimsoll(cwd, ['lint']), { code: 0, stdout: '', stderr: '' });
});

test('an error exits 1 and is shown with its line and marks under the value', async (t) => {
  const cwd = folder(t, { 'app/pod.yaml': brokenPod });
  const { code, stdout, stderr } = await plimsoll(cwd, ['lint', 'app']);
  assert.equal(code, 1);
  assert.equal(stderr, '');
  assert.equal(
    stdout,
    `app/pod.yaml:11:19 error Container "app" requests memory 5Gi but is limited to 4Gi; the API server rejects the Pod request-above-limit
  11 |           memory: 5Gi
     |                   ^^^
  see app/pod.yaml:13:19 The limit is 4Gi

1 error in 1 file; 1 file checked
`,
  );
});

test('colours only on a terminal, and never against NO_COLOR', async (t) => {
  const cwd = folder(t, { 'pod.yaml': brokenPod });
  const escape = '\u001b[';
  assert.ok((await plimsoll(cwd, ['lint'], { isTerminal: true })).stdout.includes(escape));
  assert.ok(!(await plimsoll(cwd, ['lint'])).stdout.includes(escape));
  assert.ok((await plimsoll(cwd, ['lint', '--color'])).stdout.includes(escape));
  assert.ok(
    !(await plimsoll(cwd, ['lint'], { isTerminal: true, env: { NO_COLOR: '1' } })).stdout.includes(escape),
  );
  assert.ok(!(await plimsoll(cwd, ['lint', '--no-color'], { isTerminal: true })).stdout.includes(escape));
  assert.ok((await plimsoll(cwd, ['lint'], { env: { FORCE_COLOR: '1' } })).stdout.includes(escape));
});

test('control characters of a file do not reach the terminal', async (t) => {
  const cwd = folder(t, {
    'pod.yaml': brokenPod
      .replace('memory: 5Gi', 'memory: 5Gi # \u001b[31mred\u202e')
      .replace('app', 'ap\u0007p'),
  });
  const { stdout } = await plimsoll(cwd, ['lint', '--no-color']);
  // eslint-disable-next-line no-control-regex
  assert.ok(!/[\u0000-\u0009\u000b-\u001f\u202e]/.test(stdout), JSON.stringify(stdout));
});

test('a link that leads to itself is named, and stops neither the folder nor its neighbours', async (t) => {
  const cwd = folder(t, { 'a.yaml': brokenPod });
  symlinkSync('loop.yaml', join(cwd, 'loop.yaml'));
  // The lock of an editor is no file of the author's.
  symlinkSync('user@host.1234', join(cwd, '.#a.yaml'));
  const all = await plimsoll(cwd, ['lint']);
  assert.equal(all.code, 2);
  assert.match(all.stdout, /request-above-limit/);
  assert.match(all.stdout, /skipped loop\.yaml: its symbolic link leads to no file/);
  assert.doesNotMatch(all.stdout, /\.#a/);
  assert.equal((await plimsoll(cwd, ['lint', 'a.yaml'])).code, 1);
  symlinkSync('.plimsoll.yaml', join(cwd, '.plimsoll.yaml'));
  assert.equal((await plimsoll(cwd, ['lint', 'a.yaml'])).code, 1);
});

test('an empty path is not the current folder', async (t) => {
  const cwd = folder(t, { 'a.yaml': brokenPod });
  for (const command of [['lint'], ['lint', '--fix'], ['baseline'], ['readiness']]) {
    const { code, stdout, stderr } = await plimsoll(cwd, [...command, '']);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^plimsoll: one of the paths is empty; the current folder is written \.\n$/);
  }
});

test('labels that a kustomization adds to pods and selectors are not missing', async (t) => {
  const files = (labels: string) => ({
    'base/kustomization.yaml': 'resources: [deployment.yaml]\n',
    'base/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: { name: chat }
spec:
  selector: { matchLabels: { app: chat } }
  template:
    spec:
      containers: [{ name: app, image: 'nginx:1.27' }]
`,
    'prod/kustomization.yaml': `resources: [../base]\n${labels}`,
  });
  const labelled = await plimsoll(folder(t, files('commonLabels: { app: chat }\n')), ['lint']);
  assert.doesNotMatch(labelled.stdout, / error /);
  const plain = await plimsoll(folder(t, files('')), ['lint']);
  assert.match(plain.stdout, /^base\/deployment\.yaml:\d+:\d+ error .* selector-differs-from-labels$/m);
});

test('a configuration that is no text fails the run, and is named once', async (t) => {
  const cwd = folder(t, { 'pod.yaml': healthyPod, '.plimsoll.yaml': 'preset: strict\u0000' });
  const { code, stdout } = await plimsoll(cwd, ['lint']);
  assert.equal(code, 2);
  assert.equal(stdout.split('skipped .plimsoll.yaml: is a binary file').length, 2, stdout);
  const sarif = await plimsoll(cwd, ['lint', '--format', 'sarif']);
  assert.match(sarif.stdout, /"executionSuccessful": false/);
  const junit = await plimsoll(cwd, ['lint', '--format', 'junit']);
  assert.match(junit.stdout, /<testsuite name="plimsoll" [^>]*errors="1"/);
});

test('one unreadable file is named, fails the run with 2, and stops nothing else', async (t) => {
  if (process.getuid?.() === 0) {
    // Root may read everything; a link that leads nowhere cannot be read by anybody.
    const cwd = folder(t, { 'a.yaml': brokenPod });
    symlinkSync('nowhere', join(cwd, 'b.yaml'));
    const { code, stdout } = await plimsoll(cwd, ['lint']);
    assert.equal(code, 2);
    assert.match(stdout, /request-above-limit/);
    assert.match(stdout, /skipped b\.yaml: its symbolic link leads to no file/);
    return;
  }
  const cwd = folder(t, { 'a.yaml': brokenPod, 'b.yaml': brokenPod });
  chmodSync(join(cwd, 'b.yaml'), 0o000);
  const { code, stdout } = await plimsoll(cwd, ['lint']);
  assert.equal(code, 2);
  assert.match(stdout, /request-above-limit/);
  assert.match(stdout, /skipped b\.yaml: no permission to read it/);
});

test('a path that does not exist exits 2 and says so', async (t) => {
  const cwd = folder(t, { 'a.yaml': healthyPod });
  const { code, stdout } = await plimsoll(cwd, ['lint', 'a.yaml', 'missing.yaml']);
  assert.equal(code, 2);
  assert.match(stdout, /missing\.yaml: it does not exist/);
});

test('what was asked for and cannot be read fails the run in every format', async (t) => {
  const cwd = folder(t, { 'a.yaml': healthyPod });
  const run = async (format: string): Promise<string> => {
    const { code, stdout } = await plimsoll(cwd, ['lint', 'a.yaml', 'missing.yaml', '--format', format]);
    assert.equal(code, 2);
    return stdout;
  };
  assert.match(await run('sarif'), /"executionSuccessful": false/);
  assert.match(await run('junit'), /<testsuite name="plimsoll" [^>]*errors="1" skipped="\d+"/);
  assert.match(await run('github'), /^::error file=missing\.yaml::skipped: it does not exist/m);
});

test('commands that read manifests tell of a document that is not well-formed, and exit 2', async (t) => {
  const cwd = folder(t, { 'a.yaml': `${healthyPod}---\napiVersion: v1\nkind: Pod\nmetadata: {name: y\n` });
  const commands: readonly (readonly string[])[] = [
    ['fit', '-f', 'a.yaml'],
    ['readiness', 'a.yaml'],
    ['size', '-f', 'a.yaml'],
  ];
  for (const command of commands) {
    const { code, stderr } = await plimsoll(cwd, command);
    assert.equal(code, 2, command.join(' '));
    assert.match(stderr, /plimsoll: a\.yaml:\d+: the document is not well-formed YAML/);
  }
});

test('a file that may not be written stays as it is, and one with two names keeps both', async (t) => {
  const cwd = folder(t, { 'one.yaml': unlimitedGpu, 'locked.yaml': unlimitedGpu });
  linkSync(join(cwd, 'one.yaml'), join(cwd, 'two.yaml'));
  await plimsoll(cwd, ['lint', '--fix', 'one.yaml']);
  const fixed = readFileSync(join(cwd, 'one.yaml'), 'utf8');
  assert.notEqual(fixed, unlimitedGpu);
  assert.equal(readFileSync(join(cwd, 'two.yaml'), 'utf8'), fixed);
  // Root may write everything.
  if (process.getuid?.() === 0) return;
  chmodSync(join(cwd, 'locked.yaml'), 0o444);
  const { code, stdout } = await plimsoll(cwd, ['lint', '--fix', 'locked.yaml']);
  assert.equal(code, 2);
  assert.match(stdout, /locked\.yaml: the fixes were not written/);
  assert.equal(readFileSync(join(cwd, 'locked.yaml'), 'utf8'), unlimitedGpu);
});

test('a folder without manifests is told of', async (t) => {
  const cwd = folder(t, { 'pod.json': '{}' });
  const { code, stdout, stderr } = await plimsoll(cwd, ['lint']);
  assert.equal(code, 0);
  assert.equal(stdout, '');
  assert.match(stderr, /no \.yaml or \.yml file here/);
});

test('binary, UTF-16 and Latin-1 files are skipped by name', async (t) => {
  const cwd = folder(t, {
    'binary.yaml': Buffer.from([0x61, 0x00, 0x62]),
    'latin1.yaml': Buffer.from('name: caf\u00e9', 'latin1'),
    'utf16.yaml': Buffer.from(`\ufeff${brokenPod}`, 'utf16le'),
  });
  const { code, stdout } = await plimsoll(cwd, ['lint']);
  assert.equal(code, 0);
  assert.match(stdout, /skipped binary\.yaml: is a binary file/);
  assert.match(stdout, /skipped latin1\.yaml: is not UTF-8/);
  assert.match(stdout, /skipped utf16\.yaml: is UTF-16/);
});

test('.gitignore is respected in folders, not for files that are named', async (t) => {
  const cwd = folder(t, {
    '.git/HEAD': '',
    '.gitignore': 'build/\n*.gen.yaml\n!keep.gen.yaml\n',
    'build/pod.yaml': brokenPod,
    'a.gen.yaml': brokenPod,
    'deep/keep.gen.yaml': brokenPod,
    'node_modules/x/pod.yaml': brokenPod,
  });
  const found = async (...argv: string[]): Promise<string[]> => {
    const { stdout } = await plimsoll(cwd, ['lint', '--format', 'json', ...argv]);
    return (JSON.parse(stdout) as { files: { path: string }[] }).files.map(({ path }) => path);
  };
  assert.deepEqual(await found(), ['deep/keep.gen.yaml']);
  assert.deepEqual(await found('a.gen.yaml'), ['a.gen.yaml']);
  assert.deepEqual(await found('--no-gitignore'), ['a.gen.yaml', 'build/pod.yaml', 'deep/keep.gen.yaml']);
});

test('the nearest .plimsoll.yaml applies, --config and --preset stand above it', async (t) => {
  const cwd = folder(t, {
    '.plimsoll.yaml': 'rules:\n  request-above-limit: off\n',
    'pod.yaml': brokenPod,
    'sub/.plimsoll.yaml': 'rules:\n  request-above-limit: warning\n',
    'sub/pod.yaml': brokenPod,
    'other.yml': 'rules:\n  request-above-limit: info\n',
  });
  const severitiesOf = async (...argv: string[]): Promise<Record<string, string[]>> => {
    const { stdout } = await plimsoll(cwd, ['lint', '--format', 'json', ...argv]);
    const report = JSON.parse(stdout) as { files: { path: string; findings: { severity: string }[] }[] };
    return Object.fromEntries(
      report.files.map(({ path, findings }) => [path, findings.map((f) => f.severity)]),
    );
  };
  assert.deepEqual(await severitiesOf(), { 'sub/pod.yaml': ['warning'] });
  assert.deepEqual(await severitiesOf('--config', 'other.yml'), {
    'pod.yaml': ['info'],
    'sub/pod.yaml': ['info'],
  });
});

test('a mistake in the configuration is a finding in the configuration', async (t) => {
  const cwd = folder(t, { '.plimsoll.yaml': 'rules:\n  request-above-limt: off\n', 'pod.yaml': healthyPod });
  const { code, stdout } = await plimsoll(cwd, ['lint']);
  assert.equal(code, 1);
  assert.match(stdout, /\.plimsoll\.yaml:2:3 error .*request-above-limit.*config-invalid/s);
});

test('a single file is judged by the configuration above it, not by one in a folder beside it', async (t) => {
  const cwd = folder(t, { 'a.yaml': healthyPod, 'other/.plimsoll.yaml': 'rules: 5\n' });
  assert.deepEqual(await plimsoll(cwd, ['lint', 'a.yaml']), { code: 0, stdout: '', stderr: '' });
  const { code, stdout } = await plimsoll(cwd, ['lint', '--stdin-filename', 'b.yaml'], {
    stdin: healthyPod,
  });
  assert.deepEqual([code, stdout], [0, '']);
  assert.equal((await plimsoll(cwd, ['lint', '.'])).code, 1);
});

test('--max-warnings decides when warnings fail the run', async (t) => {
  const cwd = folder(t, {
    '.plimsoll.yaml': 'rules:\n  request-above-limit: warning\n',
    'pod.yaml': brokenPod,
  });
  assert.equal((await plimsoll(cwd, ['lint'])).code, 1);
  assert.equal((await plimsoll(cwd, ['lint', '--max-warnings', '1'])).code, 0);
});

test('infos are printed and do not fail the run', async (t) => {
  const cwd = folder(t, { '.plimsoll.yaml': 'rules:\n  request-above-limit: info\n', 'pod.yaml': brokenPod });
  const { code, stdout } = await plimsoll(cwd, ['lint']);
  assert.equal(code, 0);
  assert.match(stdout, /info Container "app"/);
});

test('standard input is checked under its file name, with the files beside it', async (t) => {
  const cwd = folder(t, { 'pod.yaml': healthyPod });
  const { code, stdout } = await plimsoll(cwd, ['lint', '--stdin-filename', 'pod.yaml'], {
    stdin: brokenPod,
  });
  assert.equal(code, 1);
  assert.match(stdout, /^pod\.yaml:11:19 error/);
  assert.match(stdout, /1 file checked/);
  assert.match((await plimsoll(cwd, ['lint', '-'], { stdin: brokenPod })).stdout, /^stdin\.yaml:11:19 error/);
});

const unlimitedGpu = `apiVersion: v1
kind: Pod
metadata:
  name: box
spec:
  containers:
    - name: app
      image: nginx:1.29 # keep me
      resources:
        requests: {nvidia.com/gpu: 1}
`;

test('--fix writes only safe fixes, keeps every other byte and the mode of the file', async (t) => {
  const text = unlimitedGpu.replaceAll('\n', '\r\n');
  const cwd = folder(t, { 'pod.yaml': text });
  const path = join(cwd, 'pod.yaml');
  chmodSync(path, 0o640);
  const only = ['.plimsoll.yaml'];
  assert.equal(only.length, 1);
  const { stdout } = await plimsoll(cwd, ['lint', '--fix']);
  const fixed = readFileSync(path, 'utf8');
  assert.match(stdout, /finding[s]? fixed/);
  assert.notEqual(fixed, text);
  assert.ok(!/[^\r]\n/.test(fixed), 'every line still ends with CRLF');
  const before = text.split('\r\n');
  assert.deepEqual(
    before.filter((line) => line !== '' && !fixed.includes(line.replace(/\}$/, ''))),
    [],
    'every line is still there',
  );
  assert.equal(statSync(path).mode & 0o777, 0o640);
  const again = await plimsoll(cwd, ['lint', '--fix']);
  assert.doesNotMatch(again.stdout, /fixed/);
  assert.equal(readFileSync(path, 'utf8'), fixed);
});

test('--fix on standard input prints the fixed text, and what is left on the other stream', async (t) => {
  const cwd = folder(t, {});
  const result = await plimsoll(cwd, ['lint', '--fix', '--stdin-filename', 'pod.yaml'], {
    stdin: unlimitedGpu,
  });
  assert.match(result.stdout, /limits:/);
  assert.ok(result.stdout.startsWith('apiVersion: v1\nkind: Pod\n'));
});

test('a suppressed finding does not fail the run and is listed with its reason', async (t) => {
  const cwd = folder(t, {
    'pod.yaml': brokenPod.replace(
      '          memory: 5Gi',
      '          # plimsoll-disable-next-line request-above-limit -- a policy corrects it\n          memory: 5Gi',
    ),
  });
  const { code, stdout } = await plimsoll(cwd, ['lint', '--format', 'json']);
  assert.equal(code, 0);
  const report = JSON.parse(stdout) as { files: { suppressed: { rule: string; justification: string }[] }[] };
  assert.deepEqual(
    report.files.flatMap(({ suppressed }) =>
      suppressed.map(({ rule, justification }) => [rule, justification]),
    ),
    [['request-above-limit', 'a policy corrects it']],
  );
});

const usage: readonly (readonly [readonly string[], RegExp])[] = [
  [['frobnicate'], /unknown command "frobnicate"; plimsoll --help/],
  [['lint', '--format', 'xml'], /--format takes text, json, sarif, junit, github; got "xml"/],
  [['lint', '--preset', 'lax'], /--preset takes recommended, strict, minimal/],
  [['lint', '--max-warnings', '-1'], /max-warnings/],
  [['lint', '--max-warnings', 'many'], /--max-warnings takes a whole number; got "many"/],
  [['lint', '--unsafe'], /--unsafe only widens --fix/],
  [['lint', '--nope'], /Unknown option '--nope'/],
  [['lint', '-', 'a.yaml'], /cannot be combined/],
  [['lint', '--config', 'absent.yaml'], /--config absent\.yaml: it does not exist/],
  [['explain'], /takes one rule/],
  [['explain', 'request-above-limt'], /did you mean request-above-limit\?/],
  [['rules', 'x'], /plimsoll explain <rule>/],
];
for (const [argv, message] of usage) {
  test(`bad usage exits 2 with advice: ${argv.join(' ')}`, async (t) => {
    const { code, stdout, stderr } = await plimsoll(folder(t, {}), argv);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('rules --format json lists each rule once with what a tool needs', async (t) => {
  const { code, stdout } = await plimsoll(folder(t, {}), ['rules', '--format', 'json']);
  assert.equal(code, 0);
  const rules = JSON.parse(stdout) as {
    id: string;
    docPath: string;
    kinds: string[];
    needs: string;
    fixable: string;
  }[];
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length);
  for (const { docPath } of rules) assert.ok(statSync(join(__dirname, '../..', docPath)).isFile(), docPath);
});

test('version, help and explain', async (t) => {
  const cwd = folder(t, {});
  assert.equal((await plimsoll(cwd, ['--version'])).stdout, '1.2.3\n');
  assert.match((await plimsoll(cwd, ['--help'])).stdout, /lint \[paths\]/);
  assert.match((await plimsoll(cwd, ['lint', '--help'])).stdout, /--max-warnings/);
  assert.equal((await plimsoll(cwd, ['explain', 'request-above-limit'])).stdout, '# request-above-limit\n');
});
