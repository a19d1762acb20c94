import {
  entryOf,
  isMap,
  isNull,
  isScalar,
  isSequence,
  type ScalarNode,
  type Span,
  type YamlNode,
} from '../yaml/node';
import { envValue, type Container } from './containers';
import { scalarText, type ScalarText } from './scalar-text';
import { absent, unknownSetting, type Setting } from './settings';

/** A stretch of a word's text. */
interface Segment {
  readonly text: string;
  readonly unknown: boolean;
  /** Where the text stands: in the argument itself, or in the variable's value that replaces a reference. */
  readonly source: ScalarText;
  /** Index in the text of `source`. */
  readonly start: number;
  /** The reference in the argument that this text replaces. */
  readonly reference:
    { readonly source: ScalarText; readonly start: number; readonly end: number } | undefined;
}

/** One argument, after variables and quotes are resolved. */
export interface Word {
  readonly text: string;
  /** Some of it is only known later. */
  readonly unknown: boolean;
  /** Its place in the argument or script. */
  readonly at: Span;
  readonly node: ScalarNode;
  readonly segments: readonly Segment[];
  /** A shell would split it into any number of words: `$EXTRA_ARGS`, `"$@"`. */
  readonly many: boolean;
}

/** One program with its arguments; a script has several. */
export interface CommandLine {
  readonly words: readonly Word[];
  /** Arguments may be added that are not written here. */
  readonly open: boolean;
  /** Only `args` are written: the image's entrypoint comes before the first word. */
  readonly entrypoint: boolean;
}

function makeWord(segments: readonly Segment[], many: boolean): Word | undefined {
  const [first] = segments;
  const last = segments.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return {
    text: segments.map((segment) => segment.text).join(''),
    unknown: segments.some((segment) => segment.unknown),
    at: { start: ownSpan(first).start, end: ownSpan(last).end },
    node: (first.reference?.source ?? first.source).node,
    segments,
    many,
  };
}

function ownSpan(segment: Segment): Span {
  const { reference, source, start, text } = segment;
  return reference === undefined
    ? source.span(start, start + text.length)
    : reference.source.span(reference.start, reference.end);
}

/** A part of a word as a setting: exact where it is text of one place, unknown where any of it is. */
function part(word: Word, from: number, to: number): Setting {
  const pieces: { readonly segment: Segment; readonly from: number; readonly to: number }[] = [];
  let offset = 0;
  for (const segment of word.segments) {
    const start = Math.max(from, offset);
    const end = Math.min(to, offset + segment.text.length);
    if (start < end) pieces.push({ segment, from: start - offset, to: end - offset });
    offset += segment.text.length;
  }
  const [first] = pieces;
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) {
    return {
      state: 'known',
      value: '',
      text: '',
      at: { start: word.at.end, end: word.at.end },
      node: word.node,
    };
  }
  const value = word.text.slice(from, to);
  const spanOf = (piece: typeof first): Span =>
    piece.segment.source.span(piece.segment.start + piece.from, piece.segment.start + piece.to);
  const own = ({ segment, from: start, to: end }: typeof first): Span =>
    segment.reference === undefined
      ? segment.source.span(segment.start + start, segment.start + end)
      : segment.reference.source.span(segment.reference.start, segment.reference.end);
  if (pieces.some(({ segment }) => segment.unknown)) {
    return { state: 'unknown', at: { start: own(first).start, end: own(last).end }, node: word.node };
  }
  const oneSource = pieces.every(({ segment }) => segment.source === first.segment.source);
  return oneSource
    ? {
        state: 'known',
        value,
        text: value,
        at: { start: spanOf(first).start, end: spanOf(last).end },
        node: first.segment.source.node,
      }
    : {
        state: 'known',
        value,
        text: value,
        at: { start: own(first).start, end: own(last).end },
        node: word.node,
      };
}

/** A whole word as a setting. */
export function wordSetting(word: Word): Setting {
  return part(word, 0, word.text.length);
}

/** Variables that a script sets itself. */
type Locals = Map<string, readonly Segment[] | undefined>;

const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const kubernetesReference = /\$\(([A-Za-z_][-A-Za-z0-9_.]*)\)/y;
const template = /\{\{[\s\S]{0,2000}?\}\}|<<[A-Za-z_]\w*>>/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** The text that a reference to a variable stands for. */
function substitute(
  container: Container,
  locals: Locals,
  variable: string,
  source: ScalarText,
  start: number,
  end: number,
  otherwise: string | undefined,
): readonly Segment[] {
  const reference = { source, start, end };
  const unknown: Segment = { text: '\u0000', unknown: true, source, start, reference };
  if (locals.has(variable)) {
    return locals.get(variable)?.map((segment) => ({ ...segment, reference })) ?? [unknown];
  }
  const found = envValue(container, variable);
  if (found.state === 'known' && !/\$\(/.test(found.text)) {
    const value = scalarText(container.template.resource.placed.document.text, found.node);
    return value.text === ''
      ? []
      : [{ text: value.text, unknown: false, source: value, start: 0, reference }];
  }
  if (found.state === 'absent' && otherwise !== undefined && !otherwise.includes('$')) {
    const at = source.text.indexOf(otherwise, start);
    return otherwise === ''
      ? []
      : [{ text: otherwise, unknown: false, source, start: at, reference: undefined }];
  }
  return [unknown];
}

/** One item of `command` or `args`: Kubernetes replaces `$(VAR)`, nothing else happens to it. */
function readItem(container: Container, source: ScalarText): Word | undefined {
  const segments: Segment[] = [];
  const { text } = source;
  let plain = 0;
  const flush = (end: number): void => {
    if (end > plain) {
      segments.push({
        text: text.slice(plain, end),
        unknown: false,
        source,
        start: plain,
        reference: undefined,
      });
    }
  };
  for (let at = 0; at < text.length;) {
    const char = text[at];
    if (char === '$' && text[at + 1] === '$') {
      at += 2;
      continue;
    }
    const reference = char === '$' ? matchAt(kubernetesReference, text, at) : null;
    const variable = char === '$' && text[at + 1] === '{' ? text.indexOf('}', at) : -1;
    const expression = char === '{' || char === '<' ? matchAt(template, text, at) : null;
    const length = reference?.[0].length ?? expression?.[0].length ?? (variable >= 0 ? variable + 1 - at : 0);
    if (length === 0) {
      at += 1;
      continue;
    }
    flush(at);
    if (reference !== null) {
      segments.push(
        ...substitute(container, new Map(), reference[1] ?? '', source, at, at + length, undefined),
      );
    } else {
      segments.push({
        text: '\u0000',
        unknown: true,
        source,
        start: at,
        reference: { source, start: at, end: at + length },
      });
    }
    at += length;
    plain = at;
  }
  flush(text.length);
  if (segments.length === 0) {
    segments.push({ text: '', unknown: false, source, start: 0, reference: undefined });
  }
  return makeWord(segments, false);
}

/** The end of `$(...)` or `(...)`, quotes and nesting minded. */
function closing(text: string, open: number): number {
  let depth = 0;
  let quote = '';
  for (let at = open; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\' && quote === '"') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '\\') at += 1;
    else if (char === '(') depth += 1;
    else if (char === ')') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** Reads a shell script far enough to know its programs and their arguments. */
class ShellReader {
  private readonly commands: CommandLine[] = [];
  private words: Word[] = [];
  private segments: Segment[] = [];
  private many = false;
  private started = false;
  private skipNext = false;
  private heredocs: string[] = [];
  private at = 0;
  private readonly text: string;

  constructor(
    private readonly container: Container,
    private readonly source: ScalarText,
    private readonly locals: Locals,
  ) {
    this.text = source.text;
  }

  read(): readonly CommandLine[] {
    while (this.at < this.text.length) this.step();
    this.endCommand();
    return this.commands;
  }

  private add(start: number, end: number): void {
    this.started = true;
    const last = this.segments.at(-1);
    const text = this.text.slice(start, end);
    if (
      last !== undefined &&
      !last.unknown &&
      last.source === this.source &&
      last.reference === undefined &&
      last.start + last.text.length === start
    ) {
      this.segments[this.segments.length - 1] = { ...last, text: last.text + text };
    } else if (text !== '') {
      this.segments.push({ text, unknown: false, source: this.source, start, reference: undefined });
    }
  }

  private addUnknown(start: number, end: number): void {
    this.started = true;
    const { source } = this;
    this.segments.push({ text: '\u0000', unknown: true, source, start, reference: { source, start, end } });
  }

  private endWord(): void {
    if (!this.started) return;
    const segments =
      this.segments.length > 0
        ? this.segments
        : [{ text: '', unknown: false, source: this.source, start: this.at, reference: undefined }];
    const word = makeWord(segments, this.many);
    if (word !== undefined && !this.skipNext) this.words.push(word);
    this.skipNext = false;
    this.segments = [];
    this.many = false;
    this.started = false;
  }

  private endCommand(): void {
    this.endWord();
    this.skipNext = false;
    const words = this.assign(this.words);
    this.words = [];
    if (words.length === 0) return;
    this.commands.push({ words, open: false, entrypoint: false });
  }

  /** Takes assignments before the program, or after `export`, into the variables. */
  private assign(words: readonly Word[]): readonly Word[] {
    let index = words[0]?.text === 'export' ? 1 : 0;
    const start = index;
    for (; index < words.length; index += 1) {
      const word = words[index];
      const match = word === undefined ? null : /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(word.text);
      if (word === undefined || match === null) break;
      let skip = match[0].length;
      const value: Segment[] = [];
      for (const segment of word.segments) {
        const drop = Math.min(skip, segment.text.length);
        skip -= drop;
        const text = segment.text.slice(drop);
        if (text !== '') value.push({ ...segment, text, start: segment.start + drop });
      }
      this.locals.set(match[1] ?? '', value);
    }
    return start === 1 && index === words.length ? [] : words.slice(start === 1 ? 0 : index);
  }

  private step(): void {
    const { text, at } = this;
    const char = text[at] ?? '';
    const next = text[at + 1] ?? '';
    const expression = char === '{' || char === '<' ? matchAt(template, text, at) : null;
    if (expression !== null) {
      this.addUnknown(at, at + expression[0].length);
      this.many ||= true;
      this.at += expression[0].length;
    } else if (char === '\n') {
      this.endCommand();
      this.at += 1;
      this.skipHeredocs();
    } else if (char === ' ' || char === '\t' || char === '\r') {
      this.endWord();
      this.at += 1;
    } else if (char === '#' && !this.started) {
      const end = text.indexOf('\n', at);
      this.at = end < 0 ? text.length : end;
    } else if (char === '\\') {
      this.backslash(next);
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      const close = end < 0 ? text.length : end;
      this.started = true;
      this.quoted(at + 1, close);
      this.at = close + 1;
    } else if (char === '"') {
      this.doubleQuoted();
    } else if (char === '`') {
      const end = text.indexOf('`', at + 1);
      this.addUnknown(at, end < 0 ? text.length : end + 1);
      this.many = true;
      this.at = end < 0 ? text.length : end + 1;
    } else if (char === '$') {
      this.dollar(false);
    } else if (char === ';' || char === '&' || char === '|' || char === '(' || char === ')') {
      if (char === '&' && (next === '>' || text[at - 1] === '>' || text[at - 1] === '<')) {
        this.endWord();
        this.at += 1;
      } else {
        this.endCommand();
        this.at += 1;
      }
    } else if (char === '>' || char === '<') {
      this.redirect(char, next);
    } else if ((char === '{' || char === '}') && !this.started && /^[\s;]?$/.test(next)) {
      this.endCommand();
      this.at += 1;
    } else {
      this.add(at, at + 1);
      this.at += 1;
    }
  }

  private backslash(next: string): void {
    // A continuation; also one that lost its line break when the scalar was folded, or that has spaces behind it.
    const rest = /^\\[ \t]*\r?\n/.exec(this.text.slice(this.at, this.at + 200));
    if (rest !== null) {
      if (rest[0].length > 2) this.endWord();
      this.at += rest[0].length;
    } else if (next === ' ' || next === '') {
      this.endWord();
      this.at += 1;
    } else {
      this.add(this.at + 1, this.at + 2);
      this.at += 2;
    }
  }

  /** Text in single quotes, in which Kubernetes still replaces its own references. */
  private quoted(from: number, to: number): void {
    let plain = from;
    for (let at = from; at < to; at += 1) {
      const reference = this.text[at] === '$' ? matchAt(kubernetesReference, this.text, at) : null;
      const expression = this.text[at] === '{' ? matchAt(template, this.text, at) : null;
      if (reference !== null && this.isKubernetes(reference[1] ?? '')) {
        this.add(plain, at);
        this.variable(reference[1] ?? '', at, at + reference[0].length, undefined);
        plain = at + reference[0].length;
        at = plain - 1;
      } else if (expression !== null) {
        this.add(plain, at);
        this.addUnknown(at, at + expression[0].length);
        plain = at + expression[0].length;
        at = plain - 1;
      }
    }
    this.add(plain, to);
  }

  private doubleQuoted(): void {
    this.started = true;
    this.at += 1;
    while (this.at < this.text.length && this.text[this.at] !== '"') {
      const char = this.text[this.at] ?? '';
      const next = this.text[this.at + 1] ?? '';
      const expression = char === '{' ? matchAt(template, this.text, this.at) : null;
      if (expression !== null) {
        this.addUnknown(this.at, this.at + expression[0].length);
        this.at += expression[0].length;
      } else if (char === '\\' && '"\\$`\n'.includes(next) && next !== '') {
        if (next !== '\n') this.add(this.at + 1, this.at + 2);
        this.at += 2;
      } else if (char === '$') {
        this.dollar(true);
      } else if (char === '`') {
        const end = this.text.indexOf('`', this.at + 1);
        this.addUnknown(this.at, end < 0 ? this.text.length : end + 1);
        this.at = end < 0 ? this.text.length : end + 1;
      } else {
        this.add(this.at, this.at + 1);
        this.at += 1;
      }
    }
    this.at += 1;
  }

  /** `$(NAME)` is Kubernetes' when the container has the variable, or the name cannot be a program's. */
  private isKubernetes(variable: string): boolean {
    return envValue(this.container, variable).state === 'known' || /^[A-Z][A-Z0-9_]*$/.test(variable);
  }

  private variable(variable: string, start: number, end: number, otherwise: string | undefined): void {
    this.started = true;
    this.segments.push(
      ...substitute(this.container, this.locals, variable, this.source, start, end, otherwise),
    );
  }

  private dollar(inQuotes: boolean): void {
    const { text, at } = this;
    const reference = matchAt(kubernetesReference, text, at);
    const plainName = matchAt(name, text, at + 1);
    const next = text[at + 1] ?? '';
    if (reference !== null && this.isKubernetes(reference[1] ?? '')) {
      this.variable(reference[1] ?? '', at, at + reference[0].length, undefined);
      this.at += reference[0].length;
    } else if (next === '(') {
      const end = closing(text, at + 1);
      this.addUnknown(at, end);
      this.many ||= !inQuotes;
      this.at = end;
    } else if (next === '{') {
      const end = text.indexOf('}', at);
      const close = end < 0 ? text.length : end + 1;
      const match = /^([A-Za-z_][A-Za-z0-9_]*)(?::?-([\s\S]*))?$/.exec(text.slice(at + 2, close - 1));
      if (match === null) this.addUnknown(at, close);
      else this.variable(match[1] ?? '', at, close, match[2]);
      this.at = close;
    } else if (plainName !== null) {
      this.variable(plainName[0], at, at + 1 + plainName[0].length, undefined);
      this.at += 1 + plainName[0].length;
    } else if (/[@*#?$!0-9]/.test(next)) {
      this.addUnknown(at, at + 2);
      this.many ||= next === '@' || next === '*';
      this.at += 2;
    } else {
      this.add(at, at + 1);
      this.at += 1;
    }
    // An unknown variable outside quotes can be any number of words.
    if (!inQuotes && this.segments.at(-1)?.unknown === true && this.segments.length === 1) this.many = true;
  }

  private redirect(char: string, next: string): void {
    // The digit before belongs to it: `2>&1`.
    if (this.segments.length === 1 && /^\d$/.test(this.segments[0]?.text ?? '')) {
      this.segments = [];
      this.started = false;
    }
    this.endWord();
    if (char === '<' && next === '<' && this.text[this.at + 2] !== '<') {
      const match = /^<<-?\s*(["']?)([A-Za-z_]\w*)\1/.exec(this.text.slice(this.at, this.at + 100));
      if (match !== null) {
        this.heredocs.push(match[2] ?? '');
        this.at += match[0].length;
        return;
      }
    }
    const operator = /^[<>]+[&|]?/.exec(this.text.slice(this.at, this.at + 4))?.[0] ?? char;
    this.at += operator.length;
    const duplicate = operator.endsWith('&') ? /^[-\d]/.exec(this.text.slice(this.at, this.at + 1)) : null;
    if (duplicate !== null) this.at += 1;
    else this.skipNext = true;
  }

  private skipHeredocs(): void {
    for (const end of this.heredocs) {
      const match = new RegExp(`^[ \\t]*${end}[ \\t]*\\r?$`, 'm').exec(this.text.slice(this.at));
      this.at = match === null ? this.text.length : this.at + match.index + match[0].length;
    }
    this.heredocs = [];
  }
}

function programName(word: Word | undefined): string {
  return word === undefined ? '' : word.text.slice(word.text.lastIndexOf('/') + 1);
}

const shells: readonly string[] = ['sh', 'bash', 'ash', 'dash', 'zsh'];

interface Items {
  readonly nodes: readonly ScalarNode[];
  readonly open: boolean;
  readonly written: boolean;
}

function itemsOf(node: YamlNode | undefined): Items {
  if (isSequence(node)) {
    const nodes = node.items.filter(isScalar);
    return { nodes, open: node.open || nodes.length < node.items.length, written: node.items.length > 0 };
  }
  // A single string where the API wants a list; people mean a command line by it.
  if (isScalar(node) && !isNull(node)) return { nodes: [node], open: false, written: true };
  return { nodes: [], open: isMap(node), written: false };
}

/** `--flag value` in one item, or a whole command line: what a shell would split, though none does. */
function splitsLikeShell(text: string): boolean {
  return /^--?[A-Za-z][\w-]*\s+[^\s{[]/.test(text) && !/^--?[\w-]+=/.test(text);
}

const memo = new WeakMap<Container, readonly CommandLine[]>();

/**
 * The programs that a container starts, as far as `command` and `args` tell: one, or those of a `sh -c` script in order.
 * Empty when neither is written: then the image decides alone.
 */
export function commandLines(container: Container): readonly CommandLine[] {
  const known = memo.get(container);
  if (known !== undefined) return known;
  const lines = read(container);
  memo.set(container, lines);
  return lines;
}

function read(container: Container): readonly CommandLine[] {
  const { node, template: pod } = container;
  const source = pod.resource.placed.document.text;
  const commandNode = entryOf(node, 'command')?.value;
  const argsNode = entryOf(node, 'args')?.value;
  const command = itemsOf(commandNode);
  const args = itemsOf(argsNode);
  const nodes = [...command.nodes, ...args.nodes];
  const open = command.open || args.open || (node.open && !(command.written && args.written));
  // A patch that changes only one of the two says nothing about the other.
  const entrypoint = !command.written;
  if (nodes.length === 0) return open ? [{ words: [], open: true, entrypoint: true }] : [];
  const words: Word[] = [];
  for (let index = 0; index < nodes.length; index += 1) {
    const scalar = nodes[index];
    if (scalar === undefined) continue;
    const text = scalarText(source, scalar);
    const flag = words.at(-1)?.text ?? '';
    if (
      words.length > 0 &&
      /^-[a-z]*c[a-z]*$/.test(flag) &&
      words.some((word) => shells.includes(programName(word)))
    ) {
      return new ShellReader(container, text, new Map()).read();
    }
    const isCommandLine =
      splitsLikeShell(text.text) ||
      (isScalar(index < command.nodes.length ? commandNode : argsNode) && /\s/.test(text.text));
    if (isCommandLine) {
      for (const line of new ShellReader(container, text, new Map()).read()) words.push(...line.words);
      continue;
    }
    const word = readItem(container, text);
    if (word !== undefined) words.push(word);
  }
  return [{ words, open, entrypoint }];
}

/** Flags are the same whether they are written with dashes or underscores. */
function normalised(flag: string): string {
  // Rules ask by the name itself, hundreds of times for each server.
  if (!flag.startsWith('-') && !flag.includes('_')) return flag;
  return flag.replace(/^-+/, '').replaceAll('_', '-');
}

/** The arguments of one program. */
export interface ServerArguments {
  readonly words: readonly Word[];
  /** More may be set than is written: unknown words, a script of its own, a configuration file. */
  readonly open: boolean;
  /**
   * The value of a flag, under its name or an alias, the last one that is written. A flag without a value is known and
   * empty. Absent only when nothing unknown could set it.
   */
  get(flag: string, aliases?: readonly string[]): Setting;
  /** The words that are neither flags nor values of flags, as far as that can be told: up to the first flag. */
  readonly positionals: readonly Word[];
}

function isFlag(word: Word | undefined): boolean {
  return word !== undefined && /^--?[A-Za-z]/.test(word.text);
}

/** Where each flag is written last, by its name. */
function lastFlags(words: readonly Word[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  words.forEach((word, index) => {
    if (!isFlag(word)) return;
    const equals = word.text.indexOf('=');
    last.set(normalised(equals < 0 ? word.text : word.text.slice(0, equals)), index);
  });
  return last;
}

export function serverArguments(words: readonly Word[], open: boolean): ServerArguments {
  let lastByName: ReadonlyMap<string, number> | undefined;
  const unknownWords = open || words.some((word, index) => mayAddFlags(word, words[index - 1]));
  const first = words.findIndex(isFlag);
  return {
    words,
    open: unknownWords,
    positionals: words.slice(0, first < 0 ? words.length : first),
    get: (flag, aliases = []) => {
      lastByName ??= lastFlags(words);
      let last = lastByName.get(normalised(flag)) ?? -1;
      for (const alias of aliases) last = Math.max(last, lastByName.get(normalised(alias)) ?? -1);
      const word = words[last];
      if (word === undefined) return unknownWords ? unknownSetting : absent;
      const equals = word.text.indexOf('=');
      if (equals >= 0) return part(word, equals + 1, word.text.length);
      const next = words[last + 1];
      if (next === undefined || isFlag(next)) {
        return { state: 'known', value: '', text: '', at: word.at, node: word.node };
      }
      return next.many && next.unknown
        ? { state: 'unknown', at: next.at, node: next.node }
        : wordSetting(next);
    },
  };
}

/** Names of variables that hold whole lists of arguments. */
const argumentList = /args|opts|options|flags|extra|@|\*/i;

/**
 * Whether a word can turn out to be flags. An unknown word right behind a flag is that flag's value, unless its name says
 * that it is a list of arguments.
 */
function mayAddFlags(word: Word, before: Word | undefined): boolean {
  const [first] = word.segments;
  if (first?.unknown !== true || (!word.many && word.segments.length > 1)) return false;
  const isValue = isFlag(before) && before?.text.includes('=') === false;
  if (!isValue) return true;
  const { reference } = first;
  return (
    reference !== undefined && argumentList.test(reference.source.text.slice(reference.start, reference.end))
  );
}
