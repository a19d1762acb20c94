import type { InlayHint, Range } from 'vscode-languageserver';
import { hintsFor } from '../editor/hints';
import type { Project } from './project';

/** The hints of a part of a document, as the settings of its folder want them. */
export function inlayHints(key: string, range: Range, project: Project): InlayHint[] {
  const document = project.document(key);
  if (document === undefined) return [];
  const within = { start: document.offsetAt(range.start), end: document.offsetAt(range.end) };
  const { inlayHints: kinds } = project.folderOf(key).settings;
  return hintsFor(project.workspace(), key, within, kinds, project.configFor(key).models).map(
    ({ at, text, tooltip }) => ({
      position: document.positionAt(at),
      label: text,
      paddingLeft: true,
      ...(tooltip === undefined ? {} : { tooltip }),
    }),
  );
}
