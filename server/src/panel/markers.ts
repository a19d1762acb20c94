import { conditionOf, failuresOf } from '../live/pods';
import { countText } from '../live/format';
import type { Instant } from '../live/reading';
import { partValue } from '../live/readings';
import type { Readings } from '../live/readings';
import type { Marker } from './model';

/** What happened in the window, oldest first: so that cause and effect line up in the charts. */
export function markersOf(readings: Readings, from: Instant, to: Instant): readonly Marker[] {
  const { cluster, alarms } = readings.snapshot;
  const markers: Marker[] = [];
  for (const { createdAt, revision, images, ref } of partValue(cluster.replicaSets) ?? []) {
    markers.push({
      at: createdAt,
      kind: 'rollout',
      label: revision === undefined ? 'rollout' : `rollout ${revision}`,
      detail: `ReplicaSet ${ref.name}: ${images.join(', ')}`,
      state: 'info',
    });
  }
  for (const event of partValue(cluster.events) ?? []) {
    const base = { at: event.lastAt, detail: `${event.reason}: ${event.message}` };
    if (event.reason === 'SuccessfulRescale') {
      const size = /New size: (\d+)/.exec(event.message)?.[1];
      markers.push({
        ...base,
        kind: 'scale',
        label: size === undefined ? 'scaled' : `-> ${size} replicas`,
        state: 'info',
      });
    } else if (event.reason === 'SpotInterrupted' || event.reason === 'DisruptionTerminating') {
      markers.push({ ...base, kind: 'node', label: 'node goes', state: 'warning' });
    } else if (/^(FailedGet\w*|FailedComputeMetricsReplicas|KEDAScalerFailed)$/.test(event.reason)) {
      markers.push({ ...base, kind: 'event', label: 'autoscaler fails', state: 'critical' });
    }
  }
  for (const { pod, container, termination, kind } of failuresOf(readings.pods ?? [])) {
    if (termination.finishedAt === undefined) continue;
    markers.push({
      at: termination.finishedAt,
      kind: kind === 'oom' ? 'oom' : 'restart',
      label: kind === 'oom' ? 'OOMKilled' : `exit ${termination.exitCode}`,
      detail: `container ${container.name} of ${pod.pod.name}: ${termination.reason}, exit code ${termination.exitCode}, ${countText(container.restarts)} restarts`,
      state: 'critical',
    });
  }
  for (const claim of partValue(cluster.nodeClaims) ?? []) {
    const ready = conditionOf(claim, 'Initialized');
    if (ready?.status === 'True' && ready.since !== undefined) {
      markers.push({
        at: ready.since,
        kind: 'node',
        label: 'node ready',
        detail: `NodeClaim ${claim.name}${claim.instanceType === undefined ? '' : `, ${claim.instanceType}`}`,
        state: 'info',
      });
    }
  }
  for (const alarm of partValue(alarms) ?? []) {
    if (alarm.state !== 'ALARM') continue;
    markers.push({
      at: alarm.since,
      kind: 'alarm',
      label: alarm.name,
      detail: `${alarm.rule}: ${alarm.reason}`,
      state: 'critical',
    });
  }
  return gathered(
    markers.filter(({ at }) => at >= from && at <= to).sort((a, b) => a.at - b.at),
    (to - from) / 200,
  );
}

/** Several of a kind within a pixel or two are one: a hundred nodes that start at once are one line. */
function gathered(markers: readonly Marker[], within: number): readonly Marker[] {
  const result: (Marker & { readonly times: number })[] = [];
  for (const marker of markers) {
    const index = result.findLastIndex(({ kind, label }) => kind === marker.kind && label === marker.label);
    const same = result[index];
    if (same !== undefined && marker.at - same.at <= within) {
      result[index] = { ...same, times: same.times + 1 };
    } else result.push({ ...marker, times: 1 });
  }
  return result.map(({ times, ...marker }) =>
    times === 1
      ? marker
      : { ...marker, label: `${marker.label} (${times})`, detail: `${marker.detail}, and ${times - 1} more` },
  );
}
