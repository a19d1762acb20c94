import type { EntryKind, FileSystem, FolderEntry } from '../../../server/src/lsp/environment';

type Node =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' | 'other' };

/** A disk in memory that can refuse, and can keep the server waiting. */
export interface MemoryFileSystem extends FileSystem {
  write(path: string, content: string | Uint8Array): void;
  link(path: string, target: string): void;
  /** A pipe, a socket or a device. */
  special(path: string): void;
  remove(path: string): void;
  /** Every operation on the path fails with a system error; `undefined` heals it. */
  fail(path: string, code: string | undefined): void;
  /** Reading the file's bytes does not end before the function that is returned is called. */
  hold(path: string): () => void;
  /** Paths whose bytes were read, in order. */
  readonly reads: string[];
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

export function memoryFileSystem(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): MemoryFileSystem {
  const nodes = new Map<string, Node>([
    ['/', { kind: 'folder' }],
    ['/ws', { kind: 'folder' }],
  ]);
  const failures = new Map<string, string>();
  const held = new Map<string, Promise<void>>();
  const reads: string[] = [];

  const put = (path: string, node: Node): void => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (!nodes.has(folder)) nodes.set(folder, { kind: 'folder' });
    }
    nodes.set(path, node);
  };
  const check = (path: string): void => {
    const code = failures.get(path);
    if (code !== undefined) throw systemError(code, path);
  };
  const resolve = (path: string, depth = 0): { readonly path: string; readonly node: Node } => {
    if (depth > 40) throw systemError('ELOOP', path);
    const parts = path.split('/').filter((part) => part !== '');
    let at = '';
    for (const [index, part] of parts.entries()) {
      at = `${at}/${part}`;
      const node = nodes.get(at);
      if (node === undefined) throw systemError('ENOENT', path);
      if (node.kind === 'link') {
        const rest = parts.slice(index + 1);
        return resolve([node.target, ...rest].join('/'), depth + 1);
      }
    }
    const node = nodes.get(at === '' ? '/' : at);
    if (node === undefined) throw systemError('ENOENT', path);
    return { path: at === '' ? '/' : at, node };
  };
  const kindOf = (node: Node): EntryKind => node.kind;

  const fs: MemoryFileSystem = {
    reads,
    write: (path, content) =>
      put(path, { kind: 'file', bytes: typeof content === 'string' ? Buffer.from(content) : content }),
    link: (path, target) => put(path, { kind: 'link', target }),
    special: (path) => put(path, { kind: 'other' }),
    remove(path) {
      for (const each of [...nodes.keys()]) {
        if (each === path || each.startsWith(`${path}/`)) nodes.delete(each);
      }
    },
    fail(path, code) {
      if (code === undefined) failures.delete(path);
      else failures.set(path, code);
    },
    hold(path) {
      let release = (): void => undefined;
      held.set(path, new Promise((done) => (release = done)));
      return () => {
        held.delete(path);
        release();
      };
    },
    async readFolder(path) {
      check(path);
      const found = resolve(path);
      if (found.node.kind !== 'folder') throw systemError('ENOTDIR', path);
      const prefix = found.path === '/' ? '/' : `${found.path}/`;
      const entries: FolderEntry[] = [];
      for (const [each, node] of nodes) {
        const name = each.slice(prefix.length);
        if (each.startsWith(prefix) && name !== '' && !name.includes('/')) {
          entries.push({ name, kind: kindOf(node) });
        }
      }
      return entries;
    },
    async info(path) {
      check(path);
      const { node } = resolve(path);
      if (node.kind === 'link') throw systemError('ELOOP', path);
      return { kind: node.kind, size: node.kind === 'file' ? node.bytes.length : 0 };
    },
    async readFile(path) {
      check(path);
      await held.get(path);
      reads.push(path);
      const { node } = resolve(path);
      if (node.kind !== 'file') throw systemError('EISDIR', path);
      return node.bytes;
    },
    async realPath(path) {
      check(path);
      return resolve(path).path;
    },
  };
  for (const [path, content] of Object.entries(files)) fs.write(path, content);
  return fs;
}
