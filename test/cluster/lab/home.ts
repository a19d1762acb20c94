import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where the lab keeps what outlives a clone: built programs by version, and one folder for each running or finished
 * lab. Deleting it all is always safe while no lab runs.
 */
export function labHome(): string {
  const cache = process.env['XDG_CACHE_HOME'];
  return join(cache === undefined || cache === '' ? join(homedir(), '.cache') : cache, 'plimsoll-lab');
}

/** Programs and definitions, one folder for each name and version. */
export function programsFolder(): string {
  return join(labHome(), 'programs');
}

/** One folder for each lab: state, certificates, logs, data. */
export function labsFolder(): string {
  return join(labHome(), 'labs');
}
