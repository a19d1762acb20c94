import { parseFile } from '../yaml/parse';
import { belongTogether, isLayoutFile, readLayout, scopeOf, type Layout } from './layout';
import { isOverlayFile } from './overlay-files';
import { directoryOf, pathOf, upwards } from './paths';

/** A file before it is read: its uri and its text. */
export interface FileText {
  readonly uri: string;
  readonly text: string;
}

/**
 * A part of many files that can be looked at by itself: a rule says the same about `files` with nothing but `files` and
 * `context` at hand as with all of them.
 */
export interface Cell {
  /** Files of scopes that belong together, and of everything that belongs with those. */
  readonly files: readonly FileText[];
  /** Files of other cells that these can see: they are looked at there. */
  readonly context: readonly FileText[];
}

/**
 * Kinds that a rule may look for without regard to directories: what makes nodes, and what watches a cluster, is often
 * a repository of its own.
 */
const seenEverywhere = [
  'NodePool',
  'EC2NodeClass',
  'NodeClass',
  'ClusterConfig',
  'ClusterPolicy',
  'Prometheus',
  'PrometheusRule',
] as const;
export type SeenEverywhere = (typeof seenEverywhere)[number];

/** Looked for in the text, which finds too much (a NodeClaim's `nodeClassRef`) and never too little. */
const mentionsSeenEverywhere = new RegExp(
  `kind["']?\\s*:\\s*(?:[&!][^\\s]*\\s+)*["']?(?:${[...seenEverywhere, 'CustomResourceDefinition'].join('|')})\\b`,
);

/** How the files hang together, from the few files that decide about it. */
export function layoutOf(texts: Iterable<FileText>): Layout {
  const deciding = [];
  for (const { uri, text } of texts) if (isLayoutFile(uri)) deciding.push(parseFile(uri, text));
  return readLayout(deciding);
}

/** Sets that are joined; each has one of its members as its name. */
function joinable(members: Iterable<string>): {
  join(a: string, b: string): void;
  nameOf(member: string): string;
} {
  const parents = new Map<string, string>();
  for (const member of members) parents.set(member, member);
  const nameOf = (member: string): string => {
    let at = member;
    for (let next = parents.get(at); next !== undefined && next !== at; next = parents.get(at)) {
      parents.set(at, parents.get(next) ?? next);
      at = next;
    }
    return at;
  };
  return { nameOf, join: (a, b) => void parents.set(nameOf(a), nameOf(b)) };
}

/** The scopes of some files, joined where they belong together. */
function joinedScopes(scopes: ReadonlySet<string>, layout: Layout): ReturnType<typeof joinable> {
  const joined = joinable(scopes);
  for (const scope of scopes) {
    for (const other of [directoryOf(scope), ...(layout.builtWith.get(scope) ?? [])]) {
      if (scopes.has(other) && belongTogether(layout, scope, other)) joined.join(scope, other);
    }
  }
  return joined;
}

/**
 * Cuts many files into cells, so that they can be looked at one after another with little memory, or side by side.
 *
 * @param filesInCell at how many files a cell is full, by the number of files that each has in its context.
 */
export function cellsOf(
  texts: readonly FileText[],
  layout: Layout,
  filesInCell: (context: number) => number,
): readonly Cell[] {
  const scopes = texts.map(({ uri }) => scopeOf(layout, pathOf(uri)));
  const known = new Set(scopes);
  const joined = joinedScopes(known, layout);

  const parts = new Map<string, FileText[]>();
  texts.forEach((file, index) => {
    const name = joined.nameOf(scopes[index] ?? '');
    const part = parts.get(name);
    if (part === undefined) parts.set(name, [file]);
    else part.push(file);
  });

  const everywhere = texts.filter(({ text }) => mentionsSeenEverywhere.test(text));
  const size = filesInCell(everywhere.length);
  const cells: { readonly files: FileText[]; readonly names: Set<string> }[] = [];
  for (const [name, part] of parts) {
    let cell = cells.at(-1);
    if (cell === undefined || cell.files.length >= size) cells.push((cell = { files: [], names: new Set() }));
    cell.files.push(...part);
    cell.names.add(name);
  }

  const cellOf = new Map<string, number>();
  cells.forEach(({ names }, index) => {
    for (const name of names) cellOf.set(name, index);
  });
  const overlays = overlaysByCell(texts, (scope) =>
    known.has(scope) ? cellOf.get(joined.nameOf(scope)) : undefined,
  );
  // What is seen everywhere is seen with what changes it.
  const homes = new Set(everywhere.map(({ uri }) => cellOf.get(joined.nameOf(scopeOf(layout, pathOf(uri))))));
  const shared = new Set(everywhere);
  for (const home of homes) for (const file of overlays.get(home ?? -1) ?? []) shared.add(file);

  return cells.map(({ files }, index) => {
    const own = new Set(files);
    const context = new Set([...shared, ...(overlays.get(index) ?? [])]);
    return { files, context: [...context].filter((file) => !own.has(file)) };
  });
}

/** Overlays by the cells of the scopes above them, whose objects they may change. */
function overlaysByCell(
  texts: readonly FileText[],
  cellOf: (scope: string) => number | undefined,
): ReadonlyMap<number, ReadonlySet<FileText>> {
  const overlays = new Map<number, Set<FileText>>();
  for (const file of texts) {
    if (!isOverlayFile(file)) continue;
    for (const directory of upwards(directoryOf(pathOf(file.uri)))) {
      const cell = cellOf(directory);
      if (cell === undefined) continue;
      const known = overlays.get(cell);
      if (known === undefined) overlays.set(cell, new Set([file]));
      else known.add(file);
    }
  }
  return overlays;
}
