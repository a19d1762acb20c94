/** A half-open range of UTF-16 offsets in the query. */
export interface QuerySpan {
  readonly start: number;
  readonly end: number;
}

export type MatchOperator = '=' | '!=' | '=~' | '!~';

export interface Matcher extends QuerySpan {
  readonly label: string;
  readonly operator: MatchOperator;
  /** Unquoted. */
  readonly value: string;
}

export interface Grouping {
  readonly without: boolean;
  readonly labels: readonly string[];
}

/** How two vectors are matched: `on (...)` or `ignoring (...)`, and which side may have several per match. */
export interface VectorMatching {
  readonly on: boolean;
  readonly labels: readonly string[];
  readonly many: 'left' | 'right' | undefined;
}

/** A PromQL expression. Parentheses are gone; spans are those of the text without them. */
export type PromExpression = QuerySpan &
  (
    | { readonly kind: 'number'; readonly value: number }
    | { readonly kind: 'string'; readonly value: string }
    | {
        readonly kind: 'selector';
        /** The metric's name before the braces, or of an equality matcher on `__name__`. */
        readonly metric: string | undefined;
        readonly metricSpan: QuerySpan | undefined;
        readonly matchers: readonly Matcher[];
      }
    /** `x[5m]`, or `x[1h:5m]` when it is a subquery. */
    | { readonly kind: 'range'; readonly subquery: boolean; readonly of: PromExpression }
    /** `offset` and `@`. */
    | { readonly kind: 'shifted'; readonly by: 'offset' | '@'; readonly of: PromExpression }
    | {
        readonly kind: 'call';
        readonly name: string;
        readonly nameSpan: QuerySpan;
        readonly args: readonly PromExpression[];
      }
    | {
        readonly kind: 'aggregate';
        readonly operator: string;
        readonly args: readonly PromExpression[];
        readonly grouping: Grouping | undefined;
      }
    | {
        readonly kind: 'binary';
        readonly operator: string;
        readonly operatorSpan: QuerySpan;
        readonly bool: boolean;
        readonly matching: VectorMatching | undefined;
        readonly left: PromExpression;
        readonly right: PromExpression;
      }
    | { readonly kind: 'unary'; readonly of: PromExpression }
  );

export type Selector = PromExpression & { readonly kind: 'selector' };

/** The parts of an expression that are expressions themselves. */
export function partsOf(expression: PromExpression): readonly PromExpression[] {
  switch (expression.kind) {
    case 'number':
    case 'string':
    case 'selector':
      return [];
    case 'range':
    case 'shifted':
    case 'unary':
      return [expression.of];
    case 'call':
    case 'aggregate':
      return expression.args;
    case 'binary':
      return [expression.left, expression.right];
  }
}

/** All selectors, in order of the text. */
export function selectorsOf(expression: PromExpression): readonly Selector[] {
  return expression.kind === 'selector' ? [expression] : partsOf(expression).flatMap(selectorsOf);
}

/** Whether some part of the expression passes a test. */
export function someExpression(expression: PromExpression, test: (part: PromExpression) => boolean): boolean {
  return test(expression) || partsOf(expression).some((part) => someExpression(part, test));
}
