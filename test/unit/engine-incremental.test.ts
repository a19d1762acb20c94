import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { defaultConfig } from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import { Workspace } from '../../server/src/workspace/workspace';
import type { SourceFile } from '../../server/src/yaml/document';
import { parseFile } from '../../server/src/yaml/parse';

/**
 * After every edit, what is kept from before must give the same findings as a lint that starts from nothing. The
 * edits are those that matter to others: numbers, names, labels and whole lines of one document.
 */

const root = resolve(__dirname, '../..');
const config = defaultConfig({ defaults: { preset: 'strict' } });
const configFor = (): typeof config => config;

function filesBelow(folder: string): readonly SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.ya?ml$/.test(path) && statSync(path).isFile())
    .sort()
    .map((path) => parseFile(pathToFileURL(path).href, readFileSync(path, 'utf8')));
}

const edits: readonly (readonly [what: string, (text: string) => string])[] = [
  ['a number', (text) => text.replace(/\b(\d)\b/, (digit) => String((Number(digit) + 1) % 10))],
  ['a label', (text) => text.replace(/\bapp(?=: )/, 'application')],
  ['a name', (text) => text.replace(/(name: )(\w+)/, '$1other-$2')],
  ['a comment above', (text) => `# more\n${text}`],
  ['a document above', (text) => `a: 1\n---\n${text}`],
  ['the first document', (text) => text.replace(/^[\s\S]*?^---\n/m, '')],
  ['the kind', (text) => text.replace('kind: Deployment', 'kind: DaemonSet')],
  ['the resources', (text) => text.replace(/memory: \S+/, 'memory: 1Gi')],
  ['nothing left', () => ''],
];

function compare(folder: string): number {
  let workspace = Workspace.empty.withAll(filesBelow(folder));
  lint(workspace, configFor);
  let compared = 0;
  const files = [...workspace.files.values()];
  for (const [index, file] of files.entries()) {
    // Of many files, each gets some of the edits, and together they get all, several times.
    const every = files.length <= 6 ? 1 : files.length <= 12 ? 3 : 6;
    const own = edits.filter((_, at) => (at + index) % every === 0);
    for (const [what, edit] of own) {
      const text = edit(file.text);
      if (text === file.text) continue;
      workspace = workspace.with(parseFile(file.uri, text, workspace.files.get(file.uri)));
      const kept = lint(workspace, configFor);
      const fresh = lint(
        Workspace.empty.withAll(
          [...workspace.files.values()].map(({ uri, text: now }) => parseFile(uri, now)),
        ),
        configFor,
      );
      assert.deepEqual(kept, fresh, `${what} in ${file.uri}`);
      compared++;
      workspace = workspace.with(parseFile(file.uri, file.text, workspace.files.get(file.uri)));
    }
  }
  return compared;
}

for (const example of ['broken', 'healthy']) {
  test(`examples/${example}: edits give what a fresh start gives`, () => {
    assert.ok(compare(join(root, 'examples', example)) > 10);
  });
}

for (const rule of [
  'missing-pdb',
  'hpa-target-missing-request',
  'replicas-with-autoscaler',
  'gpu-taint-not-tolerated',
  'rolling-update-needs-spare-gpu',
  'no-instance-type-fits',
  'service-name-breaks-engine',
  'missing-topology-spread',
  'request-above-limit',
]) {
  test(`fixtures of ${rule}: edits give what a fresh start gives`, () => {
    assert.ok(compare(join(root, 'test/rules', rule)) > 0);
  });
}

const corpus = resolve(root, '../shared/corpus/kubernetes__examples');
test(
  'public manifests: edits give what a fresh start gives',
  { skip: !existsSync(corpus) && 'no corpus' },
  () => {
    assert.ok(compare(corpus) > 5);
  },
);

const deployment = (name: string, labels = `app: ${name}`): string =>
  `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: 3
  selector: { matchLabels: { ${labels} } }
  template:
    metadata: { labels: { ${labels} } }
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args: [--model=Qwen/Qwen2.5-7B-Instruct]
          resources: { limits: { nvidia.com/gpu: 1 } }
`;
const companions = (name: string): string =>
  `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: ${name} }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  maxReplicas: 4
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 70 } } }]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: ${name} }
spec: { maxUnavailable: 0, selector: { matchLabels: { app: ${name} } } }
`;

/** What a file of a generated workspace can become, by its name. */
const choices: Readonly<Record<string, readonly string[]>> = {
  'app/a.yaml': [deployment('llm'), deployment('other'), deployment('llm', 'app: x'), ''],
  'app/b.yaml': [companions('llm'), companions('other'), `${companions('llm')}---\n${deployment('llm')}`],
  'app/hpa/c.yaml': [companions('llm'), deployment('llm')],
  'app/kustomization.yaml': [
    'resources: [a.yaml, b.yaml]\n',
    'resources: [a.yaml, b.yaml]\npatches: [{ path: patch.yaml }]\n',
    'resources: [a.yaml]\npatches: [{ path: jsonpatch.yaml, target: { kind: Deployment } }]\n',
    'resources: [a.yaml, b.yaml]\nreplicas: [{ name: llm, count: 2 }]\n',
  ],
  'app/patch.yaml': [deployment('llm'), deployment('other')],
  'app/jsonpatch.yaml': [
    '- op: add\n  path: /spec/template/spec/tolerations\n  value: [{ operator: Exists }]\n',
    '- op: replace\n  path: /spec/template/spec/terminationGracePeriodSeconds\n  value: 120\n',
    'nothing: here\n',
  ],
  'pools/pool.yaml': [
    `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
spec: { template: { spec: { taints: [{ key: nvidia.com/gpu, effect: NoSchedule }] } } }
`,
    '# none\n',
  ],
};

test('files that come, change, go and come back give what a fresh start gives', () => {
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let workspace = Workspace.empty;
  const names = Object.keys(choices);
  const seen = new Set<string>();
  for (let step = 0; step < 400; step++) {
    const name = names[random(names.length)] ?? '';
    const uri = `file:///ws/${name}`;
    const versions = choices[name] ?? [];
    const text = random(5) === 0 ? undefined : versions[random(versions.length)];
    workspace =
      text === undefined
        ? workspace.without(uri)
        : workspace.with(parseFile(uri, text, workspace.files.get(uri)));
    // Several changes may come before anyone looks.
    if (random(3) === 0) continue;
    const fresh = Workspace.empty.withAll(
      [...workspace.files.values()].map((file) => parseFile(file.uri, file.text)),
    );
    const now = lint(workspace, configFor);
    assert.deepEqual(now, lint(fresh, configFor), `step ${step}, ${name}`);
    for (const { findings } of now.files) for (const { rule } of findings) seen.add(rule);
  }
  for (const rule of ['pdb-blocks-drain', 'missing-pdb', 'hpa-target-missing-request']) {
    assert.ok(seen.has(rule), `${rule} was among the findings`);
  }
});

test('a JSON patch that takes up a field is seen by the workload that it patches', () => {
  const findings = (workspace: Workspace): readonly string[] =>
    lint(workspace, configFor, { uris: ['file:///ws/app/a.yaml'] }).files[0]?.findings.map(
      ({ rule }) => rule,
    ) ?? [];
  const [tolerations = '', other = ''] = choices['app/jsonpatch.yaml'] ?? [];
  const [, , patched = ''] = choices['app/kustomization.yaml'] ?? [];
  const before = Workspace.empty.withAll([
    parseFile('file:///ws/app/a.yaml', deployment('llm')),
    parseFile('file:///ws/app/kustomization.yaml', patched),
    parseFile('file:///ws/app/jsonpatch.yaml', other),
  ]);
  assert.ok(findings(before).includes('missing-gpu-toleration'));
  const after = before.with(parseFile('file:///ws/app/jsonpatch.yaml', tolerations));
  assert.ok(!findings(after).includes('missing-gpu-toleration'));
});
