import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { forbid, startFakeApiServer, token, type FakeApiServer } from '../sources/support/kube-server';
import { plimsoll, type CliResult } from './host';

const now = 1_796_040_000_000;

function run(argv: readonly string[], more: Parameters<typeof plimsoll>[2] = {}): Promise<CliResult> {
  return plimsoll('/', ['status', ...argv], { now: () => now, ...more });
}

describe('the demo', () => {
  test('tells the verdict first, with numbers, and what to do', async () => {
    const { code, stdout, stderr } = await run(['--demo']);
    assert.equal(stderr, '');
    assert.equal(code, 1);
    const lines = stdout.split('\n');
    assert.match(lines[0] ?? '', /^DEMO {2}Deployment vllm, namespace inference/);
    assert.match(lines[2] ?? '', /^Crash-looping: 1 container/);
    assert.match(stdout, /next: Show the triage/);
    assert.match(stdout, /ScaledObject vllm.*2 to 6 replicas/);
    assert.match(stdout, /OOMKilled \(137\)/);
  });

  test('as JSON: values in the units of the vocabulary', async () => {
    const { code, stdout } = await run(['--demo', '--format', 'json', '-n', 'chat', 'deploy/llm']);
    assert.equal(code, 1);
    const { health, workloads } = JSON.parse(stdout) as {
      health: string;
      workloads: readonly Record<string, unknown>[];
    };
    assert.equal(health, 'unhealthy');
    const [one] = workloads;
    assert.deepEqual(one?.['object'], {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'chat',
      name: 'llm',
    });
    const measurements = one['measurements'] as readonly Record<string, unknown>[];
    const kv = measurements.find(({ metric }) => metric === 'kv-cache.usage');
    assert.equal(kv?.['unit'], 'ratio');
    assert.ok(Number(kv['value']) > 0.9);
  });

  test('--watch goes on until it is interrupted, and the exit code is of the last reading', async () => {
    const stop = new AbortController();
    stop.abort();
    const { code, stdout } = await run(['--demo', '--watch=1', '--format', 'json'], {
      interrupted: stop.signal,
    });
    assert.equal(code, 2, 'interrupted before the first reading');
    assert.equal(stdout, '');
    const later = new AbortController();
    const result = await run(['--demo', '--watch=1', '--format', 'json'], {
      interrupted: later.signal,
      onOutput: () => later.abort(),
    });
    assert.equal(result.code, 1);
    assert.equal(result.stdout.trim().split('\n').length, 1, 'one line for a reading');
    assert.equal((JSON.parse(result.stdout) as { health: string }).health, 'unhealthy');
  });
});

describe('usage', () => {
  for (const [argv, expected] of [
    [['a', 'b', 'c'], /takes one workload; got "c" as well/],
    [['a/b/c'], /a workload is a name or kind\/name/],
    [['deploy/'], /a workload is a name or kind\/name/],
    [['--watch=soon'], /--watch takes seconds; got "soon"/],
    [['--range', '2h'], /--range takes 15m, 1h, 6h, 24h, 7d; got "2h"/],
    [['--prometheus', 'http://x', '--amp', 'ws-1'], /name two; take one/],
    [['--nonsense'], /Unknown option '--nonsense'/],
  ] as const) {
    test(argv.join(' '), async () => {
      const { code, stderr } = await run(argv);
      assert.equal(code, 2);
      assert.match(stderr, expected);
    });
  }

  test('--help', async () => {
    const { code, stdout } = await run(['--help']);
    assert.equal(code, 0);
    assert.match(stdout, /Exit codes: 0 healthy, 1 not healthy, 2 it cannot be told/);
  });
});

describe('a cluster', () => {
  let server: FakeApiServer;
  const lists = [
    '/api/v1/pods',
    '/api/v1/nodes',
    '/api/v1/events',
    '/apis/apps/v1/deployments',
    '/apis/apps/v1/replicasets',
    '/apis/apps/v1/statefulsets',
    '/apis/autoscaling/v2/horizontalpodautoscalers',
    '/apis/policy/v1/poddisruptionbudgets',
  ];

  beforeEach(async () => {
    server = await startFakeApiServer();
    for (const list of lists) {
      const placeholder = { metadata: { name: 'placeholder', namespace: 'elsewhere' } };
      server.put(list, placeholder);
      server.remove(list, placeholder);
    }
  });

  afterEach(() => server.close());

  function deployment(name: string, gpus: string | undefined): void {
    const created = new Date(now - 86_400_000).toISOString();
    const container = {
      name: 'vllm',
      image: 'vllm/vllm-openai:v0.11.0',
      args: ['--model', 'Qwen/Qwen2.5-7B-Instruct'],
      resources: gpus === undefined ? {} : { limits: { 'nvidia.com/gpu': gpus } },
    };
    server.put('/apis/apps/v1/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'chat', uid: name, creationTimestamp: created },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
      },
      status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 },
    });
    server.put('/apis/apps/v1/replicasets', {
      metadata: {
        name: `${name}-rs`,
        namespace: 'chat',
        uid: `${name}-rs`,
        creationTimestamp: created,
        ownerReferences: [{ kind: 'Deployment', name, uid: name, controller: true }],
      },
      spec: { replicas: 1 },
      status: { readyReplicas: 1 },
    });
    server.put('/api/v1/pods', {
      metadata: {
        name: `${name}-a`,
        namespace: 'chat',
        uid: `${name}-a`,
        creationTimestamp: created,
        labels: { app: name },
        ownerReferences: [{ kind: 'ReplicaSet', name: `${name}-rs`, uid: `${name}-rs`, controller: true }],
      },
      spec: { nodeName: 'node-1', containers: [container] },
      status: {
        phase: 'Running',
        startTime: created,
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: created }],
        containerStatuses: [
          { name: 'vllm', ready: true, restartCount: 0, state: { running: { startedAt: created } } },
        ],
      },
    });
  }

  let requests = 100;
  /** The engine behind the pod proxy. */
  const engine = (): void => {
    server.fault = ({ path }, response) => {
      if (!/\/pods\/[^/]+:8000\/proxy\/metrics$/.test(path)) return false;
      requests += 50;
      response.end(
        `vllm:num_requests_running 4\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.31\nvllm:request_success_total{finished_reason="stop"} ${requests}\n`,
      );
      return true;
    };
  };

  test('with a kubeconfig and nothing else: replicas, queue, cache and rates, and exit code 0', async () => {
    deployment('vllm', '1');
    engine();
    let time = now;
    const { code, stdout, stderr } = await plimsoll(
      '/',
      ['status', 'deploy/vllm', '--kubeconfig', server.kubeconfig(), '--format', 'json'],
      { now: () => (time += 50) },
    );
    assert.equal(stderr, '');
    const { workloads } = JSON.parse(stdout) as {
      workloads: readonly { verdict: { name: string }; measurements: readonly Record<string, unknown>[] }[];
    };
    const value = (metric: string): unknown =>
      workloads[0]?.measurements.find(
        (each) => each['metric'] === metric && (each['subject'] as { kind: string }).kind === 'workload',
      )?.['value'];
    assert.equal(value('queue.running'), 4);
    assert.equal(value('kv-cache.usage'), 0.31);
    assert.equal(value('replicas.ready'), 1);
    assert.ok(Number(value('requests.rate')) > 0, 'of two readings');
    assert.equal(workloads[0]?.verdict.name, 'healthy');
    assert.equal(code, 0);
    assert.ok(!stdout.includes(token));
  });

  test('without a name: each workload that asks for an accelerator, in a line', async () => {
    deployment('vllm', '1');
    deployment('web', undefined);
    deployment('embed', '1');
    engine();
    const { stdout } = await run(['--kubeconfig', server.kubeconfig()]);
    assert.match(stdout, /Deployment embed/);
    assert.match(stdout, /Deployment vllm/);
    assert.doesNotMatch(stdout, /Deployment web/);
  });

  test('nothing there: exit code 2, and what to do', async () => {
    const named = await run(['deploy/none', '--kubeconfig', server.kubeconfig()]);
    assert.equal(named.code, 2);
    assert.match(named.stderr, /there is no deploy none in namespace chat of context test/);
    const kind = await run(['thing/none', '--kubeconfig', server.kubeconfig()]);
    assert.match(kind.stderr, /"thing" is not a kind that is read; there are Deployment/);
    const all = await run(['--kubeconfig', server.kubeconfig()]);
    assert.equal(all.code, 2);
    assert.match(all.stderr, /no workload of namespace chat asks for an accelerator/);
  });

  test('everything denied: what to grant', async () => {
    server.fault = (_, response) => forbid(response);
    const { code, stderr } = await run(['deploy/vllm', '--kubeconfig', server.kubeconfig()]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /403 Forbidden: cannot get deployments\.apps vllm in namespace chat\. Grant get on deployments \(apps\) in a Role in namespace chat/,
    );
  });

  test('names with escapes of terminals stay text', async () => {
    deployment('vllm', '1');
    server.put('/api/v1/events', {
      metadata: { name: 'e', namespace: 'chat' },
      involvedObject: { kind: 'Deployment', name: 'vllm', namespace: 'chat' },
      reason: '\u001b[31mred',
      message: '\u202eevil',
      lastTimestamp: new Date(now).toISOString(),
    });
    engine();
    const { stdout } = await run(['deploy/vllm', '--kubeconfig', server.kubeconfig(), '--context', 'test']);
    // eslint-disable-next-line no-control-regex -- they are what is looked for
    assert.doesNotMatch(stdout, /[\u001b\u202e]/);
  });

  test('a context that is not there, an address that is none, a region that nobody says', async () => {
    const kubeconfig = server.kubeconfig();
    for (const [argv, expected] of [
      [['--context', 'prod'], /no context "prod"; it has test/],
      [
        ['--prometheus', 'prometheus:9090'],
        /--prometheus takes a URL, or namespace\/service:port; got "prometheus:9090"/,
      ],
      [['--cloudwatch'], /the region of AWS is not known/],
      [['--amp', 'ws-1'], /the region of AWS is not known/],
    ] as const) {
      const { code, stderr } = await run(['deploy/vllm', '--kubeconfig', kubeconfig, ...argv]);
      assert.equal(code, 2);
      assert.match(stderr, expected);
    }
  });
});
