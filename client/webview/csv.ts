import type { Chart, Column, Row } from '../../server/src/panel/model';

/** Rows of cells as RFC 4180 says: quoted where needed, lines end with CRLF. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/**
 * Texts come from a cluster. One that a spreadsheet would take for a formula gets an apostrophe, which makes it a text.
 */
function field(value: string | number): string {
  const text = typeof value === 'number' ? String(value) : /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** A table as it is shown: its columns, and the rows in the order given. Numbers are those that it is sorted by. */
export function tableCsv(columns: readonly Column[], rows: readonly Row[]): string {
  const heads = columns.map(({ title }) => title);
  const lines = rows.map(({ cells }) =>
    columns.map(({ kind }, at) => {
      const cell = cells[at];
      if (cell === undefined) return '';
      return kind === 'number' && typeof cell.sort === 'number' ? cell.sort : cell.text;
    }),
  );
  return csv([heads, ...lines]);
}

/** Every known value of the charts, one to a line; times are UTC. A gap has no line. */
export function chartsCsv(charts: readonly Chart[]): string {
  const lines = charts.flatMap(({ title, scale, content }) =>
    content.kind === 'empty'
      ? []
      : content.value.lines.flatMap((line) =>
          content.value.at.flatMap((at, index) => {
            const value = line.values[index] ?? null;
            if (value === null) return [];
            // Scaled values get digits that were not measured: 0.1 x 1000 is not 100.00000000000001.
            const scaled = Number((value * scale.factor).toPrecision(12));
            return [[title, line.label, new Date(at).toISOString(), scaled, scale.suffix] as const];
          }),
        ),
  );
  return csv([['chart', 'line', 'time', 'value', 'unit'], ...lines]);
}
