import { copyBits } from './bits';
import type { Bits } from './bits';
import type { Offer } from './offer';
import type { FitOptions } from './options';
import type { PoolSpec } from './pool';
import type { ResourceList } from './resources';

/** Rows in the order of what they hold, with the set of the first n of them for every n. */
interface Thresholds {
  /** The amounts, from the largest. */
  readonly descending: Float64Array;
  /** The set of the first n rows starts at word n times the words of a set. */
  readonly prefixes: Uint32Array;
}

/** What DaemonSets take, by row: certainly and at most. */
export interface Taken {
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/** What pods can ask of one resource on the rows that the pool's requirements admit. */
export interface Column {
  readonly most: ReadonlyMap<number, number>;
  readonly certain: Thresholds;
  readonly possible: Thresholds;
}

function thresholds(rows: readonly number[], values: Float64Array, size: number): Thresholds {
  const order = [...values.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  const descending = Float64Array.from(order, (index) => values[index] ?? 0);
  const words = (size + 31) >>> 5;
  const prefixes = new Uint32Array((rows.length + 1) * words);
  order.forEach((index, position) => {
    const row = rows[index] ?? 0;
    prefixes.copyWithin((position + 1) * words, position * words, (position + 1) * words);
    const word = (position + 1) * words + (row >>> 5);
    prefixes[word] = (prefixes[word] ?? 0) | (1 << (row & 31));
  });
  return { descending, prefixes };
}

/** The word at which the set of the rows with at least that amount starts. */
function startOf(ordered: Thresholds, amount: number, words: number): number {
  const { descending } = ordered;
  let low = 0;
  let high = descending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((descending[middle] ?? 0) >= amount) low = middle + 1;
    else high = middle;
  }
  return low * words;
}

/** Keeps in both sets only the rows with room for the amount: for certain in one, perhaps in the other. */
export function keepRoomy(column: Column, amount: number, yes: Bits, possible: Bits): void {
  const words = yes.length;
  const { certain, possible: perhaps } = column;
  const start = startOf(certain, amount, words);
  const offset = certain === perhaps ? 0 : startOf(perhaps, amount, words) - start;
  for (let word = 0; word < words; word += 1) {
    const at = start + word;
    yes[word] = (yes[word] ?? 0) & (certain.prefixes[at] ?? 0);
    possible[word] = (possible[word] ?? 0) & (perhaps.prefixes[at + offset] ?? 0);
  }
}

/** The rows of a set that may have room for the amount. */
export function roomy(column: Column, amount: number, rows: Bits): Bits {
  const possible = copyBits(rows);
  keepRoomy(column, amount, copyBits(rows), possible);
  return possible;
}

/** No DaemonSet takes anything. */
export const noOverhead: ReadonlyMap<string, Taken> = new Map();

/** An amount of a list, or what counts where the list does not name the resource. */
export function bound(list: ResourceList, resource: string, otherwise: number): number {
  return list[resource] ?? otherwise;
}

/** The most of a resource that no list mentions: nothing, unless something that cannot be seen may add it. */
function unmentioned(pool: PoolSpec, resource: string, options: FitOptions): number {
  if (options.overlayResources?.includes(resource) === true) return Infinity;
  // Whoever set up the nodes of a node group may have added a device plugin or huge pages.
  const added = resource.includes('/') || resource.startsWith('hugepages-');
  return pool.kind === 'node-group' && added ? Infinity : 0;
}

function createColumn(resource: string, pool: ColumnSource, options: FitOptions): Column {
  const otherwise = unmentioned(pool.spec, resource, options);
  const overlaid = options.overlayResources?.includes(resource) === true;
  const taken = pool.overhead.get(resource);
  const least = new Float64Array(pool.rows.length);
  const most = new Float64Array(pool.rows.length);
  const mostByRow = new Map<number, number>();
  let same = true;
  pool.rows.forEach((row, index) => {
    const given = pool.offer(row).allocatable;
    const low = bound(given.least, resource, 0) - (taken?.most[row] ?? 0);
    const high = overlaid ? Infinity : bound(given.most, resource, otherwise) - (taken?.least[row] ?? 0);
    least[index] = low;
    most[index] = high;
    mostByRow.set(row, high);
    if (low !== high) same = false;
  });
  const certain = thresholds(pool.rows, least, pool.size);
  return { most: mostByRow, certain, possible: same ? certain : thresholds(pool.rows, most, pool.size) };
}

export interface ColumnSource {
  readonly spec: PoolSpec;
  /** The rows that the pool's requirements admit. */
  readonly rows: readonly number[];
  /** How many rows the world has. */
  readonly size: number;
  readonly overhead: ReadonlyMap<string, Taken>;
  offer(row: number): Offer;
}

/** The columns of a pool, made on first use. */
export function columnsOf(source: ColumnSource, options: FitOptions): (resource: string) => Column {
  const columns = new Map<string, Column>();
  return (resource) => {
    let column = columns.get(resource);
    if (column === undefined) {
      column = createColumn(resource, source, options);
      columns.set(resource, column);
    }
    return column;
  };
}
