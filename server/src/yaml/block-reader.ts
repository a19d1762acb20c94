import { mapNode, scalarNode, sequenceNode } from './build';
import type { Comment, Reading, YamlProblem } from './document';
import type { Entry, MapNode, ScalarNode, SequenceNode, YamlNode } from './node';
import { resolvePlain } from './resolve';

/**
 * Reads the part of YAML that nearly all manifests are written in, many times as fast as a parser for the whole:
 * block maps and lists, scalars on one line, block scalars, flow collections without surprises, comments. Whatever
 * else it meets (anchors, tags, templates, scalars over several lines, tabs, any error) makes it give up, with
 * `undefined`, and the document is read by the parser. What it does read it reads exactly as the parser path does,
 * down to spans and comments; a differential test holds it to that.
 */
export function readSubset(text: string): Reading | undefined {
  if (OUTSIDE_SUBSET.test(text) || text.includes('{{') || text.includes('{%')) return undefined;
  try {
    return new SubsetReader(text).read();
  } catch (error) {
    if (error === GIVE_UP) return undefined;
    throw error;
  }
}

/** Thrown to leave the recursion at once; it carries nothing, since the parser will say what is the matter. */
const GIVE_UP = new Error('not in the subset');

/** Characters that need the parser's care wherever they stand: control characters, carriage returns, byte order marks. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const OUTSIDE_SUBSET = /[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]/;

const VARIABLE = /(?<!\$)\$\{[^\s{}"']*\}/;

/** Well below the parser's own limit on nesting. */
const MAX_DEPTH = 64;
/** A key on one line may not be longer than 1024 characters. */
const MAX_KEY_LENGTH = 1000;
/** Up to this many entries, comparing each key with each is faster than a set. */
const FEW_ENTRIES = 12;

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
const PIPE = 124;
const CLOSE_BRACE = 125;

/** Characters that a plain scalar cannot start with; `-`, `?` and `:` may when more follows. */
const INDICATOR = new Uint8Array(128);
for (const character of ' \t\n,[]{}#&*!|>\'"%@`-?:') INDICATOR[character.charCodeAt(0)] = 1;

const NO_PROBLEMS: readonly YamlProblem[] = [];

class SubsetReader {
  private readonly length: number;
  /** Where reading is; after a value, at the start of the next line with content. */
  private at = 0;
  /** The column of the content at `at`; -1 behind the last line. */
  private column = 0;
  private depth = 0;
  private readonly comments: Comment[] = [];
  private readonly hasVariables: boolean;
  /** Set by `scanPlain`: the offset of the colon that makes the scanned text a key, or -1. */
  private colon = -1;

  constructor(private readonly text: string) {
    this.length = text.length;
    this.hasVariables = text.includes('${');
  }

  read(): Reading {
    this.toContent(0);
    if (this.column === 0 && this.text.startsWith('---', this.at)) this.skipMarker();
    const root = this.column < 0 ? undefined : this.root();
    if (this.column >= 0) throw GIVE_UP;
    return { root, problems: NO_PROBLEMS, comments: this.comments, templated: false };
  }

  private root(): YamlNode {
    const code = this.text.charCodeAt(this.at);
    if (code !== OPEN_BRACE && code !== OPEN_BRACKET) return this.block(this.column);
    const node = this.flow(-1);
    this.endLine(this.at);
    return node;
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
    const { text } = this;
    let line = text.indexOf('\n', start);
    if (line === -1) line = this.length;
    const raw = text.slice(start, line).trimEnd();
    this.comments.push({ start, end: start + raw.length, text: raw.slice(1).trim() });
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

  /** The map or list that starts at `at`, in the given column. */
  private block(column: number): YamlNode {
    if (++this.depth > MAX_DEPTH) throw GIVE_UP;
    const node = this.isDash(this.at) ? this.sequence(column) : this.map(column);
    this.depth--;
    return node;
  }

  private isDash(at: number): boolean {
    if (this.text.charCodeAt(at) !== DASH) return false;
    if (at + 1 >= this.length) return true;
    const next = this.text.charCodeAt(at + 1);
    return next === SPACE || next === LF;
  }

  private sequence(column: number): SequenceNode {
    const { text, length } = this;
    const items: YamlNode[] = [];
    const start = this.at;
    let end: number;
    do {
      const dash = this.at;
      let at = dash + 1;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      const code = at < length ? text.charCodeAt(at) : LF;
      let item: YamlNode;
      if (code === LF || code === HASH) {
        this.endLine(dash + 1);
        item = this.column > column ? this.block(this.column) : nothing(dash + 1);
      } else {
        const inner = column + at - dash;
        this.at = at;
        item = this.compact(code, inner, column);
      }
      if (this.column > column) throw GIVE_UP;
      items.push(item);
      end = item.end;
    } while (this.column === column && this.isDash(this.at));
    return sequenceNode(start, end, items, false, false);
  }

  /** What follows a dash on its line: a list or map of its own, or a scalar. */
  private compact(code: number, inner: number, column: number): YamlNode {
    if (this.isDash(this.at)) return this.block(inner);
    if (code === PIPE || code === GREATER) return this.blockScalar(column);
    if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      const node = this.flow(column);
      this.endLine(this.at);
      return node;
    }
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const scalar = this.quoted(code);
      if (scalar.end < this.length && this.text.charCodeAt(scalar.end) === COLON) return this.block(inner);
      this.endLine(scalar.end);
      return scalar;
    }
    const end = this.scanPlain(this.at);
    if (this.colon !== -1) return this.block(inner);
    return this.plain(this.at, end);
  }

  private map(column: number): MapNode {
    const { text, length } = this;
    const entries: Entry[] = [];
    const start = this.at;
    let end: number;
    do {
      const key = this.key();
      let at = key.end + 1;
      const colon = at;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      const code = at < length ? text.charCodeAt(at) : LF;
      let value: YamlNode;
      if (code === LF || code === HASH) {
        this.endLine(colon);
        if (this.column > column) value = this.block(this.column);
        else if (this.column === column && this.isDash(this.at)) value = this.block(column);
        else value = nothing(colon);
      } else {
        // A value must be set off from its colon.
        if (at === colon) throw GIVE_UP;
        this.at = at;
        value = this.inline(code, column);
      }
      if (this.column > column) throw GIVE_UP;
      entries.push({ key, value });
      end = value.end;
    } while (this.column === column && !this.isDash(this.at));
    if (hasDuplicate(entries)) throw GIVE_UP;
    return mapNode(start, end, entries, false, false);
  }

  private key(): ScalarNode {
    const start = this.at;
    const code = this.text.charCodeAt(start);
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const key = this.quoted(code);
      const next = key.end + 1;
      if (key.unknown || key.end - start > MAX_KEY_LENGTH || this.text.charCodeAt(key.end) !== COLON)
        throw GIVE_UP;
      if (next < this.length && this.text.charCodeAt(next) !== SPACE && this.text.charCodeAt(next) !== LF)
        throw GIVE_UP;
      return key;
    }
    this.scanPlain(start);
    const end = this.colon;
    if (end === -1 || end - start > MAX_KEY_LENGTH || this.text.charCodeAt(end - 1) === SPACE) throw GIVE_UP;
    const text = this.text.slice(start, end);
    if (text === '<<' || (this.hasVariables && text.includes('${'))) throw GIVE_UP;
    return scalarNode(start, end, resolvePlain(text), text, 'plain', false);
  }

  private inline(code: number, column: number): YamlNode {
    if (code === PIPE || code === GREATER) return this.blockScalar(column);
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const scalar = this.quoted(code);
      this.endLine(scalar.end);
      return scalar;
    }
    if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      const node = this.flow(column);
      this.endLine(this.at);
      return node;
    }
    const start = this.at;
    const end = this.scanPlain(start);
    if (this.colon !== -1) throw GIVE_UP;
    return this.plain(start, end);
  }

  private plain(start: number, end: number): ScalarNode {
    this.endLine(end);
    const text = this.text.slice(start, end);
    if (this.hasVariables && VARIABLE.test(text)) return scalarNode(start, end, text, text, 'plain', true);
    return scalarNode(start, end, resolvePlain(text), text, 'plain', false);
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

  /** A quoted scalar on one line; escapes are left to the parser, but for the doubled single quote and the plainest. */
  private quoted(quote: number): ScalarNode {
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
        if (next !== DOUBLE_QUOTE && next !== BACKSLASH && next !== 110) throw GIVE_UP;
        escaped = true;
        at++;
      }
      at++;
    }
    const end = at + 1;
    let value = text.slice(start + 1, at);
    const unknown = this.hasVariables && VARIABLE.test(value);
    if (escaped) {
      if (unknown) throw GIVE_UP;
      value = quote === SINGLE_QUOTE ? value.replaceAll("''", "'") : value.replace(/\\(.)/g, unescaped);
    }
    return scalarNode(start, end, value, value, quote === SINGLE_QUOTE ? 'single' : 'double', unknown);
  }

  /** A literal or folded scalar below a parent in a column. */
  private blockScalar(parent: number): ScalarNode {
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
      // What looked like the end of the scalar was a line within it.
      if (longBlank) throw GIVE_UP;
      contentEnd = text.indexOf('\n', content);
      if (contentEnd === -1) contentEnd = length;
      end = contentEnd;
      while (text.charCodeAt(end - 1) === SPACE || text.charCodeAt(end - 1) === TAB) end--;
      line = contentEnd + 1;
    }
    if (indent === -1 || longBlank) throw GIVE_UP;
    let value = folded
      ? this.fold(first, contentEnd, indent, moreIndented)
      : this.unindent(first, contentEnd, indent, shortBlank);
    if (!strip) value += '\n';
    this.toContent(contentEnd);
    const unknown = this.hasVariables && VARIABLE.test(value);
    return scalarNode(start, end, value, value, folded ? 'folded' : 'literal', unknown);
  }

  private unindent(first: number, end: number, indent: number, shortBlank: boolean): string {
    const { text } = this;
    if (!shortBlank) {
      // All lines are either empty or indented, so one replacement takes the indentation off.
      const spaces = ' '.repeat(indent);
      const raw = text.slice(first, end).replaceAll(`\n${spaces}`, '\n');
      return raw.charCodeAt(0) === SPACE ? raw.slice(indent) : raw;
    }
    let value = '';
    for (let line = first; line <= end;) {
      let stop = text.indexOf('\n', line);
      if (stop === -1 || stop > end) stop = end;
      if (line > first) value += '\n';
      if (stop - line > indent) value += text.slice(line + indent, stop);
      line = stop + 1;
    }
    return value;
  }

  /** Lines become one, blank lines between them line breaks; what is indented further is left to the parser. */
  private fold(first: number, end: number, indent: number, moreIndented: boolean): string {
    if (moreIndented) throw GIVE_UP;
    const { text } = this;
    let value = '';
    let blank = 0;
    let empty = true;
    for (let line = first; line <= end;) {
      let stop = text.indexOf('\n', line);
      if (stop === -1 || stop > end) stop = end;
      if (stop - line <= indent) {
        blank++;
      } else {
        if (blank > 0) value += '\n'.repeat(blank);
        else if (!empty) value += ' ';
        value += text.slice(line + indent, stop);
        blank = 0;
        empty = false;
      }
      line = stop + 1;
    }
    return value;
  }

  // Flow collections

  /** The collection at `at`, whose further lines are indented more than its parent; leaves `at` behind it. */
  private flow(parent: number): MapNode | SequenceNode {
    if (++this.depth > MAX_DEPTH) throw GIVE_UP;
    const node =
      this.text.charCodeAt(this.at) === OPEN_BRACE ? this.flowMap(parent) : this.flowSequence(parent);
    this.depth--;
    return node;
  }

  private flowSequence(parent: number): SequenceNode {
    const { text } = this;
    const start = this.at++;
    const items: YamlNode[] = [];
    this.toFlow(parent);
    while (text.charCodeAt(this.at) !== CLOSE_BRACKET) {
      items.push(this.flowValue(parent));
      this.toFlow(parent);
      const code = text.charCodeAt(this.at);
      if (code === COMMA) {
        this.at++;
        this.toFlow(parent);
      } else if (code !== CLOSE_BRACKET) {
        throw GIVE_UP;
      }
    }
    this.at++;
    return sequenceNode(start, this.at, items, true, false);
  }

  private flowMap(parent: number): MapNode {
    const { text, length } = this;
    const start = this.at++;
    const entries: Entry[] = [];
    this.toFlow(parent);
    while (text.charCodeAt(this.at) !== CLOSE_BRACE) {
      const keyStart = this.at;
      const code = text.charCodeAt(keyStart);
      let key: ScalarNode;
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        key = this.quoted(code);
        if (key.unknown) throw GIVE_UP;
      } else {
        const end = this.scanFlowPlain(keyStart);
        const name = text.slice(keyStart, end);
        if (name === '<<') throw GIVE_UP;
        key = scalarNode(keyStart, end, resolvePlain(name), name, 'plain', false);
      }
      if (key.end - keyStart > MAX_KEY_LENGTH || text.charCodeAt(key.end) !== COLON) throw GIVE_UP;
      let at = key.end + 1;
      if (at >= length || text.charCodeAt(at) !== SPACE) throw GIVE_UP;
      while (at < length && text.charCodeAt(at) === SPACE) at++;
      this.at = at;
      const value = this.flowValue(parent);
      entries.push({ key, value });
      this.toFlow(parent);
      const next = text.charCodeAt(this.at);
      if (next === COMMA) {
        this.at++;
        this.toFlow(parent);
      } else if (next !== CLOSE_BRACE) {
        throw GIVE_UP;
      }
    }
    this.at++;
    if (hasDuplicate(entries)) throw GIVE_UP;
    return mapNode(start, this.at, entries, true, false);
  }

  private flowValue(parent: number): YamlNode {
    const { text, length } = this;
    const start = this.at;
    if (start >= length) throw GIVE_UP;
    const code = text.charCodeAt(start);
    if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      const node = this.flow(parent);
      if (text.charCodeAt(this.at) === COLON) throw GIVE_UP;
      return node;
    }
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const scalar = this.quoted(code);
      this.at = scalar.end;
      if (text.charCodeAt(scalar.end) === COLON) throw GIVE_UP;
      return scalar;
    }
    const end = this.scanFlowPlain(start);
    if (text.charCodeAt(end) === COLON) throw GIVE_UP;
    this.at = end;
    const raw = text.slice(start, end);
    return scalarNode(start, end, resolvePlain(raw), raw, 'plain', false);
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
        if (code === TAB || (line !== -1 && at - line <= parent)) throw GIVE_UP;
        this.at = at;
        return;
      }
    }
  }
}

/** A missing value, at the offset behind its colon or dash. */
function nothing(at: number): ScalarNode {
  return scalarNode(at, at, null, '', 'plain', false);
}

function unescaped(_: string, character: string): string {
  return character === 'n' ? '\n' : character;
}

function hasDuplicate(entries: readonly Entry[]): boolean {
  const count = entries.length;
  if (count <= FEW_ENTRIES) {
    for (let later = 1; later < count; later++) {
      const text = entries[later]?.key.text;
      for (let earlier = 0; earlier < later; earlier++) if (entries[earlier]?.key.text === text) return true;
    }
    return false;
  }
  const seen = new Set<string>();
  for (const { key } of entries) seen.add(key.text);
  return seen.size < count;
}
