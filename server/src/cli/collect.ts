import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { whyUnreadable } from '../files/errors';
import { statIfThere } from '../files/stat';
import { configName } from '../files/text';
import { walk } from '../files/walk';
import { UsageError } from './arguments';

export interface Collected {
  /** Absolute paths of the files to report on. */
  readonly files: readonly string[];
  /** Files beside single files that were asked for: an autoscaler's target is often in the next file. */
  readonly context: readonly string[];
  /** Configuration files in the folders that were asked for; those below a single file's folder are not its own. */
  readonly configs: readonly string[];
  /** Folders whose parents may hold a configuration. */
  readonly roots: readonly string[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

/**
 * Finds what the arguments name. A folder stands for its manifests; a file for itself, whatever its name, and is
 * seen together with the manifests in its folder.
 *
 * Throws {@link UsageError} for an empty path.
 *
 * @param alone files that are not read from disk (standard input), for their surroundings only.
 */
export function collect(
  paths: readonly string[],
  alone: readonly string[],
  options: { readonly cwd: string; readonly gitignore: boolean },
): Collected {
  const files = new Set<string>();
  const around = new Set<string>();
  const configs = new Set<string>();
  const roots = new Set<string>();
  const problems: { path: string; message: string }[] = [];
  for (const path of alone.map((each) => resolve(options.cwd, each))) {
    around.add(dirname(path));
    roots.add(dirname(path));
  }
  for (const argument of paths) {
    // `"$FOLDER"` without a value: not the current folder, whose files a fix would change.
    if (argument === '') throw new UsageError('one of the paths is empty; the current folder is written .');
    const path = resolve(options.cwd, argument);
    let isFolder: boolean;
    try {
      isFolder = statSync(path).isDirectory();
    } catch (error) {
      problems.push({ path, message: whyUnreadable(error) });
      continue;
    }
    if (isFolder) {
      const found = walk(path, options);
      for (const file of found.manifests) files.add(file);
      for (const config of found.configs) configs.add(config);
      problems.push(...found.problems);
      roots.add(path);
    } else {
      files.add(path);
      around.add(dirname(path));
      roots.add(dirname(path));
    }
  }
  const context = new Set<string>();
  for (const folder of around) {
    if (!existsSync(folder)) continue;
    const found = walk(folder, { ...options, shallow: true });
    for (const file of found.manifests) if (!files.has(file) && !alone.includes(file)) context.add(file);
  }
  return { files: [...files], context: [...context], configs: [...configs], roots: [...roots], problems };
}

/** The configuration files in folders and above them, up to the root of the file system. */
export function configsAbove(folders: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const folder of folders) {
    for (let at = folder; ; at = dirname(at)) {
      const path = join(at, configName);
      if (statIfThere(path)?.isFile() === true) found.add(path);
      if (dirname(at) === at) break;
    }
  }
  return [...found];
}
