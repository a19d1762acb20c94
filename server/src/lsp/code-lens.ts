import type { CodeLens } from 'vscode-languageserver';
import { getIn } from '../yaml/node';
import { codeLensText } from '../panel/code-lens';
import { workloadOf } from '../panel/places';
import { openPanelCommand } from '../protocol/panel';
import { toRange } from './convert';
import type { LiveView } from './panel';
import type { Project } from './project';

/**
 * The line above the workload that the panel follows. Nothing in other files, and nothing while it is not known.
 *
 * @param opens whether the client has the command that opens the panel
 */
export function codeLenses(
  key: string,
  live: LiveView | undefined,
  now: number,
  project: Project,
  opens: boolean,
): readonly CodeLens[] {
  if (live === undefined || !project.folderOf(key).settings.live.codeLens.enable) return [];
  const document = project.document(key);
  const workspace = project.workspace();
  // An edit makes new objects of the same name.
  const followed = workspace
    .resourcesOf(live.resource.uri)
    .find(({ kind, name }) => kind === live.resource.kind && name === live.resource.name);
  const workload = workloadOf(workspace, followed);
  const shown = workload ?? followed;
  if (shown === undefined || shown.uri !== key || document === undefined) return [];
  const title = codeLensText(live.snapshot, now);
  if (title === undefined) return [];
  const { offset } = workspace.placeOf(shown);
  const at = getIn(shown.root, 'kind') ?? shown.root;
  return [
    {
      range: toRange(document, { start: at.start + offset, end: at.end + offset }),
      command: { title, command: opens ? openPanelCommand : '' },
    },
  ];
}
