import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBridge } from './bridge';
import { openCluster, plantedToken } from './cluster';
import { editors, install } from './editors';
import { runElectron } from './electron-launcher';
import type { Result } from './protocol';
import { bridgeVariable } from './protocol';
import { prepare, settings, vsix, whatIsMissing } from './prepare';
import { openWindow } from './server-launcher';
import { act, dialog, runCommand, screenshot } from './ui';

/** `VS Code version` or `electron`, or nothing for all that can run here. */
const only = process.env['PLIMSOLL_TEST_EDITOR'];

const missing = whatIsMissing();
if (missing !== undefined) throw new Error(missing);

for (const editor of editors) {
  const skip = only !== undefined && only !== editor.vscode;
  test(`VS Code ${editor.vscode}`, { skip, timeout: 300_000 }, async (t) => {
    const run = prepare();
    const installed = install(editor);
    const opened: { page?: Page } = {};
    const cluster = await openCluster(run.scratch);
    const bridge = await openBridge((request) =>
      request.kind === 'contacts'
        ? Promise.resolve(cluster.contacts())
        : opened.page === undefined
          ? Promise.reject(new Error('the window is not open yet'))
          : act(opened.page, editor.vscode, request),
    );
    const window = await openWindow({
      editor: installed,
      vsix,
      workspace: run.workspace,
      scratch: run.scratch,
      suite: { extension: run.runner, module: join(run.runner, 'suite') },
      environment: { [bridgeVariable]: bridge.url, KUBECONFIG: cluster.kubeconfig },
      settings,
      trusted: true,
    });
    opened.page = window.page;
    try {
      const code = await window.exit;
      await report(t, bridge.results, code);
    } finally {
      await window.close();
      await bridge.close();
      await cluster.close();
      run.remove();
    }
  });

  test(`VS Code ${editor.vscode}, untrusted folder`, { skip, timeout: 120_000 }, async () => {
    const run = prepare();
    // The folder's own wish to silence the rule; in a trusted one it would be followed, as the suite shows.
    mkdirSync(join(run.workspace, '.vscode'));
    writeFileSync(
      join(run.workspace, '.vscode', 'settings.json'),
      JSON.stringify({ 'plimsoll.configFile': 'quiet.yaml' }),
    );
    const cluster = await openCluster(run.scratch);
    const window = await openWindow({
      editor: install(editor),
      vsix,
      workspace: run.workspace,
      scratch: run.scratch,
      open: join(run.workspace, 'chat.yaml'),
      environment: { KUBECONFIG: cluster.kubeconfig },
      settings: { ...settings, 'security.workspace.trust.startupPrompt': 'never' },
      trusted: false,
    });
    try {
      const { page } = window;
      await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ timeout: 30_000 });
      await page.locator('.monaco-editor .squiggly-error').first().waitFor({ timeout: 30_000 });
      // When the folder has been read, its settings have been too.
      await act(page, editor.vscode, { kind: 'language-status' });
      const status = page.locator('.hover-language-status').filter({ hasText: /\d+ files/ });
      await status.first().waitFor({ timeout: 20_000 });
      const hover = await act(page, editor.vscode, { kind: 'hover', line: 'nvidia.com/gpu: 2' });
      assert.match(String(hover), /limited to 4/);
      await screenshot(page, `${editor.vscode}-untrusted`);

      // The live panel says why it reads nothing, and shows its demo.
      await page.keyboard.press('Escape');
      await runCommand(page, 'Plimsoll: Open Live Panel');
      const wanted = ['This workspace is not trusted, so no cluster is contacted'];
      await act(page, editor.vscode, { kind: 'panel-text', wanted });
      await act(page, editor.vscode, { kind: 'panel-click', name: 'Show the demo' });
      await act(page, editor.vscode, { kind: 'panel-text', wanted: ['DEMO', 'TTFT p95'] });
      assert.equal(cluster.contacts(), 0);
    } finally {
      await window.close();
      await cluster.close();
      run.remove();
    }
  });

  test(`VS Code ${editor.vscode}, live panel of a cluster`, { skip, timeout: 120_000 }, async () => {
    // Without a suite: VS Code shows no dialogs to tests that run in it.
    const run = prepare();
    const cluster = await openCluster(run.scratch);
    const window = await openWindow({
      editor: install(editor),
      vsix,
      workspace: run.workspace,
      scratch: run.scratch,
      open: join(run.workspace, 'chat.yaml'),
      environment: { KUBECONFIG: cluster.kubeconfig },
      settings: { ...settings, 'plimsoll.trace.server': 'verbose' },
      trusted: true,
      dialogs: true,
    });
    try {
      const { page } = window;
      const panel = (...wanted: string[]): Promise<unknown> =>
        act(page, editor.vscode, { kind: 'panel-text', wanted });
      await page.locator('.monaco-editor .squiggly-error').first().waitFor({ timeout: 30_000 });
      await page.locator('.monaco-editor .view-line', { hasText: 'kind: Deployment' }).first().click();
      await runCommand(page, 'Plimsoll: Open Live Panel');
      const asked = await dialog(page, 'Cancel');
      assert.match(asked, /Let Plimsoll read from the context denying\?/);
      assert.match(asked, /denying-cluster/);
      assert.match(asked, /http:\/\/127\.0\.0\.1/);
      assert.match(asked, /Never read: Secrets/);
      assert.ok(!asked.includes(plantedToken));
      await panel('Nothing has been contacted yet');
      assert.equal(cluster.contacts(), 0, 'without an agreement nothing is contacted');

      await act(page, editor.vscode, { kind: 'panel-click', name: 'Connect' });
      await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'denying' }).waitFor();
      await page.keyboard.press('Enter');
      await dialog(page, 'Read');
      const text = String(await panel('context denying', 'Kubernetes API', 'Grant'));
      assert.match(text, /pods/);
      assert.ok(!text.includes(plantedToken));
      assert.ok(cluster.contacts() > 0);
      await page.locator('.statusbar-item', { hasText: 'denying' }).first().waitFor({ timeout: 5000 });
      await screenshot(page, `${editor.vscode}-panel-denied`);
    } catch (error) {
      await screenshot(window.page, `${editor.vscode}-failed-live-panel-of-a-cluster`);
      throw error;
    } finally {
      await window.close();
      const leaks = filesWith(join(run.scratch, 'server'), plantedToken);
      await cluster.close();
      run.remove();
      assert.deepEqual(leaks, [], 'no log holds the token');
    }
  });
}

/** Files below a folder that hold a text. */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

const electron = process.env['VSCODE_EXECUTABLE'] !== undefined || only === 'electron';

test(
  'VS Code on the desktop',
  {
    skip: electron
      ? false
      : 'set VSCODE_EXECUTABLE, or run "npm run test:editor -- --electron" to download it',
  },
  async (t) => {
    const run = prepare();
    try {
      const { results, code } = await runElectron({ ...run, vsix, settings });
      await report(t, results, code);
    } finally {
      run.remove();
    }
  },
);

/** One test for each result of the suite. */
async function report(
  t: { test(name: string, body: () => void): Promise<void> },
  results: readonly Result[],
  code: number,
): Promise<void> {
  for (const { name, error } of results) {
    await t.test(name, () => {
      if (error !== undefined) assert.fail(error);
    });
  }
  assert.notEqual(results.length, 0, 'the suite reported no result');
  assert.equal(code, 0, 'exit code of the suite');
}
