import type { Span } from '../yaml/node';
import type { Region } from './report';

/** Turns offsets of one text into lines and columns. Lines end with LF, CRLF or a lone CR, as in editors. */
export interface LineIndex {
  regionOf(span: Span): Region;
  /** The text of a line (from 1) without its line end. */
  lineText(line: number): string;
}

export function lineIndex(text: string): LineIndex {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10) starts.push(at + 1);
    else if (code === 13 && text.charCodeAt(at + 1) !== 10) starts.push(at + 1);
  }
  const lineOf = (offset: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return {
    regionOf({ start, end }) {
      const first = lineOf(start);
      const last = lineOf(end);
      return {
        startLine: first + 1,
        startColumn: start - (starts[first] ?? 0) + 1,
        endLine: last + 1,
        endColumn: end - (starts[last] ?? 0) + 1,
      };
    },
    lineText(line) {
      const start = starts[line - 1] ?? text.length;
      const end = starts[line] ?? text.length;
      return text.slice(start, end).replace(/[\r\n]+$/, '');
    },
  };
}
