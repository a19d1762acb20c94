import type { Hover, Position } from 'vscode-languageserver';
import { MarkupKind } from 'vscode-languageserver';
import type { Finding } from '../engine/finding';
import { ruleDocUrl, ruleMeta } from '../engine/registry';
import { toRange } from './convert';
import type { Project } from './project';
import type { Reports } from './reports';

/** Most findings shown at one place. */
const most = 5;

/** What is known about the place: for each finding there its rule, the message, and what it rests on. */
export function hoverAt(
  key: string,
  position: Position,
  project: Project,
  reports: Reports,
  markdown: boolean,
): Hover | undefined {
  const document = project.document(key);
  if (document === undefined) return undefined;
  const offset = document.offsetAt(position);
  const here = reports.of(key).findings.filter(({ at }) => at.start <= offset && offset <= at.end);
  const [first] = here;
  if (first === undefined) return undefined;
  const shown = here.slice(0, most).map((finding) => (markdown ? asMarkdown(finding) : asText(finding)));
  if (here.length > most) shown.push(`${here.length - most} more findings here`);
  const narrowest = here.reduce((a, b) => (b.at.end - b.at.start < a.at.end - a.at.start ? b : a), first);
  return {
    contents: {
      kind: markdown ? MarkupKind.Markdown : MarkupKind.PlainText,
      value: shown.join(markdown ? '\n\n---\n\n' : '\n\n'),
    },
    range: toRange(document, narrowest.at),
  };
}

function asMarkdown(finding: Finding): string {
  const evidence = (finding.evidence ?? []).map((line) => `- ${escapeMarkdown(line)}`);
  return [
    `**${escapeMarkdown(ruleMeta(finding.rule)?.summary ?? finding.rule)}** ([${finding.rule}](${ruleDocUrl(finding.rule)}))`,
    escapeMarkdown(finding.message),
    ...(evidence.length === 0 ? [] : [evidence.join('\n')]),
  ].join('\n\n');
}

function asText(finding: Finding): string {
  return [
    `${ruleMeta(finding.rule)?.summary ?? finding.rule} (${finding.rule})`,
    finding.message,
    ...(finding.evidence ?? []).map((line) => `  - ${line}`),
    ruleDocUrl(finding.rule),
  ].join('\n');
}

/** Names come from manifests that anybody may have written: nothing in them becomes a link, an image or HTML. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>~&]/g, '\\$&').replace(/\s*[\r\n]+\s*/g, ' ');
}
