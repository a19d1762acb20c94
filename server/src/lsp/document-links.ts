import type { DocumentLink } from 'vscode-languageserver';
import { linksFor } from '../editor/links';
import { toRange } from './convert';
import type { Project } from './project';

/** What can be opened from a document: nothing is, unless the user follows the link. */
export function documentLinks(key: string, project: Project): DocumentLink[] {
  const document = project.document(key);
  if (document === undefined) return [];
  return linksFor(project.workspace(), key).map(({ at, target, tooltip }) => ({
    range: toRange(document, at),
    target: project.document(target)?.uri ?? target,
    tooltip,
  }));
}
