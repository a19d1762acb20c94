import type { ScalarNode, Span } from '../yaml/node';

/** The decoded text of a scalar, each character of which still knows where it stands in the document. */
export interface ScalarText {
  readonly node: ScalarNode;
  /** As YAML decodes it, templates and variables included as they are written. */
  readonly text: string;
  /** The place of a part of the text; of an aliased scalar, that of the alias. */
  span(start: number, end: number): Span;
}

/** Collects characters with their places. */
class Collector {
  text = '';
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  add(text: string, start: number, end: number): void {
    for (let index = 0; index < text.length; index += 1) {
      this.starts.push(start);
      this.ends.push(end);
    }
    this.text += text;
  }

  /** Drops spaces and tabs at the end, down to a length. */
  trimTo(length: number): void {
    let keep = this.text.length;
    while (keep > length && /[ \t]/.test(this.text[keep - 1] ?? '')) keep -= 1;
    this.text = this.text.slice(0, keep);
    this.starts.length = keep;
    this.ends.length = keep;
  }

  done(node: ScalarNode): ScalarText {
    const { text, starts, ends } = this;
    return {
      node,
      text,
      span: (start, end) => {
        if (end <= start) {
          const at = starts[start] ?? ends[start - 1] ?? node.end;
          return { start: at, end: at };
        }
        return { start: starts[start] ?? node.end, end: ends[end - 1] ?? node.end };
      },
    };
  }
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Plain and quoted scalars: line breaks fold, and double quotes have escapes. */
function readFlow(source: string, node: ScalarNode): ScalarText {
  const quote = node.style === 'double' ? '"' : node.style === 'single' ? "'" : '';
  const from = quote !== '' && source[node.start] === quote ? node.start + 1 : node.start;
  const to = quote !== '' && node.end - 1 >= from && source[node.end - 1] === quote ? node.end - 1 : node.end;
  const out = new Collector();
  // Up to here the text is kept even if it is white space, since an escape made it.
  let fixed = 0;
  for (let at = from; at < to;) {
    const char = source[at] ?? '';
    if (char === '\n' || char === '\r') {
      out.trimTo(fixed);
      let breaks = 0;
      let next = at;
      while (next < to && /[ \t\r\n]/.test(source[next] ?? '')) {
        if (source[next] === '\n' || (source[next] === '\r' && source[next + 1] !== '\n')) breaks += 1;
        next += 1;
      }
      out.add(breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), at, next);
      fixed = out.text.length;
      at = next;
    } else if (char === "'" && node.style === 'single' && source[at + 1] === "'") {
      out.add("'", at, at + 2);
      at += 2;
    } else if (char === '\\' && node.style === 'double') {
      const letter = source[at + 1] ?? '';
      const hex = hexLengths[letter];
      if (letter === '\n' || letter === '\r') {
        let next = at + 1;
        while (next < to && /[ \t\r\n]/.test(source[next] ?? '')) next += 1;
        fixed = out.text.length;
        at = next;
      } else if (hex !== undefined) {
        const code = Number.parseInt(source.slice(at + 2, at + 2 + hex), 16);
        out.add(
          Number.isNaN(code) || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code),
          at,
          at + 2 + hex,
        );
        fixed = out.text.length;
        at += 2 + hex;
      } else {
        out.add(escapes[letter] ?? letter, at, at + 2);
        fixed = out.text.length;
        at += 2;
      }
    } else {
      out.add(char, at, at + 1);
      at += 1;
    }
  }
  return out.done(node);
}

interface Line {
  /** Of the content, after the indentation of the block. */
  readonly start: number;
  readonly end: number;
}

/** Literal and folded block scalars. */
function readBlock(source: string, node: ScalarNode): ScalarText {
  const headerEnd = source.indexOf('\n', node.start);
  const out = new Collector();
  if (headerEnd < 0 || headerEnd >= node.end) return out.done(node);
  const header = source.slice(node.start, headerEnd);
  const raw: { readonly start: number; readonly end: number }[] = [];
  for (let at = headerEnd + 1; at <= node.end;) {
    const next = source.indexOf('\n', at);
    const end = next < 0 || next > node.end ? node.end : next;
    raw.push({ start: at, end: source[end - 1] === '\r' && end > at ? end - 1 : end });
    at = end + 1;
  }
  const indentOf = (line: { readonly start: number; readonly end: number }): number =>
    /^ */.exec(source.slice(line.start, line.end))?.[0].length ?? 0;
  const isBlank = (line: { readonly start: number; readonly end: number }): boolean =>
    /^ *$/.test(source.slice(line.start, line.end));
  const explicit = /[1-9]/.test(header.replace(/#.*/, ''));
  const written = raw.filter((line) => !isBlank(line));
  const first = written[0];
  if (first === undefined) return out.done(node);
  // With an explicit indicator the first line may be indented further than the block; the decoded text tells how far.
  const firstText = node.text.split('\n').find((line) => /[^ ]/.test(line)) ?? '';
  const further = explicit ? firstText.length - firstText.replace(/^ +/, '').length : 0;
  const indent = indentOf(first) - further;
  const lines: Line[] = raw.map((line) => ({
    start: Math.min(line.start + indent, line.end),
    end: line.end,
  }));
  const folded = node.style === 'folded';
  const isMore = (line: Line): boolean =>
    /[ \t]/.test(source.slice(line.start, line.start + 1)) && line.end > line.start;
  const isEmpty = (line: Line): boolean => line.end <= line.start;
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      const before = lines[index - 1] ?? line;
      const breakAt = before.end;
      if (!folded) {
        out.add('\n', breakAt, line.start);
      } else if (isEmpty(line)) {
        // Decided by the next line with text.
      } else {
        let previous = index - 1;
        while (previous >= 0 && isEmpty(lines[previous] ?? line)) previous -= 1;
        const empties = index - 1 - previous;
        const last = lines[previous];
        if (last === undefined) out.add('\n'.repeat(empties), breakAt, line.start);
        else if (isMore(line) || isMore(last)) out.add('\n'.repeat(empties + 1), last.end, line.start);
        else out.add(empties === 0 ? ' ' : '\n'.repeat(empties), last.end, line.start);
      }
    }
    for (let at = line.start; at < line.end; at += 1) out.add(source[at] ?? '', at, at + 1);
  }
  if (!/-/.test(header.replace(/#.*/, ''))) out.add('\n', node.end, node.end);
  return out.done(node);
}

const memo = new WeakMap<ScalarNode, ScalarText>();

/** Reads a scalar of a document's text. */
export function scalarText(source: string, node: ScalarNode): ScalarText {
  const known = memo.get(node);
  if (known !== undefined) return known;
  const made = make(source, node);
  memo.set(node, made);
  return made;
}

function make(source: string, node: ScalarNode): ScalarText {
  if (node.borrowed) return { node, text: node.text, span: () => ({ start: node.start, end: node.end }) };
  if (node.style === 'literal' || node.style === 'folded') return readBlock(source, node);
  const raw = source.slice(node.start, node.end);
  const quoted = node.style !== 'plain' && raw.length >= 2;
  const inner = quoted ? raw.slice(1, -1) : raw;
  if (!/[\r\n\\]/.test(inner) && !inner.includes("''")) {
    const base = node.start + (quoted ? 1 : 0);
    return {
      node,
      text: inner,
      span: (start, end) => ({ start: base + start, end: base + Math.max(start, end) }),
    };
  }
  return readFlow(source, node);
}
