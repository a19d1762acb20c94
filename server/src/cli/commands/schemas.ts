import { dirname, join, resolve } from 'node:path';
import { whyUnreadable } from '../../files/errors';
import { clusterSchemasAbove, clusterSchemasFolder, writeClusterSchemas } from '../../schema/cluster-schemas';
import { readSchema } from '../../schema/disk-schemas';
import { readOpenApi } from '../../sources/open-api';
import { kindsOfOpenApi } from '../../structure/open-api';
import type { SchemasCommand } from '../arguments';
import { askCluster } from '../ask-cluster';
import { configsAbove } from '../collect';
import { printable } from '../formats/text';
import type { Host } from '../host';
import { displayPath } from '../paths';

/** `plimsoll schemas`: exit code 0 written, 2 where the cluster cannot be asked or nothing be written. */
export async function schemasCommand(command: SchemasCommand, host: Host): Promise<number> {
  const fail = (message: string): number => {
    host.stderr.write(`plimsoll: ${printable(message)}\n`);
    return 2;
  };
  return askCluster(command, host, async (cluster, signal) => {
    const client = await cluster.world.client();
    const documents = await readOpenApi(client, signal);
    const { schemaFolder } = host;
    const kinds = documents.flatMap(({ document }) =>
      kindsOfOpenApi(document, (group, version, kind) =>
        schemaFolder === undefined ? undefined : readSchema(schemaFolder, group, version, kind, 'full'),
      ),
    );
    const problems = documents.flatMap(({ apiVersion, problem }) =>
      problem === undefined ? [] : [`${apiVersion} is left out: ${problem.message}`],
    );
    // An answer with next to nothing in it must not take the place of schemas that are good.
    if (!kinds.some(({ kind }) => kind === 'Deployment'))
      return fail(
        [
          `the API server of context ${client.context.name} publishes no Deployment in /openapi/v3; nothing is written`,
          ...problems,
        ].join('. '),
      );
    const folder = targetOf(command, host.cwd);
    try {
      writeClusterSchemas(folder, kinds, {
        server: client.context.server,
        date: new Date(host.now?.() ?? Date.now()).toISOString().slice(0, 10),
      });
    } catch (error) {
      return fail(`${displayPath(folder, host.cwd)}: ${whyUnreadable(error)}`);
    }
    for (const problem of problems) host.stderr.write(`plimsoll: ${printable(problem)}\n`);
    host.stdout.write(
      `${kinds.length} kinds of ${documents.length - problems.length} API versions, from context ${printable(client.context.name)}\nWritten to ${printable(displayPath(folder, host.cwd))}\n`,
    );
    return 0;
  });
}

/** Where schemas are already, else beside the nearest configuration, else here. */
function targetOf({ output }: SchemasCommand, cwd: string): string {
  if (output !== undefined) return resolve(cwd, output);
  const [config] = configsAbove([cwd]);
  return clusterSchemasAbove(cwd) ?? join(config === undefined ? cwd : dirname(config), clusterSchemasFolder);
}
