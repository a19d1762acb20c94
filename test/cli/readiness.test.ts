import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folder, plimsoll } from './host';

const root = join(__dirname, '../..');

describe('plimsoll readiness', () => {
  test('exit code 1 where an item fails; places are those of the files', async () => {
    const { code, stdout, stderr } = await plimsoll(root, ['readiness', 'examples/broken']);
    assert.equal(stderr, '');
    assert.equal(code, 1);
    assert.match(stdout, /^examples\/broken\/chat\.yaml:5 Deployment "chat" in inference: \d+ of 19 pass/);
    assert.match(
      stdout,
      /^ +fail +Memory limit with headroom\n +Container "vllm" has a memory limit of 32Gi.* examples\/broken\/chat\.yaml:\d+ host-ram-below-model$/m,
    );
  });

  test('JSON has all nineteen items of each workload', async () => {
    const { stdout } = await plimsoll(root, ['readiness', '--format=json', 'examples/healthy']);
    const { workloads } = JSON.parse(stdout) as {
      workloads: {
        name: string;
        counts: Record<string, number>;
        items: { state: string; place: { line: number } | null }[];
      }[];
    };
    assert.equal(workloads.length, 1);
    assert.equal(workloads[0]?.name, 'chat');
    assert.equal(workloads[0].items.length, 19);
    for (const { state, place } of workloads[0].items) {
      if (state === 'pass') assert.ok((place?.line ?? 0) > 0);
    }
  });

  test('Markdown links to lines and rules', async () => {
    const { stdout } = await plimsoll(root, ['readiness', '--format=markdown', 'examples/broken']);
    assert.match(stdout, /\]\(<examples\/broken\/chat\.yaml#L\d+>\)/);
    assert.match(stdout, /\[missing-readiness-probe\]\(<https:\/\/[^>]+missing-readiness-probe\.md>\)/);
  });

  test('one workload by name; a name that is not there is bad usage, with those that are', async (t) => {
    const found = await plimsoll(root, ['readiness', '--workload', 'inference/chat', 'examples/healthy']);
    assert.match(found.stdout, /^examples\/healthy\/chat\.yaml:5 /);
    const missing = await plimsoll(root, ['readiness', '--workload=chta', 'examples/healthy']);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /there is no workload chta in these files; they have inference\/chat/);
    const none = await plimsoll(folder(t, { 'a.yaml': 'a: 1\n' }), ['readiness']);
    assert.equal(none.code, 0);
    assert.match(none.stdout, /^No workload to judge/);
  });

  test('what cannot be read is a failure', async (t) => {
    const { code, stderr } = await plimsoll(folder(t, {}), ['readiness', 'no.yaml']);
    assert.equal(code, 2);
    assert.match(stderr, /no\.yaml: it does not exist/);
  });

  test('the nearest configuration holds: what it turns off is accepted', async (t) => {
    const files = {
      'a/.plimsoll.yaml': 'extends: ../base.yaml\n',
      'base.yaml': 'rules: { missing-pdb: off }\n',
      'a/chat.yaml': chat,
    };
    const { stdout } = await plimsoll(folder(t, files), ['readiness', '--format=json', 'a']);
    const { workloads } = JSON.parse(stdout) as {
      workloads: { items: { id: string; state: string; fact: string }[] }[];
    };
    const budget = workloads[0]?.items.find(({ id }) => id === 'disruption-budget');
    assert.equal(budget?.state, 'not-applicable');
    assert.match(budget.fact, /^Accepted \(turned off in the configuration\)/);
  });
});

const chat = `apiVersion: apps/v1
kind: Deployment
metadata: { name: chat }
spec:
  replicas: 2
  selector: { matchLabels: { app: chat } }
  template:
    metadata: { labels: { app: chat } }
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          ports: [{ containerPort: 8000 }]
          resources: { limits: { nvidia.com/gpu: 1 } }
`;

test('a file that is no text is named', async (t) => {
  const cwd = folder(t, { 'a.yaml': 'a: \u0000' });
  const { code, stderr } = await plimsoll(cwd, ['readiness', 'a.yaml']);
  assert.equal(code, 0);
  assert.equal(stderr, 'plimsoll: a.yaml: is a binary file\n');
});
