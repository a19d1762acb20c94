import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { brokenPod, folder, healthyPod, plimsoll } from './host';

interface Reported {
  readonly counts: { readonly error: number };
  readonly baseline?: { readonly known: number; readonly stale: readonly { readonly path: string }[] };
  readonly files: readonly {
    readonly path: string;
    readonly findings: readonly { readonly message: string }[];
    readonly suppressed: readonly { readonly kind: string; readonly justification: string }[];
  }[];
}

async function lintJson(root: string, ...paths: readonly string[]): Promise<Reported & { code: number }> {
  const { code, stdout, stderr } = await plimsoll(root, [
    'lint',
    '--format=json',
    '--baseline=.plimsoll-baseline.json',
    ...paths,
  ]);
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Reported), code };
}

const second = brokenPod.replace('name: app', 'name: other');

describe('plimsoll baseline', () => {
  test('records what is there, by object and field, and says so', async (t) => {
    const root = folder(t, { 'k8s/a.yaml': brokenPod, 'b.yaml': healthyPod });
    const { code, stdout } = await plimsoll(root, ['baseline']);
    assert.equal(code, 0);
    assert.equal(stdout, '.plimsoll-baseline.json: 1 finding recorded\n');
    assert.deepEqual(JSON.parse(readFileSync(join(root, '.plimsoll-baseline.json'), 'utf8')), {
      version: 1,
      findings: [
        {
          file: 'k8s/a.yaml',
          resource: 'Pod box',
          path: 'spec.containers[name=app].resources.requests.memory',
          rule: 'request-above-limit',
        },
      ],
    });
  });

  test('lets a run pass that finds nothing new, and lists what is known as suppressed', async (t) => {
    const root = folder(t, { 'a.yaml': brokenPod });
    await plimsoll(root, ['baseline']);
    const { code, counts, baseline, files } = await lintJson(root);
    assert.equal(code, 0);
    assert.equal(counts.error, 0);
    assert.deepEqual(baseline, { file: '.plimsoll-baseline.json', known: 1, stale: [] });
    assert.deepEqual(
      files[0]?.suppressed.map(({ kind, justification }) => [kind, justification]),
      [['external', 'known: it is in .plimsoll-baseline.json']],
    );
    const text = await plimsoll(root, ['lint', '--baseline', '.plimsoll-baseline.json']);
    assert.match(text.stdout, /^1 known finding in \.plimsoll-baseline\.json left out$/m);
    assert.doesNotMatch(text.stdout, /request-above-limit/);
  });

  for (const [what, edited] of [
    ['lines above', `# one\n# two\n---\n${brokenPod.replace('spec:', 'spec:\n  hostIPC: true')}`],
    ['another number in the message', brokenPod.replace('5Gi', '6Gi')],
    [
      'a container before it',
      brokenPod.replace('    - name: app', '    - { name: first, image: a }\n    - name: app'),
    ],
    ['CRLF', brokenPod.replaceAll('\n', '\r\n')],
  ] as const) {
    test(`${what} make it no new finding`, async (t) => {
      const root = folder(t, { 'a.yaml': brokenPod });
      await plimsoll(root, ['baseline']);
      writeFileSync(join(root, 'a.yaml'), edited);
      const { code, counts, baseline } = await lintJson(root);
      assert.deepEqual([code, counts.error, baseline?.known], [0, 0, 1]);
    });
  }

  test('a moved file makes nothing new', async (t) => {
    const root = folder(t, { 'a.yaml': brokenPod });
    await plimsoll(root, ['baseline']);
    renameSync(join(root, 'a.yaml'), join(root, 'moved.yaml'));
    const { code, baseline } = await lintJson(root);
    assert.deepEqual([code, baseline?.known, baseline?.stale], [0, 1, []]);
  });

  test('what is new fails the run: another container, and the same object in another file', async (t) => {
    const root = folder(t, { 'a.yaml': brokenPod });
    await plimsoll(root, ['baseline']);
    const box = brokenPod.slice(brokenPod.indexOf('    - name: app'));
    writeFileSync(join(root, 'a.yaml'), brokenPod + box.replace('name: app', 'name: other'));
    assert.deepEqual((({ code, counts }) => [code, counts.error])(await lintJson(root)), [1, 1]);
    writeFileSync(join(root, 'a.yaml'), brokenPod);
    writeFileSync(join(root, 'b.yaml'), brokenPod);
    assert.deepEqual((({ code, counts }) => [code, counts.error])(await lintJson(root)), [1, 1]);
  });

  test('entries that are repaired are stale, in files that this run looked at or that are gone', async (t) => {
    const root = folder(t, { 'a.yaml': brokenPod, 'b.yaml': second, 'c.yaml': brokenPod });
    await plimsoll(root, ['baseline']);
    writeFileSync(join(root, 'a.yaml'), healthyPod);
    renameSync(join(root, 'b.yaml'), join(root, 'b.txt'));
    const { code, baseline } = await lintJson(root, 'a.yaml');
    assert.equal(code, 0);
    assert.deepEqual(
      baseline?.stale.map(({ path }) => path),
      [
        'spec.containers[name=app].resources.requests.memory',
        'spec.containers[name=other].resources.requests.memory',
      ],
    );
    const { stdout } = await plimsoll(root, ['lint', '--baseline', '.plimsoll-baseline.json', 'a.yaml']);
    assert.match(stdout, /^stale a\.yaml: Pod box spec\.containers\[name=app\]\S+ request-above-limit$/m);
    assert.match(stdout, /2 entries are stale: .*plimsoll baseline writes it again/);
    const again = await plimsoll(root, ['baseline', 'a.yaml']);
    assert.equal(
      again.stdout,
      '.plimsoll-baseline.json: 0 findings recorded (0 new, 2 no longer found); 1 entry of other files kept\n',
    );
    assert.equal((await lintJson(root)).code, 0, 'what c.yaml has is still known');
  });

  test('equal findings are counted', async (t) => {
    const twice = `${brokenPod}---\n${brokenPod}`;
    const root = folder(t, { 'a.yaml': twice });
    await plimsoll(root, ['baseline']);
    assert.match(readFileSync(join(root, '.plimsoll-baseline.json'), 'utf8'), /"count":2/);
    writeFileSync(join(root, 'a.yaml'), `${twice}---\n${brokenPod}`);
    const { code, counts, baseline } = await lintJson(root);
    assert.deepEqual([code, counts.error, baseline?.known], [1, 1, 2]);
  });

  test('paths are relative to the baseline, wherever it is run from', async (t) => {
    const root = folder(t, { 'k8s/a.yaml': brokenPod });
    await plimsoll(root, ['baseline', '-o', 'ci/known.json']).then(({ code, stderr }) => {
      assert.equal(code, 2);
      assert.match(stderr, /ci\/known\.json was not written: ENOENT/);
    });
    await plimsoll(root, ['baseline', '-o', 'k8s/known.json']);
    const { code } = await plimsoll(join(root, 'k8s'), ['lint', '--baseline', 'known.json']);
    assert.equal(code, 0);
  });

  test('a file that is no baseline is bad usage, in clear words', async (t) => {
    const root = folder(t, {
      'a.yaml': brokenPod,
      'text.json': 'x',
      'other.json': '{}',
      'newer.json': '{"version":2,"findings":[]}',
      'half.json': '{"version":1,"findings":[{"rule":"a"}]}',
    });
    for (const [file, message] of [
      ['no.json', /--baseline no\.json: it does not exist; plimsoll baseline -o no\.json writes it/],
      ['text.json', /--baseline text\.json: it is not JSON/],
      ['other.json', /it is no baseline; plimsoll baseline writes one/],
      ['newer.json', /its version is 2; version 1 is read/],
      ['half.json', /findings\[0\] is not \{file, resource, path, rule\}/],
    ] as const) {
      const { code, stderr, stdout } = await plimsoll(root, ['lint', '--baseline', file]);
      assert.equal(code, 2);
      assert.match(stderr, message);
      assert.equal(stdout, '');
    }
  });

  test('nothing is recorded where something could not be read', async (t) => {
    const root = folder(t, { 'a.yaml': brokenPod });
    const { code, stderr } = await plimsoll(root, ['baseline', 'a.yaml', 'no.yaml']);
    assert.equal(code, 2);
    assert.match(stderr, /nothing was recorded/);
    assert.throws(() => readFileSync(join(root, '.plimsoll-baseline.json')));
  });
});
