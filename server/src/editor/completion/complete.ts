import type { Resource } from '../../kube/resource';
import type { Workspace } from '../../workspace/workspace';
import { isMap, textIn, type MapNode } from '../../yaml/node';
import { looseObject } from '../loose-object';
import { documentAt, holds, inFile } from '../place';
import { cursorsAt, type Cursor } from './cursor';
import { argumentSuggestions } from './arguments';
import { triggerSuggestions } from './keda-triggers';
import { eksctlSuggestions } from './eksctl';
import { nameSuggestions } from './names';
import { queryWord } from './queries';
import { requirementSuggestions } from './requirements';
import { resourceNameSuggestions } from './resource-names';
import { ruleWord } from './rule-ids';
import type { CompletionAnswer, CompletionPlace, SuggestionSource } from './suggestion';
import { tolerationSuggestions } from './toleration-keys';

/** Where Plimsoll's own suggestions come from. */
export const suggestionSources: readonly SuggestionSource[] = [
  requirementSuggestions,
  eksctlSuggestions,
  nameSuggestions,
  argumentSuggestions,
  triggerSuggestions,
  resourceNameSuggestions,
  tolerationSuggestions,
];

/**
 * What may be meant at a place of a file, half-typed as it is.
 *
 * @returns nothing where no source knows the place; an empty list would keep other suggestions away.
 */
export function complete(
  workspace: Workspace,
  uri: string,
  offset: number,
  sources: readonly SuggestionSource[] = suggestionSources,
): CompletionAnswer | undefined {
  const placed = documentAt(workspace, uri, offset);
  if (placed === undefined) return undefined;
  // Within a comment or a text of several words there is no cursor in the sense of YAML.
  const { document } = placed;
  const word = ruleWord(document, offset - placed.offset) ?? queryWord(document, offset - placed.offset);
  if (word !== undefined) return { ...word, replace: inFile(word.replace, placed) };
  for (const cursor of cursorsAt(document.text, offset - placed.offset)) {
    const place = placeOf(workspace, uri, placed.index, cursor, offset - placed.offset);
    if (place === undefined) continue;
    const seen = new Set<string>();
    const suggestions = sources
      .flatMap((source) => source(place))
      // Two sources may know the same name; the first one says more about it.
      .filter(({ label }) => !seen.has(label) && seen.add(label) !== undefined);
    if (suggestions.length > 0) return { replace: inFile(cursor.replace, placed), suggestions };
  }
  return undefined;
}

function placeOf(
  workspace: Workspace,
  uri: string,
  index: number,
  cursor: Cursor,
  offset: number,
): CompletionPlace | undefined {
  const inDocument = workspace.resourcesOf(uri).filter(({ placed }) => placed.index === index);
  const current = inDocument.length > 1 ? inDocument.find(({ root }) => holds(root, offset)) : inDocument[0];
  const { root, holders, path } = objectOf(cursor);
  const unfinished =
    current === undefined ? unknownObject(workspace, uri, index, root) : { ...current, root };
  if (unfinished === undefined) return undefined;
  return { workspace, uri, cursor: { ...cursor, root, holders, path }, unfinished, current };
}

/** The item of a `List` that the cursor is in, else the document. */
function objectOf(cursor: Cursor): Pick<Cursor, 'root' | 'holders' | 'path'> {
  const { root, holders, path } = cursor;
  const [items, index] = path;
  const item = holders[2];
  return items === 'items' && typeof index === 'number' && isMap(item) && textIn(item, 'kind') !== undefined
    ? { root: item, holders: holders.slice(2), path: path.slice(2) }
    : { root, holders, path };
}

/** An object of which the workspace has nothing yet, because its text cannot be read as it stands. */
function unknownObject(
  workspace: Workspace,
  uri: string,
  index: number,
  root: MapNode,
): Resource | undefined {
  const document = workspace.files.get(uri)?.documents[index]?.document;
  const [beside] = workspace.resourcesOf(uri);
  return document === undefined
    ? undefined
    : looseObject(uri, { document, index }, root, beside?.scope ?? '');
}
