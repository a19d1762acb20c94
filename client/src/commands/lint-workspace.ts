import { commands, window } from 'vscode';
import { State } from 'vscode-languageclient/node';
import type { LintWorkspaceResult } from '../../../server/src/protocol/messages';
import { lintWorkspaceRequest } from '../../../server/src/protocol/messages';
import { count, describeFindings } from '../status';
import { restartServer } from './restart-server';
import type { Services } from './services';

/** Reads and checks all files of the workspace again, then says what was found. */
export async function lintWorkspace(services: Services): Promise<void> {
  const { client } = services;
  if (client.state === State.Stopped || client.state === State.StartFailed) await restartServer(services);
  if (client.state !== State.Running) return;
  const result = await client.sendRequest<LintWorkspaceResult>(lintWorkspaceRequest);
  const skipped = result.skipped.length === 0 ? '' : `; ${count(result.skipped.length, 'file')} skipped`;
  const message = `Plimsoll: ${describeFindings(result.findings)} in ${count(result.files, 'file')}${skipped}`;
  // The answer of the message is not awaited: the command is done when the result is there.
  void window.showInformationMessage(message, 'Show Problems').then((choice) => {
    if (choice !== undefined) void commands.executeCommand('workbench.actions.view.problems');
  });
}
