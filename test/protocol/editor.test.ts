import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  CompletionItem,
  CompletionList,
  DocumentLink,
  Hover,
  InlayHint,
  Location,
  LocationLink,
  Position,
  Range,
} from 'vscode-languageserver-protocol';
import { InlayHintRefreshRequest } from 'vscode-languageserver-protocol';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { createBuffers } from '../../server/src/lsp/buffers';
import { completions } from '../../server/src/lsp/completion';
import { createProject } from '../../server/src/lsp/project';
import type { AddModelResult, SizingReportResult } from '../../server/src/protocol/messages';
import { addModelRequest, sizingReportRequest } from '../../server/src/protocol/messages';
import type { TestClient } from './support/client';
import { at, pullingClient, start, uriOf } from './support/client';

const chat = uriOf('/ws/chat.yaml');
const nodes = uriOf('/ws/nodes.yaml');

const chatText = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  selector:
    matchLabels: { app: chat }
  template:
    metadata:
      labels: { app: chat }
    spec:
      nodeSelector:
        karpenter.sh/nodepool: gpu
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args:
            - --model=meta-llama/Llama-3.1-8B-Instruct
            - --max-model-len=131072
          resources:
            limits:
              memory: 24Gi
              nvidia.com/gpu: 1
`;

const nodesText = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }
      requirements:
        - key: karpenter.k8s.aws/instance-family
          operator: In
          values: [g5]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: gpu
spec: {}
`;

/** The position of a text, so many characters behind its start. */
function placeOf(text: string, wanted: string, after = 1): Position {
  const offset = text.indexOf(wanted);
  assert.ok(offset >= 0, wanted);
  const before = text.slice(0, offset + after).split('\n');
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

const whole: Range = { start: { line: 0, character: 0 }, end: { line: 999, character: 0 } };

function textOf(hover: Hover | null): string {
  assert.ok(hover !== null && typeof hover.contents === 'object' && 'kind' in hover.contents);
  return hover.contents.value;
}

async function opened(): Promise<TestClient> {
  const { client } = await start();
  await client.open(chat, chatText);
  await client.open(nodes, nodesText);
  await client.ready();
  return client;
}

const hints = async (
  client: TestClient,
  uri: string,
  range = whole,
): Promise<readonly [number, string][]> => {
  const answer: InlayHint[] = await client.connection.sendRequest('textDocument/inlayHint', {
    textDocument: { uri },
    range,
  });
  return answer.map(({ position, label }) => [position.line, String(label)]);
};

describe('hover', () => {
  test('shows the arithmetic at the model, its length, the GPUs and the memory', async () => {
    const client = await opened();
    const model = textOf(await client.hover(chat, placeOf(chatText, '--model')));
    assert.match(model, /8\.03 billion parameters at bf16/);
    assert.match(model, /refuses to start: a request of 131,072 tokens needs 16 GiB of KV cache/);
    assert.match(model, /\| weights \| 15 GiB \|/);
    assert.match(model, /\| KV cache of a token \| 128 KiB \|/);
    assert.match(model, /left for the KV cache/);
    assert.match(model, /\| host memory of a pod while it loads \|/);
    const length = textOf(await client.hover(chat, placeOf(chatText, '--max-model-len')));
    assert.match(length, /a request of 131,072 tokens needs/);
    const memory = textOf(await client.hover(chat, placeOf(chatText, 'memory: 24Gi')));
    assert.match(memory, /Host memory of container "vllm"/);
    assert.match(memory, /\| in all \| 19 GiB \|\n\| limit \| 24 GiB \|/);
    const gpus = textOf(await client.hover(chat, placeOf(chatText, 'nvidia.com/gpu: 1')));
    assert.match(gpus, /refuses to start/);
    assert.match(gpus, /\| g5\.2xlarge \| 1 x a10g 22\.4 GiB \| 8 \| 32 GiB \| 1\.21 \(spot is less\) \|/);
    await client.stop();
  });

  test('lists instance types at selectors and requirements, with the date of their prices', async () => {
    const client = await opened();
    const selector = textOf(await client.hover(chat, placeOf(chatText, 'karpenter.sh/nodepool')));
    assert.match(selector, /asks for 24 GiB of memory and 1 GPU/);
    assert.match(selector, /it fits on 7 types/);
    assert.match(selector, /us-east-1 on-demand Linux, USD per hour, \d{4}-\d\d-\d\d/);
    const requirement = textOf(await client.hover(nodes, placeOf(nodesText, 'instance-family')));
    assert.match(requirement, /NodePool "gpu" launches 8 types/);
    assert.match(
      requirement,
      /without karpenter\.k8s\.aws\/instance-family in \\\[g5\\\], \d+ more would do/,
    );
    await client.stop();
  });
});

describe('inlay hints', () => {
  test('stand at models, at what pods ask for, and at pools', async () => {
    const client = await opened();
    assert.deepEqual(await hints(client, chat), [
      [20, '~ 15 GiB bf16 weights, 1 x A10G: room for about 29k tokens'],
      [25, 'g5.2xlarge, spot, below $1.21/h'],
    ]);
    assert.deepEqual(await hints(client, nodes), [[3, '8 types, 1-8 GPUs, $1.01-$16.29/h']]);
    assert.deepEqual(await hints(client, nodes, at(12, 0)), []);
    await client.stop();
  });

  test('are those that the folder wants', async () => {
    const { client } = await start({
      settings: { 'file:///ws': { inlayHints: { models: false, workloads: false } } },
    });
    await client.open(chat, chatText);
    await client.open(nodes, nodesText);
    await client.ready();
    assert.deepEqual(await hints(client, chat), []);
    assert.equal((await hints(client, nodes)).length, 1);
    await client.stop();
  });

  test('are asked for again when another file changes them', async () => {
    const { client } = await start({
      capabilities: {
        ...pullingClient,
        workspace: { ...pullingClient.workspace, inlayHint: { refreshSupport: true } },
      },
    });
    let refreshed = 0;
    client.connection.onRequest(InlayHintRefreshRequest.type, () => void refreshed++);
    await client.open(chat, chatText);
    await client.open(nodes, nodesText);
    await client.ready();
    const before = await hints(client, chat);
    await client.type(nodes, 2, nodesText.replace('[g5]', '[g6e]'));
    await client.until('a refresh is asked for', () => {
      // Messages wake the check; the settings are a message that changes nothing.
      void client.settingsChanged();
      return refreshed > 0;
    });
    assert.notDeepEqual(await hints(client, chat), before);
    await client.stop();
  });
});

describe('definitions and references', () => {
  test('lead from a pod to its pool, from a pool to its class, and back', async () => {
    const client = await opened();
    const definition = async (uri: string, position: Position): Promise<Location[]> =>
      client.connection.sendRequest('textDocument/definition', { textDocument: { uri }, position });
    const [pool] = await definition(chat, placeOf(chatText, 'nodepool: gpu', 11));
    assert.deepEqual(pool, {
      uri: nodes,
      range: { start: placeOf(nodesText, 'name: gpu', 6), end: placeOf(nodesText, 'name: gpu', 9) },
    });
    const [nodeClass] = await definition(nodes, placeOf(nodesText, 'name: gpu }', 7));
    assert.equal(nodeClass?.range.start.line, 16);
    const references: Location[] = await client.connection.sendRequest('textDocument/references', {
      textDocument: { uri: nodes },
      position: placeOf(nodesText, 'name: gpu', 7),
      context: { includeDeclaration: true },
    });
    assert.deepEqual(
      references.map(({ uri, range }) => [uri, range.start.line]),
      [
        [nodes, 3],
        [chat, 12],
      ],
    );
    assert.deepEqual(await definition(chat, placeOf(chatText, 'image: vllm')), []);
    await client.stop();
  });

  test('are links for a client that takes them', async () => {
    const { client } = await start({
      capabilities: {
        ...pullingClient,
        textDocument: { ...pullingClient.textDocument, definition: { linkSupport: true } },
      },
    });
    await client.open(chat, chatText);
    await client.open(nodes, nodesText);
    const [link]: LocationLink[] = await client.connection.sendRequest('textDocument/definition', {
      textDocument: { uri: chat },
      position: placeOf(chatText, 'nodepool: gpu', 11),
    });
    assert.equal(link?.targetUri, nodes);
    assert.deepEqual(link.originSelectionRange?.start, placeOf(chatText, 'nodepool: gpu', 10));
    await client.stop();
  });
});

test('document links lead to files of a kustomization, and to pages of models and images', async () => {
  const { client } = await start({
    files: {
      '/ws/kustomization.yaml': 'resources:\n  - app/chat.yaml\n  - none.yaml\n',
      '/ws/app/chat.yaml': chatText,
    },
  });
  await client.ready();
  const links = async (uri: string): Promise<readonly (string | undefined)[]> => {
    const answer: DocumentLink[] = await client.connection.sendRequest('textDocument/documentLink', {
      textDocument: { uri },
    });
    return answer.map(({ target }) => target);
  };
  assert.deepEqual(await links(uriOf('/ws/kustomization.yaml')), [uriOf('/ws/app/chat.yaml')]);
  assert.deepEqual(await links(uriOf('/ws/app/chat.yaml')), [
    'https://hub.docker.com/r/vllm/vllm-openai',
    'https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct',
  ]);
  await client.stop();
});

test('a sizing report is offered at the model, and tells everything', async () => {
  const client = await opened();
  const place = placeOf(chatText, '--model');
  const range = { start: place, end: place };
  const actions = await client.actions(chat, range);
  const action = actions.find(({ title }) => title === 'Show sizing report');
  assert.deepEqual(action?.command?.arguments, [chat, place]);
  assert.deepEqual(await client.actions(chat, at(0, 0), [], ['plimsoll.report']), []);
  const report: SizingReportResult | null = await client.connection.sendRequest(sizingReportRequest, {
    textDocument: { uri: chat },
    position: place,
  });
  assert.equal(report?.title, 'Sizing of Deployment "chat"');
  assert.match(report.markdown, /^# Deployment "chat"\n\n## meta-llama/);
  assert.match(report.markdown, /CUDA graphs/);
  assert.match(report.markdown, /The cheapest instance types on which it fits/);
  const none = await client.connection.sendRequest(sizingReportRequest, { textDocument: { uri: nodes } });
  assert.equal(none, null);
  await client.stop();
});

test('models that the configuration describes are reckoned with', async () => {
  const { client } = await start({
    files: {
      '/ws/.plimsoll.yaml':
        'models:\n  acme/house:\n    parameters: 8B\n    layers: 32\n    heads: 32\n    kvHeads: 8\n    headSize: 128\n',
    },
  });
  await client.ready();
  await client.open(chat, chatText.replace('meta-llama/Llama-3.1-8B-Instruct', 'acme/house'));
  const text = textOf(await client.hover(chat, placeOf(chatText, '--model')));
  assert.match(text, /acme\/house as described in the configuration/);
  assert.match(text, /KV cache of a token \| 128 KiB/);
  await client.stop();
});

test('nothing is said about what a template fills in', async () => {
  const { client } = await start();
  await client.open(
    chat,
    chatText
      .replace('meta-llama/Llama-3.1-8B-Instruct', '{{ .Values.model }}')
      .replace('nvidia.com/gpu: 1', 'nvidia.com/gpu: {{ .Values.gpus }}'),
  );
  assert.deepEqual(await hints(client, chat), []);
  assert.equal(await client.hover(chat, placeOf(chatText, '--model')), null);
  await client.stop();
});

describe('completion', () => {
  const asked = async (
    client: TestClient,
    uri: string,
    position: Position,
  ): Promise<readonly CompletionItem[]> => {
    const list: CompletionList = await client.connection.sendRequest('textDocument/completion', {
      textDocument: { uri },
      position,
    });
    assert.equal(list.isIncomplete, false);
    return list.items;
  };

  test('writes what is chosen over what is typed, while the text cannot be read', async () => {
    const client = await opened();
    const cut = nodesText.slice(0, nodesText.indexOf('[g5]'));
    const text = `${cut}[g6`;
    await client.type(nodes, 2, text);
    const line = text.split('\n').length - 1;
    const end = { line, character: text.split('\n').at(-1)?.length ?? 0 };
    const items = await asked(client, nodes, end);
    const item = items.find(({ label }) => label === 'g6e');
    assert.deepEqual(item?.textEdit, {
      range: { start: { line, character: end.character - 2 }, end },
      newText: 'g6e',
    });
    assert.match(item.detail ?? '', /^8 types, l40s, from \$1\.86\/h$/);
    await client.stop();
  });

  test('knows the names of pools in a pod', async () => {
    const client = await opened();
    await client.type(chat, 2, chatText.replace('nodepool: gpu', 'nodepool: '));
    const items = await asked(client, chat, placeOf(chatText, 'nodepool: gpu', 10));
    assert.deepEqual(
      items.map(({ label }) => label),
      ['gpu'],
    );
    assert.deepEqual(await asked(client, chat, placeOf(chatText, 'image: vllm', 7)), []);
    await client.stop();
  });

  test('one provider that fails takes nothing from the others', async () => {
    const failures: string[] = [];
    const request = {
      key: chat,
      document: TextDocument.create(chat, 'yaml', 1, chatText),
      offset: 0,
      project: createProject(createBuffers()),
    };
    const list = await completions(
      request,
      { isCancellationRequested: false },
      (provider) => failures.push(provider),
      [
        { name: 'bad', complete: () => Promise.reject(new Error('broken')) },
        { name: 'good', complete: () => [{ label: 'a' }, { label: 'b' }] },
        { name: 'other', complete: () => Promise.resolve([{ label: 'b', detail: 'again' }]) },
      ],
    );
    assert.deepEqual(failures, ['bad']);
    assert.deepEqual(list.items, [{ label: 'a' }, { label: 'b' }]);
  });
});

describe('adding a model to the configuration', () => {
  const figures = { parameters: 8_000_000_000, layers: 32, kvHeads: 8, headSize: 128 };
  const ask = (client: TestClient, uri: string, given: unknown = figures): Promise<AddModelResult> =>
    client.connection.sendRequest(addModelRequest, {
      textDocument: { uri },
      name: 'acme/house',
      figures: given,
    });

  test('edits the one that applies to the document, as it is typed', async () => {
    const config = '/ws/.plimsoll.yaml';
    const { client } = await start({ files: { [config]: 'preset: strict\n', '/ws/a/x.yaml': '' } });
    await client.open(uriOf(config), 'preset: strict # typed\n');
    await client.ready();
    const result = await ask(client, uriOf('/ws/a/x.yaml'));
    assert.equal(result.uri, uriOf(config));
    assert.equal(result.isNew, false);
    assert.match(result.text, /^preset: strict # typed\nmodels:\n {2}acme\/house:\n/);
    assert.deepEqual(result.edits[0]?.range.start, { line: 1, character: 0 });
    await client.stop();
  });

  test('names the one to make where there is none', async () => {
    const { client } = await start();
    await client.open(chat, chatText);
    const result = await ask(client, chat);
    assert.deepEqual([result.uri, result.isNew, result.edits], [uriOf('/ws/.plimsoll.yaml'), true, []]);
    assert.match(result.text, /^models:\n/);
    await client.stop();
  });

  test('refuses what says nothing, and a configuration that cannot be changed', async () => {
    const { client } = await start({ files: { '/ws/.plimsoll.yaml': 'models: [\n' } });
    await client.ready();
    await client.open(chat, chatText);
    await assert.rejects(ask(client, chat), /not well-formed/);
    await assert.rejects(ask(client, chat, { secret: 1 }), /Nothing is known of acme\/house/);
    await assert.rejects(ask(client, chat, 'figures'), /Nothing is known/);
    await client.stop();
  });
});
