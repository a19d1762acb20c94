import type { Finding } from './finding';
import type { Fingerprint } from './fingerprint';

/** Findings that were there when the linter came, so that only new ones fail a run. */

/** One known finding, or several that are told apart by nothing. */
export interface BaselineEntry extends Fingerprint {
  /** Relative to the folder of the baseline, with forward slashes. */
  readonly file: string;
  readonly count: number;
}

/** A finding with where it is, as the baseline tells it. */
export interface Fingerprinted {
  readonly file: string;
  readonly fingerprint: Fingerprint;
  readonly finding: Finding;
}

/** Whether a file of the baseline was looked at in this run, was left out, or is no longer there. */
export type FileState = 'checked' | 'left-out' | 'gone';

export interface BaselineMatch {
  readonly known: ReadonlySet<Finding>;
  /** Entries (with how many are left of them) that no finding answers to any more. */
  readonly stale: readonly BaselineEntry[];
}

function keyOf({ rule, resource, path }: Fingerprint): string {
  return JSON.stringify([rule, resource, path]);
}

/** The entries for findings, sorted, so that the same findings make the same file. */
export function baselineOf(findings: readonly Fingerprinted[]): readonly BaselineEntry[] {
  const entries = new Map<string, BaselineEntry>();
  for (const { file, fingerprint } of findings) {
    const key = JSON.stringify([file, keyOf(fingerprint)]);
    entries.set(key, { file, ...fingerprint, count: (entries.get(key)?.count ?? 0) + 1 });
  }
  return sorted([...entries.values()]);
}

export function sorted(entries: readonly BaselineEntry[]): readonly BaselineEntry[] {
  const text = ({ file, resource, path, rule }: BaselineEntry): string =>
    [file, resource, path, rule].join('\u0000');
  return entries
    .map((entry) => ({ entry, key: text(entry) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ entry }) => entry);
}

/**
 * Tells known findings from new ones. An entry stands for a finding of its file; one whose file is gone stands for the
 * same finding wherever it is now, so that moving a file makes nothing new.
 */
export function matchBaseline(
  entries: readonly BaselineEntry[],
  findings: readonly Fingerprinted[],
  stateOf: (file: string) => FileState,
): BaselineMatch {
  const known = new Set<Finding>();
  const left = entries.map((entry) => ({ entry, count: entry.count, state: stateOf(entry.file) }));
  const match = (
    keyOfEntry: (entry: BaselineEntry) => string,
    keyOfFound: (found: Fingerprinted) => string,
    state: FileState,
  ): void => {
    const byKey = new Map<string, { count: number }[]>();
    for (const each of left) {
      if (each.state !== state) continue;
      const key = keyOfEntry(each.entry);
      const others = byKey.get(key);
      if (others === undefined) byKey.set(key, [each]);
      else others.push(each);
    }
    if (byKey.size === 0) return;
    for (const found of findings) {
      if (known.has(found.finding)) continue;
      const entry = byKey.get(keyOfFound(found))?.find(({ count }) => count > 0);
      if (entry === undefined) continue;
      entry.count--;
      known.add(found.finding);
    }
  };
  match(
    (entry) => JSON.stringify([entry.file, keyOf(entry)]),
    ({ file, fingerprint }) => JSON.stringify([file, keyOf(fingerprint)]),
    'checked',
  );
  match(keyOf, ({ fingerprint }) => keyOf(fingerprint), 'gone');
  const stale = left
    .filter(({ count, state }) => count > 0 && state !== 'left-out')
    .map(({ entry, count }) => ({ ...entry, count }));
  return { known, stale };
}

/** The form of the file; another number is of another version of the product. */
const formVersion = 1;

export function baselineText(entries: readonly BaselineEntry[]): string {
  // One line for each, so that a review shows what came and what went.
  const lines = sorted(entries).map(
    ({ file, resource, path, rule, count }) =>
      `    ${JSON.stringify({ file, resource, path, rule, ...(count === 1 ? {} : { count }) })}`,
  );
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n  "version": ${formVersion},\n  "findings": ${list}\n}\n`;
}

/** Reads a baseline, or says in words for the user why that is none. */
export function readBaseline(text: string): readonly BaselineEntry[] | { readonly problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { problem: `it is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const fields = fieldsOf(parsed);
  if (fields === undefined || !Array.isArray(fields['findings'])) {
    return { problem: 'it is no baseline; plimsoll baseline writes one' };
  }
  if (fields['version'] !== formVersion) {
    return {
      problem: `its version is ${JSON.stringify(fields['version'])}; version ${formVersion} is read. Write it again with plimsoll baseline`,
    };
  }
  const entries: BaselineEntry[] = [];
  for (const [index, item] of (fields['findings'] as readonly unknown[]).entries()) {
    const { file, resource, path, rule, count = 1 } = fieldsOf(item) ?? {};
    if (
      typeof file !== 'string' ||
      typeof resource !== 'string' ||
      typeof path !== 'string' ||
      typeof rule !== 'string' ||
      typeof count !== 'number' ||
      !Number.isInteger(count) ||
      count < 1
    ) {
      return {
        problem: `findings[${index}] is not {file, resource, path, rule} with an optional count; write the baseline again with plimsoll baseline`,
      };
    }
    entries.push({ file, resource, path, rule, count });
  }
  return entries;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
