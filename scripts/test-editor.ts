import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { editors, install } from '../test/e2e/editors';
import { chromiumPath } from '../test/support/chromium';

/**
 * `npm run test:editor [-- --only VERSION | --electron]`: the packaged extension in real VS Code.
 * Without an option: the oldest supported and the newest version, and the desktop one at `VSCODE_EXECUTABLE` if set.
 */

const root = resolve(__dirname, '..');
const usage = `usage: npm run test:editor [-- --only ${editors.map(({ vscode }) => vscode).join('|')} | --electron]\n`;

function main(argv: readonly string[]): number {
  const only = argv[0] === '--electron' ? 'electron' : argv[0] === '--only' ? argv[1] : undefined;
  if (argv.length > 0 && only !== 'electron' && !editors.some(({ vscode }) => vscode === only)) {
    process.stderr.write(usage);
    return 2;
  }
  if (only !== 'electron') {
    try {
      chromiumPath();
      // Before the tests, so that their time limits do not count the installation.
      for (const editor of editors) if (only === undefined || only === editor.vscode) install(editor);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    }
  }
  const result = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=spec', 'test/e2e/editor.test.ts'],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...(only === undefined ? {} : { PLIMSOLL_TEST_EDITOR: only }) },
    },
  );
  return result.status ?? 1;
}

process.exitCode = main(process.argv.slice(2));
