import type { Clock } from '../../../server/src/sources/runtime';
import { reasonOf } from '../../../server/src/sources/runtime';

export interface HandClock extends Clock {
  /** Moves the time, and lets those go on whose wait is over. */
  advance(ms: number): void;
  /** What is being waited for, in milliseconds from when it began. */
  readonly waits: readonly number[];
  /** All that was waited for since the beginning. */
  readonly asked: readonly number[];
}

/** A clock that stands still until it is told to go on. */
export function handClock(start = 1_796_000_000_000): HandClock {
  let now = start;
  const pending = new Set<{ readonly ms: number; readonly due: number; readonly go: () => void }>();
  const asked: number[] = [];
  return {
    now: () => now,
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(reasonOf(signal));
          return;
        }
        asked.push(ms);
        const one = {
          ms,
          due: now + ms,
          go: () => {
            pending.delete(one);
            signal?.removeEventListener('abort', stop);
            resolve();
          },
        };
        const stop = (): void => {
          pending.delete(one);
          reject(reasonOf(signal));
        };
        signal?.addEventListener('abort', stop, { once: true });
        pending.add(one);
      }),
    advance: (ms) => {
      now += ms;
      for (const one of [...pending].sort((a, b) => a.due - b.due)) if (one.due <= now) one.go();
    },
    get waits() {
      return [...pending].map(({ ms }) => ms);
    },
    asked,
  };
}
