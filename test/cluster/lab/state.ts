import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { labsFolder } from './home';
import type { ProcessId } from './process-id';
import { isRunning, signal } from './process-id';
import { waitFor } from './wait';

/** A program of a lab, for stopping it and for finding its log. */
export interface Running extends ProcessId {
  readonly name: string;
  /** Path of what it prints. */
  readonly log: string;
}

/** Somebody who asks the API server, from all rights to none. */
export type User = 'admin' | 'viewer' | 'stranger';

export const users: readonly User[] = ['admin', 'viewer', 'stranger'];

/** What a lab writes down about itself, in `state.json` of its folder, for whoever uses and stops it. */
export interface LabState {
  readonly phase: 'starting' | 'ready' | 'failed' | 'stopped';
  /** Why it failed. */
  readonly message?: string;
  /** The process that started the programs, and stops them. */
  readonly keeper: ProcessId;
  /** In the order of their start. */
  readonly programs: readonly Running[];
  /** Programs that ended by themselves, in words. */
  readonly exits: readonly string[];
  /** A process inside the lab's network namespace; absent when it has none. */
  readonly namespace?: ProcessId;
  /** The folder of the sockets that lead into it. */
  readonly sockets?: string;
  readonly server: string;
  readonly ca: string;
  readonly tokens: Readonly<Record<User, string>>;
  readonly kubeconfigs: Readonly<Record<User, string>>;
  readonly kubectl: string;
  readonly prometheus: string;
  /** Where `file_sd` targets of Prometheus are read from. */
  readonly prometheusTargets: string;
  readonly cloudWatch: string;
  /** The port at which KEDA's adapter serves external metrics. */
  readonly kedaAdapterPort: number;
}

export function stateFile(folder: string): string {
  return join(folder, 'state.json');
}

export function readState(folder: string): LabState | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(folder), 'utf8')) as LabState;
  } catch {
    return undefined;
  }
}

/** Written whole or not at all; it holds tokens, so only its owner reads it. */
export function writeState(folder: string, state: LabState): void {
  const scratch = `${stateFile(folder)}.new`;
  writeFileSync(scratch, JSON.stringify(state, undefined, 2), { mode: 0o600 });
  renameSync(scratch, stateFile(folder));
}

/** Folders of all labs, running or not. */
export function labFolders(): readonly string[] {
  const root = labsFolder();
  if (!existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(root, entry.name))
    .sort();
}

export function isAlive(folder: string): boolean {
  const state = readState(folder);
  return state !== undefined && isRunning(state.keeper);
}

/**
 * Stops a lab: asks its keeper, which stops the programs in order; then ends, by their ids, whatever is left of it.
 * Answers the names of what had to be ended that way.
 */
export async function stopLab(folder: string): Promise<readonly string[]> {
  const state = readState(folder);
  if (state === undefined) return [];
  if (isRunning(state.keeper)) {
    signal(state.keeper, 'SIGTERM');
    await waitFor('the lab stops', () => (isRunning(state.keeper) ? undefined : true), 20_000).catch(() =>
      signal(state.keeper, 'SIGKILL'),
    );
  }
  // The keeper may have started more since the state was read.
  const last = readState(folder) ?? state;
  const left = [...last.programs].reverse().filter(isRunning);
  for (const program of left) signal(program, 'SIGKILL');
  await waitFor('programs end', () => (left.some(isRunning) ? undefined : true), 10_000);
  if (last.sockets !== undefined) rmSync(last.sockets, { recursive: true, force: true });
  writeState(folder, { ...last, phase: last.phase === 'failed' ? 'failed' : 'stopped', programs: [] });
  return left.map(({ name }) => name);
}

/** Finished labs whose logs are kept. */
const kept = 5;

/** When something last happened to a lab; one that is just being made is the newest. */
function lastChange(folder: string): number {
  const file = stateFile(folder);
  return statSync(existsSync(file) ? file : folder).mtimeMs;
}

/** Ends what crashed labs left running, and deletes the folders of all but the last few finished ones. */
export async function cleanUp(): Promise<readonly string[]> {
  const ended: string[] = [];
  const finished: string[] = [];
  for (const folder of labFolders()) {
    if (isAlive(folder)) continue;
    if ((readState(folder)?.programs ?? []).length > 0) ended.push(...(await stopLab(folder)));
    finished.push(folder);
  }
  finished.sort((a, b) => lastChange(a) - lastChange(b));
  for (const folder of finished.slice(0, -kept)) rmSync(folder, { recursive: true, force: true });
  return ended;
}

export function newLabFolder(name: string): string {
  const folder = join(labsFolder(), name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  return folder;
}
