import type { Cell, Column, Row } from '../../server/src/panel/model';
import type { Sorting } from './ui-state';

const collator = new Intl.Collator('en', { numeric: true });

/** Rows in the order asked for; what is not known comes last, whatever the direction. Equal rows keep their order. */
export function sortRows(
  rows: readonly Row[],
  columns: readonly Column[],
  { column, descending }: Sorting,
): readonly Row[] {
  const at = columns.findIndex(({ id }) => id === column);
  if (at < 0) return rows;
  const direction = descending ? -1 : 1;
  return [...rows].sort((a, b) => compare(a.cells[at], b.cells[at], direction));
}

function compare(a: Cell | undefined, b: Cell | undefined, direction: number): number {
  const [known, other] = [keyOf(a), keyOf(b)];
  if (known === null || other === null) return Number(known === null) - Number(other === null);
  if (typeof known === 'number' && typeof other === 'number') return direction * (known - other);
  return direction * collator.compare(String(known), String(other));
}

function keyOf(cell: Cell | undefined): string | number | null {
  if (cell === undefined) return null;
  return cell.sort === undefined ? cell.text : cell.sort;
}
