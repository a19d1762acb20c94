import { randomBytes } from 'node:crypto';
import type { Disposable, ExtensionContext, TextEditor, WebviewPanel } from 'vscode';
import { Uri, ViewColumn, commands, env, window, workspace } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { State } from 'vscode-languageclient/node';
import { openRuleDocumentationCommand } from '../../../server/src/protocol/messages';
import type {
  FromPage,
  PanelBaseline,
  PanelConnection,
  PanelRefresh,
  PanelSession,
  PanelState,
  PanelStatus,
  ToPage,
} from '../../../server/src/protocol/panel';
import {
  panelBaselineRequest,
  panelRefreshNotification,
  panelSessionNotification,
  panelStateNotification,
} from '../../../server/src/protocol/panel';
import { documentSelector } from '../language-client';
import type { PanelIntent } from './bridge';
import { parseFromPage } from './bridge';
import { chooseSource, connectionTo, liveSources, offerTrust } from './connect';
import { panelHtml } from './html';
import { createLiveTexts, offerQuickFix, openPlace, saveFile, showCommand } from './intents';
import { createMemory } from './memory';
import { createConnectionItem } from './status-item';

/** The type of the webview, under which VS Code restores it after a restart. */
export const panelViewType = 'plimsoll.livePanel';

/** Milliseconds after which the panel follows a cursor that has come to rest. */
const restMs = 150;

export interface LivePanel extends Disposable {
  /** Opens the panel, or brings it to the front; asks first when it has not been agreed what may be read. */
  open(): Promise<void>;
  openDemo(): Promise<void>;
  /** Lets the user choose a context or a namespace, or disconnect. */
  choose(): Promise<void>;
  setPrometheusToken(): Promise<void>;
}

/**
 * The live panel: one webview, which follows the cursor. It holds what the user wants to see ({@link PanelSession})
 * and sends that whole to the server; what comes back goes to the page as it is.
 */
export function createLivePanel(
  context: ExtensionContext,
  client: LanguageClient,
  sealKey: Buffer,
): LivePanel {
  const memory = createMemory(context);
  const texts = createLiveTexts(client);
  const item = createConnectionItem();
  let view: WebviewPanel | undefined;
  let connection: PanelConnection | undefined;
  let range: PanelSession['range'] = '1h';
  let focus: PanelSession['focus'] = focusOf(window.activeTextEditor);
  let state: PanelState = disconnected();
  let baselineKey: string | undefined;
  let rest: NodeJS.Timeout | undefined;

  function disconnected(): PanelState {
    if (!workspace.isTrusted) {
      return waiting(
        'This workspace is not trusted, so no cluster is contacted',
        'Trust it, or look at the demo',
        [{ title: 'Manage Workspace Trust', intent: { kind: 'configure-source', source: 'kubernetes' } }],
      );
    }
    return waiting(
      'Nothing has been contacted yet',
      'Connect to a cluster of your kubeconfig, or look at the demo',
      [{ title: 'Connect', intent: { kind: 'configure-source', source: 'kubernetes' } }],
    );
  }

  // -------------------------------------------------------------------------------------------------------------
  // To the server

  // A server that ends meanwhile is told the whole session when it is back.
  const tell = (method: string, params: PanelSession | PanelRefresh): void =>
    void client.sendNotification(method, params).catch(() => undefined);
  const send = (): void => {
    if (client.state !== State.Running) return;
    const session: PanelSession = {
      ...(connection === undefined || view === undefined ? {} : { connection }),
      ...(focus === undefined ? {} : { focus }),
      range,
      visible: view?.visible ?? false,
      baselines: memory.baselines,
    };
    tell(panelSessionNotification, session);
  };
  const refresh = (what: PanelRefresh): void => {
    if (client.state === State.Running) tell(panelRefreshNotification, what);
  };

  // -------------------------------------------------------------------------------------------------------------
  // To the page

  const show = (next: PanelState): void => {
    state = next;
    const message: ToPage = { type: 'state', state };
    void view?.webview.postMessage(message);
  };

  function adopt(panel: WebviewPanel): void {
    view?.dispose();
    view = panel;
    const { webview } = panel;
    const dist = Uri.joinPath(context.extensionUri, 'dist');
    const page = (name: string): string => webview.asWebviewUri(Uri.joinPath(dist, name)).toString();
    webview.options = { enableScripts: true, localResourceRoots: [dist], enableForms: false };
    webview.html = panelHtml({
      cspSource: webview.cspSource,
      script: page('webview.js'),
      style: page('webview.css'),
      nonce: randomBytes(18).toString('base64'),
    });
    panel.iconPath = Uri.joinPath(context.extensionUri, 'images', 'icon.png');
    // They end with the view that they belong to.
    const listening = [
      webview.onDidReceiveMessage((message: unknown) => void received(message)),
      panel.onDidChangeViewState(send),
    ];
    panel.onDidDispose(() => {
      for (const each of listening) each.dispose();
      if (view !== panel) return;
      view = undefined;
      connection = undefined;
      state = disconnected();
      item.hide();
      send();
    });
    item.show(connection);
  }

  function reveal(): void {
    if (view !== undefined) return view.reveal(undefined, true);
    adopt(
      window.createWebviewPanel(
        panelViewType,
        'Plimsoll Live',
        { viewColumn: ViewColumn.Beside, preserveFocus: true },
        {},
      ),
    );
  }

  // -------------------------------------------------------------------------------------------------------------
  // From the page

  async function received(message: unknown): Promise<void> {
    const parsed: FromPage | undefined = parseFromPage(message);
    switch (parsed?.type) {
      case undefined:
        return;
      case 'ready':
        show(state);
        return send();
      case 'range':
        range = parsed.range;
        return send();
      case 'refresh':
        return refresh({});
      case 'save':
        return saveFile(parsed);
      case 'intent':
        try {
          await act(parsed.intent);
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error);
          void window.showErrorMessage(`Plimsoll: ${why}`);
        }
    }
  }

  async function act(intent: PanelIntent): Promise<void> {
    switch (intent.kind) {
      case 'open-place':
        return void (await openPlace(intent.place));
      case 'quick-fix':
        return offerQuickFix(intent.place);
      case 'open-log':
      case 'open-live-object':
        return texts.show(intent);
      case 'terminal':
        return showCommand(intent.command);
      case 'copy':
        await env.clipboard.writeText(intent.text);
        return void window.setStatusBarMessage('Plimsoll: copied', 3000);
      case 'run-logs-query':
        return refresh({ logsQuery: intent.query });
      case 'cancel-logs-query':
        return refresh({ cancelLogsQuery: intent.query });
      case 'save-baseline':
        return saveBaseline();
      case 'clear-baseline':
        if (baselineKey !== undefined) await memory.setBaseline(baselineKey, undefined);
        return send();
      case 'configure-source':
        return configure(intent.source);
      case 'use-demo':
        return openDemo();
      case 'open-rule':
        return void (await commands.executeCommand(openRuleDocumentationCommand, intent.rule));
      case 'open-settings':
        return void (await commands.executeCommand('workbench.action.openSettings', intent.setting));
      case 'show':
        // Done in the page.
        return;
    }
  }

  async function saveBaseline(): Promise<void> {
    const answer = await client.sendRequest<PanelBaseline>(panelBaselineRequest);
    if ('problem' in answer) return void window.showErrorMessage(`Plimsoll: ${answer.problem}`);
    await memory.setBaseline(answer.key, answer.baseline);
    send();
  }

  async function configure(
    source: Extract<PanelIntent, { kind: 'configure-source' }>['source'],
  ): Promise<void> {
    switch (source) {
      case 'kubernetes':
        return choose();
      case 'prometheus': {
        const settings = 'Open the settings';
        const token = 'Set the bearer token';
        const choice = await window.showQuickPick([settings, token], {
          title: 'Prometheus of the live panel',
        });
        if (choice === token) return setPrometheusToken();
        if (choice === settings)
          await commands.executeCommand('workbench.action.openSettings', 'plimsoll.live.prometheus');
        return;
      }
      case 'cloudwatch':
        return void (await commands.executeCommand(
          'workbench.action.openSettings',
          'plimsoll.live.cloudwatch',
        ));
      case 'demo':
        return openDemo();
      case 'engine-metrics':
        // They come with the cluster, and need nothing of their own.
        return;
    }
  }

  // -------------------------------------------------------------------------------------------------------------
  // Connecting

  /** Another connection, or none; the page shows that at once. */
  function connect(next: PanelConnection | undefined): void {
    connection = next;
    if (next === undefined) show(disconnected());
    item.show(connection);
    send();
  }

  /** To the chosen context, if what would be read has been agreed to; otherwise the user is asked, or told. */
  async function reconnect(mayAsk: boolean): Promise<void> {
    const sources = liveSources(focus === undefined ? undefined : Uri.parse(focus.uri));
    const next = await connectionTo({ client, memory, sealKey, sources, mayAsk });
    if (next.kind === 'problem') {
      connect(undefined);
      show(
        waiting(next.why, next.whatToDo, [
          { title: 'Try again', intent: { kind: 'configure-source', source: 'kubernetes' } },
        ]),
      );
    } else connect(next.kind === 'connection' ? next.connection : undefined);
  }

  async function open(): Promise<void> {
    reveal();
    if (connection?.kind === 'cluster') return;
    if (!workspace.isTrusted) return connect(undefined);
    await reconnect(true);
  }

  async function openDemo(): Promise<void> {
    reveal();
    // Its surge is minutes old.
    if (connection?.kind !== 'demo') range = '15m';
    connect({ kind: 'demo' });
  }

  async function choose(): Promise<void> {
    if (!workspace.isTrusted) return offerTrust();
    reveal();
    const sources = liveSources(focus === undefined ? undefined : Uri.parse(focus.uri));
    const choice = await chooseSource({ client, memory, sealKey, sources, current: connection });
    switch (choice.kind) {
      case 'cancelled':
        return;
      case 'demo':
        return openDemo();
      case 'disconnect':
        await memory.forgetAgreements();
        return connect(undefined);
      case 'chosen':
        return reconnect(true);
      case 'problem':
        connect(undefined);
        return show(
          waiting(choice.why, choice.whatToDo, [
            { title: 'Try again', intent: { kind: 'configure-source', source: 'kubernetes' } },
          ]),
        );
    }
  }

  async function setPrometheusToken(): Promise<void> {
    const { prometheus } = liveSources(focus === undefined ? undefined : Uri.parse(focus.uri));
    if (!URL.canParse(prometheus.url)) {
      const settings = 'Open Settings';
      const message =
        'Plimsoll: set plimsoll.live.prometheus.url first; the token is kept for that URL alone.';
      const choice = await window.showInformationMessage(message, settings);
      if (choice === settings)
        await commands.executeCommand('workbench.action.openSettings', 'plimsoll.live.prometheus.url');
      return;
    }
    const { origin } = new URL(prometheus.url);
    const token = await window.showInputBox({
      title: `Bearer token for ${origin}`,
      prompt: 'Kept in the secret storage of VS Code. Empty: forget it.',
      password: true,
      ignoreFocusOut: true,
    });
    if (token === undefined) return;
    await memory.setPrometheusToken(origin, token === '' ? undefined : token);
    if (connection?.kind === 'cluster') await reconnect(false);
  }

  // -------------------------------------------------------------------------------------------------------------

  const follow = (editor: TextEditor | undefined): void => {
    const next = focusOf(editor);
    if (next === undefined) return;
    const isSame = next.uri === focus?.uri && next.line === focus.line && next.character === focus.character;
    if (isSame) return;
    focus = next;
    clearTimeout(rest);
    if (view !== undefined) rest = setTimeout(send, restMs);
  };

  const subscriptions: readonly Disposable[] = [
    texts,
    item,
    window.onDidChangeActiveTextEditor(follow),
    window.onDidChangeTextEditorSelection(({ textEditor }) => {
      if (textEditor === window.activeTextEditor) follow(textEditor);
    }),
    workspace.onDidGrantWorkspaceTrust(() => {
      if (view !== undefined && connection === undefined) show(disconnected());
    }),
    workspace.onDidChangeConfiguration((event) => {
      // What is newly named there has to be agreed to; until then the panel says so.
      if (event.affectsConfiguration('plimsoll.live') && connection?.kind === 'cluster')
        void reconnect(false);
    }),
    client.onNotification(panelStateNotification, (status: PanelStatus) => {
      baselineKey = status.baselineKey;
      // An answer that was on its way when the user disconnected is no longer wanted.
      if (connection !== undefined) show(status.state);
    }),
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) send();
      else if (newState === State.Stopped && view !== undefined) {
        show(waiting('The language server is not running', 'Run "Plimsoll: Restart Language Server"', []));
      }
    }),
    window.registerWebviewPanelSerializer(panelViewType, {
      deserializeWebviewPanel: async (panel) => {
        adopt(panel);
        show(disconnected());
        // What has been agreed to goes on; nobody is asked while a window opens.
        if (workspace.isTrusted && memory.context !== undefined) await reconnect(false);
      },
    }),
  ];

  return {
    open,
    openDemo,
    choose,
    setPrometheusToken,
    dispose() {
      clearTimeout(rest);
      view?.dispose();
      for (const each of subscriptions) each.dispose();
    },
  };
}

function waiting(
  why: string,
  whatToDo: string,
  actions: Extract<PanelState, { kind: 'waiting' }>['empty']['actions'],
): PanelState {
  const demo = { title: 'Show the demo', intent: { kind: 'use-demo' } } as const;
  return {
    kind: 'waiting',
    empty: { kind: 'empty', why, whatToDo, actions: [...actions, demo], state: 'info' },
  };
}

/** Where the cursor is, when it is in a manifest. */
function focusOf(editor: TextEditor | undefined): PanelSession['focus'] {
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  const isManifest = documentSelector.some(
    ({ scheme, language }) => scheme === document.uri.scheme && language === document.languageId,
  );
  if (!isManifest) return undefined;
  const { line, character } = selection.active;
  return { uri: document.uri.toString(), line, character };
}
