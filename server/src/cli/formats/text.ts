import type { Severity } from '../../rules/rule';
import { lineIndex } from '../line-index';
import type { LineIndex } from '../line-index';
import type { FileReport, Region, Report, ReportedFinding } from '../report';

/** Turns a word into a coloured one, or leaves it as it is. */
type Paint = (text: string) => string;

interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly severity: Readonly<Record<Severity, Paint>>;
  readonly good: Paint;
}

const plain: Paint = (text) => text;

function ansi(code: number, end: number): Paint {
  return (text) => `\u001b[${code}m${text}\u001b[${end}m`;
}

function palette(color: boolean): Palette {
  if (!color) {
    return {
      bold: plain,
      dim: plain,
      good: plain,
      severity: { error: plain, warning: plain, info: plain, hint: plain },
    };
  }
  return {
    bold: ansi(1, 22),
    dim: ansi(2, 22),
    good: ansi(32, 39),
    severity: { error: ansi(31, 39), warning: ansi(33, 39), info: ansi(36, 39), hint: ansi(90, 39) },
  };
}

/**
 * Text of a file or a message, made safe for a terminal: control characters, which could move the cursor or change
 * what stands before them, are shown as pictures; tabs become a space so that the marks below stay in line.
 */
export function printable(text: string): string {
  return (
    text
      .replace(/\t/g, ' ')
      // eslint-disable-next-line no-control-regex
      .replace(/[\u0000-\u001f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
      .replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\u2426')
  );
}

/** Longer lines are cut around the place, as a code frame is for reading. */
const frameWidth = 140;

function frame(lines: LineIndex, region: Region, paint: Palette, severity: Severity): string[] {
  const line = lines.lineText(region.startLine);
  const gutter = String(region.startLine);
  const margin = ' '.repeat(gutter.length);
  const startAt = region.startColumn - 1;
  const endAt = region.endLine === region.startLine ? region.endColumn - 1 : line.length;
  const from = startAt > frameWidth - 20 ? startAt - 40 : 0;
  const shown = line.slice(from, from + frameWidth);
  const before = printable(line.slice(from, startAt));
  const marked = printable(line.slice(startAt, Math.min(endAt, from + frameWidth)));
  const width = Math.max(1, [...marked].length);
  const more = region.endLine > region.startLine ? ` ... to line ${region.endLine}` : '';
  return [
    `  ${paint.dim(`${gutter} |`)} ${printable(shown)}`,
    `  ${paint.dim(`${margin} |`)} ${' '.repeat([...before].length)}${paint.severity[severity]('^'.repeat(width) + more)}`,
  ];
}

function findingText(file: FileReport, finding: ReportedFinding, lines: LineIndex, paint: Palette): string[] {
  const { region, severity, rule, message, fixes, related } = finding;
  const out = [
    `${paint.bold(`${file.path}:${region.startLine}:${region.startColumn}`)} ` +
      `${paint.severity[severity](severity)} ${printable(message)} ${paint.dim(rule)}`,
    ...frame(lines, region, paint, severity),
  ];
  for (const other of related) {
    out.push(
      `  ${paint.dim('see')} ${other.path}:${other.region.startLine}:${other.region.startColumn} ${printable(other.message)}`,
    );
  }
  for (const fix of fixes) {
    out.push(
      `  ${paint.good('fix')} ${printable(fix.title)} ${paint.dim(fix.safe ? '(--fix)' : '(--fix --unsafe)')}`,
    );
  }
  return out;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** `2 errors, 1 warning`; empty when there is nothing. */
export function countText(counts: Readonly<Record<Severity, number>>): string {
  const order: readonly Severity[] = ['error', 'warning', 'info', 'hint'];
  return order
    .filter((severity) => counts[severity] > 0)
    .map((severity) => plural(counts[severity], severity === 'info' ? 'info' : severity))
    .join(', ');
}

/** Lines of a list for reading; JSON has it whole. */
const shownStale = 10;

function baselineLines({ baseline }: Report, paint: Palette): string[] {
  if (baseline === undefined) return [];
  const { file, known, stale } = baseline;
  const out = stale
    .slice(0, shownStale)
    .map(({ file: where, rule, resource, path, count }) =>
      printable(
        `stale ${where}: ${[resource, path].filter((part) => part !== '').join(' ')}${count > 1 ? ` (${count} times)` : ''} ${rule}`,
      ),
    );
  if (stale.length > shownStale) out.push(`stale and ${stale.length - shownStale} more`);
  const entries = stale.length === 1 ? '1 entry is' : `${stale.length} entries are`;
  if (stale.length > 0) {
    out.push(`${entries} stale: ${file} holds what is no longer found; plimsoll baseline writes it again`);
  }
  if (known > 0) out.push(paint.dim(`${plural(known, 'known finding')} in ${file} left out`));
  return out;
}

/** For a terminal: each finding with the line it is about; nothing at all when there is nothing to say. */
export function formatText(report: Report, color: boolean): string {
  const paint = palette(color);
  const out: string[] = [];
  for (const file of report.files) {
    if (file.findings.length === 0) continue;
    const lines = lineIndex(file.text);
    for (const finding of file.findings) out.push(...findingText(file, finding, lines, paint), '');
  }
  for (const { path, rule, message } of report.internalErrors) {
    out.push(
      `${paint.severity.error('internal error')} in ${rule ?? 'the engine'}${path === undefined ? '' : ` on ${path}`}: ${message}`,
    );
  }
  for (const { path, rule, message } of report.skipped) {
    // Rules that want a cluster are not run here, ever; reports for programs list them.
    if (path === undefined && rule !== undefined) continue;
    out.push(
      `${paint.dim('skipped')} ${[path, rule].filter((part) => part !== undefined).join(' ')}: ${printable(message)}`,
    );
  }
  out.push(...baselineLines(report, paint));
  const total = countText(report.counts);
  if (total !== '' || report.fixed > 0) {
    const fixed = report.fixed > 0 ? `${plural(report.fixed, 'finding')} fixed. ` : '';
    const left = total === '' ? 'Nothing left' : total;
    const affected = report.files.filter((file) => file.findings.length > 0).length;
    out.push(
      `${fixed}${paint.bold(left)} in ${plural(affected, 'file')}; ${plural(report.checkedFiles, 'file')} checked`,
    );
    const safe = report.files
      .flatMap((file) => file.findings)
      .filter((f) => f.fixes.some((fix) => fix.safe)).length;
    if (safe > 0) out.push(`${plural(safe, 'finding')} can be fixed with --fix`);
  }
  return out.length === 0 ? '' : `${out.join('\n')}\n`;
}
