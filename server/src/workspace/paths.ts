/**
 * Paths of files, as far as their names tell anything: always with `/`, never touching a disk. A uri without a scheme
 * (a path from the command line) is taken as it is.
 */

/** The path of a uri, decoded; of a malformed one, as it stands. */
export function pathOf(uri: string): string {
  const path = uri.replace(/^[a-z][a-z0-9+.-]+:(\/\/[^/]*)?/i, '').replaceAll('\\', '/');
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Everything before the last `/`; empty for a bare name. */
export function directoryOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '' : path.slice(0, at);
}

export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A path relative to a directory, with `.` and `..` resolved. */
export function join(directory: string, relative: string): string {
  const parts = relative.startsWith('/') ? [] : directory.split('/');
  for (const part of relative.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return (relative.startsWith('/') ? '/' : '') + parts.join('/');
}

/** The directory itself and all above it, nearest first; a bare relative path ends with the empty one. */
export function* upwards(directory: string): Generator<string> {
  let at = directory;
  for (;;) {
    yield at;
    if (at === '') return;
    at = directoryOf(at);
  }
}
