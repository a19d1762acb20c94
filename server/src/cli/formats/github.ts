import type { Severity } from '../../rules/rule';
import type { Report } from '../report';
import { printable } from './text';

/** Workflow commands know three levels; hints are notices too. */
const commands: Readonly<Record<Severity, string>> = {
  error: 'error',
  warning: 'warning',
  info: 'notice',
  hint: 'notice',
};

/** Control characters as pictures; line breaks have an escape of their own here. */
function visible(text: string): string {
  return text
    .split(/(\r|\n)/)
    .map((part) => (part === '\r' || part === '\n' ? part : printable(part)))
    .join('');
}

function escapeData(text: string): string {
  return visible(text).replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replace(/:/g, '%3A').replace(/,/g, '%2C');
}

/** GitHub Actions workflow commands: each finding becomes an annotation on its line of the pull request. */
export function formatGithub(report: Report): string {
  const lines: string[] = [];
  for (const file of report.files) {
    for (const { severity, region, rule, message } of file.findings) {
      // GitHub drops the columns of a range over several lines, so they are given only within one line.
      const columns =
        region.startLine === region.endLine ? `,col=${region.startColumn},endColumn=${region.endColumn}` : '';
      lines.push(
        `::${commands[severity]} file=${escapeProperty(file.path)},line=${region.startLine}` +
          `,endLine=${region.endLine}${columns},title=${escapeProperty(rule)}::${escapeData(message)}`,
      );
    }
  }
  for (const { path, rule, message } of report.internalErrors) {
    const where = path === undefined ? '' : ` file=${escapeProperty(path)}`;
    lines.push(`::error${where}::${escapeData(`internal error in ${rule ?? 'the engine'}: ${message}`)}`);
  }
  for (const { path, rule, message, failed } of report.skipped) {
    if (path === undefined && rule !== undefined) continue;
    const where = path === undefined ? '' : ` file=${escapeProperty(path)}`;
    lines.push(`::${failed === true ? 'error' : 'notice'}${where}::${escapeData(`skipped: ${message}`)}`);
  }
  for (const { file, rule, resource, path } of report.baseline?.stale ?? []) {
    const what = escapeData(`stale entry in ${report.baseline?.file ?? ''}: ${rule} ${resource} ${path}`);
    lines.push(`::notice file=${escapeProperty(file)}::${what}`);
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
