import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import { defaultThresholds, thresholdsWith } from '../../server/src/live/thresholds';
import { verdictTable } from '../../server/src/live/verdict/table';
import type { VerdictName } from '../../server/src/live/verdict/table';
import { verdictOf } from '../../server/src/live/verdict/verdict';
import type { Verdict } from '../../server/src/live/verdict/verdict';
import { evaluateAlarms } from '../../server/src/live/alarms';
import type { Baseline } from '../../server/src/live/baseline';
import { emptyCluster } from '../../server/src/live/readings';
import { absent } from '../../server/src/live/reading';
import { judgeContext } from '../../server/src/panel/context';
import { digits, secondsText, bytesText, quantityText } from '../../server/src/live/format';
import {
  container,
  gpu,
  hpa,
  known,
  measured,
  minute,
  nobody,
  now,
  oomPod,
  pendingPod,
  pod,
  series,
  snapshot,
  workload,
} from './live-support';

/** The decision table: each verdict from the numbers that make it, and nothing from numbers that nobody said. */

const cluster = (more: Partial<LiveSnapshot['cluster']> = {}): LiveSnapshot['cluster'] => ({
  ...emptyCluster(nobody),
  workload: known(workload(2, 2)),
  pods: known([pod('vllm-0'), pod('vllm-1', { node: 'node-1' })]),
  hpa: absent('no-data', 'no HPA targets it'),
  ...more,
});

function verdict(parts: Partial<LiveSnapshot>, baseline?: Baseline): Verdict {
  const { context } = judgeContext(
    snapshot({ cluster: cluster(), ...parts }),
    now,
    baseline === undefined ? {} : { baseline },
  );
  return verdictOf(context);
}

const serving = [
  measured('queue.waiting', 0),
  measured('ttft.p95', 0.3),
  measured('gpu.utilization', 0.7, gpu(0)),
];

describe('verdicts', () => {
  const cases: readonly {
    name: VerdictName;
    what: Partial<LiveSnapshot>;
    says: RegExp;
    baseline?: Baseline;
  }[] = [
    { name: 'healthy', what: { measurements: serving }, says: /2 of 2 replicas ready.*TTFT p95 300 ms/ },
    {
      name: 'crash-looping',
      what: { cluster: cluster({ pods: known([oomPod('vllm-0')]) }), measurements: serving },
      says: /1 container was killed .*by the memory limit \(OOMKilled\)/,
    },
    {
      name: 'scaling-blocked',
      what: {
        cluster: cluster({
          pods: known([pod('vllm-0'), pendingPod('vllm-1', 5 * minute), pendingPod('vllm-2', 3 * minute)]),
        }),
      },
      says: /2 pods without a node, the longest for 5 min/,
    },
    {
      name: 'scaling-blocked',
      what: { cluster: cluster({ hpa: known(hpa(2, 2, 60, 10, 2)) }), measurements: serving },
      says: /at its maximum and wants 4 more/,
    },
    {
      name: 'throttled',
      what: { measurements: [...serving, measured('gpu.temperature', 91, gpu(0))] },
      says: /a GPU is at 91 C/,
    },
    {
      name: 'throttled',
      what: {
        measurements: [...serving, measured('gpu.clock.sm', 1.2e9, gpu(0))],
        series: [series('gpu.clock.sm', 30, () => 1.98e9, gpu(0))],
      },
      says: /60.6 % of its highest clock/,
    },
    {
      name: 'queue-saturated',
      what: { measurements: [measured('queue.waiting', 60), measured('kv-cache.usage', 0.94)] },
      says: /30 requests wait for each ready pod; the KV cache is 94 % full/,
    },
    {
      name: 'queue-saturated',
      what: {
        measurements: [measured('queue.waiting', 60)],
        series: [series('queue.waiting', 20, (ago) => (ago < 5 ? 60 : 10))],
      },
      says: /the queue is 5.\d+ times what it was/,
    },
    {
      name: 'kv-cache-pressure',
      what: {
        measurements: [
          ...serving,
          measured('kv-cache.usage', 0.97),
          measured('kv-cache.preemptions.rate', 0.4),
        ],
      },
      says: /97 % full; requests are preempted at 0.4\/s/,
    },
    {
      name: 'vram-at-risk',
      what: { measurements: [...serving, measured('gpu.memory.usage', 0.96, gpu(0))] },
      says: /96 % of the memory of a GPU/,
    },
    {
      name: 'degraded',
      what: {
        measurements: [measured('ttft.p95', 1), measured('requests.rate', 5), measured('queue.waiting', 0)],
      },
      baseline: { savedAt: now - 1e9, window: 36e5, values: { 'ttft.p95': 0.5, 'requests.rate': 5.2 } },
      says: /latency is 2 times that of the baseline/,
    },
    {
      name: 'infrastructure',
      what: {
        measurements: [measured('ttft.p95', 1), measured('requests.rate', 5), measured('queue.waiting', 0)],
        series: [series('ttft.p95', 60, (ago) => (ago < 6 ? 1 : 0.4)), series('requests.rate', 60, () => 5)],
      },
      says: /the same load is slower/,
    },
    {
      name: 'demand',
      what: {
        measurements: [measured('ttft.p95', 1), measured('requests.rate', 15), measured('queue.waiting', 0)],
        series: [
          series('ttft.p95', 60, (ago) => (ago < 6 ? 1 : 0.4)),
          series('requests.rate', 60, (ago) => (ago < 6 ? 15 : 5)),
        ],
      },
      says: /the load is 3 times that of before, and latency 2.5 times/,
    },
    {
      name: 'compute-bound',
      what: {
        measurements: [
          measured('gpu.utilization', 0.97, gpu(0)),
          measured('kv-cache.usage', 0.4),
          measured('queue.waiting', 1),
        ],
      },
      says: /busy 97 % of the time; the KV cache is only 40 % full/,
    },
    {
      name: 'idle-gpus',
      what: {
        measurements: [measured('gpu.utilization', 0.1, gpu(0)), measured('queue.waiting', 0)],
        series: [series('gpu.utilization', 40, () => 0.1, gpu(0))],
      },
      says: /busy 10 % of the last 30 min/,
    },
    { name: 'unknown', what: {}, says: /not known: queue or latency/ },
    {
      name: 'unknown',
      what: { cluster: emptyCluster(absent('denied', '403 Forbidden: cannot list pods')) },
      says: /403 Forbidden/,
    },
  ];
  for (const { name, what, says, baseline } of cases) {
    test(`${name}: ${says.source}`, () => {
      const found = verdict(what, baseline);
      assert.equal(found.name, name, `${found.name}: ${found.sentence}`);
      assert.match(found.sentence, says);
    });
  }

  test('every row of the table is reached by a case', () => {
    const reached = new Set(cases.map(({ name }) => name));
    assert.deepEqual(
      verdictTable.map(({ name }) => name).filter((name) => !reached.has(name)),
      [],
    );
  });

  test('what else holds is told, most urgent first', () => {
    const found = verdict({
      cluster: cluster({ pods: known([oomPod('vllm-0')]) }),
      measurements: [measured('gpu.temperature', 91, gpu(0)), measured('gpu.memory.usage', 0.97, gpu(0))],
    });
    assert.deepEqual(
      [found.name, ...found.also.map(({ name }) => name)],
      ['crash-looping', 'throttled', 'vram-at-risk'],
    );
  });

  test('a value that is missing makes a row unjudged, not fine', () => {
    const found = verdict({ measurements: [measured('queue.waiting', 0)] });
    assert.ok(found.unjudged.some(({ name }) => name === 'vram-at-risk'));
    assert.ok(found.unjudged.some(({ name }) => name === 'degraded'));
    assert.match(
      found.unjudged.find(({ name }) => name === 'degraded')?.missing ?? '',
      /no baseline is saved/,
    );
  });

  test('old values do not judge the present', () => {
    const old = measured('gpu.memory.usage', 0.99, gpu(0));
    const stale =
      old.observed.kind === 'reading'
        ? { ...old, observed: { ...old.observed, at: now - 10 * minute } }
        : old;
    assert.notEqual(verdict({ measurements: [...serving, stale] }).name, 'vram-at-risk');
  });

  test('one kill that the pod has got over is history', () => {
    const again = (ago: number, restarts = 1): string =>
      verdict({
        cluster: cluster({
          pods: known([
            pod('vllm-0', {
              containers: [
                container({
                  restarts,
                  lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: now - ago * minute },
                }),
              ],
            }),
          ]),
        }),
        measurements: serving,
      }).name;
    assert.equal(again(2), 'crash-looping');
    assert.equal(again(9), 'healthy');
    assert.equal(again(9, 3), 'crash-looping');
    assert.equal(again(30, 3), 'healthy');
  });

  test('a watch that stands is up to date, though nothing has changed for a minute', () => {
    const quiet = { kind: 'known' as const, value: [oomPod('vllm-0')], at: now - 70_000 };
    assert.equal(verdict({ cluster: cluster({ pods: quiet }) }).name, 'crash-looping');
    assert.notEqual(
      verdict({ cluster: cluster({ pods: { ...quiet, at: now - 600_000 } }) }).name,
      'crash-looping',
    );
  });

  test('since when the queue is deep is told for each pod as well', () => {
    const found = verdict({
      measurements: [measured('queue.waiting', 60), measured('kv-cache.usage', 0.95)],
      series: [series('queue.waiting', 60, (ago) => (ago <= 8 ? 60 : 15))],
    });
    assert.equal(found.name, 'queue-saturated');
    assert.equal(found.since?.at, now - 8 * minute);
  });

  test('since when is told by the history', () => {
    const found = verdict({
      measurements: [...serving, measured('gpu.memory.usage', 0.97, gpu(0))],
      series: [series('gpu.memory.usage', 60, (ago) => (ago <= 12 ? 0.97 : 0.8), gpu(0))],
    });
    assert.equal(found.since?.at, now - 12 * minute);
    assert.equal(found.since.atLeast, false);
  });

  test('a workload at zero by intent is no failure', () => {
    const found = verdict({ cluster: cluster({ workload: known(workload(0, 0)), pods: known([]) }) });
    assert.equal(found.word, 'Scaled to zero');
  });

  test('GPUs that no label explains are not judged as idle', () => {
    const found = verdict({
      measurements: [measured('queue.waiting', 0), measured('gpu.utilization', 0, gpu(0, 'node-0', null))],
      series: [series('gpu.utilization', 60, () => 0, gpu(0, 'node-0', null))],
    });
    assert.notEqual(found.name, 'idle-gpus');
    assert.match(found.unjudged.find(({ name }) => name === 'idle-gpus')?.missing ?? '', /unattributed/);
  });
});

describe('alarms', () => {
  const states = (parts: Partial<LiveSnapshot>): Record<string, string> => {
    const { context } = judgeContext(snapshot({ cluster: cluster(), ...parts }), now);
    return Object.fromEntries(evaluateAlarms(context).map(({ alarm, state }) => [alarm.id, state]));
  };

  test('wait for their time', () => {
    const at = (minutes: number): string | undefined =>
      states({
        measurements: [measured('gpu.memory.usage', 0.9, gpu(0))],
        series: [series('gpu.memory.usage', 60, (ago) => (ago < minutes ? 0.9 : 0.5), gpu(0))],
      })['vram-high'];
    assert.equal(at(5), 'pending');
    assert.equal(at(16), 'firing');
  });

  test('without a history are not certain, and without a value unknown', () => {
    assert.equal(
      states({ measurements: [measured('gpu.memory.usage', 0.9, gpu(0))] })['vram-high'],
      'pending',
    );
    assert.equal(states({})['vram-high'], 'unknown');
    assert.equal(states({ measurements: [measured('gpu.memory.usage', 0.3, gpu(0))] })['vram-high'], 'ok');
  });

  test('the composite needs both, and one that is fine decides it', () => {
    assert.equal(
      states({ measurements: [measured('e2e.p95', 3), measured('queue.waiting', 40)] })['saturation'],
      'firing',
    );
    assert.equal(states({ measurements: [measured('e2e.p95', 0.1)] })['saturation'], 'ok');
    assert.equal(states({ measurements: [measured('e2e.p95', 3)] })['saturation'], 'unknown');
  });

  test('errors are a share of all requests', () => {
    const withErrors = (rate: number): LiveSnapshot['measurements'] => [
      measured('errors.5xx.rate', rate),
      measured('requests.rate', 100 - rate),
    ];
    const history = [series('errors.5xx.ratio', 10, () => 0.05)];
    assert.equal(states({ measurements: withErrors(5), series: history })['errors'], 'firing');
    assert.equal(states({ measurements: withErrors(1) })['errors'], 'ok');
    assert.equal(
      states({ measurements: [measured('errors.5xx.rate', 0), measured('requests.rate', 0)] })['errors'],
      'unknown',
    );
  });
});

describe('thresholds', () => {
  test('of the user replace the defaults, and slips are told', () => {
    const { thresholds, problems } = thresholdsWith({ kvHigh: 0.8, gpuBsy: 1, temperature: 'hot' });
    assert.equal(thresholds.kvHigh, 0.8);
    assert.equal(thresholds.temperature, defaultThresholds.temperature);
    assert.equal(problems.length, 2);
  });
});

describe('numbers', () => {
  test('have three significant digits', () => {
    assert.deepEqual([0, 1, 12.345, 123.45, 1234.5, 0.012345, 0.1, 999.9].map(digits), [
      '0',
      '1',
      '12.3',
      '123',
      '1,230',
      '0.0123',
      '0.1',
      '1,000',
    ]);
  });

  test('durations are as people say them', () => {
    assert.deepEqual(
      [0.0000123, 0.64, 0.9999, 1.24, 59.96, 252, 3600, 7500, 93_600, 7 * 86_400].map(secondsText),
      ['12.3 us', '640 ms', '1 s', '1.24 s', '1 min', '4 min 12 s', '1 h', '2 h 5 min', '1 d 2 h', '7 d'],
    );
  });

  test('bytes are in GiB, and money has its currency', () => {
    assert.equal(bytesText(12.4 * 1024 ** 3), '12.4 GiB');
    assert.equal(bytesText(512 * 1024 ** 2), '512 MiB');
    assert.equal(quantityText(4.123, 'dollars-per-hour'), '$4.12/h');
    assert.equal(quantityText(0.873, 'ratio'), '87.3 %');
  });
});
