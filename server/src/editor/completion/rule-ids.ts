import { ruleMetas } from '../../engine/registry';
import type { YamlDocument } from '../../yaml/document';
import type { CompletionAnswer } from './suggestion';

/** Where ids of rules are listed: comments that suppress, and the annotation that does. */
const before =
  /(?:#\s*plimsoll-(?:disable-next-line|disable)\s+|\bplimsoll\.dev\/ignore["']?\s*:\s*["']?)((?:[\w*-]+\s*,\s*)*)([\w-]*)$/;

/** The word of a suppression in a comment: `# plimsoll-di`. */
const directive = /#\s*(plimsoll-[\w-]*)$/;

const directives: readonly (readonly [string, string])[] = [
  ['plimsoll-disable-next-line', 'Accepts findings of a rule on the next line'],
  ['plimsoll-disable', 'Accepts findings of a rule in the whole document'],
];

/** What a suppression can name, at a place in it. */
export function ruleWord({ text }: YamlDocument, offset: number): CompletionAnswer | undefined {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  if (!line.includes('plimsoll')) return undefined;
  const after = /^[\w-]*/.exec(text.slice(offset))?.[0] ?? '';
  const word = directive.exec(line)?.[1];
  if (word !== undefined) {
    return {
      replace: { start: offset - word.length, end: offset + after.length },
      suggestions: directives.map(([label, documentation]) => ({ label, kind: 'key', documentation })),
    };
  }
  const [, listed = '', typed = ''] = before.exec(line) ?? [undefined];
  if (!before.test(line)) return undefined;
  const used = new Set(listed.split(',').map((id) => id.trim()));
  return {
    replace: { start: offset - typed.length, end: offset + after.length },
    suggestions: ruleMetas
      .filter(({ id }) => !used.has(id))
      .map(({ id, summary, severity }) => ({
        label: id,
        kind: 'name',
        detail: severity,
        documentation: summary,
      })),
  };
}
