import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workspace } from '../../server/src/workspace/workspace';
import { workspaceOf } from './kube-support';

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template: {metadata: {labels: {app: llm}}, spec: {containers: [{name: c, image: i}]}}
`;

const hpa = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llm}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llm}
`;

/** What each HorizontalPodAutoscaler finds: the path of its target, or the state. */
function targets(workspace: Workspace): Readonly<Record<string, string>> {
  return Object.fromEntries(
    workspace.byKind('HorizontalPodAutoscaler').map((resource) => {
      const target = workspace.references(resource).target;
      const said =
        target?.state === 'found' ? target.resource.uri.replace('file:///repo/', '') : (target?.state ?? '');
      return [resource.uri.replace('file:///repo/', ''), said];
    }),
  );
}

test('files of one folder belong together, and those in folders named after what they hold', () => {
  assert.deepEqual(targets(workspaceOf({ 'app/deployment.yaml': deployment, 'app/hpa.yaml': hpa })), {
    'app/hpa.yaml': 'app/deployment.yaml',
  });
  assert.deepEqual(targets(workspaceOf({ 'app/deployment.yaml': deployment, 'app/hpa/hpa.yaml': hpa })), {
    'app/hpa/hpa.yaml': 'app/deployment.yaml',
  });
  assert.deepEqual(
    targets(workspaceOf({ 'app/deployment/llm.yaml': deployment, 'app/01-autoscaling/keda/hpa.yaml': hpa })),
    { 'app/01-autoscaling/keda/hpa.yaml': 'app/deployment/llm.yaml' },
  );
  assert.deepEqual(targets(workspaceOf({ 'app/deployment.yaml': deployment, 'app/gpu/hpa.yaml': hpa })), {
    'app/gpu/hpa.yaml': 'app/deployment.yaml',
  });
});

test('sibling applications and variants never see each other', () => {
  assert.deepEqual(targets(workspaceOf({ 'one/deployment.yaml': deployment, 'two/hpa.yaml': hpa })), {
    'two/hpa.yaml': 'missing',
  });
  const variants = Object.fromEntries(
    ['base', 'dev', 'prod', 'us-west-2'].flatMap((name) => [
      [`app/${name}/deployment.yaml`, deployment],
      [`app/${name}/hpa.yaml`, hpa],
    ]),
  );
  assert.deepEqual(
    targets(workspaceOf(variants)),
    Object.fromEntries(
      ['base', 'dev', 'prod', 'us-west-2'].map((name) => [
        `app/${name}/hpa.yaml`,
        `app/${name}/deployment.yaml`,
      ]),
    ),
  );
  assert.deepEqual(targets(workspaceOf({ 'app/deployment.yaml': deployment, 'app/prod/hpa.yaml': hpa })), {
    'app/prod/hpa.yaml': 'missing',
  });
});

test('an overlay and a component see the base that a build puts beside them, and nothing else', () => {
  const kustomize: Readonly<Record<string, string>> = {
    'k/base/kustomization.yaml': 'resources: [deployment.yaml]\n',
    'k/base/deployment.yaml': deployment,
    'k/overlays/prod/kustomization.yaml': 'resources: [../../base, hpa.yaml]\n',
    'k/overlays/prod/hpa.yaml': hpa,
    'k/overlays/dev/kustomization.yaml': 'resources: [../../base]\ncomponents: [../../components/hpa]\n',
    'k/components/hpa/kustomization.yaml': 'kind: Component\nresources: [hpa.yaml]\n',
    'k/components/hpa/hpa.yaml': hpa,
    'k/kustomization.yaml': 'resources: [overlays/dev, overlays/prod]\n',
    'k/overlays/other/kustomization.yaml': 'resources: [hpa.yaml]\n',
    'k/overlays/other/hpa.yaml': hpa,
  };
  const workspace = workspaceOf(kustomize);
  assert.deepEqual(targets(workspace), {
    'k/overlays/prod/hpa.yaml': 'k/base/deployment.yaml',
    'k/components/hpa/hpa.yaml': 'k/base/deployment.yaml',
    'k/overlays/other/hpa.yaml': 'missing',
  });
  const [base] = workspace.byKind('Deployment');
  assert.ok(base !== undefined);
  const autoscalers = workspace.references(base).autoscalers.map(({ resource }) => resource);
  const [prod, component] = autoscalers;
  assert.equal(autoscalers.length, 2);
  assert.ok(prod !== undefined && component !== undefined);
  assert.equal(workspace.together(base, prod), true);
  assert.equal(workspace.together(prod, component), false, 'no build has both');
});

test('dev and prod of one root are not built together', () => {
  const workspace = workspaceOf({
    'kustomization.yaml': 'resources: [dev, prod]\n',
    'dev/kustomization.yaml': 'resources: [deployment.yaml]\n',
    'dev/deployment.yaml': deployment,
    'prod/kustomization.yaml': 'resources: [hpa.yaml]\n',
    'prod/hpa.yaml': hpa,
  });
  assert.deepEqual(targets(workspace), { 'prod/hpa.yaml': 'missing' });
});

test('a chart is one scope, whatever its folders', () => {
  const chart: Readonly<Record<string, string>> = {
    'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
    'c/templates/deployment.yaml': deployment,
    'c/templates/scaling/prod/hpa.yaml': hpa,
    'c/charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
    'c/charts/sub/templates/hpa.yaml': hpa,
  };
  assert.deepEqual(targets(workspaceOf(chart)), {
    'c/templates/scaling/prod/hpa.yaml': 'c/templates/deployment.yaml',
    'c/charts/sub/templates/hpa.yaml': 'missing',
  });
});

test('names that one template expression makes are one name', () => {
  const name = '{{ include "llm.fullname" . }}';
  const chart = (target: string): Workspace =>
    workspaceOf({
      'c/Chart.yaml': 'name: c\n',
      'c/templates/deployment.yaml': deployment.replace('{name: llm}', `\n  name: ${name}`),
      'c/templates/hpa.yaml': hpa.replace(
        /scaleTargetRef.*/,
        `scaleTargetRef:\n    kind: Deployment\n    name: ${target}`,
      ),
    });
  assert.deepEqual(targets(chart('{{ include "llm.fullname" . }}')), {
    'c/templates/hpa.yaml': 'c/templates/deployment.yaml',
  });
  assert.deepEqual(targets(chart('{{- include "llm.fullname" . -}}')), {
    'c/templates/hpa.yaml': 'c/templates/deployment.yaml',
  });
  assert.notDeepEqual(targets(chart('{{ include "other" . }}')), {
    'c/templates/hpa.yaml': 'c/templates/deployment.yaml',
  });
});

test('where several would do, nothing is claimed', () => {
  const workspace = workspaceOf({ 'a/one.yaml': deployment, 'a/two.yaml': deployment, 'a/hpa.yaml': hpa });
  assert.deepEqual(targets(workspace), { 'a/hpa.yaml': 'unknown' });
});

test('a change of a kustomization changes what belongs together', () => {
  const before = workspaceOf({
    'base/kustomization.yaml': 'resources: [d.yaml]\n',
    'base/d.yaml': deployment,
    'prod/kustomization.yaml': 'resources: [hpa.yaml]\n',
    'prod/hpa.yaml': hpa,
  });
  assert.deepEqual(targets(before), { 'prod/hpa.yaml': 'missing' });
  const after = before.withAll(
    workspaceOf({ 'prod/kustomization.yaml': 'resources: [../base, hpa.yaml]\n' }).files.values(),
  );
  assert.deepEqual(targets(after), { 'prod/hpa.yaml': 'base/d.yaml' });
  assert.deepEqual(targets(after.without('file:///repo/prod/kustomization.yaml')), {
    'prod/hpa.yaml': 'missing',
  });
});

test('paths without a scheme, with escapes and with back slashes work alike', () => {
  const workspace = workspaceOf({ 'my%20app/deployment.yaml': deployment, 'my%20app/hpa/hpa.yaml': hpa });
  assert.deepEqual(targets(workspace), { 'my%20app/hpa/hpa.yaml': 'my%20app/deployment.yaml' });
});
