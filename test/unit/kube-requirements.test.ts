import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowsValue,
  meets,
  nodeDemandOf,
  readRequirements,
  valueSetOf,
} from '../../server/src/kube/requirements';
import { intersect } from '../../server/src/kube/value-set';
import { otherCloud } from '../../server/src/kube/clouds';
import { parseFile } from '../../server/src/yaml/parse';
import { deployment, templateOf } from './kube-support';

function set(text: string) {
  const [requirement] = readRequirements(parseFile('', `[{key: k, ${text}}]`).documents[0]?.document.root);
  return requirement === undefined ? undefined : valueSetOf(requirement);
}

test('two requirements meet when one value satisfies both', () => {
  assert.equal(meets(set('operator: In, values: [a, b]'), set('operator: In, values: [b]')), 'yes');
  assert.equal(meets(set('operator: In, values: [a]'), set('operator: NotIn, values: [a]')), 'no');
  assert.equal(meets(set('operator: Exists'), set('operator: DoesNotExist')), 'no');
  assert.equal(meets(set('operator: NotIn, values: [a]'), set('operator: DoesNotExist')), 'yes');
  assert.equal(meets(set('operator: Gt, values: ["4"]'), set('operator: In, values: ["5"]')), 'yes');
  assert.equal(meets(set('operator: Gt, values: ["4"]'), set('operator: In, values: ["4"]')), 'no');
  assert.equal(meets(set('operator: Gt, values: ["4"]'), set('operator: Lt, values: ["5"]')), 'no');
  assert.equal(meets(set('operator: In, values: ["${X}"]'), set('operator: In, values: [a]')), 'unknown');
});

test('bounds count numbers only', () => {
  const above = set('operator: Gt, values: ["4"]') ?? assert.fail();
  assert.equal(allowsValue(above, '5'), true);
  assert.equal(allowsValue(above, 'large'), false);
  assert.equal(
    intersect(above, set('operator: In, values: [large]') ?? assert.fail()).values.size === 0,
    true,
  );
});

test('affinity terms are alternatives, each with the node selector', () => {
  const pod = templateOf(
    deployment(
      'image: a',
      `      nodeSelector: { intent: gpu }
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions: [{ key: karpenter.k8s.aws/instance-family, operator: In, values: [g5] }]
              - matchExpressions: [{ key: karpenter.k8s.aws/instance-family, operator: In, values: [p5] }]
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 1
              preference: { matchExpressions: [{ key: nice, operator: Exists }] }
`,
    ),
  );
  const demand = nodeDemandOf(pod);
  assert.deepEqual(
    demand.alternatives.map((terms) => terms.map(({ key, values }) => `${key}=${values?.join()}`)),
    [
      ['intent=gpu', 'karpenter.k8s.aws/instance-family=g5'],
      ['intent=gpu', 'karpenter.k8s.aws/instance-family=p5'],
    ],
  );
  assert.equal(demand.open, false);
  assert.deepEqual(nodeDemandOf(templateOf(deployment('image: a'))).alternatives, [[]]);
});

test('GKE and AKS are told by their own keys', () => {
  const gke = deployment('image: a', '      nodeSelector: { cloud.google.com/gke-accelerator: nvidia-l4 }\n');
  const aks = deployment(
    'image: a',
    '      tolerations: [{ key: kubernetes.azure.com/scalesetpriority, operator: Exists }]\n',
  );
  const eks = deployment('image: a', '      nodeSelector: { karpenter.sh/nodepool: gpu }\n');
  assert.equal(otherCloud(templateOf(gke)), 'gke');
  assert.equal(otherCloud(templateOf(aks)), 'aks');
  assert.equal(otherCloud(templateOf(eks)), undefined);
});
