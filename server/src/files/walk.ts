import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { noGitIgnore } from './gitignore';
import type { GitIgnore } from './gitignore';
import { configName, isManifestName, skippedFolders } from './text';

export interface WalkOptions {
  readonly gitignore: boolean;
}

export interface WalkResult {
  /** Absolute paths of manifests, in the order of their names. */
  readonly manifests: readonly string[];
  /** Absolute paths of the configuration files met on the way. */
  readonly configs: readonly string[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'no permission to read it';
    case 'ENOENT':
      return 'it does not exist';
    case 'ELOOP':
      return 'its symbolic links form a loop';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** In words for the user, why a path cannot be read. */
export const whyUnreadable = reasonOf;

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The rules of the `.gitignore` files above a folder, up to the root of its repository; none outside of one. */
export function gitIgnoreAbove(folder: string): GitIgnore {
  const above: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    let isRoot = false;
    try {
      statSync(join(at, '.git'));
      isRoot = true;
    } catch {
      // Not the root of a repository.
    }
    if (isRoot) break;
    const parent = dirname(at);
    if (parent === at) return noGitIgnore;
    above.push(parent);
  }
  let rules = noGitIgnore;
  for (const parent of above.reverse()) {
    const text = readIfThere(join(parent, '.gitignore'));
    if (text !== undefined) rules = rules.within(parent, text);
  }
  return rules;
}

/** Finds the manifests below a folder. Links to folders are followed once; a loop ends where it was entered. */
export function walk(root: string, options: WalkOptions): WalkResult {
  const manifests: string[] = [];
  const configs: string[] = [];
  const problems: { path: string; message: string }[] = [];
  const entered = new Set<string>();

  const visit = (folder: string, outer: GitIgnore): void => {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      problems.push({ path: folder, message: reasonOf(error) });
      return;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    let rules = outer;
    if (options.gitignore && entries.some((entry) => entry.name === '.gitignore')) {
      const text = readIfThere(join(folder, '.gitignore'));
      if (text !== undefined) rules = outer.within(folder, text);
    }
    for (const entry of entries) {
      const path = `${folder === '/' ? '' : folder}/${entry.name}`;
      let isFolder = entry.isDirectory();
      let isFile = entry.isFile();
      if (entry.isSymbolicLink()) {
        try {
          const target = statSync(path);
          isFolder = target.isDirectory();
          isFile = target.isFile();
          if (isFolder) {
            const real = realpathSync(path);
            if (entered.has(real) || path.startsWith(`${real}/`)) continue;
            entered.add(real);
          }
        } catch (error) {
          if (isManifestName(entry.name)) problems.push({ path, message: reasonOf(error) });
          continue;
        }
      }
      if (isFolder) {
        if (!skippedFolders.has(entry.name) && !rules.ignores(path, true)) visit(path, rules);
      } else if (isFile && isManifestName(entry.name) && !rules.ignores(path, false)) {
        if (entry.name === configName) configs.push(path);
        else manifests.push(path);
      }
    }
  };

  visit(root, options.gitignore ? gitIgnoreAbove(root) : noGitIgnore);
  return { manifests, configs, problems };
}
