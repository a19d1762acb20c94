import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CancellationToken, ExtensionContext } from 'vscode';
import { cliOf, type RunCli } from '../../client/src/run-cli';

/** The command line as the extension starts it: a program that stands in for it says what it was given. */

function extension(
  t: { after(callback: () => void): void },
  program: string,
): { readonly run: RunCli; readonly root: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-client-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'dist'));
  writeFileSync(join(root, 'dist', 'cli.js'), program);
  const context = { asAbsolutePath: (path: string) => join(root, path) } as unknown as ExtensionContext;
  return { run: cliOf(context), root };
}

const never = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose: () => undefined }),
} as unknown as CancellationToken;

test('the program gets its arguments, what is added to the environment, and its folder', async (t) => {
  const { run, root } = extension(
    t,
    'console.log(JSON.stringify([process.argv.slice(2), process.env.HF_TOKEN, process.cwd()])); console.error("told"); process.exitCode = 3;',
  );
  const { code, stdout, stderr } = await run(['model', 'a/b'], { HF_TOKEN: 'hf_x' }, never, { folder: root });
  assert.deepEqual(JSON.parse(stdout), [['model', 'a/b'], 'hf_x', root]);
  assert.equal(stderr, 'told\n');
  assert.equal(code, 3);
});

test('the program reads what it is given', async (t) => {
  const { run } = extension(t, 'process.stdin.pipe(process.stdout);');
  assert.equal((await run([], {}, never, { stdin: 'kind: Pod\n' })).stdout, 'kind: Pod\n');
  assert.equal((await run([], {}, never)).stdout, '', 'nothing, and the end of it');
});

test('a program that is no longer wanted is ended', async (t) => {
  const { run } = extension(t, 'setInterval(() => undefined, 1000);');
  let cancel: (() => void) | undefined;
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => {
      cancel = listener;
      return { dispose: () => undefined };
    },
  } as unknown as CancellationToken;
  const running = run([], {}, token);
  assert.ok(cancel !== undefined);
  cancel();
  const { code } = await running;
  assert.equal(code, 2);
});

test('a program that is not there is an answer too', async (t) => {
  const { run, root } = extension(t, '');
  rmSync(join(root, 'dist'), { recursive: true });
  const { code, stderr } = await run([], {}, never);
  assert.notEqual(code, 0);
  assert.match(stderr, /Cannot find module/);
});
