import type { Hover, Position } from 'vscode-languageserver';
import { MarkupKind } from 'vscode-languageserver';
import { cardMarkdown, cardText, escapeMarkdown } from '../editor/card';
import { hoverFor, type HoverAnswer } from '../editor/hover';
import type { Finding } from '../engine/finding';
import { ruleDocUrl, ruleMeta } from '../engine/registry';
import type { Span } from '../yaml/node';
import { toRange } from './convert';
import type { Project } from './project';
import type { Reports } from './reports';

/** Most findings shown at one place. */
const most = 5;

export interface HoverAbilities {
  readonly markdown: boolean;
  /** The client shows the messages of diagnostics in its hovers by itself. */
  readonly showsMessages: boolean;
}

/**
 * What is known about the place: what a model needs, where a pod can run; and for each finding there its rule, the
 * message, and what it rests on.
 */
export function hoverAt(
  key: string,
  position: Position,
  project: Project,
  reports: Reports,
  abilities: HoverAbilities,
): Hover | undefined {
  const document = project.document(key);
  if (document === undefined) return undefined;
  const offset = document.offsetAt(position);
  const known = hoverFor(project.workspace(), key, offset, project.configFor(key).models);
  const parts = [...cardParts(known, abilities), ...findingParts(key, offset, reports, known, abilities)];
  const [first] = parts;
  if (first === undefined) return undefined;
  const narrowest = parts.reduce((a, b) => (b.at.end - b.at.start < a.at.end - a.at.start ? b : a), first);
  return {
    contents: {
      kind: abilities.markdown ? MarkupKind.Markdown : MarkupKind.PlainText,
      value: parts.map(({ text }) => text).join(abilities.markdown ? '\n\n---\n\n' : '\n\n'),
    },
    range: toRange(document, narrowest.at),
  };
}

/** What we know of a place, then what its schema says of it. */
export function joinHovers(
  own: Hover | undefined,
  described: Hover | undefined,
  markdown: boolean,
): Hover | undefined {
  if (own === undefined || described === undefined) return own ?? described;
  return {
    ...own,
    contents: {
      kind: markdown ? MarkupKind.Markdown : MarkupKind.PlainText,
      value: [own, described].map(({ contents }) => textOf(contents)).join(markdown ? '\n\n---\n\n' : '\n\n'),
    },
  };
}

function textOf(contents: Hover['contents']): string {
  if (typeof contents === 'string') return contents;
  if (Array.isArray(contents)) return contents.map(textOf).join('\n\n');
  return contents.value;
}

interface Part {
  readonly at: Span;
  readonly text: string;
}

function cardParts(known: HoverAnswer | undefined, { markdown }: HoverAbilities): readonly Part[] {
  return (known?.cards ?? []).map((card) => ({
    at: known?.at ?? { start: 0, end: 0 },
    text: markdown ? cardMarkdown(card) : cardText(card),
  }));
}

function findingParts(
  key: string,
  offset: number,
  reports: Reports,
  known: HoverAnswer | undefined,
  { markdown, showsMessages }: HoverAbilities,
): readonly Part[] {
  const here = reports
    .of(key)
    .findings.filter(({ at }) => at.start <= offset && offset <= at.end)
    // What the client does not tell by itself: the rule, and what the message rests on, unless the card says that.
    .filter(({ evidence = [] }) => !showsMessages || (evidence.length > 0 && known === undefined));
  const parts = here.slice(0, most).map((finding): Part => ({
    at: finding.at,
    text: markdown ? asMarkdown(finding, !showsMessages) : asText(finding, !showsMessages),
  }));
  const last = here.at(-1);
  return last === undefined || here.length <= most
    ? parts
    : [...parts, { at: last.at, text: `${here.length - most} more findings here` }];
}

function asMarkdown(finding: Finding, withMessage: boolean): string {
  const evidence = (finding.evidence ?? []).map((line) => `- ${escapeMarkdown(line)}`);
  return [
    `**${escapeMarkdown(ruleMeta(finding.rule)?.summary ?? finding.rule)}** ([${finding.rule}](${ruleDocUrl(finding.rule)}))`,
    ...(withMessage ? [escapeMarkdown(finding.message)] : []),
    ...(evidence.length === 0 ? [] : [evidence.join('\n')]),
  ].join('\n\n');
}

function asText(finding: Finding, withMessage: boolean): string {
  return [
    `${ruleMeta(finding.rule)?.summary ?? finding.rule} (${finding.rule})`,
    ...(withMessage ? [finding.message] : []),
    ...(finding.evidence ?? []).map((line) => `  - ${line}`),
    ruleDocUrl(finding.rule),
  ].join('\n');
}
