import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { PanelModel, State } from '../../server/src/panel/model';
import type { FromPage } from '../../server/src/protocol/panel';
import { empty, fakeModel, pods, podName, shown, table } from './model';
import type { PageOptions, PanelPage } from './page';
import { openBrowser, openPanel } from './page';
import { themes } from './themes';

let browser: Browser;
let opened: PanelPage[] = [];

before(async () => {
  browser = await openBrowser();
});

after(() => browser.close());

afterEach(async () => {
  const complaints = opened.flatMap((each) => each.complaints);
  await Promise.all(opened.map(({ page }) => page.context().close()));
  opened = [];
  assert.deepEqual(complaints, [], 'the console is quiet, and nothing breaks the policy of the page');
});

async function open(options?: PageOptions): Promise<PanelPage> {
  const panel = await openPanel(browser, options);
  opened.push(panel);
  return panel;
}

async function openModel(model: PanelModel = fakeModel(), options?: PageOptions): Promise<PanelPage> {
  const panel = await open(options);
  await panel.model(model);
  return panel;
}

async function intents(panel: PanelPage): Promise<readonly unknown[]> {
  return (await panel.sent()).flatMap((each) => (each.type === 'intent' ? [each.intent] : []));
}

/** Until a condition in the page holds. Not Playwright's own wait, which the page's policy does not let in. */
async function until(panel: PanelPage, condition: string): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await panel.page.evaluate(condition))) {
    if (Date.now() > end) throw new Error(`waited 20 s: ${condition}`);
  }
}

async function last(panel: PanelPage): Promise<FromPage | undefined> {
  return (await panel.sent()).at(-1);
}

describe('states', () => {
  test('says that it is there, and shows a skeleton only until the first answer', async () => {
    const panel = await open();
    assert.deepEqual(await panel.sent(), [{ type: 'ready' }]);
    assert.equal(await panel.page.locator('.skeleton').count(), 1);
    await panel.show({ kind: 'loading', title: 'Deployment vllm' });
    assert.match(await panel.page.locator('.skeleton').innerText(), /Reading Deployment vllm/);
    await panel.model(fakeModel());
    assert.equal(await panel.page.locator('.skeleton').count(), 0);
    // The next answer is on its way: what is known stays.
    await panel.show({ kind: 'model', model: fakeModel(), reading: true });
    assert.equal(await panel.page.locator('.skeleton').count(), 0);
    assert.match(await panel.page.locator('.freshness').innerText(), /reading/);
    assert.equal(await panel.page.getByRole('heading', { level: 1 }).count(), 1);
  });

  test('says why it is empty and offers what helps', async () => {
    const panel = await open();
    await panel.show({
      kind: 'waiting',
      empty: {
        ...empty('Nothing has been contacted', 'Connect, or look at the demo'),
        actions: [
          { title: 'Connect', intent: { kind: 'configure-source', source: 'kubernetes' } },
          { title: 'Show the demo', intent: { kind: 'use-demo' } },
        ],
      },
    });
    assert.match(
      await panel.page.getByRole('main').innerText(),
      /Nothing has been contacted\s+Connect, or look/,
    );
    await panel.page.getByRole('button', { name: 'Show the demo' }).click();
    assert.deepEqual(await intents(panel), [{ kind: 'use-demo' }]);
  });

  test('the demo says so in large letters', async () => {
    const model = fakeModel();
    const panel = await openModel({ ...model, title: { ...model.title, demo: true } });
    assert.equal(await panel.page.locator('.demo').innerText(), 'DEMO');
  });

  test('what is older than two refreshes fades and tells its age', async () => {
    const panel = await open();
    await panel.page.clock.install();
    await panel.model(fakeModel({ refresh: 15_000 }));
    assert.match(await panel.page.locator('.freshness').innerText(), /^\d s ago$/);
    await panel.page.clock.fastForward(120_000);
    assert.match(await panel.page.locator('.freshness').innerText(), /^2 min old$/);
    assert.equal(await panel.page.locator('.panel.old').count(), 1);
  });
});

describe('verdict', () => {
  test('states what is wrong, since when, from what, and what to do', async () => {
    const panel = await openModel();
    const banner = panel.page.getByRole('region', { name: /Queue-saturated/ });
    const text = await banner.innerText();
    assert.match(text, /Queue-saturated since 12 min/);
    assert.match(text, /41 requests wait/);
    assert.match(text, /Also|Crash-looping/);
    assert.match(text, /1 thing could not be judged/);
    const chips = panel.page.getByRole('list', { name: 'Evidence' });
    assert.equal(await chips.getByRole('listitem').count(), 4);
    await banner.getByRole('button', { name: 'Open maxReplicas' }).click();
    assert.equal((await intents(panel)).length, 1);
  });

  test('a chip jumps to its chart, also when that is folded', async () => {
    const panel = await openModel();
    await panel.page.getByRole('button', { name: /^Latency$/ }).click();
    assert.equal(await panel.page.locator('[data-chart=ttft]').count(), 0);
    await panel.page.getByRole('button', { name: /^Latency$/ }).click();
    await panel.page.getByRole('button', { name: /TTFT p95 1.24 s \(above/ }).click();
    await until(panel, `document.activeElement?.id === 'target-ttft'`);
    await until(
      panel,
      `document.getElementById('target-ttft').getBoundingClientRect().top < innerHeight / 2`,
    );
    assert.deepEqual(await intents(panel), [], 'it stays in the page');
  });

  test('a jump from another tab goes to the tab that has it', async () => {
    const panel = await openModel();
    await panel.page.getByRole('tab', { name: 'Overview' }).click();
    await panel.page.getByRole('button', { name: /KV cache 94 %/ }).click();
    await until(panel, `document.activeElement?.id === 'target-kv-cache'`);
  });

  test('is said once to those who listen, and again only when it changes', async () => {
    const panel = await openModel();
    const region = panel.page.locator('[aria-live]');
    assert.equal(await region.count(), 1);
    assert.equal(await region.getAttribute('aria-live'), 'polite');
    const first = await region.innerText();
    assert.match(first, /^Queue-saturated: 41 requests/);
    const model = fakeModel();
    await panel.model({ ...model, verdict: { ...model.verdict, sentence: '42 requests wait' } });
    assert.equal(await region.innerText(), first);
    await panel.model({
      ...model,
      verdict: { ...model.verdict, name: 'healthy', state: 'good', word: 'Healthy', sentence: 'all is well' },
    });
    assert.equal(await region.innerText(), 'Healthy: all is well');
  });
});

describe('tiles', () => {
  test('have a value, a state in a word, a sparkline; or say why there is no value', async () => {
    const panel = await openModel();
    const tiles = panel.page.getByRole('list', { name: 'Key figures' }).getByRole('listitem');
    assert.deepEqual(
      (await tiles.allInnerTexts()).map((text) => text.split('\n')[0]),
      ['GPU', 'VRAM', 'TTFT p95', 'Queue', 'Replicas', 'Cost'],
    );
    assert.match(await tiles.nth(0).innerText(), /97 %[^]*busy[^]*\+18 % against the baseline/);
    assert.equal(await tiles.nth(0).locator('svg.sparkline').count(), 1);
    assert.match(await tiles.nth(5).innerText(), /price of p9.48xlarge is not known[^]*Set[^]*unknown/);
    assert.doesNotMatch(await tiles.nth(5).innerText(), /\b0\b/);
  });

  test('a sparkline has gaps where values are missing', async () => {
    const model = fakeModel();
    const [first] = model.tiles;
    assert.ok(first !== undefined);
    const panel = await openModel({
      ...model,
      tiles: [{ ...first, sparkline: [1, 2, null, 2, 3, null, 1] }],
    });
    const path = await panel.page.locator('.sparkline path').getAttribute('d');
    assert.equal(path?.match(/M/g)?.length, 3);
    assert.equal(path?.match(/L/g)?.length, 2);
    assert.match(path ?? '', /h0\.1$/, 'a value alone is a dot');
  });
});

describe('charts', () => {
  test('each has a name, a legend with values, and a table behind it', async () => {
    const panel = await openModel();
    const card = panel.page.locator('[data-chart=ttft]');
    const image = card.getByRole('img', { name: /Time to first token/ });
    assert.match(
      (await image.getAttribute('aria-label')) ?? '',
      /p95: 1,2\d\d ms, between .* chat 500 ms; batch 2 s/,
    );
    assert.match(await card.locator('.legend').innerText(), /p95\s*1,2\d\d ms/);
    await card.getByRole('button', { name: 'Time to first token: more' }).click();
    await panel.page.getByRole('menuitemcheckbox', { name: 'Show as table' }).click();
    const values = card.getByRole('table', { name: 'Time to first token' });
    assert.equal(await values.getByRole('row').count(), 122);
    assert.match(await values.getByRole('row').nth(1).innerText(), /2026-03-01 14:30:00\s+4\d\d ms/);
  });

  test('arrow keys move one crosshair through all charts', async () => {
    const panel = await openModel();
    await panel.page.locator('[data-chart=ttft] .plot').focus();
    for (const _ of [1, 2, 3]) await panel.page.keyboard.press('ArrowLeft');
    const times = panel.page.locator('[data-chart] .chart-time');
    await until(
      panel,
      `[...document.querySelectorAll('[data-chart] .chart-time')].every((each) => /^14:29:00/.test(each.textContent))`,
    );
    assert.ok((await times.count()) >= 6);
    await panel.page.keyboard.press('ArrowRight');
    assert.match(await times.first().innerText(), /^14:29:30/);
  });

  test('a gap is a gap in the picture, in the table and in the legend', async () => {
    const panel = await openModel();
    const card = panel.page.locator('[data-chart=gpu-utilization]');
    await card.getByRole('button', { name: 'Utilisation: more' }).click();
    await panel.page.getByRole('menuitemcheckbox', { name: 'Show as table' }).click();
    // Point 36 of 121 lies in the gap; the table is newest first.
    const row = card.getByRole('row').nth(121 - 36);
    const [time, first, second] = await row.locator('th, td').allInnerTexts();
    assert.equal(time, '2026-03-01 13:48:00');
    assert.equal(first, '');
    assert.match(second ?? '', /%$/);
    // Nothing blue is drawn in the columns of the gap.
    const colored = await panel.page.evaluate<boolean[]>(`(() => {
      const canvas = document.querySelector('[data-chart=gpu-utilization] canvas');
      const context = canvas.getContext('2d');
      const over = document.querySelector('[data-chart=gpu-utilization] .u-over');
      const left = parseFloat(over.style.left), width = parseFloat(over.style.width);
      const isBlue = (point) => {
        const x = Math.round((left + (width * point) / 120) * devicePixelRatio);
        const { data } = context.getImageData(x - 1, 0, 3, canvas.height);
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 2] > 200 && data[at] < 120 && data[at + 3] > 200) return true;
        return false;
      };
      return [20, 36, 40, 60].map(isBlue);
    })()`);
    assert.deepEqual(colored, [true, false, false, true]);
  });

  test('latency has a logarithmic axis on request, and the page remembers it', async () => {
    const panel = await openModel();
    await panel.page.getByRole('button', { name: 'Time to first token: more' }).click();
    await panel.page.getByRole('menuitemcheckbox', { name: 'Logarithmic axis' }).click();
    assert.deepEqual((await panel.stored()) as object, {
      ...((await panel.stored()) as object),
      logarithmic: ['ttft'],
    });
    await panel.page.getByRole('button', { name: 'Memory: more' }).click();
    const items = panel.page.locator(':popover-open').getByRole('menuitemcheckbox');
    assert.deepEqual(await items.allInnerTexts(), ['Show as table']);
    await panel.page.keyboard.press('Escape');
  });

  test('charts without data say why; a group that lacks all says it once', async () => {
    const panel = await openModel();
    assert.match(
      await panel.page.locator('#target-gpu-clock').innerText(),
      /No source tells the clock\s+Add DCGM/,
    );
    const group = panel.page.getByRole('region', { name: 'EFA and Neuron' });
    assert.match(await group.innerText(), /The instance types have no EFA/);
    assert.equal(await group.locator('.chart').count(), 0);
  });

  test('marks are listed with what happened', async () => {
    const panel = await openModel();
    await panel.page.getByText('3 marks in the charts').click();
    const items = await panel.page.locator('.markers li').allInnerTexts();
    assert.match(items[0] ?? '', /14:21:00[^]*OOMKilled[^]*exit code 137/);
  });

  test('data are saved as CSV and pictures as PNG', async () => {
    const panel = await openModel();
    await panel.page.getByRole('button', { name: 'Time between tokens: more' }).click();
    await panel.page.getByRole('menuitem', { name: 'Save as CSV' }).click();
    const saved = await last(panel);
    assert.ok(saved?.type === 'save' && saved.encoding === 'utf8');
    assert.equal(saved.name, 'inter-token.csv');
    assert.match(
      saved.content,
      /^chart,line,time,value,unit\r\nTime between tokens,p95,2026-03-01T13:30:00.000Z,2/,
    );
    await panel.page.getByRole('button', { name: 'Copy and export' }).click();
    await panel.page.getByRole('menuitem', { name: 'Save charts as PNG' }).click();
    const picture = await last(panel);
    assert.ok(picture?.type === 'save' && picture.encoding === 'base64');
    const bytes = Buffer.from(picture.content, 'base64');
    assert.equal(bytes.subarray(1, 4).toString('latin1'), 'PNG');
    assert.ok(bytes.readUInt32BE(20) > 7 * 150, 'all charts are in it');
  });
});

describe('tables', () => {
  test('1,000 pods: rows in view only, sorted, with a head that stays', async () => {
    const panel = await openModel(fakeModel({ pods: shown(pods(1000)) }));
    const list = panel.page.getByRole('table', { name: 'Pods', exact: true });
    assert.equal(await list.getAttribute('aria-rowcount'), '1001');
    assert.ok((await list.locator('tbody tr').count()) < 80);
    await list.getByRole('button', { name: 'Restarts' }).click();
    const head = list.getByRole('columnheader', { name: 'Restarts' });
    assert.equal(await head.getAttribute('aria-sort'), 'descending');
    assert.match(await list.locator('tbody tr:not(.space)').first().innerText(), /OOMKilled/);
    const frame = panel.page.locator('.table-frame.long');
    await frame.evaluate((element) => element.scrollTo(0, 12_000));
    await until(
      panel,
      `[...document.querySelectorAll('.table-frame.long tbody tr[aria-rowindex]')].some((row) => row.ariaRowIndex > 450)`,
    );
    const [top, headTop] = await frame.evaluate((element) => [
      element.getBoundingClientRect().top,
      element.querySelector('thead th')?.getBoundingClientRect().top,
    ]);
    assert.equal(headTop, top);
  });

  test('the slash filters pods; Escape takes the filter away', async () => {
    const panel = await openModel(fakeModel({ pods: shown(pods(1000)) }));
    await panel.page.keyboard.press('/');
    await until(panel, `document.activeElement?.id === 'pod-filter'`);
    await panel.page.keyboard.type('pending');
    await panel.page.getByText('(111 of 1000 match)').waitFor();
    await panel.page.keyboard.press('Escape');
    await panel.page.getByText('(111 of 1000 match)').waitFor({ state: 'detached' });
    // Keys typed into the filter are no commands.
    assert.deepEqual(await panel.sent(), [{ type: 'ready' }]);
  });

  test('arrow keys walk through all rows, and Enter does the first action', async () => {
    const panel = await openModel(fakeModel({ pods: shown(pods(1000)) }));
    const list = panel.page.getByRole('table', { name: 'Pods', exact: true });
    await list.locator('tbody tr').first().focus();
    await panel.page.keyboard.press('End');
    await until(panel, `document.activeElement?.ariaRowIndex === '1001'`);
    await panel.page.keyboard.press('ArrowUp');
    await until(panel, `document.activeElement?.ariaRowIndex === '1000'`);
    await panel.page.keyboard.press('Enter');
    assert.deepEqual((await intents(panel)).length, 1);
    // A refresh takes neither the row nor the place away.
    const before = await panel.page.locator('.table-frame.long').evaluate((element) => element.scrollTop);
    await panel.model(fakeModel({ pods: shown(pods(1000)) }));
    assert.equal(
      await panel.page.locator('.table-frame.long').evaluate((element) => element.scrollTop),
      before,
    );
    assert.equal(await panel.page.evaluate('document.activeElement?.ariaRowIndex'), '1000');
  });

  test('the actions of a row are in its menu, which the keyboard reaches', async () => {
    const panel = await openModel();
    const row = panel.page.getByRole('table', { name: 'Pods', exact: true }).locator('tbody tr').first();
    await row.getByRole('button', { name: /^Actions for/ }).focus();
    await panel.page.keyboard.press('Enter');
    const menu = panel.page.locator(':popover-open');
    assert.deepEqual(await menu.getByRole('menuitem').allInnerTexts(), [
      'Open the manifest',
      'Open the log',
      'Describe in a terminal',
    ]);
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await intents(panel), [
      { kind: 'terminal', command: `kubectl describe pod -n llm ${podName(0)}` },
    ]);
    assert.equal(await menu.count(), 0);
  });

  test('names are cut in the middle, and whole on hover and in a copy', async () => {
    const panel = await openModel();
    const name = panel.page.getByRole('table', { name: 'Pods', exact: true }).locator('.name').first();
    const text = await name.innerText();
    assert.equal(text.length, 40);
    assert.ok(
      podName(0).startsWith(text.split('…')[0] ?? '-') && podName(0).endsWith(text.split('…')[1] ?? '-'),
    );
    assert.equal(await name.getAttribute('title'), podName(0));
    await panel.page.evaluate(
      `getSelection().selectAllChildren(document.querySelector('table[aria-label=Pods] tbody'))`,
    );
    await panel.page.keyboard.press('Control+C');
    const copied = await panel.page.evaluate<string>('navigator.clipboard.readText()');
    for (const index of [0, 1, 5]) assert.ok(copied.includes(podName(index)), copied);
    assert.match(copied, /\n/);
  });

  test('what is not known sorts last, whatever the direction', async () => {
    const ages = table(
      'pods',
      [
        ['Name', 'name'],
        ['Age', 'number'],
      ],
      [
        ['a', { text: '2 min', sort: 120 }],
        ['b', { text: 'unknown', sort: null }],
        ['c', { text: '10 s', sort: 10 }],
      ],
    );
    const panel = await openModel(fakeModel({ pods: shown(ages) }));
    const list = panel.page.getByRole('table', { name: 'Pods', exact: true });
    const names = () => list.locator('tbody .name').allInnerTexts();
    await list.getByRole('button', { name: 'Age' }).click();
    assert.deepEqual(await names(), ['a', 'c', 'b']);
    await list.getByRole('button', { name: 'Age' }).click();
    assert.deepEqual(await names(), ['c', 'a', 'b']);
  });
});

describe('keyboard', () => {
  test('r refreshes, brackets change the range, the question mark lists the keys', async () => {
    const panel = await openModel();
    await panel.page.keyboard.press('r');
    assert.deepEqual(await last(panel), { type: 'refresh' });
    await panel.page.keyboard.press(']');
    assert.deepEqual(await last(panel), { type: 'range', range: '6h' });
    const chosen = panel.page.getByRole('radio', { checked: true });
    assert.equal(await chosen.innerText(), '6h');
    await panel.page.keyboard.press('[');
    await panel.page.keyboard.press('[');
    assert.deepEqual(await last(panel), { type: 'range', range: '15m' });
    await panel.page.keyboard.press('[');
    assert.deepEqual(await last(panel), { type: 'range', range: '15m' });
    await panel.page.keyboard.press('?');
    const dialog = panel.page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /Filter pods/);
    await panel.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  test('everything is reached with Tab, and the focus is seen', async () => {
    const panel = await openModel();
    const seen = new Set<string>();
    for (let presses = 0; presses < 140; presses++) {
      await panel.page.keyboard.press('Tab');
      const [name, outline] = await panel.page.evaluate<[string, string]>(`(() => {
        const element = document.activeElement;
        const text = element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40);
        return [element.tagName + ' ' + text, getComputedStyle(element).outlineStyle];
      })()`);
      if (name.startsWith('BODY')) break;
      seen.add(name);
      assert.notEqual(outline, 'none', name);
    }
    for (const wanted of [
      /^BUTTON 1 hour/,
      /^BUTTON Refresh/,
      /^BUTTON Engineer/,
      /^BUTTON See why it does not scale/,
      /^BUTTON Queue 41/,
      /^BUTTON GPU/,
      /^DIV Time to first token\./,
      /^INPUT Filter pods/,
      /^TR /,
      /^BUTTON Save as the baseline/,
      /^BUTTON Run/,
      /^BUTTON Set up/,
    ]) {
      assert.ok(
        [...seen].some((name) => wanted.test(name)),
        `${wanted} among ${[...seen].join('; ')}`,
      );
    }
  });
});

describe('views', () => {
  test('Overview and Readiness show their parts, and the choice is remembered', async () => {
    const panel = await openModel();
    await panel.page.getByRole('tab', { name: 'Overview' }).click();
    const text = await panel.page.getByRole('tabpanel').innerText();
    assert.match(text, /Availability[^]*98\.2 %[^]*Users wait 1\.24 s/);
    assert.doesNotMatch(text, /Time to first token/);
    await panel.page.getByRole('tab', { name: 'Readiness' }).click();
    assert.match(await panel.page.getByRole('tabpanel').innerText(), /14 of 17 pass[^]*missing-pdb/);
    const stored = await panel.stored();
    const again = await openModel(fakeModel(), { stored });
    assert.equal(await again.page.getByRole('tab', { selected: true }).innerText(), 'Readiness');
  });

  test('only what it looks at is stored, nothing of what it saw', async () => {
    const panel = await openModel(fakeModel({ pods: shown(pods(100)) }));
    await panel.page.getByRole('button', { name: /^Alarms$/ }).click();
    await panel.page
      .getByRole('table', { name: 'Pods', exact: true })
      .getByRole('button', { name: 'Node', exact: true })
      .click();
    assert.deepEqual(await panel.stored(), {
      view: 'engineer',
      sorting: { pods: { column: 'node', descending: false } },
      podFilter: '',
      logarithmic: [],
      folded: ['alarms'],
    });
  });

  test('a stored state that makes no sense is not used', async () => {
    for (const stored of [null, 7, 'x', { view: 'nowhere', sorting: [1], folded: { a: 1 }, podFilter: 3 }]) {
      const panel = await openModel(fakeModel(), { stored });
      assert.equal(await panel.page.getByRole('tab', { selected: true }).innerText(), 'Engineer');
    }
  });

  test('narrow and wide: nothing but tables scrolls sideways', async () => {
    for (const width of [360, 420, 600, 900, 1600]) {
      const panel = await openModel(fakeModel({ pods: shown(pods(200)) }), { width });
      for (const view of ['Engineer', 'Overview', 'Readiness']) {
        await panel.page.getByRole('tab', { name: view }).click();
        const wide = await panel.page.evaluate<string[]>(`
          [...document.querySelectorAll('#app *')].filter((element) =>
            element.getBoundingClientRect().right > innerWidth + 1 &&
            element.closest('.table-frame, pre, .unseen, [popover], dialog') === null
          ).map((element) => element.className + ' ' + element.textContent.slice(0, 30))`);
        assert.deepEqual(wide, [], `${view} at ${width}`);
        assert.equal(await panel.page.evaluate('document.documentElement.scrollWidth'), width);
      }
    }
  });

  test('every empty part says why and what to do', async () => {
    const nothing = empty('403 Forbidden', 'Grant list on pods in namespace llm');
    const model = fakeModel();
    const panel = await openModel({
      ...model,
      scaling: nothing,
      pods: nothing,
      alarms: nothing,
      cost: nothing,
      controlPlane: nothing,
      triage: nothing,
      logs: nothing,
      baseline: nothing,
      readiness: nothing,
      findings: nothing,
      charts: model.charts.map((group) => ({
        ...group,
        charts: group.charts.map((chart) => ({ ...chart, content: nothing })),
      })),
    });
    const engineer = await panel.page.getByText('Grant list on pods in namespace llm').count();
    assert.equal(engineer, 8 + model.charts.length);
    await panel.page.getByRole('tab', { name: 'Readiness' }).click();
    assert.equal(await panel.page.getByText('Grant list on pods in namespace llm').count(), 2);
  });

  test('a source says what is missing, and the permission can be copied', async () => {
    const panel = await openModel();
    const part = panel.page.getByRole('region', { name: 'Sources' });
    assert.match(
      await part.innerText(),
      /Engine metrics: partly failed[^]*403 Forbidden[^]*Grant get on pods\/proxy/,
    );
    await part.getByText('Permission to grant').click();
    await part.getByRole('button', { name: 'Copy' }).click();
    const [copied] = (await intents(panel)) as { kind: string; text: string }[];
    assert.match(copied?.text ?? '', /pods\/proxy/);
  });
});

describe('names from a cluster stay text', () => {
  const nasty = [
    '<img src=x onerror="document.title=`owned`">',
    '</script><script>document.title="owned"</script>',
    '"><svg onload=document.title=`owned`>',
    'java\u0000script\u001b[31m',
    'gpj.\u202egnp.exe',
    '\u2066hidden\u200bpart\u2069',
    '=HYPERLINK("https://example.com")',
    '\u05d0\u05d1\u05d2',
  ];

  test('markup is shown, controls and directions are made visible', async () => {
    const panel = await openModel(
      fakeModel({ pods: shown(pods(nasty.length, (index) => nasty[index] ?? '')) }),
    );
    const names = panel.page.locator('table[aria-label=Pods] tbody td:first-child .name');
    const titles = await names.evaluateAll((all) => all.map((each) => each.getAttribute('data-copy')));
    assert.deepEqual([...titles].sort(), nasty.map(visibleForm).sort());
    for (const each of await names.all())
      assert.equal(await each.evaluate((element) => element.tagName), 'BDI');
    assert.equal(await panel.page.title(), 'Plimsoll');
    assert.equal(await panel.page.locator('#app img, #app script').count(), 0);
    assert.doesNotMatch(
      await panel.page.locator('#app').innerText(),
      // eslint-disable-next-line no-control-regex
      /[\u0000-\u0008\u202a-\u202e\u2066-\u2069]/,
    );
  });

  test('in every text of the model', async () => {
    const payload = `<b id="planted">${nasty[0] ?? ''}\u202e</b>`;
    const panel = await openModel(poison(fakeModel(), payload));
    for (const view of ['Engineer', 'Overview', 'Readiness']) {
      await panel.page.getByRole('tab', { name: view }).click();
      assert.equal(await panel.page.locator('#planted, #app img').count(), 0);
      const html = await panel.page.locator('#app').evaluate((element) => element.textContent);
      assert.ok(html.includes('planted'), 'the texts are there');
      assert.ok(!html.includes('\u202e'), 'no direction is left');
    }
    assert.equal(await panel.page.title(), 'Plimsoll');
  });

  test('a formula is a text in the CSV', async () => {
    const panel = await openModel(
      fakeModel({ pods: shown(pods(nasty.length, (index) => nasty[index] ?? '')) }),
    );
    await panel.page.getByRole('button', { name: 'Export Pods' }).click();
    await panel.page.getByRole('menuitem', { name: 'Save as CSV' }).click();
    const saved = await last(panel);
    assert.ok(saved?.type === 'save');
    assert.ok(saved.content.includes(`"'=HYPERLINK(""https://example.com"")"`), saved.content);
  });

  function visibleForm(text: string): string {
    return text.replace(
      // eslint-disable-next-line no-control-regex
      /[\u0000-\u001f\u200b\u202a-\u202e\u2066-\u2069]/g,
      (character) => `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`,
    );
  }

  /** Adds a text to every text that people read. */
  function poison<T>(value: T, payload: string, key = ''): T {
    const kept = ['id', 'kind', 'name', 'state', 'range', 'target', 'uri', 'emphasis', 'column', 'source'];
    if (typeof value === 'string') return (kept.includes(key) ? value : `${value} ${payload}`) as T;
    if (Array.isArray(value)) return value.map((each) => poison(each as unknown, payload, key)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, poison(each as unknown, payload, name)]),
    ) as T;
  }
});

describe('themes', () => {
  for (const theme of themes) {
    test(`${theme.name}: text has a contrast of 4.5 to its ground, marks of 3; a picture is taken`, async () => {
      const panel = await openModel(fakeModel(), { theme });
      await panel.picture(`${theme.name}-wide`, true);
      const faint = await panel.page.evaluate<string[]>(contrastScript);
      assert.deepEqual(faint, []);
      const narrow = await openModel(fakeModel(), { theme, width: 480 });
      await narrow.picture(`${theme.name}-narrow`, true);
      await narrow.page.getByRole('tab', { name: 'Overview' }).click();
      await narrow.picture(`${theme.name}-overview`);
    });
  }

  test('the style sheet names no colour of its own', () => {
    const css = readFileSync('client/webview/style.css', 'utf8').replace(/\/\*[^]*?\*\//g, '');
    assert.doesNotMatch(css, /#[0-9a-f]{3,8}\b(?![^{]*\{)|rgba?\(|hsla?\(/i);
  });

  test('charts follow a change of the theme', async () => {
    const panel = await openModel();
    const ground = `(() => {
      const canvas = document.querySelector('[data-chart=kv-cache] canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let sum = 0, count = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] > 200) { sum += data[at] + data[at + 1] + data[at + 2]; count++; }
      return sum / count;
    })()`;
    const dark = await panel.page.evaluate<number>(ground);
    const light = themes[1];
    assert.ok(light !== undefined);
    await panel.theme(light);
    await until(panel, `${ground} !== ${dark}`);
  });

  test('with reduced motion nothing moves', async () => {
    const panel = await open({ reducedMotion: true });
    assert.equal(
      await panel.page
        .locator('.bone')
        .first()
        .evaluate((element) => getComputedStyle(element).animationName),
      'none',
    );
  });

  test('each state has a shape of its own', async () => {
    const states: readonly State[] = ['good', 'info', 'warning', 'critical', 'unknown'];
    const rows = table(
      'pods',
      [['State', 'state']],
      states.map((each) => [{ text: each, state: each }]),
    );
    const panel = await openModel(fakeModel({ pods: shown(rows) }));
    const shapes = await panel.page
      .getByRole('table', { name: 'Pods', exact: true })
      .locator('tbody svg')
      .evaluateAll((all) => all.map((each) => each.innerHTML));
    assert.equal(new Set(shapes).size, states.length);
  });
});

/** Texts and marks whose contrast to the ground below them is less than WCAG AA asks for. */
const contrastScript = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const ground = (element) => {
    if (element === null) return [255, 255, 255, 1];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((each) => {
      const c = each / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const found = new Set();
  const check = (element, least, what) => {
    const below = ground(element.tagName === 'svg' ? element.parentElement : element);
    const color = over(rgba(getComputedStyle(element).color), below);
    const value = contrast(color, below);
    if (value < least) found.add(value.toFixed(2) + ' ' + what);
  };
  for (const element of document.querySelectorAll('#app *')) {
    if (element.closest('[popover], dialog, .unseen') || !element.checkVisibility()) continue;
    if (element.matches('svg.mark')) check(element, 3, element.getAttribute('class'));
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('');
    if (text !== '' && !element.closest('svg')) check(element, 4.5, element.className + ': ' + text.slice(0, 30));
  }
  return [...found];
})()`;
