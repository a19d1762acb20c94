import type { Alias, CST, Document, Pair, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { Composer, Parser, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { borrow, merging } from './borrow';
import { mapNode, scalarNode, sequenceNode } from './build';
import type { Comment, Reading, YamlProblem } from './document';
import { applyHoles } from './holes';
import { expressionsIn, maskTemplates } from './mask';
import type { Mask } from './mask';
import { joinLines } from './loose-lines';
import type { Entry, MapNode, ScalarNode, ScalarStyle, SequenceNode, Span, YamlNode } from './node';
import { describeSyntaxError } from './problems';
import { resolvePlain, resolveTagged } from './resolve';

/** Deeper nesting is refused: no Kubernetes object comes near it, and whoever walks a tree may recurse. */
export const MAX_DEPTH = 500;

/** Aliases may expand a document to this many nodes; go-yaml too refuses "excessive aliasing". */
const MAX_EXPANDED_NODES = 250_000;

const STYLES: Readonly<Record<string, ScalarStyle>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

/** What go-yaml refuses as "control characters are not allowed", and lone surrogates, which UTF-8 cannot hold. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/**
 * Reads a document of any shape with the `yaml` package, which decides what is YAML and what is not. `inline` says
 * that the document starts on the line of its `---`, where less is allowed than on a line of its own.
 */
export function readWithParser(text: string, inline: boolean): Reading {
  const mask = maskTemplates(text);
  return new Conversion(text, mask, inline).read();
}

const MAX_JOINS = 8;

/** What only Helm knows, and the functions that write YAML. */
const HELM = /\$?\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|\b(?:include|tpl|toYaml)\s/;

/** Lines with a tab in their indentation. */
const TAB_INDENT = /^ *\t/m;

/** What the parser made of an input. */
interface Attempt {
  readonly input: string;
  readonly layout: Layout;
  readonly document: Document.Parsed | undefined;
  /** In order of the text. */
  readonly errors: Document['errors'];
}

/** Where the tokens are that say something about the lines they stand on; offsets as in the input. */
interface Layout {
  readonly comments: readonly Span[];
  /** A token at which the nesting gets too deep. */
  readonly tooDeep: number | undefined;
  /** What may be indented with tabs: quoted scalars and flow collections. */
  readonly free: readonly Span[];
  readonly blockScalars: readonly Span[];
  /** White space with a tab between the dash of a list and its item. */
  readonly tabsAfterDash: readonly number[];
  /** Where each quoted scalar starts, by its end. */
  readonly quotedScalars: ReadonlyMap<number, number>;
}

class Conversion {
  private readonly input: string;
  /** How far offsets in the input are ahead of those in the document. */
  private readonly shift: number;
  private readonly problems: YamlProblem[] = [];
  private readonly anchors = new Map<string, YamlNode | 'open'>();
  /** Nodes with an anchor that an alias stands for. */
  private readonly repeated = new Set<YamlNode>();
  /** How many nodes a walk of the tree under a node meets, aliases followed. */
  private readonly weights = new WeakMap<YamlNode, number>();
  private aliasedNodes = 0;
  /**
   * A template decides about the structure, so that an error of the YAML around it may be one of the mask, and a key
   * that is there twice one of two branches.
   */
  private structural = false;
  /** Tabs that indent a line. */
  private readonly tabs: number[] = [];

  constructor(
    private readonly text: string,
    private readonly mask: Mask | undefined,
    inline: boolean,
  ) {
    // A lone carriage return ends a line for kubectl, not for the parser.
    const masked = (mask?.text ?? text).replace(/\r(?!\n)/g, '\n');
    this.input = inline ? `---${masked}` : masked;
    this.shift = inline ? 3 : 0;
  }

  read(): Reading {
    let attempt = attemptOf(this.input);
    if (TAB_INDENT.test(this.input)) attempt = this.withTabs(attempt);
    if (attempt.errors.some(isAboutIndent)) attempt = joinedAttempt(attempt) ?? attempt;
    const { layout } = attempt;
    this.structural = this.hasStructuralTemplate(layout);
    const comments = layout.comments.map(({ start, end }) => this.comment(start, end));
    this.reportCharacters(attempt);
    this.reportErrors(attempt);
    let root: YamlNode | undefined;
    if (layout.tooDeep !== undefined) {
      const message = `Nested more than ${MAX_DEPTH} levels deep; the document was not read`;
      this.report('limit', layout.tooDeep, layout.tooDeep + 1, message);
    } else {
      const contents = attempt.document?.contents;
      if (contents !== undefined && contents !== null && !isNothing(contents)) root = this.node(contents);
    }
    if (root !== undefined && this.mask !== undefined) root = applyHoles(this.text, root, this.mask.holes);
    this.problems.sort((a, b) => a.start - b.start || a.end - b.end);
    return {
      root,
      problems: this.problems,
      comments,
      templated: this.structural || this.hasHelmTemplate(layout),
      repeated: [...this.repeated].map(({ start, end }) => ({ start, end })),
    };
  }

  /**
   * kubectl takes tabs as indentation within quotes and brackets, which the parser refuses, and refuses them on blank
   * lines elsewhere, which the parser takes. Where tabs make the parser fail, they are read as spaces.
   */
  private withTabs(first: Attempt): Attempt {
    let attempt = first;
    const failed = first.errors.length > 0;
    if (failed) {
      const spaces = spacesForTabs(this.input, []);
      // In block scalars tabs are text; where these are shows once the parser gets through.
      attempt = attemptOf(spacesForTabs(this.input, attemptOf(spaces).layout.blockScalars));
    }
    const { free, blockScalars } = attempt.layout;
    const indents = /^( *)\t[ \t]*(?=([^\s#])?)/gm;
    for (const match of this.input.matchAll(indents)) {
      const tab = match.index + (match[1]?.length ?? 0);
      const isIndent = tab === match.index || (failed && match[2] !== undefined);
      if (isIndent && !isIn(tab, free) && !isIn(tab, blockScalars)) this.tabs.push(tab);
    }
    return attempt;
  }

  /** What kubectl refuses in a text and the parser does not. */
  private reportCharacters({ layout }: Attempt): void {
    for (const offset of layout.tabsAfterDash) {
      this.report(
        'syntax',
        offset,
        offset + 1,
        'A tab stands between "-" and its item; YAML allows only spaces there',
      );
    }
    const control = CONTROL_CHARACTER.exec(this.text);
    if (control === null) return;
    const at = control.index + this.shift;
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    this.report('syntax', at, at + 1, `The control character U+${code} is not allowed in YAML`);
  }

  /** One error brings others with it; those on the same line as one before are left out. */
  private reportErrors({ input, errors, layout }: Attempt): void {
    if (this.structural) return;
    for (const tab of this.tabs) {
      this.report('syntax', tab, tab + 1, 'A tab indents this line; YAML allows only spaces there');
    }
    let reported = -1;
    for (const error of errors) {
      if (error.pos[0] <= reported) continue;
      // The leading lines are blank for the mask only: they are templates on lines of their own.
      if (this.mask !== undefined && error.message.startsWith('Block scalars with more-indented')) continue;
      const { start, end, message } = describeSyntaxError(error, input, layout.quotedScalars);
      this.report('syntax', start, end, message);
      const lineEnd = input.indexOf('\n', Math.max(start, end));
      reported = lineEnd === -1 ? input.length : lineEnd;
    }
  }

  /** Whether a template stands where it may add or take away keys or lines. */
  private hasStructuralTemplate({ comments, blockScalars, quotedScalars }: Layout): boolean {
    const quoted = [...quotedScalars].map(([end, start]) => ({ start, end }));
    return this.templatesOutside([...comments, ...blockScalars, ...quoted]).length > 0;
  }

  /** Whether a template outside comments speaks of a Helm release, so that the file is a part of a chart. */
  private hasHelmTemplate({ comments }: Layout): boolean {
    return this.templatesOutside(comments).some(({ start, end }) => HELM.test(this.text.slice(start, end)));
  }

  private templatesOutside(covers: readonly Span[]): readonly Span[] {
    if (this.mask === undefined) return [];
    const sorted = [...covers].sort((a, b) => a.start - b.start);
    let cover = 0;
    return this.mask.templates.filter((template) => {
      const [start, end] = [template.start + this.shift, template.end + this.shift];
      while ((sorted[cover]?.end ?? Number.POSITIVE_INFINITY) <= start) cover++;
      const around = sorted[cover];
      return around === undefined || around.start > start || around.end < end;
    });
  }

  private comment(from: number, to: number): Comment {
    const start = from - this.shift;
    const end = start + this.text.slice(start, to - this.shift).trimEnd().length;
    return { start, end, text: this.text.slice(start + 1, end).trim() };
  }

  /** Takes offsets in the input. */
  private report(code: YamlProblem['code'], start: number, end: number, message: string): void {
    const length = this.text.length;
    const from = Math.min(Math.max(start - this.shift, 0), length);
    this.problems.push({
      code,
      message,
      start: from,
      end: Math.min(Math.max(end - this.shift, from), length),
    });
  }

  private node(node: ParsedNode): YamlNode {
    const anchor = isAlias(node) ? undefined : node.anchor;
    if (anchor !== undefined) this.anchors.set(anchor, 'open');
    const made = this.make(node);
    if (anchor !== undefined) this.anchors.set(anchor, made);
    return made;
  }

  private make(node: ParsedNode): YamlNode {
    if (isAlias(node)) return this.alias(node);
    if (isMap(node)) return this.map(node);
    if (isSeq(node)) return this.sequence(node);
    return this.scalar(node);
  }

  private scalar(node: Scalar.Parsed): ScalarNode {
    const style = STYLES[node.type ?? 'PLAIN'] ?? 'plain';
    const decoded = node.source ?? '';
    const [from, to] = node.range;
    if (style === 'plain' && to === from) return this.nothing(from, node.tag);
    const isBlock = style === 'literal' || style === 'folded';
    const start = from - this.shift;
    const end = (isBlock ? this.trimmedEnd(from, to) : to) - this.shift;
    const expressions = this.mask === undefined ? [] : expressionsIn(this.mask, start, end);
    if (expressions.length > 0) {
      // Whole lines are masked with white space, which folding and the end of a block scalar swallow.
      const blanked = isBlock && expressions.some((expression) => this.mask?.text[expression.start] === ' ');
      const text = blanked ? this.unmaskedBlock(start, end, decoded) : this.unmasked(expressions, decoded);
      return scalarNode(start, end, text, text, style, true);
    }
    if (node.tag === undefined) {
      return scalarNode(
        start,
        end,
        style === 'plain' ? resolvePlain(decoded) : decoded,
        decoded,
        style,
        false,
      );
    }
    const value = resolveTagged(node.tag, decoded);
    return scalarNode(start, end, value === undefined ? decoded : value, decoded, style, value === undefined);
  }

  /** The decoded text with the expressions in the place of what masked them. */
  private unmasked(expressions: readonly Span[], decoded: string): string {
    const source = expressions.map(({ start, end }) => this.text.slice(start, end)).join('');
    let at = 0;
    return decoded.replaceAll(this.mask?.placeholder ?? '', () => source[at++] ?? '');
  }

  /** The lines as they stand, since whole lines may be masked; folding is left undone. */
  private unmaskedBlock(start: number, end: number, decoded: string): string {
    const lines = this.text
      .slice(start, end)
      .split(/\r\n|\r|\n/)
      .slice(1);
    const masked = this.input
      .slice(start + this.shift, end + this.shift)
      .split(/\r\n|\r|\n/)
      .slice(1);
    const indents = masked.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
    const indent = indents.length === 0 ? 0 : Math.min(...indents);
    const text = lines.map((line) => line.slice(Math.min(indent, line.search(/\S|$/)))).join('\n');
    return decoded === '' || decoded.endsWith('\n') ? `${text}\n` : text;
  }

  /** A missing value, right after its colon or dash; the parser places it behind the white space. */
  private nothing(offset: number, tag?: string): ScalarNode {
    let at = offset;
    while (at > this.shift && (this.input[at - 1] === ' ' || this.input[at - 1] === '\t')) at--;
    const start = at - this.shift;
    const value = tag === undefined ? null : (resolveTagged(tag, '') ?? null);
    return scalarNode(start, start, value, '', 'plain', false);
  }

  private trimmedEnd(from: number, to: number): number {
    let at = to;
    while (at > from && /[ \t\r\n]/.test(this.input[at - 1] ?? '')) at--;
    return at;
  }

  private sequence(node: YAMLSeq.Parsed): SequenceNode {
    const items: YamlNode[] = [];
    let weight = 1;
    for (const item of node.items) {
      const made = isPair(item)
        ? this.pairAsMap(item)
        : notBefore(node.range[0] - this.shift, this.node(item as ParsedNode));
      weight += this.weightOf(made);
      items.push(made);
    }
    const flow = node.flow === true;
    const start = node.range[0] - this.shift;
    const end = flow ? node.range[1] - this.shift : Math.max(items.at(-1)?.end ?? start, start + 1);
    return this.weigh(sequenceNode(start, end, items, flow, isCustomTag(node.tag)), weight);
  }

  /** `[a: b]` is a list of one map. */
  private pairAsMap(pair: Pair<ParsedNode, ParsedNode | null>): MapNode {
    const entry = this.entry(pair);
    const end = Math.max(entry.value.end, entry.key.end);
    return this.weigh(mapNode(entry.key.start, end, [entry], true, false), 2 + this.weightOf(entry.value));
  }

  private map(node: YAMLMap.Parsed): MapNode {
    const own = new Map<string, Entry>();
    const branches: Entry[] = [];
    const merges: YamlNode[] = [];
    let weight = 1;
    let start = node.range[0] - this.shift;
    let end = start;
    let open = isCustomTag(node.tag);
    for (const [index, pair] of node.items.entries()) {
      const { key, value } = this.entry(pair as Pair<ParsedNode, ParsedNode | null>);
      const entry = { key: notBefore(node.range[0] - this.shift, key), value };
      if (index === 0) start = Math.max(start, entry.key.start);
      end = Math.max(end, entry.key.end, entry.value.end);
      weight += 1 + this.weightOf(entry.value);
      if (entry.key.text === '<<' && entry.key.style === 'plain') {
        merges.push(entry.value);
        continue;
      }
      // A key that a template makes may be any key.
      if (entry.key.unknown) open = true;
      const earlier = own.get(entry.key.text);
      if (earlier !== undefined) {
        if (this.structural || entry.key.unknown) {
          branches.push(entry);
          continue;
        }
        const message = `The key "${entry.key.text}" is already in this map; only the last one counts`;
        this.report('duplicate-key', entry.key.start + this.shift, entry.key.end + this.shift, message);
        own.delete(entry.key.text);
      }
      own.set(entry.key.text, entry);
    }
    const flow = node.flow === true;
    if (flow) [start, end] = [node.range[0] - this.shift, node.range[1] - this.shift];
    const entries = [...own.values(), ...branches];
    if (branches.length > 0) entries.sort((a, b) => a.key.start - b.key.start);
    const map = mapNode(start, end, entries, flow, open);
    return this.weigh(merges.length === 0 ? map : merging(map, merges), weight);
  }

  private entry(pair: Pair<ParsedNode, ParsedNode | null>): Entry {
    const key = this.key(pair.key);
    return { key, value: pair.value === null ? this.nothing(pair.key.range[1]) : this.node(pair.value) };
  }

  private key(node: ParsedNode): ScalarNode {
    const made = this.node(node);
    if (made.kind === 'scalar') return made;
    const { start, end } = made;
    // The parser takes what it cannot place for a key, and has said so.
    const isReported = this.problems.some((problem) => problem.start >= start - 2 && problem.start <= end);
    if (!this.structural && !isReported) {
      const message = 'A key of a Kubernetes manifest is text, not a map or list';
      this.report('syntax', start + this.shift, end + this.shift, message);
    }
    const text = this.text.slice(start, end);
    return scalarNode(start, end, text, text, 'plain', true);
  }

  private alias(node: Alias.Parsed): YamlNode {
    const [from, to] = node.range;
    const span = { start: from - this.shift, end: to - this.shift };
    const target = this.anchors.get(node.source);
    if (target === undefined || target === 'open') {
      const name = this.text.slice(span.start + 1, span.end);
      const message =
        target === undefined
          ? `The alias "*${name}" has no anchor "&${name}" before it`
          : `The alias "*${name}" stands inside its own anchor`;
      this.report('alias', from, to, message);
      return this.unreadable(span);
    }
    this.repeated.add(target);
    const weight = this.weightOf(target);
    this.aliasedNodes += weight;
    if (this.aliasedNodes > MAX_EXPANDED_NODES) {
      // Every alias after this one is too much as well; the first says it for all.
      if (this.aliasedNodes - weight <= MAX_EXPANDED_NODES) {
        const message = `Aliases expand this document to more than ${MAX_EXPANDED_NODES} values`;
        this.report('limit', from, to, message);
      }
      return this.unreadable(span);
    }
    return this.weigh(borrow(target, span), weight);
  }

  private unreadable(span: Span): ScalarNode {
    const text = this.text.slice(span.start, span.end);
    return scalarNode(span.start, span.end, text, text, 'plain', true);
  }

  private weightOf(node: YamlNode): number {
    return node.kind === 'scalar' ? 1 : (this.weights.get(node) ?? 1);
  }

  private weigh<Node extends YamlNode>(node: Node, weight: number): Node {
    if (weight > 1) this.weights.set(node, weight);
    return node;
  }
}

function attemptOf(input: string): Attempt {
  const tokens = [...new Parser().parse(input)];
  const layout = layoutOf(tokens);
  // Composing recurses into the nesting.
  if (layout.tooDeep !== undefined) return { input, layout, document: undefined, errors: [] };
  const composer = new Composer({
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  let first: Document.Parsed | undefined;
  const errors: Document['errors'] = [];
  for (const document of composer.compose(tokens, true, input.length)) {
    first ??= document;
    errors.push(...document.errors);
  }
  errors.sort((a, b) => a.pos[0] - b.pos[0]);
  return { input, layout, document: first, errors };
}

/** Whether an error may be one of lines in brackets or quotes that are not indented under their key. */
function isAboutIndent(error: Document['errors'][number]): boolean {
  return error.code === 'MISSING_CHAR' || /^Flow (?:map|sequence)\b/.test(error.message);
}

/** An attempt without errors, in which brackets and quotes are on one line, if there is one. */
function joinedAttempt(failed: Attempt): Attempt | undefined {
  let input = failed.input;
  let layout = failed.layout;
  const comments: Span[] = [];
  // What is behind the first that is not closed is seen only when that one is.
  for (let round = 0; round < MAX_JOINS; round++) {
    const joined = joinLines(
      input,
      layout.free.map(({ start }) => start),
    );
    if (joined === undefined) return undefined;
    input = joined.text;
    comments.push(...joined.comments);
    const attempt = attemptOf(input);
    layout = attempt.layout;
    if (attempt.errors.length > 0) continue;
    const all = [...layout.comments, ...comments].sort((a, b) => a.start - b.start);
    return { ...attempt, layout: { ...layout, comments: all } };
  }
  return undefined;
}

/** Walks the tokens without recursion, since how deep they nest is not yet known. */
function layoutOf(tokens: readonly CST.Token[]): Layout {
  const comments: Span[] = [];
  const free: Span[] = [];
  const blockScalars: Span[] = [];
  const tabsAfterDash: number[] = [];
  const quotedScalars = new Map<number, number>();
  let tooDeep: number | undefined;
  const stack: { token: CST.Token; depth: number }[] = [];
  const push = (token: CST.Token | null | undefined, depth: number): void => {
    if (token !== null && token !== undefined) stack.push({ token, depth });
  };
  const pushAll = (list: readonly CST.Token[] | undefined, depth: number): void => {
    if (list !== undefined) for (const token of list) push(token, depth);
  };
  pushAll(tokens, 0);
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { token, depth } = top;
    if (depth > MAX_DEPTH && (tooDeep === undefined || token.offset < tooDeep)) tooDeep = token.offset;
    switch (token.type) {
      case 'comment':
        comments.push({ start: token.offset, end: token.offset + token.source.length });
        break;
      case 'document':
        pushAll(token.start, depth);
        push(token.value, depth);
        pushAll(token.end, depth);
        break;
      case 'block-map':
      case 'block-seq':
      case 'flow-collection':
        for (const item of token.items) {
          pushAll(item.start, depth);
          push(item.key, depth + 1);
          pushAll(item.sep, depth);
          push(item.value, depth + 1);
          const [dash, space] = item.start;
          if (
            dash?.type === 'seq-item-ind' &&
            space?.type === 'space' &&
            space.source.includes('\t') &&
            item.value
          ) {
            tabsAfterDash.push(space.offset + space.source.indexOf('\t'));
          }
        }
        if (token.type === 'flow-collection') {
          pushAll(token.end, depth);
          free.push({ start: token.offset, end: token.end[0]?.offset ?? Number.POSITIVE_INFINITY });
        }
        break;
      case 'block-scalar':
        pushAll(token.props, depth);
        // The source is what follows the header.
        blockScalars.push({ start: token.offset, end: endOfBlockScalar(token) });
        break;
      case 'single-quoted-scalar':
      case 'double-quoted-scalar':
        quotedScalars.set(token.offset + token.source.length, token.offset);
        free.push({ start: token.offset, end: token.offset + token.source.length });
        pushAll(token.end, depth);
        break;
      case 'scalar':
      case 'alias':
      case 'doc-end':
        pushAll(token.end, depth);
        break;
      default:
        break;
    }
  }
  comments.sort((a, b) => a.start - b.start);
  return { comments, tooDeep, free, blockScalars, tabsAfterDash, quotedScalars };
}

function endOfBlockScalar(token: CST.BlockScalar): number {
  const header = token.props.at(-1);
  const start =
    header === undefined ? token.offset : header.offset + ('source' in header ? header.source.length : 0);
  return start + token.source.length;
}

function spacesForTabs(input: string, except: readonly Span[]): string {
  return input.replace(/^( *\t[ \t]*)/gm, (indent, _, offset: number) =>
    isIn(offset, except) ? indent : ' '.repeat(indent.length),
  );
}

function isIn(offset: number, spans: readonly Span[]): boolean {
  return spans.some(({ start, end }) => start < offset && offset < end);
}

function isPair(item: unknown): item is Pair<ParsedNode, ParsedNode | null> {
  return typeof item === 'object' && item !== null && 'key' in item;
}

/** In a broken collection a missing value may be placed before the collection itself. */
function notBefore<Node extends YamlNode>(start: number, node: Node): Node {
  return node.start < start && node.kind === 'scalar'
    ? { ...node, start, end: Math.max(node.end, start) }
    : node;
}

/** The parser makes an empty scalar of a document without content. */
function isNothing(node: ParsedNode): boolean {
  return isScalar(node) && node.type === 'PLAIN' && node.range[0] === node.range[1] && node.tag === undefined;
}

/** A tag that is not YAML's own: whoever understands it may add to the collection. */
function isCustomTag(tag: string | undefined): boolean {
  return tag !== undefined && tag !== '!' && !tag.startsWith('tag:yaml.org,2002:');
}
