import { parseFile } from '../../yaml/parse';
import type { Entry, MapNode, ScalarNode, Span, YamlNode } from '../../yaml/node';

/** Where the author types, however little of the text is there yet. */
export interface Cursor {
  /** The word that is being typed, relative to the document: what a suggestion replaces. */
  readonly replace: Span;
  /** What stands of it before the cursor. */
  readonly typed: string;
  /** The text up to the cursor as a tree, with the mark where the cursor is. */
  readonly root: MapNode;
  /** Maps and lists from the root down to the one that holds the mark. */
  readonly holders: readonly YamlNode[];
  /** Keys and indexes from the root to the mark; of a key without the key itself. */
  readonly path: readonly (string | number)[];
  /** `key`: the mark is a key of the last holder; `value`: it is a value. */
  readonly kind: 'key' | 'value';
  /** The scalar that is the mark, or that ends with it behind an option. */
  readonly mark: ScalarNode;
  /** The option of a command line whose value is being typed: `--dtype` in `--dtype=ha`. */
  readonly option: string | undefined;
  /** It stands in quotes, in brackets. */
  readonly quoted: boolean;
  readonly flow: boolean;
  /** What stands behind the word on its line. */
  readonly rest: string;
}

/** A word that nobody writes. */
const markText = 'plimsoll-cursor-mark';

/** Characters of a line before the cursor, beyond which nothing is suggested. */
const longestLine = 2000;

const wordBefore = /[\w./@-]*$/;
/** An option that stands before the word, in the same scalar. */
const optionBefore = /(?:^|[\s"'[,])(--[\w-]+)=$/;
const wordAfter = /^[\w./@-]*/;
/** A value starts behind the last of these. */
const separators = /(?::[ \t]+|[[{,][ \t]*|(?:^|[ \t])-[ \t]+|^[ \t]*)["']?$/;

/**
 * Finds the place of the cursor in the text of one document. Only what stands before it counts, since what stands behind
 * an unfinished line is rarely read as it is meant.
 *
 * @returns both readings of a line that can be a key or a value; none in a comment, in the middle of a scalar of several
 * words, or where nothing can be told.
 */
export function cursorsAt(text: string, offset: number): readonly Cursor[] {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const lineEnd = text.indexOf('\n', offset);
  // Nobody types at the end of such a line, and its words would be looked for from each of their letters.
  if (offset - lineStart > longestLine) return [];
  const before = text.slice(lineStart, offset);
  const typed = wordBefore.exec(before)?.[0] ?? '';
  const start = offset - typed.length;
  const behind = text.slice(offset, lineEnd < 0 ? text.length : lineEnd);
  const after = wordAfter.exec(behind)?.[0] ?? '';
  const ahead = text.slice(lineStart, start);
  // `- ` is the start of an item, but a word that starts with a dash is still typed.
  const option = optionBefore.exec(ahead)?.[1];
  const aheadOfOption = option === undefined ? ahead : ahead.slice(0, -option.length - 1);
  if (/(^|\s)#/.test(ahead) || !separators.test(aheadOfOption)) return [];
  const quote = /["']$/.exec(aheadOfOption)?.[0] ?? '';
  const rest = behind.slice(after.length).replace(/\r$/, '');
  const replace = { start, end: offset + after.length };
  const optionLength = option === undefined ? 0 : option.length + 1;
  const closers = quote + closingBrackets(text, lineStart, start - optionLength - quote.length);
  const isShort = start <= shortText;
  const found: Cursor[] = [];
  for (const kind of ['value', 'key'] as const) {
    // A word behind `key: ` is no key of a block map.
    if (kind === 'key' && option !== undefined) continue;
    if (kind === 'key' && closers.length === quote.length && !/^[ \t]*(?:- +)*["']?$/.test(ahead)) continue;
    const inserted =
      kind === 'key' ? `${markText}${quote}: ~${closers.slice(quote.length)}` : markText + closers;
    const whole = isShort ? read(text.slice(0, start) + inserted, kind) : undefined;
    const cursor = whole ?? readOutline(outlineOf(text, lineStart), ahead + inserted, kind);
    if (cursor === undefined) continue;
    found.push({
      ...cursor,
      option,
      kind,
      replace,
      typed,
      quoted: quote !== '',
      flow: closers.length > quote.length,
      rest,
    });
  }
  return found;
}

/**
 * Characters before the cursor up to which all of them are read: some milliseconds of work. Of longer text, and of text
 * that is not well-formed somewhere above, the lines that say where the cursor is are enough.
 */
const shortText = 12_000;

/** The brackets that are open at a place, closed: of the lines above, as far as they can belong to it. */
function closingBrackets(text: string, lineStart: number, at: number): string {
  let start = lineStart;
  for (let lines = 0; lines < 100; lines += 1) {
    const open = openBrackets(text.slice(start, at));
    if (open === undefined) return '';
    const line = text.slice(start, text.indexOf('\n', start) + 1 || text.length);
    if (open !== '') {
      // Brackets of a list that starts further up close after those that are open here.
      const isStart = /^[ \t]*(?:- +)*(?:[^\s#[{][^#]*?:[ \t]+)?[[{]/.test(line);
      if (isStart && !/^[ \t]*[\]}]/.test(line)) return open;
    } else if (lines > 0 && /^[ \t]*(?:- +)*[\w."'/-]+:(?:[ \t]|$)/.test(line)) return '';
    if (start === 0) return '';
    start = text.lastIndexOf('\n', start - 2) + 1;
  }
  return '';
}

/** What would close the brackets of a text; `undefined` where more are closed than opened. */
function openBrackets(text: string): string | undefined {
  let open = '';
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    const previous = text[at - 1] ?? ' ';
    if (quote !== '') {
      if (quote === '"' && char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if ((char === '"' || char === "'") && /[\s,[\]{}:]/.test(previous)) quote = char;
    else if (char === '#' && /\s/.test(previous)) {
      const end = text.indexOf('\n', at);
      if (end < 0) break;
      at = end;
    } else if (char === '[') open = `]${open}`;
    else if (char === '{') open = `}${open}`;
    else if (char === ']' || char === '}') {
      if (open[0] !== char) return undefined;
      open = open.slice(1);
    }
  }
  return open;
}

/** The lines above a line that say where it is. */
interface Outline {
  /** Ancestors, and what stands beside the line before it. */
  readonly text: string;
  /** The places of the ancestors that are items, in the order of the text: of each list only one item is left. */
  readonly indexes: readonly number[];
}

function outlineOf(text: string, lineStart: number): Outline {
  const lines = text.slice(0, lineStart).split('\n').slice(0, -1);
  const current = text.slice(lineStart, text.indexOf('\n', lineStart) + 1 || text.length);
  const kept: string[] = [];
  const indexes: number[] = [];
  const indentOf = (line: string): number => /^[ \t]*/.exec(line)?.[0].length ?? 0;
  // Keys of an item stand behind its dash.
  const columnOf = (line: string): number => /^[ \t]*(?:- +)*/.exec(line)?.[0].length ?? 0;
  let column = current.trim() === '' ? current.replace(/\r?\n$/, '').length : columnOf(current);
  let isItem = false;
  let hasAncestor = false;
  const descend = (line: string): void => {
    const indent = indentOf(line);
    isItem = indent < columnOf(line);
    column = isItem ? indent : columnOf(line);
    hasAncestor = true;
    if (isItem) indexes.push(0);
  };
  if (indentOf(current) < columnOf(current)) descend(current);
  for (const line of lines.reverse()) {
    if (/^[ \t]*(#|$)/.test(line)) continue;
    const own = columnOf(line);
    const indent = indentOf(line);
    if (isItem && indent === column && indent < own) {
      // An item before it, of the same list.
      indexes.push((indexes.pop() ?? 0) + 1);
      continue;
    }
    const isSibling = own === column && !isItem && !hasAncestor;
    // A list may stand at the column of its key.
    const isAncestor = own < column || (isItem && own === column && indent === own);
    // The first line of the item that the kept keys are in.
    const isFirst = own === column && !isItem && indent < own;
    if (!isSibling && !isAncestor && !isFirst) continue;
    kept.push(line);
    if (isAncestor || indent < own) descend(line);
  }
  // What the object is stands beside its ancestors.
  const head = ['apiVersion', 'kind'].flatMap((key) => {
    const line = new RegExp(`^${key}:[ \\t]+\\S.*$`, 'm').exec(text)?.[0].replace(/\r$/, '');
    return line === undefined || kept.includes(line) ? [] : [line];
  });
  const all = [...head, ...kept.reverse()];
  return { text: all.length === 0 ? '' : `${all.join('\n')}\n`, indexes: indexes.reverse() };
}

function readOutline(outline: Outline, line: string, kind: Cursor['kind']): Found | undefined {
  const found = read(outline.text + line, kind);
  if (found === undefined) return undefined;
  // Lists in brackets are whole in the outline; those of dashes have one item each.
  let item = 0;
  const path = found.path.map((step, index) => {
    const holder = found.holders[index];
    if (typeof step !== 'number' || holder?.kind !== 'sequence' || holder.flow) return step;
    return outline.indexes[item++] ?? step;
  });
  return { ...found, path };
}

/** `--dtype=` before the mark. */
const optionText = /^--[\w-]+=/;

type Found = Pick<Cursor, 'root' | 'holders' | 'path' | 'mark'>;

/** The mark is the last thing in the text, so that only last entries and items lead to it. */
function read(text: string, kind: Cursor['kind']): Found | undefined {
  const document = parseFile('cursor', text).documents.at(-1)?.document;
  const root = document?.root;
  if (root?.kind !== 'map') return undefined;
  const holders: YamlNode[] = [];
  const path: (string | number)[] = [];
  let at: YamlNode = root;
  for (;;) {
    if (at.kind === 'scalar') {
      const isWord =
        at.text.replace(optionText, '') === markText && at.style !== 'literal' && at.style !== 'folded';
      return kind === 'value' && isWord ? { root, holders, path, mark: at } : undefined;
    }
    holders.push(at);
    if (at.kind === 'map') {
      const last: Entry | undefined = at.entries.findLast(({ key }) => !key.borrowed);
      if (last === undefined) return undefined;
      if (last.key.text === markText)
        return kind === 'key' ? { root, holders, path, mark: last.key } : undefined;
      path.push(last.key.text);
      at = last.value;
    } else {
      const item: YamlNode | undefined = at.items.at(-1);
      if (item === undefined) return undefined;
      path.push(at.items.length - 1);
      at = item;
    }
  }
}

/** Whether a node is the mark, or text that holds it. */
export function isMark(node: YamlNode | undefined): boolean {
  return node?.kind === 'scalar' && node.text.replace(optionText, '') === markText;
}
