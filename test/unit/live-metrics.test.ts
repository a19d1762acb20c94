import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Measurement } from '../../server/src/live/measurement';
import { deviceMeasurements } from '../../server/src/live/metrics/device-metrics';
import { engineMeasurements, enginesOf } from '../../server/src/live/metrics/engine-metrics';
import type { PodScrape } from '../../server/src/live/metrics/engine-metrics';
import { merge, quantile } from '../../server/src/live/metrics/histogram';
import type { Sample, Scrape } from '../../server/src/live/scrape';
import { unitOf } from '../../server/src/live/vocabulary';
import { parseExposition } from '../../server/src/sources/exposition';

/** What scrapes become: rates over resets, percentiles of buckets, names of several versions, devices and who uses them. */

const pod = { namespace: 'llm', name: 'vllm-0' };

function scrape(at: number, ...lines: readonly string[]): Scrape {
  const { samples } = parseExposition(`${lines.join('\n')}\n`, at);
  return { at, samples };
}

function of(found: readonly Measurement[], metric: string, kind = 'workload'): Measurement['observed'] {
  const all = found.filter((one) => one.metric === metric && one.subject.kind === kind);
  assert.equal(all.length, 1, `${metric} of ${kind}: ${all.length} measurements`);
  return all[0]?.observed ?? assert.fail();
}

function value(found: readonly Measurement[], metric: string, kind = 'workload'): number {
  const observed = of(found, metric, kind);
  assert.equal(observed.kind, 'reading', JSON.stringify(observed));
  return observed.kind === 'reading' ? observed.value : Number.NaN;
}

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) <= Math.abs(expected) * 1e-9, `${actual} is not ${expected}`);

describe('quantiles of histograms', () => {
  const buckets = [
    { le: 0.1, count: 10 },
    { le: 0.5, count: 50 },
    { le: 1, count: 100 },
    { le: Infinity, count: 110 },
  ];
  const distribution = { buckets, sum: 70, count: 110 };

  test('interpolate in the bucket, from zero in the first', () => {
    near(quantile(0.5, distribution)?.value ?? Number.NaN, 0.5 + 0.5 * (5 / 50));
    near(quantile(0.05, distribution)?.value ?? Number.NaN, 0.1 * (5.5 / 10));
  });

  test('above the last bound are at least that bound', () => {
    assert.deepEqual(quantile(0.99, distribution), { value: 1, atLeast: true });
  });

  test('are nothing without observations or without a last bucket', () => {
    assert.equal(
      quantile(0.5, { buckets: buckets.map(({ le }) => ({ le, count: 0 })), sum: 0, count: 0 }),
      undefined,
    );
    assert.equal(quantile(0.5, { buckets: buckets.slice(0, 3), sum: 1, count: 100 }), undefined);
    assert.equal(quantile(0.5, { buckets: [], sum: 0, count: 0 }), undefined);
  });

  test('do not fall with q, and lie within the bounds', () => {
    const histogram = fc
      .array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 50 })), {
        minLength: 1,
        maxLength: 12,
      })
      .map((steps) => {
        let le = 0;
        let count = 0;
        const list = steps.map(([width, more]) => ({ le: (le += width), count: (count += more) }));
        return { buckets: [...list, { le: Infinity, count }], sum: 1, count };
      });
    fc.assert(
      fc.property(
        histogram,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (h, a, b) => {
          const low = quantile(Math.min(a, b), h);
          const high = quantile(Math.max(a, b), h);
          if (h.count === 0) return low === undefined && high === undefined;
          const top = h.buckets.at(-2)?.le ?? 0;
          return (
            low !== undefined &&
            high !== undefined &&
            low.value <= high.value + 1e-9 &&
            high.value <= top &&
            low.value >= 0
          );
        },
      ),
    );
  });

  test('of pods with different buckets use the bounds that they share', () => {
    const coarse = {
      buckets: [
        { le: 1, count: 5 },
        { le: Infinity, count: 5 },
      ],
      sum: 2,
      count: 5,
    };
    assert.deepEqual(merge([distribution, coarse]).buckets, [
      { le: 1, count: 105 },
      { le: Infinity, count: 115 },
    ]);
  });
});

describe('metrics of engines', () => {
  test('rates and percentiles say what they wait for on the first reading', () => {
    const found = engineMeasurements([
      { pod, current: scrape(0, 'vllm:prompt_tokens_total 5', 'vllm:num_requests_waiting 2') },
    ]);
    const rate = of(found, 'tokens.prompt.rate');
    assert.equal(rate.kind === 'absent' && rate.why, 'too-few-points');
    assert.equal(value(found, 'queue.waiting'), 2);
  });

  test('a counter that fell, and one that was made anew, count what came since', () => {
    const pair = (before: readonly string[], now: readonly string[]): PodScrape => ({
      pod,
      previous: scrape(0, ...before),
      current: scrape(10_000, ...now),
    });
    const rate = (before: readonly string[], now: readonly string[]): number =>
      value(engineMeasurements([pair(before, now)]), 'tokens.generation.rate');
    assert.equal(rate(['vllm:generation_tokens_total 100'], ['vllm:generation_tokens_total 150']), 5);
    assert.equal(rate(['vllm:generation_tokens_total 100'], ['vllm:generation_tokens_total 30']), 3);
    const created = (at: number): string => `vllm:generation_tokens_created ${at}`;
    assert.equal(
      rate(
        ['vllm:generation_tokens_total 100', created(1)],
        ['vllm:generation_tokens_total 120', created(9)],
      ),
      12,
      'a process that began at 9 s has made 120 tokens since',
    );
  });

  test('a label set that is new counted from zero', () => {
    const found = engineMeasurements([
      {
        pod,
        previous: scrape(0, 'vllm:num_requests_waiting 0', 'http_requests_total{status="200"} 10'),
        current: scrape(
          10_000,
          'vllm:num_requests_waiting 0',
          'http_requests_total{status="200"} 20',
          'http_requests_total{status="503"} 5',
        ),
      },
    ]);
    assert.equal(value(found, 'errors.502-503.rate'), 0.5);
    assert.equal(value(found, 'errors.504.rate'), 0, 'statuses are written out, and none is 504');
  });

  test('grouped statuses leave single ones unknown, not zero', () => {
    const page = (count: number): string[] => [
      'vllm:num_requests_waiting 0',
      `http_requests_total{status="5xx"} ${count}`,
    ];
    const found = engineMeasurements([
      { pod, previous: scrape(0, ...page(0)), current: scrape(10_000, ...page(10)) },
    ]);
    assert.equal(value(found, 'errors.5xx.rate'), 1);
    assert.equal(of(found, 'errors.504.rate').kind, 'absent');
  });

  test('names of other versions and spellings lead to the same metric', () => {
    for (const name of [
      'vllm:kv_cache_usage_perc',
      'vllm:gpu_cache_usage_perc',
      'vllm_kv_cache_usage_perc',
      'ray_vllm_kv_cache_usage_perc',
    ]) {
      assert.equal(
        value(engineMeasurements([{ pod, current: scrape(0, `${name} 0.5`) }]), 'kv-cache.usage'),
        0.5,
        name,
      );
    }
    const both = scrape(0, 'vllm:kv_cache_usage_perc 0.5', 'vllm:gpu_cache_usage_perc 0.9');
    assert.equal(
      value(engineMeasurements([{ pod, current: both }]), 'kv-cache.usage'),
      0.5,
      'the newer name counts',
    );
  });

  test('percentiles of the workload come from the buckets of all pods', () => {
    const page = (fast: number, slow: number): string[] => [
      `vllm:time_to_first_token_seconds_bucket{le="0.1"} ${fast}`,
      `vllm:time_to_first_token_seconds_bucket{le="10"} ${fast + slow}`,
      `vllm:time_to_first_token_seconds_bucket{le="+Inf"} ${fast + slow}`,
      `vllm:time_to_first_token_seconds_count ${fast + slow}`,
      `vllm:time_to_first_token_seconds_sum ${fast * 0.05 + slow * 5}`,
    ];
    const of2 = (name: string, fast: number, slow: number): PodScrape => ({
      pod: { namespace: 'llm', name },
      previous: scrape(0, ...page(0, 0)),
      current: scrape(60_000, ...page(fast, slow)),
    });
    const found = engineMeasurements([of2('a', 100, 0), of2('b', 0, 100)]);
    near(value(found, 'ttft.p50'), 0.1);
    near(value(found, 'ttft.mean'), (100 * 0.05 + 100 * 5) / 200);
  });

  test('an engine is known by what it exports, several at once', () => {
    assert.deepEqual(enginesOf(scrape(0, 'nv_inference_count 1', 'vllm:num_requests_running 1')), [
      'vllm',
      'triton',
    ]);
    assert.deepEqual(enginesOf(scrape(0, 'num_requests_running 1')), ['nim']);
    assert.deepEqual(enginesOf(scrape(0, 'python_info 1')), []);
  });

  test('a value that is no number is absent', () => {
    const found = engineMeasurements([{ pod, current: scrape(0, 'vllm:kv_cache_usage_perc NaN') }]);
    assert.equal(of(found, 'kv-cache.usage').kind, 'absent');
  });

  test('every measurement has the unit of the vocabulary', () => {
    const page = (n: number): string[] => [
      `sglang:num_queue_reqs ${n}`,
      `sglang:prompt_tokens_total ${n * 10}`,
      `sglang:cached_tokens_total ${n}`,
      `tgi_queue_size ${n}`,
      `nv_inference_request_success ${n}`,
      `nv_inference_request_duration_us ${n * 2e6}`,
    ];
    const found = engineMeasurements([
      { pod, previous: scrape(0, ...page(0)), current: scrape(1000, ...page(4)) },
    ]);
    for (const { metric, observed } of found) {
      if (observed.kind === 'reading') assert.equal(observed.unit, unitOf(metric), metric);
    }
    near(value(found, 'e2e.mean'), 2);
    near(value(found, 'prefix-cache.hit-ratio'), 0.1);
  });

  const real = resolve(__dirname, '../../../shared/facts/exposition/vllm-0.32.0-cpu.txt');
  test('a page of a real vLLM', { skip: existsSync(real) ? false : 'the recorded page is not here' }, () => {
    const { samples } = parseExposition(readFileSync(real, 'utf8'), 0);
    const before: Sample[] = samples.map((sample) =>
      /_(total|count|sum|bucket)$/.test(sample.name) ? { ...sample, value: 0 } : sample,
    );
    const found = engineMeasurements([
      { pod, previous: { at: 0, samples: before }, current: { at: 60_000, samples } },
    ]);
    for (const metric of [
      'ttft.p50',
      'ttft.p95',
      'inter-token.p95',
      'e2e.p99',
      'queue-time.p95',
      'tokens.generation.rate',
    ]) {
      assert.ok(value(found, metric) > 0, metric);
    }
    assert.equal(value(found, 'queue.waiting'), 0);
    near(value(found, 'requests.rate'), 24 / 60);
  });
});

describe('devices', () => {
  test('GPUs of the DCGM exporter, in units of the vocabulary, with the pod that uses them', () => {
    const gpu = (index: number, more = ''): string =>
      `gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA L4",Hostname="h"${more}`;
    const found = deviceMeasurements({
      node: 'ip-10-0-0-1',
      current: scrape(
        0,
        `DCGM_FI_DEV_GPU_UTIL{${gpu(0, ',namespace="llm",pod="vllm-0",container="vllm"')}} 87`,
        `DCGM_FI_DEV_GPU_UTIL{${gpu(1)}} 3`,
        `DCGM_FI_DEV_FB_USED{${gpu(0)}} 1024`,
        `DCGM_FI_DEV_FB_FREE{${gpu(0)}} 3072`,
        `DCGM_FI_DEV_SM_CLOCK{${gpu(0)}} 2040`,
        `DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{${gpu(0)}} 68`,
      ),
    });
    const utilization = found.filter(({ metric }) => metric === 'gpu.utilization');
    assert.deepEqual(
      utilization.map(({ subject }) => (subject.kind === 'device' ? subject.pod?.name : 'x')),
      ['vllm-0', undefined],
    );
    near(value(found, 'gpu.memory.total', 'device'), 4 * 1024 ** 3);
    near(value(found, 'gpu.memory.used', 'device'), 1024 ** 3);
    near(value(found, 'gpu.clock.sm', 'device'), 2.04e9);
    assert.equal(value(found, 'gpu.throttle.thermal', 'device'), 1);
    assert.equal(value(found, 'gpu.throttle.power', 'device'), 1);
  });

  test('slices of a GPU are devices of their own', () => {
    const slice = (id: number): string => `DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-0",GPU_I_ID="${id}"} 1`;
    const found = deviceMeasurements({ node: 'n', current: scrape(0, slice(1), slice(2)) });
    assert.deepEqual(
      found.map(({ subject }) => (subject.kind === 'device' ? subject.id : 'x')),
      ['GPU-0/1', 'GPU-0/2'],
    );
  });

  test('NeuronCores', () => {
    const found = deviceMeasurements({
      node: 'n',
      current: scrape(
        0,
        'neuroncore_utilization_ratio{neuroncore="0"} 0.4',
        'neuroncore_memory_usage_tensors{neuroncore="0"} 100',
        'neuroncore_memory_usage_constants{neuroncore="0"} 20',
      ),
    });
    assert.equal(value(found, 'neuron.core.utilization', 'device'), 0.4);
    assert.equal(value(found, 'neuron.memory.used', 'device'), 120);
  });
});
