import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert';
import {
  ConfigurationTarget,
  DiagnosticSeverity,
  Range,
  commands,
  extensions,
  window,
  workspace,
} from 'vscode';
import type { Squiggles } from '../protocol';
import { answerTests } from './answers';
import { ask } from './bridge';
import {
  actions,
  file,
  finding,
  findings,
  noFinding,
  open,
  read,
  restore,
  rules,
  titled,
  until,
  write,
} from './editor';
import { panelTests } from './panel';

export interface Test {
  readonly name: string;
  run(): Promise<void>;
}

/** In this order: they share one window. Each leaves the folder as it found it. */
export const tests: readonly Test[] = [
  {
    name: 'the packaged extension is the one that runs',
    async run() {
      const extension = extensions.getExtension('plimsoll.plimsoll');
      ok(extension !== undefined, 'the extension is not installed');
      match(extension.extensionPath, /extensions[\\/]plimsoll\.plimsoll-\d/);
      await open('chat.yaml');
      await until('the extension is active', () => extension.isActive || undefined);
      const contributed = (extension.packageJSON as { contributes: { commands: { command: string }[] } })
        .contributes;
      const known = await commands.getCommands(true);
      deepStrictEqual(
        contributed.commands.map((each) => each.command).filter((each) => !known.includes(each)),
        [],
      );
    },
  },
  {
    name: 'a finding is drawn on the value at fault, with message, rule and link',
    async run() {
      const document = await open('chat.yaml');
      const found = await finding(document.uri, differs);
      strictEqual(found.severity, DiagnosticSeverity.Error);
      match(document.getText(found.range), /nvidia\.com\/gpu|^2$/);
      strictEqual(found.range.start.line, lineOf(document.getText(), '              nvidia.com/gpu: 2'));
      const code = found.code;
      ok(
        typeof code === 'object' && code.target.scheme === 'command',
        'the rule id links to its documentation',
      );
      await until('the squiggle is drawn', async () =>
        (await ask<Squiggles>({ kind: 'squiggles' })).error > 0 ? true : undefined,
      );
      const hover = await ask<string>({ kind: 'hover', line: 'nvidia.com/gpu: 2' });
      ok(hover.includes(found.message.slice(0, 20)), `the hover says: ${hover}`);
      ok(hover.includes(differs), `the hover names the rule: ${hover}`);
      await ask({ kind: 'press', key: 'Escape' });
    },
  },
  {
    name: 'a fix is applied through the light bulb, and changes nothing else',
    async run() {
      const document = await open('chat.yaml');
      const before = document.getText();
      const found = await finding(document.uri, differs);
      const fix = titled(await actions(document.uri, found.range), /^Request 4 /);
      await ask({ kind: 'light-bulb', line: 'nvidia.com/gpu: 2', title: fix.title });
      await noFinding(document.uri, differs);
      strictEqual(document.getText(), before.replace('nvidia.com/gpu: 2', 'nvidia.com/gpu: 4'));
      await restore(document, before);
      await finding(document.uri, differs);
    },
  },
  {
    name: 'typing changes the findings, without saving',
    async run() {
      const document = await open('chat.yaml');
      const before = document.getText();
      await finding(document.uri, differs);
      await ask({ kind: 'cursor-to-end', line: 'nvidia.com/gpu: 2' });
      await ask({ kind: 'press', key: 'Backspace' });
      await ask({ kind: 'type', text: '4' });
      await noFinding(document.uri, differs);
      ok(document.isDirty, 'the document is not saved');
      await restore(document, before);
      await finding(document.uri, differs);
    },
  },
  {
    name: 'fix all applies the safe fixes and no other',
    async run() {
      const document = await open('fix-all.yaml');
      const before = document.getText();
      await finding(document.uri, 'hpa-removed-api-version');
      const wanted = await read('fix-all.fixed.txt');
      await until(
        'the safe fixes are applied',
        async () => {
          // VS Code drops the command until it has learnt that the editor just opened supports it, as it drops a key
          // pressed too early; so it is asked again, for as long as nothing was changed.
          if (document.getText() === before) await commands.executeCommand('editor.action.fixAll');
          return document.getText() === wanted ? true : undefined;
        },
        () => document.getText(),
      );
      notStrictEqual(wanted, before);
      // How many GPUs were meant is not for a tool to say.
      await finding(document.uri, differs);
      await noFinding(document.uri, 'hpa-removed-api-version');
      await restore(document, before);
    },
  },
  {
    name: 'a code action suppresses a finding with a comment',
    async run() {
      const document = await open('chat.yaml');
      const before = document.getText();
      const found = await finding(document.uri, differs);
      const action = titled(await actions(document.uri, found.range), /(suppress|disable|ignore).*line/i);
      ok(action.edit !== undefined, 'the action has an edit');
      ok(await workspace.applyEdit(action.edit), 'the edit is applied');
      await noFinding(document.uri, differs);
      match(document.getText(), new RegExp(`# plimsoll-disable-next-line ${differs}`));
      await restore(document, before);
      await finding(document.uri, differs);
    },
  },
  {
    name: 'a changed setting changes the findings',
    async run() {
      const document = await open('chat.yaml');
      await finding(document.uri, differs);
      const settings = workspace.getConfiguration('plimsoll');
      await settings.update('rules', { [differs]: 'off' }, ConfigurationTarget.Workspace);
      await noFinding(document.uri, differs);
      await settings.update('rules', { [differs]: 'info' }, ConfigurationTarget.Workspace);
      await until(
        'severity info',
        () =>
          findings(document.uri).some((each) => each.severity === DiagnosticSeverity.Information) ||
          undefined,
      );
      await settings.update('rules', undefined, ConfigurationTarget.Workspace);
      await until(
        'severity error',
        () => findings(document.uri).some((each) => each.severity === DiagnosticSeverity.Error) || undefined,
      );
      await settings.update('configFile', 'quiet.yaml', ConfigurationTarget.Workspace);
      await noFinding(document.uri, differs);
      await settings.update('configFile', undefined, ConfigurationTarget.Workspace);
      await finding(document.uri, differs);
      await settings.update('enable', false, ConfigurationTarget.Workspace);
      await until(
        'no finding',
        () => (findings(document.uri).length === 0 ? true : undefined),
        () => rules(document.uri),
      );
      await settings.update('enable', undefined, ConfigurationTarget.Workspace);
      await finding(document.uri, differs);
    },
  },
  {
    name: 'a configuration file is followed as it comes, changes and goes',
    async run() {
      const document = await open('chat.yaml');
      await finding(document.uri, differs);
      await write('.plimsoll.yaml', `rules:\n  ${differs}: off\n`);
      await noFinding(document.uri, differs);
      await write('.plimsoll.yaml', 'rules: {}\n');
      await finding(document.uri, differs);
      await write('.plimsoll.yaml', `rules:\n  ${differs}: off\n`);
      await noFinding(document.uri, differs);
      await workspace.fs.delete(file('.plimsoll.yaml'));
      await finding(document.uri, differs);
    },
  },
  {
    name: 'a file that is not open has findings, and loses them when it is deleted',
    async run() {
      const closed = file('closed.yaml');
      const text = await read('closed.yaml');
      await finding(closed, differs);
      await workspace.fs.delete(closed);
      await until(
        'no finding',
        () => (findings(closed).length === 0 ? true : undefined),
        () => rules(closed),
      );
      await write('closed.yaml', text);
      await finding(closed, differs);
    },
  },
  {
    name: 'a Helm template is linted under its own language id',
    async run() {
      const document = await open('chart/templates/deployment.yaml');
      strictEqual(document.languageId, 'helm');
      await finding(document.uri, differs);
      // Values fill the resources of this container, so nothing is known to be missing.
      const about = findings(document.uri).filter(({ message }) => message.includes('"proxy"'));
      deepStrictEqual(
        about.map(({ message }) => message),
        [],
      );
    },
  },
  {
    name: 'the documentation of a rule opens in the preview, from the extension itself',
    async run() {
      await commands.executeCommand('plimsoll.openRuleDocumentation', differs);
      await until(
        'the preview is open',
        () =>
          window.tabGroups.all.some(({ tabs }) =>
            tabs.some(({ label }) => label.includes(`${differs}.md`)),
          ) || undefined,
        () => window.tabGroups.all.map(({ tabs }) => tabs.map(({ label }) => label)),
      );
      await commands.executeCommand('workbench.action.closeActiveEditor');
    },
  },
  {
    name: 'the language status counts the findings',
    async run() {
      await open('chat.yaml');
      await finding(file('chat.yaml'), differs);
      const text = await until('the status names the findings', async () => {
        const shown = await ask<string>({ kind: 'language-status' });
        return /Plimsoll: \d+ errors?/.test(shown) ? shown : undefined;
      });
      match(text, /\d+ files?/);
    },
  },
  {
    name: 'linting the workspace says what was found',
    async run() {
      await commands.executeCommand('plimsoll.lintWorkspace');
      await commands.executeCommand('notifications.showList');
      const text = await ask<string>({
        kind: 'text',
        selector: '.notifications-center .notification-list-item',
      });
      match(text, /Plimsoll: \d+ errors?.* in \d+ files?/);
      await commands.executeCommand('notifications.clearAll');
    },
  },
  {
    name: 'a configuration file is created, and one that exists is only opened',
    async run() {
      await commands.executeCommand('plimsoll.createConfig');
      strictEqual(window.activeTextEditor?.document.uri.path, file('.plimsoll.yaml').path);
      const written = await read('.plimsoll.yaml');
      match(written, /^preset: recommended/m);
      await write('.plimsoll.yaml', `${written}# kept\n`);
      await commands.executeCommand('plimsoll.createConfig');
      match(await read('.plimsoll.yaml'), /# kept\n$/);
      // What the command writes changes no finding.
      await finding(file('chat.yaml'), differs);
      await commands.executeCommand('workbench.action.closeActiveEditor');
      await workspace.fs.delete(file('.plimsoll.yaml'));
    },
  },
  ...panelTests,
  ...answerTests,
  {
    name: 'the server can be restarted',
    async run() {
      const document = await open('chat.yaml');
      await finding(document.uri, differs);
      await commands.executeCommand('plimsoll.restartServer');
      await finding(document.uri, differs);
      const everything = new Range(0, 0, document.lineCount, 0);
      ok((await actions(document.uri, everything)).length > 0, 'the restarted server answers');
    },
  },
];

const differs = 'gpu-request-differs-from-limit';

function lineOf(text: string, line: string): number {
  return text.split(/\r?\n/).indexOf(line);
}
