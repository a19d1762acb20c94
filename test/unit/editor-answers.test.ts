import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hintsFor } from '../../server/src/editor/hints';
import { hoverFor } from '../../server/src/editor/hover';
import { linksFor } from '../../server/src/editor/links';
import { definitionAt, referencesAt, type Location } from '../../server/src/editor/references';
import { sizingDocument } from '../../server/src/editor/sizing-report';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

function workspaceOf(files: Readonly<Record<string, string>>): Workspace {
  return Workspace.empty.withAll(
    Object.entries(files).map(([name, text]) => parseFile(`file:///ws/${name}`, text)),
  );
}

function offsetOf(workspace: Workspace, file: string, wanted: string): number {
  const text = workspace.files.get(`file:///ws/${file}`)?.text ?? '';
  const at = text.indexOf(wanted.replace('|', ''));
  assert.ok(at >= 0, wanted);
  return at + Math.max(0, wanted.indexOf('|'));
}

/** `file:line text`. */
function written(workspace: Workspace, { uri, at }: Location): string {
  const text = workspace.files.get(uri)?.text ?? '';
  const line = text.slice(0, at.start).split('\n').length;
  return `${uri.slice('file:///ws/'.length)}:${line} ${text.slice(at.start, at.end)}`;
}

const serving = (image: string, container: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: chat }
spec:
  selector: { matchLabels: { app: chat } }
  template:
    metadata: { labels: { app: chat } }
    spec:
      nodeSelector: { karpenter.k8s.aws/instance-gpu-name: l4 }
      containers:
        - name: server
          image: ${image}
${container.replace(/^/gm, '          ')}
`;

const gpu = 'resources: { limits: { memory: 24Gi, nvidia.com/gpu: 1 } }';

describe('hover on a model, however the engine is told it', () => {
  const cases: readonly (readonly [string, string, string, string, RegExp])[] = [
    [
      'an argument',
      'vllm/vllm-openai:v0.11.0',
      'args: ["--model", "Qwen/Qwen2.5-7B-Instruct"]',
      '"--mod|el"',
      /7\.62 billion/,
    ],
    [
      'its value',
      'vllm/vllm-openai:v0.11.0',
      'args: ["--model", "Qwen/Qwen2.5-7B-Instruct"]',
      'Qwen/|Qwen',
      /7\.62 billion/,
    ],
    [
      'a script',
      'vllm/vllm-openai:v0.11.0',
      'command: [sh, -c]\nargs:\n  - |\n    vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192',
      '--max-mod|el',
      /requests of 8,192 tokens/,
    ],
    [
      'a variable',
      'ghcr.io/huggingface/text-generation-inference:3.0',
      'env: [{ name: MODEL_ID, value: Qwen/Qwen2.5-7B-Instruct }]',
      'MODEL|_ID',
      /7\.62 billion/,
    ],
    [
      'SGLang',
      'lmsysorg/sglang:v0.4.6',
      'command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen2.5-7B-Instruct, --context-length, "4096"]',
      '--context|-length',
      /requests of 4,096 tokens/,
    ],
    [
      'llama.cpp',
      'ghcr.io/ggml-org/llama.cpp:server-cuda',
      'args: [-hf, "bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M", -c, "4096"]',
      'bartow|ski',
      /GGUF Q4_K_M/,
    ],
  ];
  for (const [title, image, container, place, wanted] of cases) {
    test(title, () => {
      const workspace = workspaceOf({ 'a.yaml': serving(image, `${container}\n${gpu}`) });
      const hover = hoverFor(workspace, 'file:///ws/a.yaml', offsetOf(workspace, 'a.yaml', place), []);
      const [card] = hover?.cards ?? [];
      assert.match(`${card?.title ?? ''} ${card?.verdict ?? ''}`, wanted);
    });
  }

  test('is silent where the model is not known, or is only known later', () => {
    for (const model of ['acme/house-model', '$(MODEL)', '{{ .Values.model }}']) {
      const workspace = workspaceOf({
        'a.yaml': serving('vllm/vllm-openai:v0.11.0', `args: ["--model=${model}"]\n${gpu}`),
      });
      const at = offsetOf(workspace, 'a.yaml', '--mod|el');
      assert.equal(hoverFor(workspace, 'file:///ws/a.yaml', at, []), undefined, model);
      const whole = { start: 0, end: 9999 };
      const kinds = { models: true, nodePools: false, workloads: false };
      assert.deepEqual(hintsFor(workspace, 'file:///ws/a.yaml', whole, kinds, []), [], model);
    }
  });

  test('finds a model that a ConfigMap names, and follows it', () => {
    const map = (model: string): string => `apiVersion: v1
kind: ConfigMap
metadata: { name: serving }
data: { MODEL_ID: ${model} }
`;
    for (const [container, place] of [
      [
        'args: ["--model=$(MODEL)"]\nenv: [{ name: MODEL, valueFrom: { configMapKeyRef: { name: serving, key: MODEL_ID } } }]',
        '$(MO|DEL)',
      ],
      ['args: ["--model=$(MODEL_ID)"]\nenvFrom: [{ configMapRef: { name: serving } }]', '$(MO|DEL_ID)'],
      [
        'args: ["--model=$(MY_MODEL_ID)"]\nenvFrom: [{ prefix: MY_, configMapRef: { name: serving } }]',
        '$(MY|_MODEL_ID)',
      ],
    ] as const) {
      let workspace = workspaceOf({
        'a.yaml': serving('vllm/vllm-openai:v0.11.0', `${container}\n${gpu}`),
        'map.yaml': map('Qwen/Qwen2.5-7B-Instruct'),
      });
      const at = offsetOf(workspace, 'a.yaml', place);
      const title = (): string => hoverFor(workspace, 'file:///ws/a.yaml', at, [])?.cards[0]?.title ?? '';
      assert.match(title(), /^Qwen\/Qwen2\.5-7B-Instruct: 7\.62 billion/);
      workspace = workspace.with(parseFile('file:///ws/map.yaml', map('Qwen/Qwen2.5-3B-Instruct')));
      assert.match(title(), /^Qwen\/Qwen2\.5-3B-Instruct/);
      const kinds = { models: true, nodePools: false, workloads: false };
      // Where all of a map becomes variables, options may be among them: a bound is known then, no figure.
      const count = container.includes('envFrom') ? 0 : 1;
      const hints = hintsFor(workspace, 'file:///ws/a.yaml', { start: 0, end: 9999 }, kinds, []);
      assert.equal(hints.length, count);
      workspace = workspace.without('file:///ws/map.yaml');
      assert.equal(title(), '');
    }
  });

  test('tells what has been described', () => {
    const workspace = workspaceOf({
      'a.yaml': serving('vllm/vllm-openai:v0.11.0', `args: ["--model=acme/house-model"]\n${gpu}`),
    });
    const models = [
      { name: 'acme/house-model', parameters: 8e9, layers: 32, kvHeads: 8, headDim: 128, heads: 32 },
    ];
    const at = offsetOf(workspace, 'a.yaml', '--mod|el');
    assert.match(hoverFor(workspace, 'file:///ws/a.yaml', at, models)?.cards[0]?.title ?? '', /8 billion/);
    const document = sizingDocument(workspace, 'file:///ws/a.yaml', at, models);
    assert.match(document?.markdown ?? '', /acme\/house-model as described in the configuration/);
    assert.match(
      sizingDocument(workspace, 'file:///ws/a.yaml', at, [])?.markdown ?? '',
      /Unknown: the model/,
    );
  });
});

test('a pool that launches nothing says what keeps the types out', () => {
  const workspace = workspaceOf({
    'pool.yaml': `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }
      requirements:
        - { key: karpenter.k8s.aws/instance-family, operator: In, values: [g5] }
        - { key: kubernetes.io/arch, operator: In, values: [arm64] }
`,
  });
  const at = offsetOf(workspace, 'pool.yaml', 'kubernetes.io/|arch');
  const [card] = hoverFor(workspace, 'file:///ws/pool.yaml', at, [])?.cards ?? [];
  assert.equal(card?.title, 'NodePool "gpu" launches no instance type');
  assert.ok(
    card.notes.some((note) =>
      /without kubernetes\.io\/arch in \[arm64\], 8 more would do: g5\.xlarge/.test(note),
    ),
    card.notes.join('\n'),
  );
});

describe('definitions and references', () => {
  const workspace = workspaceOf({
    'app.yaml': `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, namespace: one }
spec:
  serviceName: headless
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      serviceAccountName: runner
      volumes:
        - name: a
          persistentVolumeClaim: { claimName: models }
        - name: b
          configMap: { name: settings }
      containers:
        - name: c
          image: x
          envFrom: [{ secretRef: { name: hf } }]
`,
    'others.yaml': `apiVersion: v1
kind: Service
metadata: { name: headless, namespace: one }
spec: { clusterIP: None, selector: { app: db } }
---
apiVersion: v1
kind: Service
metadata: { name: headless, namespace: two }
spec: { selector: { app: db } }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: models, namespace: one }
spec: { storageClassName: gp3 }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { a: b }
---
apiVersion: v1
kind: Secret
metadata: { name: hf }
stringData: { token: x }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: runner }
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: gp3 }
provisioner: ebs.csi.aws.com
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: db, namespace: one }
spec:
  scaleTargetRef: { kind: StatefulSet, name: db }
  triggers:
    - type: prometheus
      metadata: { serverAddress: "http://p", query: up, threshold: "1" }
      authenticationRef: { name: login }
---
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata: { name: login, namespace: one }
spec:
  secretTargetRef: [{ parameter: bearerToken, name: hf, key: token }]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: db, namespace: one }
spec: { minAvailable: 1, selector: { matchLabels: { app: db } } }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web, namespace: one }
spec: { defaultBackend: { service: { name: headless, port: { number: 80 } } } }
`,
  });
  const definition = (file: string, place: string): readonly string[] =>
    (definitionAt(workspace, `file:///ws/${file}`, offsetOf(workspace, file, place))?.targets ?? []).map(
      (target) => written(workspace, target),
    );
  const references = (file: string, place: string): readonly string[] =>
    referencesAt(workspace, `file:///ws/${file}`, offsetOf(workspace, file, place), false).map((location) =>
      written(workspace, location),
    );

  for (const [place, wanted] of [
    ['serviceName: head|less', 'others.yaml:3 headless'],
    ['serviceAccountName: run|ner', 'others.yaml:28 runner'],
    ['claimName: mod|els', 'others.yaml:13 models'],
    ['configMap: { name: sett|ings', 'others.yaml:18 settings'],
    ['secretRef: { name: h|f', 'others.yaml:23 hf'],
  ] as const) {
    test(place, () => assert.deepEqual(definition('app.yaml', place), [wanted]));
  }

  test('from autoscalers, claims and triggers', () => {
    assert.deepEqual(definition('others.yaml', 'kind: StatefulSet, name: d|b'), ['app.yaml:3 db']);
    assert.deepEqual(definition('others.yaml', 'authenticationRef: { name: log|in'), [
      'others.yaml:47 login',
    ]);
    assert.deepEqual(definition('others.yaml', 'storageClassName: gp|3'), ['others.yaml:32 gp3']);
    assert.deepEqual(definition('others.yaml', 'clusterIP: None, sel|ector'), ['app.yaml:3 db']);
  });

  test('every place that names an object, and who selects its pods', () => {
    assert.deepEqual(references('app.yaml', 'name: d|b,'), [
      'others.yaml:39 db',
      'others.yaml:4 selector',
      'others.yaml:54 selector',
    ]);
    assert.deepEqual(references('others.yaml', 'name: h|f'), ['app.yaml:19 hf', 'others.yaml:49 hf']);
    // Of two Services of one name, that of the namespace.
    assert.deepEqual(references('others.yaml', 'name: head|less, namespace: one'), [
      'app.yaml:5 headless',
      'others.yaml:59 headless',
      'app.yaml:3 db',
    ]);
    assert.deepEqual(references('others.yaml', 'name: head|less, namespace: two'), []);
  });

  test('nothing in what a Secret or ConfigMap holds', () => {
    assert.deepEqual(definition('others.yaml', 'token|: x'), []);
    assert.deepEqual(references('others.yaml', 'data: { a: |b'), []);
  });
});

test('links of charts, kustomizations, comments, models and images', () => {
  const workspace = workspaceOf({
    'Chart.yaml':
      'apiVersion: v2\nname: a\nhome: https://example.com/\ndependencies:\n  - { name: b, repository: "https://charts.example.com" }\n  - { name: c, repository: "file://../c" }\n',
    'kustomization.yaml':
      'resources: [base, https://example.com/x.yaml, gone.yaml, "github.com/a/b//c?ref=v1"]\npatches: [{ path: patch.json }]\nconfigMapGenerator: [{ name: x, files: [app.conf], literals: [a=b] }]\n',
    'base/kustomization.yaml': 'resources: []\n',
    'pod.yaml': `${serving('nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8', gpu)}---\n# plimsoll-disable-next-line image-not-pinned, no-such-rule -- why not\n${serving('123.dkr.ecr.us-east-1.amazonaws.com/vllm:1', 'command: [vllm, serve, Qwen/Qwen2.5-7B-Instruct]\n' + gpu)}`,
  });
  const of = (file: string): readonly string[] =>
    linksFor(workspace, `file:///ws/${file}`).map(({ target }) => target);
  assert.deepEqual(of('Chart.yaml'), ['https://example.com/', 'https://charts.example.com']);
  assert.deepEqual(of('kustomization.yaml'), [
    'file:///ws/base/kustomization.yaml',
    'https://example.com/x.yaml',
    'file:///ws/patch.json',
    'file:///ws/app.conf',
  ]);
  const [nim, rule, model, ...rest] = of('pod.yaml');
  assert.equal(nim, 'https://catalog.ngc.nvidia.com/orgs/nim/teams/meta/containers/llama-3.1-8b-instruct');
  assert.match(rule ?? '', /image-not-pinned\.md$/);
  assert.equal(model, 'https://huggingface.co/Qwen/Qwen2.5-7B-Instruct');
  assert.deepEqual(rest, []);
});

test('hints of pods without pools are those of the one type that they name', () => {
  const kinds = { models: false, nodePools: true, workloads: true };
  const hint = (selector: string): readonly string[] => {
    const text = serving('x', gpu).replace('karpenter.k8s.aws/instance-gpu-name: l4', selector);
    const workspace = workspaceOf({ 'a.yaml': text });
    return hintsFor(workspace, 'file:///ws/a.yaml', { start: 0, end: text.length }, kinds, []).map(
      (each) => each.text,
    );
  };
  assert.deepEqual(hint('node.kubernetes.io/instance-type: g5.2xlarge'), ['g5.2xlarge, $1.21/h']);
  assert.deepEqual(hint('karpenter.k8s.aws/instance-family: g5'), []);
  assert.deepEqual(hint('node.kubernetes.io/instance-type: "{{ .Values.type }}"'), []);
});
