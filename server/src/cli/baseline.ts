import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BaselineEntry, FileState, Fingerprinted } from '../engine/baseline';
import { baselineOf, baselineText, matchBaseline, readBaseline } from '../engine/baseline';
import { fingerprintOf } from '../engine/fingerprint';
import type { FileResult } from '../engine/run';
import { parseFile } from '../yaml/parse';
import { UsageError } from './arguments';
import { readText } from './disk';
import type { Host } from './host';
import { displayPath } from './paths';
import { plural } from './formats/text';

/** What a baseline did to the findings of a run. */
export interface Baselined {
  /** With known findings among the suppressed ones. */
  readonly files: readonly FileResult[];
  readonly summary: BaselineSummary;
}

export interface BaselineSummary {
  /** As displayed. */
  readonly file: string;
  readonly known: number;
  readonly stale: readonly BaselineEntry[];
}

type TextOf = (uri: string) => string | undefined;

/** All findings with what they are recognised by. Only files that have findings are read once more. */
function fingerprinted(files: readonly FileResult[], folder: string, textOf: TextOf): Fingerprinted[] {
  return files.flatMap(({ uri, findings }) => {
    if (findings.length === 0) return [];
    const source = parseFile(uri, textOf(uri) ?? '');
    const file = relative(folder, fileURLToPath(uri)).split(sep).join('/');
    return findings.map((finding) => ({ file, fingerprint: fingerprintOf(source, finding), finding }));
  });
}

function load(path: string, shown: string): readonly BaselineEntry[] {
  const read = readText(path);
  if ('problem' in read) {
    const hint = existsSync(path) ? '' : `; plimsoll baseline -o ${shown} writes it`;
    throw new UsageError(`--baseline ${shown}: ${read.problem}${hint}`);
  }
  const entries = readBaseline(read.text);
  if ('problem' in entries) throw new UsageError(`--baseline ${shown}: ${entries.problem}`);
  return entries;
}

/** Of an entry's file: whether this run looked at it. */
function stateIn(files: readonly FileResult[], folder: string): (file: string) => FileState {
  const checked = new Set(files.map(({ uri }) => relative(folder, fileURLToPath(uri)).split(sep).join('/')));
  return (file) => (checked.has(file) ? 'checked' : existsSync(resolve(folder, file)) ? 'left-out' : 'gone');
}

/** Throws {@link UsageError} where the file is no baseline. */
export function applyBaseline(
  file: string,
  results: readonly FileResult[],
  textOf: TextOf,
  host: Host,
): Baselined {
  const path = resolve(host.cwd, file);
  const folder = dirname(path);
  const entries = load(path, file);
  const found = fingerprinted(results, folder, textOf);
  const { known, stale } = matchBaseline(entries, found, stateIn(results, folder));
  const justification = `known: it is in ${displayPath(path, host.cwd)}`;
  return {
    files: results.map((result) => ({
      ...result,
      findings: result.findings.filter((finding) => !known.has(finding)),
      suppressed: [
        ...result.suppressed,
        ...result.findings
          .filter((finding) => known.has(finding))
          .map((finding) => ({ finding, kind: 'external' as const, justification })),
      ],
    })),
    summary: { file: displayPath(path, host.cwd), known: known.size, stale },
  };
}

/**
 * `plimsoll baseline`: records what a run found. Nothing is recorded where something could not be read, for what would
 * be missing is not known.
 */
export function writeBaseline(
  file: string,
  results: readonly FileResult[],
  textOf: TextOf,
  host: Host,
): number {
  const path = resolve(host.cwd, file);
  const folder = dirname(path);
  const shown = displayPath(path, host.cwd);
  const before = existsSync(path) ? load(path, file) : [];
  const found = fingerprinted(results, folder, textOf);
  const state = stateIn(results, folder);
  const kept = before.filter((entry) => state(entry.file) === 'left-out');
  const { known, stale } = matchBaseline(before, found, state);
  const text = baselineText([...kept, ...baselineOf(found)]);
  const temporary = `${path}.plimsoll-${process.pid}`;
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    host.stderr.write(
      `plimsoll: ${shown} was not written: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 2;
  }
  const gone = stale.reduce((sum, { count }) => sum + count, 0);
  const fresh = found.length - known.size;
  const changes = before.length === 0 ? '' : ` (${fresh} new, ${gone} no longer found)`;
  const others =
    kept.length === 0
      ? ''
      : `; ${plural(kept.length, 'entry').replace('entrys', 'entries')} of other files kept`;
  host.stdout.write(`${shown}: ${plural(found.length, 'finding')} recorded${changes}${others}\n`);
  return 0;
}
