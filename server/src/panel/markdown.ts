import { durationText } from '../live/format';
import type { Instant } from '../live/reading';
import type { PanelModel, Section, Shown, Table, Tile } from './model';

/** How many rows of a table go into the text; it is pasted into tickets. */
const mostRows = 30;

/** The panel as Markdown, for the clipboard. Names come from the cluster: what Markdown would read as markup is escaped. */
export function markdownOf(model: Omit<PanelModel, 'markdown'>): string {
  const { verdict, title, at } = model;
  const lines = [
    `# ${escaped(title.text)}`,
    '',
    `${title.demo ? 'DEMO, ' : ''}${escaped(title.context)}, ${isoTime(at)}, over ${model.range} (${durationText(model.window.to - model.window.from)})`,
    '',
    `**${escaped(verdict.word)}**: ${escaped(verdict.sentence)}${verdict.since === undefined ? '' : `, ${verdict.since}`}`,
    ...verdict.evidence.map(({ text, detail }) => `- ${escaped(text)} (${escaped(detail)})`),
    ...verdict.also.map(({ word, sentence }) => `- also **${escaped(word)}**: ${escaped(sentence)}`),
    '',
    '| | Value | |',
    '| --- | --- | --- |',
    ...model.tiles.map(tileLine),
    ...sectionLines('Scaling', model.scaling, (value) => [
      escaped(value.summary),
      '',
      ...value.steps.map(({ text, holds }) => `- ${escaped(text)}${holds ? ' (holds)' : ''}`),
      ...tableOf(value.pending),
    ]),
    ...sectionLines('Pods', model.pods, tableLines),
    ...sectionLines('Triage', model.triage, (cases) =>
      cases.flatMap(({ pod, container, title: what, steps }) => [
        `### ${escaped(`${pod.name}, ${container}: ${what}`)}`,
        '',
        ...steps.flatMap(({ title: step, text, lines: log }) => [
          `- ${step}: ${escaped(text)}`,
          ...log.map((line) => `  - \`${line.replaceAll('`', "'")}\``),
        ]),
        '',
      ]),
    ),
    ...sectionLines('Alarms', model.alarms, ({ evaluated }) => tableLines(evaluated)),
    ...sectionLines('Findings', model.findings, tableLines),
    '',
    ...model.sources.map(
      ({ title: name, word, text }) => `- ${name}: ${word}${text === '' ? '' : `, ${escaped(text)}`}`,
    ),
  ];
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

function isoTime(at: Instant): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Plain text in a line or cell of Markdown: no markup, no line breaks, no control or direction characters. */
export function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`);
}

function shownText(shown: Shown): string {
  if (shown.kind === 'absent') return `not known: ${shown.why}`;
  return shown.stale === undefined ? shown.text : `${shown.text} (${shown.stale})`;
}

function tileLine({ title, shown, caption, word }: Tile): string {
  return `| ${escaped(title)} | ${escaped(shownText(shown))} | ${escaped([word, caption].filter((part) => part !== '').join(', '))} |`;
}

function sectionLines<T>(
  title: string,
  part: Section<T>,
  lines: (value: T) => readonly string[],
): readonly string[] {
  if (part.kind === 'empty') return [];
  return ['', `## ${title}`, '', ...lines(part.value)];
}

function tableOf(part: Section<Table>): readonly string[] {
  return part.kind === 'empty' ? [] : ['', ...tableLines(part.value)];
}

function tableLines({ columns, rows, summary }: Table): readonly string[] {
  const more = rows.length - mostRows;
  return [
    escaped(summary),
    '',
    `| ${columns.map(({ title }) => escaped(title)).join(' | ')} |`,
    `| ${columns.map(({ kind }) => (kind === 'number' ? '---:' : '---')).join(' | ')} |`,
    ...rows
      .slice(0, mostRows)
      .map(({ cells }) => `| ${cells.map(({ text }) => escaped(text)).join(' | ')} |`),
    ...(more > 0 ? ['', `${more} more rows`] : []),
  ];
}
