import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, test } from 'node:test';
import type { SourceAnswer } from '../../server/src/live/snapshot';
import type { MetricId } from '../../server/src/live/vocabulary';
import { cloudWatchSource, type CloudWatchOptions } from '../../server/src/sources/cloudwatch';
import { cloudWatchQueries, periodFor } from '../../server/src/sources/cloudwatch-queries';
import { logsQuery } from '../../server/src/sources/logs-queries';
import { systemClock, type Clock } from '../../server/src/sources/runtime';
import { startLoopback, type Loopback, type Received } from './support/loopback';
import { signatureFault } from './support/sigv4';
import { until } from './support/until';
import { wantOf } from './support/want';

const never = new AbortController().signal;
const open: Loopback[] = [];
const secret = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'planted-secret-key',
  sessionToken: 'planted-session-token',
};
const now = 1_796_000_007_000;
const period = 60_000;
/** The end of the last whole period. */
const end = Math.floor(now / period) * period;

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

interface Query {
  readonly Id: string;
  readonly Expression?: string;
  readonly Label?: string;
  readonly MetricStat?: {
    readonly Stat: string;
    readonly Period: number;
    readonly Metric: {
      readonly MetricName: string;
      readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[];
    };
  };
}

interface Call {
  readonly operation: string;
  readonly input: { readonly MetricDataQueries?: readonly Query[]; readonly NextToken?: string } & Record<
    string,
    unknown
  >;
}

function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers });
  response.end(JSON.stringify(value));
}

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  answerJson(
    response,
    status,
    { __type: `com.amazonaws.cloudwatch#${type}`, message },
    { 'x-amzn-errortype': type },
  );
}

/** CloudWatch as far as its protocol goes; `handle` answers a call. */
async function serve(
  handle: (call: Call, response: ServerResponse, request: Received) => void,
): Promise<Loopback & { readonly calls: readonly Call[] }> {
  const calls: Call[] = [];
  const server = await startLoopback((request, response) => {
    const call = {
      operation: (request.headers['x-amz-target'] ?? '').replace(/^.*\./, ''),
      input: JSON.parse(request.body === '' ? '{}' : request.body) as Call['input'],
    };
    calls.push(call);
    handle(call, response, request);
  });
  open.push(server);
  return Object.assign(server, { calls });
}

const seconds = (ms: number): number => ms / 1000;
const points = (
  id: string,
  values: readonly (readonly [number, number])[],
  label = id,
): Record<string, unknown> => ({
  Id: id,
  Label: label,
  StatusCode: 'Complete',
  Timestamps: values.map(([at]) => seconds(at)),
  Values: values.map(([, value]) => value),
});

function source(server: Loopback, more: Partial<CloudWatchOptions> = {}) {
  return cloudWatchSource({
    access: { region: 'eu-west-1', endpoint: server.url, credentials: () => Promise.resolve(secret) },
    cluster: 'prod',
    ...more,
  });
}

async function ask(
  server: Loopback,
  metrics: readonly MetricId[],
  more: Partial<CloudWatchOptions> = {},
  want: Parameters<typeof wantOf>[1] = {},
): Promise<SourceAnswer> {
  const one = source(server, more);
  try {
    return await one.read(wantOf({}, { metrics, now, ...want }), never);
  } finally {
    await one.dispose();
  }
}

const noAlarms = { MetricAlarms: [], CompositeAlarms: [] };

test('the clients sign their requests', async () => {
  const faults: (string | undefined)[] = [];
  const server = await serve(({ operation }, response, request) => {
    faults.push(signatureFault(request, secret, { region: 'eu-west-1', service: 'monitoring' }));
    answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] });
  });
  const { status } = await ask(server, ['gpu.utilization']);
  assert.deepEqual(status.problems, []);
  assert.equal(faults.length, 2);
  assert.deepEqual([...new Set(faults)], [undefined]);
});

test('searches tell each GPU of each pod, in the units of the vocabulary', async () => {
  const server = await serve(({ operation, input }, response) => {
    if (operation === 'DescribeAlarms') {
      answerJson(response, 200, noAlarms);
      return;
    }
    answerJson(response, 200, {
      MetricDataResults: (input.MetricDataQueries ?? []).flatMap(({ Id, Expression = '' }) => {
        const value = Expression.includes('container_gpu_utilization')
          ? 87
          : Expression.includes('gpu_memory_used')
            ? 20e9
            : undefined;
        if (value === undefined) return [];
        return ['nvidia0', 'nvidia1'].map((gpu, index) =>
          points(
            Id,
            [
              [end - 2 * period, value],
              [end - period, value + index],
            ],
            `vllm-a | vllm | ${gpu}`,
          ),
        );
      }),
    });
  });
  const answer = await ask(server, ['gpu.utilization', 'gpu.memory.used'], {
    hint: () => Promise.resolve({ nodes: new Map([['vllm-a', 'node-1']]) }),
  });
  const [first, second] = answer.measurements ?? [];
  assert.deepEqual(first?.subject, {
    kind: 'device',
    device: 'gpu',
    node: 'node-1',
    id: 'nvidia0',
    index: '0',
    pod: { namespace: 'chat', name: 'vllm-a' },
    container: 'vllm',
  });
  assert.ok(first.observed.kind === 'reading' && first.observed.value === 0.87 && first.observed.at === end);
  assert.ok(second?.observed.kind === 'reading' && second.observed.value === 0.88);
  assert.equal(answer.measurements?.length, 4);
  const [series] = answer.series ?? [];
  assert.deepEqual(series?.values.slice(-3), [null, 0.87, 0.87]);
  assert.equal(series.step, period);
  const expression = server.calls[0]?.input.MetricDataQueries?.[0]?.Expression ?? '';
  assert.equal(
    expression,
    `SEARCH('{ContainerInsights,ClusterName,Namespace,PodName,FullPodName,ContainerName,GpuDevice} MetricName="container_gpu_utilization" ClusterName="prod" Namespace="chat" PodName="vllm"', 'Average', 60)`,
  );
  assert.deepEqual(answer.status.cost?.metrics, 4);
  assert.equal(answer.status.cost.calls, 1);
  assert.equal(answer.status.cost.dollarsPerHour, 4 * 0.00001 * 60);
});

test('pages are put together', async () => {
  const server = await serve(({ operation, input }, response) => {
    if (operation === 'DescribeAlarms') {
      answerJson(response, 200, noAlarms);
      return;
    }
    const [{ Id = '' } = {}] = input.MetricDataQueries ?? [];
    answerJson(
      response,
      200,
      input.NextToken === undefined
        ? {
            MetricDataResults: [{ ...points(Id, [[end - 3 * period, 1]]), StatusCode: 'PartialData' }],
            NextToken: 'two',
          }
        : {
            MetricDataResults: [
              points(Id, [
                [end - 2 * period, 2],
                [end - period, 3],
              ]),
            ],
          },
    );
  });
  const answer = await ask(server, ['replicas.ready']);
  assert.deepEqual(answer.series?.[0]?.values.slice(-3), [1, 2, 3]);
  assert.equal(answer.status.cost?.calls, 2);
});

test('more than 500 queries are asked in batches of 500', async () => {
  const sizes: number[] = [];
  const server = await serve(({ operation, input }, response) => {
    if (operation === 'GetMetricData') sizes.push(input.MetricDataQueries?.length ?? 0);
    answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] });
  });
  // Ids of the vocabulary are fewer, so those of an application stand in.
  const metrics = Object.fromEntries(
    Array.from({ length: 1_203 }, (_, index) => [`own-${index}`, { name: `M${index}`, stat: 'Sum' }]),
  );
  await ask(server, Object.keys(metrics) as MetricId[], {
    application: { namespace: 'App', dimensions: {}, metrics },
  });
  assert.deepEqual(sizes, [500, 500, 203]);
});

describe('one query that CloudWatch does not like', () => {
  for (const [what, isBad] of [
    ['a percentile', (query: Query) => query.MetricStat?.Stat === 'p99'],
    ['a search', (query: Query) => query.Expression?.includes('container_gpu_temperature') === true],
    ['a plain metric', (query: Query) => query.MetricStat?.Metric.MetricName === 'replicas_ready'],
  ] as const) {
    test(`${what}: the others are answered`, async () => {
      const server = await serve(({ operation, input }, response) => {
        const queries = input.MetricDataQueries ?? [];
        if (operation === 'DescribeAlarms') answerJson(response, 200, noAlarms);
        else if (queries.some(isBad)) fail(response, 400, 'ValidationError', 'a query is not valid');
        else
          answerJson(response, 200, {
            MetricDataResults: queries.map(({ Id, Expression }) =>
              points(Id, [[end - period, 1]], Expression === undefined ? Id : 'vllm-a | vllm | nvidia0'),
            ),
          });
      });
      const metrics: readonly MetricId[] = [
        'api-server.latency.p99',
        'api-server.latency.mean',
        'gpu.temperature',
        'gpu.utilization',
        'replicas.ready',
        'replicas.desired',
        'cluster.nodes.failed',
      ];
      const answer = await ask(server, metrics);
      assert.equal(answer.status.state, 'partial');
      assert.equal(answer.measurements?.length, metrics.length - 1);
      assert.equal(answer.status.problems.length, 1);
      assert.match(answer.status.problems[0]?.message ?? '', /Validation/);
      assert.equal(answer.status.problems[0]?.what.includes(','), false, answer.status.problems[0]?.what);
    });
  }

  test('a service that fails altogether is not asked endlessly', async () => {
    const server = await serve((_, response) => fail(response, 400, 'InternalServiceFault', 'down'));
    const answer = await ask(server, wantOf({}).metrics);
    assert.ok((answer.status.cost?.calls ?? 0) <= 24);
    assert.equal(answer.status.state, 'failed');
    assert.deepEqual(answer.measurements, []);
  });
});

describe('what goes wrong', () => {
  test('each missing action of IAM is named, and the other answer is there', async () => {
    const server = await serve(({ operation }, response) => {
      if (operation === 'GetMetricData')
        fail(
          response,
          400,
          'AccessDeniedException',
          'User: arn:aws:iam::111122223333:user/x is not authorized',
        );
      else answerJson(response, 200, noAlarms);
    });
    const answer = await ask(server, ['gpu.utilization', 'replicas.ready']);
    assert.equal(answer.status.state, 'partial');
    assert.deepEqual(
      answer.status.problems.map(({ missing }) => missing),
      [{ kind: 'iam', action: 'cloudwatch:GetMetricData', resource: '*' }],
    );
    assert.equal(server.calls.filter(({ operation }) => operation === 'GetMetricData').length, 1);
    assert.equal(answer.alarms?.kind, 'known');
  });

  test('everything denied', async () => {
    const server = await serve((_, response) => fail(response, 400, 'AccessDeniedException', 'no'));
    const answer = await ask(server, ['replicas.ready']);
    assert.equal(answer.status.state, 'denied');
    assert.deepEqual(
      answer.status.problems.map(({ missing }) => (missing?.kind === 'iam' ? missing.action : '')),
      ['cloudwatch:GetMetricData', 'cloudwatch:DescribeAlarms'],
    );
    assert.ok(answer.alarms?.kind === 'absent' && answer.alarms.why === 'denied');
  });

  test('expired credentials, half an answer, a reset, a slow service', async () => {
    const cases: readonly (readonly [(response: ServerResponse) => void, string, RegExp])[] = [
      [
        (response) =>
          fail(response, 400, 'ExpiredTokenException', 'The security token planted-session-token is expired'),
        'denied',
        /does not accept the credentials/,
      ],
      [
        (response) =>
          response
            .writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
            .end('{"MetricDataResults": [{"Id"'),
        'failed',
        /not one of CloudWatch/,
      ],
      [(response) => response.destroy(), 'failed', /connection was reset/],
      [() => undefined, 'slow', /no answer within/],
    ];
    for (const [how, state, expected] of cases) {
      const server = await serve((_, response) => how(response));
      const answer = await ask(server, ['replicas.ready'], { timeoutMs: state === 'slow' ? 100 : 20_000 });
      assert.equal(answer.status.state, state, JSON.stringify(answer.status));
      assert.match(answer.status.problems[0]?.message ?? '', expected);
      assert.doesNotMatch(JSON.stringify(answer), /planted/);
    }
  });

  test('no credentials at all', async () => {
    const server = await serve((_, response) => answerJson(response, 200, {}));
    const answer = await ask(server, ['replicas.ready'], {
      access: {
        region: 'eu-west-1',
        endpoint: server.url,
        credentials: () =>
          Promise.reject(new Error('Token is expired. To refresh this SSO session run aws sso login')),
      },
    });
    assert.equal(answer.status.state, 'denied');
    assert.match(answer.status.problems[0]?.message ?? '', /no AWS credentials: Token is expired/);
    assert.equal(server.calls.length, 0);
  });

  test('without the name of the cluster only alarms and the application are asked for', async () => {
    const server = await serve(({ operation }, response) =>
      answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] }),
    );
    const one = cloudWatchSource({
      access: { region: 'eu-west-1', endpoint: server.url, credentials: () => Promise.resolve(secret) },
    });
    const answer = await one.read(wantOf({}, { now }), never);
    assert.ok(answer.status.problems.some(({ why }) => why === 'not-configured'));
    assert.deepEqual(
      server.calls.map(({ operation }) => operation),
      ['DescribeAlarms'],
    );
    await one.dispose();
  });

  test('reading can be cancelled', async () => {
    const stop = new AbortController();
    const server = await serve(() => stop.abort(new Error('hidden')));
    const one = source(server);
    await assert.rejects(one.read(wantOf({}, { now }), stop.signal), /hidden/);
    await one.dispose();
  });
});

test('within a minute nothing is asked again', async () => {
  let time = now;
  const clock: Clock = { now: () => time, wait: systemClock.wait };
  const server = await serve(({ operation }, response) =>
    answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] }),
  );
  const one = source(server, { clock });
  for (const later of [0, 15_000, 59_000, 61_000]) {
    time = now + later;
    await one.read(wantOf({}, { metrics: ['replicas.ready'], now: time }), never);
  }
  assert.equal(server.calls.length, 4);
  await one.dispose();
});

test('alarms are those of the workload, with composites on them, the worst first', async () => {
  const dimension = (pairs: Record<string, string>): unknown =>
    Object.entries(pairs).map(([Name, Value]) => ({ Name, Value }));
  const alarm = (
    AlarmName: string,
    StateValue: string,
    pairs: Record<string, string>,
    more: Record<string, unknown> = {},
  ): unknown => ({
    AlarmName,
    StateValue,
    StateReason: 'Threshold Crossed',
    StateUpdatedTimestamp: seconds(end),
    Namespace: 'ContainerInsights',
    MetricName: 'pod_gpu_memory_utilization',
    Statistic: 'Maximum',
    Period: 60,
    EvaluationPeriods: 15,
    Threshold: 85,
    ComparisonOperator: 'GreaterThanThreshold',
    ActionsEnabled: true,
    Dimensions: dimension(pairs),
    ...more,
  });
  const server = await serve(({ operation, input }, response) => {
    if (operation !== 'DescribeAlarms') answerJson(response, 200, { MetricDataResults: [] });
    else if (input.NextToken === undefined)
      answerJson(response, 200, {
        MetricAlarms: [
          alarm('ok', 'OK', { ClusterName: 'prod', Namespace: 'chat', PodName: 'vllm' }),
          alarm('other workload', 'ALARM', { ClusterName: 'prod', Namespace: 'chat', PodName: 'other' }),
          alarm('other cluster', 'ALARM', { ClusterName: 'test' }),
        ],
        NextToken: 'two',
      });
    else
      answerJson(response, 200, {
        MetricAlarms: [
          alarm(
            'vram',
            'ALARM',
            { ClusterName: 'prod', Namespace: 'chat', PodName: 'vllm' },
            { DatapointsToAlarm: 10 },
          ),
        ],
        CompositeAlarms: [
          {
            AlarmName: 'both',
            AlarmRule: 'ALARM("vram")\n AND ALARM("ok")',
            StateValue: 'INSUFFICIENT_DATA',
            StateUpdatedTimestamp: seconds(end),
          },
          {
            AlarmName: 'foreign',
            AlarmRule: 'ALARM("other cluster")',
            StateValue: 'ALARM',
            StateUpdatedTimestamp: seconds(end),
          },
        ],
      });
  });
  const { alarms } = await ask(server, ['replicas.ready']);
  assert.ok(alarms?.kind === 'known');
  assert.deepEqual(
    alarms.value.map(({ name, state, rule }) => [name, state, rule]),
    [
      [
        'vram',
        'ALARM',
        'ContainerInsights pod_gpu_memory_utilization (Maximum) > 85 in 10 of 15 periods of 1 min',
      ],
      ['both', 'INSUFFICIENT_DATA', 'ALARM("vram") AND ALARM("ok")'],
      ['ok', 'OK', 'ContainerInsights pod_gpu_memory_utilization (Maximum) > 85 for 15 min'],
    ],
  );
});

describe('Logs Insights', () => {
  const quick: Clock = {
    now: () => Date.now(),
    wait: (ms, signal) => systemClock.wait(ms >= 15_000 ? ms : 1, signal),
  };

  test('a query runs when it is asked for, is waited for, and its cost is told', async () => {
    let asked = 0;
    const server = await serve(({ operation }, response) => {
      if (operation === 'StartQuery') answerJson(response, 200, { queryId: 'id-1' });
      else if (operation === 'GetQueryResults' && asked++ < 2)
        answerJson(response, 200, { status: 'Running', results: [] });
      else if (operation === 'GetQueryResults')
        answerJson(response, 200, {
          status: 'Complete',
          statistics: { bytesScanned: 2e9 },
          results: [
            [
              { field: 'pod', value: 'vllm-a' },
              { field: 'latency_ms', value: '2310' },
              { field: '@ptr', value: 'x' },
            ],
            [
              { field: 'pod', value: 'vllm-b' },
              { field: 'request', value: 'Authorization: Bearer planted-in-log' },
            ],
          ],
        });
      else answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] });
    });
    const without = await ask(server, ['replicas.ready'], { clock: quick });
    assert.equal(without.logsQuery, undefined);
    assert.ok(!server.calls.some(({ operation }) => operation === 'StartQuery'));
    const answer = await ask(server, ['replicas.ready'], { clock: quick }, { logsQuery: 'slow-requests' });
    assert.ok(answer.logsQuery?.kind === 'known');
    const { columns, rows, cost, logGroups } = answer.logsQuery.value;
    assert.deepEqual(columns, ['pod', 'latency_ms', 'request']);
    assert.deepEqual(rows[0], ['vllm-a', '2310', '']);
    assert.equal(cost.dollars, 0.01);
    assert.deepEqual(logGroups, ['/aws/containerinsights/prod/application']);
    assert.doesNotMatch(JSON.stringify(answer), /planted/);
  });

  test('a missing right, a log group that is not there, and a query that fails leave the rest', async () => {
    for (const [type, why, expected] of [
      ['AccessDeniedException', 'denied', /StartQuery/],
      ['ResourceNotFoundException', 'no-data', /log group does not exist/],
      ['MalformedQueryException', 'failed', /MalformedQueryException/],
    ] as const) {
      const server = await serve(({ operation }, response) => {
        if (operation === 'StartQuery') fail(response, 400, type, 'The log group does not exist');
        else answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] });
      });
      const answer = await ask(server, ['replicas.ready'], {}, { logsQuery: 'latency-percentiles' });
      assert.ok(answer.logsQuery?.kind === 'absent' && answer.logsQuery.why === why, type);
      assert.match(answer.logsQuery.message, expected);
      assert.equal(answer.status.state, 'partial');
    }
  });

  test('a query that nobody waits for any more is stopped', async () => {
    const stop = new AbortController();
    const server = await serve(({ operation }, response) => {
      if (operation === 'StartQuery') answerJson(response, 200, { queryId: 'id-1' });
      else if (operation === 'GetQueryResults') {
        answerJson(response, 200, { status: 'Running', results: [] });
        stop.abort(new Error('hidden'));
      } else answerJson(response, 200, operation === 'DescribeAlarms' ? noAlarms : { MetricDataResults: [] });
    });
    const one = source(server);
    await assert.rejects(
      one.read(wantOf({}, { now, metrics: [], logsQuery: 'tokens-and-cost' }), stop.signal),
      /hidden/,
    );
    await until('it is stopped', () => server.calls.some(({ operation }) => operation === 'StopQuery'));
    await one.dispose();
  });

  test('names cannot break out of the query', () => {
    for (const id of ['latency-percentiles', 'slow-requests', 'tokens-and-cost'] as const) {
      const query = logsQuery(id, { namespace: 'a" or 1=1 | fields @message #', workload: 'b/ or /c' });
      assert.match(query, /namespace_name = "aor11fieldsmessage"/);
      assert.match(query, /pod_name like \/\^borc-\//);
    }
  });
});

test('periods fit the range', () => {
  assert.deepEqual([15_000, 30_000, 120_000, 600_000, 3_600_000].map(periodFor), [60, 60, 120, 600, 3600]);
});

test('names of Container Insights are those that it has, with dimensions that it has them by', async (context) => {
  const { existsSync, readFileSync } = await import('node:fs');
  const { join } = await import('node:path');
  const path = join(__dirname, '../../../shared/facts/cloudwatch-containerinsights.json');
  if (!existsSync(path)) {
    context.skip('the list of names is not here');
    return;
  }
  const { metrics } = JSON.parse(readFileSync(path, 'utf8')) as {
    metrics: Record<string, { dimensions: string[][] }>;
  };
  const queries = cloudWatchQueries(wantOf({}), {
    cluster: 'c',
    namespace: 'n',
    workload: 'w',
    nodeOf: () => undefined,
    application: undefined,
    period: 60,
  });
  for (const { ask } of queries) {
    const name = ask.kind === 'metric' ? ask.name : (/MetricName="([^"]+)"/.exec(ask.expression)?.[1] ?? '');
    const dimensions =
      ask.kind === 'metric'
        ? Object.keys(ask.dimensions)
        : (/\{ContainerInsights,([^}]+)\}/.exec(ask.expression)?.[1] ?? '').split(',');
    const known = metrics[name]?.dimensions.map((set) => [...set].sort().join());
    assert.ok(known?.includes([...dimensions].sort().join()), `${name} by ${dimensions.join()}`);
  }
});
