import type { LiveSnapshot } from '../../live/snapshot';
import type { Measurement } from '../../live/measurement';
import type { Cell, PanelModel, Row, Section, Table, Tile } from '../../panel/model';
import { printable } from './text';

/** What an exit code can say. */
export type Health = 'healthy' | 'unhealthy' | 'unknown';

/** Warnings and worse are not healthy; what is only worth knowing, such as idle GPUs, is. */
export function healthOf({ verdict }: PanelModel): Health {
  switch (verdict.state) {
    case 'good':
    case 'info':
      return 'healthy';
    case 'warning':
    case 'critical':
      return 'unhealthy';
    case 'unknown':
      return 'unknown';
  }
}

const maxRows = 20;

function valueText({ shown }: Pick<Tile, 'shown'>): string {
  return shown.kind === 'value' ? shown.text : '-';
}

function verdictText({ verdict }: PanelModel): string {
  return `${verdict.word}: ${verdict.sentence}${verdict.since === undefined ? '' : `, ${verdict.since}`}`;
}

/** One workload in a line, for a list of them. */
export function statusLine(model: PanelModel): string {
  const tiles = model.tiles
    .filter(({ shown }) => shown.kind === 'value')
    .map((tile) => `${tile.title} ${valueText(tile)}`)
    .join(', ');
  return `${printable(`${model.verdict.state.padEnd(8)}  ${model.title.text}  ${verdictText(model)}`)}\n${tiles === '' ? '' : `          ${printable(tiles)}\n`}`;
}

/** The whole answer for a terminal: what is wrong and what to do first, then the numbers. */
export function statusText(model: PanelModel): string {
  const { title, verdict, tiles } = model;
  const lines: string[] = [
    `${title.demo ? 'DEMO  ' : ''}${title.text}, namespace ${title.namespace}, ${title.context}`,
    '',
    verdictText(model),
    ...verdict.evidence.map(({ text, detail }) => `  - ${text}  [${detail}]`),
    ...verdict.also.map(({ word, sentence }) => `  also ${word}: ${sentence}`),
    ...verdict.next.map(({ title: next }) => `  next: ${next}`),
    ...verdict.unjudged.map(({ word, missing }) => `  not judged: ${word} (${missing})`),
    '',
    ...aligned(
      tiles.map((tile) => [
        tile.title,
        valueText(tile),
        tile.word,
        tile.shown.kind === 'value'
          ? tile.caption
          : `${tile.shown.why}${tile.shown.whatToDo === '' ? '' : `. ${tile.shown.whatToDo}`}`,
      ]),
    ),
    ...section('Scaling', model.scaling, (value) => [
      `${value.scaler}, ${value.bounds}: ${value.summary}`,
      ...value.steps.map(({ text, holds }) => `${holds ? 'holds: ' : ''}${text}`),
      ...(value.coldStart.kind === 'shown'
        ? [
            `cold start of ${value.coldStart.value.pod}: ${value.coldStart.value.total} (${value.coldStart.value.phases.map((phase) => `${phase.title} ${phase.text}`).join(', ')})`,
          ]
        : []),
    ]),
    ...section('Pods', model.pods, tableText),
    ...section('Triage', model.triage, (cases) =>
      cases.flatMap(({ pod, container, title: what, steps }) => [
        `${pod.name}, ${container}: ${what}`,
        ...steps.flatMap(({ title: step, text, lines: log }) => [
          `  ${step}: ${text}`,
          ...log.map((line) => `    | ${line}`),
        ]),
      ]),
    ),
    '',
    'Sources',
    ...model.sources.flatMap(({ title: name, word, text, problems, cost }) => [
      `  ${name}: ${[word, text, cost].filter((part) => part !== undefined && part !== '').join(', ')}`,
      ...problems
        .slice(0, maxRows)
        .map((problem) => `    ${problem.text}${problem.whatToDo === '' ? '' : `. ${problem.whatToDo}`}`),
    ]),
  ];
  return `${lines.map(printable).join('\n')}\n`;
}

/** A section that says something; one that is empty for a reason to worry says that. */
function section<T>(
  title: string,
  content: Section<T>,
  lines: (value: T) => readonly string[],
): readonly string[] {
  if (content.kind === 'empty')
    return content.state === 'good' || content.state === 'info'
      ? []
      : ['', title, `  ${content.why}${content.whatToDo === '' ? '' : `. ${content.whatToDo}`}`];
  return ['', title, ...lines(content.value).map((line) => `  ${line}`)];
}

function tableText({ columns, rows, summary }: Table): readonly string[] {
  const cells = (row: Row): readonly string[] => row.cells.map(({ text }: Cell) => text);
  const shown = rows.slice(0, maxRows);
  return [
    summary,
    ...aligned([columns.map((column) => column.title), ...shown.map(cells)]).map((line) => line.slice(2)),
    ...(rows.length > shown.length ? [`... and ${rows.length - shown.length} more`] : []),
  ];
}

/** Columns of a common width; names longer than a terminal is wide are left as they are. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.min(48, Math.max(widths[index] ?? 0, cell.length));
  }
  return rows.map((row) =>
    `  ${row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  ')}`.trimEnd(),
  );
}

/** What a script wants to know: values in the units of the vocabulary, with where they are from. */
export function statusJson(model: PanelModel, snapshot: LiveSnapshot): unknown {
  const { verdict, title } = model;
  const { object } = snapshot.want;
  return {
    at: new Date(snapshot.at).toISOString(),
    context: snapshot.context,
    object,
    demo: title.demo,
    health: healthOf(model),
    verdict: {
      name: verdict.name,
      state: verdict.state,
      sentence: verdict.sentence,
      ...(verdict.since === undefined ? {} : { since: verdict.since }),
      evidence: verdict.evidence.map(({ text, detail, state }) => ({ text, detail, state })),
      next: verdict.next.map((action) => action.title),
      also: verdict.also.map(({ name, state, sentence }) => ({ name, state, sentence })),
      unjudged: verdict.unjudged,
    },
    measurements: snapshot.measurements.map(measurementJson),
    scaling:
      model.scaling.kind === 'empty'
        ? null
        : {
            summary: model.scaling.value.summary,
            scaler: model.scaling.value.scaler,
            bounds: model.scaling.value.bounds,
          },
    pods: tableJson(model.pods),
    sources: snapshot.sources,
  };
}

function measurementJson({ metric, subject, labels, observed }: Measurement): unknown {
  const about = { metric, subject, ...(labels === undefined ? {} : { labels }) };
  if (observed.kind === 'absent') return { ...about, absent: observed.why, message: observed.message };
  const { value, unit, at, window, source } = observed;
  return { ...about, value, unit, at: new Date(at).toISOString(), windowSeconds: window / 1000, source };
}

function tableJson(content: Section<Table>): unknown {
  if (content.kind === 'empty') return [];
  const { columns, rows } = content.value;
  return rows.map(({ cells, state }) => ({
    ...Object.fromEntries(columns.map(({ id }, index) => [id, cells[index]?.text ?? ''])),
    state,
  }));
}
