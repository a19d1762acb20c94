import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { followedAt, wantOf } from '../../server/src/panel/want';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

const uri = 'file:///ws/app.yaml';
const text = `apiVersion: v1
kind: Service
metadata: { name: chat }
---
# The engine
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  namespace: llm
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.21.0
          args: ["--port=9000"]
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: chat-scaler, namespace: llm }
spec:
  scaleTargetRef: { name: chat }
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
---
apiVersion: v1
kind: List
items:
  - apiVersion: apps/v1
    kind: StatefulSet
    metadata: { name: first }
    spec: { template: { spec: { containers: [{ name: sglang, image: "lmsysorg/sglang:v0.5.3" }] } } }
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: second }
`;
const workspace = Workspace.empty.with(parseFile(uri, text));
const at = (part: string) => followedAt(workspace, uri, text.indexOf(part));
const options = {
  range: '1h',
  now: 0,
  namespace: 'fallback',
  allocationLabels: ['team'],
  history: true,
} as const;

describe('what the panel follows', () => {
  test('is the object at the cursor, comments and items of lists included', () => {
    for (const [part, name] of [
      ['# The engine', 'chat'],
      ['args:', 'chat'],
      ['scaleTargetRef', 'chat-scaler'],
      ['karpenter.sh', 'gpu'],
      ['name: first', 'first'],
      ['name: second', 'second'],
    ] as const)
      assert.equal(at(part)?.name, name, part);
  });

  test('is the first of the file where the cursor is on something else', () => {
    assert.equal(at('kind: Service')?.kind, 'Deployment');
    assert.equal(followedAt(workspace, 'file:///ws/none.yaml', 0), undefined);
  });

  test('is nothing whose name is not known, and no patch', () => {
    const template = 'file:///ws/chart/templates/a.yaml';
    const other = Workspace.empty.withAll([
      parseFile('file:///ws/chart/Chart.yaml', 'apiVersion: v2\nname: chart\nversion: 0.1.0\n'),
      parseFile(template, 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n'),
    ]);
    assert.equal(followedAt(other, template, 5), undefined);
  });
});

describe('what is asked', () => {
  test('about a workload: engine and port as the manifest has them', () => {
    const resource = at('args:');
    assert.ok(resource !== undefined);
    const want = wantOf(workspace, resource, options);
    assert.deepEqual(want.object, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'llm',
      name: 'chat',
    });
    assert.equal(want.workload, undefined);
    assert.deepEqual([want.engine, want.metricsPort, want.allocationLabels], ['vllm', 9000, ['team']]);
  });

  test('about a scaler: its workload too', () => {
    const resource = at('scaleTargetRef');
    assert.ok(resource !== undefined);
    const want = wantOf(workspace, resource, options);
    assert.deepEqual(
      [want.object.kind, want.workload?.kind, want.workload?.name],
      ['ScaledObject', 'Deployment', 'chat'],
    );
    assert.equal(want.engine, 'vllm');
  });

  test('about a pool: no namespace, no engine', () => {
    const resource = at('karpenter.sh');
    assert.ok(resource !== undefined);
    const want = wantOf(workspace, resource, options);
    assert.deepEqual([want.object.namespace, want.engine, want.metricsPort], ['', 'unknown', undefined]);
  });

  test('an object without a namespace is looked for in the one of the context', () => {
    const resource = at('name: first');
    assert.ok(resource !== undefined);
    assert.equal(wantOf(workspace, resource, options).object.namespace, 'fallback');
    assert.equal(wantOf(workspace, resource, options).engine, 'sglang');
  });
});
