import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { chromiumFlags, chromiumPath } from '../support/chromium';
import type { InstalledEditor } from './editors';
import { freePort } from './ports';

/** A VS Code window in Chromium, with the VSIX installed and a folder open. */
export interface Window {
  readonly page: Page;
  /** Resolves with the exit code of the suite, when one was given. */
  readonly exit: Promise<number>;
  close(): Promise<void>;
}

export interface WindowOptions {
  readonly editor: InstalledEditor;
  readonly vsix: string;
  /** The folder to open. */
  readonly workspace: string;
  /** A folder of this run's own, for the server's data and extensions. */
  readonly scratch: string;
  /** The extension that carries the suite, and the suite's file in it; absent: a window for looking at. */
  readonly suite?: { readonly extension: string; readonly module: string };
  /** A file to open. */
  readonly open?: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Machine settings. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether the folder is trusted; otherwise the window is in restricted mode. */
  readonly trusted: boolean;
  /** Show modal dialogs; not with a suite. */
  readonly dialogs?: boolean;
  readonly size?: { readonly width: number; readonly height: number };
}

export async function openWindow(options: WindowOptions): Promise<Window> {
  const port = await freePort();
  const server = await startServer(options, port);
  // Also when the tests are ended from outside: the server is a group of its own and would live on.
  process.once('exit', () => stop(server));
  process.once('SIGTERM', () => process.exit(143));
  let browser: Browser | undefined;
  try {
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumFlags] });
    const page = await browser.newPage({ viewport: options.size ?? { width: 1280, height: 800 } });
    const opened = browser;
    const exit = new Promise<number>((resolve, reject) => {
      server.on('exit', (code) => reject(new Error(`the VS Code server exited with ${code}`)));
      page.on('crash', () => reject(new Error('the window crashed')));
      // VS Code's web client calls these two when it runs a suite.
      void page.exposeFunction('codeAutomationLog', () => undefined);
      void page.exposeFunction('codeAutomationExit', (code: number) => resolve(code));
    });
    // Only a window with a suite waits for it; elsewhere its end is no news.
    exit.catch(() => undefined);
    await page.goto(address(options, port));
    return {
      page,
      exit,
      close: async () => {
        await opened.close();
        stop(server);
      },
    };
  } catch (error) {
    await browser?.close();
    stop(server);
    throw error;
  }
}

function address({ workspace, suite, open }: WindowOptions, port: number): string {
  const remote = (path: string) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = [
    ['skipWelcome', 'true'],
    ...(open === undefined ? [] : [['openFile', remote(open)]]),
    ...(suite === undefined
      ? []
      : [
          ['extensionDevelopmentPath', remote(suite.extension)],
          ['extensionTestsPath', remote(suite.module)],
        ]),
  ];
  const query = new URLSearchParams({ folder: workspace, payload: JSON.stringify(payload) });
  return `http://127.0.0.1:${port}/?${query.toString()}`;
}

async function startServer(options: WindowOptions, port: number): Promise<ChildProcess> {
  const { editor, scratch } = options;
  const data = join(scratch, 'server');
  const machine = join(data, 'data', 'Machine');
  mkdirSync(machine, { recursive: true });
  writeFileSync(join(machine, 'settings.json'), JSON.stringify(options.settings, null, 2));
  const folders = ['--server-data-dir', data, '--extensions-dir', join(scratch, 'extensions')];

  const installed = spawnSync(
    editor.nodeExecutable,
    [editor.serverMain, ...folders, '--accept-server-license-terms', '--install-extension', options.vsix],
    { encoding: 'utf8' },
  );
  if (!installed.stdout.includes('was successfully installed')) {
    throw new Error(`${options.vsix} was not installed:\n${installed.stdout}\n${installed.stderr}`);
  }

  const server = spawn(
    editor.nodeExecutable,
    [
      editor.serverMain,
      ...folders,
      ...['--host', '127.0.0.1', '--port', String(port), '--without-connection-token'],
      ...['--accept-server-license-terms', '--telemetry-level', 'off'],
      // The client runs a suite named in its address only when the server allows test drivers. It shows no dialogs then.
      ...(options.dialogs === true ? [] : ['--enable-smoke-test-driver']),
      ...(options.trusted ? ['--disable-workspace-trust'] : []),
    ],
    { env: { ...process.env, ...options.environment }, stdio: ['ignore', 'pipe', 'ignore'], detached: true },
  );
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString('utf8');
      if (log.includes('Extension host agent listening')) resolve();
    });
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`the VS Code server exited with ${code}:\n${log}`)));
  });
  return server;
}

/** The server starts processes of its own, so its whole group is ended. */
function stop(server: ChildProcess): void {
  server.removeAllListeners('exit');
  if (server.pid === undefined) return;
  try {
    process.kill(-server.pid, 'SIGTERM');
  } catch {
    // It has ended already.
  }
}
