import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { complete } from '../../server/src/editor/completion/complete';
import { cursorsAt } from '../../server/src/editor/completion/cursor';
import type { Suggestion } from '../../server/src/editor/completion/suggestion';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';
import { assertGrowsLinearly } from '../support/growth';

/** The texts hold a `|` where the cursor is: the last one. */
function split(text: string): { readonly text: string; readonly offset: number } {
  const offset = text.lastIndexOf('|');
  return { text: text.slice(0, offset) + text.slice(offset + 1), offset };
}

function pool(requirements: string, more = ''): string {
  return `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  template:
    metadata:
      labels: { team: ml }
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }${more}
      requirements:
${requirements}`;
}

const pod = (spec: string): string => `apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec:\n${spec}`;

const beside = [
  pool('        - { key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a] }\n'),
  'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: models }\nspec: { storageClassName: gp3 }\n',
  'apiVersion: v1\nkind: Secret\nmetadata: { name: hf }\nstringData: { token: nobody-sees-this }\n',
];

function suggestions(marked: string): readonly Suggestion[] {
  const { text, offset } = split(marked);
  const files = [text, ...beside].map((each, index) => parseFile(`file:///ws/${index}.yaml`, each));
  return complete(Workspace.empty.withAll(files), 'file:///ws/0.yaml', offset)?.suggestions ?? [];
}

function labels(marked: string): readonly string[] {
  return suggestions(marked)
    .toSorted((a, b) => ((a.order ?? '') < (b.order ?? '') ? -1 : 1))
    .map(({ label }) => label);
}

describe('where the cursor is', () => {
  const wanted: readonly (readonly [string, 'value' | 'key', readonly (string | number)[]])[] = [
    ['spec:\n  list:\n    - key: |', 'value', ['spec', 'list', 0, 'key']],
    [
      'spec:\n  list:\n    - key: a\n    - key: b\n      operator: |\n      values: [c]\n',
      'value',
      ['spec', 'list', 1, 'operator'],
    ],
    ['spec:\n  values: [|', 'value', ['spec', 'values', 0]],
    ['spec:\n  values: [a, |]\nmore: x\n', 'value', ['spec', 'values', 1]],
    ['spec:\n  values: [\n    a,\n    |', 'value', ['spec', 'values', 1]],
    ['spec:\n  values:\n  - a\n  - |', 'value', ['spec', 'values', 1]],
    ['spec:\n  list: [{ key: a, values: ["x|"] }]', 'value', ['spec', 'list', 0, 'values', 0]],
    ['spec:\n  nodeSelector:\n    |', 'key', ['spec', 'nodeSelector']],
    ['spec:\n  nodeSelector:\n    a: b\n    c|', 'key', ['spec', 'nodeSelector']],
    ['spec:\n  nodeSelector: { a: b, |', 'key', ['spec', 'nodeSelector']],
    ['{\n  "spec": {\n    "values": [\n      "a",\n      "|"\n    ]\n  }\n}', 'value', ['spec', 'values', 1]],
    // What is broken above does not matter.
    ['x: "\nspec:\n  list:\n    - key: q\n    - operator: |', 'value', ['spec', 'list', 1, 'operator']],
    ['y: }\nspec:\n  list:\n    - values: [a, |', 'value', ['spec', 'list', 0, 'values', 1]],
  ];
  for (const [marked, kind, path] of wanted) {
    for (const [length, before] of [
      ['short', ''],
      ['long', `${'# what was read before\n'.repeat(10)}a:\n${'  - b: c\n'.repeat(2000)}`],
    ] as const) {
      test(`${JSON.stringify(marked)}, ${length}`, () => {
        // JSON is one value, before which nothing can stand.
        const { text, offset } = split(marked.startsWith('{') ? marked : before + marked);
        const found = cursorsAt(text, offset).find((cursor) => cursor.kind === kind);
        assert.deepEqual(found?.path, path);
        assert.equal(text.slice(found.replace.start, offset), found.typed);
      });
    }
  }

  test('is found in long lines in time that grows with them', () => {
    for (const piece of ['x', '-', ' ', '- ']) {
      for (const around of ['a: _ |', 'a: [_, |', '_|', 'a: b\n_\nc: |']) {
        assertGrowsLinearly(JSON.stringify([piece, around]), 20_000, (count) => {
          const { text, offset } = split(around.replace('_', piece.repeat(count)));
          cursorsAt(text, offset);
        });
      }
    }
  });

  test('is nowhere in comments, in running text and in scripts', () => {
    for (const marked of ['a: b # c |', 'a: b c|', 'run: |\n  vllm serve\n  |', '# |']) {
      const { text, offset } = split(marked);
      assert.deepEqual(cursorsAt(text, offset), [], marked);
    }
  });
});

describe('requirements of a NodePool', () => {
  test('fields that the item does not have', () => {
    assert.deepEqual(labels(pool('        - |')), ['key', 'operator', 'values', 'minValues']);
    assert.deepEqual(labels(pool('        - key: a\n          |')), ['operator', 'values', 'minValues']);
  });

  test('keys of the provider, without those that are required', () => {
    const keys = labels(
      pool(
        '        - { key: karpenter.k8s.aws/instance-family, operator: In, values: [g5] }\n        - key: |',
      ),
    );
    assert.ok(keys.includes('karpenter.k8s.aws/instance-gpu-name'));
    assert.ok(!keys.includes('karpenter.k8s.aws/instance-family'));
    assert.ok(!keys.includes('karpenter.sh/nodepool'));
    assert.ok(!keys.some((key) => key.startsWith('eks.amazonaws.com/')));
    const auto = pool('        - key: |').replace(
      'karpenter.k8s.aws, kind: EC2NodeClass',
      'eks.amazonaws.com, kind: NodeClass',
    );
    assert.ok(labels(auto).includes('eks.amazonaws.com/instance-gpu-name'));
    assert.ok(!labels(auto).some((key) => key.startsWith('karpenter.k8s.aws/')));
  });

  test('operators that the label can have', () => {
    const of = (key: string): readonly string[] =>
      labels(pool(`        - key: ${key}\n          operator: |`));
    assert.deepEqual(of('karpenter.k8s.aws/instance-family'), ['In', 'NotIn', 'Exists', 'DoesNotExist']);
    assert.deepEqual(of('karpenter.k8s.aws/instance-cpu'), [
      'In',
      'NotIn',
      'Exists',
      'DoesNotExist',
      'Gt',
      'Lt',
      'Gte',
      'Lte',
    ]);
    assert.deepEqual(
      labels(
        pool(
          '        - key: karpenter.k8s.aws/instance-cpu\n          operator: |\n          values: ["1", "2"]\n',
        ),
      ),
      ['In', 'NotIn'],
    );
  });

  test('values that what else is required leaves open, before and behind the cursor', () => {
    const others = (typed: string, behind: string): string =>
      pool(
        `        - key: karpenter.k8s.aws/instance-gpu-name\n          operator: In\n          values: [a10g, l4]\n        - key: karpenter.k8s.aws/instance-family\n          operator: In\n          values: [${typed}|]\n${behind}`,
      );
    assert.deepEqual(labels(others('', '')), ['g6f', 'g6', 'g5', 'gr6f', 'gr6']);
    assert.deepEqual(labels(others('g5, ', '')), ['g6f', 'g6', 'gr6f', 'gr6']);
    const behind =
      '        - key: karpenter.k8s.aws/instance-gpu-count\n          operator: Gt\n          values: ["4"]\n';
    assert.deepEqual(labels(others('', behind)), ['g6', 'g5']);
  });

  test('numbers in quotes, as the API server wants them', () => {
    const found = suggestions(
      pool(
        '        - key: karpenter.k8s.aws/instance-gpu-count\n          operator: In\n          values: [|',
      ),
    );
    assert.ok(found.every(({ label, insert }) => insert === `"${label}"`));
    const quoted = suggestions(
      pool(
        '        - key: karpenter.k8s.aws/instance-gpu-count\n          operator: In\n          values: ["|',
      ),
    );
    assert.ok(quoted.length > 0 && quoted.every(({ insert }) => insert === undefined));
  });

  test('nothing for bounds that have their value, for Exists, and for labels of which nothing is known', () => {
    const of = (operator: string, values: string): readonly string[] =>
      labels(
        pool(
          `        - key: karpenter.k8s.aws/instance-cpu\n          operator: ${operator}\n          values: [${values}|`,
        ),
      );
    assert.deepEqual(of('Gt', '"4", '), []);
    assert.deepEqual(of('Exists', ''), []);
    assert.deepEqual(
      labels(pool('        - key: example.com/rack\n          operator: In\n          values: [|')),
      [],
    );
  });

  test('zones of the workspace first', () => {
    const zones = labels(
      pool('        - key: topology.kubernetes.io/zone\n          operator: In\n          values: [|'),
    );
    assert.deepEqual(zones.slice(0, 3), ['eu-west-1a', 'eu-west-1b', 'eu-west-1c']);
  });
});

describe('pods', () => {
  test('keys and values of selectors, those of the pools first', () => {
    const keys = suggestions(pod('  nodeSelector:\n    |'));
    assert.ok(keys.some(({ label, insert }) => label === 'team' && insert === 'team: '));
    assert.ok(keys.some(({ insert }) => insert === 'karpenter.sh/nodepool: '));
    assert.deepEqual(labels(pod('  nodeSelector:\n    team: |\n  containers: []')), ['ml']);
    assert.deepEqual(labels(pod('  nodeSelector: { karpenter.sh/nodepool: "|')), ['gpu']);
    assert.deepEqual(
      labels(
        pod(
          '  nodeSelector:\n    karpenter.k8s.aws/instance-family: g6e\n    karpenter.k8s.aws/instance-gpu-count: |',
        ),
      ),
      ['1', '4', '8'],
    );
  });

  test('node affinity, required and preferred', () => {
    const required = `  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n        nodeSelectorTerms:\n          - matchExpressions:\n              - key: karpenter.k8s.aws/instance-category\n                operator: In\n                values: [p]\n              - key: karpenter.k8s.aws/instance-gpu-name\n                operator: In\n                values:\n                  - |`;
    assert.ok(labels(pod(required)).includes('h100') && !labels(pod(required)).includes('l4'));
    const preferred = `  affinity:\n    nodeAffinity:\n      preferredDuringSchedulingIgnoredDuringExecution:\n        - weight: 1\n          preference:\n            matchExpressions:\n              - key: karpenter.sh/capacity-type\n                operator: In\n                values: [|`;
    assert.deepEqual(labels(pod(preferred)), ['on-demand', 'spot', 'reserved']);
  });

  test('names of objects, and nothing of what is in them', () => {
    assert.deepEqual(
      labels(pod('  volumes:\n    - name: x\n      persistentVolumeClaim:\n        claimName: |')),
      ['models'],
    );
    const env = pod(
      '  containers:\n    - name: a\n      env:\n        - name: T\n          valueFrom:\n            secretKeyRef:\n              name: |',
    );
    assert.deepEqual(labels(env), ['hf']);
    assert.deepEqual(labels(`${env.replace('name: |', 'name: hf')}\n              key: |`), []);
  });

  test('nothing elsewhere', () => {
    for (const spec of [
      '  containers:\n    - name: |',
      '  containers:\n    - image: |',
      '  |',
      '  restartPolicy: |',
    ]) {
      assert.deepEqual(labels(pod(spec)), [], spec);
    }
  });
});

describe('eksctl', () => {
  const cluster = (rest: string): string =>
    `apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: { name: c, region: us-west-1 }\n${rest}`;

  test('instance types with GPUs first, and zones of the region', () => {
    const types = suggestions(cluster('managedNodeGroups:\n  - name: gpu\n    instanceType: |'));
    const g5 = types.find(({ label }) => label === 'g5.xlarge');
    assert.equal(g5?.detail, '1 x a10g 22.4 GiB, 4 vCPU, 16 GiB, $1.01/h');
    assert.ok((g5.order ?? '') < (types.find(({ label }) => label === 'm7i.large')?.order ?? ''));
    const others = labels(cluster('managedNodeGroups:\n  - name: gpu\n    instanceTypes: [g5.xlarge, |]\n'));
    assert.ok(others.includes('g6.xlarge') && !others.includes('g5.xlarge'));
    assert.deepEqual(labels(cluster('availabilityZones: [us-west-1a, |')), ['us-west-1b', 'us-west-1c']);
    assert.deepEqual(labels(cluster('managedNodeGroups:\n  - name: |')), []);
  });
});
