/**
 * The text form of a label selector (`app in (a, b), tier!=web, !legacy`), as `labels.Parse` of
 * k8s.io/apimachinery reads it.
 */
interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const symbols: readonly string[] = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];

/** Special characters in a row are cut into the longest symbols. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    if (/\s/.test(text[at] ?? '')) {
      at += 1;
      continue;
    }
    const symbol = symbols.find((each) => text.startsWith(each, at));
    const part = symbol ?? /^[^\s=!(),><]+/.exec(text.slice(at))?.[0] ?? '';
    tokens.push({ kind: symbol === undefined ? 'word' : 'symbol', text: part });
    at += part.length;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

const name = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const prefix = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

function isKey(text: string): boolean {
  const slash = text.indexOf('/');
  return slash < 0 ? name.test(text) : prefix.test(text.slice(0, slash)) && name.test(text.slice(slash + 1));
}

function isValue(text: string): boolean {
  return text === '' || name.test(text);
}

/** Whether the text is a selector. */
export function isLabelSelector(text: string): boolean {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (): Token => tokens[at] ?? { kind: 'end', text: '' };
  const take = (symbol: string): boolean => {
    if (peek().kind !== 'symbol' || peek().text !== symbol) return false;
    at += 1;
    return true;
  };
  const word = (): string | undefined => {
    if (peek().kind !== 'word') return undefined;
    at += 1;
    return tokens[at - 1]?.text;
  };
  const isOver = (): boolean => peek().kind === 'end' || (peek().kind === 'symbol' && peek().text === ',');

  /** `(a, b)`, `()`, `(a,)`: an item may be empty. */
  const set = (): boolean => {
    if (!take('(')) return false;
    while (!take(')')) {
      if (peek().kind === 'end') return false;
      const value = word();
      if (value !== undefined && !isValue(value)) return false;
      if (!take(',') && !(peek().kind === 'symbol' && peek().text === ')')) return false;
    }
    return true;
  };

  const requirement = (): boolean => {
    if (take('!')) {
      const key = word();
      return key !== undefined && isKey(key) && isOver();
    }
    const key = word();
    if (key === undefined || key === 'in' || key === 'notin' || !isKey(key)) return false;
    if (isOver()) return true;
    const operator = peek();
    at += 1;
    if (operator.kind === 'word')
      return (operator.text === 'in' || operator.text === 'notin') && set() && isOver();
    if (!['=', '==', '!=', '>', '<'].includes(operator.text)) return false;
    const value = isOver() ? '' : word();
    if (value === undefined || !isOver()) return false;
    return operator.text === '>' || operator.text === '<' ? /^[+-]?\d+$/.test(value) : isValue(value);
  };

  if (peek().kind === 'end') return true;
  do {
    if (!requirement()) return false;
  } while (take(','));
  return peek().kind === 'end';
}
