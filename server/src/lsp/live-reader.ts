import type { ObjectRef } from '../live/cluster';
import type { PodName } from '../live/measurement';
import type { LiveSnapshot } from '../live/snapshot';
import type { Want } from '../live/want';
import type { PanelContexts } from '../protocol/panel';
import type { LiveSourceSettings } from '../protocol/settings';

/** The live sources as the session of the panel sees them. Passed in, so that a test can stand in for a cluster. */
export interface LiveSources {
  /** Reads the kubeconfig; contacts nobody. Never rejects: what is wrong is told. */
  contexts(): Promise<PanelContexts>;
  /** Prepares reading; contacts nobody before the first question. */
  connect(target: LiveTarget, refreshMs: number): LiveReader;
  /** Milliseconds since 1970. */
  now(): number;
}

export type LiveTarget =
  | { readonly kind: 'demo' }
  | {
      readonly kind: 'cluster';
      readonly context: string;
      readonly sources: LiveSourceSettings;
      readonly prometheusToken?: string;
    };

/** One connection. Everything it says is free of secrets. */
export interface LiveReader {
  /** Of objects whose manifest names none. */
  namespace(): Promise<string>;
  /** What it is about while the cursor is on nothing that the panel follows; the demo shows itself then. */
  readonly fallback?: ObjectRef;
  /** Rejects only when the signal says so, and for mistakes of ours. */
  read(want: Want, signal: AbortSignal, progress: (snapshot: LiveSnapshot) => void): Promise<LiveSnapshot>;
  /** Calls back when something has changed, until the signal. */
  watch(want: Want, changed: () => void, signal: AbortSignal): void;
  namespaces(signal: AbortSignal): Promise<readonly string[]>;
  log(pod: PodName, container: string | undefined, previous: boolean, signal: AbortSignal): Promise<string>;
  object(ref: ObjectRef, signal: AbortSignal): Promise<unknown>;
  dispose(): Promise<void>;
}
