import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  impliedTolerations,
  podTolerates,
  readTaints,
  tolerates,
  tolerationsOf,
} from '../../server/src/kube/tolerations';
import { parseFile } from '../../server/src/yaml/parse';
import { deployment, templateOf } from './kube-support';

function taint(text: string) {
  const [read] = readTaints(parseFile('', `[${text}]`).documents[0]?.document.root);
  return read ?? assert.fail('no taint');
}

function judge(toleration: string, tainted: string): string {
  const template = templateOf(deployment('image: nginx', `      tolerations: [${toleration}]\n`));
  const [read] = tolerationsOf(template);
  return tolerates(read ?? assert.fail('no toleration'), taint(tainted));
}

const gpu = '{key: nvidia.com/gpu, value: present, effect: NoSchedule}';

test('decides as core/v1 ToleratesTaint', () => {
  assert.equal(judge('{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}', gpu), 'yes');
  assert.equal(judge('{key: nvidia.com/gpu, operator: Exists}', gpu), 'yes');
  assert.equal(judge('{operator: Exists}', gpu), 'yes');
  assert.equal(judge('{key: nvidia.com/gpu, value: present}', gpu), 'yes');
  assert.equal(judge('{key: nvidia.com/gpu, operator: Equal, value: "true"}', gpu), 'no');
  assert.equal(judge('{key: nvidia.com/gpu, operator: Exists, effect: NoExecute}', gpu), 'no');
  assert.equal(judge('{key: other, operator: Exists}', gpu), 'no');
  assert.equal(judge('{key: nvidia.com/gpu}', '{key: nvidia.com/gpu, effect: NoSchedule}'), 'yes');
});

test('unknown parts leave it open, unless another part decides', () => {
  assert.equal(judge('{key: nvidia.com/gpu, value: "${V}"}', gpu), 'unknown');
  assert.equal(judge('{key: other, value: "${V}"}', gpu), 'no');
});

test('EKS adds a toleration for each extended resource that is asked for', () => {
  const pod = templateOf(
    deployment('image: a\nresources: {limits: {nvidia.com/gpu: 1, vpc.amazonaws.com/efa: 4, memory: 8Gi}}'),
  );
  assert.deepEqual(
    impliedTolerations(pod).map(({ key }) => key),
    ['nvidia.com/gpu', 'vpc.amazonaws.com/efa'],
  );
  assert.equal(podTolerates(pod, taint(gpu)), 'yes');
  assert.equal(podTolerates(pod, taint('{key: nvidia.com/gpu, effect: NoExecute}')), 'no');
  assert.equal(podTolerates(pod, taint('{key: dedicated, value: llm, effect: NoSchedule}')), 'no');
  assert.equal(podTolerates(pod, taint('{key: dedicated, effect: PreferNoSchedule}')), 'yes');
});

test('a template that can add tolerations makes a no unknown', () => {
  const text = deployment('image: a').replace(
    '      containers:',
    '      {{- with .Values.tolerations }}\n      tolerations:\n        {{- toYaml . | nindent 8 }}\n      {{- end }}\n      containers:',
  );
  assert.equal(podTolerates(templateOf(text), taint(gpu)), 'unknown');
});
