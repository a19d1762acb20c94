import type { Resource } from '../kube/resource';
import type { PlacedDocument, SourceFile } from '../yaml/document';
import type { Edits } from '../yaml/edit';
import { insertPath, isJson, replaceScalar } from '../yaml/edit';
import { entryOf, isNull, isScalar, mapIn } from '../yaml/node';
import type { FileEdit, Finding } from './finding';
import { anchorOf, ignoreAnnotation, suppressionsOf } from './suppressions';
import { lineBreakOf, lineStart } from './text';

/** A way to accept a finding, as edits in its file. */
export interface WrittenSuppression {
  readonly scope: 'line' | 'document' | 'object';
  readonly title: string;
  readonly edits: readonly FileEdit[];
}

/** A suppression of these would hide the suppressions' own mistakes, or stand in a text that cannot be read. */
const notOffered: readonly string[] = [
  'yaml-syntax',
  'config-invalid',
  'unknown-suppression',
  'unused-suppression',
  'suppression-without-reason',
];

/**
 * The suppressions that can be written for a finding: for its line, its document, and its object by annotation. Each
 * leaves every other byte of the file as it is; one that could not is not offered, nor is a comment in JSON.
 *
 * @param resources those of the file of the finding.
 * @param reason only the author has one; without it none is written.
 */
export function suppressionsFor(
  file: SourceFile,
  finding: Finding,
  resources: readonly Resource[],
  reason?: string,
): readonly WrittenSuppression[] {
  if (notOffered.includes(finding.rule)) return [];
  const placed = file.documents.findLast(({ offset }) => offset <= finding.at.start);
  if (placed === undefined) return [];
  const why = reason === undefined ? '' : ` -- ${reason}`;
  const place: Place = { file, placed, rule: finding.rule, why, startsInLine: startsInLine(file, placed) };
  const object = objectOf(placed, finding, resources);
  const written: WrittenSuppression[] = [];
  const add = (scope: WrittenSuppression['scope'], where: string, edits: Edits): void => {
    if (edits === undefined) return;
    written.push({
      scope,
      title: `Suppress ${finding.rule} ${where}`,
      edits: edits.map(({ start, end, newText }) => ({
        start: start + placed.offset,
        end: end + placed.offset,
        newText,
      })),
    });
  };
  // JSON has no comments; kubectl reads them there, other tools do not.
  if (!isJson(placed.document)) {
    add('line', 'for this line', forLine(place, finding));
    add('document', 'in this document', forDocument(place));
  }
  if (object !== undefined) {
    const name = object.name === undefined ? object.kind : `${object.kind} "${object.name}"`;
    add('object', `by annotation on ${name}`, forObject(place, object));
  }
  return written;
}

interface Place {
  readonly file: SourceFile;
  readonly placed: PlacedDocument;
  readonly rule: string;
  /** What stands behind the rule: empty, or the reason with its dashes. */
  readonly why: string;
  /** The document starts behind its `---`, on the same line: no comment of its own fits above it. */
  readonly startsInLine: boolean;
}

function startsInLine(file: SourceFile, placed: PlacedDocument): boolean {
  const before = file.text[placed.offset - 1];
  return before !== undefined && !'\r\n\uFEFF'.includes(before);
}

function objectOf(
  placed: PlacedDocument,
  { resource }: Finding,
  resources: readonly Resource[],
): Resource | undefined {
  if (resource === undefined) return undefined;
  return resources.find(
    (each) =>
      each.placed.index === placed.index &&
      each.kind === resource.kind &&
      each.name === resource.name &&
      each.namespace === resource.namespace,
  );
}

function forLine(place: Place, finding: Finding): Edits {
  const { file, placed, rule, why } = place;
  const { document, offset } = placed;
  const { text } = document;
  const anchor = anchorOf(document, { start: finding.at.start - offset, end: finding.at.end - offset });
  const start = lineStart(text, anchor);
  if (start === 0 && place.startsInLine) return undefined;
  // A comment that speaks of this line already takes another rule, unless it gives another reason.
  const above = suppressionsOf(document).list.findLast(
    ({ covers, at }) => covers.start === start && at.start < start,
  );
  if (above !== undefined && (why === '' || why === ` -- ${above.reason ?? ''}`)) {
    return [{ start: above.at.end, end: above.at.end, newText: `, ${rule}` }];
  }
  const indent = /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
  const newText = `${indent}# plimsoll-disable-next-line ${rule}${why}${lineBreakOf(file.text)}`;
  return [{ start, end: start, newText }];
}

function forDocument(place: Place): Edits {
  const { file, placed, rule, why } = place;
  const { text, root } = placed.document;
  const directive = `# plimsoll-disable ${rule}${why}`;
  const lineBreak = lineBreakOf(file.text);
  // Below the comments at the head of the document, where its own text starts.
  const start = lineStart(text, root?.start ?? 0);
  if (start > 0 || !place.startsInLine) return [{ start, end: start, newText: `${directive}${lineBreak}` }];
  const end = text.trimEnd().length;
  return [{ start: end, end, newText: `${lineBreak}${directive}` }];
}

function forObject({ placed, rule, why }: Place, object: Resource): Edits {
  const { document } = placed;
  const existing = entryOf(mapIn(object.root, 'metadata', 'annotations'), ignoreAnnotation)?.value;
  if (isNull(existing)) {
    return insertPath(document, object.root, ['metadata', 'annotations', ignoreAnnotation], `${rule}${why}`);
  }
  if (!isScalar(existing) || existing.unknown) return undefined;
  // The new id goes behind the others, before their reason; one reason is all that an annotation has.
  const [list = '', ...reasons] = existing.text.split(/\s+--(?=\s|$)/);
  return replaceScalar(document, existing, [`${list.trimEnd()}, ${rule}`, ...reasons].join(' --'));
}
