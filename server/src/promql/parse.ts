import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { typeProblem } from './check';
import type {
  Grouping,
  MatchOperator,
  Matcher,
  PromExpression,
  QuerySpan,
  VectorMatching,
} from './expression';
import { unquote, type QueryProblem } from './strings';

export type ParsedQuery =
  | { readonly ok: true; readonly expression: PromExpression }
  | { readonly ok: false; readonly problem: QueryProblem };

/** Problems found while the tree is read, which ends the reading. */
class Refused extends Error {
  constructor(readonly problem: QueryProblem) {
    super(problem.message);
  }
}

const memo = new Map<string, ParsedQuery>();
const memoLimit = 500;

/**
 * Reads a PromQL expression as Prometheus does: its grammar, its strings, and the types of its parts. The first problem
 * ends it.
 */
export function parsePromQL(query: string): ParsedQuery {
  const known = memo.get(query);
  if (known !== undefined) return known;
  if (memo.size >= memoLimit) memo.clear();
  const parsed = parse(query);
  memo.set(query, parsed);
  return parsed;
}

function parse(query: string): ParsedQuery {
  // Prometheus 3 renamed the function, and the grammar is of 3; services that speak 2 still have it.
  const text = query.replace(/\bholt_winters(?=\s*\()/g, 'day_of_month');
  const tree = parser.parse(text);
  const problem = syntaxProblem(query, tree);
  if (problem !== undefined) return { ok: false, problem };
  const [top] = children(tree.topNode);
  if (top === undefined)
    return { ok: false, problem: { start: 0, end: query.length, message: 'the query is empty' } };
  try {
    const expression = new Reader(query).expression(top);
    const mistyped = typeProblem(expression);
    return mistyped === undefined ? { ok: true, expression } : { ok: false, problem: mistyped };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, problem: error.problem };
    throw error;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Syntax errors

function syntaxProblem(query: string, tree: Tree): QueryProblem | undefined {
  let first: QuerySpan | undefined;
  tree.iterate({
    enter(node) {
      if (node.type.isError && (first === undefined || node.from < first.start))
        first = { start: node.from, end: node.to };
    },
  });
  if (first === undefined) return undefined;
  if (/^(?:\s|#[^\n]*)*$/.test(query)) return { start: 0, end: query.length, message: 'the query is empty' };
  return bracketProblem(query) ?? describeError(query, first);
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** A bracket without its partner, or a string without its end, says more than the place where the grammar gave up. */
function bracketProblem(query: string): QueryProblem | undefined {
  const open: { readonly bracket: string; readonly at: number }[] = [];
  for (let at = 0; at < query.length; at += 1) {
    const char = query[at] ?? '';
    if (char === '#') {
      const end = query.indexOf('\n', at);
      at = end < 0 ? query.length : end;
    } else if (char === '"' || char === "'" || char === '`') {
      const end = endOfString(query, at);
      if (end === undefined) return { start: at, end: at + 1, message: 'the string is not closed' };
      at = end;
    } else if (char in closing) {
      open.push({ bracket: char, at });
    } else if (Object.values(closing).includes(char)) {
      const last = open.pop();
      if (last === undefined) return { start: at, end: at + 1, message: `"${char}" closes nothing` };
      if (closing[last.bracket] !== char)
        return {
          start: at,
          end: at + 1,
          message: `"${char}" stands where "${last.bracket}" wants its "${closing[last.bracket] ?? ''}"`,
        };
    }
  }
  const last = open.pop();
  return last === undefined
    ? undefined
    : { start: last.at, end: last.at + 1, message: `"${last.bracket}" is never closed` };
}

/** The offset of the closing quote. */
function endOfString(query: string, start: number): number | undefined {
  const quote = query[start];
  for (let at = start + 1; at < query.length; at += 1) {
    if (query[at] === quote) return at;
    if (quote === '`') continue;
    if (query[at] === '\\') at += 1;
    else if (query[at] === '\n') return undefined;
  }
  return undefined;
}

const word = /[A-Za-z_:][A-Za-z0-9_:]*\s*$/;

function describeError(query: string, { start, end }: QuerySpan): QueryProblem {
  const before = query.slice(0, start);
  const rest = query.slice(start);
  const blank = /^\s*/.exec(rest)?.[0].length ?? 0;
  const at = start + blank;
  if (at >= query.length) {
    const last = Math.max(0, before.trimEnd().length);
    return { start: Math.max(0, last - 1), end: last, message: 'the query ends before it is complete' };
  }
  const name = word.exec(before)?.[0];
  if (query[at] === '(' && name !== undefined) {
    const from = before.length - name.length;
    const function_ = name.trim();
    return { start: from, end: from + function_.length, message: `PromQL has no function "${function_}"` };
  }
  const token =
    /^(?:[A-Za-z_:][A-Za-z0-9_:]*|[0-9.]+[a-z]*|"[^"\n]*"|'[^'\n]*'|[=!<>~]+|.)/su.exec(
      query.slice(at),
    )?.[0] ?? '';
  return {
    start: at,
    end: Math.max(at + token.length, Math.min(end, at)),
    message: `"${token}" is not expected here`,
  };
}

// ---------------------------------------------------------------------------------------------------------------
// The tree

const matchOperators: Readonly<Record<string, MatchOperator>> = {
  EqlSingle: '=',
  Neq: '!=',
  EqlRegex: '=~',
  NeqRegex: '!~',
};

function children(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== 'LineComment') found.push(child);
  }
  return found;
}

class Reader {
  constructor(private readonly query: string) {}

  private text(node: SyntaxNode): string {
    return this.query.slice(node.from, node.to);
  }

  private string(node: SyntaxNode): string {
    const read = unquote(this.text(node), node.from);
    if ('problem' in read) throw new Refused(read.problem);
    return read.value;
  }

  expression(node: SyntaxNode): PromExpression {
    const span: QuerySpan = { start: node.from, end: node.to };
    const parts = children(node);
    const [first] = parts;
    switch (node.name) {
      case 'ParenExpr':
        return this.expression(this.only(first, node));
      case 'NumberDurationLiteral':
        return { ...span, kind: 'number', value: readNumber(this.text(node)) };
      case 'StringLiteral':
        return { ...span, kind: 'string', value: this.string(node) };
      case 'VectorSelector':
        return this.selector(node);
      case 'MatrixSelector':
      case 'SubqueryExpr':
        return {
          ...span,
          kind: 'range',
          subquery: node.name === 'SubqueryExpr',
          of: this.expression(this.only(first, node)),
        };
      case 'OffsetExpr':
      case 'StepInvariantExpr':
        return {
          ...span,
          kind: 'shifted',
          by: node.name === 'OffsetExpr' ? 'offset' : '@',
          of: this.expression(this.only(first, node)),
        };
      case 'AnchoredExpr':
      case 'SmoothedExpr':
        return this.expression(this.only(first, node));
      case 'UnaryExpr':
        return { ...span, kind: 'unary', of: this.expression(this.only(parts[1], node)) };
      case 'FunctionCall': {
        const name = this.only(first, node);
        return {
          ...span,
          kind: 'call',
          name: this.text(name),
          nameSpan: { start: name.from, end: name.to },
          args: this.args(parts[1]),
        };
      }
      case 'AggregateExpr':
        return {
          ...span,
          kind: 'aggregate',
          operator: this.text(this.only(first, node)).toLowerCase(),
          args: this.args(parts.find(({ name }) => name === 'FunctionCallBody')),
          grouping: this.grouping(parts.find(({ name }) => name === 'AggregateModifier')),
        };
      case 'BinaryExpr':
        return this.binary(node);
      default:
        throw new Refused({ ...span, message: `"${this.text(node)}" is not expected here` });
    }
  }

  private only(part: SyntaxNode | undefined, node: SyntaxNode): SyntaxNode {
    if (part !== undefined) return part;
    throw new Refused({ start: node.from, end: node.to, message: `"${this.text(node)}" is not complete` });
  }

  private args(body: SyntaxNode | undefined): readonly PromExpression[] {
    return body === undefined ? [] : children(body).map((arg) => this.expression(arg));
  }

  private labels(node: SyntaxNode | undefined): readonly string[] {
    return node === undefined
      ? []
      : children(node).map((label) =>
          label.name === 'QuotedLabelName'
            ? this.string(this.only(children(label)[0], label))
            : this.text(label),
        );
  }

  private grouping(node: SyntaxNode | undefined): Grouping | undefined {
    if (node === undefined) return undefined;
    const [keyword, labels] = children(node);
    return { without: keyword?.name === 'Without', labels: this.labels(labels) };
  }

  private selector(node: SyntaxNode): PromExpression {
    const parts = children(node);
    const identifier = parts.find(({ name }) => name === 'Identifier');
    let metric = identifier === undefined ? undefined : this.text(identifier);
    let metricSpan = identifier === undefined ? undefined : { start: identifier.from, end: identifier.to };
    const matchers: Matcher[] = [];
    for (const each of parts.filter(({ name }) => name === 'LabelMatchers').flatMap(children)) {
      const span = { start: each.from, end: each.to };
      const [label, operator, value] = children(each);
      const isName = each.name === 'QuotedLabelName';
      const found: Matcher = isName
        ? { ...span, label: '__name__', operator: '=', value: this.string(this.only(label, each)) }
        : {
            ...span,
            label: this.labelName(this.only(label, each)),
            operator: matchOperators[children(this.only(operator, each))[0]?.name ?? ''] ?? '=',
            value: this.string(this.only(value, each)),
          };
      if (found.label === '__name__' && found.operator === '=') {
        if (metric !== undefined) throw new Refused({ ...span, message: 'the metric has two names' });
        metric = found.value;
        metricSpan = value === undefined ? span : { start: value.from + 1, end: value.to - 1 };
        if (isName) metricSpan = { start: each.from + 1, end: each.to - 1 };
      } else {
        matchers.push(found);
      }
    }
    return { start: node.from, end: node.to, kind: 'selector', metric, metricSpan, matchers };
  }

  private labelName(node: SyntaxNode): string {
    const [inner] = children(node);
    return node.name === 'QuotedLabelName' && inner !== undefined ? this.string(inner) : this.text(node);
  }

  private binary(node: SyntaxNode): PromExpression {
    const parts = children(node);
    const [left, operator] = parts;
    const right = parts.at(-1);
    const sign = this.only(operator, node);
    return {
      start: node.from,
      end: node.to,
      kind: 'binary',
      operator: this.text(sign).toLowerCase(),
      operatorSpan: { start: sign.from, end: sign.to },
      bool: parts.some(({ name }) => name === 'BoolModifier'),
      matching: this.matching(parts.find(({ name }) => name === 'MatchingModifierClause')),
      left: this.expression(this.only(left, node)),
      right: this.expression(this.only(right, node)),
    };
  }

  private matching(node: SyntaxNode | undefined): VectorMatching | undefined {
    if (node === undefined) return undefined;
    const parts = children(node);
    const has = (name: string): boolean => parts.some((part) => part.name === name);
    return {
      on: has('On'),
      labels: this.labels(parts.find(({ name }) => name === 'GroupingLabels')),
      many: has('GroupLeft') ? 'left' : has('GroupRight') ? 'right' : undefined,
    };
  }
}

/** `NaN` for durations, whose value nobody asks for. */
function readNumber(text: string): number {
  const plain = text.replace(/[_\s]/g, '');
  return /^[+-]?inf$/i.test(plain) ? (plain.startsWith('-') ? -Infinity : Infinity) : Number(plain);
}
