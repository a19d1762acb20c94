import { statSync, type Stats } from 'node:fs';

/**
 * What stands at a path, links followed; `undefined` where nothing can be reached: no entry, links in a loop, a folder
 * that may not be entered.
 */
export function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
