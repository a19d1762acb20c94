import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  downloadAndUnzipVSCode,
  resolveCliArgsFromVSCodeExecutablePath,
  runTests,
} from '@vscode/test-electron';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { openBridge } from './bridge';
import { freePort } from './ports';
import type { Result } from './protocol';
import { bridgeVariable } from './protocol';
import { act } from './ui';

export interface ElectronRun {
  readonly vsix: string;
  readonly workspace: string;
  readonly scratch: string;
  /** The extension that carries the suite as `suite.js`. */
  readonly runner: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * Runs the suite in VS Code for the desktop: the one at `VSCODE_EXECUTABLE`, else the oldest supported version, which
 * is downloaded. Gestures go in through the window's remote debugging port.
 */
export async function runElectron(run: ElectronRun): Promise<{ results: readonly Result[]; code: number }> {
  const executable =
    process.env['VSCODE_EXECUTABLE'] ??
    (await downloadAndUnzipVSCode({
      version: '1.100.3',
      cachePath: resolve(__dirname, '..', '..', '.vscode-test'),
    }));
  const folders = [
    `--extensions-dir=${join(run.scratch, 'extensions')}`,
    `--user-data-dir=${join(run.scratch, 'user')}`,
  ];
  const user = join(run.scratch, 'user', 'User');
  mkdirSync(user, { recursive: true });
  writeFileSync(join(user, 'settings.json'), JSON.stringify(run.settings, null, 2));

  const [cli, ...cliArguments] = resolveCliArgsFromVSCodeExecutablePath(executable, {
    reuseMachineInstall: true,
  });
  if (cli === undefined) throw new Error(`${executable} has no command line`);
  const installed = spawnSync(
    cli,
    [...cliArguments, ...folders, '--no-sandbox', '--install-extension', run.vsix],
    {
      encoding: 'utf8',
      shell: process.platform === 'win32',
    },
  );
  if (installed.status !== 0) {
    throw new Error(`${run.vsix} was not installed:\n${installed.stdout}\n${installed.stderr}`);
  }

  const port = await freePort();
  let browser: Browser | undefined;
  const page = async (): Promise<Page> => {
    browser ??= await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    const found = browser.contexts().flatMap((context) => context.pages())[0];
    if (found === undefined) throw new Error('the window has no page');
    return found;
  };
  const bridge = await openBridge(async (request) => act(await page(), 'desktop', request));
  try {
    // Rejects when the suite failed; the results say what.
    const code = await runTests({
      vscodeExecutablePath: executable,
      extensionDevelopmentPath: run.runner,
      extensionTestsPath: join(run.runner, 'suite'),
      extensionTestsEnv: { [bridgeVariable]: bridge.url },
      launchArgs: [run.workspace, ...folders, `--remote-debugging-port=${port}`, '--disable-telemetry'],
    }).catch(() => 1);
    return { results: bridge.results, code };
  } finally {
    await browser?.close();
    await bridge.close();
  }
}
