import type { PlainValue } from './edit';
import { resolvePlain } from './resolve';

/** How far a document indents what stands under a key. */
export interface BlockStyle {
  readonly indent: number;
  /** Of the dashes of a list under its key; 0 as kubectl prints them. */
  readonly listIndent: number;
}

type Quotes = 'single' | 'double';

/** What a plain scalar cannot start with, contain or end with. */
const NOT_PLAIN =
  /^[\s,[\]{}#&*!|>'"%@`=]|^[-?:](?:\s|$)|^(?:---|\.\.\.)|: |:$| #|[\s]$|[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|\{\{|\{%/;
/** Read as a number or a date by other programs than kubectl. */
const AMBIGUOUS =
  /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?$|^\d{4}-\d\d?-\d\d?|^[-+]?0[xXoObB]?[\d_a-fA-F]+$|^<<$/;

function isPlain(text: string, flow: boolean): boolean {
  if (NOT_PLAIN.test(text) || AMBIGUOUS.test(text)) return false;
  if (flow && /[,[\]{}]|[?:-]$|:[,[\]{}]/.test(text)) return false;
  return typeof resolvePlain(text) === 'string';
}

/** A string in the quotes asked for, which give way to double ones for what cannot stand in them. */
function quote(text: string, quotes: Quotes): string {
  if (quotes === 'single' && /^[\x20-\x7e\u00a0-\ud7ff]*$/.test(text))
    return `'${text.replaceAll("'", "''")}'`;
  // JSON is YAML, but for characters that YAML does not print.
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A scalar on one line. */
export function formatScalar(
  value: string | number | boolean | null,
  flow: boolean,
  quotes?: Quotes,
): string {
  if (typeof value === 'string') {
    if (quotes !== undefined) return quote(value, quotes);
    return isPlain(value, flow) ? value : quote(value, 'double');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf';
  }
  return String(value);
}

export function formatKey(key: string, flow: boolean, quotes?: Quotes): string {
  return formatScalar(key, flow, quotes);
}

/** The lines of an entry in block style, without the indentation that all have. */
export function formatBlockEntry(key: string, value: PlainValue, style: BlockStyle): string[] {
  const name = `${formatKey(key, false)}:`;
  if (isList(value)) {
    if (value.length === 0) return [`${name} []`];
    return [
      name,
      ...indented(
        value.flatMap((item) => formatBlockItem(item, style)),
        style.listIndent,
      ),
    ];
  }
  if (isRecord(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0) return [`${name} {}`];
    return [
      name,
      ...indented(
        entries.flatMap(([inner, item]) => formatBlockEntry(inner, item, style)),
        style.indent,
      ),
    ];
  }
  const [first, ...rest] = formatBlockScalar(value);
  return [`${name} ${first}`, ...indented(rest, style.indent)];
}

/** The lines of a list's item in block style. */
export function formatBlockItem(value: PlainValue, style: BlockStyle): string[] {
  if (isList(value) && value.length > 0)
    return behindDash(value.flatMap((item) => formatBlockItem(item, style)));
  if (isRecord(value) && Object.keys(value).length > 0) {
    return behindDash(Object.entries(value).flatMap(([key, item]) => formatBlockEntry(key, item, style)));
  }
  if (isList(value) || isRecord(value)) return [`- ${formatFlow(value, 'none')}`];
  const [first, ...rest] = formatBlockScalar(value);
  return [`- ${first}`, ...indented(rest, 2)];
}

/**
 * What is quoted in flow style though YAML does not need it: nothing, text values (as KYAML), or keys too (as JSON,
 * which kubectl reads with a JSON parser when the file starts with a brace).
 */
export type Quoting = 'none' | 'values' | 'json';

/** A value on one line. */
export function formatFlow(value: PlainValue, quoting: Quoting): string {
  if (isList(value)) return `[${value.map((item) => formatFlow(item, quoting)).join(', ')}]`;
  if (isRecord(value)) {
    const entries = Object.entries(value).map(
      ([key, item]) => `${formatFlowKey(key, quoting)}: ${formatFlow(item, quoting)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  if (quoting === 'json') return JSON.stringify(value);
  return formatScalar(value, true, quoting === 'values' ? 'double' : undefined);
}

export function formatFlowKey(key: string, quoting: Quoting): string {
  return quoting === 'json' ? JSON.stringify(key) : formatKey(key, true);
}

/** A map or list in flow style over several lines, as kubectl prints KYAML: two spaces and a comma on every line. */
export function formatFlowLines(
  value: readonly PlainValue[] | { readonly [key: string]: PlainValue },
  style: { readonly quoting: Quoting },
): string[] {
  if (isList(value)) {
    if (value.length === 0) return ['[]'];
    return ['[', ...value.flatMap((item) => closed(flowValue(item, style))), ']'];
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return ['{}'];
  const inner = entries.flatMap(([key, item]) => {
    const [first = '', ...rest] = flowValue(item, style);
    return closed([`${formatFlowKey(key, style.quoting)}: ${first}`, ...rest]);
  });
  return ['{', ...inner, '}'];
}

function flowValue(value: PlainValue, style: { readonly quoting: Quoting }): string[] {
  if (!isList(value) && !isRecord(value)) return [formatFlow(value, style.quoting)];
  const lines = formatFlowLines(value, style);
  if (lines.length === 1) return lines;
  // JSON has no comma behind the last entry.
  const inner = indented(lines.slice(1, -1), 2).map((line, index, all) =>
    style.quoting === 'json' && index === all.length - 1 ? line.replace(/,$/, '') : line,
  );
  return [lines[0] ?? '', ...inner, lines.at(-1) ?? ''];
}

function closed(lines: readonly string[]): string[] {
  return [...lines.slice(0, -1), `${lines.at(-1) ?? ''},`];
}

/** Text of several lines becomes a literal block where that can hold it. */
function formatBlockScalar(value: string | number | boolean | null): string[] {
  if (typeof value !== 'string' || !value.includes('\n')) return [formatScalar(value, false)];
  if (/^[ \t\n]|\t|[ ]\n|[ ]$|[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe]|\{\{|\{%/.test(value)) {
    return [formatScalar(value, false, 'double')];
  }
  if (value.endsWith('\n\n')) return [formatScalar(value, false, 'double')];
  const chomp = value.endsWith('\n') ? '' : '-';
  return [`|${chomp}`, ...value.replace(/\n$/, '').split('\n')];
}

function indented(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line));
}

function behindDash(lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === 0 ? `- ${line}` : line === '' ? '' : `  ${line}`));
}

function isList(value: PlainValue): value is readonly PlainValue[] {
  return Array.isArray(value);
}

function isRecord(value: PlainValue): value is { readonly [key: string]: PlainValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
