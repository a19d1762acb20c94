import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that can be told from a later one with the same number. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, as the system writes it; only compared for equality. */
  readonly started: string;
}

/** The identity of a running process; `undefined` when there is none (or only its corpse). */
export function identify(pid: number): ProcessId | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, started] = [fields[0], fields[19]];
    return started === undefined || state === 'Z' || state === 'X' ? undefined : { pid, started };
  } catch {
    if (process.platform === 'linux') return undefined;
    const result = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    const started = result.status === 0 ? result.stdout.trim() : '';
    return started === '' ? undefined : { pid, started };
  }
}

export function isRunning({ pid, started }: ProcessId): boolean {
  return identify(pid)?.started === started;
}

/** Sends a signal to exactly that process; does nothing when it has ended. */
export function signal(process_: ProcessId, name: NodeJS.Signals): void {
  if (!isRunning(process_)) return;
  try {
    process.kill(process_.pid, name);
  } catch {
    // It ended in between.
  }
}
