import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceleratorCount, acceleratorsOf, isExtendedResource } from '../../server/src/kube/accelerators';
import {
  amountOf,
  amountState,
  containers,
  effectiveRequest,
  envValue,
  findPort,
  probesOf,
  requestState,
} from '../../server/src/kube/containers';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import { containerOf, deployment, resourceOf, templateOf, workspaceOf } from './kube-support';

test('tells main containers, init containers and sidecars apart', () => {
  const text = deployment('image: a').replace(
    '      containers:',
    '      initContainers: [{name: fetch, image: b}, {name: proxy, image: c, restartPolicy: Always}]\n      containers:',
  );
  assert.deepEqual(
    containers(templateOf(text)).map(({ name, kind }) => `${name} ${kind}`),
    ['server main', 'fetch init', 'proxy sidecar'],
  );
});

test('a limit counts as the request where none is written', () => {
  const container = containerOf(
    deployment(
      'image: a\nresources: {requests: {cpu: 500m}, limits: {memory: 8Gi, cpu: 1, nvidia.com/gpu: "1"}}',
    ),
  );
  assert.equal(effectiveRequest(container, 'cpu')?.quantity?.nanos, 500_000_000n);
  assert.equal(effectiveRequest(container, 'memory')?.entry.value.kind, 'scalar');
  assert.equal(requestState(container, 'memory'), 'present');
  assert.equal(amountState(container, 'requests', 'memory'), 'absent');
  assert.equal(requestState(container, 'ephemeral-storage'), 'absent');
});

test('tells invalid, unknown and known amounts apart', () => {
  const container = containerOf(
    deployment('image: a\nresources: {limits: {memory: 8GB, cpu: "${CPU}", hugepages-2Mi: 2Mi}}'),
  );
  assert.equal(amountOf(container.limits, 'memory')?.state, 'invalid');
  assert.equal(amountOf(container.limits, 'cpu')?.state, 'unknown');
  assert.equal(amountOf(container.limits, 'hugepages-2Mi')?.state, 'known');
});

test('never calls a request missing that a template, a patch, a runtime or the pod can bring', () => {
  const helm = containerOf(
    deployment('image: a\nresources:\n  {{- toYaml .Values.resources | nindent 12 }}'),
  );
  assert.equal(requestState(helm, 'cpu'), 'unknown');
  const [patch] = podTemplates(
    resourceOf(
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm}\nspec: {template: {spec: {containers: [{name: server, resources: {limits: {cpu: 1}}}]}}}',
    ),
  );
  const [patched] = containers(patch ?? assert.fail());
  assert.equal(requestState(patched ?? assert.fail(), 'memory'), 'unknown');
  const pod = containerOf(deployment('image: a', '      resources: {requests: {cpu: 4, memory: 32Gi}}\n'));
  assert.equal(requestState(pod, 'cpu'), 'unknown');
  const model = containerOf(
    'apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: m}\nspec: {url: "hf://a/b", engine: VLLM, resourceProfile: "nvidia-gpu-l4:2"}',
  );
  assert.equal(requestState(model, 'cpu'), 'unknown');
});

test('an explicit null of resources is an absent request', () => {
  const container = containerOf(deployment('image: a\nresources:\nargs: []'));
  assert.equal(requestState(container, 'cpu'), 'absent');
});

test('finds ports by name and number', () => {
  const container = containerOf(
    deployment(
      'image: a\nports: [{name: http, containerPort: 8000}, {containerPort: 9000}]\nreadinessProbe: {httpGet: {port: http, path: /health}}\nlivenessProbe: {httpGet: {port: metrics}}\nstartupProbe: {tcpSocket: {port: 9000}, failureThreshold: 60}',
    ),
  );
  const { readiness, liveness, startup } = probesOf(container);
  const find = (node: typeof readiness) => findPort(container, node?.port ?? assert.fail());
  assert.equal(find(readiness).state, 'found');
  assert.equal(find(liveness).state, 'absent');
  const byNumber = find(startup);
  assert.ok(byNumber.state === 'found' && byNumber.port !== undefined && byNumber.number.value === 9000);
  assert.equal(readiness?.path, '/health');
  assert.equal(startup?.failureThreshold.value, 60);
  assert.equal(liveness?.periodSeconds.value, 10);
  assert.equal(liveness?.timeoutSeconds.value, 1);
});

test('a port name is unknown where a template can declare it', () => {
  const container = containerOf(
    deployment(
      'image: a\nports:\n  {{- toYaml .Values.ports | nindent 12 }}\nreadinessProbe: {httpGet: {port: http}}',
    ),
  );
  const port = probesOf(container).readiness?.port ?? assert.fail();
  assert.equal(findPort(container, port).state, 'unknown');
});

test('reads the environment in three values', () => {
  const container = containerOf(
    deployment(
      'image: a\nenv: [{name: A, value: "1"}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: C, value: $HF_TOKEN}, {name: A, value: "2"}]',
    ),
  );
  const first = envValue(container, 'A');
  assert.ok(first.state === 'known' && first.text === '2');
  assert.equal(envValue(container, 'B').state, 'unknown');
  assert.equal(envValue(container, 'C').state, 'unknown');
  assert.equal(envValue(container, 'D').state, 'absent');
  const from = containerOf(deployment('image: a\nenvFrom: [{configMapRef: {name: c}}]'));
  assert.equal(envValue(from, 'D').state, 'unknown');
});

test('knows accelerators of each vendor and leaves the rest alone', () => {
  const container = containerOf(
    deployment(
      'image: a\nresources: {limits: {nvidia.com/gpu: 2, nvidia.com/mig-1g.10gb: 1, aws.amazon.com/neuroncore: 4, vpc.amazonaws.com/efa: 1, amd.com/gpu: 0, memory: 1Gi}}',
    ),
  );
  assert.deepEqual(
    acceleratorsOf(container).map(({ resource, vendor, unit, count }) => [resource, vendor, unit, count]),
    [
      ['nvidia.com/gpu', 'nvidia', 'device', 2],
      ['nvidia.com/mig-1g.10gb', 'nvidia', 'slice', 1],
      ['aws.amazon.com/neuroncore', 'aws', 'core', 4],
    ],
  );
  assert.equal(isExtendedResource('vpc.amazonaws.com/efa'), true);
  assert.equal(isExtendedResource('cpu'), false);
  assert.equal(isExtendedResource('hugepages-2Mi'), false);
  assert.equal(isExtendedResource('kubernetes.io/batch'), false);
});

test('reads claims, resource profiles and unknown counts', () => {
  const claim = containerOf(deployment('image: a\nresources: {claims: [{name: gpu}]}'));
  assert.deepEqual(
    acceleratorsOf(claim).map(({ unit, resource }) => [unit, resource]),
    [['claim', 'gpu']],
  );
  const helm = containerOf(deployment('image: a\nresources: {limits: {nvidia.com/gpu: "${GPUS}"}}'));
  assert.deepEqual(
    acceleratorsOf(helm).map(({ count }) => count),
    [undefined],
  );
  const model = containerOf(
    'apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: m}\nspec: {url: "hf://a/b", engine: VLLM, resourceProfile: "nvidia-gpu-h100:8"}',
  );
  assert.deepEqual(
    acceleratorsOf(model).map(({ resource, count }) => [resource, count]),
    [['nvidia.com/gpu', 8]],
  );
});

test('the scheduler reserves the sum of running containers, or the largest init container', () => {
  const text = (init: number): string =>
    deployment('image: a\nresources: {limits: {nvidia.com/gpu: 2}}').replace(
      '      containers:',
      `      initContainers: [{name: i, image: b, resources: {limits: {nvidia.com/gpu: ${init}}}}]\n      containers:`,
    );
  assert.equal(acceleratorCount(templateOf(text(1)), 'nvidia.com/gpu'), 2);
  assert.equal(acceleratorCount(templateOf(text(4)), 'nvidia.com/gpu'), 4);
});

test('an anchored resources map reads the same in both containers', () => {
  const workspace = workspaceOf({
    'a.yaml': `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: a
      image: x
      resources: &r {limits: {cpu: 2, memory: 4Gi}}
    - name: b
      image: y
      resources: *r
`,
  });
  const [pod] = workspace.resources;
  const [template] = podTemplates(pod ?? assert.fail());
  for (const container of containers(template ?? assert.fail())) {
    assert.equal(effectiveRequest(container, 'cpu')?.quantity?.nanos, 2_000_000_000n, container.name);
  }
});
