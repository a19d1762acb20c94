import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import type { Request, Squiggles } from './protocol';

const screenshots = resolve(__dirname, '..', '..', 'out', 'screenshots');

/** Gestures in a VS Code window. They wait for what they act on, so no test has to sleep. */
export async function act(page: Page, prefix: string, request: Request): Promise<unknown> {
  switch (request.kind) {
    case 'light-bulb':
      return clickLightBulb(page, request.line, request.title);
    case 'text':
      return page.locator(request.selector).first().innerText({ timeout: 5000 });
    case 'squiggles':
      return squiggles(page);
    case 'hover':
      return hover(page, request.line);
    case 'language-status':
      return languageStatus(page);
    case 'cursor-to-end':
      return cursorToEnd(page, request.line);
    case 'type':
      return page.keyboard.type(request.text);
    case 'press':
      return page.keyboard.press(request.key);
    case 'panel-text':
      return panelText(page, request.wanted);
    case 'panel-click':
      return (await panelFrame(page))
        .getByRole('button', { name: request.name })
        .first()
        .click({ timeout: 10_000 });
    case 'panel-press':
      return panelPress(page, request.key);
    case 'contacts':
      throw new Error('the launcher counts them itself');
    case 'screenshot':
      return screenshot(page, `${prefix}-${request.name}`);
    case 'result':
      throw new Error('a result is for the bridge, not for the window');
  }
}

/**
 * Runs a command from the palette, by its whole title. The palette lists what there was when it was opened: while
 * extensions are still being loaded it is opened again.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  const rows = page.locator('.quick-input-list .monaco-list-row');
  const named = rows.filter({ has: page.locator('.label-name', { hasText: exactly(title) }) });
  for (let opened = 1; ; opened++) {
    await page.keyboard.press('F1');
    await page.locator('.quick-input-widget input').first().waitFor({ timeout: 10_000 });
    await page.keyboard.type(title);
    try {
      return await named.first().click({ timeout: 5_000 });
    } catch (error) {
      if (opened === 4) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

function exactly(text: string): RegExp {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`);
}

export async function screenshot(page: Page, name: string): Promise<string> {
  mkdirSync(screenshots, { recursive: true });
  const path = join(screenshots, `${name}.png`);
  await page.screenshot({ path });
  return path;
}

/** VS Code draws the bulb beside the cursor or in the gutter, with another icon for each kind of action. */
const lightBulb = '.lightBulbWidget, .glyph-margin-widgets [class*="codicon-gutter-lightbulb"]';

async function cursorToEnd(page: Page, line: string): Promise<void> {
  await page
    .locator('.monaco-editor .view-line')
    .filter({ hasText: line })
    .first()
    .click({ timeout: 10_000 });
  await page.keyboard.press('End');
}

async function clickLightBulb(page: Page, line: string, title: string): Promise<void> {
  await page
    .locator('.monaco-editor .view-line')
    .filter({ hasText: line })
    .first()
    .click({ timeout: 10_000 });
  await page.locator(lightBulb).filter({ visible: true }).first().click({ timeout: 20_000 });
  const action = page.locator('.action-widget .monaco-list-row').filter({ hasText: title }).first();
  await action.waitFor({ timeout: 10_000 });
  const box = await action.boundingBox();
  if (box === null) throw new Error(`the action "${title}" is not in view`);
  // VS Code shields a fresh menu from clicks until the pointer has moved.
  await page.mouse.move(box.x + 20, box.y + box.height / 2, { steps: 4 });
  await page.mouse.move(box.x + 30, box.y + box.height / 2, { steps: 4 });
  await action.click({ timeout: 10_000 });
}

async function squiggles(page: Page): Promise<Squiggles> {
  const drawn = (severity: string) => page.locator(`.monaco-editor .squiggly-${severity}`).count();
  return { error: await drawn('error'), warning: await drawn('warning'), info: await drawn('info') };
}

async function hover(page: Page, line: string): Promise<string> {
  const words = page
    .locator('.monaco-editor .view-line')
    .filter({ hasText: line })
    .first()
    .locator('span span');
  const box = await words.last().boundingBox({ timeout: 10_000 });
  if (box === null) throw new Error(`the line "${line}" is not in view`);
  await page.mouse.move(box.x + box.width - 3, box.y + box.height / 2, { steps: 4 });
  return page
    .locator('.monaco-resizable-hover .monaco-hover:not(.hidden) .hover-contents')
    .first()
    .innerText({ timeout: 10_000 });
}

/** The frame of the live panel, as soon as there is one. */
async function panelFrame(page: Page): Promise<Frame> {
  const end = Date.now() + 20_000;
  for (;;) {
    for (const frame of page.frames()) {
      const isPanel = await frame.evaluate(`document.getElementById('app') !== null`).catch(() => false);
      if (isPanel === true) return frame;
    }
    if (Date.now() > end) throw new Error('waited 20 s: the live panel is not there');
    await page.waitForTimeout(50);
  }
}

async function panelText(page: Page, wanted: readonly string[]): Promise<string> {
  const end = Date.now() + 20_000;
  let text = '';
  for (;;) {
    // The page can be made anew meanwhile.
    text = await (
      await panelFrame(page)
    )
      .locator('#app')
      .innerText({ timeout: 1000 })
      .catch(() => '');
    if (wanted.every((each) => text.includes(each))) return text;
    if (Date.now() > end)
      throw new Error(`waited 20 s for ${wanted.join(', ')} in the panel; it says: ${text}`);
    await page.waitForTimeout(50);
  }
}

/** The window gives keys to the page that was clicked last. */
async function panelPress(page: Page, key: string): Promise<void> {
  const frame = await panelFrame(page);
  const open = frame.locator('dialog[open]');
  if ((await open.count()) === 0) await frame.locator('.toolbar .kind').click({ timeout: 5000 });
  await page.keyboard.press(key);
}

export async function dialog(page: Page, button: string): Promise<string> {
  const box = page.locator('.monaco-dialog-box').first();
  await box.waitFor({ timeout: 10_000 });
  const text = await box.innerText();
  await box.getByRole('button', { name: button }).click({ timeout: 5000 });
  await box.waitFor({ state: 'detached', timeout: 5000 });
  return text;
}

async function languageStatus(page: Page): Promise<string> {
  // Away and back, so that a hover of before is not read again.
  await page.mouse.move(5, 5);
  await page.locator('[id="status.languageStatus"]').hover({ timeout: 10_000 });
  const hover = page.locator('.hover-language-status').first();
  await hover.waitFor({ timeout: 10_000 });
  return page.locator('.monaco-hover').filter({ has: hover }).first().innerText();
}
