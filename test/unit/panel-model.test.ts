import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import type { Finding } from '../../server/src/engine/finding';
import { absent } from '../../server/src/live/reading';
import { emptyCluster } from '../../server/src/live/readings';
import type { LiveSnapshot } from '../../server/src/live/snapshot';
import type { ClusterView, NodePoolView } from '../../server/src/live/cluster';
import { sourceIds } from '../../server/src/live/reading';
import { metricIds } from '../../server/src/live/vocabulary';
import { buildPanelModel } from '../../server/src/panel/build';
import type { PanelOptions } from '../../server/src/panel/build';
import { codeLensText } from '../../server/src/panel/code-lens';
import { escaped } from '../../server/src/panel/markdown';
import { shellWord } from '../../server/src/panel/scaling';
import { grantText } from '../../server/src/panel/sources-view';
import type { PanelModel, Section, Table } from '../../server/src/panel/model';
import {
  container,
  event,
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
import { assertGrowsLinearly } from '../support/growth';

/** The model of the panel: complete, honest about what is not known, and quick. */

const uri = 'file:///work/app.yaml';
const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
  namespace: llm
spec:
  replicas: 2
  selector: { matchLabels: { app: vllm } }
  template:
    metadata: { labels: { app: vllm } }
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.21.0
          args: ["--model", "Qwen/Qwen2.5-7B-Instruct"]
          resources:
            requests: { cpu: "4", memory: 16Gi }
            limits: { memory: 32Gi, nvidia.com/gpu: 1 }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: vllm, namespace: llm }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: vllm }
  maxReplicas: 8
`;
const workspace = Workspace.empty.with(parseFile(uri, manifest));
const deployment = workspace.resourcesOf(uri)[0] ?? assert.fail();
const autoscaler = workspace.resourcesOf(uri)[1] ?? assert.fail();

const cluster = (more: Partial<ClusterView> = {}): ClusterView => ({
  ...emptyCluster(nobody),
  workload: known(workload(2, 2)),
  pods: known([pod('vllm-0'), pod('vllm-1', { node: 'node-1' })]),
  nodes: known([node('node-0'), node('node-1')]),
  events: known([]),
  hpa: absent('no-data', 'no HPA targets it'),
  ...more,
});

function build(
  parts: Partial<LiveSnapshot> = {},
  options: PanelOptions = {},
  findings: readonly Finding[] = [],
): PanelModel {
  return buildPanelModel(workspace, findings, snapshot({ cluster: cluster(), ...parts }), now, {
    resource: deployment,
    ...options,
  });
}

function shown<T>(section: Section<T>): T {
  return section.kind === 'shown' ? section.value : assert.fail(`empty: ${section.why}`);
}

function why(section: Section<unknown>): string {
  return section.kind === 'empty' ? section.why : assert.fail('it is not empty');
}

function cellsOf(table: Table, column: string): readonly string[] {
  const index = table.columns.findIndex(({ id }) => id === column);
  return table.rows.map(({ cells }) => cells[index]?.text ?? '');
}

function tile(model: PanelModel, id: string): PanelModel['tiles'][number] {
  return [...model.tiles, ...model.overview.tiles].find((one) => one.id === id) ?? assert.fail(id);
}

/** Every object in a model. */
function visit(
  value: unknown,
  see: (object: Record<string, unknown>, path: string) => void,
  path = '',
): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(value as Record<string, unknown>, path);
  for (const [key, inner] of Object.entries(value)) visit(inner, see, `${path}/${key}`);
}

describe('what no source said', () => {
  test('is never shown as a value, least of all as zero', () => {
    const model = buildPanelModel(workspace, [], snapshot(), now, { resource: deployment });
    visit(model, (object, path) => {
      assert.notEqual(object['kind'] === 'value', true, `${path}: ${JSON.stringify(object)}`);
    });
    for (const { shown: value } of model.tiles) assert.equal(value.kind, 'absent');
    assert.equal(model.verdict.name, 'unknown');
    assert.doesNotMatch(model.markdown, /\b0(\.0+)? (%|ms|GiB|tokens)/);
  });

  test('has a reason, and what can be done, everywhere', () => {
    const sources = sourceIds.map((source) => ({ source, state: 'not-configured' as const, problems: [] }));
    const model = buildPanelModel(workspace, [], snapshot({ sources }), now, { resource: deployment });
    visit(model, (object, path) => {
      if (object['kind'] === 'absent' || object['kind'] === 'empty') {
        assert.ok(typeof object['why'] === 'string' && object['why'] !== '', path);
      }
    });
    const gpus = tile(model, 'gpu').shown;
    assert.equal(
      gpus.kind === 'absent' && gpus.whatToDo,
      'Set up engine-metrics or prometheus or cloudwatch',
    );
  });

  test('is told with the reason of the source that failed', () => {
    const model = build({
      sources: [
        {
          source: 'engine-metrics',
          state: 'denied',
          problems: [
            {
              what: '/metrics of pod vllm-0',
              why: 'denied',
              message: '403 Forbidden: cannot get pods/proxy',
              remedy: 'Grant get on pods/proxy',
              missing: {
                kind: 'rbac',
                apiGroups: [''],
                resources: ['pods/proxy'],
                verbs: ['get'],
                namespace,
              },
            },
          ],
        },
      ],
    });
    const queue = tile(model, 'queue').shown;
    assert.deepEqual(queue, {
      kind: 'absent',
      why: '403 Forbidden: cannot get pods/proxy',
      whatToDo: 'Grant get on pods/proxy',
    });
    assert.equal(
      model.sources[0]?.problems[0]?.grant,
      '# Role in namespace llm\n- apiGroups: [""]\n  resources: ["pods/proxy"]\n  verbs: ["get"]',
    );
    assert.equal(tile(model, 'replicas').shown.kind, 'value', 'what others know is there');
  });

  test('each metric alone makes a model, and only its own values', () => {
    for (const metric of metricIds) {
      const model = build({ cluster: emptyCluster(nobody), measurements: [measured(metric, 0.5)] });
      assert.ok(model.tiles.length === 6, metric);
    }
  });
});

describe('tiles', () => {
  test('have value, unit, state word, sparkline and change', () => {
    const model = build(
      {
        measurements: [measured('ttft.p95', 0.64), measured('ttft.p50', 0.2)],
        series: [series('ttft.p95', 60, () => 0.6)],
      },
      { baseline: { savedAt: now - 1e8, window: 36e5, values: { 'ttft.p95': 0.4 } } },
    );
    const { shown: value, caption, word, sparkline, change } = tile(model, 'ttft');
    assert.equal(value.kind === 'value' && value.text, '640 ms');
    assert.equal(caption, 'p50 200 ms');
    assert.equal(word, 'slow for chat');
    assert.equal(sparkline?.length, 60);
    assert.deepEqual(change, { text: '+60 % against the baseline', state: 'warning' });
  });

  test('fade what is old and say its age', () => {
    const old = {
      metric: 'queue.waiting',
      subject: { kind: 'workload' },
      observed: reading('queue.waiting', 4, { at: now - 5 * minute }),
    } as const;
    const { shown: value } = tile(build({ measurements: [old] }), 'queue');
    assert.equal(value.kind === 'value' && value.stale, '5 min old');
  });

  test('GPUs that carry no pod are unattributed', () => {
    const model = build({ measurements: [measured('gpu.utilization', 0, gpu(0, 'node-0', null))] });
    const { shown: value, caption } = tile(model, 'gpu');
    assert.equal(value.kind, 'absent');
    assert.match(value.kind === 'absent' ? value.why : '', /unattributed/);
    assert.match(caption, /1 GPU unattributed/);
    assert.match(shown(model.pods).summary, /1 GPU on its nodes unattributed/);
  });

  test('GPUs of other workloads do not count', () => {
    const model = build({
      measurements: [
        measured('gpu.utilization', 0.9, gpu(0)),
        measured('gpu.utilization', 0.1, gpu(1, 'node-0', 'other')),
      ],
    });
    const { shown: value } = tile(model, 'gpu');
    assert.equal(value.kind === 'value' && value.text, '90 %');
  });

  test('VRAM that the engine reserves by its arguments is no risk', () => {
    const usage = (share: number): string =>
      tile(build({ measurements: [measured('gpu.memory.usage', share, gpu(0))] }), 'vram').word;
    assert.equal(usage(0.93), 'high');
    assert.equal(usage(0.97), 'at risk');
  });
});

describe('scaling', () => {
  test('tells the formula with its numbers', () => {
    const model = build({
      cluster: cluster({
        hpa: known(hpa(1, 1, 40, 10)),
        workload: known(workload(1, 1)),
        pods: known([pod('vllm-0')]),
      }),
    });
    const view = shown(model.scaling);
    assert.match(view.summary, /1 -> 4: ceil\(40 \/ 10\) = 4/);
    assert.deepEqual(cellsOf(view.metrics, 'current'), ['40']);
    assert.deepEqual(cellsOf(view.metrics, 'target'), ['10 a pod']);
    assert.equal(view.bounds, '1 to 8 replicas');
  });

  test('pods that wait have the scheduler and the NodePool that should serve them', () => {
    const pool = (name: string, family: string): NodePoolView => ({
      ref: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', namespace: '', name },
      limits: {},
      resources: {},
      conditions: [],
      object: {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: { name },
        spec: {
          template: {
            spec: {
              nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
              taints: name === 'gpu' ? [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }] : [],
              requirements: [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: [family] }],
            },
          },
        },
      },
    });
    const model = build({
      cluster: cluster({
        pods: known([pod('vllm-0'), pendingPod('vllm-1', 3 * minute)]),
        nodePools: known([pool('gpu', 'g6'), pool('cpu', 'm7i')]),
        nodeClaims: known([
          {
            name: 'gpu-abcde',
            pool: 'gpu',
            createdAt: now - minute,
            conditions: [{ type: 'Launched', status: 'True', reason: '', message: '', since: now - 50_000 }],
            instanceType: 'g6.xlarge',
            capacityType: 'spot',
            zone: 'us-east-1a',
          },
        ]),
      }),
    });
    const view = shown(model.scaling);
    const pending = shown(view.pending);
    assert.deepEqual(cellsOf(pending, 'pod'), ['vllm-1']);
    assert.match(cellsOf(pending, 'reason')[0] ?? '', /3 Insufficient nvidia.com\/gpu/);
    assert.match(cellsOf(pending, 'pool')[0] ?? '', /gpu/);
    assert.match(
      (view.pending.kind === 'shown' ? view.pending.notes : [])?.join('') ?? '',
      /NodePool cpu cannot serve it/,
    );
    assert.deepEqual(cellsOf(shown(view.nodeClaims), 'state'), ['Launched']);
    assert.match(cellsOf(shown(view.nodeClaims), 'capacity')[0] ?? '', /spot/);
  });

  test('a NodePool tells how far it is from its limits', () => {
    const base = snapshot();
    const pool: NodePoolView = {
      ref: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', namespace: '', name: 'gpu' },
      limits: { 'nvidia.com/gpu': 8, memory: 64 * 1024 ** 3 },
      resources: { 'nvidia.com/gpu': 8, memory: 16 * 1024 ** 3 },
      conditions: [
        {
          type: 'NodeClassReady',
          status: 'False',
          reason: 'NodeClassNotFound',
          message: 'no EC2NodeClass default',
        },
      ],
      object: {},
    };
    const model = build({
      want: {
        ...base.want,
        object: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', namespace: '', name: 'gpu' },
      },
      cluster: cluster({ nodePools: known([pool]) }),
    });
    const view = shown(model.scaling);
    assert.equal(view.summary, 'NodePool gpu uses 8 of 8 nvidia.com/gpu and 16 GiB of 64 GiB memory');
    assert.equal(view.state, 'critical');
    assert.match(
      view.steps.map(({ text }) => text).join('; '),
      /no node is launched beyond it; NodeClassReady is False: no EC2NodeClass/,
    );
  });

  test('a cold start is split into its phases', () => {
    const start = now - 10 * minute;
    const at = (seconds: number): number => start + seconds * 1000;
    const fresh = pod('vllm-0', {
      createdAt: start,
      conditions: [
        { type: 'PodScheduled', status: 'True', reason: '', message: '', since: at(100) },
        { type: 'Ready', status: 'True', reason: '', message: '', since: at(252) },
      ],
      containers: [container({ state: { kind: 'running', since: at(172) } })],
    });
    const model = build({
      cluster: cluster({
        pods: known([fresh]),
        nodeClaims: known([
          {
            name: 'gpu-x',
            createdAt: at(2),
            conditions: [{ type: 'Launched', status: 'True', reason: '', message: '', since: at(5) }],
            node: 'node-0',
            instanceType: 'g6.xlarge',
          },
        ]),
        events: known([
          event('vllm-0', 'Pulling', 'Pulling image "vllm"', now - at(110)),
          event('vllm-0', 'Pulled', 'Successfully pulled image "vllm" in 1m0s', now - at(170)),
        ]),
        logs: known([
          {
            pod: { namespace, name: 'vllm-0' },
            container: 'vllm',
            previous: false,
            at: now,
            lines: ['INFO Loading weights took 30.5 seconds'],
          },
        ]),
      }),
    });
    const view = shown(shown(model.scaling).coldStart);
    assert.equal(view.total, '4 min 12 s');
    assert.deepEqual(
      view.phases.map(({ id, seconds }) => [id, seconds]),
      [
        ['schedule', 2],
        ['node', 98],
        ['start', 10],
        ['image', 60],
        ['start', 2],
        ['weights', 30.5],
        ['engine', 49.5],
      ],
    );
    const sum = view.phases.reduce((total, { share }) => total + share, 0);
    assert.ok(Math.abs(sum - 1) < 1e-9);
  });
});

describe('triage', () => {
  const finding: Finding = {
    rule: 'memory-request-below-model',
    severity: 'warning',
    uri,
    at: { start: 400, end: 410 },
    message: 'Container "vllm" requests 16 GiB',
    related: [],
    fixes: [{ title: 'Request 40 GiB', safe: false, edits: [] }],
    container: 'vllm',
    resource: { uri, document: 0, apiVersion: 'apps/v1', kind: 'Deployment', name: 'vllm', namespace: 'llm' },
  };

  test('is filled in: end, log, memory before, fix', () => {
    const model = build(
      {
        cluster: cluster({
          pods: known([oomPod('vllm-0')]),
          logs: known([
            {
              pod: { namespace, name: 'vllm-0' },
              container: 'vllm',
              previous: true,
              at: now,
              lines: ['INFO loading', 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB'],
            },
          ]),
        }),
        series: [
          series('memory.working-set', 30, () => 31.8 * 1024 ** 3, {
            kind: 'pod',
            pod: { namespace, name: 'vllm-0' },
            container: 'vllm',
          }),
        ],
      },
      {},
      [finding],
    );
    const [one] = shown(model.triage);
    assert.equal(one?.title, 'OOMKilled (exit code 137), 3 restarts');
    const [termination, log, before, fix] = one.steps;
    assert.match(
      termination?.text ?? '',
      /OOMKilled, exit code 137 \(SIGKILL\), 2 min ago, after running for 4 min/,
    );
    assert.match(log?.lines.join('') ?? '', /CUDA out of memory/);
    assert.match(before?.text ?? '', /31.8 GiB of 32 GiB that its limit allows \(99.4 %\)/);
    assert.match(fix?.text ?? '', /memory limit of 32 GiB: raise/);
    assert.deepEqual(fix?.actions[0], {
      title: 'Request 40 GiB',
      intent: { kind: 'quick-fix', place: { uri, at: finding.at }, title: 'Request 40 GiB' },
    });
    const open = fix.actions[1]?.intent;
    assert.equal(
      open?.kind === 'open-place' && manifest.slice(open.place.at.start, open.place.at.end),
      '32Gi',
    );
  });

  test('an engine that ends for want of GPU memory is not sent to the memory limit', () => {
    const base = oomPod('vllm-0');
    const failed = pod('vllm-0', {
      ...base,
      containers: [
        container({
          state: { kind: 'waiting', reason: 'CrashLoopBackOff', message: '' },
          restarts: 2,
          lastTermination: {
            reason: 'Error',
            exitCode: 1,
            finishedAt: now - minute,
            message: 'ValueError: No available memory for the cache blocks.',
          },
        }),
      ],
    });
    const [one] = shown(
      build({
        cluster: cluster({
          pods: known([failed]),
          logs: absent('denied', '403 Forbidden: cannot get pods/log'),
        }),
      }).triage,
    );
    assert.match(one?.steps.at(-1)?.text ?? '', /Lower the maximum context length/);
    assert.match(one?.steps[1]?.text ?? '', /403 Forbidden/);
    assert.equal(one?.steps[1]?.known, false);
  });
});

describe('queries of the logs', () => {
  const queries = (['latency-percentiles', 'slow-requests', 'tokens-and-cost'] as const).map((id) => ({
    id,
    query: `fields ${id}`,
    running: id === 'tokens-and-cost',
  }));
  const { logs } = build(
    {
      sources: [{ source: 'cloudwatch', state: 'ok', problems: [] }],
      logsQueries: [
        { id: 'slow-requests', answer: absent('denied', '403: logs:StartQuery', { remedy: 'Allow it' }) },
      ],
    },
    { logsQueries: queries },
  );
  const [never, failed, running] = shown(logs).queries;

  test('one that failed says why, the others do not', () => {
    assert.ok(failed?.result.kind === 'empty' && never?.result.kind === 'empty');
    assert.equal(failed.result.why, '403: logs:StartQuery');
    assert.equal(failed.result.whatToDo, 'Allow it');
    assert.equal(never.result.why, 'It has not been run');
  });

  test('one that runs can be cancelled', () => {
    assert.deepEqual(running?.run, {
      title: 'Cancel "Tokens and cost"',
      intent: { kind: 'cancel-logs-query', query: 'tokens-and-cost' },
    });
  });
});

describe('cost', () => {
  test('is the share of the nodes, at list prices', () => {
    const big = node('node-0', {
      instanceType: 'g6.12xlarge',
      allocatable: { cpu: 47, memory: 180 * 1024 ** 3, 'nvidia.com/gpu': 4 },
    });
    const model = build({
      cluster: cluster({ nodes: known([big, node('node-1', { capacityType: 'spot' })]) }),
      measurements: [
        measured('tokens.generation.rate', 500),
        measured('tokens.prompt.rate', 500),
        measured('gpu.utilization', 0.25, gpu(0)),
      ],
    });
    const view = shown(model.cost);
    assert.deepEqual(cellsOf(view.nodes, 'share'), ['25 %', '100 %']);
    assert.equal(view.perHour.kind === 'value' && view.perHour.text.startsWith('up to $'), true);
    const perHour = view.perHour.kind === 'value' ? view.perHour.value : 0;
    const tokens = view.perMillionTokens.kind === 'value' ? view.perMillionTokens.value : 0;
    assert.ok(Math.abs(tokens - perHour / 3.6) < 1e-9, '1,000 tokens a second are 3.6 million an hour');
    const idle = view.idlePerHour.kind === 'value' ? view.idlePerHour.value : 0;
    assert.ok(Math.abs(idle - perHour * 0.75) < 1e-9);
    assert.match(why(view.byNamespace), /no source is set up/i);
  });

  test('groups add up, and nodes without a price make it a lower bound', () => {
    const model = build({
      cluster: cluster({
        nodeUse: known([
          {
            node: 'node-0',
            requested: { 'nvidia.com/gpu': 1 },
            parts: [
              { namespace: 'llm', labels: { team: 'a' }, pods: 1, requested: { 'nvidia.com/gpu': 1 } },
              { namespace: 'kube-system', labels: {}, pods: 4, requested: { cpu: 1 } },
            ],
          },
        ]),
        nodes: known([node('node-0'), node('node-1', { instanceType: 'x99.large' })]),
      }),
    });
    const view = shown(model.cost);
    assert.match(view.perHour.kind === 'value' ? view.perHour.text : '', /^at least \$/);
    assert.deepEqual(cellsOf(shown(view.byNamespace), 'name'), ['llm', 'kube-system']);
    assert.equal(cellsOf(shown(view.byNamespace), 'cost')[1], '$0/h');
  });
});

describe('charts', () => {
  test('have one time axis, thresholds, and gaps that stay gaps', () => {
    const model = build({
      measurements: [measured('ttft.p95', 0.4)],
      series: [series('ttft.p95', 60, (ago) => (ago > 20 && ago < 30 ? null : 0.4))],
    });
    const chart =
      model.charts.flatMap(({ charts }) => charts).find(({ id }) => id === 'chart-ttft') ?? assert.fail();
    const content = shown(chart.content);
    assert.equal(content.lines[0]?.values.length, content.at.length);
    const gap = content.lines[0].values.filter((value) => value === null).length;
    assert.ok(gap >= 14 && gap <= 20, `${gap} of ${content.at.length} points are in the gap of 9 minutes`);
    assert.deepEqual(
      content.thresholds.map(({ label, value }) => [label, value]),
      [
        ['chat', 0.5],
        ['batch', 2],
      ],
    );
    assert.equal(chart.scale.suffix, 'ms');
  });

  test('data that ends early says so', () => {
    const short = series('gpu.utilization', 60, () => 0.5, gpu(0));
    const model = build({
      series: [{ ...short, at: short.at.slice(0, 40), values: short.values.slice(0, 40) }],
    });
    const chart =
      model.charts.flatMap(({ charts }) => charts).find(({ id }) => id === 'chart-gpu-utilization') ??
      assert.fail();
    assert.match(shown(chart.content).stale ?? '', /data ends 2\d min/);
  });

  test('events, restarts and rollouts are marked', () => {
    const model = build({
      cluster: cluster({
        pods: known([oomPod('vllm-0')]),
        replicaSets: known([
          {
            ref: { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace, name: 'vllm-2' },
            createdAt: now - 9 * minute,
            revision: 7,
            desired: 2,
            ready: 2,
            images: ['vllm:1'],
          },
        ]),
        events: known([
          event('vllm', 'SuccessfulRescale', 'New size: 4; reason: external metric above target', 5 * minute),
        ]),
      }),
    });
    assert.deepEqual(
      model.markers.map(({ kind, label }) => [kind, label]),
      [
        ['rollout', 'rollout 7'],
        ['scale', '-> 4 replicas'],
        ['oom', 'OOMKilled'],
      ],
    );
  });
});

describe('places and text', () => {
  test('a scaler under the cursor leads to its maximum', () => {
    const model = build(
      { cluster: cluster({ hpa: known(hpa(8, 8, 200, 10, 8)) }) },
      { resource: autoscaler },
    );
    const [, second] = model.verdict.next;
    assert.equal(model.verdict.name, 'scaling-blocked');
    assert.equal(
      second?.intent.kind === 'open-place' &&
        manifest.slice(second.intent.place.at.start, second.intent.place.at.end),
      '8',
    );
  });

  test('names with markup, control and direction characters stay text', () => {
    const evil = '<img src=x onerror=alert(1)>\u202e|`\u0007';
    const model = build({ cluster: cluster({ pods: known([pod(evil)]) }) });
    assert.deepEqual(cellsOf(shown(model.pods), 'pod'), [evil]);
    const [line] = model.markdown.split('\n').filter((text) => text.includes('img'));
    assert.match(line ?? '', /\\<img src=x onerror=alert\(1\)\\> ?\\\|\\`/);
    assert.equal(
      [...model.markdown].some((character) => character === '\u202e' || character === '\u0007'),
      false,
    );
    assert.equal(escaped('a|b'), 'a\\|b');
    assert.equal(shellWord("a'; rm -rf /"), `'a'\\''; rm -rf /'`);
  });

  test('permissions are written as they are granted', () => {
    assert.equal(
      grantText({ kind: 'iam', action: 'cloudwatch:GetMetricData', resource: '*' }),
      '{\n  "Effect": "Allow",\n  "Action": "cloudwatch:GetMetricData",\n  "Resource": "*"\n}',
    );
  });

  test('the code lens tells what is known', () => {
    const live = snapshot({
      cluster: cluster({ workload: known(workload(4, 3)), hpa: known(hpa(3, 4, 40, 10)) }),
      measurements: [
        measured('gpu.utilization', 0.87, gpu(0)),
        measured('gpu.memory.usage', 0.92, gpu(0)),
        measured('ttft.p95', 0.64),
      ],
    });
    assert.equal(codeLensText(live, now), '3/4 ready - GPU 87 % - VRAM 92 % - TTFT p95 640 ms - HPA 3 -> 4');
    assert.equal(codeLensText(snapshot(), now), undefined);
  });

  test('the model is plain data', () => {
    const model = build({ cluster: cluster({ hpa: known(hpa(1, 1, 40, 10)) }) });
    assert.deepEqual(JSON.parse(JSON.stringify(model)), model);
  });
});

describe('1,000 pods on 100 nodes', () => {
  test('make a model with a row each, in time that grows with them', () => {
    const of = (count: number): (() => LiveSnapshot) => {
      const nodes = Array.from({ length: count / 10 }, (_, index) =>
        node(`node-${index}`, {
          instanceType: 'g6.48xlarge',
          allocatable: { cpu: 190, memory: 1e12, 'nvidia.com/gpu': 8 },
        }),
      );
      const nodeOf = (index: number): string => `node-${index % nodes.length}`;
      const pods = Array.from({ length: count }, (_, index) => pod(`vllm-${index}`, { node: nodeOf(index) }));
      const subject = (index: number) =>
        ({ kind: 'pod', pod: { namespace, name: `vllm-${index}` } }) as const;
      const measurements = pods.flatMap((_, index) => [
        measured('queue.waiting', 1, subject(index)),
        measured('kv-cache.usage', 0.5, subject(index)),
        measured('gpu.utilization', 0.5, gpu(index, nodeOf(index), `vllm-${index}`)),
        measured('gpu.memory.used', 1e10, gpu(index, nodeOf(index), `vllm-${index}`)),
        measured('gpu.memory.total', 2e10, gpu(index, nodeOf(index), `vllm-${index}`)),
      ]);
      return () =>
        snapshot({
          cluster: cluster({
            pods: known(pods),
            nodes: known(nodes),
            workload: known(workload(count, count)),
          }),
          measurements,
          series: [series('queue.waiting', 60, () => 3), series('gpu.utilization', 60, () => 0.5)],
        });
    };
    const live = new Map([250, 1000].map((count) => [count, of(count)]));
    assertGrowsLinearly('a model of pods', 250, (count) => {
      const given = live.get(count)?.();
      assert.ok(given !== undefined);
      const model = buildPanelModel(workspace, [], given, now, { resource: deployment });
      assert.equal(shown(model.pods).rows.length, count);
    });
  });
});
