import type { ExtensionContext } from 'vscode';
import { commands, window, workspace } from 'vscode';
import { State } from 'vscode-languageclient/node';
import { openRuleDocumentationCommand } from '../../server/src/protocol/messages';
import { chooseLiveContext } from './commands/choose-live-context';
import { compareWithCluster, createComparisons } from './commands/compare-with-cluster';
import { createConfig } from './commands/create-config';
import { lintWorkspace } from './commands/lint-workspace';
import { openLivePanel } from './commands/open-live-panel';
import { openLivePanelDemo } from './commands/open-live-panel-demo';
import { openRuleDocumentation } from './commands/open-rule-documentation';
import { createReadinessPage, productionReadiness } from './commands/production-readiness';
import { readClusterSchemas } from './commands/read-cluster-schemas';
import { readModel } from './commands/read-model';
import { refreshInstances } from './commands/refresh-instances';
import { restartServer } from './commands/restart-server';
import type { Services } from './commands/services';
import { setHuggingFaceToken } from './commands/set-hugging-face-token';
import { setPrometheusToken } from './commands/set-prometheus-token';
import { showOutput } from './commands/show-output';
import { createSizingReports, showSizingReport } from './commands/show-sizing-report';
import { createLanguageClient } from './language-client';
import { cliOf } from './run-cli';
import { createMemory } from './panel/memory';
import { createLivePanel } from './panel/panel';
import { createSealKey } from './panel/seal';
import { createStatusItem } from './status';
import { befriendYamlExtension } from './yaml-extension';

/** Starts the language server. Everything made here is disposed with the extension. */
export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel('Plimsoll', { log: true });
  const sealKey = createSealKey();
  const client = createLanguageClient(context.asAbsolutePath('dist/server.js'), output, sealKey);
  const panel = createLivePanel(context, client, sealKey);
  const reports = createSizingReports();
  const readinessPage = createReadinessPage();
  const comparisons = createComparisons();
  const services: Services = { extensionUri: context.extensionUri, client, output };

  context.subscriptions.push(
    output,
    client,
    createStatusItem(client, output),
    panel,
    commands.registerCommand('plimsoll.openLivePanel', () => openLivePanel(panel)),
    commands.registerCommand('plimsoll.openLivePanelDemo', () => openLivePanelDemo(panel)),
    commands.registerCommand('plimsoll.chooseLiveContext', () => chooseLiveContext(panel)),
    commands.registerCommand('plimsoll.setPrometheusToken', () => setPrometheusToken(panel)),
    befriendYamlExtension(client, output),
    commands.registerCommand('plimsoll.lintWorkspace', () => lintWorkspace(services)),
    commands.registerCommand('plimsoll.restartServer', () => restartServer(services)),
    commands.registerCommand('plimsoll.showOutput', () => showOutput(services)),
    reports,
    commands.registerCommand('plimsoll.showSizingReport', (uri?: unknown, position?: unknown) =>
      showSizingReport(services, reports, uri, position),
    ),
    commands.registerCommand('plimsoll.readModel', (name?: unknown) =>
      readModel(services, context.secrets, cliOf(context), name),
    ),
    commands.registerCommand('plimsoll.refreshInstances', () => refreshInstances(services, cliOf(context))),
    commands.registerCommand('plimsoll.setHuggingFaceToken', () => setHuggingFaceToken(context.secrets)),
    commands.registerCommand('plimsoll.createConfig', () => createConfig()),
    readinessPage,
    comparisons,
    commands.registerCommand('plimsoll.readClusterSchemas', () =>
      readClusterSchemas(services, createMemory(context), cliOf(context)),
    ),
    commands.registerCommand('plimsoll.compareWithCluster', () =>
      compareWithCluster(services, createMemory(context), comparisons, cliOf(context)),
    ),
    // Settings that name programs count from now on: the server asks for them again.
    workspace.onDidGrantWorkspaceTrust(() => {
      if (client.state !== State.Running) return;
      void client.sendNotification('workspace/didChangeConfiguration', { settings: null });
    }),
    commands.registerCommand('plimsoll.productionReadiness', () =>
      productionReadiness(services, readinessPage),
    ),
    commands.registerCommand(openRuleDocumentationCommand, (rule?: unknown) =>
      openRuleDocumentation(services, rule),
    ),
  );

  try {
    await client.start();
  } catch (error) {
    // The extension stays: the language status says that the server is not running, and offers to restart it.
    output.error(error instanceof Error ? error : String(error));
  }
}
