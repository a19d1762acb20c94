import type { YamlDocument } from './document';
import type { Entry, MapNode, ScalarNode, SequenceNode, Span, YamlNode } from './node';
import {
  formatBlockEntry,
  formatBlockItem,
  formatFlow,
  formatFlowKey,
  formatFlowLines,
  formatKey,
  formatScalar,
} from './format';
import type { Quoting } from './format';
import type { BlockStyle } from './format';

/** A replacement in the document's text; an insertion has an empty span. */
export interface Edit extends Span {
  readonly newText: string;
}

/** A value to write. Strings are quoted where YAML would read them as something else. */
export type PlainValue =
  string | number | boolean | null | readonly PlainValue[] | { readonly [key: string]: PlainValue };

/** Where a new key stands among the others, at the end when the named key is not there; and what is said of it. */
export interface InsertOptions {
  readonly before?: string;
  readonly after?: string;
  /** A comment behind the value, with its `#`, where the style has room for one. */
  readonly comment?: string | undefined;
}

/**
 * What each function here returns: the edits, or `undefined` when there is nothing to change or when it cannot be done
 * without touching what is not meant. That is so for nodes behind an alias or a merge key (their text serves others
 * too), for values that a template makes, and where a template decides whether a line is there at all.
 */
export type Edits = readonly Edit[] | undefined;

/**
 * Applies edits to the text they were made for. Insertions at one place keep their order. `undefined` when edits
 * overlap or reach beyond the text: then they were made for different texts, or by fixes that exclude each other.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  const sorted = edits.map((edit, order) => ({ edit, order }));
  sorted.sort((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end || a.order - b.order);
  let result = '';
  let done = 0;
  for (const { edit } of sorted) {
    if (edit.start < done || edit.end < edit.start || edit.end > text.length) return undefined;
    result += text.slice(done, edit.start) + edit.newText;
    done = edit.end;
  }
  return result + text.slice(done);
}

/**
 * Whether a node stands in several places: as an alias, or with an anchor that aliases repeat. An edit there would change
 * what nobody looked at.
 */
export function isRepeated(document: YamlDocument, node: YamlNode): boolean {
  return node.borrowed || document.repeated.some(({ start, end }) => start <= node.start && node.end <= end);
}

/**
 * Adds a key to a map, by default behind its last one. A key that is there with an explicit or implied null gets the
 * value; one with any other value, or merged in from elsewhere, is left alone (`undefined`).
 */
export function insertKey(
  document: YamlDocument,
  map: MapNode,
  key: string,
  value: PlainValue,
  options: InsertOptions = {},
): Edits {
  if (isRepeated(document, map) || map.open) return undefined;
  const existing = map.entries.find((entry) => entry.key.text === key);
  if (existing !== undefined) return fillNull(document, map, existing, value);
  if (map.flow) {
    if (isEmptyFlow(document, map)) return fillEmpty(document, map, { [key]: value });
    return insertInFlow(document, map, flowPlace(map, options), (place) =>
      place.multiline
        ? formatFlowLines({ [key]: value }, place).slice(1, -1)
        : [`${formatFlowKey(key, place.quoting)}: ${formatFlow(value, place.quoting)}`],
    );
  }
  return insertInBlockMap(document, map, key, value, options);
}

/**
 * Sets the value at a path below a map and creates the maps that are missing on the way, also in place of `{}` and
 * null. A scalar at the end of the path is replaced; a map or list there is left alone.
 */
export function insertPath(
  document: YamlDocument,
  map: MapNode,
  path: readonly string[],
  value: PlainValue,
  options: Pick<InsertOptions, 'comment'> = {},
): Edits {
  let at = map;
  for (const [depth, key] of path.entries()) {
    const rest = path.slice(depth + 1);
    const entry = at.entries.find((candidate) => candidate.key.text === key);
    if (entry === undefined || isKnownNull(entry.value))
      return insertKey(document, at, key, nest(rest, value), options);
    if (entry.key.borrowed) return undefined;
    if (entry.value.kind === 'map' && rest.length > 0) {
      at = entry.value;
    } else if (entry.value.kind === 'scalar' && rest.length === 0 && isPlainScalar(value)) {
      return replaceScalar(document, entry.value, value);
    } else {
      return undefined;
    }
  }
  return undefined;
}

/** `!!int `, with an anchor or without, right before a value. */
const TAG_BEFORE = /(?:^|[\s,[{])!\S*[ \t]+(?:&\S+[ \t]+)?$/;
const LONGEST_TAG = 200;

/** Puts another scalar in the place of one. A string keeps the quotes of the one before it. */
export function replaceScalar(
  document: YamlDocument,
  scalar: ScalarNode,
  value: string | number | boolean | null,
): Edits {
  if (isRepeated(document, scalar) || scalar.unknown || Object.is(scalar.value, value)) return undefined;
  const place = locate(document, scalar);
  if (place === undefined) return undefined;
  const { text } = document;
  // What a tag makes of other text is the tag's affair.
  if (TAG_BEFORE.test(text.slice(Math.max(0, scalar.start - LONGEST_TAG), scalar.start))) return undefined;
  const flow = place.some(({ parent }) => parent.flow);
  if (scalar.start === scalar.end) return fillNothing(document, scalar, formatScalar(value, flow), flow);
  const isBlock = scalar.style === 'literal' || scalar.style === 'folded';
  if (isBlock && typeof value === 'string' && value.includes('\n')) {
    const replaced = replaceBlockScalar(text, scalar, value);
    if (replaced !== undefined) return [replaced];
  }
  const style = scalar.style === 'single' || scalar.style === 'double' ? scalar.style : undefined;
  const newText = formatScalar(value, flow, style);
  return [{ start: scalar.start, end: isBlock ? endOf(text, scalar) : scalar.end, newText }];
}

/** Writes a map or list in flow style in the place of a scalar that stands on its line. */
export function replaceWithFlow(document: YamlDocument, scalar: ScalarNode, value: PlainValue): Edits {
  if (isRepeated(document, scalar) || scalar.unknown || scalar.start === scalar.end) return undefined;
  if (scalar.style === 'literal' || scalar.style === 'folded') return undefined;
  return [{ start: scalar.start, end: scalar.end, newText: formatFlow(value, quotingOf(document, false)) }];
}

/**
 * Takes an entry out of a map: in block style the whole lines with the comment behind the value, in flow style the
 * entry and its comma. A map that loses its only entry becomes `{}`.
 */
export function removeEntry(document: YamlDocument, map: MapNode, key: string): Edits {
  const entry = map.entries.find((candidate) => candidate.key.text === key);
  if (isRepeated(document, map) || entry === undefined || entry.key.borrowed) return undefined;
  const span = { start: entry.key.start, end: Math.max(entry.value.end, entry.key.end) };
  if (map.flow) return removeFromFlow(document, map, span, entry.value);
  if (span.start === map.start && span.end === map.end) return emptied(document, map, '{}');
  return removeBlockLines(document, map, span.start, entry.value);
}

/** Takes an item out of a list, as {@link removeEntry}; a list that loses its only item becomes `[]`. */
export function removeItem(document: YamlDocument, sequence: SequenceNode, index: number): Edits {
  const item = sequence.items[index];
  if (isRepeated(document, sequence) || item === undefined) return undefined;
  if (sequence.flow) return removeFromFlow(document, sequence, item, item);
  if (sequence.items.length === 1) return emptied(document, sequence, '[]');
  const dash = dashOf(document.text, sequence, item);
  return dash === undefined ? undefined : removeBlockLines(document, sequence, dash, item);
}

/** Adds an item behind the last one of a list. */
export function appendItem(document: YamlDocument, sequence: SequenceNode, value: PlainValue): Edits {
  if (isRepeated(document, sequence) || sequence.open) return undefined;
  if (sequence.flow) {
    if (isEmptyFlow(document, sequence)) return fillEmpty(document, sequence, [value]);
    return insertInFlow(document, sequence, { after: sequence.items.at(-1) }, (place) =>
      place.multiline ? formatFlowLines([value], place).slice(1, -1) : [formatFlow(value, place.quoting)],
    );
  }
  const { text } = document;
  const column = blockColumn(text, sequence.start);
  const last = sequence.items.at(-1);
  if (column === undefined || last === undefined || isConditional(document, sequence, last.end))
    return undefined;
  return appendLines(text, endOf(text, last), column, formatBlockItem(value, blockStyle(document)));
}

/** Gives an entry another key, with the quotes of the old one. */
export function renameKey(document: YamlDocument, entry: Entry, newKey: string): Edits {
  const { key } = entry;
  if (isRepeated(document, key) || key.unknown || key.text === newKey || key.start === key.end)
    return undefined;
  const place = locate(document, entry.value);
  if (place === undefined) return undefined;
  const style = key.style === 'single' || key.style === 'double' ? key.style : undefined;
  const flow = place.some(({ parent }) => parent.flow);
  return [{ start: key.start, end: key.end, newText: formatKey(newKey, flow, style) }];
}

/** Adds a document behind this one, whatever follows it in the file. */
export function appendDocument(document: YamlDocument, yamlText: string): Edits {
  const { text } = document;
  const newline = newlineOf(text, text.length);
  const body = yamlText.replace(/\r\n|\r|\n/g, newline).replace(/[\r\n]*$/, newline);
  const end = text.length;
  const glue = text.endsWith('\n') || text.endsWith('\r') || text.length === 0 ? '' : newline;
  return [{ start: end, end, newText: `${glue}---${newline}${body}` }];
}

// Where things stand

interface Step {
  readonly parent: MapNode | SequenceNode;
  /** The entry of a map that leads on. */
  readonly entry: Entry | undefined;
}

/** The containers around a node, outermost first; `undefined` when it is no part of the document's own text. */
function locate(document: YamlDocument, node: YamlNode): readonly Step[] | undefined {
  const steps: Step[] = [];
  let at: YamlNode | undefined = document.root;
  while (at !== undefined && at !== node) {
    if (at.kind === 'scalar' || at.borrowed) return undefined;
    const container: MapNode | SequenceNode = at;
    if (container.kind === 'sequence') {
      at = container.items.find((item) => item === node || contains(item, node));
      steps.push({ parent: container, entry: undefined });
    } else {
      const entry: Entry | undefined = container.entries.find(
        ({ key, value }) => value === node || key === node || (!key.borrowed && contains(value, node)),
      );
      steps.push({ parent: container, entry });
      at = entry?.key === node ? entry.key : entry?.value;
    }
  }
  return at === undefined ? undefined : steps;
}

function contains(outer: YamlNode, inner: Span): boolean {
  return !outer.borrowed && outer.kind !== 'scalar' && outer.start <= inner.start && inner.end <= outer.end;
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13;
}

function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && !isLineBreak(text.charCodeAt(start - 1))) start--;
  return start;
}

/** The offset of the line break, or of the end of the text. */
function lineEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && !isLineBreak(text.charCodeAt(end))) end++;
  return end;
}

function afterLineBreak(text: string, at: number): number {
  if (text.charCodeAt(at) === 13 && text.charCodeAt(at + 1) === 10) return at + 2;
  return at < text.length ? at + 1 : at;
}

/** The line break in use around a place: that of its line, else of the line above, else of the file's first. */
function newlineOf(text: string, at: number): string {
  const end = lineEnd(text, at);
  const start = lineStart(text, at);
  const from =
    end < text.length ? end : start > 0 ? (text.charCodeAt(start - 2) === 13 ? start - 2 : start - 1) : -1;
  if (from < 0) return '\n';
  return text.slice(from, afterLineBreak(text, from));
}

function isBlank(text: string, start: number, end: number): boolean {
  return /^[ \t]*$/.test(text.slice(start, end));
}

/** Behind a value on its line may stand a comment; a value left out may have an anchor or a tag there. */
function endsLine(text: string, at: number, nothing: boolean): boolean {
  const rest = text.slice(at, lineEnd(text, at));
  return (nothing ? /^(?:[ \t]+[&!]\S*)*[ \t]*(?:[ \t]#.*)?$/ : /^[ \t]*(?:[ \t]#.*)?$/).test(rest);
}

/**
 * The column of a block collection, where only indentation and the dashes of lists around it stand before it;
 * `undefined` for what no line can be added to, such as a map behind `? `.
 */
function blockColumn(text: string, at: number): number | undefined {
  const before = text.slice(lineStart(text, at), at);
  return /^ *(?:- +)*$/.test(before) ? before.length : undefined;
}

/** Where a node's text ends, with the blank lines that belong to a block scalar. */
function endOf(text: string, node: YamlNode): number {
  if (node.borrowed) return node.end;
  if (node.kind === 'map' || node.kind === 'sequence') {
    if (node.flow) return node.end;
    const last =
      node.kind === 'map' ? node.entries.findLast(({ key }) => !key.borrowed)?.value : node.items.at(-1);
    return last !== undefined && last.end === node.end ? endOf(text, last) : node.end;
  }
  if (node.style !== 'literal' && node.style !== 'folded') return node.end;
  const header = /^[|>][-+0-9]*/.exec(text.slice(node.start, node.start + 4))?.[0] ?? '';
  const keep = header.includes('+');
  const contentStart = lineStart(text, node.end);
  const firstLine = afterLineBreak(text, lineEnd(text, node.start));
  const empty = contentStart < firstLine;
  const indent = empty ? 0 : indentOfBlockScalar(text, firstLine, node.end);
  let end = node.end;
  let line = afterLineBreak(text, lineEnd(text, node.end));
  while (line < text.length) {
    const stop = lineEnd(text, line);
    if (!isBlank(text, line, stop)) break;
    // Lines of white space beyond the indentation are content, and so is every blank line of a scalar that keeps them.
    if (keep || stop - line > indent) end = stop;
    line = afterLineBreak(text, stop);
  }
  return end;
}

function indentOfBlockScalar(text: string, firstLine: number, end: number): number {
  let indent = Number.POSITIVE_INFINITY;
  for (let line = firstLine; line < end; line = afterLineBreak(text, lineEnd(text, line))) {
    let at = line;
    while (text.charCodeAt(at) === 32) at++;
    if (!isLineBreak(text.charCodeAt(at))) indent = Math.min(indent, at - line);
  }
  return Number.isFinite(indent) ? indent : 0;
}

/** The dash of an item, which may stand on a line above it. */
function dashOf(text: string, sequence: SequenceNode, item: YamlNode): number | undefined {
  const first = lineStart(text, sequence.start);
  const column = sequence.start - first;
  for (
    let line = lineStart(text, item.start);
    line >= first;
    line = lineStart(text, previousLine(text, line))
  ) {
    const dash = line + column;
    const before = text.slice(line, dash);
    if (dash <= item.start && text.charCodeAt(dash) === 45 && (line === first || /^ *$/.test(before)))
      return dash;
    if (line === 0) return undefined;
  }
  return undefined;
}

/** An offset on the line before. */
function previousLine(text: string, line: number): number {
  const breakAt = line - 1;
  return text.charCodeAt(breakAt) === 10 && text.charCodeAt(breakAt - 1) === 13 ? breakAt - 1 : breakAt;
}

const TEMPLATE_CONTROL = /(?:\{\{-?\s*|\{%-?\s*)(if|range|with|for|end(?:if|for)?)\b/g;

/** How many template blocks are open at the end of a stretch of text that were not at its start. */
function openedBlocks(text: string, start: number, end: number): number {
  let depth = 0;
  for (const [, word] of text.slice(start, end).matchAll(TEMPLATE_CONTROL)) {
    depth += word?.startsWith('end') === true ? -1 : 1;
  }
  return depth;
}

/** Whether a template block begins or ends within a stretch of text. */
function isUnbalanced(document: YamlDocument, start: number, end: number): boolean {
  return document.templated && openedBlocks(document.text, start, end) !== 0;
}

/** Whether a template decides if a line at an offset is in a container, which is there without it. */
function isConditional(document: YamlDocument, container: MapNode | SequenceNode, at: number): boolean {
  if (!document.templated) return false;
  const { text } = document;
  const depth = openedBlocks(text, 0, at);
  const step = locate(document, container)?.at(-1);
  if (step?.entry !== undefined) return openedBlocks(text, 0, step.entry.key.start) !== depth;
  if (step !== undefined || container.kind === 'sequence')
    return openedBlocks(text, 0, container.start) !== depth;
  // All of a file may stand in one block, but not only some of its keys.
  return container.entries.some(({ key }) => !key.borrowed && openedBlocks(text, 0, key.start) < depth);
}

function isKnownNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null && !node.unknown && !node.borrowed;
}

function isPlainScalar(value: PlainValue): value is string | number | boolean | null {
  return value === null || typeof value !== 'object';
}

function isEmptyValue(value: PlainValue): boolean {
  return (
    isPlainScalar(value) || (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)
  );
}

function nest(path: readonly string[], value: PlainValue): PlainValue {
  return path.reduceRight<PlainValue>((inner, key) => ({ [key]: inner }), value);
}

/** How the author indents, from the first places that show it: by two, lists too, when there is none. */
function blockStyle(document: YamlDocument): BlockStyle {
  const { text } = document;
  let indent: number | undefined;
  let listIndent: number | undefined;
  const queue: YamlNode[] = document.root === undefined ? [] : [document.root];
  for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
    if (node.kind === 'scalar' || node.flow || node.borrowed) continue;
    if (node.kind === 'sequence') {
      queue.push(...node.items);
      continue;
    }
    for (const { key, value } of node.entries) {
      if (key.borrowed || value.borrowed || value.kind === 'scalar' || value.flow) continue;
      const own = blockColumn(text, key.start);
      const inner = blockColumn(text, value.start);
      if (own === undefined || inner === undefined) continue;
      if (value.kind === 'map') indent ??= inner - own;
      else listIndent ??= inner - own;
    }
    if (indent !== undefined && listIndent !== undefined) break;
    for (const { value } of node.entries) queue.push(value);
  }
  const step = indent ?? (listIndent !== undefined && listIndent > 0 ? listIndent : 2);
  return { indent: step, listIndent: listIndent ?? step };
}

// Block style

function joinLines(lines: readonly string[], column: number, newline: string): string {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line)).join(newline);
}

/** Lines behind the line on which something ends. */
function appendLines(
  text: string,
  end: number,
  column: number,
  lines: readonly string[],
  nothing = true,
): Edits {
  if (!endsLine(text, end, nothing)) return undefined;
  const newline = newlineOf(text, end);
  const at = lineEnd(text, end);
  return [{ start: at, end: at, newText: newline + joinLines(lines, column, newline) }];
}

function insertInBlockMap(
  document: YamlDocument,
  map: MapNode,
  key: string,
  value: PlainValue,
  options: InsertOptions,
): Edits {
  const { text } = document;
  const column = blockColumn(text, map.start);
  if (column === undefined) return undefined;
  const lines = commented(formatBlockEntry(key, value, blockStyle(document)), value, options.comment);
  const own = map.entries.filter((entry) => !entry.key.borrowed);
  const before = own.findIndex((entry) => entry.key.text === options.before);
  if (before === 0 && own[0]?.key.start === map.start) {
    // In front of the first key, which may share its line with the dash of a list.
    const newline = newlineOf(text, map.start);
    const newText = joinLines(lines, column, newline).trimStart() + newline + ' '.repeat(column);
    return [{ start: map.start, end: map.start, newText }];
  }
  const after = before > 0 ? own[before - 1] : own.find((entry) => entry.key.text === options.after);
  const end = after === undefined ? endOf(text, map) : endOf(text, after.value);
  if (isConditional(document, map, end) || !endsLine(text, end, true)) return undefined;
  return appendLines(text, behindOwnComments(text, end, column), column, lines);
}

/** Comments on the lines behind a value that are indented deeper than its key belong to what stands in it. */
function behindOwnComments(text: string, end: number, column: number): number {
  let behind = end;
  for (let line = afterLineBreak(text, lineEnd(text, end)); line < text.length;) {
    const stop = lineEnd(text, line);
    const indent = /^ *(?=#)/.exec(text.slice(line, stop))?.[0].length;
    if (indent === undefined || indent <= column) break;
    behind = stop;
    line = afterLineBreak(text, stop);
  }
  return behind;
}

/** With a comment behind a value that stands on the last line. */
function commented(
  lines: readonly string[],
  value: PlainValue,
  comment: string | undefined,
): readonly string[] {
  const last = lines.at(-1);
  if (comment === undefined || last === undefined || !endsInScalar(value)) return lines;
  return [...lines.slice(0, -1), `${last} ${comment}`];
}

function endsInScalar(value: PlainValue): boolean {
  if (typeof value === 'string') return !value.includes('\n');
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return false;
  const inner = Object.values(value).at(-1);
  return inner !== undefined && endsInScalar(inner);
}

/** The comment behind a value in block style, which belongs to it: to be taken along when it is moved. */
export function commentBehind(document: YamlDocument, entry: Entry | undefined): string | undefined {
  const value = entry?.value;
  if (
    value === undefined ||
    value.borrowed ||
    value.kind !== 'scalar' ||
    value.style === 'literal' ||
    value.style === 'folded'
  )
    return undefined;
  const { text } = document;
  return /^[ \t]+(#.*)$/.exec(text.slice(value.end, lineEnd(text, value.end)))?.[1]?.trimEnd();
}

function removeBlockLines(
  document: YamlDocument,
  container: MapNode | SequenceNode,
  start: number,
  value: YamlNode,
): Edits {
  const { text } = document;
  const column = blockColumn(text, container.start);
  const end = endOf(text, value);
  if (column === undefined || !endsLine(text, end, true) || isUnbalanced(document, start, end))
    return undefined;
  const last = lineEnd(text, end);
  const line = lineStart(text, start);
  if (isBlank(text, line, start)) {
    const kept = keepsBlankLines(text, nodeBefore(container, start));
    if (last < text.length || line === 0 || kept) {
      let stop = afterLineBreak(text, last);
      // A scalar that keeps the blank lines behind it would get those behind what goes.
      while (kept && stop < text.length && isBlank(text, stop, lineEnd(text, stop))) {
        stop = afterLineBreak(text, lineEnd(text, stop));
      }
      return [{ start: line, end: stop, newText: '' }];
    }
    return [{ start: line - (text.charCodeAt(line - 2) === 13 ? 2 : 1), end: last, newText: '' }];
  }
  // The first of a collection that starts behind a dash: what follows it moves up to its place.
  let next = last;
  while (next < text.length) {
    const content = afterLineBreak(text, next);
    const stop = lineEnd(text, content);
    if (!isBlank(text, content, stop)) {
      next = content + text.slice(content, stop).search(/[^ \t]/);
      return start === container.start ? [{ start, end: next, newText: '' }] : undefined;
    }
    next = stop;
  }
  return undefined;
}

/** The value before an offset in a container. */
function nodeBefore(container: MapNode | SequenceNode, at: number): YamlNode | undefined {
  const values =
    container.kind === 'sequence'
      ? container.items
      : container.entries.flatMap(({ key, value }) => (key.borrowed ? [] : [value]));
  return values.findLast((value) => value.start < at);
}

/** Whether a node ends in a block scalar with `+`. */
function keepsBlankLines(text: string, node: YamlNode | undefined): boolean {
  if (node === undefined || node.borrowed) return false;
  if (node.kind !== 'scalar') return keepsBlankLines(text, nodeBefore(node, node.end));
  return /^[|>][0-9]?\+/.test(text.slice(node.start, node.start + 3));
}

/** A block collection without anything left in it. */
function emptied(document: YamlDocument, container: MapNode | SequenceNode, newText: '{}' | '[]'): Edits {
  const { text } = document;
  const steps = locate(document, container);
  const end = endOf(text, container);
  if (steps === undefined || blockColumn(text, container.start) === undefined || !endsLine(text, end, true)) {
    return undefined;
  }
  if (isUnbalanced(document, container.start, end)) return undefined;
  const line = lineStart(text, container.start);
  const entry = steps.at(-1)?.entry;
  if (!isBlank(text, line, container.start) || entry === undefined) {
    return [{ start: container.start, end, newText }];
  }
  // Its place is behind the key, on a line above, with anchors, tags and comments between.
  const colon = colonAfter(text, entry.key.end);
  if (colon === undefined) return undefined;
  const properties = /^(?:[ \t]+[&!]\S*)*/.exec(text.slice(colon, lineEnd(text, colon)))?.[0] ?? '';
  const place = colon + properties.length;
  if (place > line) return undefined;
  const last = lineEnd(text, end);
  const lines =
    last < text.length || line === 0
      ? { start: line, end: afterLineBreak(text, last), newText: '' }
      : { start: line - (text.charCodeAt(line - 2) === 13 ? 2 : 1), end: last, newText: '' };
  if (lines.start < place) return undefined;
  return [{ start: place, end: place, newText: ` ${newText}` }, lines];
}

function colonAfter(text: string, at: number): number | undefined {
  let colon = at;
  while (text.charCodeAt(colon) === 32 || text.charCodeAt(colon) === 9) colon++;
  return text.charCodeAt(colon) === 58 ? colon + 1 : undefined;
}

function replaceBlockScalar(text: string, scalar: ScalarNode, value: string): Edit | undefined {
  const header = /^[|>][-+]?(?=[ \t\r\n])/.exec(text.slice(scalar.start, scalar.start + 3))?.[0];
  if (
    header === undefined ||
    /^\s|[^\S\n]$|[^\S\n]\n|\n\n$|[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe]/.test(value)
  )
    return undefined;
  const firstLine = afterLineBreak(text, lineEnd(text, scalar.start));
  const indent = indentOfBlockScalar(text, firstLine, scalar.end);
  if (indent === 0) return undefined;
  const newline = newlineOf(text, scalar.start);
  const chomp = value.endsWith('\n') ? '' : '-';
  const body = joinLines(value.replace(/\n$/, '').split('\n'), indent, newline);
  const comment = text.slice(scalar.start + header.length, lineEnd(text, scalar.start));
  return { start: scalar.start, end: endOf(text, scalar), newText: `|${chomp}${comment}${newline}${body}` };
}

// Values that are not there yet

/** Writes a scalar where none is: behind a colon or a dash. */
function fillNothing(document: YamlDocument, scalar: ScalarNode, newText: string, flow: boolean): Edits {
  const { text } = document;
  const at = scalar.start;
  const before = text.charCodeAt(at - 1);
  const rest = text.slice(at, lineEnd(text, at));
  if (!(flow ? /^[ \t]*(?:[,}\]]|[ \t]#.*$|$)/ : /^[ \t]*(?:[ \t]#.*)?$/).test(rest)) return undefined;
  if (before === 58 || before === 45) return [{ start: at, end: at, newText: ` ${newText}` }];
  return flow ? [{ start: at, end: at, newText: `: ${newText}` }] : undefined;
}

function fillNull(document: YamlDocument, map: MapNode, entry: Entry, value: PlainValue): Edits {
  if (entry.key.borrowed || entry.value.kind !== 'scalar' || !isKnownNull(entry.value) || value === null)
    return undefined;
  if (isPlainScalar(value)) return replaceScalar(document, entry.value, value);
  if (isEmptyValue(value) || map.flow) {
    const newText = formatFlow(value, quotingOf(document, false));
    if (entry.value.start === entry.value.end) return fillNothing(document, entry.value, newText, map.flow);
    return [{ start: entry.value.start, end: entry.value.end, newText }];
  }
  return fillEmpty(document, entry.value, value);
}

function isEmptyFlow(document: YamlDocument, node: MapNode | SequenceNode): boolean {
  return /^[{[][ \t]*[}\]]$/.test(document.text.slice(node.start, node.end));
}

/** Puts a map or list with content where `{}`, `[]` or nothing is: in block style, but within flow style. */
function fillEmpty(
  document: YamlDocument,
  node: YamlNode,
  value: Exclude<PlainValue, string | number | boolean | null>,
): Edits {
  const { text } = document;
  const steps = locate(document, node);
  if (steps === undefined) return undefined;
  const style = blockStyle(document);
  const step = steps.at(-1);
  const parent = step?.parent;
  const inFlow = steps.some((outer) => outer.parent.flow);
  const lines = formatBlock(value, style);
  if (!inFlow && parent?.kind === 'map' && step?.entry !== undefined) {
    const column = blockColumn(text, step.entry.key.start);
    const colon = colonAfter(text, step.entry.key.end);
    const sameLine = lineStart(text, node.start) === lineStart(text, step.entry.key.start);
    if (
      column !== undefined &&
      colon !== undefined &&
      sameLine &&
      endsLine(text, node.end, node.start === node.end)
    ) {
      let gap = node.start;
      while (gap > colon && (text.charCodeAt(gap - 1) === 32 || text.charCodeAt(gap - 1) === 9)) gap--;
      const newline = newlineOf(text, node.end);
      const at = lineEnd(text, node.end);
      const body =
        newline +
        joinLines(lines, column + (Array.isArray(value) ? style.listIndent : style.indent), newline);
      if (gap === node.end) return [{ start: at, end: at, newText: body }];
      return at === node.end
        ? [{ start: gap, end: at, newText: body }]
        : [
            { start: gap, end: node.end, newText: '' },
            { start: at, end: at, newText: body },
          ];
    }
  }
  if (node.start === node.end) return undefined;
  const column = blockColumn(text, node.start);
  // A comment behind it would end up behind the last of several lines.
  const alone = isBlank(text, node.end, lineEnd(text, node.end));
  const fits = alone || (lines.length === 1 && endsLine(text, node.end, false));
  if (!inFlow && parent?.kind !== 'map' && column !== undefined && fits) {
    return [
      {
        start: node.start,
        end: node.end,
        newText: joinLines(lines, column, newlineOf(text, node.end)).trimStart(),
      },
    ];
  }
  const quoting = quotingOf(document, parent?.kind === 'map' && isQuoted(parent));
  return [{ start: node.start, end: node.end, newText: formatFlow(value, quoting) }];
}

function formatBlock(
  value: Exclude<PlainValue, string | number | boolean | null>,
  style: BlockStyle,
): string[] {
  if (isList(value)) return value.flatMap((item) => formatBlockItem(item, style));
  return Object.entries(value).flatMap(([key, inner]) => formatBlockEntry(key, inner, style));
}

function isList(value: PlainValue): value is readonly PlainValue[] {
  return Array.isArray(value);
}

// Flow style

interface FlowPlace {
  /** The last node before the new one; first of all when there is none. */
  readonly after: YamlNode | undefined;
}

function flowPlace(map: MapNode, options: InsertOptions): FlowPlace {
  const own = map.entries.filter((entry) => !entry.key.borrowed);
  const before = own.findIndex((entry) => entry.key.text === options.before);
  if (before >= 0) return { after: own[before - 1]?.value };
  const after = own.find((entry) => entry.key.text === options.after) ?? own.at(-1);
  return { after: after?.value };
}

interface FlowStyle {
  readonly multiline: boolean;
  /** All strings are in double quotes, as kubectl prints KYAML. */
  readonly quoting: Quoting;
}

/** All strings of the map are in double quotes, and there are some. */
function isQuoted(map: MapNode): boolean {
  const scalars = map.entries.flatMap(({ value }) =>
    value.kind === 'scalar' && !value.borrowed ? [value] : [],
  );
  return (
    scalars.some(({ style }) => style === 'double') &&
    scalars.every(({ style, value }) => style === 'double' || typeof value !== 'string')
  );
}

/** How new text is quoted in flow style: as a JSON document has to be, else as what stands around it. */
function quotingOf(document: YamlDocument, quotedAround: boolean): Quoting {
  const { root } = document;
  if (root?.kind !== 'map' || !root.flow) return quotedAround ? 'values' : 'none';
  if (isJson(document)) return 'json';
  return quotedAround || isQuoted(root) ? 'values' : 'none';
}

const jsonDocuments = new WeakMap<YamlDocument, boolean>();

/** Whether the object of a document is JSON, which an edit has to keep it. */
export function isJson(document: YamlDocument): boolean {
  let known = jsonDocuments.get(document);
  if (known === undefined) {
    try {
      const { root } = document;
      JSON.parse(root === undefined ? '' : document.text.slice(root.start, root.end));
      known = true;
    } catch {
      known = false;
    }
    jsonDocuments.set(document, known);
  }
  return known;
}

function insertInFlow(
  document: YamlDocument,
  container: MapNode | SequenceNode,
  place: FlowPlace,
  format: (style: FlowStyle) => readonly string[],
): Edits {
  const { text } = document;
  if (isUnbalanced(document, container.start, container.end)) return undefined;
  const quoting = quotingOf(
    document,
    container.kind === 'map'
      ? isQuoted(container)
      : container.items.length > 0 &&
          container.items.every((item) =>
            item.kind === 'map' ? isQuoted(item) : item.kind === 'scalar' && item.style === 'double',
          ),
  );
  const { after } = place;
  if (after === undefined) {
    const first =
      container.kind === 'map' ? container.entries.find(({ key }) => !key.borrowed)?.key : container.items[0];
    // A map of nothing but merge keys, or one of comments: what stands in it is not listed.
    if (first === undefined) return undefined;
    const lead = text.slice(lineStart(text, first.start), first.start);
    const multiline = /^[ ]*$/.test(lead);
    const newline = newlineOf(text, first.start);
    const lines = format({ multiline, quoting });
    const newText = multiline
      ? `${lines.join(newline + lead)},${newline}${lead}`.replace(/,,(?=\s*$)/, ',')
      : `${lines.join(' ')}, `;
    return [{ start: first.start, end: first.start, newText }];
  }
  const rest = text.slice(after.end);
  // Behind a value that is not there may stand an anchor.
  const behind = /^[ \t]*(,?)[ \t]*((?<=[ \t,])#[^\r\n]*)?/.exec(rest);
  if (behind === null) return undefined;
  const next = rest.charCodeAt(behind[0].length);
  const comma = behind[1] === ',';
  const endsHere = isLineBreak(next);
  if (!endsHere && !comma && next !== 125 && next !== 93) return undefined;
  const key = container.kind === 'map' ? container.entries.find(({ value }) => value === after)?.key : after;
  const lead = key === undefined ? '' : text.slice(lineStart(text, key.start), key.start);
  const multiline = /^ *$/.test(lead) && lineStart(text, (key ?? after).start) > container.start;
  const commaEnd = comma ? after.end + rest.indexOf(',') + 1 : after.end;
  if (!multiline || !endsHere) {
    const newText = format({ multiline: false, quoting }).join(' ');
    const at = commaEnd;
    return [{ start: at, end: at, newText: comma ? ` ${newText},` : `, ${newText}` }];
  }
  const newline = newlineOf(text, after.end);
  const lines = format({ multiline: true, quoting });
  const body = newline + joinLines(lines, lead.length, newline).replace(/,$/, comma ? ',' : '');
  const at = after.end + behind[0].length;
  if (comma) return [{ start: at, end: at, newText: body }];
  if (at === after.end) return [{ start: at, end: at, newText: `,${body}` }];
  return [
    { start: after.end, end: after.end, newText: ',' },
    { start: at, end: at, newText: body },
  ];
}

function removeFromFlow(
  document: YamlDocument,
  container: MapNode | SequenceNode,
  span: Span,
  value: YamlNode,
): Edits {
  const { text } = document;
  if (isUnbalanced(document, container.start, container.end)) return undefined;
  const rest = /^[ \t]*(,?)[ \t]*/.exec(text.slice(span.end, container.end));
  if (rest === null || (value.start === value.end && /^[ \t]*[&!]/.test(text.slice(span.end, container.end))))
    return undefined;
  const comma = rest[1] === ',';
  const afterComma = span.end + rest[0].length;
  const line = lineStart(text, span.start);
  const comment = /^(?:#[^\r\n]*)?$/.test(text.slice(afterComma, lineEnd(text, afterComma)));
  if (line > container.start && isBlank(text, line, span.start) && comment) {
    return [{ start: line, end: afterLineBreak(text, lineEnd(text, afterComma)), newText: '' }];
  }
  // A comment behind what goes would run into what follows.
  if (!comma) {
    const next = text.charCodeAt(afterComma);
    if (next !== 125 && next !== 93 && !isLineBreak(next) && next !== 35) return undefined;
    const before = /,[ \t]*$/.exec(text.slice(container.start, span.start))?.[0] ?? '';
    return [{ start: span.start - before.length, end: span.end, newText: '' }];
  }
  const end = isLineBreak(text.charCodeAt(afterComma)) ? span.end + rest[0].trimEnd().length : afterComma;
  return [{ start: span.start, end, newText: '' }];
}
