import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A path (or `file:` URI) as it is shown: relative to the working directory, with forward slashes. */
export function displayPath(pathOrUri: string, cwd: string): string {
  const path = pathOrUri.startsWith('file:') ? fileURLToPath(pathOrUri) : pathOrUri;
  const below = relative(cwd, path);
  if (below === '') return '.';
  const shown = below.startsWith('..') || isAbsolute(below) ? path : below;
  return sep === '/' ? shown : shown.split(sep).join('/');
}
