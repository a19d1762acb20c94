import { window, workspace, type WorkspaceFolder } from 'vscode';

/** The folder on the disk that keeps something, such as `instance types`; with several the user chooses. */
export async function pickFolder(kept: string): Promise<WorkspaceFolder | undefined> {
  const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  if (folders.length > 1)
    return window.showWorkspaceFolderPick({ placeHolder: `Folder that keeps the ${kept}` });
  if (folders.length === 0)
    void window.showErrorMessage(`Plimsoll: open a folder first; the ${kept} are kept in it.`);
  return folders[0];
}
