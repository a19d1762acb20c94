import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSettings } from '../../server/src/lsp/settings';
import { defaultSettings } from '../../server/src/protocol/settings';
import { applied, pullingClient, pushedClient, start, uriOf } from './support/client';
import { memoryFileSystem } from './support/memory-fs';
import { deployment, pod } from './support/rules';

const a = uriOf('/ws/a.yaml');
const config = uriOf('/ws/.plimsoll.yaml');

describe('settings', () => {
  test('are asked for each folder once, and again when they change', async () => {
    const { client } = await start({
      folders: ['/one', '/two'],
      files: { '/one/a.yaml': pod('a'), '/two/b.yaml': pod('b') },
      settings: { 'file:///two': { rules: { 'request-above-limit': 'hint' } } },
    });
    await client.ready();
    const one = (await client.pull(uriOf('/one/a.yaml'))).items;
    const two = (await client.pull(uriOf('/two/b.yaml'))).items;
    assert.deepEqual([one[0]?.severity, two[0]?.severity], [1, 4]);
    assert.deepEqual(client.configurationItems, [
      [
        { section: 'plimsoll', scopeUri: 'file:///one' },
        { section: 'plimsoll', scopeUri: 'file:///two' },
        { section: 'plimsoll' },
      ],
    ]);
    client.settings['file:///one'] = { rules: { 'request-above-limit': 'off' } };
    await client.settingsChanged();
    await client.until('the file is silent', () => client.statuses.at(-1)?.findings.error === 0);
    assert.deepEqual((await client.pull(uriOf('/one/a.yaml'))).items, []);
    assert.equal(client.configurationItems.length, 2);
    await client.stop();
  });

  test('that cannot be used fall back, and the log says so', async () => {
    const { client } = await start({
      settings: {
        'file:///ws': {
          enable: 'yes',
          preset: 'lax',
          rules: { 'no-such-rule': 'off', 'request-above-limit': 'loud' },
          hover: 3,
          workspaceScan: { maxFileSizeKiB: -1 },
        },
      },
    });
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    await client.until('the log has it all', () => client.logs.length >= 6);
    assert.deepEqual([...client.logs].sort(), [
      'Setting "plimsoll.enable" is not true or false; true is used',
      'Setting "plimsoll.hover" is not an object; {} is used',
      'Setting "plimsoll.preset" is not one of recommended, strict, minimal; "recommended" is used',
      'Setting "plimsoll.rules" names "no-such-rule", which is no rule; it is ignored',
      'Setting "plimsoll.rules": the level of "request-above-limit" is none of off, hint, info, warning, error; it is ignored',
      'Setting "plimsoll.workspaceScan.maxFileSizeKiB" is not a number above 0; 1024 is used',
    ]);
    await client.stop();
  });

  test('that are absent are the defaults', () => {
    for (const nothing of [undefined, null, {}]) {
      assert.deepEqual(
        parseSettings(nothing, () => true),
        { settings: defaultSettings, problems: [] },
      );
    }
    assert.equal(parseSettings(7, () => true).problems.length, 1);
  });

  test('come with initialization for clients that cannot be asked, and with changes', async () => {
    const { client } = await start({
      capabilities: { ...pullingClient, workspace: {} },
      initializationOptions: { settings: { rules: { 'request-above-limit': 'info' } } },
    });
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    await client.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { plimsoll: { rules: { 'request-above-limit': 'hint' } } },
    });
    // The next question is answered with whatever is known; the change is applied right behind the notification.
    await client.until('the settings are applied', () => true);
    let severity: number | undefined;
    for (let tries = 0; tries < 100 && severity !== 4; tries++) {
      severity = (await client.pull(a)).items[0]?.severity;
    }
    assert.equal(severity, 4);
    assert.deepEqual(client.configurationItems, []);
    await client.stop();
  });

  test('switch a folder off and on', async () => {
    const { client } = await start({
      files: { '/ws/a.yaml': pod('a'), '/ws/b.yaml': pod('b') },
      settings: { 'file:///ws': { enable: false } },
    });
    await client.open(a, pod('a'));
    assert.deepEqual((await client.pull(a)).items, []);
    assert.equal((await client.ready()).files, 0);
    client.settings['file:///ws'] = { enable: true };
    await client.settingsChanged();
    await client.until('both files are judged', () => client.statuses.at(-1)?.findings.error === 2);
    assert.equal((await client.pull(a)).items.length, 1);
    client.settings['file:///ws'] = { enable: false };
    await client.settingsChanged();
    await client.until('nothing is judged', () => client.statuses.at(-1)?.files === 0);
    assert.deepEqual((await client.pull(a)).items, []);
    await client.stop();
  });

  test('keep the scan from running', async () => {
    const fs = memoryFileSystem({ '/ws/a.yaml': pod('a'), '/ws/b.yaml': pod('b') });
    const { client } = await start({ fs, settings: { 'file:///ws': { workspaceScan: { enable: false } } } });
    assert.equal((await client.ready()).files, 0);
    // No manifest: of the folder only the catalogue that it may keep is looked for.
    assert.deepEqual(fs.reads, ['/ws/.plimsoll/instance-types.json']);
    assert.deepEqual(client.progress, []);
    await client.open(a, pod('a'));
    await client.until('the open file is judged', () => client.statuses.at(-1)?.findings.error === 1);
    client.settings['file:///ws'] = {};
    await client.settingsChanged();
    await client.until('all files are judged', () => client.statuses.at(-1)?.findings.error === 2);
    await client.stop();
  });

  test('are waited for no longer than the client deserves', async () => {
    const { client, clock } = await start();
    await client.ready();
    let asked = false;
    // This client never answers again.
    client.connection.onRequest('workspace/configuration', () => {
      asked = true;
      return new Promise(() => undefined);
    });
    await client.settingsChanged();
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    while (!asked) await client.pull(a);
    clock.advance(60_000);
    await client.until('the log says so', () =>
      client.logs.some((line) => line.includes('did not answer workspace/configuration')),
    );
    await client.stop();
  });
});

describe('the configuration file', () => {
  test('is the nearest one, on disk or open, and its changes count', async () => {
    const fs = memoryFileSystem({
      '/ws/.plimsoll.yaml': 'rules: {request-above-limit: info}\n',
      '/ws/sub/.plimsoll.yaml': 'rules: {request-above-limit: hint}\n',
      '/ws/a.yaml': pod('a'),
      '/ws/sub/b.yaml': pod('b'),
    });
    const { client } = await start({ fs });
    await client.ready();
    const severity = async (uri: string): Promise<number | undefined> =>
      (await client.pull(uri)).items[0]?.severity;
    const b = uriOf('/ws/sub/b.yaml');
    assert.deepEqual([await severity(a), await severity(b)], [3, 4]);
    await client.open(config, 'rules: {request-above-limit: warning}\n');
    assert.deepEqual([await severity(a), await severity(b)], [2, 4]);
    await client.close(config);
    await client.pull(config);
    assert.equal(await severity(a), 3);
    fs.remove('/ws/sub/.plimsoll.yaml');
    await client.watched({ '/ws/sub/.plimsoll.yaml': 'deleted' });
    await client.until('the outer one counts', () => client.statuses.at(-1)?.findings.info === 2);
    assert.equal(await severity(b), 3);
    await client.stop();
  });

  test('above the workspace and beside files outside of it is found too', async () => {
    const { client } = await start({
      files: {
        '/.plimsoll.yaml': 'rules: {request-above-limit: info}\n',
        '/else/.plimsoll.yaml': 'rules: {request-above-limit: hint}\n',
        '/ws/a.yaml': pod('a'),
      },
    });
    await client.ready();
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    const outside = uriOf('/else/deep/b.yaml');
    await client.open(outside, pod('b'));
    assert.equal((await client.pull(outside)).items[0]?.severity, 4);
    await client.lintWorkspace();
    assert.equal((await client.pull(outside)).items[0]?.severity, 4);
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    await client.stop();
  });

  test('shows its own mistakes, with their fixes', async () => {
    const { client } = await start({ files: { '/ws/.plimsoll.yaml': 'preset: stict\n' } });
    await client.ready();
    const { items } = await client.pull(config);
    assert.deepEqual(
      items.map(({ code, range }) => [code, range]),
      [['config-invalid', { start: { line: 0, character: 8 }, end: { line: 0, character: 13 } }]],
    );
    const text = 'rules:\n  request-above-limit: warn\n';
    await client.open(config, text);
    const [found] = (await client.pull(config)).items;
    assert.ok(found !== undefined);
    const [fix] = await client.actions(config, found.range, [found], ['quickfix']);
    assert.equal(applied(config, text, fix), 'rules:\n  request-above-limit: warning\n');
    await client.stop();
  });

  test('is not a manifest', async () => {
    const { client } = await start();
    await client.open(config, pod('a'));
    const { items } = await client.pull(config);
    assert.deepEqual([...new Set(items.map(({ code }) => code))], ['config-invalid']);
    await client.stop();
  });

  test('can be named by a setting, and the log says when it is not there', async () => {
    const { client } = await start({
      files: {
        '/ws/ci/lint.yaml': 'rules: {request-above-limit: hint}\n',
        '/ws/.plimsoll.yaml': 'rules: {request-above-limit: info}\n',
        '/ws/a.yaml': pod('a'),
      },
      settings: { 'file:///ws': { configFile: 'ci/lint.yaml' } },
    });
    await client.ready();
    assert.equal((await client.pull(a)).items[0]?.severity, 4);
    client.settings['file:///ws'] = { configFile: '/nowhere/lint.yaml' };
    await client.settingsChanged();
    await client.until('the log says so', () =>
      client.logs.some((line) => line.includes('"plimsoll.configFile" names file:///nowhere/lint.yaml')),
    );
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    await client.stop();
  });

  test('takes precedence over the settings of the editor', async () => {
    const { client } = await start({
      files: { '/ws/.plimsoll.yaml': 'rules: {request-above-limit: info}\n', '/ws/a.yaml': pod('a') },
      settings: { 'file:///ws': { preset: 'minimal', rules: { 'request-above-limit': 'error' } } },
    });
    await client.ready();
    assert.equal((await client.pull(a)).items[0]?.severity, 3);
    const d = uriOf('/ws/d.yaml');
    await client.open(d, deployment('d'));
    assert.deepEqual((await client.pull(d)).items, []);
    await client.stop();
  });

  test('makes a client that is pushed to hear of every file at once', async () => {
    const { client } = await start({
      capabilities: pushedClient,
      files: { '/ws/a.yaml': pod('a'), '/ws/b.yaml': pod('b') },
    });
    const b = uriOf('/ws/b.yaml');
    await client.until('both are judged', () => client.pushed.has(a) && client.pushed.has(b));
    await client.open(config, 'rules: {request-above-limit: off}\n');
    await client.until(
      'both are silent',
      () => client.pushed.get(a)?.diagnostics.length === 0 && client.pushed.get(b)?.diagnostics.length === 0,
    );
    await client.stop();
  });
});
