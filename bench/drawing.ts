import { openBrowser, openPanel } from '../test/webview/page';
import { fakeModel, pods, podName, shown } from '../test/webview/model';

/**
 * An update of the panel with 1,000 pods, until the page is laid out again, in Chromium; beside the same pods put into a
 * plain table with all its rows, by the browser itself. The pages are built first: `npm run build`.
 */

const rounds = 15;
const count = 1000;

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;

async function main(): Promise<void> {
  const browser = await openBrowser();
  try {
    const panel = await openPanel(browser);
    await panel.model(fakeModel({ pods: shown(pods(count)) }));
    const plain = await (await browser.newContext()).newPage();
    await plain.setContent('<table></table>');
    const updates: number[] = [];
    const peers: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const rows = pods(count, (index) => `${podName(index)}${round}`);
      const model = fakeModel({ pods: shown(rows) });
      updates.push(
        await panel.page.evaluate(
          async (state) => {
            const rows = document.querySelector('.table-frame.long tbody');
            const before = rows?.textContent;
            const start = performance.now();
            window.dispatchEvent(new MessageEvent('message', { data: { type: 'state', state } }));
            // The page draws once for all that came in a turn.
            await Promise.resolve();
            document.body.getBoundingClientRect();
            const took = performance.now() - start;
            if (rows?.textContent === before) throw new Error('the update is not drawn');
            return took;
          },
          { kind: 'model', model, reading: false },
        ),
      );
      peers.push(
        await plain.evaluate(
          (cells) => {
            const start = performance.now();
            const body = document.createElement('tbody');
            for (const row of cells) {
              const line = body.insertRow();
              for (const text of row) line.insertCell().textContent = text;
            }
            document.querySelector('table')?.replaceChildren(body);
            document.body.getBoundingClientRect();
            return performance.now() - start;
          },
          rows.rows.map(({ cells }) => cells.map(({ text }) => text)),
        ),
      );
    }
    const [update, peer] = [median(updates), median(peers)];
    process.stdout.write(`an update of ${count} pods            ${update.toFixed(1).padStart(8)} ms\n`);
    process.stdout.write(`a plain table of the same pods     ${peer.toFixed(1).padStart(8)} ms\n`);
    process.stdout.write(`ratio                              ${(update / peer).toFixed(2).padStart(8)}\n`);
  } finally {
    await browser.close();
  }
}

void main();
