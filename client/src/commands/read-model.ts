import { Range, Uri, WorkspaceEdit, window, workspace, type SecretStorage } from 'vscode';
import type { AddModelParams, AddModelResult } from '../../../server/src/protocol/messages';
import { addModelRequest } from '../../../server/src/protocol/messages';
import { toldBy, type RunCli } from '../run-cli';
import { runWithProgress } from './run-with-progress';
import type { Services } from './services';
import { huggingFaceToken, setHuggingFaceToken } from './set-hugging-face-token';

const repository = /^\w[\w.-]*\/\w[\w.-]*$/;

/** What `plimsoll model --format json` prints. */
interface ReadModel {
  readonly name: string;
  readonly figures: unknown;
}

/**
 * Reads the figures of a model from the Hugging Face hub and writes them into the configuration. The only command that
 * contacts the hub, and only when it is called.
 */
export async function readModel(
  { client, output }: Services,
  secrets: SecretStorage,
  runCli: RunCli,
  named?: unknown,
): Promise<void> {
  if (!workspace.isTrusted) {
    void window.showWarningMessage('Plimsoll: models are read from the hub in trusted workspaces only.');
    return;
  }
  const document = window.activeTextEditor?.document;
  const name = typeof named === 'string' ? named : await askForName(modelAtCursor());
  if (name === undefined) return;
  for (;;) {
    const token = await huggingFaceToken(secrets);
    const result = await runWithProgress(`reading ${name}`, (cancellation) =>
      runCli(
        ['model', name, '--format', 'json'],
        token === undefined ? {} : { HF_TOKEN: token },
        cancellation,
      ),
    );
    if (result === undefined) return;
    if (result.code === 0) {
      await add(JSON.parse(result.stdout) as ReadModel);
      return;
    }
    const message = toldBy(result) || 'the model could not be read';
    output.warn(`Reading a model failed: ${message}`);
    const wantsToken = /token/.test(message);
    const choice = await window.showErrorMessage(
      `Plimsoll: ${message}`,
      ...(wantsToken ? ['Set Token'] : []),
    );
    if (choice === undefined || !(await setHuggingFaceToken(secrets))) return;
  }

  async function add(model: ReadModel): Promise<void> {
    const params: AddModelParams = {
      name: model.name,
      figures: model.figures,
      ...(document === undefined ? {} : { textDocument: { uri: document.uri.toString() } }),
    };
    let edit: AddModelResult;
    try {
      edit = await client.sendRequest<AddModelResult>(addModelRequest, params);
    } catch (error) {
      void window.showErrorMessage(`Plimsoll: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    const uri = Uri.parse(edit.uri);
    const changes = new WorkspaceEdit();
    if (edit.isNew) changes.createFile(uri, { contents: new TextEncoder().encode(edit.text) });
    for (const { range, newText } of edit.edits) {
      const { start, end } = range;
      changes.replace(uri, new Range(start.line, start.character, end.line, end.character), newText);
    }
    if (!(await workspace.applyEdit(changes))) {
      void window.showErrorMessage(`Plimsoll: ${edit.uri} was not changed.`);
      return;
    }
    const opened = await workspace.openTextDocument(uri);
    await opened.save();
    await window.showTextDocument(opened, { preview: true });
  }
}

/** The repository under the cursor, if that is what stands there. */
function modelAtCursor(): string | undefined {
  const editor = window.activeTextEditor;
  if (editor === undefined) return undefined;
  const range = editor.document.getWordRangeAtPosition(editor.selection.active, /[\w.-]+\/[\w.-]+/);
  const text = range === undefined ? '' : editor.document.getText(range);
  return repository.test(text) ? text : undefined;
}

async function askForName(value: string | undefined): Promise<string | undefined> {
  const answer = await window.showInputBox({
    title: 'Read Model from Hugging Face Hub',
    prompt: 'Reads config.json and the headers of the weights, and writes the figures into .plimsoll.yaml',
    placeHolder: 'owner/name',
    ...(value === undefined ? {} : { value }),
    validateInput: (text) =>
      repository.test(text.trim()) ? undefined : 'A repository is written as owner/name',
  });
  return answer?.trim();
}
