import { match, ok, strictEqual } from 'node:assert';
import { Position, Selection, commands, languages, window } from 'vscode';
import { ask } from './bridge';
import { open, until } from './editor';
import type { Test } from './tests';

/** The live panel in a real window. */

const contacts = (): Promise<number> => ask<number>({ kind: 'contacts' });
const panel = (...wanted: string[]): Promise<string> => ask<string>({ kind: 'panel-text', wanted });

async function cursorInto(name: string, text: string): Promise<void> {
  const document = await open(name);
  const editor = window.activeTextEditor;
  ok(editor !== undefined);
  const at = document.positionAt(document.getText().indexOf(text));
  editor.selection = new Selection(at, at);
}

/** All titles of the code lenses in a file. */
async function lenses(name: string): Promise<readonly string[]> {
  const document = await open(name);
  const found = await commands.executeCommand<{ command?: { title: string } }[]>(
    'vscode.executeCodeLensProvider',
    document.uri,
    50,
  );
  return found.flatMap(({ command }) => command?.title ?? []);
}

export const panelTests: readonly Test[] = [
  {
    name: 'the demo opens with one command, tells of the surge, and contacts nobody',
    async run() {
      await cursorInto('chat.yaml', 'kind: Deployment');
      await commands.executeCommand('plimsoll.openLivePanelDemo');
      const text = await panel('DEMO', 'Deployment', 'TTFT p95', 'Queue-saturated', 'OOMKilled');
      match(text, /Time to first token/);
      match(text, /Cold start/);
      match(text, /\$\d/);
      await ask({ kind: 'screenshot', name: 'panel-demo' });
      strictEqual(await contacts(), 0);
    },
  },
  {
    name: 'the line above the workload says how it is while the panel is open',
    async run() {
      await until(
        'a lens',
        async () => (await lenses('chat.yaml')).find((each) => /^DEMO - \d+\/\d+ ready/.test(each)),
        () => languages.getDiagnostics().length,
      );
    },
  },
  {
    name: 'keys, ranges and views work in the panel',
    async run() {
      await ask({ kind: 'panel-press', key: ']' });
      await ask({ kind: 'panel-press', key: 'r' });
      await panel('DEMO', 'Deployment');
      await ask({ kind: 'panel-press', key: '?' });
      await panel('Crosshair along the time axis');
      await ask({ kind: 'panel-press', key: 'Escape' });
    },
  },
  {
    name: 'a name in the panel opens its line in the manifest',
    async run() {
      // The panel has the focus: what is opened now would cover it.
      await commands.executeCommand('workbench.action.focusFirstEditorGroup');
      const editor = await window.showTextDocument((await open('chat.yaml')).uri);
      const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
      editor.selection = new Selection(new Position(0, 0), new Position(0, 0));
      ok(end.line > 0);
      const name = /name: (\S+)/.exec(editor.document.getText())?.[1] ?? '';
      await ask({ kind: 'panel-click', name });
      await until(
        'the cursor is at the object',
        () =>
          window.activeTextEditor?.document.uri.path.endsWith('chat.yaml') === true &&
          window.activeTextEditor.selection.active.line > 0
            ? true
            : undefined,
        () => window.activeTextEditor?.selection.active.line,
      );
    },
  },
  {
    name: 'the panel goes on when the server is restarted',
    async run() {
      await commands.executeCommand('plimsoll.restartServer');
      await panel('DEMO', 'TTFT p95', 'OOMKilled');
      await until('a lens', async () => (await lenses('chat.yaml')).find((each) => each.startsWith('DEMO')));
    },
  },
  {
    name: 'the panel closes, and with it the connection',
    async run() {
      await commands.executeCommand('workbench.action.closeEditorsInOtherGroups');
      await until('the lens is gone', async () =>
        (await lenses('chat.yaml')).length === 0 ? true : undefined,
      );
    },
  },
];
