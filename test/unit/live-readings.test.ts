import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ruleMeta } from '../../server/src/engine/registry';
import { baselineOf, compareWithBaseline } from '../../server/src/live/baseline';
import { liveLookup } from '../../server/src/live/lookup';
import { statusWord } from '../../server/src/live/pods';
import { emptyCluster, gridOf, heldSince, onGrid, readingsOf } from '../../server/src/live/readings';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import type { Subject } from '../../server/src/live/measurement';
import { defaultThresholds } from '../../server/src/live/thresholds';
import { linesThatMatter, logPatterns, triage } from '../../server/src/live/triage';
import { metricIds, unitOf } from '../../server/src/live/vocabulary';
import type { MetricId } from '../../server/src/live/vocabulary';
import { buildPanelModel } from '../../server/src/panel/build';
import { codeLensText } from '../../server/src/panel/code-lens';
import { Workspace } from '../../server/src/workspace/workspace';
import {
  container,
  gpu,
  hpa,
  known,
  measured,
  minute,
  namespace,
  nobody,
  node,
  now,
  oomPod,
  pendingPod,
  pod,
  reading,
  series,
  snapshot,
  workload,
} from './live-support';

/** What many measurements say together: of pods, of devices, of several sources, and over time. */

const pods = known([pod('vllm-0'), pod('vllm-1', { node: 'node-1' })]);
const cluster = (more: Partial<LiveSnapshot['cluster']> = {}): LiveSnapshot['cluster'] => ({
  ...emptyCluster(nobody),
  pods,
  ...more,
});
const ofPod = (name: string, inside?: string): Subject => ({
  kind: 'pod',
  pod: { namespace, name },
  ...(inside === undefined ? {} : { container: inside }),
});

function now1(metric: MetricId, measurements: LiveSnapshot['measurements']): number | string {
  const { observed } = readingsOf(snapshot({ cluster: cluster(), measurements })).now(metric);
  return observed.kind === 'reading' ? observed.value : observed.why;
}

describe('one number of many', () => {
  test('is the sum, the mean or the extreme, as the vocabulary says', () => {
    const both = (metric: MetricId): number | string =>
      now1(metric, [measured(metric, 1, ofPod('vllm-0')), measured(metric, 3, ofPod('vllm-1'))]);
    assert.equal(both('queue.waiting'), 4);
    assert.equal(both('kv-cache.usage'), 3);
    assert.equal(both('ttft.p95'), 'no-data', 'percentiles of pods make none of the workload');
  });

  test('does not count a pod twice when its containers are told too', () => {
    const found = now1('cpu.usage', [
      measured('cpu.usage', 5, ofPod('vllm-0')),
      measured('cpu.usage', 3, ofPod('vllm-0', 'vllm')),
      measured('cpu.usage', 2, ofPod('vllm-0', 'proxy')),
    ]);
    assert.equal(found, 5);
  });

  test('leaves out pods and devices of others', () => {
    assert.equal(
      now1('queue.waiting', [
        measured('queue.waiting', 1, ofPod('vllm-0')),
        measured('queue.waiting', 9, ofPod('other')),
      ]),
      1,
    );
    assert.equal(
      now1('gpu.utilization', [
        measured('gpu.utilization', 0.2, gpu(0)),
        measured('gpu.utilization', 0.9, gpu(1, 'node-0', 'other')),
      ]),
      0.2,
    );
  });

  test('is of the source nearest to the process, and of any source that has it', () => {
    const of = (
      source: 'prometheus' | 'engine-metrics' | 'cloudwatch',
      value: number,
    ): LiveSnapshot['measurements'][number] => ({
      metric: 'ttft.p95',
      subject: { kind: 'workload' },
      observed: reading('ttft.p95', value, { source: { source, from: 'x' } }),
    });
    assert.equal(now1('ttft.p95', [of('cloudwatch', 1), of('engine-metrics', 2), of('prometheus', 3)]), 2);
    const failed = {
      metric: 'ttft.p95',
      subject: { kind: 'workload' },
      observed: { kind: 'absent', why: 'too-few-points', message: 'first' },
    } as const;
    assert.equal(now1('ttft.p95', [failed, of('cloudwatch', 1)]), 1);
    assert.equal(now1('ttft.p95', [failed]), 'too-few-points');
  });

  test('of what is split by a label is all of it', () => {
    const finished = (reason: string, value: number): LiveSnapshot['measurements'][number] => ({
      ...measured('requests.finished.rate', value),
      labels: { reason },
    });
    assert.equal(now1('requests.finished.rate', [finished('stop', 3), finished('length', 1)]), 4);
  });

  test('tells of how many it is', () => {
    const absentOne = {
      metric: 'queue.waiting',
      subject: ofPod('vllm-1'),
      observed: { kind: 'absent', why: 'failed', message: 'time-out' },
    } as const;
    const { known: some, total } = readingsOf(
      snapshot({
        cluster: cluster(),
        measurements: [measured('queue.waiting', 1, ofPod('vllm-0')), absentOne],
      }),
    ).now('queue.waiting');
    assert.deepEqual([some, total], [1, 2]);
  });

  test('old values are there to look at, and do not judge', () => {
    const old = {
      metric: 'queue.waiting',
      subject: { kind: 'workload' },
      observed: reading('queue.waiting', 4, { at: now - 5 * minute }),
    } as const;
    const readings = readingsOf(snapshot({ cluster: cluster(), measurements: [old] }));
    assert.equal(readings.now('queue.waiting').observed.kind, 'reading');
    const fresh = readings.fresh('queue.waiting');
    assert.equal(fresh.kind === 'absent' && fresh.why, 'stale');
  });
});

describe('series', () => {
  test('of pods become one of the workload', () => {
    const readings = readingsOf(
      snapshot({
        cluster: cluster(),
        series: [
          series('queue.waiting', 10, () => 2, ofPod('vllm-0')),
          series('queue.waiting', 10, () => 3, ofPod('vllm-1')),
          series('queue.waiting', 10, () => 50, ofPod('other')),
        ],
      }),
    );
    assert.deepEqual(new Set(readings.history('queue.waiting')?.values), new Set([5]));
  });

  test('of memory in use and in total become the share', () => {
    const readings = readingsOf(
      snapshot({
        cluster: cluster(),
        series: [
          series('gpu.memory.used', 10, (ago) => (ago === 4 ? null : 6), gpu(0)),
          series('gpu.memory.total', 10, () => 8, gpu(0)),
        ],
      }),
    );
    const { values } = readings.history('gpu.memory.usage') ?? assert.fail();
    assert.deepEqual(new Set(values), new Set([0.75, null]));
    assert.equal(readings.series('gpu.memory.usage').length, 1);
  });

  test('on a grid have no value that the series had not, and none far from its points', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.option(fc.integer({ min: 0, max: 9 }))), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.integer({ min: 5, max: 60 }),
        (steps, step) => {
          let at = 0;
          const times = steps.map(([gap]) => (at += gap * 1000));
          const values = steps.map(([, value]) => value);
          const one = { at: times, values, step: step * 1000 };
          const grid = gridOf([one], step * 1000);
          onGrid(one, grid, step * 1000).forEach((value, index) => {
            if (value === null) return;
            const instant = grid[index] ?? 0;
            const near = times.some(
              (time, where) => values[where] === value && Math.abs(time - instant) <= step * 1000,
            );
            assert.ok(near, `${value} at ${instant}`);
          });
        },
      ),
    );
  });

  test('tell since when something holds, over gaps of a few points', () => {
    const history = (value: (ago: number) => number | null) => {
      const { at, values, step } = series('queue.waiting', 60, value);
      return { at, values, step, sources: [] };
    };
    const since = (value: (ago: number) => number | null): number | undefined => {
      const found = heldSince(history(value), now, (one) => one > 5);
      return found === undefined ? undefined : (now - found.since) / minute;
    };
    assert.equal(
      since((ago) => (ago <= 7 ? 9 : 1)),
      7,
    );
    assert.equal(
      since((ago) => (ago === 3 ? null : ago <= 7 ? 9 : 1)),
      7,
    );
    assert.equal(
      since((ago) => (ago > 2 && ago < 9 ? null : 9)),
      2,
    );
    assert.equal(
      since(() => 1),
      undefined,
    );
    assert.equal(
      since((ago) => (ago < 5 ? null : 9)),
      undefined,
      'nothing is known of now',
    );
  });
});

describe('the baseline', () => {
  const steady = snapshot({
    cluster: cluster(),
    measurements: [measured('ttft.p95', 0.4), measured('requests.rate', 5), measured('errors.5xx.rate', 0)],
    series: [series('ttft.p95', 60, (ago) => (ago === 30 ? 9 : 0.4)), series('requests.rate', 60, () => 5)],
  });

  test('is the median of the range: an outlier does not move it', () => {
    const saved = baselineOf(readingsOf(steady), now);
    assert.equal(saved?.values['ttft.p95'], 0.4);
    assert.equal(saved?.values['queue.waiting'], undefined, 'what is not known is not saved');
    assert.equal(baselineOf(readingsOf(snapshot()), now), undefined);
  });

  test('names regressions with the load', () => {
    const saved = baselineOf(readingsOf(steady), now) ?? assert.fail();
    const later = (ttft: number, load: number): ReturnType<typeof compareWithBaseline> =>
      compareWithBaseline(
        saved,
        readingsOf(
          snapshot({
            cluster: cluster(),
            measurements: [measured('ttft.p95', ttft), measured('requests.rate', load)],
          }),
        ),
        now,
        defaultThresholds,
      );
    assert.deepEqual(later(0.6, 5).regressions, ['TTFT p95 +50 % (600 ms, was 400 ms) at the same load']);
    assert.deepEqual(later(0.6, 9).regressions, ['TTFT p95 +50 % (600 ms, was 400 ms) at a higher load']);
    assert.deepEqual(later(0.41, 5).regressions, []);
    assert.equal(later(0.1, 5).rows.find(({ metric }) => metric === 'ttft.p95')?.verdict, 'better');
    assert.equal(later(0.4, 5).rows.find(({ metric }) => metric === 'errors.5xx.rate')?.verdict, 'unknown');
  });
});

describe('the triage', () => {
  const lines: Readonly<Record<string, string>> = {
    'kv-cache-too-small':
      'ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`',
    'gpu-memory': 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB',
    'shared-memory': 'Bus error (core dumped). insufficient shared memory (shm)',
    'disk-full': 'OSError: [Errno 28] No space left on device',
    nccl: 'torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2356',
    'gpu-fault': 'RuntimeError: CUDA error: an illegal memory access was encountered',
    driver: 'RuntimeError: The NVIDIA driver on your system is too old: CUDA driver version is insufficient',
    dtype: 'ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0',
    access: 'OSError: You are trying to access a gated repo.',
    arguments: 'vllm serve: error: unrecognized arguments: --max-model-length=4096',
    port: 'OSError: [Errno 98] error while attempting to bind on address: address already in use',
    killed: 'Engine core died with exit code -9',
  };
  for (const { cause } of logPatterns) {
    test(`knows lines about ${cause}`, () => {
      assert.deepEqual(
        linesThatMatter([lines[cause] ?? '']).map((found) => found.cause),
        [cause],
      );
    });
  }

  test('says the same line of many workers once, and nothing of ordinary lines', () => {
    const [line] = [lines['gpu-memory'] ?? ''];
    assert.equal(
      linesThatMatter([
        '(Worker pid=1) x',
        ...[1, 2, 3].map((pid) => `(Worker pid=${pid}) ${line}`),
        'INFO: 200 OK',
      ]).length,
      1,
    );
  });

  test('links to rules that exist', () => {
    const found = triage(
      readingsOf(snapshot({ cluster: cluster({ pods: known([oomPod('vllm-0')]) }) })),
      now,
      3_600_000,
    );
    assert.equal(found.length, 1);
    for (const [cause, message] of Object.entries(lines)) {
      const failed = pod('vllm-0', {
        containers: [
          container({
            restarts: 1,
            lastTermination: { reason: 'Error', exitCode: 1, finishedAt: now - minute, message },
          }),
        ],
      });
      const [one] = triage(
        readingsOf(snapshot({ cluster: cluster({ pods: known([failed]) }) })),
        now,
        3_600_000,
      );
      assert.equal(one?.cause, cause);
      for (const rule of one.rules) assert.ok(ruleMeta(rule), `${cause} names the rule ${rule}`);
    }
    for (const rule of found[0]?.rules ?? []) assert.ok(ruleMeta(rule), rule);
  });
});

describe('pods', () => {
  test('have the word that kubectl prints', () => {
    const waiting = (reason: string, role: 'main' | 'init' = 'main') =>
      container({ name: role, role, ready: false, state: { kind: 'waiting', reason, message: '' } });
    const starting = { conditions: [] };
    const cases: readonly (readonly [Parameters<typeof pod>[1], string])[] = [
      [{}, 'Running'],
      [{ containers: [waiting('CrashLoopBackOff')] }, 'CrashLoopBackOff'],
      [{ containers: [waiting('ImagePullBackOff')] }, 'ImagePullBackOff'],
      [
        {
          ...starting,
          phase: 'Pending',
          containers: [waiting('PodInitializing', 'init'), waiting('PodInitializing')],
        },
        'Init:0/1',
      ],
      [
        {
          ...starting,
          phase: 'Pending',
          containers: [waiting('ErrImagePull', 'init'), waiting('PodInitializing')],
        },
        'Init:ErrImagePull',
      ],
      [{ deletingSince: now }, 'Terminating'],
      [{ phase: 'Failed', reason: 'Evicted', containers: [] }, 'Evicted'],
      [
        { containers: [container({ state: { kind: 'terminated', reason: '', exitCode: 2, signal: 0 } })] },
        'ExitCode:2',
      ],
      [
        {
          phase: 'Succeeded',
          containers: [container({ state: { kind: 'terminated', reason: 'Completed', exitCode: 0 } })],
        },
        'Completed',
      ],
    ];
    for (const [more, word] of cases) assert.equal(statusWord(pod('a', more)), word);
    assert.equal(statusWord(pendingPod('b', minute)), 'Pending');
  });
});

describe('snapshots by object', () => {
  test('are found by the workload, its autoscaler, and without a namespace', () => {
    const live = snapshot({
      cluster: cluster({ hpa: known(hpa(1, 1, 1, 1)), workload: known(workload(1, 1)) }),
    });
    const newer = { ...live, at: now + 1 };
    const lookup = liveLookup([newer, live]);
    assert.equal(lookup.find({ kind: 'Deployment', namespace, name: 'vllm' }), newer);
    assert.equal(lookup.find({ kind: 'HorizontalPodAutoscaler', namespace: undefined, name: 'vllm' }), newer);
    assert.equal(lookup.find({ kind: 'Deployment', namespace: 'other', name: 'vllm' }), undefined);
    assert.equal(lookup.find({ kind: 'Deployment', namespace, name: undefined }), undefined);
  });
});

describe('any snapshot', () => {
  const value = fc.oneof(
    fc.double({ min: 0, max: 1e12, noNaN: true }),
    fc.constant(0),
    fc.constantFrom(0.5, 1, 40),
  );
  const subject: fc.Arbitrary<Subject> = fc.constantFrom<Subject>(
    { kind: 'workload' },
    ofPod('vllm-0'),
    ofPod('vllm-1', 'vllm'),
    ofPod('stranger'),
    gpu(0),
    gpu(1, 'node-1', 'vllm-1'),
    gpu(2, 'node-1', null),
    { kind: 'node', node: 'node-0' },
    { kind: 'cluster' },
  );
  const metric = fc.constantFrom(...metricIds);
  const measurement = fc
    .record({ metric, subject, value, ago: fc.integer({ min: 0, max: 3600 }) })
    .map(({ metric: id, subject: about, value: amount, ago }) => ({
      metric: id,
      subject: about,
      observed: reading(id, amount, { at: now - ago * 1000 }),
    }));
  const history = fc
    .record({ metric, subject, values: fc.array(fc.option(value), { minLength: 1, maxLength: 70 }) })
    .map(({ metric: id, subject: about, values }) =>
      series(id, values.length - 1, (ago) => values[values.length - 1 - ago] ?? null, about),
    );
  const onePod = fc.constantFrom(
    pod('vllm-0'),
    pod('vllm-1', { node: 'node-1' }),
    oomPod('vllm-1'),
    pendingPod('vllm-2', 5 * minute),
    pod('vllm-3', { deletingSince: now - 1000 }),
    pod('vllm-4', { phase: 'Failed', containers: [] }),
  );
  const live = fc.record({
    measurements: fc.array(measurement, { maxLength: 40 }),
    series: fc.array(history, { maxLength: 8 }),
    cluster: fc.record({
      pods: fc.option(fc.uniqueArray(onePod, { selector: (one) => one.pod.name, maxLength: 6 })),
      nodes: fc.option(
        fc.constantFrom([], [node('node-0')], [node('node-0'), node('node-1', { instanceType: 'x' })]),
      ),
      hpa: fc.option(
        fc.constantFrom(
          hpa(1, 1, 40, 10),
          hpa(4, 4, 40, 10, 4),
          hpa(1, 1, 0, 10),
          { ...hpa(1, 1, 1, 1), status: {} },
          { ...hpa(1, 1, 1, 1), spec: { maxReplicas: 'x' } },
        ),
      ),
      workload: fc.option(fc.constantFrom(workload(0, 0), workload(2, 1), workload(2, 2), workload(3, 0))),
    }),
  });

  test('makes a model in plain data, without a number that is none', () => {
    fc.assert(
      fc.property(live, ({ measurements, series: given, cluster: parts }) => {
        const made = snapshot({
          measurements,
          series: given,
          cluster: {
            ...emptyCluster(nobody),
            ...Object.fromEntries(
              Object.entries(parts).flatMap(([name, part]) => (part === null ? [] : [[name, known(part)]])),
            ),
          },
        });
        const model = buildPanelModel(Workspace.empty, [], made, now);
        const text = JSON.stringify(model);
        assert.deepEqual(JSON.parse(text), model);
        assert.doesNotMatch(text, /NaN|Infinity|undefined|\[object|not a number/);
        codeLensText(made, now);
        for (const { shown, title } of model.tiles) {
          if (shown.kind === 'value') assert.ok(Number.isFinite(shown.value), title);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('shows no value of a metric family that nobody measured', () => {
    const families: Readonly<Record<string, RegExp>> = {
      gpu: /^(gpu\.utilization|neuron\.core\.utilization)$/,
      vram: /^gpu\.memory\./,
      ttft: /^(ttft|e2e)\./,
      queue: /^queue\./,
      volume: /^requests\.rate$/,
      tokens: /^tokens\.generation\.rate$/,
    };
    fc.assert(
      fc.property(fc.array(measurement, { maxLength: 12 }), (measurements) => {
        const model = buildPanelModel(
          Workspace.empty,
          [],
          snapshot({ measurements, cluster: cluster() }),
          now,
        );
        for (const tile of [...model.tiles, ...model.overview.tiles]) {
          const family = families[tile.id];
          if (family === undefined || tile.shown.kind === 'absent') continue;
          assert.ok(
            measurements.some(({ metric: id }) => family.test(id)),
            `${tile.title} shows ${tile.shown.text}, and nobody said so`,
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  test('has units of the vocabulary only', () => {
    for (const id of metricIds) assert.ok(unitOf(id).length > 0);
  });
});
