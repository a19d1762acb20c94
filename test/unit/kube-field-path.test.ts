import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeOfField } from '../../server/src/kube/field-path';
import { parseFile } from '../../server/src/yaml/parse';

const text = `kind: Deployment
metadata:
  labels: { app.kubernetes.io/name: chat }
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm:1
          resources:
            limits:
              nvidia.com/gpu: 4
        - { name: side, image: side:1 }
      empty:
`;

function at(field: string): [string, boolean] {
  const root = parseFile('file:///a.yaml', text).documents[0]?.document.root;
  assert.ok(root !== undefined, 'the text is a document');
  const found = placeOfField(root, field);
  return [text.slice(found.at.start, found.at.end), found.whole];
}

describe('the place of a field as the API server writes it', () => {
  for (const [field, want, whole] of [
    ['spec.template.spec.containers[0].image', 'vllm:1', true],
    ['spec.template.spec.containers[side].image', 'side:1', true],
    ['spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]', '4', true],
    ['metadata.labels["app.kubernetes.io/name"]', 'chat', true],
    ['spec.template.spec.containers[1]', 'side', true],
    ['spec.template.spec.containers[7].image', 'containers', false],
    ['spec.template.spec.containers.imagePullPolicy', 'containers', false],
    ['spec.selector', 'spec', false],
    ['spec.template.spec.empty', 'empty', true],
    ['', 'Deployment', true],
  ] as const) {
    test(field === '' ? 'the whole object' : field, () => {
      assert.deepEqual(at(field), [want, whole]);
    });
  }
});
