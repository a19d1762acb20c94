import type { Disposable, TextEditor } from 'vscode';
import {
  EventEmitter,
  ProgressLocation,
  Selection,
  Uri,
  ViewColumn,
  commands,
  languages,
  window,
  workspace,
} from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { FromPage, PanelText, PanelTextParams } from '../../../server/src/protocol/panel';
import { panelTextRequest } from '../../../server/src/protocol/panel';
import type { PanelIntent } from './bridge';
import { isOneLine } from './bridge';

/** What the panel can have done in VS Code. */

type Place = Extract<PanelIntent, { readonly kind: 'open-place' }>['place'];

/** Shows a place in its manifest, beside the panel. */
export async function openPlace({ uri, at }: Place): Promise<TextEditor> {
  const document = await workspace.openTextDocument(Uri.parse(uri, true));
  const open = window.visibleTextEditors.find((each) => each.document === document);
  const editor = await window.showTextDocument(document, {
    viewColumn: open?.viewColumn ?? ViewColumn.One,
    preview: false,
  });
  editor.selection = new Selection(document.positionAt(at.start), document.positionAt(at.end));
  editor.revealRange(editor.selection);
  return editor;
}

export async function offerQuickFix(place: Place): Promise<void> {
  const editor = await openPlace(place);
  // At its start: a selection would be asked about as a whole.
  editor.selection = new Selection(editor.selection.start, editor.selection.start);
  await commands.executeCommand('editor.action.quickFix');
}

/** Puts a command into a terminal and leaves it to the user to run it. */
export function showCommand(command: string): void {
  if (!isOneLine(command)) {
    void window.showErrorMessage(
      'Plimsoll: the command has characters that a terminal would act on; it is not shown.',
    );
    return;
  }
  const name = 'Plimsoll';
  const terminal = window.terminals.find((each) => each.name === name && each.exitStatus === undefined);
  const shown = terminal ?? window.createTerminal({ name });
  shown.show();
  shown.sendText(command, false);
}

/** Asks where to save a file of the page, and does. */
export async function saveFile({
  name,
  encoding,
  content,
}: Extract<FromPage, { type: 'save' }>): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const target = await window.showSaveDialog({
    ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, name) }),
    filters: { [extension.toUpperCase()]: [extension] },
  });
  if (target === undefined) return;
  try {
    await workspace.fs.writeFile(target, Buffer.from(content, encoding));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void window.showErrorMessage(`Plimsoll: ${target.fsPath} was not written: ${why}`);
  }
}

export interface LiveTexts extends Disposable {
  /** Fetches a log or an object and shows it, read-only. */
  show(what: PanelTextParams): Promise<void>;
}

const scheme = 'plimsoll-live';

export function createLiveTexts(client: LanguageClient): LiveTexts {
  const texts = new Map<string, string>();
  const changed = new EventEmitter<Uri>();
  const provider = workspace.registerTextDocumentContentProvider(scheme, {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? '',
  });
  const closed = workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString()));
  return {
    async show(what) {
      const answer = await window.withProgress(
        {
          location: ProgressLocation.Notification,
          title: 'Plimsoll: reading from the cluster',
          cancellable: true,
        },
        (_progress, token) => client.sendRequest<PanelText>(panelTextRequest, what, token),
      );
      if (answer.kind === 'problem') {
        const remedy = answer.remedy === undefined ? '' : ` ${answer.remedy}.`;
        void window.showErrorMessage(`Plimsoll: ${answer.message}.${remedy}`);
        return;
      }
      const uri = Uri.from({ scheme, path: `/${answer.title.replace(/[^\w.-]+/g, '-')}` });
      texts.set(uri.toString(), answer.text);
      changed.fire(uri);
      const document = await workspace.openTextDocument(uri);
      await languages.setTextDocumentLanguage(document, answer.language);
      const editor = await window.showTextDocument(document, { viewColumn: ViewColumn.One, preview: true });
      // Of a log, the end is what matters.
      if (answer.language === 'log') {
        const end = document.lineAt(document.lineCount - 1).range;
        editor.selection = new Selection(end.end, end.end);
        editor.revealRange(end);
      }
    },
    dispose() {
      provider.dispose();
      closed.dispose();
      changed.dispose();
    },
  };
}
