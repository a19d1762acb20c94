import type { Span, YamlNode } from '../yaml/node';

/** The offset of the first character of the line that holds an offset. */
export function lineStart(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && !isLineBreak(text.charCodeAt(at - 1))) at--;
  return at;
}

/** The offset of the end of the line that holds an offset, before its line break. */
export function lineEnd(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && !isLineBreak(text.charCodeAt(at))) at++;
  return at;
}

/** The start of the next line, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const end = lineEnd(text, offset);
  return text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10
    ? end + 2
    : Math.min(end + 1, text.length);
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13;
}

/** The line break that a text uses: that of its first line. */
export function lineBreakOf(text: string): string {
  const end = lineEnd(text, 0);
  return end < text.length ? text.slice(end, nextLine(text, 0)) : '\n';
}

export function contains(outer: Span, inner: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** What stands around a place in a document, from the outside in. */
export interface Enclosing {
  /** The offset where the innermost key or list item that holds the place starts. */
  readonly start: number;
  /** The scalar that the place is in or is, if it is in one. */
  readonly scalar: Span | undefined;
  /** The innermost key with its value that holds the place; `undefined` at the top. */
  readonly field: (Span & { readonly key: string; readonly keyEnd: number }) | undefined;
}

/** Finds the innermost key or item that holds a place. Borrowed nodes are not entered: their text is elsewhere. */
export function enclosing(root: YamlNode | undefined, place: Span): Enclosing {
  let node = root;
  let start = root?.start ?? 0;
  let field: Enclosing['field'];
  while (node !== undefined && !node.borrowed) {
    if (node.kind === 'scalar') return { start, scalar: contains(node, place) ? node : undefined, field };
    if (node.kind === 'sequence') {
      const item: YamlNode | undefined = node.items.find((candidate) => contains(candidate, place));
      if (item === undefined) break;
      start = item.start;
      node = item;
    } else {
      const entry = node.entries.find(
        ({ key, value }) =>
          !key.borrowed && contains({ start: key.start, end: Math.max(key.end, value.end) }, place),
      );
      if (entry === undefined) break;
      start = entry.key.start;
      field = {
        start: entry.key.start,
        end: Math.max(entry.key.end, entry.value.end),
        key: entry.key.text,
        keyEnd: entry.key.end,
      };
      if (contains(entry.key, place)) return { start, scalar: entry.key, field };
      node = entry.value;
    }
  }
  return { start, scalar: undefined, field };
}
