import type { Configuration } from '../../server/src/engine/config';
import { configFileName, configurationOf } from '../../server/src/engine/config';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

/** Where the files of a test stand; nothing is there on the disk. */
export const testRoot = 'file:///test/';

export function uriOf(path: string): string {
  return testRoot + path.split('/').map(encodeURIComponent).join('/');
}

/** A workspace of texts by relative path. */
export function workspaceOf(files: Readonly<Record<string, string>>): Workspace {
  let workspace = Workspace.empty;
  for (const [path, text] of Object.entries(files)) workspace = workspace.with(parseFile(uriOf(path), text));
  return workspace;
}

/** The configuration that the `.plimsoll.yaml` files among the texts make. */
export function configurationIn(
  files: Readonly<Record<string, string>>,
  layers: Parameters<typeof configurationOf>[1] = {},
): Configuration {
  const configs = Object.entries(files).filter(([path]) => path.split('/').at(-1) === configFileName);
  return configurationOf(new Map(configs.map(([path, text]) => [uriOf(path), text])), layers);
}
