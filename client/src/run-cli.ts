import { fork } from 'node:child_process';
import type { CancellationToken, ExtensionContext } from 'vscode';

/** What the command line answered. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Milliseconds after which a program that does not answer is ended. */
const patience = 180_000;

/** Runs the command line that is shipped with the extension, in a process of its own. */
export type RunCli = (
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  token: CancellationToken,
  options?: {
    /** A folder in which it runs. */
    readonly folder?: string;
    /** What it reads from standard input. */
    readonly stdin?: string;
  },
) => Promise<CliResult>;

/** What is given in the environment stands in no list of processes and in no log. */
export function cliOf(context: ExtensionContext): RunCli {
  const program = context.asAbsolutePath('dist/cli.js');
  return (argv, environment, token, { folder, stdin } = {}) =>
    new Promise((resolve, reject) => {
      const child = fork(program, argv, {
        silent: true,
        env: { ...process.env, ...environment },
        execArgv: [],
        ...(folder === undefined ? {} : { cwd: folder }),
        timeout: patience,
      });
      // A program that ends before it has read all of it says why.
      child.stdin?.on('error', () => undefined).end(stdin ?? '');
      let stdout = '';
      let stderr = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const cancelled = token.onCancellationRequested(() => child.kill());
      child.once('error', (error) => {
        cancelled.dispose();
        reject(error);
      });
      child.once('close', (code) => {
        cancelled.dispose();
        resolve({ code: code ?? 2, stdout, stderr });
      });
    });
}

/** What it said on standard error, without its own name. */
export function toldBy({ stderr }: CliResult): string {
  return stderr.trim().replace(/^plimsoll: /, '');
}
