import type { QuickPickItem } from 'vscode';
import { FileType, QuickPickItemKind, Uri, commands, languages, window, workspace } from 'vscode';
import { diagnosticSource, ruleId } from '../language-client';
import type { Services } from './services';

/**
 * Opens the documentation of a rule in the Markdown preview.
 * Without a rule id (from the command palette) the user picks one; those reported at the cursor come first.
 */
export async function openRuleDocumentation(services: Services, rule?: unknown): Promise<void> {
  const folder = Uri.joinPath(services.extensionUri, 'dist', 'rules');
  const ids = await ruleIds(folder);
  const id = typeof rule === 'string' ? rule : await pick(folder, ids);
  if (id === undefined) return;
  if (!ids.includes(id)) {
    void window.showErrorMessage(`Plimsoll has no documentation of a rule named "${id}".`);
    return;
  }
  const page = Uri.joinPath(folder, `${id}.md`);
  try {
    await commands.executeCommand('markdown.showPreview', page);
  } catch {
    // The built-in Markdown extension can be disabled; the text is readable as it is.
    await window.showTextDocument(page, { preview: true });
  }
}

async function ruleIds(folder: Uri): Promise<readonly string[]> {
  const entries = await workspace.fs.readDirectory(folder);
  return entries
    .filter(([name, type]) => type === FileType.File && name.endsWith('.md'))
    .map(([name]) => name.slice(0, -'.md'.length))
    .sort();
}

async function pick(folder: Uri, ids: readonly string[]): Promise<string | undefined> {
  const here = new Set(idsAtCursor());
  const items = await Promise.all(
    ids.map(async (label) => ({ label, description: await summary(Uri.joinPath(folder, `${label}.md`)) })),
  );
  const reported = items.filter(({ label }) => here.has(label));
  const others = items.filter(({ label }) => !here.has(label));
  const separated: QuickPickItem[] =
    reported.length === 0
      ? others
      : [
          { label: 'Reported at the cursor', kind: QuickPickItemKind.Separator },
          ...reported,
          { label: 'All other rules', kind: QuickPickItemKind.Separator },
          ...others,
        ];
  const choice = await window.showQuickPick(separated, {
    title: 'Plimsoll rules',
    placeHolder: 'Rule to read about',
    matchOnDescription: true,
  });
  return choice?.label;
}

function idsAtCursor(): readonly string[] {
  const editor = window.activeTextEditor;
  if (editor === undefined) return [];
  return languages
    .getDiagnostics(editor.document.uri)
    .filter(
      (each) => each.source === diagnosticSource && each.range.intersection(editor.selection) !== undefined,
    )
    .flatMap((each) => ruleId(each) ?? []);
}

/** The first line of text of a page, which is the rule's summary. */
async function summary(page: Uri): Promise<string> {
  const text = new TextDecoder().decode(await workspace.fs.readFile(page));
  return text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
}
