import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import {
  containerInsightsDimensions,
  containerInsightsMetrics,
} from '../../server/src/kube/metric-names/container-insights';
import { lookupMetric, metricFamilies, unitOfSeries } from '../../server/src/kube/metric-names/lookup';
import { engineTables } from '../../server/src/live/metrics/engine-tables';
import { parsePromQL } from '../../server/src/promql/parse';
import { meantMetric } from '../../server/src/rules/metrics/meant';
import { measureOf, wrongThreshold } from '../../server/src/rules/metrics/units';

/** The state of a name, with the metric behind it. */
function say(name: string, flat = false): string {
  const found = lookupMetric(name, flat);
  if (found === undefined) return 'nobody';
  return found.state === 'unknown' ? `unknown ${found.family.title}` : `${found.state} ${found.metric.name}`;
}

test('names of series lead to their metric', () => {
  assert.equal(say('vllm:num_requests_waiting'), 'current vllm:num_requests_waiting');
  assert.equal(say('vllm:time_to_first_token_seconds_bucket'), 'current vllm:time_to_first_token_seconds');
  assert.equal(say('vllm:prompt_tokens_created'), 'current vllm:prompt_tokens_total');
  assert.equal(say('vllm:iteration_tokens_total_sum'), 'current vllm:iteration_tokens_total');
  assert.equal(say('vllm:time_per_output_token_seconds_count'), 'old vllm:time_per_output_token_seconds');
  assert.equal(say('vllm:gpu_prefix_cache_hits'), 'old vllm:gpu_prefix_cache_hits_total');
});

test('a histogram without a suffix and a counter without _total are no series', () => {
  assert.equal(say('vllm:time_to_first_token_seconds'), 'misspelt vllm:time_to_first_token_seconds');
  assert.equal(say('vllm:prompt_tokens'), 'misspelt vllm:prompt_tokens_total');
  assert.equal(say('vllm:iteration_tokens_total'), 'misspelt vllm:iteration_tokens_total');
});

test('behind an adapter names are written in other ways, and unknown ones are somebody’s own', () => {
  assert.equal(say('vllm_num_requests_waiting', true), 'current vllm:num_requests_waiting');
  assert.equal(say('ray_vllm_gpu_cache_usage_perc', true), 'old vllm:gpu_cache_usage_perc');
  assert.equal(say('vllm_prompt_tokens', true), 'current vllm:prompt_tokens_total');
  assert.equal(say('vllm_queue_depth', true), 'nobody');
});

test('unknown names belong to a family by their prefix, or to nobody', () => {
  assert.equal(say('vllm:queue'), 'unknown vLLM');
  assert.equal(say('vllm:current_qps'), 'nobody');
  assert.equal(say('my_metric_total'), 'nobody');
  assert.equal(say('kube_hpa_status_current_replicas'), 'old kube_hpa_status_current_replicas');
});

test('no name is listed twice, and what replaces an old one is listed', () => {
  const names = metricFamilies.flatMap((family) =>
    [...family.metrics, ...family.old].map(({ name }) => name),
  );
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  const current = new Set(metricFamilies.flatMap((family) => family.metrics.map(({ name }) => name)));
  for (const { use, name } of metricFamilies.flatMap((family) => family.old))
    if (use !== undefined) assert.ok(current.has(use.name), `${name} is replaced by ${use.name}`);
});

test('what the live panel reads of the engines are names that are known here', () => {
  const named = ['vllm', 'sglang', 'tgi', 'triton'] as const;
  for (const engine of named) {
    const names = engineTables[engine].flatMap((extraction) =>
      extraction.kind === 'mean'
        ? [...extraction.total, ...extraction.count]
        : extraction.kind === 'share'
          ? [...extraction.part, ...extraction.whole]
          : extraction.names,
    );
    assert.ok(names.length > 0, engine);
    for (const name of names) {
      const found = lookupMetric(name, true);
      assert.ok(found?.state === 'current' || found?.state === 'old', `${engine} ${name}`);
    }
  }
});

test('a name that was probably meant: a slip is sure, similar words are not', () => {
  const metrics = ['vllm:num_requests_waiting', 'vllm:num_requests_running', 'DCGM_FI_DEV_GPU_UTIL'].map(
    (name) => ({ name }),
  );
  assert.deepEqual(meantMetric('vllm:num_request_waiting', { metrics }), {
    name: 'vllm:num_requests_waiting',
    sure: true,
  });
  assert.deepEqual(meantMetric('vllm:num_waiting_requests', { metrics }), {
    name: 'vllm:num_requests_waiting',
    sure: true,
  });
  assert.deepEqual(meantMetric('DCGM_FI_DEV_GPU_UTILIZATION', { metrics }), {
    name: 'DCGM_FI_DEV_GPU_UTIL',
    sure: true,
  });
  assert.equal(meantMetric('vllm:num_requests_waiting_total', { metrics })?.sure, false);
  assert.equal(meantMetric('vllm:uptime', { metrics }), undefined);
});

function measure(query: string): string | undefined {
  const parsed = parsePromQL(query);
  assert.ok(parsed.ok, query);
  return measureOf(parsed.expression)?.unit;
}

test('units follow the query', () => {
  assert.equal(measure('avg(vllm:kv_cache_usage_perc)'), 'ratio');
  assert.equal(measure('sum(vllm:kv_cache_usage_perc)'), undefined);
  assert.equal(measure('100 * max_over_time(vllm:kv_cache_usage_perc[5m])'), 'percent');
  assert.equal(measure('avg(DCGM_FI_DEV_GPU_UTIL) / 100'), 'ratio');
  assert.equal(measure('DCGM_FI_DEV_FB_USED * 1024 * 1024'), 'bytes');
  assert.equal(measure('DCGM_FI_DEV_FB_USED / 1024'), undefined);
  assert.equal(measure('DCGM_FI_DEV_FB_USED * (1024 * 1024)'), 'bytes');
  assert.equal(measure('nv_gpu_memory_used_bytes / nv_gpu_memory_total_bytes'), 'ratio');
  assert.equal(
    measure(
      'rate(vllm:e2e_request_latency_seconds_sum[5m]) / rate(vllm:e2e_request_latency_seconds_count[5m])',
    ),
    'seconds',
  );
  assert.equal(
    measure('histogram_quantile(0.9, rate(vllm:e2e_request_latency_seconds_bucket[5m]))'),
    'seconds',
  );
  assert.equal(measure('rate(vllm:prompt_tokens_total[5m])'), undefined);
  assert.equal(measure('count(vllm:kv_cache_usage_perc > 0.9)'), undefined);
  assert.equal(unitOfSeries('DCGM_FI_DEV_FB_USED'), 'MiB');
});

test('thresholds in another unit', () => {
  const wrong = (
    unit: 'ratio' | 'percent' | 'MiB' | 'seconds',
    value: number,
    metric = 'vllm:time_to_first_token_seconds',
  ) => wrongThreshold({ unit, metric }, value, true)?.meant;
  assert.equal(wrong('ratio', 85), 0.85);
  assert.equal(wrong('ratio', 0.85), undefined);
  assert.equal(wrong('ratio', 1), undefined);
  assert.equal(wrong('percent', 0.85), 85);
  assert.equal(wrong('percent', 1), undefined);
  assert.equal(wrong('MiB', 80e9), 76294);
  assert.equal(wrong('seconds', 500), 0.5);
  assert.equal(wrong('seconds', 500, 'karpenter_pods_startup_duration_seconds'), undefined);
});

test('Container Insights: the sets of dimensions are those that the agent publishes', (context) => {
  assert.ok(containerInsightsMetrics.includes('container_gpu_utilization'));
  assert.deepEqual(containerInsightsDimensions('service_number_of_running_pods'), [
    'ClusterName',
    'ClusterName Namespace Service',
  ]);
  const path = join(resolve(__dirname, '../../..'), 'shared/facts/cloudwatch-containerinsights.json');
  if (!existsSync(path)) {
    context.skip('the recorded declarations are not here');
    return;
  }
  const { metrics } = JSON.parse(readFileSync(path, 'utf8')) as {
    metrics: Record<string, { dimensions: string[][] }>;
  };
  for (const [name, { dimensions }] of Object.entries(metrics)) {
    assert.deepEqual(
      [...(containerInsightsDimensions(name) ?? [])].sort(),
      dimensions.map((set) => [...set].sort().join(' ')).sort(),
      name,
    );
  }
});
