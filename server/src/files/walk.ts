import { readdirSync, readFileSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { whyUnreadable } from './errors';
import { noGitIgnore } from './gitignore';
import type { GitIgnore } from './gitignore';
import { statIfThere } from './stat';
import { configName, isManifestName, skippedFolders } from './text';

export interface WalkResult {
  /** Absolute paths of manifests, in the order of their names. */
  readonly manifests: readonly string[];
  /** Absolute paths of the configuration files met on the way. */
  readonly configs: readonly string[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The rules of the `.gitignore` files above a folder, up to the root of its repository; none outside of one. */
function gitIgnoreAbove(folder: string): GitIgnore {
  const above: string[] = [];
  for (let at = folder; statIfThere(join(at, '.git')) === undefined;) {
    const parent = dirname(at);
    if (parent === at) return noGitIgnore;
    above.unshift(parent);
    at = parent;
  }
  let rules = noGitIgnore;
  for (const parent of above) {
    const text = readIfThere(join(parent, '.gitignore'));
    if (text !== undefined) rules = rules.within(parent, text);
  }
  return rules;
}

/**
 * Finds the manifests below a folder, at once. Links to folders are not entered, as git does not enter them, so no
 * loop can be walked and nothing outside is read; links to files are read.
 */
export function walk(
  root: string,
  options: {
    readonly gitignore: boolean;
    /** Only the folder itself, not those in it. */ readonly shallow?: boolean;
  },
): WalkResult {
  const manifests: string[] = [];
  const configs: string[] = [];
  const problems: { path: string; message: string }[] = [];

  const visit = (folder: string, outer: GitIgnore): void => {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      problems.push({ path: folder, message: whyUnreadable(error) });
      return;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    let rules = outer;
    if (options.gitignore && entries.some((entry) => entry.name === '.gitignore' && entry.isFile())) {
      const text = readIfThere(join(folder, '.gitignore'));
      if (text !== undefined) rules = outer.within(folder, text);
    }
    for (const entry of entries) {
      const path = `${folder === '/' ? '' : folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (options.shallow === true) continue;
        if (!skippedFolders.has(entry.name) && !rules.ignores(path, true)) visit(path, rules);
      } else if (isManifestName(entry.name) && !rules.ignores(path, false)) {
        if (entry.isSymbolicLink() && statIfThere(path)?.isFile() !== true) {
          problems.push({ path, message: 'its symbolic link leads to no file' });
        } else if (entry.isFile() || entry.isSymbolicLink()) {
          (entry.name === configName ? configs : manifests).push(path);
        }
      }
    }
  };

  visit(root, options.gitignore ? gitIgnoreAbove(root) : noGitIgnore);
  return { manifests, configs, problems };
}
