import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import type { Clock, EntryKind, FileSystem } from './environment';

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: Kinds): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

export const nodeFileSystem: FileSystem = {
  async readFolder(path) {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
  async info(path) {
    const found = await stat(path);
    return { kind: found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other', size: found.size };
  },
  readFile: (path) => readFile(path),
  async realPath(path) {
    return (await realpath(path)).replace(/\\/g, '/');
  },
};

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};
