import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync, closeSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onPath, type Programs } from './programs';
import { isRunning } from './process-id';
import { newLabFolder, readState, type LabState } from './state';
import { GivenUp, waitFor } from './wait';

const root = resolve(__dirname, '../../..');

/** Whether a lab can have a network namespace of its own, in which the pods' addresses are this machine. */
export function canHaveOwnNetwork(): boolean {
  return (
    process.platform === 'linux' && process.getuid?.() === 0 && ['unshare', 'nsenter', 'ip'].every(onPath)
  );
}

export interface Started {
  readonly folder: string;
  readonly state: LabState;
  /** The keeper; the lab stops when its standard input is closed, if it was started so. */
  readonly keeper: ChildProcess;
}

export interface LabStartOptions {
  readonly name: string;
  readonly programs: Programs;
  /** `owner`: it stops when this process ends, however it ends. `asked`: it runs on until somebody stops it. */
  readonly until: 'owner' | 'asked';
}

/** Starts a lab and waits until it is ready. Throws with what its keeper says when it is not. */
export async function startLab({ name, programs, until }: LabStartOptions): Promise<Started> {
  const folder = newLabFolder(name);
  const programsFile = join(folder, 'programs.json');
  writeFileSync(programsFile, JSON.stringify(programs));
  const log = openSync(join(folder, 'logs/keeper.log'), 'a');
  const keeper = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', join(__dirname, 'keeper.ts'), folder, programsFile],
      ...(canHaveOwnNetwork() ? ['--own-network'] : []),
      ...(until === 'owner' ? ['--stop-with-stdin'] : []),
    ],
    {
      cwd: root,
      // In a session of its own: a Ctrl-C in the terminal is for us, and we stop it in order.
      detached: true,
      stdio: [until === 'owner' ? 'pipe' : 'ignore', log, log],
    },
  );
  closeSync(log);
  let exit: string | undefined;
  keeper.once('exit', (code, signalName) => (exit = `the keeper ended (${signalName ?? code})`));
  const state = await waitFor(
    'the lab is ready',
    () => {
      const seen = readState(folder);
      if (seen?.phase === 'ready') return seen;
      if (seen?.phase === 'failed') throw new GivenUp(seen.message ?? 'the lab did not start');
      if (exit !== undefined) throw new GivenUp(`${exit}\n${tails(folder)}`);
      return undefined;
    },
    180_000,
  );
  if (until === 'asked') keeper.unref();
  return { folder, state, keeper };
}

/** The words that put a command into the lab's network, where it has one of its own. */
export function inLabNetwork({ namespace }: LabState): readonly string[] {
  return namespace === undefined ? [] : ['nsenter', `--net=/proc/${namespace.pid}/ns/net`, '--'];
}

/** The last lines of every log of a lab; more of them, and at the end, for programs that ended by themselves. */
export function tails(folder: string): string {
  const logs = join(folder, 'logs');
  if (!existsSync(logs)) return '';
  const exits = readState(folder)?.exits ?? [];
  const hasEnded = (name: string): boolean => exits.some((exit) => exit.endsWith(join(logs, name)));
  return readdirSync(logs)
    .sort((a, b) => Number(hasEnded(a)) - Number(hasEnded(b)) || (a < b ? -1 : 1))
    .map((name) => {
      const path = join(logs, name);
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      const last = lines.slice(hasEnded(name) ? -40 : -5).map((line) => line.slice(0, 300));
      return `--- ${path}\n${last.join('\n')}\n`;
    })
    .join('\n');
}

/** In words: what runs, what has ended by itself. */
export function describe(folder: string, state: LabState): readonly string[] {
  const alive = isRunning(state.keeper);
  return [
    `${folder}: ${alive ? state.phase : state.phase === 'failed' ? 'failed' : 'stopped'}`,
    ...(state.message === undefined ? [] : [`  ${state.message}`]),
    ...state.programs.map(
      (program) => `  ${program.name} ${program.pid} ${isRunning(program) ? 'runs' : 'has ended'}`,
    ),
    ...state.exits.map((exit) => `  ${exit}`),
  ];
}
