import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from './process-id';
import type { Running } from './state';
import { onPath } from './programs';

/** One program of the lab while its keeper runs. */
export interface Program extends Running {
  readonly child: ChildProcess;
  /** Settles when the program has ended, with how, in words. */
  readonly ended: Promise<string>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** `pipe` when the program ends with its standard input; it then says `ready` on its standard output. */
  readonly stdin?: 'pipe';
  /** Absent: the folder of the lab. */
  readonly cwd?: string;
}

/** How programs of one lab are started: where they log, and in which network namespace they run. */
export interface Starter {
  readonly folder: string;
  /** A process inside the network namespace to run in. */
  readonly namespacePid: number | undefined;
}

/** Starts a program that ends, at the latest, with this process: the kernel sees to it where it can. */
export function startProgram(
  { folder, namespacePid }: Starter,
  name: string,
  command: string,
  args: readonly string[],
  { env = {}, stdin, cwd = folder }: StartOptions = {},
): Program {
  const log = join(folder, 'logs', `${name}.log`);
  const words = [
    ...(process.platform === 'linux' && onPath('setpriv') ? ['setpriv', '--pdeathsig', 'KILL', '--'] : []),
    ...(namespacePid === undefined ? [] : ['nsenter', `--net=/proc/${namespacePid}/ns/net`, '--']),
    command,
    ...args,
  ];
  const [first = command, ...rest] = words;
  const descriptor = openSync(log, 'a');
  const child = spawn(first, rest, {
    cwd,
    stdio: [stdin ?? 'ignore', stdin === undefined ? descriptor : 'pipe', descriptor],
    env: { ...process.env, ...env },
  });
  closeSync(descriptor);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${name} did not start: ${error.message}`));
    child.once('exit', (code, signalName) =>
      resolve(
        `${name} ended ${signalName === null ? `with code ${code}` : `by ${signalName}`}; its log: ${log}`,
      ),
    );
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${name} did not start: no program ${first}`);
  return { name, log, pid, started: identify(pid)?.started ?? '', child, ended };
}

/** Asks a program to end, and ends it when it has not within that time. */
export async function endProgram({ child, ended }: Program, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(timer);
}
