import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { configurationOf } from '../../server/src/engine/config';
import type { Finding } from '../../server/src/engine/finding';
import { lint, type FileResult } from '../../server/src/engine/run';
import { judge, type Judged } from '../../server/src/render/judge';
import { mergeRendered } from '../../server/src/render/merge';
import { reasonIn } from '../../server/src/render/tools';
import type { ReadSource, RenderedText, RenderUnit } from '../../server/src/render/types';
import { unitsOf } from '../../server/src/render/units';
import { Workspace } from '../../server/src/workspace/workspace';
import type { SourceFile } from '../../server/src/yaml/document';
import { parseFile } from '../../server/src/yaml/parse';

/** What tools rendered of the files in `test/render`, recorded in `test/render/recorded`. */

const root = join(__dirname, '../render');

type Files = Readonly<Record<string, string>>;

function filesIn(folder: string): Files {
  const names = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(root, path), readFileSync(path, 'utf8')];
      }),
  );
}

const uriOf = (path: string): string => `file:///${path}`;

interface Outcome {
  readonly judged: Judged;
  readonly results: readonly FileResult[];
  readonly texts: Files;
}

/** Lints files as they stand, and with what was rendered of them. */
function run(
  files: Files,
  rendered: (units: readonly RenderUnit[]) => readonly RenderedText[],
  config = '',
): Outcome {
  const sources = new Map<string, SourceFile>(
    Object.entries(files).map(([path, text]) => [`/${path}`, parseFile(uriOf(path), text)]),
  );
  const read: ReadSource = (path) => sources.get(path);
  const workspace = Workspace.empty.withAll([...sources.values()].filter(({ uri }) => /\.ya?ml$/.test(uri)));
  const { configFor } = configurationOf(new Map([[uriOf('.plimsoll.yaml'), config]]));
  const units = unitsOf(workspace.files.values());
  const judged = judge({ rendered: rendered(units), workspace, configFor, read });
  const results = mergeRendered(lint(workspace, configFor).files, judged);
  return { judged, results, texts: files };
}

const recorded = (name: string): string => readFileSync(join(root, 'recorded', name), 'utf8');

const kustomize = (): Outcome =>
  run(filesIn('kustomize'), ([unit]) => [
    { unit: unit ?? assert.fail(), values: undefined, text: recorded('kustomize.yaml'), base: '' },
  ]);
const helm = (): Outcome =>
  run(filesIn('helm'), ([unit]) => [
    { unit: unit ?? assert.fail(), values: undefined, text: recorded('helm.yaml'), base: '' },
  ]);
const plain = (): Outcome => run(filesIn('plain'), () => []);

function findings({ results }: Outcome): readonly Finding[] {
  return results.flatMap((result) => result.findings);
}

/** What the application of `test/render` is there to show; other rules may have more to say about it. */
const shown: readonly string[] = [
  'host-ram-below-model',
  'hpa-cpu-for-gpu-workload',
  'hpa-min-above-max',
  'image-not-pinned',
  'missing-gpu-toleration',
  'missing-shared-memory',
  'missing-topology-spread',
  'model-downloaded-at-start',
  'pdb-blocks-drain',
  'probe-port-unknown',
  'replicas-with-autoscaler',
  'request-above-limit',
  'rolling-update-needs-spare-gpu',
  'tensor-parallel-exceeds-gpus',
];

function said(outcome: Outcome): readonly string[] {
  return findings(outcome)
    .map(({ rule, severity, message }) => `${rule} ${severity} ${message}`)
    .sort();
}

/** `rule file the line`. */
function placed({ results, texts }: Outcome): Readonly<Record<string, string>> {
  return Object.fromEntries(
    results.flatMap(({ findings: found }) =>
      found
        .filter(({ rule }) => shown.includes(rule))
        .map(({ rule, uri, at }) => {
          const path = uri.slice('file:///'.length);
          const text = texts[path] ?? '';
          const start = text.lastIndexOf('\n', at.start - 1) + 1;
          const line = text.slice(start, text.indexOf('\n', at.start)).trim();
          return [rule, `${path.replace(/^(kustomize|helm\/chat)\//, '')}: ${line}`];
        }),
    ),
  );
}

describe('one application as YAML, as an overlay and as a chart', () => {
  test('has the same findings, word for word', () => {
    const wanted = said(plain());
    for (const rule of shown)
      assert.ok(
        wanted.some((each) => each.startsWith(`${rule} `)),
        rule,
      );
    assert.deepEqual(said(kustomize()), wanted);
    assert.deepEqual(said(helm()), wanted);
  });

  test('of an overlay they stand in the patch, the transformer or the base that makes them', () => {
    assert.deepEqual(placed(kustomize()), {
      'host-ram-below-model': 'overlays/prod/memory.yaml: memory: 12Gi',
      'hpa-cpu-for-gpu-workload': 'base/scaling.yaml: name: cpu',
      'hpa-min-above-max':
        'overlays/prod/maximum.json: { "op": "replace", "path": "/spec/maxReplicas", "value": 1 }',
      'image-not-pinned': 'overlays/prod/kustomization.yaml: newTag: latest',
      'missing-gpu-toleration': 'base/chat.yaml: nvidia.com/gpu: 2',
      'missing-shared-memory': 'base/chat.yaml: - name: vllm',
      'missing-topology-spread': 'base/chat.yaml: spec:',
      'model-downloaded-at-start': 'base/chat.yaml: - --model=meta-llama/Llama-3.1-8B-Instruct',
      'pdb-blocks-drain': 'overlays/prod/kustomization.yaml: minAvailable: 100%',
      'probe-port-unknown': 'base/chat.yaml: port: web',
      'replicas-with-autoscaler': 'overlays/prod/kustomization.yaml: count: 2',
      'request-above-limit': 'base/chat.yaml: memory: 32Gi',
      'rolling-update-needs-spare-gpu': 'base/chat.yaml: nvidia.com/gpu: 2',
      'tensor-parallel-exceeds-gpus': 'base/chat.yaml: - --tensor-parallel-size=4',
    });
  });

  test('of a chart they stand in the template, and point at the values', () => {
    const outcome = helm();
    assert.deepEqual(placed(outcome), {
      'host-ram-below-model': 'templates/chat.yaml: resources:',
      'hpa-cpu-for-gpu-workload': 'templates/scaling.yaml: name: cpu',
      'hpa-min-above-max': 'templates/scaling.yaml: maxReplicas: {{ .Values.autoscaling.maxReplicas }}',
      'image-not-pinned':
        'templates/chat.yaml: image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"',
      'missing-gpu-toleration': 'templates/chat.yaml: resources:',
      'missing-shared-memory': 'templates/chat.yaml: - name: vllm',
      'missing-topology-spread': 'templates/chat.yaml: spec:',
      'model-downloaded-at-start': 'templates/chat.yaml: - --model=meta-llama/Llama-3.1-8B-Instruct',
      'pdb-blocks-drain': 'templates/scaling.yaml: minAvailable: 100%',
      'probe-port-unknown': 'templates/chat.yaml: port: web',
      'replicas-with-autoscaler': 'templates/chat.yaml: replicas: {{ .Values.replicas }}',
      'request-above-limit': 'templates/chat.yaml: resources:',
      'rolling-update-needs-spare-gpu': 'templates/chat.yaml: resources:',
      'tensor-parallel-exceeds-gpus':
        'templates/chat.yaml: - --tensor-parallel-size={{ .Values.tensorParallel }}',
    });
    const values = outcome.texts['helm/chat/values.yaml'] ?? '';
    const valuesOf = (rule: string): readonly string[] =>
      (findings(outcome).find((finding) => finding.rule === rule)?.related ?? [])
        .filter(({ uri }) => uri.endsWith('values.yaml'))
        .map(({ at }) => values.slice(at.start, at.end));
    assert.deepEqual(valuesOf('request-above-limit'), ['32Gi']);
    assert.deepEqual(valuesOf('host-ram-below-model'), ['12Gi']);
    assert.deepEqual(valuesOf('hpa-min-above-max'), ['1']);
    assert.deepEqual(valuesOf('image-not-pinned'), ['vllm/vllm-openai', 'latest']);
    assert.deepEqual(valuesOf('tensor-parallel-exceeds-gpus'), ['4']);
  });

  test('fixes are those of the text that is there, or none', () => {
    for (const outcome of [kustomize(), helm()]) {
      const asItStands = new Map(
        plainResults(outcome).map((finding) => [
          `${finding.rule} ${finding.uri} ${finding.at.start}`,
          finding,
        ]),
      );
      for (const finding of findings(outcome)) {
        if (finding.fixes.length === 0) continue;
        const same = asItStands.get(`${finding.rule} ${finding.uri} ${finding.at.start}`);
        assert.deepEqual(finding.fixes, same?.fixes, finding.rule);
      }
    }
    const fixed = findings(kustomize()).filter(({ fixes }) => fixes.length > 0);
    assert.ok(fixed.some(({ rule }) => rule === 'missing-shared-memory'));
    const rendered = findings(helm()).find(({ rule }) => rule === 'host-ram-below-model');
    assert.deepEqual(rendered?.fixes, []);
  });
});

function plainResults({ texts }: Outcome): readonly Finding[] {
  const workspace = Workspace.empty.withAll(
    Object.entries(texts).map(([path, text]) => parseFile(uriOf(path), text)),
  );
  const { configFor } = configurationOf(new Map());
  return lint(workspace, configFor).files.flatMap((result) => result.findings);
}

const pod = (memory: string, more = ''): string => `apiVersion: v1
kind: Pod
metadata:
  name: box${more}
spec:
  containers:
    - name: app
      image: nginx:1.29
      resources:
        requests:
          memory: ${memory}
        limits:
          memory: 4Gi
`;

const origin = (text: string, path: string): string =>
  text.replace(
    'metadata:\n',
    `metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      path: ${path}\n`,
  );

const overlay = (files: Files, text: string): Outcome =>
  run(files, ([unit]) => [{ unit: unit ?? assert.fail(), values: undefined, text, base: '/app' }]);

describe('what is judged', () => {
  test('an object as it is rendered, and not as it stands', () => {
    const files = {
      'base/kustomization.yaml': 'resources: [pod.yaml, other.yaml]\n',
      'base/pod.yaml': pod('5Gi'),
      'base/other.yaml': pod('5Gi').replace('box', 'other'),
      'app/kustomization.yaml': 'resources: [../base]\npatches: [{ path: patch.yaml }]\n',
      'app/patch.yaml': pod('1Gi').replace(/ {8}limits[^]*/, ''),
    };
    // The overlay corrects one; the other was taken out of what is rendered, so that it stands as it is.
    const outcome = overlay(files, origin(pod('1Gi'), '../base/pod.yaml'));
    assert.deepEqual(placed(outcome), { 'request-above-limit': 'base/other.yaml: memory: 5Gi' });
  });

  test('names that kustomize made longer are found again', () => {
    const files = {
      'app/kustomization.yaml': 'namePrefix: prod-\nresources: [pods.yaml]\n',
      'app/pods.yaml': `${pod('1Gi')}---\n${pod('5Gi', '-large')}`,
    };
    const text = [pod('1Gi'), pod('5Gi', '-large')]
      .map((each) => origin(each.replace('name: box', 'name: prod-box'), 'pods.yaml'))
      .join('---\n');
    const [finding] = findings(overlay(files, text));
    assert.equal(finding?.rule, 'request-above-limit');
    assert.equal(finding.resource?.name, 'box-large');
    assert.equal(finding.resource.document, 1);
  });

  test('what two overlays have in common is said once', () => {
    const files = {
      'base/kustomization.yaml': 'resources: [pod.yaml]\n',
      'base/pod.yaml': pod('5Gi'),
      'dev/kustomization.yaml': 'resources: [../base]\n',
      'prod/kustomization.yaml': 'resources: [../base]\n',
    };
    const outcome = run(files, (units) => {
      assert.deepEqual(
        units.map(({ directory }) => directory),
        ['/dev', '/prod'],
      );
      return units.map((unit) => ({
        unit,
        values: undefined,
        text: origin(pod('5Gi'), '../base/pod.yaml'),
        base: unit.directory,
      }));
    });
    assert.deepEqual(placed(outcome), { 'request-above-limit': 'base/pod.yaml: memory: 5Gi' });
    assert.equal(findings(outcome).length, 1);
  });

  test('comments of the source still suppress, and are not called unused', () => {
    const files = {
      'app/kustomization.yaml': 'resources: [pod.yaml]\nnamespace: llm\n',
      'app/pod.yaml': pod('5Gi').replace(
        /( +)memory: 5Gi/,
        '$1# plimsoll-disable-next-line request-above-limit -- a test\n$1memory: 5Gi',
      ),
    };
    const outcome = overlay(files, origin(pod('5Gi'), 'pod.yaml'));
    assert.deepEqual(placed(outcome), {});
    const [suppressed] = outcome.results.flatMap((result) => result.suppressed);
    assert.deepEqual(
      [suppressed?.finding.rule, suppressed?.kind, suppressed?.justification],
      ['request-above-limit', 'inSource', 'a test'],
    );
  });

  test('the configuration of the source holds: overrides by its path, and severities', () => {
    const files = { 'app/kustomization.yaml': 'resources: [pod.yaml]\n', 'app/pod.yaml': pod('5Gi') };
    const rendered = ([unit]: readonly RenderUnit[]): RenderedText[] => [
      { unit: unit ?? assert.fail(), values: undefined, text: origin(pod('5Gi'), 'pod.yaml'), base: '/app' },
    ];
    const accepted = run(
      files,
      rendered,
      'overrides: [{ files: app/pod.yaml, rules: { request-above-limit: off }, reason: known }]',
    );
    assert.deepEqual(placed(accepted), {});
    assert.equal(accepted.results.flatMap((result) => result.suppressed)[0]?.justification, 'known');
    const hint = run(
      files,
      rendered,
      'overrides: [{ files: app/pod.yaml, rules: { request-above-limit: hint } }]',
    );
    assert.equal(findings(hint)[0]?.severity, 'hint');
  });

  test('what a generator makes stands at the generator', () => {
    const files = {
      'app/kustomization.yaml':
        'resources: [pod.yaml]\nconfigMapGenerator:\n  - name: first\n  - name: box\n',
      'app/pod.yaml': pod('1Gi'),
    };
    const text = pod('5Gi').replace(
      'metadata:\n  name: box',
      'metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      configuredIn: kustomization.yaml\n      configuredBy: {}\n  name: box-g2h9k',
    );
    assert.deepEqual(placed(overlay(files, text)), {
      'request-above-limit': 'app/kustomization.yaml: - name: box',
    });
  });

  test('text that is no YAML is told, and the files stay judged as they stand', () => {
    const files = { 'app/kustomization.yaml': 'resources: [pod.yaml]\n', 'app/pod.yaml': pod('5Gi') };
    const outcome = overlay(files, 'a: b: c\n');
    assert.deepEqual(
      outcome.judged.problems.map(({ why }) => why.split(':')[0]),
      ['what it renders is not well-formed YAML'],
    );
    assert.deepEqual(placed(outcome), { 'request-above-limit': 'app/pod.yaml: memory: 5Gi' });
  });

  test('what is rendered sees the manifests beside it', () => {
    const nodes = readFileSync(join(__dirname, '../../examples/healthy/nodes.yaml'), 'utf8');
    const gpu = (count: number): string =>
      pod('1Gi').replace('memory: 4Gi', `memory: 4Gi\n          nvidia.com/gpu: ${count}`);
    const files = {
      'nodes.yaml': nodes,
      'app/kustomization.yaml': 'resources: [pod.yaml]\n',
      'app/pod.yaml': gpu(1),
    };
    const outcome = overlay(files, origin(gpu(64), 'pod.yaml'));
    assert.ok(findings(outcome).some(({ rule }) => rule === 'no-instance-type-fits'));
  });
});

describe('what there is to render', () => {
  const units = (files: Files): readonly string[] =>
    unitsOf(Object.entries(files).map(([path, text]) => parseFile(uriOf(path), text))).map(
      ({ kind, directory, valuesFiles }) => [kind, directory, ...valuesFiles].join(' '),
    );
  test('charts with their sets of values, not those inside another, nor libraries', () => {
    const chart = 'apiVersion: v2\nname: a\nversion: 1.0.0\n';
    assert.deepEqual(
      units({
        'a/Chart.yaml': chart,
        'a/values.yaml': '',
        'a/values-prod.yaml': '',
        'a/templates/x.yaml': '',
        'a/charts/b/Chart.yaml': chart,
        'a/charts/b/templates/x.yaml': '',
        'lib/Chart.yaml': `${chart}type: library\n`,
        'lib/templates/x.yaml': '',
        'empty/Chart.yaml': chart,
      }),
      ['helm /a /a/values-prod.yaml'],
    );
  });

  test('kustomizations that no other one lists, not components', () => {
    assert.deepEqual(
      units({
        'base/kustomization.yaml': 'resources: [a.yaml]\n',
        'parts/kustomization.yaml': 'kind: Component\nresources: [b.yaml]\n',
        'prod/kustomization.yaml': 'resources: [../base]\ncomponents: [../parts]\n',
        'alone/Kustomization': 'resources: [c.yaml]\n',
        'nothing/kustomization.yaml': 'namespace: a\n',
      }),
      ['kustomize /alone', 'kustomize /prod'],
    );
  });
});

describe('what programs say as they fail', () => {
  for (const [text, reason] of [
    ['', 'it fails without a word'],
    ['walk.go:75: found symbolic link\nError: chart not found\n', 'chart not found'],
    [
      "Error: values don't meet the specifications of the schema(s) in the following chart(s):\nbox:\n- (root): age is required\n",
      "values don't meet the specifications of the schema(s) in the following chart(s): box: - (root): age is required",
    ],
    [
      "Error: accumulating resources: accumulation err='accumulating resources from '../a': '/w/a' must resolve to a file': invalid Kustomization: json: unknown field \"namePrefx\"",
      'invalid Kustomization: json: unknown field "namePrefx"',
    ],
    [
      'Error: Get "https://example.com/schema.json": proxyconnect tcp: dial tcp 127.0.0.1:9: connect: connection refused',
      'it would fetch https://example.com/schema.json, and nothing is fetched',
    ],
    ["fatal: transport 'https' not allowed", 'it would fetch a repository, and nothing is fetched'],
  ] as const) {
    test(reason, () => assert.equal(reasonIn(text), reason));
  }
});
