import fc from 'fast-check';

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

const word = fc.constantFrom(
  ...[
    'name',
    'a-b',
    'nvidia.com/gpu',
    'x',
    '1.5',
    'true',
    '~',
    'two words',
    'é',
    "it's",
    '0x1F',
    '',
    'a: b',
    '# c',
  ],
);
const key = fc.constantFrom(
  ...[
    'name',
    'a-b',
    'nvidia.com/gpu',
    'x',
    '1.5',
    'true',
    '~',
    'two words',
    'é',
    "it's",
    'limits',
    'requests',
  ],
);
const values = fc.letrec<{ value: Value; scalar: Value; list: Value[]; map: Record<string, Value> }>(
  (tie) => ({
    value: fc.oneof({ maxDepth: 4 }, tie('scalar'), tie('list'), tie('map')),
    scalar: fc.oneof(
      word,
      fc.integer({ min: -9, max: 9 }),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom('one\n\ntwo\n', 'one\n two', 'one\n\n\n'),
    ),
    list: fc.array(tie('value'), { maxLength: 3 }),
    map: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }),
);

export const anyValue = values.value;
export const anyMap = values.map;

/** Marks the end of a scalar that would take blank lines behind it for its own. */
const KEPT = '\ue000';
const KEPT_AND_BLANK = /\ue000\n*/g;

export interface Ways {
  /** Anchors before some values, which change nothing. */
  readonly anchors?: boolean;
  /** Brackets over several lines, with comments and commas at their ends. */
  readonly kyaml?: boolean;
}

/** Writes a value in one of the ways people do, as the choices decide; what is no map or list becomes one. */
export function write(at: Value, choose: (count: number) => number, ways: Ways = {}): string {
  let anchors = 0;
  const quoted = (text: string): string =>
    choose(2) === 0 || text.includes('\n') ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`;
  const comment = (): string => (choose(4) === 0 ? ' # note' : '');
  const gap = (indent: string): string => ['', '', '', '\n', `${indent}# note\n`][choose(5)] ?? '';
  const anchor = (): string => (ways.anchors === true && choose(4) === 0 ? ` &a${anchors++}` : '');
  const isPlain = (text: string): boolean => /^[a-z][\w./-]*$/.test(text) && text !== 'true' && text !== 'y';
  const name = (text: string): string => (isPlain(text) && choose(4) > 0 ? text : quoted(text));

  function flow(inner: Value, indent: string): string {
    const lines = ways.kyaml === true && choose(2) === 0;
    const list = Array.isArray(inner);
    if (!list && (typeof inner !== 'object' || inner === null)) {
      return typeof inner === 'string'
        ? isPlain(inner) && choose(2) === 0
          ? inner
          : quoted(inner)
        : String(inner);
    }
    const [open, close] = list ? '[]' : '{}';
    const deeper = `${indent}  `;
    const parts = list
      ? inner.map((item) => flow(item, deeper))
      : Object.entries(inner).map(([text, item]) => `${name(text)}: ${flow(item, deeper)}`);
    if (parts.length === 0) return `${open}${close}`;
    if (!lines) {
      const space = choose(2) === 0 ? ' ' : '';
      const comma = choose(4) === 0 ? ',' : '';
      return `${open}${space}${parts.join(choose(3) === 0 && !list ? ' , ' : ', ')}${comma}${space}${close}`;
    }
    const last = parts.length - 1;
    const trailing = choose(3) > 0 ? ',' : '';
    const body = parts
      .map((part, at) => `${deeper}${part}${at < last ? ',' : trailing}${comment()}\n`)
      .join('');
    return `${open}${comment()}\n${body}${indent}${close}`;
  }

  function scalar(inner: string | number | boolean | null, indent: string): string {
    if (inner === null) return choose(2) === 0 ? `${anchor()} null${comment()}\n` : `${comment()}\n`;
    if (typeof inner !== 'string') return `${anchor()} ${String(inner)}${comment()}\n`;
    if (inner.includes('\n') && choose(3) > 0) {
      const body = inner.replace(/\n+$/, '').replace(/^(?=.)/gm, `${indent}  `);
      if (inner.endsWith('\n\n'))
        return `${anchor()} |+${comment()}\n${body}${inner.slice(inner.search(/\n+$/))}${KEPT}`;
      return `${anchor()} |${inner.endsWith('\n') ? '' : '-'}${comment()}\n${body}\n`;
    }
    return `${anchor()} ${isPlain(inner) && choose(3) > 0 ? inner : quoted(inner)}${comment()}\n`;
  }

  function block(inner: Value, indent: string): string {
    if (Array.isArray(inner)) {
      return inner.map((item) => `${gap(indent)}${indent}-${child(item, indent, true)}`).join('');
    }
    return Object.entries(inner as Record<string, Value>)
      .map(([text, item]) => `${gap(indent)}${indent}${name(text)}:${child(item, indent, false)}`)
      .join('');
  }

  function child(inner: Value, indent: string, inList: boolean): string {
    if (inner === null || typeof inner !== 'object') return scalar(inner, indent);
    if (Object.keys(inner).length === 0 || choose(5) === 0)
      return `${anchor()} ${flow(inner, `${indent}  `)}${comment()}\n`;
    if (inList && choose(2) === 0)
      return ` ${block(inner, `${indent}  `).replace(/^(?:\n| *# note\n| )*/, '')}`;
    const deeper = !inList && Array.isArray(inner) && choose(2) === 0 ? indent : `${indent}  `;
    return `${anchor()}${comment()}\n${block(inner, deeper)}`;
  }

  const root = isRoot(at) ? at : { root: at };
  const text = ways.kyaml === true && choose(3) === 0 ? `${flow(root, '')}\n` : block(root, '');
  return text.replace(KEPT_AND_BLANK, '');
}

export function isRoot(at: Value): boolean {
  return typeof at === 'object' && at !== null && Object.keys(at).length > 0;
}

/** A function that takes its choices from a list of numbers, over and over. */
export function choices(numbers: readonly number[]): (count: number) => number {
  let at = 0;
  return (count) => (numbers[at++ % numbers.length] ?? 0) % count;
}

export const anyChoices = fc.array(fc.nat({ max: 59 }), { minLength: 30, maxLength: 90 });
