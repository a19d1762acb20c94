import { configurationOf, singleConfiguration, type Configuration, type Layers } from '../engine/config';
import type { Bases } from '../engine/extends';
import type { InternalError } from '../engine/finding';
import { lint, type FileResult, type LintResult } from '../engine/run';
import { cellsOf, type Cell, type FileText } from '../workspace/cells';
import type { Layout } from '../workspace/layout';
import { Workspace } from '../workspace/workspace';
import { parseFile } from '../yaml/parse';
import { schemasIn, type SchemaPlaces } from './schemas';

/** Where the configuration comes from, as plain data: another thread reads the same. */
export type ConfigurationTexts =
  | {
      readonly kind: 'found';
      readonly texts: ReadonlyMap<string, string>;
      readonly layers: Layers;
      readonly bases: Bases;
    }
  | {
      readonly kind: 'named';
      readonly uri: string;
      readonly text: string;
      readonly base: string;
      readonly layers: Layers;
      readonly bases: Bases;
    };

export function readConfiguration(from: ConfigurationTexts): Configuration {
  return from.kind === 'found'
    ? configurationOf(from.texts, from.layers, from.bases)
    : singleConfiguration(from.uri, from.text, from.base, from.layers, from.bases);
}

/** Some cells of a workspace and how to look at them. Plain data, so that it can go to another thread. */
export interface CellsJob {
  readonly cells: readonly Cell[];
  readonly layout: Layout;
  readonly configuration: ConfigurationTexts;
  /** The files to report on. */
  readonly reported: ReadonlySet<string>;
  /** Absent: nothing is known of any kind. */
  readonly schemas?: SchemaPlaces | undefined;
}

/** Lints one cell after the other; what was read of one is given up before the next. */
export function lintCells(job: CellsJob): LintResult {
  const { configFor } = readConfiguration(job.configuration);
  const files: FileResult[] = [];
  const errors: InternalError[] = [];
  const schemas = schemasIn(job.schemas ?? {});
  for (const cell of job.cells) {
    const uris = cell.files.map(({ uri }) => uri).filter((uri) => job.reported.has(uri));
    if (uris.length === 0) continue;
    const texts = [...cell.files, ...cell.context];
    const workspace = Workspace.cell(
      texts.map(({ uri, text }) => parseFile(uri, text)),
      job.layout,
    );
    const result = lint(workspace, configFor, { uris, schemas, once: true });
    files.push(...result.files);
    errors.push(...result.internalErrors);
  }
  return { files, internalErrors: errors };
}

/** Another thread that lints cells. */
export interface Helper {
  lint(job: CellsJob): Promise<LintResult>;
  close(): void;
}

/**
 * More files in a cell hold more memory at a time, fewer read their context more often: with this, the context is at
 * most a quarter of what is read.
 */
const filesInCell = (context: number): number => Math.max(250, context * 4);

/** What is to be linted: all of it, before it is cut into cells. */
export interface LintAll {
  readonly texts: readonly FileText[];
  readonly layout: Layout;
  readonly configuration: ConfigurationTexts;
  /** The files to report on; the answers come in this order. */
  readonly reported: readonly string[];
  /** Absent: nothing is known of any kind. */
  readonly schemas?: SchemaPlaces | undefined;
}

/**
 * Lints all files by cells, shared among this thread and its helpers. Says the same, in the same order, as a lint of the
 * whole workspace.
 */
export async function lintAll(
  { texts, layout, configuration, reported, schemas }: LintAll,
  helpers: readonly Helper[],
  size = filesInCell,
): Promise<LintResult> {
  const wanted = new Set(reported);
  const shares = share(cellsOf(texts, layout, size), helpers.length + 1);
  const job = (cells: readonly Cell[]): CellsJob => ({
    cells,
    layout,
    configuration,
    reported: wanted,
    schemas,
  });
  const elsewhere = helpers.map((helper, index) => {
    const share = job(shares[index + 1] ?? []);
    // A machine may refuse another thread; its share is then done here.
    return helper.lint(share).catch(() => lintCells(share));
  });
  const here = lintCells(job(shares[0] ?? []));
  const results = [here, ...(await Promise.all(elsewhere))];
  for (const helper of helpers) helper.close();

  const byUri = new Map(results.flatMap(({ files }) => files).map((file) => [file.uri, file]));
  const order = new Map(reported.map((uri, index) => [uri, index]));
  // One for each rule, where it threw first.
  const errors = new Map<string, InternalError>();
  for (const error of results
    .flatMap(({ internalErrors }) => internalErrors)
    .sort((a, b) => (order.get(a.uri) ?? 0) - (order.get(b.uri) ?? 0))) {
    if (!errors.has(error.rule)) errors.set(error.rule, error);
  }
  return {
    files: reported.flatMap((uri) => byUri.get(uri) ?? []),
    internalErrors: [...errors.values()],
  };
}

/** Cells in shares of about the same amount of text, the largest cells first. */
function share(cells: readonly Cell[], count: number): readonly (readonly Cell[])[] {
  const sizeOf = ({ files }: Cell): number => files.reduce((sum, { text }) => sum + text.length, 0);
  const shares = Array.from({ length: count }, () => ({ cells: [] as Cell[], size: 0 }));
  for (const { cell, size } of cells
    .map((cell) => ({ cell, size: sizeOf(cell) }))
    .sort((a, b) => b.size - a.size)) {
    const smallest = shares.reduce((least, each) => (each.size < least.size ? each : least));
    smallest.cells.push(cell);
    smallest.size += size;
  }
  return shares.map(({ cells: share }) => share);
}
