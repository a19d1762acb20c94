/**
 * A tree as a row of numbers. Reading writes it without making an object, and the nodes are made when somebody looks
 * at them: of a document most is never looked at, and of a repository's documents most are not looked into at all.
 *
 * A record is `[head, start, end]` for a scalar on one line, with `[first, last, indent]` behind for a block scalar and
 * `[count, next]` for a collection: how many entries or items follow, and the index behind the last of them. Of an
 * entry the key's record comes first, then the value's.
 */
import { scalarNode } from './build';
import type { Entry, MapNode, ScalarNode, SequenceNode, YamlNode } from './node';
import { resolvePlain } from './resolve';

export interface Tape {
  /** The document's text. */
  readonly text: string;
  readonly records: Int32Array;
  /** The text holds `${`, so that a scalar may have to be looked through for variables. */
  readonly hasVariables: boolean;
}

// What a record is, in the lower bits of its head.
export const PLAIN = 0;
export const SINGLE = 1;
export const DOUBLE = 2;
export const LITERAL = 3;
export const FOLDED = 4;
export const MAP = 5;
export const SEQUENCE = 6;
/** A missing value. */
export const NOTHING = 7;
const KIND = 7;

// Flags of the head.
/** A collection in brackets. */
export const FLOW = 8;
/** A quoted scalar whose text differs from what is between the quotes. */
export const ESCAPED = 16;
/** A block scalar without the line break at its end. */
export const STRIPPED = 32;
/** A block scalar with blank lines of fewer spaces than its indentation. */
export const SHORT_LINES = 64;

export const SCALAR_LENGTH = 3;
export const COLLECTION_LENGTH = 5;
export const BLOCK_SCALAR_LENGTH = 6;

/** `${VARIABLE}`, as masking finds it. */
export const VARIABLE = /(?<!\$)\$\{[^\s{}"']*\}/;

export function nodeAt(tape: Tape, index: number): YamlNode {
  const { records } = tape;
  const head = records[index] ?? NOTHING;
  const kind = head & KIND;
  if (kind === MAP) return new TapeMap(tape, index, (head & FLOW) !== 0);
  if (kind === SEQUENCE) return new TapeSequence(tape, index, (head & FLOW) !== 0);
  return scalarAt(tape, index);
}

/** A map whose entries are made when they are first looked at. */
class TapeMap implements MapNode {
  readonly kind = 'map';
  readonly start: number;
  readonly end: number;
  readonly borrowed = false;
  readonly open = false;
  private made: readonly Entry[] | undefined;

  constructor(
    private readonly tape: Tape,
    private readonly index: number,
    readonly flow: boolean,
  ) {
    this.start = tape.records[index + 1] ?? 0;
    this.end = tape.records[index + 2] ?? 0;
  }

  get entries(): readonly Entry[] {
    return (this.made ??= entriesAt(this.tape, this.index));
  }
}

class TapeSequence implements SequenceNode {
  readonly kind = 'sequence';
  readonly start: number;
  readonly end: number;
  readonly borrowed = false;
  readonly open = false;
  private made: readonly YamlNode[] | undefined;

  constructor(
    private readonly tape: Tape,
    private readonly index: number,
    readonly flow: boolean,
  ) {
    this.start = tape.records[index + 1] ?? 0;
    this.end = tape.records[index + 2] ?? 0;
  }

  get items(): readonly YamlNode[] {
    return (this.made ??= itemsAt(this.tape, this.index));
  }
}

function entriesAt(tape: Tape, index: number): readonly Entry[] {
  const count = tape.records[index + 3] ?? 0;
  // An array that grows starts with room for 17, and most maps have few entries.
  const entries = new Array<Entry>(count);
  let at = index + COLLECTION_LENGTH;
  for (let number = 0; number < count; number++) {
    const value = at + SCALAR_LENGTH;
    entries[number] = { key: scalarAt(tape, at), value: nodeAt(tape, value) };
    at = behind(tape.records, value);
  }
  return entries;
}

function itemsAt(tape: Tape, index: number): readonly YamlNode[] {
  const count = tape.records[index + 3] ?? 0;
  const items = new Array<YamlNode>(count);
  let at = index + COLLECTION_LENGTH;
  for (let number = 0; number < count; number++) {
    items[number] = nodeAt(tape, at);
    at = behind(tape.records, at);
  }
  return items;
}

/** The index behind a record and all that belongs to it. */
function behind(records: Int32Array, index: number): number {
  const kind = (records[index] ?? NOTHING) & KIND;
  if (kind === MAP || kind === SEQUENCE) return records[index + 4] ?? records.length;
  return index + (kind === LITERAL || kind === FOLDED ? BLOCK_SCALAR_LENGTH : SCALAR_LENGTH);
}

function scalarAt(tape: Tape, index: number): ScalarNode {
  const { text, records, hasVariables } = tape;
  const head = records[index] ?? NOTHING;
  const start = records[index + 1] ?? 0;
  const end = records[index + 2] ?? 0;
  switch (head & KIND) {
    case PLAIN: {
      const raw = text.slice(start, end);
      if (hasVariables && VARIABLE.test(raw)) return scalarNode(start, end, raw, raw, 'plain', true);
      return scalarNode(start, end, resolvePlain(raw), raw, 'plain', false);
    }
    case SINGLE: {
      const raw = text.slice(start + 1, end - 1);
      const value = (head & ESCAPED) !== 0 ? raw.replaceAll("''", "'") : raw;
      return scalarNode(start, end, value, value, 'single', hasVariables && VARIABLE.test(value));
    }
    case DOUBLE: {
      const raw = text.slice(start + 1, end - 1);
      const value = (head & ESCAPED) !== 0 ? raw.replace(/\\(.)/g, unescaped) : raw;
      return scalarNode(start, end, value, value, 'double', hasVariables && VARIABLE.test(value));
    }
    case LITERAL:
    case FOLDED: {
      const value = blockText(tape, index, head);
      const style = (head & KIND) === LITERAL ? 'literal' : 'folded';
      return scalarNode(start, end, value, value, style, hasVariables && VARIABLE.test(value));
    }
    default:
      return scalarNode(start, end, null, '', 'plain', false);
  }
}

/** The escapes that reading lets pass: `\\`, `\"` and `\n`. */
function unescaped(_: string, character: string): string {
  return character === 'n' ? '\n' : character;
}

function blockText({ text, records }: Tape, index: number, head: number): string {
  const first = records[index + 3] ?? 0;
  const last = records[index + 4] ?? 0;
  const indent = records[index + 5] ?? 0;
  const value =
    (head & KIND) === FOLDED
      ? fold(text, first, last, indent)
      : unindent(text, first, last, indent, (head & SHORT_LINES) !== 0);
  return (head & STRIPPED) !== 0 ? value : `${value}\n`;
}

function unindent(text: string, first: number, last: number, indent: number, shortLines: boolean): string {
  if (!shortLines) {
    // All lines are either empty or indented, so one replacement takes the indentation off.
    const raw = text.slice(first, last).replaceAll(`\n${' '.repeat(indent)}`, '\n');
    return raw.startsWith(' ') ? raw.slice(indent) : raw;
  }
  const lines = text.slice(first, last).split('\n');
  return lines.map((line) => line.slice(indent)).join('\n');
}

/** Lines become one, and blank lines between them line breaks. */
function fold(text: string, first: number, last: number, indent: number): string {
  let value = '';
  let blank = 0;
  for (const line of text.slice(first, last).split('\n')) {
    if (line.length <= indent) {
      blank++;
      continue;
    }
    if (blank > 0) value += '\n'.repeat(blank);
    else if (value !== '') value += ' ';
    value += line.slice(indent);
    blank = 0;
  }
  return value;
}
