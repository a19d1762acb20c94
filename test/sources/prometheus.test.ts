import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { ServerResponse } from 'node:http';
import { metricIds, type MetricId } from '../../server/src/live/vocabulary';
import type { EngineName } from '../../server/src/live/want';
import { connectCluster } from '../../server/src/sources/cluster';
import { prometheusSource, selectionOf, type PrometheusOptions } from '../../server/src/sources/prometheus';
import { podPatternOf, prometheusQueries } from '../../server/src/sources/prometheus-queries';
import { parsePromQL } from '../../server/src/promql/parse';
import { sendJson, startLoopback, type Loopback, type Received } from './support/loopback';
import { forbid, startFakeApiServer, token } from './support/kube-server';
import { signatureFault } from './support/sigv4';
import { wantOf } from './support/want';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function serve(answer: (request: Received, response: ServerResponse) => void): Promise<Loopback> {
  const server = await startLoopback(answer);
  open.push(server);
  return server;
}

const matrix = (
  ...series: readonly { labels?: Record<string, string>; values: readonly (readonly [number, string])[] }[]
): unknown => ({
  status: 'success',
  data: {
    resultType: 'matrix',
    result: series.map(({ labels, values }) => ({ metric: labels ?? {}, values })),
  },
});

const empty = matrix();

/** What our own reader of PromQL has against a query. */
function faultOf(query: string): unknown {
  const parsed = parsePromQL(query);
  return parsed.ok ? undefined : parsed.problem;
}

const now = 1_796_000_007_000;
const end = Math.floor(now / 30_000) * 30;

function ask(
  place: PrometheusOptions['place'],
  metrics: readonly MetricId[],
  more: Partial<PrometheusOptions> = {},
) {
  const source = prometheusSource({ place, ...more });
  return source.read(wantOf({}, { metrics, now }), never).finally(() => source.dispose());
}

describe('queries', () => {
  const engines: readonly EngineName[] = [
    'vllm',
    'sglang',
    'tgi',
    'triton',
    'ray-serve',
    'tensorrt-llm',
    'nim',
    'llama-cpp',
    'ollama',
    'unknown',
  ];
  for (const engine of engines) {
    test(`every query for ${engine} is PromQL, and each metric is asked for once`, () => {
      const want = wantOf({}, { engine });
      const queries = prometheusQueries(
        want,
        selectionOf(want, { nodes: ['ip-10-0-1-7.ec2.internal'], hpa: 'vllm' }),
      );
      for (const { query, metric } of queries) {
        assert.equal(faultOf(query), undefined, `${metric}: ${query}`);
      }
      const asked = queries.map(({ metric, labels }) => `${metric} ${labels === undefined ? '' : 'split'}`);
      assert.equal(new Set(asked).size, asked.length);
    });
  }

  test('names of all versions and spellings, in order', () => {
    const want = wantOf({}, { metrics: ['kv-cache.usage'] });
    const [query] = prometheusQueries(want, selectionOf(want, {}));
    const text = query?.query ?? '';
    assert.ok(
      text.indexOf('(ray_)?vllm[:_]kv_cache_usage_perc') <
        text.indexOf('(ray_)?vllm[:_]gpu_cache_usage_perc'),
      text,
    );
    assert.match(text, /namespace="chat",pod=~"vllm-\[a-z0-9\]\{6,10\}-\[a-z0-9\]\{5\}"/);
  });

  test('patterns match the pods of the kind and not those of a workload with a longer name', () => {
    const matches = (kind: string, name: string, pod: string): boolean =>
      new RegExp(`^(?:${podPatternOf(kind, name)})$`).test(pod);
    assert.ok(matches('Deployment', 'vllm', 'vllm-7d9c6bd9f8-x2x4z'));
    assert.ok(!matches('Deployment', 'vllm', 'vllm-router-7d9c6bd9f8-x2x4z'));
    assert.ok(matches('StatefulSet', 'db', 'db-11'));
    assert.ok(!matches('StatefulSet', 'db', 'db-x-1'));
    assert.ok(matches('LeaderWorkerSet', 'lws', 'lws-0-3'));
    assert.ok(!matches('Deployment', 'a.b', 'aXb-7d9c6bd9f8-x2x4z'));
  });

  test('a name with quotes and backslashes stays a text', () => {
    const want = wantOf({ name: 'a"b\\c', namespace: 'x"} or up{a="' });
    for (const { query } of prometheusQueries(want, selectionOf(want, {})))
      assert.equal(faultOf(query), undefined, query);
  });
});

describe('answers', () => {
  test('a range becomes a series with gaps, and its last point the value now', async () => {
    const server = await serve((_, response) =>
      sendJson(
        response,
        200,
        matrix({
          values: [
            [end - 60, '3'],
            [end, '5'],
          ],
        }),
      ),
    );
    const answer = await ask({ kind: 'url', url: server.url }, ['queue.waiting']);
    assert.equal(answer.status.state, 'ok');
    const [series] = answer.series ?? [];
    assert.equal(series?.values.length, 121);
    assert.deepEqual(series.values.slice(-3), [3, null, 5]);
    assert.equal(series.step, 30_000);
    const [one] = answer.measurements ?? [];
    assert.ok(one?.observed.kind === 'reading' && one.observed.value === 5 && one.observed.at === end * 1000);
    assert.equal(server.received[0]?.path, '/api/v1/query_range');
    assert.equal(server.received[0].query.get('step'), '30');
  });

  test('NaN is no point, and a series that ended long ago is no value of now', async () => {
    const server = await serve((_, response) =>
      sendJson(
        response,
        200,
        matrix({
          values: [
            [end - 600, '1'],
            [end - 30, 'NaN'],
            [end, '+Inf'],
          ],
        }),
      ),
    );
    const answer = await ask({ kind: 'url', url: server.url }, ['ttft.p95']);
    assert.deepEqual(answer.measurements, []);
    assert.equal(answer.series?.[0]?.values.filter((value) => value !== null).length, 1);
  });

  test('GPUs are told apart by their labels, with units of the vocabulary', async () => {
    const labels = {
      UUID: 'GPU-1',
      gpu: '0',
      modelName: 'NVIDIA L4',
      Hostname: 'node-1',
      exported_pod: 'vllm-a-b',
      exported_namespace: 'chat',
    };
    const server = await serve((_, response) =>
      sendJson(response, 200, matrix({ labels, values: [[end, '87']] })),
    );
    const answer = await ask({ kind: 'url', url: server.url }, ['gpu.utilization']);
    const [one] = answer.measurements ?? [];
    assert.deepEqual(one?.subject, {
      kind: 'device',
      device: 'gpu',
      node: 'node-1',
      id: 'GPU-1',
      index: '0',
      model: 'NVIDIA L4',
      pod: { namespace: 'chat', name: 'vllm-a-b' },
    });
    assert.ok(
      one.observed.kind === 'reading' && one.observed.value === 0.87 && one.observed.unit === 'ratio',
    );
  });

  test('without history it asks for now only', async () => {
    const server = await serve((_, response) =>
      sendJson(response, 200, {
        status: 'success',
        data: { resultType: 'vector', result: [{ metric: {}, value: [now / 1000, '4'] }] },
      }),
    );
    const source = prometheusSource({ place: { kind: 'url', url: server.url } });
    const answer = await source.read(wantOf({}, { metrics: ['queue.running'], now, history: false }), never);
    assert.equal(answer.series, undefined);
    assert.equal(server.received[0]?.path, '/api/v1/query');
    assert.ok(answer.measurements?.[0]?.observed.kind === 'reading');
    await source.dispose();
  });

  test('a step is asked for once', async () => {
    const server = await serve((_, response) => sendJson(response, 200, empty));
    const source = prometheusSource({ place: { kind: 'url', url: server.url } });
    for (const later of [0, 5_000, 30_000])
      await source.read(wantOf({}, { metrics: ['queue.waiting'], now: now + later }), never);
    assert.equal(server.received.length, 2);
    await source.dispose();
  });
});

describe('what goes wrong', () => {
  test('one query or percentile that fails leaves the others', async () => {
    const server = await serve(({ query }, response) => {
      const text = query.get('query') ?? '';
      if (text.includes('histogram_quantile(0.95'))
        sendJson(response, 422, {
          status: 'error',
          errorType: 'execution',
          error: 'query processing would load too many samples into memory',
        });
      else if (text.includes('histogram_quantile(0.99'))
        response.end('{"status":"success","data":{"resultType":"mat');
      else sendJson(response, 200, matrix({ values: [[end, '0.4']] }));
    });
    const answer = await ask({ kind: 'url', url: server.url }, [
      'ttft.p50',
      'ttft.p95',
      'ttft.p99',
      'queue.waiting',
    ]);
    assert.equal(answer.status.state, 'partial');
    assert.deepEqual(answer.measurements?.map(({ metric }) => metric).sort(), ['queue.waiting', 'ttft.p50']);
    const told = answer.status.problems.map(({ what, why, message }) => `${what} ${why} ${message}`).sort();
    assert.match(told[0] ?? '', /^ttft\.p95 failed .*422: query processing would load too many samples/);
    assert.match(told[1] ?? '', /^ttft\.p99 nonsense .*not whole JSON/);
  });

  const whole: readonly (readonly [string, (response: ServerResponse) => void, string, RegExp])[] = [
    ['401', (response) => sendJson(response, 401, {}), 'denied', /401 Unauthorized/],
    ['403', (response) => sendJson(response, 403, {}), 'denied', /403 Forbidden/],
    ['a reset', (response) => response.destroy(), 'failed', /connection was reset/],
    [
      'a redirect to a log-in',
      (response) => response.writeHead(302, { location: 'https://login.example/' }).end(),
      'failed',
      /redirects/,
    ],
    ['a web page', (response) => response.end('<!doctype html><title>Sign in</title>'), 'failed', /web page/],
    [
      'another API',
      (response) => sendJson(response, 200, { hello: 'world' }),
      'failed',
      /not one of Prometheus/,
    ],
    [
      'a wrong type',
      (response) =>
        sendJson(response, 200, { status: 'success', data: { resultType: 'streams', result: [] } }),
      'failed',
      /of type streams/,
    ],
  ];
  for (const [what, how, state, expected] of whole) {
    test(`${what} is told once`, async () => {
      const server = await serve((_, response) => how(response));
      const answer = await ask({ kind: 'url', url: server.url }, ['ttft.p50', 'ttft.p95', 'queue.waiting']);
      assert.equal(answer.status.state, state);
      assert.equal(answer.status.problems.length, 1);
      assert.match(answer.status.problems[0]?.message ?? '', expected);
      assert.deepEqual(answer.measurements, []);
    });
  }

  test('a server that is slow is told as slow', async () => {
    const server = await serve(() => undefined);
    const answer = await ask({ kind: 'url', url: server.url }, ['queue.waiting'], { timeoutMs: 30 });
    assert.equal(answer.status.state, 'slow');
    assert.equal(answer.status.problems[0]?.why, 'slow');
  });

  test('a server that is not there is asked once, not for every metric', async () => {
    const answer = await ask({ kind: 'url', url: 'http://127.0.0.1:9' }, metricIds);
    assert.equal(answer.status.state, 'failed');
    assert.match(answer.status.problems[0]?.message ?? '', /connection was refused/);
  });

  test('an address that is none', async () => {
    const answer = await ask({ kind: 'url', url: 'prometheus:9090' }, ['queue.waiting']);
    assert.equal(answer.status.state, 'failed');
    assert.match(answer.status.problems[0]?.message ?? '', /not an http or https URL/);
  });

  test('reading can be cancelled', async () => {
    const stop = new AbortController();
    const server = await serve(() => stop.abort(new Error('hidden')));
    const source = prometheusSource({ place: { kind: 'url', url: server.url } });
    await assert.rejects(source.read(wantOf({}), stop.signal), /hidden/);
    await source.dispose();
  });

  test('no credential is in an answer', async () => {
    const server = await serve(({ headers }, response) =>
      sendJson(response, 500, {
        status: 'error',
        error: `cannot use ${headers['authorization'] ?? ''} of planted-password`,
      }),
    );
    const url = server.url.replace('//', '//planted-user:planted-password@');
    for (const authorization of [
      () => Promise.resolve('Bearer planted-bearer-token'),
      () => Promise.resolve(undefined),
    ]) {
      const text = JSON.stringify(await ask({ kind: 'url', url, authorization }, ['queue.waiting']));
      assert.doesNotMatch(text, /planted/);
    }
    assert.equal(server.received[0]?.headers['authorization'], 'Bearer planted-bearer-token');
    assert.equal(
      server.received[1]?.headers['authorization'],
      `Basic ${Buffer.from('planted-user:planted-password').toString('base64')}`,
    );
  });
});

test('a Service of the cluster is asked through the proxy, and what is missing is a right on it', async () => {
  const server = await startFakeApiServer();
  open.push(server);
  const cluster = connectCluster({ kubeconfig: server.kubeconfig(), env: {} });
  server.fault = ({ path, headers }, response) => {
    assert.equal(
      path,
      '/api/v1/namespaces/monitoring/services/prometheus-operated:web/proxy/prom/api/v1/query_range',
    );
    assert.equal(headers['authorization'], `Bearer ${token}`);
    sendJson(response, 200, matrix({ values: [[end, '7']] }));
    return true;
  };
  const place = {
    kind: 'service',
    world: cluster.world,
    namespace: 'monitoring',
    service: 'prometheus-operated',
    port: 'web',
    path: '/prom/',
  } as const;
  const answer = await ask(place, ['queue.waiting']);
  assert.ok(
    answer.measurements?.[0]?.observed.kind === 'reading' && answer.measurements[0].observed.value === 7,
  );
  server.fault = (_, response) => forbid(response);
  const denied = await ask(place, ['queue.waiting']);
  assert.deepEqual(denied.status.problems[0]?.missing, {
    kind: 'rbac',
    apiGroups: [''],
    resources: ['services/proxy'],
    verbs: ['get'],
    namespace: 'monitoring',
  });
  await cluster.dispose();
});

describe('Amazon Managed Service for Prometheus', () => {
  const secret = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'planted-secret-key',
    sessionToken: 'planted+session/token==',
  };
  const access = { region: 'eu-west-1', credentials: () => Promise.resolve(secret) };

  test('requests are signed', async () => {
    const faults: (string | undefined)[] = [];
    const server = await serve((request, response) => {
      faults.push(signatureFault(request, secret, { region: 'eu-west-1', service: 'aps' }));
      sendJson(response, 200, matrix({ values: [[end, '1']] }));
    });
    const place = {
      kind: 'amp',
      workspace: 'ws-1',
      access,
      endpoint: `${server.url}/workspaces/ws-1`,
    } as const;
    const answer = await ask(place, ['ttft.p95', 'queue.waiting', 'errors.5xx.rate', 'gpu.memory.total']);
    assert.equal(answer.status.state, 'ok');
    assert.equal(faults.length, 4);
    assert.deepEqual([...new Set(faults)], [undefined]);
    assert.equal(server.received[0]?.path, '/workspaces/ws-1/api/v1/query_range');
  });

  test('the verifier does not take just anything', async () => {
    const faults: (string | undefined)[] = [];
    const server = await serve((request, response) => {
      faults.push(
        signatureFault(
          request,
          { ...secret, secretAccessKey: 'other' },
          { region: 'eu-west-1', service: 'aps' },
        ),
      );
      sendJson(response, 200, empty);
    });
    await ask({ kind: 'amp', workspace: 'ws-1', access, endpoint: server.url }, ['queue.waiting']);
    assert.match(faults[0] ?? '', /^signature of/);
  });

  test('a missing right names the action and the workspace; a bad signature is told as such', async () => {
    let message = 'User is not authorized to perform: aps:QueryMetrics';
    const server = await serve((_, response) => sendJson(response, 403, { message }));
    const place = { kind: 'amp', workspace: 'ws-1', access, endpoint: server.url } as const;
    const denied = await ask(place, ['queue.waiting']);
    assert.deepEqual(denied.status.problems[0]?.missing, {
      kind: 'iam',
      action: 'aps:QueryMetrics',
      resource: 'arn:aws:aps:eu-west-1:*:workspace/ws-1',
    });
    message = 'The security token included in the request is expired planted+session/token==';
    const expired = await ask(place, ['queue.waiting']);
    assert.equal(expired.status.state, 'denied');
    assert.match(expired.status.problems[0]?.message ?? '', /AWS does not accept the credentials/);
    assert.doesNotMatch(JSON.stringify([denied, expired]), /planted/);
  });

  test('credentials that cannot be had are told', async () => {
    const place = {
      kind: 'amp',
      workspace: 'ws-1',
      access: {
        region: 'eu-west-1',
        credentials: () => Promise.reject(new Error('The SSO session has expired. Run aws sso login')),
      },
    } as const;
    const answer = await ask(place, ['queue.waiting']);
    assert.equal(answer.status.state, 'denied');
    assert.match(answer.status.problems[0]?.message ?? '', /no AWS credentials: The SSO session has expired/);
  });
});
