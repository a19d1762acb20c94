import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from '../yaml/document';
import { parseFile } from '../yaml/parse';
import { buildOrder } from './read-kustomization';
import type { ReadSource, RenderUnit } from './types';

/** Source files as they are on disk, which is what programs read too. */
export interface DiskSources {
  readonly read: ReadSource;
  /** What was read, by URI. */
  texts(): ReadonlyMap<string, string>;
}

export function diskSources(uriOf: (path: string) => string): DiskSources {
  const files = new Map<string, SourceFile | undefined>();
  return {
    read(path) {
      if (!files.has(path)) files.set(path, readFile(path, uriOf(path)));
      return files.get(path);
    },
    texts: () =>
      new Map(
        [...files.values()].flatMap((file) => (file === undefined ? [] : [[file.uri, file.text] as const])),
      ),
  };
}

function readFile(path: string, uri: string): SourceFile | undefined {
  try {
    // Editors show a file without its byte order mark, and positions are the editor's.
    return existsSync(path) ? parseFile(uri, readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) : undefined;
  } catch {
    return undefined;
  }
}

/** Changes when a file that a unit is made of does. */
export function stampOf(unit: RenderUnit, read: ReadSource): string {
  const paths =
    unit.kind === 'helm'
      ? below(unit.directory)
      : buildOrder(unit.directory, read).flatMap(({ path, kustomization }) => [
          path,
          ...kustomization.resources,
          ...kustomization.patches,
        ]);
  return paths
    .map((path) => {
      const info = existsSync(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
      return `${path} ${info?.mtimeMs ?? ''} ${info?.size ?? ''}`;
    })
    .join('\n');
}

function below(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return [];
  }
}
