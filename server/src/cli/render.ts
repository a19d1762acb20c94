import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Config } from '../engine/config';
import type { FileResult } from '../engine/run';
import { judge } from '../render/judge';
import { mergeRendered } from '../render/merge';
import { renderAll } from '../render/tools';
import type { NotRendered, ReadSource } from '../render/types';
import { unitsOf } from '../render/units';
import { Workspace } from '../workspace/workspace';
import type { SourceFile } from '../yaml/document';
import { parseFile } from '../yaml/parse';
import { readText } from './disk';
import type { Host } from './host';
import { displayPath } from './paths';
import { schemaPlaces, schemasIn } from './schemas';
import type { Notice } from './report';

export interface RenderedResults {
  readonly files: readonly FileResult[];
  readonly notices: readonly Notice[];
}

/**
 * `plimsoll lint --render`: renders the charts and kustomizations among the files, and puts what is found in that where
 * it comes from. What is not rendered is told, and stays judged as it stands.
 */
export async function renderResults(
  results: readonly FileResult[],
  texts: ReadonlyMap<string, string>,
  configFor: (uri: string) => Config,
  host: Host,
): Promise<RenderedResults> {
  const parsed = new Map<string, SourceFile>();
  for (const [uri, text] of texts) parsed.set(uri, parseFile(uri, text));
  const workspace = Workspace.empty.withAll(parsed.values());
  const read: ReadSource = (path) => {
    const uri = pathToFileURL(path).href;
    const known = parsed.get(uri);
    if (known !== undefined || !existsSync(path)) return known;
    const text = readText(path);
    if ('problem' in text) return undefined;
    const file = parseFile(uri, text.text);
    parsed.set(uri, file);
    return file;
  };
  const { rendered, failed } = await renderAll(unitsOf(workspace.files.values()), read, host.env);
  const judged = judge({
    rendered,
    workspace,
    configFor,
    read,
    options: { schemas: schemasIn(schemaPlaces(host)) },
  });
  return {
    files: mergeRendered(results, judged),
    notices: [...failed, ...judged.problems].map((each) => notice(each, host)),
  };
}

function notice({ unit, why }: NotRendered, host: Host): Notice {
  return {
    path: displayPath(unit.file, host.cwd),
    rule: undefined,
    message: `not rendered: ${why}; its files are judged as they stand`,
  };
}
