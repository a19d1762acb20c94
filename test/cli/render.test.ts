import assert from 'node:assert/strict';
import { chmodSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { pathOf, toolFolder, whyMissing, type Tool } from '../support/render-tools';
import { brokenPod, folder, plimsoll } from './host';

const fixtures = join(__dirname, '../render');

interface Reported {
  readonly files: readonly {
    readonly path: string;
    readonly findings: readonly {
      readonly rule: string;
      readonly related: readonly { readonly path: string; readonly region: { readonly startLine: number } }[];
      readonly message: string;
      readonly startLine: number;
    }[];
  }[];
  readonly skipped: readonly { readonly path: string; readonly rule?: string; readonly message: string }[];
}

async function lint(cwd: string, path: string, tools: string, ...more: readonly string[]): Promise<Reported> {
  const args = ['lint', '--format=json', ...more, path];
  const { stdout, stderr } = await plimsoll(cwd, args, { env: { PATH: tools, HOME: cwd } });
  assert.equal(stderr, '');
  const report = JSON.parse(stdout) as Reported;
  // Rules that want a cluster are listed too.
  return { ...report, skipped: report.skipped.filter(({ rule }) => rule === undefined) };
}

function messages({ files }: Reported): readonly string[] {
  return files.flatMap(({ findings }) => findings.map(({ rule, message }) => `${rule}: ${message}`)).sort();
}

function places({ files }: Reported): readonly string[] {
  return files.flatMap(({ path, findings }) =>
    findings.map(({ rule, startLine }) => `${rule} ${path}:${startLine}`),
  );
}

/** What the broken pod is there to show. */
function above(report: Reported): readonly string[] {
  return places(report).filter((each) => each.startsWith('request-above-limit '));
}

function textsBelow(root: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(root, path), `${readFileSync(path, 'utf8')} ${statSync(path).mtimeMs}`]),
  );
}

describe('the same application, rendered by the real programs', () => {
  for (const [tool, form] of [
    ['kustomize', 'kustomize'],
    ['kubectl', 'kustomize'],
    ['helm', 'helm'],
  ] as const satisfies readonly (readonly [Tool, string])[]) {
    const tools = toolFolder(tool);
    test(
      `by ${tool}: the findings of the plain manifests, and no file is touched`,
      {
        skip: tools === undefined ? whyMissing(tool) : false,
      },
      async () => {
        const before = textsBelow(fixtures);
        const plain = await lint(fixtures, 'plain', '');
        const rendered = await lint(fixtures, form, pathOf(tools ?? ''), '--render');
        assert.deepEqual(rendered.skipped, []);
        assert.deepEqual(messages(rendered), messages(plain));
        assert.deepEqual(textsBelow(fixtures), before);
      },
    );
  }

  const kustomize = toolFolder('kustomize') ?? toolFolder('kubectl');
  test(
    'an overlay alone: what comes from its base is shown there',
    {
      skip: kustomize === undefined ? whyMissing('kustomize') : false,
    },
    async () => {
      const found = places(
        await lint(fixtures, 'kustomize/overlays/prod', pathOf(kustomize ?? ''), '--render'),
      );
      assert.ok(
        found.includes('host-ram-below-model kustomize/overlays/prod/memory.yaml:12'),
        found.join('\n'),
      );
      assert.ok(found.includes('probe-port-unknown kustomize/base/chat.yaml:32'), found.join('\n'));
    },
  );

  test(
    'components, patches within patches, and operations stand where they are written',
    {
      skip: kustomize === undefined ? whyMissing('kustomize') : false,
    },
    async (t) => {
      const found = places(await lint(folder(t, nested), '.', pathOf(kustomize ?? ''), '--render'));
      for (const each of [
        'probe-port-unknown comp/probe.yaml:13',
        'irsa-role-malformed mid/kustomization.yaml:16',
        'tensor-parallel-exceeds-gpus top/kustomization.yaml:9',
        'toleration-invalid top/kustomization.yaml:18',
        'missing-cpu-request base/a.yaml:12',
      ]) {
        assert.ok(found.includes(each), `${each} is not among:\n${found.join('\n')}`);
      }
    },
  );

  test(
    'a build that fails is told in its own words, and the files are judged as they stand',
    {
      skip: kustomize === undefined ? whyMissing('kustomize') : false,
    },
    async (t) => {
      const root = folder(t, {
        'kustomization.yaml': 'resources: [pod.yaml]\nnamePrefx: a-\n',
        'pod.yaml': brokenPod,
      });
      const report = await lint(root, '.', pathOf(kustomize ?? ''), '--render');
      assert.equal(report.skipped[0]?.path, 'kustomization.yaml');
      assert.match(
        report.skipped[0].message,
        /^not rendered: ku.*namePrefx.*; its files are judged as they stand$/,
      );
      assert.deepEqual(above(report), ['request-above-limit pod.yaml:11']);
    },
  );

  test(
    'files beside a kustomization are read, as with a flag of kustomize',
    { skip: kustomize === undefined ? whyMissing('kustomize') : false },
    async (t) => {
      const root = folder(t, {
        'app/kustomization.yaml': 'resources: [../shared/pod.yaml]\n',
        'shared/pod.yaml': brokenPod,
      });
      const report = await lint(root, '.', pathOf(kustomize ?? ''), '--render');
      assert.deepEqual(report.skipped, []);
      assert.deepEqual(above(report), ['request-above-limit shared/pod.yaml:11']);
    },
  );

  const helm = toolFolder('helm');
  test(
    'each set of values is rendered',
    { skip: helm === undefined ? whyMissing('helm') : false },
    async (t) => {
      const root = folder(t, {
        'box/Chart.yaml': 'apiVersion: v2\nname: box\nversion: 1.0.0\n',
        'box/values.yaml': 'memory: 1Gi\n',
        'box/values-prod.yaml': 'memory: 5Gi\n',
        'box/templates/pod.yaml': brokenPod.replace('5Gi', '{{ .Values.memory }}'),
      });
      assert.deepEqual(above(await lint(root, '.', pathOf(helm ?? ''))), []);
      assert.deepEqual(above(await lint(root, '.', pathOf(helm ?? ''), '--render')), [
        'request-above-limit box/templates/pod.yaml:11',
      ]);
    },
  );

  test(
    'loops, named templates, subcharts and whole maps of values stand where they are written',
    {
      skip: helm === undefined ? whyMissing('helm') : false,
    },
    async (t) => {
      const report = await lint(folder(t, looped), '.', pathOf(helm ?? ''), '--render');
      const found = places(report);
      for (const each of [
        'request-above-limit chat/templates/models.yaml:22',
        'host-ram-below-model chat/templates/models.yaml:24',
        'gpus-left-idle chat/templates/models.yaml:25',
        'toleration-invalid chat/templates/models.yaml:15',
        'probe-port-unknown chat/templates/models.yaml:17',
        'hpa-min-above-max chat/charts/sub/templates/hpa.yaml:8',
      ]) {
        assert.ok(found.includes(each), `${each} is not among:\n${found.join('\n')}`);
      }
      const values = (rule: string): readonly string[] =>
        report.files
          .flatMap(({ findings }) => findings.filter((finding) => finding.rule === rule))
          .flatMap(({ related }) => related.filter(({ path }) => path.endsWith('values.yaml')))
          .map(({ path, region }) => `${path}:${region.startLine}`);
      assert.deepEqual([...new Set(values('probe-port-unknown'))], ['chat/values.yaml:12']);
      assert.deepEqual([...new Set(values('toleration-invalid'))], ['chat/values.yaml:16']);
      assert.deepEqual(values('hpa-min-above-max'), ['chat/charts/sub/values.yaml:2']);
    },
  );

  test(
    'a chart that does not render is told',
    { skip: helm === undefined ? whyMissing('helm') : false },
    async (t) => {
      const root = folder(t, {
        'box/Chart.yaml':
          'apiVersion: v2\nname: box\nversion: 1.0.0\ndependencies: [{ name: redis, version: 1.0.0, repository: "https://example.com" }]\n',
        'box/templates/pod.yaml': brokenPod,
      });
      const report = await lint(root, '.', pathOf(helm ?? ''), '--render');
      assert.match(
        report.skipped[0]?.message ?? '',
        /^not rendered: helm template: .*missing in charts\/ directory: redis/,
      );
    },
  );
});

describe('without the programs', () => {
  test('what is not rendered is told with the reason, and judged as it stands', async () => {
    const kustomize = await lint(fixtures, 'kustomize', '', '--render');
    assert.deepEqual(kustomize.skipped, [
      {
        path: 'kustomize/overlays/prod/kustomization.yaml',
        message:
          'not rendered: neither kustomize nor kubectl is on the PATH; its files are judged as they stand',
      },
    ]);
    assert.deepEqual(places(kustomize), places(await lint(fixtures, 'kustomize', '')));
    const helm = await lint(fixtures, 'helm', '', '--render');
    assert.match(helm.skipped[0]?.message ?? '', /^not rendered: helm is not on the PATH;/);
  });

  test('without --render no program is started', async (t) => {
    const root = folder(t, {
      'kustomization.yaml': 'resources: [pod.yaml]\n',
      'pod.yaml': brokenPod,
      'bin/kustomize': '',
    });
    writeFileSync(join(root, 'bin/kustomize'), `#!/bin/sh\n: > ${root}/started\n`);
    chmodSync(join(root, 'bin/kustomize'), 0o755);
    await lint(root, '.', join(root, 'bin'));
    assert.ok(!readdirSync(root).includes('started'));
    await lint(root, '.', join(root, 'bin'), '--render');
    assert.ok(readdirSync(root).includes('started'));
  });

  test('a program in a folder that is named relative to the repository is not started', async (t) => {
    const root = folder(t, {
      'kustomization.yaml': 'resources: [pod.yaml]\n',
      'pod.yaml': brokenPod,
      'bin/kustomize': '',
    });
    chmodSync(join(root, 'bin/kustomize'), 0o755);
    const report = await lint(root, '.', 'bin', '--render');
    assert.match(report.skipped[0]?.message ?? '', /on the PATH/);
  });

  test('what a kustomization would fetch is not fetched', async (t) => {
    const root = folder(t, {
      'kustomization.yaml': 'resources: [pod.yaml, "https://example.com/a.yaml"]\n',
      'pod.yaml': brokenPod,
      'bin/kustomize': '',
    });
    writeFileSync(join(root, 'bin/kustomize'), `#!/bin/sh\n: > ${root}/started\n`);
    chmodSync(join(root, 'bin/kustomize'), 0o755);
    const report = await lint(root, '.', join(root, 'bin'), '--render');
    assert.match(report.skipped[0]?.message ?? '', /is not on this disk, and nothing is fetched/);
    assert.ok(!readdirSync(root).includes('started'));
  });

  test('standard input cannot be rendered', async (t) => {
    const { code, stderr } = await plimsoll(folder(t, {}), ['lint', '--render', '-'], { stdin: brokenPod });
    assert.equal(code, 2);
    assert.match(stderr, /--render reads charts and kustomizations in folders/);
  });
});

/** A program that does what a shell script says. */
function fake(root: string, name: string, script: string): string {
  writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, 'bin', name), 0o755);
  return join(root, 'bin');
}

describe('programs that misbehave', () => {
  const chart = {
    'bin/x': '',
    'box/Chart.yaml': 'apiVersion: v2\nname: box\nversion: 1.0.0\n',
    'box/templates/pod.yaml': brokenPod,
  };
  for (const [what, script, message] of [
    [
      'that fail with words',
      'echo "some log" >&2; echo "Error: no such thing" >&2; exit 1',
      /helm template: no such thing;/,
    ],
    ['that fail without', 'exit 3', /helm template: it fails without a word;/],
    ['that write no YAML', 'echo "a: b: c"', /not well-formed YAML/],
    ['that are killed', 'kill -9 $$', /helm template: it fails without a word;/],
  ] as const) {
    test(what, async (t) => {
      const root = folder(t, chart);
      const report = await lint(root, 'box', fake(root, 'helm', script), '--render');
      assert.match(report.skipped[0]?.message ?? '', message);
      assert.deepEqual(above(report), ['request-above-limit box/templates/pod.yaml:11']);
    });
  }

  test('get no secrets of the environment, no cluster and no proxy to the world', async (t) => {
    const root = folder(t, chart);
    const bin = fake(root, 'helm', `/usr/bin/env > ${root}/env`);
    await plimsoll(root, ['lint', '--render', 'box'], {
      env: { PATH: bin, HOME: root, AWS_SECRET_ACCESS_KEY: 'secret', KUBECONFIG: '/home/me/.kube/config' },
    });
    const env = readFileSync(join(root, 'env'), 'utf8');
    assert.doesNotMatch(env, /secret|\.kube/);
    assert.match(env, /^HTTPS_PROXY=http:\/\/127\.0\.0\.1:9$/m);
    assert.match(env, /^GIT_ALLOW_PROTOCOL=none$/m);
  });
});

const nested = {
  'base/a.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  replicas: 1
  selector: { matchLabels: { app: chat } }
  template:
    metadata: { labels: { app: chat } }
    spec:
      containers:
        - name: proxy
          image: envoyproxy/envoy:v1.35.0
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args:
            - --model=Qwen/Qwen2.5-7B-Instruct
          ports: [{ name: http, containerPort: 8000 }]
          resources:
            limits: { memory: 48Gi, nvidia.com/gpu: 1 }
`,
  'base/kustomization.yaml': `resources: [a.yaml]
`,
  'comp/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - path: probe.yaml
`,
  'comp/probe.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  template:
    spec:
      containers:
        - name: vllm
          readinessProbe:
            httpGet:
              path: /health
              port: web
`,
  'mid/kustomization.yaml': `namePrefix: mid-
resources: [../base]
components: [../comp]
patchesStrategicMerge:
  - |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: chat
    spec:
      template:
        spec:
          containers:
            - name: vllm
              env:
                - name: AWS_ACCESS_KEY_ID
                  value: AKIAIOSFODNN7EXAMPLE
`,
  'top/kustomization.yaml': `nameSuffix: -x
resources:
  - ../mid
patches:
  - target: { kind: Deployment, name: .*chat }
    patch: |-
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --tensor-parallel-size=4
      - op: replace
        path: /spec/template/spec/containers/0/resources/limits/memory
        value: 8Gi
      - op: add
        path: /spec/template/spec/tolerations
        value:
          - key: nvidia.com/gpu
            operator: Exists
            value: "true"
            effect: NoSchedule
`,
};

const looped = {
  'chat/Chart.yaml': `apiVersion: v2
name: chat
version: 1.0.0
`,
  'chat/charts/sub/Chart.yaml': `apiVersion: v2
name: sub
version: 1.0.0
`,
  'chat/charts/sub/templates/hpa.yaml': `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .Release.Name }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .Release.Name }}-large }
  minReplicas: {{ .Values.min }}
  maxReplicas: {{ .Values.max }}
`,
  'chat/charts/sub/values.yaml': `min: 4
max: 2
`,
  'chat/templates/_pod.tpl': `{{- define "chat.container" -}}
- name: vllm
  image: vllm/vllm-openai:v0.11.0
  args: [--model=Qwen/Qwen2.5-7B-Instruct]
  ports: [{ name: http, containerPort: 8000 }]
{{- end }}
`,
  'chat/templates/models.yaml': `{{- range .Values.models }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $.Release.Name }}-{{ .name }}
spec:
  selector:
    matchLabels: { app: {{ .name }} }
  template:
    metadata:
      labels: { app: {{ .name }} }
    spec:
      {{- with $.Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        {{- include "chat.container" $ | nindent 8 }}
          {{- toYaml $.Values.probe | nindent 10 }}
          resources:
            requests:
              memory: 8Gi
            limits:
              memory: {{ .memory }}
              nvidia.com/gpu: {{ .gpus }}
{{- end }}
`,
  'chat/values.yaml': `models:
  - name: small
    gpus: 1
    memory: 48Gi
  - name: large
    gpus: 2
    memory: 4Gi
probe:
  readinessProbe:
    httpGet:
      path: /health
      port: web
tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    value: "true"
    effect: NoSchedule
`,
};
