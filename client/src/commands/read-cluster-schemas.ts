import { ProgressLocation, window, workspace } from 'vscode';
import { contextFor } from '../panel/connect';
import { schemasText } from '../panel/consent';
import type { PanelMemory } from '../panel/memory';
import type { RunCli } from '../run-cli';
import { restartServer } from './restart-server';
import type { Services } from './services';

/**
 * Reads the kinds of a cluster into the workspace folder, and restarts the server, which looks for them once. The cluster
 * is asked when this is called, after the user has agreed to it, and then only.
 */
export async function readClusterSchemas(
  services: Services,
  memory: PanelMemory,
  runCli: RunCli,
): Promise<void> {
  if (!workspace.isTrusted) {
    void window.showWarningMessage('Plimsoll: a cluster is asked in trusted workspaces only.');
    return;
  }
  const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const folder =
    folders.length < 2
      ? folders[0]
      : await window.showWorkspaceFolderPick({ placeHolder: 'Folder that keeps the schemas' });
  if (folder === undefined) {
    if (folders.length === 0)
      void window.showErrorMessage('Plimsoll: open a folder first; the schemas are kept in it.');
    return;
  }
  const chosen = await contextFor(services.client, memory, { text: schemasText, yes: 'Read' });
  if (chosen.kind === 'problem') {
    void window.showErrorMessage(`Plimsoll: ${chosen.why}. ${chosen.whatToDo}`);
    return;
  }
  if (chosen.kind === 'declined') return;
  const result = await window.withProgress(
    {
      location: ProgressLocation.Notification,
      title: `Plimsoll: reading the kinds of ${chosen.context}`,
      cancellable: true,
    },
    async (_, cancellation) => {
      const argv = ['schemas', '--context', chosen.context];
      const answer = await runCli(argv, {}, cancellation, { folder: folder.uri.fsPath });
      return cancellation.isCancellationRequested ? undefined : answer;
    },
  );
  if (result === undefined) return;
  const told = result.stderr.trim().replace(/^plimsoll: /, '');
  if (result.code !== 0) {
    services.output.warn(`Reading schemas failed: ${told}`);
    void window.showErrorMessage(`Plimsoll: ${told || 'the schemas could not be read'}`);
    return;
  }
  if (told !== '') services.output.warn(told);
  await restartServer(services);
  void window.showInformationMessage(`Plimsoll: ${result.stdout.trim().replace(/\n/g, '. ')}`);
}
