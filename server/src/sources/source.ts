import type { SourceId } from '../live/reading';
import type { SourceAnswer } from '../live/snapshot';
import type { Want } from '../live/want';

/**
 * Something that can be asked about a workload. It only reads.
 *
 * An answer never rejects for what the other side does: denied, failed and slow are in its status, together with
 * whatever could be read. It rejects with the signal's reason when it was cancelled, and for bugs of ours.
 */
export interface Source {
  readonly id: SourceId;
  read(want: Want, signal: AbortSignal): Promise<SourceAnswer>;
  /**
   * For sources that hear of changes by themselves (watches): calls back after each one, until the signal. Whoever
   * listens reads again; bursts are theirs to gather.
   */
  watch?(want: Want, changed: () => void, signal: AbortSignal): void;
  /** Closes connections. */
  dispose(): Promise<void>;
}
