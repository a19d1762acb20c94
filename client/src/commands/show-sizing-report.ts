import type { Disposable } from 'vscode';
import { commands, EventEmitter, Uri, window, workspace } from 'vscode';
import type { SizingReportParams, SizingReportResult } from '../../../server/src/protocol/messages';
import { sizingReportRequest } from '../../../server/src/protocol/messages';
import type { Services } from './services';

const scheme = 'plimsoll-sizing';

/** The reports that were made, as read-only documents. */
export interface SizingReports extends Disposable {
  keep(report: SizingReportResult): Uri;
}

export function createSizingReports(): SizingReports {
  const texts = new Map<string, string>();
  const changes = new EventEmitter<Uri>();
  const closed = workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString()));
  const provider = workspace.registerTextDocumentContentProvider(scheme, {
    onDidChange: changes.event,
    provideTextDocumentContent: (uri) => texts.get(uri.toString()),
  });
  return {
    keep({ title, markdown }) {
      const uri = Uri.from({ scheme, path: `/${title.replace(/[\\/:*?"<>|]+/g, ' ')}.md` });
      texts.set(uri.toString(), markdown);
      changes.fire(uri);
      return uri;
    },
    dispose() {
      closed.dispose();
      provider.dispose();
      changes.dispose();
    },
  };
}

/**
 * Shows what the model server at a place needs and where it fits, as a Markdown document.
 *
 * @param uri of the manifest; without one, the active editor and its cursor are meant.
 */
export async function showSizingReport(
  { client }: Services,
  reports: SizingReports,
  uri?: unknown,
  position?: unknown,
): Promise<void> {
  const editor = window.activeTextEditor;
  const given = typeof uri === 'string' ? uri : undefined;
  const document = given ?? editor?.document.uri.toString();
  if (document === undefined) {
    void window.showInformationMessage('Plimsoll: open a manifest with a model server first.');
    return;
  }
  const at = given === undefined ? editor?.selection.active : (position as SizingReportParams['position']);
  const params: SizingReportParams = {
    textDocument: { uri: document },
    ...(at === undefined ? {} : { position: { line: at.line, character: at.character } }),
  };
  const report = await client.sendRequest<SizingReportResult | null>(sizingReportRequest, params);
  if (report === null) {
    void window.showInformationMessage('Plimsoll: there is no model server in this file.');
    return;
  }
  const shown = reports.keep(report);
  try {
    await commands.executeCommand('markdown.showPreview', shown);
  } catch {
    // The preview is an extension of its own, which can be turned off.
    await window.showTextDocument(shown, { preview: true });
  }
}
