import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containers } from '../../server/src/kube/containers';
import { isPodCarrier, podCarrierKinds, podTemplates } from '../../server/src/kube/pod-carriers';
import { hasLabel, labelOf } from '../../server/src/kube/selectors';
import { resourceOf } from './kube-support';

const pod = '{containers: [{name: c, image: i}]}';
const template = `{metadata: {labels: {app: x}}, spec: ${pod}}`;

function head(apiVersion: string, kind: string): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: n}\n`;
}

/** Kind, text after the head, and for each template: part, group name, replicas, group size, pods, containers. */
const shapes: readonly (readonly [
  apiVersion: string,
  kind: string,
  body: string,
  expected: readonly string[],
])[] = [
  ['apps/v1', 'Deployment', `spec: {replicas: 3, template: ${template}}`, ['- - 3 1 3 c']],
  ['apps/v1', 'StatefulSet', `spec: {template: ${template}}`, ['- - 1 1 1 c']],
  ['apps/v1', 'DaemonSet', `spec: {template: ${template}}`, ['- - ? 1 ? c']],
  ['v1', 'ReplicationController', `spec: {replicas: 2, template: ${template}}`, ['- - 2 1 2 c']],
  ['v1', 'Pod', `spec: ${pod}`, ['- - 1 1 1 c']],
  ['batch/v1', 'Job', `spec: {parallelism: 4, template: ${template}}`, ['- - 4 1 4 c']],
  ['batch/v1', 'CronJob', `spec: {jobTemplate: {spec: {template: ${template}}}}`, ['- - 1 1 1 c']],
  ['argoproj.io/v1alpha1', 'Rollout', `spec: {replicas: 2, template: ${template}}`, ['- - 2 1 2 c']],
  [
    'leaderworkerset.x-k8s.io/v1',
    'LeaderWorkerSet',
    `spec: {replicas: 2, leaderWorkerTemplate: {size: 4, leaderTemplate: ${template}, workerTemplate: ${template}}}`,
    ['leader - 2 4 2 c', 'worker - 2 4 6 c'],
  ],
  [
    'leaderworkerset.x-k8s.io/v1',
    'LeaderWorkerSet',
    `spec: {leaderWorkerTemplate: {size: 3, workerTemplate: ${template}}}`,
    ['worker - 1 3 3 c'],
  ],
  [
    'ray.io/v1',
    'RayService',
    `spec: {rayClusterConfig: {headGroupSpec: {template: ${template}}, workerGroupSpecs: [{groupName: gpu, replicas: 2, numOfHosts: 4, template: ${template}}, {groupName: cpu, template: ${template}}]}}`,
    ['head - 1 1 1 c', 'worker gpu 2 8 8 c', 'worker cpu ? ? ? c'],
  ],
  [
    'ray.io/v1',
    'RayJob',
    `spec: {rayClusterSpec: {headGroupSpec: {template: ${template}}}}`,
    ['head - 1 1 1 c'],
  ],
  ['ray.io/v1', 'RayCluster', `spec: {headGroupSpec: {template: ${template}}}`, ['head - 1 1 1 c']],
  [
    'serving.kserve.io/v1beta1',
    'InferenceService',
    'spec: {predictor: {minReplicas: 2, model: {modelFormat: {name: huggingface}, storageUri: "hf://a/b"}}, transformer: {containers: [{name: t, image: i}]}}',
    ['predictor - 2 1 2 kserve-container', 'transformer - 1 1 1 t'],
  ],
  ['serving.kserve.io/v1beta1', 'InferenceService', `spec: {predictor: ${pod}}`, ['predictor - 1 1 1 c']],
  ['serving.kserve.io/v1alpha1', 'ServingRuntime', `spec: ${pod}`, ['predictor - ? 1 ? c']],
  ['serving.kserve.io/v1alpha1', 'ClusterServingRuntime', `spec: ${pod}`, ['predictor - ? 1 ? c']],
  [
    'serving.kserve.io/v1alpha1',
    'LLMInferenceService',
    `spec: {replicas: 2, template: ${pod}, prefill: {replicas: 1, template: ${pod}}}`,
    ['predictor - 2 1 2 c', 'prefill - 1 1 1 c'],
  ],
  [
    'kubeflow.org/v1',
    'PyTorchJob',
    `spec: {pytorchReplicaSpecs: {Master: {replicas: 1, template: ${template}}, Worker: {replicas: 3, template: ${template}}}}`,
    ['worker Master 1 1 1 c', 'worker Worker 3 1 3 c'],
  ],
  [
    'kubeflow.org/v2beta1',
    'MPIJob',
    `spec: {mpiReplicaSpecs: {Launcher: {template: ${template}}}}`,
    ['worker Launcher 1 1 1 c'],
  ],
  [
    'jobset.x-k8s.io/v1alpha2',
    'JobSet',
    `spec: {replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: 3, template: ${template}}}}]}`,
    ['worker w 2 3 6 c'],
  ],
  [
    'batch.volcano.sh/v1alpha1',
    'Job',
    `spec: {tasks: [{name: w, replicas: 2, template: ${template}}]}`,
    ['worker w 2 1 2 c'],
  ],
  [
    'apps.nvidia.com/v1alpha1',
    'NIMService',
    'spec: {replicas: 2, image: {repository: nvcr.io/nim/meta/llama3, tag: "1"}, resources: {limits: {nvidia.com/gpu: 1}}}',
    ['- - 2 1 2 n'],
  ],
  ['kubeai.org/v1', 'Model', 'spec: {url: "hf://a/b", engine: VLLM, minReplicas: 1}', ['- - 1 1 1 server']],
  [
    'kaito.sh/v1beta1',
    'Workspace',
    `resource: {count: 2}\ninference: {template: ${template}}`,
    ['- - ? 2 ? c'],
  ],
  ['keda.sh/v1alpha1', 'ScaledJob', `spec: {jobTargetRef: {template: ${template}}}`, ['- - ? 1 ? c']],
];

test('finds the pods of every kind, with their numbers', () => {
  for (const [apiVersion, kind, body, expected] of shapes) {
    const resource = resourceOf(`${head(apiVersion, kind)}${body}\n`);
    assert.ok(isPodCarrier(resource), kind);
    assert.ok(podCarrierKinds.includes(kind), kind);
    const found = podTemplates(resource).map(
      (each) =>
        `${each.part || '-'} ${each.groupName ?? '-'} ${each.replicas.value ?? '?'} ${each.groupSize.value ?? '?'} ` +
        `${each.pods.value ?? '?'} ${containers(each)
          .map(({ name }) => name)
          .join()}`,
    );
    assert.deepEqual(found, expected, kind);
  }
});

test('a replica count that a template or a patch leaves open is unknown', () => {
  const text = (replicas: string): string =>
    `${head('apps/v1', 'Deployment')}spec:\n  ${replicas}\n  template: ${template}\n`;
  const countOf = (replicas: string) => podTemplates(resourceOf(text(replicas)))[0]?.replicas;
  assert.equal(countOf('replicas: ${REPLICAS}')?.known, false);
  assert.equal(countOf('replicas: {{ .Values.replicas }}')?.known, false);
  assert.equal(countOf('{{- if .Values.fixed }}\n  replicas: 2\n  {{- end }}\n  paused: false')?.value, 2);
  assert.equal(countOf('{{- toYaml .Values.extra | nindent 2 }}')?.known, false);
  assert.equal(countOf('paused: false')?.value, 1);
});

test('labels that a controller adds count, and those of other operators leave the list open', () => {
  const lws = podTemplates(
    resourceOf(
      `${head('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet')}spec: {leaderWorkerTemplate: {workerTemplate: ${template}}}\n`,
    ),
  )[0];
  assert.ok(lws !== undefined);
  assert.equal(labelOf(lws.labels, 'leaderworkerset.sigs.k8s.io/name'), 'n');
  assert.equal(hasLabel(lws.labels, 'something'), 'unknown');
  const deployment = podTemplates(
    resourceOf(`${head('apps/v1', 'Deployment')}spec: {template: ${template}}\n`),
  )[0];
  assert.ok(deployment !== undefined);
  assert.equal(hasLabel(deployment.labels, 'something'), 'no');
  assert.equal(hasLabel(deployment.labels, 'pod-template-hash'), 'yes');
  assert.equal(labelOf(deployment.labels, 'pod-template-hash'), undefined);
});

test('the same resource gives the same templates', () => {
  const resource = resourceOf(`${head('apps/v1', 'Deployment')}spec: {template: ${template}}\n`);
  assert.equal(podTemplates(resource), podTemplates(resource));
});

test('a template that is not a map, or is missing, is none', () => {
  for (const body of [
    'spec: {template: text}',
    'spec: {template: [1]}',
    'spec: {}',
    'spec: {template: {spec: {containers: 3}}}',
  ]) {
    for (const each of podTemplates(resourceOf(`${head('batch/v1', 'Job')}${body}\n`)))
      assert.deepEqual(containers(each), []);
  }
});
