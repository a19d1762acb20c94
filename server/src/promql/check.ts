import type { PromExpression, QuerySpan, Selector } from './expression';
import { partsOf } from './expression';
import {
  aggregateParameters,
  comparisons,
  functionSignatures,
  setOperators,
  type FunctionSignature,
  type ValueType,
} from './functions';
import type { QueryProblem } from './strings';

/** What an expression yields; `undefined` for functions that are not known here. */
export function valueType(expression: PromExpression): ValueType | undefined {
  switch (expression.kind) {
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'selector':
    case 'aggregate':
      return 'vector';
    case 'range':
      return 'range';
    case 'shifted':
    case 'unary':
      return valueType(expression.of);
    case 'call':
      return functionSignatures.get(expression.name)?.returns;
    case 'binary': {
      const [left, right] = [valueType(expression.left), valueType(expression.right)];
      if (left === undefined || right === undefined) return undefined;
      return left === 'scalar' && right === 'scalar' ? 'scalar' : 'vector';
    }
  }
}

const words: Readonly<Record<ValueType, string>> = {
  scalar: 'a number',
  string: 'a string',
  vector: 'an instant vector',
  range: 'a range vector',
};

/** The first problem of types, parts before the whole, as Prometheus checks a query after parsing it. */
export function typeProblem(expression: PromExpression): QueryProblem | undefined {
  for (const part of partsOf(expression)) {
    const problem = typeProblem(part);
    if (problem !== undefined) return problem;
  }
  return ownProblem(expression);
}

function at({ start, end }: QuerySpan, message: string): QueryProblem {
  return { start, end, message };
}

function ownProblem(expression: PromExpression): QueryProblem | undefined {
  switch (expression.kind) {
    case 'number':
    case 'string':
      return undefined;
    case 'selector':
      return selectorProblem(expression);
    case 'range': {
      if (!expression.subquery) {
        return base(expression.of).kind === 'selector'
          ? undefined
          : at(
              expression,
              'a range such as [5m] follows a selector only; other expressions take a subquery, [5m:]',
            );
      }
      return wants(expression.of, 'vector', 'a subquery');
    }
    case 'shifted': {
      const { kind } = base(expression.of);
      return kind === 'selector' || kind === 'range'
        ? undefined
        : at(expression, `${expression.by} follows a selector or a subquery only`);
    }
    case 'unary': {
      const type = valueType(expression.of);
      return type === 'range' || type === 'string'
        ? at(expression, `a sign before ${words[type]} means nothing`)
        : undefined;
    }
    case 'call':
      return callProblem(expression);
    case 'aggregate':
      return aggregateProblem(expression);
    case 'binary':
      return binaryProblem(expression);
  }
}

/** What stands under `offset` and `@`. */
function base(expression: PromExpression): PromExpression {
  return expression.kind === 'shifted' ? base(expression.of) : expression;
}

function wants(expression: PromExpression, type: ValueType, who: string): QueryProblem | undefined {
  const found = valueType(expression);
  if (found === undefined || found === type) return undefined;
  const hint =
    type === 'range' && found === 'vector' && base(expression).kind === 'selector' ? ', as in x[5m]' : '';
  return at(expression, `${who} takes ${words[type]} here${hint}, not ${words[found]}`);
}

/** Perl's look-arounds and back-references, which Go's regular expressions do not have. */
const perlOnly = /\(\?(?:[=!]|<[=!])|\\[1-9]/;

function selectorProblem({ start, end, metric, matchers }: Selector): QueryProblem | undefined {
  for (const matcher of matchers) {
    if (!matcher.operator.endsWith('~')) continue;
    const perl = perlOnly.exec(matcher.value.replace(/\\\\/g, '..'));
    if (perl !== null)
      return at(matcher, `"${perl[0]}" is not in the regular expressions of Prometheus (RE2)`);
  }
  if ((metric ?? '') !== '' || matchers.some(excludesEmpty)) return undefined;
  return at({ start, end }, 'a selector needs a name, or a matcher that does not match the empty string');
}

/** Errs towards yes where a regular expression cannot be tried. */
function excludesEmpty({ operator, value }: Selector['matchers'][number]): boolean {
  switch (operator) {
    case '=':
      return value !== '';
    case '!=':
      return value === '';
    case '=~':
    case '!~': {
      const matches = matchesEmpty(value);
      return matches === undefined || matches === (operator === '!~');
    }
  }
}

function matchesEmpty(regex: string): boolean | undefined {
  try {
    return new RegExp(`^(?:${regex})$`, 's').test('');
  } catch {
    return undefined;
  }
}

function callProblem(call: PromExpression & { readonly kind: 'call' }): QueryProblem | undefined {
  const signature = functionSignatures.get(call.name);
  if (signature === undefined) return undefined;
  const count = call.args.length;
  const least = signature.args.length - signature.optional;
  if (count < least || (count > signature.args.length && !signature.repeats)) {
    return at(call.nameSpan, `${call.name} takes ${argumentCount(signature)}, not ${count}`);
  }
  for (const [index, arg] of call.args.entries()) {
    const type = signature.args[index] ?? signature.args.at(-1);
    const problem = type === undefined ? undefined : wants(arg, type, call.name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function argumentCount({ args, optional, repeats }: FunctionSignature): string {
  const least = args.length - optional;
  if (repeats) return `at least ${least} argument${least === 1 ? '' : 's'}`;
  return optional === 0
    ? `${args.length === 0 ? 'no' : args.length} argument${args.length === 1 ? '' : 's'}`
    : `${least} or ${args.length} arguments`;
}

function aggregateProblem(
  aggregate: PromExpression & { readonly kind: 'aggregate' },
): QueryProblem | undefined {
  const { operator, args } = aggregate;
  const parameter = aggregateParameters[operator];
  const wanted = parameter === undefined ? 1 : 2;
  const name = { start: aggregate.start, end: aggregate.start + operator.length };
  if (args.length !== wanted)
    return at(name, `${operator} takes ${wanted} argument${wanted === 1 ? '' : 's'}, not ${args.length}`);
  const [first, last] = [args[0], args[wanted - 1]];
  const problem =
    parameter === undefined || first === undefined ? undefined : wants(first, parameter, operator);
  return problem ?? (last === undefined ? undefined : wants(last, 'vector', operator));
}

function binaryProblem(binary: PromExpression & { readonly kind: 'binary' }): QueryProblem | undefined {
  const { operator, operatorSpan, bool, matching, left, right } = binary;
  const [leftType, rightType] = [valueType(left), valueType(right)];
  for (const [side, type] of [
    [left, leftType],
    [right, rightType],
  ] as const) {
    if (type === 'string' || type === 'range')
      return at(side, `"${operator}" takes numbers and instant vectors, not ${words[type]}`);
  }
  if (leftType === undefined || rightType === undefined) return undefined;
  const isComparison = comparisons.includes(operator);
  if (bool && !isComparison) return at(operatorSpan, `bool is for comparisons, not for "${operator}"`);
  const bothScalar = leftType === 'scalar' && rightType === 'scalar';
  if (isComparison && bothScalar && !bool)
    return at(operatorSpan, `"${operator}" between two numbers needs bool`);
  const someScalar = leftType === 'scalar' || rightType === 'scalar';
  if (someScalar && setOperators.includes(operator))
    return at(operatorSpan, `"${operator}" is for instant vectors on both sides`);
  if (matching === undefined) return undefined;
  if (someScalar) return at(operatorSpan, 'on and ignoring are for instant vectors on both sides');
  return matching.many !== undefined && setOperators.includes(operator)
    ? at(operatorSpan, `group_${matching.many} is not for "${operator}"`)
    : undefined;
}
