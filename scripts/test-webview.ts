import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { chromiumPath } from '../test/support/chromium';

/** The built page of the live panel in Chromium. Without Chromium the tests are skipped, but not in CI. */

const root = resolve(__dirname, '..');

function main(): number {
  try {
    chromiumPath();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const isCi = (process.env['CI'] ?? '') !== '';
    process.stderr.write(isCi ? `${why}\n` : `The tests of the panel's page are skipped: ${why}\n`);
    return isCi ? 1 : 0;
  }
  const { status, error } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=spec', 'test/webview/panel.test.ts'],
    { cwd: root, stdio: 'inherit' },
  );
  if (error !== undefined) throw error;
  return status ?? 1;
}

process.exitCode = main();
