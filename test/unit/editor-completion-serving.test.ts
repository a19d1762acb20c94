import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { complete } from '../../server/src/editor/completion/complete';
import { engineArguments } from '../../server/src/editor/completion/engine-arguments';
import type { Suggestion } from '../../server/src/editor/completion/suggestion';
import { engines } from '../../server/src/kube/engines';
import { ruleMetas } from '../../server/src/engine/registry';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
spec:
  template:
    spec:
      taints:
        - { key: team.example.com/gpu, value: reserved, effect: NoSchedule }
`;

/** The text holds a `|` where the cursor is: the last one. */
function answer(marked: string): { readonly suggestions: readonly Suggestion[]; readonly replaced: string } {
  const offset = marked.lastIndexOf('|');
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  const workspace = Workspace.empty.withAll([
    parseFile('file:///ws/a.yaml', text),
    parseFile('file:///ws/platform/pool.yaml', pool),
  ]);
  const found = complete(workspace, 'file:///ws/a.yaml', offset);
  return {
    suggestions: found?.suggestions ?? [],
    replaced: found === undefined ? '' : text.slice(found.replace.start, found.replace.end),
  };
}

const labels = (marked: string): readonly string[] => answer(marked).suggestions.map(({ label }) => label);

const vllm = (args: string, more = ''): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args:
${args}
${more}`;

describe('completion of the arguments of a model server', () => {
  test('names the options of the server that runs, without those that are there', () => {
    const found = answer(vllm('            - --max-model-len=8192\n            - --max-|'));
    assert.equal(found.replaced, '--max-');
    const names = found.suggestions.map(({ label }) => label);
    assert.ok(names.includes('--max-num-seqs') && names.includes('--tensor-parallel-size'));
    assert.ok(!names.includes('--max-model-len'));
    const seqs = found.suggestions.find(({ label }) => label === '--max-num-seqs');
    assert.equal(seqs?.insert, '--max-num-seqs=');
    assert.match(seqs?.documentation ?? '', /requests/);
  });

  test('knows other servers by their image', () => {
    const tgi = vllm('            - |').replace(
      'vllm/vllm-openai:v0.11.0',
      'ghcr.io/huggingface/text-generation-inference:3.3.6',
    );
    assert.ok(labels(tgi).includes('--max-total-tokens'));
    assert.ok(!labels(tgi).includes('--max-model-len'));
    const sglang = vllm('            - |').replace('vllm/vllm-openai:v0.11.0', 'lmsysorg/sglang:v0.5.3');
    assert.ok(labels(sglang).includes('--mem-fraction-static'));
    assert.deepEqual(labels(vllm('            - |').replace('vllm/vllm-openai:v0.11.0', 'nginx:1.29')), []);
  });

  test('gives the values of an option, in one word and in two', () => {
    const joined = answer(vllm('            - --dtype=b|'));
    assert.equal(joined.replaced, 'b');
    assert.ok(joined.suggestions.some(({ label }) => label === 'bfloat16'));
    assert.ok(!joined.suggestions.some(({ label }) => label.startsWith('--')));
    assert.equal(labels(vllm('            - --dtype\n            - |'))[0], 'auto');
    assert.ok(labels(vllm('            - "--kv-cache-dtype=|"')).includes('fp8'));
  });

  test('works in flow style and in quotes', () => {
    const flow = vllm('').replace('args:\n', 'args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--tensor|"]');
    const found = answer(flow);
    assert.equal(found.replaced, '--tensor');
    assert.ok(found.suggestions.some(({ label }) => label === '--tensor-parallel-size'));
    assert.ok(labels(vllm('').replace('args:\n', 'args: [--quantization=|]')).includes('awq'));
  });

  test('names models of the catalogue', () => {
    const found = answer(vllm('            - --model=meta-llama/|'));
    assert.equal(found.replaced, 'meta-llama/');
    assert.ok(found.suggestions.some(({ label }) => label === 'meta-llama/Llama-3.1-8B-Instruct'));
  });

  test('knows every option that the rules read', () => {
    for (const [engine, known] of Object.entries(engineArguments)) {
      const flags = Object.values(engines.find((each) => each.engine === engine)?.flags ?? {});
      for (const names of flags) {
        assert.ok(
          names.some((name) => known.some((each) => each.name === name)),
          `${engine}: none of ${names.join(', ')} is completed`,
        );
      }
    }
  });
});

describe('completion of the triggers of KEDA', () => {
  const scaled = (rest: string): string => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: chat }
spec:
  scaleTargetRef: { name: chat }
  triggers:
${rest}`;

  test('names types', () => {
    const found = labels(scaled('    - type: |'));
    assert.ok(found.includes('prometheus') && found.includes('aws-sqs-queue'));
  });

  test('names the fields of a type, those that are needed first', () => {
    const { suggestions } = answer(
      scaled('    - type: prometheus\n      metadata:\n        serverAddress: http://p\n        |'),
    );
    const first = suggestions.toSorted((a, b) => ((a.order ?? '') < (b.order ?? '') ? -1 : 1))[0];
    assert.match(first?.detail ?? '', /required/);
    const threshold = suggestions.find(({ label }) => label === 'threshold');
    assert.equal(threshold?.insert, 'threshold: ""');
    assert.ok(!suggestions.some(({ label }) => label === 'serverAddress'));
  });

  test('gives the values of a field', () => {
    const found = labels(scaled('    - type: prometheus\n      metadata:\n        ignoreNullValues: |'));
    assert.deepEqual(found, ['"true"', '"false"']);
  });

  test('is silent about the metadata of types that it does not know', () => {
    assert.deepEqual(labels(scaled('    - type: kedify-http\n      metadata:\n        |')), []);
  });
});

describe('completion of names of metrics', () => {
  const query = (text: string): string => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: chat }
spec:
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://p
        query: ${text}
`;

  test('in a query, in every style', () => {
    for (const text of ['sum(vllm:num|)', '"sum(vllm:num|)"', '>-\n          sum(vllm:num|)']) {
      const found = answer(query(text));
      assert.equal(found.replaced, 'vllm:num', text);
      assert.ok(
        found.suggestions.some(({ label }) => label === 'vllm:num_requests_waiting'),
        text,
      );
    }
  });

  test('with the series of a histogram, in an alert', () => {
    const found = labels(
      'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec:\n  groups:\n    - rules:\n        - alert: A\n          expr: rate(vllm:ti|[5m]) > 1\n',
    );
    assert.ok(found.includes('vllm:time_to_first_token_seconds_bucket'));
  });

  test('not among labels, durations and quotes', () => {
    for (const text of ['sum(up{jo|b="x"})', 'rate(up[5|m])'])
      assert.deepEqual(labels(query(text)), [], text);
  });

  test('not in fields of the same name elsewhere', () => {
    assert.deepEqual(labels('apiVersion: v1\nkind: ConfigMap\ndata:\n  query: sum(vl|)\n'), []);
  });
});

describe('completion of resources, tolerations and suppressions', () => {
  test('names accelerators as what a container asks for', () => {
    const found = answer(
      vllm(
        '            - --dtype=auto',
        '          resources:\n            limits:\n              memory: 1Gi\n              |',
      ),
    );
    const gpu = found.suggestions.find(({ label }) => label === 'nvidia.com/gpu');
    assert.equal(gpu?.insert, 'nvidia.com/gpu: "1"');
    assert.ok(!found.suggestions.some(({ label }) => label === 'memory'));
  });

  test('names the taints of the NodePools', () => {
    const tolerations = (rest: string): string =>
      vllm('            - --dtype=auto', `      tolerations:\n        - ${rest}`);
    assert.ok(labels(tolerations('key: |')).includes('team.example.com/gpu'));
    assert.deepEqual(
      labels(tolerations('key: team.example.com/gpu\n          operator: Equal\n          value: |')),
      ['reserved'],
    );
  });

  test('names rules in suppressions', () => {
    const found = answer('# plimsoll-disable-next-line missing-|\napiVersion: v1\nkind: Pod\n');
    assert.equal(found.replaced, 'missing-');
    assert.equal(found.suggestions.length, ruleMetas.length);
    const second = labels('# plimsoll-disable missing-pdb, |\napiVersion: v1\nkind: Pod\n');
    assert.ok(!second.includes('missing-pdb') && second.includes('missing-memory-limit'));
    assert.ok(
      labels(
        'apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    plimsoll.dev/ignore: mis|\n',
      ).includes('missing-pdb'),
    );
    assert.deepEqual(labels('# plimsoll-di|\napiVersion: v1\n'), [
      'plimsoll-disable-next-line',
      'plimsoll-disable',
    ]);
    assert.deepEqual(labels('# missing-|\napiVersion: v1\nkind: Pod\n'), []);
  });
});
