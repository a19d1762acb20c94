import { deepStrictEqual } from 'node:assert';
import type { CodeAction, Diagnostic, TextDocument } from 'vscode';
import { Position, Range, Uri, commands, languages, window, workspace } from 'vscode';

/** What the tests do in an editor, over the public API of VS Code. */

/** A file of the open folder. */
export function file(name: string): Uri {
  const folder = workspace.workspaceFolders?.[0];
  if (folder === undefined) throw new Error('no folder is open');
  return Uri.joinPath(folder.uri, name);
}

export async function open(name: string): Promise<TextDocument> {
  const document = await workspace.openTextDocument(file(name));
  await window.showTextDocument(document, { preview: false });
  return document;
}

export async function write(name: string, text: string): Promise<void> {
  await workspace.fs.writeFile(file(name), new TextEncoder().encode(text));
}

export async function read(name: string): Promise<string> {
  return new TextDecoder().decode(await workspace.fs.readFile(file(name)));
}

/** Asks again until the answer is there; fails with what was seen last. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  describe: () => unknown = () => '',
): Promise<T> {
  const end = Date.now() + 15_000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > end) throw new Error(`waited 15 s: ${what}; seen: ${JSON.stringify(describe())}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Findings of ours in a file, as `rule: text at fault`, in the order of the text. */
export function findings(uri: Uri): readonly Diagnostic[] {
  return languages
    .getDiagnostics(uri)
    .filter((each) => each.source === 'plimsoll')
    .sort((a, b) => a.range.start.compareTo(b.range.start));
}

export function rule(diagnostic: Diagnostic): string {
  return String(typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code);
}

export function rules(uri: Uri): readonly string[] {
  return findings(uri).map(rule);
}

/** The finding of a rule in a file, as soon as it is there. */
export function finding(uri: Uri, id: string): Promise<Diagnostic> {
  return until(
    `a finding of ${id} in ${uri.path}`,
    () => findings(uri).find((each) => rule(each) === id),
    () => rules(uri),
  );
}

export async function noFinding(uri: Uri, id: string): Promise<void> {
  await until(
    `no finding of ${id} in ${uri.path}`,
    () => (rules(uri).includes(id) ? undefined : true),
    () => rules(uri),
  );
}

/** The code actions that VS Code offers for a range. */
export async function actions(uri: Uri, range: Range): Promise<readonly CodeAction[]> {
  return (await commands.executeCommand<CodeAction[]>('vscode.executeCodeActionProvider', uri, range)) ?? [];
}

export function titled(all: readonly CodeAction[], pattern: RegExp): CodeAction {
  const found = all.find(({ title }) => pattern.test(title));
  if (found === undefined)
    throw new Error(`no action ${pattern} among ${JSON.stringify(all.map((a) => a.title))}`);
  return found;
}

/** Puts the whole text of a document back, unsaved, so that one test does not feel another. */
export async function restore(document: TextDocument, text: string): Promise<void> {
  const editor = await window.showTextDocument(document, { preview: false });
  const everything = new Range(new Position(0, 0), document.lineAt(document.lineCount - 1).range.end);
  await editor.edit((edit) => edit.replace(everything, text));
  await document.save();
  deepStrictEqual(document.getText(), text);
}
