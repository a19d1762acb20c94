import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Measurement } from '../../server/src/live/measurement';
import type { SourceId } from '../../server/src/live/reading';
import type { LiveSnapshot, SourceAnswer } from '../../server/src/live/snapshot';
import type { Want } from '../../server/src/live/want';
import { createCollector, createTracks, type CollectorOptions } from '../../server/src/sources/collect';
import type { Source } from '../../server/src/sources/source';
import { handClock, type HandClock } from './support/clock';
import { wantOf } from './support/want';

const never = new AbortController().signal;
const start = 1_796_000_000_000;

function reading(
  value: number,
  at: number,
  source: SourceId = 'kubernetes',
  metric: Measurement['metric'] = 'replicas.ready',
): Measurement {
  return {
    metric,
    subject: { kind: 'workload' },
    observed: { kind: 'reading', value, unit: 'count', at, window: 0, source: { source, from: 'x' } },
  };
}

const ok = (source: SourceId, more: Partial<SourceAnswer> = {}): SourceAnswer => ({
  status: { source, state: 'ok', problems: [] },
  ...more,
});

function fake(
  id: SourceId,
  read: (want: Want, signal: AbortSignal) => Promise<SourceAnswer>,
): Source & { asked: number } {
  const source = {
    id,
    asked: 0,
    read: (want: Want, signal: AbortSignal) => {
      source.asked++;
      return read(want, signal);
    },
    dispose: () => Promise.resolve(),
  };
  return source;
}

function collectorOf(clock: HandClock, sources: readonly Source[], more: Partial<CollectorOptions> = {}) {
  return createCollector({ sources, refresh: 15_000, clock, ...more });
}

const stateOf = (snapshot: LiveSnapshot, id: SourceId): string | undefined =>
  snapshot.sources.find(({ source }) => source === id)?.state;

/** Lets everything that is ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('sources as one', () => {
  test('what they say is put together; those that are not there say so', async () => {
    const clock = handClock(start);
    const kubernetes = fake('kubernetes', () =>
      Promise.resolve(
        ok('kubernetes', {
          measurements: [reading(1, start)],
          context: { name: 'prod', namespace: 'chat' },
          cluster: { pendingInCluster: { kind: 'known', value: 3, at: start } },
        }),
      ),
    );
    const prometheus = fake('prometheus', () =>
      Promise.resolve(ok('prometheus', { measurements: [reading(2, start, 'prometheus')] })),
    );
    const snapshot = await collectorOf(clock, [kubernetes, prometheus], {
      remedies: { cloudwatch: 'Set plimsoll.cloudwatch.region' },
    }).read(wantOf({}), never);
    assert.equal(snapshot.measurements.length, 2);
    assert.equal(snapshot.context.name, 'prod');
    assert.equal(snapshot.context.demo, false);
    assert.equal(stateOf(snapshot, 'cloudwatch'), 'not-configured');
    assert.equal(
      snapshot.sources.find(({ source }) => source === 'cloudwatch')?.problems[0]?.remedy,
      'Set plimsoll.cloudwatch.region',
    );
    assert.equal(snapshot.cluster.pendingInCluster.kind, 'known');
    assert.ok(snapshot.cluster.pods.kind === 'absent');
    assert.ok(snapshot.alarms.kind === 'absent' && snapshot.alarms.why === 'not-configured');
    assert.equal(Object.keys(snapshot.cluster).length, 13);
  });

  test('one that throws, one that never answers: the others are there', async () => {
    const clock = handClock(start);
    const stuck = fake('prometheus', () => new Promise(() => undefined));
    const broken = fake('cloudwatch', () => Promise.reject(new Error('boom')));
    const good = fake('kubernetes', () =>
      Promise.resolve(ok('kubernetes', { measurements: [reading(1, start)] })),
    );
    const seen: LiveSnapshot[] = [];
    const reads = collectorOf(clock, [stuck, broken, good]).read(wantOf({}), never, (snapshot) =>
      seen.push(snapshot),
    );
    await settle();
    assert.equal(seen.length, 2, 'each answer is told as it comes');
    assert.equal(stateOf(seen[1]!, 'prometheus'), 'reading');
    assert.equal(seen[1]?.measurements.length, 1);
    clock.advance(20_000);
    const snapshot = await reads;
    assert.equal(stateOf(snapshot, 'prometheus'), 'slow');
    assert.equal(stateOf(snapshot, 'cloudwatch'), 'failed');
    assert.equal(snapshot.measurements.length, 1);
  });

  test('what a source said stays while it fails, not for ever', async () => {
    const clock = handClock(start);
    let fails = false;
    const kubernetes = fake('kubernetes', () =>
      Promise.resolve(
        fails
          ? {
              status: {
                source: 'kubernetes' as const,
                state: 'failed' as const,
                problems: [{ what: 'x', why: 'failed' as const, message: 'reset' }],
              },
            }
          : ok('kubernetes', {
              measurements: [reading(1, start)],
              cluster: { pendingInCluster: { kind: 'known', value: 3, at: start } },
            }),
      ),
    );
    const collector = collectorOf(clock, [kubernetes]);
    await collector.read(wantOf({}), never);
    fails = true;
    clock.advance(60_000);
    const later = await collector.read(wantOf({}), never);
    assert.equal(stateOf(later, 'kubernetes'), 'failed');
    assert.equal(later.measurements.length, 1);
    assert.equal(later.cluster.pendingInCluster.kind, 'known');
    clock.advance(300_000);
    const late = await collector.read(wantOf({}), never);
    assert.equal(late.measurements.length, 0);
    assert.ok(
      late.cluster.pendingInCluster.kind === 'absent' && late.cluster.pendingInCluster.message === 'reset',
    );
  });

  test('Prometheus and CloudWatch are not asked again within seconds, the cluster is', async () => {
    const clock = handClock(start);
    const kubernetes = fake('kubernetes', () => Promise.resolve(ok('kubernetes')));
    const prometheus = fake('prometheus', () => Promise.resolve(ok('prometheus')));
    const cloudwatch = fake('cloudwatch', () => Promise.resolve(ok('cloudwatch')));
    const collector = collectorOf(clock, [kubernetes, prometheus, cloudwatch]);
    for (const ms of [0, 1_000, 1_000]) {
      clock.advance(ms);
      await collector.read(wantOf({}), never);
    }
    assert.deepEqual([kubernetes.asked, prometheus.asked, cloudwatch.asked], [3, 1, 1]);
    await collector.read(wantOf({}, { logsQuery: 'slow-requests' }), never);
    assert.equal(cloudwatch.asked, 2, 'a query of logs is asked for at once');
    await collector.read(wantOf({ name: 'other' }), never);
    assert.equal(prometheus.asked, 2, 'another object is another question');
  });

  test('the result of a query of logs stays', async () => {
    const clock = handClock(start);
    const cloudwatch = fake('cloudwatch', ({ logsQuery }) =>
      Promise.resolve(
        ok(
          'cloudwatch',
          logsQuery === undefined ? {} : { logsQuery: { kind: 'absent', why: 'denied', message: logsQuery } },
        ),
      ),
    );
    const collector = collectorOf(clock, [cloudwatch]);
    await collector.read(wantOf({}, { logsQuery: 'slow-requests' }), never);
    clock.advance(60_000);
    const snapshot = await collector.read(wantOf({}), never);
    assert.equal(snapshot.logsQueries.length, 1);
  });

  test('cancelling cancels every source', async () => {
    const clock = handClock(start);
    const aborted: string[] = [];
    const waiting = (id: SourceId): Source =>
      fake(
        id,
        (_, signal) =>
          new Promise((__, reject) =>
            signal.addEventListener('abort', () => {
              aborted.push(id);
              reject(new Error('gone'));
            }),
          ),
      );
    const stop = new AbortController();
    const reads = collectorOf(clock, [waiting('kubernetes'), waiting('prometheus')]).read(
      wantOf({}),
      stop.signal,
    );
    stop.abort(new Error('hidden'));
    await assert.rejects(reads, /hidden/);
    assert.deepEqual(aborted.sort(), ['kubernetes', 'prometheus']);
    assert.deepEqual(clock.waits, [], 'no timer is left');
  });

  test('changes in a burst are one', async () => {
    const clock = handClock(start);
    let tell: () => void = () => undefined;
    const source: Source = {
      ...fake('kubernetes', () => Promise.resolve(ok('kubernetes'))),
      watch: (_, changed) => (tell = changed),
    };
    let changes = 0;
    const stop = new AbortController();
    collectorOf(clock, [source]).watch(wantOf({}), () => changes++, stop.signal);
    for (let index = 0; index < 50; index++) tell();
    assert.equal(changes, 0);
    clock.advance(100);
    await settle();
    assert.equal(changes, 1);
    tell();
    stop.abort();
    clock.advance(100);
    await settle();
    assert.equal(changes, 1);
  });

  test('the demo stands for all sources', async () => {
    const demo = fake('demo', () =>
      Promise.resolve(
        ok('demo', {
          alarms: { kind: 'known', value: [], at: start },
          exportedNames: { kind: 'known', value: ['a'], at: start },
        }),
      ),
    );
    const snapshot = await collectorOf(handClock(start), [demo]).read(wantOf({}), never);
    assert.equal(snapshot.context.demo, true);
    assert.deepEqual(
      snapshot.sources.map(({ source }) => source),
      ['demo'],
    );
    assert.equal(snapshot.alarms.kind, 'known');
    assert.equal(snapshot.exportedNames.kind, 'known');
  });
});

describe('what has been read since somebody looks', () => {
  test('becomes a series, with gaps where nobody looked', async () => {
    const clock = handClock(start);
    let value = 0;
    const kubernetes = fake('kubernetes', () =>
      Promise.resolve(ok('kubernetes', { measurements: [reading(++value, clock.now())] })),
    );
    const collector = collectorOf(clock, [kubernetes]);
    let snapshot = await collector.read(wantOf({}, { range: '15m' }), never);
    assert.equal(snapshot.series.length, 0, 'one point is no line');
    for (const ms of [15_000, 15_000, 120_000, 15_000]) {
      clock.advance(ms);
      snapshot = await collector.read(wantOf({}, { range: '15m' }), never);
    }
    assert.deepEqual(snapshot.series[0]?.values, [1, 2, 3, null, 4, 5]);
    const times = snapshot.series[0]?.at ?? [];
    assert.deepEqual(
      times.map((at) => at - start),
      [0, 15_000, 30_000, 45_000, 150_000, 165_000],
    );
  });

  test('is not told where a source has a history', () => {
    const tracks = createTracks({ duration: 900_000, step: 15_000 });
    for (let index = 0; index < 3; index++) tracks.add([reading(index, start + index * 15_000)]);
    const known = {
      metric: 'replicas.ready',
      subject: { kind: 'workload' },
      unit: 'count',
      at: [],
      values: [],
      step: 15_000,
      source: { source: 'prometheus', from: 'q' },
    } as const;
    assert.equal(tracks.series([], start + 30_000, 15_000).length, 1);
    assert.equal(tracks.series([known], start + 30_000, 15_000).length, 0);
  });

  test('does not grow over hours of reads', () => {
    const tracks = createTracks({ duration: 900_000, step: 15_000 });
    for (let index = 0; index < 20_000; index++) {
      const at = start + index * 1_000;
      tracks.add([
        reading(index, at),
        {
          ...reading(1, at),
          subject: { kind: 'pod', pod: { namespace: 'chat', name: `p${Math.floor(index / 100)}` } },
        },
      ]);
    }
    const now = start + 20_000 * 1_000;
    const series = tracks.series([], now, 15_000);
    assert.ok(
      series.every(({ at }) => at.length <= 66),
      `${Math.max(...series.map(({ at }) => at.length))} points`,
    );
    assert.ok(tracks.size <= 12, `${tracks.size} tracks`);
  });
});
