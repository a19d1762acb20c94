import { URI } from 'vscode-uri';

/**
 * One spelling for each resource. Clients write the same file as `file:///c%3A/x`, `file:///C:/x` and so on; maps are
 * keyed by this form, and answers about an open document use the client's own.
 */
export function uriKey(uri: string): string {
  try {
    return URI.parse(uri).toString();
  } catch {
    // Not a URI at all: it can still be a name that the client and the server share.
    return uri;
  }
}

/** The absolute path with forward slashes of a `file:` URI; nothing for resources that are not on this disk. */
export function pathOfUri(uri: string): string | undefined {
  try {
    const parsed = URI.parse(uri);
    return parsed.scheme === 'file' ? parsed.fsPath.replace(/\\/g, '/') : undefined;
  } catch {
    return undefined;
  }
}

export function uriOfPath(path: string): string {
  return URI.file(path).toString();
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

export function parentFolder(path: string): string | undefined {
  const slash = path.lastIndexOf('/');
  if (slash < 0 || path === '/') return undefined;
  if (slash === 0) return '/';
  const parent = path.slice(0, slash);
  // `C:` alone is the drive's current folder, not its root.
  return /^[A-Za-z]:$/.test(parent) ? (path === `${parent}/` ? undefined : `${parent}/`) : parent;
}

export function joinPath(folder: string, name: string): string {
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
