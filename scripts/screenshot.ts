import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { editors, install } from '../test/e2e/editors';
import { openWindow } from '../test/e2e/server-launcher';

/** `npm run screenshot`: photographs the packaged extension on `examples/`, for the README. */

const root = resolve(__dirname, '..');

/** What the picture shows: a file of `examples/`, and the value under the pointer. */
const file = 'broken/chat.yaml';
const value = 'nvidia.com/gpu: 2';

async function main(): Promise<void> {
  const newest = editors.at(-1);
  if (newest === undefined) throw new Error('no editor is listed');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const scratch = mkdtempSync(join(tmpdir(), 'plimsoll-screenshot-'));
  // A copy, so that the title bar says what the folder is, and nothing is written into the tree.
  const workspace = join(scratch, 'inference');
  cpSync(join(root, 'examples'), workspace, { recursive: true });
  const window = await openWindow({
    editor: install(newest),
    vsix: join(root, `plimsoll-${version}.vsix`),
    workspace,
    scratch,
    open: join(workspace, file),
    environment: {},
    settings: {
      'workbench.startupEditor': 'none',
      'workbench.secondarySideBar.defaultVisibility': 'hidden',
      'workbench.tips.enabled': false,
      'chat.disableAIFeatures': true,
      'editor.minimap.enabled': false,
      'breadcrumbs.enabled': false,
      'telemetry.telemetryLevel': 'off',
    },
    trusted: true,
    size: { width: 1280, height: 860 },
  });
  try {
    const { page } = window;
    await page.locator('.monaco-editor .view-line').first().waitFor({ timeout: 60_000 });
    await page.keyboard.press('Control+Shift+M');
    await page.locator('.markers-panel .monaco-list-row').nth(3).waitFor({ timeout: 60_000 });

    // Files that are not open are reported a little later.
    await page.locator('.explorer-folders-view [aria-label*="nodes.yaml"][aria-label*="problem"]').waitFor();

    // The editor draws only what is in view, so the cursor goes there first.
    const text = readFileSync(join(workspace, file), 'utf8');
    const line = text.slice(0, text.indexOf(value)).split('\n').length;
    await page.locator('.monaco-editor .view-line').first().click();
    await page.keyboard.press('Control+G');
    await page.keyboard.type(`${line}`);
    await page.keyboard.press('Enter');
    const word = page
      .locator('.monaco-editor .view-line')
      .filter({ hasText: value })
      .locator('span span')
      .last();
    const box = await word.boundingBox({ timeout: 10_000 });
    if (box === null) throw new Error(`"${value}" is not in view`);
    await page.mouse.move(box.x + box.width - 3, box.y + box.height / 2, { steps: 4 });
    await page
      .locator('.monaco-resizable-hover .monaco-hover:not(.hidden) .hover-contents')
      .first()
      .waitFor({ timeout: 10_000 });
    mkdirSync(join(root, 'images'), { recursive: true });
    const path = join(root, 'images', 'editor.png');
    await page.screenshot({ path });
    console.log(path);
  } finally {
    await window.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
