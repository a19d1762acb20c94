import type { Configuration } from '../../server/src/engine/config';
import { configFileName, configurationOf } from '../../server/src/engine/config';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

/** Where the files of a test stand; nothing is there on the disk. */
export const testRoot = 'file:///test/';

export function uriOf(path: string): string {
  return testRoot + path.split('/').map(encodeURIComponent).join('/');
}

/**
 * A workspace of texts by relative path.
 *
 * @param before an older version, of which is kept what is the same.
 */
export function workspaceOf(
  files: Readonly<Record<string, string>>,
  before: Workspace = Workspace.empty,
): Workspace {
  let workspace = before;
  for (const [path, text] of Object.entries(files)) {
    const known = workspace.files.get(uriOf(path));
    if (known?.text !== text) workspace = workspace.with(parseFile(uriOf(path), text, known));
  }
  for (const uri of workspace.files.keys()) {
    if (files[decodeURIComponent(uri.slice(testRoot.length))] === undefined)
      workspace = workspace.without(uri);
  }
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
