import { parseFile } from '../yaml/parse';
import { entryOf, isNull } from '../yaml/node';
import type { ScalarNode, YamlNode } from '../yaml/node';

/**
 * Where the files are that `extends` names. The core reads nothing: {@link gatherBases} says which files it wants, one
 * after the other, and whoever drives it reads them in its own way.
 */

/** What an `extends` leads to, or in words for the user why it leads nowhere. */
export type BaseFile =
  | { readonly uri: string; readonly text: string }
  | { readonly problem: string; readonly suggestion?: string };

/** By {@link baseKey}. Plain data: it can be sent to another thread. */
export type Bases = ReadonlyMap<string, BaseFile>;

export const noBases: Bases = new Map();

/** @param from the URI of the configuration in which the name stands. */
export function baseKey(from: string, name: string): string {
  return `${from}\n${name}`;
}

/** The text of a file; `undefined` when there is none, or why it cannot be read. */
export type BaseText = string | { readonly problem: string } | undefined;

/** The items of `extends`: one text, or a list of them. What is no text is left to the reader of the configuration. */
export function extendsItems(root: YamlNode | undefined): readonly ScalarNode[] {
  const node = entryOf(root, 'extends')?.value;
  if (node === undefined) return [];
  const items: readonly YamlNode[] = node.kind === 'sequence' ? node.items : [node];
  return items.filter(
    (item): item is ScalarNode => item.kind === 'scalar' && !isNull(item) && item.text.trim() !== '',
  );
}

function namesIn(uri: string, text: string): readonly string[] {
  if (!text.includes('extends')) return [];
  return extendsItems(parseFile(uri, text).documents[0]?.document.root).map((item) => item.text);
}

/**
 * Finds all that configuration files extend, and what that extends in turn. It yields the URI of a file that it wants
 * to see, and is given its text.
 *
 * @param configs the text of each configuration file by URI.
 */
export function* gatherBases(
  configs: Iterable<readonly [string, string]>,
): Generator<string, Bases, BaseText> {
  const found = new Map<string, BaseFile>();
  const waiting: { readonly from: string; readonly name: string }[] = [];
  const add = (from: string, text: string): void => {
    for (const name of namesIn(from, text)) waiting.push({ from, name });
  };
  for (const [uri, text] of configs) add(uri, text);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const key = baseKey(next.from, next.name);
    if (found.has(key)) continue;
    const base = yield* locate(next.from, next.name);
    found.set(key, base);
    if ('text' in base) add(base.uri, base.text);
  }
  return found;
}

type Locating = Generator<string, BaseFile, BaseText>;

function* locate(from: string, name: string): Locating {
  const folder = folderOf(from);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) {
    return {
      problem: `"${name}" is an address; a file or an installed package is read, and nothing is fetched`,
    };
  }
  if (/^(\.{1,2}([\\/]|$)|[\\/]|[a-z]:[\\/])/i.test(name))
    return yield* locateFile(folder, name, `"${name}"`);
  return yield* locatePackage(folder, name);
}

function* locateFile(folder: string, name: string, shown: string): Locating {
  const uri = resolveUri(folder, name);
  const text = yield uri;
  if (text === undefined) return { problem: `${shown} does not exist, or is no file` };
  return typeof text === 'string' ? { uri, text } : { problem: `${shown} cannot be read: ${text.problem}` };
}

/** File names that a package is asked for when none is given. */
const packageFiles = ['plimsoll.yaml', '.plimsoll.yaml'];

function* locatePackage(folder: string, name: string): Locating {
  const match = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:\/(.+))?$/.exec(name);
  const [, packageName, inside] = match ?? [];
  if (packageName === undefined) {
    return { problem: `"${name}" is neither a path that starts with ./ or ../ nor the name of a package` };
  }
  const wanted = inside === undefined ? packageFiles : [inside];
  for (const above of foldersUp(folder)) {
    const root = resolveUri(above, `node_modules/${packageName}/`);
    for (const file of wanted) {
      const uri = resolveUri(root, file);
      const text = yield uri;
      if (typeof text === 'string') return { uri, text };
      if (text !== undefined) return { problem: `"${name}" cannot be read: ${text.problem}` };
    }
    if ((yield resolveUri(root, 'package.json')) !== undefined) {
      return { problem: `The package "${packageName}" is installed, but has no ${wanted.join(' or ')}` };
    }
  }
  // Whoever means a file beside this one tends to leave the `./` out.
  if ((yield resolveUri(folder, name)) !== undefined) {
    return {
      problem: `"${name}" is the name of a package; a file is written "./${name}"`,
      suggestion: `./${name}`,
    };
  }
  return {
    problem: `The package "${packageName}" is in no node_modules folder here or above; install it (nothing is fetched)`,
  };
}

/** Everything up to and including the last slash. */
function folderOf(uri: string): string {
  return uri.slice(0, uri.lastIndexOf('/') + 1);
}

/** The folder and all above it, nearest first. */
function* foldersUp(folder: string): Generator<string> {
  for (let at = folder; ;) {
    yield at;
    const parent = folderOf(at.slice(0, -1));
    if (parent === '' || parent === at || parent.endsWith('://')) return;
    at = parent;
  }
}

function encode(path: string): string {
  return path
    .replaceAll('\\', '/')
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/');
}

/** The URI of a path as written, seen from a folder (a URI with a slash at its end). */
function resolveUri(folder: string, name: string): string {
  const drive = /^([a-z]:)[\\/](.*)$/i.exec(name);
  if (drive !== null) return `file:///${drive[1] ?? ''}/${encode(drive[2] ?? '')}`;
  const path = encode(name);
  const [, authority = '', ownPath = ''] = /^([a-z][a-z0-9+.-]+:\/\/[^/]*)?(.*)$/i.exec(folder) ?? [];
  const parts = path.startsWith('/') ? [''] : ownPath.replace(/\/$/, '').split('/');
  const isFolder = path.endsWith('/');
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 1) parts.pop();
  }
  return `${authority}${parts.join('/')}${isFolder ? '/' : ''}`;
}
