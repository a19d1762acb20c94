/** Reading of JSON of others: a value that is not of the type that is expected is not there. */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value under a path of keys; `undefined` as soon as a step is not there. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const step of path) {
    if (!isRecord(here) || !Object.hasOwn(here, step)) return undefined;
    here = here[step];
  }
  return here;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export function recordAt(value: unknown, ...path: readonly string[]): JsonRecord {
  const found = at(value, ...path);
  return isRecord(found) ? found : {};
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/** Milliseconds since 1970 of a time as Kubernetes writes it. */
export function instantAt(value: unknown, ...path: readonly string[]): number | undefined {
  const text = textAt(value, ...path);
  const parsed = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** The entries that are texts, such as labels. */
export function textsAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [key, each] of Object.entries(recordAt(value, ...path))) {
    if (typeof each === 'string') result[key] = each;
  }
  return result;
}
