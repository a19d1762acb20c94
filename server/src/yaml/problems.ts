import type { YAMLError } from 'yaml';

interface Description {
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

/** An error of the `yaml` package in words that say what to do; offsets as in its input. */
export function describeSyntaxError(
  error: YAMLError,
  input: string,
  quotedScalars: ReadonlyMap<number, number>,
): Description {
  const start = error.pos[0];
  const end = Math.max(start, error.pos[1]);
  const { code, message } = error;
  const unclosed = /^Flow (map|sequence)\b.*\bend with a ([\]}])$/.exec(message);
  if (unclosed !== null) {
    const what = unclosed[1] === 'map' ? 'The map in { }' : 'The list in [ ]';
    return {
      start,
      end,
      message: `${what} is not closed before this, or its lines are not indented under its key`,
    };
  }
  switch (code) {
    case 'TAB_AS_INDENT':
      return { start, end, message: 'A tab indents this line; YAML allows only spaces there' };
    case 'MISSING_CHAR': {
      if (message.startsWith('Implicit map keys')) {
        return { ...wordAt(input, start), message: 'This line of a map has no ": " and so no value' };
      }
      if (!message.startsWith('Missing closing')) break;
      const opening = quotedScalars.get(start) ?? start;
      const quote = input[opening] === "'" ? "'" : '"';
      const line = input.slice(opening).search(/\r?\n|$/);
      return {
        start: opening,
        end: opening + line,
        message: `The quote ${quote} that opens here is never closed`,
      };
    }
    case 'BAD_INDENT':
      if (message.startsWith('All mapping items')) {
        return {
          ...wordAt(input, start),
          message: 'This key is indented differently from the keys before it',
        };
      }
      if (message.startsWith('All sequence items')) {
        return {
          ...wordAt(input, start),
          message: 'This item is indented differently from the items before it',
        };
      }
      break;
    case 'MULTILINE_IMPLICIT_KEY':
      return {
        start,
        end: lineEnd(input, start),
        message: 'This line is neither "key: value" nor an item of a list',
      };
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (message.startsWith('A block sequence')) {
        return {
          ...wordAt(input, start),
          message: 'This item of a list stands among the keys of a map; check its indentation',
        };
      }
      if (!message.startsWith('Nested mappings')) break;
      return { start, end, message: 'A value cannot hold another ": "; put it in quotes' };
    case 'UNEXPECTED_TOKEN':
      if (message.startsWith('Sequence item without')) {
        return {
          ...wordAt(input, start),
          message: 'This stands among the items of a list without a "- " before it',
        };
      }
      if (/^Unexpected flow-(?:map|seq)-end/.test(message)) {
        return { start, end, message: `The ${input[start] ?? 'bracket'} here closes nothing` };
      }
      if (!message.endsWith('at node end')) break;
      return { start, end, message: 'This does not belong to what stands before it; check its indentation' };
    default:
      break;
  }
  return { start, end, message };
}

/** The first word from an offset on. */
function wordAt(input: string, at: number): { readonly start: number; readonly end: number } {
  const [, space = '', word = ''] = /^([ \t]*)([^\s:]*)/.exec(input.slice(at, at + 200)) ?? [];
  return { start: at + space.length, end: at + space.length + word.length };
}

function lineEnd(input: string, at: number): number {
  const end = input.slice(at).search(/[ \t]*(?:\r?\n|$)/);
  return at + Math.max(end, 0);
}
