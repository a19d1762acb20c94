import type { Location, Position } from 'vscode-languageserver';
import { referencesAt } from '../editor/references';
import { toRange } from './convert';
import type { Project } from './project';

/** Every place of the workspace that names the object at a place. */
export function references(
  key: string,
  position: Position,
  project: Project,
  withDefinition: boolean,
): Location[] {
  const document = project.document(key);
  if (document === undefined) return [];
  return referencesAt(project.workspace(), key, document.offsetAt(position), withDefinition).flatMap(
    ({ uri, at }) => {
      const other = project.document(uri);
      return other === undefined ? [] : [{ uri: other.uri, range: toRange(other, at) }];
    },
  );
}
