import { whyUnreadable } from '../files/errors';
import { noGitIgnore } from '../files/gitignore';
import type { GitIgnore } from '../files/gitignore';
import { decodeText, isManifestName, skippedFolders } from '../files/text';
import type { FileSystem } from './environment';
import { baseName, isWithin, joinPath, parentFolder } from './uris';

/** A manifest, a configuration file, or a place that cannot be looked into. */
export type Found =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'problem'; readonly path: string; readonly reason: string };

/**
 * What a workspace folder leaves out: the `.gitignore` files in it, those of its repository above it, and folders that
 * never hold the author's manifests. It learns a folder's rules when the folder is walked, and answers later, when a
 * file changes, without reading anything.
 */
export interface FolderRules {
  readonly root: string;
  /** The rules that apply to a folder that is below the root, or the root itself, before its own are added. */
  around(folder: string): GitIgnore;
  learn(folder: string, rules: GitIgnore): void;
  /** For a path below the root: whether it, or a folder above it, is left out. */
  leavesOut(path: string, isFolder: boolean): boolean;
}

export function createFolderRules(root: string, above: GitIgnore): FolderRules {
  const known = new Map<string, GitIgnore>([[root, above]]);
  const inside = (folder: string): GitIgnore => {
    for (let at: string | undefined = folder; at !== undefined && isWithin(at, root); at = parentFolder(at)) {
      const rules = known.get(at);
      if (rules !== undefined) return rules;
    }
    return above;
  };
  return {
    root,
    around(folder) {
      const parent = folder === root ? undefined : parentFolder(folder);
      return parent === undefined ? above : inside(parent);
    },
    learn: (folder, rules) => void known.set(folder, rules),
    leavesOut(path, isFolder) {
      for (let at = path; at !== root;) {
        const parent = parentFolder(at);
        if (parent === undefined) break;
        const folder = at !== path || isFolder;
        if (folder && skippedFolders.has(baseName(at))) return true;
        if (inside(parent).ignores(at, folder)) return true;
        at = parent;
      }
      return false;
    },
  };
}

async function gitIgnoreOf(fs: FileSystem, folder: string): Promise<string | undefined> {
  try {
    const decoded = decodeText(Buffer.from(await fs.readFile(joinPath(folder, '.gitignore'))));
    return 'text' in decoded ? decoded.text : undefined;
  } catch {
    return undefined;
  }
}

/** The rules of the `.gitignore` files above a folder, down from the root of its repository; none outside of one. */
export async function gitIgnoreAbove(fs: FileSystem, folder: string): Promise<GitIgnore> {
  const above: string[] = [];
  let at = folder;
  while (!(await isRepository(fs, at))) {
    const parent = parentFolder(at);
    if (parent === undefined) return noGitIgnore;
    above.unshift(parent);
    at = parent;
  }
  let rules = noGitIgnore;
  for (const parent of above) {
    const text = await gitIgnoreOf(fs, parent);
    if (text !== undefined) rules = rules.within(parent, text);
  }
  return rules;
}

async function isRepository(fs: FileSystem, folder: string): Promise<boolean> {
  try {
    await fs.info(joinPath(folder, '.git'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Walks a folder that is the root of the rules or below it. Links to folders are not entered, as git does not enter
 * them, so no loop can be walked and nothing outside is read; a link to a file counts unless its target is in a
 * workspace folder, where it is met under its own name.
 */
export async function* walkFolder(
  fs: FileSystem,
  start: string,
  rules: FolderRules,
  roots: readonly string[],
): AsyncGenerator<Found> {
  const waiting = [start];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    let entries;
    try {
      entries = await fs.readFolder(folder);
    } catch (error) {
      yield { kind: 'problem', path: folder, reason: whyUnreadable(error) };
      continue;
    }
    let inside = rules.around(folder);
    if (entries.some(({ name, kind }) => name === '.gitignore' && kind === 'file')) {
      const text = await gitIgnoreOf(fs, folder);
      if (text !== undefined) inside = inside.within(folder, text);
    }
    rules.learn(folder, inside);
    const sorted = [...entries].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    const folders: string[] = [];
    for (const entry of sorted) {
      const path = joinPath(folder, entry.name);
      switch (entry.kind) {
        case 'folder':
          if (!skippedFolders.has(entry.name) && !inside.ignores(path, true)) folders.push(path);
          break;
        case 'file':
          if (isManifestName(entry.name) && !inside.ignores(path, false)) yield { kind: 'file', path };
          break;
        case 'link':
          if (isManifestName(entry.name) && !inside.ignores(path, false)) {
            const found = await followLink(fs, path, roots);
            if (found !== undefined) yield found;
          }
          break;
        case 'other':
          break;
      }
    }
    waiting.push(...folders.reverse());
  }
}

async function followLink(
  fs: FileSystem,
  path: string,
  roots: readonly string[],
): Promise<Found | undefined> {
  try {
    if ((await fs.info(path)).kind !== 'file') return undefined;
    const target = await fs.realPath(path);
    return roots.some((root) => isWithin(target, root)) ? undefined : { kind: 'file', path };
  } catch (error) {
    return { kind: 'problem', path, reason: whyUnreadable(error) };
  }
}
