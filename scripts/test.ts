import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
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

  const result = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=spec', ...names],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  return result.status ?? 1;
}

process.exitCode = main(process.argv.slice(2));
