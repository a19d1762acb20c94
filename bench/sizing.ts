/**
 * Prints measured servers beside what the estimator says of them: weights for each GPU, tokens of the cache
 * and the room for it. The targets are those of `npm run vectors -- memory`.
 *
 * `node --import tsx bench/sizing.ts [FILE]`; without a file the project's own cases are used.
 */
import { readFileSync } from 'node:fs';
import { measuredCases } from '../test/vectors/data/memory-cases';
import { evaluateCase, meetsTargets, readCases, summaryOf, totalsOf } from '../test/vectors/memory';
import type { CaseResult, Comparison } from '../test/vectors/memory';

const GiB = 2 ** 30;

const columns: readonly (readonly [string, number])[] = [
  ['case', 30],
  ['model as read', 34],
  ['precision', 13],
  ['GPU', 22],
  ['TP', 3],
  ['weights', 9],
  ['came', 9],
  ['', 4],
  ['KV GiB', 8],
  ['came from to', 15],
  ['', 4],
  ['width', 7],
  ['KV per token', 5],
];

const mark = (item: Comparison | undefined): string =>
  item === undefined ? '' : item.agrees ? 'ok' : 'MISS';

function line(cells: readonly string[]): string {
  return cells
    .map((cell, index) => {
      const width = columns[index]?.[1] ?? 10;
      return (cell.length > width ? `${cell.slice(0, width - 1)}~` : cell).padEnd(width);
    })
    .join(' ')
    .trimEnd();
}

function row(result: CaseResult): string {
  const { case: item, estimate } = result;
  const available = estimate?.kv?.available;
  const room =
    result.room === undefined || available === undefined
      ? ''
      : `${(available.low / GiB).toFixed(1)} ${(available.high / GiB).toFixed(1)}`;
  return line([
    item.id,
    result.identity?.knownAs ?? result.identity?.matchedBy ?? 'unknown',
    estimate?.quantization ?? '',
    item.gpu,
    String(item.tensorParallel),
    item.weightsGiBPerGpu === undefined ? '' : String(item.weightsGiBPerGpu),
    estimate === undefined || result.weights === undefined
      ? ''
      : (estimate.weights.perGpu.expected / GiB).toFixed(3),
    mark(result.weights),
    item.kvCacheGiBPerGpu === undefined ? '' : String(item.kvCacheGiBPerGpu),
    room,
    mark(result.room),
    result.room === undefined ? '' : `${Math.round(result.room.width * 100)} %`,
    mark(result.kv),
  ]);
}

function main(argv: readonly string[]): number {
  const file = argv[0];
  let cases: unknown = measuredCases;
  if (file !== undefined) {
    try {
      cases = JSON.parse(readFileSync(file, 'utf8'));
    } catch (error) {
      process.stderr.write(
        `${file}: cannot read the cases: ${error instanceof Error ? error.message : String(error)}\n`,
      );
      return 2;
    }
  }
  const results = readCases(cases).map(evaluateCase);
  process.stdout.write(`${line(columns.map(([title]) => title))}\n`);
  for (const result of results) process.stdout.write(`${row(result)}\n`);
  const notes = results.flatMap((result) => result.setAside.map((note) => `${result.case.id}: ${note}`));
  if (notes.length > 0) process.stdout.write(`\n${notes.join('\n')}\n`);
  const totals = totalsOf(results);
  process.stdout.write(`\n${summaryOf(totals)}\n`);
  return meetsTargets(totals) ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
