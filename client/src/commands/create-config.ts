import type { WorkspaceFolder } from 'vscode';
import { FileSystemError, Uri, window, workspace } from 'vscode';

const template = `# Read by the editor and by the command line: plimsoll lint
preset: recommended # recommended, strict or minimal
# Severity of single rules: off, hint, info, warning or error
rules: {}
`;

/** Writes `.plimsoll.yaml` into a workspace folder and opens it; one that exists is only opened. */
export async function createConfig(): Promise<void> {
  const folder = await chooseFolder();
  if (folder === undefined) return;
  const file = Uri.joinPath(folder.uri, '.plimsoll.yaml');
  if (!(await exists(file))) await workspace.fs.writeFile(file, new TextEncoder().encode(template));
  await window.showTextDocument(file);
}

async function chooseFolder(): Promise<WorkspaceFolder | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void window.showErrorMessage('Plimsoll: open a folder first; .plimsoll.yaml is written into it.');
    return undefined;
  }
  if (folders.length === 1) return folders[0];
  return window.showWorkspaceFolderPick({ placeHolder: 'Folder for .plimsoll.yaml' });
}

async function exists(file: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(file);
    return true;
  } catch (error) {
    if (error instanceof FileSystemError && error.code === 'FileNotFound') return false;
    throw error;
  }
}
