import { isUtf8 } from 'node:buffer';

export type DecodedText = { readonly text: string } | { readonly problem: string };

/**
 * The text of a file's bytes, or in words for the user why there is none. A byte order mark stays in the text, so
 * that offsets are those of the file.
 */
export function decodeText(bytes: Buffer): DecodedText {
  if (
    bytes.length >= 2 &&
    ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
  ) {
    return { problem: 'is UTF-16; save it as UTF-8' };
  }
  if (bytes.includes(0)) return { problem: 'is a binary file' };
  if (!isUtf8(bytes)) return { problem: 'is not UTF-8; save it as UTF-8' };
  return { text: bytes.toString('utf8') };
}

/**
 * Names of files that may hold manifests. JSON is YAML too, but only some JSON files are manifests. `.#name` is the lock
 * of an editor, `._name` what macOS keeps beside a file.
 */
export function isManifestName(name: string): boolean {
  return /\.(ya?ml|ya?ml\.tpl)$/i.test(name) && !/^\.[#_]/.test(name);
}

/** The configuration file's name, in any folder. */
export const configName = '.plimsoll.yaml';

/** Folders that never hold the author's own manifests. */
export const skippedFolders: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '.terraform',
]);
