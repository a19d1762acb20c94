import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import type { Resource } from '../../server/src/kube/resource';
import type { Workspace } from '../../server/src/workspace/workspace';
import { workspaceOf } from './kube-support';

function deployment(labels: string, pod = ''): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: ai}
spec:
  selector: {matchLabels: ${labels}}
  template:
    metadata: {labels: ${labels}}
    spec:
      ${pod.replaceAll('\n', '\n      ')}
      containers: [{name: c, image: i}]
`;
}

function only(workspace: Workspace, kind: string): Resource {
  const [resource] = workspace.byKind(kind);
  return resource ?? assert.fail(kind);
}

function selecting(kind: string, apiVersion: string, selector: string): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x, namespace: ai}\nspec: {selector: ${selector}, ports: [{port: 80}]}\n`;
}

test('a Service and a PodDisruptionBudget find the pods that their selectors select', () => {
  const workspace = workspaceOf({
    'a.yaml': `${deployment('{app: llm, tier: gpu}')}---\n${selecting('Service', 'v1', '{app: llm}')}---\n${selecting('PodDisruptionBudget', 'policy/v1', '{matchLabels: {app: llm}, matchExpressions: [{key: tier, operator: In, values: [gpu]}]}')}`,
  });
  const workload = only(workspace, 'Deployment');
  for (const kind of ['Service', 'PodDisruptionBudget']) {
    const [match] = workspace.references(only(workspace, kind)).templates;
    assert.equal(match?.template.resource, workload, kind);
    assert.equal(match.match, 'yes', kind);
  }
  assert.equal(workspace.references(workload).services.length, 1);
  assert.equal(workspace.references(workload).disruptionBudgets.length, 1);
});

test('a selector that asks more than the pods have selects nothing, an unknown one perhaps', () => {
  const selected = (selector: string): string => {
    const workspace = workspaceOf({
      'a.yaml': `${deployment('{app: llm}')}---\n${selecting('Service', 'v1', selector)}`,
    });
    return workspace
      .references(only(workspace, 'Service'))
      .templates.map(({ match }) => match)
      .join();
  };
  assert.equal(selected('{app: llm, role: leader}'), '');
  assert.equal(selected('{app: "${APP}"}'), 'unknown');
  assert.equal(selected('{}'), '', 'a Service without a selector selects nothing');
});

test('autoscalers find their workload, and the workload finds them', () => {
  const scaler = (kind: string, apiVersion: string, spec: string): string =>
    `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: s, namespace: ai}\nspec: ${spec}\n`;
  const workspace = workspaceOf({
    'a.yaml': [
      deployment('{app: llm}'),
      scaler(
        'HorizontalPodAutoscaler',
        'autoscaling/v2',
        '{scaleTargetRef: {kind: Deployment, name: llm, apiVersion: apps/v1}}',
      ),
      scaler('ScaledObject', 'keda.sh/v1alpha1', '{scaleTargetRef: {name: llm}}'),
      scaler(
        'VerticalPodAutoscaler',
        'autoscaling.k8s.io/v1',
        '{targetRef: {kind: Deployment, name: llm, apiVersion: apps/v1}}',
      ),
      scaler('ScaledObject', 'keda.sh/v1alpha1', '{scaleTargetRef: {name: llm, kind: StatefulSet}}'),
      scaler(
        'HorizontalPodAutoscaler',
        'autoscaling/v2',
        '{scaleTargetRef: {kind: Deployment, name: "${NAME}", apiVersion: apps/v1}}',
      ),
    ].join('---\n'),
  });
  const workload = only(workspace, 'Deployment');
  const { autoscalers, verticalAutoscalers } = workspace.references(workload);
  assert.deepEqual(
    autoscalers.map(({ resource, match }) => `${resource.kind} ${match}`),
    ['HorizontalPodAutoscaler yes', 'ScaledObject yes'],
  );
  assert.equal(verticalAutoscalers.length, 1);
  const states = workspace.byKind('ScaledObject').map((each) => workspace.references(each).target?.state);
  assert.deepEqual(states, ['found', 'missing']);
  assert.equal(workspace.references(workload).target, undefined);
});

test('a target in another namespace, or of a kind that nothing knows, is not claimed to be here', () => {
  const target = (namespace: string, kind: string): string | undefined => {
    const workspace = workspaceOf({
      'a.yaml': `${deployment('{app: llm}')}---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: s${namespace}}\nspec: {scaleTargetRef: {kind: ${kind}, name: llm}}\n`,
    });
    return workspace.references(only(workspace, 'HorizontalPodAutoscaler')).target?.state;
  };
  assert.equal(target(', namespace: ai', 'Deployment'), 'found');
  assert.equal(target('', 'Deployment'), 'found');
  assert.equal(target(', namespace: web', 'Deployment'), 'missing');
  assert.equal(target('', 'SparkApplication'), 'unknown');
});

test('of several targets in one directory, the one in the file of the autoscaler is meant', () => {
  const hpa = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llm, namespace: ai}
spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llm}}
`;
  const both = `${deployment('{app: llm}')}---\n${hpa}`;
  const workspace = workspaceOf({ 'one.yaml': both, 'two.yaml': both, 'three.yaml': hpa });
  for (const autoscaler of workspace.byKind('HorizontalPodAutoscaler')) {
    const { target } = workspace.references(autoscaler);
    const where = target?.state === 'found' ? target.resource.uri : target?.state;
    assert.equal(where, autoscaler.uri.includes('three') ? 'unknown' : autoscaler.uri);
  }
  for (const workload of workspace.byKind('Deployment')) {
    assert.deepEqual(
      workspace.references(workload).autoscalers.map(({ resource, match }) => [resource.uri, match]),
      [
        [workload.uri, 'yes'],
        [workload.uri.replace(/one|two/, 'three'), 'unknown'],
      ],
    );
  }
});

test('a target of which only a patch is here is unknown', () => {
  const workspace = workspaceOf({
    'p.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm}\nspec: {replicas: 2}\n',
    'h.yaml':
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {kind: Deployment, name: llm}}\n',
  });
  assert.equal(workspace.references(only(workspace, 'HorizontalPodAutoscaler')).target?.state, 'unknown');
});

function pool(name: string, template: string): string {
  return `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ${name}}
spec:
  template:
    ${template.replaceAll('\n', '\n    ')}
`;
}

const gpuPool = pool(
  'gpu',
  `metadata: {labels: {intent: inference}}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
  requirements:
    - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}
    - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}`,
);
const cpuPool = pool(
  'cpu',
  'spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}]}',
);

function poolsOf(pod: string, files: Readonly<Record<string, string>> = {}): string[] {
  const workspace = workspaceOf({
    'pools.yaml': `${gpuPool}---\n${cpuPool}`,
    'app.yaml': deployment('{app: llm}', pod),
    ...files,
  });
  const workload = only(workspace, 'Deployment');
  const [template] = podTemplates(workload);
  return workspace
    .references(workload)
    .nodePools(template ?? assert.fail())
    .map(({ resource, match, named }) => `${resource.name ?? ''} ${match}${named ? ' named' : ''}`);
}

test('a pod finds the pools whose labels and requirements it meets', () => {
  assert.deepEqual(poolsOf(''), ['gpu yes', 'cpu yes']);
  assert.deepEqual(poolsOf('nodeSelector: {karpenter.sh/nodepool: gpu}'), ['gpu yes named']);
  assert.deepEqual(poolsOf('nodeSelector: {intent: inference}'), ['gpu yes named']);
  assert.deepEqual(poolsOf('nodeSelector: {intent: training}'), []);
  assert.deepEqual(poolsOf('nodeSelector: {karpenter.k8s.aws/instance-family: g5}'), ['gpu yes', 'cpu yes']);
  assert.deepEqual(poolsOf('nodeSelector: {karpenter.k8s.aws/instance-family: p5}'), ['cpu yes']);
  assert.deepEqual(poolsOf('nodeSelector: {karpenter.sh/capacity-type: spot}'), ['cpu yes']);
  assert.deepEqual(poolsOf('nodeSelector: {intent: "${INTENT}"}'), ['gpu unknown', 'cpu unknown']);
});

test('a pod finds the pool that it names in another folder, but no other there', () => {
  const elsewhere = (pod: string, folder: string): string[] => {
    const workspace = workspaceOf({
      [`${folder}/pools.yaml`]: `${gpuPool}---\n${cpuPool}`,
      'apps/llm/prod/app.yaml': deployment('{app: llm}', pod),
    });
    const workload = only(workspace, 'Deployment');
    const [template] = podTemplates(workload);
    return workspace
      .references(workload)
      .nodePools(template ?? assert.fail())
      .map(({ resource }) => resource.name ?? '');
  };
  assert.deepEqual(elsewhere('nodeSelector: {karpenter.sh/nodepool: gpu}', 'infra/cluster'), ['gpu']);
  assert.deepEqual(elsewhere('', 'infra/cluster'), []);
  assert.deepEqual(elsewhere('nodeSelector: {karpenter.sh/nodepool: gpu}', 'infra/dev'), []);
});

test('a pool finds its node class, and a pod its claims', () => {
  const workspace = workspaceOf({
    'a.yaml': `${gpuPool}---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {role: x}\n`,
    'b.yaml': `${deployment('{app: llm}', 'volumes: [{name: m, persistentVolumeClaim: {claimName: models}}, {name: n, persistentVolumeClaim: {claimName: none}}]')}---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: models}\nspec: {}\n`,
  });
  const nodeClass = workspace.references(only(workspace, 'NodePool')).nodeClass;
  assert.equal(nodeClass?.state === 'found' ? nodeClass.resource.kind : nodeClass?.state, 'EC2NodeClass');
  const workload = only(workspace, 'Deployment');
  const [template] = podTemplates(workload);
  const claims = workspace.references(workload).claims(template ?? assert.fail());
  assert.deepEqual(
    claims.map(({ claim }) => claim.state),
    ['found', 'missing'],
  );
});
