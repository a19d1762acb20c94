import type { Span } from './node';

/**
 * A place where a template writes lines of its own: `{{- toYaml .Values.resources | nindent 8 }}`, or the content of a
 * `range`, of which the text shows one round only.
 */
export interface Hole extends Span {
  /** The column at which the lines come out: that of `nindent`, else where the expression stands. */
  readonly column: number;
  /** `content` may be anything; a `range` repeats the keys or the items at its start. */
  readonly writes: 'content' | 'keys' | 'items';
}

/** A document's text with everything that is not YAML yet covered by other characters, one for one. */
export interface Mask {
  readonly text: string;
  /** Stands for each character of an expression within a line; the text has none of its own. */
  readonly placeholder: string;
  /** What is masked, `${VARIABLES}` too, in order and without those inside another. */
  readonly expressions: readonly Span[];
  readonly holes: readonly Hole[];
  /** Those of the expressions that belong to a template language. */
  readonly templates: readonly Span[];
}

/**
 * `${VARIABLE}` of envsubst, Flux or Terraform, which is replaced before the API server sees it. `$${...}` is Flux's
 * escape for one that stays, and `$(VARIABLE)` is Kubernetes' own.
 */
const VARIABLE = /(?<!\$)\$\{[^\s{}"']*\}/g;

const MAX_VARIABLE_NESTING = 4;

/**
 * `key: $VARIABLE`, with a name in capitals, which envsubst takes too. Nowhere else: in commands and their arguments a
 * shell reads it, and a text with spaces is prose.
 */
const BARE_VALUE =
  /(?:^|[{,])[ \t]*(?:- +)*["']?[\w./-]+["']?:[ \t]+(["']?)([\w./:@-]*\$[A-Z][\w./:@$-]*)\1(?=[ \t]*(?:[\r\n,}]|$)|[ \t]+#)/gm;
const SECRET = /^["']?kind["']?:[ \t]*["']?Secret\b/m;
const BARE_VARIABLE = /\$[A-Z][A-Z0-9_]*/g;

/** Expressions that write nothing where they stand. */
const CONTROL =
  /^\{[{%][-+]?\s*(?:(?:if|else|elif|end\w*|range|with|for|define|block|set|macro|break|continue|import|from)\b|\$\w+\s*:?=|\/\*)/;
const LOOP = /^\{[{%][-+]?\s*(?:range|for)\b/;
const INDENT = /\bn?indent\s+(\d+)/g;

/** `undefined` when there is nothing to mask. */
export function maskTemplates(text: string): Mask | undefined {
  const go = text.includes('{{');
  const jinja = text.includes('{%');
  const bare = bareVariables(text);
  if (!go && !jinja && bare.length === 0 && !text.includes('${')) return undefined;
  const templates = go || jinja ? findTemplates(text, jinja) : [];
  const placeholder = freeCharacter(text);
  const expressions: Span[] = [];
  const holes: Hole[] = [];
  const loops: Span[] = [];
  let masked = '';
  let done = 0;

  for (let first = 0; first < templates.length;) {
    // The templates of one line, where one that spans lines joins them.
    const line = lineStart(text, templates[first]?.start ?? 0);
    let last = first;
    let end = lineEnd(text, templates[first]?.end ?? 0);
    for (let next = templates[last + 1]; next !== undefined && next.start < end; next = templates[last + 1]) {
      last++;
      if (next.end > end) end = lineEnd(text, next.end);
    }
    const group = templates.slice(first, last + 1);
    first = last + 1;
    const alone = isBlankBetween(text, line, group, end);
    let ownLine = line;
    for (const template of group) {
      expressions.push(template);
      const source = text.slice(template.start, template.end);
      masked += text.slice(done, template.start);
      masked += alone ? source.replace(/[^\r\n]/g, ' ') : placeholder.repeat(source.length);
      done = template.end;
      if (alone && LOOP.test(source)) {
        loops.push(template);
      } else if (alone && !CONTROL.test(source) && !source.startsWith('{#')) {
        const indents = [...source.matchAll(INDENT)];
        const column = Number(indents.at(-1)?.[1] ?? template.start - ownLine);
        holes.push({ start: template.start, end: template.end, column, writes: 'content' });
      }
      if (/[\r\n]/.test(source)) ownLine = lineStart(text, template.end);
    }
  }
  masked += text.slice(done);
  holes.push(...loopContents(masked, loops));
  masked = maskVariables(masked, placeholder, expressions);
  masked = cover(masked, placeholder, bare);
  expressions.push(...bare);
  return { text: masked, placeholder, expressions: outermost(expressions), templates, holes };
}

function outermost(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Span[] = [];
  for (const span of sorted) if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span);
  return kept;
}

/** The expressions that reach into a span, with a binary search. */
export function expressionsIn(mask: Mask, start: number, end: number): readonly Span[] {
  const { expressions } = mask;
  let low = 0;
  let high = expressions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((expressions[middle]?.end ?? 0) > start) high = middle;
    else low = middle + 1;
  }
  let last = low;
  while (last < expressions.length && (expressions[last]?.start ?? end) < end) last++;
  return expressions.slice(low, last);
}

function maskVariables(text: string, placeholder: string, expressions: Span[]): string {
  if (!text.includes('${')) return text;
  let masked = text;
  // The default value of a variable may be a variable: the innermost are masked first.
  for (let round = 0, found = true; found && round < MAX_VARIABLE_NESTING; round++) {
    found = false;
    masked = masked.replace(VARIABLE, (variable, start: number) => {
      found = true;
      expressions.push({ start, end: start + variable.length });
      return placeholder.repeat(variable.length);
    });
  }
  return masked;
}

function cover(text: string, placeholder: string, spans: readonly Span[]): string {
  let covered = '';
  let done = 0;
  for (const { start, end } of spans) {
    covered += text.slice(done, start) + placeholder.repeat(end - start);
    done = end;
  }
  return covered + text.slice(done);
}

/**
 * `$VARIABLE` without braces where it is the value of a key, or a part of it. Not in Secrets: applied as it stands, which
 * is what happens to them by mistake, such a value is refused or becomes the password.
 */
export function bareVariables(text: string): readonly Span[] {
  if (!text.includes('$') || SECRET.test(text)) return [];
  return [...text.matchAll(BARE_VALUE)].flatMap((match) => {
    const value = match[2] ?? '';
    const from = match.index + match[0].length - value.length - (match[1]?.length ?? 0);
    return [...value.matchAll(BARE_VARIABLE)].map(({ 0: variable, index }) => ({
      start: from + index,
      end: from + index + variable.length,
    }));
  });
}

/** Go's `{{ }}` and, where the text has `{% %}`, Jinja's forms. An opening without its closing is no template. */
function findTemplates(text: string, jinja: boolean): Span[] {
  const found: Span[] = [];
  const opening = jinja ? /\{[{%#]/g : /\{\{/g;
  // Where a closing is not found once, it need not be looked for again.
  const missing = new Set<string>();
  const indexAfter = (closing: string, from: number): number | undefined => {
    if (missing.has(closing)) return undefined;
    const at = text.indexOf(closing, from);
    if (at === -1) missing.add(closing);
    return at === -1 ? undefined : at + closing.length;
  };
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const from = match.index + 2;
    const kind = match[0];
    let end: number | undefined;
    if (kind !== '{{') {
      end = indexAfter(kind === '{%' ? '%}' : '#}', from);
    } else if (isCommentAt(text, from)) {
      const close = indexAfter('*/', from);
      end = close === undefined ? undefined : indexAfter('}}', close);
    } else {
      end = endOfAction(text, from);
    }
    if (end === undefined) continue;
    // A string with an opening brace pair in it is closed by its quote, not by braces further down.
    const lines = kind === '{{' && /[\r\n]/.test(text.slice(from, end));
    if (lines && isQuotedAt(text, lineStart(text, from), match.index)) continue;
    found.push({ start: match.index, end });
    opening.lastIndex = end;
  }
  return found;
}

function isCommentAt(text: string, from: number): boolean {
  const comment = /-?\s*\/\*/y;
  comment.lastIndex = from;
  return comment.test(text);
}

/** Behind the `}}` that closes an action; one in a string does not. */
function endOfAction(text: string, from: number): number | undefined {
  const token = /\}\}|\{\{|"(?:[^"\\\r\n]|\\.)*"|`[^`]*`/g;
  token.lastIndex = from;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '}}') return token.lastIndex;
    if (match[0] === '{{') return undefined;
  }
  return undefined;
}

function isBlankBetween(text: string, line: number, group: readonly Span[], end: number): boolean {
  let from = line;
  for (const { start, end: after } of group) {
    if (!/^\s*$/.test(text.slice(from, start))) return false;
    from = after;
  }
  return /^\s*$/.test(text.slice(from, end));
}

/** Lines longer than this are not written by people; how their start goes on is not looked at. */
const LONG_LINE = 500;

function before(text: string, line: number, at: number): string {
  return text.slice(Math.max(line, at - LONG_LINE), at);
}

/** An odd number of quotes stands before it on its line. */
function isQuotedAt(text: string, line: number, at: number): boolean {
  const start = before(text, line, at);
  return start.split('"').length % 2 === 0 || start.split("'").length % 2 === 0;
}

/** The first line that is left of each loop's content after masking; loops that start together share it. */
function loopContents(masked: string, loops: readonly Span[]): Hole[] {
  const contents: Hole[] = [];
  let next: Hole | undefined;
  let nextLoop = masked.length;
  for (const loop of loops.toReversed()) {
    const content = contentBetween(masked, loop.end, nextLoop) ?? next;
    if (content !== undefined && content !== next) contents.push(content);
    next = content;
    nextLoop = loop.start;
  }
  return contents;
}

function contentBetween(masked: string, from: number, to: number): Hole | undefined {
  for (let line = afterLine(masked, from); line < to; line = afterLine(masked, line)) {
    const content = /^( *)([^\s#]\S*)/.exec(masked.slice(line, lineEnd(masked, line)));
    if (content === null) continue;
    const column = content[1]?.length ?? 0;
    const start = line + column;
    return { start, end: start, column, writes: content[2] === '-' ? 'items' : 'keys' };
  }
  return undefined;
}

function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && !isLineBreak(text.charCodeAt(start - 1))) start--;
  return start;
}

function lineEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && !isLineBreak(text.charCodeAt(end))) end++;
  return end;
}

function afterLine(text: string, at: number): number {
  return lineEnd(text, at) + 1;
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13;
}

/** One of Unicode's private characters that the text does not use. */
function freeCharacter(text: string): string {
  for (let code = 0xe000; code < 0xe100; code++) {
    const character = String.fromCharCode(code);
    if (!text.includes(character)) return character;
  }
  return '\ue100';
}
