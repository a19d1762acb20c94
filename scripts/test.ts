import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';

/**
 * Runs the tests that need neither a browser nor a server: `npx tsx scripts/test.ts [PATH...]`.
 * Without a path, all of them; a path is a test file or a folder of them. Exits as `node --test` does.
 */

const root = resolve(__dirname, '..');

/** Folders of `test/` that `npm test` covers; the others have launchers of their own. */
const folders = ['test/unit', 'test/rules', 'test/protocol', 'test/cli', 'test/sources'];

function testFiles(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  if (path.endsWith('.test.ts')) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function hygiene(): readonly string[] {
  return readdirSync(join(root, 'test'))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(root, 'test', name));
}

function main(paths: readonly string[]): number {
  const files =
    paths.length > 0
      ? paths.flatMap((path) => testFiles(resolve(path)))
      : [...folders.flatMap((folder) => testFiles(join(root, folder))), ...hygiene()];
  if (files.length === 0) {
    process.stderr.write(`no test file (*.test.ts) in ${paths.length > 0 ? paths.join(', ') : 'test/'}\n`);
    return 1;
  }
  // Relative names keep the report short and the command line below Windows' limit.
  const names = files.map((file) => relative(root, file).split(sep).join('/'));
  const run = paths.length > 0 ? names : inBatches(names);

  const result = spawnSync(
    process.execPath,
    [
      '--import',
      'tsx',
      '--test',
      '--test-reporter=spec',
      // Its own choice leaves one processor idle, which of two is half of them; and some tests wait for a clock.
      `--test-concurrency=${availableParallelism() + 1}`,
      ...run,
    ],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  return result.status ?? 1;
}

/** Loading the product takes a process longer than most files take: so many share one. */
const FILES_IN_BATCH = 12;

/** Files whose tests change what a process keeps, or start threads and programs beside which nothing else is to run. */
const alone = /^test\/protocol\/(bundle|catalogue)|threads\.test|package\.test|hygiene|corpus/;

/**
 * Writes files that each load many test files into one process. Their tests keep their own places in the report.
 *
 * @returns what is to be run instead.
 */
function inBatches(names: readonly string[]): readonly string[] {
  const folder = join(root, 'out', 'test-batches');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const shared = names.filter((name) => !alone.test(name));
  const count = Math.ceil(shared.length / FILES_IN_BATCH);
  const batches = Array.from({ length: count }, (_, batch) => {
    // Dealt out in turn, since neighbours by name are alike in what they take.
    const own = shared.filter((_name, index) => index % count === batch);
    const path = join(folder, `batch-${batch + 1}.test.ts`);
    writeFileSync(path, own.map((name) => `require('../../${name.replace(/\.ts$/, '')}');\n`).join(''));
    return relative(root, path).split(sep).join('/');
  });
  return [...batches, ...names.filter((name) => alone.test(name))];
}

process.exitCode = main(process.argv.slice(2));
