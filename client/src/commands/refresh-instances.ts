import { ProgressLocation, window, workspace } from 'vscode';
import type { RunCli } from '../run-cli';
import { restartServer } from './restart-server';
import type { Services } from './services';

/**
 * Reads instance types and prices of a region from AWS into the workspace folder, with the credentials of the
 * environment, and restarts the server, which looks at them once. AWS is contacted when this is called, and then only.
 */
export async function refreshInstances(services: Services, runCli: RunCli): Promise<void> {
  if (!workspace.isTrusted) {
    void window.showWarningMessage('Plimsoll: AWS is asked in trusted workspaces only.');
    return;
  }
  const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const folder =
    folders.length < 2
      ? folders[0]
      : await window.showWorkspaceFolderPick({ placeHolder: 'Folder that keeps the instance types' });
  if (folder === undefined) {
    if (folders.length === 0)
      void window.showErrorMessage('Plimsoll: open a folder first; the instance types are kept in it.');
    return;
  }
  const region = await window.showInputBox({
    title: 'Refresh Instance Types and Prices',
    prompt: 'Region of AWS. Calls ec2:DescribeInstanceTypes and pricing:GetProducts with your credentials.',
    value: process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    validateInput: (text) =>
      /^[a-z]{2}(?:-[a-z]+)+-\d$/.test(text.trim()) ? undefined : 'A region is written as us-east-1',
  });
  if (region === undefined) return;
  const result = await window.withProgress(
    {
      location: ProgressLocation.Notification,
      title: `Plimsoll: reading instance types of ${region}`,
      cancellable: true,
    },
    async (_, cancellation) => {
      const argv = ['refresh-instances', '--region', region.trim()];
      const answer = await runCli(argv, {}, cancellation, { folder: folder.uri.fsPath });
      return cancellation.isCancellationRequested ? undefined : answer;
    },
  );
  if (result === undefined) return;
  if (result.code !== 0) {
    const message = result.stderr.trim().replace(/^plimsoll: /, '') || 'the instance types could not be read';
    services.output.warn(`Reading instance types failed: ${message}`);
    void window.showErrorMessage(`Plimsoll: ${message}`);
    return;
  }
  await restartServer(services);
  void window.showInformationMessage(`Plimsoll: ${result.stdout.trim().replace(/\n/g, '. ')}`);
}
