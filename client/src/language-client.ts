import type { Diagnostic, FileSystemWatcher, LogOutputChannel } from 'vscode';
import { Uri, workspace } from 'vscode';
import type { LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';
import { LanguageClient, RevealOutputChannelOn, TransportKind } from 'vscode-languageclient/node';
import type { InitializationOptions } from '../../server/src/protocol/messages';
import { openRuleDocumentationCommand } from '../../server/src/protocol/messages';
import { settingsSection } from '../../server/src/protocol/settings';

/** Language ids of manifests: plain YAML, and Helm templates under the ids that the Helm extensions give them. */
const languages = ['yaml', 'helm', 'helm-template'] as const;

/** `git:` and other read-only views of the same file would show each finding twice. */
const schemes = ['file', 'untitled', 'vscode-vfs'] as const;

export const documentSelector = schemes.flatMap((scheme) =>
  languages.map((language) => ({ scheme, language })),
);

/** The `source` of each diagnostic of ours. */
export const diagnosticSource = 'plimsoll';

/** Manifests, `.plimsoll.yaml` among them, and what says which of them count. */
export function watchFiles(): readonly FileSystemWatcher[] {
  return ['**/*.{yaml,yml}', '**/.gitignore'].map((pattern) => workspace.createFileSystemWatcher(pattern));
}

/** Makes the client; the caller starts and disposes it. The server runs as a Node process of its own. */
export function createLanguageClient(
  serverModule: string,
  output: LogOutputChannel,
  watchers: readonly FileSystemWatcher[],
): LanguageClient {
  const serverOptions: ServerOptions = {
    run: { module: serverModule, transport: TransportKind.ipc },
    debug: { module: serverModule, transport: TransportKind.ipc, options: { execArgv: ['--inspect'] } },
  };
  const initializationOptions: InitializationOptions = { openRuleDocumentation: true };
  const clientOptions: LanguageClientOptions = {
    initializationOptions,
    documentSelector,
    outputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    diagnosticPullOptions: { onChange: true, onSave: false },
    synchronize: {
      configurationSection: settingsSection,
      fileEvents: [...watchers],
    },
    middleware: {
      provideDiagnostics: async (document, previousResultId, token, next) => {
        const report = await next(document, previousResultId, token);
        if (report !== undefined && report !== null && 'items' in report)
          report.items.forEach(linkDocumentation);
        return report;
      },
      provideWorkspaceDiagnostics: (resultIds, token, reporter, next) =>
        next(resultIds, token, (chunk) => {
          for (const each of chunk?.items ?? []) if ('items' in each) each.items.forEach(linkDocumentation);
          reporter(chunk);
        }),
    },
  };
  return new LanguageClient(settingsSection, 'Plimsoll', serverOptions, clientOptions);
}

/** Lets the rule id beside a message open the documentation that is shipped with the extension: no network. */
function linkDocumentation(diagnostic: Diagnostic): void {
  if (diagnostic.source !== diagnosticSource) return;
  const id = ruleId(diagnostic);
  if (id === undefined) return;
  const argument = encodeURIComponent(JSON.stringify([id]));
  diagnostic.code = { value: id, target: Uri.parse(`command:${openRuleDocumentationCommand}?${argument}`) };
}

/** The rule that a diagnostic of ours came from. */
export function ruleId(diagnostic: Diagnostic): string | undefined {
  const code = typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code;
  return code === undefined ? undefined : String(code);
}
