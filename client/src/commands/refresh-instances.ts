import { window, workspace } from 'vscode';
import { toldBy, type RunCli } from '../run-cli';
import { pickFolder } from './pick-folder';
import { restartServer } from './restart-server';
import { runWithProgress } from './run-with-progress';
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
  const folder = await pickFolder('instance types');
  if (folder === undefined) return;
  const region = await window.showInputBox({
    title: 'Refresh Instance Types and Prices',
    prompt: 'Region of AWS. Calls ec2:DescribeInstanceTypes and pricing:GetProducts with your credentials.',
    value: process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    validateInput: (text) =>
      /^[a-z]{2}(?:-[a-z]+)+-\d$/.test(text.trim()) ? undefined : 'A region is written as us-east-1',
  });
  if (region === undefined) return;
  const argv = ['refresh-instances', '--region', region.trim()];
  const result = await runWithProgress(`reading instance types of ${region}`, (token) =>
    runCli(argv, {}, token, { folder: folder.uri.fsPath }),
  );
  if (result === undefined) return;
  if (result.code !== 0) {
    const message = toldBy(result) || 'the instance types could not be read';
    services.output.warn(`Reading instance types failed: ${message}`);
    void window.showErrorMessage(`Plimsoll: ${message}`);
    return;
  }
  await restartServer(services);
  void window.showInformationMessage(`Plimsoll: ${result.stdout.trim().replace(/\n/g, '. ')}`);
}
