import { SourceError } from './failure';
import { GoneError, type KubeClient, type KubeObject, type KubeResource, type Scope } from './kube-client';
import { backOffMs, type BackOff, type Clock, type Random } from './runtime';

/** What is known of a list that is being watched. */
export interface Mirror<T> {
  /** Objects by namespace and name; `undefined` until the first list has answered. */
  readonly items: ReadonlyMap<string, T> | undefined;
  /** When the server last said something: a list, a change or a bookmark. */
  readonly at: number;
  /** Why it is not up to date; what was known stays. */
  readonly error: SourceError | undefined;
  /** Resolves as soon as a first list has answered or failed. */
  readonly settled: Promise<void>;
}

export interface MirrorOptions<T> {
  readonly client: KubeClient;
  readonly resource: KubeResource;
  readonly scope: Scope;
  /** What is kept of an object; `undefined` leaves it out. Everything else of it can be forgotten. */
  readonly keep: (object: KubeObject) => T | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Called after each change of items or error. */
  readonly changed: () => void;
  readonly signal: AbortSignal;
}

/** Objects of one answer; the API server pages larger lists. */
const pageSize = 500;
const backOff: BackOff = { firstMs: 500, maxMs: 30_000 };
/** A right that is missing is not granted within seconds. */
const deniedBackOff: BackOff = { firstMs: 15_000, maxMs: 120_000 };
/** How often a list is read that may be listed but not watched. */
const pollMs = 15_000;
/** A watch that ended sooner than this was not a watch; asking for it at once again would be a loop. */
const shortWatchMs = 1_000;

export function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/**
 * Lists, then watches from there with bookmarks; goes on where a watch ended, and lists anew when the server no longer
 * has that version (410). Errors are waited out with a growing, partly random pause. Runs until the signal is aborted.
 */
export function startMirror<T>(options: MirrorOptions<T>): Mirror<T> {
  const { client, resource, scope, keep, clock, random, changed, signal } = options;
  let settle: () => void = () => undefined;
  const state = {
    items: undefined as Map<string, T> | undefined,
    at: 0,
    error: undefined as SourceError | undefined,
    settled: new Promise<void>((resolve) => (settle = resolve)),
  };
  let failures = 0;

  const listAll = async (): Promise<string> => {
    const items = new Map<string, T>();
    let next: string | undefined;
    do {
      const page = await client.list(resource, scope, { limit: pageSize, next }, signal);
      for (const object of page.items) {
        const kept = keep(object);
        if (kept !== undefined) items.set(keyOf(object), kept);
      }
      next = page.next;
      if (next === undefined) {
        state.items = items;
        state.at = clock.now();
        state.error = undefined;
        settle();
        changed();
        return page.resourceVersion;
      }
    } while (!signal.aborted);
    throw new SourceError('cancelled', 'cancelled');
  };

  /** Watches once. Answers the version to go on from. */
  const watchOnce = async (from: string): Promise<string> => {
    let version = from;
    for await (const { type, object } of client.watch(resource, scope, from, signal)) {
      version = object.metadata?.resourceVersion ?? version;
      state.at = clock.now();
      const hadError = state.error !== undefined;
      state.error = undefined;
      failures = 0;
      if (type === 'BOOKMARK') {
        if (hadError) changed();
        continue;
      }
      const key = keyOf(object);
      const kept = type === 'DELETED' ? undefined : keep(object);
      const had = state.items?.has(key) === true;
      if (kept !== undefined) state.items?.set(key, kept);
      else if (had) state.items?.delete(key);
      else if (!hadError) continue;
      changed();
    }
    return version;
  };

  /** An error that is not cured by listing anew at once. */
  const failed = async (error: unknown): Promise<void> => {
    failures++;
    state.error = error instanceof SourceError ? error : new SourceError('failed', String(error));
    settle();
    changed();
    const isDenied = state.error.kind === 'denied' || state.error.kind === 'not-found';
    await clock.wait(backOffMs(failures, isDenied ? deniedBackOff : backOff, random), signal);
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      let version: string;
      try {
        version = await listAll();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof GoneError && failures === 0) failures++;
        else await failed(error);
        continue;
      }
      failures = 0;
      while (!signal.aborted) {
        const startedAt = clock.now();
        try {
          version = await watchOnce(version);
          if (clock.now() - startedAt < shortWatchMs) {
            failures++;
            await clock.wait(backOffMs(failures, backOff, random), signal);
          }
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof GoneError) break;
          if (error instanceof SourceError && error.kind === 'denied') {
            // Listing is allowed, as it has just been done: so it is read now and then, and the error stands.
            state.error = error;
            changed();
            await clock.wait(pollMs, signal);
            break;
          }
          await failed(error);
          // What was said while nobody listened may be gone; a list tells for sure.
          if (failures > 3) break;
        }
      }
    }
  };
  // Only an abort of a wait ends it early.
  run()
    .catch(() => undefined)
    .finally(() => settle());
  return state;
}
