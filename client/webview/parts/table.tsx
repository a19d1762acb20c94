import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Cell, Column, Row, Table as TableModel } from '../../../server/src/panel/model';
import { tableCsv } from '../csv';
import { usePage } from '../context';
import { sortRows } from '../sort';
import { visible } from '../text';
import type { Sorting } from '../ui-state';
import { Menu } from './menu';
import { Name } from './name';
import { StateMark, stateWords } from './state';

/** Tables with more rows than this draw only those in view. */
const manyRows = 60;
/** Pixels; rows of long tables are all of this height. */
const rowHeight = 26;
/** Rows drawn above and below those in view. */
const margin = 12;
/** Rows in view before the table has been measured. */
const firstRows = 30;

/**
 * A table of the model: sortable, with a head that stays, actions for each row, and, when it is long, only the rows in
 * view in the page. Arrow keys move from row to row; Enter does the row's first action.
 */
export function DataTable({
  table,
  title,
  filter = '',
  aside,
}: {
  readonly table: TableModel;
  /** What screen readers call it. */
  readonly title: string;
  /** Rows without this text are left out. */
  readonly filter?: string;
  readonly aside?: ComponentChildren;
}) {
  const { ui, change, host } = usePage();
  const sorting = ui.sorting[table.id] ?? table.sorted;
  const rows = useMemo(
    () => sortRows(filterRows(table.rows, filter), table.columns, sorting),
    [table, filter, sorting.column, sorting.descending],
  );
  const isLong = table.rows.length > manyRows;
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, count: firstRows });
  const [active, setActive] = useState<string | undefined>();
  const wantsFocus = useRef(false);

  /** What was drawn last, for callbacks that outlive a drawing. */
  const drawn = useRef({ rows, active, view, isLong });
  drawn.current = { rows, active, view, isLong };

  const look = useCallback((): void => {
    const element = frame.current;
    const now = drawn.current;
    if (element === null || !now.isLong) return;
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - margin);
    const count = Math.ceil(element.clientHeight / rowHeight) + 2 * margin;
    if (first === now.view.first && count === now.view.count) return;
    // A focused row that goes out of view hands the focus to the table, so that the keyboard goes on from here.
    const index = now.rows.findIndex(({ id }) => id === now.active);
    const row = document.activeElement?.closest('tbody tr') ?? null;
    if (row !== null && element.contains(row) && (index < first || index >= first + count)) {
      element.focus({ preventScroll: true });
    }
    setView({ first, count });
  }, []);
  useLayoutEffect(look, [rows, isLong]);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    frame.current?.querySelector<HTMLElement>('tr[data-active]')?.focus({ preventScroll: true });
  });

  const go = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    const element = frame.current;
    if (row === undefined || element === null) return;
    if (isLong) {
      const top = rows.indexOf(row) * rowHeight;
      const head = element.querySelector('thead')?.clientHeight ?? rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      const bottom = top + rowHeight + head - element.clientHeight;
      if (bottom > element.scrollTop) element.scrollTop = bottom;
    }
    wantsFocus.current = true;
    setActive(row.id);
    look();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest('tbody') === null && target !== frame.current) return;
    const at = rows.findIndex(({ id }) => id === active);
    const page = Math.max(1, Math.floor((frame.current?.clientHeight ?? 0) / rowHeight) - 2);
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      go(next);
    } else if (event.key === 'Enter' && target.tagName === 'TR') {
      const first = rows[at]?.actions[0];
      if (first !== undefined) host.act(first.intent);
    }
  };

  const end = isLong ? Math.min(rows.length, view.first + view.count) : rows.length;
  const start = isLong ? Math.min(view.first, end) : 0;
  const shown = rows.slice(start, end);
  const hasActions = table.rows.some(({ actions }) => actions.length > 0);
  const widths = isLong ? columnWidths(table, hasActions) : undefined;
  const tabbable = active !== undefined && shown.some(({ id }) => id === active) ? active : shown[0]?.id;

  return (
    <div class="table-part">
      <div class="table-head">
        <p class="summary">
          {visible(table.summary)}
          {filter !== '' && (
            <span>
              {' '}
              ({rows.length} of {table.rows.length} match)
            </span>
          )}
        </p>
        {aside}
        <Menu
          label={`Export ${visible(title)}`}
          text="⋯"
          items={[
            {
              title: 'Save as CSV',
              run: () => host.save(`${table.id}.csv`, 'utf8', tableCsv(table.columns, rows)),
            },
          ]}
        />
      </div>
      <div
        ref={frame}
        class={isLong ? 'table-frame long' : 'table-frame'}
        tabIndex={isLong ? 0 : -1}
        role="group"
        aria-label={visible(title)}
        onScroll={look}
        onKeyDown={onKeyDown}
      >
        <table aria-label={visible(title)} aria-rowcount={rows.length + 1} class={isLong ? 'fixed' : ''}>
          {widths !== undefined && (
            <colgroup>
              {widths.map((width, index) => (
                <col key={index} style={{ width: `${width}ch` }} />
              ))}
            </colgroup>
          )}
          <thead>
            <tr aria-rowindex={1}>
              {table.columns.map((column) => (
                <Head
                  key={column.id}
                  column={column}
                  sorting={sorting}
                  onSort={(next) => change({ sorting: { ...ui.sorting, [table.id]: next } })}
                />
              ))}
              {hasActions && (
                <th scope="col" class="cell-actions">
                  <span class="unseen">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {start > 0 && <Space rows={start} columns={table.columns.length} />}
            {shown.map((row, index) => (
              <BodyRow
                key={row.id}
                row={row}
                columns={table.columns}
                index={start + index + 2}
                hasActions={hasActions}
                isTabbable={row.id === tabbable}
                isActive={row.id === active}
                onFocus={() => setActive(row.id)}
              />
            ))}
            {end < rows.length && <Space rows={rows.length - end} columns={table.columns.length} />}
          </tbody>
        </table>
        {rows.length === 0 && filter !== '' && <p class="empty">No row has "{visible(filter)}"</p>}
      </div>
    </div>
  );
}

function Head({
  column,
  sorting,
  onSort,
}: {
  readonly column: Column;
  readonly sorting: Sorting;
  onSort(next: Sorting): void;
}) {
  const isSorted = sorting.column === column.id;
  return (
    <th
      scope="col"
      class={`cell-${column.kind}`}
      aria-sort={isSorted ? (sorting.descending ? 'descending' : 'ascending') : 'none'}
      title={column.detail === undefined ? undefined : visible(column.detail)}
    >
      <button
        type="button"
        onClick={() =>
          onSort({
            column: column.id,
            // Numbers are looked at from the largest, names from the first.
            descending: isSorted ? !sorting.descending : column.kind === 'number',
          })
        }
      >
        {visible(column.title)}
        <span class="sort" aria-hidden="true">
          {isSorted ? (sorting.descending ? '▾' : '▴') : ''}
        </span>
      </button>
    </th>
  );
}

function Space({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr aria-hidden="true" class="space" style={{ height: `${rows * rowHeight}px` }}>
      <td colSpan={columns + 1} />
    </tr>
  );
}

function BodyRow({
  row,
  columns,
  index,
  hasActions,
  isTabbable,
  isActive,
  onFocus,
}: {
  readonly row: Row;
  readonly columns: readonly Column[];
  readonly index: number;
  readonly hasActions: boolean;
  readonly isTabbable: boolean;
  readonly isActive: boolean;
  onFocus(): void;
}) {
  const { host } = usePage();
  const first = row.actions[0];
  return (
    <tr
      aria-rowindex={index}
      class={`row-${row.state}`}
      tabIndex={isTabbable ? 0 : -1}
      {...(isActive ? { 'data-active': '' } : {})}
      onFocus={onFocus}
    >
      {columns.map((column, at) => (
        <td key={column.id} class={`cell-${column.kind}`}>
          {at === 0 && first !== undefined ? (
            // The row has the keyboard: Enter does the same.
            <button
              type="button"
              class="link"
              tabIndex={-1}
              title={visible(first.title)}
              onClick={() => host.act(first.intent)}
            >
              <CellText cell={row.cells[at]} column={column} />
            </button>
          ) : (
            <CellText cell={row.cells[at]} column={column} />
          )}
        </td>
      ))}
      {hasActions && (
        <td class="cell-actions">
          {first !== undefined && (
            <Menu
              label={`Actions for ${visible(row.cells[0]?.text ?? row.id)}`}
              text="⋯"
              isTabStop={isTabbable}
              items={row.actions.map(({ title, intent }) => ({ title, run: () => host.act(intent) }))}
            />
          )}
        </td>
      )}
    </tr>
  );
}

function CellText({ cell, column }: { readonly cell: Cell | undefined; readonly column: Column }) {
  if (cell === undefined) return null;
  const state = cell.state;
  const mark =
    state === undefined || (column.kind !== 'state' && state !== 'warning' && state !== 'critical') ? null : (
      <StateMark state={state} {...(column.kind === 'state' ? {} : { label: stateWords[state] })} />
    );
  return (
    <span title={cell.detail === undefined ? undefined : visible(cell.detail)}>
      {mark}
      {mark !== null && ' '}
      {column.kind === 'name' ? <Name text={cell.text} /> : visible(cell.text)}
    </span>
  );
}

function filterRows(rows: readonly Row[], filter: string): readonly Row[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter(({ cells }) => cells.some(({ text }) => text.toLowerCase().includes(wanted)));
}

/** In characters, from what the columns hold, so that they keep their width while other rows come into view. */
function columnWidths({ columns, rows }: TableModel, hasActions: boolean): readonly number[] {
  const widths = columns.map((column, at) => {
    const longest = rows.reduce((most, { cells }) => Math.max(most, cells[at]?.text.length ?? 0), 0);
    const limit = column.kind === 'text' ? 36 : 42;
    // The head carries an arrow, and a state a mark.
    const wide = Math.max(column.title.length + 2, longest + (column.kind === 'state' ? 3 : 0));
    return Math.min(limit, wide) * (column.kind === 'name' ? 1.05 : 1) + 3;
  });
  return hasActions ? [...widths, 5] : widths;
}
