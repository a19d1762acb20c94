import type { QuerySpan } from './expression';

/** A problem of a query, with its place. */
export interface QueryProblem extends QuerySpan {
  /** A clause about what was seen. */
  readonly message: string;
}

const simple: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * The text of a string literal, unquoted as Go does it: escapes in double and single quotes, none in backquotes.
 *
 * @param start where the literal stands in the query.
 */
export function unquote(
  literal: string,
  start: number,
): { readonly value: string } | { readonly problem: QueryProblem } {
  const quote = literal[0] ?? '';
  if (quote === '`') return { value: literal.slice(1, -1) };
  let value = '';
  for (let at = 1; at < literal.length;) {
    const char = literal[at] ?? '';
    if (char === quote) return { value };
    if (char === '\n') break;
    if (char !== '\\') {
      value += char;
      at += 1;
      continue;
    }
    const escape = readEscape(literal, at, quote);
    if (escape === undefined) {
      const next = literal[at + 1] ?? '';
      const place = { start: start + at, end: start + at + 1 + next.length };
      return {
        problem: {
          ...place,
          message: `"\\${next}" is no escape in a string, where a backslash itself is written twice`,
        },
      };
    }
    value += escape.text;
    at += escape.length;
  }
  return { problem: { start, end: start + literal.length, message: 'the string is not closed' } };
}

function readEscape(
  literal: string,
  at: number,
  quote: string,
): { readonly text: string; readonly length: number } | undefined {
  const next = literal[at + 1] ?? '';
  if (next === quote) return { text: quote, length: 2 };
  const plain = Object.hasOwn(simple, next) ? simple[next] : undefined;
  if (plain !== undefined) return { text: plain, length: 2 };
  const digits = hexLengths[next];
  if (digits !== undefined) {
    const hex = literal.slice(at + 2, at + 2 + digits);
    const code = new RegExp(`^[0-9a-fA-F]{${digits}}$`).test(hex) ? Number.parseInt(hex, 16) : Number.NaN;
    return code <= 0x10ffff ? { text: String.fromCodePoint(code), length: 2 + digits } : undefined;
  }
  const octal = /^[0-3][0-7]{2}/.exec(literal.slice(at + 1))?.[0];
  return octal === undefined
    ? undefined
    : { text: String.fromCharCode(Number.parseInt(octal, 8)), length: 4 };
}
