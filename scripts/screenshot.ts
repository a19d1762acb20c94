import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { editors, install } from '../test/e2e/editors';
import { openWindow } from '../test/e2e/server-launcher';
import { act, runCommand } from '../test/e2e/ui';

/** Photographs the packaged extension on `examples/`, for the README. */

const root = resolve(__dirname, '..');

/** What the first picture shows: a file of `examples/`, and the value under the pointer. */
const file = 'broken/chat.yaml';
const value = 'nvidia.com/gpu: 2';

/** Where the cursor is in the second one: the panel follows it. */
const followed = 'healthy/chat.yaml';

const settings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'breadcrumbs.enabled': false,
  'telemetry.telemetryLevel': 'off',
};

interface Picture {
  readonly name: string;
  readonly open: string;
  readonly size: { readonly width: number; readonly height: number };
  /** Brings the window into the state that is photographed. */
  pose(page: Page, workspace: string): Promise<void>;
}

const pictures: readonly Picture[] = [
  { name: 'editor', open: file, size: { width: 1280, height: 860 }, pose: poseEditor },
  { name: 'panel', open: followed, size: { width: 1440, height: 960 }, pose: posePanel },
];

async function photograph({ name, open, size, pose }: Picture): Promise<void> {
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
    open: join(workspace, open),
    environment: {},
    settings,
    trusted: true,
    size,
  });
  try {
    const { page } = window;
    await page.locator('.monaco-editor .view-line').first().waitFor({ timeout: 60_000 });
    await pose(page, workspace);
    mkdirSync(join(root, 'images'), { recursive: true });
    const path = join(root, 'images', `${name}.png`);
    await page.screenshot({ path });
    console.log(path);
  } finally {
    await window.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Findings in the editor and in Problems, and a hover. */
async function poseEditor(page: Page, workspace: string): Promise<void> {
  await page.keyboard.press('Control+Shift+M');
  await page.locator('.markers-panel .monaco-list-row').nth(3).waitFor({ timeout: 60_000 });

  // Files that are not open are reported a little later.
  await page.locator('.explorer-folders-view [aria-label*="nodes.yaml"][aria-label*="problem"]').waitFor();

  // The editor draws only what is in view, so the cursor goes there first.
  await goTo(page, join(workspace, file), value);
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
}

/** The demo of the live panel beside the manifest that it follows. */
async function posePanel(page: Page, workspace: string): Promise<void> {
  await page
    .locator('.explorer-folders-view [aria-label*="nodes.yaml"]')
    .first()
    .waitFor({ timeout: 60_000 });
  await goTo(page, join(workspace, followed), 'kind: Deployment');
  await page.keyboard.press('Control+B');
  await runCommand(page, 'Plimsoll: Open Live Panel (Demo)');
  // Away from what has a tooltip.
  await page.mouse.move(300, 700);
  await act(page, 'screenshot', { kind: 'panel-text', wanted: ['DEMO', 'Queue-saturated', 'TTFT p95'] });
  await page.locator('.codelens-decoration', { hasText: 'DEMO' }).first().waitFor({ timeout: 20_000 });
}

async function goTo(page: Page, path: string, text: string): Promise<void> {
  const all = readFileSync(path, 'utf8');
  const line = all.slice(0, all.indexOf(text)).split('\n').length;
  await page.locator('.monaco-editor .view-line').first().click();
  await page.keyboard.press('Control+G');
  await page.keyboard.type(`${line}`);
  await page.keyboard.press('Enter');
}

/** `npm run screenshot [-- NAME]`. */
async function main(names: readonly string[]): Promise<void> {
  for (const picture of pictures) {
    if (names.length === 0 || names.includes(picture.name)) await photograph(picture);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
