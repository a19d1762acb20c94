import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConnection, ProposedFeatures } from 'vscode-languageserver';
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { PassThrough } from 'node:stream';
import { createServer } from '../../server/src/lsp/server';
import { describeError } from '../../server/src/lsp/guard';
import type { FileSystem } from '../../server/src/lsp/environment';
import { pushedClient, start, uriOf } from './support/client';
import { testClock } from './support/clock';
import { memoryFileSystem } from './support/memory-fs';
import { broken, goodPod, pod, testRules } from './support/rules';

const a = uriOf('/ws/a.yaml');
const secret = 's3cret';

describe('faults', () => {
  test('a rule that throws is told once, by name, and everything else is found', async () => {
    const { client } = await start({
      rules: [...testRules, broken],
      files: { '/ws/a.yaml': pod('a'), '/ws/b.yaml': pod('b') },
    });
    await client.ready();
    assert.equal((await client.pull(a)).items.length, 1);
    await client.open(a, goodPod('a'));
    await client.pull(a);
    const told = client.logs.filter((line) => line.includes('probe-port-unknown'));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /^Internal error: rule probe-port-unknown failed/);
    assert.equal(client.logs.join('\n').includes(secret), false);
    await client.stop();
  });

  test('a disk that breaks the promises of its interface ends nothing', async () => {
    const fs: FileSystem = {
      ...memoryFileSystem(),
      readFolder: () => {
        throw new Error(secret);
      },
      info: () => {
        throw new RangeError('Invalid array length');
      },
    };
    const { client } = await start({ fs });
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    assert.equal(client.logs.join('\n').includes(secret), false);
    await client.stop();
  });

  test('what throws inside of a question is its error, logged once, and the next question is answered', async () => {
    const rules = {
      // The engine asks for the rules of a run; this list fails it.
      get [Symbol.iterator](): never {
        throw new TypeError('rules is not iterable');
      },
      filter(): never {
        throw new TypeError('rules.filter is not a function');
      },
    };
    const { client } = await start({ rules: rules as never });
    await client.open(a, pod('a'));
    assert.deepEqual((await client.pull(a)).items, []);
    assert.equal(await client.hover(a, { line: 6, character: 8 }), null);
    await client.type(a, 2, `${pod('a')}\n`);
    assert.deepEqual((await client.pull(a)).items, []);
    const told = client.logs.filter((line) => line.startsWith('Checking a file failed: TypeError'));
    assert.equal(told.length, 1, client.logs.join('\n'));
    await client.stop();
  });

  test('wrong parameters are answered with an error that says what is wrong', async () => {
    const { client } = await start();
    const ask = (method: string, params: unknown): Promise<unknown> =>
      client.connection.sendRequest(method, params as object);
    for (const [method, params, message] of [
      ['textDocument/diagnostic', {}, /textDocument is not an object/],
      ['textDocument/diagnostic', { textDocument: { uri: 7 } }, /textDocument\.uri is not a string/],
      ['textDocument/hover', { textDocument: { uri: a } }, /position is not an object/],
      [
        'textDocument/hover',
        { textDocument: { uri: a }, position: { line: -1, character: 0 } },
        /position is negative/,
      ],
      [
        'textDocument/codeAction',
        { textDocument: { uri: a }, range: { start: 1 } },
        /range\.start is not an object/,
      ],
      [
        'textDocument/codeAction',
        {
          textDocument: { uri: a },
          range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
        },
        /context is not an object/,
      ],
      ['workspace/diagnostic', {}, /previousResultIds is not an array/],
      [
        'workspace/diagnostic',
        { previousResultIds: [{ uri: a }] },
        /previousResultIds\[0\]\.value is not a string/,
      ],
      ['workspace/executeCommand', { command: 'rm' }, /unknown command "rm"/],
      ['textDocument/hover', [1, 2], /./],
    ] as const) {
      await assert.rejects(ask(method, params), (error: { code?: number; message?: string }) => {
        assert.equal(error.code, -32602, `${method}: ${error.message}`);
        assert.match(error.message ?? '', message);
        return true;
      });
    }
    await assert.rejects(ask('textDocument/rename', {}), { code: -32601 });
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    await client.stop();
  });

  test('wrong notifications change nothing, and the log says what is wrong with them', async () => {
    const { client } = await start();
    await client.open(a, pod('a'));
    const send = (method: string, params: unknown): Promise<void> =>
      client.connection.sendNotification(method, params as object);
    await send('textDocument/didOpen', { textDocument: { uri: a } });
    await send('textDocument/didChange', {
      textDocument: { uri: a, version: 2 },
      contentChanges: [{ range: 1, text: '' }],
    });
    await send('textDocument/didChange', {
      textDocument: { uri: uriOf('/ws/none.yaml'), version: 2 },
      contentChanges: [],
    });
    await send('textDocument/didClose', { textDocument: { uri: uriOf('/ws/none.yaml') } });
    await send('workspace/didChangeWatchedFiles', { changes: [{ uri: 3 }] });
    await send('workspace/didChangeConfiguration', {});
    await send('$/no-such-notification', {});
    assert.equal((await client.pull(a)).items.length, 1);
    assert.deepEqual(
      client.logs.map((line) => line.replace(/:.*/, '')),
      [
        'Ignored textDocument/didOpen',
        'Ignored textDocument/didChange',
        'Ignored textDocument/didChange',
        'Ignored textDocument/didClose',
        'Ignored workspace/didChangeWatchedFiles',
      ],
    );
    await client.stop();
  });

  test('edits beyond the end of the text are taken as edits at its end', async () => {
    const { client } = await start();
    await client.open(a, pod('a'));
    const end = { line: 999, character: 999 };
    await client.edit(a, 2, { start: end, end }, '      image: x\n');
    assert.deepEqual((await client.pull(a)).items, []);
    await client.stop();
  });

  test('text that is no YAML, or hostile YAML, is survived', async () => {
    const { client } = await start();
    const bomb = Array.from({ length: 30 }, (_, index) =>
      index === 0 ? 'a0: &a0 [x, x]' : `a${index}: &a${index} [*a${index - 1}, *a${index - 1}]`,
    ).join('\n');
    for (const text of [
      '\u0000\u0001',
      '{{{{[[[[',
      `${'['.repeat(5000)}`,
      `apiVersion: v1\nkind: Pod\n${bomb}\n`,
      'apiVersion: v1\nkind: Pod\nspec: &s\n  containers: [*s]\n',
      '\uD800',
      `apiVersion: v1\nkind: Pod\nmetadata:\n${'\t'.repeat(100)}name: x\n`,
      `apiVersion: v1\nkind: Pod\nx: ${'y'.repeat(500_000)}\n`,
    ]) {
      await client.open(a, text);
      await client.pull(a);
      await client.hover(a, { line: 0, character: 1 });
      await client.actions(a, { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } });
      await client.close(a);
    }
    assert.deepEqual(client.logs, []);
    await client.open(a, pod('a'));
    assert.equal((await client.pull(a)).items.length, 1);
    await client.stop();
  });

  test('errors are logged without what they may quote', () => {
    let parsing: unknown;
    try {
      JSON.parse(`{"password": ${secret}}`);
    } catch (error) {
      parsing = error;
    }
    assert.ok(parsing instanceof Error && parsing.message.includes('s3'));
    assert.doesNotMatch(describeError(parsing), /s3cret/);
    assert.match(describeError(parsing), /^SyntaxError\n\s+at /);
    assert.match(describeError(new TypeError('x is not a function')), /^TypeError: x is not a function\n/);
    assert.match(describeError(Object.assign(new Error(secret), { code: 'EACCES' })), /^Error EACCES\n/);
    assert.equal(describeError(secret), 'a string was thrown');
  });
});

describe('life', () => {
  test('says who it is and what it can do', async () => {
    const { client } = await start();
    assert.equal(client.initialized.serverInfo?.name, 'Plimsoll');
    assert.deepEqual(client.initialized.capabilities.diagnosticProvider, {
      identifier: 'plimsoll',
      interFileDependencies: true,
      workspaceDiagnostics: true,
    });
    assert.deepEqual(client.initialized.capabilities.textDocumentSync, { openClose: true, change: 2 });
    await client.stop();
  });

  test('ends with 0 after shutdown, and with 1 without it', async () => {
    const first = await start();
    await first.client.connection.sendRequest('shutdown');
    await assert.rejects(first.client.hover(a, { line: 0, character: 0 }), { code: -32600 });
    await first.client.connection.sendNotification('exit');
    while (first.exitCode() === undefined) await new Promise(setImmediate);
    assert.equal(first.exitCode(), 0);
    const second = await start();
    await second.client.connection.sendNotification('exit');
    while (second.exitCode() === undefined) await new Promise(setImmediate);
    assert.equal(second.exitCode(), 1);
  });

  test('shutdown answers the question that is still open, and stops a running scan', async () => {
    const fs = memoryFileSystem({ '/ws/a.yaml': pod('a'), '/ws/b.yaml': pod('b') });
    const { client } = await start({ fs });
    await client.ready();
    const { items } = await client.pullWorkspace();
    const held = client.pullWorkspace(
      Object.fromEntries(items.map(({ uri, resultId }) => [uri, resultId ?? ''])),
    );
    const release = fs.hold('/ws/a.yaml');
    const scan = client.lintWorkspace();
    await client.connection.sendRequest('shutdown');
    release();
    assert.deepEqual((await held).items, []);
    await assert.rejects(scan, { code: -32800 });
  });

  test('answers nothing before it is initialized', async () => {
    const toServer = new PassThrough();
    const toClient = new PassThrough();
    const connection = createConnection(
      (logger) =>
        createProtocolConnection(
          new StreamMessageReader(toServer),
          new StreamMessageWriter(toClient),
          logger,
        ),
      { shutdownReceived: false, initialize: () => undefined, exit: () => undefined },
      ProposedFeatures.all,
    );
    createServer(connection, { fs: memoryFileSystem(), clock: testClock(), version: '0', session: 't' });
    connection.listen();
    const client = createProtocolConnection(
      new StreamMessageReader(toClient),
      new StreamMessageWriter(toServer),
    );
    client.listen();
    await assert.rejects(
      client.sendRequest('textDocument/hover', {
        textDocument: { uri: a },
        position: { line: 0, character: 0 },
      }),
      { code: -32002 },
    );
    client.dispose();
  });

  test('errors that nobody caught are logged', async () => {
    const toServer = new PassThrough();
    const toClient = new PassThrough();
    const connection = createConnection(
      (logger) =>
        createProtocolConnection(
          new StreamMessageReader(toServer),
          new StreamMessageWriter(toClient),
          logger,
        ),
      { shutdownReceived: false, initialize: () => undefined, exit: () => undefined },
      ProposedFeatures.all,
    );
    const server = createServer(connection, {
      fs: memoryFileSystem(),
      clock: testClock(),
      version: '0',
      session: 't',
    });
    connection.listen();
    const client = createProtocolConnection(
      new StreamMessageReader(toClient),
      new StreamMessageWriter(toServer),
    );
    const logged = new Promise<string>((resolve) => {
      client.onNotification('window/logMessage', ({ message }: { message: string }) => resolve(message));
    });
    client.listen();
    server.uncaught('a promise', new Error(secret));
    const line = await logged;
    assert.match(line, /^a promise failed: Error\n/);
    assert.doesNotMatch(line, /s3cret/);
    client.dispose();
  });

  test('a client that refuses everything it is asked is served', async () => {
    const { client } = await start({ capabilities: { ...pushedClient, window: { workDoneProgress: true } } });
    const refuse = (): never => {
      throw new Error('no');
    };
    for (const method of [
      'workspace/configuration',
      'client/registerCapability',
      'window/workDoneProgress/create',
    ]) {
      client.connection.onRequest(method, refuse);
    }
    await client.open(a, pod('a'));
    await client.until('the file is judged', () => client.pushed.get(a)?.diagnostics.length === 1);
    await client.stop();
  });
});
