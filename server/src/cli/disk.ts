import {
  accessSync,
  chownSync,
  constants,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { whyUnreadable } from '../files/errors';
import { decodeText } from '../files/text';

function pathOf(pathOrUri: string): string {
  return pathOrUri.startsWith('file:') ? fileURLToPath(pathOrUri) : pathOrUri;
}

/** `failed`: the system refused; else the file was read, but is no text. */
export type TextRead = { readonly text: string } | { readonly problem: string; readonly failed: boolean };

export function readText(pathOrUri: string): TextRead {
  let bytes: Buffer;
  try {
    bytes = readFileSync(pathOf(pathOrUri));
  } catch (error) {
    return { problem: whyUnreadable(error), failed: true };
  }
  const decoded = decodeText(bytes);
  return 'text' in decoded ? decoded : { problem: decoded.problem, failed: false };
}

/**
 * Replaces the text of a file in one step, with its mode and owner kept: whoever reads it meets the old text or the new
 * one. A link stays a link; its target is replaced. A file with several names is written in place, so that it stays one.
 * The result says what went wrong, if anything did.
 */
export function writeText(uri: string, text: string, what = 'the fixes were'): string | undefined {
  let temporary: string | undefined;
  try {
    const path = realpathSync(pathOf(uri));
    const { mode, nlink, uid, gid } = statSync(path);
    // A file is replaced by way of its folder, which asks nobody whether this one may be written.
    accessSync(path, constants.W_OK);
    if (nlink > 1) {
      // Its other names would keep the old text.
      writeFileSync(path, text);
      return undefined;
    }
    temporary = `${path}.plimsoll-${process.pid}`;
    writeFileSync(temporary, text, { mode, flag: 'wx' });
    if (process.getuid?.() === 0) chownSync(temporary, uid, gid);
    renameSync(temporary, path);
    return undefined;
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    return `${what} not written: ${reason}`;
  }
}
