import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { panelHtml } from '../../client/src/panel/html';
import type { PanelModel } from '../../server/src/panel/model';
import type { FromPage, PanelState, ToPage } from '../../server/src/protocol/panel';
import { chromiumFlags, chromiumPath } from '../support/chromium';
import type { Theme } from './themes';
import { themes } from './themes';

/** The built page in Chromium, with a stand-in for what VS Code gives it. */

const root = resolve(__dirname, '..', '..');
const screenshots = join(root, 'out', 'screenshots');
const origin = 'https://panel.test';

/** In the page, as text: what is compiled here would refer to helpers that are not there. */
const fakeHost = `
globalThis.acquireVsCodeApi = () => ({
  // Messages are cloned, as VS Code does: what cannot be cloned fails here too.
  postMessage: (message) => fakeHost.sent.push(structuredClone(message)),
  getState: () => fakeHost.kept,
  setState: (state) => (fakeHost.kept = structuredClone(state)),
});`;

/** Messages come in order: when one that is sent now has come, all before have been drawn. */
const drawn = `new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => requestAnimationFrame(() => requestAnimationFrame(() => done()));
  port2.postMessage(null);
})`;

export async function openBrowser(): Promise<Browser> {
  for (const name of ['webview.js', 'webview.css']) {
    if (!existsSync(join(root, 'dist', name)))
      throw new Error(`dist/${name} is missing: run "npm run build" first`);
  }
  return chromium.launch({ executablePath: chromiumPath(), args: [...chromiumFlags] });
}

export interface PanelPage {
  readonly page: Page;
  /** Everything that the page has sent. */
  sent(): Promise<readonly FromPage[]>;
  /** What it has stored. */
  stored(): Promise<unknown>;
  show(state: PanelState): Promise<void>;
  model(model: PanelModel): Promise<void>;
  theme(theme: Theme): Promise<void>;
  picture(name: string, whole?: boolean): Promise<string>;
  /** What the console and the page's policy complained of. */
  readonly complaints: readonly string[];
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly stored?: unknown;
  readonly reducedMotion?: boolean;
  readonly theme?: Theme;
}

export async function openPanel(browser: Browser, options: PageOptions = {}): Promise<PanelPage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1200, height: options.height ?? 900 },
    reducedMotion: options.reducedMotion === true ? 'reduce' : 'no-preference',
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Reading a picture back is what tests do, not the page.
    const isOurs = /willReadFrequently/.test(message.text());
    if (!isOurs && ['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  await page.route(`${origin}/**`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name === '') {
      const body = panelHtml({
        cspSource: origin,
        script: `${origin}/webview.js`,
        style: `${origin}/webview.css`,
        nonce: 'c3Ryb25nIGVub3VnaA',
      });
      await route.fulfill({ contentType: 'text/html', body });
    } else if (name === 'webview.js' || name === 'webview.css') {
      const contentType = name.endsWith('.js') ? 'text/javascript' : 'text/css';
      await route.fulfill({ contentType, body: readFileSync(join(root, 'dist', name)) });
    } else await route.fulfill({ status: 404, body: '' });
  });
  await page.addInitScript(
    `globalThis.fakeHost = { kept: ${JSON.stringify(options.stored)}, sent: [] };\n${fakeHost}`,
  );
  await page.goto(`${origin}/`);

  const panel: PanelPage = {
    page,
    complaints,
    sent: () => page.evaluate<readonly FromPage[]>('fakeHost.sent'),
    stored: () => page.evaluate('fakeHost.kept'),
    show: async (state) => {
      const message: ToPage = { type: 'state', state };
      await page.evaluate((data) => window.postMessage(data, '*'), message);
      // Messages are delivered in order: when this one has come, so has the one before.
      await page.evaluate(drawn);
    },
    model: (model) => panel.show({ kind: 'model', model, reading: false }),
    theme: async ({ kind, variables }) => {
      await page.evaluate(
        ([name, values]) => {
          document.body.className = name;
          document.documentElement.removeAttribute('style');
          for (const [variable, value] of Object.entries(values)) {
            document.documentElement.style.setProperty(`--vscode-${variable}`, value);
          }
        },
        [kind, variables] as const,
      );
    },
    picture: async (name, whole = false) => {
      mkdirSync(screenshots, { recursive: true });
      const path = join(screenshots, `panel-${name}.png`);
      await page.screenshot({ path, fullPage: whole });
      return path;
    },
  };
  const theme = options.theme ?? themes[0];
  if (theme !== undefined) await panel.theme(theme);
  return panel;
}
