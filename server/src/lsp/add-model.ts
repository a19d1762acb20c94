import { parseConfig } from '../engine/config';
import { difference } from '../engine/difference';
import { withModel } from '../engine/models-edit';
import { configName } from '../files/text';
import type { AddModelResult } from '../protocol/messages';
import { toTextEdit } from './convert';
import { isFields } from './params';
import type { Project } from './project';
import { parentFolder, pathOfUri, uriOfPath, joinPath } from './uris';

/**
 * The edit that adds a model to the configuration that applies to a document; of the workspace's first folder without
 * one. Figures are those of `plimsoll model --format json`, and are checked like what is written by hand.
 */
export function addModel(
  key: string | undefined,
  name: string,
  figures: unknown,
  project: Project,
): AddModelResult | { readonly problem: string } {
  const [model] = parseConfig(
    'file:///model',
    JSON.stringify({ models: { [name]: isFields(figures) ? figures : {} } }),
    'file:///',
  ).config.models;
  if (model === undefined)
    return { problem: `Nothing is known of ${name} that the configuration could hold` };
  const applies = key === undefined ? undefined : project.configFor(key).uri;
  const target = applies ?? newConfig(key, project);
  if (target === undefined)
    return { problem: 'Open a folder first; the model is written into its .plimsoll.yaml' };
  const document = project.document(target);
  if (document === undefined) {
    return { uri: target, isNew: true, text: withModel('', model) ?? '', edits: [] };
  }
  const before = document.getText();
  const after = withModel(before, model);
  if (after === undefined) {
    return {
      problem: `${document.uri} is not well-formed, or its "models" is no map; the model is not added`,
    };
  }
  const edits = after === before ? [] : [toTextEdit(document, difference(before, after))];
  return { uri: document.uri, isNew: false, text: after, edits };
}

/** Where a configuration is made: in the workspace folder of the document, else of the first folder, else beside it. */
function newConfig(key: string | undefined, project: Project): string | undefined {
  const folder =
    (key === undefined ? undefined : project.folderOf(key).path) ??
    project.folders.find(({ path }) => path !== undefined)?.path;
  const path = folder ?? (key === undefined ? undefined : parentFolder(pathOfUri(key) ?? ''));
  return path === undefined || path === '' ? undefined : uriOfPath(joinPath(path, configName));
}
