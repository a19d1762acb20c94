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
      assert.deepEqual(places(report), ['request-above-limit pod.yaml:11']);
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
      assert.deepEqual(places(await lint(root, '.', pathOf(helm ?? ''))), []);
      assert.deepEqual(places(await lint(root, '.', pathOf(helm ?? ''), '--render')), [
        'request-above-limit box/templates/pod.yaml:11',
      ]);
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
      assert.deepEqual(places(report), ['request-above-limit box/templates/pod.yaml:11']);
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
