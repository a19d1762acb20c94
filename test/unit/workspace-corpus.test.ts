import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAiWorkload, isServing } from '../../server/src/kube/ai-workload';
import { acceleratorsOf } from '../../server/src/kube/accelerators';
import { containers, envOf, portsOf, probesOf, requestState } from '../../server/src/kube/containers';
import { otherCloud } from '../../server/src/kube/clouds';
import { modelServerOf } from '../../server/src/kube/model-server';
import { isPodCarrier, podTemplates } from '../../server/src/kube/pod-carriers';
import type { Resource } from '../../server/src/kube/resource';
import type { Setting } from '../../server/src/kube/settings';
import { podTolerates } from '../../server/src/kube/tolerations';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

const corpus = join(__dirname, '../../../shared/corpus');
const skip = existsSync(corpus) ? false : 'public manifests are not beside the project';

function read(): Workspace {
  const paths = readdirSync(corpus, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ya?ml|json)$/.test(path),
  );
  return Workspace.empty.withAll(
    paths.map((path) => parseFile(`file:///corpus/${path}`, readFileSync(join(corpus, path), 'utf8'))),
  );
}

/** Asks everything there is to ask, and checks that each known place lies in its document. */
function ask(workspace: Workspace, resource: Resource): void {
  const { document } = resource.placed;
  const references = workspace.references(resource);
  for (const key of [
    'target',
    'templates',
    'autoscalers',
    'verticalAutoscalers',
    'disruptionBudgets',
    'services',
    'nodeClass',
  ] as const) {
    void references[key];
  }
  for (const template of podTemplates(resource)) {
    void [isAiWorkload(template), isServing(resource, template), otherCloud(template)];
    void [references.nodePools(template), references.claims(template)];
    podTolerates(template, { key: 'nvidia.com/gpu', value: '', effect: 'NoSchedule', node: undefined });
    for (const container of containers(template)) {
      void [
        portsOf(container),
        probesOf(container),
        envOf(container),
        acceleratorsOf(container),
        requestState(container, 'cpu'),
      ];
      const server = modelServerOf(container);
      if (server === undefined) continue;
      for (const value of Object.values(server) as unknown[]) {
        const setting = value as Partial<Setting> | undefined;
        if (typeof setting !== 'object' || setting.state !== 'known') continue;
        const { at, text } = setting as Extract<Setting, { state: 'known' }>;
        assert.ok(at.start >= 0 && at.start <= at.end && at.end <= document.text.length, resource.uri);
        assert.equal(document.text.slice(at.start, at.end), text, resource.uri);
      }
    }
  }
}

test('every question about every public manifest has an answer', { skip }, () => {
  const workspace = read();
  assert.ok(workspace.resources.length > 300, `${workspace.resources.length} objects`);
  for (const resource of workspace.resources) ask(workspace, resource);
});

test('public manifests cut off anywhere end in no crash', { skip }, () => {
  const files = [...read().files.values()];
  for (const [index, file] of files.entries()) {
    if (index % 4 !== 0) continue;
    const cut = file.text.slice(0, Math.floor((file.text.length * ((index % 7) + 1)) / 8));
    const workspace = Workspace.empty.with(parseFile(file.uri, cut));
    for (const resource of workspace.resources) ask(workspace, resource);
  }
});

test('the model servers of public manifests are found where people see them', { skip }, () => {
  const workspace = read();
  const known = workspace.resources.filter(isPodCarrier).flatMap((resource) =>
    podTemplates(resource).flatMap((template) =>
      containers(template).flatMap((container) => {
        const server = modelServerOf(container);
        return server?.model.state === 'known' ? [`${server.engine} ${server.model.value}`] : [];
      }),
    ),
  );
  for (const expected of [
    'vllm google/gemma-3-1b-it',
    'vllm meta-llama/Llama-3.1-405B-Instruct',
    'sglang meta-llama/Meta-Llama-3.1-8B-Instruct',
    'ray-serve-llm Qwen/Qwen2.5-7B-Instruct',
    'nim meta/llama3-8b-instruct',
    'ollama gemma2:27b',
  ]) {
    assert.ok(known.includes(expected), expected);
  }
});
