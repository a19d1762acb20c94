import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * `npm start`: lints the two applications in `examples/` with the bundle that users get, and says what to do next.
 * Findings are what it is there to show, so they are no failure; a command line that fails is.
 */

const root = resolve(__dirname, '..');
const cli = join(root, 'dist', 'cli.js');

const next = `
What to do next
  node dist/cli.js lint PATH             lint your own manifests
  node dist/cli.js explain RULE          say why a rule exists, and when not to use it
  node dist/cli.js lint examples/broken --fix   write the fixes that do not change what the author meant
  npm run package                        build the VS Code extension; then in VS Code: Extensions, "...",
                                         Install from VSIX
`;

function main(): number {
  if (!existsSync(cli)) {
    process.stderr.write('dist/cli.js is missing: run "npm run build" first\n');
    return 1;
  }
  const { status, error } = spawnSync(
    process.execPath,
    [cli, 'lint', 'examples/broken', 'examples/healthy'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (error !== undefined) throw error;
  // 0: no findings, 1: findings, 2: usage or failure.
  if (status !== 0 && status !== 1) return status ?? 2;
  process.stdout.write(next);
  return 0;
}

process.exitCode = main();
