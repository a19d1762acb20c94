import type { ScalarNode, Span } from '../yaml/node';

/**
 * A value that a program is started with. `at` is the exact text of the value, relative to the document, and `node` the
 * scalar that holds it (an argument, a variable's value, a script): an edit of `at` changes it.
 */
export type Setting<T = string> =
  | {
      readonly state: 'known';
      readonly value: T;
      /** As written. */
      readonly text: string;
      readonly at: Span;
      readonly node: ScalarNode;
    }
  /** It is set, or may be, to something that is only known later. */
  | { readonly state: 'unknown'; readonly at: Span | undefined; readonly node: ScalarNode | undefined }
  | { readonly state: 'absent' };

export const absent: Setting<never> = { state: 'absent' };
export const unknownSetting: Setting<never> = { state: 'unknown', at: undefined, node: undefined };

/** The value, or nothing when it is absent or unknown. */
export function valueOf<T>(setting: Setting<T>): T | undefined {
  return setting.state === 'known' ? setting.value : undefined;
}

/** The value, a default where the setting is certainly absent, nothing where it is unknown. */
export function valueOr<T>(setting: Setting<T>, otherwise: T): T | undefined {
  return setting.state === 'known' ? setting.value : setting.state === 'absent' ? otherwise : undefined;
}

/** Reads a setting as a number; text that is none is as good as unknown. */
export function asNumber(setting: Setting): Setting<number> {
  if (setting.state !== 'known') return setting;
  const text = setting.value.trim();
  const value = /^[+-]?(\d[\d_]*(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)
    ? Number(text.replaceAll('_', ''))
    : NaN;
  return Number.isNaN(value)
    ? { state: 'unknown', at: setting.at, node: setting.node }
    : { ...setting, value };
}

/**
 * Reads a length in tokens. vLLM takes `32k` as 32,000 and `32K` as 32,768 (its `human_readable_int`), with decimals
 * for the small letters only.
 */
export function asTokenCount(setting: Setting): Setting<number> {
  if (setting.state !== 'known') return setting;
  const match = /^(\d+(?:\.\d+)?)([kmgKMG])$/.exec(setting.value.trim());
  if (match === null) return asNumber(setting);
  const [, digits = '', suffix = ''] = match;
  const factors: Readonly<Record<string, number>> = {
    k: 1e3,
    m: 1e6,
    g: 1e9,
    K: 1024,
    M: 1024 ** 2,
    G: 1024 ** 3,
  };
  return { ...setting, value: Math.trunc(Number(digits) * (factors[suffix] ?? 1)) };
}
