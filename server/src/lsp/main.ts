import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { clusterSchemasFolder, readClusterSchemas } from '../schema/cluster-schemas';
import { diskSchemas, schemaFolder } from '../schema/disk-schemas';
import { diskSchemaTexts } from '../schema/kinds';
import { renderAll } from '../render/tools';
import { nodeFileSystem, systemClock } from './node-environment';
import type { SnippetText } from './schema-features';
import { nodeLiveSources } from './node-live-sources';
import { createServer } from './server';
import { sealKeyVariable } from '../protocol/panel';
import { takeSealKey } from './unseal';

const usage = `Usage: node server.js TRANSPORT

The Plimsoll language server. TRANSPORT is one of
  --stdio          messages on standard input and output
  --node-ipc       messages over the channel of a Node parent process
  --socket=PORT    messages over a local TCP port that the client listens on
  --pipe=NAME      messages over a named pipe or socket file that the client listens on
`;

/** The folder of the nearest `package.json` above the program: in the installed extension, and in the source tree alike. */
function packageRoot(): string {
  for (let at = __dirname; dirname(at) !== at; at = dirname(at))
    if (existsSync(join(at, 'package.json'))) return at;
  return __dirname;
}

function readVersion(): string {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
    const found = (manifest as { readonly version?: unknown }).version;
    return typeof found === 'string' ? found : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The snippets of the extension, for clients that do not read them by themselves; none when they are not there. */
function readSnippets(path: string): readonly SnippetText[] {
  type File = Record<string, { prefix: string | string[]; description: string; body: string[] }>;
  try {
    const file = JSON.parse(readFileSync(path, 'utf8')) as File;
    return Object.entries(file).map(([name, { prefix, description, body }]) => ({
      name,
      prefixes: typeof prefix === 'string' ? [prefix] : prefix,
      description,
      body: body.join('\n'),
    }));
  } catch {
    return [];
  }
}

function main(argv: readonly string[]): void {
  if (argv.includes('--version')) {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  if (argv.includes('--help')) {
    process.stdout.write(usage);
    return;
  }
  if (!argv.some((argument) => /^--(stdio|node-ipc|socket|pipe)(=|$)/.test(argument))) {
    process.stderr.write(`plimsoll: no transport is named\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  // The connection ends the process when the client is gone, and on `exit`: code 0 after `shutdown`, else 1.
  const connection = createConnection(ProposedFeatures.all);
  const root = packageRoot();
  const server = createServer(connection, {
    fs: nodeFileSystem,
    clock: systemClock,
    version: readVersion(),
    session: randomUUID().slice(0, 8),
    live: nodeLiveSources(process.env),
    sealKey: takeSealKey(process.env, sealKeyVariable),
    render: (units, read) => renderAll(units, read, process.env),
    schemas: diskSchemas(schemaFolder(root)),
    schemaTexts: diskSchemaTexts(schemaFolder(root), join(root, 'schemas', 'config.schema.json')),
    clusterSchemas: (folder) => readClusterSchemas(join(folder, clusterSchemasFolder)),
    snippets: () => readSnippets(join(root, 'snippets', 'kubernetes.code-snippets')),
  });
  process.on('unhandledRejection', (error) => server.uncaught('a promise', error));
  process.on('uncaughtException', (error) => server.uncaught('a callback', error));
  connection.listen();
}

main(process.argv.slice(2));
