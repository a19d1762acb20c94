import { inspect } from 'node:util';
import { ask } from './bridge';
import { tests } from './tests';

/**
 * Runs in the extension host of a real VS Code, under any launcher. Each result goes to the launcher as it comes;
 * rejects when a test failed, which gives VS Code a non-zero exit code.
 */
export async function run(): Promise<void> {
  let failed = 0;
  for (const { name, run: body } of tests) {
    const start = Date.now();
    let error: string | undefined;
    try {
      await body();
    } catch (caught) {
      failed += 1;
      error = caught instanceof Error ? (caught.stack ?? caught.message) : inspect(caught);
      await ask({ kind: 'screenshot', name: `failed-${name.replace(/\W+/g, '-')}` }).catch(() => undefined);
    }
    const ms = Date.now() - start;
    await ask({ kind: 'result', result: { name, ms, ...(error === undefined ? {} : { error }) } });
  }
  if (failed > 0) throw new Error(`${failed} of ${tests.length} tests failed`);
}
