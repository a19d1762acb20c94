import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenPod, folder, plimsoll } from './host';

/** Values of releases that another tool renders look like manifests, and are none. */

const indented = (spaces: number): string => brokenPod.replace(/^/gm, ' '.repeat(spaces)).trimEnd();

const files = {
  'flux/release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: chat
spec:
  interval: 10m
  chart:
    spec:
      chart: vllm-stack
      sourceRef:
        kind: HelmRepository
        name: vllm
  values:
    resources:
      requests:
        memory: 5Gi
        nvidia.com/gpu: 2
      limits:
        memory: 4Gi
        nvidia.com/gpu: 1
    extraObjects:
      -${indented(8).slice(7)}
`,
  'argo/application.yaml': `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: chat
spec:
  project: default
  destination:
    server: https://kubernetes.default.svc
    namespace: llm
  source:
    repoURL: https://vllm-project.github.io/production-stack
    chart: vllm-stack
    targetRevision: 0.1.0
    helm:
      valuesObject:
        resources:
          requests:
            memory: 5Gi
          limits:
            memory: 4Gi
      values: |
${indented(8)}
`,
  'argo/values.yaml': `resources:
  requests:
    memory: 5Gi
  limits:
    memory: 4Gi
`,
};

test('values of Flux releases and Argo CD applications are not judged as manifests, rendered or not', async (t) => {
  const root = folder(t, files);
  for (const more of [[], ['--render']]) {
    const { stdout } = await plimsoll(root, ['lint', '--format=json', '--preset=strict', ...more]);
    const report = JSON.parse(stdout) as { files: { path: string; findings: { rule: string }[] }[] };
    assert.deepEqual(
      report.files.flatMap(({ path, findings }) => findings.map(({ rule }) => `${path} ${rule}`)),
      [],
    );
  }
});
