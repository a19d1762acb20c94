import type { Alias, CST, Document, Pair, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { Composer, Parser, isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Comment, YamlProblem } from './document';
import type { Entry, MapNode, ScalarNode, ScalarStyle, SequenceNode, Span, YamlNode } from './node';
import type { Reading } from './parse';
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

/**
 * `${VARIABLE}` of envsubst, Flux or Terraform, which is replaced before the API server sees it. `$${...}` is Flux's
 * escape, and `$(VARIABLE)` is Kubernetes' own.
 */
const VARIABLE = /(?:^|[^$])\$\{/;

/** Reads a document of any shape with the `yaml` package, which decides what is YAML and what is not. */
export function readWithParser(text: string): Reading {
  // A document that starts on the line of its marker is read with the marker, since less is allowed there.
  const inline =
    text.length > 0 && (text.startsWith(' ') || text.startsWith('\t')) && !/^[ \t]*[^ \t\r\n]*:/.test(text);
  const input = inline ? `---${text}` : text;
  return new Conversion(text, input, inline ? 3 : 0).read();
}

class Conversion {
  private readonly problems: YamlProblem[] = [];
  private readonly anchors = new Map<string, YamlNode | 'open'>();
  /** How many nodes a walk of the tree under a node meets, aliases followed. */
  private readonly weights = new WeakMap<YamlNode, number>();
  private aliasedNodes = 0;

  constructor(
    private readonly text: string,
    private readonly input: string,
    private readonly shift: number,
  ) {}

  read(): Reading {
    const tokens = [...new Parser().parse(this.input)];
    const { comments, tooDeep } = this.survey(tokens);
    let root: YamlNode | undefined;
    if (tooDeep !== undefined) {
      this.report(
        'limit',
        tooDeep,
        tooDeep + 1,
        `Nested more than ${MAX_DEPTH} levels deep; the document was not read`,
      );
    } else {
      const composer = new Composer({
        schema: 'failsafe',
        resolveKnownTags: false,
        uniqueKeys: false,
        prettyErrors: false,
        logLevel: 'silent',
      });
      let first: Document.Parsed | undefined;
      for (const document of composer.compose(tokens, true, this.input.length)) {
        first ??= document;
        for (const error of document.errors) {
          this.report('syntax', error.pos[0], Math.max(error.pos[1], error.pos[0]), error.message);
        }
      }
      const contents = first?.contents;
      if (contents !== undefined && contents !== null && !isNothing(contents)) root = this.node(contents);
    }
    this.problems.sort((a, b) => a.start - b.start || a.end - b.end);
    return { root, problems: this.problems, comments, templated: false };
  }

  /** Comments, and the place where the nesting gets too deep; iterative, since the nesting is not yet known. */
  private survey(tokens: readonly CST.Token[]): { comments: Comment[]; tooDeep: number | undefined } {
    const comments: Comment[] = [];
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
      if (depth > MAX_DEPTH && tooDeep === undefined) tooDeep = token.offset;
      switch (token.type) {
        case 'comment':
          comments.push(this.comment(token.offset, token.source));
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
          }
          if (token.type === 'flow-collection') pushAll(token.end, depth);
          break;
        case 'block-scalar':
          pushAll(token.props, depth);
          break;
        case 'scalar':
        case 'single-quoted-scalar':
        case 'double-quoted-scalar':
        case 'alias':
        case 'doc-end':
          pushAll(token.end, depth);
          break;
        default:
          break;
      }
    }
    comments.sort((a, b) => a.start - b.start);
    return { comments, tooDeep };
  }

  private comment(offset: number, source: string): Comment {
    const trimmed = source.trimEnd();
    const start = offset - this.shift;
    return { start, end: start + trimmed.length, text: trimmed.slice(1).trim() };
  }

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
    const start = from - this.shift;
    const end = (style === 'literal' || style === 'folded' ? this.trimmedEnd(from, to) : to) - this.shift;
    const tagged = node.tag === undefined ? undefined : resolveTagged(node.tag, decoded);
    const custom = node.tag !== undefined && tagged === undefined;
    const unknown = custom || VARIABLE.test(decoded);
    const value =
      unknown || custom
        ? decoded
        : (tagged ?? (node.tag !== undefined ? null : style === 'plain' ? resolvePlain(decoded) : decoded));
    return { kind: 'scalar', start, end, borrowed: false, value, text: decoded, style, unknown };
  }

  /** A missing value, right after its colon or dash; the parser places it behind the white space. */
  private nothing(offset: number, tag?: string): ScalarNode {
    let at = offset;
    while (at > this.shift && /[ \t]/.test(this.input[at - 1] ?? '')) at--;
    const start = at - this.shift;
    const value = tag?.endsWith(':str') === true ? '' : null;
    return {
      kind: 'scalar',
      start,
      end: start,
      borrowed: false,
      value,
      text: '',
      style: 'plain',
      unknown: false,
    };
  }

  private trimmedEnd(from: number, to: number): number {
    let at = to;
    while (at > from && /\s/.test(this.input[at - 1] ?? '')) at--;
    return at;
  }

  private sequence(node: YAMLSeq.Parsed): SequenceNode {
    const items: YamlNode[] = [];
    let weight = 1;
    for (const item of node.items) {
      const made = isPairLike(item) ? this.pairAsMap(item) : this.node(item as ParsedNode);
      weight += this.weightOf(made);
      items.push(made);
    }
    const flow = node.flow === true;
    const start = node.range[0] - this.shift;
    const end = flow ? node.range[1] - this.shift : Math.max(items.at(-1)?.end ?? start, start + 1);
    const open = isCustomTag(node.tag);
    return this.weigh({ kind: 'sequence', start, end, borrowed: false, items, flow, open }, weight);
  }

  /** `[a: b]` is a list of one map. */
  private pairAsMap(pair: Pair): MapNode {
    const entry = this.entry(pair as Pair<ParsedNode, ParsedNode | null>);
    const { start } = entry.key;
    return this.weigh(
      {
        kind: 'map',
        start,
        end: Math.max(entry.value.end, entry.key.end),
        borrowed: false,
        entries: [entry],
        flow: true,
        open: false,
      },
      2 + this.weightOf(entry.value),
    );
  }

  private map(node: YAMLMap.Parsed): MapNode {
    const own = new Map<string, Entry>();
    const merges: YamlNode[] = [];
    let weight = 1;
    let end = node.range[0] - this.shift;
    let start = end;
    let first = true;
    for (const pair of node.items) {
      const entry = this.entry(pair as Pair<ParsedNode, ParsedNode | null>);
      end = Math.max(end, entry.key.end, entry.value.end);
      if (first) start = Math.min(entry.key.start, Math.max(start, entry.key.start));
      first = false;
      weight += 1 + this.weightOf(entry.value);
      if (entry.key.text === '<<' && entry.key.style === 'plain') {
        merges.push(entry.value);
        continue;
      }
      const earlier = own.get(entry.key.text);
      if (earlier !== undefined) {
        this.report(
          'duplicate-key',
          entry.key.start + this.shift,
          entry.key.end + this.shift,
          `The key "${entry.key.text}" is already in this map; only the last one counts`,
        );
        own.delete(entry.key.text);
      }
      own.set(entry.key.text, entry);
    }
    const flow = node.flow === true;
    if (flow) [start, end] = [node.range[0] - this.shift, node.range[1] - this.shift];
    const open = isCustomTag(node.tag);
    const shape = { kind: 'map', start, end, borrowed: false, flow, open } as const;
    if (merges.length === 0) return this.weigh({ ...shape, entries: [...own.values()] }, weight);
    return this.weigh(merging(shape, [...own.values()], merges), weight);
  }

  private entry(pair: Pair<ParsedNode, ParsedNode | null>): Entry {
    const key = this.key(pair.key);
    const value = pair.value === null ? this.nothing(this.endOfKey(pair.key)) : this.node(pair.value);
    return { key, value };
  }

  private endOfKey(key: ParsedNode): number {
    return key.range[1];
  }

  private key(node: ParsedNode): ScalarNode {
    const made = this.node(node);
    if (made.kind === 'scalar') return made;
    this.report(
      'syntax',
      made.start + this.shift,
      made.end + this.shift,
      'A key of a Kubernetes manifest is text, not a map or list',
    );
    const text = this.text.slice(made.start, made.end);
    const { start, end, borrowed } = made;
    return { kind: 'scalar', start, end, borrowed, value: text, text, style: 'plain', unknown: true };
  }

  private alias(node: Alias.Parsed): YamlNode {
    const [from, to] = node.range;
    const span = { start: from - this.shift, end: to - this.shift };
    const target = this.anchors.get(node.source);
    if (target === undefined || target === 'open') {
      this.report(
        'alias',
        from,
        to,
        target === undefined
          ? `The alias "*${node.source}" has no anchor "&${node.source}" before it`
          : `The alias "*${node.source}" stands inside its own anchor`,
      );
      return unknownScalar(span, this.text.slice(span.start, span.end));
    }
    const weight = this.weightOf(target);
    this.aliasedNodes += weight;
    if (this.aliasedNodes > MAX_EXPANDED_NODES) {
      this.report(
        'limit',
        from,
        to,
        `Aliases expand this document to more than ${MAX_EXPANDED_NODES} values`,
      );
      return unknownScalar(span, this.text.slice(span.start, span.end));
    }
    return this.weigh(borrow(target, span), weight);
  }

  private weightOf(node: YamlNode): number {
    return node.kind === 'scalar' ? 1 : (this.weights.get(node) ?? 1);
  }

  private weigh<Node extends YamlNode>(node: Node, weight: number): Node {
    if (weight > 1) this.weights.set(node, weight);
    return node;
  }
}

function isPairLike(item: unknown): item is Pair {
  return typeof item === 'object' && item !== null && 'key' in item;
}

/** The parser makes an empty scalar of a document without content. */
function isNothing(node: ParsedNode): boolean {
  return (
    isScalar(node) && node.range[0] === node.range[1] && node.anchor === undefined && node.tag === undefined
  );
}

/** A tag that is not YAML's own: whoever understands it may add to the collection. */
function isCustomTag(tag: string | undefined): boolean {
  return tag !== undefined && tag !== '!' && !tag.startsWith('tag:yaml.org,2002:');
}

function unknownScalar(span: Span, text: string): ScalarNode {
  return { kind: 'scalar', ...span, borrowed: false, value: text, text, style: 'plain', unknown: true };
}

/**
 * The view of a node through an alias. The children are made when they are first looked at, so that a chain of
 * aliases that expands to billions of nodes costs nothing until somebody walks it.
 */
function borrow(node: YamlNode, span: Span): YamlNode {
  const { start, end } = span;
  if (node.kind === 'scalar') return { ...node, start, end, borrowed: true };
  if (node.kind === 'sequence') {
    let items: readonly YamlNode[] | undefined;
    return {
      kind: 'sequence',
      start,
      end,
      borrowed: true,
      get items() {
        return (items ??= node.items.map((item) => borrow(item, span)));
      },
      flow: node.flow,
      open: node.open,
    };
  }
  let entries: readonly Entry[] | undefined;
  return {
    kind: 'map',
    start,
    end,
    borrowed: true,
    get entries() {
      return (entries ??= node.entries.map((entry) => borrowEntry(entry, span)));
    },
    flow: node.flow,
    open: node.open,
  };
}

function borrowEntry(entry: Entry, span: Span): Entry {
  return { key: borrow(entry.key, span) as ScalarNode, value: borrow(entry.value, span) };
}

/** A map with merge keys. Its own keys win, then those of the maps in the order of the text. */
function merging(
  shape: Omit<MapNode, 'entries'>,
  own: readonly Entry[],
  merges: readonly YamlNode[],
): MapNode {
  let entries: readonly Entry[] | undefined;
  const sources = merges.flatMap((merge) => (merge.kind === 'sequence' ? merge.items : [merge]));
  return {
    ...shape,
    // What is merged from something unknown may hold any key.
    open: shape.open || sources.some((source) => (source.kind === 'map' ? source.open : isUnknown(source))),
    get entries() {
      return (entries ??= mergedEntries(own, sources));
    },
  };
}

function isUnknown(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.unknown;
}

function mergedEntries(own: readonly Entry[], sources: readonly YamlNode[]): readonly Entry[] {
  const seen = new Set(own.map((entry) => entry.key.text));
  const all = [...own];
  for (const source of sources) {
    if (source.kind !== 'map') continue;
    for (const entry of source.entries) {
      if (seen.has(entry.key.text)) continue;
      seen.add(entry.key.text);
      all.push(entry.value.borrowed ? entry : borrowInPlace(entry));
    }
  }
  return all;
}

/** An entry of a map written behind `<<:` keeps its own place, but is no entry of the map it is merged into. */
function borrowInPlace(entry: Entry): Entry {
  return { key: borrow(entry.key, entry.key) as ScalarNode, value: borrow(entry.value, entry.value) };
}
