import type { Resource } from '../kube/resource';
import type { Workspace } from '../workspace/workspace';
import type { PlacedDocument, YamlDocument } from '../yaml/document';
import type { Edits } from '../yaml/edit';
import { insertPath, replaceScalar } from '../yaml/edit';
import { entryOf, isScalar, mapIn } from '../yaml/node';
import type { Finding, FindingFix } from './finding';
import { anchorOf, ignoreAnnotation, suppressionsOf } from './suppressions';
import { lineBreakOf, lineStart, nextLine } from './text';

export type SuppressScope = 'line' | 'document' | 'annotation';

/** A way to accept a finding, written into the file that it is in. */
export interface SuppressFix extends FindingFix {
  readonly scope: SuppressScope;
}

/** About suppressions themselves and about the configuration there is nothing to suppress: they are to be corrected. */
const neverSuppressed: readonly string[] = [
  'config-invalid',
  'unknown-suppression',
  'unused-suppression',
  'suppression-without-reason',
];

/**
 * The ways to suppress a finding, narrowest first; those that are not possible in its place are left out. Their edits
 * are positions in the file.
 */
export function suppressFixes(
  workspace: Workspace,
  finding: Finding,
  reason?: string,
): readonly SuppressFix[] {
  if (neverSuppressed.includes(finding.rule)) return [];
  const placed = documentOf(workspace, finding);
  if (placed === undefined) return [];
  const { document, offset } = placed;
  const at = { start: finding.at.start - offset, end: finding.at.end - offset };
  const why = reason === undefined ? '' : ` -- ${reason}`;
  const fixes: SuppressFix[] = [];
  const add = (scope: SuppressScope, where: string, edits: Edits): void => {
    if (edits === undefined) return;
    fixes.push({
      scope,
      title: `Suppress ${finding.rule} for ${where}`,
      safe: false,
      edits: edits.map(({ start, end, newText }) => ({ start: start + offset, end: end + offset, newText })),
    });
  };
  const file = workspace.files.get(finding.uri);
  const lineBreak = lineBreakOf(file?.text ?? document.text);
  const startsLine = offset === 0 || lineStart(file?.text ?? '', offset) === offset;
  add(
    'line',
    'this line',
    lineEdits(document, anchorOf(document, at), finding.rule, why, lineBreak, startsLine),
  );
  add('document', 'this document', documentEdits(document, finding.rule, why, lineBreak, startsLine));
  const resource = resourceOf(workspace, finding, placed);
  if (resource !== undefined) {
    const name = resource.name === undefined ? '' : ` "${resource.name}"`;
    add(
      'annotation',
      `${resource.kind}${name} by an annotation`,
      annotationEdits(resource, finding.rule, why),
    );
  }
  return fixes;
}

function documentOf(workspace: Workspace, finding: Finding): PlacedDocument | undefined {
  const documents = workspace.files.get(finding.uri)?.documents ?? [];
  return documents.findLast(({ offset }) => offset <= finding.at.start) ?? documents[0];
}

function resourceOf(workspace: Workspace, finding: Finding, placed: PlacedDocument): Resource | undefined {
  const ref = finding.resource;
  if (ref === undefined) return undefined;
  return workspace
    .resourcesOf(finding.uri)
    .find(
      (resource) =>
        resource.placed.index === placed.index &&
        resource.kind === ref.kind &&
        resource.name === ref.name &&
        resource.namespace === ref.namespace,
    );
}

function lineEdits(
  document: YamlDocument,
  anchor: number,
  rule: string,
  why: string,
  lineBreak: string,
  startsLine: boolean,
): Edits {
  const { text } = document;
  const start = lineStart(text, anchor);
  // The first line of a document that starts behind its `---` has no line above it.
  if (start === 0 && !startsLine) return undefined;
  const above = suppressionsOf(document).list.findLast(
    ({ covers, at }) => covers.start === start && at.start < start,
  );
  // Another reason needs another comment.
  if (above !== undefined && (why === '' || why === ` -- ${above.reason ?? ''}`)) {
    return [{ start: above.at.end, end: above.at.end, newText: `, ${rule}` }];
  }
  const indent = /^[ \t]*/.exec(text.slice(start, anchor))?.[0] ?? '';
  const newText = `${indent}# plimsoll-disable-next-line ${rule}${why}${lineBreak}`;
  return [{ start, end: start, newText }];
}

function documentEdits(
  document: YamlDocument,
  rule: string,
  why: string,
  lineBreak: string,
  startsLine: boolean,
): Edits {
  const comment = `# plimsoll-disable ${rule}${why}`;
  if (startsLine) return [{ start: 0, end: 0, newText: `${comment}${lineBreak}` }];
  const start = nextLine(document.text, 0);
  const hasBreak = /[\r\n]$/.test(document.text.slice(0, start));
  return [{ start, end: start, newText: hasBreak ? `${comment}${lineBreak}` : `${lineBreak}${comment}` }];
}

function annotationEdits(resource: Resource, rule: string, why: string): Edits {
  const { document } = resource.placed;
  const existing = entryOf(mapIn(resource.root, 'metadata', 'annotations'), ignoreAnnotation)?.value;
  if (isScalar(existing) && !existing.unknown && existing.text !== '') {
    const [list = '', ...rest] = existing.text.split(/\s+--(?=\s|$)/);
    return replaceScalar(document, existing, [`${list}, ${rule}`, ...rest].join(' --'));
  }
  return insertPath(document, resource.root, ['metadata', 'annotations', ignoreAnnotation], `${rule}${why}`);
}
