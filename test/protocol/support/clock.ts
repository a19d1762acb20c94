import type { Clock } from '../../../server/src/lsp/environment';

export interface TestClock extends Clock {
  /** Moves the time on, past the ends of long waits. */
  advance(milliseconds: number): void;
}

/**
 * A clock that nobody waits for: what is put off for less than a second happens on the next turn, unless it is taken
 * back before; longer waits end when the test says so.
 */
export function testClock(): TestClock {
  let offset = 0;
  const start = process.hrtime.bigint();
  const now = (): number => Number((process.hrtime.bigint() - start) / 1000n) / 1000 + offset;
  const long = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now,
    after(milliseconds, callback) {
      if (milliseconds < 1000) {
        const turn = setImmediate(callback);
        return () => clearImmediate(turn);
      }
      const wait = { at: now() + milliseconds, callback };
      long.add(wait);
      return () => void long.delete(wait);
    },
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    advance(milliseconds) {
      offset += milliseconds;
      for (const wait of [...long]) {
        if (wait.at > now()) continue;
        long.delete(wait);
        wait.callback();
      }
    },
  };
}
