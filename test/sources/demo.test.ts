import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Part } from '../../server/src/live/reading';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import { metricIds, unitOf } from '../../server/src/live/vocabulary';
import { ranges, type RangeName, type Want } from '../../server/src/live/want';
import { createCollector } from '../../server/src/sources/collect';
import { demoSource } from '../../server/src/sources/demo';
import { openingMinute, script } from '../../server/src/sources/demo-story';
import { buildPanelModel } from '../../server/src/panel/build';
import { Workspace } from '../../server/src/workspace/workspace';
import { handClock } from './support/clock';
import { wantOf } from './support/want';

const never = new AbortController().signal;
const openedAt = 1_796_040_000_000;

/** The time of a minute of the story. */
const timeOf = (minutes: number): number => openedAt + (minutes - openingMinute) * 60_000;

async function snapshotAt(now: number, more: Partial<Want> = {}): Promise<LiveSnapshot> {
  const collector = createCollector({
    sources: [demoSource(openedAt)],
    refresh: 15_000,
    clock: handClock(now),
  });
  return collector.read(wantOf({ name: 'vllm', namespace: 'chat' }, { now, range: '1h', ...more }), never);
}

const known = <T>(part: Part<T>): T => {
  assert.equal(part.kind, 'known');
  return (part as Extract<Part<T>, { kind: 'known' }>).value;
};

test('it says all of the vocabulary, now and over time, in the right units', async () => {
  const snapshot = await snapshotAt(openedAt);
  const said = new Set(snapshot.measurements.map(({ metric }) => metric));
  assert.deepEqual(
    metricIds.filter((metric) => !said.has(metric)),
    [],
  );
  const drawn = new Set(snapshot.series.map(({ metric }) => metric));
  assert.deepEqual(
    metricIds.filter((metric) => !drawn.has(metric)),
    [],
  );
  for (const { metric, observed } of snapshot.measurements) {
    assert.ok(observed.kind === 'reading' && Number.isFinite(observed.value) && observed.value >= 0, metric);
    assert.equal(observed.unit, unitOf(metric), metric);
    if (observed.unit === 'ratio') assert.ok(observed.value <= 1, `${metric} ${observed.value}`);
  }
});

test('every part of the cluster is known, and the snapshot is plain data', async () => {
  const snapshot = await snapshotAt(openedAt, { logsQuery: 'slow-requests' });
  for (const [name, part] of Object.entries(snapshot.cluster)) assert.equal(part.kind, 'known', name);
  assert.equal(snapshot.context.demo, true);
  assert.deepEqual(JSON.parse(JSON.stringify(snapshot)), snapshot);
  assert.equal(snapshot.logsQueries.length, 1);
  assert.ok(known(snapshot.exportedNames).includes('vllm:kv_cache_usage_perc'));
});

test('the same time gives the same answer, whoever asks and whatever was asked before', async () => {
  const now = timeOf(11);
  const first = await snapshotAt(now);
  const source = demoSource(openedAt);
  for (const minutes of [30, 2, 48]) await source.read(wantOf({}, { now: timeOf(minutes) }), never);
  const again = await source.read(wantOf({ name: 'vllm', namespace: 'chat' }, { now, range: '1h' }), never);
  assert.deepEqual(again.measurements, first.measurements);
  assert.deepEqual(again.series, first.series);
});

test('a point of a chart stays where it is while time goes on', async () => {
  const before = (await snapshotAt(timeOf(10))).series.find(({ metric }) => metric === 'queue.waiting');
  const after = (await snapshotAt(timeOf(12))).series.find(({ metric }) => metric === 'queue.waiting');
  const values = new Map(before?.at.map((at, index) => [at, before.values[index]]));
  const same = after?.at.filter((at) => values.has(at)) ?? [];
  assert.ok(same.length > 100);
  for (const at of same) assert.equal(after?.values[after.at.indexOf(at)], values.get(at));
});

describe('the story', () => {
  const value = (snapshot: LiveSnapshot, metric: string): number => {
    const found = snapshot.measurements.find(
      (each) => each.metric === metric && each.subject.kind === 'workload',
    );
    return found?.observed.kind === 'reading' ? found.observed.value : NaN;
  };

  test('a surge fills the queue and the cache', async () => {
    const calm = await snapshotAt(timeOf(1));
    const full = await snapshotAt(timeOf(6));
    assert.equal(value(calm, 'queue.waiting'), 0);
    assert.ok(value(full, 'queue.waiting') > 25);
    assert.ok(value(full, 'kv-cache.usage') > 0.92);
    assert.ok(value(full, 'ttft.p95') > 10 * value(calm, 'ttft.p95'));
    assert.ok(value(full, 'kv-cache.preemptions.rate') > 0);
  });

  test('a container is killed at its memory limit, with a log to read', async () => {
    const snapshot = await snapshotAt(timeOf(script.oomKill + 1));
    const killed = known(snapshot.cluster.pods)
      .flatMap(({ containers }) => containers)
      .filter(({ lastTermination }) => lastTermination?.reason === 'OOMKilled');
    assert.equal(killed.length, 1);
    assert.match(known(snapshot.cluster.logs)[0]?.lines.at(-1) ?? '', /SIGKILL/);
    const before = await snapshotAt(timeOf(script.oomKill) - 5_000);
    const memory = before.measurements
      .filter(({ metric }) => metric === 'memory.working-set')
      .map(({ observed }) => (observed.kind === 'reading' ? observed.value : 0));
    assert.ok(Math.max(...memory) > 0.97 * 12 * 2 ** 30);
  });

  test('scaling out is slow: pods wait for nodes, nodes for images', async () => {
    const waiting = await snapshotAt(timeOf(6));
    const pending = known(waiting.cluster.pods).filter(({ phase }) => phase === 'Pending');
    assert.equal(pending.length, 2);
    assert.match(pending[0]?.conditions[0]?.message ?? '', /Insufficient nvidia\.com\/gpu/);
    assert.equal(known(waiting.cluster.nodeClaims).length, 4);
    const pulling = await snapshotAt(timeOf(9));
    assert.ok(known(pulling.cluster.events).some(({ reason }) => reason === 'Pulling'));
    const done = await snapshotAt(timeOf(15));
    assert.equal(value(done, 'replicas.ready'), 4);
    assert.equal(value(done, 'queue.waiting'), 0);
  });

  test('a GPU gets too hot and slows down', async () => {
    const hot = await snapshotAt(timeOf(script.throttleBegins + 2));
    const of = (metric: string): readonly number[] =>
      hot.measurements
        .filter((each) => each.metric === metric)
        .map(({ observed }) => (observed.kind === 'reading' ? observed.value : NaN));
    assert.ok(Math.max(...of('gpu.temperature')) > 85);
    assert.ok(Math.min(...of('gpu.clock.sm')) < 1.2e9);
    assert.deepEqual([...of('gpu.throttle.thermal')].sort(), [0, 0, 0, 1]);
  });

  test('events lie in the past, and nothing happens before its time', async () => {
    for (let minutes = -5; minutes < 56; minutes += 1.37) {
      const now = timeOf(minutes);
      const { cluster } = await snapshotAt(now, { history: false });
      for (const { lastAt, message } of known(cluster.events)) assert.ok(lastAt <= now, message);
      for (const pod of known(cluster.pods)) {
        assert.ok(pod.createdAt <= now);
        for (const { since = 0, status, type } of pod.conditions)
          if (status === 'True') assert.ok(since <= now, `${pod.pod.name} ${type} at ${minutes}`);
      }
      const ready = known(cluster.pods).filter(({ conditions }) =>
        conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      ).length;
      assert.equal(known(cluster.workload).replicas.ready, ready, `at ${minutes}`);
    }
  });

  test('the panel tells it', async () => {
    const words: string[] = [];
    for (const minutes of [1, 6, 9, 26]) {
      const now = timeOf(minutes);
      words.push(buildPanelModel(Workspace.empty, [], await snapshotAt(now), now).verdict.word);
    }
    assert.deepEqual(words, ['Healthy', 'Queue-saturated', 'Crash-looping', 'Throttled']);
  });
});

test('each range has the points of a chart', async () => {
  for (const range of Object.keys(ranges) as RangeName[]) {
    const { series } = await snapshotAt(openedAt, { range });
    for (const { metric, at, values } of series) {
      assert.equal(at.length, values.length, metric);
      // As many points as a chart has room for, and not more the longer the range is.
      assert.ok(at.length > 50 && at.length < 1_000, `${metric} over ${range}: ${at.length} points`);
    }
  }
});

test('it follows the open manifest', async () => {
  const source = demoSource(openedAt);
  const names = async (want: Want): Promise<readonly string[]> => {
    const { cluster } = await source.read(want, never);
    return cluster?.pods?.kind === 'known'
      ? cluster.pods.value.map(({ pod }) => `${pod.namespace}/${pod.name}`)
      : [];
  };
  assert.match(
    (await names(wantOf({ kind: 'StatefulSet', name: 'llm', namespace: 'a' }, { now: openedAt })))[0] ?? '',
    /^a\/llm-0$/,
  );
  assert.match(
    (await names(wantOf({ kind: 'NodePool', name: 'gpu', namespace: '' }, { now: openedAt })))[0] ?? '',
    /^inference\/vllm-/,
  );
  assert.match(
    (
      await names(
        wantOf({ kind: 'HorizontalPodAutoscaler', name: 'chat-hpa', namespace: 'a' }, { now: openedAt }),
      )
    )[0] ?? '',
    /^a\/chat-/,
  );
});
