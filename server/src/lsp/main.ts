import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import { diskSchemas, schemaFolder } from '../schema/disk-schemas';
import { nodeFileSystem, systemClock } from './node-environment';
import { createServer } from './server';

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
  const server = createServer(connection, {
    fs: nodeFileSystem,
    clock: systemClock,
    version: readVersion(),
    session: randomUUID().slice(0, 8),
    schemas: diskSchemas(schemaFolder(packageRoot())),
  });
  process.on('unhandledRejection', (error) => server.uncaught('a promise', error));
  process.on('uncaughtException', (error) => server.uncaught('a callback', error));
  connection.listen();
}

main(process.argv.slice(2));
