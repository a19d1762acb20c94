import type { OutputFormat } from '../arguments';
import type { Report } from '../report';
import { formatGithub } from './github';
import { formatJson } from './json';
import { formatJunit } from './junit';
import { formatSarif } from './sarif';
import { formatText } from './text';

export function format(report: Report, as: OutputFormat, color: boolean): string {
  switch (as) {
    case 'text':
      return formatText(report, color);
    case 'json':
      return formatJson(report);
    case 'sarif':
      return formatSarif(report);
    case 'junit':
      return formatJunit(report);
    case 'github':
      return formatGithub(report);
  }
}
