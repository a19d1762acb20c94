import type { Measurement, Series, Subject } from './measurement';
import type { Duration, Instant } from './reading';
import type { MetricId } from './vocabulary';
import { unitOf } from './vocabulary';

/**
 * A history made of the readings themselves, for clusters without Prometheus or CloudWatch: it begins when the panel
 * is opened, and is as fine as its refreshes. Immutable.
 */
export interface Recording {
  readonly tracks: ReadonlyMap<string, Track>;
}

interface Track {
  readonly metric: MetricId;
  readonly subject: Subject;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly at: readonly Instant[];
  readonly values: readonly number[];
  readonly source: Series['source'];
}

export const emptyRecording: Recording = { tracks: new Map() };

/** Old points go when they are older than this, and tracks without any. */
export const kept: Duration = 7 * 24 * 3_600_000;

/** At most so many points a track: beyond it the older half is thinned to every second point. */
const maximumPoints = 2000;

export function record(recording: Recording, measurements: readonly Measurement[], now: Instant): Recording {
  const tracks = new Map(recording.tracks);
  for (const { metric, subject, labels, observed } of measurements) {
    if (observed.kind === 'absent') continue;
    const key = JSON.stringify([metric, identity(subject), labels ?? null]);
    const known = tracks.get(key);
    const last = known?.at.at(-1);
    if (last !== undefined && observed.at <= last) continue;
    const at = [...(known?.at ?? []), observed.at];
    const values = [...(known?.values ?? []), observed.value];
    tracks.set(key, { metric, subject, labels, ...thinned(at, values), source: observed.source });
  }
  for (const [key, track] of tracks) {
    const last = track.at.at(-1) ?? 0;
    if (now - last > kept) tracks.delete(key);
  }
  return { tracks };
}

function thinned(
  at: readonly Instant[],
  values: readonly number[],
): { readonly at: readonly Instant[]; readonly values: readonly number[] } {
  if (at.length <= maximumPoints) return { at, values };
  const half = Math.floor(at.length / 2);
  const keep = (_: number, index: number): boolean => index >= half || index % 2 === 0;
  return { at: at.filter(keep), values: values.filter(keep) };
}

/** What a subject is told apart by: labels such as the pod of a device may change. */
function identity(subject: Subject): readonly string[] {
  switch (subject.kind) {
    case 'pod':
      return ['pod', subject.pod.namespace, subject.pod.name, subject.container ?? ''];
    case 'device':
      return ['device', subject.device, subject.node, subject.id];
    case 'node':
      return ['node', subject.node];
    case 'namespace':
      return ['namespace', subject.namespace];
    case 'workload':
    case 'cluster':
      return [subject.kind];
  }
}

/**
 * The recording as series of the last `range` milliseconds. Metrics that `others` have for the same subject are left
 * out: a real history is longer. A point that is more than twice the refresh away from the one before has a gap
 * before it, because nothing was read while nobody looked.
 */
export function seriesOf(
  recording: Recording,
  now: Instant,
  range: Duration,
  refresh: Duration,
  others: readonly Series[] = [],
): readonly Series[] {
  const taken = new Set(others.map(({ metric, subject }) => JSON.stringify([metric, identity(subject)])));
  const result: Series[] = [];
  for (const track of recording.tracks.values()) {
    if (taken.has(JSON.stringify([track.metric, identity(track.subject)]))) continue;
    const at: Instant[] = [];
    const values: (number | null)[] = [];
    track.at.forEach((instant, index) => {
      if (instant < now - range) return;
      const before = at.at(-1);
      if (before !== undefined && instant - before > 2.5 * refresh) {
        at.push(before + refresh);
        values.push(null);
      }
      at.push(instant);
      values.push(track.values[index] ?? null);
    });
    if (at.length === 0) continue;
    result.push({
      metric: track.metric,
      subject: track.subject,
      ...(track.labels === undefined ? {} : { labels: track.labels }),
      unit: unitOf(track.metric),
      at,
      values,
      step: refresh,
      source: track.source,
    });
  }
  return result;
}
