import type { Span } from './node';

/** A document's slice of a file. */
export interface Slice extends Span {
  /** It starts on the line of its `---`, right behind it. */
  readonly inline: boolean;
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const HASH = 35;
const PERCENT = 37;
const DASH = 45;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Splits a file at its document markers. `---` and `...` at the start of a line end a document wherever they stand,
 * in a block scalar too. Comments and directives above the first marker of a file, or after `...`, belong to the
 * document that the marker starts, as YAML has it; slices of nothing but white space are left out.
 */
export function splitDocuments(file: string): Slice[] {
  // A lone carriage return is a line break to kubectl.
  const text = file.includes('\r') ? file.replace(/\r(?!\n)/g, '\n') : file;
  const slices: Slice[] = [];
  let start = afterByteOrderMark(text, 0);
  // Whether the document under way has had its `---`.
  let explicit = false;
  let inline = false;
  for (const marker of markers(text, start)) {
    const body = afterMarker(text, marker + 3);
    if (text.charCodeAt(marker) !== DASH) {
      push(slices, text, start, marker, inline);
      explicit = false;
    } else {
      if (!explicit && isHead(text, start, marker)) {
        explicit = true;
        if (hasContent(text, start, marker)) continue;
      } else {
        push(slices, text, start, marker, inline);
      }
      explicit = true;
    }
    start = body;
    inline = body === marker + 3 && text.charCodeAt(marker) === DASH;
  }
  push(slices, text, start, text.length, inline);
  return slices;
}

/** Offsets of `---` and `...` at the start of a line and followed by white space, in order. */
function markers(text: string, start: number): number[] {
  const found: number[] = [];
  const comments = text.includes('{{') ? templateComments(text) : [];
  for (const marker of ['---', '...']) {
    if (text.startsWith(marker, start) && endsWord(text, start + 3)) found.push(start);
    const line = `\n${marker}`;
    for (let at = text.indexOf(line, start); at !== -1; at = text.indexOf(line, at + 1)) {
      if (endsWord(text, at + 4) && !comments.some((comment) => comment.start <= at && at < comment.end)) {
        found.push(at + 1);
      }
    }
  }
  return found.sort((a, b) => a - b);
}

/** Template comments of several lines, whose lines are no YAML: a `---` in one separates nothing. */
function templateComments(text: string): Span[] {
  const found: Span[] = [];
  const opening = /\{\{-?\s*\/\*/g;
  const closing = /\*\/\s*-?\}\}/g;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    closing.lastIndex = opening.lastIndex;
    if (closing.exec(text) === null) break;
    const end = closing.lastIndex;
    found.push({ start: match.index, end });
    opening.lastIndex = end;
  }
  return found;
}

function endsWord(text: string, at: number): boolean {
  return at >= text.length || isWhiteSpace(text.charCodeAt(at));
}

/** Where a document starts after its marker: on the next line, or on the marker's own when more than space follows. */
function afterMarker(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === LF) return afterByteOrderMark(text, at + 1);
    if (!isWhiteSpace(code)) return from;
    at++;
  }
  return at;
}

function afterByteOrderMark(text: string, at: number): number {
  return text.charCodeAt(at) === BYTE_ORDER_MARK ? at + 1 : at;
}

function push(slices: Slice[], text: string, start: number, end: number, inline: boolean): void {
  if (hasContent(text, start, end)) slices.push({ start, end, inline });
}

function hasContent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isWhiteSpace(text.charCodeAt(at))) return true;
  return false;
}

/** Nothing but blank lines, comments and directives. */
function isHead(text: string, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code === HASH || (code === PERCENT && (at === start || text.charCodeAt(at - 1) === LF))) {
      const lineEnd = text.indexOf('\n', at);
      at = lineEnd === -1 ? end : lineEnd + 1;
    } else if (isWhiteSpace(code)) {
      at++;
    } else {
      return false;
    }
  }
  return true;
}

function isWhiteSpace(code: number): boolean {
  return code === SPACE || code === LF || code === CR || code === TAB;
}
