import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { nodeFileSystem } from '../../server/src/lsp/node-environment';
import type { TestClient } from './support/client';
import { pushedClient, start, uriOf } from './support/client';
import { memoryFileSystem } from './support/memory-fs';
import { budget, deployment, goodPod, pod } from './support/rules';

/** The files with findings, as the workspace's diagnostics tell. */
async function found(client: TestClient): Promise<readonly string[]> {
  const { items } = await client.pullWorkspace();
  return items
    .filter((item) => item.kind === 'full' && item.items.length > 0)
    .map(({ uri }) => uri.replace('file://', ''))
    .sort();
}

describe('the scan of the workspace', () => {
  test('leaves out what .gitignore files leave out, nested ones and those above too', async () => {
    const { client } = await start({
      folders: ['/repo/ws'],
      files: {
        '/repo/.git/config': '',
        '/repo/.gitignore': 'secret.yaml\n',
        '/repo/ws/.gitignore': 'build/\n*.gen.yaml\n',
        '/repo/ws/a.yaml': pod('a'),
        '/repo/ws/secret.yaml': pod('b'),
        '/repo/ws/x.gen.yaml': pod('c'),
        '/repo/ws/build/d.yaml': pod('d'),
        '/repo/ws/sub/.gitignore': '/only-here.yml\n!keep.gen.yaml\n',
        '/repo/ws/sub/only-here.yml': pod('e'),
        '/repo/ws/sub/keep.gen.yaml': pod('f'),
        '/repo/ws/sub/deep/only-here.yml': pod('g'),
        '/repo/ws/node_modules/m.yaml': pod('h'),
        '/repo/ws/vendor/.git/n.yaml': pod('i'),
        '/repo/ws/notes.txt': pod('j'),
      },
    });
    await client.ready();
    assert.deepEqual(await found(client), [
      '/repo/ws/a.yaml',
      '/repo/ws/sub/deep/only-here.yml',
      '/repo/ws/sub/keep.gen.yaml',
    ]);
    await client.stop();
  });

  test('names each file that it skips, and why', async () => {
    const fs = memoryFileSystem({
      '/ws/a.yaml': pod('a'),
      '/ws/large.yaml': `# ${'x'.repeat(3 * 1024)}\n${pod('b')}`,
      '/ws/binary.yaml': new Uint8Array([0x61, 0x00, 0x62]),
      '/ws/latin.yaml': new Uint8Array([0x61, 0x3a, 0x20, 0xe9]),
      '/ws/wide.yaml': new Uint8Array([0xff, 0xfe, 0x61, 0x00]),
      '/ws/denied.yaml': pod('c'),
      '/ws/closed/d.yaml': pod('d'),
    });
    fs.fail('/ws/denied.yaml', 'EACCES');
    fs.fail('/ws/closed', 'EACCES');
    fs.special('/ws/pipe.yaml');
    const { client } = await start({
      fs,
      settings: { 'file:///ws': { workspaceScan: { maxFileSizeKiB: 2 } } },
    });
    const { skipped, files } = await client.ready();
    assert.equal(files, 1);
    assert.deepEqual(Object.fromEntries(skipped.map(({ uri, reason }) => [uri, reason])), {
      'file:///ws/binary.yaml': 'it is a binary file',
      'file:///ws/closed': 'no permission to read it',
      'file:///ws/denied.yaml': 'no permission to read it',
      'file:///ws/large.yaml': '4 KiB is more than plimsoll.workspaceScan.maxFileSizeKiB (2)',
      'file:///ws/latin.yaml': 'it is not UTF-8; save it as UTF-8',
      'file:///ws/wide.yaml': 'it is UTF-16; save it as UTF-8',
    });
    assert.equal(fs.reads.includes('/ws/large.yaml'), false);
    fs.fail('/ws/denied.yaml', undefined);
    fs.write('/ws/large.yaml', pod('b'));
    await client.watched({ '/ws/denied.yaml': 'changed', '/ws/large.yaml': 'changed' });
    await client.until('the healed files are read', () => client.statuses.at(-1)?.files === 3);
    assert.equal(client.statuses.at(-1)?.skipped.length, 4);
    await client.stop();
  });

  test('tells other clients in the log what it skips', async () => {
    const { client } = await start({
      capabilities: pushedClient,
      initializationOptions: {},
      files: { '/ws/binary.yaml': new Uint8Array([0]) },
    });
    await client.until('the log names the file', () =>
      client.logs.includes('Skipped file:///ws/binary.yaml: it is a binary file'),
    );
    assert.deepEqual(client.statuses, []);
    await client.stop();
  });

  test('an oversized or unreadable document does not count while it is open either', async () => {
    const { client } = await start({ settings: { 'file:///ws': { workspaceScan: { maxFileSizeKiB: 1 } } } });
    await client.ready();
    const a = uriOf('/ws/a.yaml');
    await client.open(a, `# ${'x'.repeat(2000)}\n${pod('a')}`);
    assert.deepEqual((await client.pull(a)).items, []);
    await client.until('it is named', () => client.statuses.at(-1)?.skipped[0]?.uri === a);
    await client.type(a, 2, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    await client.until('it is no longer named', () => client.statuses.at(-1)?.skipped.length === 0);
    await client.stop();
  });

  test('ends in spite of links that form loops, and reads no file twice', async () => {
    const root = mkdtempSync(join(tmpdir(), 'plimsoll-scan-'));
    try {
      const folder = join(root, 'ws');
      mkdirSync(join(folder, 'sub'), { recursive: true });
      writeFileSync(join(folder, 'a.yaml'), pod('a'));
      writeFileSync(join(root, 'outside.yaml'), pod('b'));
      symlinkSync(folder, join(folder, 'sub', 'up'));
      symlinkSync('loop.yaml', join(folder, 'loop.yaml'));
      symlinkSync(join(folder, 'a.yaml'), join(folder, 'sub', 'same.yaml'));
      symlinkSync(join(root, 'outside.yaml'), join(folder, 'sub', 'outside.yaml'));
      symlinkSync(join(root, 'gone.yaml'), join(folder, 'dangling.yaml'));
      const { client } = await start({ fs: nodeFileSystem, folders: [folder] });
      const { skipped } = await client.ready();
      assert.deepEqual(await found(client), [join(folder, 'a.yaml'), join(folder, 'sub', 'outside.yaml')]);
      assert.deepEqual(
        skipped.map(({ uri, reason }) => [uri.slice(uri.lastIndexOf('/') + 1), reason]),
        [
          ['dangling.yaml', 'it does not exist'],
          ['loop.yaml', 'its symbolic links form a loop'],
        ],
      );
      await client.stop();
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test('shows progress and can be cancelled, which is no pass for rules that need all files', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `/ws/${String(index).padStart(3, '0')}.yaml`,
        deployment(`d${index}`),
      ]),
    );
    const fs = memoryFileSystem(files);
    const release = fs.hold('/ws/100.yaml');
    const { client } = await start({ fs });
    const { token } = await client.until('the scan is shown', () =>
      client.progress.find(({ value }) => value.kind === 'begin'),
    );
    // While the disk keeps the scan waiting, questions are answered.
    const a = uriOf('/ws/a.yaml');
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    await client.connection.sendNotification('window/workDoneProgress/cancel', { token });
    await client.hover(a, { line: 0, character: 0 });
    release();
    await client.until('the scan ends', () => client.progress.some(({ value }) => value.kind === 'end'));
    const status = await client.until('everything was looked at', () => {
      const last = client.statuses.at(-1);
      return last?.state === 'ready' && last.findings.error === 1 && last;
    });
    assert.equal(status.incomplete, 'the workspace scan was cancelled');
    assert.equal(status.findings.warning, 0);
    assert.ok(client.logs.includes('The scan of the workspace was cancelled'));
    // A later one that runs to its end makes up for it.
    const { findings } = await client.lintWorkspace();
    assert.equal(findings.warning, 200);
    assert.equal(client.statuses.at(-1)?.incomplete, undefined);
    await client.stop();
  });

  test('judges nothing that needs other files before it has read them', async () => {
    const fs = memoryFileSystem({ '/ws/a.yaml': deployment('a'), '/ws/z.yaml': budget('a') });
    const release = fs.hold('/ws/z.yaml');
    const { client } = await start({ fs });
    const a = uriOf('/ws/a.yaml');
    await client.open(a, deployment('a'));
    assert.deepEqual((await client.pull(a)).items, []);
    release();
    const { findings } = await client.ready();
    assert.equal(findings.warning, 0);
    await client.stop();
  });

  test('is only ever one at a time, whoever asks', async () => {
    const fs = memoryFileSystem({ '/ws/a.yaml': pod('a') });
    const { client } = await start({ fs });
    await client.ready();
    fs.reads.length = 0;
    const release = fs.hold('/ws/a.yaml');
    const answers = Promise.all([client.lintWorkspace(), client.lintWorkspace(), client.lintWorkspace()]);
    await client.hover(uriOf('/ws/a.yaml'), { line: 0, character: 0 });
    release();
    for (const { findings, files } of await answers) {
      assert.equal(findings.error, 1);
      assert.equal(files, 1);
    }
    // The second pass starts after it was asked for, and serves all who asked while the first one ran.
    assert.equal(fs.reads.filter((path) => path === '/ws/a.yaml').length, 2);
    await client.stop();
  });

  test('leaves room for questions in a workspace of 5,000 files', async () => {
    const files: Record<string, string> = {};
    for (let index = 0; index < 5000; index++) files[`/ws/d${index % 50}/f${index}.yaml`] = pod(`p${index}`);
    const fs = memoryFileSystem(files);
    const { client } = await start({ fs });
    const a = uriOf('/ws/open.yaml');
    await client.until('the scan runs', () => client.statuses.at(-1)?.state === 'scanning');
    await client.open(a, pod('a'));
    let longest = 0;
    while (client.statuses.at(-1)?.state === 'scanning') {
      const before = fs.reads.length;
      await client.hover(a, { line: 6, character: 8 });
      longest = Math.max(longest, fs.reads.length - before);
    }
    const { findings, files: read } = await client.ready();
    assert.equal(read, 5001);
    assert.equal(findings.error, 5001);
    assert.ok(longest < 2500, `a question waited until ${longest} files were read`);
    await client.stop();
  });
});

describe('files that change', () => {
  test('are watched, folders that come and go included', async () => {
    const { client } = await start();
    const watching = await client.until('the watcher is registered', () =>
      client.registrations.find(({ method }) => method === 'workspace/didChangeWatchedFiles'),
    );
    const { watchers } = watching.registerOptions as { watchers: { globPattern: string; kind: number }[] };
    assert.deepEqual(
      watchers.find(({ globPattern }) => globPattern === '**/*'),
      { globPattern: '**/*', kind: 5 },
    );
    await client.stop();
  });

  test('are read when created or changed, and forgotten when deleted', async () => {
    const fs = memoryFileSystem({ '/ws/.gitignore': 'ignored/\n' });
    const { client } = await start({ fs });
    await client.ready();
    fs.write('/ws/new/a.yaml', pod('a'));
    fs.write('/ws/ignored/b.yaml', pod('b'));
    fs.write('/ws/node_modules/c.yaml', pod('c'));
    await client.watched({
      '/ws/new/a.yaml': 'created',
      '/ws/ignored/b.yaml': 'created',
      '/ws/node_modules/c.yaml': 'created',
    });
    await client.until('the new file counts', () => client.statuses.at(-1)?.findings.error === 1);
    fs.write('/ws/new/a.yaml', goodPod('a'));
    await client.watched({ '/ws/new/a.yaml': 'changed' });
    await client.until('the repaired file counts', () => client.statuses.at(-1)?.findings.error === 0);
    assert.equal(client.statuses.at(-1)?.files, 1);
    fs.remove('/ws/new/a.yaml');
    await client.watched({ '/ws/new/a.yaml': 'deleted' });
    await client.until('the deleted file is forgotten', () => client.statuses.at(-1)?.files === 0);
    await client.stop();
  });

  test('come and go with their folder', async () => {
    const fs = memoryFileSystem();
    const { client } = await start({ fs });
    await client.ready();
    fs.write('/ws/moved/a.yaml', pod('a'));
    fs.write('/ws/moved/deep/b.yaml', pod('b'));
    fs.write('/ws/moved/deep/.gitignore', 'c.yaml');
    fs.write('/ws/moved/deep/c.yaml', pod('c'));
    await client.watched({ '/ws/moved': 'created' });
    await client.until('its files count', () => client.statuses.at(-1)?.findings.error === 2);
    fs.remove('/ws/moved');
    await client.watched({ '/ws/moved': 'deleted' });
    await client.until('its files are forgotten', () => client.statuses.at(-1)?.findings.error === 0);
    await client.stop();
  });

  test('are looked at again when a .gitignore changes', async () => {
    const fs = memoryFileSystem({ '/ws/a.yaml': pod('a'), '/ws/b.yaml': pod('b') });
    const { client } = await start({ fs });
    await client.ready();
    fs.write('/ws/.gitignore', 'b.yaml');
    await client.watched({ '/ws/.gitignore': 'created' });
    await client.until('the file is left out', () => client.statuses.at(-1)?.findings.error === 1);
    await client.stop();
  });
});

describe('open documents', () => {
  test('win over the disk, and give way to it when they are closed', async () => {
    const fs = memoryFileSystem({ '/ws/a.yaml': pod('a') });
    const { client } = await start({ fs });
    await client.ready();
    const a = uriOf('/ws/a.yaml');
    await client.open(a, goodPod('a'));
    assert.deepEqual((await client.pull(a)).items, []);
    await client.watched({ '/ws/a.yaml': 'changed' });
    assert.deepEqual((await client.pull(a)).items, []);
    await client.close(a);
    assert.equal((await client.pull(a)).items.length, 1);
    await client.stop();
  });

  test('that are on no disk vanish when they are closed', async () => {
    const { client } = await start();
    await client.ready();
    for (const uri of ['untitled:Untitled-1', uriOf('/ws/unsaved.yaml'), uriOf('/elsewhere/a.yaml')]) {
      await client.open(uri, pod('a'));
      assert.equal((await client.pull(uri)).items.length, 1, uri);
      await client.close(uri);
      assert.deepEqual((await client.pull(uri)).items, [], uri);
    }
    await client.stop();
  });

  test('are seen together with the manifests beside them where nothing is scanned', async () => {
    const fs = memoryFileSystem({
      '/one/app.yaml': deployment('chat'),
      '/one/pdb.yaml': budget('chat'),
      '/one/broken.yaml': pod('a'),
      '/one/sub/pdb.yaml': budget('chat'),
      '/one/large.yaml': `# ${'x'.repeat(2 * 1024 * 1024)}\n`,
      '/two/app.yaml': deployment('chat'),
      '/two/sub/pdb.yaml': budget('chat'),
    });
    const { client } = await start({ fs, folders: [] });
    await client.ready();
    const [one, two] = [uriOf('/one/app.yaml'), uriOf('/two/app.yaml')];
    await client.open(one, deployment('chat'));
    assert.deepEqual((await client.pull(one)).items, []);
    await client.open(two, deployment('chat'));
    assert.deepEqual(
      (await client.pull(two)).items.map(({ code }) => code),
      ['missing-pdb'],
    );
    // They are there to be referred to, and are not reported on.
    assert.deepEqual(await found(client), ['/two/app.yaml']);
    assert.deepEqual((await client.pull(uriOf('/one/broken.yaml'))).items, []);
    assert.equal(client.statuses.at(-1)?.files, 2);
    assert.deepEqual(client.statuses.at(-1)?.skipped, []);
    fs.remove('/one/pdb.yaml');
    await client.watched({ '/one/pdb.yaml': 'deleted' });
    assert.deepEqual(
      (await client.pull(one)).items.map(({ code }) => code),
      ['missing-pdb'],
    );
    await client.stop();
  });

  test('are the same file under whatever spelling of its URI', async () => {
    const { client } = await start({ files: { '/ws/a b.yaml': pod('a') } });
    await client.ready();
    await client.open('file:///ws/a b.yaml', goodPod('a'));
    assert.deepEqual((await client.pull('file:///ws/a%20b.yaml')).items, []);
    await client.until('there is one file', () => client.statuses.at(-1)?.findings.error === 0);
    assert.equal(client.statuses.at(-1)?.files, 1);
    await client.stop();
  });
});

describe('workspace folders', () => {
  test('can be added and removed, and a file counts to the innermost', async () => {
    const fs = memoryFileSystem({
      '/one/a.yaml': pod('a'),
      '/two/b.yaml': pod('b'),
      '/one/nested/c.yaml': pod('c'),
    });
    const { client } = await start({
      fs,
      folders: ['/one', '/one/nested'],
      settings: { 'file:///one/nested': { enable: false } },
    });
    await client.ready();
    assert.deepEqual(await found(client), ['/one/a.yaml']);
    const change = (added: string[], removed: string[]): Promise<void> =>
      client.connection.sendNotification('workspace/didChangeWorkspaceFolders', {
        event: {
          added: added.map((path) => ({ uri: uriOf(path), name: path })),
          removed: removed.map((path) => ({ uri: uriOf(path), name: path })),
        },
      });
    await change(['/two'], []);
    await client.until('the new folder counts', () => client.statuses.at(-1)?.findings.error === 2);
    await change([], ['/one', '/one/nested']);
    await client.until('the old folder is forgotten', () => client.statuses.at(-1)?.findings.error === 1);
    assert.equal(client.statuses.at(-1)?.files, 1);
    await client.stop();
  });

  test('that cannot be read are named', async () => {
    const { client } = await start({ folders: ['/nowhere'] });
    const { skipped } = await client.ready();
    assert.deepEqual(skipped, [{ uri: 'file:///nowhere', reason: 'it does not exist' }]);
    await client.stop();
  });

  test('are found from rootUri by clients that know no folders', async () => {
    const { client } = await start({ capabilities: { textDocument: {} }, files: { '/ws/a.yaml': pod('a') } });
    await client.until(
      'its files are judged',
      () => client.pushed.get(uriOf('/ws/a.yaml'))?.diagnostics.length === 1,
    );
    await client.stop();
  });
});
