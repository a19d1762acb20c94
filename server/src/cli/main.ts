import { existsSync, readFileSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { Host, Output } from './host';

/** The nearest `package.json` above the program: in the installed package, and in the source tree alike. */
function packageRoot(): string {
  for (let at = __dirname; dirname(at) !== at; at = dirname(at))
    if (existsSync(join(at, 'package.json'))) return at;
  return __dirname;
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const found = (manifest as { readonly version?: unknown }).version;
  return typeof found === 'string' ? found : 'unknown';
}

/** Written at once: output to a pipe that is still waiting when the process ends would be lost. */
function output(descriptor: 1 | 2, isTerminal: boolean): Output {
  return {
    isTerminal,
    write(text) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) {
        try {
          at += writeSync(descriptor, bytes, at);
        } catch (error) {
          const code = (error as NodeJS.ErrnoException).code;
          if (code === 'EPIPE') return;
          // The reader of a pipe is slower than we are.
          if (code !== 'EAGAIN') throw error;
        }
      }
    },
  };
}

async function main(argv: readonly string[]): Promise<number> {
  // The answer to the commonest question of scripts, before anything else is loaded.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  const { runCli } = await import('./run');
  const { startHelper } = await import('./threads');
  const { schemaFolder } = await import('../schema/disk-schemas');
  const host: Host = {
    cwd: process.cwd(),
    env: process.env,
    stdout: output(1, process.stdout.isTTY),
    stderr: output(2, process.stderr.isTTY),
    async readStdin() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
    ruleDocument(id) {
      const path = join(__dirname, 'rules', `${id}.md`);
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    },
    version: version(),
    schemaFolder: schemaFolder(packageRoot()),
    // The engine's own threads, which compile and collect, keep one processor busy beside this one: on two of them a
    // helper was measured to gain nothing. More than seven wait for the reading of the files.
    spareThreads: Math.max(0, Math.min(availableParallelism() - 2, 7)),
    startHelper: () => startHelper(__filename),
    interrupted() {
      const end = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
      return end.signal;
    },
  };
  return runCli(argv, host);
}

async function serve(): Promise<void> {
  const [{ serveCells }, { takeCatalogue }] = await Promise.all([import('./threads'), import('./catalogue')]);
  // The thread that started this one has said what is wrong with it, if anything is.
  takeCatalogue(process.cwd());
  serveCells();
}

if (isMainThread) {
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(
        `plimsoll: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
      process.exitCode = 2;
    },
  );
} else {
  void serve();
}
