import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { folder, plimsoll, type CliResult } from '../cli/host';
import { apply } from './lab/manifest';
import { grant } from './lab/nodes-and-pods';
import type { User } from './lab/state';
import { useLab, type Lab } from './lab/use';

/** `plimsoll diff` with the real API server's dry runs: what it says is what kubectl and the API server say. */

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  labels: { app: chat, tier: gpu }
spec:
  replicas: 2
  selector: { matchLabels: { app: chat } }
  template:
    metadata: { labels: { app: chat } }
    spec:
      terminationGracePeriodSeconds: 90
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.10.0
          env:
            - { name: API_KEY, value: planted-one }
          resources:
            requests: { cpu: 1000m, memory: 1024Mi }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: store }
spec:
  serviceName: store
  selector: { matchLabels: { app: store } }
  template:
    metadata: { labels: { app: store } }
    spec: { containers: [{ name: store, image: "store:1" }] }
---
apiVersion: v1
kind: Service
metadata: { name: chat }
spec:
  selector: { app: chat }
  ports: [{ port: 80 }]
`;

interface Told {
  readonly kind: string;
  readonly state: string;
  readonly changes: readonly {
    readonly field: string;
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
  readonly findings: readonly { readonly rule: string; readonly region: { readonly startLine: number } }[];
  readonly rejections: readonly { readonly field: string; readonly region: { readonly startLine: number } }[];
  readonly problem?: string;
  readonly remedy?: string;
}

let lab: Lab;
let namespace: string;

before(async () => {
  lab = useLab();
  namespace = await lab.namespace('diff');
});

after(() => lab.close());

function kubectl(argv: readonly string[], input: string): void {
  const { status, stderr } = spawnSync(
    lab.state.kubectl,
    ['--kubeconfig', lab.state.kubeconfigs.admin, '-n', namespace, ...argv, '-f', '-'],
    { input, encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
}

async function diff(text: string, user: User = 'admin', format = 'json'): Promise<CliResult> {
  const argv = ['diff', '--stdin-filename', 'app.yaml', '-n', namespace, '--format', format];
  return plimsoll('/tmp', [...argv, '--kubeconfig', lab.state.kubeconfigs[user]], { stdin: text });
}

function objectsOf({ stdout }: CliResult): readonly Told[] {
  return (JSON.parse(stdout) as { readonly objects: readonly Told[] }).objects;
}

function only(result: CliResult, kind: string): Told {
  const found = objectsOf(result).find((each) => each.kind === kind);
  assert.ok(found !== undefined, result.stdout);
  return found;
}

describe('what kubectl has applied', () => {
  before(() => kubectl(['apply'], manifest));

  test('is as in the file, though the API server has filled in defaults and written quantities its own way', async () => {
    const result = await diff(manifest);
    assert.deepEqual(
      objectsOf(result).map(({ kind, state, changes }) => [kind, state, changes.length]),
      [
        ['Deployment', 'same', 0],
        ['StatefulSet', 'same', 0],
        ['Service', 'same', 0],
      ],
    );
    assert.equal(result.code, 0);
  });

  test('differs where the file does: what changes, what goes back to its default, what goes away', async () => {
    const changed = manifest
      .replace('v0.10.0', 'v0.11.0')
      .replace(', tier: gpu', '')
      .replace('      terminationGracePeriodSeconds: 90\n', '')
      .replace('planted-one', 'planted-two')
      .replace('port: 80 ', 'port: 8080 ');
    const result = await diff(changed);
    assert.equal(result.code, 1);
    assert.deepEqual(
      Object.fromEntries(
        only(result, 'Deployment').changes.map((change) => [change.field, [change.before, change.after]]),
      ),
      {
        'metadata.labels.tier': ['gpu', undefined],
        'spec.template.spec.containers[vllm].image': ['vllm/vllm-openai:v0.10.0', 'vllm/vllm-openai:v0.11.0'],
        'spec.template.spec.containers[vllm].env[API_KEY].value': ['(not shown)', '(not shown)'],
        'spec.template.spec.terminationGracePeriodSeconds': [90, 30],
      },
    );
    assert.deepEqual(
      only(result, 'Service').changes.map(({ field }) => field),
      ['spec.ports[0].port', 'spec.ports[0].targetPort'],
    );
    assert.doesNotMatch(result.stdout, /planted-/);
    // Nothing was changed by asking.
    assert.equal((await diff(manifest)).code, 0);
  });

  test('cannot be changed in some fields: the rule says which, on its line', async () => {
    const result = await diff(manifest.replace('serviceName: store', 'serviceName: other'));
    const { state, findings, rejections } = only(result, 'StatefulSet');
    assert.equal(state, 'rejected');
    assert.deepEqual(
      findings.map(({ rule, region }) => [rule, region.startLine]),
      [['immutable-field-in-update', 25]],
    );
    assert.deepEqual(rejections, []);
  });

  test('is rejected by the API server: each field on its line', async () => {
    const result = await diff(
      manifest
        .replace('      terminationGracePeriodSeconds: 90', '      terminationGracePeriodSecond: 90')
        .replace('port: 80 ', 'port: 80, targetPort: "not_a_port" '),
    );
    assert.deepEqual(
      objectsOf(result).flatMap(({ rejections }) =>
        rejections.map(({ field, region }) => [field, region.startLine]),
      ),
      [
        ['spec.template.spec.terminationGracePeriodSecond', 12],
        ['spec.ports[0].targetPort', 36],
      ],
    );
  });
});

describe('what was applied on the server', () => {
  const text = `apiVersion: v1
kind: ConfigMap
metadata: { name: flags }
data: { one: "1", two: "2" }
`;

  test('gives up what the file gives up, and leaves what others own', async () => {
    await apply(lab.admin, text, namespace);
    await lab.admin.send('PATCH', `/api/v1/namespaces/${namespace}/configmaps/flags`, {
      body: { data: { other: '3' } },
      contentType: 'application/merge-patch+json',
    });
    assert.equal((await diff(text)).code, 0);
    assert.deepEqual(only(await diff(text.replace(', two: "2"', '')), 'ConfigMap').changes, [
      { field: 'data.two', before: '2', region: { startLine: 4, startColumn: 1, endLine: 4, endColumn: 5 } },
    ]);
  });
});

test('what is not there, is of an unknown kind, or in no namespace', async () => {
  const result = await diff(`apiVersion: v1
kind: ConfigMap
metadata: { name: brand-new }
---
apiVersion: example.com/v1
kind: Thing
metadata: { name: x }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: lost, namespace: is-nowhere }
---
apiVersion: v1
kind: Secret
metadata: { name: z }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}" }
`);
  assert.deepEqual(
    objectsOf(result).map(({ state, rejections }) => [state, rejections.map(({ field }) => field)]),
    [
      ['new', []],
      ['rejected', ['apiVersion']],
      ['rejected', ['metadata.namespace']],
    ],
  );
  const { leftOut } = JSON.parse(result.stdout) as { readonly leftOut: readonly { readonly line: number }[] };
  assert.deepEqual(
    leftOut.map(({ line }) => line),
    [14, 18],
  );
});

test('who may only read is told what to grant', async (context) => {
  await grant(lab.admin, namespace, 'stranger', [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
  ]);
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: flags }\ndata: { one: "other" }\n';
  const result = await diff(text, 'stranger');
  assert.equal(result.code, 2);
  const { state, problem, remedy } = only(result, 'ConfigMap');
  assert.equal(state, 'unknown');
  assert.match(problem ?? '', /^403 Forbidden: cannot patch configmaps flags in namespace diff/);
  assert.match(remedy ?? '', /^Grant patch on configmaps in a Role in namespace diff/);
  const root = folder(context, { 'app.yaml': text });
  const text2 = await plimsoll(root, [
    'diff',
    'app.yaml',
    '-n',
    namespace,
    '--kubeconfig',
    lab.state.kubeconfigs.stranger,
  ]);
  assert.match(text2.stdout, /app\.yaml:3 ConfigMap diff[\w-]*\/flags: not compared\n {2}403 Forbidden/);
});
