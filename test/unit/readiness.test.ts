import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readinessMarkdown, readinessPlain, readinessText } from '../../server/src/engine/readiness/format';
import { readiness, readinessItems } from '../../server/src/engine/readiness/readiness';
import type {
  ReadinessItemId,
  ReadinessState,
  WorkloadReadiness,
} from '../../server/src/engine/readiness/types';
import { configurationIn, uriOf, workspaceOf } from '../support/workspace';

type Files = Readonly<Record<string, string>>;

function judge(files: Files, config = ''): readonly WorkloadReadiness[] {
  const { configFor } = configurationIn({ '.plimsoll.yaml': config });
  return readiness(workspaceOf(files), configFor);
}

function only(files: Files, config = ''): WorkloadReadiness {
  const [first, second] = judge(files, config);
  assert.ok(first !== undefined && second === undefined, 'one workload is judged');
  return first;
}

function states(workload: WorkloadReadiness): Readonly<Record<string, ReadinessState>> {
  return Object.fromEntries(workload.items.map(({ id, state }) => [id, state]));
}

function item(workload: WorkloadReadiness, id: ReadinessItemId): WorkloadReadiness['items'][number] {
  return workload.items.find((each) => each.id === id) ?? assert.fail(`no item ${id}`);
}

function example(name: string): Files {
  const folder = join(__dirname, '../../examples', name);
  return Object.fromEntries(
    ['chat.yaml', 'autoscaling.yaml', 'nodes.yaml'].map((file) => [
      `${name}/${file}`,
      readFileSync(join(folder, file), 'utf8'),
    ]),
  );
}

const chat = `apiVersion: apps/v1
kind: Deployment
metadata: { name: chat }
spec:
  replicas: 2
  selector: { matchLabels: { app: chat } }
  template:
    metadata: { labels: { app: chat } }
    spec:
      terminationGracePeriodSeconds: 120
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args: [--model, Qwen/Qwen2.5-7B-Instruct]
          ports: [{ containerPort: 8000 }]
          resources:
            requests: { cpu: 4, memory: 24Gi }
            limits: { cpu: 8, memory: 24Gi, nvidia.com/gpu: 1 }
`;

describe('the checklist', () => {
  test('has nineteen items in four groups, each with a title of its own', () => {
    assert.equal(readinessItems.length, 19);
    assert.equal(new Set(readinessItems.map(({ id }) => id)).size, 19);
    assert.equal(new Set(readinessItems.map(({ title }) => title)).size, 19);
    const counts = new Map<string, number>();
    for (const { group } of readinessItems) counts.set(group, (counts.get(group) ?? 0) + 1);
    assert.deepEqual(Object.fromEntries(counts), { pod: 6, scaling: 4, nodes: 4, resilience: 5 });
  });

  test('of the healthy example: what is left is the CPU limit, and alarms that stand elsewhere', () => {
    const workload = only(example('healthy'));
    const open = Object.entries(states(workload)).filter(([, state]) => state !== 'pass');
    assert.deepEqual(Object.fromEntries(open), {
      'requests-and-limits': 'fail',
      'scaling-target': 'not-applicable',
      'alarm-scaling': 'unknown',
      'alarm-node-launch': 'unknown',
      'alarm-at-maximum': 'unknown',
    });
    assert.equal(item(workload, 'requests-and-limits').rule, 'missing-cpu-limit');
    assert.deepEqual(workload.counts, { pass: 14, fail: 1, 'not-applicable': 1, unknown: 3 });
  });

  test('of the broken example fails with the findings that decide it', () => {
    const failed = only(example('broken'))
      .items.filter(({ state }) => state === 'fail')
      .map(({ id, rule }) => [id, rule]);
    assert.deepEqual(Object.fromEntries(failed), {
      'requests-and-limits': 'missing-cpu-request',
      'memory-request-above-model': 'host-ram-below-model',
      'memory-limit-headroom': 'host-ram-below-model',
      'termination-grace-period': 'grace-period-too-short',
      'probes-configured': 'missing-readiness-probe',
      'scaling-bounds': 'hpa-min-above-max',
      'scaling-target': 'hpa-target-utilization-extreme',
      'scale-down-window': 'hpa-scale-down-window-too-short',
      'custom-metrics': 'hpa-cpu-for-gpu-workload',
      'spot-and-on-demand': 'nodepool-spot-only',
      'consolidation-and-expiry': 'nodepool-disrupts-gpu',
      'topology-spread': 'topology-spread-selects-nothing',
      'disruption-budget': 'pdb-blocks-drain',
    });
  });

  test('what no file tells is unknown, and no pass', () => {
    const workload = only({ 'chat.yaml': chat });
    for (const id of ['instance-types', 'spot-and-on-demand', 'consolidation-and-expiry'] as const) {
      assert.equal(item(workload, id).state, 'unknown');
      assert.match(item(workload, id).fact, /hold no NodePool or node group/);
    }
    assert.equal(item(workload, 'scaling-bounds').state, 'fail');
    assert.equal(item(workload, 'scale-down-window').state, 'not-applicable');
    assert.equal(item(workload, 'disruption-budget').rule, 'missing-pdb');
  });

  test('what a template fills in is unknown', () => {
    const workload = only({
      'chart/Chart.yaml': 'apiVersion: v2\nname: chat\nversion: 1.0.0\n',
      'chart/templates/chat.yaml': chat
        .replace(
          'memory: 24Gi }\n            limits: { cpu: 8, memory: 24Gi,',
          'memory: "{{ .Values.memory }}" }\n            limits: { cpu: 8, memory: "{{ .Values.memory }}",',
        )
        .replace('120', '{{ .Values.grace }}'),
    });
    for (const id of [
      'memory-request-above-model',
      'memory-limit-headroom',
      'termination-grace-period',
    ] as const) {
      assert.equal(item(workload, id).state, 'unknown', id);
    }
    const open = only({
      'chart/Chart.yaml': 'apiVersion: v2\nname: chat\nversion: 1.0.0\n',
      'chart/templates/chat.yaml': chat.replace(
        /resources:[^]*$/,
        'resources: {{- toYaml .Values.resources | nindent 12 }}\n',
      ),
    });
    assert.equal(item(open, 'requests-and-limits').state, 'unknown');
  });

  test('a model that is not known makes no footprint', () => {
    const workload = only({ 'chat.yaml': chat.replace('Qwen/Qwen2.5-7B-Instruct', '/models/ours') });
    assert.equal(item(workload, 'memory-request-above-model').state, 'unknown');
    assert.equal(item(workload, 'memory-limit-headroom').state, 'unknown');
  });

  test('a model that the configuration describes does', () => {
    const workload = only(
      { 'chat.yaml': chat.replace('Qwen/Qwen2.5-7B-Instruct', '/models/ours') },
      'models: { /models/ours: { parameters: 7B } }',
    );
    assert.equal(item(workload, 'memory-request-above-model').state, 'pass');
  });

  test('pods without accelerator that are scaled are judged, without what is about accelerators', () => {
    const web = chat
      .replace(
        'image: vllm/vllm-openai:v0.11.0\n          args: [--model, Qwen/Qwen2.5-7B-Instruct]',
        'image: nginx:1.29',
      )
      .replace(', nvidia.com/gpu: 1', '');
    assert.deepEqual(judge({ 'web.yaml': web }), []);
    const workload = only({
      'web.yaml': `${web}---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: chat }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: chat }
  minReplicas: 2
  maxReplicas: 6
  metrics:
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } }
`,
    });
    assert.deepEqual(
      (
        [
          'scaling-bounds',
          'scaling-target',
          'scale-down-window',
          'custom-metrics',
          'gpu-placement',
          'memory-limit-headroom',
        ] as const
      ).map((id) => item(workload, id).state),
      ['pass', 'pass', 'pass', 'not-applicable', 'not-applicable', 'not-applicable'],
    );
  });

  test('accelerators without toleration and selector: a fault of the author, or the business of an operator', () => {
    const own = item(only({ 'chat.yaml': chat }), 'gpu-placement');
    assert.equal(own.state, 'fail');
    const model = `apiVersion: kubeai.org/v1
kind: Model
metadata: { name: chat }
spec:
  features: [TextGeneration]
  url: hf://Qwen/Qwen2.5-7B-Instruct
  engine: VLLM
  resourceProfile: nvidia-gpu-l4:1
  minReplicas: 1
`;
    for (const workload of judge({ 'model.yaml': model })) {
      assert.notEqual(item(workload, 'gpu-placement').state, 'pass');
    }
    assert.equal(judge({ 'model.yaml': model }).length, 1);
  });

  test('jobs, patches and other kinds are no workloads of the checklist', () => {
    const job = chat.replace('apps/v1', 'batch/v1').replace('kind: Deployment', 'kind: Job');
    assert.deepEqual(
      judge({
        'job.yaml': job,
        'patch.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a }\nspec: { replicas: 2 }\n',
      }),
      [],
    );
  });
});

describe('what is accepted does not fail', () => {
  test('by a comment, with its reason', () => {
    const workload = only({ 'chat.yaml': `# plimsoll-disable missing-pdb -- one team, one window\n${chat}` });
    const { state, fact } = item(workload, 'disruption-budget');
    assert.equal(state, 'not-applicable');
    assert.match(fact, /^Accepted \(one team, one window\): /);
  });

  test('by an override, and by a rule that is turned off', () => {
    const override = 'overrides: [{ names: chat, rules: { missing-pdb: off }, reason: stateless }]\n';
    assert.match(
      item(only({ 'chat.yaml': chat }, override), 'disruption-budget').fact,
      /^Accepted \(stateless\): /,
    );
    const off = only({ 'chat.yaml': chat }, 'rules: { missing-pdb: off }');
    assert.equal(item(off, 'disruption-budget').state, 'not-applicable');
  });

  test('a rule that a preset leaves out is asked all the same', () => {
    const workload = only({ 'chat.yaml': chat }, 'preset: minimal');
    assert.equal(item(workload, 'disruption-budget').state, 'fail');
  });
});

describe('alarms', () => {
  const rule = (expr: string): string => `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: alerts }
spec:
  groups:
    - name: a
      rules:
        - alert: Some
          expr: ${expr}
`;
  const scaled = { ...example('healthy') };
  const alarms = ['alarm-scaling', 'alarm-node-launch', 'alarm-at-maximum'] as const;

  for (const [expr, passes] of [
    [
      'kube_horizontalpodautoscaler_status_current_replicas >= kube_horizontalpodautoscaler_spec_max_replicas',
      'alarm-at-maximum',
    ],
    [
      'kube_horizontalpodautoscaler_status_condition{condition="ScalingActive",status="false"} == 1',
      'alarm-scaling',
    ],
    ['rate(keda_scaler_errors[5m]) > 0', 'alarm-scaling'],
    ['increase(karpenter_cloudprovider_errors_total[10m]) > 0', 'alarm-node-launch'],
    ['sum(kube_pod_status_phase{phase="Pending"}) > 5', 'alarm-node-launch'],
    ['up == 0', undefined],
  ] as const) {
    test(expr, () => {
      const workload = only({ ...scaled, 'monitoring/rules.yaml': rule(expr) });
      assert.deepEqual(
        alarms.map((id) => item(workload, id).state),
        alarms.map((id) => (id === passes ? 'pass' : 'fail')),
      );
    });
  }
});

describe('formats', () => {
  const locate = ({ uri, at }: { uri: string; at: { start: number } }) => ({
    path: uri.replace(uriOf(''), ''),
    line: at.start,
    href: `${uri}#L1`,
  });
  const workloads = judge(example('healthy'));

  test('text names each item with its state and what decides it', () => {
    const text = readinessText(workloads, locate);
    for (const { title, fact } of workloads[0]?.items ?? []) {
      assert.ok(text.includes(title));
      assert.ok(text.includes(fact));
    }
    assert.match(text, /14 of 19 pass, 1 fail, 1 not applicable, 3 unknown/);
  });

  test('Markdown has one row for each item, and nothing from the manifest is markup', () => {
    const nasty = judge({ 'a.yaml': chat.replace('name: chat }', 'name: "a|b`<img src=x>[c](d)" }') });
    const text = readinessMarkdown(nasty, locate);
    assert.equal(
      text.split('\n').filter((line) => /^\| (Pods|Scaling|Nodes|Resilience) /.test(line)).length,
      19,
    );
    assert.doesNotMatch(text, /[^\\]<img/);
    assert.ok(text.includes('a\\|b\\`\\<img src=x\\>\\[c\\](d)'));
  });

  test('JSON is plain', () => {
    const [plain] = readinessPlain(workloads, locate) as { items: { id: string; place: unknown }[] }[];
    assert.deepEqual(
      plain?.items.map(({ id }) => id),
      readinessItems.map(({ id }) => id),
    );
    assert.deepEqual(JSON.parse(JSON.stringify(plain)), plain);
  });

  test('nothing to judge is said', () => {
    assert.match(readinessText([], locate), /^No workload to judge/);
    assert.match(readinessMarkdown([], locate), /No workload to judge/);
  });
});
