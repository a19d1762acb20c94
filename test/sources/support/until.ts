import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a condition; fails with its name when it does not come true. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 30_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(5);
  }
}
