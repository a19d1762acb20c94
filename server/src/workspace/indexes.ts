import type { Resource } from '../kube/resource';
import type { SourceFile } from '../yaml/document';

/** What an index is made from: a file with the objects in it. */
export interface FileObjects {
  readonly file: SourceFile;
  readonly resources: readonly Resource[];
}

/**
 * A way to look things up by key. What one file adds depends on that file and on the layout only, so that an edit
 * changes the groups that its file is in and no others.
 */
export interface Index<T> {
  readonly read: (from: FileObjects, add: (key: string, item: T) => void) => void;
  /** The file that an item came from. */
  readonly uriOf: (item: T) => string;
}

/** Items by key, in the order of the files; items of one file stand together. */
export interface Groups<T> {
  get(key: string): readonly T[];
  keys(): Iterable<string>;
  /** The same, with other items for some keys. Shares everything else. */
  replaced(changes: ReadonlyMap<string, readonly T[]>): Groups<T>;
}

/** Groups that changed are kept apart from the rest until there are this many. */
const MAX_CHANGED = 256;

const nothing: readonly never[] = [];

function groupsOf<T>(
  base: ReadonlyMap<string, readonly T[]>,
  changed: ReadonlyMap<string, readonly T[]>,
): Groups<T> {
  return {
    get: (key) => changed.get(key) ?? base.get(key) ?? nothing,
    *keys() {
      for (const [key, items] of changed) if (items.length > 0) yield key;
      for (const key of base.keys()) if (!changed.has(key)) yield key;
    },
    replaced(changes) {
      if (changes.size === 0) return this;
      const all = new Map([...changed, ...changes]);
      if (all.size <= MAX_CHANGED) return groupsOf(base, all);
      const whole = new Map(base);
      for (const [key, items] of all) {
        if (items.length > 0) whole.set(key, items);
        else whole.delete(key);
      }
      return groupsOf(whole, new Map());
    },
  };
}

export function buildIndex<T>(index: Index<T>, files: Iterable<FileObjects>): Groups<T> {
  const groups = new Map<string, T[]>();
  const add = (key: string, item: T): void => {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  };
  for (const file of files) index.read(file, add);
  return groupsOf(groups, new Map());
}

/** A file of which one version took the place of another. */
export interface FileChange {
  readonly uri: string;
  readonly before: FileObjects | undefined;
  readonly after: FileObjects | undefined;
  /** It stands at another place among the files than before. */
  readonly moved: boolean;
}

/** @param orderOf the place of a file among all files; asked for only when a file enters a group of others. */
export function updateIndex<T>(
  index: Index<T>,
  groups: Groups<T>,
  changes: readonly FileChange[],
  orderOf: (uri: string) => number,
): Groups<T> {
  const changed = new Map<string, readonly T[]>();
  for (const { uri, before, after, moved } of changes) {
    const added = new Map<string, T[]>();
    if (before !== undefined) index.read(before, (key) => added.set(key, []));
    if (after !== undefined) {
      index.read(after, (key, item) => {
        const items = added.get(key);
        if (items === undefined) added.set(key, [item]);
        else items.push(item);
      });
    }
    for (const [key, items] of added) {
      const known = changed.get(key) ?? groups.get(key);
      const others = known.filter((item) => index.uriOf(item) !== uri);
      let at = moved ? -1 : known.findIndex((item) => index.uriOf(item) === uri);
      if (at < 0 && items.length > 0 && others.length > 0) {
        const order = orderOf(uri);
        at = others.findIndex((item) => orderOf(index.uriOf(item)) > order);
      }
      changed.set(
        key,
        at < 0 ? [...others, ...items] : [...others.slice(0, at), ...items, ...others.slice(at)],
      );
    }
  }
  return groups.replaced(changed);
}
