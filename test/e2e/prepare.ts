import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What a test in a real VS Code works with: the packaged extension, settings, and a folder of its own. */

const root = resolve(__dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
export const vsix = join(root, `plimsoll-${version}.vsix`);
const bundle = join(root, 'out', 'e2e', 'suite.js');

/** Settings that keep the window still. Fixes must be exact, so nothing else may edit on saving. */
export const settings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'files.autoSave': 'off',
  'editor.formatOnSave': false,
  'telemetry.telemetryLevel': 'off',
};

/** Why no test can run in VS Code; nothing when one can. */
export function whatIsMissing(): string | undefined {
  const path = [vsix, bundle].find((each) => !existsSync(each));
  return path === undefined ? undefined : `${path} is missing: run "npm run test:editor", which builds it`;
}

export interface Run {
  readonly scratch: string;
  /** A copy of `test/e2e/workspace`, for the tests to write in. */
  readonly workspace: string;
  /** An extension that carries the suite and gives Helm templates their language id, as the Helm extensions do. */
  readonly runner: string;
  remove(): void;
}

export function prepare(): Run {
  const scratch = mkdtempSync(join(tmpdir(), 'plimsoll-e2e-'));
  const workspace = join(scratch, 'workspace');
  cpSync(join(__dirname, 'workspace'), workspace, { recursive: true });
  const runner = join(scratch, 'runner');
  mkdirSync(runner);
  cpSync(bundle, join(runner, 'suite.js'));
  const manifest = {
    name: 'plimsoll-test-runner',
    publisher: 'plimsoll',
    version: '0.0.1',
    engines: { vscode: '^1.100.0' },
    contributes: { languages: [{ id: 'helm', filenamePatterns: ['**/templates/*.yaml'] }] },
  };
  writeFileSync(join(runner, 'package.json'), JSON.stringify(manifest, null, 2));
  return {
    scratch,
    workspace,
    runner,
    remove: () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}
