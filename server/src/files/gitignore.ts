import ignore from 'ignore';
import type { Ignore } from 'ignore';

/**
 * The `.gitignore` files that apply in a folder, from the repository's root down. A deeper file is asked first and
 * may take back what a higher one said, as git does.
 */
export interface GitIgnore {
  /** Adds the text of the `.gitignore` of a folder (absolute path, forward slashes, no slash at the end). */
  within(folder: string, text: string): GitIgnore;
  /** Whether git would leave this absolute path out. The folders above it are taken to be not left out. */
  ignores(path: string, isFolder: boolean): boolean;
}

interface Layer {
  readonly folder: string;
  readonly rules: Ignore;
}

function fromLayers(layers: readonly Layer[]): GitIgnore {
  return {
    within(folder, text) {
      return fromLayers([{ folder, rules: ignore().add(text) }, ...layers]);
    },
    ignores(path, isFolder) {
      for (const { folder, rules } of layers) {
        const relative = path.slice(folder.length + 1);
        if (relative === '') continue;
        const { ignored, unignored } = rules.test(isFolder ? `${relative}/` : relative);
        if (ignored) return true;
        if (unignored) return false;
      }
      return false;
    },
  };
}

export const noGitIgnore: GitIgnore = fromLayers([]);
