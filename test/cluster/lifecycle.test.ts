import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { isRunning, signal } from './lab/process-id';
import { readState, stopLab, type LabState } from './lab/state';
import { waitFor } from './lab/wait';

/** That nothing of a lab outlives it, however it ends. */

const root = resolve(__dirname, '../..');
const folders: string[] = [];
after(async () => {
  for (const folder of folders) await stopLab(folder);
});

interface Held {
  readonly owner: ChildProcess;
  readonly folder: string;
  readonly state: LabState;
}

/** A lab that a process of its own has started and owns. */
async function hold(name: string): Promise<Held> {
  const owner = spawn(process.execPath, ['--import', 'tsx', 'test/cluster/lab/hold.ts', name], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = await new Promise<string>((done, reject) => {
    owner.once('exit', (code) => reject(new Error(`no lab: its owner ended with ${code}`)));
    if (owner.stdout !== null) createInterface(owner.stdout).once('line', done);
  });
  folders.push(folder);
  const state = readState(folder);
  assert.ok(state !== undefined && state.phase === 'ready');
  assert.ok(state.programs.length >= 8, 'everything runs');
  return { owner, folder, state };
}

function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((done) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

async function assertGone({ folder, state }: Held): Promise<void> {
  const processes = [...state.programs, { ...state.keeper, name: 'keeper' }];
  await waitFor(
    'every program ends',
    () => (processes.some(isRunning) ? undefined : true),
    30_000,
    () =>
      processes
        .filter(isRunning)
        .map(({ name, pid }) => `${name} ${pid}`)
        .join(', '),
  );
  for (const url of [state.server, state.prometheus, state.cloudWatch])
    assert.equal(await isListening(url), false, `${url} is free again`);
  assert.ok(state.sockets === undefined || !existsSync(state.sockets), 'its sockets are gone');
  assert.deepEqual(readState(folder)?.exits, [], 'nothing had ended by itself');
}

test('a lab ends when its owner is killed', async () => {
  const held = await hold('lifecycle-owner');
  assert.equal(await isListening(held.state.server), true);
  held.owner.kill('SIGKILL');
  await assertGone(held);
});

test('a lab ends when its keeper is killed, and its rest is cleaned up', async () => {
  const held = await hold('lifecycle-keeper');
  signal(held.state.keeper, 'SIGKILL');
  await waitFor('the keeper is gone', () => (isRunning(held.state.keeper) ? undefined : true), 10_000);
  await stopLab(held.folder);
  await assertGone(held);
  held.owner.kill();
});

test('without Go, what is missing is said; it is a failure only in CI', () => {
  const cache = mkdtempSync(join(tmpdir(), 'plimsoll-no-go-'));
  try {
    const run = (ci: string): { readonly code: number | null; readonly text: string } => {
      const result = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/cluster.ts', 'test'], {
        cwd: root,
        encoding: 'utf8',
        env: {
          PATH: cache,
          HOME: cache,
          XDG_CACHE_HOME: cache,
          CI: ci,
        },
      });
      return { code: result.status, text: result.stdout + result.stderr };
    };
    const here = run('');
    assert.equal(here.code, 0, here.text);
    assert.match(here.text, /Go 1\.26[^]*install Go 1\.26 or newer \(https:\/\/go\.dev\/doc\/install\)/);
    assert.match(here.text, /Skipped/);
    const inCi = run('true');
    assert.equal(inCi.code, 1, inCi.text);
    assert.match(inCi.text, /install Go/);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});
