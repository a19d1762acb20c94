/** A snippet of VS Code, as its file has it. */
export interface Snippet {
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly description: string;
  readonly body: string;
}

interface SnippetFile {
  readonly [name: string]: {
    readonly prefix: string | readonly string[];
    readonly description: string;
    readonly body: readonly string[];
  };
}

export function parseSnippets(text: string): readonly Snippet[] {
  return Object.entries(JSON.parse(text) as SnippetFile).map(([name, { prefix, description, body }]) => ({
    name,
    prefixes: typeof prefix === 'string' ? [prefix] : prefix,
    description,
    body: body.join('\n'),
  }));
}

/**
 * The text that VS Code writes when nothing is typed over: defaults, first choices, and repeats of both.
 *
 * @throws {Error} for what this product's snippets do not use: variables and transforms.
 */
export function expand(body: string): string {
  const defaults = new Map<string, string>();
  let at = 0;

  function text(until: string): string {
    let out = '';
    while (at < body.length && body[at] !== until) {
      const char = body[at] ?? '';
      if (char === '\\' && /[$}\\]/.test(body[at + 1] ?? '')) {
        out += body[at + 1] ?? '';
        at += 2;
      } else if (char === '$' && /[\w{]/.test(body[at + 1] ?? '')) {
        out += place();
      } else {
        out += char;
        at++;
      }
    }
    return out;
  }

  function place(): string {
    const plain = /^\$(\d+)/.exec(body.slice(at));
    if (plain !== null) {
      at += plain[0].length;
      return defaults.get(plain[1] ?? '') ?? '';
    }
    const open = /^\$\{(\d+)(:|\||\})/.exec(body.slice(at));
    if (open === null) throw new Error(`not a tab stop: ${body.slice(at, at + 30)}`);
    const [whole, number = '', kind] = open;
    at += whole.length;
    if (kind === '}') return defaults.get(number) ?? '';
    let value: string;
    if (kind === '|') {
      const end = body.indexOf('|}', at);
      value = body.slice(at, end).split(',')[0] ?? '';
      at = end + 2;
    } else {
      value = text('}');
      at++;
    }
    if (!defaults.has(number)) defaults.set(number, value);
    return value;
  }

  return text('\0');
}
