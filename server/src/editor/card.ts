/** What is told about a place, without any form of text: hovers, tooltips and reports are written from it. */
export interface Card {
  readonly title: string;
  /** What it comes to, in a sentence or two. */
  readonly verdict?: string;
  readonly tables: readonly CardTable[];
  /** What the figures rest on, one statement each. */
  readonly notes: readonly string[];
}

export interface CardTable {
  readonly caption?: string;
  /** Empty texts for columns without a name. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that hold numbers, from 0. */
  readonly numeric?: readonly number[];
}

/**
 * Names come from manifests that anybody may have written: nothing in them becomes a link, an image, HTML or a cell of a
 * table.
 */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>~&|]/g, '\\$&').replace(/\s*[\r\n]+\s*/g, ' ');
}

/** How prominent the title of a card is: bold text in a hover, a heading in a report. */
export type TitleStyle = 'bold' | '#' | '##' | '###';

export function cardMarkdown(card: Card, style: TitleStyle = 'bold'): string {
  const title = escapeMarkdown(card.title);
  const parts = [style === 'bold' ? `**${title}**` : `${style} ${title}`];
  if (card.verdict !== undefined) parts.push(escapeMarkdown(card.verdict));
  for (const table of card.tables) {
    if (table.caption !== undefined) parts.push(escapeMarkdown(table.caption));
    if (table.rows.length > 0) parts.push(tableMarkdown(table));
  }
  if (card.notes.length > 0) parts.push(card.notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'));
  return parts.join('\n\n');
}

function tableMarkdown({ head, rows, numeric = [] }: CardTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const rule = `| ${head.map((_, column) => (numeric.includes(column) ? '---:' : '---')).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function cardText(card: Card): string {
  const parts = [card.title];
  if (card.verdict !== undefined) parts.push(card.verdict);
  for (const { caption, head, rows } of card.tables) {
    const all = head.some((cell) => cell !== '') ? [head, ...rows] : rows;
    const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
    const lines = all.map((row) =>
      `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    );
    if (caption !== undefined) parts.push(caption);
    if (rows.length > 0) parts.push(lines.join('\n'));
  }
  if (card.notes.length > 0) parts.push(card.notes.map((note) => `  - ${note}`).join('\n'));
  return parts.map((part) => part.replace(/\r\n?/g, '\n')).join('\n');
}
