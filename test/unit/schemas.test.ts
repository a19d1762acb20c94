import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { schemaFolder } from '../../schemas/build/made';
import { readSchema } from '../../server/src/schema/disk-schemas';
import { productSchemas } from '../support/schemas';

/** Group, version and kind of what people write for inference on EKS. */
const kinds: readonly (readonly [group: string, version: string, kinds: readonly string[]])[] = [
  ['apps', 'v1', ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet']],
  ['batch', 'v1', ['Job', 'CronJob']],
  [
    '',
    'v1',
    [
      'Pod',
      'Service',
      'PersistentVolumeClaim',
      'PersistentVolume',
      'ConfigMap',
      'Secret',
      'ServiceAccount',
      'Namespace',
      'ResourceQuota',
      'LimitRange',
    ],
  ],
  ['autoscaling', 'v2', ['HorizontalPodAutoscaler']],
  ['policy', 'v1', ['PodDisruptionBudget']],
  ['networking.k8s.io', 'v1', ['Ingress', 'NetworkPolicy']],
  ['rbac.authorization.k8s.io', 'v1', ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']],
  ['storage.k8s.io', 'v1', ['StorageClass']],
  ['scheduling.k8s.io', 'v1', ['PriorityClass']],
  ['resource.k8s.io', 'v1', ['ResourceClaim', 'ResourceClaimTemplate', 'DeviceClass']],
  ['karpenter.sh', 'v1', ['NodePool', 'NodeClaim']],
  ['karpenter.k8s.aws', 'v1', ['EC2NodeClass']],
  [
    'keda.sh',
    'v1alpha1',
    ['ScaledObject', 'ScaledJob', 'TriggerAuthentication', 'ClusterTriggerAuthentication'],
  ],
  ['monitoring.coreos.com', 'v1', ['ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'Prometheus']],
  ['argoproj.io', 'v1alpha1', ['Rollout']],
];

test('there is a schema of every kind that is written for inference', () => {
  const schemas = productSchemas();
  for (const [group, version, names] of kinds) {
    for (const kind of names) {
      const structure = schemas.of(group, version, kind);
      assert.ok(structure !== undefined, `${group}/${version} ${kind}`);
      assert.ok(structure.root.fields.has('metadata'), kind);
      assert.equal(structure.decoding, /^(|.*\.k8s\.io|[a-z]+)$/.test(group) ? 'typed' : 'custom', kind);
      assert.equal(schemas.of(group, version, kind), structure, 'the same object each time');
    }
  }
});

test('what is not there has no schema, whatever it is called', () => {
  const schemas = productSchemas();
  assert.equal(schemas.of('example.com', 'v1', 'Thing'), undefined);
  assert.equal(schemas.of('', 'v1', '../../package'), undefined);
  assert.equal(schemas.of('..', '..', 'x'), undefined);
  assert.equal(schemas.of('apps', 'v1beta1', 'Deployment'), undefined);
});

test('schemas for people have descriptions, those for checking have none', () => {
  const full = JSON.stringify(readSchema(schemaFolder, 'apps', 'v1', 'Deployment', 'full'));
  const structure = JSON.stringify(readSchema(schemaFolder, 'apps', 'v1', 'Deployment', 'structure'));
  assert.match(full, /"description":"[^"]*desired pods/);
  assert.doesNotMatch(structure, /"description":"/);
  assert.ok(structure.length * 3 < full.length);
});

test('types are those of the API, not those of TypeScript', () => {
  const definition = (kind: readonly [string, string, string], name: RegExp): Record<string, unknown> => {
    const schema = readSchema(schemaFolder, ...kind, 'full');
    const found = Object.entries(schema?.definitions ?? {}).find(([key]) => name.test(key));
    assert.ok(found !== undefined, `${join(...kind)} ${String(name)}`);
    return found[1].properties as Record<string, unknown>;
  };
  const deployment = definition(['apps', 'v1', 'Deployment'], /DeploymentSpec$/);
  assert.deepEqual((deployment['replicas'] as { type: string; format: string }).format, 'int32');
  const port = definition(['', 'v1', 'Service'], /ServicePort$/)['targetPort'] as { $ref: string };
  assert.match(port.$ref, /IntOrString$/);
  const pool = definition(['karpenter.sh', 'v1', 'NodePool'], /NodePoolSpec$/);
  assert.deepEqual(
    (({ minimum, maximum }) => [minimum, maximum])(pool['weight'] as { minimum: number; maximum: number }),
    [1, 100],
  );
  const device = definition(['karpenter.k8s.aws', 'v1', 'EC2NodeClass'], /BlockDevice$/);
  assert.ok((device['volumeType'] as { enum: string[] }).enum.includes('gp3'));
  assert.match((device['volumeSize'] as { pattern: string }).pattern, /Gi/);
});
