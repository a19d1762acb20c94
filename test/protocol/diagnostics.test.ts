import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WorkspaceFullDocumentDiagnosticReport } from 'vscode-languageserver-protocol';
import { covered, pullingClient, pushedClient, start, uriOf } from './support/client';
import { defineRule } from '../../server/src/rules/rule';
import { budget, deployment, goodPod, missingImage, pod, service } from './support/rules';

const a = uriOf('/ws/a.yaml');

describe('pulled diagnostics', () => {
  test('carry code, link, source, data and the place at fault', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const { kind, items } = await client.pull(a);
    assert.equal(kind, 'full');
    const [found] = items;
    assert.ok(found !== undefined && items.length === 1);
    assert.equal(found.code, 'request-above-limit');
    assert.equal(found.source, 'plimsoll');
    assert.equal(found.severity, 1);
    assert.equal(found.message, 'Container "vllm" has no *image*');
    assert.match(found.codeDescription?.href ?? '', /^https:\/\/.*\/request-above-limit\.md$/);
    assert.deepEqual(found.data, {
      rule: 'request-above-limit',
      kind: 'Pod',
      name: 'chat',
      container: 'vllm',
    });
    assert.equal(covered(pod('chat'), found.range), 'name');
    await client.stop();
  });

  test('are unchanged as long as nothing changed, and have a new id when they did', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const first = await client.pull(a);
    const again = await client.pull(a, first.resultId);
    assert.deepEqual({ ...again }, { kind: 'unchanged', resultId: first.resultId });
    await client.type(a, 2, `# a comment\n${pod('chat')}`);
    const moved = await client.pull(a, first.resultId);
    assert.equal(moved.kind, 'full');
    assert.notEqual(moved.resultId, first.resultId);
    assert.equal(moved.items[0]?.range.start.line, (first.items[0]?.range.start.line ?? 0) + 1);
    await client.stop();
  });

  test('are those of the newest text, after incremental edits too', async () => {
    const { client } = await start();
    await client.open(a, pod('chat'));
    const end = { line: 7, character: 0 };
    await client.edit(a, 2, { start: end, end }, '      image: x\n');
    assert.deepEqual((await client.pull(a)).items, []);
    const image = { start: end, end: { line: 8, character: 0 } };
    await client.edit(a, 3, image, '');
    assert.equal((await client.pull(a)).items.length, 1);
    await client.stop();
  });

  test('of an unknown file are empty', async () => {
    const { client } = await start();
    assert.deepEqual((await client.pull(uriOf('/ws/none.yaml'))).items, []);
    await client.stop();
  });

  test('of a malformed document leave the other documents alone', async () => {
    const { client } = await start();
    const text = `${pod('one')}---\napiVersion: v1\nkind: Pod\nmetadata: {name: [}\n---\n${pod('two')}`;
    await client.open(a, text);
    const { items } = await client.pull(a);
    assert.deepEqual([...new Set(items.map(({ code }) => code))], ['request-above-limit', 'yaml-syntax']);
    assert.equal(items.filter(({ code }) => code === 'request-above-limit').length, 2);
    for (const item of items) {
      assert.ok(item.range.start.line < text.split('\n').length);
    }
    await client.stop();
  });

  test('point at related places in other files', async () => {
    const { client } = await start({
      files: { '/ws/service.yaml': service('chat'), '/ws/deployment.yaml': deployment('chat') },
    });
    await client.ready();
    const { items } = await client.pull(uriOf('/ws/deployment.yaml'));
    const [related] = items[0]?.relatedInformation ?? [];
    assert.equal(related?.location.uri, uriOf('/ws/service.yaml'));
    assert.equal(related?.message, 'Its Service');
    assert.equal(covered(service('chat'), related.location.range), 'kind');
    await client.stop();
  });

  test('mark what has no effect as unnecessary', async () => {
    const { client } = await start();
    await client.open(a, `# plimsoll-disable request-above-limit -- no reason any more\n${goodPod('chat')}`);
    const { items } = await client.pull(a);
    assert.deepEqual(
      items.map(({ code, tags }) => ({ code, tags })),
      [{ code: 'unused-suppression', tags: [1] }],
    );
    await client.stop();
  });

  test('leave out what the client cannot show', async () => {
    const { client } = await start({ capabilities: { textDocument: { diagnostic: {} } } });
    await client.open(a, pod('chat'));
    const [found] = (await client.pull(a)).items;
    assert.ok(found !== undefined);
    assert.deepEqual(Object.keys(found).sort(), ['code', 'message', 'range', 'severity', 'source']);
    await client.stop();
  });
});

describe('positions', () => {
  const name = 'name: vllm';
  for (const [title, change] of [
    ['CRLF', (text: string) => text.replace(/\n/g, '\r\n')],
    ['a lone CR', (text: string) => text.replace(/\n/g, '\r')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['a byte order mark behind ---', (text: string) => `${text}---\n\uFEFF${text}`],
    [
      'characters outside of the basic plane',
      (text: string) =>
        text.replace('metadata:', 'metadata: # 🚢⚓🚢').replace('- name', '- {"🚢": 1}\n    - name'),
    ],
    [
      'a multi-line flow map',
      () => 'apiVersion: v1\nkind: Pod\nspec: {containers: [{"🚢": 1,\n  name: vllm}]}\n',
    ],
  ] as const) {
    test(`are those of the editor with ${title}`, async () => {
      const { client } = await start();
      const text = change(pod('chat'));
      await client.open(a, text);
      const { items } = await client.pull(a);
      const found = items.filter(({ code }) => code === 'request-above-limit');
      assert.ok(found.length > 0, JSON.stringify(items));
      for (const { range } of found) {
        const { line, character } = range.start;
        const lineText = text.split(/\r\n|\r|\n/)[line] ?? '';
        assert.ok(lineText.slice(character).startsWith(name), `${JSON.stringify(lineText)} at ${character}`);
      }
      await client.stop();
    });
  }

  test('are the same with and without a byte order mark on disk, as editors hide it', async () => {
    const flow = '{kind: Pod, apiVersion: v1, spec: {containers: [{name: x}]}}';
    const { client } = await start({
      files: {
        '/ws/a.yaml': pod('chat'),
        '/ws/b.yaml': `\uFEFF${pod('chat')}`,
        '/ws/c.yaml': `\uFEFF${flow}`,
      },
    });
    await client.ready();
    const [plain, marked] = [await client.pull(a), await client.pull(uriOf('/ws/b.yaml'))];
    assert.deepEqual(plain.items[0]?.range, marked.items[0]?.range);
    const [first] = (await client.pull(uriOf('/ws/c.yaml'))).items;
    assert.deepEqual(first?.range.start, { line: 0, character: flow.indexOf('name') });
    await client.stop();
  });

  test('encoding is UTF-16, whatever the client lists', async () => {
    const { client } = await start({
      capabilities: { ...pullingClient, general: { positionEncodings: ['utf-8', 'utf-16'] } },
    });
    assert.equal(client.initialized.capabilities.positionEncoding, 'utf-16');
    await client.stop();
  });
});

describe('diagnostics of the workspace', () => {
  test('report every file once, then stay open until something changes', async () => {
    const { client } = await start({
      files: { '/ws/a.yaml': pod('chat'), '/ws/b.yaml': goodPod('fine'), '/ws/sub/c.yml': pod('other') },
    });
    await client.ready();
    const first = await client.pullWorkspace();
    assert.deepEqual(first.items.map(({ uri }) => uri).sort(), [a, uriOf('/ws/sub/c.yml')]);
    const ids = Object.fromEntries(first.items.map(({ uri, resultId }) => [uri, resultId ?? '']));

    let answered = false;
    const second = client.pullWorkspace(ids).then((report) => {
      answered = true;
      return report;
    });
    // An answer to a later question shows that the open one had its chance.
    await client.pull(a);
    assert.equal(answered, false);
    await client.open(uriOf('/ws/b.yaml'), pod('fine'), 7);
    const { items } = await second;
    const full = items.filter((item): item is WorkspaceFullDocumentDiagnosticReport => item.kind === 'full');
    assert.deepEqual(
      full.map(({ uri, version, items: found }) => [uri, version, found.length]),
      [[uriOf('/ws/b.yaml'), 7, 1]],
    );
    assert.equal(items.filter(({ kind }) => kind === 'unchanged').length, 2);
    await client.stop();
  });

  test('clear a file that is deleted after the editor was the last to know it', async () => {
    const files = { '/ws/a.yaml': pod('chat') };
    const { memoryFileSystem } = await import('./support/memory-fs');
    const fs = memoryFileSystem(files);
    const { client } = await start({ fs });
    await client.ready();
    await client.pullWorkspace();
    await client.open(a, pod('chat'));
    assert.equal((await client.pull(a)).items.length, 1);
    await client.close(a);
    await client.pull(a);
    // The client has forgotten the id that it got through the workspace, as VS Code does for open documents.
    const next = client.pullWorkspace({});
    const held = client.pullWorkspace(
      Object.fromEntries((await next).items.map(({ uri, resultId }) => [uri, resultId ?? ''])),
    );
    fs.remove('/ws/a.yaml');
    await client.watched({ '/ws/a.yaml': 'deleted' });
    const { items } = await held;
    assert.deepEqual(
      items.map((item) => ({ uri: item.uri, found: item.kind === 'full' ? item.items : 'unchanged' })),
      [{ uri: a, found: [] }],
    );
    await client.stop();
  });

  test('end when the client takes the question back', async () => {
    const { client } = await start();
    await client.ready();
    await client.pullWorkspace();
    const { CancellationTokenSource } = await import('vscode-languageserver-protocol');
    const source = new CancellationTokenSource();
    const held = client.connection.sendRequest(
      'workspace/diagnostic',
      { previousResultIds: [] },
      source.token,
    );
    source.cancel();
    await assert.rejects(held, { code: -32800 });
    await client.stop();
  });
});

describe('refresh', () => {
  test('is asked for when another file changes what an open one was told', async () => {
    const { client } = await start({ files: { '/ws/budget.yaml': budget('chat') } });
    await client.ready();
    await client.open(a, deployment('chat'));
    assert.deepEqual((await client.pull(a)).items, []);
    const before = client.counts.refresh;
    await client.open(uriOf('/ws/budget.yaml'), '');
    await client.until('the client is told to ask again', () => client.counts.refresh > before);
    assert.equal((await client.pull(a)).items[0]?.code, 'missing-pdb');
    await client.stop();
  });

  test('is asked for even when the open question about the workspace brings the same news', async () => {
    const { client } = await start({ files: { '/ws/budget.yaml': budget('chat') } });
    await client.ready();
    await client.open(a, deployment('chat'));
    await client.pull(a);
    const before = client.counts.refresh;
    // VS Code drops what the answer says of documents that it asks about by themselves.
    await client.pullWorkspace({});
    const held = client.pullWorkspace({});
    await client.open(uriOf('/ws/budget.yaml'), '');
    assert.ok((await held).items.some(({ uri }) => uri === a));
    await client.until('the client is told to ask again', () => client.counts.refresh > before);
    await client.stop();
  });

  test('is not asked for when nothing that was told has changed', async () => {
    const { client } = await start({ files: { '/ws/budget.yaml': budget('chat') } });
    await client.ready();
    await client.open(a, deployment('chat'));
    await client.pull(a);
    const before = client.counts.refresh;
    await client.open(uriOf('/ws/other.yaml'), pod('other'));
    await client.until('everything was looked at again', () => client.statuses.at(-1)?.findings.error === 1);
    await client.pull(a);
    assert.equal(client.counts.refresh, before);
    await client.stop();
  });
});

describe('pushed diagnostics', () => {
  test('name the version, follow edits and are cleared', async () => {
    const { client } = await start({ capabilities: pushedClient, folders: null });
    await client.open(a, pod('chat'));
    await client.until('version 1 was judged', () => client.pushed.get(a)?.version === 1);
    assert.equal(client.pushed.get(a)?.diagnostics.length, 1);
    await client.type(a, 2, goodPod('chat'));
    await client.until('version 2 was judged', () => client.pushed.get(a)?.version === 2);
    assert.deepEqual(client.pushed.get(a)?.diagnostics, []);
    await client.type(a, 3, pod('chat'));
    await client.until('version 3 was judged', () => client.pushed.get(a)?.version === 3);
    await client.close(a);
    await client.until('the closed file is cleared', () => client.pushed.get(a)?.diagnostics.length === 0);
    await client.stop();
  });

  test('never bring back an older version', async () => {
    const { client } = await start({ capabilities: pushedClient, folders: null });
    await client.open(a, pod('chat'));
    for (let version = 2; version <= 40; version++) {
      await client.type(a, version, version % 2 === 0 ? goodPod('chat') : pod('chat'));
    }
    await client.until('the last version was judged', () => client.pushed.get(a)?.version === 40);
    assert.deepEqual(client.pushed.get(a)?.diagnostics, []);
    const versions = client.pushes.map(({ version }) => version ?? 0);
    assert.deepEqual(
      versions,
      [...versions].sort((x, y) => x - y),
    );
    await client.stop();
  });

  test('come for files that nobody has opened', async () => {
    const { client } = await start({
      capabilities: pushedClient,
      files: { '/ws/a.yaml': pod('chat'), '/ws/b.yaml': goodPod('fine') },
    });
    await client.until('the file was judged', () => client.pushed.get(a)?.diagnostics.length === 1);
    assert.equal(client.pushed.has(uriOf('/ws/b.yaml')), false);
    await client.stop();
  });
});

describe('an edit', () => {
  test('has only the edited document read and checked again', async () => {
    const checked: string[] = [];
    const counting = defineRule({
      ...missingImage,
      check(resource, context) {
        checked.push(resource.name ?? '');
        missingImage.check(resource, context);
      },
    });
    const { client } = await start({
      rules: [counting],
      files: { '/ws/other.yaml': `${pod('x')}---\n${pod('y')}` },
    });
    await client.ready();
    const text = [pod('one'), pod('two'), pod('three')].join('---\n');
    await client.open(a, text);
    await client.pull(a);
    checked.length = 0;
    const line = text.slice(0, text.indexOf('name: two')).split('\n').length - 1;
    const place = { line, character: '  name: two'.length };
    await client.edit(a, 2, { start: place, end: place }, '2');
    const { items } = await client.pull(a);
    assert.deepEqual(
      items.map(({ data }) => (data as { name: string }).name),
      ['one', 'two2', 'three'],
    );
    await client.until('everything was looked at', () => client.statuses.at(-1)?.findings.error === 5);
    assert.deepEqual(checked, ['two2']);
    await client.stop();
  });
});
