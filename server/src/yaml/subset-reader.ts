import type { Comment, Reading, YamlProblem } from './document';
import { bareVariables } from './mask';
import type { YamlNode } from './node';
import * as T from './tape';
import type { Tape } from './tape';

/**
 * Reads the part of YAML that nearly all manifests are written in, many times as fast as a parser for the whole:
 * block maps and lists, scalars on one line, block scalars, flow collections without surprises, comments. Whatever
 * else it meets (anchors, tags, templates, scalars over several lines, tabs, any error) makes it give up, with
 * `undefined`, and the document is read by the parser. What it does read it reads exactly as the parser path does,
 * down to spans and comments; a differential test holds it to that.
 */
export function readSubset(text: string): Reading | undefined {
  if (OUTSIDE_SUBSET.test(text) || text.includes('{{') || text.includes('{%')) return undefined;
  if (bareVariables(text).length > 0) return undefined;
  const reader = new SubsetReader(text);
  try {
    reader.read();
  } catch (error) {
    if (error === GIVE_UP) return undefined;
    throw error;
  }
  return new SubsetReading(text, reader.tape(), reader.comments);
}

/** Thrown to leave the recursion at once; it carries nothing, since the parser will say what is the matter. */
const GIVE_UP = new Error('not in the subset');

/** Characters that need the parser's care wherever they stand: control characters, carriage returns, byte order marks. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const OUTSIDE_SUBSET = /[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]/;

/** Well below the parser's own limit on nesting. */
const MAX_DEPTH = 64;
/** A key on one line may not be longer than 1024 characters. */
const MAX_KEY_LENGTH = 1000;
/** Up to this many keys, comparing each with each is faster than a set. */
const FEW_KEYS = 16;

const NO_COLUMN = -2;

const TAB = 9;
const LF = 10;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const HASH = 35;
const SINGLE_QUOTE = 39;
const PLUS = 43;
const COMMA = 44;
const DASH = 45;
const COLON = 58;
const GREATER = 62;
const QUESTION = 63;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const LETTER_N = 110;
const PIPE = 124;
const CLOSE_BRACE = 125;

/** Characters that a plain scalar cannot start with; `-`, `?` and `:` may when more follows. */
const INDICATOR = new Uint8Array(128);
for (const character of ' \t\n,[]{}#&*!|>\'"%@`-?:') INDICATOR[character.charCodeAt(0)] = 1;

const NO_PROBLEMS: readonly YamlProblem[] = [];

/** What was read, made into nodes and comments when they are asked for. */
class SubsetReading implements Reading {
  readonly problems = NO_PROBLEMS;
  readonly templated = false;
  readonly repeated = [];
  private madeRoot: YamlNode | undefined;
  private madeComments: readonly Comment[] | undefined;

  constructor(
    private readonly text: string,
    private readonly tape: Tape,
    /** Start and end of each. */
    private readonly commentOffsets: readonly number[],
  ) {}

  get root(): YamlNode | undefined {
    if (this.tape.records.length === 0) return undefined;
    return (this.madeRoot ??= T.nodeAt(this.tape, 0));
  }

  get comments(): readonly Comment[] {
    return (this.madeComments ??= this.makeComments());
  }

  private makeComments(): readonly Comment[] {
    const comments: Comment[] = [];
    for (let index = 0; index + 1 < this.commentOffsets.length; index += 2) {
      const start = this.commentOffsets[index] ?? 0;
      const raw = this.text.slice(start, this.commentOffsets[index + 1]).trimEnd();
      comments.push({ start, end: start + raw.length, text: raw.slice(1).trim() });
    }
    return comments;
  }
}

/** Where all documents are read to, one after the other; it grows to the largest. */
let scratch = new Int32Array(4096);

class SubsetReader {
  private readonly length: number;
  /** Start and end of line of each comment. */
  readonly comments: number[] = [];
  /** Where reading is; after a value, at the start of the next line with content. */
  private at = 0;
  /** The column of the content at `at`; -1 behind the last line. */
  private column = 0;
  /** Where the value that was read last ends. */
  private end = 0;
  private depth = 0;
  private flowDepth = 0;
  private closingColumn = NO_COLUMN;
  private readonly hasVariables: boolean;
  /** Set by `scanPlain`: the offset of the colon that makes the scanned text a key, or -1. */
  private colon = -1;
  /** Where the text starts that `colon` is about. */
  private scanned = -1;
  private records = scratch;
  /** The length of what has been written to the records. */
  private top = 0;
  /** Hashes of the keys of the maps under way, the innermost map's last. */
  private readonly hashes: number[] = [];

  constructor(private readonly text: string) {
    this.length = text.length;
    this.hasVariables = text.includes('${');
  }

  read(): void {
    this.toContent(0);
    if (this.column === 0 && this.text.startsWith('---', this.at)) this.skipMarker();
    if (this.column < 0) return;
    this.root();
    if (this.column >= 0) throw GIVE_UP;
  }

  tape(): Tape {
    return { text: this.text, records: this.records.slice(0, this.top), hasVariables: this.hasVariables };
  }

  // Writing records

  private scalar(head: number, start: number, end: number): void {
    const { top } = this;
    if (top + T.BLOCK_SCALAR_LENGTH > this.records.length) this.grow();
    const { records } = this;
    records[top] = head;
    records[top + 1] = start;
    records[top + 2] = end;
    this.top = top + T.SCALAR_LENGTH;
    this.end = end;
  }

  /** Leaves room for a collection's record, which is written when all of it is known. */
  private open(): number {
    const index = this.top;
    if (index + T.BLOCK_SCALAR_LENGTH > this.records.length) this.grow();
    this.top = index + T.COLLECTION_LENGTH;
    return index;
  }

  private close(index: number, head: number, start: number, end: number, count: number): void {
    const { records } = this;
    records[index] = head;
    records[index + 1] = start;
    records[index + 2] = end;
    records[index + 3] = count;
    records[index + 4] = this.top;
    this.end = end;
  }

  private grow(): void {
    const grown = new Int32Array(this.records.length * 2);
    grown.set(this.records);
    this.records = grown;
    scratch = grown;
  }

  private nothing(at: number): void {
    this.scalar(T.NOTHING, at, at);
  }

  // Lines

  private root(): void {
    const code = this.text.charCodeAt(this.at);
    if (code !== OPEN_BRACE && code !== OPEN_BRACKET) {
      this.block(this.column);
    } else {
      this.outerFlow(-1, NO_COLUMN);
    }
  }

  /** The `---` below the comments at the head of a file. */
  private skipMarker(): void {
    let at = this.at + 3;
    while (at < this.length && this.text.charCodeAt(at) === SPACE) at++;
    if (at < this.length && this.text.charCodeAt(at) !== LF) throw GIVE_UP;
    this.toContent(at);
  }

  /** From the end of a line to the first character of the next line that holds more than a comment. */
  private toContent(from: number): void {
    const { text, length } = this;
    let line = from;
    if (line < length && text.charCodeAt(line) === LF) line++;
    for (;;) {
      let at = line;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      if (at >= length) {
        this.at = length;
        this.column = -1;
        return;
      }
      const code = text.charCodeAt(at);
      if (code === LF) {
        line = at + 1;
      } else if (code === HASH) {
        line = this.comment(at) + 1;
      } else {
        if (code === TAB) throw GIVE_UP;
        this.at = at;
        this.column = at - line;
        return;
      }
    }
  }

  /** Takes the comment at `#` and returns the end of its line. */
  private comment(start: number): number {
    let line = this.text.indexOf('\n', start);
    if (line === -1) line = this.length;
    this.comments.push(start, line);
    return line;
  }

  /** From behind a value to the next content; nothing but a comment may follow the value on its line. */
  private endLine(from: number): void {
    const { text, length } = this;
    let at = from;
    while (at < length && text.charCodeAt(at) === SPACE) at++;
    if (at < length) {
      const code = text.charCodeAt(at);
      if (code === HASH && at > from) at = this.comment(at);
      else if (code !== LF) throw GIVE_UP;
    }
    this.toContent(at);
  }

  // Block collections. Each of these reads a value and leaves `at` at the next content.

  /** The map or list that starts at `at`, in the given column. */
  private block(column: number): void {
    if (++this.depth > MAX_DEPTH) throw GIVE_UP;
    if (this.isDash(this.at)) this.sequence(column);
    else this.map(column);
    this.depth--;
  }

  private isDash(at: number): boolean {
    if (this.text.charCodeAt(at) !== DASH) return false;
    if (at + 1 >= this.length) return true;
    const next = this.text.charCodeAt(at + 1);
    return next === SPACE || next === LF;
  }

  private sequence(column: number): void {
    const { text, length } = this;
    const index = this.open();
    const start = this.at;
    let count = 0;
    do {
      const dash = this.at;
      let at = dash + 1;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      const code = at < length ? text.charCodeAt(at) : LF;
      if (code === LF || code === HASH) {
        this.endLine(dash + 1);
        if (this.column > column) this.block(this.column);
        else this.nothing(dash + 1);
      } else {
        this.at = at;
        this.compact(code, column + at - dash, column);
      }
      if (this.column > column) throw GIVE_UP;
      count++;
    } while (this.column === column && this.isDash(this.at));
    this.close(index, T.SEQUENCE, start, this.end, count);
  }

  /** What follows a dash on its line: a list or map of its own, or a scalar. */
  private compact(code: number, inner: number, column: number): void {
    if (this.isDash(this.at)) {
      this.block(inner);
    } else if (code === PIPE || code === GREATER) {
      this.blockScalar(column);
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      this.outerFlow(column, NO_COLUMN);
    } else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const { top } = this;
      this.quoted(code);
      if (this.end < this.length && this.text.charCodeAt(this.end) === COLON) {
        this.top = top;
        this.block(inner);
      } else {
        this.endLine(this.end);
      }
    } else {
      const end = this.scanPlain(this.at);
      if (this.colon !== -1) this.block(inner);
      else this.plain(this.at, end);
    }
  }

  private map(column: number): void {
    const { text, length } = this;
    const index = this.open();
    const start = this.at;
    const firstHash = this.hashes.length;
    let count = 0;
    do {
      this.key();
      const colon = this.end + 1;
      let at = colon;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      const code = at < length ? text.charCodeAt(at) : LF;
      if (code === LF || code === HASH) {
        this.endLine(colon);
        if (this.column > column) this.block(this.column);
        else if (this.column === column && this.isDash(this.at)) this.block(column);
        else this.nothing(colon);
      } else {
        // A value must be set off from its colon.
        if (at === colon) throw GIVE_UP;
        this.at = at;
        this.inline(code, column);
      }
      if (this.column > column) throw GIVE_UP;
      count++;
    } while (this.column === column && !this.isDash(this.at));
    this.dropHashes(firstHash);
    this.close(index, T.MAP, start, this.end, count);
  }

  /** Leaves `end` at the colon. */
  private key(): void {
    const { text } = this;
    const start = this.at;
    const code = text.charCodeAt(start);
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      this.quotedKey(code);
      const next = this.end + 1;
      if (next < this.length && text.charCodeAt(next) !== SPACE && text.charCodeAt(next) !== LF)
        throw GIVE_UP;
      return;
    }
    if (this.scanned !== start) this.scanPlain(start);
    const end = this.colon;
    if (end === -1 || text.charCodeAt(end - 1) === SPACE) throw GIVE_UP;
    this.plainKey(start, end);
  }

  private quotedKey(code: number): void {
    const start = this.at;
    const index = this.top;
    this.quoted(code);
    if (((this.records[index] ?? 0) & T.ESCAPED) !== 0 || this.text.charCodeAt(this.end) !== COLON)
      throw GIVE_UP;
    this.checkKey(start + 1, this.end - 1);
  }

  private plainKey(start: number, end: number): void {
    if (end - start === 2 && this.text.startsWith('<<', start)) throw GIVE_UP;
    this.checkKey(start, end);
    this.scalar(T.PLAIN, start, end);
  }

  private checkKey(start: number, end: number): void {
    if (end - start > MAX_KEY_LENGTH) throw GIVE_UP;
    if (this.hasVariables && this.text.slice(start, end).includes('${')) throw GIVE_UP;
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + this.text.charCodeAt(at)) | 0;
    this.hashes.push(hash);
  }

  /** Takes the hashes of a map's keys off. Keys with one hash may be the same: that is for the parser to say. */
  private dropHashes(first: number): void {
    const { hashes } = this;
    const count = hashes.length - first;
    if (count > FEW_KEYS) {
      if (new Set(hashes.slice(first)).size < count) throw GIVE_UP;
    } else {
      for (let later = first + 1; later < hashes.length; later++) {
        const hash = hashes[later];
        for (let earlier = first; earlier < later; earlier++) if (hashes[earlier] === hash) throw GIVE_UP;
      }
    }
    hashes.length = first;
  }

  private inline(code: number, column: number): void {
    if (code === PIPE || code === GREATER) {
      this.blockScalar(column);
    } else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      this.quoted(code);
      this.endLine(this.end);
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      this.outerFlow(column, column);
    } else {
      const start = this.at;
      const end = this.scanPlain(start);
      if (this.colon !== -1) throw GIVE_UP;
      this.plain(start, end);
    }
  }

  // Scalars

  private plain(start: number, end: number): void {
    this.scalar(T.PLAIN, start, end);
    this.endLine(end);
  }

  /**
   * The end of the plain scalar at `start`, white space behind it left out. It ends at the line's end or a comment;
   * if a colon makes it a key, it ends there, and `colon` is set.
   */
  private scanPlain(start: number): number {
    const { text, length } = this;
    const first = text.charCodeAt(start);
    if (first < 128 && INDICATOR[first] === 1) {
      // `-`, `?` and `:` may start one when no white space follows.
      if (first !== DASH && first !== QUESTION && first !== COLON) throw GIVE_UP;
      const next = start + 1 < length ? text.charCodeAt(start + 1) : LF;
      if (next === SPACE || next === LF || next === TAB) throw GIVE_UP;
    }
    this.colon = -1;
    this.scanned = start;
    let at = start;
    let end = start;
    while (at < length) {
      const code = text.charCodeAt(at);
      if (code <= COLON) {
        if (code === LF) break;
        if (code === SPACE) {
          at++;
          continue;
        }
        if (code === HASH && at > start && text.charCodeAt(at - 1) === SPACE) break;
        if (code === TAB) throw GIVE_UP;
        if (code === COLON) {
          const next = at + 1 < length ? text.charCodeAt(at + 1) : LF;
          if (next === SPACE || next === LF) {
            this.colon = at;
            return at;
          }
          if (next === TAB) throw GIVE_UP;
        }
      }
      at++;
      end = at;
    }
    return end;
  }

  /** A quoted scalar on one line; most escapes are left to the parser. Leaves `at` where it is. */
  private quoted(quote: number): void {
    const { text, length } = this;
    const start = this.at;
    let at = start + 1;
    let escaped = false;
    for (;;) {
      if (at >= length) throw GIVE_UP;
      const code = text.charCodeAt(at);
      if (code === quote) {
        if (quote === DOUBLE_QUOTE || at + 1 >= length || text.charCodeAt(at + 1) !== SINGLE_QUOTE) break;
        escaped = true;
        at++;
      } else if (code === LF || code === TAB) {
        throw GIVE_UP;
      } else if (code === BACKSLASH && quote === DOUBLE_QUOTE) {
        const next = text.charCodeAt(at + 1);
        if (next !== DOUBLE_QUOTE && next !== BACKSLASH && next !== LETTER_N) throw GIVE_UP;
        escaped = true;
        at++;
      }
      at++;
    }
    // Within a variable's braces an escape is none.
    if (escaped && this.hasVariables && text.slice(start, at).includes('${')) throw GIVE_UP;
    this.scalar((quote === DOUBLE_QUOTE ? T.DOUBLE : T.SINGLE) | (escaped ? T.ESCAPED : 0), start, at + 1);
  }

  /** A literal or folded scalar below a parent in a column. */
  private blockScalar(parent: number): void {
    const { text, length } = this;
    const start = this.at;
    const folded = text.charCodeAt(start) === GREATER;
    let at = start + 1;
    let strip = false;
    if (at < length && (text.charCodeAt(at) === DASH || text.charCodeAt(at) === PLUS)) {
      strip = text.charCodeAt(at) === DASH;
      // Keeping the blank lines at the end is rare, and they would be part of the value.
      if (!strip) throw GIVE_UP;
      at++;
    }
    const header = at;
    while (at < length && text.charCodeAt(at) === SPACE) at++;
    if (at >= length) throw GIVE_UP;
    if (text.charCodeAt(at) === HASH && at > header) at = this.comment(at);
    if (at >= length || text.charCodeAt(at) !== LF) throw GIVE_UP;

    const first = at + 1;
    let indent = -1;
    let line = first;
    /** Behind the last line with content, and behind its last character that is no white space. */
    let contentEnd = -1;
    let end = -1;
    let shortBlank = false;
    let longBlank = false;
    let moreIndented = false;
    while (line < length) {
      let content = line;
      while (content < length && text.charCodeAt(content) === SPACE) content++;
      const column = content - line;
      if (content >= length || text.charCodeAt(content) === LF) {
        if (indent === -1) {
          if (column > 0) throw GIVE_UP;
        } else if (column > indent) {
          longBlank = true;
        } else if (column > 0) {
          shortBlank = true;
        }
        line = content + 1;
        continue;
      }
      if (indent === -1) {
        if (column <= parent) throw GIVE_UP;
        indent = column;
      } else if (column < indent) {
        break;
      }
      const code = text.charCodeAt(content);
      if (column > indent || code === TAB) {
        // The parser lets a tab be more than the indentation only of a line that is not the first.
        if (contentEnd === -1) throw GIVE_UP;
        moreIndented = true;
      }
      // What looked like the end of the scalar was a line within it, with white space of its own.
      if (longBlank) moreIndented = true;
      longBlank = false;
      contentEnd = text.indexOf('\n', content);
      if (contentEnd === -1) contentEnd = length;
      end = contentEnd;
      while (text.charCodeAt(end - 1) === SPACE || text.charCodeAt(end - 1) === TAB) end--;
      line = contentEnd + 1;
    }
    if (indent === -1 || longBlank || (folded && moreIndented)) throw GIVE_UP;
    let head = folded ? T.FOLDED : T.LITERAL;
    if (strip) head |= T.STRIPPED;
    if (shortBlank) head |= T.SHORT_LINES;
    this.scalar(head, start, end);
    const { top, records } = this;
    records[top] = first;
    records[top + 1] = contentEnd;
    records[top + 2] = indent;
    this.top = top + T.BLOCK_SCALAR_LENGTH - T.SCALAR_LENGTH;
    this.toContent(contentEnd);
  }

  // Flow collections. Each of these reads a value and leaves `at` and `end` behind it.

  /** A flow collection in a block one; it may close in the column of its key, though that is not beyond its parent's. */
  private outerFlow(parent: number, closingColumn: number): void {
    this.closingColumn = closingColumn;
    this.flowDepth = 0;
    this.flow(parent);
    this.endLine(this.at);
  }

  /** The collection at `at`, whose further lines are indented more than its parent. */
  private flow(parent: number): void {
    if (++this.depth > MAX_DEPTH) throw GIVE_UP;
    this.flowDepth++;
    if (this.text.charCodeAt(this.at) === OPEN_BRACE) this.flowMap(parent);
    else this.flowSequence(parent);
    this.flowDepth--;
    this.depth--;
  }

  private flowSequence(parent: number): void {
    const { text } = this;
    const index = this.open();
    const start = this.at++;
    let count = 0;
    this.toFlow(parent);
    while (text.charCodeAt(this.at) !== CLOSE_BRACKET) {
      this.flowValue(parent);
      count++;
      this.toFlowEnd(parent, CLOSE_BRACKET);
    }
    this.at++;
    this.close(index, T.SEQUENCE | T.FLOW, start, this.at, count);
  }

  private flowMap(parent: number): void {
    const { text, length } = this;
    const index = this.open();
    const start = this.at++;
    const firstHash = this.hashes.length;
    let count = 0;
    this.toFlow(parent);
    while (text.charCodeAt(this.at) !== CLOSE_BRACE) {
      const code = text.charCodeAt(this.at);
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) this.quotedKey(code);
      else this.plainKey(this.at, this.scanFlowPlain(this.at));
      if (text.charCodeAt(this.end) !== COLON) throw GIVE_UP;
      let at = this.end + 1;
      if (at >= length || text.charCodeAt(at) !== SPACE) throw GIVE_UP;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      this.at = at;
      this.flowValue(parent);
      count++;
      this.toFlowEnd(parent, CLOSE_BRACE);
    }
    this.at++;
    this.dropHashes(firstHash);
    this.close(index, T.MAP | T.FLOW, start, this.at, count);
  }

  /** Over the comma behind a value, to the next one or the closing bracket. */
  private toFlowEnd(parent: number, closing: number): void {
    this.toFlow(parent);
    const code = this.text.charCodeAt(this.at);
    if (code === COMMA) {
      this.at++;
      this.toFlow(parent);
    } else if (code !== closing) {
      throw GIVE_UP;
    }
  }

  private flowValue(parent: number): void {
    const { text, length } = this;
    const start = this.at;
    if (start >= length) throw GIVE_UP;
    const code = text.charCodeAt(start);
    if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      this.flow(parent);
    } else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      this.quoted(code);
    } else {
      this.scalar(T.PLAIN, start, this.scanFlowPlain(start));
    }
    // A colon behind it would make it a key.
    if (text.charCodeAt(this.end) === COLON) throw GIVE_UP;
    this.at = this.end;
  }

  /** The end of a plain scalar in a flow collection; a colon ends it too when a space follows. */
  private scanFlowPlain(start: number): number {
    const { text, length } = this;
    const first = text.charCodeAt(start);
    if (start >= length || (first < 128 && INDICATOR[first] === 1)) {
      const next = text.charCodeAt(start + 1);
      // `-1` and `--flag`, but no other indicator.
      if (first !== DASH || !(next === DASH || (next > DASH && next < COLON) || (next >= 97 && next <= 122)))
        throw GIVE_UP;
    }
    let at = start;
    let end = start;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === SPACE) continue;
      if (code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE || code === LF) return end;
      if (code === OPEN_BRACKET || code === OPEN_BRACE || code === TAB || code === QUESTION) throw GIVE_UP;
      if (code === HASH && text.charCodeAt(at - 1) === SPACE) return end;
      if (code === COLON) {
        const next = text.charCodeAt(at + 1);
        if (next === SPACE) {
          if (end !== at) throw GIVE_UP;
          return at;
        }
        if (next === LF || next === COMMA || next === OPEN_BRACKET || next === CLOSE_BRACKET) throw GIVE_UP;
        if (next === OPEN_BRACE || next === CLOSE_BRACE) throw GIVE_UP;
      }
      end = at + 1;
    }
    throw GIVE_UP;
  }

  /** Over white space, line breaks and comments within a flow collection. */
  private toFlow(parent: number): void {
    const { text, length } = this;
    let at = this.at;
    let line = -1;
    for (;;) {
      if (at >= length) throw GIVE_UP;
      const code = text.charCodeAt(at);
      if (code === SPACE) {
        at++;
      } else if (code === LF) {
        at++;
        line = at;
      } else if (code === HASH) {
        if (text.charCodeAt(at - 1) !== SPACE && text.charCodeAt(at - 1) !== LF) throw GIVE_UP;
        at = this.comment(at);
      } else {
        if (code === TAB) throw GIVE_UP;
        if (line !== -1 && at - line <= parent) {
          const closes = code === CLOSE_BRACKET || code === CLOSE_BRACE;
          if (!closes || this.flowDepth !== 1 || at - line !== this.closingColumn) throw GIVE_UP;
        }
        this.at = at;
        return;
      }
    }
  }
}
