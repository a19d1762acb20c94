import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  IPCMessageReader,
  IPCMessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import type { ClientOptions, TestClient } from './support/client';
import { applied, connect, covered, pushedClient } from './support/client';

const root = resolve(__dirname, '..', '..');
const server = join(root, 'dist', 'server.js');
const isBuilt = existsSync(server);
if (!isBuilt && process.env['CI'] !== undefined) {
  throw new Error(`${server} is missing; npm run build makes it`);
}
const skip = isBuilt ? false : 'dist/server.js is not built; npm run build makes it';

/** Wrong for the API server, in a way that a fix of the product repairs or not: the rule is one of the first. */
const manifest = `apiVersion: v1
kind: Pod
metadata:
  name: chat
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.11.0
      resources:
        requests:
          memory: 16Gi
        limits:
          memory: 8Gi
`;

let folder = '';
let uri = '';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-bundle-'));
  uri = pathToFileURL(join(folder, 'pod.yaml')).href;
  writeFileSync(join(folder, 'pod.yaml'), manifest);
});

after(() => rmSync(folder, { recursive: true }));

async function overStdio(options: ClientOptions = {}): Promise<{ client: TestClient; child: ChildProcess }> {
  const child = spawn(process.execPath, [server, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const client = await connect(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin), {
    folders: [folder],
    ...options,
  });
  return { client, child };
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = await once(child, 'exit');
  return code;
}

describe('the bundled server', { skip }, () => {
  test('serves a workspace over standard input and output', async () => {
    const { client, child } = await overStdio();
    const { findings, files } = await client.ready();
    assert.equal(files, 1);
    assert.ok(findings.error > 0);
    await client.open(uri, manifest);
    const { items } = await client.pull(uri);
    const found = items.find(({ code }) => code === 'request-above-limit');
    assert.ok(found !== undefined, JSON.stringify(items));
    assert.ok(covered(manifest, found.range).length > 0);
    const documentation = new URL(found.codeDescription?.href ?? '').pathname.split('/main/')[1];
    assert.ok(documentation !== undefined && existsSync(join(root, documentation)), documentation);

    const actions = await client.actions(uri, found.range, items, ['quickfix']);
    const action = actions.find(({ title }) => title === 'Suppress request-above-limit for this line');
    const changed = applied(uri, manifest, action);
    await client.type(uri, 2, changed);
    const left = (await client.pull(uri)).items;
    assert.equal(
      left.some(({ code }) => code === 'request-above-limit'),
      false,
    );
    assert.notEqual(await client.hover(uri, items[0]?.range.start ?? found.range.start), undefined);
    await client.stop();
    assert.equal(await exitOf(child), 0);
  });

  test('serves a client that is pushed', async () => {
    const { client, child } = await overStdio({ capabilities: pushedClient });
    await client.until('the file is judged', () => (client.pushed.get(uri)?.diagnostics.length ?? 0) > 0);
    await client.stop();
    assert.equal(await exitOf(child), 0);
  });

  test('serves a Node parent over its channel', async () => {
    const child = fork(server, ['--node-ipc'], { stdio: 'inherit' });
    const client = await connect(new IPCMessageReader(child), new IPCMessageWriter(child), {
      folders: [folder],
    });
    const { findings } = await client.ready();
    assert.ok(findings.error > 0);
    await client.stop();
    assert.equal(await exitOf(child), 0);
  });

  test('ends with 1 when it is told to go without a shutdown, or its client vanishes', async () => {
    const told = await overStdio();
    await told.client.connection.sendNotification('exit');
    assert.equal(await exitOf(told.child), 1);
    told.client.connection.dispose();
    const left = await overStdio();
    left.child.stdin?.end();
    assert.equal(await exitOf(left.child), 1);
    left.client.connection.dispose();
  });

  test('ends when the process that started it is gone', async () => {
    const gone = spawnSync(process.execPath, ['-e', 'process.stdout.write(String(process.pid))'], {
      encoding: 'utf8',
    });
    const { client, child } = await overStdio({ processId: Number(gone.stdout) });
    assert.equal(await exitOf(child), 1);
    client.connection.dispose();
  });

  test('survives a message that is no JSON', async () => {
    const { client, child } = await overStdio();
    child.stdin?.write('Content-Length: 5\r\n\r\n{bad}');
    await client.open(uri, manifest);
    assert.ok((await client.pull(uri)).items.length > 0);
    await client.stop();
    assert.equal(await exitOf(child), 0);
  });

  test('says its version, and how to start it', () => {
    const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
      spawnSync(process.execPath, [server, ...args], { encoding: 'utf8' });
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    assert.deepEqual([run('--version').status, run('--version').stdout], [0, `${version}\n`]);
    assert.match(run('--help').stdout, /^Usage: node server\.js TRANSPORT\n/);
    const wrong = run();
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /^plimsoll: no transport is named\n/);
  });
});
