import type { Span } from './node';

/** Text whose brackets and quotes no longer span lines. */
export interface Joined {
  readonly text: string;
  /** The comments that stood in it. */
  readonly comments: readonly Span[];
}

/**
 * kubectl does not care how the further lines of brackets and quotes are indented; the parser wants them indented more
 * than their key. This puts them on one line, character for character: line breaks become spaces and so do comments,
 * which are returned. `undefined` when nothing spans lines, or what does is not closed.
 */
export function joinLines(text: string, starts: readonly number[]): Joined | undefined {
  const comments: Span[] = [];
  let joined = '';
  let done = 0;
  for (const start of [...starts].sort((a, b) => a - b)) {
    if (start < done) continue;
    const inner: Span[] = [];
    const end = endOfToken(text, start, inner);
    if (end === undefined || !text.slice(start, end).includes('\n')) continue;
    joined += text.slice(done, start);
    done = start;
    for (const comment of inner) {
      joined += oneLine(text.slice(done, comment.start)) + ' '.repeat(comment.end - comment.start);
      comments.push(comment);
      done = comment.end;
    }
    joined += oneLine(text.slice(done, end));
    done = end;
  }
  return done === 0 ? undefined : { text: joined + text.slice(done), comments };
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}

/** Behind the bracket or quote that closes the one at `start`; comments on the way are added to the list. */
function endOfToken(text: string, start: number, comments: Span[]): number | undefined {
  const closings: string[] = [];
  let at = start;
  do {
    const character = text[at];
    if (character === undefined) return undefined;
    if ((character === '"' || character === "'") && isTokenStart(text, at)) {
      const end = endOfQuoted(text, at, character);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    if (character === '[') closings.push(']');
    else if (character === '{') closings.push('}');
    else if (character === ']' || character === '}') {
      if (closings.pop() !== character) return undefined;
    } else if (character === '#' && /\s/.test(text[at - 1] ?? '')) {
      const line = text.indexOf('\n', at);
      const end = line === -1 ? text.length : line;
      comments.push({ start: at, end: at + text.slice(at, end).trimEnd().length });
      at = end;
      continue;
    }
    at++;
  } while (closings.length > 0);
  return at;
}

/** A quote within a plain scalar, as in `it's`, opens nothing. */
function isTokenStart(text: string, at: number): boolean {
  return /^$|[\s,[\]{}:]/.test(text[at - 1] ?? '');
}

function endOfQuoted(text: string, start: number, quote: string): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++;
    else if (text[at] === quote) {
      if (quote === '"' || text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return undefined;
}
