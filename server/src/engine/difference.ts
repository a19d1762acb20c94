import type { FileEdit } from './finding';

/** One replacement that turns a text into another. */
export function difference(before: string, after: string): FileEdit {
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  // Neither half of a surrogate pair, nor of a CRLF, may be left alone.
  if (start > 0 && /[\uD800-\uDBFF\r]/.test(before[start - 1] ?? '')) start--;
  if (tail > 0 && /[\uDC00-\uDFFF\n]/.test(before[before.length - tail] ?? '')) tail--;
  return { start, end: before.length - tail, newText: after.slice(start, after.length - tail) };
}
