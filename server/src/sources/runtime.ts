import { setMaxListeners } from 'node:events';

/**
 * What sources need of the world, passed in so that a test can stand in for it. Nothing in this folder asks a clock or
 * chance in any other way.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A number from 0 to below 1. */
export type Random = () => number;

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(reasonOf(signal));
        return;
      }
      const stop = (): void => {
        clearTimeout(timer);
        reject(reasonOf(signal));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('cancelled');
}

/** Thrown when something did not answer in time; `ms` is how long it was waited for. */
export class TimeoutError extends Error {
  constructor(readonly ms: number) {
    super(`no answer within ${ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`}`);
  }
}

/** Many requests listen to one signal; Node takes more than ten listeners for a leak unless it is told. */
export function manyListeners(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

/**
 * Runs work that gets a signal of its own, aborted when `signal` is or after `ms`. The result rejects then at once, with
 * a {@link TimeoutError} or the signal's reason, also if the work does not listen.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal?.aborted === true) throw reasonOf(signal);
  if (signal !== undefined) manyListeners(signal);
  const inner = new AbortController();
  manyListeners(inner.signal);
  const done = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const end = (error: Error): void => {
      inner.abort(error);
      reject(error);
    };
    const outer = (): void => end(reasonOf(signal));
    signal?.addEventListener('abort', outer, { once: true });
    clock.wait(ms, done.signal).then(
      () => end(new TimeoutError(ms)),
      () => undefined,
    );
    const settle = (): void => {
      signal?.removeEventListener('abort', outer);
      done.abort();
    };
    let started: Promise<T>;
    try {
      started = work(inner.signal);
    } catch (error) {
      started = Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    started.then(resolve, reject).finally(settle);
  });
}

export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after so many failures in a row, from 1: doubles from `firstMs` to `maxMs`, and of that a random part
 * between half and all, so that many clients do not come back at once.
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOff, random: Random): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return full * (0.5 + random() / 2);
}

/** Maps with at most `limit` at work at the same time; results are in the order of the items. Stops at the first error. */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
