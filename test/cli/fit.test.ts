import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folder, plimsoll } from './host';

const root = join(__dirname, '../..');

interface JsonFit {
  readonly workloads: readonly {
    readonly name: string;
    readonly namespace: string | null;
    readonly line: number;
    readonly verdict: string;
    readonly launchesFrom: string | null;
    readonly requests: Readonly<Record<string, number>>;
    readonly pools: readonly {
      readonly name: string;
      readonly path: string;
      readonly verdict: string;
      readonly types: readonly { readonly name: string; readonly onDemandUsdPerHour: number | null }[];
      readonly reasons: readonly string[];
      readonly nearest: { readonly type: string } | null;
      readonly excludedBy: string | null;
    }[];
    readonly anyType: { readonly types: readonly { readonly name: string }[] } | null;
  }[];
}

const nodes = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }
      requirements:
        - { key: karpenter.k8s.aws/instance-family, operator: In, values: [g6] }
        - { key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["20"] }
        - { key: karpenter.sh/capacity-type, operator: In, values: [on-demand] }
`;

function pod(name: string, gpus: number, namespace = 'inference'): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.11.0
      resources: { requests: { cpu: 3 }, limits: { nvidia.com/gpu: ${gpus} } }
`;
}

async function fitJson(cwd: string, ...argv: readonly string[]): Promise<{ code: number; report: JsonFit }> {
  const { code, stdout } = await plimsoll(cwd, ['fit', '--format', 'json', ...argv]);
  return { code, report: JSON.parse(stdout) as JsonFit };
}

describe('plimsoll fit', () => {
  test('names the types that will do with their prices, cheapest first', async () => {
    const { code, stdout } = await plimsoll(root, ['fit', '-f', 'examples/healthy']);
    assert.equal(code, 0);
    assert.match(stdout, /^inference\/chat \(Deployment\) examples\/healthy\/chat\.yaml:5$/m);
    assert.match(stdout, /^ {2}asks for 3 CPUs, 24 GiB of memory and 1 GPU$/m);
    assert.match(stdout, /^ {2}NodePool "gpu": fits on 6 types$/m);
    assert.match(stdout, /^ {4}g6\.2xlarge +1 x l4 22\.4 GiB +8 +32 GiB +0\.98/m);
    assert.match(stdout, /1 workload: 1 fit, 0 do not, 0 may/);
  });

  test('says what keeps a pod out, and which requirement excludes a type that would do', async (t) => {
    const cwd = folder(t, { 'nodes.yaml': nodes, 'pods.yaml': pod('one', 1) + '---\n' + pod('four', 4) });
    const { code, stdout } = await plimsoll(cwd, ['fit', '.']);
    assert.equal(code, 1);
    assert.match(stdout, /^ {2}NodePool "gpu": does not fit$/m);
    assert.match(
      stdout,
      /^ {4}it asks for 4 GPUs, and the most that a node offers is 1 \(g6\.xlarge, g6\.2xlarge and g6\.4xlarge\)$/m,
    );
    assert.match(
      stdout,
      /^ {4}g6\.12xlarge \(\$4\.60\/h\) could run it, but NodePool "gpu" requires karpenter\.k8s\.aws\/instance-cpu at most 19$/m,
    );
  });

  test('gives the same as JSON', async (t) => {
    const cwd = folder(t, { 'nodes.yaml': nodes, 'pods.yaml': pod('one', 1) + '---\n' + pod('four', 4) });
    const { code, report } = await fitJson(cwd);
    assert.equal(code, 1);
    const [one, four] = report.workloads;
    assert.equal(one?.verdict, 'fits');
    assert.equal(one.launchesFrom, 'gpu');
    assert.deepEqual(one.requests, { cpu: 3000, 'nvidia.com/gpu': 1 });
    assert.deepEqual(
      one.pools[0]?.types.map(({ name }) => name),
      ['g6.xlarge', 'g6.2xlarge', 'g6.4xlarge'],
    );
    assert.equal(one.pools[0].types[0]?.onDemandUsdPerHour, 0.8048);
    assert.equal(four?.verdict, 'none');
    assert.equal(four.line, 15);
    assert.equal(four.pools[0]?.path, 'nodes.yaml');
    assert.equal(four.pools[0].types.length, 0);
    assert.equal(four.pools[0].reasons.length, 1);
    assert.equal(four.pools[0].nearest?.type, 'g6.xlarge');
    assert.match(four.pools[0].excludedBy ?? '', /instance-cpu/);
  });

  test('one workload by its name, or namespace and name', async (t) => {
    const cwd = folder(t, {
      'nodes.yaml': nodes,
      'pods.yaml': [pod('chat', 1, 'a'), pod('chat', 1, 'b'), pod('rank', 1, 'b')].join('---\n'),
    });
    const named = async (workload: string): Promise<readonly string[]> => {
      const { report } = await fitJson(cwd, '--workload', workload);
      return report.workloads.map(({ namespace, name }) => `${namespace ?? ''}/${name}`);
    };
    assert.deepEqual(await named('b/chat'), ['b/chat']);
    assert.deepEqual(await named('chat'), ['a/chat', 'b/chat']);
    const { code, stderr } = await plimsoll(cwd, ['fit', '--workload', 'b/chet']);
    assert.equal(code, 2);
    assert.match(stderr, /there is no workload b\/chet in these files; they have a\/chat, b\/chat, b\/rank/);
  });

  test('a file is seen together with the pools beside it', async (t) => {
    const cwd = folder(t, { 'nodes.yaml': nodes, 'pods.yaml': pod('one', 1), 'other.yaml': pod('two', 1) });
    const { report } = await fitJson(cwd, '-f', 'pods.yaml');
    assert.deepEqual(
      report.workloads.map(({ name, verdict }) => [name, verdict]),
      [['one', 'fits']],
    );
  });

  test('without a pool, the types of all that would do; with a value that is only known later, maybe', async (t) => {
    const alone = folder(t, { 'pod.yaml': pod('one', 8) });
    const { code, report } = await fitJson(alone);
    assert.equal(code, 0);
    assert.equal(report.workloads[0]?.verdict, 'unknown');
    assert.ok(report.workloads[0].anyType?.types.some(({ name }) => name === 'p5.48xlarge'));
    const later = folder(t, {
      'nodes.yaml': nodes.replace('[g6]', '["${FAMILY}"]'),
      'pod.yaml': pod('one', 1),
    });
    const answer = await fitJson(later);
    assert.equal(answer.code, 0);
    assert.equal(answer.report.workloads[0]?.verdict, 'unknown');
  });

  test('an eksctl node group is a pool, and DaemonSets take room', async (t) => {
    const cwd = folder(t, {
      'cluster.yaml': `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: { name: c, region: us-west-2 }
managedNodeGroups:
  - { name: ng, instanceType: g6.xlarge }
`,
      'agent.yaml': `apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec:
      tolerations: [{ operator: Exists }]
      containers: [{ name: a, image: example.com/agent:1, resources: { requests: { cpu: 1 } } }]
`,
      'pods.yaml': pod('one', 1),
    });
    const { code, report } = await fitJson(cwd);
    assert.equal(code, 1);
    assert.deepEqual(
      report.workloads.map(({ name }) => name),
      ['one'],
    );
    assert.match(
      report.workloads[0]?.pools[0]?.reasons.join() ?? '',
      /3 CPUs, and the most that a node offers is 2\.92/,
    );
  });

  test('what cannot be read or understood is said, with exit code 2', async (t) => {
    const cwd = folder(t, { 'pod.yaml': pod('one', 1) });
    const missing = await plimsoll(cwd, ['fit', '-f', 'absent']);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /absent: /);
    for (const argv of [['--format', 'yaml'], ['-f', '-'], ['--bogus']]) {
      const { code, stderr } = await plimsoll(cwd, ['fit', ...argv]);
      assert.equal(code, 2, argv.join(' '));
      assert.match(stderr, /^plimsoll: /);
    }
    const { code, stdout } = await plimsoll(cwd, ['fit', '--help']);
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: plimsoll fit/);
    const empty = folder(t, { 'README.md': 'nothing' });
    assert.equal((await plimsoll(empty, ['fit'])).stdout, 'No workload with pods to place\n');
  });
});
