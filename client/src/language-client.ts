import type { Diagnostic, LogOutputChannel } from 'vscode';
import { Uri, workspace } from 'vscode';
import type { LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';
import { LanguageClient, RevealOutputChannelOn, TransportKind } from 'vscode-languageclient/node';
import type { InitializationOptions } from '../../server/src/protocol/messages';
import { openRuleDocumentationCommand } from '../../server/src/protocol/messages';
import { sealKeyVariable } from '../../server/src/protocol/panel';
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

/**
 * Makes the client; the caller starts and disposes it. The server runs as a Node process of its own, and registers
 * by itself for the settings and files that it wants to hear about.
 */
export function createLanguageClient(
  serverModule: string,
  output: LogOutputChannel,
  sealKey: Buffer,
): LanguageClient {
  const env = { ...process.env, [sealKeyVariable]: sealKey.toString('base64') };
  const serverOptions: ServerOptions = {
    run: { module: serverModule, transport: TransportKind.ipc, options: { env } },
    debug: { module: serverModule, transport: TransportKind.ipc, options: { env, execArgv: ['--inspect'] } },
  };
  const initializationOptions: InitializationOptions = { openRuleDocumentation: true };
  const clientOptions: LanguageClientOptions = {
    initializationOptions,
    documentSelector,
    outputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    diagnosticPullOptions: { onChange: true, onSave: false },
    middleware: {
      workspace: {
        // A setting of the user holds in every workspace; programs are for trusted ones.
        configuration: async (params, token, next) => {
          const values = await next(params, token);
          return workspace.isTrusted || !Array.isArray(values) ? values : values.map(withoutPrograms);
        },
      },
      provideDiagnostics: async (document, previousResultId, token, next) => {
        const report = await next(document, previousResultId, token);
        if (report) [report, ...Object.values(report.relatedDocuments ?? {})].forEach(linkDocumentation);
        return report;
      },
      provideWorkspaceDiagnostics: async (resultIds, token, reporter, next) => {
        const report = await next(resultIds, token, (chunk) => {
          chunk?.items.forEach(linkDocumentation);
          reporter(chunk);
        });
        report?.items.forEach(linkDocumentation);
        return report;
      },
    },
  };
  return new LanguageClient(settingsSection, 'Plimsoll', serverOptions, clientOptions);
}

function withoutPrograms(settings: unknown): unknown {
  return typeof settings === 'object' && settings !== null ? { ...settings, render: false } : settings;
}

/** Lets the rule id beside a message open the documentation that is shipped with the extension: no network. */
function linkDocumentation(report: { readonly items?: readonly Diagnostic[] } | object): void {
  if (!('items' in report) || report.items === undefined) return;
  for (const diagnostic of report.items) {
    const id = ruleId(diagnostic);
    if (diagnostic.source !== diagnosticSource || id === undefined) continue;
    const argument = encodeURIComponent(JSON.stringify([id]));
    diagnostic.code = {
      value: id,
      target: Uri.parse(`command:${openRuleDocumentationCommand}?${argument}`),
    };
  }
}

/** The rule that a diagnostic of ours came from. */
export function ruleId(diagnostic: Diagnostic): string | undefined {
  const code = typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code;
  return code === undefined ? undefined : String(code);
}
