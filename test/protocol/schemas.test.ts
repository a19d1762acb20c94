import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type {
  ClientCapabilities,
  CompletionItem,
  CompletionList,
  DocumentSymbol,
  FoldingRange,
  Hover,
  SelectionRange,
} from 'vscode-languageserver-protocol';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { getLanguageService } from 'yaml-language-server/out/server/src/languageservice/yamlLanguageService';
import { rules } from '../../server/src/rules/index';
import {
  clusterSchemasFolder,
  readClusterSchemas,
  writeClusterSchemas,
} from '../../server/src/schema/cluster-schemas';
import type { PublishedKind } from '../../server/src/structure/open-api';
import { schemaRequest, yamlExtensionNotification } from '../../server/src/protocol/messages';
import type { SchemaResult } from '../../server/src/protocol/messages';
import { productSchemaTexts } from '../support/schemas';
import type { ServerOptions, TestClient } from './support/client';
import { pullingClient, start, uriOf } from './support/client';

const manifest = uriOf('/ws/manifest.yaml');

const snippetClient: ClientCapabilities = {
  ...pullingClient,
  textDocument: {
    ...pullingClient.textDocument,
    completion: { completionItem: { snippetSupport: true } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    hover: { contentFormat: ['markdown', 'plaintext'] },
  },
};

/** Opens a text with a cursor, `|`, in a client of its own. */
async function at(
  marked: string,
  options: ServerOptions & {
    readonly uri?: string;
    readonly before?: (client: TestClient) => Promise<void>;
  } = {},
): Promise<{
  readonly client: TestClient;
  readonly uri: string;
  readonly document: TextDocument;
  readonly offset: number;
}> {
  const offset = marked.indexOf('|');
  assert.notEqual(offset, -1);
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  const { client } = await start({
    schemaTexts: productSchemaTexts(),
    capabilities: snippetClient,
    ...options,
  });
  // Other clients are not told of it.
  if (options.initializationOptions === undefined) await client.ready();
  await options.before?.(client);
  const uri = options.uri ?? manifest;
  await client.open(uri, text);
  return { client, uri, offset, document: TextDocument.create(uri, 'yaml', 1, text) };
}

async function complete(
  marked: string,
  options: Parameters<typeof at>[1] = {},
): Promise<readonly CompletionItem[]> {
  const { client, uri, document, offset } = await at(marked, options);
  const list = await client.connection.sendRequest<CompletionList>('textDocument/completion', {
    textDocument: { uri },
    position: document.positionAt(offset),
  });
  // What is written leaves everything outside of its range as it is.
  for (const { textEdit } of list.items) {
    if (textEdit === undefined || !('range' in textEdit)) continue;
    assert.ok(
      document.offsetAt(textEdit.range.start) <= offset && offset <= document.offsetAt(textEdit.range.end),
    );
  }
  await client.stop();
  return list.items;
}

const labels = (items: readonly CompletionItem[]): readonly string[] => items.map(({ label }) => label);

const deployment = (rest: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
${rest}`;

describe('completion from schemas', () => {
  test('of keys, with their descriptions', async () => {
    const items = await complete(deployment('  |'));
    const replicas = items.find(({ label }) => label === 'replicas');
    assert.match(JSON.stringify(replicas?.documentation), /desired pods/);
    // A number that nobody chose is not written.
    assert.equal(replicas?.textEdit?.newText, 'replicas: $1');
    assert.ok(!labels(items).includes('apiVersion'));
  });

  test('of values', async () => {
    assert.deepEqual(labels(await complete(deployment('  strategy:\n    type: |\n'))), [
      'Recreate',
      'RollingUpdate',
    ]);
  });

  test('in flow style', async () => {
    for (const flow of ['{ type: | }', '{type: |}', '{ rollingUpdate: null, type: | }']) {
      assert.deepEqual(labels(await complete(deployment(`  strategy: ${flow}\n`))), [
        'Recreate',
        'RollingUpdate',
      ]);
    }
  });

  test('by the kind of each document of a file', async () => {
    const service = 'apiVersion: v1\nkind: Service\nspec:\n  type: ClusterIP\n';
    const pool =
      'apiVersion: karpenter.sh/v1\nkind: NodePool\nspec:\n  disruption:\n    consolidationPolicy: |\n';
    const items = labels(await complete(`${service}---\n${pool}---\n${deployment('  replicas: 1\n')}`));
    assert.ok(items.includes('WhenEmpty') && items.includes('WhenEmptyOrUnderutilized'), items.join());
    assert.ok(!items.includes('RollingUpdate'));
  });

  const kinds: readonly [string, string, string][] = [
    ['apps/v1', 'Deployment', 'replicas'],
    ['apps/v1', 'StatefulSet', 'serviceName'],
    ['apps/v1', 'DaemonSet', 'updateStrategy'],
    ['batch/v1', 'Job', 'backoffLimit'],
    ['batch/v1', 'CronJob', 'schedule'],
    ['v1', 'Pod', 'containers'],
    ['v1', 'Service', 'ports'],
    ['v1', 'PersistentVolumeClaim', 'accessModes'],
    ['v1', 'ResourceQuota', 'hard'],
    ['v1', 'LimitRange', 'limits'],
    ['autoscaling/v2', 'HorizontalPodAutoscaler', 'scaleTargetRef'],
    ['policy/v1', 'PodDisruptionBudget', 'minAvailable'],
    ['karpenter.sh/v1', 'NodePool', 'disruption'],
    ['karpenter.sh/v1', 'NodeClaim', 'nodeClassRef'],
    ['karpenter.k8s.aws/v1', 'EC2NodeClass', 'amiSelectorTerms'],
    ['keda.sh/v1alpha1', 'ScaledObject', 'triggers'],
    ['keda.sh/v1alpha1', 'ScaledJob', 'jobTargetRef'],
    ['keda.sh/v1alpha1', 'TriggerAuthentication', 'podIdentity'],
    ['monitoring.coreos.com/v1', 'ServiceMonitor', 'endpoints'],
    ['monitoring.coreos.com/v1', 'PodMonitor', 'podMetricsEndpoints'],
    ['monitoring.coreos.com/v1', 'PrometheusRule', 'groups'],
  ];
  test('and hover for each of these kinds', async () => {
    const { client } = await start({ schemaTexts: productSchemaTexts(), capabilities: snippetClient });
    await client.ready();
    for (const [apiVersion, kind, key] of kinds) {
      const uri = uriOf(`/ws/${kind}.yaml`);
      const text = `apiVersion: ${apiVersion}\nkind: ${kind}\nspec:\n  \n`;
      await client.open(uri, text);
      const list = await client.connection.sendRequest<CompletionList>('textDocument/completion', {
        textDocument: { uri },
        position: { line: 3, character: 2 },
      });
      assert.ok(labels(list.items).includes(key), `${kind}: ${labels(list.items).join()}`);
      await client.type(uri, 2, text.replace('  \n', `  ${key}:\n`));
      const hover = await client.hover(uri, { line: 3, character: 4 });
      assert.ok(JSON.stringify(hover ?? '').length > 40, `${kind}.spec.${key}: ${JSON.stringify(hover)}`);
    }
    await client.stop();
  });

  test('of ConfigMaps, which have no spec', async () => {
    const items = labels(await complete('apiVersion: v1\nkind: ConfigMap\n|\n'));
    assert.ok(items.includes('data') && items.includes('immutable'), items.join());
  });

  test('of what a document is, from its group or its kind', async () => {
    assert.deepEqual(labels(await complete('apiVersion: karpenter.sh/v1\nkind: |\n')), [
      'NodeClaim',
      'NodePool',
    ]);
    assert.deepEqual(labels(await complete('apiVersion: |\nkind: NodePool\n')), ['karpenter.sh/v1']);
    assert.ok(labels(await complete(`${deployment('  replicas: 1\n')}---\n|`)).includes('apiVersion'));
  });

  test('of .plimsoll.yaml', async () => {
    const items = labels(await complete('rules:\n  missing-|', { uri: uriOf('/ws/.plimsoll.yaml') }));
    assert.ok(items.includes('missing-pdb'), `${items.length} items`);
  });

  test('is silent in files of other programs', async () => {
    for (const name of ['docker-compose.yaml', 'values.yaml', '.github/workflows/ci.yaml']) {
      assert.deepEqual(await complete('ser|', { uri: uriOf(`/ws/${name}`) }), [], name);
    }
    assert.deepEqual(await complete('name: x\nserv|'), []);
  });

  test('is silent in templates', async () => {
    const text = deployment('  replicas: {{ .Values.replicas }}\n  |\n');
    assert.deepEqual(await complete(text), []);
  });

  test('does not follow a comment that names another schema', async () => {
    const text = `# yaml-language-server: $schema=https://example.com/other.json\n${deployment('  strategy:\n    type: |\n')}`;
    assert.deepEqual(labels(await complete(text)), ['Recreate', 'RollingUpdate']);
  });

  test('writes plain text for clients without tab stops', async () => {
    const items = await complete(deployment('  |'), { capabilities: pullingClient });
    for (const { textEdit, insertTextFormat } of items) {
      assert.doesNotMatch(textEdit?.newText ?? '', /\$/);
      assert.equal(insertTextFormat, undefined);
    }
    assert.ok(items.length > 3);
  });

  test('offers snippets to clients that have none', async () => {
    const snippets = () => [
      {
        name: 'A budget',
        prefixes: ['pdb'],
        description: 'One pod at a time',
        body: 'kind: ${1:PodDisruptionBudget}',
      },
    ];
    const other = await complete('p|', { snippets, initializationOptions: {} });
    assert.equal(other.find(({ label }) => label === 'pdb')?.insertText, 'kind: ${1:PodDisruptionBudget}');
    const ours = await complete('p|', {
      snippets,
    });
    assert.ok(!labels(ours).includes('pdb'));
  });
});

describe('hover from schemas', () => {
  test('describes a key, after what is known of it', async () => {
    const { client, uri, document, offset } = await at(deployment('  progress|DeadlineSeconds: 600\n'));
    const hover = await client.hover(uri, document.positionAt(offset));
    assert.match(JSON.stringify((hover as Hover).contents), /maximum time in seconds/);
    await client.stop();
  });
});

describe('the shape of a file', () => {
  test('its outline names the objects', async () => {
    const { client, uri } = await at(
      `apiVersion: v1\nkind: Service\nmetadata:\n  name: front|\n---\n${deployment('  replicas: 1\n')}`,
    );
    const symbols = await client.connection.sendRequest<DocumentSymbol[]>('textDocument/documentSymbol', {
      textDocument: { uri },
    });
    assert.deepEqual(
      symbols.map(({ name, detail, children }) => [name, detail, children?.map((child) => child.name)]),
      [
        ['Service front', 'v1', ['apiVersion', 'kind', 'metadata']],
        ['Deployment chat', 'apps/v1', ['apiVersion', 'kind', 'metadata', 'spec']],
      ],
    );
    await client.stop();
  });

  test('folds and selects by its parts', async () => {
    const { client, uri, document, offset } = await at(
      deployment('  repli|cas: 1\n  strategy:\n    type: Recreate\n'),
    );
    const folding = await client.connection.sendRequest<FoldingRange[]>('textDocument/foldingRange', {
      textDocument: { uri },
    });
    assert.ok(
      folding.some(({ startLine, endLine }) => startLine === 4 && endLine === 7),
      JSON.stringify(folding),
    );
    const selection = await client.connection.sendRequest<SelectionRange[]>('textDocument/selectionRange', {
      textDocument: { uri },
      positions: [document.positionAt(offset)],
    });
    const texts: string[] = [];
    for (let range: SelectionRange | undefined = selection[0]; range !== undefined; range = range.parent)
      texts.push(document.getText(range.range));
    assert.ok(texts.includes('replicas: 1') && texts.length > 2, texts.join(' | '));
    await client.stop();
  });
});

describe('the YAML extension of Red Hat', () => {
  const active = async (client: TestClient): Promise<void> => {
    await client.connection.sendNotification(yamlExtensionNotification, { active: true });
  };

  test('completes and describes instead of us while it is active', async () => {
    assert.deepEqual(await complete(deployment('  strategy:\n    type: |\n'), { before: active }), []);
    const settings = { '': { schemaSupport: 'builtin' }, [uriOf('/ws')]: { schemaSupport: 'builtin' } };
    assert.equal(
      (await complete(deployment('  strategy:\n    type: |\n'), { before: active, settings })).length,
      2,
    );
    const off = { '': { schemaSupport: 'off' }, [uriOf('/ws')]: { schemaSupport: 'off' } };
    assert.deepEqual(await complete(deployment('  strategy:\n    type: |\n'), { settings: off }), []);
  });

  test('gets schemas that complete and describe, and find nothing wrong', async () => {
    const { client } = await start({ schemaTexts: productSchemaTexts() });
    await client.ready();
    const answer = await client.connection.sendRequest<SchemaResult>(schemaRequest, {
      kinds: [
        { apiVersion: 'apps/v1', kind: 'Deployment' },
        { apiVersion: 'karpenter.sh/v1', kind: 'NodePool' },
      ],
    });
    assert.equal(
      await client.connection.sendRequest(schemaRequest, { kinds: [{ apiVersion: 'a/v1', kind: 'B' }] }),
      null,
    );
    await client.stop();

    // What that extension does with it: its language service, as it is in the packages.
    const service = getLanguageService({
      schemaRequestService: () => Promise.resolve(answer.schema),
      workspaceContext: { resolveRelativePath: (path) => path },
    });
    service.configure({ validate: true, completion: true, hover: true });
    service.registerCustomSchemaProvider(() => Promise.resolve('plimsoll://schemas/x'));
    const wrong = `${deployment('  replicas: many\n  strtegy: 5\n  selector: []\n')}---\nkind: NodePool\napiVersion: karpenter.sh/v1\nspec:\n  disruption: { consolidationPolicy: Never }\n`;
    assert.deepEqual(
      await service.doValidation(TextDocument.create('file:///a.yaml', 'yaml', 1, wrong), false),
      [],
    );
    const text = deployment('  strategy:\n    type: \n');
    const document = TextDocument.create('file:///b.yaml', 'yaml', 1, text);
    const { items } = await service.doComplete(
      document,
      document.positionAt(text.indexOf('type: ') + 6),
      false,
    );
    assert.deepEqual(labels(items), ['Recreate', 'RollingUpdate']);
    const hover = await service.doHover(document, document.positionAt(text.indexOf('strategy') + 2));
    assert.match(JSON.stringify(hover), /deployment strategy/);
  });
});

describe('schemas that were read from a cluster', () => {
  const widget: PublishedKind = {
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    schema: {
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        spec: { type: 'object', properties: { size: { type: 'integer' } } },
      },
    },
  };
  const text = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: a }\nspec:\n  ';

  test('complete and check what the folder keeps', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-schemas-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    writeClusterSchemas(join(folder, clusterSchemasFolder), [widget], { server: 'x', date: '2026-11-30' });
    const asked: string[] = [];
    const options = {
      rules,
      folders: ['/ws'],
      clusterSchemas: (path: string) => {
        asked.push(path);
        return readClusterSchemas(join(folder, clusterSchemasFolder));
      },
    };
    assert.deepEqual(labels(await complete(`${text}|`, options)), ['size']);
    assert.deepEqual(asked, ['/ws']);
    const { client, uri } = await at(`${text}|sizee: 1\n`, options);
    const report = await client.pull(uri);
    assert.ok(
      report.items.some(({ code }) => code === 'unknown-field'),
      JSON.stringify(report),
    );
    await client.stop();
  });

  test('without any, nothing is known of the kind', async () => {
    assert.deepEqual(
      labels(await complete(`${text}|`, { folders: ['/ws'], clusterSchemas: () => undefined })),
      [],
    );
  });
});
