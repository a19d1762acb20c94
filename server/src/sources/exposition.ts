import type { Sample, Scrape } from '../live/scrape';

/**
 * The text format of Prometheus, and OpenMetrics: what engines and exporters answer at `/metrics`. Written after
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and the OpenMetrics 1.0 specification.
 */

export interface MetricsPage extends Scrape {
  /** Every name on the page, also of samples that are not wanted. */
  readonly names: ReadonlySet<string>;
  /** Lines that could not be read; the others count nevertheless. */
  readonly problems: readonly string[];
}

/**
 * Names and label sets that pages have in common: a thousand pages of one engine hold them once. Without it, each sample
 * would also keep the whole text of its page, of which its strings are parts.
 */
export interface SharedTexts {
  readonly names: Map<string, string>;
  /** By how they are written. */
  readonly labels: Map<string, Readonly<Record<string, string>>>;
}

export function sharedTexts(): SharedTexts {
  return { names: new Map(), labels: new Map() };
}

/** More than engines and exporters have; pages with endlessly many labels do not fill the memory. */
const maxShared = 50_000;

/** A copy that is no part of another text. */
function own(text: string): string {
  return Buffer.from(text).toString();
}

function sharedName(shared: SharedTexts, name: string): string {
  const known = shared.names.get(name);
  if (known !== undefined) return known;
  const copy = own(name);
  if (shared.names.size >= maxShared) shared.names.clear();
  shared.names.set(copy, copy);
  return copy;
}

/** Where the labels that begin with `{` end, behind their `}`; -1 without one. */
function endOfLabels(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // A backslash takes the next character with it; 34 is the quote, 125 the brace.
    if (code === 92) at++;
    else if (code === 34) isQuoted = !isQuoted;
    else if (code === 125 && !isQuoted) return at + 1;
  }
  return -1;
}

const nameStart = /[A-Za-z_:]/;
const nameAt = /[A-Za-z_:][\w:.-]*/y;
/** A line that ends as samples do; enough for one that is not looked at any further. */
const looksWhole = /(?:[}\s])(?:[+-]?[\d.][\d.eE+-]*|[+-]?Inf|NaN)\s*$/;

/** So many broken lines are told; a page of another kind has as many as it has lines. */
const maxProblems = 20;

/**
 * Reads a metrics page that was printed at a time, and of it the samples whose name is wanted. Never throws: a line
 * that cannot be read is a problem of its own.
 */
export function parseExposition(
  text: string,
  at: number,
  wanted: (name: string) => boolean = () => true,
  shared: SharedTexts = sharedTexts(),
): MetricsPage {
  const samples: Sample[] = [];
  const names = new Set<string>();
  const problems: string[] = [];
  let line = 0;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    line++;
    const content = text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
    start = end + 1;
    const first = content.search(/\S/);
    if (first === -1) continue;
    if (content[first] === '#') {
      // OpenMetrics: nothing follows.
      if (/^\s*#\s*EOF\s*$/.test(content)) break;
      continue;
    }
    const plain = plainName(content, first);
    if (plain !== undefined && !wanted(plain) && looksWhole.test(content)) {
      names.add(sharedName(shared, plain));
      continue;
    }
    const sample = readSample(content, first, shared);
    if (typeof sample !== 'string') {
      names.add(sample.name);
      if (wanted(sample.name)) samples.push(sample);
    } else if (problems.length < maxProblems) problems.push(`line ${line}: ${sample}`);
  }
  return { at, samples, names, problems };
}

/** The name at the start of a line, where it is written without quotes and something can follow it. */
function plainName(text: string, from: number): string | undefined {
  if (!nameStart.test(text[from] ?? '')) return undefined;
  for (let end = from; end < text.length; end++) {
    const code = text.charCodeAt(end);
    // { or white space
    if (code === 123 || code === 32 || code === 9) return text.slice(from, end);
    if (code === 34 || code === 125) return undefined;
  }
  return undefined;
}

/** Defined, not assigned: a label may be called `__proto__`. */
function define<T>(record: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, each: string) => (each === 'n' ? '\n' : each));
}

/** `name{label="value",...} value [timestamp] [# exemplar]`, and `{"name", label="value"} value`. Text: what is wrong. */
function readSample(text: string, from: number, shared: SharedTexts): Sample | string {
  let at = from;
  let name = '';
  const skip = (): void => {
    while (text[at] === ' ' || text[at] === '\t') at++;
  };
  const quoted = (): string | undefined => {
    let end = at + 1;
    let hasEscape = false;
    for (; end < text.length && text[end] !== '"'; end++) {
      if (text[end] !== '\\') continue;
      hasEscape = true;
      end++;
    }
    if (end >= text.length) return undefined;
    const inner = text.slice(at + 1, end);
    at = end + 1;
    return hasEscape ? unescaped(inner) : inner;
  };
  const word = (): string => {
    nameAt.lastIndex = at;
    const found = nameAt.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };

  if (text[at] !== '{') {
    name = word();
    if (name === '') return 'a metric name is expected';
    skip();
  }
  let labels: Readonly<Record<string, string>> | undefined;
  const labelsAt = at;
  const labelsEnd = text[at] === '{' && name !== '' ? endOfLabels(text, at) : -1;
  if (labelsEnd !== -1) {
    labels = shared.labels.get(text.slice(labelsAt, labelsEnd));
    if (labels !== undefined) at = labelsEnd;
  }
  if (text[at] === '{') {
    const read: Record<string, string> = {};
    at++;
    for (;;) {
      skip();
      if (text[at] === '}') break;
      const isQuoted = text[at] === '"';
      const label = isQuoted ? quoted() : word();
      if (label === undefined || label === '') return 'a label name is expected';
      skip();
      if (text[at] === '=') {
        at++;
        skip();
        const value = text[at] === '"' ? quoted() : undefined;
        if (value === undefined) return `the value of label ${label} is not quoted to its end`;
        define(read, sharedName(shared, label), own(value));
      } else if (isQuoted && name === '') {
        name = label;
      } else {
        return `label ${label} has no value`;
      }
      skip();
      if (text[at] === ',') at++;
      else if (text[at] !== '}') return 'a comma or } is expected after a label';
    }
    at++;
    if (name === '') return 'a metric name is expected';
    labels = read;
    if (at === labelsEnd) {
      if (shared.labels.size >= maxShared) shared.labels.clear();
      shared.labels.set(own(text.slice(labelsAt, at)), labels);
    }
  }
  skip();
  const rest = text.slice(at);
  const number = /^\S+/.exec(rest)?.[0] ?? '';
  const value = readNumber(number);
  if (value === undefined) return `${number === '' ? 'nothing' : `"${number.slice(0, 40)}"`} is not a number`;
  const after = rest.slice(number.length).trim();
  // A timestamp, an exemplar, or both; they are not looked at, but must look like it.
  if (after !== '' && !/^(?:-?[\d.eE+]+)?\s*(?:#.*)?$/.test(after))
    return `"${after.slice(0, 40)}" after the value`;
  return { name: sharedName(shared, name), labels: labels ?? noLabels, value };
}

const noLabels: Readonly<Record<string, string>> = {};

/** As Go's ParseFloat reads the numbers that occur: decimal, hexadecimal, `+Inf`, `-Inf`, `NaN`. */
function readNumber(text: string): number | undefined {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text);
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (word !== null) {
    if (word[2]?.toLowerCase() === 'nan') return NaN;
    return word[1] === '-' ? -Infinity : Infinity;
  }
  return /^0[xX][\da-fA-F]+$/.test(text) ? Number(text) : undefined;
}
