import { nearest } from '../rules/nearest';
import type { Comment, YamlDocument } from '../yaml/document';
import type { MapNode, Span, YamlNode } from '../yaml/node';
import { isNull } from '../yaml/node';
import type { FileEdit } from './finding';
import { ruleMeta, ruleMetas } from './registry';
import { contains, enclosing, lineEnd, lineStart, nextLine } from './text';

/** The annotation whose value lists rules that its object (or pod template) is exempt from. */
export const ignoreAnnotation = 'plimsoll.dev/ignore';

/** One rule id, or `*`, in one suppression. All positions are relative to the document. */
export interface Suppression {
  /** A rule id, or `*` for every rule. */
  readonly rule: string;
  /** The id itself. */
  readonly at: Span;
  /** What is left when this id is taken out; absent where that is not ours to write. */
  readonly removal: FileEdit | undefined;
  /** Findings that start in here are hidden. */
  readonly covers: Span;
  readonly reason: string | undefined;
}

/** Something that looks like a suppression and is none. */
export interface SuppressionProblem {
  readonly kind: 'unknown' | 'misplaced' | 'without-reason';
  readonly at: Span;
  readonly message: string;
  readonly replacement?: string;
}

export interface Suppressions {
  readonly list: readonly Suppression[];
  readonly problems: readonly SuppressionProblem[];
}

const nothing: Suppressions = { list: [], problems: [] };
const cache = new WeakMap<YamlDocument, Suppressions>();

/** All suppressions of a document. A document that does not name the product is not even read. */
export function suppressionsOf(document: YamlDocument): Suppressions {
  if (!document.text.includes('plimsoll')) return nothing;
  let known = cache.get(document);
  if (known === undefined) cache.set(document, (known = readSuppressions(document)));
  return known;
}

function readSuppressions(document: YamlDocument): Suppressions {
  const list: Suppression[] = [];
  const problems: SuppressionProblem[] = [];
  for (const comment of document.comments) readComment(document, comment, list, problems);
  if (document.text.includes(ignoreAnnotation)) readAnnotations(document.root, undefined, [], list, problems);
  return { list, problems };
}

const directives = ['plimsoll-disable', 'plimsoll-disable-line', 'plimsoll-disable-next-line'];

function readComment(
  document: YamlDocument,
  comment: Comment,
  list: Suppression[],
  problems: SuppressionProblem[],
): void {
  const raw = document.text.slice(comment.start, comment.end);
  const match = /^#\s*(plimsoll-[\w-]*)/.exec(raw);
  const word = match?.[1];
  if (match === null || word === undefined) return;
  const wordStart = comment.start + match[0].length - word.length;
  const wordSpan = { start: wordStart, end: wordStart + word.length };
  if (!directives.includes(word)) {
    const near = nearest(word, directives);
    problems.push({
      kind: 'unknown',
      at: wordSpan,
      message: `Unknown comment "${word}" suppresses nothing; known are ${directives.join(', ')}`,
      ...(near === undefined ? {} : { replacement: near }),
    });
    return;
  }
  const read = readIds(document.text, wordSpan.end, comment.end);
  if (read.ids.length === 0) {
    problems.push({
      kind: 'unknown',
      at: wordSpan,
      message: `"${word}" names no rule, so it suppresses nothing; write rule ids after it, or * for all`,
    });
    return;
  }
  reportIds(read.ids, problems);
  const covers = coverOf(document, comment, word);
  if (typeof covers === 'string') {
    problems.push({ kind: 'misplaced', at: wordSpan, message: covers });
    return;
  }
  if (read.reason === undefined) {
    problems.push({
      kind: 'without-reason',
      at: wordSpan,
      message: `"${word}" gives no reason; write one after " -- "`,
    });
  }
  const whole = commentRemoval(document.text, comment);
  for (const id of read.ids) {
    if (!isKnown(id.text)) continue;
    list.push({
      rule: id.text,
      at: id.at,
      removal: read.ids.length === 1 ? whole : { ...id.withComma, newText: '' },
      covers,
      reason: read.reason,
    });
  }
}

/** The part of the document that a directive speaks of, or why it speaks of none. */
function coverOf(document: YamlDocument, comment: Comment, word: string): Span | string {
  const { text } = document;
  const ownStart = lineStart(text, comment.start);
  const alone = text.slice(ownStart, comment.start).trim() === '';
  switch (word) {
    case 'plimsoll-disable-line':
      if (alone)
        return `"${word}" stands on a line of its own; use plimsoll-disable-next-line, or put it behind a value`;
      return { start: ownStart, end: lineEnd(text, comment.start) };
    case 'plimsoll-disable-next-line': {
      let start = nextLine(text, comment.start);
      while (start < text.length && /^\s*(#|$)/.test(text.slice(start, lineEnd(text, start)))) {
        start = nextLine(text, start);
      }
      if (start >= text.length) return `"${word}" is not above a line, so it suppresses nothing`;
      return { start, end: lineEnd(text, start) };
    }
    default:
      return { start: 0, end: text.length };
  }
}

interface WrittenId {
  readonly text: string;
  readonly at: Span;
  /** The id and what separates it from its neighbour. */
  readonly withComma: Span;
}

/** Reads `rule, rule -- reason` between two offsets. */
function readIds(
  text: string,
  start: number,
  end: number,
): { readonly ids: readonly WrittenId[]; readonly reason: string | undefined } {
  const raw = text.slice(start, end);
  const dashes = /(^|\s)--(\s|$)/.exec(raw);
  const list = dashes === null ? raw : raw.slice(0, dashes.index);
  const reason = dashes === null ? '' : raw.slice(dashes.index + dashes[0].length).trim();
  const matches = [...list.matchAll(/[^\s,]+/g)];
  const ids = matches.map((match, index): WrittenId => {
    const from = start + match.index;
    const to = from + match[0].length;
    const next = matches[index + 1];
    const previous = matches[index - 1];
    const withComma =
      next !== undefined
        ? { start: from, end: start + next.index }
        : { start: previous === undefined ? from : start + previous.index + previous[0].length, end: to };
    return { text: match[0], at: { start: from, end: to }, withComma };
  });
  return { ids, reason: reason === '' ? undefined : reason };
}

function isKnown(id: string): boolean {
  return id === '*' || ruleMeta(id) !== undefined;
}

function reportIds(ids: readonly WrittenId[], problems: SuppressionProblem[]): void {
  for (const { text, at } of ids) {
    if (isKnown(text)) continue;
    const near = nearest(
      text,
      ruleMetas.map(({ id }) => id),
    );
    problems.push({
      kind: 'unknown',
      at,
      message:
        near === undefined
          ? `Unknown rule "${text}" in a suppression`
          : `Unknown rule "${text}" in a suppression; did you mean "${near}"?`,
      ...(near === undefined ? {} : { replacement: near }),
    });
  }
}

/** Takes out a comment: with its line when it is alone on it, else with the space before it. */
function commentRemoval(text: string, comment: Span): FileEdit {
  const start = lineStart(text, comment.start);
  const before = text.slice(start, comment.start);
  return before.trim() === ''
    ? { start, end: nextLine(text, comment.start), newText: '' }
    : { start: start + before.trimEnd().length, end: comment.end, newText: '' };
}

/**
 * An annotation covers the map whose `metadata.annotations` it is: the object, one item of a list, or a pod template.
 */
function readAnnotations(
  node: YamlNode | undefined,
  key: string | undefined,
  parents: readonly { readonly key: string | undefined; readonly map: MapNode }[],
  list: Suppression[],
  problems: SuppressionProblem[],
): void {
  if (node === undefined || node.borrowed || node.kind === 'scalar') return;
  if (node.kind === 'sequence') {
    for (const item of node.items) readAnnotations(item, undefined, parents, list, problems);
    return;
  }
  const inside = [...parents, { key, map: node }];
  for (const entry of node.entries) {
    if (entry.key.text !== ignoreAnnotation) {
      readAnnotations(entry.value, entry.key.text, inside, list, problems);
      continue;
    }
    const [owner, metadata, annotations] = inside.slice(-3);
    if (owner === undefined || metadata?.key !== 'metadata' || annotations?.key !== 'annotations') {
      problems.push({
        kind: 'misplaced',
        at: entry.key,
        message: `"${ignoreAnnotation}" is not in metadata.annotations, so it suppresses nothing`,
      });
    } else if (entry.value.kind === 'scalar') {
      readAnnotation(owner.map, entry.key, entry.value, list, problems);
    }
  }
}

function readAnnotation(
  owner: MapNode,
  key: Span,
  value: Extract<YamlNode, { kind: 'scalar' }>,
  list: Suppression[],
  problems: SuppressionProblem[],
): void {
  if (value.unknown) return;
  const read = isNull(value) ? { ids: [], reason: undefined } : readIds(value.text, 0, value.text.length);
  if (read.ids.length === 0) {
    problems.push({
      kind: 'unknown',
      at: isNull(value) ? key : value,
      message: `"${ignoreAnnotation}" names no rule, so it suppresses nothing; list rule ids, or "*" for all`,
    });
    return;
  }
  // Within plain and simply quoted text, the offsets of the value are those of the text but for the quote.
  const quote = value.style === 'plain' ? 0 : 1;
  const direct = value.end - value.start === value.text.length + 2 * quote && !value.borrowed;
  const placed = read.ids.map((id) =>
    direct ? { ...id, at: shift(id.at, value.start + quote) } : { ...id, at: value },
  );
  reportIds(placed, problems);
  if (read.reason === undefined) {
    problems.push({
      kind: 'without-reason',
      at: key,
      message: `"${ignoreAnnotation}" gives no reason; write one after " -- "`,
    });
  }
  for (const id of placed) {
    if (!isKnown(id.text)) continue;
    const removal =
      direct && read.ids.length > 1
        ? { ...shift(id.withComma, value.start + quote), newText: '' }
        : undefined;
    list.push({ rule: id.text, at: id.at, removal, covers: owner, reason: read.reason });
  }
}

function shift(span: Span, by: number): Span {
  return { start: span.start + by, end: span.end + by };
}

/**
 * Whether a suppression hides what is reported at a place (relative to the document). A finding counts to the line
 * that it starts on; one inside a text of several lines to the line of the key, where a comment can stand.
 */
export function hides(suppression: Suppression, document: YamlDocument, rule: string, at: Span): boolean {
  if (suppression.rule !== rule && suppression.rule !== '*') return false;
  if (contains(suppression.covers, at)) return true;
  const start = anchorOf(document, at);
  return suppression.covers.start <= start && start < suppression.covers.end;
}

/** Where the line is that a finding counts to. */
export function anchorOf(document: YamlDocument, at: Span): number {
  const around = enclosing(document.root, { start: at.start, end: at.start });
  const { scalar } = around;
  if (scalar === undefined) return at.start;
  const several = lineEnd(document.text, scalar.start) < scalar.end;
  return several ? around.start : at.start;
}

export const suppressionRule = {
  unknown: 'unknown-suppression',
  misplaced: 'unused-suppression',
  'without-reason': 'suppression-without-reason',
} as const satisfies Record<SuppressionProblem['kind'], string>;
