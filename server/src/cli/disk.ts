import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { realpathSync } from 'node:fs';
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
 * Replaces the text of a file in one step, with its mode kept: whoever reads it meets the old text or the new one.
 * A link stays a link; its target is replaced. The result says what went wrong, if anything did.
 */
export function writeText(uri: string, text: string, what = 'the fixes were'): string | undefined {
  let temporary: string | undefined;
  try {
    const path = realpathSync(pathOf(uri));
    const { mode } = statSync(path);
    temporary = `${path}.plimsoll-${process.pid}`;
    writeFileSync(temporary, text, { mode, flag: 'wx' });
    renameSync(temporary, path);
    return undefined;
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    return `${what} not written: ${reason}`;
  }
}
