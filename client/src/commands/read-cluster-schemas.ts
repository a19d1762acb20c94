import { window, workspace } from 'vscode';
import { contextFor } from '../panel/connect';
import { schemasText } from '../panel/consent';
import type { PanelMemory } from '../panel/memory';
import { toldBy, type RunCli } from '../run-cli';
import { pickFolder } from './pick-folder';
import { restartServer } from './restart-server';
import { runWithProgress } from './run-with-progress';
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
  const folder = await pickFolder('schemas');
  if (folder === undefined) return;
  const chosen = await contextFor(services.client, memory, { text: schemasText, yes: 'Read' });
  if (chosen === undefined) return;
  const result = await runWithProgress(`reading the kinds of ${chosen.context}`, (token) =>
    runCli(['schemas', '--context', chosen.context], {}, token, { folder: folder.uri.fsPath }),
  );
  if (result === undefined) return;
  const told = toldBy(result);
  if (result.code !== 0) {
    services.output.warn(`Reading schemas failed: ${told}`);
    void window.showErrorMessage(`Plimsoll: ${told || 'the schemas could not be read'}`);
    return;
  }
  if (told !== '') services.output.warn(told);
  await restartServer(services);
  void window.showInformationMessage(`Plimsoll: ${result.stdout.trim().replace(/\n/g, '. ')}`);
}
