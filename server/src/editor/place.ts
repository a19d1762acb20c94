import type { Resource } from '../kube/resource';
import type { Workspace } from '../workspace/workspace';
import type { PlacedDocument } from '../yaml/document';
import type { Entry, MapNode, SequenceNode, Span, YamlNode } from '../yaml/node';

/** One step from a node down to the text that was pointed at. */
export type Step =
  | { readonly in: 'map'; readonly map: MapNode; readonly entry: Entry; readonly onKey: boolean }
  | {
      readonly in: 'sequence';
      readonly sequence: SequenceNode;
      readonly item: YamlNode;
      readonly index: number;
    };

/** Where an offset of a file is. */
export interface TextPlace {
  readonly placed: PlacedDocument;
  /** Relative to the document. */
  readonly offset: number;
  /** The object that it is in, if any. */
  readonly resource: Resource | undefined;
  /** From the object's root, else the document's, down to the innermost node that holds the offset. */
  readonly steps: readonly Step[];
}

export function holds({ start, end }: Span, offset: number): boolean {
  return start <= offset && offset <= end;
}

/** A span of a document as one of its file. */
export function inFile({ start, end }: Span, { offset }: Pick<PlacedDocument, 'offset'>): Span {
  return { start: start + offset, end: end + offset };
}

/** The document that an offset of a file is in. */
export function documentAt(workspace: Workspace, uri: string, offset: number): PlacedDocument | undefined {
  return workspace.files.get(uri)?.documents.findLast((placed) => placed.offset <= offset);
}

export function placeAt(workspace: Workspace, uri: string, offset: number): TextPlace | undefined {
  const placed = documentAt(workspace, uri, offset);
  if (placed === undefined) return undefined;
  const local = offset - placed.offset;
  const resource = workspace
    .resourcesOf(uri)
    .find((each) => each.placed.index === placed.index && holds(each.root, local));
  const root = resource?.root ?? placed.document.root;
  return { placed, offset: local, resource, steps: root === undefined ? [] : stepsTo(root, local) };
}

/** What is merged or aliased stands elsewhere, so only what is written here is walked through. */
export function stepsTo(root: YamlNode, offset: number): readonly Step[] {
  const steps: Step[] = [];
  let at: YamlNode | undefined = root;
  while (at !== undefined && at.kind !== 'scalar') {
    if (at.kind === 'map') {
      const map: MapNode = at;
      // Of two that touch, the later one: a cursor between `[` and a word is meant for the word.
      const entry = map.entries.findLast(
        ({ key, value }) =>
          !key.borrowed && holds({ start: key.start, end: Math.max(key.end, value.end) }, offset),
      );
      if (entry === undefined) break;
      const onKey = holds(entry.key, offset);
      steps.push({ in: 'map', map, entry, onKey });
      at = onKey || entry.value.borrowed ? undefined : entry.value;
    } else {
      const sequence: SequenceNode = at;
      const index = sequence.items.findLastIndex((item) => !item.borrowed && holds(item, offset));
      const item = sequence.items[index];
      if (item === undefined) break;
      steps.push({ in: 'sequence', sequence, item, index });
      at = item;
    }
  }
  return steps;
}

/** Keys and indexes of the steps: `['spec', 'template', 'spec', 'requirements', 0, 'values', 1]`. */
export function pathOf(steps: readonly Step[]): readonly (string | number)[] {
  return steps.map((step) => (step.in === 'map' ? step.entry.key.text : step.index));
}
