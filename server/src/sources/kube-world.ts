import { SourceError } from './failure';
import type { KubeClient, KubeObject, KubeResource, Scope } from './kube-client';
import { startMirror, type Mirror } from './mirror';
import { manyListeners, type Clock, type Random } from './runtime';

/** What the sources that ask one cluster share: one client, one watch of each list, and answers that hold a while. */
export interface KubeWorld {
  /** Opened by the first call, and kept; after a failure the next call tries again. */
  client(): Promise<KubeClient>;
  readonly clock: Clock;
  /**
   * The list of a kind in a scope, watched from the first call on. `keep` belongs to `id`: calls with the same `id`,
   * kind and scope get the same mirror.
   */
  mirror<T>(
    client: KubeClient,
    id: string,
    resource: KubeResource,
    scope: Scope,
    keep: (object: KubeObject) => T | undefined,
  ): Mirror<T>;
  /** An answer that is asked for again when it is older than `ttlMs`; concurrent calls share one request. */
  cached<T>(key: string, ttlMs: number, ask: (signal: AbortSignal) => Promise<T>): Promise<Cached<T>>;
  /** Somebody reads: what has been started goes on for a while. */
  touch(): void;
  /** Calls back after each change until the signal; watches go on as long. */
  listen(changed: () => void, signal: AbortSignal): void;
  /** How many lists are being watched. */
  readonly watching: number;
  dispose(): Promise<void>;
}

export interface Cached<T> {
  readonly value: T;
  readonly at: number;
}

export interface KubeWorldOptions {
  readonly open: () => Promise<KubeClient>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Watches end when nobody has read or listened for so long: a hidden panel costs the API server nothing. */
const idleMs = 60_000;
/** A list that no reader asked for in so long is no longer watched, though others are. */
const unusedMs = 300_000;
const sweepMs = 15_000;

interface Kept {
  readonly mirror: Mirror<unknown>;
  readonly stop: AbortController;
  usedAt: number;
}

interface Answer {
  promise: Promise<Cached<unknown>>;
  at: number;
  isDone: boolean;
}

export function createKubeWorld({ open, clock, random }: KubeWorldOptions): KubeWorld {
  const mirrors = new Map<string, Kept>();
  const answers = new Map<string, Answer>();
  const listeners = new Set<() => void>();
  const end = new AbortController();
  manyListeners(end.signal);
  let opening: Promise<KubeClient> | undefined;
  let opened: KubeClient | undefined;
  let touchedAt = 0;
  let isSweeping = false;

  const changed = (): void => {
    for (const listener of listeners) listener();
  };

  const stop = (key: string, kept: Kept): void => {
    mirrors.delete(key);
    kept.stop.abort(new SourceError('cancelled', 'nobody looks any more'));
  };

  /** One timer for all, while there is anything to end. */
  const sweep = async (): Promise<void> => {
    if (isSweeping) return;
    isSweeping = true;
    try {
      while (mirrors.size > 0 || answers.size > 0) {
        await clock.wait(sweepMs, end.signal);
        const now = clock.now();
        const isIdle = listeners.size === 0 && now - touchedAt > idleMs;
        for (const [key, kept] of mirrors) {
          if (isIdle || now - kept.usedAt > unusedMs) stop(key, kept);
        }
        for (const [key, answer] of answers) {
          if (answer.isDone && now - answer.at > unusedMs) answers.delete(key);
        }
      }
    } catch {
      // Disposed.
    } finally {
      isSweeping = false;
    }
  };

  return {
    clock,
    get watching() {
      return mirrors.size;
    },
    client: () => {
      if (end.signal.aborted) return Promise.reject(new SourceError('cancelled', 'the source is closed'));
      opening ??= open().then(
        (client) => {
          opened = client;
          if (end.signal.aborted) client.close();
          return client;
        },
        (error: unknown) => {
          opening = undefined;
          throw error;
        },
      );
      return opening;
    },
    mirror: <T>(
      client: KubeClient,
      id: string,
      resource: KubeResource,
      scope: Scope,
      keep: (object: KubeObject) => T | undefined,
    ): Mirror<T> => {
      const key = [
        id,
        resource.group,
        resource.version,
        resource.plural,
        scope.namespace ?? '',
        scope.name ?? '',
        scope.labelSelector ?? '',
        scope.fieldSelector ?? '',
      ].join('|');
      const known = mirrors.get(key);
      if (known !== undefined) {
        known.usedAt = clock.now();
        return known.mirror as Mirror<T>;
      }
      const controller = new AbortController();
      manyListeners(controller.signal);
      const onEnd = (): void => controller.abort(new SourceError('cancelled', 'the source is closed'));
      end.signal.addEventListener('abort', onEnd, { once: true });
      controller.signal.addEventListener('abort', () => end.signal.removeEventListener('abort', onEnd));
      const mirror = startMirror({
        client,
        resource,
        scope,
        keep,
        clock,
        random,
        changed,
        signal: controller.signal,
      });
      mirrors.set(key, { mirror, stop: controller, usedAt: clock.now() });
      void sweep();
      return mirror;
    },
    cached: <T>(key: string, ttlMs: number, ask: (signal: AbortSignal) => Promise<T>): Promise<Cached<T>> => {
      const known = answers.get(key);
      if (known !== undefined && (!known.isDone || clock.now() - known.at < ttlMs))
        return known.promise as Promise<Cached<T>>;
      const promise = ask(end.signal).then((value) => ({ value, at: clock.now() }));
      const answer: Answer = { promise, at: clock.now(), isDone: false };
      // A failure is held as long as an answer: a right that is missing is not asked for with each refresh.
      promise
        .catch(() => undefined)
        .finally(() => {
          answer.isDone = true;
          answer.at = clock.now();
          changed();
        });
      answers.set(key, answer);
      void sweep();
      return promise;
    },
    touch: () => {
      touchedAt = clock.now();
    },
    listen: (listener, signal) => {
      if (signal.aborted) return;
      const own = (): void => listener();
      listeners.add(own);
      signal.addEventListener(
        'abort',
        () => {
          listeners.delete(own);
          touchedAt = clock.now();
        },
        { once: true },
      );
    },
    dispose: () => {
      end.abort(new SourceError('cancelled', 'the source is closed'));
      for (const [key, kept] of mirrors) stop(key, kept);
      answers.clear();
      listeners.clear();
      opened?.close();
      return Promise.resolve();
    },
  };
}
