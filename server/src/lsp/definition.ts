import type { Location, LocationLink, Position } from 'vscode-languageserver';
import { definitionAt } from '../editor/references';
import { toRange } from './convert';
import type { Project } from './project';

/** Where the object that a place names is defined; as links, which tell the text that refers, where the client takes them. */
export function definitions(
  key: string,
  position: Position,
  project: Project,
  links: boolean,
): Location[] | LocationLink[] {
  const document = project.document(key);
  if (document === undefined) return [];
  const found = definitionAt(project.workspace(), key, document.offsetAt(position));
  if (found === undefined) return [];
  const targets = found.targets.flatMap(({ uri, at, whole }) => {
    const other = project.document(uri);
    return other === undefined
      ? []
      : [{ uri: other.uri, range: toRange(other, at), whole: toRange(other, whole) }];
  });
  return links
    ? targets.map(({ uri, range, whole }): LocationLink => ({
        originSelectionRange: toRange(document, found.origin),
        targetUri: uri,
        targetRange: whole,
        targetSelectionRange: range,
      }))
    : targets.map(({ uri, range }): Location => ({ uri, range }));
}
