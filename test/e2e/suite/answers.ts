import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import type { CompletionList, Hover, InlayHint, Location, LocationLink, Uri } from 'vscode';
import { MarkdownString, Position, Range, commands, window, workspace } from 'vscode';
import { actions, file, open, until, write } from './editor';
import type { Test } from './tests';

/** What the editor shows beside findings, through the API by which VS Code asks for it. */

const text = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: serving
spec:
  selector:
    matchLabels: { app: serving }
  template:
    metadata:
      labels: { app: serving }
    spec:
      nodeSelector:
        karpenter.sh/nodepool: serving
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct"]
          resources:
            limits:
              memory: 24Gi
              nvidia.com/gpu: 1
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: serving
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements:
        - key: karpenter.k8s.aws/instance-family
          operator: In
          values: [g5]
`;

function placeOf(wanted: string, after = 1): Position {
  const before = text.slice(0, text.indexOf(wanted) + after).split('\n');
  return new Position(before.length - 1, before.at(-1)?.length ?? 0);
}

async function hoverText(uri: Uri, position: Position): Promise<string> {
  const hovers = await commands.executeCommand<Hover[]>('vscode.executeHoverProvider', uri, position);
  return hovers
    .flatMap(({ contents }) => contents)
    .map((content) =>
      content instanceof MarkdownString
        ? content.value
        : typeof content === 'string'
          ? content
          : content.value,
    )
    .join('\n');
}

export const answerTests: readonly Test[] = [
  {
    name: 'hovers, hints, completion and definitions of a model server and its pool',
    async run() {
      await write('serving.yaml', text);
      const { uri } = await open('serving.yaml');
      const whole = new Range(0, 0, 99, 0);
      const hints = await until('inlay hints', async () => {
        const found = await commands.executeCommand<InlayHint[]>(
          'vscode.executeInlayHintProvider',
          uri,
          whole,
        );
        return found.length === 3 ? found : undefined;
      });
      const labels = hints
        .toSorted((a, b) => a.position.compareTo(b.position))
        .map(({ label }) => (typeof label === 'string' ? label : label.map(({ value }) => value).join('')));
      match(labels[0] ?? '', /^~ 14\.2 GiB bf16 weights, fits 1 x A10G, \d+k tokens of KV$/);
      match(labels[1] ?? '', /^g5\.\w+, /);
      match(labels[2] ?? '', /^8 types, 1-8 GPUs, \$1\.01-\$16\.29\/h$/);

      match(
        await hoverText(uri, placeOf('--model')),
        /7\.62 billion parameters at bf16[^]*KV cache of a token/,
      );
      match(await hoverText(uri, placeOf('instance-family')), /launches 8 types/);

      const list = await commands.executeCommand<CompletionList>(
        'vscode.executeCompletionItemProvider',
        uri,
        placeOf('[g5]'),
      );
      const names = list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
      ok(names.includes('g6e'), names.slice(0, 10).join(', '));

      const [target] = await commands.executeCommand<(Location | LocationLink)[]>(
        'vscode.executeDefinitionProvider',
        uri,
        placeOf('nodepool: serving', 12),
      );
      ok(target !== undefined);
      const range =
        'targetSelectionRange' in target
          ? target.targetSelectionRange
          : 'range' in target
            ? target.range
            : undefined;
      strictEqual(range?.start.line, text.slice(0, text.lastIndexOf('name: serving')).split('\n').length - 1);
    },
  },
  {
    name: 'a sizing report is a document of its own',
    async run() {
      const { uri } = await open('serving.yaml');
      const place = placeOf('--model');
      const offered = await actions(uri, new Range(place, place));
      const action = offered.find(({ title }) => title === 'Show sizing report');
      ok(action?.command !== undefined, offered.map(({ title }) => title).join(', '));
      const given = (action.command.arguments ?? []) as unknown[];
      await commands.executeCommand(action.command.command, ...given);
      const report = await until('the report', () =>
        workspace.textDocuments.find((each) => each.uri.scheme === 'plimsoll-sizing'),
      );
      match(report.getText(), /^# Deployment "serving"\n/);
      deepStrictEqual(await workspace.fs.stat(uri).then(({ type }) => type), 1);
      await commands.executeCommand('workbench.action.closeAllEditors');
      await workspace.fs.delete(file('serving.yaml'));
      ok(window.activeTextEditor?.document.uri.scheme !== 'plimsoll-sizing');
    },
  },
];
