import type { Finding } from '../engine/finding';
import { lineIndex } from './line-index';
import type { LineIndex } from './line-index';
import { displayPath } from './paths';
import type { ReportedFinding } from './report';

/** Turns offsets into lines and columns, of the files that have something to say only. */
export interface Locator {
  textOf(uri: string): string;
  readonly finding: (finding: Finding) => ReportedFinding;
}

export function locator(cwd: string, textOf: (uri: string) => string): Locator {
  const indexes = new Map<string, LineIndex>();
  const indexOf = (uri: string): LineIndex => {
    let index = indexes.get(uri);
    if (index === undefined) indexes.set(uri, (index = lineIndex(textOf(uri))));
    return index;
  };
  return {
    textOf,
    finding: ({ rule, severity, uri, at, message, related, fixes }) => ({
      rule,
      severity,
      message,
      region: indexOf(uri).regionOf(at),
      related: related.map((other) => ({
        path: displayPath(other.uri, cwd),
        region: indexOf(other.uri).regionOf(other.at),
        message: other.message,
      })),
      fixes: fixes.map(({ title, safe, edits }) => ({
        title,
        safe,
        edits: edits.map((edit) => ({ region: indexOf(uri).regionOf(edit), newText: edit.newText })),
      })),
    }),
  };
}
