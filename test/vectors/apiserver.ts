import { readFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { decodeText } from '../../server/src/files/text';
import { walk } from '../../server/src/files/walk';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import { rejectionsOf, fieldAt, showPath, uriOfPath } from './findings';
import type { VectorRunner } from './index';

/** What a real API server said to one document of a file (dry run, strict field validation). */
export interface Verdict {
  /** Relative to the folder, with `/`. */
  readonly file: string;
  /** The how-manieth document of the file, from 0, empty ones counted. */
  readonly doc: number;
  readonly kind: string;
  readonly verdict: 'accepted' | 'rejected';
  readonly message?: string;
}

export const run: VectorRunner = (data, [folder]) => {
  if (folder === undefined) throw new Error('usage: npm run vectors -- apiserver VERDICTS.json DIR');
  const verdicts = verdictsOf(data);
  const root = resolve(folder);
  const texts = new Map<string, string>();
  // All files of the folder: what a document is for depends on those around it.
  for (const path of walk(root, { gitignore: false }).manifests) {
    const decoded = decodeText(readFileSync(path));
    if ('text' in decoded) texts.set(relative(root, path).split(sep).join('/'), decoded.text);
  }
  const uriOf = (file: string): string => uriOfPath(resolve(root, file));
  const workspace = Workspace.empty.withAll([...texts].map(([file, text]) => parseFile(uriOf(file), text)));
  const files = [...new Set(verdicts.map(({ file }) => file))].filter((file) => texts.has(file));
  const errors = rejectionsOf(workspace, files.map(uriOf));

  const differences: string[] = [];
  const count = { accepted: 0, silent: 0, rejected: 0, found: 0 };
  for (const { file, doc, kind, verdict, message } of verdicts) {
    const what = `${file} document ${doc} (${kind})`;
    const text = texts.get(file);
    if (verdict === 'accepted') count.accepted++;
    else count.rejected++;
    if (text === undefined) {
      differences.push(`${what}: the file is not in ${folder}`);
      continue;
    }
    const starts = documentStarts(text);
    const [from, to] = [starts[doc] ?? text.length, starts[doc + 1] ?? Infinity];
    const found = (errors.get(uriOf(file)) ?? []).filter(({ at }) => at.start >= from && at.start < to);
    const placed = workspace.files.get(uriOf(file))?.documents.findLast(({ offset }) => offset < to);
    const said = found.map(({ rule, at, message: saying }) => {
      const offset = placed?.offset ?? 0;
      const place = { start: at.start - offset, end: at.end - offset };
      return `${rule} at ${showPath(fieldAt(placed?.document.root, place)) || 'the top'}: ${saying}`;
    });
    if (verdict === 'accepted') {
      if (found.length === 0) count.silent++;
      else differences.push(`${what}: accepted, but ${said.join('; ')}`);
    } else if (found.length > 0) {
      count.found++;
    } else {
      differences.push(`${what}: rejected, nothing found: ${message ?? ''}`);
    }
  }
  const { accepted, silent, rejected, found } = count;
  return {
    differences,
    summary: `accepted ${silent} of ${accepted} silent, rejected ${found} of ${rejected} found`,
    ok: verdicts.length > 0 && silent === accepted && found === rejected,
  };
};

function verdictsOf(data: unknown): readonly Verdict[] {
  const list =
    typeof data === 'object' && data !== null && 'verdicts' in data
      ? (data as { verdicts: unknown }).verdicts
      : data;
  if (!Array.isArray(list)) throw new Error('the vectors have no list of verdicts');
  return list as readonly Verdict[];
}

/**
 * Where the documents of a stream start, as PyYAML counts them: one for each `---`, also when nothing follows, and one
 * before the first `---` when there is more than comments and directives.
 */
function documentStarts(text: string): readonly number[] {
  const starts: number[] = [];
  const marks = [...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index);
  const first = marks[0] ?? text.length;
  const lines = text
    .slice(0, first)
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  if (lines.some((line) => !/^\s*(?:#|$)|^%/.test(line))) {
    starts.push(0);
  }
  return [...starts, ...marks];
}
