import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DocumentRole } from '../../server/src/kube/resource';
import { parseFile } from '../../server/src/yaml/parse';
import { workspaceOf } from './kube-support';

const whole = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template: {metadata: {labels: {app: llm}}, spec: {containers: [{name: c, image: i}]}}
`;
const patch = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec: {template: {spec: {containers: [{name: c, resources: {limits: {memory: 1Gi}}}]}}}
`;

/** The role of the first document of a file, and of the objects in it, which must agree. */
function roleOf(files: Readonly<Record<string, string>>, path: string): DocumentRole {
  const workspace = workspaceOf(files);
  const uri = `file:///repo/${path}`;
  const [placed] = workspace.files.get(uri)?.documents ?? [];
  assert.ok(placed !== undefined, path);
  const role = workspace.roleOf(uri, placed);
  for (const resource of workspace.resourcesOf(uri)) assert.equal(resource.role, role, path);
  return role;
}

test('a whole object is a resource, wherever it stands', () => {
  assert.equal(roleOf({ 'a.yaml': whole }, 'a.yaml'), 'resource');
  assert.equal(roleOf({ 'patches/a.yaml': whole }, 'patches/a.yaml'), 'resource');
  assert.equal(roleOf({ 'patch.yaml': whole }, 'patch.yaml'), 'resource');
  assert.equal(
    roleOf(
      { 'k/kustomization.yaml': 'resources: [patch-a.yaml]', 'k/patch-a.yaml': whole },
      'k/patch-a.yaml',
    ),
    'resource',
  );
});

test('a patch is known by its kustomization, its directives, its name beside one, or its shape', () => {
  for (const list of [
    'patches: [{path: p.yaml}]',
    'patches: [{path: ./p.yaml, target: {kind: Deployment}}]',
    'patchesStrategicMerge: [p.yaml]',
    'patchesJson6902: [{path: p.yaml, target: {kind: Deployment, name: llm}}]',
  ]) {
    assert.equal(
      roleOf({ 'k/kustomization.yaml': list, 'k/p.yaml': whole }, 'k/p.yaml'),
      'kustomize-patch',
      list,
    );
  }
  assert.equal(
    roleOf(
      { 'k/prod/kustomization.yml': 'patches: [{path: ../shared/p.yaml}]', 'k/shared/p.yaml': whole },
      'k/shared/p.yaml',
    ),
    'kustomize-patch',
  );
  assert.equal(
    roleOf({ 'a.yaml': `${whole}  strategy: {$patch: replace, type: Recreate}\n` }, 'a.yaml'),
    'kustomize-patch',
  );
  assert.equal(
    roleOf(
      { 'k/kustomization.yaml': 'resources: []', 'k/replicas-patch.yaml': whole },
      'k/replicas-patch.yaml',
    ),
    'kustomize-patch',
  );
  assert.equal(
    roleOf(
      { 'k/kustomization.yaml': 'resources: []', 'k/patches/memory.yaml': whole },
      'k/patches/memory.yaml',
    ),
    'kustomize-patch',
  );
  assert.equal(roleOf({ 'a.yaml': patch }, 'a.yaml'), 'kustomize-patch');
});

test('an object without what every whole one has is a part of one', () => {
  const parts: readonly string[] = [
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3}',
    'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {maxReplicas: 9}',
    'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {limits: {cpu: 9}}',
    'apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a}\nspec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: a, resources: {}}]}}}}',
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {nodeSelector: {a: b}}}}',
  ];
  for (const text of parts) assert.equal(roleOf({ 'a.yaml': text }, 'a.yaml'), 'kustomize-patch', text);
});

test('one forgotten image, or a missing selector, is a mistake and no patch', () => {
  const wholes: readonly string[] = [
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: a, image: i}, {name: b}]}}}',
    'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {minAvailable: 1}',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: []}}}',
  ];
  for (const text of wholes) assert.equal(roleOf({ 'a.yaml': text }, 'a.yaml'), 'resource', text);
});

test('kustomizations are known by name, with or without a kind', () => {
  assert.equal(
    roleOf({ 'kustomization.yaml': 'resources: [a.yaml]' }, 'kustomization.yaml'),
    'kustomization',
  );
  assert.equal(
    roleOf(
      { 'x/Kustomization': 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Component\n' },
      'x/Kustomization',
    ),
    'kustomization',
  );
});

test('charts: templates, values, and templated text anywhere', () => {
  const chart = {
    'c/Chart.yaml': 'name: c',
    'c/values.yaml': 'image: x\n',
    'c/values-prod.yaml': 'replicas: 2\n',
  };
  assert.equal(roleOf({ ...chart, 'c/templates/a.yaml': whole }, 'c/templates/a.yaml'), 'helm-template');
  assert.equal(roleOf(chart, 'c/values.yaml'), 'helm-values');
  assert.equal(roleOf(chart, 'c/values-prod.yaml'), 'helm-values');
  const templated = whole.replace('{name: llm}', '{name: "{{ .Release.Name }}"}');
  assert.equal(roleOf({ 'a.yaml': templated }, 'a.yaml'), 'helm-template');
  const runtime =
    'apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i, args: ["--model_name={{.Name}}"]}]}';
  assert.equal(roleOf({ 'a.yaml': runtime }, 'a.yaml'), 'resource');
});

test('what is not Kubernetes says so', () => {
  const others: Readonly<Record<string, string>> = {
    'docker-compose.yaml': 'services: {web: {image: x}}',
    '.github/workflows/ci.yaml': 'on: push\njobs: {}',
    'crd.yaml': 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}',
    'values.yaml': 'services: {web: {image: x}}',
  };
  for (const [path, text] of Object.entries(others))
    assert.equal(roleOf({ [path]: text }, path), 'not-kubernetes', path);
  assert.equal(
    roleOf({ 'secret.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}' }, 'secret.yaml'),
    'resource',
  );
});

test('a workload without a selector is whole where a kustomization that reads it adds one', () => {
  const bare = whole
    .replace('  selector: {matchLabels: {app: llm}}\n', '')
    .replace('metadata: {labels: {app: llm}}, ', '');
  const files = (kustomization: string, overlay = 'resources: [../base]\n') => ({
    'base/kustomization.yaml': `resources: [deploy.yaml]\n${kustomization}`,
    'base/deploy.yaml': bare,
    'prod/kustomization.yaml': overlay,
  });
  const role = (...texts: [string, string?]): DocumentRole => roleOf(files(...texts), 'base/deploy.yaml');
  assert.equal(role('commonLabels: {app: llm}\n'), 'kustomize-base');
  assert.equal(role('labels: [{pairs: {app: llm}, includeSelectors: true}]\n'), 'kustomize-base');
  assert.equal(role('', 'resources: [../base]\ncommonLabels: {app: llm}\n'), 'kustomize-base');
  assert.equal(role('labels: [{pairs: {app: llm}}]\n'), 'resource');
  assert.equal(role('commonLabels: {}\n'), 'resource');
  assert.equal(role(''), 'resource');
  assert.equal(
    roleOf({ ...files('commonLabels: {app: llm}\n'), 'base/deploy.yaml': whole }, 'base/deploy.yaml'),
    'resource',
  );
});

test('the labels that a kustomization adds are followed when it changes', () => {
  const bare = whole.replace('  selector: {matchLabels: {app: llm}}\n', '');
  const before = workspaceOf({ 'a/kustomization.yaml': 'resources: [d.yaml]\n', 'a/d.yaml': bare });
  const after = before.with(
    parseFile('file:///repo/a/kustomization.yaml', 'resources: [d.yaml]\ncommonLabels: {app: llm}\n'),
  );
  const roles = (workspace: typeof before) =>
    workspace.resourcesOf('file:///repo/a/d.yaml').map(({ role }) => role);
  assert.deepEqual(roles(before), ['resource']);
  assert.deepEqual(roles(after), ['kustomize-base']);
});

test('values of a chart are no object, whatever keys they have', () => {
  const files = {
    'c/Chart.yaml': 'apiVersion: v2\nname: c\n',
    'c/values.yaml': 'apiVersion: apps/v1\nkind: Deployment\nreplicas: 1\n',
  };
  assert.equal(roleOf(files, 'c/values.yaml'), 'helm-values');
  assert.deepEqual(workspaceOf(files).resourcesOf('file:///repo/c/values.yaml'), []);
});
