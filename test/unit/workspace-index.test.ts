import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podTemplates } from '../../server/src/kube/pod-carriers';
import { parseFile } from '../../server/src/yaml/parse';
import { mayMatter } from '../../server/src/workspace/relevant-kinds';
import { Workspace } from '../../server/src/workspace/workspace';
import { workspaceOf } from './kube-support';

const app = (name: string, replicas = 1): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\nspec:\n  replicas: ${replicas}\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec: {containers: [{name: c, image: i}]}\n`;

function found(workspace: Workspace): string[] {
  return workspace.resources.map(({ kind, name }) => `${kind}/${name ?? '?'}`);
}

test('finds objects in every notation', () => {
  const notations: Readonly<Record<string, string>> = {
    'block.yaml': app('a'),
    'json.json': '{"apiVersion": "apps/v1", "metadata": {"name": "a"}, "kind": "Deployment", "spec": {}}',
    'flow.yaml': '{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}',
    'quoted.yaml': `"apiVersion": 'apps/v1'\n"kind": "Deployment"\nmetadata: {name: a}\n`,
    'late.yaml': 'metadata:\n  name: a\nspec: {}\nkind: Deployment # last\napiVersion: apps/v1\n',
    'crlf.yaml': app('a').replaceAll('\n', '\r\n'),
    'bom.yaml': `\uFEFF${app('a')}`,
    'marker.yaml': `# head\n---\n${app('a')}---\n`,
    'old.yaml': 'apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\n',
  };
  for (const [path, text] of Object.entries(notations)) {
    assert.deepEqual(found(workspaceOf({ [path]: text })), ['Deployment/a'], path);
  }
});

test('items of a List are resources of their own, in the same document', () => {
  const text = `apiVersion: v1\nkind: List\nitems:\n${[app('a'), app('b')].map((item) => item.replace(/^/gm, '    ').replace(/^ {4}/, '  - ').trimEnd()).join('\n')}\n`;
  const workspace = workspaceOf({ 'list.yaml': text });
  assert.deepEqual(found(workspace), ['Deployment/a', 'Deployment/b']);
  assert.equal(new Set(workspace.resources.map(({ placed }) => placed.document)).size, 1);
  assert.deepEqual(
    workspace.resources.map((resource) => podTemplates(resource).length),
    [1, 1],
  );
});

test('documents of other tools, and kinds that nothing reads, hold nothing', () => {
  const others: readonly string[] = [
    'services:\n  web:\n    image: vllm/vllm-openai\n',
    'on: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n',
    'openapi: 3.0.0\ninfo: {title: x}\npaths: {}\n',
    '- hosts: all\n  tasks:\n    - k8s: {kind: Deployment}\n',
    'apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: x}\n',
    'apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: x}\nspec: {template: {spec: {containers: []}}}\n',
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {names: {kind: NodePool}}\n',
    'kind: Deployment\nmetadata: {name: x}\n',
    'apiVersion: apps/v1\nkind: [Deployment]\n',
    'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x}\n',
    'just text',
    '[]',
    '',
  ];
  for (const text of others) assert.deepEqual(found(workspaceOf({ 'x.yaml': text })), [], text);
});

test('text alone decides which documents are read', () => {
  const matters = (text: string): boolean => {
    const [placed] = parseFile('', text).documents;
    return placed !== undefined && mayMatter(placed.document);
  };
  assert.equal(matters('apiVersion: cert-manager.io/v1\nkind: Certificate\nspec: {a: b}'), false);
  assert.equal(matters('apiVersion: v1\nkind: ConfigMap\ndata: {a: b}'), true);
  assert.equal(matters('{"kind":"Pod","apiVersion":"v1"}'), true);
  assert.equal(matters('kind: "NodePool"'), true);
  assert.equal(matters('mankind: Deployment'), false);
  assert.equal(
    matters('kind: Certificate\nspec:\n  issuerRef:\n    kind: ServiceAccount'),
    false,
    'its own kind decides',
  );
  assert.equal(matters('{"subject":\n{"kind": "User"},\n"kind": "Pod"}'), true);
  assert.equal(matters('kind: {{ .Values.kind }}\nspec:\n  targetRef: {kind: Deployment}'), true);
});

test('is immutable and shares what did not change', () => {
  const first = workspaceOf({ 'a.yaml': `${app('a')}---\n${app('b')}`, 'c.yaml': app('c') });
  const before = first.resources;
  const file = first.files.get('file:///repo/a.yaml') ?? assert.fail();
  const second = first.with(parseFile(file.uri, file.text.replace('replicas: 1', 'replicas: 2'), file));
  assert.deepEqual(found(first), ['Deployment/a', 'Deployment/b', 'Deployment/c']);
  assert.deepEqual(found(second), ['Deployment/a', 'Deployment/b', 'Deployment/c']);
  assert.equal(first.resources, before);
  assert.notEqual(second.resources[0], before[0]);
  assert.equal(second.resources[1], before[1], 'the other document of the edited file');
  assert.equal(second.resources[2], before[2], 'the other file');
  const third = second.without('file:///repo/a.yaml');
  assert.deepEqual(found(third), ['Deployment/c']);
  assert.equal(third.without('file:///nowhere'), third);
  assert.deepEqual(found(Workspace.empty), []);
});

test('an insertion above moves an object but never its tree', () => {
  const first = workspaceOf({ 'a.yaml': `${app('a')}---\n${app('b')}` });
  const file = first.files.get('file:///repo/a.yaml') ?? assert.fail();
  const second = first.with(parseFile(file.uri, `# more\n${file.text}`, file));
  assert.equal(second.resources[1]?.root, first.resources[1]?.root);
  const [, before] = first.resources;
  const [, after] = second.resources;
  assert.ok(before !== undefined);
  assert.equal(after, before, 'what is known about the object outlives the move');
  assert.equal(second.placeOf(before).offset - first.placeOf(before).offset, 7);
});

test('two equal documents of one file are two objects', () => {
  const first = workspaceOf({ 'a.yaml': `${app('a')}---\n${app('b')}` });
  const file = first.files.get('file:///repo/a.yaml') ?? assert.fail();
  const twice = first.with(parseFile(file.uri, `${app('b')}---\n${app('b')}`, file));
  assert.equal(new Set(twice.resources).size, 2);
  assert.equal(new Set(twice.resources.map((resource) => twice.placeOf(resource).offset)).size, 2);
});

test('finds by kind and by name', () => {
  const workspace = workspaceOf({
    'a.yaml': app('a'),
    'b.yaml': app('a').replace('name: a\n', 'name: a\n  namespace: other\n'),
  });
  assert.equal(workspace.byKind('Deployment').length, 2);
  assert.equal(workspace.byKind('Deployment', 'batch').length, 0);
  const [first, second] = workspace.resources;
  const scope = first?.scope ?? '';
  assert.equal(workspace.find('Deployment', 'other', 'a', scope), second);
  assert.equal(
    workspace.find('Deployment', 'third', 'a', scope),
    first,
    'one without a namespace matches any',
  );
  assert.equal(workspace.find('Deployment', undefined, 'a', scope), first);
  assert.equal(workspace.find('Deployment', undefined, 'b', scope), undefined);
});
