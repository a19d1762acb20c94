import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * What `npm test` runs: the build, and beside it the type check and the linters; then the tests. What a step printed is
 * shown when it ends. The first step that fails is the result.
 */

const root = resolve(__dirname, '..');

function step(name: string): Promise<number> {
  return new Promise((done) => {
    const child = spawn('npm', ['run', '--silent', name], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', (error) => chunks.push(Buffer.from(`${error.message}\n`)));
    child.on('close', (code) => {
      process.stdout.write(`${name}: ${code === 0 ? 'done' : 'failed'}\n`);
      process.stdout.write(Buffer.concat(chunks));
      done(code ?? 1);
    });
  });
}

async function main(): Promise<number> {
  const codes = await Promise.all([
    // Two of about the same length.
    step('build').then((code) => (code === 0 ? step('lint:format') : code)),
    step('typecheck').then((code) => (code === 0 ? step('lint:code') : code)),
  ]);
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) return failed;
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/test.ts'], {
    cwd: root,
    stdio: 'inherit',
  });
  return status ?? 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
